//! Every configuration key of a drive, in one table. The TOML parser, `--set`, the resolved
//! configuration of a result, the help and the bindings all read this list.
//!
//! This module contains only the list, in `needs.rs` the requirements of keys to have an effect,
//! and in `former_keys.rs` the keys of former versions. The types of values come from `field`. The
//! module accesses no files.

mod aging;
pub(crate) mod former_keys;
mod key;
mod lifetime;
mod needs;
mod policies;
mod reliability;

pub use key::Key;
pub(crate) use key::{at, words};
pub(crate) use needs::NEEDS;
pub use needs::Requirement;

use crate::field::{Access, Field, Word};
use fowler_device::{
    AccessClass, Ack, Admission, Arbitration, Config, Duplex, Eviction, GcFrontier, OpBase,
    PartialWrites, Pattern, PlaneMode, ProgramErase, ProgramTransfer, ProgramUnit, ReadHot,
    ReclaimUnit, Retire, UnwrittenReads, WhenFull,
};
use fowler_units::{ByteRate, Bytes, Span};
use key::{ANY, SOME, optional, required};

/// Returns every key of a drive's configuration, in the order in which a resolved drive lists them.
pub fn all() -> Vec<Key<Config>> {
    [
        geometry(),
        timing(),
        buffers_and_queues(),
        host(),
        gc(),
        semantics(),
        flash(),
        slc(),
        aging::all(),
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
        required("geometry.dies_per_chip", "dies in a chip; each executes commands independently",
            Field::Count(1..=64, at!(geometry.dies_per_chip as u32))),
        required("geometry.planes_per_die", "planes in a die, each an allocation pool",
            Field::Count(1..=64, at!(geometry.planes_per_die as u32))),
        required("geometry.blocks_per_plane", "blocks in a plane",
            Field::Count(1..=1 << 20, at!(geometry.blocks_per_plane as u32))),
        required("geometry.pages_per_block", "pages in a block",
            Field::Count(1..=1 << 16, at!(geometry.pages_per_block as u32))),
        required("geometry.page_size", "data bytes per page",
            Field::Size(Bytes(512)..=Bytes(1 << 20), at!(geometry.page_size))),
        required("geometry.over_provisioning", "share of the capacity that the host does not see",
            Field::Real(0.0..=10.0, at!(over_provisioning))),
        optional("geometry.over_provisioning_base", "capacity to which over_provisioning is relative: raw or logical",
            words!(over_provisioning_base,
                "raw" => OpBase::Raw, "spare / raw";
                "logical" => OpBase::Logical, "spare / logical";
            )),
        optional("geometry.plane_mode", "whether the planes of a die share commands or run their own",
            words!(plane_mode,
                "lockstep" => PlaneMode::Lockstep, "one command at a time, on one or several planes";
                "independent" => PlaneMode::Independent, "each plane runs its own commands; they share the bus";
            )),
    ]
}

#[rustfmt::skip]
fn timing() -> Vec<Key<Config>> {
    vec![
        required("timing.bus_transfer", "time to transfer a page over the channel, in either direction",
            Field::Time(ANY, at!(timing.bus_transfer))),
        required("timing.read", "time to sense a page (tR); one value, or one per page type",
            Field::Times(SOME, at!(timing.read))),
        required("timing.program_phase", "time of the program phase of one ISPP iteration, including its voltage reset",
            Field::Time(SOME, at!(timing.program_phase))),
        required("timing.verify_phase", "time of the verify phase of one ISPP iteration, including its voltage reset",
            Field::Time(ANY, at!(timing.verify_phase))),
        required("timing.program_iterations", "number of ISPP iterations of a program; one value, or one per page type",
            Field::Counts(1..=1000, at!(timing.program_iterations))),
        required("timing.erase_pulse", "time of the erase pulse, including its voltage reset",
            Field::Time(SOME, at!(timing.erase_pulse))),
        required("timing.erase_verify", "time of the verify phase after the erase pulse",
            Field::Time(ANY, at!(timing.erase_verify))),
        required("timing.voltage_reset", "time to remove the voltages from the cells at the end of a phase",
            Field::Time(ANY, at!(timing.voltage_reset))),
        required("timing.buffer_load", "time to load the page buffer from the shadow buffer",
            Field::Time(ANY, at!(timing.buffer_load))),
        optional("timing.program_erase", "how long programs and erases take",
            words!(program_erase,
                "nominal" => ProgramErase::Nominal, "programs and erases take the times in [timing]";
                "read" => ProgramErase::AsRead, "programs and erases take as long as a page read (PER)";
                "zero" => ProgramErase::Zero, "programs and erases take no time (PE0)";
            )),
    ]
}

