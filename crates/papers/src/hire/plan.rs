//! The runs that the figures and sweeps of the HIRE paper need, and access to their results.

use super::checks::States;
use super::oracle::{self, Judged};
use super::paper::{Paper, Size};
use super::sizes::{self, space};
use super::web_search;
use crate::claim::{Choice, Lens};
use crate::column::Column;
use crate::run_folder::{Job, Results, RunFolder};
use crate::run_summary::{Number, RunSummary};
use crate::runs::Runs;
use crate::studies::{ImageCache, fan_out, worn};
use fowler_experiment::device_spec::Source;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::sweep::StudyPoint;
use fowler_experiment::workload::WorkloadSpec;
use std::cmp::Reverse;

/// A case of the HIRE study: a scheme of the paper, or HIRE under one interpretation of how clean
/// pages that were read are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// Name, in the names of runs, of a scheme of the HIRE study with its treatment of clean pages
    /// that were read.
    pub key: &'static str,
    /// Name, in tables and legends, of a scheme of the HIRE study with its treatment of clean pages
    /// that were read.
    pub name: &'static str,
    scheme: &'static str,
    read_hot: &'static str,
}

const fn case(
    key: &'static str,
    name: &'static str,
    scheme: &'static str,
    read_hot: &'static str,
) -> Case {
    Case { key, name, scheme, read_hot }
}

pub(super) const BASELINE: Case = case("baseline", "baseline", "baseline", "on_dirty");
pub(super) const HVC: Case = case("hvc", "HVC", "hvc", "on_dirty");
pub(super) const LVC: Case = case("lvc", "LVC", "lvc", "on_dirty");
pub(super) const HIRE: Case = case("hire", "HIRE", "hire", "on_dirty");
pub(super) const ON_EVICT: Case = case("hire-evict", "HIRE on_evict", "hire", "on_evict");
pub(super) const REWRITE: Case = case("hire-rewrite", "HIRE rewrite", "hire", "rewrite_on_idle");
pub(super) const CASES: [Case; 6] = [BASELINE, HVC, LVC, HIRE, ON_EVICT, REWRITE];
/// Schemes of the HIRE study that run in sweeps without HVC (all data at boosted voltages) and LVC
/// (all data at reduced voltages), which would add no information there.
pub(super) const MEASURED: [Case; 4] = [BASELINE, HIRE, ON_EVICT, REWRITE];
/// The cases of the HIRE study measured on cells whose errors depend on age and wear.
pub(super) const OVER_LIFE: [Case; 5] = [BASELINE, HVC, LVC, HIRE, REWRITE];
/// Variant of the HIRE study: settings in which the drive differs from the paper's, and the schemes
/// and workloads that run on it.
pub(super) struct Variant {
    pub name: String,
    pub set: Vec<String>,
    pub cases: Vec<Case>,
    pub reach: Reach,
    /// Size of the address range over which the workload spreads, in GiB; `None` for that of the
    /// workload itself.
    pub space: Option<u32>,
}

/// The workloads under which a variant of the HIRE study is measured, and the part of each that is
/// run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// The variant of the HIRE study's drive runs all workloads at full length, as for the paper's
    /// figures.
    Shown,
    /// All workloads, each with the number of requests used in sweeps.
    All,
    /// Only the workloads chosen for the sweeps (runs over the values of a setting) of the HIRE
    /// study, each with the number of requests of those sweeps.
    Swept,
    /// The variant of the HIRE study's drive runs only the workloads chosen for parameter sweeps,
    /// at full length.
    SweptWhole,
    /// Only the volume at this index of the paper's sizes, at full length.
    Volume(usize),
    /// All stand-in traces of the HIRE study; measured are their requests from the first share (0
    /// to 1) of the trace to the second.
    Window(f64, f64),
}

/// Length of a run of the HIRE study: the largest number of requests, and the number of warm-up
/// requests among them that are not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Length {
    pub most: Option<u64>,
    pub warm_up: u64,
}

/// Name of the variant of the HIRE study that changes nothing of the drive the HIRE paper
/// describes.
pub(super) const AS_IT_IS: &str = "";
pub(super) const RESTED: &str = "rested";
/// Variants in which data from before the run counts as read-hot or as write-hot: the name of the
/// variant, and the access class.
pub(super) const CLASSED: [(&str, &str); 2] =
    [("read-hot before", "read_hot"), ("write-hot before", "write_hot")];
