//! The runs that the paper's figures and the sweeps need, and access to their results.

use super::checks::{self, Checks};
use super::paper::Paper;
use crate::Request;
use crate::column::Column;
use crate::run_folder::{Job, Results, RunFolder};
use crate::run_summary::{Latencies, Number, RunSummary};
use crate::runs::Runs;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::studies::{ImageCache, fan_out};

/// A case to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// Its scheme, which names its runs.
    pub scheme: &'static str,
    /// The name in tables and legends.
    pub name: &'static str,
    caches: Caches,
}

/// The buffer of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caches {
    None,
    Grouping,
    Data,
}

pub(super) const RAID5: Case = Case { scheme: "raid5", name: "RAID-5", caches: Caches::None };
pub(super) const PPC: Case = Case { scheme: "ppc", name: "PPC", caches: Caches::None };
pub(super) const UDL: Case = Case { scheme: "udl", name: "UDL", caches: Caches::None };
pub(super) const PE_AWARE: Case =
    Case { scheme: "pe_aware", name: "PE-aware", caches: Caches::Grouping };
pub(super) const HC: Case = Case { scheme: "hc", name: "HC", caches: Caches::Data };
/// No redundancy, on the same drive; it has the capacity that parity takes elsewhere.
pub(super) const NONE: Case = Case { scheme: "fifo", name: "no RAID", caches: Caches::None };
pub(super) const CASES: [Case; 5] = [RAID5, PPC, UDL, PE_AWARE, HC];

/// A variant: on which drive and under which workloads cases are run.
struct Variant {
    name: String,
    set: Vec<String>,
    cases: Vec<Case>,
    /// Whether it is one of the figures, at length; otherwise the sweeps' requests do.
    shown: bool,
    /// The one workload that it is for, or all.
    only: Option<&'static str>,
    replay_speed: ReplaySpeed,
}

pub(super) const AS_IT_IS: &str = "";
/// What PE-aware is compared with: the same drive, as worn as in stage 2.
pub(super) const STAGE_2: &str = "stage 2";
/// All on a drive more worn than that.
pub(super) const MORE_WORN: &str = "more worn";
/// The schemes run on drives with worn blocks.
pub(super) const ON_WORN: [Case; 3] = [RAID5, PPC, PE_AWARE];

pub(super) fn n_update(n: u32) -> String {
    format!("N_update {n}")
}

pub(super) fn cache(kib: u32) -> String {
    format!("cache {kib} KiB")
}

pub(super) fn cut_off(pages: u32) -> String {
    format!("cut-off {pages}")
}

pub(super) fn stripe(n: u32) -> String {
    format!("N {n}")
}

pub(super) fn load(factor: f64) -> String {
    format!("load {factor}")
}

/// Chips of the paper's drive.
const CHIPS: u32 = 9;

/// The workload on which stripes are swept: the one with the most writes.
pub(super) const SWEPT: &str = "TPCC";
/// And the one on which the cut-off is: it has the longest.
pub(super) const LONG: &str = "Win7";

/// The schemes of which the sweep of loads shows how they depend on it.
pub(super) const LOADED: [Case; 4] = [RAID5, PPC, UDL, HC];
/// Those of which the sweep of stripes does.
pub(super) const STRIPED: [Case; 2] = [RAID5, HC];

fn variants(paper: &Paper, brief: bool) -> Vec<Variant> {
    let one = |name: String, set: Vec<String>, cases: &[Case], shown| Variant {
        name,
        set,
        cases: cases.to_vec(),
        shown,
        only: None,
        replay_speed: ReplaySpeed::AsRecorded,
    };
    let mut variants = vec![
        one(AS_IT_IS.into(), Vec::new(), &[RAID5, PPC, UDL, HC, NONE], true),
        one(AS_IT_IS.into(), paper.worn.clone(), &[PE_AWARE], true),
        one(STAGE_2.into(), paper.worn.clone(), &[RAID5, PPC], true),
    ];
    if brief {
        return variants;
    }
    variants.push(one(MORE_WORN.into(), paper.more_worn.clone(), &ON_WORN, true));
    let swept = |name, set, cases: &[Case]| one(name, set, cases, false);
    for &n in &paper.sweeps.n_update {
        let set = vec![format!("policy.redundancy.n_update={n}")];
        variants.push(swept(n_update(n), set, &[HC]));
    }
    for &kib in &paper.sweeps.caches_kib {
        variants.push(swept(cache(kib), vec![format!("buffer.size={kib}KiB")], &[HC]));
    }
    for &pages in &paper.sweeps.cut_off {
        let set = vec![format!("policy.redundancy.cut_off={pages}")];
        variants.push(Variant { only: Some(LONG), ..swept(cut_off(pages), set, &[HC]) });
    }
    for &n in &paper.sweeps.stripes {
        let mut set = paper.wide.clone();
        set.push(format!("policy.redundancy.stripe={n}"));
        let replay_speed = ReplaySpeed::Speed(paper.wide_speed);
        let variant = swept(stripe(n), set, &STRIPED);
        variants.push(Variant { only: Some(SWEPT), replay_speed, ..variant });
    }
    for &factor in &paper.sweeps.loads {
        let replay_speed = ReplaySpeed::Speed(factor);
        variants.push(Variant { replay_speed, ..swept(load(factor), Vec::new(), &LOADED) });
    }
    variants
}

