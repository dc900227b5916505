//! Instructions per request, counted by valgrind's callgrind. Counts are the same on every run,
//! whatever else the machine does, so a regression of a few percent can be told from noise.
//!
//! The program runs itself under callgrind, once for each workload. Callgrind collects only while
//! a function called `counted_...` is on the stack. `gungraun` (formerly iai-callgrind) does the
//! same, but needs a separately installed runner of the same version, for a number that callgrind
//! prints anyway.
//!
//! Besides the code, a count depends on the compiler, the standard library, and the C library's
//! variants of `memcpy` and `memset`. The C library picks these by the processor, which valgrind
//! emulates (AVX2 at most in 3.19). The budget therefore records the versions. The environment is
//! empty, because its size shifts the stack. Randomly seeded hash maps of the standard library are
//! banned from Fowler anyway (clippy.toml).

use crate::drive::{self, State, Work};
use crate::features;
use crate::floor::Floor;
use crate::requests::{Random, Repeated, Requests};
use crate::traces::{self, TRACES, Trace};
use crate::workload::*;
use fowler_device::{BySource, Config, Device, Layer, Pacing};
use fowler_metrics::Recorder;
use fowler_units::Geometry;
use fowler_workload::{OptionalColumns, ReadOptions, TraceReader, write_native};
use rayon::prelude::*;
use std::io::Cursor;
use std::process::Command;

/// A row of the budget: a task whose instructions are counted.
#[derive(Clone, Copy)]
struct Counted {
    /// Name of the row in the budget.
    key: &'static str,
    /// Number of requests served, or of records parsed.
    requests: u64,
    task: Task,
}

#[derive(Clone, Copy)]
enum Task {
    /// Serves a workload on a drive with these settings and this many blocks per plane.
    Serve(Workload, fn(&mut Config), u32),
    /// Serves random requests of 4 KiB, this share of them reads, on a drive with superblocks.
    Superblocks(f64),
    /// Serves a workload on the floor, whose cost is in every ratio.
    Floor(Workload),
    /// Serves a repeated excerpt of a real trace on the drive of the table.
    Trace(Trace),
    /// Serves the same excerpt on the floor.
    TraceFloor(Trace),
    /// Reads the text of a native trace.
    Parse,
}

impl Task {
    fn needs_traces(&self) -> bool {
        matches!(self, Task::Trace(_) | Task::TraceFloor(_))
    }
}

const fn serve(key: &'static str, requests: u64, workload: Workload) -> Counted {
    Counted { key, requests, task: Task::Serve(workload, |_| (), BLOCKS) }
}

const fn floor(key: &'static str, requests: u64, workload: Workload) -> Counted {
    Counted { key, requests, task: Task::Floor(workload) }
}

const fn with(
    key: &'static str,
    requests: u64,
    workload: Workload,
    set: fn(&mut Config),
) -> Counted {
    Counted { key, requests, task: Task::Serve(workload, set, 2 * BLOCKS) }
}

const fn superblocks(key: &'static str, requests: u64, read_share: f64) -> Counted {
    Counted { key, requests, task: Task::Superblocks(read_share) }
}