/// Name of the HIRE study's variant in which a write is acknowledged only after its program.
pub(super) const WAITS: &str = "writes wait";
/// Name of the HIRE study's variant in which a write is acknowledged only after its program, and a
/// write of a part of a page does not read the old page.
pub(super) const WAITS_ALONE: &str = "writes wait, old pages unread";

fn variant(name: &str, set: &[&str], cases: &[Case], reach: Reach) -> Variant {
    let set = set.iter().map(|it| (*it).to_string()).collect();
    Variant { name: name.into(), set, cases: cases.into(), reach, space: None }
}

/// Returns all variants of the HIRE study: settings of the drive, the schemes that run with them,
/// and the workloads.
pub(super) fn variants(paper: &Paper) -> Vec<Variant> {
    let mut all = vec![
        variant(AS_IT_IS, &[], &CASES, Reach::Shown),
        variant(WAITS, &["buffer.ack=on_program"], &[BASELINE, HVC, LVC, HIRE], Reach::All),
        // Pages that are programmed again compete with the writes of the host.
        variant(
            WAITS_ALONE,
            &["buffer.ack=on_program", "ftl.partial_writes=overwrite"],
            &[BASELINE, HVC, LVC, HIRE, REWRITE],
            Reach::All,
        ),
    ];
    all.extend(volumes(paper));
    let swept = !paper.sweeps.workloads.is_empty();
    let cases = if swept { &MEASURED[..] } else { &[BASELINE, HIRE] };
    all.push(variant(RESTED, &["precondition.pattern=rested"], cases, Reach::Shown));
    if !swept {
        return all;
    }
    let hire = [HIRE, ON_EVICT, REWRITE];
    for (from, to) in windows(paper) {
        all.push(variant(&window(from, to), &[], &MEASURED, Reach::Window(from, to)));
    }
    for (name, class) in CLASSED {
        let set = format!("precondition.access_class={class}");
        all.push(variant(name, &[&set], &hire, Reach::All));
    }
    all.push(variant(UNCLASSED, &[], &MEASURED, Reach::All));
    for &w in &paper.sweeps.watermarks {
        let set = format!("policy.hotness.watermark={w:?}");
        all.push(variant(&watermark(w), &[&set], &hire, Reach::Swept));
    }
    for &mib in &paper.sweeps.buffers_mib {
        let set = format!("buffer.size={mib}MiB");
        all.push(variant(&buffer(mib), &[&set], &MEASURED, Reach::Swept));
    }
    for name in &paper.sweeps.replacements {
        let set = format!("policy.replacement={name}");
        all.push(variant(&replacement(name), &[&set], &MEASURED, Reach::Swept));
    }
    for &share in &paper.sweeps.rewrite_shares {
        let set = format!("buffer.rewrite_share={share:?}");
        all.push(variant(&rewrite_share(share), &[&set], &[REWRITE], Reach::Swept));
    }
    for &cycles in &paper.sweeps.cycles {
        let mut set = paper.sweeps.cells.clone();
        set.push(format!("reliability.cycles={cycles}"));
        all.push(Variant {
            name: worn_to(cycles),
            set,
            cases: OVER_LIFE.into(),
            reach: Reach::Swept,
            space: None,
        });
    }
    for &gib in &paper.sweeps.spaces_gib {
        let whole = variant(&space(gib), &[], &CASES, Reach::SweptWhole);
        all.push(Variant { space: Some(gib), ..whole });
    }
    all
}

/// Returns the variants of the HIRE study in which one volume each has its own size, without those
/// that the study's sweep of sizes runs anyway. A study without sweeps runs only the schemes by
/// which claims are judged.
fn volumes(paper: &Paper) -> Vec<Variant> {
    let swept = !paper.sweeps.workloads.is_empty();
    let cases = if swept { &CASES[..] } else { &[BASELINE, HVC, LVC, HIRE, ON_EVICT] };
    let sizes = paper.size.iter().enumerate().filter(|(_, size)| !paper.sweeps.have(size));
    let one = |(at, size): (usize, &Size)| Variant {
        space: Some(size.gib),
        ..variant(&space(size.gib), &[], cases, Reach::Volume(at))
    };
    sizes.map(one).collect()
}

