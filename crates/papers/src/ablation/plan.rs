//! The runs of an ablation, and the metrics read from each.

use super::effects::Scale;
use crate::column::{Column, Published};
use crate::repetition::Repetition;
use crate::run_folder::{Results, RunFolder};
use crate::run_summary::{READ, RunSummary, WRITE};
use crate::runs::Runs;
use crate::studies::ImageCache;
use fowler_experiment::device_spec::{self, DeviceSpec};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::sweep::StudyPoint;
use serde::Deserialize;

/// A factor: a system that a drive has or does not have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Factor {
    /// The name in tables and legends.
    pub name: String,
    pub scheme: String,
    /// Further settings of drives without the factor.
    #[serde(default)]
    without: Vec<String>,
}

/// A point in the life of the drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Age {
    pub name: String,
    /// P/E cycles of the mean block.
    pub cycles: u32,
    set: Vec<String>,
}

/// The file that defines the study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    pub title: String,
    device: String,
    pub requests: u64,
    set: Vec<String>,
    pub factor: Vec<Factor>,
    pub age: Vec<Age>,
    pub workload: Vec<Published>,
}

/// A metric read from a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    Read,
    Read999,
    Write,
    Write999,
    Waf,
    Wear,
    Life,
    Failed,
    Bare,
}

impl Metric {
    pub const ALL: [Metric; 9] = [
        Metric::Read,
        Metric::Read999,
        Metric::Write,
        Metric::Write999,
        Metric::Waf,
        Metric::Wear,
        Metric::Life,
        Metric::Failed,
        Metric::Bare,
    ];

    /// Returns the name of the metric for tables, with its unit.
    pub fn name(self) -> &'static str {
        [
            "reads, mean (us)",
            "reads, p99.9 (us)",
            "writes, mean (us)",
            "writes, p99.9 (us)",
            "write amplification",
            "wear per host byte",
            "projected life (years)",
            "page reads beyond correction",
            "stripes without parity",
        ][self as usize]
    }

    /// Writes absorbed by a buffer take no time at all, and shares may be zero, so both are
    /// compared by difference.
    pub fn scale(self) -> Scale {
        match self {
            Metric::Write | Metric::Write999 | Metric::Failed | Metric::Bare => Scale::Difference,
            _ => Scale::Ratio,
        }
    }

    /// True if the metric is a share, shown in percent.
    pub fn is_share(self) -> bool {
        matches!(self, Metric::Failed | Metric::Bare)
    }
}

/// The measurements of the study.
pub(super) struct Evidence {
    pub plan: Plan,
    pub columns: Vec<Column>,
    /// The runs of each seed; the first are the study's own.
    pub seeds: Vec<Runs>,
    /// The number of host pages from which on write costs are reported, the bytes of all pages of
    /// the drive, and the P/E cycles that its cells endure.
    enough: f64,
    raw: f64,
    lives: f64,
}

/// Write costs are reported only for workloads that fill every open block this many times. Each
/// kind of data that a scheme distinguishes opens its own blocks once, and GC compensates for
/// those; in short traces they dominate what is written. Assumed: at four times they are a few
/// percent.
const OPEN_BLOCKS_FILLED: f64 = 4.0;

pub(super) fn run_name(column: &str, age: &str, subset: usize) -> String {
    format!("{column} {age} {subset:05b}")
}

impl Plan {
    /// Returns the scheme of a subset, a bit for each factor; `None` for the empty one.
    pub fn scheme(&self, subset: usize) -> Option<String> {
        let names: Vec<&str> = self.chosen(subset).map(|it| it.scheme.as_str()).collect();
        (!names.is_empty()).then(|| names.join("+"))
    }

    fn chosen(&self, subset: usize) -> impl Iterator<Item = &Factor> {
        let has = move |(bit, _): &(usize, &Factor)| subset & (1 << bit) != 0;
        self.factor.iter().enumerate().filter(has).map(|(_, factor)| factor)
    }

    pub fn subsets(&self) -> usize {
        1 << self.factor.len()
    }

    fn device(&self, age: &Age, subset: usize) -> DeviceSpec {
        let others = self.chosen(!subset).flat_map(|factor| &factor.without);
        let set = self.set.iter().chain(&age.set).chain(others).cloned().collect();
        DeviceSpec { device: self.device.clone(), set, ..DeviceSpec::default() }
    }

