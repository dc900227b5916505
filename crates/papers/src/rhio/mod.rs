//! RHIO (Cui et al., MSST 2016): every figure and number of the paper, each of its techniques alone, and what it
//! leaves open.

mod example;
mod measure;
mod paper;
mod pictures;
mod plan;
mod tables;

use super::column::columns;
use super::published::{Findings, answered};
use super::run_folder::{RunFolder, Watch};
use super::{Reproduction, Request, runs_folder};
use fowler_experiment::problem::Problems;
use fowler_experiment::studies::ImageCache;
use paper::Paper;
use plan::Evidence;

/// The paper beside what is measured; nothing if it was stopped.
pub(super) fn reproduce(
    request: &Request,
    watch: Watch<'_>,
) -> Result<Option<Reproduction>, Problems> {
    let paper = Paper::open()?;
    let columns = columns(&paper.workload, request.traces.as_deref())?;
    let images = ImageCache::default();
    let runs = RunFolder::open(&request.out.join(runs_folder(request.limit)), watch)?;
    let extent = (request.limit, request.brief);
    let Some(evidence) = Evidence::gather(&paper, columns, extent, &images, &runs)? else {
        return Ok(None);
    };
    let claims = answered(&paper.claim, |it| measure::measure(&it.id, &paper, &evidence))?;
    let mut sheets = tables::shown(&paper, &evidence, request.brief);
    let mut figures = pictures::shown(&paper, &evidence, request.brief);
    if !request.brief {
        sheets.extend(tables::open_questions(&paper, &evidence));
        figures.extend(pictures::open_questions(&paper, &evidence));
    }
    let (workloads, columns) = (&paper.workload, &evidence.runs.columns);
    let findings =
        Findings { title: paper.title.clone(), sheets, figures, claims, workloads, columns };
    findings.write(request).map(Some)
}