#[rustfmt::skip]
fn buffers_and_queues() -> Vec<Key<Config>> {
    vec![
        optional("buffer.size", "size of the write buffer; with 0B it holds only pages that are being written to flash",
            Field::Size(Bytes(0)..=Bytes(1 << 40), at!(buffer.size))),
        optional("buffer.ack", "when a write is acknowledged to the host",
            words!(buffer.ack,
                "on_insert" => Ack::OnInsert, "once the data of the write is in the buffer";
                "on_program" => Ack::OnProgram, "once the data of the write is in flash";
            )),
        optional("buffer.eviction", "time at which data is evicted from the buffer (on_insert only)",
            words!(buffer.eviction,
                "usual" => Eviction::Usual, "lazily on a drive that fills blocks, eagerly on one that fills superblocks";
                "eager" => Eviction::Eager, "data is evicted as soon as it fills a program";
                "lazy" => Eviction::Lazy, "the least recently used data is evicted when room is needed";
            )),
        optional("buffer.evict_ahead", "lazy eviction: page frames to keep free or in eviction (on_insert only); on a drive with superblocks, at least a program of every die or half of the buffer",
            Field::Count(0..=1 << 20, at!(buffer.evict_ahead as u32))),
        optional("buffer.cache_reads", "whether the buffer also caches pages that were read",
            Field::Flag(at!(buffer.cache_reads))),
        optional("buffer.read_hot", "what happens to a clean, read-hot page that is evicted",
            words!(buffer.read_hot,
                "on_dirty" => ReadHot::OnDirty, "the copy of the page in flash stays as it is";
                "on_evict" => ReadHot::OnEvict, "the page reads as if it had been reprogrammed at boosted voltages (the paper's numbers)";
                "rewrite_on_idle" => ReadHot::RewriteOnIdle, "the page is reprogrammed in idle time";
            )),
        optional("buffer.rewrite_share", "rewrite_on_idle: largest share of the frames that waiting pages may occupy",
            Field::Real(0.001..=1.0, at!(buffer.rewrite_share))),
        optional("buffer.pace", "minimum time between two mapping units that enter a full buffer; 0ns for no pacing (superblocks only)",
            Field::Time(ANY, at!(buffer.pace))),
        optional("buffer.pace_from", "pace only: share of the buffer in use above which mapping units are paced, the slower the fuller the buffer",
            Field::Real(0.0..=0.999, at!(buffer.pace_from))).needs(&[&needs::PACE]),
        optional("queue.depth", "maximum number of host requests outstanding in the drive",
            Field::Count(1..=65_536, at!(queue.depth as u32))),
        optional("queue.max_reads", "maximum number of host page reads queued or in service",
            Field::Count(1..=65_536, at!(queue.max_reads as u32))),
        optional("queue.max_writes", "maximum number of host page writes queued for flash or in service",
            Field::Count(1..=65_536, at!(queue.max_writes as u32))),
        optional("queue.admission", "requests that wait behind a request for which a queue has no room",
            words!(admission,
                "reads_pass" => Admission::ReadsPass, "requests of its own kind: reads pass a write that waits for room";
                "in_order" => Admission::InOrder, "all later requests: requests enter in their order of arrival";
                "shared" => Admission::Shared, "reads wait behind writes, and are let through after every queue.reads_behind writes";
            )),
        optional("queue.reads_behind", "shared only: number of writes between two turns of the reads",
            Field::Count(0..=65_536, at!(queue.reads_behind as u32))),
        optional("queue.arbitration", "order in which writes are taken from the submission queues. Each fio process, each stream of a measured protocol and each number in the trace column `queue` has a queue; all else is in the first",
            words!(queue.arbitration,
                "arrival" => Arbitration::Arrival, "writes in order of arrival, whatever their queue";
                "round_robin" => Arbitration::RoundRobin, "one write from each queue in turn";
                "weighted" => Arbitration::Weighted, "from each queue in turn, as many writes as its weight";
            )),
        optional("queue.weights", "weighted only: number of writes taken from each queue per turn; the last number holds for all further queues",
            Field::Text("one to 16 whole numbers from 1 to 256, such as \"4 1\"",
                |config| config.queue.weights.to_string(),
                |config, text| text.parse().map(|weights| config.queue.weights = weights))).needs(&[&needs::WEIGHTED_TURNS]),
        optional("queue.taken", "round_robin and weighted: maximum number of writes waiting in the drive, outside the submission queues",
            Field::Count(1..=65_536, at!(queue.taken as u32))).needs(&[&needs::TURNS]),
    ]
}

