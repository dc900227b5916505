//! Requirements of keys to have an effect. Whoever sets a key expects to see its effect, so a value
//! other than the default that has none is rejected. The device itself rejects settings that cannot
//! work at all.
//!
//! The die order `rhio` needs nothing: even where all reads take equally long, it serves reads
//! before writes, and the writes of small requests first.
//! See docs/decisions/policy.md, "May RHIO's order run on a drive without errors?".
//! See docs/decisions/policy.md, "What happens to a policy that would have no effect?".

use fowler_device::endurance::Recovery;
use fowler_device::policy::placement::PlacementKind;
use fowler_device::policy::redundancy::{CachePower, Checks};
use fowler_device::reliability::ModelKind;
use fowler_device::{Arbitration, Config, Refusal};
use fowler_units::Span;

/// A requirement of a configuration key: on a drive that does not meet it, a value of the key other
/// than the default has no effect. Two requirements are equal if they are one static item.
pub struct Requirement {
    /// Noun phrase for the requirement, such as `an SLC cache: slc.static or slc.dynamic`. Lists of
    /// keys print it after the word "needs".
    pub(super) phrase: &'static str,
    /// Configuration keys that decide if a drive meets the requirement, such as `buffer.pace`. The
    /// error about keys without effect lists them at its end.
    keys: &'static [&'static str],
    /// Returns true if a drive meets the requirement, so that the configuration keys which have it
    /// take effect.
    pub(crate) met: fn(&Config) -> bool,
    /// Message of the error about configuration keys that have no effect on a drive: the reason,
    /// which is that the drive does not meet the requirement.
    what: &'static str,
    /// Hint of the error about configuration keys that have no effect on a drive: a way to make the
    /// drive meet the requirement.
    hint: &'static str,
}

