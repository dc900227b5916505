//! The runs that the figures and open questions of the RHIO paper need, and access to their
//! results.

use super::paper::{Answer, Choice, Paper};
use crate::Request;
use crate::column::Column;
use crate::joint::{self, Combination};
use crate::paper_data;
use crate::repetition::{REPETITIONS, Repetition};
use crate::run_folder::RunFolder;
use crate::run_summary::{Number, READ, WRITE};
use crate::runs::{Runs, mean};
use crate::studies::ImageCache;
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::sweep::StudyPoint;
use fowler_experiment::workload::WorkloadSpec;
use serde::Deserialize;

/// The schemes of the RHIO paper: the preset, and the paper's name.
pub(super) const SCHEMES: [(&str, &str); 4] =
    [("noop", "NOOP"), ("pv_w", "PV-W"), ("rt_r", "RT-R"), ("rhio", "RHIO")];

/// Name of the variant of the RHIO paper's drive with the two baselines' techniques together
/// (PV-W's fast writes, RT-R's fast reads) in order of arrival: RHIO without its order.
pub(super) const UNORDERED: &str = "write speed + read speed";
/// Name of the variant of the RHIO paper's drive with the two baselines' techniques together and
/// reads before writes, an order that section III-B of the paper calls commonly used.
pub(super) const READS_FIRST: &str = "write speed + read speed, reads first";

/// Kind of request in the RHIO study, reads or writes, with the metrics that the study takes from
/// the results of a run.
pub(super) struct Kind {
    pub name: &'static str,
    pub mean: Number,
    /// Share of the reads, or of the writes, that RHIO prioritized over other requests, 0 to 1.
    share: Number,
}

/// Reads and writes, with their metrics in the RHIO study, in the order of the paper's figures.
pub(super) const KINDS: [Kind; 2] = [
    Kind {
        name: "read",
        mean: READ,
        share: |run| Some(run.get("counters.prioritized_reads")? / run.get("read.count")?),
    },
    Kind {
        name: "write",
        mean: WRITE,
        share: |run| Some(run.get("counters.prioritized_writes")? / run.get("write.count")?),
    },
];

/// Circumstances of a run of the RHIO study: the name of the variant of the drive and workload, and
/// the replay speed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub variant: &'a str,
    pub speed: f64,
}

/// Returns the case of the RHIO study with the paper's drive and with arrival times divided by
/// `speed`.
pub(super) const RECORDED: Case<'static> = Case { variant: "", speed: 1.0 };

/// Returns the RHIO paper's drive with arrival times divided by `speed`.
pub(super) fn faster(speed: f64) -> Case<'static> {
    Case { variant: "", speed }
}

pub(super) fn run_name(column: &str, scheme: &str, case: Case<'_>) -> String {
    let base = format!("{column} {scheme} x{}", case.speed);
    if case.variant.is_empty() { base } else { format!("{base} {}", case.variant) }
}

/// Returns the name of the RHIO study's variant whose runs replay the first share `share` (0 to 1)
/// of the week that each stand-in trace lasts.
pub(super) fn lasting(share: f64) -> String {
    format!("{share} of the week")
}

/// Returns the name of the RHIO study's variant of the drive that accepts `depth` commands at once.
pub(super) fn deep(depth: u32) -> String {
    format!("{depth} tags")
}

/// Returns the name of the RHIO study's variant of the drive with stripe units of `unit` pages
/// (placed on one chip before the next gets any).
pub(super) fn striped(unit: u32) -> String {
    format!("unit {unit}")
}

/// Name of the technique that is RHIO's order of requests alone, in the names of variants.
pub(super) const ORDER: &str = "order";

/// Number of preconditioned images kept in memory for later runs: those of all schemes and some
/// variants. Runs that begin from the same image are executed together.
const IMAGES: usize = 8;

/// Returns the name of the variant with a set of techniques (`answer`) at a stage of the drive's
/// life; an empty set is the RHIO paper's baseline.
pub(super) fn staged(answer: &str, stage: &str) -> String {
    format!("{answer} at {stage}")
}

/// Returns the name of the variant with `cycles` P/E cycles in which RHIO takes the strength of
/// blocks (how few errors they have) from `source`: an estimate from measured errors, or the true
/// strength.
pub(super) fn estimated(source: &str, cycles: u32) -> String {
    format!("strength {source} at {cycles} cycles")
}

