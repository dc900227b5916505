//! A timeline of a whole run beside what the run counted and what it blamed; and the trace beside
//! its format.

use fowler_device::{Op, Source as Account};
use fowler_experiment::Part;
use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::outcome::Ending;
use fowler_experiment::progress::Progress;
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::timeline::{Choice, Operated, Recorded, SliceKind, Timeline, Track, record};
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_units::{HostOp, Id, Span};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn spec(scheme: &str, set: &[&str]) -> RunSpec {
    let drive = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/small.toml");
    let text = "requests = 3000\narrivals = { kind = \"poisson\", rate = 3000 }\nmix.reads = 0.6\n\
                reads.sizes = \"4KiB 60, 16KiB 40\"\nwrites.sizes = \"4KiB 80, 16KiB 20\"\n";
    let steady = ["precondition.pattern=steady"];
    RunSpec {
        device: DeviceSpec {
            device: drive.into(),
            set: steady.iter().chain(set).map(ToString::to_string).collect(),
            ..DeviceSpec::default()
        },
        scheme: Some(scheme.into()),
        workload: WorkloadSpec::Generated(Source { name: "mixed".into(), text: text.into() }),
        replay_speed: ReplaySpeed::AsRecorded,
        limit: None,
        requests: None,
        faults: Vec::new(),
        detail: false,
    }
}

fn recorded(spec: &RunSpec, choice: Choice) -> Recorded {
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| () };
    record(spec, choice, control).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

const ALL: Choice = Choice::Window { from: Span::ZERO, until: Span::ms(3_600_000) };

/// Schemes and options under which flash operations take every way they can.
const CASES: [(&str, &[&str]); 8] = [
    ("fifo", &[]),
    ("rps", &["geometry.chips_per_channel=2", "geometry.blocks_per_plane=32"]),
    ("pes_ips", &[]),
    ("pes_ipc", &[]),
    ("pes_ipc", &["policy.suspension.shadow_buffer=false"]),
    (
        "pes_ipc",
        &["policy.suspension.cancelled_program=reached", "policy.suspension.reload=finish"],
    ),
    ("pes_ips", &["geometry.planes_per_die=2", "geometry.blocks_per_plane=32"]),
    ("pes_ipc", &["buffer.ack=on_insert"]),
];

// Slow: whole runs, recorded operation by operation.
#[test]
fn a_whole_run_is_all_there() {
    for (scheme, set) in CASES {
        let case = format!("{scheme} {set:?}");
        let Recorded { outcome, timeline, diagnostics } = recorded(&spec(scheme, set), ALL);
        assert!(diagnostics.0.is_empty(), "{case}: {diagnostics}");
        let (counters, operations) = (&outcome.counters, &timeline.operations);
        let count = |op: Op| {
            let done = operations.iter().filter(|it| it.operation.op == op && it.done);
            done.map(|it| u64::from(it.beside) + 1).sum::<u64>()
        };
        assert_eq!(count(Op::Read), counters.reads.sum(), "{case}");
        assert_eq!(count(Op::Program), counters.programs.sum(), "{case}");
        assert_eq!(count(Op::Erase), counters.erases.sum(), "{case}");
        let suspensions: u64 = operations.iter().map(|it| u64::from(it.suspensions)).sum();
        assert_eq!(suspensions, counters.suspensions, "{case}");
        assert_eq!(suspensions > 0, scheme.starts_with("pes"), "{case}");
        assert_eq!(timeline.requests.len() as u64, outcome.recorder.requests(), "{case}");
        check_slices(&timeline, &case);
        check_trace(&timeline, &case);
    }
}

