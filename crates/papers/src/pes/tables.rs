//! Tables: the tables and figures of the P/E suspension paper as numbers, and tables for the
//! questions it leaves open.

use super::claims::{
    OVERHEAD, READS_IPC_BELOW_RPS, READS_IPS_ABOVE_IPC, READS_PE0_BELOW_FIFO, READS_RPS_BELOW_FIFO,
    SUSPENDED, WRITES_IPC_ABOVE_FIFO, WRITES_IPS_ABOVE_FIFO, WRITES_RPS_ABOVE_FIFO,
};
use super::measures::overheads;
use super::paper::{Flash, Paper};
use super::plan::{Drive, Evidence, SCHEMES, queue_variant, run_name};
use crate::claim::{Answer, ClaimId, labelled};
use crate::run_summary::{Number, READ, WRITE};
use crate::runs::mean;
use fowler_experiment::tables::{Cell, Sheet};

/// A bar chart of the P/E suspension paper that shows normalized mean latencies.
pub(super) struct Bars {
    pub number: u32,
    pub title: &'static str,
    pub of: Number,
    /// Presets of the schemes that this bar chart of the P/E suspension paper shows.
    pub schemes: &'static [&'static str],
    /// Preset of the scheme to whose mean latency the bars of a chart of the P/E suspension paper
    /// are normalized.
    pub base: &'static str,
    /// Published means over the workloads of the latencies that a bar chart of the P/E suspension
    /// paper shows: scheme, ID of the claim, and the conversion of the claim's number to the height
    /// of a bar.
    pub marks: &'static [(&'static str, ClaimId, Height)],
    /// Workloads for which the P/E suspension paper's text prints by how much a bar of the chart
    /// exceeds 1 at most: kind of flash and name of the workload.
    pub most: &'static [(Flash, &'static str)],
}

/// Rule by which a number that the P/E suspension paper prints (a relative change of latency)
/// becomes the height of a bar in a chart of normalized latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Height {
    /// The published number is the share by which a bar of the P/E suspension paper's chart, a
    /// normalized latency, is lower than 1.
    Lower,
    /// The published number, whose label contains `mean`, is the share by which a bar (a latency
    /// normalized to FIFO) in a figure of the P/E suspension paper is higher than 1.
    Higher,
}

/// Figures 1 to 4 of the P/E suspension paper: normalized mean latencies.
pub(super) const BARS: [Bars; 4] = [
    Bars {
        number: 1,
        title: "Mean read latency normalized to FIFO",
        of: READ,
        schemes: &["fifo", "rps", "per", "pe0"],
        base: "fifo",
        marks: &[
            ("rps", READS_RPS_BELOW_FIFO, Height::Lower),
            ("pe0", READS_PE0_BELOW_FIFO, Height::Lower),
        ],
        most: &[],
    },
    Bars {
        number: 2,
        title: "Mean read latency normalized to RPS",
        of: READ,
        schemes: &["rps", "per", "pe0", "pes_ipc"],
        base: "rps",
        marks: &[("pes_ipc", READS_IPC_BELOW_RPS, Height::Lower)],
        most: &[],
    },
    Bars {
        number: 3,
        title: "Mean read latency normalized to PES_IPC",
        of: READ,
        schemes: &["pes_ipc", "pes_ips"],
        base: "pes_ipc",
        marks: &[("pes_ips", READS_IPS_ABOVE_IPC, Height::Higher)],
        most: &[(Flash::Slc, "F1"), (Flash::Mlc, "F1")],
    },
    Bars {
        number: 4,
        title: "Mean write latency normalized to FIFO",
        of: WRITE,
        schemes: &["fifo", "rps", "pes_ips", "pes_ipc"],
        base: "fifo",
        marks: &[
            ("rps", WRITES_RPS_ABOVE_FIFO, Height::Higher),
            ("pes_ips", WRITES_IPS_ABOVE_FIFO, Height::Higher),
            ("pes_ipc", WRITES_IPC_ABOVE_FIFO, Height::Higher),
        ],
        most: &[(Flash::Slc, "MSN"), (Flash::Mlc, "DAP")],
    },
];

