//! Tables: the figures of the RHIO paper as numbers, and tables for the questions it leaves open.

use super::claims::{BELOW_NOOP, BELOW_PV_W, BELOW_RT_R, PRIORITIZED_WRITES, correlations};
use super::paper::Paper;
use super::plan::{
    Case, Evidence, KINDS, Kind, READS_FIRST, RECORDED, SCHEMES, SOURCES, UNORDERED, ablated,
    average_named, chosen, estimated, faster, lasting, run_name, staged,
};
use super::sweeps;
use crate::claim::{Answer, ClaimId, Measured, labelled};
use crate::repetition::Repetition;
use crate::run_summary::{Number, READ, WRITE};
use crate::studies::interval;
use fowler_experiment::tables::{Cell, Sheet};

/// A reduction of mean latency by RHIO for which the RHIO paper's text prints a number.
#[derive(Clone, Copy)]
pub(super) struct Gain {
    /// Index in [`KINDS`] of the requests whose latency is reduced: reads or writes.
    pub kind: usize,
    /// Preset of the scheme that RHIO is compared with.
    pub base: &'static str,
    pub claim: ClaimId,
}

const fn reduced(kind: usize, base: &'static str, claim: ClaimId) -> Gain {
    Gain { kind, base, claim }
}

/// The six reductions of mean latency by RHIO for which the RHIO paper's text prints numbers.
pub(super) const GAINS: [Gain; 6] = [
    reduced(0, "noop", BELOW_NOOP),
    reduced(0, "rt_r", BELOW_RT_R),
    reduced(0, "pv_w", BELOW_PV_W),
    reduced(1, "noop", BELOW_NOOP),
    reduced(1, "rt_r", BELOW_RT_R),
    reduced(1, "pv_w", BELOW_PV_W),
];

/// Returns the RHIO paper's name of a scheme.
pub(super) fn called(scheme: &str) -> &'static str {
    SCHEMES.iter().find(|(preset, _)| *preset == scheme).map_or("", |(_, name)| name)
}

/// Returns the name of a reduction of mean latency: `reads, RHIO below NOOP`.
pub(super) fn gain_name(gain: Gain) -> String {
    format!("{}s, RHIO below {}", KINDS[gain.kind].name, called(gain.base))
}

/// Returns the share by which RHIO lowers a mean latency under a workload.
pub(super) fn gain(evidence: &Evidence, column: &str, case: Case<'_>, gain: Gain) -> Option<f64> {
    Some(1.0 - evidence.ratio(column, ("rhio", gain.base), case, KINDS[gain.kind].mean)?)
}

/// Returns the mean latency, relative to NOOP, that the RHIO paper's text implies for a scheme: the
/// text gives RHIO relative to each scheme, and a quotient of means stands for the mean of
/// quotients.
pub(super) fn implied(paper: &Paper, scheme: &str, kind: usize) -> Option<f64> {
    let left = |id: ClaimId| Some(1.0 - paper.number(id, KINDS[kind].name)?);
    let rhio = left(BELOW_NOOP)?;
    match scheme {
        "noop" => Some(1.0),
        "rt_r" => Some(rhio / left(BELOW_RT_R)?),
        "pv_w" => Some(rhio / left(BELOW_PV_W)?),
        _ => Some(rhio),
    }
}

/// Returns the RHIO paper's figures as numbers (Figures 4 to 6), and the table of the runs behind
/// them.
pub(super) fn shown(paper: &Paper, evidence: &Evidence, answers: &[Answer]) -> Vec<Sheet> {
    let mut sheets =
        vec![workloads(evidence), gains(paper, evidence, answers), orders(paper, evidence)];
    for kind in 0..KINDS.len() {
        sheets.push(latencies(paper, evidence, kind));
    }
    sheets.extend([shares(paper, evidence), runs(evidence)]);
    sheets
}

/// Returns the tables for the questions that the RHIO paper leaves open.
pub(super) fn open_questions(paper: &Paper, evidence: &Evidence) -> [Sheet; 8] {
    [
        sweeps::lengths(paper, evidence),
        sweeps::depths(paper, evidence),
        sweeps::units(paper, evidence),
        intensity(paper, evidence),
        correlation(paper, evidence),
        ablation(paper, evidence),
        estimate(paper, evidence),
        choices(paper, evidence),
    ]
}

