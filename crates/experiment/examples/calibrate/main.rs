//! Calibrates the stand-ins of the traces of the P/E suspension paper: finds the few keys of a
//! stand-in that bring its mean latencies under FIFO nearest to those of Table 2. The calibration
//! reads no claim of the paper about schemes, and changes nothing of the drives.
//!
//! `cargo run --release --example calibrate -- f1` prints the keys, the latencies and the
//! residuals.
//!
//! `-- --check f1` searches nothing and prints the results of the file as it is.
//!
//! `-- --ensemble` writes the contents of `presets/papers/pes-ensemble.toml` (see `ensemble.rs`).
//!
//! The trace is compressed for each drive until that drive idles for 70 % of the time, anew for
//! every candidate. The search is that of Nelder and Mead (1965) in the logarithms of the keys,
//! from a fixed start, without a random number: a second search has the same result.
#![allow(clippy::print_stdout, reason = "a command prints")]

mod ensemble;
mod search;

use fowler_experiment::common_speed::{TestBed, Trial, common_speed, trials};
use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::presets::{Folder, open};
use fowler_experiment::workload::{Control, WorkloadSpec};
use rayon::prelude::*;
use search::nelder_mead;
use std::path::Path;

/// The idle share that the paper's traces are compressed to, and the one they had: section 3.1.
const IDLE: f64 = 0.70;
const IDLE_NATIVE: f64 = 0.98;
/// Settings for the history of the paper's drives, as in presets/papers/pes.toml.
const DRIVE: [&str; 1] = ["precondition.pattern=rested"];
/// Candidates at most. The starts below are what searches of the same kind came to.
const CANDIDATES: usize = 20;

/// A key that the calibration varies, with the start of the search and the allowed range.
struct Knob {
    key: &'static str,
    start: f64,
    range: [f64; 2],
}

const fn knob(key: &'static str, start: f64, low: f64, high: f64) -> Knob {
    Knob { key, start, range: [low, high] }
}

/// A stand-in, Table 2's latencies of its trace (SLC read and write, MLC read and write, in ms),
/// its requests per second (none: so many that the drives idle for 98 %), and its knobs.
struct StandIn {
    name: &'static str,
    published: [f64; 4],
    rate: Option<f64>,
    knobs: &'static [Knob],
}

/// Reads and writes share busy spells, as in the excerpt of Financial1: how many times the mean
/// rate requests have in a spell (none come between), and how many of them come in one.
const fn spells(peak: f64, requests: f64) -> [Knob; 2] {
    [knob("peak", peak, 1.05, 1e4), knob("requests_per_spell", requests, 1.0, 1e5)]
}

/// Reads come in batches, writes in others. No more reads than F2 has, the highest share of the six
/// by the paper.
const fn batches(reads: f64, read_batch: f64, read_size: f64, write_batch: f64) -> [Knob; 4] {
    [
        knob("mix.reads", reads, 0.02, 0.82),
        knob("reads.batch", read_batch, 1.0, 1000.0),
        knob("reads.sizes", read_size, 512.0, 1_048_576.0),
        knob("writes.batch", write_batch, 1.0, 1000.0),
    ]
}

#[rustfmt::skip]
const STAND_INS: [StandIn; 6] = [
    StandIn { name: "f1", published: [0.37, 0.87, 0.44, 1.58], rate: Some(5_334_987.0 / 43_712.0),
        knobs: &spells(14.1, 14.5) },
    StandIn { name: "f2", published: [0.24, 0.57, 0.27, 1.03], rate: Some(3_699_194.0 / 41_116.0),
        knobs: &spells(12.5, 19.0) },
    StandIn { name: "dap", published: [1.92, 6.85, 5.74, 11.74], rate: None,
        knobs: &batches(0.68, 35.0, 36_352.0, 27.0) },
    StandIn { name: "msn", published: [4.13, 4.58, 8.47, 25.21], rate: None,
        knobs: &batches(0.672, 151.0, 18_944.0, 304.0) },
    StandIn { name: "c3", published: [0.25, 2.85, 0.52, 6.30], rate: None,
        knobs: &batches(0.82, 1.0, 13_824.0, 11.5) },
    StandIn { name: "c8", published: [0.44, 2.33, 0.56, 4.54], rate: None,
        knobs: &batches(0.82, 1.0, 89_600.0, 9.49) },
];

