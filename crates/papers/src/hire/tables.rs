//! Tables: the figures of the HIRE paper as numbers, with upper bounds and the published numbers.

use super::claims::{READS, WEAR, config, hit_bits};
use super::oracle::Judged;
use super::paper::Paper;
use super::plan::{
    AS_IT_IS, BASELINE, CASES, Case, Evidence, HIRE, HVC, LVC, ON_EVICT, RESTED, REWRITE, WAITS,
    WAITS_ALONE, run_name, summary_worn,
};
use crate::claim::ClaimId;
use crate::run_summary::{Number, READ, WRITE};
use crate::runs::mean;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_physics::ldpc::Ldpc;
use fowler_physics::rber::{Analytic, Reliability};
use fowler_physics::voltage::{Hire, SCALES};
use fowler_units::Span;

/// Times of a single read at the boosted, nominal and reduced voltages of the HIRE paper's Table 1,
/// divided by that at the nominal one. Without queueing, no mean is lower than the first or higher
/// than the last.
pub(super) const READS_ALONE: [f64; 3] = [70.0 / 170.0, 1.0, 310.0 / 170.0];

/// A figure (chart) of the HIRE paper: the metric that it shows for each scheme under each
/// workload, relative to the baseline scheme.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    pub name: &'static str,
    pub title: &'static str,
    pub of: fn(&Evidence, &str, Case) -> Option<f64>,
    /// ID of the claim with the numbers that the HIRE paper prints for its own scheme in a figure.
    pub claim: ClaimId,
    /// Least and largest value that the metric of this HIRE figure can have, relative to the
    /// baseline scheme.
    pub ceilings: [f64; 2],
}

pub(super) const FIGURE_3: Shown = Shown {
    name: "figure3",
    title: "Figure 3: mean read latency relative to the baseline",
    of: |evidence, column, case| evidence.ratio(column, case, AS_IT_IS, READ),
    claim: READS,
    ceilings: [READS_ALONE[0], READS_ALONE[2]],
};

pub(super) const FIGURE_4: Shown = Shown {
    name: "figure4",
    title: "Figure 4: wear weight of all programs relative to the baseline",
    of: |evidence, column, case| evidence.worn_ratio(column, case, AS_IT_IS),
    claim: WEAR,
    ceilings: [SCALES[2], SCALES[0]],
};

impl Shown {
    /// Returns HIRE's value in a figure of the HIRE paper, relative to the baseline, as the paper's
    /// text prints it for a workload or as the mean; `label` names which.
    pub fn published(&self, paper: &Paper, label: &str) -> Option<f64> {
        Some(1.0 - paper.number(self.claim, label)?)
    }

    fn sheet(&self, paper: &Paper, evidence: &Evidence) -> Sheet {
        let heads: Vec<&str> = ["workload"]
            .into_iter()
            .chain(CASES.iter().skip(1).map(|case| case.name))
            .chain(["HIRE published"])
            .collect();
        let mut sheet = Sheet::new(self.name, self.title, &heads);
        let row = |name: &str, of: &dyn Fn(Case) -> Option<f64>| {
            let cells = CASES.iter().skip(1).map(|&case| Cell::number(of(case)));
            let published = Cell::number(self.published(paper, name));
            [name.into()].into_iter().chain(cells).chain([published]).collect()
        };
        for column in &evidence.runs.columns {
            let name = column.name.as_str();
            sheet.row(row(name, &|case| (self.of)(evidence, name, case)));
        }
        let average = |case| mean(&evidence.runs.each(|column| (self.of)(evidence, column, case))?);
        sheet.row(row("mean", &average));
        let [least, most] = self.ceilings;
        sheet.row(row("no queueing, at least", &|_| Some(least)));
        sheet.row(row("no queueing, at most", &|_| Some(most)));
        sheet
    }
}