/// The sources of block strength: an estimate from measured errors, or the true strength.
pub(super) const SOURCES: [&str; 2] = ["measured", "oracle"];
/// Presets of the RHIO study's baseline (`noop`) and of its schemes that write hot data to strong
/// blocks, which have fewer bit errors (`pv_w` and `rhio`).
pub(super) const WRITERS: [&str; 3] = ["noop", "pv_w", "rhio"];

/// All measurements of the RHIO study's runs, and the published numbers.
pub(crate) struct Evidence {
    pub(super) paper: Paper,
    pub(super) runs: Runs,
    /// True if only the runs behind the RHIO paper's figures were executed.
    pub(super) brief: bool,
}

/// A row of the RHIO study's table of runs: a variant of the drive under some workloads, replay
/// speeds and schemes.
struct Row<'a> {
    variant: String,
    set: Vec<String>,
    on: Vec<&'a Column>,
    speeds: Vec<f64>,
    schemes: Vec<&'static str>,
    length: Length,
    /// Seed of the drive and of the generated workload; `None` for the RHIO study's own.
    seed: Option<u64>,
}

/// The part of a workload that is replayed.
#[derive(Clone, Copy)]
enum Length {
    /// The first requests of the workload, as a share (0 to 1) of the week that the workload lasts.
    Week(f64),
    Requests(u64),
}

/// Returns every run as rows: four schemes under every workload as recorded (which the RHIO paper
/// shows), RHIO's techniques under other orders (a table and the nulls of claims), and, unless
/// `brief`, the runs for the questions that the paper leaves open. Runs on the same preconditioned
/// drive come together.
fn table<'a>(
    paper: &Paper,
    columns: &'a [Column],
    brief: bool,
) -> Result<Vec<Row<'a>>, Diagnostics> {
    let swept = Length::Requests(paper.swept_requests);
    let row =
        |variant: String, set: &[String], on: &[&'a Column], speeds: &[f64], schemes: &[_]| {
            let (set, on, speeds) = (set.to_vec(), on.to_vec(), speeds.to_vec());
            Row { variant, set, on, speeds, schemes: schemes.to_vec(), length: swept, seed: None }
        };
    let four = SCHEMES.map(|(scheme, _)| scheme);
    let all: Vec<&Column> = columns.iter().collect();
    let (stand_ins, real): (Vec<&Column>, Vec<&Column>) =
        columns.iter().partition(|column| column.is_stand_in());
    // The volumes for which the text gives numbers.
    let named: Vec<&Column> = columns.iter().filter(|it| paper.named.contains(&it.name)).collect();
    let (once, both, none) = ([1.0], [1.0, paper.conflicts], String::new);

    let shown = row(none(), &[], &all, &once, &four);
    let mut rows = vec![Row { length: Length::Week(paper.week), ..shown }];
    rows.extend(other_orders(paper, &stand_ins));
    if brief {
        return Ok(rows);
    }
    // The longest first: the others fill the time at the end.
    for &share in paper.lengths.iter().rev() {
        let lasting = row(lasting(share), &[], &stand_ins, &once, &four);
        rows.push(Row { length: Length::Week(share), ..lasting });
    }
    rows.push(row(none(), &[], &stand_ins, &paper.speeds, &four));
    for Answer { name: stage, set: worn } in &paper.stage {
        for Answer { name, set } in ablated(paper) {
            let set = [&worn[..], &set].concat();
            rows.push(row(staged(&name, stage), &set, &named, &both, &["noop"]));
        }
    }
    for &cycles in &paper.estimate.cycles {
        for source in SOURCES {
            let set =
                [format!("reliability.cycles={cycles}"), format!("reliability.strength={source}")];
            rows.push(row(estimated(source, cycles), &set, &named, &once, &WRITERS));
        }
    }
    for depth in depths(paper) {
        // Page queues have room for all commands: no command has more than 16 pages.
        let pages = 16 * depth.max(NCQ);
        let set = [
            format!("queue.depth={depth}"),
            format!("queue.max_reads={pages}"),
            format!("queue.max_writes={pages}"),
        ];
        rows.push(row(deep(depth), &set, &real, &once, &four));
        rows.push(row(deep(depth), &set, &named, &[paper.conflicts], &four));
    }
    for Choice { name, set, speed, .. } in chosen(paper) {
        rows.push(row(name, &set, &named, &[speed], &four));
    }
    for unit in units(paper) {
        let set =
            [format!("policy.placement.stripe_unit={unit}"), "policy.die_order=rhio".to_string()];
        for (on, speeds) in [(&named, &both[..]), (&real, &once)] {
            rows.push(row(striped(unit), &set[..1], on, speeds, &four));
            let ordered = format!("{} {ORDER}", striped(unit));
            rows.push(row(ordered, &set, on, speeds, &["noop"]));
        }
    }
    rows.extend(joint_rows(paper, &named)?);
    Ok(rows)
}