/// Returns the alternatives to what the HIRE study assumes where the paper is silent: two other
/// treatments of clean pages that were read, and every variant of the drive, each with the
/// workloads for which it has runs.
pub(super) fn choices(paper: &Paper) -> Vec<Choice> {
    let reading = |case: Case| Choice {
        name: case.name.into(),
        lens: Lens::replacing(&[(ON_EVICT.key, case.key)]),
    };
    let variant = |it: Variant| {
        let lens = Lens::variant(it.name.as_str());
        let over = matches!(it.reach, Reach::Swept | Reach::SweptWhole);
        let lens = if over { lens.over(&paper.sweeps.workloads) } else { lens };
        Choice { name: it.name, lens }
    };
    // The volumes of a size of their own are steps of a range (`sizes::bounds`).
    let is_choice = |it: &Variant| it.name != AS_IT_IS && !matches!(it.reach, Reach::Volume(_));
    let varied = variants(paper).into_iter().filter(is_choice);
    [HIRE, REWRITE].into_iter().map(reading).chain(varied.map(variant)).collect()
}

/// Returns parts of a stand-in trace as shares of its requests, each part as long as all parts
/// before it together, up to the end of the warm-up.
pub(super) fn windows(paper: &Paper) -> Vec<(f64, f64)> {
    let mut ends = vec![paper.warm_up];
    while ends.len() < paper.sweeps.windows {
        ends.push(ends[ends.len() - 1] / 2.0);
    }
    ends.push(0.0);
    ends.reverse();
    ends.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// Name of the HIRE study's variant with an unchanged drive and with as few requests as in the
/// study's sweeps (runs over the values of a setting).
pub(super) const UNCLASSED: &str = "unknown before";

/// Returns the name of the HIRE study's variant in which only the requests between two shares
/// (`from` and `to`, 0 to 1) of a stand-in trace are measured.
pub(super) fn window(from: f64, to: f64) -> String {
    format!("from {from} to {to}")
}

pub(super) fn watermark(w: f64) -> String {
    format!("w {w}")
}

pub(super) fn buffer(mib: u32) -> String {
    format!("buffer {mib} MiB")
}

pub(super) fn rewrite_share(share: f64) -> String {
    format!("rewrites in {share} of the buffer's frames")
}

pub(super) fn worn_to(cycles: u32) -> String {
    format!("cells of {cycles} cycles")
}

pub(super) fn replacement(name: &str) -> String {
    format!("replacement {name}")
}

pub(super) fn run_name(column: &str, case: Case, variant: &str) -> String {
    named(column, case.key, variant)
}

/// Returns the name of the HIRE study's run of the workload `column` under the scheme named `key`
/// on a variant of the drive.
fn named(column: &str, key: &str, variant: &str) -> String {
    let base = format!("{column} {key}");
    if variant.is_empty() { base } else { format!("{base} {variant}") }
}

/// A generated workload that only reads, in place of the WebSearch trace.
const READS_ALONE: &str = "requests = 60_000\nmix.reads = 1.0\nspace.size = \"1GiB\"\nreads.addresses = \"zipf\"\narrivals = { kind = \"poisson\", rate = 400.0 }\n";
pub(super) const READ_ONLY: &str = "reads alone";
pub(super) const STATES: &str = "states of blocks";

/// All measurements of the HIRE study, and the published numbers.
pub(crate) struct Evidence {
    pub(super) paper: Paper,
    pub(super) runs: Runs,
    oracles: Results<Judged>,
    /// Results of checking HIRE's invariants of block states on a small drive after every event;
    /// `None` if the checks were not run.
    pub(super) states: Option<States>,
}

/// Returns the length of a HIRE study's run of a workload (requests, and those among them that are
/// warm-up) in a variant with this reach. An excerpt of a real trace has no warm-up, because it is
/// too short for one.
pub(super) fn length(
    paper: &Paper,
    limit: Option<u64>,
    column: &Column,
    reach: Reach,
) -> Result<Length, Diagnostics> {
    let Paper { warm_up, swept_requests, swept_warm_up, .. } = *paper;
    let Some(all) = requests_of(&column.spec)? else {
        return Ok(Length { most: limit, warm_up: 0 });
    };
    let most = |requests: u64| limit.map_or(requests, |limit| limit.min(requests));
    let share = |share: f64| (most(all) as f64 * share) as u64;
    Ok(match reach {
        Reach::Shown | Reach::SweptWhole | Reach::Volume(_) => {
            Length { most: limit, warm_up: share(warm_up) }
        }
        Reach::Window(from, to) => Length { most: Some(share(to)), warm_up: share(from) },
        Reach::All | Reach::Swept => {
            let requests = most(swept_warm_up + swept_requests);
            let shorter = requests as f64 / (swept_warm_up + swept_requests) as f64;
            Length { most: Some(requests), warm_up: (swept_warm_up as f64 * shorter) as u64 }
        }
    })
}

/// Returns the HIRE study's run of a workload under the scheme `case` with further settings `set`.
pub(super) fn point(
    paper: &Paper,
    name: String,
    workload: WorkloadSpec,
    (case, set): (Case, &[String]),
    Length { most, warm_up }: Length,
) -> StudyPoint {
    let own =
        [format!("buffer.read_hot={}", case.read_hot), format!("precondition.warm_up={warm_up}")];
    let device = paper.device(&[set, &own].concat());
    let run = RunSpec::new(device, workload, ReplaySpeed::AsRecorded);
    StudyPoint { name, run: RunSpec { scheme: Some(case.scheme.into()), limit: most, ..run } }
}

/// Returns the runs of a variant of the HIRE study: one for each workload and scheme (with its
/// moment of classification) that the variant includes.
fn points(
    paper: &Paper,
    columns: &[Column],
    limit: Option<u64>,
    variant: &Variant,
) -> Result<Vec<StudyPoint>, Diagnostics> {
    let swept = &paper.sweeps.workloads;
    let wanted = |column: &&Column| match variant.reach {
        Reach::Shown | Reach::All => true,
        Reach::Swept | Reach::SweptWhole => swept.contains(&column.name),
        Reach::Window(..) => column.is_stand_in(),
        Reach::Volume(at) => paper.size.get(at).is_some_and(|it| it.workload == column.name),
    };
    // The longest first: no core is left alone with one at the end.
    let mut columns: Vec<&Column> = columns.iter().filter(wanted).collect();
    columns.sort_by_key(|column| Reverse(requests_of(&column.spec).ok().flatten().unwrap_or(0)));
    let mut points = Vec::new();
    for column in columns {
        let length = length(paper, limit, column, variant.reach)?;
        let workload = match variant.space {
            Some(gib) => spread(&column.spec, gib)?,
            None => column.spec.clone(),
        };
        points.extend(variant.cases.iter().map(|&case| {
            let name = run_name(&column.name, case, &variant.name);
            point(paper, name, workload.clone(), (case, &variant.set), length)
        }));
    }
    Ok(points)
}

/// Returns the HIRE study's run of a workload that consists of reads alone.
fn reads(paper: &Paper, limit: Option<u64>) -> StudyPoint {
    let source = Source { name: READ_ONLY.into(), text: READS_ALONE.into() };
    let length = Length { most: limit, warm_up: 0 };
    point(paper, READ_ONLY.into(), WorkloadSpec::Generated(source), (HIRE, &[]), length)
}

/// Returns jobs, one for each workload, that compare the buffer's access classes of evicted pages
/// with those of an oracle, which knows the later references to each page.
fn oracles<'a>(
    paper: &Paper,
    columns: &[Column],
    limit: Option<u64>,
) -> Result<Vec<Job<'a, Judged>>, Diagnostics> {
    let job = |column: &Column| oracle::job(&column.name, paper.device(&[]), &column.spec, limit);
    columns.iter().map(job).collect()
}