/// Returns the tables of the HIRE paper's figures, and of the runs behind them.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Sheet> {
    let mut sheets =
        vec![workloads(evidence), FIGURE_3.sheet(paper, evidence), FIGURE_4.sheet(paper, evidence)];
    sheets.extend([figure5(evidence), uses(evidence), lifetime(evidence), overhead()]);
    sheets.extend(physics());
    sheets
}

fn workloads(evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "source",
        "requests",
        "reads",
        "baseline read (us)",
        "idle",
        "read hits in the buffer",
        "write hits",
    ];
    let title = "The workloads on the baseline, starting with an empty buffer";
    let mut sheet = Sheet::new("workloads", title, &heads);
    for column in &evidence.runs.columns {
        let number = |of| evidence.number(&column.name, BASELINE, AS_IT_IS, of);
        let mut row = evidence.runs.asked(column, &run_name(&column.name, BASELINE, AS_IT_IS));
        row.extend([
            Cell::number(number(READ)),
            Cell::share(number(|run| run.get("idle_share"))),
            Cell::share(number(|run| {
                Some(run.get("counters.buffer_read_hits")? / run.get("counters.pages_read")?)
            })),
            Cell::share(number(|run| {
                Some(run.get("counters.buffer_write_hits")? / run.get("counters.pages_written")?)
            })),
        ]);
        sheet.row(row);
    }
    sheet
}

fn figure5(evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "writes",
        "baseline (us)",
        "HVC",
        "LVC",
        "HIRE",
        "HIRE rewrite",
        "HVC p99",
        "LVC p99",
        "HIRE p99",
        "HIRE rewrite p99",
    ];
    let title = "Figure 5: mean write latency relative to the baseline, and p99. A write acknowledged by the buffer \
                 takes no time, so the other rows wait for the flash, with and without reading the old page for \
                 partial page writes";
    let mut sheet = Sheet::new("figure5", title, &heads);
    let cases = [HVC, LVC, HIRE, REWRITE];
    for (variant, name) in
        [(AS_IT_IS, "acknowledged"), (WAITS, "wait"), (WAITS_ALONE, "wait, old pages unread")]
    {
        for column in &evidence.runs.columns {
            let column = column.name.as_str();
            let ratios = |of: Number| cases.map(|it| evidence.ratio(column, it, variant, of));
            let base = evidence.number(column, BASELINE, variant, WRITE);
            let cells =
                [ratios(WRITE), ratios(|run| run.get("write.p99_us"))].into_iter().flatten();
            let cells = [base].into_iter().chain(cells).map(Cell::number);
            sheet.row([column.into(), name.into()].into_iter().chain(cells).collect());
        }
        let average = |case| {
            mean(&evidence.runs.each(|column| evidence.ratio(column, case, variant, WRITE))?)
        };
        let cells = cases.map(|case| Cell::number(average(case)));
        let rest = cases.map(|_| Cell::Nothing);
        let head = ["mean".into(), name.into(), Cell::Nothing];
        sheet.row(head.into_iter().chain(cells).chain(rest).collect());
    }
    sheet
}

/// Returns the table of access classes of pages, and of how well hits in the buffer predict them.
fn uses(evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "reads to mixed pages",
        "writes to mixed pages",
        "left mixed",
        "left read-hot",
        "left write-hot",
        "never used again",
        "right of the rest",
        "right of the next 21",
        "right if read-hot",
        "right if write-hot",
        "right if mixed",
    ];
    let title = "Mixed pages over the whole run; classes of the pages evicted from the buffer under HIRE, and the share of \
                 those used again that the rest of the trace confirms";
    let mut sheet = Sheet::new("uses", title, &heads);
    for column in &evidence.runs.columns {
        let said = |of: fn(&Judged) -> Option<f64>| {
            Cell::share(evidence.oracle(&column.name).and_then(of))
        };
        let left = |class| Cell::share(left(evidence, &column.name, class));
        sheet.row(vec![
            column.name.as_str().into(),
            said(|it| it.reads.mixed),
            said(|it| it.writes.mixed),
            left("mixed"),
            left("read_hot"),
            left("write_hot"),
            said(|it| it.never_again),
            said(|it| it.accuracy),
            said(|it| it.accuracy_near),
            said(|it| it.precision.read_hot),
            said(|it| it.precision.write_hot),
            said(|it| it.precision.mixed),
        ]);
    }
    sheet
}

