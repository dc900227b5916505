//! DA-RAID-5 (Guo et al., DATE 2013): Tables I and II, Figures 4 to 7 and every number of the text; the stripe size, the
//! cut-off and the load swept; and the life of a drive as a whole, which the paper argues with and does not draw.

mod checks;
mod example;
mod life;
mod limits;
mod measure;
mod paper;
mod pictures;
mod plan;
mod stripes;
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
    let paper = Paper::open()?;
    let columns = columns(&paper.workload, request.traces.as_deref())?;
    let runs = RunFolder::open(&request.out.join(runs_folder(request.limit)), watch)?;
    let gathered = Evidence::gather(&paper, columns, request.limit, request.brief, &runs)?;
    let Some(evidence) = gathered else { return Ok(None) };
    let claims = answered(&paper.claim, |it| measure::measure(&it.id, &paper.claim, &evidence))?;
    let mut sheets = tables::shown(&evidence);
    sheets.extend(evidence.example().map(|log| example::sheet(&log)));
    let mut figures = pictures::shown(&paper, &evidence);
    sheets.push(limits::sheet()?);
    if !request.brief {
        sheets.extend(tables::swept(&paper, &evidence));
        figures.extend(pictures::swept(&paper, &evidence));
        sheets.extend([life::sheet(&evidence)?, life::until_loss()?]);
        figures.extend(life::pictures(&evidence)?);
        sheets.extend(stripes::sheets(&paper, &evidence)?);
        figures.push(stripes::picture(&paper, &evidence)?);
    }
    let (workloads, columns) = (&paper.workload, &evidence.runs.columns);
    let findings =
        Findings { title: paper.title.clone(), sheets, figures, claims, workloads, columns };
    findings.write(request).map(Some)
}