#[rustfmt::skip]
fn host() -> Vec<Key<Config>> {
    vec![
        optional("host.bandwidth", "bandwidth of the host link; with 0B/s data transfers take no time",
            Field::Rate(ByteRate(0)..=ByteRate(1_000_000_000_000), at!(host.bandwidth))),
        optional("host.duplex", "whether the host link transfers in both directions at once (full duplex)",
            words!(host.duplex,
                "full" => Duplex::Full, "yes, as PCIe does";
                "half" => Duplex::Half, "no, as SATA does: one transfer at a time, in either direction";
            )),
        optional("host.command", "time that each command occupies the host link",
            Field::Time(ANY, at!(host.command))),
        optional("host.page_list", "additional time on the host link of a command with more than 8 KiB of data, for which the drive fetches a list of the host's memory pages",
            Field::Time(ANY, at!(host.page_list))),
        optional("host.cores", "number of firmware cores, each of which handles one command at a time; 0 for no firmware time",
            Field::Count(0..=64, at!(host.cores as u32))),
        optional("host.core_time", "time for which each command occupies a firmware core",
            Field::Time(ANY, at!(host.core_time))),
        optional("host.latency", "additional latency of each command, which occupies no firmware core",
            Field::Time(ANY, at!(host.latency))),
        optional("host.trim", "time for which a trim occupies a firmware core; without cores, trims take this time one after another",
            Field::Time(ANY, at!(host.trim))),
        optional("host.trim_entry", "additional time of a trim for each logical page with data, whose mapping entry it invalidates",
            Field::Time(Span::ZERO..=Span::ms(1), at!(host.trim_entry))),
    ]
}

#[rustfmt::skip]
fn gc() -> Vec<Key<Config>> {
    vec![
        optional("gc.foreground_below", "garbage collection (GC) competes with the host below this number of erased blocks in a plane",
            Field::Count(1..=65_536, at!(gc.foreground_below as u32))),
        optional("gc.background_below", "GC uses idle time below this number of erased blocks in a plane",
            Field::Count(0..=1 << 20, at!(gc.background_below as u32))),
        optional("gc.idle_after", "how long a die must be idle before background GC starts",
            Field::Time(Span::ZERO..=Span::ms(3_600_000), at!(gc.idle_after))),
        optional("gc.frontier", "where GC writes the pages that it moves",
            words!(gc.frontier,
                "own" => GcFrontier::Own, "to an open block used by GC only";
                "shared" => GcFrontier::Shared, "to the open block of host writes";
            )),
        optional("precondition.fill", "share of the logical pages that hold data before the first request",
            Field::Real(0.0..=1.0, at!(precondition.fill))),
        optional("precondition.pattern", "pattern in which the preconditioned pages were written",
            words!(precondition.pattern,
                "sequential" => Pattern::Sequential, "each page once, in address order";
                "random" => Pattern::Random, "each page once, in random order";
                "steady" => Pattern::Steady, "random pages repeatedly, until write amplification is steady";
                "rested" => Pattern::Rested, "as steady, with pauses in which background GC restored gc.background_below erased blocks";
            )),
        optional("precondition.access_class", "access class of the preconditioned pages, which sets their programming voltages (on drives that distinguish classes)",
            words!(precondition.access_class,
                "mixed" => AccessClass::Mixed, "nominal voltages: the pages have no known class";
                "read_hot" => AccessClass::ReadHot, "boosted voltages: the pages are read-hot";
                "write_hot" => AccessClass::WriteHot, "reduced voltages: the pages are write-hot";
            )),
        optional("precondition.warm_up", "number of requests at the start of the workload that are served but not measured",
            Field::Count(0..=1_000_000_000_000, at!(precondition.warm_up))),
    ]
}

