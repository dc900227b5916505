//! The runs that the figures and sweeps of the DA-RAID-5 paper need, and access to their results.

use super::checks::{self, Checks};
use super::paper::Paper;
use super::variants::{
    AS_IT_IS, Acknowledged, Caches, Case, Locality, PE_AWARE, PPC, RAID5, SEARCH, STAGE_2, Setting,
    Variant, Worn, equal, variants,
};
use crate::Request;
use crate::column::Column;
use crate::paper_data::{self, overridden};
use crate::run_folder::{Job, Results, RunFolder, Speed};
use crate::run_summary::{Number, READ, RunSummary, WRITE};
use crate::runs::{Runs, mean};
use crate::studies::{ImageCache, fan_out};
use fowler_experiment::common_speed::TestBed;
use fowler_experiment::device_spec::Source;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::sweep::StudyPoint;
use fowler_experiment::workload::WorkloadSpec;

fn run_name(column: &str, scheme: &str, variant: &str) -> String {
    let base = format!("{column} {scheme}");
    if variant.is_empty() { base } else { format!("{base} {variant}") }
}

/// A run of the DA-RAID-5 study that was executed, for the table of all runs: workload, scheme and
/// variant of the drive.
pub(super) struct Made {
    pub column: String,
    pub case: Case,
    pub variant: String,
}

/// All measurements of the DA-RAID-5 study, and the published numbers.
pub(crate) struct Evidence {
    pub(super) paper: Paper,
    pub(super) runs: Runs,
    pub(super) made: Vec<Made>,
    /// Search results for the factor by which each stand-in trace's times are divided.
    pub(super) speeds: Results<Speed>,
    pub(super) checks: Checks,
    /// True if only the runs behind the DA-RAID-5 paper's figures were executed.
    pub(super) brief: bool,
}

/// Returns the name of the job that searches for a stand-in trace's replay speed.
fn speed_name(column: &str) -> String {
    format!("{column} speed")
}

/// Returns the jobs that search for the replay speed of each stand-in trace: the drive under RAID-5
/// must be idle for the share of time given in the DA-RAID-5 paper's data. Real traces are replayed
/// at their recorded times.
fn speeds<'b>(
    paper: &Paper,
    columns: &[Column],
    beds: &'b [TestBed],
    limit: Option<u64>,
) -> Result<Vec<Job<'b, Speed>>, Diagnostics> {
    let stand_ins = columns.iter().filter(|column| column.is_stand_in());
    let job = |column: &Column| {
        Job::speed(speed_name(&column.name), beds, column.spec.clone(), limit, paper.idle)
    };
    stand_ins.map(job).collect()
}

/// True if the DA-RAID-5 study runs the workload on this variant of the drive. Excerpts of real
/// traces run only on the variants that the paper's figures show.
fn wants(variant: &Variant, column: &Column) -> bool {
    let equal = Acknowledged::ALL.map(|it| equal(Worn::None, it));
    let shown = [AS_IT_IS, STAGE_2, &equal[0], &equal[1]].contains(&variant.name.as_str());
    variant.only.is_none_or(|only| column.name == only) && (column.is_stand_in() || shown)
}

/// Returns the runs of the DA-RAID-5 study on one variant of the drive: one for each scheme and
/// workload.
fn points(
    paper: &Paper,
    columns: &[Column],
    (variant, speeds, limit): (&Variant, &Results<Speed>, Option<u64>),
) -> Result<Vec<(Made, StudyPoint)>, Diagnostics> {
    let mut points = Vec::new();
    for column in columns.iter().filter(|column| wants(variant, column)) {
        let speed = speeds.get(&speed_name(&column.name)).map_or(1.0, |it| it.factor);
        let workload = match &variant.locality {
            Some(locality) => localized(&column.spec, locality)?,
            None => column.spec.clone(),
        };
        points.extend(variant.cases.iter().map(|&case| {
            let caches = match case.caches {
                Caches::None => &Vec::new(),
                Caches::Grouping => &paper.grouping,
                Caches::Data => &paper.data_cache,
            };
            let set = overridden(caches, &variant.set);
            let pace = ReplaySpeed::Speed(speed * variant.load);
            let run = RunSpec {
                scheme: Some(case.scheme.into()),
                limit: limited(limit, variant.requests),
                ..RunSpec::new(paper.device(&set), workload.clone(), pace)
            };
            let name = run_name(&column.name, case.scheme, &variant.name);
            let (column, variant) = (column.name.clone(), variant.name.clone());
            (Made { column, case, variant }, StudyPoint { name, run })
        }));
    }
    Ok(points)
}

