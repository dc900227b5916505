//! Constraints between settings, which a drive must meet to work at all. The requirements of
//! settings to have an effect are in the crate `experiment`, beside the table of keys.
//!
//! One constraint is of both kinds: voltages on a drive without bit errors have no effect. That
//! constraint stays beside the other one on voltages; the table of keys only lists it.

use super::{
    Ack, BufferConfig, Config, Eviction, GcFrontier, ProgramTransfer, ProgramUnit, ReadHot,
};
use crate::config::layout::Refusals;
use crate::config::reliability::ModelKind;
use crate::policy::hotness::Detector;
use crate::policy::placement::{Isolation, PlacementKind};
use crate::policy::redundancy::CachePower;
use crate::policy::replacement::ReplacementKind;
use crate::policy::voltage::VoltageKind;
use fowler_units::Span;

/// A constraint between settings that a drive must meet to work.
pub(crate) struct Constraint {
    /// Configuration keys named in the error message for a drive that violates this constraint.
    keys: &'static [&'static str],
    /// The condition of this constraint: true for a configuration that meets it.
    met: fn(&Config) -> bool,
    /// The error message for a drive that violates this constraint: the problem.
    what: &'static str,
    /// The hint below the error message: a way to meet this constraint.
    hint: &'static str,
}

/// Constraints on the voltages of programs.
/// See docs/decisions/policy.md, "May voltages be chosen on a drive without bit errors?".
#[rustfmt::skip]
pub(super) const VOLTAGES: &[Constraint] = &[
    Constraint { keys: &["policy.voltage", "reliability.model"],
        met: |it| it.voltage.name == VoltageKind::Nominal || it.reliability.model != ModelKind::Off,
        what: "this drive has no bit errors, so threshold voltages have no effect",
        hint: "for HIRE's Table 1, set reliability.model = \"by_voltage\"" },
    Constraint { keys: &["policy.voltage", "policy.hotness", "policy.placement"],
        met: |it| it.voltage.name != VoltageKind::ByHotness
            || it.hotness.uses(Detector::BufferHits) && it.placement.name == PlacementKind::Streams,
        what: "voltages by hotness need separate blocks for each access class",
        hint: "set policy.hotness = [\"buffer_hits\"] and policy.placement = \"streams\", \
               as in scheme hire" },
];

/// Constraints on transfers of data over the channels.
#[rustfmt::skip]
pub(super) const TRANSFERS: &[Constraint] = &[
    Constraint { keys: &["flash.program_transfer", "flash.cache_program"],
        met: |it| it.flash.program_transfer == ProgramTransfer::Page || !it.flash.cache_program,
        what: "data enters a cache register page by page, in turn with other dies",
        hint: "use flash.program_transfer = \"page\", or flash.cache_program = false" },
];

/// Constraints on eviction and access classes: data that leaves the buffer at once collects no
/// reads or writes there.
#[rustfmt::skip]
pub(super) const EVICTION: &[Constraint] = &[
    Constraint { keys: &["policy.hotness", "buffer.eviction"],
        met: |it| it.evicts_lazily() || !it.hotness.uses(Detector::BufferHits),
        what: "data leaves the buffer as soon as it fills a program, so its hits say nothing",
        hint: "set buffer.eviction = \"lazy\"" },
    Constraint { keys: &["buffer.cache_reads", "buffer.eviction"],
        met: |it| it.evicts_lazily() || !it.buffer.cache_reads,
        what: "data leaves the buffer as soon as it fills a program, so no page read can stay",
        hint: "set buffer.eviction = \"lazy\"" },
    Constraint { keys: &["policy.replacement", "buffer.eviction"],
        met: |it| it.evicts_lazily() || it.replacement.name == ReplacementKind::CleanFirst,
        what: "data leaves the buffer as soon as it fills a program, in the order of its writes",
        hint: "set buffer.eviction = \"lazy\"" },
    Constraint { keys: &["buffer.evict_ahead", "buffer.eviction"],
        met: |it| it.evicts_lazily()
            || it.buffer.evict_ahead == BufferConfig::default().evict_ahead,
        what: "data leaves the buffer as soon as it fills a program, however much is free",
        hint: "set buffer.eviction = \"lazy\", or buffer.evict_ahead = 16, its default" },
    Constraint { keys: &["buffer.evict_ahead", "buffer.eviction"],
        met: |it| it.buffer.ack != Ack::OnInsert || !it.evicts_lazily() || it.buffer.evict_ahead > 0,
        what: "no page would ever leave the buffer; expected at least 1",
        hint: "leave it out" },
    Constraint { keys: &["buffer.eviction", "buffer.ack"],
        met: |it| it.buffer.ack == Ack::OnInsert || it.buffer.eviction == Eviction::Usual,
        what: "a write that waits for its program sends its data to the flash at once, so no rule \
               of eviction has an effect",
        hint: "leave it out, or use buffer.ack = \"on_insert\"" },
];

/// Constraints on lazy eviction, and on what is evicted, on a drive with superblocks.
#[rustfmt::skip]
pub(crate) const EVICTION_OF_SUPERBLOCKS: &[Constraint] = &[
    Constraint { keys: &["buffer.eviction", "flash.program_passes"],
        met: |it| !it.evicts_lazily() || it.flash.program_passes == 1,
        what: "a program in two passes leaves the buffer only after later programs, which a buffer \
               that waits until it needs room would not begin",
        hint: "use buffer.eviction = \"eager\", or program in one pass" },
    Constraint { keys: &["buffer.eviction", "buffer.pace"],
        met: |it| !it.evicts_lazily() || it.buffer.pace == Span::ZERO,
        what: "under lazy eviction the buffer is always full, so its fill level cannot set the \
               rate at which units enter",
        hint: "use buffer.eviction = \"eager\", or buffer.pace = \"0ns\"" },
    Constraint { keys: &["buffer.read_hot", "ftl.reclaim_unit"],
        met: |it| it.buffer.read_hot == ReadHot::OnDirty,
        what: "the program commands of a superblock gather new data from the whole buffer, so a clean \
               page is not programmed again for the sake of its voltages",
        hint: "use on_dirty" },
];

