//! Jobs on a drive whose answers can be told by hand: a read of 4 KiB takes 60 us of sensing,
//! 13.654 us over the channel and 1 us over the link, and the host 2 us before and 2 us after.

mod waiting_processes;

use super::plan::*;
use super::results::Fio;
use super::simulate::{Leaves, Setup, Task};
use super::stats::Stage;
use fowler_device::Completion;
use fowler_experiment::device_spec::{DeviceSpec, resolve};
use fowler_experiment::outcome::Ending;
use fowler_experiment::progress::Control;
use fowler_experiment::scheme::Scheme;
use fowler_tests::shared_folder;
use fowler_units::{HostOp, Nanos, Span};
use serde_json::Value;
use std::path::PathBuf;

/// The drive's part of a read, and the whole of one at depth 1.
const DEVICE: u64 = 74_654;
const READ: u64 = DEVICE + 4_000;
const S: u64 = 1_000_000_000;

/// Requests by their numbers, from 0 on.
#[derive(Clone)]
struct Script {
    at: u64,
    most: u64,
    of: fn(u64) -> Op,
}

impl Requests for Script {
    fn next(&mut self, _: &mut dyn FnMut(Direction) -> Direction) -> Option<Op> {
        (self.at < self.most).then(|| {
            self.at += 1;
            (self.of)(self.at - 1)
        })
    }

    fn stop(&mut self) {
        self.most = self.at;
    }

    fn gap_us(&mut self, _: Direction, iops: u64) -> u64 {
        2_000_000 / iops
    }
}

fn op(what: RequestKind, number: u64) -> Op {
    let length = if what.command() == HostOp::Flush { 0 } else { 4096 };
    let offset = if length == 0 { 0 } else { number * 65_536 };
    Op { what, file: 0, offset, address: offset, length, after_all: false, not_before: None }
}

fn read(number: u64) -> Op {
    // Every page of a row of blocks is on another die than the one before.
    op(RequestKind::Data(Direction::Read), number % 512)
}

fn write(number: u64) -> Op {
    op(RequestKind::Data(Direction::Write), number % 512)
}

fn task(plan: Plan, most: u64, of: fn(u64) -> Op) -> Task {
    let requests = move || Box::new(Script { at: 0, most, of }) as Box<dyn Requests>;
    Task { plan, options: Vec::new(), requests: Box::new(requests) }
}

fn setup(tasks: Vec<Task>) -> Setup {
    let set = [
        "geometry.page_size=4KiB",
        "geometry.blocks_per_plane=16",
        "timing.read=60us",
        "host.bandwidth=4096MB/s",
    ];
    let set = set.iter().map(ToString::to_string).collect();
    let spec = DeviceSpec { device: "tlc".into(), set, ..DeviceSpec::default() };
    let drive = resolve(&spec.source().expect("a preset"), &Scheme::none(), &spec);
    Setup {
        drive: drive.expect("a sound drive"),
        name: "test.fio".into(),
        hash: "0".into(),
        tasks,
        global: Vec::new(),
        regions: Vec::new(),
        notes: Vec::new(),
        no_effect: Vec::new(),
        costs: HostCosts::default(),
    }
}

fn run(tasks: Vec<Task>) -> (Fio, Vec<Completion>) {
    let setup = setup(tasks);
    let (fio, seen) = setup
        .run(Leaves::default(), Vec::<Completion>::new(), Control::UNWATCHED)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(fio.outcome.ending, Ending::Complete);
    assert!(fio.outcome.laws().hold(), "{:?}", fio.outcome.laws());
    (fio, seen)
}