/// Returns the share (0 to 1) of an access class among the pages evicted from the buffer under
/// HIRE.
pub(super) fn left(evidence: &Evidence, column: &str, class: &str) -> Option<f64> {
    evidence.runs.summary(&run_name(column, HIRE, AS_IT_IS))?.share("counters.left", class)
}

const SECONDS_OF_A_YEAR: f64 = 365.0 * 86_400.0;

/// Returns the table of the drive's lifetime in years at the measured rate of wear: for a drive
/// whose data is written once, and in steady state.
fn lifetime(evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "drive",
        "case",
        "host programs",
        "WAF",
        "weight per program",
        "P/E budget",
        "wear",
        "years at this rate",
        "years of a drive that lasts five under the baseline",
    ];
    let title = "Lifetime. Wear is the sum of programs times their weight. The budget is the cells' end of life (3,000 \
                 cycles at nominal voltages, as in READY, FAST 2012), in cycles at the mean weight. Years are the pages of \
                 the drive times the budget over the wear rate, if the whole life were like the run. A drive that is \
                 written so much that it lasts five years under the baseline lasts longer by the ratio of their wear";
    let mut sheet = Sheet::new("lifetime", title, &heads);
    let Ok(config) = config() else { return sheet };
    let cycles = config.reliability.cells.end_cycles;
    let budget = cycles * f64::from(config.geometry.pages());
    let five = |ratio: f64| 5.0 / ratio;
    for (variant, drive) in [(AS_IT_IS, "written once"), (RESTED, "steady state")] {
        for case in CASES {
            for column in &evidence.runs.columns {
                let number = |of| evidence.number(&column.name, case, variant, of);
                let Some(weight) = number(|run| run.get("wearing_weight")) else { continue };
                let wear = evidence.worn(&column.name, case, variant);
                let years = wear
                    .zip(number(|run| run.get("simulated_s")))
                    .map(|(wear, seconds)| budget / (wear / seconds) / SECONDS_OF_A_YEAR);
                sheet.row(vec![
                    column.name.as_str().into(),
                    drive.into(),
                    case.name.into(),
                    Cell::number(number(|run| run.get("counters.programs.host"))),
                    Cell::number(number(|run| run.get("waf"))),
                    Cell::Number(weight),
                    Cell::Number(cycles / weight),
                    Cell::number(wear),
                    Cell::number(years),
                    Cell::number(evidence.worn_ratio(&column.name, case, variant).map(five)),
                ]);
            }
            // The mean of wear, not of years: drives that hardly wear must not count for most.
            let average = |column: &str| evidence.worn_ratio(column, case, variant);
            let average = evidence.runs.each(average).and_then(|all| mean(&all));
            let nothing = || Cell::Nothing;
            let mut row: Vec<Cell> = vec!["mean".into(), drive.into(), case.name.into()];
            row.extend((0..6).map(|_| nothing()));
            row.push(Cell::number(average.map(five)));
            sheet.row(row);
        }
    }
    sheet
}

