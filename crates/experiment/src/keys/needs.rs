//! What settings of a drive need to have an effect. Whoever sets a key expects to see its effect,
//! so a value other than the default that has none is rejected. The device itself rejects settings
//! that cannot work at all.
//!
//! The die order `rhio` needs nothing: even where all reads take equally long, it serves reads
//! before writes, and the writes of small requests first.
//! See docs/decisions/policy.md, "May RHIO's order run on a drive without errors?".
//! See docs/decisions/policy.md, "What happens to a policy that would have no effect?".

use fowler_device::policy::placement::PlacementKind;
use fowler_device::policy::redundancy::{CachePower, Checks};
use fowler_device::reliability::ModelKind;
use fowler_device::{Arbitration, Need};
use fowler_units::Span;

/// Every need, in the order in which settings without effect are reported.
pub(crate) const NEEDS: [&Need; 14] = [
    &ERRORS,
    &FADING,
    &COMPARISONS,
    &HOTNESS,
    &BAD_BLOCKS,
    &SAVED_PAGES,
    &CAPACITOR,
    &TORN_PROGRAMS,
    &TURNS,
    &PACE,
    &TWO_PASSES,
    &CACHE,
    &DYNAMIC_CACHE,
    &AGE,
];

pub(super) const PACE: Need = Need {
    keys: &["buffer.pace"],
    met: |drive| drive.buffer.pace != Span::ZERO,
    what: "no effect: this drive does not pace writes",
    hint: "add buffer.pace, the time between two units that enter a full buffer",
};

pub(super) const TURNS: Need = Need {
    keys: &["queue.arbitration"],
    met: |drive| drive.queue.arbitration != Arbitration::Arrival,
    what: "no effect: the queues of this drive do not take such turns",
    hint: "set queue.arbitration = \"weighted\", or \"round_robin\" for queue.taken alone",
};

pub(super) const WEIGHTED_TURNS: Need =
    Need { met: |drive| drive.queue.arbitration == Arbitration::Weighted, ..TURNS };

pub(super) const TWO_PASSES: Need = Need {
    keys: &["flash.program_passes"],
    met: |drive| drive.flash.program_passes != 1,
    what: "no effect: this drive programs in one pass",
    hint: "set flash.program_passes = 2",
};

pub(super) const CACHE: Need = Need {
    keys: &["slc.static", "slc.dynamic"],
    met: |drive| drive.slc.is_on(),
    what: "no effect: this drive has no SLC cache",
    hint: "add slc.static or slc.dynamic, the superblocks of the cache",
};

pub(super) const DYNAMIC_CACHE: Need = Need {
    keys: &["slc.dynamic"],
    met: |drive| drive.slc.dynamic > 0 || !drive.slc.is_on(),
    what: "no effect: the cache of this drive uses only what is set aside for it",
    hint: "add slc.dynamic, the most superblocks that it uses besides",
};

pub(super) const AGE: Need = Need {
    keys: &["aging.coding"],
    met: |drive| drive.aging.is_on(),
    what: "no effect: the data of this drive does not age",
    hint: "add aging.coding = \"balanced\"",
};

pub(super) const ERRORS: Need = Need {
    keys: &["reliability.model"],
    met: |drive| drive.reliability.model != ModelKind::Off,
    what: "no effect: the cells of this drive have no bit errors",
    hint: "add --set reliability.model=analytic, or use a drive with bit errors: --device rhio",
};

/// [`ERRORS`], where data is placed in streams.
pub(super) const ERRORS_OF_STREAMS: Need = Need {
    met: |drive| drive.placement.name != PlacementKind::Streams || (ERRORS.met)(drive),
    ..ERRORS
};

pub(super) const FADING: Need = Need {
    keys: &["reliability.model"],
    met: |drive| {
        !matches!(drive.reliability.model, ModelKind::Off | ModelKind::ByVoltage)
            || drive.reliability.uber > 0.0
            || drive.redundancy.checks == Checks::Versions
            || drive.compares_stripes()
    },
    what: "no effect: the data of this drive never fades",
    hint: "add --set reliability.model=analytic, or use --device rhio",
};

pub(super) const COMPARISONS: Need = Need {
    keys: &[],
    met: |drive| drive.compares_stripes(),
    what: "no effect: nothing on this drive compares stripes with their parity",
    hint: "it needs policy.scrub = \"patrol\", stripes (policy.redundancy = \"raid5\", for \
           example), and policy.redundancy.integrity = true",
};

pub(super) const HOTNESS: Need = Need {
    keys: &["policy.hotness"],
    met: |drive| drive.hotness.detectors != 0,
    what: "no effect: nothing on this drive detects hot data",
    hint: "add a detector: policy.hotness = [\"request_size\"]",
};

pub(super) const BAD_BLOCKS: Need = Need {
    keys: &[],
    met: |drive| drive.bad_blocks.share != 0.0,
    what: "no effect: no block of this drive fails",
    hint: "set bad_blocks.share, 0.02 for example",
};

pub(super) const SAVED_PAGES: Need = Need {
    keys: &["policy.redundancy.saved"],
    met: |drive| drive.redundancy.cache != CachePower::Limited || drive.redundancy.saved > 0,
    what: "no effect: a capacitor that saves no page is none",
    hint: "set policy.redundancy.saved, or policy.redundancy.cache = \"volatile\"",
};

pub(super) const CAPACITOR: Need = Need {
    keys: &["policy.redundancy.cache"],
    met: |drive| drive.redundancy.cache == CachePower::Limited,
    what: "no effect: used only with policy.redundancy.cache = \"limited\"",
    hint: "set policy.redundancy.cache = \"limited\"",
};

pub(super) const TORN_PROGRAMS: Need = Need {
    keys: &["policy.redundancy.cut_programs"],
    met: |drive| drive.redundancy.tears_programs(),
    what: "no effect: the drive ends its programs when the power fails",
    hint: "set policy.redundancy.cut_programs = \"torn\"",
};