/// Returns the number of requests of a generated workload; `None` for a trace.
fn requests_of(workload: &WorkloadSpec) -> Result<Option<u64>, Diagnostics> {
    let WorkloadSpec::Generated(source) = workload else { return Ok(None) };
    let text = description(source)?;
    let requests = text.get("requests").and_then(toml::Value::as_integer);
    let requests = requests.and_then(|it| u64::try_from(it).ok());
    Ok(Some(requests.ok_or_else(|| lacks(source, "requests"))?))
}

/// Returns a generated workload spread over `gib` GiB of addresses; a trace is returned unchanged.
fn spread(workload: &WorkloadSpec, gib: u32) -> Result<WorkloadSpec, Diagnostics> {
    let WorkloadSpec::Generated(source) = workload else { return Ok(workload.clone()) };
    let mut text = description(source)?;
    let space = text.get_mut("space").and_then(toml::Value::as_table_mut);
    let space = space.ok_or_else(|| lacks(source, "space"))?;
    space.insert("size".into(), format!("{gib}GiB").into());
    let name = format!("{}, {}", source.name, sizes::space(gib));
    Ok(WorkloadSpec::Generated(Source { name, text: text.to_string() }))
}

/// Parses the description of a generated workload.
fn description(source: &Source) -> Result<toml::Table, Diagnostics> {
    let failed = |error: toml::de::Error| Diagnostic::new(source.name.clone(), error.to_string());
    Ok(toml::from_str(&source.text).map_err(failed)?)
}