fn arrivals(seen: &[Completion]) -> Vec<u64> {
    let mut all: Vec<u64> = seen.iter().map(|it| it.io.at.0).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_request_at_depth_one_takes_what_its_parts_take() {
    for synchronous in [false, true] {
        let plan = Plan { synchronous, ..Plan::new("one", 1) };
        let (fio, seen) = run(vec![task(plan, 100, read)]);
        let done = &fio.entries[0].stats.done[Direction::Read];
        assert_eq!((done.requests, done.bytes), (100, 409_600));
        let of = |stage: Stage| {
            let summary = done.latencies[stage as usize].summary;
            (summary.count, summary.min, summary.max)
        };
        assert_eq!(of(Stage::Total), (100, READ, READ));
        let apart = if synchronous { (0, 0, 0) } else { (100, 2_000, 2_000) };
        assert_eq!(of(Stage::Submission), apart);
        let after = if synchronous { READ } else { READ - 2_000 };
        assert_eq!(of(Stage::Completion), (100, after, after));
        // The next one is taken up when the last one is collected.
        let expected: Vec<u64> = (0..100).map(|number| number * READ + 2_000).collect();
        assert_eq!(arrivals(&seen), expected);
        assert_eq!(fio.elapsed, Span(100 * READ));
        assert_eq!(fio.entries[0].stats.ran_ms(), 8, "7.8654 ms, rounded up");
    }
}

#[test]
fn one_core_issues_no_more_than_it_has_time_for() {
    let (fio, _) = run(vec![task(Plan::new("deep", 256), 20_000, read)]);
    // 2 us to hand over and 2 us to collect: 250,000 requests a second.
    let ran = fio.elapsed.0;
    assert!(ran >= 20_000 * 4_000, "{ran}");
    assert!(ran < 20_000 * 4_000 + 10 * READ + 256 * 4_000, "{ran}");
    // Every request but the first ones had 256 in flight with it.
    let levels = fio.entries[0].stats.depths.levels;
    assert_eq!(levels.iter().sum::<u64>(), 20_000);
    assert_eq!(levels[..6], [1, 2, 4, 8, 16, 32]);
    // Two processes have two cores.
    let deep = |number: u32| Plan { number, ..Plan::new("deep", 256) };
    let (two, _) = run(vec![task(deep(1), 10_000, read), task(deep(2), 10_000, read)]);
    assert!(two.elapsed.0 < ran * 6 / 10, "{} and {ran}", two.elapsed.0);
}

#[test]
fn batches_are_handed_over_and_collected_together() {
    let batches = Batches { submit: 4, complete_min: 4, complete_max: 4, low: 8 };
    let plan = Plan { batches, ..Plan::new("batches", 8) };
    let (fio, seen) = run(vec![task(plan, 16, read)]);
    // Four requests are taken up at once and handed over after 2, 4, 6 and 8 us; then the next
    // four.
    let first: Vec<u64> = (1..=8).map(|number| number * 2_000).collect();
    assert_eq!(arrivals(&seen)[..8], first);
    let depths = fio.entries[0].stats.depths;
    assert_eq!(depths.submits, [0, 4, 0, 0, 0, 0, 0]);
    // Three batches of four; at the end answers are collected one after the other.
    assert_eq!(depths.completes, [0, 7, 0, 0, 0, 0, 0]);
    // The first four are collected together when the fourth is answered, and that takes 8 us; the
    // next batch is handed over then.
    let mut answers: Vec<u64> = seen.iter().map(|it| it.done.0).collect();
    answers.sort_unstable();
    assert_eq!(arrivals(&seen)[8], answers[3] + 8_000 + 2_000);
    let done = &fio.entries[0].stats.done[Direction::Read];
    assert_eq!(done.latencies[Stage::Submission as usize].summary.max, 8_000);
}

#[test]
fn a_low_mark_collects_many_before_more_are_issued() {
    let batches = Batches { low: 2, ..Batches::single(8) };
    let plan = Plan { batches, ..Plan::new("low", 8) };
    let (_, seen) = run(vec![task(plan, 14, read)]);
    let at = arrivals(&seen);
    // Six of the first eight are collected before the ninth is taken up.
    let collected: Vec<u64> = {
        let mut done: Vec<u64> = seen.iter().map(|it| it.done.0).collect();
        done.sort_unstable();
        done
    };
    assert!(at[8] >= collected[5] + 2_000 + 2_000, "{} and {}", at[8], collected[5]);
}

#[test]
fn rates_are_kept_to_the_microsecond() {
    let mut plan = Plan::new("rated", 4);
    plan.rates[Direction::Read] = Some(Rate { bytes_per_s: 3_000 * 4096, block: 4096 });
    let (_, seen) = run(vec![task(plan.clone(), 300, read)]);
    // Request k is due at k / 3 ms, in whole microseconds, and handed over for 2 us.
    let expected: Vec<u64> = (0..300u64).map(|k| k * 1_000 / 3 * 1_000 + 2_000).collect();
    assert_eq!(arrivals(&seen), expected);
    // The script draws an interval of two means each time.
    plan.poisson = true;
    let (_, seen) = run(vec![task(plan.clone(), 50, read)]);
    let expected: Vec<u64> = (0..50u64).map(|k| k * 666 * 1_000 + 2_000).collect();
    assert_eq!(arrivals(&seen), expected);
    // A rate that is too fast for the drive is as fast as the drive.
    plan.poisson = false;
    plan.rates[Direction::Read] = Some(Rate { bytes_per_s: 1 << 40, block: 4096 });
    let (fio, _) = run(vec![task(Plan { depth: 1, ..plan }, 100, read)]);
    assert_eq!(fio.elapsed, Span(100 * READ));
}

#[test]
fn a_pause_comes_after_so_many_requests_once_all_are_collected() {
    let think = Think { time: Span::ms(1), blocks: 4, counts_issued: false, after: None };
    let plan = Plan { think: Some(think), ..Plan::new("thinks", 1) };
    let (fio, seen) = run(vec![task(plan.clone(), 12, read)]);
    let group = |number: u64| number / 4 * (4 * READ + 1_000_000) + number % 4 * READ + 2_000;
    assert_eq!(arrivals(&seen), (0..12).map(group).collect::<Vec<_>>());
    assert_eq!(fio.elapsed, Span(12 * READ + 3_000_000));
    // Deeper, nothing is in flight while it pauses.
    let batches = Batches::single(4);
    let (_, seen) = run(vec![task(Plan { depth: 4, batches, ..plan.clone() }, 40, read)]);
    let mut moments: Vec<(u64, i32)> =
        seen.iter().flat_map(|it| [(it.io.at.0, 1), (it.done.0, -1)]).collect();
    moments.sort_unstable();
    let mut in_flight = 0;
    let pauses = moments.windows(2).filter(|pair| {
        in_flight += pair[0].1;
        let gap = pair[1].0 - pair[0].0;
        assert!(gap < 1_000_000 || in_flight == 0, "{gap} ns with {in_flight} in flight");
        gap >= 1_000_000
    });
    assert!(pauses.count() >= 5);
    // Time instead of requests: 300 us are four reads, the last of which is not cut short.
    let think = Think { after: Some(Span::us(300)), ..think };
    let (_, seen) = run(vec![task(Plan { think: Some(think), ..plan }, 8, read)]);
    assert_eq!(arrivals(&seen)[4], 4 * READ + 1_000_000 + 2_000);
}

#[test]
fn waves_follow_one_another_and_delays_count_from_the_beginning() {
    let wave = |wave, name: &str| Plan { wave, group: wave, ..Plan::new(name, 1) };
    let late = Plan { delay: Span::ms(2), ..wave(0, "late") };
    let after = Plan { waits_for: Some("first".into()), ..wave(0, "after") };
    let tasks = vec![
        task(wave(0, "first"), 10, read),
        task(late, 10, read),
        task(after, 5, read),
        task(wave(1, "second"), 10, read),
    ];
    let (fio, seen) = run(tasks);
    let of = |queue: u16| {
        let completions: Vec<_> =
            seen.iter().filter(|it| it.io.queue.0 == queue).copied().collect();
        (arrivals(&completions)[0], completions.iter().map(|it| it.done.0).max().unwrap())
    };
    assert_eq!((of(0).0, of(1).0), (2_000, 2_002_000));
    assert_eq!(of(2).0, of(0).1 + 2_000 + 2_000, "when the job that it waits for has ended");
    assert_eq!(of(3).0, of(1).1 + 2_000 + 2_000, "when the last of the wave has ended");
    assert_eq!(fio.entries.iter().map(|it| it.group).collect::<Vec<_>>(), [0, 0, 0, 1]);
}

#[test]
fn jobs_that_wait_for_one_another_are_an_error() {
    let waits = |name: &str, other: &str| {
        let plan = Plan { waits_for: Some(other.into()), ..Plan::new(name, 1) };
        task(plan, 5, read)
    };
    let tasks = vec![task(Plan::new("free", 1), 5, read), waits("a", "b"), waits("b", "a")];
    let failed = setup(tasks).run(Leaves::default(), (), Control::UNWATCHED).err();
    let failed = failed.expect("an error").to_string();
    assert!(failed.contains("the job a never began: it waits for b"), "{failed}");
}

#[test]
fn what_ends_together_ends_when_the_first_does() {
    let of = |ends, group| Plan { ends, group, ..Plan::new("ends", 1) };
    for (ends, others) in [(Ends::Itself, [1_000, 1_000]), (Ends::Group, [10, 1_000])] {
        let tasks = vec![
            task(of(ends, 0), 10, read),
            task(of(Ends::Itself, 0), 1_000, read),
            task(of(Ends::Itself, 1), 1_000, read),
        ];
        let (fio, _) = run(tasks);
        let done: Vec<u64> = fio.entries.iter().map(|it| it.stats.requests()).collect();
        assert_eq!(done[0], 10);
        for (done, most) in done[1..].iter().zip(others) {
            assert!((most..most + 2).contains(done), "{ends:?}: {done} of {most}");
        }
    }
}

#[test]
fn runtime_counts_after_the_ramp_and_the_ramp_is_not_recorded() {
    let timed = Plan { ramp: Span::ms(10), runtime: Some(Span::ms(20)), ..Plan::new("timed", 1) };
    let (fio, seen) = run(vec![task(timed, u64::MAX, read)]);
    // Collected in the ramp: 10 ms / READ. Taken up before 30 ms: one more than 30 ms / READ.
    let (ramp, all) = (10_000_000 / READ, 30_000_000 / READ + 1);
    assert_eq!(seen.len() as u64, all);
    let stats = &fio.entries[0].stats;
    assert_eq!(stats.requests(), all - ramp);
    assert_eq!(stats.ran, Span(all * READ - 10_000_000));
    assert_eq!(fio.elapsed, Span(all * READ));
    assert!(fio.groups[0].is_some_and(|it| it.reads.sum() < fio.outcome.counters.reads.sum()));
}

#[test]
fn a_flush_waits_and_counts_apart() {
    let every_fourth = |number: u64| match number % 4 {
        3 => op(RequestKind::Sync, number),
        _ => write(number),
    };
    let (fio, seen) = run(vec![task(Plan::new("syncs", 1), 44, every_fourth)]);
    let stats = &fio.entries[0].stats;
    assert_eq!((stats.done[Direction::Write].requests, stats.syncs.summary.count), (33, 11));
    assert_eq!(fio.outcome.recorder.flushes(), 11);
    assert_eq!(stats.depths.levels[0], 44, "flushes have a depth too");
    let last = seen.iter().max_by_key(|it| it.done).unwrap();
    assert_eq!(last.io.op, HostOp::Flush);
    // At depth 1 no other request of the job is in flight beside one.
    assert!(seen.windows(2).all(|pair| pair[1].io.at >= pair[0].done));
}

#[test]
fn a_durable_write_is_a_write_and_then_a_flush() {
    for (depth, synchronous) in [(1, true), (1, false), (8, false)] {
        let batches = Batches::single(depth);
        let plan = Plan { durable: true, synchronous, batches, ..Plan::new("durable", depth) };
        let (fio, seen) = run(vec![task(plan, 50, write)]);
        let stats = &fio.entries[0].stats;
        assert_eq!((stats.requests(), stats.syncs.summary.count), (50, 0));
        assert_eq!(fio.outcome.recorder.flushes(), 50);
        let done: Vec<Nanos> = seen.iter().map(|it| it.done).collect();
        for flush in seen.iter().filter(|it| it.io.op == HostOp::Flush) {
            assert!(done.contains(&flush.io.at), "a flush follows the answer of its write");
        }
    }
}

#[test]
fn what_must_come_after_all_waits_for_all() {
    let reads_back = |number: u64| match number {
        0..20 => write(number),
        20 => Op { after_all: true, ..read(0) },
        _ => read(number - 20),
    };
    let plan = Plan { batches: Batches::single(8), ..Plan::new("verifies", 8) };
    let (_, seen) = run(vec![task(plan, 40, reads_back)]);
    let written = seen.iter().filter(|it| it.io.op == HostOp::Write).map(|it| it.done).max();
    let read = seen.iter().filter(|it| it.io.op == HostOp::Read).map(|it| it.io.at).min();
    assert!(read > written);
}

#[test]
fn a_latency_target_finds_the_depth_that_meets_it() {
    // All reads are of one page of one die: each read waits for the reads before it, about 60 us
    // for each.
    let same = |_| read(0);
    let target =
        Target { latency: Span::us(330), window: Span::ms(20), percentile: 95.0, runs_on: false };
    let plan = Plan {
        target: Some(target),
        runtime: Some(Span::ms(1_000)),
        batches: Batches::single(32),
        ..Plan::new("target", 32)
    };
    let (fio, _) = run(vec![task(plan, u64::MAX, same)]);
    let entry = &fio.entries[0];
    // At depth d a read takes about d x 73.7 us: four meet the target, five do not.
    assert_eq!(entry.depth, 4, "{:?}", entry.stats.done[Direction::Read].latencies[2].summary);
    assert!(fio.elapsed < Span::ms(200), "{}", fio.elapsed);
    let summary = entry.stats.done[Direction::Read].latencies[Stage::Total as usize].summary;
    assert!(summary.max <= 330_000, "only the last window is recorded: {}", summary.max);
}

#[test]
fn a_steady_state_ends_a_job_and_its_samples_are_kept() {
    let steady = Steady {
        looks: Looks::Iops,
        slope: false,
        limit: 1.0,
        percent: true,
        duration: 3,
        ramp: Span::ms(500),
    };
    let mut plan = Plan { steady: Some(steady), runtime: Some(Span(60 * S)), ..Plan::new("ss", 1) };
    plan.rates[Direction::Read] = Some(Rate { bytes_per_s: 500 * 4096, block: 4096 });
    let (fio, _) = run(vec![task(plan, u64::MAX, read)]);
    let (_, found) = fio.entries[0].steady.as_ref().unwrap();
    assert!(found.attained && found.value < 1.0);
    assert_eq!(found.samples, [(500 * 4096, 500); 3]);
    assert_eq!(fio.elapsed.0 / 1_000_000, 3_500);
}

#[test]
fn the_same_jobs_give_the_same_bytes_and_nothing_is_lost() {
    let mix = |number: u64| match number % 3 {
        0 => write(number * 7),
        1 => op(RequestKind::Data(Direction::Trim), number % 256),
        _ => read(number * 13),
    };
    let tasks = || {
        let plan = |number| Plan { number, batches: Batches::single(16), ..Plan::new("mix", 16) };
        (1..=3).map(|number| task(plan(number), 3_000, mix)).collect::<Vec<_>>()
    };
    let ((one, seen), (other, _)) = (run(tasks()), run(tasks()));
    assert_eq!(one.json(true).to_string(), other.json(true).to_string());
    assert_eq!((one.normal(), one.terse()), (other.normal(), other.terse()));
    // Issued, answered and collected are the same, and so are their bytes.
    let collected: u64 = one.entries.iter().map(|it| it.stats.requests()).sum();
    assert_eq!((collected, seen.len()), (9_000, 9_000));
    for (direction, command) in
        Direction::ALL.into_iter().zip([HostOp::Read, HostOp::Write, HostOp::Trim])
    {
        let ours: u64 = one.entries.iter().map(|it| it.stats.done[direction].bytes).sum();
        let drives: u64 =
            seen.iter().filter(|it| it.io.op == command).map(|it| u64::from(it.io.size)).sum();
        assert_eq!(ours, drives);
    }
}

#[test]
fn groups_report_as_one() {
    let grouped = |number| Plan { number, grouped: true, ..Plan::new("grouped", 1) };
    let (fio, _) = run(vec![task(grouped(1), 30, read), task(grouped(2), 50, read)]);
    let [entry] = &fio.entries[..] else { panic!("{:?}", fio.entries.len()) };
    assert_eq!((entry.processes, entry.stats.requests()), (2, 80));
    let buckets = &entry.stats.done[Direction::Read].latencies[Stage::Completion as usize].buckets;
    assert_eq!(buckets.filled().map(|(_, count)| count).sum::<u64>(), 80);
}

/// Adds the keys of `theirs` that are missing in `ours` or have another type.
fn missing(path: &str, theirs: &Value, ours: &Value, into: &mut Vec<String>) {
    let (Value::Object(theirs), Value::Object(ours)) = (theirs, ours) else {
        let same = theirs.is_number() == ours.is_number()
            && theirs.is_string() == ours.is_string()
            && theirs.is_array() == ours.is_array()
            && theirs.is_object() == ours.is_object();
        if !same {
            into.push(format!("{path}: {ours} instead of {theirs}"));
        }
        return;
    };
    for (key, value) in theirs {
        let path = format!("{path}/{key}");
        match (ours.get(key), key.as_str()) {
            (None, _) => into.push(format!("{path} is missing")),
            // The keys within `job options`, `global options` and `bins` depend on the job and on
            // latencies.
            (Some(_), "job options" | "global options" | "bins") => {}
            (Some(ours), _) => missing(&path, value, ours, into),
        }
    }
}

/// Runs one process with logs, and returns the lines of each file.
fn logged(logs: Logs, plan: Plan, most: u64, of: fn(u64) -> Op) -> Vec<(String, Vec<String>)> {
    let folder = tempfile::tempdir().expect("a folder");
    let setup = setup(vec![task(Plan { logs, ..plan }, most, of)]);
    let leaves = Leaves { logs: Some(folder.path()), ..Leaves::default() };
    let (fio, ()) = setup.run(leaves, (), Control::UNWATCHED).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(fio.logs, setup.logs(folder.path()));
    let lines = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a log");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, text.lines().map(str::to_string).collect())
    };
    fio.logs.iter().map(lines).collect()
}

