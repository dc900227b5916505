//! READY (Lee et al., FAST 2012): every table, figure and number of the paper, by lives of its five workloads' stand-ins.

mod examples;
mod measure;
mod paper;
mod pictures;
mod plan;
mod tables;

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
    let paper = Paper::open()?;
    let runs = RunFolder::open(&request.out.join(runs_folder(request.limit)), watch)?;
    let Some(evidence) = Evidence::gather(&paper, (request.limit, request.brief), &runs)? else {
        return Ok(None);
    };
    let claims = answered(&paper.claim, |it| measure::measure(&it.id, &paper, &evidence))?;
    let sheets = tables::shown(&paper, &evidence);
    let figures = pictures::shown(&paper, &evidence);
    let title = paper.title.clone();
    // Its traces are not among those that are looked for: all columns are stand-ins.
    let findings = Findings { title, sheets, figures, claims, workloads: &[], columns: &[] };
    findings.write(request).map(Some)
}
