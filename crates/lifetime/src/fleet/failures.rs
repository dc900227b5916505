//! The blocks of a drive that fail for good, before they are worn out: what they take of the spare,
//! and the life that is left.
//!
//! 1. The blocks in service share the wear of the drive. The one that fails next does so in a cycle
//!    drawn from the law of a single life ([`FailureLaw`]): that of the first of so many blocks,
//!    which have survived until now. It is one draw for each failure, not one for each block.
//! 2. With the block go the blocks of its part ([`FailingParts`]) and their room. If the spare does
//!    not cover that, the drive is replaced.
//! 3. Fewer blocks share the wear, and with less spare each host page takes more programs, as many
//!    as in the simulated life when it had as much spare. So the cycles come faster.
//!
//! The seconds between two failures are those cycles at that rate. Too many worn blocks may end the
//! drive in between ([`Wear`]). Early failures of whole drives have nothing to do with blocks:
//! their law is in `laws`.
//! See docs/decisions/lifetime.md, "How do the blocks of a fleet fail?".

use super::wear::Wear;
use crate::{Lifetime, SparePart};
use fowler_device::FailingParts;
use fowler_physics::bad_blocks::FailureLaw;
use fowler_units::Rng;

/// The most P/E cycles of a drive: more than any block endures.
const CYCLES_MOST: f64 = 1e12;
/// Number of bisection steps that find the time of a drive's wear-out between two successive block
/// failures.
const HALVED: u32 = 60;

/// The law by which the blocks of a drive fail, and what that does to the drive.
pub(super) struct Failures {
    law: FailureLaw,
    /// P/E cycles that the blocks have behind them when the life begins.
    begun: f64,
    parts: FailingParts,
    /// Pages or mapping units that a new drive can lose.
    spare: u64,
    /// Share of the spare that is lost, and P/E cycles per second under the simulated load if they
    /// were spread over all blocks; ascending by the share, and never empty.
    cycles_s: Vec<(f64, f64)>,
}

/// Time at which a drive of the fleet ends because too many blocks are worn out or because failed
/// blocks have used up its spare, and the share of the spare lost by then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ending {
    /// Seconds until too many blocks are worn out; infinite if the spare is used up before.
    pub worn_s: f64,
    /// Seconds until the spare is used up; infinite if too many blocks are worn out before.
    pub spare_s: f64,
    /// Share of the drive's spare capacity, 0 to 1, that failed blocks have taken when it wears
    /// out, or before the failure that the spare does not cover.
    pub lost: f64,
}

/// The blocks of a drive that are out of service so far.
struct Standing {
    /// Number of parts that are out of service in each group of blocks. A part is the blocks that
    /// go out of service when one of them fails; groups are superblocks, or the blocks or dies of a
    /// page-mapped drive.
    failed: Vec<u32>,
    /// Blocks in service.
    blocks: u32,
    /// Capacity that all groups of blocks together have lost to failed blocks, in pages or mapping
    /// units.
    lost: u64,
    /// Largest capacity that one group of blocks has lost to failed blocks, in pages or mapping
    /// units.
    most: u64,
}

impl Failures {
    /// Returns the failures of drives like the simulated one; `None` if no block of it fails.
    pub fn of(life: &Lifetime) -> Option<Failures> {
        let config = &life.drive.config;
        let parts = config.failing_parts()?;
        let params = &config.bad_blocks;
        let law =
            FailureLaw { share: params.share, cycles: config.life.cycles, shape: params.shape };
        let lived = life.lived.first()?;
        let seen = &lived.record.spare;
        let spare = seen.first()?.first;
        let begun = f64::from(config.reliability.cycles) + lived.erases_before;
        // A simulated page stands for so many real ones, per second and page of the drive.
        let real = f64::from(lived.dilation) / life.target().as_s();
        let cycles_s = cycles_s(seen, real / life.drive.layout.pages() as f64);
        (!cycles_s.is_empty()).then_some(Failures { law, begun, parts, spare, cycles_s })
    }

