//! RHIO (Cui et al., MSST 2016): every figure and number of the paper, each of its techniques alone, and what it
//! leaves open.

mod example;
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
    let paper = Paper::open()?;
    let columns = paper.columns(request.traces.as_deref())?;
    let stock = Stock::default();
    let study = Study::open(&request.out.join(runs_folder(request.limit)), watch)?;
    let extent = (request.limit, request.brief);
    let Some(evidence) = Evidence::gather(&paper, columns, extent, &stock, &study)? else {
        return Ok(None);
    };
    let measure =
        |claim: &Claim| Ok((claim.clone(), measure::measure(&claim.id, &paper, &evidence)?));
    let claims: Vec<(Claim, Option<Measured>)> =
        paper.claim.iter().map(measure).collect::<Result<_, Problems>>()?;
    let mut sheets = tables::shown(&paper, &evidence, request.brief);
    let mut figures = pictures::shown(&paper, &evidence, request.brief);
    if !request.brief {
        sheets.extend(tables::open_questions(&paper, &evidence));
        figures.extend(pictures::open_questions(&paper, &evidence));
    }
    sheets.push(claim::sheet(&claims));
    let (files, mut notes) = super::write(&sheets, &figures, &request.out)?;
    let folder = request.traces.as_deref();
    notes.extend(folder.and_then(|folder| paper.none_found(folder, &evidence.columns)));
    let verdicts = claims.iter().map(|(claim, ours)| claim.verdict(ours.as_ref())).collect();
    Ok(Some(Reproduction { title: paper.title, sheets, verdicts, files, notes }))
}