/// Where a cache register lets transfers overlap with cell operations, every operation is still
/// recorded, and the trace has a second thread for reads that overlap.
// Slow: whole runs under four schemes, recorded operation by operation.
#[test]
fn what_overlaps_is_all_there() {
    let superblocks = [
        "ftl.reclaim_unit=superblock",
        "ftl.program_unit=word_line",
        "ftl.unit=4KiB",
        "queue.max_writes=1024",
        "geometry.chips_per_channel=2",
        "geometry.pages_per_block=60",
        "flash.word_line=3",
        "buffer.ack=on_insert",
        "gc.background_below=0",
    ];
    for scheme in ["fifo", "rps", "pes_ips", "pes_ipc"] {
        let uses = [(false, false), (true, false), (false, true), (true, true), (true, true)];
        for (passes, (read, program)) in [1, 2, 1, 1, 2].into_iter().zip(uses) {
            let case = format!("{scheme}, cache read {read}, program {program}, {passes} passes");
            let passes = format!("flash.program_passes={passes}");
            let flash = [("read", read), ("program", program)];
            let flash = flash.map(|(kind, used)| format!("flash.cache_{kind}={used}"));
            let set = superblocks.into_iter().chain(flash.iter().map(String::as_str));
            let set: Vec<&str> = set.chain([passes.as_str()]).collect();
            let Recorded { timeline, diagnostics, .. } = recorded(&spec(scheme, &set), ALL);
            assert!(diagnostics.0.is_empty(), "{case}: {diagnostics}");
            check_slices(&timeline, &case);
            check_trace(&timeline, &case);
            let done = timeline.operations.iter().filter(|it| it.done);
            let ahead =
                |it: &&Operated| it.slices.iter().any(|slice| slice.from < it.operation.dispatched);
            assert_eq!(done.clone().any(|it| ahead(&it)), program, "{case}");
            let mut reads: Vec<&Operated> = done.filter(|it| it.operation.op == Op::Read).collect();
            reads.sort_by_key(|it| (it.die, it.operation.dispatched));
            let overlap = |pair: &[&Operated]| {
                pair[0].die == pair[1].die && pair[1].operation.dispatched < pair[0].until
            };
            assert_eq!(reads.windows(2).any(overlap), read, "{case}");
        }
    }
}

/// The slices of an operation on its die fill its time without gap or overlap, and a channel
/// carries one transfer at a time.
fn check_slices(timeline: &Timeline, case: &str) {
    let mut transfers: BTreeMap<Track, Vec<_>> = BTreeMap::new();
    for operated in &timeline.operations {
        let mut at = operated.operation.dispatched;
        for slice in &operated.slices {
            match slice.track {
                Track::Die(die) => {
                    assert_eq!((die, slice.from), (operated.die, at), "{case}: {operated:?}");
                    assert!(slice.from < slice.until, "{case}");
                    at = slice.until;
                }
                Track::Channel(channel) => {
                    assert_eq!(channel, timeline.channel_of(operated.die), "{case}");
                    transfers.entry(slice.track).or_default().push((slice.from, slice.until));
                }
            }
        }
        // A suspended one may still wait for its turn when the run ends.
        assert!(at == operated.until || !operated.done, "{case}: {operated:?}");
    }
    for (track, mut transfers) in transfers {
        transfers.sort();
        let apart = transfers.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        assert!(apart, "{case}: two transfers at once on {track:?}");
    }
}

