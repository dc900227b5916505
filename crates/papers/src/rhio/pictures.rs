//! Figures of the RHIO paper, and figures for the questions it leaves open.

use super::claims::PRIORITIZED_WRITES;
use super::paper::Paper;
use super::plan::{Case, Evidence, KINDS, NCQ, RECORDED, SOURCES, WRITERS, faster};
use super::sweeps;
use super::tables::{self, GAINS, Gain, called, estimated_gain, gain_name, implied};
use crate::run_summary::{Number, READ, WRITE};
use crate::runs::mean;
use fowler_experiment::tables::Cell;
use fowler_figures::{Axis, Figure, Panel, Series};

const STAND_INS: &str = "Stand-ins are generated from what is published about the traces; real excerpts are labeled \
                         and not in the mean. Diamonds are the paper's numbers.";
/// Presets of the schemes that the RHIO study's figures show besides the baseline.
const SHOWN: [&str; 3] = ["pv_w", "rt_r", "rhio"];

/// Returns the RHIO paper's figures as pictures.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Figure> {
    let mut figures: Vec<Figure> =
        (0..KINDS.len()).map(|kind| latencies(paper, evidence, kind)).collect();
    figures.push(shares(paper, evidence));
    figures
}

/// Returns the figures for the questions that the RHIO paper leaves open.
pub(super) fn open_questions(paper: &Paper, evidence: &Evidence) -> [Figure; 6] {
    [
        length(paper, evidence),
        depth(paper, evidence),
        unit(paper, evidence),
        intensity(paper, evidence),
        ablation(paper, evidence),
        estimate(paper, evidence),
    ]
}

/// Returns Figure 4 or 5 of the RHIO paper: mean latency of reads or writes (`kind`) relative to
/// NOOP (order of arrival).
fn latencies(paper: &Paper, evidence: &Evidence, kind: usize) -> Figure {
    let sheet = tables::latencies(paper, evidence, kind);
    let panel = |title: &str, requests: &str| {
        let rows = sheet.only("requests", requests);
        let groups = rows.texts("workload");
        let series = |scheme: &str| {
            let printed = implied(paper, scheme, kind);
            let published = groups.iter().map(|name| printed.filter(|_| name == "mean"));
            Series::values(called(scheme), rows.column(called(scheme))).published(published)
        };
        let series = SHOWN.map(series);
        Panel::columns(title, "relative to NOOP", groups, series).reference(1.0, "NOOP")
    };
    let mut panels = vec![panel(&format!("{} of the week", paper.week), "as recorded")];
    if !evidence.brief {
        let fast = format!("{} times as fast", paper.conflicts);
        panels.extend([panel("whole week", "whole week"), panel(&fast, &fast)]);
    }
    Figure::new(&sheet.name, &sheet.title, panels).caption(STAND_INS).columns(1)
}

/// Adds to a panel a line at the share of prioritized requests above which, according to the RHIO
/// paper, writes gain much.
fn with_published_share(paper: &Paper, panel: Panel) -> Panel {
    let name = "published: above it, most volumes' writes gain much";
    panel.reference(100.0 * paper.share, name)
}

/// Returns Figure 6 of the RHIO paper: shares of requests that RHIO prioritizes.
fn shares(paper: &Paper, evidence: &Evidence) -> Figure {
    let percent =
        |column: &str, case, kind| Some(100.0 * evidence.prioritized(column, case, kind)?);
    let panel = |title: &str, case: Case<'static>, marked: bool| {
        let names =
            || evidence.runs.columns.iter().filter(|it| case.speed == 1.0 || it.is_stand_in());
        let series = |kind: usize| {
            let published = |name: &str| {
                let share =
                    paper.number(PRIORITIZED_WRITES, name).filter(|_| marked && kind == 1)?;
                Some(100.0 * share)
            };
            let values = names().map(|it| percent(&it.name, case, kind));
            Series::values(format!("{}s", KINDS[kind].name), values)
                .published(names().map(|it| published(&it.name)))
        };
        let groups = names().map(|it| &it.name);
        let panel = Panel::columns(title, "prioritized (%)", groups, [0, 1].map(series));
        with_published_share(paper, panel)
    };
    let mut panels = vec![panel("as recorded", RECORDED, true)];
    if !evidence.brief {
        let title = format!("{} times as fast", paper.conflicts);
        panels.push(panel(&title, faster(paper.conflicts), false));
    }
    let title = "Figure 6: requests that RHIO prioritizes";
    Figure::new("figure6", title, panels).caption(STAND_INS).columns(1)
}

