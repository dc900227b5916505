//! The keys of policy slots.

use super::key::{ANY, Key, at, optional, words};
use super::needs;
use crate::field::{Access, Field, Word};
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::hotness::Detector;
use fowler_device::policy::placement::{Dies, Isolation, PlacementKind};
use fowler_device::policy::redundancy::{
    AboveNUpdate, CachePower, Checks, CutPrograms, RedundancyKind, UpdateOrder,
};
use fowler_device::policy::replacement::ReplacementKind;
use fowler_device::policy::scrub::ScrubKind;
use fowler_device::policy::sensing::{Input, SensingKind};
use fowler_device::policy::step::StepKind;
use fowler_device::policy::suspension::{SuspendingReads, SuspensionKind};
use fowler_device::policy::throttle::{Enforcement, EpochRule, ThrottleKind};
use fowler_device::policy::victim::VictimKind;
use fowler_device::policy::voltage::VoltageKind;
use fowler_device::policy::wear::WearKind;
use fowler_device::{Config, StreamTag};
use fowler_nand::{CancelledProgram, Reload};
use fowler_units::{ByteRate, Bytes, Span};

/// Creates the type of a key that chooses a policy: its words are the policies available for that
/// choice.
macro_rules! slot {
    ($slot:ident, $Kind:ident) => {
        Field::Word(
            || $Kind::ALL.iter().map(|kind| (kind.name(), kind.about())).collect(),
            Access {
                get: |config: &Config| config.$slot.name.name(),
                set: |config, word| {
                    if let Some(&kind) = $Kind::ALL.iter().find(|kind| kind.name() == word) {
                        config.$slot.name = kind;
                    }
                },
            },
        )
    };
}

/// Creates the type of a key that is a set: any number of the listed words.
macro_rules! set {
    ($($place:ident).+, $Member:ident) => {
        Field::Set(
            || $Member::ALL.iter().map(|&(_, name, about)| (name, about)).collect(),
            Access { get: |config| config.$($place).+, set: |config, bits| config.$($place).+ = bits },
        )
    };
}

pub(super) fn all() -> Vec<Key<Config>> {
    [of_operations(), of_throttling(), of_data(), redundancy()].into_iter().flatten().collect()
}

