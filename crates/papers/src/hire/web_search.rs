//! Web search, which only reads: all its pages are read-hot, as the HIRE paper says, and all leave
//! the buffer clean. So it shows nothing but the treatment of clean pages that were read.

use super::paper::Paper;
use super::plan::{
    AS_IT_IS, BASELINE, Case, Evidence, HIRE, HVC, ON_EVICT, REWRITE, Reach, length, point,
    run_name, summary_worn,
};
use crate::column::{Column, columns};
use crate::run_summary::READ;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::sweep::StudyPoint;
use fowler_experiment::tables::{Cell, Sheet};

/// The cases of the HIRE study that run under web search, the baseline first.
const SHOWN: [Case; 5] = [BASELINE, HVC, HIRE, ON_EVICT, REWRITE];

/// Beginning of the names of the excerpts of web search among the study's real traces.
const EXCERPTS: &str = "websearch";

/// Returns the name of a stand-in for web search, in runs and tables.
fn named(column: &Column) -> String {
    format!("web search, {}", column.name)
}

/// Returns the runs under the stand-ins for web search, whole, after the warm-up of the figures;
/// none in a study without sweeps.
pub(super) fn points(paper: &Paper, limit: Option<u64>) -> Result<Vec<StudyPoint>, Diagnostics> {
    if paper.sweeps.workloads.is_empty() {
        return Ok(Vec::new());
    }
    let mut points = Vec::new();
    for column in columns(&paper.web_search, None)? {
        let length = length(paper, limit, &column, Reach::Shown)?;
        points.extend(SHOWN.map(|case| {
            let name = run_name(&named(&column), case, AS_IT_IS);
            point(paper, name, column.spec.clone(), (case, &[]), length)
        }));
    }
    Ok(points)
}

/// Returns the HIRE study's table of web search: stand-ins after a warm-up, then the excerpts of
/// the real trace, which are too short for one.
pub(super) fn sheet(evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "warm-up",
        "case",
        "reads",
        "page reads at boosted voltages",
        "programs",
        "wear",
    ];
    let title = "Web search, which only reads: reads relative to the baseline, the share of the pages read from the flash \
                 that lie (or are taken to lie) at boosted voltages, programs and their wear";
    let mut sheet = Sheet::new("web_search", title, &heads);
    let stand_ins = columns(&evidence.paper.web_search, None).expect("they have been run");
    let excerpts = evidence.runs.columns.iter();
    let excerpts =
        excerpts.filter(|it| !it.is_stand_in() && it.name.starts_with(EXCERPTS)).map(|it| {
            let name = it.name.clone();
            (name, "no")
        });
    let all = stand_ins.iter().map(|it| (named(it), "yes")).chain(excerpts);
    for (column, warmed) in all {
        for case in &SHOWN[1..] {
            let run = evidence.runs.summary(&run_name(&column, *case, AS_IT_IS));
            let boosted = run.and_then(|run| run.share("counters.reads_at", "3"));
            sheet.row(vec![
                column.as_str().into(),
                warmed.into(),
                case.name.into(),
                Cell::number(evidence.ratio(&column, *case, AS_IT_IS, READ)),
                Cell::share(boosted),
                Cell::number(run.and_then(|run| run.sum("counters.programs"))),
                Cell::number(run.and_then(summary_worn)),
            ]);
        }
    }
    sheet
}
