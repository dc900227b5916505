//! Tests of protocols on drives whose results can be computed by hand, and of the independence of
//! results from scaling, seeds and threads.

use super::*;
use crate::measurements::{Filter, Measured, pick, read};
use crate::streams::Pace;
use fowler_experiment::device_spec::{DeviceSpec, Resolved, resolve};
use fowler_experiment::progress::Control;
use fowler_experiment::scheme::Scheme;
use fowler_tests::shared_folder;
use fowler_units::{Bytes, Span};
use serde_json::{Value, json};

/// Returns a file of measurements with the head that all test files share.
fn file(protocol: Value, drive: Value) -> Measured {
    let text = json!({
        "title": "synthetic", "protocol": protocol, "units": { "latency": "us" }, "drives": [drive],
    });
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.json");
    std::fs::write(&path, text.to_string()).expect("written");
    read(&path).expect("a measured file")
}

fn drive(device: &str, set: &[&str]) -> Resolved {
    let set = set.iter().map(ToString::to_string).collect();
    let spec = DeviceSpec { device: device.into(), set, ..DeviceSpec::default() };
    resolve(&spec.source().expect("a preset"), &Scheme::none(), &spec).expect("a sound drive")
}

/// Returns the protocol of `latency-under-load` in words, for a probe and a load.
fn probe_and_load() -> Value {
    json!({
        "probe": "one thread at fixed intervals: 10,000 operations a second, each a read or a write \
                  with probability 1/2. Queue depth limit 64.",
        "load": "six threads, each a Poisson process, 99 % writes and 1 % reads, queue depth 64",
    })
}

const QUICK: Effort = Effort {
    within: 0.1,
    least: 2_000,
    most: 20_000,
    longer: 1.0,
    blocks: Bytes(96 << 20),
    tail: Bytes(96 << 20),
};

/// Simulates all rows of a file and returns the simulated numbers of each row.
fn simulated(file: &Measured, drive: &Resolved, effort: Effort) -> Vec<Vec<Simulated>> {
    let files = std::slice::from_ref(file);
    let rows = Rows::of(pick(files, &[]).expect("rows"));
    assert!(rows.refused.is_empty(), "{:?}", rows.refused.first().map(|it| &it.1));
    let images = images();
    let bench = Bench::new(drive, effort, &images);
    let results = rows.run(&bench, Control::UNWATCHED);
    rows.done(&results).map(|done| done.simulated.expect("simulated")).collect()
}

fn find(row: &[Simulated], metric: &str) -> f64 {
    let found = row.iter().find(|it| it.metric == metric);
    found.unwrap_or_else(|| panic!("no {metric} in {row:?}")).estimate.value
}

/// A one-page read on an idle drive takes the sum of its parts: the command over the link, sensing,
/// the transfer, and the host path.
#[test]
fn a_read_on_an_idle_drive_takes_what_its_parts_take() {
    let row = |depth: u32, engine: &str| json!({ "block_bytes": 4096, "jobs": 1, "qd_per_job": depth, "engine": engine });
    let rows = json!([row(1, "spdk"), row(1, "io_uring"), row(64, "spdk")]);
    let file = file(json!({ "workload": "reads" }), json!({ "model": "M", "rows": rows }));
    let set = [
        "geometry.page_size=4KiB",
        "geometry.blocks_per_plane=16",
        "timing.read=60us",
        "host.bandwidth=4096MB/s",
    ];
    let rows = simulated(&file, &drive("tlc", &set), QUICK);
    // 60 us of sensing, 13.654 us over the channel, 1 us over the link.
    let device = 60.0 + 13.654 + 1.0;
    for (row, host) in rows.iter().zip([1.0, 6.0]) {
        let p50 = find(row, "p50_us");
        assert!((p50 / (device + host) - 1.0).abs() < 0.001, "{p50} on {device} + {host}");
        let iops = find(row, "iops");
        assert!((iops * (device + host) / 1e6 - 1.0).abs() < 0.01, "{iops}");
    }
    // Little's law: 64 in flight.
    let (iops, mean) = (find(&rows[2], "iops"), find(&rows[2], "mean_us"));
    assert!((iops * mean / 64e6 - 1.0).abs() < 0.02, "{iops} x {mean}");
}

