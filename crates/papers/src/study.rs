//! The study of a paper: a folder of this crate and a line in [`crate::STUDIES`]. Its evidence (all
//! measurements) implements [`Study`]; the functions here make tables, figures and verdicts from
//! it.

use crate::claim::{self, Answer, Claim, Statement, Verdict, Viewed};
use crate::column::{Column, Published, none_found};
use crate::repetition::{REPETITIONS, Repetition};
use crate::run_folder::{RunFolder, Watch};
use crate::{Reproduction, Request, runs_folder};
use fowler_experiment::contents;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::tables::Sheet;
use fowler_figures::Figure;
use fowler_report::figures_folder;
use std::path::{Path, PathBuf};

/// The data of a study that comes from the paper: its title, its statements with the published
/// numbers, and its workloads.
#[derive(Clone, Copy)]
pub(crate) struct Printed<'a> {
    /// Title of the paper.
    pub title: &'a str,
    /// Statements of the paper with their published numbers, in the order of [`Study::CLAIMS`].
    pub statements: &'a [Statement],
    /// Workloads of the paper, with the file names of their real traces; empty if the study uses no
    /// real traces.
    pub workloads: &'a [Published],
}

/// A study: all measurements made for one paper, and the tables and figures drawn from them.
pub(crate) trait Study: Viewed {
    /// Name of the study on the command line.
    const NAME: &'static str;
    /// One line of help on the study: subject of the paper, venue and year.
    const ABOUT: &'static str;
    /// The claims of the paper, each with the function that measures it.
    const CLAIMS: &'static [Claim<Self>];
    /// Repetitions of the study, which show whether its verdicts hold.
    const REPETITIONS: &'static [Repetition] = REPETITIONS;

    /// Plans every run and executes those not saved in `runs` yet; returns the measurements, or
    /// `None` if the study was stopped. In a repetition the request is brief: only the runs that
    /// claims read are needed.
    ///
    /// # Errors
    /// Everything that is wrong with the paper's data or the user's traces.
    fn gather(request: &Request, runs: &RunFolder<'_>) -> Result<Option<Self>, Diagnostics>;

    /// Returns the title, the statements with published numbers, and the workloads of the paper.
    fn printed(&self) -> Printed<'_>;

    /// Returns the workloads that the study ran.
    fn columns(&self) -> &[Column];

    /// Returns the paper's tables, its figures as numbers, and the tables on the questions that the
    /// paper leaves open; the table of claims is added by the caller.
    ///
    /// # Errors
    /// If a model rejects its constants.
    fn tables(&self, answers: &[Answer]) -> Result<Vec<Sheet>, Diagnostics>;

    /// Returns the study's figures as pictures.
    ///
    /// # Errors
    /// As for [`Study::tables`].
    fn figures(&self) -> Result<Vec<Figure>, Diagnostics>;
}

/// Carries out a study and writes its results. Returns `None` if the study was stopped.
///
/// # Errors
/// Any error of the study, or an error if the folder for results cannot be written.
pub(crate) fn reproduce<S: Study>(
    request: &Request,
    watch: Watch<'_>,
) -> Result<Option<Reproduction>, Diagnostics> {
    let runs = RunFolder::open(&request.out.join(runs_folder(request.limit)), watch)?;
    let Some(study) = S::gather(request, &runs)? else { return Ok(None) };
    let mut answers = claim::answers(study.printed().statements, S::CLAIMS, &study)?;
    // A look is not repeated: its verdicts would mean nothing.
    if !request.brief && request.limit.is_none() {
        let brief = Request { brief: true, ..request.clone() };
        for &repetition in S::REPETITIONS {
            let Some(again) = S::gather(&brief, &runs.repeated(repetition)?)? else {
                return Ok(None);
            };
            claim::repeat(&mut answers, S::CLAIMS, repetition, &again)?;
        }
    }
    let mut sheets = study.tables(&answers)?;
    sheets.push(claim::sheet(&answers));
    let figures = study.figures()?;
    let warnings = runs.warnings();
    write(&study, request, &Results { answers, sheets, figures, warnings }).map(Some)
}

/// Results of a study that remain to be written: tables, figures and verdicts.
struct Results {
    answers: Vec<Answer>,
    sheets: Vec<Sheet>,
    figures: Vec<Figure>,
    warnings: Vec<String>,
}

/// Writes a study's tables, figures and the page that shows both into the output folder of the
/// request.
fn write<S: Study>(
    study: &S,
    request: &Request,
    results: &Results,
) -> Result<Reproduction, Diagnostics> {
    let Printed { title, workloads, .. } = study.printed();
    let Results { answers, sheets, figures, .. } = results;
    let verdicts: Vec<Verdict> = answers.iter().map(Answer::verdict).collect();
    let mut lead = vec![Verdict::counted(&verdicts), claim::bases(answers)];
    lead.extend(request.limit.map(|limit| {
        format!("{limit} requests of each run at most: a preview, not a reproduction")
    }));
    if request.brief || request.limit.is_some() {
        lead.push("one seed and one length: no verdict is confirmed by a repetition".into());
    }
    let summary = lead.clone();
    let folder = request.traces.as_deref();
    let none = folder.and_then(|it| none_found(workloads, it, study.columns()));
    let (files, mut warnings) =
        publish((&request.out, "reproduce"), title, lead, (sheets, figures), none)?;
    // Results that were damaged and have been computed again are not on the page: they are equal to
    // the first ones.
    warnings.extend(results.warnings.iter().cloned());
    let (title, sheets) = (title.into(), sheets.clone());
    Ok(Reproduction { title, sheets, verdicts, summary, files, warnings })
}

/// Writes the results of a command into the folder `out`: tables, figures, and a page of both that
/// begins with `lead` and the warnings. Returns the names of the files written and all warnings.
///
/// # Errors
/// If the folder cannot be written.
pub(crate) fn publish(
    (out, command): (&Path, &str),
    title: &str,
    lead: Vec<String>,
    shown: (&[Sheet], &[Figure]),
    warning: Option<String>,
) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
    let (files, warnings) = figures_folder::publish(out, title, lead, shown, warning)?;
    let listed: Vec<PathBuf> = files.iter().map(|file| out.join(file)).collect();
    contents::list(out, command, &listed)?;
    Ok((files, warnings))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Study;

    /// Asserts that every figure of a study can be drawn, and that a figure without measurements
    /// says so.
    pub(crate) fn assert_drawn(study: &impl Study) {
        for figure in study.figures().unwrap() {
            figure.svg().unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