/// A figure of the P/E suspension paper that shows relative extra time of programs and erases.
pub(super) struct Shares {
    pub number: u32,
    pub title: &'static str,
    pub of: Number,
    /// ID of the claim that publishes the means over the workloads which Figure 5 or 6 of the P/E
    /// suspension paper shows.
    pub claim: ClaimId,
}

/// Figures 5 and 6 of the P/E suspension paper: the effect of suspension on the times of programs
/// and erases.
pub(super) const SHARES: [Shares; 2] = [
    Shares {
        number: 5,
        title: "Extra time of suspended programs and erases",
        of: |run| run.get("suspension_overhead"),
        claim: OVERHEAD,
    },
    Shares {
        number: 6,
        title: "Share of programs and erases suspended",
        of: |run| run.get("suspended_share"),
        claim: SUSPENDED,
    },
];
/// Presets of the schemes that suspend programs and erases.
pub(super) const SUSPENDING: [&str; 2] = ["pes_ips", "pes_ipc"];

/// Returns the name that the P/E suspension paper uses for a scheme preset of Fowler; empty for a
/// scheme that the paper does not have.
pub(super) fn called(scheme: &str) -> &'static str {
    SCHEMES.iter().find(|(preset, _)| *preset == scheme).map_or("", |(_, name)| name)
}

impl Bars {
    /// Returns the height of a scheme's mean bar in this chart, from the number in the P/E
    /// suspension paper's text; `None` if the text gives none.
    pub fn published(&self, paper: &Paper, flash: Flash, scheme: &str) -> Option<f64> {
        let (_, claim, height) = self.marks.iter().find(|(marked, ..)| *marked == scheme)?;
        match height {
            Height::Lower => Some(1.0 - paper.number(*claim, flash.name())?),
            Height::Higher => Some(1.0 + paper.number(*claim, &format!("{} mean", flash.name()))?),
        }
    }

    /// Returns the height (a latency normalized to the base scheme) of the bar of a scheme under
    /// the workload for which the P/E suspension paper's text prints the largest height; `None` for
    /// other workloads.
    pub fn published_most(
        &self,
        paper: &Paper,
        (flash, column): (Flash, &str),
        scheme: &str,
    ) -> Option<f64> {
        let (_, claim, _) = self.marks.iter().find(|(marked, ..)| *marked == scheme)?;
        self.most.iter().find(|most| **most == (flash, column))?;
        Some(1.0 + paper.number(*claim, &format!("{} most", flash.name()))?)
    }

    fn sheet(&self, paper: &Paper, evidence: &Evidence) -> Sheet {
        let name = format!("figure{}", self.number);
        let title = format!("Figure {}: {}", self.number, lowered(self.title));
        let mut heads = vec!["workload", "flash"];
        heads.extend(self.schemes.iter().map(|scheme| called(scheme)));
        let mut sheet = Sheet::new(&name, title, &heads);
        for flash in Flash::ALL {
            for column in &evidence.runs.columns {
                let ratio = |scheme: &&str| {
                    evidence.ratio(&column.name, flash.plain(), self.of, (scheme, self.base))
                };
                let cells = self.schemes.iter().map(|scheme| Cell::number(ratio(scheme)));
                sheet.row(row(&column.name, flash, cells));
            }
            let average = |scheme: &&str| {
                mean(&evidence.ratios(flash.plain(), self.of, (scheme, self.base))?)
            };
            let cells = self.schemes.iter().map(|scheme| Cell::number(average(scheme)));
            sheet.row(row("mean", flash, cells));
            let published = self.schemes.iter().map(|it| self.published(paper, flash, it));
            sheet.row(row("mean, published", flash, published.map(Cell::number)));
        }
        sheet
    }
}

