//! The measurements of one repetition of the READY study, and access to them. `jobs.rs` makes the
//! jobs that measure.

use super::jobs::{Plan, burst_name, diluted, life_name, real_name};
use super::paper::{Paper, Simulated};
use crate::Request;
use crate::claim::View;
use crate::column::Column;
use crate::repetition::Repetition;
use crate::run_folder::{Results, RunFolder};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_lifetime::Day;
use fowler_physics::recovery::Reading;
use fowler_units::Span;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schemes of the READY study: the preset, and the paper's name.
pub(super) const SCHEMES: [(&str, &str); 5] = [
    ("nt", "NT"),
    ("st", "ST"),
    ("dt", "DT"),
    ("ready_pes", "READY_PES"),
    ("ready_opt", "READY_OPT"),
];

/// Name of the life under the trace exchange with fixed epochs of ten minutes (Figure 13 of the
/// READY paper).
pub(super) const FIXED: &str = "ready_opt, fixed epochs";

/// Returns the name of the life of a READY scheme under another interpretation of the READY paper's
/// equation 2 (recovery of cells).
pub(super) fn read_as(scheme: &str, reading: &str) -> String {
    format!("{scheme}, {reading}")
}

/// Values of the configuration key `lifetime.recovery` for the interpretations of the READY paper's
/// equation 2 (recovery of cells at rest) that the presets do not use.
pub(super) const READINGS: [&str; 2] = ["refit", "literal"];

/// Scheme of the lives with the options of the READY study: throttles that the paper suggests, and
/// other temperatures.
pub(super) const OF_OPTIONS: &str = "ready_opt";

/// All measurements of one repetition of the READY study, and the published numbers.
pub(crate) struct Evidence {
    pub(super) paper: Paper,
    /// True if the claims of the READY paper are measured on simulated lives with twice the usual
    /// dilation (number of real repetitions of the workload per simulated one).
    twice: bool,
    /// Substitution of results while a claim of the READY paper is measured: in a control
    /// measurement without the paper's throttle, the claim is measured on lives under another
    /// scheme.
    pub(super) view: View,
    /// Write demand of each stand-in trace, by trace.
    demands: BTreeMap<String, Demand>,
    /// Write amplification of each stand-in trace, by trace.
    wafs: BTreeMap<String, f64>,
    /// Factor by which the READY study divides the arrival times of each stand-in trace, by name of
    /// the trace.
    speeds: BTreeMap<String, f64>,
    lives: BTreeMap<String, Lives>,
    simulated: Results<Lives>,
    duty: Results<Burst>,
    days: BTreeMap<String, Vec<Day>>,
    /// Real traces that the user has, of which the write demand is counted.
    pub(super) columns: Vec<Column>,
    /// Write demand of each real trace, by name of its column.
    real: Results<Demand>,
}

/// Write demand of a stand-in trace: pages written, minute by minute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Demand {
    /// Number of pages that a stand-in trace of the READY paper's workload writes in each minute,
    /// in order.
    pub minutes: Vec<u64>,
}

/// The capacity for writes that the static throttle (ST) loses under a host that writes in one part
/// of each cycle.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Burst {
    /// Share of a cycle (0 to 1) in which the host writes.
    pub share: f64,
    /// Share of the rated capacity (0 to 1) that is never written.
    pub lost: f64,
}

/// Lives of one drive under one scheme, at one dilation (repetitions that one simulated repetition
/// stands for) or two.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Lives {
    pub lives: Vec<Life>,
    /// Relative differences between the results of a life simulated at twice the dilation (real
    /// repetitions of the workload per simulated one) and of the life at the dilation itself;
    /// `None` if only one was simulated.
    pub change: Option<Change>,
}

/// The results of a dilated life, in which each simulated repetition of the workload stands for
/// several.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Life {
    pub dilation: f64,
    pub repetitions: Option<f64>,
    pub effective_lifetime_years: Option<f64>,
    pub c_ssd_tb: Option<f64>,
    pub c_ssd_recovered_tb: Option<f64>,
    pub w_work_tb: Option<f64>,
    pub waf: Option<f64>,
    pub response_mean_us: Option<f64>,
    pub response_deviation_us: Option<f64>,
    pub response_p99_us: Option<f64>,
    pub response_p9999_us: Option<f64>,
    pub stops_per_million: Option<f64>,
    /// Share of epochs (0 to 1) whose demand came as predicted; `None` if the scheme predicts none.
    pub accuracy: Option<f64>,
    /// Length of the life's last epoch in seconds; `None` without epochs.
    pub epoch_s: Option<f64>,
    pub pages_written: f64,
    /// Number of pages programmed, by the source of the program (host, GC and others).
    pub programs: BTreeMap<String, f64>,
    /// Cumulative distribution of page write responses: microseconds, and the share of writes that
    /// took no longer.
    pub response_cdf_us: Vec<(f64, f64)>,
    pub series: Series,
    /// Time series of flash throughput and throttling delay in steps of one second, for the READY
    /// paper's Figure 14; `None` if it was not requested or the life ended too early.
    pub close_up: Option<Series>,
}

