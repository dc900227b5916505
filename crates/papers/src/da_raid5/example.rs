//! The example of Figure 4 as a run: stripes of 4 pages, N_update of 2, a data cache of 8 pages.
//! After each write the log lists the pages in the data cache, the pages evicted, the pages that
//! the parity cache covers, and the flash operations for parity.

use super::checks::{config, device};
use fowler_device::{Config, Device, Pacing, Source};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_experiment::workload::Control;
use fowler_units::{HostIo, HostOp, Lpn, Nanos, StripeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Settings of the drive in the DA-RAID-5 paper's Figure 4: five chips, and no eviction before the
/// cache is full.
const FIGURE: [&str; 6] = [
    "geometry.channels=5",
    "policy.redundancy.stripe=4",
    "policy.redundancy.n_update=2",
    "buffer.size=64KiB",
    "buffer.ack=on_insert",
    "buffer.evict_ahead=1",
];
/// Page numbers of the writes in the DA-RAID-5 paper's Figure 4: up to D22 as in the text. After
/// that, the figure names pages but not their full order; this order evicts the stripes that it
/// shows: S0 for D23, S2, S5, and S0 again.
const WRITES: [u32; 19] = [4, 1, 3, 2, 22, 8, 9, 4, 23, 13, 15, 4, 14, 2, 1, 3, 13, 4, 12];
/// Index, in the writes of the DA-RAID-5 paper's Figure 4, of the one that first evicts pages of
/// stripe S0.
const FIRST: usize = 8;
/// Numbers of the pages of stripe S0 that are in the cache at both evictions of that stripe in the
/// DA-RAID-5 paper's Figure 4.
const PAGES: [u32; 3] = [1, 2, 3];
/// Time after each write of the DA-RAID-5 paper's worked example, in nanoseconds, by which the
/// flash of the small simulated drive is idle again.
const REST: u64 = 40_000_000;

/// The state of the caches, and the flash operations, after a write in the DA-RAID-5 paper's Figure
/// 4.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Moment {
    /// Number of the logical page that the host wrote in the DA-RAID-5 paper's example (Figure 4).
    pub page: u32,
    /// Pages in the data cache after a write of the DA-RAID-5 paper's Figure 4, and pages that the
    /// write evicted.
    pub cache: Vec<u32>,
    pub left: Vec<u32>,
    /// Stripes with partial parity, each with the pages that this parity covers.
    pub covered: Vec<(u32, Vec<u32>)>,
    /// Number of flash reads for parity since the previous write in the DA-RAID-5 paper's Figure 4.
    pub reads: u64,
    /// Number of page programs for parity since the previous write in the DA-RAID-5 paper's Figure
    /// 4.
    pub programs: u64,
    /// Number of events, while a write of the DA-RAID-5 paper's Figure 4 was served, after which an
    /// invariant was broken.
    pub broken: u64,
}

/// Returns the configuration of the drive in the DA-RAID-5 paper's Figure 4.
pub(super) fn drive() -> Result<Config, Diagnostics> {
    config("hc", &FIGURE)
}

/// Returns a text of all inputs (drive, writes, idle time) of the DA-RAID-5 paper's Figure 4 as
/// simulated here, to recognize saved results.
pub(super) fn identity() -> Result<String, Diagnostics> {
    Ok(format!("{:?} {WRITES:?} {REST}", drive()?))
}

fn cached(device: &Device) -> BTreeSet<u32> {
    WRITES.into_iter().filter(|&page| device.is_buffered(Lpn(page))).collect()
}

fn covered(device: &Device) -> Vec<(u32, Vec<u32>)> {
    let of = |stripe: u32| {
        let view = device.stripe(StripeId(stripe));
        let positions = view.cached?.covered;
        let pages = view
            .data
            .iter()
            .zip(positions)
            .filter(|(_, position)| position.0)
            .map(|(it, _)| it.0.0);
        let pages: BTreeSet<u32> = pages.collect();
        Some((stripe, pages.into_iter().collect()))
    };
    let stripes: BTreeSet<u32> = WRITES.iter().map(|page| page / 4).collect();
    stripes.into_iter().filter_map(of).collect()
}

