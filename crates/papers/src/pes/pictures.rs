//! Figures of the P/E suspension paper, and figures for the questions it leaves open.

use super::limits::{DIES, LIMITS, LOADS, Point, Starvation};
use super::paper::{Flash, Paper, Way};
use super::plan::Evidence;
use super::tables::{self, BARS, Bars, SHARES, SUSPENDING, Shares, called};
use crate::column::Column;
use crate::run_summary::{Number, READ, WRITE};
use fowler_figures::{Axis, Figure, Panel, Series};

const STAND_INS: &str = "Stand-ins are generated from what is published about the traces and calibrated to the \
                         FIFO latencies only; real excerpts are labeled and not in the mean. Diamonds are the \
                         paper's numbers.";

/// Returns the P/E suspension paper's figures as pictures.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Figure> {
    let mut figures = vec![table2(paper, evidence)];
    figures.extend(BARS.iter().map(|bars| latencies(bars, paper, evidence)));
    figures.extend(SHARES.iter().map(|shares| shares_of(shares, paper, evidence)));
    figures.push(queue(paper, evidence));
    figures
}

fn figure(number: impl std::fmt::Display, title: &str, panels: [Panel; 2]) -> Figure {
    Figure::new(format!("figure{number}"), format!("Figure {number}: {title}"), panels)
        .caption(STAND_INS)
        .same_y()
}

/// Returns the P/E suspension paper's Table 2 (mean latencies under FIFO) as a figure of measured
/// over published latency, because the latencies span two decades.
fn table2(paper: &Paper, evidence: &Evidence) -> Figure {
    let columns: Vec<&Column> = evidence.runs.stand_ins().collect();
    let series = |(kind, of): (&str, Number), flash: Flash| {
        let quotient = |column: &&Column| {
            let ours = evidence.number(&column.name, flash.plain(), "fifo", of)? / 1e3;
            Some(ours / paper.table2(flash, kind, column.place?)?)
        };
        Series::values(format!("{kind}s"), columns.iter().map(quotient))
    };
    let panel = |flash: Flash| {
        let groups = columns.iter().map(|column| &column.name);
        let series = [("read", READ), ("write", WRITE)].map(|kind| series(kind, flash));
        Panel::columns(flash.name(), "FIFO mean latency, ours / published", groups, series)
            .reference(1.0, "as published")
    };
    let title = "Table 2: what the stand-ins are calibrated to";
    Figure::new("table2", title, Flash::ALL.map(panel)).same_y()
}

fn latencies(bars: &Bars, paper: &Paper, evidence: &Evidence) -> Figure {
    let panel = |flash: Flash| {
        let series = |scheme: &&str| {
            let schemes = (*scheme, bars.base);
            let ratio = |column: &str| evidence.ratio(column, flash.plain(), bars.of, schemes);
            let most = |it: &Column| bars.published_most(paper, (flash, &it.name), scheme);
            let published = evidence.runs.ordered(most, bars.published(paper, flash, scheme));
            evidence.runs.bars(called(scheme), ratio).published(published)
        };
        let series = bars.schemes.iter().map(series);
        Panel::columns(flash.name(), bars.title, evidence.runs.groups(), series)
    };
    figure(bars.number, bars.title, Flash::ALL.map(panel))
}

fn shares_of(shares: &Shares, paper: &Paper, evidence: &Evidence) -> Figure {
    let &Shares { number, title, of, claim } = shares;
    let panel = |flash: Flash| {
        let series = |scheme: &str| {
            let share =
                |column: &str| Some(100.0 * evidence.number(column, flash.plain(), scheme, of)?);
            // The paper does not say which of the two schemes this number is for; the sentence
            // before is about IPC.
            let mark = paper.number(claim, flash.name()).filter(|_| scheme == "pes_ipc");
            let published = evidence.runs.ordered(|_| None, mark.map(|share| 100.0 * share));
            evidence.runs.bars(called(scheme), share).published(published)
        };
        Panel::columns(flash.name(), "percent", evidence.runs.groups(), SUSPENDING.map(series))
    };
    figure(number, title, Flash::ALL.map(panel))
}

