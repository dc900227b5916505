//! P/E suspension (Wu and He, FAST 2012): every table, figure and number of the paper.

mod die;
mod fit;
mod limits;
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
    let mut paper = Paper::open()?;
    if request.brief {
        paper.choice.clear();
    }
    let columns = columns(&paper.workload, request.traces.as_deref())?;
    let images = ImageCache::default();
    let runs = RunFolder::open(&request.out.join(runs_folder(request.limit)), watch)?;
    let Some(evidence) = Evidence::gather(&paper, columns, request.limit, &images, &runs)? else {
        return Ok(None);
    };
    let starved =
        if request.brief { Vec::new() } else { limits::jobs(&paper, request.limit, &images)? };
    let Some(starved) = runs.results(starved)? else { return Ok(None) };
    let claims = answered(&paper.claim, |it| measure::measure(&it.id, &paper, &evidence))?;
    let mut sheets = tables::shown(&paper, &claims, &evidence);
    let mut figures = pictures::shown(&paper, &evidence);
    if !request.brief {
        let points = limits::points(&starved)?;
        sheets.extend(tables::open_choices(&paper, &evidence));
        sheets.extend([limits::completion_sheet(&points), limits::limit_sheet(&starved)]);
        figures.extend(pictures::starvation(&points, &starved));
    }
    if let Some((sheet, figure)) = fit::fit(&paper, &evidence.runs.columns)? {
        sheets.push(sheet);
        figures.push(figure);
    }
    let (workloads, columns) = (&paper.workload, &evidence.runs.columns);
    let findings =
        Findings { title: paper.title.clone(), sheets, figures, claims, workloads, columns };
    findings.write(request).map(Some)
}
