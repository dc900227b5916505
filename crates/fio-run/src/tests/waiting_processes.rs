//! Tests of processes that wait for others or end: overlaps, flows, least rates, start delays.

use super::*;
use crate::flow::Share;
use crate::plan::Least;

/// Every other request touches the block before: it is issued once that is answered and collected.
#[test]
fn requests_that_overlap_follow_one_another() {
    let pairs = |number: u64| read(number / 2);
    let most_in_flight = |serialize_overlap| {
        let plan = Plan { serialize_overlap, ..Plan::new("overlaps", 4) };
        let (fio, seen) = run(vec![task(plan, 40, pairs)]);
        assert_eq!(fio.entries[0].stats.requests(), 40);
        let together = |it: &Completion| {
            let same =
                |other: &&Completion| other.io.offset == it.io.offset && other.io.at < it.done;
            seen.iter().filter(|other| other.io.at >= it.io.at).filter(same).count()
        };
        seen.iter().map(together).max()
    };
    assert_eq!((most_in_flight(false), most_in_flight(true)), (Some(2), Some(1)));
}

/// 100 requests a second are fewer than 150: the cycle that begins with the first request collected
/// after two seconds ends the job a second later. 50 are enough.
#[test]
fn a_rate_below_the_least_ends_a_job() {
    let ended = |requests: u64, cycle: Span| {
        let rate = Some(Rate { bytes_per_s: 409_600, block: 4096 });
        let least = Least {
            bytes: ByDirection::default(),
            requests: ByDirection::from_fn(|it| if it == Direction::Read { requests } else { 0 }),
            cycle,
        };
        let rates = ByDirection::from_fn(|it| if it == Direction::Read { rate } else { None });
        let plan = Plan { rates, least: Some(least), ..Plan::new("slow", 1) };
        let (fio, _) = run(vec![task(plan, 500, read)]);
        (fio.entries[0].stats.requests(), fio.entries[0].error)
    };
    // The requests that are due at 2 and 3 s are numbers 200 and 300, from 0.
    assert_eq!(ended(150, Span::ms(1_000)), (301, 5));
    assert_eq!(ended(50, Span::ms(1_000)), (500, 0));
    // Requests in a ramp do not count.
    let least = Least {
        bytes: ByDirection::default(),
        requests: ByDirection::from_fn(|it| u64::from(it == Direction::Read) * 50),
        cycle: Span::ms(1_000),
    };
    let mut plan = Plan { least: Some(least), ramp: Span::ms(4_000), ..Plan::new("ramp", 1) };
    plan.rates[Direction::Read] = Some(Rate { bytes_per_s: 409_600, block: 4096 });
    let (fio, _) = run(vec![task(plan, 900, read)]);
    assert_eq!(fio.entries[0].error, 0);
}

/// The first ends at once and ends the others; two of them have not begun yet.
#[test]
fn what_ends_before_its_delay_is_over_has_done_nothing() {
    let of = |ends, delay| Plan { ends, delay, ..Plan::new("ends", 1) };
    let ramp = Plan { ramp: Span::ms(3), ..of(Ends::Itself, Span::ms(1_000)) };
    let logs = Logs {
        iolog: Some("iolog".into()),
        latency: Some("late".into()),
        window: Some(Span::ms(1)),
        ..Logs::default()
    };
    let logged = Plan { logs, ..of(Ends::Itself, Span::ms(1_000)) };
    let tasks = || {
        vec![
            task(of(Ends::Group, Span::ZERO), 10, read),
            task(ramp.clone(), 1_000, read),
            task(logged.clone(), 1_000, read),
        ]
    };
    let folder = tempfile::tempdir().unwrap();
    let leaves = Leaves { logs: Some(folder.path()), ..Leaves::default() };
    let (fio, ()) = setup(tasks()).run(leaves, (), Control::UNWATCHED).expect("a run");
    let done: Vec<u64> = fio.entries.iter().map(|it| it.stats.requests()).collect();
    assert_eq!(done, [10, 0, 0]);
    assert_eq!(fio.elapsed, Span(10 * READ));
    let iolog = std::fs::read_to_string(folder.path().join("iolog")).unwrap();
    assert_eq!(iolog.lines().last(), Some("0 ends close"), "{iolog}");
}