/// Returns a generated workload with the given locality of requests; a trace is returned unchanged.
fn localized(workload: &WorkloadSpec, locality: &Locality) -> Result<WorkloadSpec, Diagnostics> {
    let WorkloadSpec::Generated(source) = workload else { return Ok(workload.clone()) };
    let mut text: toml::Table = paper_data::open(&source.name, &source.text)?;
    let Locality { space, popular, mean_run } = locality;
    for (table, key, value) in [
        ("space", "size", toml::Value::from(space.as_str())),
        ("reads", "popular", popular.as_str().into()),
        ("writes", "popular", popular.as_str().into()),
        ("writes", "mean_run", (*mean_run).into()),
    ] {
        let table = text.get_mut(table).and_then(toml::Value::as_table_mut);
        table.map(|it| it.insert(key.into(), value));
    }
    let name = format!("{}, {popular} in {space}, runs of {mean_run}", source.name);
    Ok(WorkloadSpec::Generated(Source { name, text: text.to_string() }))
}

fn limited(limit: Option<u64>, requests: u64) -> Option<u64> {
    Some(limit.map_or(requests, |limit| limit.min(requests)))
}

/// Name of the DA-RAID-5 study's job that checks, on small drives, the flash operations of updates
/// and the invariants of stripes.
const UPDATES: &str = "updates of small drives";