#[rustfmt::skip]
fn of_operations() -> Vec<Key<Config>> {
    vec![
        optional("policy.die_order", "which waiting transaction a die serves next",
            slot!(die_order, DieOrderKind)),
        optional("policy.die_order.deadline", "rhio: waiting time after which a request is served before all others, unless the request has a deadline",
            Field::Time(Span::ms(10)..=Span::ms(1280), at!(die_order.deadline))),
        optional("policy.suspension", "whether a read may suspend a program or an erase",
            slot!(suspension, SuspensionKind)),
        optional("policy.suspension.reads", "reads that may suspend a program or an erase",
            words!(suspension.reads,
                "host" => SuspendingReads::Host, "reads that a host request waits for";
                "all" => SuspendingReads::All, "also reads for GC and for partial-page writes";
            )),
        optional("policy.suspension.cancelled_program", "how a program resumes after a cancelled program phase",
            words!(suspension.cancelled_program,
                "redo" => CancelledProgram::Redo, "with a verify, then the whole program phase again";
                "reached" => CancelledProgram::Reached, "with a verify, then the next ISPP iteration";
            )),
        optional("policy.suspension.reload", "order of a read that arrives while the page buffer is reloaded",
            words!(suspension.reload,
                "abort" => Reload::Abort, "the read goes first, and the reload starts over";
                "finish" => Reload::Finish, "the read waits for the end of the reload";
            )),
        optional("policy.suspension.shadow_buffer", "whether the die keeps the data of a suspended program",
            Field::Flag(at!(suspension.shadow_buffer))),
        optional("policy.suspension.max_suspends", "maximum number of suspensions per program or erase; 0 for unlimited",
            Field::Count(0..=1_000_000, Access {
                get: |config| u64::from(config.suspension.max_suspends.unwrap_or(0)),
                set: |config, limit| {
                    config.suspension.max_suspends = (limit > 0).then_some(limit as u32);
                },
            })),
        optional("policy.suspension.min_progress", "time for which a program or erase runs before it may be suspended",
            Field::Time(ANY, at!(suspension.min_progress))),
        optional("policy.suspension.max_time", "time since a program or erase first went on the cells after which it runs to its end, even if reads wait; 0 for unlimited",
            Field::Time(ANY, Access {
                get: |config| config.suspension.max_time.unwrap_or(Span::ZERO),
                set: |config, limit| config.suspension.max_time = (limit > Span::ZERO).then_some(limit),
            })),
        optional("policy.suspension.erase_step", "length of the steps of an erase pulse, which is suspended only between steps; 0 for anywhere",
            Field::Time(ANY, at!(suspension.erase_step))),
        optional("policy.suspension.delay", "time from the suspension of an operation until its die serves the read",
            Field::Time(ANY, at!(suspension.delay))),
        optional("policy.victim", "choice of the block that GC collects (victim selection)",
            slot!(victim, VictimKind)),
        optional("policy.victim.d", "d_choices: number of blocks drawn at random for each choice of a victim",
            Field::Count(1..=1024, at!(victim.d as u32))),
        optional("policy.wear", "static wear leveling: condition for swapping hot and cold data",
            slot!(wear, WearKind)),
        optional("policy.wear.threshold", "erases by which a block must exceed the least worn of its plane before they swap data",
            Field::Count(1..=1_000_000, at!(wear.threshold as u32))),
        optional("policy.scrub", "whether data is read in the background (scrubbing), and moved before it is lost",
            slot!(scrub, ScrubKind)).needs(&[&needs::FADING]),
        optional("policy.scrub.period", "patrol: period in which every block with data is read once",
            Field::Time(Span::ms(1)..=Span(3650 * 86_400_000_000_000), at!(scrub.period))),
        optional("policy.scrub.margin", "patrol: bit errors of a page at which its block is moved, as a share of those that the code corrects at its strongest sensing level",
            Field::Real(0.001..=1.0, at!(scrub.margin))),
        optional("policy.scrub.stripes", "patrol: whether reading parity also compares it with its stripe, to find silently corrupted pages",
            Field::Flag(at!(scrub.stripes))).needs(&[&needs::COMPARISONS]),
    ]
}

#[rustfmt::skip]
fn of_throttling() -> Vec<Key<Config>> {
    vec![
        optional("policy.throttle", "how writes are throttled to reach the target lifetime",
            slot!(throttle, ThrottleKind)),
        optional("policy.throttle.enforcement", "dynamic, ready: write budget of an epoch",
            words!(throttle.enforcement,
                "pessimistic" => Enforcement::Pessimistic, "the epoch's own budget, spent period by period";
                "optimistic" => Enforcement::Optimistic, "the epoch's own budget, and what later epochs can spare";
            )),
        optional("policy.throttle.epoch", "dynamic, ready: length of an epoch",
            words!(throttle.epoch,
                "auto" => EpochRule::Auto, "the period found in the write demand";
                "fixed" => EpochRule::Fixed, "epoch_length";
            )),
        optional("policy.throttle.epoch_length", "length of an epoch with epoch = \"fixed\"",
            Field::Time(Span::us(1)..=Span(3650 * 86_400_000_000_000), at!(throttle.epoch_length))),
    ]
}