/// Returns the figure of the shares of requests that RHIO prioritizes and of its latency
/// reductions, by replay speed.
fn intensity(paper: &Paper, evidence: &Evidence) -> Figure {
    let sheet = tables::intensity(paper, evidence);
    let speeds = [1.0].into_iter().chain(paper.speeds.iter().copied());
    let means = |head: &str| -> Vec<(f64, f64)> {
        let at = |speed: f64| {
            let rows = sheet.only("speed", Cell::Number(speed));
            let all: Option<Vec<f64>> = rows.column(head).into_iter().collect();
            Some((speed, mean(&all?)?))
        };
        speeds.clone().filter_map(at).collect()
    };
    let share_of = |kind: usize| {
        let name = format!("{}s", KINDS[kind].name);
        let points = percent(means(&format!("prioritized {name}")));
        Series::line(name, points)
    };
    let by_speed = Panel::lines(
        "prioritized requests",
        Axis::log10("times as fast as recorded"),
        Axis::linear("prioritized requests (%)"),
        [0, 1].map(share_of),
    );
    let by_speed = with_published_share(paper, by_speed);
    let by = |kind: usize| {
        let axis = Axis::log10("times as fast as recorded");
        gains_by(paper, evidence, (kind, axis, 1.0), &means)
    };
    let caption = "Means over twelve volumes with 32 commands outstanding. Diamonds are the paper's means, drawn where \
                   the times are those recorded.";
    Figure::new("intensity", "RHIO by intensity", [by_speed, by(0), by(1)])
        .caption(caption)
        .columns(3)
}

/// Converts the second coordinate of a chart's points from a share (0 to 1) to percent.
fn percent(points: Vec<(f64, f64)>) -> impl Iterator<Item = (f64, f64)> {
    points.into_iter().map(|(x, share)| (x, 100.0 * share))
}

/// Returns a panel of RHIO's reductions of the mean latency of reads or writes (`kind`) by the
/// quantity `x`. `points` gives the shares (0 to 1) for the name of a reduction. The RHIO paper's
/// reductions are drawn at `printed_at`.
fn gains_by(
    paper: &Paper,
    evidence: &Evidence,
    (kind, x, printed_at): (usize, Axis, f64),
    points: &dyn Fn(&str) -> Vec<(f64, f64)>,
) -> Panel {
    let series = |which: Gain| {
        let points: Vec<(f64, f64)> = percent(points(&gain_name(which))).collect();
        let shown = !evidence.brief && !points.is_empty();
        let published = paper.number(which.claim, KINDS[kind].name).filter(|_| shown);
        let published = published.map(|it| (printed_at, 100.0 * it));
        Series::line(format!("below {}", called(which.base)), points).published_at(published)
    };
    Panel::lines(
        format!("gain of RHIO's {}s", KINDS[kind].name),
        x,
        Axis::linear("reduction in mean latency (%)"),
        GAINS.into_iter().filter(|which| which.kind == kind).map(series),
    )
    .reference(0.0, "")
}

/// Returns the figure of latency reductions by RHIO, an I/O scheduler, by the share that is
/// replayed of the week that each stand-in trace lasts.
fn length(paper: &Paper, evidence: &Evidence) -> Figure {
    let sheet = sweeps::lengths(paper, evidence);
    let by = |kind: usize| {
        let head = "share of the week";
        gains_by(paper, evidence, (kind, Axis::log2(head), 1.0), &|gain| sheet.points(head, gain))
    };
    let caption = "Means over twelve volumes as recorded. Diamonds are the paper's means, drawn at the \
                   whole week.";
    Figure::new("length", "RHIO's gains by the length of the run", [by(0), by(1)])
        .caption(caption)
        .columns(2)
}

/// Returns the figure of RHIO's latency reductions by the number of outstanding commands.
fn depth(paper: &Paper, evidence: &Evidence) -> Figure {
    let sheet = sweeps::depths(paper, evidence);
    let panel = |place: &str, kind: usize| {
        let rows = sheet.only("workload", place);
        let at = (kind, Axis::log2("commands outstanding"), f64::from(NCQ));
        let panel = gains_by(paper, evidence, at, &|gain| rows.points("tags", gain));
        let place = place.trim_start_matches("mean of ");
        Panel { title: format!("{}s: {place}", KINDS[kind].name), ..panel }
    };
    let mut all = sheet.texts("workload");
    all.dedup();
    let caption = "Diamonds are the paper's means, drawn at the 32 tags of NCQ.";
    let panels = all.iter().flat_map(|place| [0, 1].map(|kind| panel(place, kind)));
    Figure::new("depth", "RHIO by commands outstanding", panels).caption(caption).columns(2)
}

/// Returns four titled panels, made by `panel`: reads and writes as recorded, then reads and writes
/// at the replay speed at which requests conflict.
fn by_kind_and_speed(paper: &Paper, panel: impl Fn(usize, f64) -> Panel) -> Vec<Panel> {
    let speeds = [1.0, paper.conflicts].into_iter();
    let both = speeds.flat_map(|speed| [0, 1].map(|kind| (kind, speed)));
    let titled = |(kind, speed): (usize, f64)| {
        let replay_speed =
            if speed == 1.0 { "as recorded".into() } else { format!("{speed} times as fast") };
        let title = format!("{}s, {replay_speed}", KINDS[kind].name);
        Panel { title, ..panel(kind, speed) }
    };
    both.map(titled).collect()
}

