//! The objective of a fit: simulates the measured rows on a drive with given parameter values, and
//! returns the distances from the measured numbers.
//!
//! 1. The values become settings of the drive. A drive that cannot work has no simulated numbers,
//!    which counts as the largest distance.
//! 2. The rows are simulated on that drive, each by the protocol of its file.
//! 3. Each number to fit becomes a [`Term`]: measured value, simulated value, and the relative
//!    deviation expected of a good model.
//!
//! The numbers of a row to fit are those asked for, or those that tell most about the drive under
//! the protocol of the file.

use super::calibrate_table::{CalibrateTable, with};
use super::search::Residuals;
use super::spec::FitSpec;
use super::term::Term;
use crate::measurements::{Kind, Pick};
use crate::protocol::{Bench, Effort, Rows};
use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::image_cache::ImageCache;
use fowler_experiment::numbers::counted;
use fowler_experiment::progress::Control;

/// The objective of a fit: it maps the parameters' positions between their bounds (0 to 1) to the
/// residuals of the measured rows.
pub(super) struct Objective<'a> {
    drive: &'a Resolved,
    declared: &'a CalibrateTable,
    rows: &'a Rows<'a>,
    metrics: &'a [String],
    effort: Effort,
    images: &'a ImageCache,
}

impl<'a> Objective<'a> {
    /// Plans the simulation of the measured rows and chooses the numbers of the rows, such as
    /// percentiles, to which the drive is fitted.
    ///
    /// # Errors
    /// If no number of the rows can be fitted.
    pub fn new(
        drive: &'a Resolved,
        declared: &'a CalibrateTable,
        rows: &'a Rows<'a>,
        spec: &'a FitSpec,
        images: &'a ImageCache,
    ) -> Result<Objective<'a>, Diagnostics> {
        let objective = Objective {
            drive,
            declared,
            rows,
            metrics: &spec.metrics,
            effort: spec.effort,
            images,
        };
        let mut wrong = Diagnostics::default();
        for metric in &spec.metrics {
            if !rows.picks().any(|pick| measured(&pick, metric).is_some()) {
                let metric = fowler_experiment::diagnostic::printable(metric);
                let what = format!("no measured row has the number `{metric}`");
                wrong.push(Diagnostic::new("--metric", what));
            }
        }
        let count: usize = rows.picks().map(|pick| objective.wanted(&pick).len()).sum();
        if count == 0 {
            let mut what = Diagnostic::new("--rows", "the measured rows have no number to fit");
            if let Some((pick, why)) = rows.refused.first() {
                what = what.hint(format!("{}: {why}", pick.place()));
            }
            wrong.push(what);
        } else if count < declared.parameters.len() + declared.choices.len() {
            let parameters = counted(declared.parameters.len() as u64, "parameter");
            let choices = match declared.choices.len() {
                0 => String::new(),
                choices => format!(" and {}", counted(choices as u64, "choice")),
            };
            let what = format!("{count} numbers for {parameters}{choices}");
            let hint = "choose more rows, or declare fewer parameters".to_string();
            wrong.push(Diagnostic::new("--rows", what).hint(hint));
        }
        wrong.or(objective)
    }

    /// Returns the numbers of a measured row that are fitted: the key and the measured value.
    fn wanted(&self, pick: &Pick<'_>) -> Vec<(String, f64)> {
        let mut names: Vec<&str> = match self.metrics {
            [] => telling(pick),
            some => some.iter().map(String::as_str).collect(),
        };
        // How requests queue shows in the reads and writes of a drive that is saturated: the writes
        // that a read waits behind in its median, turns between queues in the writes of the probe
        // and of the threads that load the drive.
        if self.metrics.is_empty() && is_saturated(pick) {
            if ["queue.reads_behind", "queue.admission"].iter().any(|it| self.declared.decides(it))
            {
                names.push("read_us.p50");
            }
            if self.declared.decides("queue.arbitration") {
                names.extend(["write_us.p50", "load_thread_write_us.p50"]);
            }
        }
        let value = |name: &str| measured(pick, name).filter(|value| *value > 0.0);
        names.into_iter().filter_map(|name| Some((name.to_string(), value(name)?))).collect()
    }
}