#[rustfmt::skip]
fn of_data() -> Vec<Key<Config>> {
    vec![
        optional("policy.hotness", "the detectors that classify data by how it is accessed",
            set!(hotness.detectors, Detector)),
        optional("policy.hotness.hot_up_to", "request_size: the largest request that counts as hot, in whole pages; 0B is the running median",
            Field::Size(Bytes(0)..=Bytes(1 << 30), at!(hotness.hot_up_to))),
        optional("policy.hotness.watermark", "buffer_hits: share of reads, or of writes, above which a page is read-hot or write-hot",
            Field::Real(0.5..=1.0, at!(hotness.watermark))),
        optional("policy.placement", "assignment of data to open blocks",
            slot!(placement, PlacementKind)).needs(&[&needs::HOTNESS_OF_STREAMS]),
        optional("policy.placement.dies", "which die a host page is written to",
            words!(placement.dies,
                "rotate" => Dies::Rotate, "the next die with room, in turn";
                "by_address" => Dies::ByAddress, "the die of its address, or the next in turn if that die is full";
            )),
        optional("policy.placement.stripe_unit", "neighboring pages that go to one die before the next die takes any",
            Field::Count(1..=1024, at!(placement.stripe_unit as u32))),
        optional("policy.placement.hot_to_strong", "streams: whether hot data goes to strong blocks and other data to weak ones",
            Field::Flag(at!(placement.hot_to_strong))).needs(&[&needs::STREAMS, &needs::ERRORS_OF_STREAMS]),
        optional("policy.placement.handles", "handles: number of placement handles of the drive; a write with another handle, or none, uses the first",
            Field::Count(2..=u64::from(StreamTag::HANDLES), at!(placement.handles as u32))).needs(&[&needs::HANDLES]),
        optional("policy.placement.isolation", "handles: how long data of different placement handles stays in separate blocks",
            words!(placement.isolation,
                "initial" => Isolation::Initial, "until GC moves it: data moved by GC shares open blocks across handles";
                "persistent" => Isolation::Persistent, "always: data moved by GC has open blocks per handle";
            )).needs(&[&needs::HANDLES]),
        optional("policy.step", "the ISPP step at which data is programmed",
            slot!(step, StepKind)).needs(&[&needs::ERRORS, &needs::HOTNESS]),
        optional("policy.voltage", "the threshold voltages at which data is programmed",
            slot!(voltage, VoltageKind)).needs(&[&needs::ERRORS_OF_VOLTAGES]),
        optional("policy.replacement", "which page the buffer evicts",
            slot!(replacement, ReplacementKind)),
        optional("policy.replacement.window", "cflru: number of oldest pages searched for a clean one",
            Field::Count(1..=1 << 20, at!(replacement.window as u32))),
        optional("policy.sensing", "the soft-sensing level at which a read starts",
            slot!(sensing, SensingKind)).needs(&[&needs::ERRORS]),
        optional("policy.sensing.inputs", "model: page properties known to the controller, which assumes the worst about the others",
            set!(sensing.inputs, Input)),
    ]
}

/// The maximum retention age: longer than any data stays in flash.
const CENTURY: Span = Span(100 * 365 * 86_400_000_000_000);