/// Rows of the budget, in the order of the table.
const ALL: [Counted; 27] = [
    serve("random_read_qd32", 100_000, RANDOM_READ),
    serve("poisson_read_60", 100_000, POISSON_READ),
    serve("steady_write_qd64", 50_000, RANDOM_WRITE),
    serve("mixed_70_30_ipc", 50_000, MIXED_IPC),
    serve("mixed_70_30_fifo", 50_000, MIXED_FIFO),
    serve("sequential_read_128k", 5_000, SEQUENTIAL_READ),
    serve("sequential_write_128k", 5_000, SEQUENTIAL_WRITE),
    with("random_read_by_age", 100_000, RANDOM_READ, features::by_age),
    with("random_read_rhio", 100_000, RANDOM_READ, features::rhio),
    with("mixed_70_30_rhio", 50_000, MIXED_IPC, features::rhio),
    with("steady_write_ready", 50_000, RANDOM_WRITE, features::ready),
    with("mixed_70_30_hire", 50_000, MIXED_IPC, features::hire),
    with("steady_write_raid5", 50_000, RANDOM_WRITE, features::raid5),
    superblocks("superblock_random_read_qd32", 100_000, 1.0),
    superblocks("superblock_steady_write_qd32", 50_000, 0.0),
    superblocks("superblock_mixed_70_30_ipc", 50_000, 0.7),
    floor("floor_random_read_qd32", 100_000, RANDOM_READ),
    floor("floor_poisson_read_60", 100_000, POISSON_READ),
    floor("floor_steady_write_qd64", 50_000, RANDOM_WRITE),
    floor("floor_mixed_70_30_ipc", 50_000, MIXED_IPC),
    floor("floor_sequential_read_128k", 5_000, SEQUENTIAL_READ),
    floor("floor_sequential_write_128k", 5_000, SEQUENTIAL_WRITE),
    Counted { key: "trace_dtrs", requests: 100_000, task: Task::Trace(TRACES[0]) },
    Counted { key: "trace_financial1", requests: 100_000, task: Task::Trace(TRACES[1]) },
    Counted { key: "floor_trace_dtrs", requests: 100_000, task: Task::TraceFloor(TRACES[0]) },
    Counted { key: "floor_trace_financial1", requests: 100_000, task: Task::TraceFloor(TRACES[1]) },
    Counted { key: "parse_native", requests: 100_000, task: Task::Parse },
];

/// Number of blocks in each plane of the drives whose instructions are counted. Drives with
/// separate open blocks for several kinds of data have more.
const BLOCKS: u32 = 32;

/// Returns the geometry of the benchmark's drive with fewer blocks, so that building the drive does
/// not take longer than the run.
fn small(blocks_per_plane: u32) -> Geometry {
    Geometry { blocks_per_plane, pages_per_block: 64, ..drive::geometry() }
}

/// Pattern of the names of the functions in which callgrind counts.
const COUNTED: &str = "*::counted_*";

#[inline(never)]
fn counted_serve<L: Layer>(
    device: &mut Device<L>,
    requests: Requests,
    pacing: Pacing,
    to: &mut Recorder,
) {
    device.run(requests, pacing, to);
}

#[inline(never)]
fn counted_floor(floor: &mut Floor, requests: Requests, pacing: Pacing, work: &Work) {
    floor.run(requests, pacing, work);
}

#[inline(never)]
fn counted_parse(reader: TraceReader) -> u64 {
    let mut records = 0;
    for record in reader {
        record.expect("a sound trace");
        records += 1;
    }
    records
}

/// Returns the number of flash operations of a drive so far, from all sources.
fn operations<L: Layer>(device: &Device<L>) -> u64 {
    let counters = device.counters();
    [counters.reads, counters.programs, counters.erases].iter().map(BySource::sum).sum()
}

