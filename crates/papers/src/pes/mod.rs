//! P/E suspension (Wu and He, FAST 2012): every table, figure and number of the paper.

mod claims;
mod die;
mod ensemble;
mod fit;
mod limits;
mod measures;
mod paper;
mod pictures;
mod plan;
mod tables;

use crate::Request;
use crate::claim::{Answer, Choice, Claim, Lens, View, Viewed};
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
        let choice = |it: &paper::Choice| Choice {
            name: it.name.clone(),
            lens: Lens::variant(it.name.as_str()),
        };
        self.paper.choice.iter().map(choice).collect()
    }
}

impl Study for Evidence {
    const NAME: &'static str = "pes";
    const ABOUT: &'static str = "P/E suspension, FAST 2012";
    const CLAIMS: &'static [Claim<Evidence>] = claims::CLAIMS;

    fn gather(request: &Request, runs: &RunFolder<'_>) -> Result<Option<Evidence>, Diagnostics> {
        let mut paper = Paper::open()?;
        if request.brief {
            paper.choice.clear();
            paper.queue.way.truncate(1);
        }
        // Claims are about the stand-ins: a repetition needs no real trace.
        let traces = request.traces.as_deref().filter(|_| runs.repetition().is_original());
        let mut columns = columns(&paper.workload, traces)?;
        ensemble::stand_in(&paper, &mut columns);
        let members = if request.brief { Vec::new() } else { ensemble::members(&paper) };
        Evidence::of(paper, (columns, members), request, runs)
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
        answers: &[Answer],
        _again: &[(Repetition, Self)],
    ) -> Result<Vec<Sheet>, Diagnostics> {
        let mut sheets = tables::shown(&self.paper, answers, self);
        if let Some(starvation) = &self.starvation {
            sheets.extend(ensemble::sheets(self));
            sheets.extend(tables::open_choices(&self.paper, self));
            sheets.extend([starvation.completion_sheet(), starvation.limit_sheet()]);
        }
        sheets.extend(self.fit.as_ref().map(fit::Fit::sheet));
        Ok(sheets)
    }

    fn figures(&self) -> Result<Vec<Figure>, Diagnostics> {
        let mut figures = pictures::shown(&self.paper, self);
        if let Some(starvation) = &self.starvation {
            figures.push(ensemble::picture(self));
            figures.extend(pictures::starvation(starvation));
        }
        figures.extend(self.fit.as_ref().map(fit::Fit::picture));
        Ok(figures)
    }
}
