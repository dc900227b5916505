//! The runs of an ablation study, and the metrics read from each run.
//!
//! The file of a study names drives, factors (the systems), ages and workloads. A run is one drive
//! at one age with a combination of the systems (factors) under one workload.

use super::combination::{Combination, Factor, Part};
use super::effects::Scale;
use super::price::Item;
use crate::column::{Column, Published};
use crate::paper_data;
use crate::repetition::Repetition;
use crate::run_folder::{Results, RunFolder};
use crate::run_summary::{READ, RunSummary, WRITE};
use crate::runs::Runs;
use crate::studies::ImageCache;
use fowler_device::Config;
use fowler_experiment::device_spec::{self, DeviceSpec};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::sweep::StudyPoint;
use serde::Deserialize;
use std::fmt::Write;

/// A drive of an ablation study; it is run with every subset of the studied systems (such as PES
/// suspension and the READY throttle).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Drive {
    /// Name of the drive in tables and pictures; also that of its preset, unless `preset` names
    /// another.
    pub name: String,
    /// Name of the preset that describes the drive, for one of several drives that differ only in
    /// their settings.
    preset: Option<String>,
    /// Warning, shown wherever the drive is named, that the drive was fitted to too few
    /// measurements of a real one; `None` for a well-measured drive. A drive with a warning enters
    /// no mean over drives.
    pub mark: Option<String>,
    /// Sentences for tables of the ablation study on a drive with a warning: its fit to
    /// measurements, and studied systems whose effect means less on it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Name of a drive of the study that differs from this one only in its shallower queue. A run
    /// in which no request waited for a place in that queue is a run of this drive as well, and is
    /// not repeated.
    deepens: Option<String>,
    #[serde(default)]
    set: Vec<String>,
    /// Settings of this drive in the quick form of the ablation study; they replace the settings
    /// that the study gives the drive in all its runs.
    #[serde(default)]
    brief: Vec<String>,
}

impl Drive {
    /// Returns the name of the preset that describes the drive.
    fn preset(&self) -> &str {
        self.preset.as_deref().unwrap_or(&self.name)
    }

    /// Returns the name of the drive in tables and pictures, followed by the warning, if there is
    /// one, that the drive was fitted to too few measurements.
    pub fn shown_name(&self) -> String {
        match &self.mark {
            Some(mark) => format!("{} ({mark})", self.name),
            None => self.name.clone(),
        }
    }
}

/// Factor by which the ablation study divides the times between a workload's requests. Workloads
/// without one are replayed as recorded.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Replay {
    /// Name, in tables, of the workload that the runs of the ablation study replay.
    workload: String,
    /// The factor by which the workload's arrival times are divided.
    speed: Option<f64>,
    /// Seconds of the host's life for which each simulated second stands. The target life of the
    /// drive is divided by this factor, and the projected life multiplied.
    stands_for: f64,
}

/// The quick form of an ablation study: few and short runs of small drives, which test the study
/// but measure nothing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Brief {
    requests: u64,
    drives: Vec<String>,
    workloads: Vec<String>,
    /// Settings of the drives in the quick form of an ablation study, applied after each drive's
    /// own settings.
    set: Vec<String>,
}

/// A point in the life of a drive at which an ablation study runs it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Age {
    pub name: String,
    /// Mean P/E cycles of the drive's blocks at an age that the ablation study sets.
    pub cycles: u32,
    /// Years that the drive must still last from an age that the ablation study sets; `None` for
    /// the target of the drive's configuration.
    rest_years: Option<f64>,
    set: Vec<String>,
}

/// The file that defines an ablation study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    pub title: String,
    pub requests: u64,
    /// True to make the table of signs: how often the mechanism of each system acts when it is
    /// alone on a drive.
    #[serde(default)]
    pub signs: bool,
    /// True if the drives of the ablation study are one drive under different settings, such as
    /// depths of its queue: no mean is taken over them.
    #[serde(default)]
    pub apart: bool,
    /// True to compare the prices of combinations of systems, and to choose among combinations. The
    /// prices are those of the first drive, so several drives must be `apart`.
    #[serde(default)]
    pub choices: bool,
    set: Vec<String>,
    pub drive: Vec<Drive>,
    pub factor: Vec<Factor>,
    pub age: Vec<Age>,
    pub workload: Vec<Published>,
    #[serde(default)]
    replay: Vec<Replay>,
    brief: Brief,
}