/// A core that takes 2.6 us for each request bounds a fast drive: 64 requests in flight take 64
/// times as long, because those that wait for the core are in flight.
#[test]
fn requests_that_wait_for_the_core_of_their_job_are_in_flight() {
    let row = |depth: u32| json!({ "block_bytes": 4096, "jobs": 1, "qd_per_job": depth, "engine": "io_uring" });
    let facts = json!({ "model": "M", "rows": [row(1), row(64)] });
    let file = file(json!({ "workload": "reads" }), facts);
    let set = [
        "geometry.page_size=4KiB",
        "geometry.blocks_per_plane=16",
        "timing.read=8us",
        "timing.bus_transfer=1us",
        "host.bandwidth=4096MB/s",
    ];
    let rows = simulated(&file, &drive("tlc", &set), QUICK);
    // 8 us of sensing, 1 us over the channel, 1 us over the link, 6 us in the host.
    let (alone, p50) = (16.0, find(&rows[0], "p50_us"));
    assert!((p50 / alone - 1.0).abs() < 0.001, "{p50} alone");
    let (iops, p50) = (find(&rows[1], "iops"), find(&rows[1], "p50_us"));
    assert!((iops * 2.6e-6 - 1.0).abs() < 0.01, "{iops}");
    assert!((p50 / (64.0 * 2.6) - 1.0).abs() < 0.001, "{p50} at depth 64");
}

#[test]
fn a_probe_beside_load_sees_the_offered_rate_below_saturation_and_a_closed_loop_above() {
    let row = |rate: u32| json!({ "offered_write_iops": rate });
    let file =
        file(probe_and_load(), json!({ "model": "M", "rows": [row(6_000), row(4_000_000)] }));
    let set = ["geometry.page_size=4KiB", "geometry.blocks_per_plane=24", "buffer.size=1MiB"];
    let rows = simulated(&file, &drive("tlc", &set), QUICK);
    let (writes, reads) =
        (find(&rows[0], "achieved_write_iops"), find(&rows[0], "achieved_read_iops"));
    // 5,000 + 0.99 x 1,000 writes and 5,000 + 0.01 x 1,000 reads, each to its scatter.
    assert!((writes / 5_990.0 - 1.0).abs() < 0.03, "{writes}");
    assert!((reads / 5_010.0 - 1.0).abs() < 0.03, "{reads}");
    // Beyond saturation a thread has 64 requests in flight, nearly all of them writes, and the
    // time that a request waits for a slot is not in its latency.
    let (writes, thread) =
        (find(&rows[1], "achieved_write_iops"), find(&rows[1], "load_thread_write_us.p50"));
    assert!(writes < 100_000.0, "{writes}");
    let expected = (6.0 * 64.0 / writes * 1e6).min(19_998.0);
    assert!((0.5..1.6).contains(&(thread / expected)), "{thread} and {expected}");
}

/// The simulated streams have the threads, shares of writes, depths and arrival laws of the
/// protocol, stated in words or as keys.
#[test]
fn streams_are_those_that_the_protocol_states() {
    let job = |load: Value| {
        let mut protocol = probe_and_load();
        protocol["load"] = load;
        let rows = json!([{ "offered_write_iops": 45_000 }]);
        let file = file(protocol, json!({ "model": "M", "rows": rows }));
        let files = [file];
        let picks = pick(&files, &[]).expect("rows");
        plan(&picks[0]).expect("a plan").jobs.remove(0)
    };
    let usual = job(probe_and_load()["load"].clone());
    assert_eq!((usual.streams.len(), usual.streams[1].depth), (7, 64));
    assert_eq!((usual.streams[0].reads, usual.streams[0].pace), (0.5, Pace::Every(Span::us(100))));
    assert!((usual.streams[1].reads - 0.01).abs() < 1e-12);
    // 40,000 of 45,000 are the load's.
    assert_eq!(usual.streams[1].pace, Pace::Poisson(Span(150_000)));
    let words = "nine threads, each a Poisson process, 80 % writes and 20 % reads, queue depth 16";
    let keys = json!({ "threads": 9, "write_share": 0.8, "depth": 16, "arrivals": "poisson" });
    let other = job(json!(words));
    assert_eq!(other, job(keys));
    assert_eq!((other.streams.len(), other.streams[1].depth), (10, 16));
    assert!((other.streams[1].reads - 0.2).abs() < 1e-12);
    assert_eq!(other.streams[1].pace, Pace::Poisson(Span(225_000)));
}