fn queue(paper: &Paper, evidence: &Evidence) -> Figure {
    let queue = &paper.queue;
    let sheet = tables::queue(paper, evidence);
    let panel = |way: &Way, flash: Flash| {
        let rows = sheet.only("a full queue", way.name.as_str()).only("flash", flash.name());
        let series = |scheme| Series::line(called(scheme), rows.points("queue", called(scheme)));
        Panel::lines(
            format!("{}: {}", flash.name(), way.name),
            Axis::log2("size of the queue"),
            Axis::log10("Mean write latency normalized to FIFO"),
            ["rps", "pes_ipc"].map(series),
        )
    };
    let title = format!(
        "Figure 7 of the P/E suspension paper: {} at {} times its speed, by size of the write queue",
        queue.workload, queue.faster
    );
    let caption = "The paper gives no numbers for this figure; both curves rise and their difference stays flat. \
                   It limits the queue to limit the overhead, which fits a full queue that holds up reads as well.";
    let ways = queue.way.iter();
    let panels = ways.flat_map(|way| Flash::ALL.map(|flash| panel(way, flash)));
    Figure::new("figure7", title, panels).caption(caption).columns(2)
}

/// Returns the figures of an open question of the P/E suspension paper: starvation of writes by
/// reads.
pub(super) fn starvation(starvation: &Starvation) -> [Figure; 2] {
    [completion(&starvation.points), limits(starvation)]
}

fn completion(points: &[Point]) -> Figure {
    let panel = |die: &str| {
        let of = |scheme: &str| {
            let mine = |point: &&Point| point.die == die && point.scheme == scheme;
            points.iter().filter(mine).collect::<Vec<_>>()
        };
        let series = ["IPS", "IPC"].into_iter().flat_map(|scheme| {
            let points = of(scheme);
            let theory = points.iter().map(|it| (it.per_stretch, it.theory));
            let measured = points.iter().filter_map(|it| Some((it.per_stretch, it.measured?)));
            [
                Series::line(scheme, measured),
                Series::line(format!("{scheme}, closed form"), theory).theory(),
            ]
        });
        let x = Axis::linear("reads per cancellable 16 us of a program phase");
        let y = Axis::log10("write time / undisturbed write time");
        Panel::lines(die, x, y, series)
    };
    let caption = "The paper's dies are saturated with reads before every phase is cancelled. With reads fast \
                   enough, a write under IPC takes exponentially longer.";
    let panels = DIES.iter().map(|die| panel(die.name));
    Figure::new("starvation_completion", "How long reads delay a write", panels)
        .caption(caption)
        .columns(3)
}

fn limits(starvation: &Starvation) -> Figure {
    let panel = |title: &str, of: Number| {
        let series = |&(name, ..): &(&str, &str, &[&str])| {
            let point = |&load: &f64| Some((load, starvation.limited(name, load, of)?));
            Series::line(name, LOADS.iter().filter_map(point))
        };
        let series = LIMITS.iter().map(series).filter(|it| !it.y.is_empty());
        Panel::lines(title, Axis::linear("offered load"), Axis::log10("p99.9 (us)"), series)
    };
    let panels = [
        panel("reads", |run| run.get("read.p999_us")),
        panel("writes", |run| run.get("write.p999_us")),
    ];
    let title = "Limits to suspension: 80 % random reads of 4 KiB on pes-mlc in steady state";
    Figure::new("starvation_limits", title, panels)
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::served;
    use crate::study::tests::assert_drawn;

    /// Every figure can be drawn without results: it refers only to columns that its table has.
    #[test]
    fn a_study_without_results_is_drawn() {
        assert_drawn(&served(|_| (1.0, 1.0)));
    }
}