/// Each job has issued its share of the requests to within one when the time is over, whether jobs
/// that are ahead sleep or wait.
#[test]
fn jobs_of_a_flow_issue_by_weight() {
    for sleep in [Span::ZERO, Span::us(100)] {
        let of = |name: &str, depth, flow, weight| Plan {
            share: Some(Share { flow, weight, sleep }),
            runtime: Some(Span::ms(100)),
            ..Plan::new(name, depth)
        };
        let (fio, _) = run(vec![
            task(of("one", 4, 0, 1), u64::MAX, read),
            task(of("five", 8, 0, 5), u64::MAX, read),
            task(of("ten", 1, 0, 10), u64::MAX, read),
        ]);
        let done: Vec<u64> = fio.entries.iter().map(|it| it.stats.requests()).collect();
        let round = done[2] / 10;
        assert!(round > 40, "{done:?}");
        assert!(done[0].abs_diff(round) <= 1 && done[1].abs_diff(5 * round) <= 6, "{done:?}");
    }
    // Without the others the rest of a flow goes on alone, as if there were none.
    let share = |weight| Some(Share { flow: 0, weight, sleep: Span::ZERO });
    let (fio, _) = run(vec![
        task(Plan { share: share(1), ..Plan::new("short", 1) }, 10, read),
        task(Plan { share: share(1), ..Plan::new("long", 1) }, 500, read),
    ]);
    let done: Vec<u64> = fio.entries.iter().map(|it| it.stats.requests()).collect();
    assert_eq!(done, [10, 500]);
    let free = Plan { share: None, ..Plan::new("free", 1) };
    let alone = Plan { share: share(3), ..free.clone() };
    let took = |plan| run(vec![task(plan, 500, read)]).0.elapsed;
    assert_eq!(took(alone), took(free));
}

/// Request k of a log is due after k milliseconds. At any depth it is issued then, and its answer
/// is collected when it comes: while the process sleeps.
#[test]
fn a_log_is_replayed_at_its_times() {
    let every_ms = |number: u64| Op { not_before: Some(Span::ms(number)), ..read(number) };
    for (depth, synchronous) in [(1, false), (1, true), (8, false)] {
        let plan = Plan { synchronous, ..Plan::new("log", depth) };
        let (fio, seen) = run(vec![task(plan, 20, every_ms)]);
        let expected: Vec<u64> = (0..20).map(|number| number * 1_000_000 + 2_000).collect();
        assert_eq!(arrivals(&seen), expected, "depth {depth}");
        let total = fio.entries[0].stats.done[Direction::Read].latencies[2].summary;
        assert_eq!((total.count, total.min, total.max), (20, READ, READ), "depth {depth}");
        assert_eq!(fio.elapsed, Span(19_000_000 + READ));
    }
    // Late requests are issued at once.
    let every_us = |number: u64| Op { not_before: Some(Span::us(number)), ..read(number) };
    let (_, seen) = run(vec![task(Plan::new("late", 1), 20, every_us)]);
    let expected: Vec<u64> = (0..20).map(|number| number * READ + 2_000).collect();
    // The first is due at 0, and every other one before the one before it is collected.
    assert_eq!(arrivals(&seen), expected);
    // The time is over before the third is due.
    let plan = Plan { runtime: Some(Span::us(1_500)), ..Plan::new("cut", 4) };
    let (fio, seen) = run(vec![task(plan, 20, every_ms)]);
    assert_eq!((seen.len(), fio.elapsed), (2, Span::us(1_500)));
}

/// Requests that are queued for a batch are handed over before the process sleeps.
#[test]
fn a_batch_does_not_wait_for_the_next_time_of_a_log() {
    let two_each_ms = |number: u64| Op { not_before: Some(Span::ms(number / 2)), ..read(number) };
    let batches = Batches { submit: 4, ..Batches::single(8) };
    let plan = Plan { batches, ..Plan::new("log", 8) };
    let (_, seen) = run(vec![task(plan, 8, two_each_ms)]);
    let expected = (0..4).flat_map(|ms| [ms * 1_000_000 + 2_000, ms * 1_000_000 + 4_000]);
    assert_eq!(arrivals(&seen), expected.collect::<Vec<u64>>());
}