    /// Draws at random the end of a drive whose host load is `load` times the simulated one. Blocks
    /// wear out in order of endurance; `strength` is the endurance, relative to the rated cycles,
    /// of the block with whose wear-out more blocks are worn out than the fleet tolerates.
    pub fn ending(&self, wear: &Wear, (load, strength): (f64, f64), rng: &mut Rng) -> Ending {
        let all = self.parts.groups * self.parts.parts * self.parts.blocks;
        let mut standing =
            Standing { failed: vec![0; self.parts.groups as usize], blocks: all, lost: 0, most: 0 };
        let (mut cycles, mut seconds) = (0.0, 0.0);
        loop {
            let blocks = f64::from(standing.blocks);
            let lost = self.share_lost(&standing);
            let next = self.next_failure(cycles, blocks, rng);
            let rate = load * self.cycles_s_at(lost) * f64::from(all) / blocks;
            let until = seconds + (next - cycles) / rate;
            if let Some(worn_s) = worn_between([(cycles, seconds), (next, until)], wear, strength) {
                return Ending { worn_s, spare_s: f64::INFINITY, lost };
            }
            (cycles, seconds) = (next, until);
            if !self.fail(&mut standing, rng) {
                return Ending { worn_s: f64::INFINITY, spare_s: seconds, lost };
            }
        }
    }

    /// Draws the number of P/E cycles after which the next of the `blocks` blocks in service fails,
    /// if none of them has failed by `cycles` cycles.
    fn next_failure(&self, cycles: f64, blocks: f64, rng: &mut Rng) -> f64 {
        // Share of blocks that fail before the first of `blocks` does.
        let luck = -libm::expm1(libm::log1p(-rng.unit()) / blocks);
        let next = self.law.fails_after(self.begun + cycles, luck) - self.begun;
        next.clamp(cycles, CYCLES_MOST.max(cycles))
    }

    /// Takes a random part (the blocks that fail together) out of service, or its whole group if no
    /// capacity is left there. Returns false if the drive's spare does not cover the loss or no
    /// block is left.
    fn fail(&self, standing: &mut Standing, rng: &mut Rng) -> bool {
        let FailingParts { groups, parts, blocks, room, apart } = &self.parts;
        // Every part in service is as likely.
        let group = loop {
            let group = rng.below(u64::from(*groups)) as usize;
            if rng.below(u64::from(*parts)) >= u64::from(standing.failed[group]) {
                break group;
            }
        };
        let before = standing.failed[group];
        let left = room[before as usize + 1];
        let after = if left == 0 { *parts } else { before + 1 };
        standing.failed[group] = after;
        standing.blocks -= (after - before) * blocks;
        standing.lost += room[before as usize] - left;
        standing.most = standing.most.max(room[0] - left);
        let covered = match apart {
            true => standing.most * u64::from(*groups) <= self.spare,
            false => standing.lost <= self.spare,
        };
        covered && standing.blocks > 0
    }

    fn share_lost(&self, standing: &Standing) -> f64 {
        let lost = match self.parts.apart {
            true => standing.most * u64::from(self.parts.groups),
            false => standing.lost,
        };
        lost as f64 / self.spare.max(1) as f64
    }

    /// Returns the P/E cycles per second, spread over all blocks, under the simulated load, of a
    /// drive that has lost the share `lost` (0 to 1) of its spare: interpolated linearly between
    /// the losses seen in the simulated life, and constant outside their range.
    fn cycles_s_at(&self, lost: f64) -> f64 {
        let known = &self.cycles_s;
        let after = known.partition_point(|(share, _)| *share <= lost);
        match (after.checked_sub(1).map(|it| known[it]), known.get(after)) {
            (Some((x0, y0)), Some((x1, y1))) => y0 + (y1 - y0) * (lost - x0) / (x1 - x0),
            (Some((_, y)), None) | (None, Some(&(_, y))) => y,
            (None, None) => 0.0,
        }
    }
}

/// Returns the share (0 to 1) of the drive's spare capacity that failed blocks had taken at the end
/// of its simulated life; `None` if no block fails.
pub(super) fn share_seen(life: &Lifetime) -> Option<f64> {
    let seen = &life.lived.first()?.record.spare;
    let (first, last) = (seen.first()?.first, seen.last()?.last);
    Some((first - last) as f64 / first.max(1) as f64)
}

