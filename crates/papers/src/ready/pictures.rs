//! Figures of the READY paper as pictures.

use super::claims::{BELOW, TABLE_2};
use super::paper::Paper;
use super::plan::{Evidence, FIXED, SCHEMES};
use super::tables::{self, lost, share_that_loses};
use fowler_figures::{Axis, Figure, Panel, Series};
use fowler_report::cell_models::recovery;

const STAND_INS: &str = "Stand-ins are generated from what is published about the traces. Diamonds are the paper's numbers.";

/// Returns the figures of the READY study, the paper's and further ones.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Figure> {
    let all: [(&str, Vec<Panel>, &str); 9] = [
        ("figure1", vec![recovery()], "Figure 1: achievable P/E cycles by idle time"),
        ("figure4", differences(evidence), "Figure 4: differences in write demand between epochs"),
        ("figure10", years(paper, evidence), "Figure 10: effective lifetime, by reading"),
        (
            "figure11",
            responses(paper, evidence),
            "Figure 11: mean response of a page write, by reading",
        ),
        ("figure12", distributions(paper, evidence), "Figure 12: response times of page writes"),
        ("figure13", delays(evidence), "Figure 13: throttling delay, exchange"),
        ("figure14", throughput(evidence), "Figure 14: throughput during a busy period of map"),
        ("duty", duty(paper, evidence), "What ST loses by how bursty demand is"),
        ("days", days(paper, evidence), "A page write, with dies and queues"),
    ];
    let all = all.into_iter().filter(|(_, panels, _)| !panels.is_empty());
    all.map(|(id, panels, title)| Figure::new(id, title, panels).caption(STAND_INS)).collect()
}

/// Returns the panels of the READY paper's Figure 4: relative differences in write demand between
/// epochs.
fn differences(evidence: &Evidence) -> Vec<Panel> {
    let panel = |trace: &str| {
        let series = [1, 10, 30, 60, 120].into_iter().filter_map(|minutes| {
            let values: Vec<f64> = evidence
                .differences(trace, minutes)?
                .into_iter()
                .map(|it| (100.0 * it).min(200.0))
                .collect();
            // A look has no two epochs of the longer lengths.
            (!values.is_empty()).then(|| Series::distribution(format!("{minutes} min"), &values))
        });
        let x = Axis::linear("difference (%), capped at 200");
        Panel::distributions(trace, x, "fraction of epochs", series)
    };
    ["exchange", "proxy"].map(panel).into()
}

/// Interpretations of the READY paper's equation 2 (recovery of cells): heading of the column in
/// the table and title of the panel.
const READ_AS: [(&str, &str); 3] = [
    ("spread", "recovery read as spread (default)"),
    ("refit", "as refit"),
    ("literal", "as printed"),
];

/// Returns the panels of the READY paper's Figure 10: effective lifetime. Where the paper's Table 2
/// has both the capacity for writes (C'_ssd) and the amount written (W_work), the lifetime that
/// follows from their ratio is marked.
fn years(paper: &Paper, evidence: &Evidence) -> Vec<Panel> {
    let published = |trace: &str, scheme: &str| {
        let row = TABLE_2.iter().find(|row| row.trace == trace && row.scheme == scheme)?;
        Some(5.0 * paper.number(row.id, "C'_ssd")? / paper.number(row.id, "W_work")?)
    };
    let panels = by_reading(paper, evidence, ("years", "years", 1.0), published);
    panels.map(|panel| panel.reference(5.0, "target")).into()
}

/// Returns the panels of the READY paper's Figure 11: mean response time of a page write.
fn responses(paper: &Paper, evidence: &Evidence) -> Vec<Panel> {
    by_reading(paper, evidence, ("page write (us)", "ms", 1e3), |_, _| None).into()
}

/// Returns a panel for each interpretation of the READY paper's equation 2 (recovery of cells),
/// with a bar for every scheme under every stand-in trace. The bars are the table's numbers of
/// `quantity` divided by `per`, which converts units.
fn by_reading(
    paper: &Paper,
    evidence: &Evidence,
    (quantity, unit, per): (&str, &str, f64),
    published: impl Fn(&str, &str) -> Option<f64>,
) -> [Panel; 3] {
    let sheet = tables::by_reading(paper, evidence);
    READ_AS.map(|(reading, title)| {
        let series = SCHEMES.map(|(scheme, called)| {
            let values = sheet.only("scheme", called).column(&format!("{quantity}, {reading}"));
            let published = paper.trace.iter().map(|trace| published(&trace.name, scheme));
            let values = values.into_iter().map(|value| Some(value? / per));
            Series::values(called, values).published(published)
        });
        Panel::columns(title, unit, paper.trace.iter().map(|trace| &trace.name), series)
    })
}