// Slow: a drive is overwritten six times or more under each of three patterns.
#[test]
fn writes_by_pattern_are_as_amplified_as_theory_says() {
    let zones = json!([{ "size": 0.5, "write_share": 1.0 }, { "size": 0.5, "write_share": 0.0 }]);
    let row = |more: Value| {
        let mut row = json!({
            "overwritten_x_device": 6, "io_kib": 4, "steady_mb_s": 1, "ratio_to_uniform": 1,
        });
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let rows = [
        row(json!({ "pattern": "uniform" })),
        row(json!({ "pattern": "zones_read_only", "zones": zones })),
        row(json!({ "pattern": "zipf", "theta": 1.2 })),
    ];
    let file = file(
        json!({ "patterns_4k": "4 threads x queue depth 128, closed loop" }),
        json!({ "model": "M", "rows": rows }),
    );
    let set = ["geometry.page_size=4KiB", "geometry.channels=1", "buffer.size=1MiB"];
    let drive = drive("tlc", &set);
    let rows = simulated(&file, &drive, QUICK);
    let waf = find(&rows[0], "counted_waf");
    // Greedy on random writes, by the load of a plane without what GC holds back.
    let g = &drive.layout.geometry;
    let data = f64::from(drive.layout.logical_pages) / f64::from(g.planes() * g.pages_per_block);
    let held_back = f64::from(drive.config.gc.foreground_below);
    let load = data / (f64::from(g.blocks_per_plane) - held_back);
    let theory = fowler_theory::gc::greedy(load, 48).expect("a load between 0 and 1");
    assert!((waf / theory - 1.0).abs() < 0.05, "{waf}, and {theory} at load {load}");
    assert!((find(&rows[0], "ratio_to_uniform") - 1.0).abs() < 0.05);
    // Without parity, and without pages that the buffer absorbs, everything that is programmed
    // beyond the host's data is a copy.
    for row in &rows[..2] {
        let copied = find(row, "counted_nand_reads_per_host_byte");
        let waf = find(row, "counted_waf");
        assert!((waf / (1.0 + copied) - 1.0).abs() < 0.02, "{waf} and {copied} copied");
    }
    assert!(find(&rows[2], "ratio_to_uniform") > 1.1, "a skewed pattern is cheaper");
}

/// Scaled-down drives with page mapping, and with superblocks, have the write amplification of
/// larger ones.
// Slow: drives of up to 640 MiB are overwritten five times.
#[test]
fn a_smaller_drive_has_the_same_write_amplification() {
    let rows = json!([{ "used_gib": 1, "overwritten_x_used": 5 }]);
    let drive_facts = json!({ "model": "M", "user_gib": 1, "rows": rows });
    let file =
        file(json!({ "device_state": "filled, then 4 threads x queue depth 128" }), drive_facts);
    let pages =
        drive("tlc", &["geometry.page_size=4KiB", "geometry.channels=1", "buffer.size=1MiB"]);
    let superblocks = drive(
        "nvme-pe8110",
        &["geometry.channels=1", "geometry.planes_per_die=1", "geometry.pages_per_block=96"],
    );
    for (drive, sizes) in [(pages, [96, 384]), (superblocks, [160, 640])] {
        let [small, large] = sizes.map(|mib: u64| {
            let effort = Effort { blocks: Bytes(mib << 20), ..QUICK };
            find(&simulated(&file, &drive, effort)[0], "counted_waf")
        });
        assert!((small / large - 1.0).abs() < 0.04, "{}: {small} and {large}", drive.device);
        // Data that is written in order is programmed once, with one command in so many of parity.
        let effort = Effort { blocks: Bytes(sizes[0] << 20), ..QUICK };
        let fill = find(&simulated(&file, &drive, effort)[0], "counted_waf_of_the_fill");
        let parity = f64::from(drive.config.superblocks.parity);
        let once = if parity > 0.0 { parity / (parity - 1.0) } else { 1.0 };
        assert!((fill / once - 1.0).abs() < 0.03, "{}: {fill} and {once}", drive.device);
    }
}

// Slow: three rows are simulated twice, each on a drive that is filled first.
#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let row = |limit: u32, depth: u32| json!({ "write_limit_mb_s": limit, "read_qd": depth });
    let rows = json!([row(0, 4), row(200, 2), row(400, 16)]);
    let file = file(json!({ "workload": "w" }), json!({ "model": "M", "rows": rows }));
    let small = ["geometry.blocks_per_plane=16", "geometry.pages_per_block=48"];
    let drive = drive("tlc", &small);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| simulated(&file, &drive, QUICK))
    };
    let one = with(1);
    assert_eq!(one.len(), 3);
    assert_eq!(one, with(3));
}

