//! Write amplification of garbage collection (GC) in steady state: pages programmed per page that
//! the host writes, for a drive of many blocks under one-page writes to random addresses. `load` is
//! logical capacity over physical capacity, without the reserve (open and erased blocks), in
//! (0, 1).
//!
//! Sources: FIFO by Robinson ("Analysis of steady-state segment storage utilizations in a
//! log-structured file system with least-utilized segment cleaning", SIGOPS Review 30, 1996) and
//! Desnoyers ("Analytic modeling of SSD write performance", SYSTOR'12), who also treats hot and
//! cold data; d-choices, random and greedy as the mean-field limits of Van Houdt ("A mean field
//! model for a class of garbage collection algorithms in flash-based solid state drives",
//! SIGMETRICS'13).

use crate::root::{least, rising};

fn sound(load: f64) -> Option<f64> {
    (load > 0.0 && load < 1.0).then_some(load)
}

/// Returns the write amplification if the victim of GC is the block that was filled first. `load`
/// is logical over physical capacity.
///
/// A page of the victim is still valid with probability `u` that no write since it was filled hit
/// it, `u = e^(-(1 - u) / load)`. The amplification is `1 / (1 - u)` and does not depend on the
/// size of a block. `None` unless `0 < load < 1`.
pub fn fifo(load: f64) -> Option<f64> {
    let load = sound(load)?;
    // u = 1 is a solution, too. The root wanted lies below the maximum of the difference.
    let most = 1.0 + load * libm::log(load);
    let valid = rising(0.0, most, |valid| valid - libm::exp(-(1.0 - valid) / load));
    Some(1.0 / (1.0 - valid))
}

/// Returns the write amplification if the victim of GC is a random block: `1 / (1 - load)`, because
/// the block is as full as the drive, where `load` is logical over physical capacity. `None` unless
/// `0 < load < 1`.
pub fn random(load: f64) -> Option<f64> {
    sound(load).map(|load| 1.0 / (1.0 - load))
}

/// Returns the write amplification if the victim of GC is the emptiest of `d` random blocks of
/// `pages` pages. `load` is logical over physical capacity.
///
/// The formula is the mean-field limit. The shares `s_i` of blocks with at least `i` valid pages
/// are constant: as many blocks reach `i` valid pages as leave it. If a GC job gains `w = b - sum
/// of s_i^d` pages, the share `m_i = s_i - s_(i+1)` obeys `w i m_i = load b (1 - s_i^d)`. The
/// amplification is `b / w`. `None` unless `0 < load < 1`, `pages >= 1` and `d >= 1`.
pub fn d_choices(load: f64, pages: u32, d: u32) -> Option<f64> {
    let load = sound(load).filter(|_| pages >= 1 && d >= 1)?;
    let (all, d) = (f64::from(pages), f64::from(d));
    // The gain of a GC job that follows from the assumed gain, minus the assumed gain. Negative
    // above the root.
    let excess = |gain: f64| {
        let (mut at_least, mut kept) = (0.0, 0.0);
        for valid in (1..=pages).rev() {
            let pull = load * all / (gain * f64::from(valid));
            at_least = rising(at_least, 1.0, |it| it - at_least - pull * (1.0 - libm::pow(it, d)));
            kept += libm::pow(at_least, d);
        }
        all - kept - gain
    };
    Some(all / rising(0.0, all, |gain| -excess(gain)))
}

/// Returns the write amplification if the victim of GC is the block with the fewest valid pages of
/// `pages`. This is the limit of [`d_choices`] for many choices, in which no block has fewer than a
/// certain number of valid pages. `None` unless `0 < load < 1` and `pages >= 1`.
pub fn greedy(load: f64, pages: u32) -> Option<f64> {
    let load = sound(load).filter(|_| pages >= 1)?;
    let all = f64::from(pages);
    let excess = |gain: f64| {
        let mut left = 1.0; // share of blocks not accounted for yet
        for valid in (1..=pages).rev() {
            let valid = f64::from(valid);
            let here = load * all / (gain * valid);
            if here >= left {
                // The emptiest blocks: all that are left, each collected as soon as it exists.
                return all - valid + gain * valid * left / (load * all) - gain;
            }
            left -= here;
        }
        all - gain
    };
    Some(all / rising(0.0, all, |gain| -excess(gain)))
}

