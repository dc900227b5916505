//! READY (Lee et al., FAST 2012): every table, figure and number of the paper, from simulated drive
//! lives under stand-ins of its five workloads.

mod claims;
mod examples;
mod jobs;
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
        &self.view
    }

    fn choices(&self) -> Vec<Choice> {
        let reading = |reading: &&str| {
            let of = |scheme: &'static str| (scheme, plan::read_as(scheme, reading));
            let [pes, opt] = ["ready_pes", "ready_opt"].map(of);
            let lens = Lens::replacing(&[(pes.0, &pes.1), (opt.0, &opt.1)]);
            Choice { name: (*reading).into(), lens }
        };
        plan::READINGS.iter().map(reading).collect()
    }
}

impl Study for Evidence {
    const NAME: &'static str = "ready";
    const ABOUT: &'static str = "throttling, FAST 2012";
    const CLAIMS: &'static [Claim<Evidence>] = claims::CLAIMS;

    fn gather(request: &Request, runs: &RunFolder<'_>) -> Result<Option<Evidence>, Diagnostics> {
        let paper = Paper::open()?;
        let columns = columns(&paper.real, request.traces.as_deref())?;
        Evidence::of(paper, columns, request, runs)
    }

    fn printed(&self) -> Printed<'_> {
        let Paper { title, claim, real, .. } = &self.paper;
        Printed { title, statements: claim, workloads: real }
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn tables(
        &self,
        _answers: &[Answer],
        _again: &[(Repetition, Self)],
    ) -> Result<Vec<Sheet>, Diagnostics> {
        Ok(tables::shown(&self.paper, self))
    }

    fn figures(&self) -> Result<Vec<Figure>, Diagnostics> {
        Ok(pictures::shown(&self.paper, self))
    }
}