fn lowered(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

fn row(name: &str, flash: Flash, cells: impl Iterator<Item = Cell>) -> Vec<Cell> {
    [name.into(), flash.name().into()].into_iter().chain(cells).collect()
}

/// Returns the P/E suspension paper's tables and figures as numbers (Tables 1 and 2, Figures 1 to
/// 7), and the table of the runs behind them.
pub(super) fn shown(paper: &Paper, answers: &[Answer], evidence: &Evidence) -> Vec<Sheet> {
    let mut sheets = vec![workloads(evidence), table1(answers), table2(paper, evidence)];
    sheets.extend(BARS.iter().map(|bars| bars.sheet(paper, evidence)));
    sheets.extend(SHARES.iter().map(|shares| shares.sheet(paper, evidence)));
    sheets.extend([queue(paper, evidence), runs(evidence)]);
    sheets
}

/// Returns the tables for the questions that the P/E suspension paper leaves open.
pub(super) fn open_choices(paper: &Paper, evidence: &Evidence) -> [Sheet; 2] {
    [choices(paper, evidence), spare(evidence)]
}

fn table1(answers: &[Answer]) -> Sheet {
    let heads = ["parameter", "SLC", "SLC published", "MLC", "MLC published"];
    let mut sheet = Sheet::new("table1", "Table 1: flash parameters", &heads);
    for Answer { statement, measured, .. } in
        answers.iter().filter(|it| it.statement.place == "Table 1")
    {
        let ours = measured.as_ref().map_or(&[][..], |measured| &measured.values);
        let mut row = vec![statement.claim.as_str().into()];
        for flash in Flash::ALL {
            row.push(Cell::number(labelled(ours, flash.name())));
            row.push(Cell::number(statement.number(flash.name())));
        }
        sheet.row(row);
    }
    sheet
}

fn table2(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads =
        ["workload", "flash", "kind", "FIFO mean (ms)", "published (ms)", "ours / published"];
    let mut sheet = Sheet::new("table2", "Table 2: mean latencies under FIFO", &heads);
    for column in &evidence.runs.columns {
        for flash in Flash::ALL {
            for (kind, of) in [("read", READ), ("write", WRITE)] {
                let ours = evidence.number(&column.name, flash.plain(), "fifo", of);
                let ours = ours.map(|us| us / 1e3);
                let published = column.place.and_then(|place| paper.table2(flash, kind, place));
                sheet.row(vec![
                    column.name.as_str().into(),
                    flash.name().into(),
                    kind.into(),
                    Cell::number(ours),
                    Cell::number(published),
                    Cell::number(ours.zip(published).map(|(ours, published)| ours / published)),
                ]);
            }
        }
    }
    sheet
}

impl Shares {
    fn sheet(&self, paper: &Paper, evidence: &Evidence) -> Sheet {
        let name = format!("figure{}", self.number);
        let title = format!("Figure {}: {}", self.number, lowered(self.title));
        let mut heads = vec!["workload", "flash"];
        heads.extend(SUSPENDING.map(called));
        heads.push("published");
        let mut sheet = Sheet::new(&name, title, &heads);
        for flash in Flash::ALL {
            let drive = flash.plain();
            for column in &evidence.runs.columns {
                let share = |scheme| evidence.number(&column.name, drive, scheme, self.of);
                let cells = SUSPENDING.map(|scheme| Cell::share(share(scheme)));
                let cells = cells.into_iter().chain([Cell::Nothing]);
                sheet.row(row(&column.name, flash, cells));
            }
            let average = |scheme| Cell::share(evidence.average(drive, scheme, self.of));
            let published = Cell::share(paper.number(self.claim, flash.name()));
            let cells = SUSPENDING.map(average).into_iter().chain([published]);
            sheet.row(row("mean", flash, cells));
        }
        sheet
    }
}

pub(super) fn queue(paper: &Paper, evidence: &Evidence) -> Sheet {
    let queue = &paper.queue;
    let title = format!(
        "Figure 7 of the P/E suspension paper: write latency relative to FIFO by size of the write queue, {} at {} times the speed",
        queue.workload, queue.faster
    );
    let heads = ["a full queue", "flash", "queue", "FIFO (ms)", "RPS", "PES_IPC", "PES_IPC - RPS"];
    let mut sheet = Sheet::new("figure7", title, &heads);
    for way in &queue.way {
        for flash in Flash::ALL {
            let curve = |scheme| overheads(evidence, (way, flash), scheme).unwrap_or_default();
            let (rps, ipc) = (curve("rps"), curve("pes_ipc"));
            for (index, &size) in queue.sizes.iter().enumerate() {
                let (rps, ipc) = (rps.get(index).copied(), ipc.get(index).copied());
                let drive = Drive { flash, variant: &queue_variant(way, size) };
                let fifo = evidence.number(&queue.workload, drive, "fifo", WRITE);
                sheet.row(vec![
                    way.name.as_str().into(),
                    flash.name().into(),
                    Cell::Number(f64::from(size)),
                    Cell::number(fifo.map(|us| us / 1e3)),
                    Cell::number(rps),
                    Cell::number(ipc),
                    Cell::share(ipc.zip(rps).map(|(ipc, rps)| ipc - rps)),
                ]);
            }
        }
    }
    sheet
}

/// Returns table cells for one drive, means over the stand-in traces: reductions of read latency,
/// increases of write latency, and the share and cost of suspended programs and erases.
fn effects(evidence: &Evidence, drive: Drive<'_>) -> Vec<Cell> {
    let ratio = |of, scheme, base| mean(&evidence.ratios(drive, of, (scheme, base))?);
    let average = |of: Number| Cell::share(evidence.average(drive, "pes_ipc", of));
    let lowered = |ratio: Option<f64>| Cell::share(ratio.map(|ratio| 1.0 - ratio));
    let raised = |ratio: Option<f64>| Cell::share(ratio.map(|ratio| ratio - 1.0));
    vec![
        lowered(ratio(READ, "rps", "fifo")),
        lowered(ratio(READ, "pes_ipc", "rps")),
        lowered(ratio(READ, "pes_ipc", "fifo")),
        raised(ratio(WRITE, "rps", "fifo")),
        raised(ratio(WRITE, "pes_ipc", "fifo")),
        average(|run| run.get("suspended_share")),
        average(|run| run.get("suspension_overhead")),
    ]
}

const EFFECTS: [&str; 7] = [
    "reads, RPS below FIFO",
    "IPC below RPS",
    "IPC below FIFO",
    "writes, RPS above FIFO",
    "IPC above FIFO",
    "suspended",
    "extra time",
];

/// Returns the table of alternative assumptions about what the P/E suspension paper does not state,
/// with the effects of each.
fn choices(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads: Vec<&str> = ["choice", "rule", "flash"].into_iter().chain(EFFECTS).collect();
    let title = "Other assumptions where the paper is silent; means over six stand-ins";
    let mut sheet = Sheet::new("choices", title, &heads);
    let mut add = |name: &str, rule: &str, flash: Flash, variant: &str| {
        let mut row = vec![name.into(), rule.into(), flash.name().into()];
        row.extend(effects(evidence, Drive { flash, variant }));
        sheet.row(row);
    };
    for flash in Flash::ALL {
        add("the presets", "", flash, "");
        for choice in paper.choice.iter().filter(|it| it.flashes().contains(&flash)) {
            add(&choice.name, &choice.rule, flash, &choice.name);
        }
    }
    sheet
}

/// Returns the table of both interpretations of 30 % over-provisioning (of raw or of logical
/// capacity), in steady state and on a drive written once.
fn spare(evidence: &Evidence) -> Sheet {
    let heads = [
        "over-provisioning",
        "flash",
        "logical GiB",
        "of raw",
        "of logical",
        "WAF FIFO",
        "WAF PES_IPC",
        "erases FIFO",
        "read FIFO (ms)",
        "IPC below FIFO",
    ];
    let title =
        "30 % over-provisioning, read as of raw and of logical capacity; means over six stand-ins";
    let mut sheet = Sheet::new("spare", title, &heads);
    for (name, variant) in SPARE {
        for flash in Flash::ALL {
            let drive = Drive { flash, variant };
            let average = |scheme: &str, of: Number| evidence.average(drive, scheme, of);
            let gib = |bytes: f64| bytes / f64::from(1 << 30);
            let lower = mean_of(evidence.ratios(drive, READ, ("pes_ipc", "fifo")));
            sheet.row(vec![
                name.into(),
                flash.name().into(),
                Cell::number(average("fifo", |run| run.get("drive.logical_bytes")).map(gib)),
                Cell::share(average("fifo", |run| run.get("drive.over_provisioning_of_raw"))),
                Cell::share(average("fifo", |run| run.get("drive.over_provisioning_of_logical"))),
                Cell::number(average("fifo", |run| run.get("waf"))),
                Cell::number(average("pes_ipc", |run| run.get("waf"))),
                Cell::number(average("fifo", |run| run.get("erases"))),
                Cell::number(average("fifo", READ).map(|us| us / 1e3)),
                Cell::share(lower.map(|ratio| 1.0 - ratio)),
            ]);
        }
    }
    sheet
}

fn mean_of(values: Option<Vec<f64>>) -> Option<f64> {
    mean(&values?)
}

/// Interpretations of the P/E suspension paper's over-provisioning: title in the table, and the
/// name of the alternative in the paper's data file.
const SPARE: [(&str, &str); 4] = [
    ("30 % of raw", ""),
    ("30 % of logical", "over-provisioning: 30 % of logical capacity"),
    ("30 % of raw, written once", "drive written once, with hardly any GC"),
    (
        "30 % of logical, written once",
        "drive written once, over-provisioning: 30 % of logical capacity",
    ),
];

/// Returns the table of workloads, with the factors by which their arrival times were divided.
fn workloads(evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "source",
        "requests",
        "reads",
        "read KiB",
        "write KiB",
        "SLC: times divided by",
        "idle",
        "MLC: times divided by",
        "idle",
    ];
    let title = "Workloads, sped up until each drive is idle for the published share of time";
    let mut sheet = Sheet::new("workloads", title, &heads);
    for column in &evidence.runs.columns {
        let idle = |flash: Flash| {
            Cell::share(
                evidence.number(&column.name, flash.plain(), "fifo", |run| run.get("idle_share")),
            )
        };
        let run = run_name(&column.name, Flash::Slc.plain(), "fifo");
        let mut row = evidence.runs.asked(column, &run);
        row.extend(evidence.runs.sizes(&run));
        row.extend([
            Cell::number(evidence.speed(column, Flash::Slc)),
            idle(Flash::Slc),
            Cell::number(evidence.speed(column, Flash::Mlc)),
            idle(Flash::Mlc),
        ]);
        sheet.row(row);
    }
    sheet
}