impl Requirement {
    /// Returns the error for a drive on which the configuration keys `idle` have no effect because
    /// the drive does not meet this requirement.
    pub(crate) fn refusal(&self, idle: &[&'static str]) -> Refusal {
        let others = idle.iter().filter(|key| !self.keys.contains(key));
        Refusal {
            keys: others.chain(self.keys).copied().collect(),
            what: self.what.into(),
            hint: Some(self.hint.into()),
        }
    }
}

/// Requirements that configuration keys have of a drive, in the order in which settings without
/// effect are reported. Requirements of one inner list give a single error, with the message of the
/// first.
pub(crate) static NEEDS: [&[&Requirement]; 20] = [
    &[&ERRORS, &ERRORS_OF_STREAMS, &ERRORS_OF_VOLTAGES],
    &[&FADING],
    &[&COMPARISONS],
    &[&HOTNESS, &HOTNESS_OF_STREAMS],
    &[&HANDLES],
    &[&STREAMS],
    &[&BAD_BLOCKS],
    &[&RECOVERY_MODEL],
    &[&SAVED_PAGES],
    &[&CAPACITOR],
    &[&TORN_PROGRAMS],
    &[&TURNS, &WEIGHTED_TURNS],
    &[&PACE],
    &[&SUPERBLOCKS],
    &[&TWO_PASSES],
    &[&CACHE],
    &[&DYNAMIC_CACHE],
    &[&AGE],
    &[&WORD_LINES_THAT_ERR],
    &[&WORD_LINES_BY_LEVEL],
];

pub(super) static PACE: Requirement = Requirement {
    phrase: "paced writes: buffer.pace above 0ns",
    keys: &["buffer.pace"],
    met: |drive| drive.buffer.pace != Span::ZERO,
    what: "no effect: this drive does not pace writes",
    hint: "set buffer.pace, the time between two mapping units that enter a full buffer",
};

pub(super) static TURNS: Requirement = Requirement {
    phrase: "arbitrated submission queues: queue.arbitration = \"round_robin\" or \"weighted\"",
    keys: &["queue.arbitration"],
    met: |drive| drive.queue.arbitration != Arbitration::Arrival,
    what: "no effect: this drive takes writes in order of arrival, or without weights",
    hint: "set queue.arbitration = \"weighted\", or \"round_robin\" for queue.taken alone",
};

/// Requirement of keys about weighted arbitration: the drive takes commands from its submission
/// queues in weighted turns.
pub(super) static WEIGHTED_TURNS: Requirement = Requirement {
    phrase: "weighted submission queues: queue.arbitration = \"weighted\"",
    met: |drive| drive.queue.arbitration == Arbitration::Weighted,
    ..TURNS
};

pub(super) static SUPERBLOCKS: Requirement = Requirement {
    phrase: "superblocks: ftl.reclaim_unit = \"superblock\"",
    keys: &["ftl.reclaim_unit"],
    met: |drive| drive.ftl.has_superblocks(),
    what: "no effect: this drive has no superblocks",
    hint: "set ftl.reclaim_unit = \"superblock\"",
};

pub(super) static TWO_PASSES: Requirement = Requirement {
    phrase: "programs in two passes: flash.program_passes = 2",
    keys: &["flash.program_passes"],
    met: |drive| drive.flash.program_passes != 1,
    what: "no effect: this drive programs in one pass",
    hint: "set flash.program_passes = 2",
};

pub(super) static CACHE: Requirement = Requirement {
    phrase: "an SLC cache: slc.static or slc.dynamic",
    keys: &["slc.static", "slc.dynamic"],
    met: |drive| drive.slc.is_on(),
    what: "no effect: this drive has no SLC cache",
    hint: "set slc.static or slc.dynamic, the numbers of superblocks of the SLC cache",
};

pub(super) static DYNAMIC_CACHE: Requirement = Requirement {
    phrase: "erased superblocks for the SLC cache: slc.dynamic",
    keys: &["slc.dynamic"],
    met: |drive| drive.slc.dynamic > 0 || !drive.slc.is_on(),
    what: "no effect: the SLC cache of this drive uses only its reserved superblocks",
    hint: "set slc.dynamic, the maximum number of additional superblocks",
};

pub(super) static AGE: Requirement = Requirement {
    phrase: "data that ages: aging.coding other than \"off\"",
    keys: &["aging.coding"],
    met: |drive| drive.aging.is_on(),
    what: "no effect: the data of this drive does not age",
    hint: "add aging.coding = \"balanced\"",
};

pub(super) static WORD_LINES_THAT_ERR: Requirement = Requirement {
    phrase: "data that ages, or bit errors: aging.coding other than \"off\", or reliability.model = \"analytic\" on a drive with superblocks",
    keys: &["aging.coding"],
    met: |drive| drive.aging.is_on() || (WORD_LINES_BY_LEVEL.met)(drive),
    what: "no effect: the word lines of this drive make no errors",
    hint: "add aging.coding = \"balanced\"",
};

pub(super) static WORD_LINES_BY_LEVEL: Requirement = Requirement {
    phrase: "word lines with bit errors by level: reliability.model = \"analytic\" on a drive with superblocks",
    keys: &["reliability.model"],
    met: |drive| drive.ftl.has_superblocks() && drive.reliability.model == ModelKind::Analytic,
    what: "no effect: only word lines that are programmed as a whole have references by data age",
    hint: "add --set reliability.model=analytic on a drive with superblocks",
};

pub(super) static ERRORS: Requirement = Requirement {
    phrase: "bit errors: reliability.model other than \"off\"",
    keys: &["reliability.model"],
    met: |drive| drive.reliability.model != ModelKind::Off,
    what: "no effect: the cells of this drive have no bit errors",
    hint: "add --set reliability.model=analytic, or use a drive with bit errors: --device rhio",
};

/// Requirement of configuration keys about bit errors: a drive whose placement policy is `streams`
/// must model bit errors. Drives with another placement policy meet it.
pub(super) static ERRORS_OF_STREAMS: Requirement = Requirement {
    met: |drive| drive.placement.name != PlacementKind::Streams || (ERRORS.met)(drive),
    ..ERRORS
};

/// Requirement that lists of configuration keys show for keys about read voltages: the drive models
/// bit errors (`analytic` or `by_voltage`). `met` is always true, because the device reports the
/// error itself.
pub(super) static ERRORS_OF_VOLTAGES: Requirement = Requirement {
    phrase: "bit errors: reliability.model = \"analytic\" or \"by_voltage\"",
    met: |_| true,
    ..ERRORS
};

pub(super) static FADING: Requirement = Requirement {
    phrase: "data that fades or reads that fail: reliability.model = \"analytic\" or \"table\", aging.coding other than \"off\", reliability.uber above 0, policy.redundancy.checks = \"versions\", or what policy.scrub.stripes needs",
    keys: &["reliability.model"],
    met: |drive| {
        !matches!(drive.reliability.model, ModelKind::Off | ModelKind::ByVoltage)
            || drive.aging.is_on()
            || drive.reliability.uber > 0.0
            || drive.redundancy.checks == Checks::Versions
            || drive.compares_stripes()
    },
    what: "no effect: the data of this drive never fades",
    hint: "add --set reliability.model=analytic, or use --device rhio",
};

pub(super) static COMPARISONS: Requirement = Requirement {
    phrase: "policy.scrub = \"patrol\", stripes (policy.redundancy = \"raid5\", for example), and policy.redundancy.integrity = true",
    keys: &[],
    met: |drive| drive.compares_stripes(),
    what: "no effect: this drive does not compare stripes with their parity",
    hint: "it needs policy.scrub = \"patrol\", stripes (policy.redundancy = \"raid5\", for example), and policy.redundancy.integrity = true",
};

pub(super) static STREAMS: Requirement = Requirement {
    phrase: "a stream for each kind of data: policy.placement = \"streams\"",
    keys: &["policy.placement"],
    met: |drive| drive.placement.name == PlacementKind::Streams,
    what: "no effect: the placement of this drive has no stream for hot data",
    hint: "set policy.placement = \"streams\"",
};

pub(super) static HANDLES: Requirement = Requirement {
    phrase: "placement by handles: policy.placement = \"handles\"",
    keys: &["policy.placement"],
    met: |drive| drive.placement.name == PlacementKind::Handles,
    what: "no effect: this drive does not place data by placement handles",
    hint: "set policy.placement = \"handles\"",
};

pub(super) static HOTNESS: Requirement = Requirement {
    phrase: "a detector of hot data: policy.hotness",
    keys: &["policy.hotness"],
    met: |drive| drive.hotness.detectors != 0,
    what: "no effect: this drive has no detector of hot data",
    hint: "add a detector: policy.hotness = [\"request_size\"]",
};

/// Requirement of configuration keys about hot data: a drive whose placement policy is `streams`
/// must have a detector of hot data. Drives with another placement policy meet it.
pub(super) static HOTNESS_OF_STREAMS: Requirement = Requirement {
    met: |drive| drive.placement.name != PlacementKind::Streams || (HOTNESS.met)(drive),
    ..HOTNESS
};

pub(super) static BAD_BLOCKS: Requirement = Requirement {
    phrase: "blocks that fail: bad_blocks.share above 0",
    keys: &[],
    met: |drive| drive.bad_blocks.share != 0.0,
    what: "no effect: no block of this drive fails",
    hint: "set bad_blocks.share, 0.02 for example",
};

pub(super) static RECOVERY_MODEL: Requirement = Requirement {
    phrase: "a model of recovery: lifetime.recovery other than table",
    keys: &["lifetime.recovery"],
    met: |drive| drive.life.recovery != Recovery::Table,
    what: "no effect: the endurance of rested cells comes from a table",
    hint: "leave out lifetime.temperature, and state in lifetime.table what cells at that temperature endure",
};

pub(super) static SAVED_PAGES: Requirement = Requirement {
    phrase: "a number of pages to save on power loss: policy.redundancy.saved above 0",
    keys: &["policy.redundancy.saved", "policy.redundancy.cache"],
    met: |drive| drive.redundancy.cache != CachePower::Limited || drive.redundancy.saved > 0,
    what: "no effect: a capacitor that saves no page acts like a volatile cache",
    hint: "set policy.redundancy.saved, or policy.redundancy.cache = \"volatile\"",
};

pub(super) static CAPACITOR: Requirement = Requirement {
    phrase: "a capacitor: policy.redundancy.cache = \"limited\"",
    keys: &["policy.redundancy.cache"],
    met: |drive| drive.redundancy.cache == CachePower::Limited,
    what: "no effect: used only with policy.redundancy.cache = \"limited\"",
    hint: "set policy.redundancy.cache = \"limited\"",
};

pub(super) static TORN_PROGRAMS: Requirement = Requirement {
    phrase: "torn programs: policy.redundancy.cut_programs = \"torn\"",
    keys: &["policy.redundancy.cut_programs"],
    met: |drive| drive.redundancy.tears_programs(),
    what: "no effect: this drive completes programs in flight when the power fails",
    hint: "set policy.redundancy.cut_programs = \"torn\"",
};