impl Evidence {
    /// Executes all runs of the DA-RAID-5 study, or loads those saved by an earlier call. Returns
    /// `None` if the study was stopped.
    pub(super) fn of(
        paper: Paper,
        columns: Vec<Column>,
        request: &Request,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Diagnostics> {
        let &Request { limit, brief, .. } = request;
        let many = || {
            let swept = limited(limit, paper.swept_requests);
            let bed = TestBed::new(&paper.device(&[]), RAID5.scheme, runs.control());
            if runs.control().stopped() {
                return Ok(None);
            }
            let beds = [bed?.limited(swept)];
            let searches = speeds(&paper, &columns, &beds, swept)?;
            let Some(speeds) = runs.results(searches)? else { return Ok(None) };
            let (mut made, mut results) = (Vec::new(), Results::new());
            for group in variants(&paper, brief) {
                let points = group.iter().map(|it| points(&paper, &columns, (it, &speeds, limit)));
                let points: Vec<_> = points.collect::<Result<_, _>>()?;
                let (names, points): (Vec<Made>, Vec<StudyPoint>) =
                    points.into_iter().flatten().unzip();
                made.extend(names);
                let Some(runs) = runs.simulate(points, &ImageCache::default())? else {
                    return Ok(None);
                };
                results.extend(runs);
            }
            Ok::<_, Diagnostics>(Some((speeds, made, results)))
        };
        let checks = || runs.result(checks::job(UPDATES)?);
        let (checks, results) = fan_out::both(checks, many);
        let (Some(checks), Some((speeds, made, results))) = (checks?, results?) else {
            return Ok(None);
        };
        let runs = Runs::new(columns, results);
        Ok(Some(Evidence { paper, runs, made, speeds, checks, brief }))
    }

    /// Returns a metric of the DA-RAID-5 study's run of the workload `column` under the scheme
    /// `case` on the drive's variant `variant`.
    pub(super) fn number(
        &self,
        column: &str,
        case: Case,
        variant: &str,
        of: impl Fn(&RunSummary) -> Option<f64>,
    ) -> Option<f64> {
        self.runs.number(&self.run(column, case, variant), of)
    }

    /// Returns the name of the run whose results are read when a claim of the DA-RAID-5 paper asks
    /// for a scheme in a variant of the drive: in a control measurement without the paper's system,
    /// another scheme or variant is read instead.
    fn run(&self, column: &str, case: Case, variant: &str) -> String {
        let view = &self.runs.view;
        let scheme = view.scheme(case.scheme);
        run_name(column, &scheme, &view.variant(&scheme, variant))
    }

    /// Returns the mean response time over reads and writes, in microseconds.
    pub(super) fn response(&self, column: &str, case: Case, variant: &str) -> Option<f64> {
        self.number(column, case, variant, response)
    }

    /// Returns the metric `shown`, such as mean response time, of a run of the DA-RAID-5 study: a
    /// workload (`column`) under a scheme (`case`) in a variant of the drive.
    pub(super) fn value(
        &self,
        column: &str,
        case: Case,
        variant: &str,
        shown: Shown,
    ) -> Option<f64> {
        self.number(column, case, variant, shown.number())
    }

    /// Returns the ratio, first to second, of a quantity (`shown`: mean response, pages programmed,
    /// pages read or chip time) in two runs of the DA-RAID-5 study under one workload.
    fn relative(&self, column: &str, runs: [(Case, &str); 2], shown: Shown) -> Option<f64> {
        let [mine, base] = runs.map(|(case, variant)| self.run(column, case, variant));
        self.runs.ratio(&mine, &base, shown.number())
    }

    /// Returns the ratio of a quantity (`shown`: mean response, pages programmed, pages read or
    /// chip time) under the scheme `case` to that under `base`, on drives of the DA-RAID-5 study
    /// with equal wear.
    pub(super) fn ratio(
        &self,
        column: &str,
        (case, base): (Case, Case),
        shown: Shown,
    ) -> Option<f64> {
        let worn = case == PE_AWARE && [RAID5, PPC].contains(&base);
        let variant = if worn { STAGE_2 } else { AS_IT_IS };
        self.relative(column, [(case, AS_IT_IS), (base, variant)], shown)
    }

    /// Returns the metric `shown` of the DA-RAID-5 study (such as mean response time) under the
    /// first scheme divided by that under the second, both in one variant of the drive.
    pub(super) fn ratio_in(
        &self,
        column: &str,
        variant: &str,
        cases: (Case, Case),
        shown: Shown,
    ) -> Option<f64> {
        self.relative(column, [(cases.0, variant), (cases.1, variant)], shown)
    }

    /// Returns the quantity `shown` under the scheme `case` divided by that under `base`, both at
    /// one point of the grid (order, stripe size and load).
    pub(super) fn ratio_at(
        &self,
        column: &str,
        setting: Setting,
        (case, base): (Case, Case),
        shown: Shown,
    ) -> Option<f64> {
        let [mine, of_base] = [case, base].map(|case| setting.variant(case));
        self.relative(column, [(case, &mine), (base, &of_base)], shown)
    }

    /// Returns the metric `shown` of the DA-RAID-5 study (such as mean response time) under one
    /// scheme in the first variant of the drive divided by that in the second.
    pub(super) fn change(
        &self,
        column: &str,
        case: Case,
        variants: (&str, &str),
        shown: Shown,
    ) -> Option<f64> {
        self.relative(column, [(case, variants.0), (case, variants.1)], shown)
    }

    /// Returns the metric `shown` (such as mean response time) of the run of a scheme at one point
    /// of the DA-RAID-5 study's grid of update orders, stripe sizes and loads.
    pub(super) fn value_at(
        &self,
        column: &str,
        case: Case,
        setting: Setting,
        shown: Shown,
    ) -> Option<f64> {
        self.value(column, case, &setting.variant(case), shown)
    }

    /// Returns the mean response time, in microseconds, in the DA-RAID-5 study's run with the
    /// update order, stripe size and load in `setting`.
    pub(super) fn response_at(&self, column: &str, case: Case, setting: Setting) -> Option<f64> {
        self.value_at(column, case, setting, Shown::Response)
    }

    /// Returns the share of time that a chip is busy, mean over the chips, at one point of the grid
    /// (order, stripe size and load).
    pub(super) fn busy_at(&self, column: &str, case: Case, setting: Setting) -> Option<f64> {
        self.number(column, case, &setting.variant(case), busy)
    }

    /// Returns the mean of a ratio over the stand-in traces; `search` is false to leave out web
    /// search.
    pub(super) fn mean_of(&self, search: bool, of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        let stand_ins = self.runs.stand_ins().map(|column| column.name.as_str());
        let all: Option<Vec<f64>> =
            stand_ins.filter(|name| search || *name != SEARCH).map(of).collect();
        mean(&all?)
    }
}

/// Number of chips of the DA-RAID-5 paper's drive.
const CHIPS: u32 = 9;

/// Returns the share of time that a chip of the DA-RAID-5 paper's drive is busy, mean over the
/// chips.
pub(super) fn busy(run: &RunSummary) -> Option<f64> {
    Some(run.get("counters.die_busy_s")? / run.get("simulated_s")? / f64::from(CHIPS))
}

/// Returns the mean response time over reads and writes, in microseconds; `None` without requests.
fn response(run: &RunSummary) -> Option<f64> {
    let (mut sum, mut all) = (0.0, 0.0);
    for (count, mean) in [("read.count", READ), ("write.count", WRITE)] {
        let count = run.get(count)?;
        if count > 0.0 {
            sum += count * mean(run)?;
            all += count;
        }
    }
    (all > 0.0).then(|| sum / all)
}

/// A quantity that the figures of the DA-RAID-5 paper show, or chip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Response,
    Writes,
    Reads,
    /// Chip time per request, which the DA-RAID-5 paper does not show: the time for which a request
    /// keeps chips busy, plus its share of the work done later for all requests. It depends neither
    /// on when a write is acknowledged nor on the load.
    Work,
}

