//! Tests of reading files of measurements: correct ones, and files that are wrong in many ways.

use super::file::parse;
use super::*;
use std::path::Path;

const GOOD: &str = r#"{
  "title": "t", "protocol": { "device_state": "full; 4 threads x queue depth 128" },
  "units": { "mb_s": "10^6 bytes/s", "latency": "us; mean of all", "iops": "writes per second" },
  "drives": [
    { "model": "A 1", "sample": "x", "capacity_gb": null, "rows": [
      { "used_gib": 10, "overwritten_x_used": 4, "write_us": { "p50": 7.5 }, "curve": [[1, 2]] },
      { "used_gib": 20.0, "overwritten_x_used": 4, "campaign": "f" } ] },
    { "model": "B", "rows": [ { "used_gib": 30, "overwritten_x_used": 5 } ] } ] }"#;

fn read(text: &str) -> Result<Measured, Diagnostics> {
    parse(text, "m.json", Path::new("some/m.json"))
}

fn numbers(filters: &[&str]) -> Result<Vec<(String, usize)>, String> {
    let files = [read(GOOD).expect("it is good")];
    let mut diagnostics = Diagnostics::default();
    let filters: Vec<Filter> =
        filters.iter().filter_map(|text| diagnostics.take(Filter::parse(text))).collect();
    let picked = diagnostics.or(()).and_then(|()| pick(&files, &filters));
    let picked = picked.map_err(|wrong| wrong.to_string())?;
    Ok(picked.iter().map(|it| (it.drive.model.clone(), it.row.number)).collect())
}

#[test]
fn rows_are_picked_by_their_own_keys() {
    let (a1, a2, b) = (("A 1".into(), 1), ("A 1".into(), 2), ("B".into(), 1));
    for (filters, wanted) in [
        (&[][..], vec![&a1, &a2, &b]),
        (&["model=A 1"], vec![&a1, &a2]),
        (&["sample=x, used_gib=20"], vec![&a2]),
        (&["used_gib=10..20"], vec![&a1, &a2]),
        (&["used_gib=..19.9"], vec![&a1]),
        (&["used_gib=11.."], vec![&a2, &b]),
        (&["used_gib=10|30"], vec![&a1, &b]),
        (&["used_gib=10.0", "model=B"], vec![&a1, &b]),
        (&["write_us.p50=7..8"], vec![&a1]),
        (&["curve.0.1=2"], vec![&a1]),
        (&["file=m,campaign=f"], vec![&a2]),
        (&["model=A, or so|A 1, B|B"], vec![&b]),
        (&["used_gib=30,model=\"B\""], vec![&b]),
    ] {
        let got = numbers(filters).unwrap_or_else(|wrong| panic!("{filters:?}: {wrong}"));
        assert_eq!(got.iter().collect::<Vec<_>>(), wanted, "{filters:?}");
    }
}

#[test]
fn a_filter_that_cannot_be_meant_is_refused() {
    for (filters, said) in [
        (
            &["used_gb=10"][..],
            &["no measured row has the key `used_gb`", "did you mean `used_gib`"][..],
        ),
        (&["used_gib=11"], &["no measured row meets the filter", "10, 20.0, 30"]),
        (&["used_gib=10,model=B"], &["no row meets all"]),
        (&["used_gib"], &["`=` is missing", "key=value"]),
        (&["=4"], &["the key is empty"]),
        (&["used_gib="], &["the value is empty"]),
        (&["used_gib=9..a"], &["`a` is no number"]),
        (&["used_gib=9..3"], &["from 9 to 3 is empty"]),
        (&["used_gib=9,used_gib=3"], &["two conditions", "key=a|b"]),
        // Everything at once.
        (&["used_gib=9..a,x", "y"], &["`a,x` is no number", "`=` is missing"]),
    ] {
        let wrong = numbers(filters).expect_err("it is wrong");
        for part in said {
            assert!(wrong.contains(part), "{filters:?}: {part}: {wrong}");
        }
    }
}

