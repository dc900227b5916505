//! Tests in the manner of PTS on small drives, beside what theory says of them.

use fowler_experiment::Span;
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::workload::Control;
use fowler_standards::{Edition, Found, Pts, PtsSpec, Purge, Test, Watch};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Two dies of four planes and 90 MiB for the user, without a buffer or a limit of the link: a read
/// of a page takes 25 + 40 us.
const SMALL: [&str; 5] = [
    "geometry.channels=2",
    "geometry.blocks_per_plane=64",
    "gc.background_below=8",
    "buffer.size=0B",
    "host.bandwidth=0MB/s",
];

/// One plane of 32 MiB, whose reserve is little beside what a burst writes.
const TINY: [&str; 6] = [
    "geometry.channels=1",
    "geometry.planes_per_die=1",
    "geometry.blocks_per_plane=128",
    "gc.foreground_below=3",
    "buffer.size=0B",
    "host.bandwidth=0MB/s",
];

fn spec_on(drive: &[&str], tests: &str, set: &[&str]) -> PtsSpec {
    let device = DeviceSpec {
        device: "pes-mlc".into(),
        set: drive.iter().chain(set).map(ToString::to_string).collect(),
        ..DeviceSpec::default()
    };
    PtsSpec {
        tests: Test::list(tests).unwrap(),
        minute: Span::ms(200),
        threads: 2,
        depth: 4,
        ..PtsSpec::of(device)
    }
}

fn spec(tests: &str, set: &[&str]) -> PtsSpec {
    spec_on(&SMALL, tests, set)
}

fn run(spec: &PtsSpec) -> Pts {
    fowler_standards::check(spec).or(()).unwrap_or_else(|wrong| panic!("{wrong}"));
    let watch = Watch { control: Control::UNWATCHED, share: &|_, _| (), say: &|_| () };
    fowler_standards::run(spec, watch).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() <= within, "{found}, expected {expected}");
}

#[test]
fn reads_of_one_page_take_what_a_read_takes() {
    let spec = spec("lat", &[]);
    let results = run(&spec);
    let Found::Matrix(matrix) = &results.tested[0].found else { panic!("{results:?}") };
    let four = matrix.sizes.iter().position(|&size| size == 4096).unwrap();
    let place = matrix.place(four, 0);
    assert_eq!(matrix.rounds.points[place].stimulus.reads, 1.0);
    // 25 us in the cells and 40 us on the channel; the host link is free.
    let mean = matrix.rounds.mean(place, |it| it.mean_us).unwrap();
    near(mean, 65.0, 1e-9);
    near(matrix.rounds.mean(place, |it| Some(it.iops())).unwrap(), 1e6 / 65.0, 1e-3);
    assert!(matrix.rounds.is_steady() && results.stopped.is_empty());
}

#[test]
fn sequential_writes_cost_nothing_beyond_themselves() {
    let results = run(&spec("tp", &[]));
    let Found::Throughput(sizes) = &results.tested[0].found else { panic!("{results:?}") };
    assert_eq!(sizes.len(), 2);
    for (size, rounds) in sizes {
        let waf = rounds.mean(1, |it| it.waf()).unwrap();
        near(waf, 1.0, 0.02);
        assert!(
            rounds.mean(0, |it| Some(it.mb_s())) > rounds.mean(1, |it| Some(it.mb_s())),
            "{size}"
        );
    }
    assert_eq!(results.tested[0].preconditioned.len(), 2, "each size has its own");
}