/// Returns the figure of the latency reductions by the size of the stripe unit: the pages placed on
/// one chip before the next chip gets any.
fn unit(paper: &Paper, evidence: &Evidence) -> Figure {
    let sheet = sweeps::units(paper, evidence);
    let named = sheet.only("workload", format!("mean of {}", paper.named.join(", ")));
    let panel = |kind: usize, speed: f64| {
        let rows = named.only("speed", Cell::Number(speed));
        let prefix = format!("{}s, ", KINDS[kind].name);
        let line = |head: String| {
            Series::line(head.trim_start_matches(&prefix), percent(rows.points("pages", &head)))
        };
        let gains = GAINS.into_iter().filter(|which| which.kind == kind).map(gain_name);
        let heads = [format!("{prefix}order alone below NOOP")].into_iter().chain(gains);
        Panel::lines(
            "",
            Axis::log2("pages on a chip before the next has any"),
            Axis::linear("reduction in mean latency (%)"),
            heads.map(line),
        )
        .reference(0.0, "")
    };
    let caption = "Means over four volumes. Equation (1) and Figure 2 have all pages of a request on one chip.";
    let title = "RHIO by how much of a request lies on one chip";
    Figure::new("unit", title, by_kind_and_speed(paper, panel)).caption(caption).columns(2)
}

/// Returns the short label of a set of techniques of RHIO, an I/O scheduler, for the bars of a
/// chart.
fn short(name: &str) -> String {
    const WORDS: [(&str, &str); 10] = [
        ("write speed", "W"),
        ("read speed", "R"),
        ("order", "O"),
        (" + ", "+"),
        ("all (RHIO)", "RHIO"),
        ("all, knowing wear", "+wear"),
        ("all, retry for ages", "+retry"),
        ("retry alone, sensing all again", "whole"),
        ("retry alone", "retry"),
        ("retry and read first", "+RF"),
    ];
    WORDS.iter().fold(name.into(), |name: String, (long, short)| name.replace(long, short))
}

/// Returns the figure of the effect of each set of RHIO's techniques over the drive's life.
fn ablation(paper: &Paper, evidence: &Evidence) -> Figure {
    let sheet = tables::ablation(paper, evidence);
    let panel = |kind: usize, speed: f64| {
        let rows = sheet.only("speed", Cell::Number(speed));
        let rows = |stage: &str| {
            let mut rows = rows.only("device", stage);
            rows.rows.retain(|row| row[0] != "NOOP".into());
            rows
        };
        let head = format!("{}s / NOOP", KINDS[kind].name);
        let stages = || paper.stage.iter().map(|stage| stage.name.as_str());
        let series = |stage: &str| Series::values(stage, rows(stage).column(&head));
        let techniques = stages().next().map(|first| rows(first).texts("techniques"));
        Panel::columns(
            "",
            "mean latency relative to NOOP",
            techniques.iter().flatten().map(|name| short(name)),
            stages().map(series),
        )
        .reference(1.0, "NOOP at that age")
    };
    let caption = "W: hot data to strong blocks at a coarse step (PV-W). R: references by retention age (RT-R). O: \
                   RHIO's order. +wear: RHIO that also knows P/E cycles. Retry: hard decision first, then more \
                   references, without any estimate; whole: the same, with every reference sensed again; +RF: and reads first. +retry: RHIO with such reads.";
    let title = "RHIO's techniques over the life of the drive";
    Figure::new("ablation", title, by_kind_and_speed(paper, panel))
        .caption(caption)
        .columns(2)
        .same_y()
}

/// Returns the figure of the effect on latency of errors in the estimated block strength.
fn estimate(paper: &Paper, evidence: &Evidence) -> Figure {
    let gains = |of: Number, scheme: &str, source: &str| {
        let point = |&cycles: &u32| {
            let lower = estimated_gain(paper, evidence, (scheme, source, cycles), of)?;
            Some((f64::from(cycles), 100.0 * lower))
        };
        let points = paper.estimate.cycles.iter().filter_map(point);
        Series::line(format!("{}, {source}", called(scheme)), points)
    };
    let panel = |title, of: Number| {
        let both = |it: &&str| SOURCES.map(|source| gains(of, it, source));
        let y = Axis::linear("reduction in mean latency against NOOP (%)");
        Panel::lines(title, Axis::linear("P/E cycles"), y, WRITERS[1..].iter().flat_map(both))
    };
    let caption = "Measured: the controller counts corrected bits in pages that it reads in idle time, and assigns each \
                   block the strongest class that it falls short of with a probability of at most 5 %. Oracle: it \
                   knows the true strength. Means over four volumes as recorded; uncorrectable reads are in \
                   estimate.csv.";
    let panels = [panel("writes", WRITE), panel("reads", READ)];
    Figure::new("estimate", "Cost of errors in the estimated block strength", panels)
        .caption(caption)
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Paper};
    use crate::column::columns;
    use crate::run_folder::Results;
    use crate::runs::Runs;
    use crate::study::tests::assert_drawn;

    /// Every figure can be drawn without results: it refers only to columns that its table has.
    #[test]
    fn a_study_without_results_is_drawn() {
        let paper = Paper::open().unwrap();
        let runs = Runs::new(columns(&paper.workload, None).unwrap(), Results::new());
        assert_drawn(&Evidence { paper, runs, brief: false });
    }
}