    /// The points at an age: every subset under every workload.
    fn points(&self, columns: &[Column], age: &Age, limit: Option<u64>) -> Vec<StudyPoint> {
        let limit = Some(limit.map_or(self.requests, |limit| limit.min(self.requests)));
        let point = |column: &Column, subset| {
            let device = self.device(age, subset);
            let run = RunSpec::new(device, column.spec.clone(), ReplaySpeed::AsRecorded);
            let name = run_name(&column.name, &age.name, subset);
            StudyPoint { name, run: RunSpec { scheme: self.scheme(subset), limit, ..run } }
        };
        let of = |column| (0..self.subsets()).map(move |subset| point(column, subset));
        columns.iter().flat_map(of).collect()
    }
}

impl Evidence {
    /// Runs everything, or loads it from an earlier call. Returns `None` if it was stopped.
    pub fn gather(
        plan: Plan,
        columns: Vec<Column>,
        (limit, seeds): (Option<u64>, u32),
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Diagnostics> {
        let mut results: Vec<Results<RunSummary>> = Vec::new();
        for seed in seeds_of(seeds) {
            let runs = runs.repeated(seed)?;
            let mut all = Results::new();
            for age in &plan.age {
                // The drives of one age share preconditioned images; those of the next do not.
                let images = ImageCache::default();
                let points = plan.points(&columns, age, limit);
                let Some(done) = runs.simulate(points, &images)? else { return Ok(None) };
                all.extend(done);
            }
            results.push(all);
        }
        let Some(age) = plan.age.first() else { return Ok(None) };
        let spec = plan.device(age, 0);
        let config = device_spec::resolve(&spec.source()?, &Scheme::none(), &spec)?.config;
        let open_blocks = config.geometry.planes() * config.geometry.pages_per_block;
        let enough = OPEN_BLOCKS_FILLED * f64::from(open_blocks);
        let raw = config.geometry.pages() as f64 * config.geometry.page_size.0 as f64;
        let lives = config.reliability.cells.end_cycles;
        let seeds = results.into_iter().map(|all| Runs::new(columns.clone(), all)).collect();
        Ok(Some(Evidence { seeds, columns, plan, enough, raw, lives }))
    }

    /// Returns a metric of a subset's run.
    pub fn number(
        &self,
        runs: &Runs,
        (column, age): (&str, &Age),
        subset: usize,
        metric: Metric,
    ) -> Option<f64> {
        let run = runs.summary(&run_name(column, &age.name, subset))?;
        let enough = run.get("counters.programs.host")? >= self.enough;
        let waf = || run.get("flash_bytes_per_host_byte").filter(|_| enough);
        let wear = || Some(waf()? * run.get("wearing_weight")?);
        match metric {
            Metric::Read => READ(run),
            Metric::Read999 => run.get("read.p999_us"),
            Metric::Write => WRITE(run),
            Metric::Write999 => run.get("write.p999_us"),
            Metric::Waf => waf(),
            Metric::Wear => wear(),
            Metric::Life => {
                let rate = run.get("write.bytes")? * wear()? / run.get("simulated_s")?;
                let left = (self.lives - f64::from(age.cycles)) * self.raw;
                Some(left / rate / (365.0 * 86_400.0)).filter(|it| it.is_finite())
            }
            Metric::Failed => {
                let failed = run.get("counters.uncorrectable_reads")?;
                Some(failed / run.get("counters.pages_read")?).filter(|share| share.is_finite())
            }
            Metric::Bare => Some(1.0 - covered(run)),
        }
    }

    /// Returns a metric of all subsets, in the order of their bits.
    pub fn all(&self, runs: &Runs, column: &str, age: &Age, metric: Metric) -> Vec<Option<f64>> {
        let number = |subset| self.number(runs, (column, age), subset, metric);
        (0..self.plan.subsets()).map(number).collect()
    }
}

/// Returns the study itself and its repetitions: as many seeds in all as are asked for.
fn seeds_of(count: u32) -> impl Iterator<Item = Repetition> {
    let others = (1..count).map(|number| Repetition::Seed(100 + u64::from(number)));
    std::iter::once(Repetition::Original).chain(others)
}

/// Returns the share of stripes with parity, given the drive's stage of life.
fn covered(run: &RunSummary) -> f64 {
    let of_stripes = |name: &str| run.get(&format!("redundancy.{name}"));
    match of_stripes("stage") {
        Some(3.0) => 1.0,
        Some(2.0) => {
            let worn = of_stripes("worn_stripes").zip(of_stripes("stripes"));
            worn.map_or(0.0, |(worn, all)| worn / all)
        }
        _ => 0.0,
    }
}