/// Returns the table of the RHIO study's workloads, replayed as recorded.
fn workloads(evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "source",
        "requests",
        "reads",
        "read KiB",
        "write KiB",
        "per second",
        "drive idle",
        "chip busy",
    ];
    let title = "Workloads as recorded, and how busy they keep the drive under NOOP";
    let mut sheet = Sheet::new("workloads", title, &heads);
    for column in &evidence.runs.columns {
        let of = |of| evidence.number(&column.name, "noop", RECORDED, of);
        let run = run_name(&column.name, "noop", RECORDED);
        let mut row = evidence.runs.asked(column, &run);
        row.extend(evidence.runs.sizes(&run));
        row.extend([
            Cell::number(of(|run| run.get("iops"))),
            Cell::share(of(|run| run.get("idle_share"))),
            Cell::share(utilisation(evidence, &column.name, RECORDED)),
        ]);
        sheet.row(row);
    }
    sheet
}

/// Number of chips in the RHIO paper's drive.
const CHIPS: f64 = 64.0;

/// Returns the share of time that a chip is busy under NOOP, mean over the chips.
fn utilisation(evidence: &Evidence, column: &str, case: Case<'_>) -> Option<f64> {
    evidence.number(column, "noop", case, |run| {
        Some(run.get("counters.die_busy_s")? / run.get("simulated_s")? / CHIPS)
    })
}

/// Returns a latency reduction by RHIO in the RHIO study's repetitions: the mean over all seeds,
/// half of its 95 % confidence interval, and the reduction in runs twice as long.
fn repeated(answers: &[Answer], which: Gain) -> [Option<f64>; 3] {
    let Some(answer) = answers.iter().find(|it| it.statement.id == which.claim.0) else {
        return [None; 3];
    };
    let value = |it: &Option<_>| {
        it.as_ref().and_then(|it: &Measured| labelled(&it.values, KINDS[which.kind].name))
    };
    let of = |is: fn(Repetition) -> bool| {
        let repetitions = answer.repeated.iter().filter(move |(it, _)| is(*it));
        repetitions.filter_map(|(_, it)| value(it)).collect::<Vec<_>>()
    };
    let mut seeds = of(|it| matches!(it, Repetition::Seed(_)));
    seeds.extend(value(&answer.measured));
    let seeds = interval(&seeds);
    let twice = of(|it| it == Repetition::Twice).first().copied();
    [seeds.map(|it| it.mean), seeds.map(|it| it.half_width), twice]
}

/// Returns the table of the RHIO paper's six reductions of mean latency next to the measured ones:
/// as recorded, and replayed so fast that requests conflict.
fn gains(paper: &Paper, evidence: &Evidence, answers: &[Answer]) -> Sheet {
    let [here, twice, faster_head] = [
        format!("{} of the week", paper.week),
        format!("{} of the week", 2.0 * paper.week),
        format!("{} times as fast", paper.conflicts),
    ];
    let heads = [
        "gain",
        "published",
        &here,
        "mean of five seeds",
        "95 % +-",
        &twice,
        "whole week",
        &faster_head,
    ];
    let mut sheet = Sheet::new("gains", "Mean reductions over twelve stand-ins", &heads);
    for which in GAINS {
        let at = |case| evidence.runs.average(|column| gain(evidence, column, case, which));
        let [seeds, half, longer] = repeated(answers, which);
        let week = lasting(1.0);
        sheet.row(vec![
            gain_name(which).into(),
            Cell::share(paper.number(which.claim, KINDS[which.kind].name)),
            Cell::share(at(RECORDED)),
            Cell::share(seeds),
            Cell::share(half),
            Cell::share(longer),
            Cell::share(at(Case { variant: &week, speed: 1.0 })),
            Cell::share(at(faster(paper.conflicts))),
        ]);
    }
    sheet
}

/// Returns the table of what RHIO's order adds to its other two techniques, which are those of the
/// baselines: reductions of mean latency under RHIO, in order of arrival, and with reads first.
fn orders(paper: &Paper, evidence: &Evidence) -> Sheet {
    let of = |variant| ("noop", Case { variant, ..RECORDED });
    let orders = [
        ("RHIO", ("rhio", RECORDED)),
        ("order of arrival", of(UNORDERED)),
        ("reads first", of(READS_FIRST)),
    ];
    let mut heads = vec!["gain", "published"];
    heads.extend(orders.iter().map(|(name, _)| *name));
    let title = "PV-W's writes and RT-R's reads together, by the order of requests";
    let mut sheet = Sheet::new("orders", title, &heads);
    for which in GAINS {
        let Kind { name, mean: number, .. } = KINDS[which.kind];
        let mut row: Vec<Cell> = vec![
            format!("{name}s below {}", called(which.base)).into(),
            Cell::share(paper.number(which.claim, name)),
        ];
        row.extend(orders.iter().map(|(_, (scheme, case))| {
            Cell::share(evidence.runs.average(|column| {
                let mine = evidence.number(column, scheme, *case, number)?;
                Some(1.0 - mine / evidence.number(column, which.base, RECORDED, number)?)
            }))
        }));
        sheet.row(row);
    }
    sheet
}

