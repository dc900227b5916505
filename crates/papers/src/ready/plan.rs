//! The simulated lives that the paper's tables and figures need, and access to their results.

use super::paper::{Paper, Trace};
use crate::Request;
use crate::run_folder::{Job, Results, RunFolder};
use fowler_experiment::device::{self, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::lifetime::{self, Ended, LifetimeSpec, live};
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::progress::Progress;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::studies;
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_units::Span;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

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

/// All measurements, and the published numbers.
pub(crate) struct Evidence {
    pub(super) paper: Paper,
    demands: Results<Demand>,
    lives: Results<Lives>,
}

/// The write demand of a stand-in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Demand {
    /// Pages that it writes in each minute.
    minutes: Vec<u64>,
}

/// A drive that has lived, at one dilation or at two.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Lives {
    lives: Vec<Life>,
    /// By what share numbers differ at twice the dilation; none if that was not lived.
    change: Option<Change>,
}

/// A life, dilated.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Life {
    pub dilation: f64,
    pub effective_lifetime_years: Option<f64>,
    pub c_ssd_tb: Option<f64>,
    pub c_ssd_recovered_tb: Option<f64>,
    pub w_work_tb: Option<f64>,
    pub waf: Option<f64>,
    pub response_mean_us: Option<f64>,
    pub response_deviation_us: Option<f64>,
    pub response_p99_us: Option<f64>,
    pub response_p9999_us: Option<f64>,
    pub response_max_us: Option<f64>,
    pub stops_per_million: Option<f64>,
    /// The share of epochs whose demand came as predicted, and how long the last one was.
    pub accuracy: Option<f64>,
    pub epoch_s: Option<f64>,
    /// Responses in microseconds, each with the share of page writes that took no longer.
    pub response_cdf_us: Vec<(f64, f64)>,
    pub series: Series,
    /// Second by second; none if it was not asked for, or the moment did not come.
    pub close_up: Option<Series>,
}

/// A life by parts of it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Series {
    pub years: Vec<f64>,
    pub flash_mb_s: Vec<f64>,
    pub delay_us: Vec<f64>,
}

/// Shares by which numbers differ at twice the dilation.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Change {
    pub effective_lifetime_years: Option<f64>,
    pub w_work_tb: Option<f64>,
    pub response_mean_us: Option<f64>,
}

fn demand_name(trace: &str) -> String {
    format!("{trace} demand")
}

fn life_name(trace: &str, scheme: &str) -> String {
    format!("{trace} {scheme}")
}

/// The life of exchange with epochs of ten minutes (Figure 13).
pub(super) const FIXED: &str = "ready_opt, fixed epochs";