#[test]
fn logs_have_a_line_for_each_request_or_for_each_window() {
    let named = || Some("a".to_string());
    let each = Logs {
        bandwidth: named(),
        iops: named(),
        latency: named(),
        per_job: true,
        offset: true,
        ..Logs::default()
    };
    let all = logged(each, Plan::new("one", 1), 20, read);
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["a_bw.1.log", "a_clat.1.log", "a_iops.1.log", "a_lat.1.log", "a_slat.1.log"]
    );
    let line = |file: usize, number: usize| all[file].1[number].as_str();
    assert!(all.iter().all(|(_, lines)| lines.len() == 20));
    // The last is collected after 20 x 78,654 ns, which is in the second millisecond.
    assert_eq!(line(3, 19), "1, 78654, 0, 4096, 1245184, 0");
    assert_eq!(line(1, 0), "0, 76654, 0, 4096, 0, 0");
    assert_eq!(line(4, 0), "0, 2000, 0, 4096, 0, 0");
    assert_eq!(line(2, 0), "0, 1, 0, 4096, 0, 0");
    // 4 KiB in 78,654 ns.
    assert_eq!(line(0, 0), "0, 50855, 0, 4096, 0, 0");
    let windows = Logs {
        bandwidth: named(),
        iops: named(),
        latency: named(),
        window: Some(Span::ms(10)),
        ..Logs::default()
    };
    let mut plan = Plan::new("rated", 1);
    plan.rates[Direction::Read] = Some(Rate { bytes_per_s: 2_000 * 4096, block: 4096 });
    let all = logged(windows, plan, 50, read);
    // 20 requests in each window of 10 ms; the last ends with the job.
    let iops: Vec<&str> = all[2].1.iter().map(String::as_str).collect();
    assert_eq!(all[2].0, "a_iops.log");
    assert_eq!(iops[..2], ["10, 2000, 0, 0, 0", "20, 2000, 0, 0, 0"]);
    assert_eq!(all[0].1[0], "10, 8000, 0, 0, 0");
    assert_eq!(all[3].1, ["10, 78654, 0, 0, 0", "20, 78654, 0, 0, 0", "24, 78654, 0, 0, 0"]);
}