/// Returns Figure 4 or 5 of the RHIO paper as a table: mean latencies relative to NOOP (order of
/// arrival).
pub(super) fn latencies(paper: &Paper, evidence: &Evidence, kind: usize) -> Sheet {
    let Kind { name, mean: number, .. } = KINDS[kind];
    let heads: Vec<&str> =
        ["workload", "requests"].into_iter().chain(SCHEMES.map(|(_, name)| name)).collect();
    let figure = 4 + kind;
    let title = format!("Figure {figure}: mean {name} latency normalized to NOOP");
    let mut sheet = Sheet::new(&format!("figure{figure}"), title, &heads);
    let mut add = |name: &str, conflicts: &str, of: &dyn Fn(&str) -> Option<f64>| {
        let mut row = vec![name.into(), conflicts.into()];
        row.extend(SCHEMES.map(|(scheme, _)| Cell::number(of(scheme))));
        sheet.row(row);
    };
    let ratio = |column: &str, scheme: &str, case: Case<'_>| {
        evidence.ratio(column, (scheme, "noop"), case, number)
    };
    let average = |scheme: &str| evidence.runs.average(|column| ratio(column, scheme, RECORDED));
    for group in evidence.runs.groups() {
        match group {
            "mean" => add(group, "as recorded", &average),
            name => add(name, "as recorded", &|scheme| ratio(name, scheme, RECORDED)),
        }
    }
    if !evidence.brief {
        let week = lasting(1.0);
        let whole = Case { variant: &week, speed: 1.0 };
        let fast = format!("{} times as fast", paper.conflicts);
        for (head, case) in [("whole week", whole), (fast.as_str(), faster(paper.conflicts))] {
            for column in evidence.runs.stand_ins() {
                add(&column.name, head, &|scheme| ratio(&column.name, scheme, case));
            }
            add("mean", head, &|scheme| evidence.runs.average(|it| ratio(it, scheme, case)));
        }
    }
    add("mean, published", "", &|scheme| implied(paper, scheme, kind));
    sheet
}

/// Returns Figure 6 of the RHIO paper as a table: shares of prioritized requests.
fn shares(paper: &Paper, evidence: &Evidence) -> Sheet {
    let faster_heads =
        ["reads", "writes"].map(|it| format!("{it}, {} times as fast", paper.conflicts));
    let heads = [
        "workload",
        "reads, as recorded",
        "writes, as recorded",
        "writes, published",
        &faster_heads[0],
        &faster_heads[1],
    ];
    let title = "Figure 6: share of requests prioritized by RHIO";
    let mut sheet = Sheet::new("figure6", title, &heads);
    for column in &evidence.runs.columns {
        let of = |case, kind| Cell::share(evidence.prioritized(&column.name, case, kind));
        sheet.row(vec![
            column.name.as_str().into(),
            of(RECORDED, 0),
            of(RECORDED, 1),
            Cell::share(paper.number(PRIORITIZED_WRITES, &column.name)),
            of(faster(paper.conflicts), 0),
            of(faster(paper.conflicts), 1),
        ]);
    }
    sheet
}

/// Returns the table of every run of the RHIO paper's four schemes with requests as recorded.
fn runs(evidence: &Evidence) -> Sheet {
    let numbers: [(&str, Number); 16] = [
        ("read mean (us)", READ),
        ("read p99 (us)", |run| run.get("read.p99_us")),
        ("read p99.9 (us)", |run| run.get("read.p999_us")),
        ("write mean (us)", WRITE),
        ("write p99 (us)", |run| run.get("write.p99_us")),
        ("write p99.9 (us)", |run| run.get("write.p999_us")),
        ("reads at 3 references", |run| run.get("counters.reads_at.3")),
        ("reads at 9", |run| run.get("counters.reads_at.9")),
        ("reads at 21", |run| run.get("counters.reads_at.21")),
        ("retries", |run| run.get("counters.retries")),
        ("uncorrectable", |run| run.get("counters.uncorrectable_reads")),
        ("prioritized reads", |run| run.get("counters.prioritized_reads")),
        ("prioritized writes", |run| run.get("counters.prioritized_writes")),
        ("WAF", |run| run.get("waf")),
        ("erases", |run| run.get("erases")),
        ("pages moved by GC", |run| run.get("counters.programs.gc")),
    ];
    let mut heads = vec!["workload", "scheme"];
    heads.extend(numbers.map(|(head, _)| head));
    let mut sheet = Sheet::new("runs", "Every run of the four schemes as recorded", &heads);
    for column in &evidence.runs.columns {
        for (scheme, name) in SCHEMES {
            let number =
                |(_, of)| Cell::number(evidence.number(&column.name, scheme, RECORDED, of));
            let mut row = vec![column.name.as_str().into(), name.into()];
            row.extend(numbers.map(number));
            sheet.row(row);
        }
    }
    sheet
}

