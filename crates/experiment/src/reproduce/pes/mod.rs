//! P/E suspension (Wu and He, FAST 2012): every table, figure and number of the paper.

mod die;
mod fit;
mod limits;
mod measure;
mod paper;
mod pictures;
mod plan;
mod tables;

use super::claim::{self, Claim, Measured};
use super::study::{Study, Watch};
use super::{Reproduction, Request, runs_folder};
use crate::problem::Problems;
use crate::stock::Stock;
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
    let columns = paper.columns(request.traces.as_deref())?;
    let stock = Stock::default();
    let study = Study::open(&request.out.join(runs_folder(request.limit)), watch)?;
    let Some(evidence) = Evidence::gather(&paper, columns, request.limit, &stock, &study)? else {
        return Ok(None);
    };
    let starved =
        if request.brief { Vec::new() } else { limits::jobs(&paper, request.limit, &stock)? };
    let Some(starved) = study.results(starved)? else { return Ok(None) };
    let claims = measured(&paper, &evidence)?;
    let mut sheets = tables::shown(&paper, &claims, &evidence);
    let mut figures = pictures::shown(&paper, &evidence);
    if !request.brief {
        let points = limits::points(&starved)?;
        sheets.extend(tables::open_choices(&paper, &evidence));
        sheets.extend([limits::completion_sheet(&points), limits::limit_sheet(&starved)]);
        figures.extend(pictures::starvation(&points, &starved));
    }
    if let Some((sheet, figure)) = fit::fit(&paper, &evidence.columns)? {
        sheets.push(sheet);
        figures.push(figure);
    }
    sheets.push(claim::sheet(&claims));
    let (files, mut notes) = super::write(&sheets, &figures, &request.out)?;
    notes.extend(request.traces.as_deref().and_then(|folder| paper.none_found(folder, &evidence)));
    let verdicts = claims.iter().map(|(claim, ours)| claim.verdict(ours.as_ref())).collect();
    Ok(Some(Reproduction { title: paper.title, sheets, verdicts, files, notes }))
}

fn measured(
    paper: &Paper,
    evidence: &Evidence,
) -> Result<Vec<(Claim, Option<Measured>)>, Problems> {
    let measure =
        |claim: &Claim| Ok((claim.clone(), measure::measure(&claim.id, paper, evidence)?));
    paper.claim.iter().map(measure).collect()
}