impl Shown {
    /// The quantities that the DA-RAID-5 paper's figures show.
    pub const PAPER: [Shown; 3] = [Shown::Response, Shown::Writes, Shown::Reads];
    /// Every quantity that a table of the DA-RAID-5 study may show.
    pub const ALL: [Shown; 4] = [Shown::Response, Shown::Writes, Shown::Reads, Shown::Work];

    /// Returns the function that reads this metric of the DA-RAID-5 study from the summary of a
    /// run.
    fn number(self) -> Number {
        match self {
            Shown::Response => response,
            Shown::Writes => |run| run.sum("counters.programs"),
            Shown::Reads => |run| run.sum("counters.reads"),
            Shown::Work => |run| Some(run.get("counters.die_busy_s")? / run.get("requests")?),
        }
    }

    /// Returns the name of a quantity that the DA-RAID-5 study compares (such as `pages
    /// programmed`) for column heads and titles.
    pub fn name(self) -> &'static str {
        ["mean response", "pages programmed", "pages read", "chip time"][self as usize]
    }

    /// Returns the word for a measured quantity, such as `response`, in the labels of the published
    /// numbers of the DA-RAID-5 paper.
    pub fn label(self) -> &'static str {
        ["response", "writes", "reads", "work"][self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::columns;
    use crate::da_raid5::variants::{GRID, ON_WORN, STRIPED, Worn};
    use crate::run_folder::tests::set_up;
    use std::collections::BTreeSet;

    /// Every run of the DA-RAID-5 study uses an existing drive and workload, and has a name of its
    /// own.
    #[test]
    fn every_run_can_be_set_up() {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let count = |brief: bool| -> usize {
            let mut names = BTreeSet::new();
            for variant in variants(&paper, brief).iter().flatten() {
                let points = points(&paper, &columns, (variant, &Results::new(), None)).unwrap();
                for (_, point) in points {
                    set_up(std::slice::from_ref(&point));
                    assert!(names.insert(point.name.clone()), "{} twice", point.name);
                }
            }
            names.len()
        };
        let s = &paper.sweeps;
        let equal = 2 * Worn::ALL.iter().map(|it| it.cases().len()).sum::<usize>();
        let tested = 5 * (9 + equal + s.n_update.len() + 2) + 4 + s.cut_off.len();
        assert_eq!(count(true), tested);
        let grid = 5 * 7 * s.grid_stripes.len() * s.loads.len();
        let others = 5 * (s.caches_kib.len() - 2)
            + 5 * (2 + s.n_update.len())
            + 5 * 2 * s.parity_ahead.len()
            + GRID.len() * s.lengths.len()
            + 5 * ON_WORN.len()
            + 2 * 3 * s.localities.len()
            + STRIPED.len() * s.stripes.len();
        assert_eq!(count(false), tested + grid + others);
    }

    /// Every stand-in trace has enough requests for its longest run, so no run ends early.
    #[test]
    fn no_stand_in_ends_early() {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let all = variants(&paper, false);
        for column in &columns {
            let wanted = all.iter().flatten().filter(|it| wants(it, column));
            let most = wanted.map(|it| it.requests).max().unwrap();
            let WorkloadSpec::Generated(source) = &column.spec else { panic!("a stand-in") };
            let line = source.text.lines().find(|it| it.starts_with("requests")).unwrap();
            let digits: String =
                line.chars().take_while(|it| *it != '#').filter(char::is_ascii_digit).collect();
            assert!(
                digits.parse::<u64>().unwrap() >= most,
                "{}: {line}, wanted {most}",
                column.name
            );
        }
    }

    /// On the drive on which PE-aware is compared, DA-RAID-5 is in its second stage; on the more
    /// worn one in its third.
    #[test]
    fn pe_aware_is_measured_in_stage_two() {
        let paper = Paper::open().unwrap();
        let stage = |worn: &[String]| {
            let spec = paper.device(worn);
            let scheme = fowler_experiment::scheme::Scheme::load("da_raid5").unwrap();
            let config =
                fowler_experiment::device_spec::resolve(&spec.source().unwrap(), &scheme, &spec)
                    .unwrap()
                    .config;
            let protection = fowler_device::Device::new(&config).unwrap().protection().unwrap();
            (protection.stage as u32 + 1, protection.age.worn_stripes)
        };
        let (second, stripes) = stage(&paper.worn);
        assert!(second == 2 && (8_192..16_384).contains(&stripes), "{second}: {stripes} stripes");
        assert_eq!(stage(&paper.more_worn).0, 3);
        assert_eq!(stage(&paper.all_worn).0, 3);
    }
}