fn run_name(column: &str, case: Case, variant: &str) -> String {
    let base = format!("{column} {}", case.scheme);
    if variant.is_empty() { base } else { format!("{base} {variant}") }
}

/// All measurements, and the published numbers.
pub(crate) struct Evidence {
    pub(super) paper: Paper,
    pub(super) runs: Runs,
    pub(super) checks: Checks,
    /// Whether only the runs behind the paper's figures were made.
    pub(super) brief: bool,
}

/// What all runs share.
struct Plan<'a> {
    paper: &'a Paper,
    columns: &'a [Column],
    limit: Option<u64>,
}

impl Plan<'_> {
    fn jobs<'b>(
        &self,
        variant: &Variant,
        images: &'b ImageCache,
    ) -> Result<Vec<Job<'b, RunSummary>>, Diagnostics> {
        let requests = if variant.shown { self.paper.requests } else { self.paper.swept_requests };
        let wanted = |column: &&Column| variant.only.is_none_or(|only| column.name == only);
        let mut jobs = Vec::new();
        for column in self.columns.iter().filter(wanted) {
            // Reads of web search are what refreshes blocks: fewer would not.
            let requests =
                if column.name.starts_with("websearch") { 10 * requests } else { requests };
            for &case in &variant.cases {
                let mut set = match case.caches {
                    Caches::None => Vec::new(),
                    Caches::Grouping => self.paper.grouping.clone(),
                    Caches::Data => self.paper.data_cache.clone(),
                };
                set.retain(|it| !variant.set.iter().any(|other| same_key(it, other)));
                set.extend(variant.set.iter().cloned());
                let spec = RunSpec {
                    device: self.paper.device(&set),
                    scheme: Some(case.scheme.into()),
                    workload: column.spec.clone(),
                    replay_speed: variant.replay_speed,
                    limit: Some(self.limit.map_or(requests, |limit| limit.min(requests))),
                    requests: None,
                    detail: false,
                };
                jobs.push(Job::run(run_name(&column.name, case, &variant.name), spec, images)?);
            }
        }
        Ok(jobs)
    }
}

fn same_key(one: &str, other: &str) -> bool {
    one.split('=').next() == other.split('=').next()
}

impl Plan<'_> {
    /// The runs of every variant; nothing if they were stopped.
    fn results(
        &self,
        brief: bool,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Results<RunSummary>>, Diagnostics> {
        let mut results = Results::new();
        for variant in variants(self.paper, brief) {
            let images = ImageCache::default();
            let Some(runs) = runs.results(self.jobs(&variant, &images)?)? else { return Ok(None) };
            results.extend(runs);
        }
        Ok(Some(results))
    }
}

/// The name of the small drives' results.
const UPDATES: &str = "updates of small drives";

