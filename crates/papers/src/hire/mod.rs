//! HIRE (Cui et al., NPC 2016): Table 1, Figures 3 to 5 and every number of the text, under three readings of what
//! becomes of clean pages that were read.

mod checks;
mod measure;
mod oracle;
mod paper;
mod pictures;
mod plan;
mod sweeps;
mod tables;

use super::column::columns;
use super::published::{Findings, answered};
use super::run_folder::{RunFolder, Watch};
use super::{Reproduction, Request, runs_folder};
use fowler_experiment::problem::Problems;
use paper::Paper;
use plan::Evidence;

/// The paper beside what is measured; nothing if it was stopped.
pub(super) fn reproduce(
    request: &Request,
    watch: Watch<'_>,
) -> Result<Option<Reproduction>, Problems> {
    let mut paper = Paper::open()?;
    if request.brief {
        paper.sweeps.workloads.clear();
    }
    let columns = columns(&paper.workload, request.traces.as_deref())?;
    let runs = RunFolder::open(&request.out.join(runs_folder(request.limit)), watch)?;
    let Some(evidence) = Evidence::gather(&paper, columns, request.limit, &runs)? else {
        return Ok(None);
    };
    let claims = answered(&paper.claim, |it| measure::measure(&it.id, &evidence))?;
    let mut sheets = tables::shown(&paper, &evidence);
    let mut figures = pictures::shown(&paper, &evidence);
    if !request.brief {
        sheets.extend(sweeps::sheets(&paper, &evidence));
        figures.extend(sweeps::pictures(&paper, &evidence));
    }
    sheets.push(tables::runs(&evidence));
    let (workloads, columns) = (&paper.workload, &evidence.runs.columns);
    let findings =
        Findings { title: paper.title.clone(), sheets, figures, claims, workloads, columns };
    findings.write(request).map(Some)
}