#[rustfmt::skip]
fn semantics() -> Vec<Key<Config>> {
    vec![
        optional("ftl.unit", "mapping unit: granularity of the address mapping, a divisor of the page size",
            Field::Text("\"page\", or a size with its unit, from 512B to 1MiB",
                |config| config.ftl.unit.map_or("page".into(), |unit| unit.to_string()),
                |config, text| unit(text).map(|unit| config.ftl.unit = unit))),
        optional("ftl.reclaim_unit", "reclaim unit: the blocks that are filled, collected and erased together",
            words!(ftl.reclaim_unit,
                "block" => ReclaimUnit::Block, "a block: each die is filled and collected on its own";
                "superblock" => ReclaimUnit::Superblock, "a superblock: one block of every plane, so that all dies are filled and collected together";
            )),
        optional("ftl.program_unit", "program unit: data that a program command stores on each plane of a die",
            words!(ftl.program_unit,
                "page" => ProgramUnit::Page, "a page";
                "word_line" => ProgramUnit::WordLine, "a word line, all of its pages at once (superblocks only)";
            )),
        optional("ftl.unwritten_reads", "what a read of a never-written page does",
            words!(unwritten_reads,
                "preconditioned" => UnwrittenReads::Preconditioned, "the read takes as long as any flash read";
                "zero" => UnwrittenReads::Zero, "the read is answered from the mapping, without a flash read";
                "error" => UnwrittenReads::Error, "the read ends the run with an error";
            )),
        optional("ftl.partial_writes", "what a partial-page write does",
            words!(partial_writes,
                "read_modify_write" => PartialWrites::ReadModifyWrite, "the write reads the old page first";
                "overwrite" => PartialWrites::Overwrite, "the write programs the page without reading the old one";
            )),
        optional("superblocks.parity", "number of program commands of a stripe, the last of which stores parity over the others (RAIN), in superblocks to which policy.redundancy gives parity; 0 for no parity",
            Field::Count(0..=1 << 20, at!(superblocks.parity as u32))).needs(&[&needs::SUPERBLOCKS]),
        optional("superblocks.retire", "part of a superblock that is no longer used once a block of it has failed",
            words!(superblocks.retire,
                "block" => Retire::Block, "the block, and those of the other planes of its die, which are programmed together with it; the whole superblock if less than half of it would be left";
                "superblock" => Retire::Superblock, "the whole superblock";
            )).needs(&[&needs::SUPERBLOCKS, &needs::BAD_BLOCKS]),
    ]
}