#[test]
fn an_iolog_has_the_requests_and_a_histogram_log_the_buckets() {
    let logs = Logs {
        iolog: Some("requests.log".into()),
        histogram: Some(("h".into(), Span::ms(2))),
        coarseness: 2,
        per_job: true,
        ..Logs::default()
    };
    let every_third =
        |number: u64| if number % 3 == 2 { op(RequestKind::Sync, 0) } else { read(number) };
    let all = logged(logs, Plan::new("file", 1), 6, every_third);
    let lines = &all[1].1;
    assert_eq!(all[1].0, "requests.log");
    assert_eq!(lines[..3], ["fio version 3 iolog", "0 file add", "0 file open"]);
    assert_eq!(lines[3..5], ["0 file read 0 4096", "78 file read 65536 4096"]);
    assert!(lines[5].ends_with(" file sync 0 0") && lines[9].ends_with(" file close"));
    let [line] = &all[0].1[..] else { panic!("{:?}", all[0].1) };
    let fields: Vec<u64> = line.split(", ").map(|it| it.parse().expect("a number")).collect();
    assert_eq!((fields[1], fields[2], fields.len()), (0, 4096, 3 + 1856 / 4));
    assert_eq!(fields[3..].iter().sum::<u64>(), 4);
}

mod shared_files {
    use super::*;

