//! Medians of the fitted presets of data-center drives.

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::presets::{self, Folder};
use fowler_units::Span;
use serde_json::Value;

/// The presets: data-center drives, fitted to latency under load.
const PRESETS: [&str; 4] = ["nvme-pe8110", "nvme-pm9a3", "nvme-7450", "nvme-p5520"];
/// Sequential write rates of the models of drive that the presets were fitted to, in 10^6 bytes per
/// second: as measured, and as stated in the data sheet. The measured rate of the 7450 is that of a
/// 7450 MAX; the PM9A3 was not measured.
const SEQUENTIAL: [(&str, f64, f64); 3] = [
    ("nvme-pe8110", 1_807.0, 1_700.0),
    ("nvme-7450", 1_450.0, 1_400.0),
    ("nvme-p5520", 2_026.0, 1_900.0),
];

/// Medians of the timings and sizes in the fitted presets of data-center drives, used where a data
/// sheet states nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Medians {
    /// Number of fitted presets of data-center drives over which the medians are taken.
    pub presets: usize,
    /// Sensing of a page, by page type, in nanoseconds.
    pub read: Vec<f64>,
    /// Delay until a program or an erase gives way, in nanoseconds.
    pub delay: f64,
    /// Median, over fitted presets, of the shortest time for which a program runs between two
    /// suspensions, in nanoseconds, rounded up to whole steps (pulse and verify) of the preset's
    /// program.
    pub progress: f64,
    /// Program of a word line without its transfers, in nanoseconds.
    pub program: f64,
    /// Measured sequential write rate of a preset's drive over the rate that the data sheet states.
    pub sequential: f64,
    /// Transfer of a page, in nanoseconds.
    pub transfer: f64,
    /// Latency that each request has outside the flash and its queues (`host.latency`: doorbell,
    /// fetch, interrupt, host path), in nanoseconds.
    pub latency: f64,
    /// Number of program commands in a parity stripe, that of the parity included.
    pub parity: f64,
    /// Planes of a die.
    pub planes: f64,
    /// Spare capacity as a share of raw capacity without parity.
    pub spare: f64,
    /// Most frequent value of `queue.admission` (how reads pass writes in the front end) among the
    /// presets; among equally frequent values, that of the earliest preset.
    pub admission: String,
    /// Median, over the presets, of the number of writes that are served between two turns of
    /// waiting reads (`queue.reads_behind`); `None` if their most frequent `queue.admission` is not
    /// `shared`, in which reads and writes share one line.
    pub reads_behind: Option<f64>,
}

/// Returns the medians of timings, sizes and rates over the fitted presets of data-center drives,
/// without those fitted to the drive model `leave_out`.
pub(super) fn of_presets(leave_out: Option<&str>) -> Result<Medians, Diagnostics> {
    let mut all: Vec<Value> = Vec::new();
    let mut sequential = Vec::new();
    for name in PRESETS {
        let source = presets::open(Folder::Devices, name)?;
        let preset: Value = toml::from_str(&source.text)
            .map_err(|why| Diagnostic::new(name, why.message().to_string()))?;
        let model = preset.pointer("/calibrate/model").and_then(Value::as_str);
        if leave_out.is_none() || model != leave_out {
            all.push(preset);
            let rates = SEQUENTIAL.iter().filter(|(of, ..)| *of == name);
            sequential.extend(rates.map(|(_, measured, stated)| measured / stated));
        }
    }
    let missing = |key: &str| Diagnostic::of(format!("no fitted preset has `{key}`"));
    let median = |key: &str| -> Result<f64, Diagnostics> {
        median(all.iter().filter_map(|it| number(it.pointer(key)?)).collect())
            .ok_or_else(|| missing(key).into())
    };
    let programs: Option<Vec<Program>> = all.iter().map(Program::of).collect();
    let programs = programs.ok_or_else(|| missing("timing.program_phase"))?;
    let of_programs = |of: fn(&Program) -> f64| self::median(programs.iter().map(of).collect());
    let (Some(progress), Some(program)) =
        (of_programs(|it| it.progress), of_programs(|it| it.time))
    else {
        return Err(missing("timing.program_phase").into());
    };
    let read = |page: usize| median(&format!("/timing/read/{page}"));
    let spare = all.iter().filter_map(|it| {
        let parity = number(it.pointer("/superblocks/parity")?)?;
        Some(
            1.0 - (1.0 - number(it.pointer("/geometry/over_provisioning")?)?)
                / (1.0 - 1.0 / parity),
        )
    });
    let rules: Vec<&str> =
        all.iter().filter_map(|it| it.pointer("/queue/admission")?.as_str()).collect();
    let count = |rule: &str| rules.iter().filter(|it| **it == rule).count();
    // The last of equal ones is the greatest: from the back, that is the first.
    let admission = rules.iter().rev().max_by_key(|rule| count(rule));
    let admission = admission.ok_or_else(|| missing("queue.admission"))?;
    Ok(Medians {
        presets: all.len(),
        read: vec![read(0)?, read(1)?, read(2)?],
        delay: median("/policy/suspension/delay")?,
        progress,
        program,
        sequential: self::median(sequential).ok_or_else(|| missing("calibrate"))?,
        transfer: median("/timing/bus_transfer")?,
        latency: median("/host/latency")?,
        parity: median("/superblocks/parity")?,
        planes: median("/geometry/planes_per_die")?,
        spare: self::median(spare.collect()).ok_or_else(|| missing("over_provisioning"))?,
        admission: (*admission).to_string(),
        reads_behind: median("/queue/reads_behind").ok().filter(|_| *admission == "shared"),
    })
}

/// Program operation of a preset's flash: times in nanoseconds.
struct Program {
    time: f64,
    progress: f64,
}

impl Program {
    fn of(preset: &Value) -> Option<Program> {
        let at = |key: &str| number(preset.pointer(key)?);
        let step = at("/timing/program_phase")? + at("/timing/verify_phase")?;
        let progress = (at("/policy/suspension/min_progress")? / step).ceil().max(1.0) * step;
        Some(Program { time: step * at("/timing/program_iterations")?, progress })
    }
}

/// Returns the number in a value of a preset; a text with a unit of time becomes nanoseconds.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.parse::<Span>().ok().map(|span| span.0 as f64),
        other => other.as_f64(),
    }
}

/// Returns the median; the mean of the two in the middle if there are as many above as below.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}