#[rustfmt::skip]
fn flash() -> Vec<Key<Config>> {
    vec![
        optional("flash.word_line", "pages of a word line, one for each bit of a cell (3 for TLC); they are programmed together with ftl.program_unit = \"word_line\", and age by page type",
            Field::Count(1..=64, at!(flash.word_line as u32))).needs(&[&needs::SUPERBLOCKS]),
        optional("flash.cache_read", "whether a die senses a page while the one read before it crosses the channel (superblocks only)",
            Field::Flag(at!(flash.cache_read))),
        optional("flash.cache_program", "whether the data of the next word line crosses the channel while a die programs a word line (superblocks only)",
            Field::Flag(at!(flash.cache_program))),
        optional("flash.decode", "time for which the channel's decoder holds the channel for a page that was read, beyond the transfer; a part of a page takes a part of it",
            Field::Time(ANY, at!(flash.decode))),
        optional("flash.read_command", "time for which command, address and status of a page read hold the channel, beyond the transfer, however much of the page is read",
            Field::Time(ANY, at!(flash.read_command))),
        optional("flash.program_transfer", "part of a program command of several pages that crosses the channel without a gap for other dies",
            words!(flash.program_transfer,
                "page" => ProgramTransfer::Page, "a page; other dies get the channel between two pages";
                "command" => ProgramTransfer::Command, "the whole command";
            )),
        optional("flash.program_passes", "passes in which a word line is programmed; the second follows the first pass of the next word line of its die (superblocks only)",
            Field::Count(1..=2, at!(flash.program_passes as u32))),
        optional("flash.first_pass_iterations", "two passes only: ISPP iterations of the first, coarse pass; the second pass has timing.program_iterations",
            Field::Count(1..=1000, at!(flash.first_pass_iterations as u32))).needs(&[&needs::TWO_PASSES]),
    ]
}

#[rustfmt::skip]
fn slc() -> Vec<Key<Config>> {
    vec![
        optional("slc.static", "SLC cache: number of superblocks reserved for it; their word lines hold one page instead of flash.word_line pages (superblocks only)",
            Field::Count(0..=1 << 20, at!(slc.fixed as u32))),
        optional("slc.dynamic", "SLC cache: maximum number of erased superblocks that it uses in addition to slc.static (superblocks only)",
            Field::Count(0..=1 << 20, at!(slc.dynamic as u32))),
        optional("slc.keep_erased", "slc.dynamic only: number of erased superblocks that the SLC cache leaves unused, so that a fuller drive has a smaller cache",
            Field::Count(1..=1 << 20, at!(slc.keep_erased as u32))).needs(&[&needs::CACHE, &needs::DYNAMIC_CACHE]),
        optional("slc.when_full", "destination of writes when the SLC cache is full",
            words!(slc.when_full,
                "direct" => WhenFull::Direct, "past the cache, programmed with all bits of a cell; the cache is emptied in idle time, and when erased superblocks run low";
                "wait" => WhenFull::Wait, "none: writes wait in the buffer until a superblock of the cache has been emptied";
            )).needs(&[&needs::CACHE]),
        optional("slc.fold_after", "time without a request in the drive after which the SLC cache is emptied",
            Field::Time(Span::us(100)..=Span::ms(3_600_000), at!(slc.fold_after))).needs(&[&needs::CACHE]),
        optional("slc.read_time", "time to sense a page in SLC mode",
            Field::Time(SOME, at!(slc.read_time))).needs(&[&needs::CACHE]),
        optional("slc.iterations", "number of ISPP iterations of a program in SLC mode; each takes the times in [timing]",
            Field::Count(1..=1000, at!(slc.iterations as u32))).needs(&[&needs::CACHE]),
    ]
}

/// Reads the size of a mapping unit in bytes, as text; `None` for a unit of one page.
fn unit(text: &str) -> Result<Option<Bytes>, String> {
    let text = text.trim();
    if text == "page" {
        return Ok(None);
    }
    let unit: Result<Bytes, _> = text.parse();
    let unit = unit.map_err(|_| format!("`{text}` is neither a page nor a size with its unit"))?;
    let range = Bytes(512)..=Bytes(1 << 20);
    if range.contains(&unit) {
        return Ok(Some(unit));
    }
    Err(format!("{unit} is outside {} to {}", range.start(), range.end()))
}

fn seed() -> Vec<Key<Config>> {
    // TOML guarantees whole numbers only up to 2^63 - 1.
    const SEEDS: std::ops::RangeInclusive<u64> = 0..=i64::MAX as u64;
    vec![optional("seed", "seed of every random number stream", Field::Count(SEEDS, at!(seed)))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A section split in two would be printed twice, which is invalid TOML.
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