/// Returns the table of the memory that HIRE needs (section 3.3 of the HIRE paper).
fn overhead() -> Sheet {
    let title =
        "Section 3.3: memory for hit counters and classes, for the preset's buffer and drive";
    let mut sheet = Sheet::new("overhead", title, &["what", "bits", "KiB"]);
    let Ok(config) = config() else { return sheet };
    let frames = config.buffer.size.0 / config.geometry.page_size.0;
    let pages = f64::from(config.geometry.pages());
    let blocks = f64::from(config.geometry.blocks());
    let hits = |most: u64| hit_bits(most, frames) as f64;
    for (what, bits) in [
        (format!("hit counters of {frames} buffered pages, counting up to 100"), hits(100)),
        (
            format!("hit counters of {frames} buffered pages, counting up to 65535 (implemented)"),
            hits(65_535),
        ),
        ("2 bits per mapping entry".into(), 2.0 * pages),
        ("2 bits per block (implemented: a block holds one class)".into(), 2.0 * blocks),
    ] {
        sheet.row(vec![what.into(), Cell::number(Some(bits)), Cell::number(Some(bits / 8192.0))]);
    }
    sheet
}

/// Returns the table that compares Table 1 of the HIRE paper with the simulator's model of cell
/// errors: the read reference voltages that fresh data needs, by wear, and the range of data ages
/// in which the model needs as many as the paper.
fn physics() -> Option<Sheet> {
    let heads = [
        "cycles",
        "boosted",
        "nominal",
        "reduced",
        "as Table 1",
        "youngest as Table 1 (h)",
        "oldest as Table 1 (h)",
    ];
    let title = "Table 1 against the model: references needed for fresh data at each set of voltages (3, 9 and 21 \
                 in the paper), and the range of ages in which all three agree";
    let mut sheet = Sheet::new("table1_physics", title, &heads);
    let cells = config().ok()?.reliability.cells;
    let model = Reliability::Analytic(Analytic::new(cells).ok()?);
    let ldpc = Ldpc::hire(&cells).ok()?;
    let hire = Hire { model: &model, ldpc: &ldpc };
    for step in 0..=16 {
        let cycles = 1000.0 * f64::from(step);
        let references = |level: Option<usize>| {
            let count = level.map(|level| ldpc.levels()[level].references);
            count.map_or(Cell::Text("lost".into()), |count| Cell::Number(f64::from(count)))
        };
        let window = hire.window(cycles);
        let hours = |age: Option<Span>| Cell::number(age.map(|age| age.as_s() / 3600.0));
        let levels = hire.levels(cycles, Span::ZERO).map(references);
        let agrees = if hire.agrees(cycles, Span::ZERO) { "yes" } else { "" };
        let ages = [hours(window.map(|it| it.0)), hours(window.map(|it| it.1))];
        let cells = [Cell::Number(cycles)].into_iter().chain(levels).chain([agrees.into()]);
        sheet.row(cells.chain(ages).collect());
    }
    Some(sheet)
}

/// Returns the table of every run of the HIRE study.
pub(super) fn runs(evidence: &Evidence) -> Sheet {
    let heads = [
        "run",
        "read mean (us)",
        "read p99 (us)",
        "write mean (us)",
        "write p99 (us)",
        "WAF",
        "erases",
        "pages moved by GC",
        "weight per program",
        "wear",
        "reprogrammed",
        "given up",
    ];
    const NAMES: [&str; 8] = [
        "read.mean_us",
        "read.p99_us",
        "write.mean_us",
        "write.p99_us",
        "waf",
        "erases",
        "counters.programs.gc",
        "wearing_weight",
    ];
    const REWRITTEN: [&str; 2] = ["counters.rewritten.anew", "counters.rewritten.given_up"];
    let mut sheet = Sheet::new("runs", "Every run", &heads);
    for (name, run) in evidence.runs.all() {
        let mut row = vec![name.as_str().into()];
        row.extend(NAMES.map(|name| Cell::number(run.get(name))));
        row.push(Cell::number(summary_worn(run)));
        row.extend(REWRITTEN.map(|name| Cell::number(run.get(name))));
        sheet.row(row);
    }
    sheet
}

/// The cases of HIRE, under three interpretations of how clean pages that were read are treated.
pub(super) const HIRES: [Case; 3] = [HIRE, ON_EVICT, REWRITE];