#[test]
fn a_fresh_drive_falls_off_a_cliff_and_garbage_collection_is_why() {
    // One plane to a die, so that no two pages share a program.
    let results = run(&spec("wsat", &["geometry.planes_per_die=1"]));
    let Found::Saturation(all) = &results.tested[0].found else { panic!("{results:?}") };
    let cliff = all.cliff().expect("random writes on a drive without data");
    let [fresh, end] = cliff.iops;
    assert!(end < 0.7 * fresh && cliff.waf[0] == Some(1.0), "{cliff:?}");
    assert!(cliff.gc[0] == 0.0 && cliff.gc[1] > 0.2, "{cliff:?}");
    assert!(cliff.fills > 0.5 && cliff.fills < 3.0, "{cliff:?}");
    // The first minute erased nothing, so its write amplification is no headline.
    assert!(all.minutes[0].withheld().is_some() && all.minutes[0].steady_waf().is_none());
    assert!(all.level().withheld().is_none(), "{:?}", all.level());
    let json = results.json().to_string();
    assert!(json.contains(r#""waf":1.0,"waf_withheld":"no block was erased""#), "{json}");
    let said = cliff.sentence();
    assert!(said.contains("garbage collection takes") && said.contains("write amplification"));
    // At the end the dies do nothing but what a page of the host costs: programs, reads of moved
    // pages, and its share of an erase.
    let waf = cliff.waf[1].unwrap();
    let (program, read, erase) = (40.0 + 660.0, 25.0 + 40.0, (3300.0 + 24.0) / 64.0);
    let page_us = waf * program + (waf - 1.0) * read + waf * erase;
    near(end, 2.0 * 1e6 / page_us, 0.05);
    near(cliff.iops[0], 2.0 * 1e6 / program, 0.02);
    near(waf, all.theory.unwrap(), 0.1);
    let written: u64 = all.written().last().copied().unwrap();
    assert!(written >= fowler_standards::Saturation::FILLS * all.capacity || all.window.is_some());
}

// Slow: two whole tests with their waits.
#[test]
fn a_drive_that_collects_when_idle_recovers_with_the_wait_and_another_does_not() {
    let ratio = |set: &[&str]| {
        let spec = PtsSpec { minute: Span::ms(3000), ..spec_on(&TINY, "hir", set) };
        let results = run(&spec);
        let Found::HostIdle(all) = &results.tested[0].found else { panic!("{results:?}") };
        let baseline = all.baseline();
        // Every load without a pause ends where the baseline is.
        for waited in &all.waits {
            near(waited.back.last().unwrap().iops(), baseline, 0.1);
        }
        all.waits.iter().map(|waited| waited.iops() / baseline).collect::<Vec<f64>>()
    };
    let idle = ratio(&["gc.background_below=32", "gc.idle_after=1ms"]);
    assert!(idle[0] > 1.3 && idle[4] > 1.1 * idle[0], "{idle:?}");
    assert!(idle.windows(2).all(|two| two[1] > 0.99 * two[0]), "{idle:?}");
    // A collection that was in progress when the host stopped is still finished.
    let flat = ratio(&["gc.background_below=3", "gc.idle_after=1h"]);
    assert!(flat.iter().all(|ratio| (ratio / flat[0] - 1.0).abs() < 0.03), "{flat:?}");
    assert!(flat[4] < 0.7 * idle[4], "{flat:?} {idle:?}");
}

// Slow: three whole runs of two tests of the specification.
#[test]
fn two_runs_and_any_number_of_threads_give_the_same_bytes() {
    let spec = PtsSpec { minute: Span::ms(20), ..spec("iops,tp", &[]) };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| run(&spec).json().to_string());
    let two = pool(2).install(|| run(&spec).json().to_string());
    assert!(one == two, "results depend on threads");
    let other = PtsSpec { device: DeviceSpec { seed: Some(7), ..spec.device.clone() }, ..spec };
    let other = run(&other).json().to_string();
    assert!(other != one);
}

#[test]
fn editions_set_the_cache_and_a_purge_leaves_wear_or_not() {
    let settings = |spec: &PtsSpec| {
        let setup = run(spec).setup;
        setup.settings.iter().map(|it| format!("{}: {}\n", it.name, it.value)).collect::<String>()
    };
    let short = |edition| PtsSpec {
        edition: Some(edition),
        minute: Span::ms(5),
        ..spec_on(&SMALL[..3], "lat", &["reliability.cycles=7"])
    };
    let client = settings(&short(Edition::Client));
    assert!(
        client.contains("write cache: the cache is on") && client.contains("wear, 7 P/E"),
        "{client}"
    );
    let new = PtsSpec { purge: Purge::Fob, ..short(Edition::Enterprise) };
    let enterprise = settings(&new);
    assert!(enterprise.contains("write cache: the cache is off"), "{enterprise}");
    assert!(enterprise.contains("a new drive") && enterprise.contains("NOT PTS"), "{enterprise}");
}

#[test]
fn a_test_that_is_stopped_has_no_result_and_others_keep_theirs() {
    let stop = AtomicBool::new(false);
    let heard = Mutex::new(Vec::new());
    let share = |number: usize, share: f64| {
        heard.lock().unwrap().push((number, share));
        // The second test has begun its rounds.
        if number == 1 && share > 0.3 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let control = Control { stop: &stop, progress: &|_| () };
    let spec = PtsSpec { minute: Span::ms(5), ..spec("tp,lat", &[]) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let watch = Watch { control, share: &share, say: &|_| () };
    let results = pool.install(|| fowler_standards::run(&spec, watch)).unwrap();
    assert_eq!(results.tested.len(), 1);
    assert_eq!(results.stopped, [Test::Latency]);
    let heard = heard.into_inner().unwrap();
    let first = heard.iter().filter(|(number, _)| *number == 0);
    assert!(first.clone().count() > 5 && first.is_sorted_by(|one, other| one.1 <= other.1));
}

#[test]
fn what_is_wrong_is_said_at_once() {
    let wrong = PtsSpec {
        minute: Span::ZERO,
        active_share: 1.5,
        threads: 70_000,
        ..spec("iops", &["timing.reed=9us"])
    };
    let said = fowler_standards::check(&wrong).to_string();
    for part in ["timing.reed", "--minute", "--active-range", "--threads"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let small = PtsSpec { active_share: 1e-4, ..spec("iops", &[]) };
    assert!(fowler_standards::check(&small).to_string().contains("the largest request"));
}
