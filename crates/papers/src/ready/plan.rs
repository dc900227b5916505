//! Which lives the paper's tables and figures need, and where their results are found.

use super::paper::{Paper, Trace};
use crate::run_folder::{Job, Results, RunFolder};
use fowler_experiment::device::{self, DeviceSpec, Resolved};
use fowler_experiment::lifetime::{self, Ended, LifetimeSpec, live};
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::problem::Problems;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::studies;
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_units::Span;
use serde_json::{Value, json};

/// The schemes, with the paper's names for them.
pub(super) const SCHEMES: [(&str, &str); 5] = [
    ("nt", "NT"),
    ("st", "ST"),
    ("dt", "DT"),
    ("ready_pes", "READY_PES"),
    ("ready_opt", "READY_OPT"),
];

/// Seconds of a window in which demand is counted for Figure 4.
const WINDOW_S: u64 = 60;

/// What was measured.
pub(super) struct Evidence {
    results: Results,
}

fn life_name(trace: &str, scheme: &str) -> String {
    format!("{trace} {scheme}")
}

/// The life of exchange with epochs of ten minutes (Figure 13).
pub(super) const FIXED: &str = "ready_opt, fixed epochs";

impl Evidence {
    /// Everything, or nothing if it was stopped. With a limit a repetition has no more
    /// requests than that, and little is left of each life: a look, not a reproduction.
    pub fn gather(
        paper: &Paper,
        (limit, brief): (Option<u64>, bool),
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Problems> {
        let mut jobs = Vec::new();
        let close_up = Some((Span::ZERO, Span::ms(paper.close_up * 1000)));
        for trace in &paper.trace {
            jobs.push(demand(trace, limit)?);
            for (scheme, _) in SCHEMES {
                let name = life_name(&trace.name, scheme);
                let close_up = close_up.filter(|_| trace.name == "map");
                jobs.push(life(trace, (&name, scheme), &[], close_up, (limit, brief))?);
            }
            if trace.name == "exchange" {
                let set = ["policy.throttle.epoch=fixed".to_string()];
                let name = life_name(&trace.name, FIXED);
                jobs.push(life(trace, (&name, "ready_opt"), &set, None, (limit, brief))?);
            }
        }
        Ok(runs.results(jobs)?.map(|results| Evidence { results }))
    }

    /// Nothing was measured.
    #[cfg(test)]
    pub fn none() -> Evidence {
        Evidence { results: Results::new() }
    }

    /// A number of a life, by its key.
    pub fn life(&self, trace: &str, scheme: &str, key: &str) -> Option<f64> {
        self.value(trace, scheme)?.get(key)?.as_f64()
    }

    /// The life at the least dilation.
    pub fn value(&self, trace: &str, scheme: &str) -> Option<&Value> {
        self.results.get(&life_name(trace, scheme))?.pointer("/lives/0")
    }

    /// By what share a number differs at twice the dilation.
    pub fn change(&self, trace: &str, scheme: &str, key: &str) -> Option<f64> {
        self.results.get(&life_name(trace, scheme))?.get("change")?.get(key)?.as_f64()
    }

    /// A column of a life's series.
    pub fn series(&self, trace: &str, scheme: &str, which: &str, column: &str) -> Option<Vec<f64>> {
        let column = self.value(trace, scheme)?.get(which)?.get(column)?.as_array()?;
        column.iter().map(Value::as_f64).collect()
    }

    /// Pages that a stand-in writes in each minute.
    pub fn minutes(&self, trace: &str) -> Option<Vec<f64>> {
        let minutes = self.results.get(&format!("{trace} demand"))?.get("minutes")?.as_array()?;
        minutes.iter().map(Value::as_f64).collect()
    }

    /// The differences of the demand of neighbouring epochs of so many minutes, as shares of the first (equation 6).
    pub fn differences(&self, trace: &str, minutes: usize) -> Option<Vec<f64>> {
        let all = self.minutes(trace)?;
        let epochs: Vec<f64> = all.chunks_exact(minutes).map(|it| it.iter().sum()).collect();
        let pairs = epochs.windows(2).filter(|pair| pair[0] > 0.0);
        Some(pairs.map(|pair| (pair[1] - pair[0]).abs() / pair[0]).collect())
    }
}

fn workload(trace: &Trace) -> Result<WorkloadSpec, Problems> {
    presets::open(Folder::Workloads, &trace.stand_in).map(WorkloadSpec::Generated)
}

fn drive(trace: &Trace, scheme: &str, set: &[String]) -> Result<(DeviceSpec, Resolved), Problems> {
    let spec =
        DeviceSpec { device: trace.device.clone(), set: set.to_vec(), ..DeviceSpec::default() };
    let resolved = device::resolve(&spec.source()?, &Scheme::load(scheme)?, &spec)?;
    Ok((spec, resolved))
}

/// A life.
fn life<'a>(
    trace: &Trace,
    (name, scheme): (&str, &str),
    set: &[String],
    close_up: Option<(Span, Span)>,
    (limit, brief): (Option<u64>, bool),
) -> Result<Job<'a>, Problems> {
    let (device, resolved) = drive(trace, scheme, set)?;
    let workload = workload(trace)?;
    let inputs =
        format!("{} {} {limit:?} {brief} {close_up:?}", resolved.hash, workload.identity()?);
    let spec = LifetimeSpec {
        device,
        scheme: Some(scheme.into()),
        workload,
        limit,
        dilation: limit.map(|_| look(&resolved)),
        check: !brief && limit.is_none(),
        close_up,
        checkpoint: None,
        checkpoint_every: u64::MAX,
    };
    Ok(Job::new(name, &inputs, move |control| {
        let watch = lifetime::Watch { control, share: &|_| (), note: &|_| () };
        Ok(match live(&spec, watch)? {
            Ended::Lived(lived) => Some(lived.json()),
            Ended::Stopped { .. } => None,
        })
    }))
}

/// The dilation of a look: a life of so many seconds is left of each, which is a dozen epochs.
fn look(drive: &Resolved) -> u32 {
    const LEFT_S: f64 = 7200.0;
    (drive.config.life.target.as_s() / LEFT_S).ceil() as u32
}

/// What a stand-in asks for, minute by minute.
fn demand<'a>(trace: &Trace, limit: Option<u64>) -> Result<Job<'a>, Problems> {
    let (_, resolved) = drive(trace, "nt", &[])?;
    let spec = workload(trace)?;
    let inputs = format!("demand {limit:?} {} {}", resolved.layout.logical.0, spec.identity()?);
    Ok(Job::new(format!("{} demand", trace.name), &inputs, move |control| {
        counted(&resolved, (&spec, limit), control)
    }))
}

fn counted(
    drive: &Resolved,
    (spec, limit): (&WorkloadSpec, Option<u64>),
    control: Control<'_>,
) -> Result<Option<Value>, Problems> {
    let page = drive.config.geometry.page_size.0;
    let mut minutes: Vec<u64> = Vec::new();
    studies::requests(spec, drive, limit, control, |requests| {
        for io in requests {
            let minute = (io.at.0 / (WINDOW_S * 1_000_000_000)) as usize;
            if minutes.len() <= minute {
                minutes.resize(minute + 1, 0);
            }
            minutes[minute] += u64::from(io.size) / page;
        }
    })?;
    Ok((!control.stopped()).then(|| json!({ "minutes": minutes })))
}
