//! HIRE (Cui et al., NPC 2016): Table 1, Figures 3 to 5 and every number of the text, under three
//! readings of how clean pages that were read are treated.

mod checks;
mod claims;
mod convergence;
mod oracle;
mod paper;
mod pictures;
mod plan;
mod sizes;
mod sweeps;
mod tables;
mod web_search;

use crate::Request;
use crate::claim::{Answer, Choice, Claim, View, Viewed};
use crate::column::{Column, columns};
use crate::repetition::Repetition;
use crate::run_folder::RunFolder;
use crate::study::{Printed, Study};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::tables::Sheet;
use fowler_figures::Figure;
use paper::Paper;

pub(crate) use plan::Evidence;

impl Viewed for Evidence {
    fn view(&self) -> &View {
        &self.runs.view
    }

    fn choices(&self) -> Vec<Choice> {
        plan::choices(&self.paper).into_iter().chain(self.bounds()).collect()
    }

    fn bounds(&self) -> Vec<Choice> {
        sizes::bounds(&self.paper)
    }
}

impl Study for Evidence {
    const NAME: &'static str = "hire";
    const ABOUT: &'static str = "voltages, NPC 2016";
    const CLAIMS: &'static [Claim<Evidence>] = claims::CLAIMS;

    fn gather(request: &Request, runs: &RunFolder<'_>) -> Result<Option<Evidence>, Diagnostics> {
        let mut paper = Paper::open()?;
        if request.brief {
            paper.sweeps.workloads.clear();
        }
        // Real excerpts have one length, and no claim reads them.
        let traces = request.traces.as_deref().filter(|_| runs.repetition().is_original());
        let columns = columns(&paper.workload, traces)?;
        Evidence::of(paper, columns, request.limit, runs)
    }

    fn printed(&self) -> Printed<'_> {
        let Paper { title, claim, workload, .. } = &self.paper;
        Printed { title, statements: claim, workloads: workload }
    }

    fn columns(&self) -> &[Column] {
        &self.runs.columns
    }

    fn tables(
        &self,
        _answers: &[Answer],
        _again: &[(Repetition, Self)],
    ) -> Result<Vec<Sheet>, Diagnostics> {
        let mut sheets = tables::shown(&self.paper, self);
        if self.is_swept() {
            sheets.extend(convergence::sheets(self));
            sheets.extend(sweeps::sheets(self));
            sheets.push(web_search::sheet(self));
        }
        sheets.push(tables::runs(self));
        Ok(sheets)
    }

    fn figures(&self) -> Result<Vec<Figure>, Diagnostics> {
        let mut figures = pictures::shown(&self.paper, self);
        if self.is_swept() {
            figures.push(convergence::picture(self));
            figures.extend(sweeps::pictures(self));
        }
        Ok(figures)
    }
}