/// Returns the panels of the capacity for writes that READY's static throttle (ST) loses, by the
/// share of time in which the host writes. A loss that the paper prints is a level line, with a
/// diamond where it crosses the curve computed in closed form.
fn duty(paper: &Paper, evidence: &Evidence) -> Vec<Panel> {
    let panel = |trace: &String| {
        let percent = |value: f64| 100.0 * value;
        let demand = evidence.demand(trace).unwrap_or(f64::NAN);
        let printed = paper.number(BELOW, trace);
        let crossing = printed.and_then(|lost| Some((share_that_loses(demand, lost)?, lost)));
        let points = |of: &dyn Fn(f64) -> f64, shares: &[f64]| -> Vec<(f64, f64)> {
            let all = shares.iter().map(|&share| (percent(share), percent(of(share))));
            all.filter(|point| point.1.is_finite()).collect()
        };
        let bursts = evidence.bursts(trace);
        let shares: Vec<f64> = (0..=20).map(|at| f64::from(at) / 20.0).collect();
        let measured = bursts.iter().map(|it| (percent(it.share), percent(it.lost)));
        let crossing = crossing.map(|(x, y)| (percent(x), percent(y)));
        let series = [
            Series::line("simulated", measured).published_at(crossing),
            Series::line("in theory", points(&|share| lost(demand, share), &shares)).theory(),
        ];
        let (x, y) = (Axis::linear("time in which the host writes (%)"), Axis::linear("lost (%)"));
        let panel = Panel::lines(format!("mean demand of {trace}"), x, y, series);
        match printed.map(percent) {
            Some(at) => panel.reference(at, format!("printed: {at:.0} %")),
            None => panel,
        }
    };
    paper.duty.traces.iter().map(panel).collect()
}

/// Returns the panels of the mean response time of page writes on single days: the throttling delay
/// plus 600 us, and the delay plus the simulated time in the drive.
fn days(paper: &Paper, evidence: &Evidence) -> Vec<Panel> {
    let sheet = tables::days(paper, evidence);
    let panel = |trace: &str| {
        let rows = sheet.only("stand-in", trace);
        let days = rows.texts("scheme").into_iter().zip(rows.column("age (years)"));
        let groups = days.filter_map(|(scheme, age)| Some(format!("{scheme} {:.1} y", age?)));
        let of = |(name, head)| {
            Series::values(name, rows.column(head).into_iter().map(|us| Some(us? / 1e3)))
        };
        let series = [
            ("delay + 600 us", "delay + 600 us"),
            ("delay + time in the drive", "delay + in the drive (us)"),
        ];
        // A brief study has no days, and a panel needs a group.
        (!rows.rows.is_empty()).then(|| Panel::columns(trace, "ms", groups, series.map(of)))
    };
    paper.days.traces.iter().filter_map(|(trace, ..)| panel(trace)).collect()
}

/// Returns the panels of the READY paper's Figure 12: distribution of the response times of page
/// writes.
fn distributions(paper: &Paper, evidence: &Evidence) -> Vec<Panel> {
    let panel = |trace: &str| {
        let series = SCHEMES.into_iter().filter_map(|(scheme, called)| {
            let points = &evidence.life(trace, scheme)?.response_cdf_us;
            Some(Series::line(called, points.iter().copied()))
        });
        Panel::distributions(trace, Axis::log10("us"), "fraction of page writes", series)
    };
    paper.trace.iter().map(|trace| panel(&trace.name)).collect()
}

/// Returns the panels of the READY paper's Figure 13: throttling delay of page writes over the
/// life.
fn delays(evidence: &Evidence) -> Vec<Panel> {
    let panel = |scheme: &str, title: &str| {
        let series = evidence.life("exchange", scheme).map(|it| &it.series);
        let points = series.into_iter().flat_map(|it| it.years.iter().zip(&it.delay_us));
        let delay = Series::line("delay", points.map(|(&years, &us)| (years, us)));
        Panel::lines(title, Axis::linear("years"), Axis::linear("us"), [delay])
    };
    vec![panel(FIXED, "fixed: 10 minutes"), panel("ready_opt", "dynamic")]
}

/// Returns the panels of the READY paper's Figure 14: throughput of the flash during a busy period
/// of the trace called `map`.
fn throughput(evidence: &Evidence) -> Vec<Panel> {
    let panel = |(scheme, called): (&str, &str)| {
        let rates = &evidence.life("map", scheme)?.close_up.as_ref()?.flash_mb_s;
        let points = rates.iter().enumerate().map(|(at, &rate)| (at as f64, rate));
        let flash = Series::line("flash", points);
        Some(Panel::lines(called, Axis::linear("s"), Axis::linear("MB/s"), [flash]))
    };
    SCHEMES[1..].iter().copied().filter_map(panel).collect()
}

#[cfg(test)]
mod tests {
    use super::Evidence;
    use crate::study::tests::assert_drawn;

    /// Every figure can be drawn without results: it refers only to columns that its table has.
    #[test]
    fn a_study_without_results_is_drawn() {
        assert_drawn(&Evidence::none());
    }
}
