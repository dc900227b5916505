//! DA-RAID-5 (Guo et al., DATE 2013): Tables I and II, Figures 4 to 7 and every number of the text;
//! sweeps of the stripe size, the cut-off and the load; and the whole life of a drive, with which
//! the paper argues but which it does not plot.

mod checks;
mod claims;
mod equal;
mod example;
mod life;
mod limits;
mod paper;
mod pictures;
mod plan;
mod stripes;
mod tables;
mod variants;

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
        if self.brief { Vec::new() } else { variants::choices(&self.paper) }
    }
}

impl Study for Evidence {
    const NAME: &'static str = "da-raid5";
    const ABOUT: &'static str = "redundancy inside the drive, DATE 2013";
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
        _answers: &[Answer],
        again: &[(Repetition, Self)],
    ) -> Result<Vec<Sheet>, Diagnostics> {
        let mut sheets = tables::shown(self);
        sheets.push(equal::sheet(self, again));
        sheets.push(example::sheet(&self.checks.example));
        sheets.push(limits::sheet()?);
        if !self.brief {
            sheets.extend(tables::swept(&self.paper, self));
            sheets.push(equal::localities(&self.paper, self));
            sheets.extend([life::sheet(self)?, life::until_loss()?]);
            sheets.extend(stripes::sheets(&self.paper, self)?);
        }
        Ok(sheets)
    }

    fn figures(&self) -> Result<Vec<Figure>, Diagnostics> {
        let mut figures = pictures::shown(&self.paper, self);
        if !self.brief {
            figures.extend(pictures::swept(&self.paper, self));
            figures.extend(life::pictures(self)?);
            figures.push(stripes::picture(&self.paper, self)?);
        }
        Ok(figures)
    }
}