#[test]
fn a_file_that_is_wrong_says_where_and_what_was_expected() {
    let without = |from: &str, to: &str| GOOD.replace(from, to);
    for (text, said) in [
        (GOOD[..GOOD.len() - 30].to_string(), &["m.json:8", "ends too early", "JSON object"][..]),
        (without("\"title\"", "title"), &["m.json:2", "this is no JSON"]),
        ("[]".into(), &["no JSON object"]),
        (without("\"title\": \"t\",", ""), &["`title` is missing"]),
        (without("protocol", "protocols"), &["`protocol` is missing", "what was done"]),
        (without("units", "unit"), &["`units` is missing"]),
        (without("10^6 bytes/s", "2^20 bytes/s"), &["`units.mb_s`", "10^6 bytes/s"]),
        (without("us; mean", "usual; mean"), &["`units.latency`", "\"us\""]),
        (without("writes per second", "writes"), &["not per second"]),
        (without("\"drives\"", "\"drive\""), &["`drives` is missing"]),
        (without("\"model\": \"B\",", ""), &["drive 2: `model` is missing"]),
        (
            without("{ \"used_gib\": 30, \"overwritten_x_used\": 5 }", "7"),
            &["B: row 1 is no object"],
        ),
        (without("\"model\": \"B\", \"rows\"", "\"model\": \"B\", \"row\""), &["B: `rows`"]),
        (
            without("used_gib", "used"),
            &["not known: `protocol` has the keys device_state", "used, ", "kind"],
        ),
        (
            without("\"device_state\"", "\"kind\": \"unheard\", \"device_state\""),
            &["`protocol.kind` \"unheard\" is not known", "overprovisioning, "],
        ),
        (without("queue depth 128", "many"), &["m.json:2", "does not state its `depth`", "64"]),
        (without("4 threads", "4 threads and 5 threads"), &["several numbers of threads: 4, 5"]),
        (
            without("\"full; 4 threads x queue depth 128\"", "{ \"threads\": 0.5, \"dept\": 3 }"),
            &[
                "`protocol.device_state.threads` states 0.5",
                "`depth`?",
                "device_state.depth` is missing",
            ],
        ),
        (
            without("{ \"device", "{ \"treads\": 9, \"write_share\": 0.8, \"device"),
            &["m.json:2", "`protocol.treads` is not a known key", "\"write_share\": ..."],
        ),
        // Everything at once.
        (without("\"title\": \"t\",", "").replace("units", "u"), &["`title`", "`units`"]),
    ] {
        let wrong = read(&text).expect_err("it is wrong").to_string();
        for part in said {
            assert!(wrong.contains(part), "{part}: {wrong}");
        }
    }
}

#[test]
fn a_protocol_may_be_named() {
    let patterns = "\"kind\": \"write_patterns\", \"patterns_4k\": \"one thread, queue depth 8\", ";
    let named = GOOD.replace("\"device_state\"", &format!("{patterns}\"device_state\""));
    assert_eq!(read(&named).unwrap().kind, Kind::WritePatterns);
    assert_eq!(read(GOOD).unwrap().kind, Kind::OverProvisioning);
    assert_eq!(Kind::names().filter_map(Kind::by_name).count(), 10);
}

#[test]
fn words_state_facts_and_remarks_in_parentheses_do_not() {
    use super::words::Words;
    let words = |text: &str| {
        let it = Words::of(text);
        (it.threads(), it.depth(), it.write_share(), it.rate())
    };
    for (text, wanted) in [
        ("4 threads x queue depth 128 = 512 outstanding", (Some(4.0), Some(128.0), None, None)),
        ("one thread x QD 256 (says four threads)", (Some(1.0), Some(256.0), None, None)),
        ("six threads of 64, queue depth limit 64 each", (Some(6.0), Some(64.0), None, None)),
        ("60 s, jobs x 8; QD 64 per thread", (None, Some(64.0), None, None)),
        ("1 % reads and 99 % writes", (None, None, Some(0.99), None)),
        ("10,000 operations a second, a fair coin", (None, None, Some(0.5), Some(10_000.0))),
        ("every 100 us; queue depth of at most 8", (None, Some(8.0), None, Some(10_000.0))),
    ] {
        let (threads, depth, share, rate) = wanted;
        assert_eq!(words(text), (Ok(threads), Ok(depth), Ok(share), Ok(rate)), "{text}");
    }
    assert!(Words::of("99 % writes and 2 % reads").write_share().is_err());
    assert!(Words::of("a write with probability 0.8").write_share().is_err());
    assert!(Words::of("Poisson, then a closed loop").arrivals().is_err());
}