/// Returns the table of every run of the six schemes on the P/E suspension paper's drives.
fn runs(evidence: &Evidence) -> Sheet {
    let numbers: [(&str, Number); 14] = [
        ("read mean (us)", READ),
        ("read p50 (us)", |run| run.get("read.p50_us")),
        ("read p99 (us)", |run| run.get("read.p99_us")),
        ("read p99.9 (us)", |run| run.get("read.p999_us")),
        ("read max (us)", |run| run.get("read.max_us")),
        ("write mean (us)", WRITE),
        ("write p99 (us)", |run| run.get("write.p99_us")),
        ("write p99.9 (us)", |run| run.get("write.p999_us")),
        ("write max (us)", |run| run.get("write.max_us")),
        ("WAF", |run| run.get("waf")),
        ("erases", |run| run.get("erases")),
        ("pages moved by GC", |run| run.get("counters.programs.gc")),
        ("suspensions", |run| run.get("suspensions")),
        ("idle", |run| run.get("idle_share")),
    ];
    let mut heads = vec!["workload", "flash", "scheme"];
    heads.extend(numbers.map(|(head, _)| head));
    let mut sheet = Sheet::new("runs", "Every run of the six schemes", &heads);
    for column in evidence.runs.columns.iter().chain(&evidence.members) {
        for flash in Flash::ALL {
            for scheme in SCHEMES.map(|(scheme, _)| scheme) {
                let run = run_name(&column.name, flash.plain(), scheme);
                if evidence.runs.summary(&run).is_none() {
                    continue;
                }
                let number =
                    |of| Cell::number(evidence.number(&column.name, flash.plain(), scheme, of));
                let mut row =
                    vec![column.name.as_str().into(), flash.name().into(), called(scheme).into()];
                row.extend(numbers.map(|(_, of)| number(of)));
                sheet.row(row);
            }
        }
    }
    sheet
}
