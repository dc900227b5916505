//! The study of a paper: a folder of this crate and a line in [`crate::STUDIES`]. Its evidence (all
//! measurements) implements [`Study`]; the functions here make tables, figures and verdicts from
//! it.
//!
//! See docs/decisions/reports.md, "Who says which figures a paper's study has?".

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
    /// Title of the paper that the study reproduces.
    pub title: &'a str,
    /// Workloads of the paper that the study reproduces, with the file names of their real traces;
    /// empty if the study uses no real traces.
    pub statements: &'a [Statement],
    /// Workloads of the paper, with the file names of their real traces; empty if the study uses no
    /// real traces.
    pub workloads: &'a [Published],
}

/// A study: all measurements made for one paper, and the tables and figures drawn from them.
pub(crate) trait Study: Viewed {
    /// Name of a paper's study on the command line of `fowler reproduce`.
    const NAME: &'static str;
    /// One line of help on the study: subject of the paper, venue and year.
    const ABOUT: &'static str;
    /// Claims of the paper that the study reproduces, each with the function that measures it.
    const CLAIMS: &'static [Claim<Self>];
    /// Repetitions of this study with other seeds or longer runs, which show whether its verdicts
    /// on the paper's claims hold.
    const REPETITIONS: &'static [Repetition] = REPETITIONS;

    /// Plans every run of the study and executes those not saved in `runs` yet; returns the
    /// measurements, or `None` if the study was stopped. A repetition of the study
    /// (`request.brief`) executes only the runs on which claims are measured.
    ///
    /// # Errors
    /// Everything that is wrong with the paper's data or the user's traces.
    fn gather(request: &Request, runs: &RunFolder<'_>) -> Result<Option<Self>, Diagnostics>;

    /// Returns what the reproduced paper prints: its title, its statements with published numbers,
    /// and its workloads.
    fn printed(&self) -> Printed<'_>;

    /// Returns the workloads that the paper's study ran: stand-in traces and real ones.
    fn columns(&self) -> &[Column];

    /// Returns the tables of the study: those of the reproduced paper, its figures as numbers, and
    /// answers to the questions that it leaves open. `again` has the measurements of the study's
    /// repetitions; it is empty with `--brief` or `--limit`. The caller adds the table of claims.
    ///
    /// # Errors
    /// If a model rejects its constants.
    fn tables(
        &self,
        answers: &[Answer],
        again: &[(Repetition, Self)],
    ) -> Result<Vec<Sheet>, Diagnostics>;

    /// Returns the figures of this study of a paper as pictures.
    ///
    /// # Errors
    /// As for [`Study::tables`].
    fn figures(&self) -> Result<Vec<Figure>, Diagnostics>;
}

/// Carries out the study of a paper and writes its results. Returns `None` if the study was
/// stopped.
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
    let mut repeated = Vec::new();
    // A look is not repeated: its verdicts would mean nothing.
    if !request.brief && request.limit.is_none() {
        let brief = Request { brief: true, ..request.clone() };
        for &repetition in S::REPETITIONS {
            let Some(again) = S::gather(&brief, &runs.repeated(repetition)?)? else {
                return Ok(None);
            };
            claim::repeat(&mut answers, S::CLAIMS, repetition, &again)?;
            repeated.push((repetition, again));
        }
    }
    let mut sheets = study.tables(&answers, &repeated)?;
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
