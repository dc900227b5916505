//! Every configuration key of a drive, in one table. The TOML parser, `--set`, the resolved
//! configuration of a result, the help and the bindings all read this list and no other.
//!
//! The room owns the list and nothing else; it knows what a value may be (`field`) and touches no
//! file.

mod lifetime;
mod policies;
mod reliability;

use crate::field::{Access, Field, Word};
use fowler_device::{
    Ack, Config, GcFrontier, OpBase, PartialWrites, Pattern, PlaneMode, ProgramErase, ReadHot,
    UnwrittenReads,
};
use fowler_units::{ByteRate, Bytes, Span};
use std::borrow::Cow;

/// One key of the table.
pub struct Key<T> {
    /// Its dotted path.
    pub path: &'static str,
    /// What it means, in one line.
    pub about: Cow<'static, str>,
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

fn required(path: &'static str, about: &'static str, field: Field<Config>) -> Key<Config> {
    Key { path, about: about.into(), required: true, field }
}

fn optional(
    path: &'static str,
    about: impl Into<Cow<'static, str>>,
    field: Field<Config>,
) -> Key<Config> {
    Key { path, about: about.into(), required: false, field }
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
        gc(),
        semantics(),
        policies::all(),
        reliability::all(),
        lifetime::all(),
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
        required("geometry.over_provisioning", "share of the capacity that the host does not see",
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
        optional("buffer.evict_ahead", "page frames that are free or on their way out (on_insert only)",
            Field::Count(0..=1 << 20, at!(buffer.evict_ahead as u32))),
        optional("buffer.cache_reads", "whether pages that were read stay in the buffer",
            Field::Flag(at!(buffer.cache_reads))),
        optional("buffer.read_hot", "what becomes of a page that leaves clean and was read hot",
            words!(buffer.read_hot,
                "on_dirty" => ReadHot::OnDirty, "its copy in the flash stays as it is";
                "on_evict" => ReadHot::OnEvict, "it is read as if it had been programmed for that (the paper's numbers)";
                "rewrite_on_idle" => ReadHot::RewriteOnIdle, "it is programmed anew in idle time";
            )),
        optional("buffer.rewrite_share", "up to what share of the frames holds pages that wait for that",
            Field::Real(0.001..=1.0, at!(buffer.rewrite_share))),
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
fn gc() -> Vec<Key<Config>> {
    vec![
        optional("gc.foreground_below", "erased blocks of a plane below which garbage collection (GC) competes with the host",
            Field::Count(1..=65_536, at!(gc.foreground_below as u32))),
        optional("gc.background_below", "erased blocks of a plane up to which GC uses idle time",
            Field::Count(0..=1 << 20, at!(gc.background_below as u32))),
        optional("gc.idle_after", "idle time of a die before background GC starts",
            Field::Time(Span::ZERO..=Span::ms(3_600_000), at!(gc.idle_after))),
        optional("gc.frontier", "where pages moved by GC go",
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
                "rested" => Pattern::Rested, "the same, with pauses in which GC reached gc.background_below";
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

fn seed() -> Vec<Key<Config>> {
    // TOML promises whole numbers up to 2^63 - 1.
    const SEEDS: std::ops::RangeInclusive<u64> = 0..=i64::MAX as u64;
    vec![optional("seed", "the seed of every random stream", Field::Count(SEEDS, at!(seed)))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A section that came twice would be printed twice, which is no TOML.
    #[test]
    fn sections_are_in_one_piece() {
        let keys = all();
        let section = |key: &Key<Config>| match key.path.matches('.').count() {
            1 if key.path.starts_with("policy.") => key.path.to_string(),
            _ => key.path.rsplit_once('.').map_or(String::new(), |(section, _)| section.into()),
        };
        let mut sections: Vec<String> = keys.iter().map(section).collect();
        sections.dedup();
        let different: BTreeSet<&String> = sections.iter().collect();
        assert_eq!(different.len(), sections.len(), "{sections:?}");
    }
}
