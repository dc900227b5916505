//! Figures of the HIRE paper as pictures.

use super::oracle::Judged;
use super::paper::Paper;
use super::plan::{BASELINE, Case, Evidence, HIRE, HVC, LVC, ON_EVICT, WAITS_ALONE};
use super::tables::{FIGURE_3, FIGURE_4, HIRES, Shown, left};
use crate::run_summary::WRITE;
use fowler_figures::{Figure, Panel, Series};

const STAND_INS: &str = "Stand-ins are generated from what is published about the traces; real excerpts are \
                         labeled and not in the mean, and have no wear if they hardly write. Diamonds are the paper's numbers for HIRE.";

/// Returns Figures 3 to 5 of the HIRE paper, and a figure of the access classes of pages evicted
/// from the buffer.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Figure> {
    vec![
        of_readings(&FIGURE_3, "mean read latency / baseline", paper, evidence),
        of_readings(&FIGURE_4, "wear of all programs / baseline", paper, evidence),
        figure5(evidence),
        uses(evidence),
    ]
}

/// Describes in words how the case `hire` treats clean pages that were read.
fn readings(hire: Case) -> String {
    let what = if hire == HIRE {
        "on_dirty: left as they are in the flash"
    } else if hire == ON_EVICT {
        "on_evict: read as if reprogrammed"
    } else {
        "rewrite_on_idle: reprogrammed in idle time"
    };
    format!("HIRE {what}")
}

/// Returns a figure with a panel for each interpretation of how HIRE treats clean pages that were
/// read.
fn of_readings(shown: &Shown, y: &str, paper: &Paper, evidence: &Evidence) -> Figure {
    let series =
        |case: Case| evidence.runs.bars(case.name, |column| (shown.of)(evidence, column, case));
    let panel = |hire: Case| {
        let published = evidence.runs.groups().map(|it| shown.published(paper, it));
        let of_hire = Series { name: "HIRE".into(), ..series(hire).published(published) };
        Panel::columns(
            readings(hire),
            y,
            evidence.runs.groups(),
            [series(HVC), series(LVC), of_hire],
        )
        .reference(1.0, "baseline")
    };
    let title = format!("{}, by HIRE's treatment of clean read-hot pages", shown.title);
    Figure::new(shown.name, title, HIRES.map(panel)).caption(STAND_INS).columns(1)
}

fn figure5(evidence: &Evidence) -> Figure {
    let series = |case: Case| {
        evidence.runs.bars(case.name, |column| evidence.ratio(column, case, WAITS_ALONE, WRITE))
    };
    let y = "mean write latency / baseline";
    let all = [BASELINE, HVC, LVC, HIRE].map(series);
    let panel = Panel::columns("", y, evidence.runs.groups(), all);
    let caption = "Writes that wait for the flash and read no old page; writes acknowledged by the buffer take no time. \
                   Real excerpts are not in the mean.";
    let title = "Figure 5: mean write latency relative to the baseline";
    Figure::new("figure5", title, [panel]).caption(caption)
}

fn uses(evidence: &Evidence) -> Figure {
    let left = |label: &str, class: &str| {
        evidence.runs.bars(label, |column| {
            left(evidence, column, class).map(|share| 100.0 * share).filter(|it| it.is_finite())
        })
    };
    let right = |label: &str, of: fn(&Judged) -> Option<f64>| {
        evidence.runs.bars(label, |column| Some(100.0 * of(evidence.oracle(column)?)?))
    };
    let panel = |title: &str, series: Vec<Series>| {
        Panel::columns(title, "percent", evidence.runs.groups(), series)
    };
    let panels = [
        panel(
            "Pages evicted from the buffer",
            vec![
                left("mixed", "mixed"),
                left("read-hot", "read_hot"),
                left("write-hot", "write_hot"),
            ],
        ),
        panel(
            "Of those used again: share that the oracle classifies alike",
            vec![
                right("by the rest of the trace", |it| it.accuracy),
                right("by the next 21 references", |it| it.accuracy_near),
            ],
        ),
    ];
    let caption = "An oracle classifies an evicted page by its future references, with the same rule. Pages that are never \
                   used again have no class. Real excerpts are not in the mean.";
    let title = "How pages are used, and how well the buffer's hits predict it";
    Figure::new("uses", title, panels).caption(caption).columns(1)
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::invented_in_steady_state;
    use crate::study::tests::assert_drawn;

    /// Every figure can be drawn without results: it refers only to columns that its table has.
    #[test]
    fn a_study_without_results_is_drawn() {
        assert_drawn(&invented_in_steady_state(|_, _| 1.0));
    }
}