/// A row's `null` counts as a missing value, and keys that no protocol has are ignored.
#[test]
fn what_a_row_does_not_know_is_taken_as_missing() {
    let row = json!({
        "op": null, "block_bytes": null, "jobs": 1, "qd_per_job": 2, "engine": null, "iops": null,
        "p50_us": 90.0, "unheard_of": { "x": [1, null] },
    });
    let facts = json!({ "model": "M", "sample": 7, "capacity_gb": null, "rows": [row] });
    let file = file(json!({ "workload": "w", "kind": "reads_by_depth" }), facts);
    assert_eq!(file.drives[0].sample.as_deref(), Some("7"));
    let files = [file];
    let rows = Rows::of(pick(&files, &[]).expect("rows"));
    assert_eq!((rows.count().0, rows.refused.len()), (1, 0));
    let client = |row: Value, gb: Value| {
        let facts = json!({ "model": "M", "capacity_gb": gb, "rows": [row] });
        let said = json!({ "measured": "m", "device_state": "s", "kind": "client_peaks" });
        let files = [self::file(said, facts)];
        let rows = Rows::of(pick(&files, &[]).expect("rows"));
        rows.refused.first().map(|(_, why)| why.clone())
    };
    let row = json!({ "result": "r", "size_gb": null, "measured": { "rrandiops": 5 } });
    assert_eq!(client(row.clone(), json!(500)), None);
    assert!(client(row, Value::Null).expect("refused").contains("capacity"));
}