/// Returns the rows of runs of RHIO's two techniques other than its order, under orders of others.
fn other_orders<'a>(paper: &Paper, stand_ins: &[&'a Column]) -> [Row<'a>; 2] {
    let both: Vec<String> = paper
        .technique
        .iter()
        .filter(|it| it.name != ORDER)
        .flat_map(|it| it.set.iter().cloned())
        .collect();
    let reads_first = [&both[..], &["policy.die_order=read_first".to_string()]].concat();
    [(UNORDERED, both), (READS_FIRST, reads_first)].map(|(name, set)| Row {
        variant: name.into(),
        set,
        on: stand_ins.to_vec(),
        speeds: vec![1.0],
        schemes: vec!["noop"],
        length: Length::Week(paper.week),
        seed: None,
    })
}

/// Returns the rows of runs for every combination of options for settings that the RHIO paper
/// leaves open, under all schemes and every seed.
fn joint_rows<'a>(paper: &Paper, named: &[&'a Column]) -> Result<Vec<Row<'a>>, Diagnostics> {
    let mut rows = Vec::new();
    for Combination { name, set } in combinations(paper)? {
        rows.extend(joint_seeds().map(|seed| Row {
            variant: together(&name, seed),
            set: set.clone(),
            on: named.to_vec(),
            speeds: vec![1.0],
            schemes: SCHEMES.map(|(scheme, _)| scheme).into(),
            // As long as the runs on which verdicts rest: in shorter ones the reductions are
            // smaller.
            length: Length::Week(paper.week),
            seed,
        }));
    }
    Ok(rows)
}

/// Returns every combination of options for the settings that the RHIO paper leaves open and that
/// the published numbers of its baselines can settle.
pub(super) fn combinations(paper: &Paper) -> Result<Vec<Combination>, Diagnostics> {
    joint::combinations(&paper.open, super::joint::baselines(paper).len())
}

/// Returns the seeds under which combinations of options for settings that the RHIO paper leaves
/// open are run: the RHIO study's own, and those of its repetitions.
pub(super) fn joint_seeds() -> impl Iterator<Item = Option<u64>> {
    let seed = |repetition: &Repetition| match *repetition {
        Repetition::Seed(seed) => Some(Some(seed)),
        Repetition::Original | Repetition::Twice => None,
    };
    [None].into_iter().chain(REPETITIONS.iter().filter_map(seed))
}

/// Returns the name of the variant with a combination of options (for settings that the RHIO paper
/// leaves open) under a seed.
pub(super) fn together(combination: &str, seed: Option<u64>) -> String {
    seed.map_or(combination.to_string(), |seed| format!("{combination}, seed {seed}"))
}