fn lacks(source: &Source, key: &str) -> Diagnostic {
    Diagnostic::new(
        source.name.clone(),
        format!("a generated stand-in trace needs the key `{key}`"),
    )
}

impl Evidence {
    /// Executes all runs of the HIRE study, or loads those saved by an earlier call. Returns `None`
    /// if the study was stopped.
    pub(super) fn of(
        paper: Paper,
        columns: Vec<Column>,
        limit: Option<u64>,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Diagnostics> {
        // The few long runs go beside the many short ones.
        let alone = || {
            let states = runs.result(super::checks::job(STATES)?)?;
            let reads = runs.simulate(vec![reads(&paper, limit)], &ImageCache::default())?;
            Ok::<_, Diagnostics>(states.zip(reads))
        };
        let many = || {
            let Some(oracles) = runs.results(oracles(&paper, &columns, limit)?)? else {
                return Ok(None);
            };
            let mut results = Results::new();
            // The drives of most variants begin alike; those of one always do.
            let images = ImageCache::of(2);
            for variant in variants(&paper) {
                let points = points(&paper, &columns, limit, &variant)?;
                let Some(runs) = runs.simulate(points, &images)? else { return Ok(None) };
                results.extend(runs);
            }
            let points = web_search::points(&paper, limit)?;
            let Some(runs) = runs.simulate(points, &images)? else { return Ok(None) };
            results.extend(runs);
            Ok::<_, Diagnostics>(Some((oracles, results)))
        };
        let (alone, many) = fan_out::both(alone, many);
        let (Some((states, reads)), Some((oracles, mut results))) = (alone?, many?) else {
            return Ok(None);
        };
        results.extend(reads);
        let (runs, states) = (Runs::new(columns, results), Some(states));
        Ok(Some(Evidence { paper, runs, oracles, states }))
    }

    /// Returns true if the sweeps beyond the HIRE paper were executed.
    pub(super) fn is_swept(&self) -> bool {
        !self.paper.sweeps.workloads.is_empty()
    }

    /// Returns, for a workload, the comparison of the buffer's access classes of evicted pages with
    /// those of an oracle, which knows the later references to each page.
    pub(super) fn oracle(&self, column: &str) -> Option<&Judged> {
        self.oracles.get(&oracle::name(column))
    }

    /// Returns a metric of the HIRE study's run of the workload `column` under the scheme `case` on
    /// the drive's variant `variant`.
    pub(super) fn number(
        &self,
        column: &str,
        case: Case,
        variant: &str,
        of: Number,
    ) -> Option<f64> {
        self.runs.number(&self.run(column, case, variant), of)
    }

    /// Returns the name of the run whose results are read when a claim of the HIRE paper asks for a
    /// scheme in a variant: in a control measurement without the paper's system, another scheme or
    /// variant is read instead.
    fn run(&self, column: &str, case: Case, variant: &str) -> String {
        let view = &self.runs.view;
        self.run_of(column, &view.scheme(case.key), variant)
    }

    /// Returns the name of the run whose results are read when a claim of the HIRE paper asks for
    /// the scheme named `key` in a variant: another variant can be read instead, but no other
    /// scheme. A step of the range of sizes is a variant for some volumes only; the others are read
    /// on the unchanged drive.
    pub(super) fn run_of(&self, column: &str, key: &str, variant: &str) -> String {
        let variant = self.runs.view.variant(key, variant);
        named(column, key, &sizes::variant_of(&self.paper, column, variant))
    }

    /// Returns a metric of a run under one scheme of the HIRE study, divided by that under the
    /// paper's baseline, in the same variant of the drive.
    pub(super) fn ratio(&self, column: &str, case: Case, variant: &str, of: Number) -> Option<f64> {
        let run = |case| self.run(column, case, variant);
        self.runs.ratio(&run(case), &run(BASELINE), of)
    }

    /// Returns the wear of all programs of a run, in programs at nominal voltages (one each).
    pub(super) fn worn(&self, column: &str, case: Case, variant: &str) -> Option<f64> {
        summary_worn(self.runs.summary(&self.run(column, case, variant))?)
    }

    /// Returns the wear of all programs under one scheme of the HIRE study, divided by that under
    /// the paper's baseline; `None` if the baseline has too few programs for a meaningful ratio.
    pub(super) fn worn_ratio(&self, column: &str, case: Case, variant: &str) -> Option<f64> {
        let base = self.worn(column, BASELINE, variant).filter(|&base| base >= PROGRAMS_LEAST)?;
        Some(self.worn(column, case, variant)? / base)
    }
}

/// Returns the wear of all programs in a run's summary, in programs at nominal voltages (one each).
pub(super) fn summary_worn(run: &RunSummary) -> Option<f64> {
    let at = |voltage| Some(run.get(&format!("counters.programs_at.{voltage}"))? as u64);
    Some(worn([at("boosted")?, at("nominal")?, at("reduced")?].into()))
}

/// Smallest number of programs under the HIRE paper's baseline with which a scheme's wear is
/// divided by the baseline's. A read-only excerpt of a trace has a handful. Assumed.
const PROGRAMS_LEAST: f64 = 500.0;

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::claim::Viewed;
    use crate::column::columns;
    use crate::run_folder::tests::set_up;