    /// Every key of fio's own output is in ours, with the same type. The jobs are those of the
    /// files there, without their parser.
    #[test]
    fn the_json_has_every_key_of_fio() {
        let Some(folder) = shared_folder::path("fio/json", "keys of fio's JSON") else { return };
        let of_fio = |name: &str| {
            let text = std::fs::read_to_string(folder.join(name)).expect("an output of fio");
            serde_json::from_str::<Value>(&text).expect("JSON")
        };
        let mixed =
            |number: u64| if number.is_multiple_of(3) { write(number) } else { read(number) };
        let syncs = |number: u64| match number % 33 {
            32 => op(RequestKind::Sync, number),
            _ => write(number),
        };
        let trim = |number: u64| op(RequestKind::Data(Direction::Trim), number % 512);
        let plan = |name: &str| Plan { batches: Batches::single(4), ..Plan::new(name, 4) };
        let mut writer = Plan { wave: 1, group: 1, ..Plan::new("writer", 1) };
        writer.recorded.percentiles = vec![50.0, 99.0, 99.99];
        let grouped = |number| Plan { grouped: true, number, ..plan("mixed") };
        let (first, _) = run(vec![
            task(grouped(1), 400, mixed),
            task(grouped(2), 400, mixed),
            task(writer, 330, syncs),
        ]);
        let steady = Steady {
            looks: Looks::Iops,
            slope: true,
            limit: 50.0,
            percent: true,
            duration: 1,
            ramp: Span::ZERO,
        };
        let mut steady = Plan { steady: Some(steady), ..Plan::new("steady", 1) };
        steady.rates[Direction::Read] = Some(Rate { bytes_per_s: 2_000 * 4096, block: 4096 });
        let mut trimmer = Plan { wave: 1, group: 1, ..Plan::new("trimmer", 1) };
        trimmer.recorded.of[Stage::Total as usize] = true;
        let target = Plan { wave: 2, group: 2, ..plan("target") };
        let (second, _) =
            run(vec![task(steady, 10_000, read), task(trimmer, 501, trim), task(target, 10, read)]);
        let mut found = Vec::new();
        for (name, ours) in [("mixed.json", first), ("targets.json", second)] {
            let (theirs, ours) = (of_fio(name), ours.json(true));
            for (key, value) in theirs.as_object().expect("an object") {
                if key == "global options" {
                    assert!(ours[key].is_object());
                } else if key != "jobs" {
                    missing(&format!("{name}/{key}"), value, &ours[key], &mut found);
                }
            }
            let (theirs, ours) =
                (theirs["jobs"].as_array().unwrap(), ours["jobs"].as_array().unwrap());
            assert_eq!(theirs.len(), ours.len(), "{name}");
            for (theirs, ours) in theirs.iter().zip(ours) {
                assert_eq!(theirs["jobname"], ours["jobname"]);
                assert_eq!(theirs["groupid"], ours["groupid"]);
                missing(&format!("{name}/{}", theirs["jobname"]), theirs, ours, &mut found);
            }
        }
        assert!(found.is_empty(), "{found:#?}");
    }
}