impl Evidence {
    /// Runs everything, or loads it from an earlier call. Returns `None` if it was stopped.
    pub(super) fn of(
        paper: Paper,
        columns: Vec<Column>,
        request: &Request,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Diagnostics> {
        let &Request { limit, brief, .. } = request;
        let plan = Plan { paper: &paper, columns: &columns, limit };
        let checks = || runs.result(checks::job(UPDATES)?);
        let (checks, results) = fan_out::both(checks, || plan.results(brief, runs));
        let (Some(checks), Some(results)) = (checks?, results?) else { return Ok(None) };
        Ok(Some(Evidence { paper, runs: Runs::new(columns, results), checks, brief }))
    }

    /// Returns a number of a run.
    pub(super) fn number(
        &self,
        column: &str,
        case: Case,
        variant: &str,
        of: Number,
    ) -> Option<f64> {
        self.runs.number(&run_name(column, case, variant), of)
    }

    /// Mean response over reads and writes, in microseconds.
    pub(super) fn response(&self, column: &str, case: Case, variant: &str) -> Option<f64> {
        self.number(column, case, variant, response)
    }

    /// Returns what a figure shows of a run.
    pub(super) fn value(
        &self,
        column: &str,
        case: Case,
        variant: &str,
        shown: Shown,
    ) -> Option<f64> {
        self.number(column, case, variant, shown.number())
    }

    /// The same relative to another case's, on a drive as worn.
    pub(super) fn ratio(&self, column: &str, case: Case, base: Case, shown: Shown) -> Option<f64> {
        let worn = case == PE_AWARE && [RAID5, PPC].contains(&base);
        let base = self.value(column, base, if worn { STAGE_2 } else { AS_IT_IS }, shown)?;
        Some(self.value(column, case, AS_IT_IS, shown)? / base).filter(|ratio| ratio.is_finite())
    }

    /// The same, for a variant.
    pub(super) fn ratio_in(
        &self,
        column: &str,
        variant: &str,
        (case, base): (Case, Case),
        shown: Shown,
    ) -> Option<f64> {
        let of = |case| self.value(column, case, variant, shown);
        Some(of(case)? / of(base)?).filter(|ratio| ratio.is_finite())
    }

    /// A case under one variant relative to the same under another.
    pub(super) fn change(
        &self,
        column: &str,
        case: Case,
        variants: (&str, &str),
        shown: Shown,
    ) -> Option<f64> {
        let of = |variant| self.value(column, case, variant, shown);
        Some(of(variants.0)? / of(variants.1)?).filter(|ratio| ratio.is_finite())
    }

    /// Returns the mean share of time that a chip is busy.
    pub(super) fn busy(&self, column: &str, case: Case, variant: &str) -> Option<f64> {
        self.number(column, case, variant, |run| {
            Some(run.counters.die_busy_s / run.simulated_s / f64::from(CHIPS))
        })
    }
}

/// Mean response over reads and writes, in microseconds; none without requests.
fn response(run: &RunSummary) -> Option<f64> {
    let (mut sum, mut all) = (0.0, 0.0);
    for Latencies { count, mean_us, .. } in [&run.read, &run.write] {
        if *count > 0.0 {
            sum += count * (*mean_us)?;
            all += count;
        }
    }
    (all > 0.0).then(|| sum / all)
}

/// The quantities shown in the three parts of the paper's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Response,
    Writes,
    Reads,
    /// What the paper does not show: how long a request keeps chips busy, its share of everything
    /// done for it later included. It depends neither on when a write is answered nor on the load.
    Work,
}

impl Shown {
    /// The quantities that the paper shows.
    pub const PAPER: [Shown; 3] = [Shown::Response, Shown::Writes, Shown::Reads];
    /// All quantities.
    pub const ALL: [Shown; 4] = [Shown::Response, Shown::Writes, Shown::Reads, Shown::Work];

    /// Returns the quantity for a run.
    fn number(self) -> Number {
        match self {
            Shown::Response => response,
            Shown::Writes => |run| Some(run.counters.programs.sum()),
            Shown::Reads => |run| Some(run.counters.reads.sum()),
            Shown::Work => |run| Some(run.counters.die_busy_s / run.requests),
        }
    }

    /// In heads and titles.
    pub fn name(self) -> &'static str {
        ["mean response", "pages programmed", "pages read", "chip time"][self as usize]
    }

    /// As the claims label it.
    pub fn label(self) -> &'static str {
        ["response", "writes", "reads", "work"][self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::columns;

    /// Every run of the whole study uses an existing drive and workload.
    #[test]
    fn every_run_can_be_set_up() {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let plan = Plan { paper: &paper, columns: &columns, limit: None };
        let images = ImageCache::default();
        let count = |brief: bool| -> usize {
            let jobs = |variant: &Variant| {
                plan.jobs(variant, &images).unwrap_or_else(|why| panic!("{}: {why}", variant.name))
            };
            variants(&paper, brief).iter().map(|variant| jobs(variant).len()).sum()
        };
        let s = &paper.sweeps;
        let swept = 5 * (s.n_update.len() + s.caches_kib.len() + LOADED.len() * s.loads.len())
            + s.cut_off.len()
            + STRIPED.len() * s.stripes.len();
        assert_eq!(count(true), 5 * 8);
        assert_eq!(count(false), 5 * (8 + ON_WORN.len()) + swept);
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
                fowler_experiment::device::resolve(&spec.source().unwrap(), &scheme, &spec)
                    .unwrap()
                    .config;
            let protection = fowler_device::Device::new(&config).unwrap().protection().unwrap();
            (protection.stage as u32 + 1, protection.age.worn_stripes)
        };
        let (second, stripes) = stage(&paper.worn);
        assert!(second == 2 && (8_192..16_384).contains(&stripes), "{second}: {stripes} stripes");
        assert_eq!(stage(&paper.more_worn).0, 3);
    }
}