/// Time series over a life of a drive: flash throughput and throttling delay by year.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Series {
    pub years: Vec<f64>,
    pub flash_mb_s: Vec<f64>,
    pub delay_us: Vec<f64>,
}

/// Relative differences of the READY study's results (lifetime, bytes written, response time)
/// between a life whose simulated repetitions stand for 2 K real ones each and a life with K.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Change {
    pub effective_lifetime_years: Option<f64>,
    pub w_work_tb: Option<f64>,
    pub response_mean_us: Option<f64>,
}

/// Length of five years, the target life in the READY paper, in seconds.
pub(super) const LIFE_S: f64 = 5.0 * 365.0 * 86_400.0;

/// Returns the terabytes that a drive of `gb` GB endures under an interpretation of the READY
/// paper's equation 2, if `written` TB are written in five years.
pub(super) fn writable(reading: Reading, gb: f64, written: f64) -> f64 {
    let idle = Span((LIFE_S / (written * 1024.0 / gb) * 1e9) as u64);
    reading.achievable(idle) * gb / 1024.0
}

impl Evidence {
    /// Measures everything for a repetition of the READY study; `None` if it was stopped. With a
    /// limit on requests only the last epochs of each life are simulated: a preview, not a
    /// reproduction.
    pub(super) fn of(
        paper: Paper,
        columns: Vec<Column>,
        request: &Request,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Diagnostics> {
        let repetition = runs.repetition();
        let plan = Plan {
            paper: &paper,
            limit: request.limit,
            seed: match repetition {
                Repetition::Seed(seed) => Some(seed),
                Repetition::Original | Repetition::Twice => None,
            },
            brief: request.brief && repetition.is_original(),
        };
        let Some(counted) = runs.results(plan.demands()?)? else { return Ok(None) };
        let Some(measured) = runs.results(plan.wafs()?)? else { return Ok(None) };
        let (demands, speeds) = plan.own_demands(&counted);
        let wafs = plan.by_trace(&measured, "waf");
        let Some(groups) = runs.results(plan.groups(&wafs, &speeds)?)? else { return Ok(None) };
        let lives: BTreeMap<String, Lives> = groups.into_values().flatten().collect();
        let (mut simulated, mut duty, mut days) = (Results::new(), Results::new(), BTreeMap::new());
        let mut real = Results::new();
        if repetition.is_original() && !request.brief {
            let Some(found) = runs.results(plan.duty(&wafs)?)? else { return Ok(None) };
            duty = found;
            let Some(found) = runs.results(plan.simulated()?)? else { return Ok(None) };
            simulated = found;
        }
        if repetition.is_original() {
            let Some(found) = runs.results(plan.real_demands(&columns)?)? else { return Ok(None) };
            real = found;
        }
        if !plan.brief {
            // Both lengths share them.
            let Some(found) = runs.results(plan.days(&demands, &wafs, &speeds)?)? else {
                return Ok(None);
            };
            days = plan.by_trace(&found, &plan.seeded("days"));
        }
        let twice = repetition == Repetition::Twice;
        let view = View::default();
        Ok(Some(Evidence {
            paper,
            twice,
            view,
            demands,
            wafs,
            speeds,
            lives,
            simulated,
            duty,
            days,
            columns,
            real,
        }))
    }

    /// Returns the published numbers of the READY paper with no measurement of the study, for
    /// tests.
    #[cfg(test)]
    pub fn none() -> Evidence {
        Evidence {
            paper: Paper::open().unwrap(),
            twice: false,
            view: View::default(),
            demands: BTreeMap::new(),
            wafs: BTreeMap::new(),
            speeds: BTreeMap::new(),
            lives: BTreeMap::new(),
            simulated: Results::new(),
            duty: Results::new(),
            days: BTreeMap::new(),
            columns: Vec::new(),
            real: Results::new(),
        }
    }

    /// Returns the life under a trace and a scheme. Its simulated repetitions stand for the
    /// smallest number of real ones, or for twice as many in the repetition of the study with
    /// longer runs.
    pub(super) fn life(&self, trace: &str, scheme: &str) -> Option<&Life> {
        let scheme = self.view.scheme(scheme);
        self.lives.get(&life_name(trace, &scheme))?.lives.get(usize::from(self.twice))
    }

    /// Returns a metric of the life under a trace and a scheme.
    pub(super) fn number(
        &self,
        trace: &str,
        scheme: &str,
        of: impl Fn(&Life) -> Option<f64>,
    ) -> Option<f64> {
        of(self.life(trace, scheme)?)
    }

    /// Returns the relative differences of the results under a trace and a scheme between two
    /// simulated lives of the READY study: one repetition stands for 2 K real ones in the first and
    /// for K in the second.
    pub(super) fn change(&self, trace: &str, scheme: &str) -> Option<&Change> {
        self.lives.get(&life_name(trace, scheme))?.change.as_ref()
    }

    /// Returns every life with the name of its trace and scheme. Several lives of the same name
    /// differ in the number of real repetitions that a simulated one stands for.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &Life)> {
        let each = self.lives.iter();
        each.flat_map(|(name, lives)| lives.lives.iter().map(move |life| (name.as_str(), life)))
    }

