//! RHIO (Cui et al., MSST 2016): every figure and number of the paper, each of its techniques
//! alone, and what it leaves open.

mod claims;
mod example;
mod joint;
mod paper;
mod pictures;
mod plan;
mod sweeps;
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
        if self.brief {
            return Vec::new();
        }
        // The choices are run under the volumes that the text names.
        let chosen = plan::chosen(&self.paper).into_iter().map(|it| (it.name, it.speed));
        let combined = plan::combinations(&self.paper).unwrap_or_default();
        let combined = combined.into_iter().map(|it| (plan::together(&it.name, None), 1.0));
        let choice = |(name, speed): (String, f64)| {
            let lens = Lens::variant(name.as_str()).over(&self.paper.named);
            Choice { lens: lens.at(speed), name }
        };
        chosen.chain(combined).map(choice).collect()
    }
}

impl Study for Evidence {
    const NAME: &'static str = "rhio";
    const ABOUT: &'static str = "order and speed by latency variation, MSST 2016";
    const CLAIMS: &'static [Claim<Evidence>] = claims::CLAIMS;

    fn gather(request: &Request, runs: &RunFolder<'_>) -> Result<Option<Evidence>, Diagnostics> {
        let paper = Paper::open()?;
        let columns = columns(&paper.workload, request.traces.as_deref())?;
        Evidence::of(paper, columns, request, runs)
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
        let mut sheets = tables::shown(&self.paper, self, answers);
        if !self.brief {
            sheets.extend(tables::open_questions(&self.paper, self));
            sheets.extend(joint::sheets(&self.paper, self)?);
        }
        Ok(sheets)
    }

    fn figures(&self) -> Result<Vec<Figure>, Diagnostics> {
        let mut figures = pictures::shown(&self.paper, self);
        if !self.brief {
            figures.extend(pictures::open_questions(&self.paper, self));
        }
        Ok(figures)
    }
}
