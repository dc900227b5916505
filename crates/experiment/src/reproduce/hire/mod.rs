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

use super::claim::{self, Claim, Measured};
use super::study::{Study, Watch};
use super::{Reproduction, Request, runs_folder};
use crate::problem::Problems;
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
    let columns = paper.columns(request.traces.as_deref())?;
    let study = Study::open(&request.out.join(runs_folder(request.limit)), watch)?;
    let Some(evidence) = Evidence::gather(&paper, columns, request.limit, &study)? else {
        return Ok(None);
    };
    let claims: Vec<(Claim, Option<Measured>)> = paper
        .claim
        .iter()
        .map(|claim| Ok((claim.clone(), measure::measure(&claim.id, &evidence)?)))
        .collect::<Result<_, Problems>>()?;
    let mut sheets = tables::shown(&paper, &evidence);
    let mut figures = pictures::shown(&paper, &evidence);
    if !request.brief {
        sheets.extend(sweeps::sheets(&paper, &evidence));
        figures.extend(sweeps::pictures(&paper, &evidence));
    }
    sheets.extend([tables::runs(&evidence), claim::sheet(&claims)]);
    let (files, mut notes) = super::write(&sheets, &figures, &request.out)?;
    notes.extend(request.traces.as_deref().and_then(|folder| paper.none_found(folder, &evidence)));
    let verdicts = claims.iter().map(|(claim, ours)| claim.verdict(ours.as_ref())).collect();
    Ok(Some(Reproduction { title: paper.title, sheets, verdicts, files, notes }))
}