    /// Returns a life with a simulated translation layer, and the corresponding life at a steady
    /// write amplification.
    pub(super) fn simulated(&self, what: &Simulated) -> Option<[&Life; 2]> {
        let name = diluted(&what.scheme, what.dilation);
        let whole = self.simulated.get(&life_name(&what.trace, &name))?.lives.first()?;
        Some([whole, self.lives.get(&life_name(&what.trace, &name))?.lives.first()?])
    }

    /// Returns the capacity that the static throttle (ST) loses at the mean demand of a trace, for
    /// each share of time in which the host writes.
    pub(super) fn bursts(&self, trace: &str) -> Vec<Burst> {
        let of = |share: &f64| self.duty.get(&burst_name(trace, *share)).copied();
        self.paper.duty.shares.iter().filter_map(of).collect()
    }

    /// Returns the mean write demand of a trace divided by the rate that the static throttle (ST)
    /// admits on its drive.
    pub(super) fn demand(&self, trace: &str) -> Option<f64> {
        let nt = self.life(trace, "nt")?;
        Some(nt.w_work_tb? / nt.c_ssd_tb?)
    }

    /// Returns the single days simulated for a trace.
    pub(super) fn days(&self, trace: &str) -> &[Day] {
        self.days.get(trace).map_or(&[], Vec::as_slice)
    }

    /// Returns the write amplification of a stand-in trace, measured in steady state.
    pub(super) fn waf(&self, trace: &str) -> Option<f64> {
        self.wafs.get(trace).copied()
    }

    /// Returns the gigabytes that a trace writes per hour.
    pub(super) fn gb_per_hour(&self, trace: &str) -> Option<f64> {
        let minutes = self.minutes(trace)?;
        let speed = self.speeds.get(trace).copied().unwrap_or(1.0);
        let bytes = minutes.iter().sum::<f64>() * 4096.0 * speed;
        let hours = minutes.len() as f64 / 60.0;
        Some(bytes / (1u64 << 30) as f64 / hours)
    }

    /// Returns the pages that a stand-in trace, or the real trace of a column, writes in each
    /// minute, by minute.
    pub fn minutes(&self, trace: &str) -> Option<Vec<f64>> {
        let demand = self.demands.get(trace).or_else(|| self.real.get(&real_name(trace)))?;
        Some(demand.minutes.iter().map(|&pages| pages as f64).collect())
    }

    /// Returns the differences in written pages between neighbouring epochs of `minutes` minutes,
    /// as shares of the earlier epoch's pages (the READY paper's equation 6).
    pub fn differences(&self, trace: &str, minutes: usize) -> Option<Vec<f64>> {
        let all = self.minutes(trace)?;
        let epochs: Vec<f64> = all.chunks_exact(minutes).map(|it| it.iter().sum()).collect();
        let pairs = epochs.windows(2).filter(|pair| pair[0] > 0.0);
        Some(pairs.map(|pair| (pair[1] - pair[0]).abs() / pair[0]).collect())
    }
}
