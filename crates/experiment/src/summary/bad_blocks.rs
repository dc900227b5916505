//! Blocks that fail and are retired. Absent where no block fails.

use super::metric::{Metric, Unit};
use crate::outcome::Outcome;
use fowler_device::BadBlockCounts;
use fowler_units::Span;

const BLOCKS: Unit = Unit::Count("blocks");

/// A counter of failed blocks: name, unit, meaning and getter.
type Count = (&'static str, Unit, &'static str, fn(&BadBlockCounts) -> u64);

const COUNTS: [Count; 5] = [
    ("retired", BLOCKS, "Blocks that have failed and are no longer used.", |it| it.retired),
    (
        "sound",
        BLOCKS,
        "Blocks that work and are no longer used, because they share a superblock, or the part of one \
         on their die, with a failed block.",
        |it| it.sound,
    ),
    (
        "programs",
        Unit::Count("programs"),
        "Programs that failed. Their data went to another block at once.",
        |it| it.programs,
    ),
    ("erases", Unit::Count("erases"), "Erases that failed.", |it| it.erases),
    (
        "delayed",
        BLOCKS,
        "Failed blocks that were used for some cycles more: the drive could not do without them at once.",
        |it| it.delayed,
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
    let about = "What the blocks in use can hold beyond all data and what GC needs, as a share of the \
                 logical capacity; on page-mapped drives with stripes, as much as on the die with the least.";
    list.push(Metric::new("bad_blocks.spare", Unit::Share, about, |it: &Outcome| {
        let pages = it.bad_blocks?.spare as f64;
        Some(pages / f64::from(it.drive.layout.logical_pages))
    }));
    let about = "Time from the first request until a block failed that the drive could not do \
                 without; null if that did not happen. No block has failed since.";
    list.push(Metric::new("bad_blocks.worn_out_s", Unit::Seconds, about, worn_out));
    list.into_iter().map(|metric| metric.only_if(|it| it.bad_blocks.is_some())).collect()
}

/// Returns the time at which the drive's spare blocks were used up, in seconds from the first
/// request.
pub(crate) fn worn_out(outcome: &Outcome) -> Option<f64> {
    let began = outcome.clock.0 - outcome.simulated.0;
    outcome.bad_blocks?.worn_out.map(|at| Span(at.0.saturating_sub(began)).as_s())
}