#[rustfmt::skip]
fn redundancy() -> Vec<Key<Config>> {
    vec![
        optional("policy.redundancy", "protection of stripes by parity",
            slot!(redundancy, RedundancyKind)),
        optional("policy.redundancy.stripe", "data pages per stripe; with its parity page, a stripe spans one chip more",
            Field::Count(1..=63, at!(redundancy.stripe as u32))),
        optional("policy.redundancy.parity_cache", "largest amount of parity that is cached or being written",
            Field::Size(Bytes(0)..=Bytes(1 << 30), at!(redundancy.parity_cache))),
        optional("policy.redundancy.parity_ahead", "ppc, hc: number of parity cache entries kept free ahead of demand, at most half of the cache",
            Field::Count(1..=1 << 16, at!(redundancy.parity_ahead as u32))),
        optional("policy.redundancy.cache", "what happens to the caches on power loss",
            words!(redundancy.cache,
                "protected" => CachePower::Protected, "their contents survive";
                "volatile" => CachePower::Volatile, "the contents of the caches are lost";
                "limited" => CachePower::Limited, "a capacitor saves up to policy.redundancy.saved pages";
            )).needs(&[&needs::SAVED_PAGES]),
        optional("policy.redundancy.saved", "limited: number of pages that the drive's capacitor can program after a power loss",
            Field::Count(0..=1 << 24, at!(redundancy.saved as u32))).needs(&[&needs::CAPACITOR]),
        optional("policy.redundancy.cut_programs", "fate of programs in flight at a power loss, unless the caches are protected",
            words!(redundancy.cut_programs,
                "finished" => CutPrograms::Finished, "the programs complete on stored energy";
                "torn" => CutPrograms::Torn, "their pages cannot be read";
            )),
        optional("policy.redundancy.word_line", "torn: number of pages in a word line, which are programmed one after another; a torn page makes the earlier ones unreadable too",
            Field::Count(1..=16, at!(redundancy.word_line as u32))).needs(&[&needs::TORN_PROGRAMS]),
        optional("policy.redundancy.n_update", "hc: if more pages of a stripe than this are written together, its cached parity is recomputed",
            Field::Count(0..=63, at!(redundancy.n_update as u32))),
        optional("policy.redundancy.above_n_update", "hc: pages that the recomputed parity covers",
            words!(redundancy.above_n_update,
                "add" => AboveNUpdate::Add, "the new pages and those covered before, which are read";
                "replace" => AboveNUpdate::Replace, "the new pages only: until parity is written, the other pages have none";
            )),
        optional("policy.redundancy.update_order", "order of programming a page and reading its old version for parity",
            words!(redundancy.update_order,
                "program_first" => UpdateOrder::ProgramFirst, "program first: the read waits for its chip, which is busy with the program";
                "read_first" => UpdateOrder::ReadFirst, "read first: the read reaches the chip before the program";
            )),
        optional("policy.redundancy.flush_moved", "whether cached parity is written when GC moves a page of its stripe",
            Field::Flag(at!(redundancy.flush_moved))),
        optional("policy.redundancy.flush_at_end", "whether a run ends by writing the contents of the caches to flash",
            Field::Flag(at!(redundancy.flush_at_end))),
        optional("policy.redundancy.cut_off", "hc: writes of more pages than this bypass the caches; 0 disables the bypass",
            Field::Count(0..=1 << 16, at!(redundancy.cut_off as u32))),
        optional("policy.redundancy.worn_above", "P/E cycles above which a block counts as worn (T_p)",
            Field::Count(0..=1_000_000, at!(redundancy.worn_above as u32))),
        optional("policy.redundancy.worn_erase_pulse", "erase pulse of a worn block; 0 is the same as for other blocks",
            Field::Time(ANY, at!(redundancy.worn_erase_pulse))),
        optional("policy.redundancy.all_above", "da_raid5: once more stripes than this have a page in a worn block, all get parity (L)",
            Field::Count(0..=u64::from(u32::MAX), at!(redundancy.all_above as u32))),
        optional("policy.redundancy.retention", "data age at which a block is refreshed (T_retention)",
            Field::Time(Span::ms(1)..=CENTURY, at!(redundancy.retention))),
        optional("policy.redundancy.reads", "reads after which a block is refreshed (T_read)",
            Field::Count(1..=u64::from(u32::MAX), at!(redundancy.reads as u32))),
        optional("policy.redundancy.limit_growth", "growth rate of the refresh limits: each P/E cycle below worn_above multiplies the limits on age and reads by e^limit_growth",
            Field::Real(0.0..=0.01, at!(redundancy.limit_growth))),
        optional("policy.redundancy.rebuild_at_once", "number of pages that are rebuilt concurrently",
            Field::Count(1..=16, at!(redundancy.rebuild_at_once as u32))),
        optional("policy.redundancy.rebuild_rate", "maximum rate of rebuilding; 0 for as fast as the drive can",
            Field::Rate(ByteRate(0)..=ByteRate(1_000_000_000_000), at!(redundancy.rebuild_rate))),
        optional("policy.redundancy.integrity", "whether every page carries a version, against which reads are verified; without redundancy, whether the pages that faults take are noted",
            Field::Flag(at!(redundancy.integrity))),
        optional("policy.redundancy.checks", "checks of every page read, in addition to error correction",
            words!(redundancy.checks,
                "none" => Checks::Nothing, "none: data that passes error correction is taken as right";
                "versions" => Checks::Versions, "page number, version and checksum stored beside the data: a wrong page reads as a failed one";
            )),
    ]
}
