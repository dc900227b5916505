//! The 2^n ablation: every subset of the five papers' systems on one or several drives, at several
//! ages, under several workloads. Shows how much each system gains, alone and combined with the
//! others, and which gains cancel. A study is defined by a file: see `plan`.

mod alternatives;
mod choices;
#[cfg(test)]
mod choices_tests;
mod combination;
mod effects;
mod plan;
mod price;
mod signs;
mod tables;
#[cfg(test)]
mod tests;

use crate::column::{Column, columns, none_found};
use crate::run_folder::{RunFolder, Watch};
use crate::runs_folder;
use crate::study::publish;
use choices::Choice;
use fowler_experiment::atomic_file::unwritable;
use fowler_experiment::contents;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::disk;
use fowler_experiment::tables::Sheet;
use fowler_experiment::workload::WorkloadSpec;
use plan::{Evidence, Plan};
use std::path::PathBuf;

/// An ablation study built into Fowler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// The study of one drive on which all five systems work as in their papers.
    All,
    /// The study of four drives fitted to drives of today, and of two that are marked because
    /// little was measured of them.
    Today,
}

impl Design {
    /// Every ablation study, in the order of lists.
    pub const EVERY: [Design; 2] = [Design::All, Design::Today];

    /// Returns the name of the study on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Design::All => "all",
            Design::Today => "today",
        }
    }

    /// Returns the study with the name `name`; `None` if there is none.
    pub fn by_name(name: &str) -> Option<Design> {
        Design::EVERY.into_iter().find(|it| it.name() == name)
    }

    fn plan(self) -> Result<Plan, Diagnostics> {
        match self {
            Design::All => {
                let text = include_str!("../../../../presets/studies/all.toml");
                Plan::open("studies/all", text)
            }
            Design::Today => {
                let text = include_str!("../../../../presets/studies/today.toml");
                Plan::open("studies/today", text)
            }
        }
    }
}

/// A request to run an ablation study: the study, its workloads, and the folder for results.
#[derive(Clone, Debug)]
pub struct Request {
    /// The ablation study to run.
    pub design: Design,
    /// True for the quick form of the study: few and short runs of small drives, which test the
    /// study but measure nothing.
    pub brief: bool,
    /// Named workloads to run instead of the study's own.
    pub workloads: Vec<(String, WorkloadSpec)>,
    /// A folder of real traces. Files in it that the study recognizes are run besides its own
    /// workloads.
    pub traces: Option<PathBuf>,
    /// The folder into which the study's tables, pictures and finished runs are written.
    pub out: PathBuf,
    /// Largest number of requests in each run; `None` for whole runs.
    pub limit: Option<u64>,
    /// Number of seeds with which every run is repeated, 1 to 10. Several seeds give the effects
    /// confidence intervals.
    pub seeds: u32,
}

/// The results of an ablation study.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Title of the ablation study.
    pub title: String,
    /// Tables of the study; the first has the effect of each system. Drives about whose fit there
    /// is a reservation have a table of their own, `marked`.
    pub sheets: Vec<Sheet>,
    /// Paths of the files written, relative to the output folder of the request.
    pub files: Vec<String>,
    /// Warnings for the user, such as traces that were not found, and a note on each marked drive.
    pub warnings: Vec<String>,
}

/// Runs every subset of the five systems on every drive of the study. Returns `None` if the study
/// was stopped; the same request then resumes where it stopped.
///
/// # Errors
/// Everything that is wrong with the workloads or the folder for results.
pub fn study(request: &Request, watch: Watch<'_>) -> Result<Option<Finding>, Diagnostics> {
    let mut plan = request.design.plan()?;
    if request.brief {
        plan.shorten();
    }
    let chosen = chosen(&plan, request)?;
    disk::create_folder(&request.out).map_err(|error| unwritable(&request.out, &error))?;
    // A list that a newer version wrote, or that is damaged, is refused before anything is run.
    contents::enter(&request.out)?;
    // Runs of the quick form are kept apart, as those with a limit are.
    let limit = if request.brief {
        Some(request.limit.map_or(plan.requests, |limit| limit.min(plan.requests)))
    } else {
        request.limit
    };
    let runs = RunFolder::open(&request.out.join(runs_folder(limit)), watch)?;
    let known = plan.workload.clone();
    let Some(evidence) = Evidence::gather(plan, chosen, (limit, request.seeds), &runs)? else {
        return Ok(None);
    };
    let mut sheets =
        vec![evidence.worth(), evidence.interactions(), evidence.effects(), evidence.each_run()];
    if evidence.plan.signs {
        sheets.insert(1, evidence.signs());
    }
    if let Some(marked) = evidence.marked() {
        sheets.insert(1, marked);
    }
    let choice = evidence.choice();
    let [choices, pareto] = [Choice::choices, Choice::pareto].map(|it| choice.as_ref().map(it));
    let further = [choices, pareto, evidence.price(), evidence.alternatives()];
    let after_first = sheets.split_off(1);
    sheets.extend(further.into_iter().flatten().chain(after_first));
    let notes = evidence.plan.notes();
    let folder = request.traces.as_deref();
    let none = folder.and_then(|it| none_found(&known, it, &evidence.columns));
    let title = evidence.plan.title.clone();
    let fronts = choice.as_ref().map_or_else(Vec::new, Choice::fronts);
    let pictures = [evidence.pictures(), fronts].concat();
    let (files, mut warnings) =
        publish((&request.out, "study"), &title, notes.clone(), (&sheets, &pictures), none)?;
    warnings.extend(notes);
    // Results that were damaged and have been computed again are not on the page: they are equal to
    // the first ones.
    warnings.extend(runs.warnings());
    Ok(Some(Finding { title, sheets, files, warnings }))
}

/// Returns the workloads that the study runs: those named in the request, or else the study's own.
fn chosen(plan: &Plan, request: &Request) -> Result<Vec<Column>, Diagnostics> {
    if request.workloads.is_empty() {
        let columns = columns(&plan.workload, request.traces.as_deref())?;
        // Check all workloads before the first run, so that an error in the last one shows at once.
        let mut diagnostics = Diagnostics::default();
        for column in &columns {
            diagnostics.take(column.spec.check(None));
        }
        return diagnostics.or(columns);
    }
    let mut columns: Vec<Column> = Vec::new();
    for (name, spec) in &request.workloads {
        if columns.iter().any(|column| column.name == *name) {
            let what = format!(
                "workload `{}` is given twice",
                fowler_experiment::diagnostic::printable(name)
            );
            return Err(Diagnostic::new("", what).into());
        }
        let (name, source) = (name.clone(), "given by the user".into());
        columns.push(Column { name, source, spec: spec.clone(), place: None });
    }
    Ok(columns)
}
