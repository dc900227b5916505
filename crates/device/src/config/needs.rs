//! What settings need of the rest of a drive to work at all: a row for each, and the function that
//! walks them. What a setting needs to have an effect is said in the table of keys, in the crate
//! `experiment`.

use super::{Admission, Arbitration, Config, Mapping};
use crate::config::layout::{Refusal, Refusals};
use crate::config::reliability::ModelKind;
use crate::policy::hotness::Detector;
use crate::policy::placement::PlacementKind;
use crate::policy::redundancy::CachePower;
use crate::policy::voltage::VoltageKind;
use fowler_units::Span;

/// A need of settings: where it is not met, they do not work, or have no effect.
pub struct Need {
    /// The keys involved, or those beside the one that has the need.
    pub keys: &'static [&'static str],
    /// Returns whether a drive meets it.
    pub met: fn(&Config) -> bool,
    /// The message of a refusal.
    pub what: &'static str,
    /// A way to meet it.
    pub hint: &'static str,
}

impl Need {
    /// Returns the refusal of a drive that does not meet the need of `keys`.
    pub fn refusal(&self, keys: &[&'static str]) -> Refusal {
        let (what, hint) = (self.what.into(), Some(self.hint.into()));
        Refusal { keys: [keys, self.keys].concat(), what, hint }
    }
}

/// Needs on every drive. A `buffer.read_hot` that has no effect, because access classes are off, is
/// accepted: schemes are compared on one drive.
/// See docs/decisions/policy.md, "May voltages be chosen on a drive without bit errors?".
#[rustfmt::skip]
const ALWAYS: &[Need] = &[
    Need { keys: &["policy.hotness"],
        met: |it| it.hotness.uses(Detector::BufferHits) || it.policies.hotness.is_none(),
        what: "a custom policy replaces `buffer_hits`, which this drive does not use",
        hint: "set policy.hotness = [\"buffer_hits\"], or use a scheme such as hire" },
    Need { keys: &["policy.voltage", "reliability.model"],
        met: |it| it.voltage.name == VoltageKind::Nominal || it.reliability.model != ModelKind::Off,
        what: "this drive has no bit errors, so threshold voltages have no effect",
        hint: "for HIRE's Table 1, set reliability.model = \"by_voltage\"" },
    Need { keys: &["policy.voltage", "policy.hotness", "policy.placement"],
        met: |it| it.voltage.name != VoltageKind::ByHotness
            || it.hotness.uses(Detector::BufferHits) && it.placement.name == PlacementKind::Streams,
        what: "voltages by hotness need separate blocks for each access class",
        hint: "set policy.hotness = [\"buffer_hits\"] and policy.placement = \"streams\", \
               as in scheme hire" },
    Need { keys: &["policy.redundancy.cut_programs", "policy.redundancy.cache"],
        met: |it| !it.redundancy.tears_programs() || it.redundancy.cache != CachePower::Protected,
        what: "caches that survive a power loss, but programs that do not",
        hint: "choose the cache `volatile` or `limited`" },
    Need { keys: &["policy.redundancy.cut_programs", "policy.redundancy.integrity"],
        met: |it| !it.redundancy.tears_programs() || it.redundancy.integrity,
        what: "pages that are torn, and nothing that notices it",
        hint: "set policy.redundancy.integrity = true" },
];

const CACHE_REGISTER: &str = "only the dies of a drive with superblocks have a cache register";

/// Settings of drives with superblocks, each of which a page-mapped drive must leave alone.
#[rustfmt::skip]
const SUPERBLOCKS: &[Need] = &[
    Need { keys: &["queue.admission", "ftl.mapping"],
        met: |it| it.admission != Admission::Shared,
        what: "only a drive with superblocks shares its slots",
        hint: "use in_order or reads_pass, or set ftl.mapping = \"superblocks\"" },
    Need { keys: &["queue.arbitration", "ftl.mapping"],
        met: |it| it.queue.arbitration == Arbitration::Arrival,
        what: "only a drive with superblocks takes writes from its queues in turn",
        hint: "use arrival, or set ftl.mapping = \"superblocks\"" },
    Need { keys: &["buffer.pace", "ftl.mapping"],
        met: |it| it.buffer.pace == Span::ZERO,
        what: "only a drive with superblocks paces what enters its buffer",
        hint: "use 0ns, or set ftl.mapping = \"superblocks\"" },
    Need { keys: &["flash.cache_read", "ftl.mapping"],
        met: |it| !it.flash.cache_read,
        what: CACHE_REGISTER,
        hint: "use false, or set ftl.mapping = \"superblocks\"" },
    Need { keys: &["flash.cache_program", "ftl.mapping"],
        met: |it| !it.flash.cache_program,
        what: CACHE_REGISTER,
        hint: "use false, or set ftl.mapping = \"superblocks\"" },
    Need { keys: &["flash.program_passes", "ftl.mapping"],
        met: |it| it.flash.program_passes == 1,
        what: "only a drive with superblocks programs word lines, in two passes or one",
        hint: "use 1, or set ftl.mapping = \"superblocks\"" },
    Need { keys: &["slc.static", "slc.dynamic", "ftl.mapping"],
        met: |it| !it.slc.is_on(),
        what: "only a drive with superblocks has an SLC cache",
        hint: "use 0 for both, or set ftl.mapping = \"superblocks\"" },
    Need { keys: &["aging.coding", "ftl.mapping"],
        met: |it| !it.aging.is_on(),
        what: "only a drive with superblocks has cells that age so",
        hint: "set reliability.model = \"analytic\", or ftl.mapping = \"superblocks\"" },
];

impl Config {
    /// Refuses settings that need what this drive has not.
    pub(super) fn refuse_unmet(&self, refusals: &mut Refusals) {
        let pages = self.superblocks.mapping == Mapping::Pages;
        let needs = [ALWAYS, if pages { SUPERBLOCKS } else { &[] }];
        let unmet = needs.iter().copied().flatten().filter(|need| !(need.met)(self));
        refusals.extend(unmet.map(|need| need.refusal(&[])));
    }
}