/// A metric that an ablation study reads from the summary of a run.
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

    /// Returns the scale on which the metric is compared. Writes absorbed by a buffer take no time,
    /// and shares may be zero: both are compared by difference, all others by ratio.
    pub fn scale(self) -> Scale {
        match self {
            Metric::Write | Metric::Write999 | Metric::Failed | Metric::Bare => Scale::Difference,
            _ => Scale::Ratio,
        }
    }

    /// True if this metric of the ablation study is a share, shown in percent: page reads beyond
    /// correction, or stripes without parity.
    pub fn is_share(self) -> bool {
        matches!(self, Metric::Failed | Metric::Bare)
    }
}

/// All measurements of an ablation study.
pub(super) struct Evidence {
    pub plan: Plan,
    pub columns: Vec<Column>,
    /// The runs of the ablation study under each seed of the drives and workloads; the first entry
    /// has the seed of the original study, the others those of its repetitions.
    pub seeds: Vec<Runs>,
    /// Size and endurance of each drive of the ablation study.
    sizes: Vec<Size>,
    /// The memory and capacity that each combination of systems takes; empty if the study compares
    /// no prices.
    pub prices: Vec<(Combination, Vec<Item>)>,
}

/// The size and the endurance of a drive.
struct Size {
    /// Number of pages (mapping units) that the host must have programmed before write costs are
    /// reported.
    enough: f64,
    /// Size of all pages of the drive in bytes, spare capacity included.
    raw: f64,
    /// P/E cycles that the drive's cells endure.
    lives: f64,
}

/// Place of a run in the ablation study: a drive by its index, the age of its data, and a workload
/// by its name.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub drive: usize,
    pub age: &'a Age,
    pub column: &'a str,
}

/// Write costs are reported only for workloads that fill every open block this many times. Each
/// kind of data that a scheme separates opens blocks of its own once, and GC makes up for them; in
/// short traces this start-up cost dominates the writes. Assumed: at a factor of four it is a few
/// percent.
const OPEN_BLOCKS_FILLED: f64 = 4.0;
/// Seconds in a year.
const YEAR_S: f64 = 365.0 * 86_400.0;

impl Plan {
    /// Reads the file of an ablation study: `name` identifies the file in errors, `text` is its
    /// TOML.
    ///
    /// # Errors
    /// If the text is no such file, or the study has choices and several drives that are not apart.
    pub fn open(name: &str, text: &str) -> Result<Plan, Diagnostics> {
        let plan: Plan = paper_data::open(name, text)?;
        if plan.choices && !plan.apart && plan.drive.len() > 1 {
            let what =
                "`choices` on several drives that are not one drive under different settings";
            let refused = Diagnostic::new(format!("presets/{name}.toml"), what)
                .expected("`apart = true`, or a single drive")
                .hint(
                    "prices are those of the first drive, so the others must be the same hardware"
                        .to_string(),
                );
            return Err(refused.into());
        }
        Ok(plan)
    }

    /// Returns the scheme of a combination of the studied systems: the names of their schemes,
    /// joined by `+`. `None` if no system, or only alternatives without a scheme, are on.
    pub fn scheme(&self, of: impl Into<Combination>) -> Option<String> {
        let parts = of.into().parts(&self.factor);
        let names: Vec<&str> = parts.into_iter().filter_map(|it| it.scheme).collect();
        (!names.is_empty()).then(|| names.join("+"))
    }

    pub fn subsets(&self) -> usize {
        1 << self.factor.len()
    }

    /// Replaces this plan of an ablation study by its quick form: few and short runs of small
    /// drives.
    pub fn shorten(&mut self) {
        self.requests = self.requests.min(self.brief.requests);
        self.drive.retain(|it| self.brief.drives.contains(&it.name));
        for drive in &mut self.drive {
            let of_all = &self.brief.set;
            let brief = if drive.brief.is_empty() { of_all } else { &drive.brief };
            drive.set.retain(|it| !brief.iter().any(|other| key(other) == key(it)));
            drive.set.extend(brief.iter().cloned());
        }
        self.workload.retain(|it| self.brief.workloads.iter().any(|name| name == it.name()));
    }

    /// Returns every combination of systems that is run: all subsets in the order of their bits,
    /// then each alternative alone and with all other systems.
    pub fn combinations(&self) -> Vec<Combination> {
        let subsets = (0..self.subsets()).map(Combination::from);
        let alternatives = self.alternatives().flat_map(|it| [it, it.as_last(self.subsets())]);
        subsets.chain(alternatives).collect()
    }