#[test]
fn a_row_that_means_nothing_is_named_with_the_reason() {
    let uniform = json!({ "patterns_4k": "4 threads x queue depth 128, closed loop" });
    let pattern =
        |pattern: &str| json!({ "pattern": pattern, "overwritten_x_device": 5, "io_kib": 4 });
    let with = |mut row: Value, key: &str, value: Value| {
        row[key] = value;
        row
    };
    let depth = json!({ "workload": "w" });
    let reads = json!({ "block_bytes": 4096, "jobs": 1, "qd_per_job": 1 });
    for (protocol, row, said) in [
        (&uniform, pattern("spiral"), "the pattern `spiral` is not known"),
        (&uniform, pattern("zipf"), "no number `theta`"),
        (&uniform, pattern("zones"), "no set of `zones` is written"),
        (&uniform, with(pattern("uniform"), "io_kib", json!(0.5)), "`io_kib` is 0.5"),
        (&uniform, with(pattern("uniform"), "overwritten_x_device", json!(-1)), "above 0"),
        (&uniform, with(pattern("seq_zones"), "zone_gib", json!(4)), "capacity of the drive"),
        (&depth, with(reads.clone(), "block_bytes", json!(1000)), "multiple of 512"),
        (&depth, with(reads.clone(), "jobs", json!(0)), "`jobs` is 0"),
        (&depth, with(reads.clone(), "qd_per_job", json!("x")), "`qd_per_job` is x"),
        (&depth, with(reads.clone(), "engine", json!("psync")), "`engine` is `psync`"),
        (&depth, with(reads, "op", json!("trim")), "`op` is `trim`"),
        (&probe_and_load(), json!({ "offered_write_iops": 3_000 }), "the probe alone writes 5000"),
        (
            &json!({ "device_state": "filled, then 4 threads x queue depth 128" }),
            json!({ "used_gib": 20, "overwritten_x_used": 4 }),
            "capacity of the drive",
        ),
        (
            &json!({ "workload": "w" }),
            json!({ "write_limit_mb_s": 5, "read_qd": 1, "write_bs": "big" }),
            "`write_bs` is `big`",
        ),
    ] {
        let file = file(protocol.clone(), json!({ "model": "M", "rows": [row] }));
        let files = [file];
        let rows = Rows::of(pick(&files, &[]).expect("rows"));
        assert_eq!(rows.count().0, 0, "{said}");
        assert!(rows.refused[0].1.contains(said), "{said}: {}", rows.refused[0].1);
    }
}

/// Facts of a protocol that the simulation does not follow are refused, also in the topic of zones.
#[test]
fn an_open_loop_is_refused_where_only_a_closed_one_is_simulated() {
    let zones = json!({
        "pattern": "seq_zones", "overwritten_x_device": 5, "io_kib": 512, "zone_gib": 4,
        "active_zones": 2,
    });
    let written = |words: &str| json!({ "patterns_4k": "one thread, QD 1", "seq_zones": words });
    let peak = json!({ "op": "rand_read", "kib": 4, "threads": 2 });
    let open = "states an open loop";
    for (protocol, row, said) in [
        (written("one thread, queue depth 1, closed loop"), &zones, None),
        (written("Poisson arrivals"), &zones, Some(open)),
        (written("90 % writes"), &zones, Some("states a share of reads")),
        (json!({ "workload": "QD 4, closed loop" }), &peak, None),
        (json!({ "workload": "QD 4 at fixed intervals" }), &peak, Some(open)),
    ] {
        let facts = json!({ "model": "M", "capacity_gb": 960, "rows": [row] });
        let files = [file(protocol, facts)];
        let rows = Rows::of(pick(&files, &[]).expect("rows"));
        let why = rows.refused.first().map(|(_, why)| why.as_str());
        assert_eq!(why.is_some(), said.is_some(), "{why:?}");
        assert!(why.is_none_or(|why| why.contains(said.unwrap_or_default())), "{why:?}");
    }
}

mod shared_files {
    use super::*;

    /// Every row of the project's files can be planned, or has a reason why it cannot.
    #[test]
    fn every_row_of_the_known_files_is_planned_or_named() {
        let Some(folder) = shared_folder::path("drives", "the rows of measured drives") else {
            return;
        };
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .expect("the measured files")
            .map(|entry| entry.expect("readable").path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .collect();
        paths.sort();
        assert!(paths.len() >= 10, "{paths:?}");
        for path in paths {
            let file = read(&path).unwrap_or_else(|wrong| panic!("{wrong}"));
            let files = [file];
            let rows = Rows::of(pick(&files, &[] as &[Filter]).expect("rows"));
            let (planned, _) = rows.count();
            match files[0].kind {
                Kind::ReplayedTrace => assert_eq!(planned, 0),
                Kind::ClientPeaks => assert!(planned > 0 && rows.refused.len() == 1),
                _ => assert!(planned > 0 && rows.refused.is_empty(), "{:?}", rows.refused[0].1),
            }
            assert!(rows.refused.iter().all(|(_, why)| why.len() > 30));
        }
    }
}