/// A part of the drive's data, with a share of the writes and a share of the pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Share of the host's page writes that go to this part (such as the hot part) of the drive's
    /// data, from 0 to 1.
    pub writes: f64,
    /// Share of the drive's logical pages that belong to this part (such as the hot part) of its
    /// data, from 0 to 1.
    pub pages: f64,
}

impl Part {
    /// Returns hot and cold data: a share `writes` of the writes goes to a share `pages` of the
    /// pages.
    pub fn hot_and_cold(writes: f64, pages: f64) -> [Part; 2] {
        [Part { writes, pages }, Part { writes: 1.0 - writes, pages: 1.0 - pages }]
    }
}

/// Returns the write amplification if hot and cold data share all blocks and the GC victim is the
/// block that was filled first. `load` is logical over physical capacity.
///
/// Between two GC jobs on a block the host writes `t` pages per physical page, where `t` is one
/// over the amplification. Part `i` of the data has the share `r_i` of the writes and `f_i` of the
/// pages. A page of it is then still valid with probability `v_i = e^(-r_i t / (f_i load))`, and
/// each host write to it causes `1 / (1 - v_i)` programs: `sum of r_i / (1 - v_i) = 1 / t`. `None`
/// unless `0 < load < 1` and all shares are positive.
pub fn fifo_one_pool(load: f64, parts: &[Part]) -> Option<f64> {
    let load = sound(load).filter(|_| parts.iter().all(|it| it.writes > 0.0 && it.pages > 0.0))?;
    let programs = |turn: f64| {
        let of = |part: &Part| {
            let rate = part.writes / (part.pages * load);
            part.writes / -libm::expm1(-rate * turn)
        };
        parts.iter().map(of).sum::<f64>()
    };
    // The product is the load at t = 0, rises, and is above one at t = 1.
    Some(1.0 / rising(0.0, 1.0, |turn| turn * programs(turn) - 1.0))
}

/// Hot and cold data in separate pools of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoPools {
    /// Share of the spare capacity that the hot pool has, 0 to 1.
    pub spare_hot: f64,
    /// Load of the hot and of the cold pool: its logical over its physical capacity.
    pub loads: [f64; 2],
    /// Write amplification of the whole drive, with its pool of blocks for hot data and its pool
    /// for cold data.
    pub waf: f64,
}

/// Returns the split of a drive's spare capacity with the least write amplification if hot and cold
/// data each have a pool of blocks. `load` is logical over physical capacity.
///
/// The victim is the block of the pool that was filled first. The best split minimizes the
/// amplification `sum of r_i fifo(load_i)`, where `r_i` is the share of writes to pool `i`, and
/// `load_i` its load ([`fifo`] is the amplification of one pool). `None` unless `0 < load < 1` and
/// all shares are positive.
pub fn fifo_two_pools(load: f64, parts: &[Part; 2]) -> Option<TwoPools> {
    sound(load).filter(|_| parts.iter().all(|it| it.writes > 0.0 && it.pages > 0.0))?;
    let waf = |loads: [f64; 2]| {
        let waf = |index: usize| fifo(loads[index]).map(|waf| parts[index].writes * waf);
        waf(0).zip(waf(1)).map(|(hot, cold)| hot + cold)
    };
    // A pool without spare capacity has no steady state, which counts as infinitely bad.
    let spare_hot =
        least(0.0, 1.0, |spare| waf(pool_loads(load, parts, spare)).unwrap_or(f64::INFINITY));
    let loads = pool_loads(load, parts, spare_hot);
    waf(loads).map(|waf| TwoPools { spare_hot, loads, waf })
}

/// Returns the loads (logical over physical capacity) of the hot and the cold pool of blocks if the
/// hot one has the share `spare_hot` of the spare capacity.
fn pool_loads(load: f64, parts: &[Part; 2], spare_hot: f64) -> [f64; 2] {
    let pool = |part: &Part, share: f64| {
        let data = part.pages * load;
        data / (data + share * (1.0 - load))
    };
    [pool(&parts[0], spare_hot), pool(&parts[1], 1.0 - spare_hot)]
}