    /// Returns the alternatives of all systems, each alone on a drive.
    pub fn alternatives(&self) -> impl Iterator<Item = Combination> {
        let of = |(factor, it): (usize, &Factor)| {
            (0..it.alternative.len()).map(move |number| Combination::alternative(factor, number))
        };
        self.factor.iter().enumerate().flat_map(of)
    }

    /// Returns the name of the run on the drive, at the age and under the workload of `place`, with
    /// a combination of the studied systems (such as PES suspension) on. The drive is named only if
    /// the study has several.
    pub fn run_name(&self, place: Place<'_>, of: impl Into<Combination>) -> String {
        let of = of.into();
        let subset = of.subset;
        let mut run = format!("{} {} {subset:05b}", place.column, place.age.name);
        if let Some((_, it)) = of.replacement(&self.factor) {
            let _grows = write!(run, " {}", it.name);
        }
        match &self.drive[..] {
            [_] => run,
            drives => format!("{} {run}", drives[place.drive].name),
        }
    }

    /// Returns one note for each drive that was fitted to too few measurements of a real one: the
    /// warning, that the drive enters no mean over drives, and further remarks on the fit.
    pub fn notes(&self) -> Vec<String> {
        let marked = self.drive.iter().filter(|drive| drive.mark.is_some());
        let note = |drive: &Drive| {
            let (name, notes) = (drive.shown_name(), drive.notes.join("; "));
            format!("{name} is in no mean over drives; {notes}")
        };
        marked.map(note).collect()
    }

    fn replay(&self, column: &str) -> Option<&Replay> {
        self.replay.iter().find(|it| it.workload == column)
    }

    /// Returns the number of seconds of the host's life for which one simulated second of the
    /// workload stands.
    fn stands_for(&self, column: &str) -> f64 {
        self.replay(column).map_or(1.0, |it| it.stands_for)
    }

    pub fn device(&self, place: Place<'_>, of: impl Into<Combination>) -> DeviceSpec {
        let Place { drive, age, column } = place;
        let drive = &self.drive[drive];
        let of = of.into();
        let parts = of.parts(&self.factor);
        let with = parts.iter().flat_map(|Part { with, .. }| *with);
        let of_factors: Vec<&String> = with.chain(of.absent(&self.factor)).collect();
        // A factor's setting replaces that of the drive, such as the stripes of a drive that has
        // none without the factor of redundancy.
        let is_kept = |it: &&String| !of_factors.iter().any(|other| key(other) == key(it));
        let of_drive = drive.set.iter().filter(is_kept);
        let all = self.set.iter().chain(of_drive).chain(&age.set).chain(of_factors.iter().copied());
        let mut set: Vec<String> = all.cloned().collect();
        if let Some(years) = age.rest_years {
            let ns = years * YEAR_S * 1e9 / self.stands_for(column);
            set.push(format!("lifetime.target={ns:.0}ns"));
        }
        DeviceSpec { device: drive.preset().into(), set, ..DeviceSpec::default() }
    }

    /// Returns the drives of the study in groups that share a preset and differ only in settings.
    fn families(&self) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = Vec::new();
        for (number, drive) in self.drive.iter().enumerate() {
            let is_of = |family: &&mut Vec<usize>| {
                family.iter().all(|it| self.drive[*it].preset() == drive.preset())
            };
            match all.iter_mut().find(is_of) {
                Some(family) => family.push(number),
                None => all.push(vec![number]),
            }
        }
        all
    }

    /// Returns the index of the drive that differs from a drive only in its shallower queue; `None`
    /// if none is known to.
    pub fn shallower(&self, drive: usize) -> Option<usize> {
        let name = self.drive[drive].deepens.as_ref()?;
        self.drive.iter().position(|it| it.name == *name)
    }

    /// Returns the runs of one drive at one age: every combination of the systems under every
    /// workload.
    pub fn points(
        &self,
        columns: &[Column],
        (drive, age): (usize, &Age),
        limit: Option<u64>,
    ) -> Vec<StudyPoint> {
        let limit = Some(limit.map_or(self.requests, |limit| limit.min(self.requests)));
        let point = |column: &Column, of: Combination| {
            let place = Place { drive, age, column: &column.name };
            let speed = self.replay(&column.name).and_then(|it| it.speed);
            let speed = speed.map_or(ReplaySpeed::AsRecorded, ReplaySpeed::Speed);
            let run = RunSpec::new(self.device(place, of), column.spec.clone(), speed);
            let name = self.run_name(place, of);
            StudyPoint { name, run: RunSpec { scheme: self.scheme(of), limit, ..run } }
        };
        let all = self.combinations();
        let of = |column| all.iter().map(move |of| point(column, *of));
        columns.iter().flat_map(of).collect()
    }

    /// Returns the configuration of a drive of the ablation study with none of the studied systems,
    /// at the study's first age.
    fn bare(&self, drive: usize) -> Result<Config, Diagnostics> {
        let age = self.age.first().expect("a study has ages");
        self.config(Place { drive, age, column: "" }, 0)
    }

    /// Returns the configuration of the drive at `place` with a combination of the studied systems.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    pub fn config(
        &self,
        place: Place<'_>,
        of: impl Into<Combination>,
    ) -> Result<Config, Diagnostics> {
        let of = of.into();
        let spec = self.device(place, of);
        let scheme = self.scheme(of).map_or_else(|| Ok(Scheme::none()), |it| Scheme::load(&it))?;
        Ok(device_spec::resolve(&spec.source()?, &scheme, &spec)?.config)
    }
}