/// The format, as documented ("Trace Event Format", Google, 2016; Perfetto, "External trace
/// formats"): what every event must have, that slices of a thread nest, that flows begin once and
/// end in a slice.
fn check_trace(timeline: &Timeline, case: &str) {
    static FOLDERS: AtomicU64 = AtomicU64::new(0);
    let nth = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("fowler-timeline-{}-{nth}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("timeline.json");
    timeline.write(&path).unwrap();
    let trace: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let mut named = BTreeMap::new();
    let mut stacks: BTreeMap<(u64, u64), Vec<(i64, i64)>> = BTreeMap::new();
    let mut flows: BTreeMap<u64, i64> = BTreeMap::new();
    let (mut last, mut ended) = (i64::MIN, 0);
    for event in trace["traceEvents"].as_array().unwrap() {
        let thread = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        assert!(!event["name"].as_str().unwrap().is_empty());
        let phase = event["ph"].as_str().unwrap();
        if phase == "M" {
            named.insert((thread, event["name"].as_str().unwrap().to_string()), &event["args"]);
            continue;
        }
        assert!(
            named.contains_key(&(thread, "thread_name".into())),
            "{case}: {thread:?} has no name"
        );
        let ns = |value: &Value| {
            let us = value.as_f64().unwrap();
            let ns = (us * 1e3).round();
            assert!((us * 1e3 - ns).abs() < 1e-2, "{case}: {us} us are no whole nanoseconds");
            ns as i64
        };
        let at = ns(&event["ts"]);
        assert!(at >= last, "{case}: events are in the order of time");
        last = at;
        let stack = stacks.entry(thread).or_default();
        stack.retain(|&(_, until)| until > at || (phase != "X" && until == at));
        match phase {
            "X" => {
                let until = at + ns(&event["dur"]);
                let nests = stack.iter().all(|&(from, outer)| from <= at && until <= outer);
                assert!(nests, "{case}: {event} overlaps {stack:?}");
                stack.push((at, until));
            }
            "s" => assert!(flows.insert(event["id"].as_u64().unwrap(), at).is_none(), "{case}"),
            "f" => {
                let begun = flows.remove(&event["id"].as_u64().unwrap()).expect("a flow began");
                assert!(begun <= at && event["bp"] == "e", "{case}");
                ended += 1;
            }
            other => panic!("{case}: an event of phase {other}"),
        }
        assert!(!stack.is_empty(), "{case}: a flow is bound to no slice: {event}");
    }
    assert!(flows.is_empty(), "{case}: flows that never end: {flows:?}");
    let wanted: usize = timeline.requests.iter().map(|it| it.operations.len()).sum();
    assert_eq!(ended, wanted, "{case}");
}

/// If nothing is suspended, the timeline of the die agrees with the blame of each request: both
/// name the same operations ahead of it.
#[test]
fn the_timeline_agrees_with_the_blame() {
    for scheme in ["fifo", "rps"] {
        let Recorded { timeline, .. } = recorded(&spec(scheme, &[]), ALL);
        let mut behind_any = 0;
        for asked in timeline.requests.iter().filter(|it| !it.operations.is_empty()) {
            let own = *asked.operations.last().unwrap();
            let operated = &timeline.operations[own.place];
            let (from, until) = (own.submitted, operated.operation.dispatched);
            let mut behind = BTreeMap::new();
            let others = timeline.operations.iter().filter(|it| {
                it.die == operated.die && it.operation.dispatched < until && it.until > from
            });
            for other in others.filter(|it| it.operation.order != operated.operation.order) {
                let overlap = other.until.min(until) - other.operation.dispatched.max(from);
                let part = Part::behind(other.operation.op, other.operation.source);
                *behind.entry(part as usize).or_insert(Span::ZERO) += overlap;
            }
            for part in Part::ALL.into_iter().filter(|part| part.name().starts_with("behind")) {
                let seen = behind.get(&(part as usize)).copied().unwrap_or_default();
                assert_eq!(seen, asked.completion.blame[part], "{scheme} {part:?} {asked:?}");
                behind_any += u64::from(seen > Span::ZERO);
            }
        }
        assert!(behind_any > 500, "{scheme}: {behind_any}");
    }
}

#[test]
fn windows_hold_what_overlaps_them_and_the_slowest_are_the_slowest() {
    let spec = spec("pes_ipc", &[]);
    let whole = recorded(&spec, ALL);
    let (from, until) = (Span::ms(200), Span::ms(230));
    let part = recorded(&spec, Choice::Window { from, until });
    assert_eq!(part.outcome.recorder.requests(), whole.outcome.recorder.requests());
    let origin = whole.timeline.origin();
    let inside = |a, b| a <= origin + until && b >= origin + from;
    let wanted: Vec<_> = whole
        .timeline
        .operations
        .iter()
        .filter(|it| inside(it.operation.dispatched, it.until))
        .collect();
    assert!(wanted.len() > 50 && wanted.len() < whole.timeline.operations.len() / 2);
    assert_eq!(part.timeline.operations.iter().collect::<Vec<_>>(), wanted);

    let mut latencies: Vec<(Span, u64)> =
        whole.timeline.requests.iter().map(|it| (it.completion.latency(), it.number)).collect();
    latencies.sort_by_key(|&(latency, number)| (std::cmp::Reverse(latency), number));
    let slow = recorded(&spec, Choice::Slowest(4));
    let found: Vec<_> =
        slow.timeline.requests.iter().map(|it| (it.completion.latency(), it.number)).collect();
    assert_eq!(found, latencies[..4]);
    let reported = slow.timeline.explain(&slow.outcome);
    assert_eq!(reported.len(), 4);
    for (place, (text, asked)) in reported.iter().zip(&slow.timeline.requests).enumerate() {
        let latency = asked.completion.latency().as_us();
        assert!(text.text.starts_with(&format!("{}. Request ", place + 1)), "{}", text.text);
        assert!(latency > 0.0 && text.text.contains("Causes: "), "{}", text.text);
        assert!(text.text.contains("completed at +"), "{}", text.text);
    }
    // Explained in words, the requests are equal, though less of the other operations is kept for
    // that.
    let explained = recorded(&spec, Choice::Explained(4));
    assert_eq!(explained.timeline.explain(&explained.outcome), reported);
    let slices = |recording: &Recorded| {
        recording.timeline.operations.iter().map(|it| it.slices.len()).sum::<usize>()
    };
    assert!(slices(&explained) < slices(&slow), "{} {}", slices(&explained), slices(&slow));
    // The two recordings, of the slowest requests and of the whole run, contain the same requests.
    for asked in &slow.timeline.requests {
        let same = whole.timeline.requests.iter().find(|it| it.number == asked.number).unwrap();
        assert_eq!(same.completion.io, asked.completion.io);
        assert_eq!(same.completion.blame, asked.completion.blame);
        assert_eq!(same.operations.len(), asked.operations.len());
    }
}

#[test]
fn a_window_outside_the_run_is_said() {
    let choice = Choice::Window { from: Span::ms(500_000), until: Span::ms(500_001) };
    let recorded = recorded(&spec("rps", &[]), choice);
    assert!(recorded.diagnostics.to_string().contains("lies outside the run"));
    assert!(recorded.timeline.operations.is_empty());
}

#[test]
fn phases_are_those_of_the_cells() {
    let Recorded { timeline, .. } = recorded(&spec("rps", &[]), ALL);
    let program = timeline.operations.iter().find(|it| it.operation.op == Op::Program && it.done);
    let names: Vec<&str> = program.unwrap().slices.iter().map(|it| it.what.name()).collect();
    assert_eq!(names[..4], ["transfer in", "transfer in", "program phase", "verify"]);
    assert_eq!(names.len(), 2 + 2 * 5, "five iterations: {names:?}");
    let suspended = recorded(&spec("pes_ipc", &[]), ALL).timeline;
    let cut = |what: SliceKind| matches!(what, SliceKind::Phase(_, true));
    let all = || suspended.operations.iter().flat_map(|it| &it.slices);
    assert!(all().any(|it| cut(it.what)) && all().any(|it| it.what == SliceKind::Reset));
    for operated in suspended.operations.iter().filter(|it| it.operation.lpn.is_some()) {
        assert!(operated.operation.submitted <= operated.operation.dispatched);
    }
}

/// A drive that is asked for more than it can do, with so many writes: the slowest wait through
/// most of the run.
fn overloaded(writes: u64) -> RunSpec {
    let text = format!(
        "requests = {writes}\narrivals = {{ kind = \"poisson\", rate = 1000000 }}\nmix.reads = 0.0\n"
    );
    let workload = WorkloadSpec::Generated(Source { name: "burst".into(), text });
    RunSpec { workload, ..spec("fifo", &[]) }
}

#[test]
fn what_waited_through_a_whole_run_can_be_explained() {
    let recording = recorded(&overloaded(150_000), Choice::Explained(2));
    assert!(recording.diagnostics.0.is_empty(), "{}", recording.diagnostics);
    assert_eq!(recording.timeline.requests.len(), 2);
    for reported in recording.timeline.explain(&recording.outcome) {
        assert!(reported.text.contains("more: "), "{}", reported.text);
        assert!(reported.text.contains("program phase 5 times"), "{}", reported.text);
    }
    // A trace of all dies would be too large, one of those that worked for them is not.
    let recording = recorded(&overloaded(150_000), Choice::Slowest(2));
    assert!(recording.diagnostics.0.is_empty(), "{}", recording.diagnostics);
    assert!(recording.timeline.requests.iter().all(|asked| asked.operations.len() == 1));
}

/// Stopped after so many looks at the progress, in one run or the other.
#[test]
fn a_run_that_is_stopped_says_what_was_not_looked_at() {
    let spec = overloaded(40_000);
    let stopped_after = |looks: u64| {
        let (stop, seen) = (AtomicBool::new(false), AtomicU64::new(0));
        let progress = |step| {
            if !matches!(step, Progress::Served { .. }) {
                return;
            }
            if seen.fetch_add(1, Ordering::Relaxed) + 1 == looks {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let recording =
            record(&spec, Choice::Slowest(3), Control { stop: &stop, progress: &progress });
        (
            recording.unwrap_or_else(|diagnostics| panic!("{diagnostics}")),
            seen.load(Ordering::Relaxed),
        )
    };
    let (whole, looks) = stopped_after(u64::MAX);
    assert!(whole.diagnostics.0.is_empty() && looks % 2 == 0, "{looks} {}", whole.diagnostics);
    let (first, _) = stopped_after(looks / 4);
    assert!(matches!(first.outcome.ending, Ending::Stopped));
    assert!(first.diagnostics.to_string().contains("no second run"), "{}", first.diagnostics);
    assert!(first.timeline.requests.is_empty());
    let (second, _) = stopped_after(looks * 3 / 4);
    assert!(matches!(second.outcome.ending, Ending::Complete));
    assert!(second.diagnostics.to_string().contains("was stopped after"), "{}", second.diagnostics);
    let last = second.timeline.operations.iter().map(|it| it.until).max();
    assert!(last.is_none_or(|last| last < second.outcome.clock), "cut with its own clock");
}

/// A small drive with stripes, whose writes are answered when they are in the flash.
fn striped(scheme: &str, more: &[&str]) -> RunSpec {
    let set = [
        "geometry.chips_per_channel=1",
        "geometry.blocks_per_plane=40",
        "geometry.pages_per_block=16",
        "geometry.over_provisioning=0.45",
        "buffer.size=512KiB",
        "buffer.ack=on_program",
    ];
    let set = set.iter().chain(more).map(ToString::to_string).collect();
    let device = DeviceSpec { device: "together".into(), set, ..DeviceSpec::default() };
    RunSpec { device, ..spec(scheme, &[]) }
}

/// Parity is of a stripe, and a request that waited for it is tied to it all the same.
// Slow: four whole runs with stripes, recorded operation by operation.
#[test]
fn a_wait_for_parity_is_told_and_tied() {
    for (scheme, more) in [
        ("raid5", &[][..]),
        ("da_raid5", &["policy.redundancy.all_above=1", "reliability.cycles=800"]),
    ] {
        let Recorded { timeline, diagnostics, .. } = recorded(&striped(scheme, more), ALL);
        assert!(diagnostics.0.is_empty(), "{scheme}: {diagnostics}");
        check_trace(&timeline, scheme);
        let (mut waited, mut tied, mut after) = (0, 0, 0);
        for asked in &timeline.requests {
            let done = asked.completion.done;
            let last = asked.operations.last().map(|own| (own, &timeline.operations[own.place]));
            let Some((own, last)) = last else { continue };
            let parity = asked.completion.blame[Part::Parity] > Span::ZERO;
            waited += u32::from(parity);
            let parities = asked
                .operations
                .iter()
                .filter(|own| timeline.operations[own.place].operation.source == Account::Parity);
            tied += u32::from(parity && parities.count() > 0);
            if last.operation.source == Account::Parity {
                assert!(asked.completion.blame[Part::Parity] > Span::ZERO, "{scheme}: {asked:?}");
                assert_eq!(last.until, done, "{scheme}: answered when it was done");
                assert!(own.submitted < done, "{scheme}: {own:?}");
                after += 1;
            }
        }
        // A wait ends without an operation if the stripe turns out to need no parity; about one in
        // eight waits here does.
        let most = if scheme == "raid5" { tied == waited } else { tied * 5 > waited * 4 };
        assert!(after > 50 && waited > 500 && most, "{scheme}: {tied} of {waited}, {after}");
        let recording = recorded(&striped(scheme, more), Choice::Explained(20));
        let reported = recording.timeline.explain(&recording.outcome);
        let says = |what: &str| reported.iter().filter(|it| it.text.contains(what)).count();
        let said = match scheme {
            "raid5" => "program (parity), was the parity of its stripe: waited for since +",
            _ => "of parity: a program (parity) on die ",
        };
        assert!(says(said) > 0, "{scheme}: {reported:?}");
    }
}

/// The reads that rebuild a page are operations of the request that needed the page.
// Slow: a whole run on worn cells, recorded operation by operation.
#[test]
fn a_page_that_was_brought_back_is_told_and_tied() {
    let spec = striped("raid5", &["policy.redundancy.integrity=true", "reliability.cycles=3500"]);
    let timeline = recorded(&spec, ALL).timeline;
    check_trace(&timeline, "raid5");
    let mut brought_back = 0;
    for asked in timeline.requests.iter().filter(|it| it.completion.io.op == HostOp::Read) {
        let degraded = asked.completion.blame[Part::Degraded] > Span::ZERO;
        let others = asked
            .operations
            .iter()
            .filter(|own| timeline.operations[own.place].operation.source == Account::Parity);
        assert_eq!(others.count() > 0, degraded, "{asked:?}");
        brought_back += u32::from(degraded);
    }
    assert!(brought_back > 50, "{brought_back}");
}