/// Runs the row `key` once. This is what runs under callgrind. For a drive, prints how many flash
/// operations a request took.
///
/// # Errors
/// If there is no such row.
pub fn perform(key: &str) -> Result<(), String> {
    let counted = ALL.iter().find(|it| it.key == key).ok_or(format!("unknown row `{key}`"))?;
    match counted.task {
        Task::Serve(workload, set, blocks) => {
            let device = workload.drive_set(small(blocks), set);
            let requests = workload.requests(&device, counted.requests);
            perform_on(device, counted, requests, workload.pacing());
        }
        Task::Superblocks(read_share) => {
            let device = drive::with_superblocks();
            let units = device.layout().logical_pages;
            let requests = Requests::Random(Random::new(counted.requests, units, read_share));
            perform_on(device, counted, requests, Pacing::Closed { depth: 32 });
        }
        Task::Floor(workload) => {
            let mut device = workload.drive(small(BLOCKS));
            let requests = workload.requests(&device, counted.requests);
            let work = drive::serve(&mut device, requests.clone(), workload.pacing()).work;
            let mut floor = Floor::new(device.layout(), workload.state != State::Sequential);
            counted_floor(&mut floor, requests, workload.pacing(), &work);
        }
        Task::Trace(trace) | Task::TraceFloor(trace) => {
            let mut device = drive::build(&drive::config(drive::geometry(), State::Sequential));
            let once = traces::load(trace, device.layout().logical.0)
                .ok_or(format!("{key}: the trace was not found"))?;
            let requests = Requests::Repeated(Repeated::new(once.into(), counted.requests));
            if let Task::Trace(_) = counted.task {
                let mut recorder = Recorder::new();
                counted_serve(&mut device, requests, Pacing::Open, &mut recorder);
            } else {
                let work = drive::serve(&mut device, requests.clone(), Pacing::Open).work;
                let mut floor = Floor::new(device.layout(), false);
                counted_floor(&mut floor, requests, Pacing::Open, &work);
            }
        }
        Task::Parse => {
            let requests = Random::new(counted.requests, 1 << 24, 0.7).poisson(20_000.0);
            let mut text = Vec::new();
            write_native(Requests::Random(requests).map(Ok), OptionalColumns::default(), &mut text)
                .map_err(|error| error.to_string())?;
            let options = ReadOptions::default();
            let reader =
                TraceReader::from_stream("generated", Box::new(Cursor::new(text)), &options)
                    .map_err(|error| error.to_string())?;
            assert_eq!(counted_parse(reader), counted.requests);
        }
    }
    Ok(())
}

fn perform_on<L: Layer>(
    mut device: Device<L>,
    counted: &Counted,
    requests: Requests,
    pacing: Pacing,
) {
    let mut recorder = Recorder::new();
    let before = operations(&device);
    counted_serve(&mut device, requests, pacing, &mut recorder);
    assert_eq!(recorder.requests(), counted.requests);
    let each = (operations(&device) - before) as f64 / counted.requests as f64;
    println!("{}: {each:.3} flash operations per request", counted.key);
}

/// Returns the instructions per request of each row by its key, in the order of the table. Skips
/// the rows of real traces, with a note, if the traces are missing.
///
/// # Errors
/// If valgrind is missing, or its output is not understood.
pub fn measure() -> Result<Vec<(&'static str, f64)>, String> {
    let here = traces::are_here();
    let counted = ALL.par_iter().filter(|it| here || !it.task.needs_traces());
    counted.map(|it| Ok((it.key, count(it.key)? as f64 / it.requests as f64))).collect()
}

/// Returns the version of valgrind.
///
/// # Errors
/// If it cannot be started.
pub fn valgrind() -> Result<String, String> {
    let output = Command::new("valgrind").arg("--version").output();
    let output = output.map_err(|error| {
        format!("cannot start valgrind, which counts the instructions ({error}): install it")
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

fn count(key: &str) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    // Other variables would move the stack, and so the count.
    let kept = ["PATH", fowler_tests::shared_folder::VARIABLE];
    let kept = kept.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg(format!("--toggle-collect={COUNTED}"))
        .arg(program)
        .args(["--perform", key])
        .env_clear()
        .envs(kept)
        .output()
        .map_err(|error| format!("cannot start valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    collected(&said)
        .filter(|&count| output.status.success() && count > 0)
        .ok_or_else(|| format!("callgrind did not count {key}; its output:\n{said}"))
}

/// Returns the number in callgrind's line `==pid== Collected : number`; `None` without such a line.
fn collected(said: &str) -> Option<u64> {
    let (_, rest) = said.split_once("Collected :")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_in_the_output_of_callgrind() {
        let said = "==5686== Events    : Ir\n==5686== Collected : 563777394\n==5686== \n";
        assert_eq!(collected(said), Some(563_777_394));
        assert_eq!(collected("==1== no such thing"), None);
    }
}