/// A fact in words that the kind does not read is a remark, but for arrivals that nobody simulates;
/// a key of rows that the kind does not read is a remark, and no part of their name.
#[test]
fn what_a_protocol_says_and_nobody_reads_is_named() {
    let file = |kind: &str, words: &str, rows: &str| {
        read(&format!(
            "{{ \"title\": \"t\", \"units\": {{ \"latency\": \"us\" }}, \"protocol\": {{ \
             \"kind\": \"{kind}\",\n{words} }}, \"drives\": [ {{ \"model\": \"A\", \"rows\": [ {rows} ] }} ] }}"
        ))
    };
    let by_depth = "{ \"block_bytes\": 4096, \"jobs\": 1, \"qd_per_job\": 1 }, \
                    { \"block_bytes\": 4096, \"jobs\": 1, \"qd_per_job\": 64, \"threads\": 9 }";
    let grid = "{ \"op\": \"randread\", \"jobs\": 1, \"qd_per_job\": 1 }";
    let peak = "{ \"op\": \"seq_write\", \"kib\": 4, \"threads\": 2 }";
    let beside = "{ \"write_limit_mb_s\": 50, \"read_qd\": 1 }";
    let notes = |kind: &str, words: &str, rows: &str| {
        let words = format!("\"workload\": \"{words}\"");
        file(kind, &words, rows).unwrap_or_else(|wrong| panic!("{wrong}")).notes
    };
    let threads = "the `threads` of rows is not simulated: rows of reads_by_depth have no such key";
    let depth = "`protocol.workload` states its `depth`, 64, which is not read: reads_by_depth \
                 simulates the `qd_per_job` of each row";
    assert_eq!(notes("reads_by_depth", "one thread, closed loop", by_depth), [threads]);
    assert_eq!(notes("reads_by_depth", "one job, queue depth 64", by_depth), [depth, threads]);
    for (kind, words, rows, said) in [
        (
            "reads_by_depth",
            "queue depths: QD 1, QD 64",
            by_depth,
            "gives several queue depths: 1, 64",
        ),
        ("reads_by_depth", "100 operations a second", by_depth, "`rate`, 100, which is not read"),
        ("interference", "100 % writes at fixed rate", beside, "`write_share`, 1, which is not"),
        ("reads_by_depth", "nine threads", by_depth, "its `threads`, 9, which no row has"),
        ("reads_by_depth", "queue depth 8", by_depth, "its `depth`, 8, which no row has"),
        ("depth_grid", "QD 1, 99 % writes", grid, "its `write_share`, 0.99, which no row has"),
        ("peak_by_threads", "QD 1, three threads", peak, "its `threads`, 3, which no row has"),
        ("interference", "nine threads", beside, "its `threads`, 9, which no row has"),
        ("interference", "closed loop, fixed rate", beside, "several laws of arrivals; interf"),
    ] {
        let notes = notes(kind, words, rows);
        assert!(notes[0].contains(said), "{words}: {notes:?}");
    }
    for (kind, words, rows) in [
        ("interference", "two jobs, closed loop, QD 1", beside),
        ("depth_grid", "one job, QD 1 per job, 100 % reads; 60 s, jobs x depth", grid),
        ("peak_by_threads", "two threads, QD 1, 100 % writes, closed loop", peak),
    ] {
        assert_eq!(notes(kind, words, rows), [""; 0], "{words}");
    }
    let wrong = file("interference", "\"workload\": \"Poisson arrivals\"", beside);
    let wrong = wrong.expect_err("nobody simulates it").to_string();
    let said = "states its `arrivals`, poisson, which is not simulated";
    assert!(wrong.contains(said) && wrong.contains("m.json:2"), "{wrong}");
    let read = file("reads_by_depth", "\"workload\": \"reads\"", by_depth).expect("a file");
    let row = Pick { file: &read, drive: &read.drives[0], row: &read.drives[0].rows[1] };
    assert_eq!(row.identity(), "reads_by_depth: A: block_bytes=4096 jobs=1 qd_per_job=64");
    assert!(Filter::parse("threads=9").expect("a filter").wants(&row), "rows have all their keys");
}