/// Constraints on the placement of data by the host's placement handles.
#[rustfmt::skip]
pub(super) const HANDLES: &[Constraint] = &[
    Constraint { keys: &["gc.frontier", "policy.placement.isolation"],
        met: |it| it.placement.name != PlacementKind::Handles
            || it.placement.isolation != Isolation::Initial || it.gc.frontier != GcFrontier::Shared,
        what: "data moved by GC, of all placement handles, would share open blocks with host data \
               of the first handle",
        hint: "use gc.frontier = \"own\", or policy.placement.isolation = \"persistent\"" },
];

/// Constraints on programs that a power loss interrupts.
#[rustfmt::skip]
pub(super) const CUT_PROGRAMS: &[Constraint] = &[
    Constraint { keys: &["policy.redundancy.cut_programs", "policy.redundancy.cache"],
        met: |it| !it.redundancy.tears_programs() || it.redundancy.cache != CachePower::Protected,
        what: "the contents of caches survive a power loss, so energy is left to end programs, too",
        hint: "choose the cache `volatile` or `limited`" },
    Constraint { keys: &["policy.redundancy.cut_programs", "policy.redundancy.integrity"],
        met: |it| !it.redundancy.tears_programs() || it.redundancy.integrity,
        what: "programs are cut off at a power loss, and without versions no read would notice it",
        hint: "set policy.redundancy.integrity = true" },
];

const CACHE_REGISTER: &str = "only the dies of a drive with superblocks have a cache register";

/// Constraints on a page-mapped drive, which must not set what only drives with superblocks have.
#[rustfmt::skip]
pub(crate) const PAGE_MAPPED: &[Constraint] = &[
    Constraint { keys: &["ftl.program_unit", "ftl.reclaim_unit"],
        met: |it| it.ftl.program_unit == ProgramUnit::Page,
        what: "a drive that fills blocks gives each die one page at a time and binds it when its \
               program begins; only superblocks are filled by whole word lines",
        hint: "leave it out, or set ftl.reclaim_unit = \"superblock\"" },
    Constraint { keys: &["buffer.pace", "ftl.reclaim_unit"],
        met: |it| it.buffer.pace == Span::ZERO,
        what: "only a drive with superblocks limits the rate at which units enter its buffer",
        hint: "use 0ns, or set ftl.reclaim_unit = \"superblock\"" },
    Constraint { keys: &["flash.cache_read", "ftl.reclaim_unit"],
        met: |it| !it.flash.cache_read,
        what: CACHE_REGISTER,
        hint: "use false, or set ftl.reclaim_unit = \"superblock\"" },
    Constraint { keys: &["flash.cache_program", "ftl.reclaim_unit"],
        met: |it| !it.flash.cache_program,
        what: CACHE_REGISTER,
        hint: "use false, or set ftl.reclaim_unit = \"superblock\"" },
    Constraint { keys: &["flash.program_passes", "ftl.reclaim_unit"],
        met: |it| it.flash.program_passes == 1,
        what: "only a drive with superblocks programs word lines, in two passes or one",
        hint: "use 1, or set ftl.reclaim_unit = \"superblock\"" },
    Constraint { keys: &["slc.static", "slc.dynamic", "ftl.reclaim_unit"],
        met: |it| !it.slc.is_on(),
        what: "only a drive with superblocks has an SLC cache",
        hint: "use 0 for both, or set ftl.reclaim_unit = \"superblock\"" },
    Constraint { keys: &["aging.coding", "ftl.reclaim_unit"],
        met: |it| !it.aging.is_on(),
        what: "only a drive with superblocks has cells that age by `aging` and read retries",
        hint: "set reliability.model = \"analytic\", or ftl.reclaim_unit = \"superblock\"" },
];

/// Constraints on a drive with superblocks that programs page by page.
#[rustfmt::skip]
pub(crate) const PROGRAMS_OF_PAGES: &[Constraint] = &[
    Constraint { keys: &["flash.program_passes", "ftl.program_unit"],
        met: |it| it.ftl.program_unit == ProgramUnit::WordLine || it.flash.program_passes == 1,
        what: "two passes program a whole word line, and this drive programs page by page",
        hint: "use 1, or set ftl.program_unit = \"word_line\"" },
    Constraint { keys: &["slc.static", "slc.dynamic", "ftl.program_unit"],
        met: |it| it.ftl.program_unit == ProgramUnit::WordLine || !it.slc.is_on(),
        what: "the SLC cache programs one page of a word line in place of all at once, and this \
               drive programs page by page",
        hint: "use 0 for both, or set ftl.program_unit = \"word_line\"" },
];

impl Config {
    /// Adds a refusal for each constraint that the drive does not meet.
    pub(crate) fn refuse_unmet(&self, constraints: &[Constraint], refusals: &mut Refusals) {
        for Constraint { keys, what, hint, .. } in constraints.iter().filter(|it| !(it.met)(self)) {
            refusals.unless_hinted(false, keys, || what.to_string(), || hint.to_string());
        }
    }
}