/// Returns the P/E cycles per second of the drive in its simulated life, by the share of its spare
/// capacity lost (0 to 1). `real` is the part of that rate, averaged over all pages, that one page
/// program in the simulated life stands for.
///
/// The cycles are counted from the pages programmed, because [`fowler_device::endurance::Totals`]
/// also counts pages of superblocks that stay empty where a die has failed.
fn cycles_s(seen: &[SparePart], real: f64) -> Vec<(f64, f64)> {
    let host: u64 = seen.iter().map(|it| it.pages).sum();
    let whole = seen.first().map_or(1.0, |it| it.first.max(1) as f64);
    let at = |part: &SparePart| {
        let lost = whole - (part.first as f64 + part.last as f64) / 2.0;
        let waf = part.programmed as f64 / part.pages as f64;
        (lost / whole, waf * host as f64 * real)
    };
    let some = seen.iter().filter(|it| it.pages > 0 && it.programmed > 0);
    let mut all: Vec<(f64, f64)> = some.map(at).collect();
    all.dedup_by(|after, before| after.0 <= before.0);
    all
}

/// Returns the time in seconds after which too many blocks of a drive are worn out, if that is
/// between two points of its life, each given by the P/E cycles and the seconds so far; `None` if
/// it is later.
fn worn_between([(c0, s0), (c1, s1)]: [(f64, f64); 2], wear: &Wear, strength: f64) -> Option<f64> {
    let at = |share: f64| (c0 + (c1 - c0) * share, s0 + (s1 - s0) * share);
    let is_worn = |share: f64| {
        let (cycles, seconds) = at(share);
        cycles > 0.0 && cycles >= wear.endured_by(seconds / cycles, strength)
    };
    if !is_worn(1.0) {
        return None;
    }
    let (mut sound, mut worn) = (0.0, 1.0);
    for _ in 0..HALVED {
        let middle = 0.5 * (sound + worn);
        if is_worn(middle) {
            worn = middle;
        } else {
            sound = middle;
        }
    }
    Some(at(worn).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_physics::recovery::{Endurance, RecoveryTable};
    use fowler_units::Span;

    /// Cells that do not recover, and so many cycles a second.
    fn wear(cycles: f64, cycles_s: f64) -> Wear {
        let table = RecoveryTable::new(&[Span::ms(1)], &[cycles]).unwrap();
        Wear::new(&Endurance::Table(table), cycles, (cycles_s, 1.0))
    }

    fn failures(parts: FailingParts, spare: u64, share: f64) -> Failures {
        let law = FailureLaw { share, cycles: 1000.0, shape: 3.0 };
        Failures { law, begun: 0.0, parts, spare, cycles_s: vec![(0.0, 1e-3)] }
    }

    /// Returns the probability that at most `most` of `all` fail, each with probability `p`.
    fn at_most(all: u32, most: u32, p: f64) -> f64 {
        let ln = |n: u32| libm::lgamma(f64::from(n) + 1.0);
        let term = |k: u32| {
            let ways = ln(all) - ln(k) - ln(all - k);
            let chance = f64::from(k) * p.ln() + f64::from(all - k) * (-p).ln_1p();
            (ways + chance).exp()
        };
        (0..=most).map(term).sum()
    }

    /// A drive lives as long as the binomial number of its failed parts is covered by its spare.
    /// The cycles come at a constant rate for each block that is in service: a drive with fewer
    /// blocks is worn faster, which the expectation in cycles leaves out by counting cycles.
    // Slow: 20,000 drives of up to 60 failures each, in three designs.
    #[test]
    fn drives_live_as_the_binomial_law_says() {
        const DRIVES: u32 = 20_000;
        for (groups, blocks, spare_groups) in [(400, 1, 20), (64, 16, 12), (1000, 4, 59)] {
            let parts = FailingParts { groups, parts: 1, blocks, room: vec![100, 0], apart: false };
            let failures = failures(parts, 100 * spare_groups, 0.05);
            let mut rng = Rng::stream(11, "failures");
            let mut ends: Vec<f64> = (0..DRIVES)
                .map(|_| {
                    let (mut cycles, mut standing) = (0.0, standing(&failures));
                    loop {
                        let blocks = f64::from(standing.blocks);
                        cycles = failures.next_failure(cycles, blocks, &mut rng);
                        if !failures.fail(&mut standing, &mut rng) {
                            return cycles;
                        }
                    }
                })
                .collect();
            ends.sort_unstable_by(f64::total_cmp);
            for share in [0.02, 0.2, 0.5, 0.8, 0.98] {
                let cycles = ends[(f64::from(DRIVES) * share) as usize];
                let block = failures.law.failed(cycles);
                let part = 1.0 - (1.0 - block).powi(blocks as i32);
                let dead = 1.0 - at_most(groups, spare_groups as u32, part);
                let error = libm::sqrt(share * (1.0 - share) / f64::from(DRIVES));
                let off = (dead - share).abs() / error;
                assert!(off < 4.0, "{groups} parts, {share}: {dead}, off by {off} errors");
            }
        }
    }

    fn standing(failures: &Failures) -> Standing {
        let FailingParts { groups, parts, blocks, .. } = failures.parts;
        let failed = vec![0; groups as usize];
        Standing { failed, blocks: groups * parts * blocks, lost: 0, most: 0 }
    }

    /// The number of failed blocks after some cycles is that of the law.
    #[test]
    fn as_many_blocks_have_failed_as_the_law_says() {
        let room = (0..=50u64).rev().collect();
        let parts = FailingParts { groups: 20, parts: 50, blocks: 1, room, apart: false };
        let failures = failures(parts, 10_000, 0.3);
        let mut rng = Rng::stream(12, "failures");
        let (drives, blocks) = (400, 1000.0);
        for until in [500.0, 1000.0, 1500.0] {
            let mut failed = 0;
            for _ in 0..drives {
                let (mut cycles, mut standing) = (0.0, standing(&failures));
                loop {
                    cycles = failures.next_failure(cycles, f64::from(standing.blocks), &mut rng);
                    if cycles > until || !failures.fail(&mut standing, &mut rng) {
                        break;
                    }
                    failed += 1;
                }
                assert_eq!(standing.lost, 1000 - u64::from(standing.blocks));
            }
            let share = failures.law.failed(until);
            let expected = share * blocks * f64::from(drives);
            let error = libm::sqrt(expected * (1.0 - share));
            let off = (f64::from(failed) - expected).abs() / error;
            assert!(off < 4.0, "{until}: {failed} and not {expected}");
        }
    }

    /// A group that keeps too little goes as a whole, and groups that cannot help each other end
    /// the drive one by one.
    #[test]
    fn groups_shrink_and_end_drives() {
        let room = vec![160, 120, 80, 0, 0];
        let parts = FailingParts { groups: 3, parts: 4, blocks: 2, room, apart: false };
        let few = failures(parts.clone(), 160, 0.05);
        for seed in 0..50 {
            let mut rng = Rng::stream(seed, "failures");
            let mut standing = standing(&few);
            while few.fail(&mut standing, &mut rng) {
                assert!(standing.lost <= 160 && standing.blocks > 0, "seed {seed}");
                let dead = standing.failed.iter().filter(|&&it| it == 4).count();
                let parts: u32 = standing.failed.iter().sum();
                assert_eq!(standing.blocks, 24 - 2 * parts, "seed {seed}");
                assert!(dead <= 1 && !standing.failed.contains(&3), "seed {seed}");
            }
        }
        // Two parts of one group, of three that must keep two each.
        let apart = FailingParts { room: vec![40, 30, 20, 10, 0], apart: true, ..parts };
        let failures = failures(apart, 3 * 10, 0.05);
        for seed in 0..50 {
            let mut rng = Rng::stream(seed, "failures");
            let mut standing = standing(&failures);
            while failures.fail(&mut standing, &mut rng) {}
            assert_eq!(standing.failed.iter().max(), Some(&2), "seed {seed}");
        }
    }

    /// Without failures before it, wear-out comes when it comes to drives without bad blocks; with
    /// all blocks in service, a failure comes at its cycle; and less spare takes more programs.
    #[test]
    fn time_passes_with_the_cycles() {
        let parts =
            FailingParts { groups: 100, parts: 1, blocks: 1, room: vec![10, 0], apart: false };
        let worn = wear(800.0, 1e-3);
        let rare = failures(parts.clone(), 500, 1e-9);
        let mut rng = Rng::stream(13, "failures");
        for (load, strength) in [(1.0, 1.0), (0.1, 1.7), (30.0, 1.2)] {
            let ending = rare.ending(&worn, (load, strength), &mut rng);
            let off = ending.worn_s / worn.seconds(load, strength) - 1.0;
            assert!(off.abs() < 1e-9 && ending.lost == 0.0, "{ending:?}, off by {off}");
        }
        // The drive ends with its first failure.
        let first = failures(parts.clone(), 0, 0.05);
        let mean = |failures: &Failures, load: f64| {
            let mut rng = Rng::stream(14, "failures");
            let endings =
                (0..2000).map(|_| failures.ending(&wear(1e6, 1e-3), (load, 1.0), &mut rng));
            endings.map(|it| it.spare_s).sum::<f64>() / 2000.0
        };
        // The mean of the first of 100 Weibull draws.
        let hazard = -(-0.05f64).ln_1p() * 100.0;
        let expected = 1000.0 * hazard.powf(-1.0 / 3.0) * libm::tgamma(1.0 + 1.0 / 3.0) / 1e-3;
        let off = mean(&first, 1.0) / expected - 1.0;
        assert!(off.abs() < 0.03, "off by {off}");
        assert!((mean(&first, 2.0) / expected - 0.5).abs() < 0.02);
        // As many programs at half of the spare, twice as many without any.
        let cycles_s = vec![(0.0, 1e-3), (0.5, 1e-3), (1.0, 2e-3)];
        let more = Failures { cycles_s, ..failures(parts.clone(), 200, 0.05) };
        let rates = [0.2, 0.75, 1.0, 1.2].map(|it| 1e3 * more.cycles_s_at(it));
        assert!(rates.iter().zip([1.0, 1.5, 2.0, 2.0]).all(|(one, it)| (one - it).abs() < 1e-9));
        let plain = failures(parts, 200, 0.05);
        let ratio = mean(&more, 1.0) / mean(&plain, 1.0);
        assert!((0.8..0.99).contains(&ratio), "{ratio}");
    }

    /// The blocks that are left share the wear: after the first of two has failed, cycles come
    /// twice as fast. Blocks fail at a constant rate here, so that both failures take as long.
    #[test]
    fn blocks_that_are_left_wear_faster() {
        const DRIVES: u32 = 4_000;
        let parts =
            FailingParts { groups: 2, parts: 1, blocks: 1, room: vec![10, 0], apart: false };
        let law = FailureLaw { share: 0.5, cycles: 1000.0, shape: 1.0 };
        let two = Failures { law, ..failures(parts, 10, 0.5) };
        let (mut rng, wear) = (Rng::stream(15, "failures"), wear(1e6, 1e-3));
        let seconds = (0..DRIVES).map(|_| two.ending(&wear, (1.0, 1.0), &mut rng).spare_s);
        let mean = seconds.sum::<f64>() / f64::from(DRIVES);
        // Half of the mean cycles of a block until the first failure, and as long again.
        let expected = 1000.0 / std::f64::consts::LN_2 / 1e-3;
        // Two exponential times of equal means: their sum scatters by the root of a half.
        let error = expected * libm::sqrt(0.5 / f64::from(DRIVES));
        let off = (mean - expected).abs() / error;
        assert!(off < 4.0, "{mean} s and not {expected}: off by {off} errors");
    }

    #[test]
    fn cycles_follow_the_spare_of_the_life() {
        let part = |first, last, pages, programmed| SparePart { first, last, pages, programmed };
        let seen = [part(100, 90, 10, 20), part(80, 40, 10, 30), part(40, 0, 20, 110)];
        // 40 pages of the host in the whole life; 2, 3 and 5.5 programs for each.
        let all = cycles_s(&seen, 0.5);
        let expected = [(0.05, 40.0), (0.4, 60.0), (0.8, 110.0)];
        for ((share, value), (x, y)) in all.iter().zip(expected) {
            assert!((share - x).abs() < 1e-12 && (value - y).abs() < 1e-12, "{all:?}");
        }
        assert_eq!(all.len(), 3);
    }
}
