//! Every configuration key of a drive, in one table. The TOML parser, `--set`, the resolved
//! configuration of a result, the help and the bindings all read this list and no other.

use crate::field::{Access, Field, Word};
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::hotness::Detector;
use fowler_device::policy::placement::{Dies, PlacementKind};
use fowler_device::policy::sensing::{Input, SensingKind};
use fowler_device::policy::step::StepKind;
use fowler_device::policy::suspension::{SuspendingReads, SuspensionKind};
use fowler_device::policy::victim::VictimKind;
use fowler_device::policy::wear::WearKind;
use fowler_device::reliability::{ModelKind, StrengthSource};
use fowler_device::{
    Ack, Config, GcFrontier, OpBase, PartialWrites, Pattern, PlaneMode, ProgramErase,
    UnwrittenReads,
};
use fowler_nand::{CancelledProgram, Reload};
use fowler_physics::parameters::CONSTANTS;
use fowler_units::{ByteRate, Bytes, Span};

/// One key of the table.
pub struct Key<T> {
    /// Its dotted path.
    pub path: &'static str,
    /// What it means, in one line.
    pub about: &'static str,
    /// Whether a description without it is incomplete.
    pub required: bool,
    /// What it takes.
    pub field: Field<T>,
}

/// A place in the struct, as a pair of functions.
macro_rules! at {
    ($($place:ident).+) => {
        Access { get: |config| config.$($place).+, set: |config, value| config.$($place).+ = value }
    };
    ($($place:ident).+ as u32) => {
        Access {
            get: |config| u64::from(config.$($place).+),
            set: |config, value| config.$($place).+ = value as u32,
        }
    };
}
pub(crate) use at;

/// An enum that stands for words.
macro_rules! words {
    ($($place:ident).+, $($word:literal => $variant:expr, $about:literal;)+) => {{
        const WORDS: &[Word] = &[$(($word, $about)),+];
        Field::Word(
            || WORDS.to_vec(),
            Access {
                get: |config| {
                    let value = &config.$($place).+;
                    [$(($variant, $word)),+]
                        .into_iter()
                        .find_map(|(variant, word)| (variant == *value).then_some(word))
                        .expect("every variant has its word")
                },
                set: |config, word| {
                    if let Some(value) = [$(($word, $variant)),+]
                        .into_iter()
                        .find_map(|(name, variant)| (name == word).then_some(variant))
                    {
                        config.$($place).+ = value;
                    }
                },
            },
        )
    }};
}
pub(crate) use words;

/// A policy slot: its words are the slot's own list.
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

/// A set of what a slot lists.
macro_rules! set {
    ($($place:ident).+, $Member:ident) => {
        Field::Set(
            || $Member::ALL.iter().map(|&(_, name, about)| (name, about)).collect(),
            Access { get: |config| config.$($place).+, set: |config, bits| config.$($place).+ = bits },
        )
    };
}

fn required(path: &'static str, about: &'static str, field: Field<Config>) -> Key<Config> {
    Key { path, about, required: true, field }
}

fn optional(path: &'static str, about: &'static str, field: Field<Config>) -> Key<Config> {
    Key { path, about, required: false, field }
}

/// Longer than any flash operation; a larger number is a unit mistaken.
const LONGEST: Span = Span::ms(10_000);
const ANY: std::ops::RangeInclusive<Span> = Span::ZERO..=LONGEST;
const SOME: std::ops::RangeInclusive<Span> = Span::ns(1)..=LONGEST;