/// A number with three digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().expect("a printed number")
}

/// The value that a knob at `log` is turned to: three digits, sizes in sectors of 512 B.
fn value(knob: &Knob, log: f64) -> f64 {
    let value = log.exp().clamp(knob.range[0], knob.range[1]);
    if knob.key.ends_with("sizes") {
        (value / 512.0).round().max(1.0) * 512.0
    } else {
        rounded(value)
    }
}

/// The lines of a workload file that knobs stand for, at a mean rate of requests per second.
fn keys(settings: &[(&'static str, f64)], rate: f64) -> Vec<(&'static str, toml::Value)> {
    let of = |key: &str| settings.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    if let (Some(peak), Some(requests)) = (of("peak"), of("requests_per_spell")) {
        let busy_s = requests / (rate * peak);
        let span = |seconds: f64| format!("{:.0}us", rounded(seconds) * 1e6).into();
        return vec![
            ("arrivals.busy_rate", rounded(rate * peak).into()),
            ("arrivals.mean_busy", span(busy_s)),
            ("arrivals.mean_quiet", span(busy_s * (peak - 1.0))),
        ];
    }
    let line = |&(key, value): &(&'static str, f64)| match key.ends_with("sizes") {
        true => (key, format!("{value}B").into()),
        false => (key, value.into()),
    };
    let rate = ("arrivals.rate", rounded(rate).into());
    settings.iter().map(line).chain([rate]).collect()
}

/// A workload file with some keys set.
fn with(text: &str, keys: &[(&str, toml::Value)]) -> WorkloadSpec {
    let mut file: toml::Table = text.parse().expect("a preset");
    for (key, value) in keys {
        let (table, key) = key.split_once('.').expect("a key in a table");
        let table = file.entry(table).or_insert_with(|| toml::Table::new().into());
        table.as_table_mut().expect("a table").insert(key.into(), value.clone());
    }
    WorkloadSpec::Generated(Source { name: "candidate".into(), text: file.to_string() })
}

/// Replays a workload on each drive, compressed until that drive idles for a share `idle` of the
/// time. Returns the compression factors and the trials. The search for the factors begins at
/// `first`.
fn compressed(
    beds: &[TestBed],
    workload: &WorkloadSpec,
    idle: f64,
    first: f64,
    control: Control<'_>,
) -> Result<(Vec<f64>, Vec<Trial>), Diagnostics> {
    let one = |bed: &TestBed| {
        let bed = std::slice::from_ref(bed);
        let factor = rounded(common_speed(bed, workload, idle, first, control)?.factor);
        Ok((factor, trials(bed, workload, factor, control)?.remove(0)))
    };
    let both: Result<Vec<(f64, Trial)>, Diagnostics> = beds.par_iter().map(one).collect();
    Ok(both?.into_iter().unzip())
}

/// The latencies of Table 2's cells, in its order.
fn cells(trials: &[Trial]) -> Vec<f64> {
    trials
        .iter()
        .flat_map(|it| [it.read_ms, it.write_ms])
        .map(|ms| ms.unwrap_or(f64::NAN))
        .collect()
}

/// The natural logarithms of the ratios of simulated to published latencies.
fn residuals(trials: &[Trial], published: &[f64; 4]) -> Vec<f64> {
    cells(trials)
        .iter()
        .zip(published)
        .map(|(reached, published)| (reached / published).ln())
        .collect()
}

fn settings(knobs: &[Knob], logs: &[f64]) -> Vec<(&'static str, f64)> {
    knobs.iter().zip(logs).map(|(knob, &log)| (knob.key, value(knob, log))).collect()
}

fn calibrate(
    stand_in: &StandIn,
    file: &str,
    check: bool,
    beds: &[TestBed],
) -> Result<(), Diagnostics> {
    let control = Control::UNWATCHED;
    let text = open(Folder::Workloads, file)?.text;
    if check {
        let workload = WorkloadSpec::Generated(Source { name: file.into(), text });
        return report(stand_in, &workload, beds, 15.0, control);
    }
    let rate = stand_in.rate.unwrap_or(SOME_RATE);
    let cost = |logs: &[f64]| {
        let settings = settings(stand_in.knobs, logs);
        let workload = with(&text, &keys(&settings, rate));
        // A workload that cannot be replayed is not a candidate.
        let Ok((factors, tried)) = compressed(beds, &workload, IDLE, 30.0, control) else {
            return 1e9;
        };
        let residuals = residuals(&tried, &stand_in.published);
        let cost: f64 = residuals.iter().map(|residual| residual * residual).sum();
        println!("  {cost:8.4}  x{factors:?} {settings:?} {:.3?}", cells(&tried));
        cost
    };
    let start: Vec<f64> = stand_in.knobs.iter().map(|knob| knob.start.ln()).collect();
    let (logs, cost) = nelder_mead(&start, CANDIDATES, cost);
    let settings = settings(stand_in.knobs, &logs);
    let native = match stand_in.rate {
        Some(rate) => rate,
        None => {
            let workload = with(&text, &keys(&settings, rate));
            let found = common_speed(beds, &workload, IDLE_NATIVE, 1.0, control)?;
            rounded(rate * found.factor)
        }
    };
    println!("{}: {settings:?}, cost {cost:.4}", stand_in.name);
    let keys = keys(&settings, native);
    for (key, value) in &keys {
        println!("  {key} = {value}");
    }
    report(stand_in, &with(&text, &keys), beds, 15.0, control)
}

/// Requests per second of a stand-in whose rate is not published, while it is calibrated: it is
/// compressed from there.
const SOME_RATE: f64 = 100.0;

/// Prints the results of a stand-in that is compressed from its own request rate.
fn report(
    stand_in: &StandIn,
    workload: &WorkloadSpec,
    beds: &[TestBed],
    first: f64,
    control: Control<'_>,
) -> Result<(), Diagnostics> {
    let (factors, tried) = compressed(beds, workload, IDLE, first, control)?;
    let native = trials(beds, workload, 1.0, control)?;
    let idle = |trials: &[Trial]| trials.iter().map(|it| it.idle).collect::<Vec<_>>();
    println!("  factors {factors:?}, idle {:.3?}, as recorded {:.4?}", idle(&tried), idle(&native));
    println!("  published {:.3?}", stand_in.published);
    println!("  reached   {:.3?}", cells(&tried));
    println!("  residuals {:+.3?}", residuals(&tried, &stand_in.published));
    Ok(())
}

fn main() -> Result<(), Diagnostics> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.iter().all(|it| it == "--check") {
        wanted.extend(STAND_INS.iter().map(|it| it.name.to_string()));
    }
    let bed = |device: &str| {
        let set = DRIVE.map(str::to_string).to_vec();
        let spec = DeviceSpec { device: device.into(), set, ..DeviceSpec::default() };
        TestBed::new(&spec, "fifo", Control::UNWATCHED)
    };
    let beds = [bed("pes-slc")?, bed("pes-mlc")?];
    if wanted.iter().any(|it| it == "--ensemble") {
        wanted.retain(|it| it != "--ensemble");
        return ensemble::write(&beds, &wanted);
    }
    let check = wanted.iter().any(|it| it == "--check");
    wanted.retain(|it| it != "--check");
    for name in &wanted {
        // `f1`, or a changed copy of it: `folder/f1.toml`.
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        match STAND_INS.iter().find(|it| it.name == stem) {
            Some(stand_in) => calibrate(stand_in, name, check, &beds)?,
            None => println!("there is no stand-in `{name}`"),
        }
    }
    Ok(())
}