impl Residuals for Objective<'_> {
    fn at(
        &self,
        positions: &[f64],
        control: Control<'_>,
    ) -> Result<Option<Vec<Term>>, Diagnostics> {
        let parameters = self.declared.parameters.iter().zip(positions);
        let set = parameters.map(|(parameter, &at)| parameter.setting(at)).collect();
        // Two values that work alone may not work together: such a drive fits nothing.
        let drive = with(self.drive, set).ok();
        let bench = drive.map(|drive| Bench::new(&drive, self.effort, self.images));
        let results = match &bench {
            Some(bench) => self.rows.run(bench, control),
            None => Vec::new(),
        };
        if control.stopped() {
            return Ok(None);
        }
        let mut terms = Vec::new();
        for pick in self.rows.picks() {
            let done = bench.as_ref().and_then(|_| {
                self.rows.done(&results).find(|done| std::ptr::eq(done.pick.row, pick.row))
            });
            let simulated = done.and_then(|done| done.simulated.ok()).unwrap_or_default();
            for (metric, measured) in self.wanted(&pick) {
                let matching = simulated.iter().find(|it| it.metric == metric);
                terms.push(Term {
                    place: pick.place(),
                    identity: pick.identity(),
                    expected: expected(&metric),
                    metric,
                    measured,
                    simulated: matching.map(|it| it.estimate),
                });
            }
        }
        Ok(Some(terms))
    }
}

/// Returns the measured value of a metric: from the picked measured row or, if it has none, from
/// what the file of measurements states for the whole drive.
pub(crate) fn measured(pick: &Pick<'_>, metric: &str) -> Option<f64> {
    pick.row.number(metric).or_else(|| pick.drive.number(metric))
}

fn is_saturated(pick: &Pick<'_>) -> bool {
    pick.file.kind == Kind::LatencyUnderLoad
        && pick.row.text("saturated").as_deref() == Some("true")
}

/// Returns the keys of the numbers in a measured row, such as `read_us.p99`, to which a drive is
/// fitted if the user chooses none; they depend on the kind of measurement and on saturation.
fn telling(pick: &Pick<'_>) -> Vec<&'static str> {
    match pick.file.kind {
        Kind::LatencyUnderLoad if is_saturated(pick) => vec!["achieved_write_iops"],
        Kind::LatencyUnderLoad => {
            vec!["read_us.p50", "read_us.p90", "read_us.p99", "read_us.p99.9", "write_us.p50"]
        }
        Kind::WritePatterns => vec!["steady_mb_s", "sequential_mb_s", "counted_waf"],
        Kind::InitialState => vec!["steady_mb_s", "counted_waf"],
        Kind::OverProvisioning => vec!["steady_mb_s", "counted_waf", "fill_mb_s"],
        Kind::Interference => vec!["read.iops", "read.p50_us", "read.p99_us", "read.p99.9_us"],
        Kind::ReadsByDepth | Kind::DepthGrid => vec!["iops", "p50_us", "p99_us"],
        Kind::PeakByThreads => vec!["iops"],
        Kind::ClientPeaks => vec![
            "measured.rbps_mb_s",
            "measured.rrandiops",
            "measured.wbps_mb_s",
            "measured.wrandiops",
        ],
        Kind::ReplayedTrace => Vec::new(),
    }
}

/// Returns the relative deviation from the measured value that is expected of a good model: a few
/// per cent for rates and medians, more for tail latencies. Numbers are weighed by it.
fn expected(metric: &str) -> f64 {
    match metric {
        _ if metric.contains("p99.9") => 0.15,
        _ if metric.contains("p90") || metric.contains("p99") => 0.1,
        _ if metric.contains("_us") => 0.05,
        _ => 0.03,
    }
}