/// Returns the table of shares of prioritized requests and latency reductions of every volume at
/// every replay speed.
pub(super) fn intensity(paper: &Paper, evidence: &Evidence) -> Sheet {
    let mut heads = vec![
        "workload".to_string(),
        "speed".into(),
        "chip busy".into(),
        "prioritized reads".into(),
        "prioritized writes".into(),
    ];
    heads.extend(GAINS.map(gain_name));
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let title = "Every stand-in at every speed";
    let mut sheet = Sheet::new("intensity", title, &heads);
    for column in evidence.runs.stand_ins() {
        for speed in [1.0].into_iter().chain(paper.speeds.iter().copied()) {
            let case = faster(speed);
            let mut row = vec![
                column.name.as_str().into(),
                Cell::Number(speed),
                Cell::share(utilisation(evidence, &column.name, case)),
                Cell::share(evidence.prioritized(&column.name, case, 0)),
                Cell::share(evidence.prioritized(&column.name, case, 1)),
            ];
            row.extend(GAINS.map(|which| Cell::share(gain(evidence, &column.name, case, which))));
            sheet.row(row);
        }
    }
    sheet
}

/// Returns the table of the rank correlations between shares of prioritized requests and latency
/// reductions, by replay speed.
fn correlation(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = ["speed", "writes, against PV-W", "reads, against RT-R"];
    let title = "Rank correlation of the share of prioritized requests with the gain, over twelve stand-ins";
    let mut sheet = Sheet::new("correlation", title, &heads);
    for speed in [1.0].into_iter().chain(paper.speeds.iter().copied()) {
        let values = correlations(evidence, faster(speed)).map(|it| it.values);
        let value = |at: usize| values.as_ref().map(|values| values[at].1);
        sheet.row(vec![Cell::Number(speed), Cell::number(value(0)), Cell::number(value(1))]);
    }
    sheet
}

/// Returns the mean latency of a set of techniques (`answer`) relative to the baseline at the same
/// stage of life, mean over the volumes that the RHIO paper's text names.
fn ablated_ratio(
    paper: &Paper,
    evidence: &Evidence,
    (answer, stage, speed): (&str, &str, f64),
    of: Number,
) -> Option<f64> {
    let (mine, base) = (staged(answer, stage), staged("NOOP", stage));
    average_named(paper, |column| {
        let number = |variant| evidence.number(column, "noop", Case { variant, speed }, of);
        Some(number(&mine)? / number(&base)?)
    })
}

/// Returns the table of the effects of each of RHIO's techniques alone, in pairs and together, over
/// the drive's life.
pub(super) fn ablation(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = [
        "techniques",
        "speed",
        "device",
        "reads / NOOP",
        "writes / NOOP",
        "tries per read",
        "uncorrectable per million reads",
    ];
    let title = "Each technique alone, in pairs and together; means over four volumes";
    let mut sheet = Sheet::new("ablation", title, &heads);
    for answer in ablated(paper) {
        for speed in [1.0, paper.conflicts] {
            for stage in &paper.stage {
                let at = (answer.name.as_str(), stage.name.as_str(), speed);
                let variant = staged(&answer.name, &stage.name);
                let case = Case { variant: &variant, speed };
                let retries: Number = |run| run.get("counters.retries");
                let tries = per_read(paper, evidence, ("noop", case), retries);
                let tries = tries.map(|it| 1.0 + it);
                sheet.row(vec![
                    answer.name.as_str().into(),
                    Cell::Number(speed),
                    stage.name.as_str().into(),
                    Cell::number(ablated_ratio(paper, evidence, at, READ)),
                    Cell::number(ablated_ratio(paper, evidence, at, WRITE)),
                    Cell::number(tries),
                    Cell::number(uncorrectable(paper, evidence, ("noop", case))),
                ]);
            }
        }
    }
    sheet
}