    /// Every run of the HIRE study uses an existing drive and workload.
    #[test]
    fn every_run_can_be_set_up() {
        let mut paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let count = |paper: &Paper| {
            let points = |variant: &Variant| points(paper, &columns, None, variant).unwrap();
            let mut all: Vec<StudyPoint> = variants(paper).iter().flat_map(points).collect();
            all.push(reads(paper, None));
            all.extend(web_search::points(paper, None).unwrap());
            assert!(super::super::checks::job(STATES).is_ok());
            1 + set_up(&all) + oracles(paper, &columns, None).unwrap().len()
        };
        let s = &paper.sweeps;
        let swept = 3 * s.watermarks.len()
            + 4 * s.buffers_mib.len()
            + 4 * s.replacements.len()
            + s.rewrite_shares.len()
            + 5 * s.cycles.len()
            + 6 * s.spaces_gib.len();
        // Two of the six sizes are among those of the sweep.
        let sized = 6 * 4 + 5 * paper.web_search.len();
        let beyond = 4 + 4 * s.windows + 3 * CLASSED.len() + 4;
        let all = 17 * (6 + 4 + 5 + beyond + 1);
        assert_eq!(count(&paper), all + s.workloads.len() * swept + sized + 2);
        paper.sweeps.workloads.clear();
        assert_eq!(count(&paper), 17 * (6 + 4 + 5 + 2 + 1) + 5 * 6 + 2);
    }

    /// Tests that spreading a stand-in trace over more addresses changes only its address range,
    /// and that the trace is still a valid workload.
    #[test]
    fn a_stand_in_can_be_spread() {
        for column in columns(&Paper::open().unwrap().workload, None).unwrap() {
            let spread = spread(&column.spec, 64).unwrap();
            spread.check(None).unwrap_or_else(|why| panic!("{}: {why}", column.name));
            let (WorkloadSpec::Generated(before), WorkloadSpec::Generated(after)) =
                (&column.spec, &spread)
            else {
                panic!("{} is generated", column.name)
            };
            let (mut before, mut after) =
                (description(before).unwrap(), description(after).unwrap());
            let size = |text: &mut toml::Table| {
                text.get_mut("space").unwrap().as_table_mut().unwrap().remove("size").unwrap()
            };
            assert_ne!(size(&mut before), size(&mut after), "{}", column.name);
            assert_eq!(before, after, "{}", column.name);
        }
    }

