//! The files of a run. A folder that cannot be written is found before the run, and what was in it
//! before is replaced only by what is complete.

use crate::{console, pages, requests, signals};
use fowler_experiment::atomic_file::{
    AtomicFile, Named, clashes, same, stored, unwritable, writable,
};
use fowler_experiment::contents;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::disk;
use fowler_experiment::outcome::Outcome;
use fowler_experiment::requests::RequestsFile;
use fowler_experiment::seeds::Spread;
use fowler_experiment::timeline::TIMELINE;
use fowler_report::passage::Passage;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Name of the summary, the file that every folder of results has.
const SUMMARY: &str = "summary.json";

/// The files and the folder that a command's results are written to.
pub(crate) struct Output {
    folder: Option<PathBuf>,
    requests: Option<RequestsFile>,
    reports: Vec<PathBuf>,
    /// The files into which the log of requests is written: one for each run.
    logs: Vec<PathBuf>,
}

/// The files that the user asked for besides the folder of results; an inner `None` puts one into
/// the folder.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted<'a> {
    /// File for the log of every request.
    pub requests: Option<&'a Option<PathBuf>>,
    /// File for the page with pictures. Every folder of runs has one.
    pub report: Option<&'a Option<PathBuf>>,
    /// True if the folder of results holds runs.
    pub runs: bool,
    /// True if the folder of results is to hold a timeline.
    pub timeline: bool,
    /// True if pictures are written into the folder of results.
    pub pictures: bool,
}

impl Output {
    /// Creates the folder of results and checks that it can be written. None of `inputs` may be
    /// written, and no file twice; `logs` returns the files into which a log of requests is
    /// written.
    pub fn open(
        folder: Option<&Path>,
        wanted: Wanted<'_>,
        inputs: &[Named],
        logs: impl FnOnce(&Path) -> Vec<PathBuf>,
    ) -> Result<Output, Diagnostics> {
        let Wanted { requests: wanted, report, runs, timeline, pictures } = wanted;
        let inside = |name: &str| folder.map(|folder| folder.join(name));
        let log = wanted.and_then(|file| file.clone().or_else(|| inside(requests::NAME)));
        let page = pages::PAGE.and_then(inside).filter(|_| runs);
        // A page that is named by a flag and is in the folder anyway is written once.
        let other = |named: &PathBuf| page.as_ref().is_none_or(|page| !same(page, named));
        let named_page = report.cloned().flatten().filter(other);
        let named = |flag: &str, path: PathBuf| (flag.to_string(), path);
        let trace = inside(TIMELINE).filter(|_| timeline);
        let in_folder = [inside(SUMMARY), page.clone(), trace].into_iter().flatten();
        let in_folder: Vec<PathBuf> = in_folder.collect();
        let mut outputs: Vec<Named> =
            in_folder.iter().map(|it| named("--out", it.clone())).collect();
        outputs.extend(named_page.clone().map(|it| named("--report", it)));
        let reports = page.into_iter().chain(named_page).collect();
        let logged = log.as_deref().map_or_else(Vec::new, logs);
        outputs.extend(logged.iter().cloned().map(|path| named(requests::FLAG, path)));
        // From here on there is something to leave in good order. A signal that came between the
        // folder and the handler would end the program without a word.
        signals::stop_flag();
        // Nothing is created before it is certain that no existing file is lost.
        let mut diagnostics = clashes(inputs, &outputs);
        let drawn = [("--report", report.is_some()), ("--out", pictures && folder.is_some())];
        for (flag, _) in drawn.into_iter().filter(|&(_, asked)| asked) {
            diagnostics.take(pages::check(flag));
        }
        diagnostics = diagnostics.or(Diagnostics::default())?;
        if let Some(folder) = folder {
            let made = disk::create_folder(folder).map_err(|error| unwritable(folder, &error));
            diagnostics.take(made.and_then(|()| writable(&folder.join(SUMMARY))));
            for file in &in_folder {
                diagnostics.take(stored(file));
            }
            // A list that a newer version wrote is refused before anything is replaced.
            diagnostics.take(contents::enter(folder));
        }
        for (flag, file) in [(requests::FLAG, wanted), ("--report", report)] {
            match (file, folder) {
                (Some(Some(file)), _) => drop(diagnostics.take(writable(file))),
                (Some(None), None) => {
                    let what = "needs the path of a file, or --out for a folder";
                    diagnostics.push(Diagnostic::new(flag, what));
                }
                (None, _) | (Some(None), Some(_)) => {}
            }
        }
        let requests = diagnostics.take(log.as_deref().map(requests::file).transpose()).flatten();
        diagnostics.or(Output {
            folder: folder.map(Path::to_path_buf),
            requests,
            reports,
            logs: logged,
        })
    }

    /// Returns true if the command is to write an HTML report with charts (report.html).
    pub fn reports(&self) -> bool {
        !self.reports.is_empty()
    }

    /// Returns the line that names the file of results to open; empty if no file was written.
    pub fn opens(&self) -> String {
        self.first().map_or_else(String::new, |it| console::opens(&it))
    }

    /// Names the file of results to open on standard error, where standard output is for a program.
    pub fn note_opens(&self) {
        if let Some(file) = self.first() {
            console::note_opens(&file);
        }
    }

    fn first(&self) -> Option<PathBuf> {
        let summary = self.folder.as_ref().map(|folder| folder.join(SUMMARY));
        let log = self.requests.as_ref().map(|requests| requests.path.clone());
        self.reports.first().cloned().or(summary).or(log)
    }

    /// Writes the HTML page of results of the runs `outcomes` to every file that the command's
    /// flags request.
    pub fn report(
        &self,
        outcomes: &[Outcome],
        spread: Option<&Spread>,
        passages: &[Passage],
    ) -> Result<(), Diagnostics> {
        if let (Some(_), Some(why)) = (&self.folder, pages::NO_PAGE) {
            console::note(why);
        }
        pages::runs(outcomes, spread, passages, &self.reports)
    }

    /// Lists the files that `command` has written into its folder of results: summary.json, HTML
    /// reports, logs of requests, and `others`. Files that an earlier run left there are removed.
    pub fn list(
        &self,
        command: &str,
        others: impl IntoIterator<Item = PathBuf>,
    ) -> Result<(), Diagnostics> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let mut files = vec![folder.join(SUMMARY)];
        files.extend(self.reports.iter().chain(&self.logs).cloned().chain(others));
        let removed = contents::list(folder, command, &files)?;
        if !removed.is_empty() {
            let names = removed.join(", ");
            console::note(&format!(
                "removed from {} old results of another run: {names}",
                folder.display()
            ));
        }
        Ok(())
    }

    /// Returns the log file for every request, if one was requested.
    pub fn requests(&self) -> Option<RequestsFile> {
        self.requests.clone()
    }

    /// Writes the summary of the results, if the user named a folder.
    pub fn summary(&self, json: &str) -> Result<(), Diagnostics> {
        let Some(folder) = &self.folder else { return Ok(()) };
        write(&folder.join(SUMMARY), json)
    }
}

/// Writes a file that appears only when complete.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Diagnostics> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| unwritable(path, &error))?;
    file.finish()
}