/// Returns a counter of the drive divided by the number of pages read from the flash, mean over the
/// volumes that the RHIO paper's text names.
fn per_read(
    paper: &Paper,
    evidence: &Evidence,
    (scheme, case): (&str, Case<'_>),
    of: Number,
) -> Option<f64> {
    average_named(paper, |column| {
        let run = evidence.runs.summary(&run_name(column, scheme, case))?;
        let levels = [3, 9, 21].map(|it| run.get(&format!("counters.reads_at.{it}")));
        let reads: f64 = levels.into_iter().flatten().sum();
        Some(of(run)? / reads)
    })
}

/// Returns the number of uncorrectable reads per million flash reads, mean over the volumes that
/// the RHIO paper's text names.
pub(super) fn uncorrectable(
    paper: &Paper,
    evidence: &Evidence,
    run: (&str, Case<'_>),
) -> Option<f64> {
    let uncorrectable: Number = |run| run.get("counters.uncorrectable_reads");
    Some(1e6 * per_read(paper, evidence, run, uncorrectable)?)
}

/// Returns the share by which a scheme lowers a mean latency relative to NOOP with block strengths
/// from `source`, mean over the volumes that the RHIO paper's text names.
pub(super) fn estimated_gain(
    paper: &Paper,
    evidence: &Evidence,
    (scheme, source, cycles): (&str, &str, u32),
    of: Number,
) -> Option<f64> {
    let variant = estimated(source, cycles);
    let case = Case { variant: &variant, speed: 1.0 };
    average_named(paper, |it| Some(1.0 - evidence.ratio(it, (scheme, "noop"), case, of)?))
}

/// Returns the table of the effect on latency of errors in the estimated block strength.
fn estimate(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = [
        "P/E cycles",
        "strength",
        "writes, PV-W below NOOP",
        "RHIO below NOOP",
        "reads, RHIO below NOOP",
        "uncorrectable per million reads, PV-W",
        "RHIO",
        "measurement reads per host read",
    ];
    let title = "Cost of an estimated block strength; means over four volumes as recorded";
    let mut sheet = Sheet::new("estimate", title, &heads);
    for &cycles in &paper.estimate.cycles {
        for source in SOURCES {
            let variant = estimated(source, cycles);
            let case = Case { variant: &variant, speed: 1.0 };
            let lower = |scheme, of| {
                Cell::share(estimated_gain(paper, evidence, (scheme, source, cycles), of))
            };
            let lost = |scheme| Cell::number(uncorrectable(paper, evidence, (scheme, case)));
            sheet.row(vec![
                Cell::Number(f64::from(cycles)),
                source.into(),
                lower("pv_w", WRITE),
                lower("rhio", WRITE),
                lower("rhio", READ),
                lost("pv_w"),
                lost("rhio"),
                Cell::number(average_named(paper, |it| {
                    evidence.number(it, "rhio", case, |run| {
                        Some(run.get("counters.reads.wear")? / run.get("counters.reads.host")?)
                    })
                })),
            ]);
        }
    }
    sheet
}

/// Returns the table of alternative assumptions about what the RHIO paper does not state, with the
/// effects of each.
fn choices(paper: &Paper, evidence: &Evidence) -> Sheet {
    let mut heads = vec!["choice".to_string(), "rule".into(), "speed".into()];
    heads.extend(GAINS.map(gain_name));
    heads.extend(
        ["prioritized reads", "prioritized writes", "uncorrectable per million reads"]
            .map(String::from),
    );
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let title = "Other assumptions where the paper is silent; means over four volumes";
    let mut sheet = Sheet::new("choices", title, &heads);
    for choice in chosen(paper) {
        let case = Case { variant: &choice.name, speed: choice.speed };
        let mut row = vec![
            choice.name.as_str().into(),
            choice.rule.as_str().into(),
            Cell::Number(choice.speed),
        ];
        row.extend(GAINS.map(|which| {
            Cell::share(average_named(paper, |column| gain(evidence, column, case, which)))
        }));
        let share = |kind| average_named(paper, |it| evidence.prioritized(it, case, kind));
        row.extend([Cell::share(share(0)), Cell::share(share(1))]);
        row.push(Cell::number(uncorrectable(paper, evidence, ("rhio", case))));
        sheet.row(row);
    }
    sheet
}