    /// The range over the choices covers the sizes.
    #[test]
    fn sizes_are_among_the_choices() {
        let evidence = invented_at_sizes(0.4349, 0.3, 0.3);
        let choices: Vec<String> = evidence.choices().into_iter().map(|it| it.name).collect();
        for step in sizes::steps(&evidence.paper) {
            assert!(choices.contains(&step), "{step}");
        }
        assert!(!choices.contains(&"over 5 GiB".to_string()));
    }

    #[test]
    fn windows_follow_each_other_up_to_the_measured_part() {
        let paper = Paper::open().unwrap();
        let all = windows(&paper);
        assert_eq!((all[0].0, all[all.len() - 1].1), (0.0, paper.warm_up));
        assert!(all.windows(2).all(|pair| pair[0].1 == pair[1].0));
        let columns = columns(&paper.workload, None).unwrap();
        let length_of = |limit, reach| length(&paper, limit, &columns[0], reach).unwrap();
        let length = |reach| length_of(None, reach);
        // stg1 has 2,196,861 requests, all of which run.
        let half = 2_196_861 / 2;
        assert_eq!(length(Reach::Shown), Length { most: None, warm_up: half });
        assert_eq!(length(Reach::Window(0.25, 0.5)).most, Some(half));
        assert_eq!(length(Reach::Window(0.25, 0.5)).warm_up, half / 2);
        let shown = length_of(Some(1000), Reach::Shown);
        assert_eq!(shown, Length { most: Some(1000), warm_up: 500 });
    }

    /// Returns invented measurements of the HIRE study: for a workload and a scheme, `of` gives the
    /// mean latencies of reads and writes, and the programs by voltage; they are equal in all
    /// variants. Pages leave the buffer as they are programmed.
    pub(in crate::hire) fn invented(of: impl Fn(&str, Case) -> (f64, f64, [u64; 3])) -> Evidence {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let mut results = Results::new();
        for column in &columns {
            for case in CASES {
                let (read, write, programs) = of(&column.name, case);
                let [boosted, nominal, reduced] = programs.map(|it| it as f64);
                let run = RunSummary::from([
                    ("read.mean_us", read),
                    ("write.mean_us", write),
                    ("counters.programs_at.boosted", boosted),
                    ("counters.programs_at.nominal", nominal),
                    ("counters.programs_at.reduced", reduced),
                    ("counters.left.mixed", nominal),
                    ("counters.left.read_hot", boosted),
                    ("counters.left.write_hot", reduced),
                ]);
                for variant in [AS_IT_IS, WAITS, WAITS_ALONE] {
                    results.insert(run_name(&column.name, case, variant), run.clone());
                }
            }
        }
        let runs = Runs::new(columns, results);
        Evidence { paper, runs, oracles: Results::new(), states: None }
    }

    /// Returns made-up measurements of reads under the baseline and the three readings, in which
    /// every trace gains `own` (0 to 1), volumes gain `published` in their published sizes, and the
    /// volumes of assumed larger sizes gain `assumed` in these.
    pub(in crate::hire) fn invented_at_sizes(own: f64, published: f64, assumed: f64) -> Evidence {
        let mut evidence = invented(|_, case| {
            let read = match case {
                BASELINE => 1000.0,
                // The null (HVC) gains so much that it misses even the shape of the paper's number.
                HVC => 100.0,
                _ => 1000.0 * (1.0 - own),
            };
            (read, 800.0, [0, 10_000, 0])
        });
        let mut results = evidence.runs.all().clone();
        for size in &evidence.paper.size {
            let gain = if size.bytes.is_some() { published } else { assumed };
            for case in CASES {
                let read = if case == BASELINE { 1000.0 } else { 1000.0 * (1.0 - gain) };
                let name = run_name(&size.workload, case, &space(size.gib));
                results.insert(name, [("read.mean_us", read)].into());
            }
        }
        evidence.runs = Runs::new(evidence.runs.columns, results);
        evidence
    }

    /// Returns made-up measurements of runs in steady state only, with the write amplification that
    /// `of` gives.
    pub(in crate::hire) fn invented_in_steady_state(of: impl Fn(&str, Case) -> f64) -> Evidence {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let mut results = Results::new();
        for column in &columns {
            for case in MEASURED {
                let run = [("waf", of(&column.name, case))].into();
                results.insert(run_name(&column.name, case, RESTED), run);
            }
        }
        let runs = Runs::new(columns, results);
        Evidence { paper, runs, oracles: Results::new(), states: None }
    }
}
