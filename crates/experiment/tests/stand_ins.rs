//! The stand-ins for the traces of the P/E suspension paper are what their files say, on both drives of
//! the paper; and the one that is fitted to the excerpt of Financial1 is near it.

use fowler_experiment::device::{DeviceSpec, Resolved, resolve};
use fowler_experiment::presets::{Folder, open};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::trace::{synth_info, synth_requests};
use fowler_experiment::{HostOp, Profile, ReadOptions};
use fowler_workload::{DeviceChoice, Format, TraceReader};
use std::io::Write as _; // a direct write: what a test prints is captured
use std::path::Path;

fn drive(name: &str) -> Resolved {
    let spec = DeviceSpec { device: name.into(), ..DeviceSpec::default() };
    resolve(&spec.source().unwrap(), &Scheme::none(), &spec).unwrap()
}

/// A stand-in: requests, requests per second, share of reads, mean size of reads and of writes in bytes.
/// What is said of Financial1 and 2 is what `workloads.json` reports; of the others, what their files
/// ask for.
type Wanted = (&'static str, u64, f64, f64, f64, f64);

#[rustfmt::skip]
const WANTED: [Wanted; 6] = [
    ("f1", 200_000, 5_334_987.0 / 43_712.0, 0.232, 2.3 * 1024.0, 3.7 * 1024.0),
    ("f2", 600_000, 3_699_194.0 / 41_116.0, 0.823, 2.3 * 1024.0, 2.9 * 1024.0),
    ("dap", 100_000, 174.0, 0.68, 36_352.0, 65_536.0),
    ("msn", 300_000, 657.0, 0.672, 18_944.0, 4_096.0),
    ("c3", 60_000, 143.0, 0.82, 13_824.0, 65_536.0),
    ("c8", 60_000, 71.2, 0.82, 89_600.0, 65_536.0),
];

#[test]
fn stand_ins_have_the_statistics_that_they_are_asked_for() {
    let mut problems = Vec::new();
    for device in ["pes-slc", "pes-mlc"] {
        let drive = drive(device);
        for (name, requests, rate, read_share, read_size, write_size) in WANTED {
            let info = synth_info(&open(Folder::Workloads, name).unwrap(), &drive).unwrap();
            assert_eq!(info.total_requests(), requests, "{name}");
            for (what, reached, wanted) in [
                ("rate", info.mean_rate, rate),
                ("share of reads", info.read_share(), read_share),
                ("size of reads", info.mean_size(HostOp::Read).unwrap(), read_size),
                ("size of writes", info.mean_size(HostOp::Write).unwrap(), write_size),
            ] {
                let off = reached / wanted - 1.0;
                // The rates of these two are not published, and nothing depends on them: they are
                // compressed. Requests come in some 3,000 and 1,500 batches of geometric size, so that
                // three standard errors, sqrt(2 / batches) each, are 8 and 11 %.
                let limit = match (name, what) {
                    ("dap", "rate") => 0.08,
                    ("msn", "rate") => 0.11,
                    _ => 0.02,
                };
                if off.abs() > limit {
                    problems.push(format!("{name} on {device}: {what} {reached}, wanted {wanted}"));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn every_number_of_a_stand_in_says_where_it_comes_from() {
    const MARKS: [&str; 5] = ["[printed]", "[reported]", "[fitted]", "[calibrated]", "[assumed]"];
    for name in WANTED.map(|it| it.0).into_iter().chain(["financial1-excerpt"]) {
        for (index, line) in open(Folder::Workloads, name).unwrap().text.lines().enumerate() {
            let (setting, comment) = line.split_once('#').unwrap_or((line, ""));
            let Some((_, value)) = setting.split_once('=') else { continue };
            if value.bytes().any(|byte| byte.is_ascii_digit()) {
                let marked = MARKS.iter().any(|mark| comment.contains(mark));
                assert!(marked, "{name}:{}: {line}", index + 1);
            }
        }
    }
}

#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
fn excerpt() -> Option<Profile> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/traces/Financial1.first10k.ssdsim.ascii.zst");
    if !path.is_file() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: the excerpt {} is missing", path.display());
        return None;
    }
    let (format, device) = (Some(Format::SsdsimNs), DeviceChoice::SideBySide);
    let options = ReadOptions { format, device, ..ReadOptions::default() };
    let reader = TraceReader::open(&path, &options).unwrap();
    Some(Profile::of(reader.map(Result::unwrap)))
}

/// How far each distribution of `a` is from that of `b`: gaps, requests in windows of 4 and of 40
/// requests on average, sizes, reuse.
fn distances(a: &Profile, b: &Profile) -> [(&'static str, f64); 7] {
    let counts = |it: &Profile, mean: f64| it.counts(it.window_of(mean));
    [
        ("gaps", a.relative_gaps().distance(&b.relative_gaps())),
        ("counts by 4", counts(a, 4.0).distance(&counts(b, 4.0))),
        ("counts by 40", counts(a, 40.0).distance(&counts(b, 40.0))),
        ("read sizes", a.sizes[0].distance(&b.sizes[0])),
        ("write sizes", a.sizes[1].distance(&b.sizes[1])),
        ("read reuse", a.reuse[0].distance(&b.reuse[0])),
        ("write reuse", a.reuse[1].distance(&b.reuse[1])),
    ]
    .map(|(name, distance)| (name, distance.unwrap_or(1.0)))
}

/// `cargo test -p fowler-experiment --test stand_ins -- --nocapture` prints the distances.
#[test]
#[allow(clippy::print_stdout, reason = "the distances are the result")]
fn the_fitted_generator_is_near_the_excerpt() {
    let Some(excerpt) = excerpt() else { return };
    let drive = drive("pes-slc");
    let describe = |name: &str, it: &Profile| {
        let gaps = it.gaps();
        println!(
            "{name}: gap cv {:.2}, zero gaps {:.3}, same op {:.3}, dispersion by 4 {:.2}, by 40 {:.1}, \
             by 400 {:.1}, first touches {:.3?}, sequential {:.3?}, reuse medians {:?}",
            gaps.variation().unwrap_or(0.0),
            gaps.values().partition_point(|&gap| gap == 0.0) as f64 / gaps.values().len() as f64,
            it.same_op,
            it.dispersion(it.window_of(4.0)).unwrap_or(0.0),
            it.dispersion(it.window_of(40.0)).unwrap_or(0.0),
            it.dispersion(it.window_of(400.0)).unwrap_or(0.0),
            it.first_touches,
            it.sequential,
            it.reuse.each_ref().map(|it| it.quantile(0.5)),
        );
    };
    describe("excerpt", &excerpt);
    for (name, limits) in
        [("financial1-excerpt", Some([0.15, 0.1, 0.2, 0.03, 0.03, 0.6, 0.2])), ("f1", None)]
    {
        let source = open(Folder::Workloads, name).unwrap();
        let made = synth_requests(&source, &drive).unwrap();
        let made = Profile::of(made.take(10_000));
        describe(name, &made);
        let distances = distances(&excerpt, &made);
        println!("{name}: {distances:.3?}");
        for ((what, distance), limit) in distances.into_iter().zip(limits.unwrap_or([1.0; 7])) {
            assert!(distance <= limit, "{name}: {what} {distance}");
        }
    }
}