/// Returns the runs of the rows in `table`: one for each workload, speed and scheme.
fn points(
    paper: &Paper,
    table: &[Row<'_>],
    limit: Option<u64>,
) -> Result<Vec<StudyPoint>, Diagnostics> {
    let mut points = Vec::new();
    for Row { variant, set, on, speeds, schemes, length, seed } in table {
        for column in on {
            let requests = match *length {
                Length::Week(share) => requests_of(column, share)?,
                Length::Requests(requests) => requests,
            };
            for &speed in speeds {
                let device = DeviceSpec { seed: *seed, ..paper.device(set) };
                let run = RunSpec {
                    limit: Some(limit.map_or(requests, |limit| limit.min(requests))),
                    ..RunSpec::new(device, column.spec.clone(), ReplaySpeed::Speed(speed))
                };
                points.extend(schemes.iter().map(|&scheme| StudyPoint {
                    name: run_name(&column.name, scheme, Case { variant, speed }),
                    run: RunSpec { scheme: Some(scheme.into()), ..run.clone() },
                }));
            }
        }
    }
    Ok(points)
}

/// Number of commands that can be outstanding at once under NCQ.
pub(super) const NCQ: u32 = 32;

/// Returns the numbers of outstanding commands for which the RHIO study runs the drive, ascending.
pub(super) fn depths(paper: &Paper) -> Vec<u32> {
    let mut all = paper.depths.clone();
    all.push(NCQ);
    all.sort_unstable();
    all
}

/// Returns the sizes of the stripe unit in pages that are swept, ascending.
pub(super) fn units(paper: &Paper) -> Vec<u32> {
    let mut all = paper.units.clone();
    all.push(1);
    all.sort_unstable();
    all
}

/// Returns the number of requests in a share (0 to 1) of the week that a stand-in trace of the RHIO
/// study lasts; no limit for an excerpt of a real trace.
fn requests_of(column: &Column, share: f64) -> Result<u64, Diagnostics> {
    /// Part of the description (TOML) of a stand-in trace: number of requests in a week of the
    /// workload.
    #[derive(Deserialize)]
    struct Week {
        requests: u64,
    }
    let WorkloadSpec::Generated(source) = &column.spec else { return Ok(u64::MAX) };
    let Week { requests } = paper_data::open(&source.name, &source.text)?;
    Ok((requests as f64 * share) as u64)
}

/// Returns the sets of techniques whose latencies the RHIO study compares: no technique (the
/// baseline NOOP), each of RHIO's techniques and their combinations, then alternatives to RHIO.
pub(super) fn ablated(paper: &Paper) -> Vec<Answer> {
    let none = Answer { name: "NOOP".into(), set: Vec::new() };
    [none].into_iter().chain(paper.answers()).collect()
}

/// Returns the sets of assumptions about the RHIO paper's drive that the study compares in runs
/// with fewer requests and volumes: first its own, then the alternatives.
pub(super) fn chosen(paper: &Paper) -> Vec<Choice> {
    let ours = Choice {
        name: "the study's assumptions".into(),
        rule: String::new(),
        set: vec![],
        speed: 1.0,
    };
    [ours].into_iter().chain(paper.choice.clone()).collect()
}

impl Evidence {
    /// Executes all runs of the RHIO study, or loads those saved by an earlier call. Returns `None`
    /// if the study was stopped.
    pub(super) fn of(
        paper: Paper,
        columns: Vec<Column>,
        request: &Request,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Diagnostics> {
        let images = ImageCache::of(IMAGES);
        let &Request { limit, brief, .. } = request;
        let points = points(&paper, &table(&paper, &columns, brief)?, limit)?;
        let Some(results) = runs.simulate(points, &images)? else { return Ok(None) };
        Ok(Some(Evidence { paper, runs: Runs::new(columns, results), brief }))
    }

    /// Returns a metric of the RHIO study's run of the workload `column` under a scheme, with the
    /// drive's variant and the replay speed in `case`.
    pub(super) fn number(
        &self,
        column: &str,
        scheme: &str,
        case: Case<'_>,
        of: Number,
    ) -> Option<f64> {
        self.runs.number(&self.run(column, scheme, case), of)
    }

    /// Returns the name of the run whose results are read when a claim of the RHIO paper asks for a
    /// scheme, in a variant of the drive and at a replay speed: in a control measurement without
    /// the paper's system, another scheme is read instead.
    fn run(&self, column: &str, scheme: &str, case: Case<'_>) -> String {
        self.varied(column, &self.runs.view.scheme(scheme), case)
    }

    /// Returns the name of the RHIO study's run under exactly the scheme `scheme`, with the variant
    /// of the drive and the replay speed in `case`, or those that a control measurement of a claim
    /// puts in their place.
    fn varied(&self, column: &str, scheme: &str, case: Case<'_>) -> String {
        let view = &self.runs.view;
        let variant = view.variant(scheme, case.variant);
        let speed = if case.variant.is_empty() { view.speed(case.speed) } else { case.speed };
        run_name(column, scheme, Case { variant: &variant, speed })
    }

    /// Returns a metric (`of`) of the RHIO study's run of a workload under one scheme divided by
    /// that under another.
    pub(super) fn ratio(
        &self,
        column: &str,
        (scheme, base): (&str, &str),
        case: Case<'_>,
        of: Number,
    ) -> Option<f64> {
        let run = |scheme| self.run(column, scheme, case);
        self.runs.ratio(&run(scheme), &run(base), of)
    }

    /// Returns the share of requests (0 to 1) that RHIO prioritized, of the kind at index `kind` of
    /// [`KINDS`] (reads, writes). It is read from the run of RHIO even where a claim is measured
    /// without RHIO.
    pub(super) fn prioritized(&self, column: &str, case: Case<'_>, kind: usize) -> Option<f64> {
        let share = self.runs.number(&self.varied(column, "rhio", case), KINDS[kind].share);
        share.filter(|share| share.is_finite())
    }
}

/// Returns the mean of the metric that `of` gives for a volume, over the volumes that the RHIO
/// paper's text names.
pub(super) fn average_named(paper: &Paper, of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    average_of(&paper.named, of)
}

/// Returns the mean of the metric that `of` gives for a workload, over the workloads named in
/// `columns`; `None` if one has no value.
pub(super) fn average_of(columns: &[String], of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let all: Option<Vec<f64>> = columns.iter().map(|name| of(name)).collect();
    mean(&all?)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::column::columns;
    use crate::run_folder::Results;
    use crate::run_folder::tests::set_up;
    use crate::run_summary::RunSummary;

    /// Every run of the RHIO study uses an existing drive and workload.
    #[test]
    fn every_run_can_be_set_up() {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let points = |brief| {
            set_up(&points(&paper, &table(&paper, &columns, brief).unwrap(), None).unwrap())
        };
        let shown = 12 * (4 + 2);
        assert_eq!(points(true), shown);
        let all = 12 * 4 * (paper.lengths.len() + paper.speeds.len());
        let ablated = 4 * 3 * 2 * (1 + 7 + paper.rival.len());
        let choices = 4 * 4 * (1 + paper.choice.len());
        let estimates = 4 * 3 * 2 * paper.estimate.cycles.len();
        let depths = 4 * 4 * depths(&paper).len();
        let units = 4 * 5 * 2 * units(&paper).len();
        let joint = 4 * 4 * 5 * combinations(&paper).unwrap().len();
        let others = ablated + choices + estimates + depths + units + joint;
        assert_eq!(points(false), shown + all + others);
    }

    #[test]
    fn a_share_of_the_week_is_a_share_of_its_requests() {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let mds = columns.iter().find(|it| it.name == "mds").unwrap();
        assert_eq!(requests_of(mds, 1.0).unwrap(), 1_211_034);
        assert_eq!(requests_of(mds, 0.25).unwrap(), 302_758);
    }

    #[test]
    fn techniques_come_alone_in_pairs_and_together() {
        let names: Vec<String> =
            Paper::open().unwrap().answers().into_iter().map(|it| it.name).take(7).collect();
        assert_eq!(names[..4], ["write speed", "read speed", "order", "write speed + read speed"]);
        assert_eq!(names[6], "all (RHIO)");
    }

    /// Returns made-up measurements by workload, scheme (or variant with RHIO's techniques under a
    /// plainer order) and replay speed: mean read and mean write latency, and the shares (0 to 1)
    /// of reads and of writes that RHIO prioritized.
    pub(in crate::rhio) fn invented(of: impl Fn(&str, &str, f64) -> [f64; 4]) -> Evidence {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let mut results = Results::new();
        // Made-up runs of the variants exist as recorded, under the baseline scheme, as the real
        // ones.
        for column in &columns {
            for variant in [UNORDERED, READS_FIRST] {
                let [read, write, ..] = of(&column.name, variant, 1.0);
                let run = RunSummary::from([("read.mean_us", read), ("write.mean_us", write)]);
                let case = Case { variant, speed: 1.0 };
                results.insert(run_name(&column.name, "noop", case), run);
            }
            for (scheme, _) in SCHEMES {
                for speed in [1.0].into_iter().chain(paper.speeds.iter().copied()) {
                    let [read, write, reads, writes] = of(&column.name, scheme, speed);
                    let run = RunSummary::from([
                        ("read.count", 1000.0),
                        ("read.mean_us", read),
                        ("write.count", 1000.0),
                        ("write.mean_us", write),
                        ("counters.prioritized_reads", 1000.0 * reads),
                        ("counters.prioritized_writes", 1000.0 * writes),
                        // The run with more conflicts is shorter, so its requests come at a higher
                        // rate.
                        ("simulated_s", 1.0 / (reads + writes)),
                    ]);
                    results.insert(run_name(&column.name, scheme, faster(speed)), run);
                }
            }
        }
        Evidence { paper, runs: Runs::new(columns, results), brief: true }
    }
}