/// The drive's time for a trim of a page with data, and for one of a page without.
const TRIM: u64 = 65_800;
const TRIM_OF_NOTHING: u64 = 65_000;

fn trim(number: u64) -> Op {
    op(RequestKind::Data(Direction::Trim), number % 512)
}

/// With libaio, a trim is alone: it has no submission, and all its time is its completion. With
/// io_uring, all slots are taken; the drive still makes one trim after the other.
#[test]
fn trims_of_an_engine_with_a_queue_wait_or_do_not() {
    for (waits_for_trims, depth) in [(true, 1), (true, 8), (false, 1), (false, 8)] {
        let plan = Plan { waits_for_trims, ..Plan::new("trims", depth) };
        let (fio, seen) = run(vec![task(plan, 256, trim)]);
        let entry = &fio.entries[0];
        let latencies = &entry.stats.done[Direction::Trim].latencies;
        let of = |stage: Stage| latencies[stage as usize].summary;
        let [submission, completion, total] =
            [Stage::Submission, Stage::Completion, Stage::Total].map(of);
        let host = 4_000;
        assert_eq!((total.count, total.min), (256, TRIM + host), "{waits_for_trims}, {depth}");
        if waits_for_trims {
            assert_eq!(submission.count, 0);
            assert_eq!(
                (completion.count, completion.min, completion.max),
                (256, total.min, total.max)
            );
        } else {
            assert_eq!((submission.count, completion.min), (256, TRIM + 2_000));
        }
        let slots = if waits_for_trims { 1 } else { u64::from(depth) };
        let apart = if slots == 1 { TRIM + host } else { TRIM };
        let mut done: Vec<u64> = seen.iter().map(|it| it.done.0).collect();
        done.sort_unstable();
        assert!(
            done.windows(2).all(|pair| pair[1] - pair[0] == apart),
            "{waits_for_trims}, {depth}"
        );
        let json = &fio.json(true)["jobs"][0]["iodepth_level"];
        let level = if slots == 1 { "1" } else { "8" };
        assert!(json[level].as_f64().is_some_and(|share| share > 90.0), "{json}");
        if slots == 1 {
            assert_eq!(json["1"].as_f64(), Some(100.0));
        }
    }
}

/// A trim that finds nothing waits for nothing but the command.
#[test]
fn trims_of_pages_without_data_take_less() {
    let plan = Plan { waits_for_trims: true, ..Plan::new("twice", 1) };
    let (fio, _) = run(vec![task(plan, 1024, trim)]);
    let done = &fio.entries[0].stats.done[Direction::Trim].latencies[Stage::Total as usize];
    let (min, max) = (done.summary.min, done.summary.max);
    assert_eq!((min, max), (TRIM_OF_NOTHING + 4_000, TRIM + 4_000));
}

/// Writes stay in flight while their process waits for a trim, but none is only queued then.
#[test]
fn a_trim_waits_until_what_is_queued_is_handed_over() {
    let mix = |number: u64| match number % 8 {
        7 => trim(number),
        _ => read(number),
    };
    let batches = Batches { submit: 4, ..Batches::single(16) };
    let plan = Plan { waits_for_trims: true, batches, ..Plan::new("mix", 16) };
    let (fio, seen) = run(vec![task(plan, 800, mix)]);
    assert_eq!(fio.entries[0].stats.requests(), 800);
    let trims: Vec<_> = seen.iter().filter(|it| it.io.op == HostOp::Trim).collect();
    assert_eq!(trims.len(), 100);
    let during = |trim: &&&Completion| {
        let began = |it: &&Completion| it.io.at > trim.io.at && it.io.at < trim.done;
        seen.iter().filter(began).count()
    };
    // No request is issued during a trim, and a request before it is often still in flight.
    assert!(trims.iter().all(|trim| during(&trim) == 0));
    let across =
        |trim: &&Completion| seen.iter().any(|it| it.io.at < trim.io.at && it.done > trim.io.at);
    assert!(trims.iter().any(across));
}
