//! Blocks that fail and are retired. Absent where no block fails.

use super::{Metric, Unit};
use crate::outcome::Outcome;
use fowler_device::BadBlockCounts;
use fowler_units::Span;

const BLOCKS: Unit = Unit::Count("blocks");

/// A count of the device.
type Count = (&'static str, Unit, &'static str, fn(&BadBlockCounts) -> u64);

const COUNTS: [Count; 4] = [
    ("retired", BLOCKS, "Blocks that have failed and are used no more.", |it| it.retired),
    (
        "programs",
        Unit::Count("programs"),
        "Programs that failed. Their data went to another block at once.",
        |it| it.programs,
    ),
    ("erases", Unit::Count("erases"), "Erases that failed.", |it| it.erases),
    (
        "postponed",
        Unit::Count("erases"),
        "Erases that would have failed, of blocks that the drive could not spare at that moment.",
        |it| it.postponed,
    ),
];

pub(super) fn metrics() -> Vec<Metric> {
    let mut list: Vec<Metric> = COUNTS
        .into_iter()
        .map(|(name, unit, about, read)| {
            let read = move |it: &Outcome| it.bad_blocks.as_ref().map(read);
            Metric::new(format!("bad_blocks.{name}"), unit, about, read)
        })
        .collect();
    let about = "Spare capacity that is left, as a share of the logical capacity: blocks in service, \
                 less the data of the host.";
    list.push(Metric::new("bad_blocks.spare", Unit::Share, about, spare));
    let about = "When the blocks in service could no longer have held the data of the host, had one \
                 more failed; null if that did not happen. The run went on as if no other block failed.";
    list.push(Metric::new("bad_blocks.worn_out_s", Unit::Seconds, about, |it: &Outcome| {
        it.bad_blocks?.worn_out.map(|at| Span(at.0).as_s())
    }));
    list.into_iter().map(|metric| metric.only_if(|it| it.bad_blocks.is_some())).collect()
}

fn spare(outcome: &Outcome) -> Option<f64> {
    let layout = &outcome.drive.layout;
    let geometry = &layout.geometry;
    let left = u64::from(geometry.blocks()) - outcome.bad_blocks?.retired;
    let (pages, logical) =
        (left * u64::from(geometry.pages_per_block), u64::from(layout.logical_pages));
    Some((pages as f64 - logical as f64) / logical as f64)
}