/// Runs the example of the DA-RAID-5 paper's Figure 4 and returns the drive's state after each
/// write.
pub(super) fn run(control: Control<'_>) -> Result<Vec<Moment>, Diagnostics> {
    let mut device = device(&drive()?, control)?;
    let mut moments = Vec::new();
    for page in WRITES {
        let (before, had) = (device.counters(), cached(&device));
        let io = |page: u32, at, op| HostIo::new(op, Nanos(at), u64::from(page) * 8192, 8192);
        let mut broken = 0;
        // A read of another stripe completes once the flash is idle.
        for request in [io(page, 0, HostOp::Write), io(60, REST, HostOp::Read)] {
            device.run_watched([request], Pacing::Open, &mut (), |device| {
                broken += u64::from(device.check().is_err());
            });
        }
        broken += u64::from(device.check_data().is_err());
        let (after, has) = (device.counters(), cached(&device));
        let parity = Source::Parity;
        moments.push(Moment {
            page,
            left: had.difference(&has).copied().collect(),
            cache: has.into_iter().collect(),
            covered: covered(&device),
            reads: after.reads[parity] - before.reads[parity],
            programs: after.programs[parity] - before.programs[parity],
            broken,
        });
    }
    Ok(moments)
}

/// Returns the numbers of the claim on the DA-RAID-5 paper's Figure 4: pages of stripe S0 evicted
/// for the write of page D23 and at the second eviction, pages that the stripe's partial parities
/// PP0 and PP0' cover, and the flash operations for parity.
pub(super) fn outcome(log: &[Moment]) -> Option<[(&'static str, f64); 5]> {
    let (first, last) = (log.get(FIRST)?, log.last()?);
    let alike = |pages: &[u32]| if pages == PAGES { pages.len() as f64 } else { 0.0 };
    let pp0 = |moment: &Moment| {
        moment
            .covered
            .iter()
            .find(|(stripe, _)| *stripe == 0)
            .map_or(0.0, |(_, pages)| alike(pages))
    };
    let sum = |of: fn(&Moment) -> u64| log.iter().map(of).sum::<u64>() as f64;
    // No page is evicted before D23.
    let early = log[..FIRST].iter().all(|moment| moment.left.is_empty());
    Some([
        ("S0 for D23", if early { alike(&first.left) } else { 0.0 }),
        ("PP0", pp0(first)),
        ("S0 again", alike(&last.left)),
        ("PP0'", pp0(last)),
        ("reads and programs for parity", sum(|it| it.reads + it.programs)),
    ])
}

/// True if no invariant of the simulator is broken after any event of the DA-RAID-5 paper's Figure
/// 4.
pub(super) fn lawful(log: &[Moment]) -> bool {
    log.iter().all(|moment| moment.broken == 0)
}

/// Returns the table of the DA-RAID-5 paper's Figure 4 as simulated: caches and flash operations,
/// one row per write.
pub(super) fn sheet(log: &[Moment]) -> Sheet {
    let heads = [
        "write",
        "data cache",
        "leaves it",
        "parity cache",
        "reads for parity",
        "programs for parity",
    ];
    let mut sheet = Sheet::new("figure4", "Figure 4: the example of hybrid caching", &heads);
    let pages = |pages: &[u32]| {
        let names: Vec<String> = pages.iter().map(|page| format!("D{page}")).collect();
        names.join(" ")
    };
    for moment in log {
        let parity = moment
            .covered
            .iter()
            .map(|(stripe, covered_pages)| format!("PP{stripe}: {}", pages(covered_pages)));
        sheet.row(vec![
            format!("D{}", moment.page).into(),
            pages(&moment.cache).into(),
            pages(&moment.left).into(),
            parity.collect::<Vec<_>>().join("; ").into(),
            Cell::Number(moment.reads as f64),
            Cell::Number(moment.programs as f64),
        ]);
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_what_the_figure_shows() {
        let log = run(Control::UNWATCHED).unwrap();
        let outcome = outcome(&log).unwrap().map(|(_, value)| value);
        assert_eq!(outcome, [3.0, 3.0, 3.0, 3.0, 0.0], "{log:#?}");
        assert!(lawful(&log));
        let left: Vec<&[u32]> =
            log.iter().map(|it| it.left.as_slice()).filter(|it| !it.is_empty()).collect();
        assert_eq!(left, [&[1, 2, 3][..], &[8, 9], &[22, 23], &[1, 2, 3]]);
    }
}