/// Returns the key of a setting: the text before `=`.
fn key(setting: &str) -> &str {
    setting.split_once('=').map_or(setting, |(key, _)| key)
}

impl Size {
    fn of(config: &Config) -> Size {
        let geometry = &config.geometry;
        let units = config.ftl.unit.map_or(1, |unit| geometry.page_size.0 / unit.0);
        let open = geometry.planes() * geometry.pages_per_block;
        Size {
            enough: OPEN_BLOCKS_FILLED * f64::from(open) * units as f64,
            raw: geometry.pages() as f64 * geometry.page_size.0 as f64,
            lives: config.reliability.cells.end_cycles,
        }
    }
}

impl Evidence {
    /// Executes all runs of the ablation study, or loads those saved by an earlier call. Returns
    /// `None` if the study was stopped.
    pub fn gather(
        plan: Plan,
        columns: Vec<Column>,
        (limit, seeds): (Option<u64>, u32),
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Diagnostics> {
        let drives = 0..plan.drive.len();
        let bare = drives.map(|drive| plan.bare(drive)).collect::<Result<Vec<_>, _>>()?;
        let mut results: Vec<Results<RunSummary>> = Vec::new();
        for seed in seeds_of(seeds) {
            let runs = runs.repeated(seed)?;
            let mut all = Results::new();
            for family in plan.families() {
                let config = &bare[family[0]];
                let of_drive = ImageCache::default();
                for age in &plan.age {
                    // The state of a drive with superblocks depends on its age only where parity
                    // does. Those of other drives do not share images between ages.
                    let of_age = ImageCache::default();
                    let images = if config.ftl.has_superblocks() { &of_drive } else { &of_age };
                    // Drives of one preset share images where they differ in what acts after
                    // preconditioning only, such as the depth of the queue.
                    let of = |drive: &usize| plan.points(&columns, (*drive, age), limit);
                    let (deep, shallow): (Vec<usize>, Vec<usize>) =
                        family.iter().partition(|it| plan.shallower(**it).is_some());
                    let points = shallow.iter().flat_map(of).collect();
                    let Some(done) = runs.simulate(points, images)? else { return Ok(None) };
                    all.extend(done);
                    for drive in deep {
                        let shallower = plan.shallower(drive).expect("of the deep ones");
                        let pairs = of(&drive).into_iter().zip(of(&shallower));
                        let (same, others): (Vec<_>, Vec<_>) =
                            pairs.partition(|(_, it)| never_waits(&all[&it.name]));
                        let others = others.into_iter().map(|(point, _)| point).collect();
                        let Some(done) = runs.simulate(others, images)? else { return Ok(None) };
                        all.extend(done);
                        let copy = |(point, it): (StudyPoint, StudyPoint)| {
                            (point.name, all[&it.name].clone())
                        };
                        let copies: Vec<_> = same.into_iter().map(copy).collect();
                        all.extend(copies);
                    }
                }
            }
            results.push(all);
        }
        let seeds = results.into_iter().map(|all| Runs::new(columns.clone(), all)).collect();
        let sizes = bare.iter().map(Size::of).collect();
        let prices = if plan.choices { plan.prices()? } else { Vec::new() };
        Ok(Some(Evidence { seeds, columns, plan, sizes, prices }))
    }

    /// Returns invented measurements of an ablation study for tests: `run` returns the summary of a
    /// run for the number of its seed from 0, the indices of its drive, age and workload, and its
    /// combination of the systems.
    #[cfg(test)]
    pub fn made_up(
        plan: Plan,
        columns: Vec<Column>,
        seeds: usize,
        run: impl Fn(usize, [usize; 3], Combination) -> RunSummary,
    ) -> Evidence {
        let of_seed = |seed| {
            let mut all = Results::new();
            for drive in 0..plan.drive.len() {
                for (number, age) in plan.age.iter().enumerate() {
                    for (workload, column) in columns.iter().enumerate() {
                        let place = Place { drive, age, column: &column.name };
                        for of in plan.combinations() {
                            let run = run(seed, [drive, number, workload], of);
                            all.insert(plan.run_name(place, of), run);
                        }
                    }
                }
            }
            Runs::new(columns.clone(), all)
        };
        let seeds = (0..seeds).map(of_seed).collect();
        let bare = (0..plan.drive.len()).map(|drive| plan.bare(drive).unwrap());
        let sizes = bare.map(|config| Size::of(&config)).collect();
        let prices = if plan.choices { plan.prices().unwrap() } else { Vec::new() };
        Evidence { plan, columns, seeds, sizes, prices }
    }

    /// Returns the summary of the run on the drive, at the age and under the workload of `place`,
    /// with a combination of the studied systems (such as PES suspension) on.
    pub fn run<'a>(
        &self,
        runs: &'a Runs,
        place: Place<'_>,
        of: impl Into<Combination>,
    ) -> Option<&'a RunSummary> {
        runs.summary(&self.plan.run_name(place, of))
    }

    /// Returns the value of a metric in the run on the drive, at the age and under the workload of
    /// `place`, with a combination of the studied systems on; `None` if the metric is not reported.
    pub fn number(
        &self,
        runs: &Runs,
        place: Place<'_>,
        of: impl Into<Combination>,
        metric: Metric,
    ) -> Option<f64> {
        let run = self.run(runs, place, of)?;
        let size = &self.sizes[place.drive];
        let enough = run.get("counters.programs.host")? >= size.enough;
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
                let left = (size.lives - f64::from(place.age.cycles)) * size.raw;
                let years = left / rate / YEAR_S * self.plan.stands_for(place.column);
                Some(years).filter(|it| it.is_finite())
            }
            Metric::Failed => {
                let failed = run.get("counters.uncorrectable_reads")?;
                Some(failed / run.get("counters.pages_read")?).filter(|share| share.is_finite())
            }
            Metric::Bare => Some(1.0 - covered(run)),
        }
    }

    /// Returns the drive writes per day (DWPD) of the run with a subset of the systems, at the rate
    /// at which the drive served the host.
    pub fn daily_writes(&self, runs: &Runs, place: Place<'_>, subset: usize) -> Option<f64> {
        let run = self.run(runs, place, subset)?;
        let host_s = run.get("simulated_s")? * self.plan.stands_for(place.column);
        let days = host_s / 86_400.0;
        Some(run.get("write.bytes")? / run.get("drive.logical_bytes")? / days)
    }

    /// Returns the values of a metric in the runs of an ablation study at one place (drive, age and
    /// workload): one for each subset of the studied systems, in the order of the subsets' bits.
    pub fn all(&self, runs: &Runs, place: Place<'_>, metric: Metric) -> Vec<Option<f64>> {
        let number = |subset| self.number(runs, place, subset, metric);
        (0..self.plan.subsets()).map(number).collect()
    }
}

/// Returns true if no read or write of a run waited for a place in the queue of the drive: a deeper
/// queue would have changed nothing. The workloads of these studies have no other requests.
pub(super) fn never_waits(run: &RunSummary) -> bool {
    let waits = ["blame.read.all.mean_us.queue_full", "blame.write.all.mean_us.queue_full"];
    let others = ["trims", "flushes"];
    // A run without reads or without writes has no mean of them.
    waits.iter().chain(&others).all(|metric| run.get(metric).is_none_or(|it| it == 0.0))
}

/// Returns the ablation study itself and its repetitions with other seeds: `count` in all.
fn seeds_of(count: u32) -> impl Iterator<Item = Repetition> {
    let others = (1..count).map(|number| Repetition::Seed(100 + u64::from(number)));
    std::iter::once(Repetition::Original).chain(others)
}

/// Returns the share of the drive's stripes with parity, 0 to 1, at the drive's stage of life.
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