/// Output of fio becomes rows and notes, both from the jobs of `fowler measure` and from other
/// jobs.
#[test]
fn output_of_fio_becomes_rows_and_notes() {
    let job = |name: &str, options: &str, more: &str| {
        format!(
            "{{ \"jobname\": \"{name}\", \"job options\": {{ {options} }},
             \"read\": {{ \"iops\": 4900, \"bw_bytes\": 2e7, \"clat_ns\": {{ \"mean\": 90000,
             \"percentile\": {{ \"50.000000\": 80000, \"99.900000\": 400000 }} }} }},
             \"write\": {{ \"iops\": 4000 }} {more} }}"
        )
    };
    let file = |jobs: &[String]| {
        let globals = r#"{ "filename": "/dev/x", "bs": "4k", "ioengine": "io_uring" }"#;
        let jobs = jobs.join(", ");
        read(&format!(
            "{{ \"fio version\": \"fio-3.36\", \"global options\": {globals}, \"jobs\": [{jobs}] }}"
        ))
    };
    let probe = r#""rw": "randrw", "rwmixread": "50", "rate_iops": "5000,5000", "iodepth": "64""#;
    let load = r#""rw": "randwrite", "rate_iops": "833", "rate_process": "poisson", "numjobs": "6",
        "iodepth": "64""#;
    let latency = file(&[job("probe-10000", probe, ""), job("load-10000", load, "")]).unwrap();
    assert_eq!(
        (latency.kind, latency.drives[0].model.as_str()),
        (Kind::LatencyUnderLoad, "/dev/x")
    );
    let row = &latency.drives[0].rows[0];
    assert_eq!(row.number("achieved_write_iops"), Some(8_000.0));
    assert_eq!(row.text("saturated").as_deref(), Some("true"));
    assert_eq!(row.number("read_us.p99.9"), Some(400.0));
    let (probe_facts, load_facts) = (latency.facts("probe"), latency.facts("load"));
    assert_eq!((probe_facts.rate, probe_facts.arrivals), (Some(10_000.0), Some(Arrivals::Fixed)));
    assert_eq!((load_facts.threads, load_facts.write_share), (Some(6), Some(1.0)));
    assert_eq!(load_facts.arrivals, Some(Arrivals::Poisson));

    let reads = r#""rw": "randread", "iodepth": "16""#;
    let own = file(&[job("r16", reads, ""), job("w", r#""rw": "write""#, "")]).unwrap();
    assert_eq!((own.kind, own.drives[0].rows.len()), (Kind::ReadsByDepth, 1));
    assert_eq!(own.drives[0].rows[0].number("p50_us"), Some(80.0));
    assert!(own.notes[1].contains("`w` is not used: rw=write"), "{:?}", own.notes);
    let none = file(&[job("w", r#""rw": "write""#, "")]).expect_err("nothing to use").to_string();
    assert!(none.contains("none of the 1 jobs") && none.contains("fowler measure"), "{none}");
    let other = load.replace('6', "9");
    let mixed = [
        job("probe-10000", probe, ""),
        job("load-10000", load, ""),
        job("probe-20000", probe, ""),
        job("load-20000", &other, ""),
    ];
    assert!(
        file(&mixed).expect_err("two loads").to_string().contains("`load-20000` has other options")
    );
}

/// Three jobs for each address pattern become one row; what the pattern is stands in the options.
#[test]
fn writes_by_address_pattern_become_rows() {
    let job = |name: &str, options: &str, mb_s: u32| {
        format!(
            "{{ \"jobname\": \"{name}\", \"job options\": {{ {options} }}, \"write\": {{
             \"iops\": 1000, \"bw_bytes\": {mb_s}000000, \"io_bytes\": 1500000000000,
             \"lat_ns\": {{ \"mean\": 90000, \"percentile\": {{ \"50.000000\": 80000 }} }} }} }}"
        )
    };
    let three = |name: &str, options: &str, mb_s: u32| {
        [
            job(&format!("fill-{name}"), r#""rw": "write", "bs": "512k", "iodepth": "1""#, 1_000),
            job(&format!("warm-{name}"), options, mb_s / 2),
            job(&format!("pattern-{name}"), options, mb_s),
        ]
    };
    let file = |jobs: &[String]| {
        let globals = r#"{ "filename": "/dev/x", "bs": "4k", "size": "1000000000000" }"#;
        let jobs = jobs.join(", ");
        read(&format!(
            "{{ \"fio version\": \"fio-3.36\", \"global options\": {globals}, \"jobs\": [{jobs}] }}"
        ))
    };
    let random = r#""rw": "randwrite", "numjobs": "6", "iodepth": "64""#;
    let with = |more: &str| format!("{random}, {more}");
    let zones = r#""rw": "randwrite:512", "bs": "512k", "ba": "256m", "iodepth": "1""#;
    let jobs = [
        three("u", random, 250),
        three("z", &with(r#""random_distribution": "zipf:0.99""#), 500),
        three("h", &with(r#""random_distribution": "zoned:90/10:10/90""#), 400),
        three("r", &with(r#""size": "500000000000""#), 350),
        three("s", zones, 800),
    ]
    .concat();
    let all = file(&jobs).unwrap();
    assert_eq!((all.kind, all.drives[0].rows.len()), (Kind::WritePatterns, 5), "{:?}", all.notes);
    assert_eq!(all.drives[0].number("capacity_gb"), Some(1_000.0));
    let facts = ["patterns_4k", "seq_zones"].map(|topic| all.facts(topic));
    assert_eq!(facts.map(|it| (it.threads, it.depth)), [(Some(6), Some(64)), (Some(1), Some(1))]);
    let [u, z, h, r, s] = [0, 1, 2, 3, 4].map(|at| &all.drives[0].rows[at]);
    assert_eq!(u.number("overwritten_x_device"), Some(3.0));
    assert_eq!((u.number("steady_mb_s"), u.number("implied_waf")), (Some(250.0), Some(4.0)));
    assert_eq!((u.number("write_us.p50"), u.number("ratio_to_uniform")), (Some(80.0), None));
    assert_eq!(
        (z.text("pattern").as_deref(), z.number("theta")),
        (Some("zipf_of_fio"), Some(0.99))
    );
    assert_eq!(z.number("ratio_to_uniform"), Some(2.0));
    assert_eq!((h.number("zones.0.size"), h.number("zones.0.write_share")), (Some(0.1), Some(0.9)));
    assert_eq!((r.number("zones.1.size"), r.number("zones.1.write_share")), (Some(0.5), Some(0.0)));
    assert_eq!((s.number("zone_gib"), s.number("active_zones")), (Some(0.25), Some(1.0)));
    assert_eq!((s.number("io_kib"), s.number("ratio_to_uniform")), (Some(512.0), None));

    let noted = |jobs: &[String]| file(jobs).expect_err("nothing to use").to_string();
    assert!(noted(&three("u", random, 250)[1..]).contains("needs the jobs `fill-u` and `warm-u`"));
    for (options, why) in [
        (r#""rw": "randwrite:512", "bs": "512k", "ba": "4k""#, "ba equal to N times bs"),
        (r#""rw": "randwrite", "random_distribution": "pareto:0.2""#, "no known pattern"),
        (r#""rw": "randwrite", "random_distribution": "zoned:90:10""#, "such as 90/10:10/90"),
        (r#""rw": "randwrite", "bs": "512""#, "no number of KiB"),
    ] {
        let text = noted(&three("x", options, 250));
        assert!(text.contains(why), "{text}");
    }
    let others = [three("u", random, 250), three("v", &random.replace('6', "7"), 250)].concat();
    assert!(noted(&others).contains("`pattern-v` has other options"));
}