/// Every key, in the order in which a resolved configuration lists them.
pub fn all() -> Vec<Key<Config>> {
    [
        geometry(),
        timing(),
        buffers_and_queues(),
        collection(),
        semantics(),
        policies(),
        data_policies(),
        reliability(),
        cells(),
        seed(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[rustfmt::skip]
fn geometry() -> Vec<Key<Config>> {
    vec![
        required("geometry.channels", "buses between the controller and the chips",
            Field::Count(1..=1024, at!(geometry.channels as u32))),
        required("geometry.chips_per_channel", "chips that share one channel",
            Field::Count(1..=256, at!(geometry.chips_per_channel as u32))),
        required("geometry.dies_per_chip", "dies in a chip, each busy on its own",
            Field::Count(1..=64, at!(geometry.dies_per_chip as u32))),
        required("geometry.planes_per_die", "planes in a die, each an allocation pool",
            Field::Count(1..=64, at!(geometry.planes_per_die as u32))),
        required("geometry.blocks_per_plane", "blocks in a plane",
            Field::Count(1..=1 << 20, at!(geometry.blocks_per_plane as u32))),
        required("geometry.pages_per_block", "pages in a block",
            Field::Count(1..=1 << 16, at!(geometry.pages_per_block as u32))),
        required("geometry.page_size", "data of one page",
            Field::Size(Bytes(512)..=Bytes(1 << 20), at!(geometry.page_size))),
        required("geometry.over_provisioning", "share of the capacity kept from the host",
            Field::Real(0.0..=10.0, at!(over_provisioning))),
        optional("geometry.over_provisioning_base", "what over_provisioning is a share of",
            words!(over_provisioning_base,
                "raw" => OpBase::Raw, "spare / raw";
                "logical" => OpBase::Logical, "spare / logical";
            )),
        optional("geometry.plane_mode", "how the planes of a die work",
            words!(plane_mode,
                "lockstep" => PlaneMode::Lockstep, "one command at a time, over several planes";
                "independent" => PlaneMode::Independent, "each plane on its own; the bus is shared";
            )),
    ]
}

#[rustfmt::skip]
fn timing() -> Vec<Key<Config>> {
    vec![
        required("timing.bus_transfer", "moving one page over the channel, either way",
            Field::Time(ANY, at!(timing.bus_transfer))),
        required("timing.read", "sensing a page; one value, or one per page type",
            Field::Times(SOME, at!(timing.read))),
        required("timing.program_phase", "program phase of one ISPP iteration, its reset included",
            Field::Time(SOME, at!(timing.program_phase))),
        required("timing.verify_phase", "verify phase of one ISPP iteration, its reset included",
            Field::Time(ANY, at!(timing.verify_phase))),
        required("timing.program_iterations", "ISPP iterations; one value, or one per page type",
            Field::Counts(1..=1000, at!(timing.program_iterations))),
        required("timing.erase_pulse", "the erase pulse, its reset included",
            Field::Time(SOME, at!(timing.erase_pulse))),
        required("timing.erase_verify", "the verify after the erase pulse",
            Field::Time(ANY, at!(timing.erase_verify))),
        required("timing.voltage_reset", "taking the voltages off the cells, at the end of a phase",
            Field::Time(ANY, at!(timing.voltage_reset))),
        required("timing.buffer_load", "loading the page buffer from the shadow buffer",
            Field::Time(ANY, at!(timing.buffer_load))),
        optional("timing.program_erase", "how long programs and erases take",
            words!(program_erase,
                "nominal" => ProgramErase::Nominal, "as the timing says";
                "read" => ProgramErase::AsRead, "as long as sensing a page (PER)";
                "zero" => ProgramErase::Zero, "no time at all (PE0)";
            )),
    ]
}

#[rustfmt::skip]
fn buffers_and_queues() -> Vec<Key<Config>> {
    vec![
        optional("buffer.size", "the write buffer; 0B leaves only pages on their way to the flash",
            Field::Size(Bytes(0)..=Bytes(1 << 40), at!(buffer.size))),
        optional("buffer.ack", "when a write is complete for the host",
            words!(buffer.ack,
                "on_insert" => Ack::OnInsert, "when its data is in the buffer";
                "on_program" => Ack::OnProgram, "when its data is in the flash";
            )),
        optional("buffer.evict_ahead", "page frames kept free or on their way out (on_insert only)",
            Field::Count(0..=1 << 20, at!(buffer.evict_ahead as u32))),
        optional("queue.depth", "host requests in the device at once",
            Field::Count(1..=65_536, at!(queue.depth as u32))),
        optional("queue.max_reads", "host page reads waiting or in service at once",
            Field::Count(1..=65_536, at!(queue.max_reads as u32))),
        optional("queue.max_writes", "host page writes on their way to the flash at once",
            Field::Count(1..=65_536, at!(queue.max_writes as u32))),
        optional("host.bandwidth", "rate of the host link; 0B/s makes data transfers free",
            Field::Rate(ByteRate(0)..=ByteRate(1_000_000_000_000), at!(host.bandwidth))),
        optional("host.command", "time each command occupies the host link",
            Field::Time(ANY, at!(host.command))),
    ]
}

#[rustfmt::skip]
fn collection() -> Vec<Key<Config>> {
    vec![
        optional("gc.foreground_below", "erased blocks of a plane below which collection competes with the host",
            Field::Count(1..=65_536, at!(gc.foreground_below as u32))),
        optional("gc.background_below", "erased blocks of a plane up to which idle time is used to collect",
            Field::Count(0..=1 << 20, at!(gc.background_below as u32))),
        optional("gc.idle_after", "idle time of a die before background collection starts",
            Field::Time(Span::ZERO..=Span::ms(3_600_000), at!(gc.idle_after))),
        optional("gc.frontier", "where collected pages go",
            words!(gc.frontier,
                "own" => GcFrontier::Own, "an open block of their own";
                "shared" => GcFrontier::Shared, "the block that host writes fill";
            )),
        optional("precondition.fill", "share of the logical pages that hold data at the start",
            Field::Real(0.0..=1.0, at!(precondition.fill))),
        optional("precondition.pattern", "how they were written",
            words!(precondition.pattern,
                "sequential" => Pattern::Sequential, "once, in address order";
                "random" => Pattern::Random, "once, in random order";
                "steady" => Pattern::Steady, "over and over at random until write amplification is steady";
                "rested" => Pattern::Rested, "the same, with pauses in which collection reached gc.background_below";
            )),
    ]
}

#[rustfmt::skip]
fn semantics() -> Vec<Key<Config>> {
    vec![
        optional("ftl.unwritten_reads", "what a read of a never-written page does",
            words!(unwritten_reads,
                "preconditioned" => UnwrittenReads::Preconditioned, "the time of a read on its die";
                "zero" => UnwrittenReads::Zero, "answered by the mapping, without flash";
                "error" => UnwrittenReads::Error, "an error of the workload";
            )),
        optional("ftl.partial_writes", "what a write of part of a page does",
            words!(partial_writes,
                "read_modify_write" => PartialWrites::ReadModifyWrite, "the old page is read first";
                "overwrite" => PartialWrites::Overwrite, "the page is programmed without reading";
            )),
    ]
}

#[rustfmt::skip]
fn policies() -> Vec<Key<Config>> {
    vec![
        optional("policy.die_order", "which waiting transaction a die serves next",
            slot!(die_order, DieOrderKind)),
        optional("policy.die_order.deadline", "rhio: the oldest request goes first once the host asked so long ago",
            Field::Time(Span::ms(10)..=Span::ms(1280), at!(die_order.deadline))),
        optional("policy.suspension", "whether it may interrupt a program or an erase",
            slot!(suspension, SuspensionKind)),
        optional("policy.suspension.reads", "which reads may",
            words!(suspension.reads,
                "host" => SuspendingReads::Host, "those that a host request waits for";
                "all" => SuspendingReads::All, "those of garbage collection and merging too";
            )),
        optional("policy.suspension.cancelled_program", "what follows a cancelled program phase",
            words!(suspension.cancelled_program,
                "redo" => CancelledProgram::Redo, "check, then the whole phase again";
                "reached" => CancelledProgram::Reached, "check, then the next iteration";
            )),
        optional("policy.suspension.reload", "what a read does that arrives during the buffer reload",
            words!(suspension.reload,
                "abort" => Reload::Abort, "goes first; the reload is redone";
                "finish" => Reload::Finish, "waits for the reload";
            )),
        optional("policy.suspension.shadow_buffer", "whether the die keeps the data of a suspended program",
            Field::Flag(at!(suspension.shadow_buffer))),
        optional("policy.suspension.max_suspends", "suspensions that one operation bears; 0 is no limit",
            Field::Count(0..=1_000_000, Access {
                get: |config| u64::from(config.suspension.max_suspends.unwrap_or(0)),
                set: |config, limit| {
                    config.suspension.max_suspends = (limit > 0).then_some(limit as u32);
                },
            })),
        optional("policy.suspension.min_progress", "time an operation runs before it may be suspended",
            Field::Time(ANY, at!(suspension.min_progress))),
        optional("policy.victim", "which block to collect",
            slot!(victim, VictimKind)),
        optional("policy.victim.d", "blocks drawn by d_choices",
            Field::Count(1..=1024, at!(victim.d as u32))),
        optional("policy.wear", "when hot and cold data are swapped for the sake of wear",
            slot!(wear, WearKind)),
        optional("policy.wear.threshold", "erases by which a worn block must be ahead",
            Field::Count(1..=1_000_000, at!(wear.threshold as u32))),
    ]
}

#[rustfmt::skip]
fn data_policies() -> Vec<Key<Config>> {
    vec![
        optional("policy.hotness", "what tells kinds of data apart",
            set!(hotness.detectors, Detector)),
        optional("policy.hotness.hot_up_to", "request_size: the largest hot request; 0B is the running median",
            Field::Size(Bytes(0)..=Bytes(1 << 30), at!(hotness.hot_up_to))),
        optional("policy.placement", "which open block takes which data",
            slot!(placement, PlacementKind)),
        optional("policy.placement.dies", "which die takes a host page",
            words!(placement.dies,
                "rotate" => Dies::Rotate, "the next in turn that has room";
                "by_address" => Dies::ByAddress, "that of its address, or the next in turn if that one is full";
            )),
        optional("policy.placement.hot_to_strong", "streams: hot data opens strong blocks, other data weak ones",
            Field::Flag(at!(placement.hot_to_strong))),
        optional("policy.step", "at what ISPP step data is programmed",
            slot!(step, StepKind)),
        optional("policy.sensing", "at what level of soft sensing a page is read first",
            slot!(sensing, SensingKind)),
        optional("policy.sensing.inputs", "model: what it is told; the rest is taken at its worst",
            set!(sensing.inputs, Input)),
    ]
}

const AGES: std::ops::RangeInclusive<Span> = Span::ZERO..=Span(3650 * 86_400_000_000_000);

#[rustfmt::skip]
fn reliability() -> Vec<Key<Config>> {
    vec![
        optional("reliability.model", "where bit errors come from",
            words!(reliability.model,
                "off" => ModelKind::Off, "nowhere: every read takes its nominal time";
                "analytic" => ModelKind::Analytic, "from threshold voltages (docs/physics.md)";
            )),
        optional("reliability.levels", "levels of soft sensing: 3, 9 and 21 reference voltages",
            Field::Count(1..=3, at!(reliability.levels as u32))),
        optional("reliability.cycles", "P/E cycles of every block before preconditioning",
            Field::Count(0..=1_000_000, at!(reliability.cycles as u32))),
        optional("reliability.oldest", "age of the oldest data at the start",
            Field::Time(AGES, at!(reliability.oldest))),
        optional("reliability.strength", "how the controller knows the strength of a block",
            words!(reliability.strength,
                "oracle" => StrengthSource::Oracle, "it is told";
                "measured" => StrengthSource::Measured, "it counts corrected bits of pages that it reads in idle time";
            )),
        optional("reliability.measure_every", "measured: the time in which every block is read once",
            Field::Time(Span::ms(1)..=Span(3650 * 86_400_000_000_000), at!(reliability.measure_every))),
    ]
}

/// A key for each constant of the cells but their times: those are the drive's own ([timing]).
macro_rules! constants {
    ($($name:ident)+) => {
        vec![$(optional(
            concat!("reliability.cells.", stringify!($name)),
            CONSTANTS
                .iter()
                .find(|constant| constant.name == stringify!($name))
                .map_or("", |constant| constant.about.trim_end_matches('.')),
            Field::Real(0.0..=1e9, at!(reliability.cells.$name)),
        )),+]
    };
}

fn cells() -> Vec<Key<Config>> {
    constants! {
        growth_mean growth_sd growth_bound rber_unworn erased programmed_1 programmed_2 programmed_3
        step erased_sd retention_charge retention_shift retention_spread retention_onset
        retention_shift_power retention_spread_power disturb_slope disturb_cycles disturb_power
        correctable_3 correctable_9 correctable_21 end_cycles end_age end_reads
    }
}

fn seed() -> Vec<Key<Config>> {
    // TOML promises whole numbers up to 2^63 - 1.
    const SEEDS: std::ops::RangeInclusive<u64> = 0..=i64::MAX as u64;
    vec![optional("seed", "the seed of every random stream", Field::Count(SEEDS, at!(seed)))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_of_the_cells_has_its_key() {
        let keys: Vec<&str> = cells().iter().map(|key| key.path).collect();
        let constants: Vec<String> =
            CONSTANTS.iter().map(|it| format!("reliability.cells.{}", it.name)).collect();
        let is_time = |name: &&String| name.ends_with("_us");
        let others: Vec<&String> = constants.iter().filter(|name| !is_time(name)).collect();
        assert_eq!(keys, others);
        assert!(cells().iter().all(|key| !key.about.is_empty()));
    }
}