impl Evidence {
    /// Everything, or nothing if it was stopped. With a limit a repetition has no more
    /// requests than that, and little is left of each life: a look, not a reproduction.
    pub(super) fn of(
        paper: Paper,
        request: &Request,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Diagnostics> {
        let (mut demands, mut lives) = (Vec::new(), Vec::new());
        let close_up = Some((Span::ZERO, Span::ms(paper.close_up * 1000)));
        for trace in &paper.trace {
            demands.push(demand(trace, request.limit)?);
            for (scheme, _) in SCHEMES {
                let name = life_name(&trace.name, scheme);
                let close_up = close_up.filter(|_| trace.name == "map");
                lives.push(Plan { trace, scheme, set: &[], close_up, request }.life(&name)?);
            }
            if trace.name == "exchange" {
                let set = &["policy.throttle.epoch=fixed".to_string()];
                let name = life_name(&trace.name, FIXED);
                let scheme = "ready_opt";
                lives.push(Plan { trace, scheme, set, close_up: None, request }.life(&name)?);
            }
        }
        let Some(demands) = runs.results(demands)? else { return Ok(None) };
        let Some(lives) = runs.results(lives)? else { return Ok(None) };
        Ok(Some(Evidence { paper, demands, lives }))
    }

    /// Evidence without measurements.
    #[cfg(test)]
    pub fn none() -> Evidence {
        let paper = Paper::open().unwrap();
        Evidence { paper, demands: Results::new(), lives: Results::new() }
    }

    /// A life at the least dilation.
    pub(super) fn life(&self, trace: &str, scheme: &str) -> Option<&Life> {
        self.lives.get(&life_name(trace, scheme))?.lives.first()
    }

    /// Returns a number of a life.
    pub(super) fn number(
        &self,
        trace: &str,
        scheme: &str,
        of: impl Fn(&Life) -> Option<f64>,
    ) -> Option<f64> {
        of(self.life(trace, scheme)?)
    }

    /// By what shares numbers differ at twice the dilation.
    pub(super) fn change(&self, trace: &str, scheme: &str) -> Option<&Change> {
        self.lives.get(&life_name(trace, scheme))?.change.as_ref()
    }

    /// Pages that a stand-in writes in each minute.
    pub fn minutes(&self, trace: &str) -> Option<Vec<f64>> {
        let demand = self.demands.get(&demand_name(trace))?;
        Some(demand.minutes.iter().map(|&pages| pages as f64).collect())
    }

    /// The differences of the demand of neighbouring epochs of so many minutes, as shares of the
    /// first (equation 6).
    pub fn differences(&self, trace: &str, minutes: usize) -> Option<Vec<f64>> {
        let all = self.minutes(trace)?;
        let epochs: Vec<f64> = all.chunks_exact(minutes).map(|it| it.iter().sum()).collect();
        let pairs = epochs.windows(2).filter(|pair| pair[0] > 0.0);
        Some(pairs.map(|pair| (pair[1] - pair[0]).abs() / pair[0]).collect())
    }
}

fn workload(trace: &Trace) -> Result<WorkloadSpec, Diagnostics> {
    presets::open(Folder::Workloads, &trace.stand_in).map(WorkloadSpec::Generated)
}

fn drive(
    trace: &Trace,
    scheme: &str,
    set: &[String],
) -> Result<(DeviceSpec, Resolved), Diagnostics> {
    let spec =
        DeviceSpec { device: trace.device.clone(), set: set.to_vec(), ..DeviceSpec::default() };
    let resolved = device::resolve(&spec.source()?, &Scheme::load(scheme)?, &spec)?;
    Ok((spec, resolved))
}

/// A life to simulate.
struct Plan<'p> {
    trace: &'p Trace,
    scheme: &'p str,
    set: &'p [String],
    close_up: Option<(Span, Span)>,
    request: &'p Request,
}

impl Plan<'_> {
    fn life<'a>(&self, name: &str) -> Result<Job<'a, Lives>, Diagnostics> {
        let &Plan { trace, scheme, set, close_up, request } = self;
        let &Request { limit, brief, .. } = request;
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
        Ok(Job::of_json(name, &inputs, move |control| {
            // Progress is that of the lives, not that of the passes over their workload.
            let lived = Mutex::new(0.0);
            let share = |share: f64| {
                let mut lived = lived.lock().unwrap_or_else(PoisonError::into_inner);
                let of_a_part = (share - *lived).max(0.0);
                *lived += of_a_part;
                (control.progress)(Progress::Served { requests: 0, of_a_part });
            };
            let quiet = Control { progress: &|_| (), ..control };
            let watch = lifetime::Watch { control: quiet, share: &share, warn: &|_| () };
            Ok(match live(&spec, watch)? {
                Ended::Lived(lived) => Some(lived.json()),
                Ended::Stopped { .. } => None,
            })
        }))
    }
}

/// The dilation of a look: a life of so many seconds is left of each, which is a dozen epochs.
fn look(drive: &Resolved) -> u32 {
    const LEFT_S: f64 = 7200.0;
    (drive.config.life.target.as_s() / LEFT_S).ceil() as u32
}

/// Returns the write demand of a stand-in, minute by minute.
fn demand<'a>(trace: &Trace, limit: Option<u64>) -> Result<Job<'a, Demand>, Diagnostics> {
    let (_, resolved) = drive(trace, "nt", &[])?;
    let spec = workload(trace)?;
    let inputs = format!("demand {limit:?} {} {}", resolved.layout.logical.0, spec.identity()?);
    Ok(Job::new(demand_name(&trace.name), &inputs, move |control| {
        counted(&resolved, (&spec, limit), control)
    }))
}

fn counted(
    drive: &Resolved,
    (spec, limit): (&WorkloadSpec, Option<u64>),
    control: Control<'_>,
) -> Result<Option<Demand>, Diagnostics> {
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
    Ok((!control.stopped()).then_some(Demand { minutes }))
}
