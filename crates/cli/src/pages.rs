//! Report pages, and the pictures of lifetimes and of cells: what the feature `report` holds.

#[cfg(not(feature = "report"))]
pub(crate) use left_out::*;
#[cfg(feature = "report")]
pub(crate) use with_report::*;

#[cfg(feature = "report")]
mod with_report {
    use fowler_drives::score::Score;
    use fowler_experiment::atomic_file::{clashes, writable};
    use fowler_experiment::diagnostic::Diagnostics;
    use fowler_experiment::outcome::Outcome;
    use fowler_experiment::seeds::Spread;
    use fowler_lifetime::Lifetime;
    pub(crate) use fowler_report::cell_models::plot;
    use fowler_report::diff::Diff;
    use fowler_report::pages;
    use fowler_report::passage::Passage;
    use fowler_standards::Pts;
    use std::path::{Path, PathBuf};

    /// File name of the HTML page in a folder of runs; `None` if this program cannot draw pages.
    pub(crate) const PAGE: Option<&str> = Some(pages::REPORT);
    /// Reason why a folder of runs has no HTML page; `None` where this program can draw pages.
    pub(crate) const NO_PAGE: Option<&str> = None;

    /// Checks that the program can draw HTML pages of results: built with the feature `report`, it
    /// always can.
    pub(crate) fn check(_asked: &str) -> Result<(), Diagnostics> {
        Ok(())
    }

    /// Writes a report page on runs to each of `files`, with `passages` of text before the charts.
    pub(crate) fn runs(
        outcomes: &[Outcome],
        spread: Option<&Spread>,
        passages: &[Passage],
        files: &[PathBuf],
    ) -> Result<(), Diagnostics> {
        if files.is_empty() {
            return Ok(());
        }
        let page = pages::of_runs(outcomes, spread, passages);
        files.iter().try_for_each(|path| pages::write(path, &page))
    }

    /// Checks that the HTML page of two results can be written to `path`, and replaces none of
    /// their files.
    pub(crate) fn check_two(folders: [&Path; 2], path: &Path) -> Result<(), Diagnostics> {
        let page = |it: &Path| (it.display().to_string(), it.join(pages::REPORT));
        clashes(&folders.map(page), &[("--report".into(), path.into())]).or(())?;
        writable(path)
    }

    /// Writes the HTML page of two results: their differences, and the curves of both.
    pub(crate) fn two(folders: [&Path; 2], found: &Diff, path: &Path) -> Result<(), Diagnostics> {
        pages::write(path, &pages::of_two(folders, found)?)
    }

    /// Writes the tables, the pictures and the page of a comparison with measured drives; returns
    /// the names of the files, and warnings about pictures that could not be drawn.
    pub(crate) fn score(
        scored: &Score,
        folder: &Path,
    ) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        scored.write(folder)
    }

    /// Writes the table, the pictures and the page of a lifetime; returns the names of the files,
    /// and warnings about pictures that could not be drawn.
    pub(crate) fn lifetime(
        lived: &Lifetime,
        folder: &Path,
    ) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        lived.write(folder)
    }

    /// Writes the results of SNIA's Performance Test Specification on a drive: tables, pictures and
    /// an HTML page. Returns the names of the files, and warnings about pictures that could not be
    /// drawn.
    pub(crate) fn pts(
        results: &Pts,
        folder: &Path,
    ) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        results.write(folder)
    }
}

#[cfg(not(feature = "report"))]
mod left_out {
    use fowler_drives::score::Score;
    use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
    use fowler_experiment::outcome::Outcome;
    use fowler_experiment::seeds::Spread;
    use fowler_lifetime::Lifetime;
    use fowler_report::cell_models::Plotted;
    use fowler_report::diff::Diff;
    use fowler_report::passage::Passage;
    use fowler_standards::Pts;
    use std::path::{Path, PathBuf};

    pub(crate) const PAGE: Option<&str> = None;
    pub(crate) const NO_PAGE: Option<&str> = Some(
        "note: no report.html: this program was built without reports (its Cargo feature `report`)",
    );

    /// Returns the error for the flag or command `asked`, which writes HTML pages, in a program
    /// that was built without the Cargo feature `report`.
    fn absent(asked: &str) -> Diagnostics {
        let what = "this program was built without reports (its Cargo feature `report`)";
        let hint = "build it with its default features: cargo build -p fowler-cli";
        Diagnostic::new(asked, what).hint(hint.to_string()).into()
    }

    pub(crate) fn check(asked: &str) -> Result<(), Diagnostics> {
        Err(absent(asked))
    }

    pub(crate) fn plot(_folder: &Path) -> Result<Plotted, Diagnostics> {
        Err(absent(""))
    }

    pub(crate) fn runs(
        _outcomes: &[Outcome],
        _spread: Option<&Spread>,
        _passages: &[Passage],
        _files: &[PathBuf],
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    pub(crate) fn check_two(_folders: [&Path; 2], _path: &Path) -> Result<(), Diagnostics> {
        Err(absent("--report"))
    }

    pub(crate) fn two(
        _folders: [&Path; 2],
        _found: &Diff,
        _path: &Path,
    ) -> Result<(), Diagnostics> {
        Err(absent("--report"))
    }

    pub(crate) fn score(
        _scored: &Score,
        _folder: &Path,
    ) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        Err(absent("--out"))
    }

    pub(crate) fn lifetime(
        _lived: &Lifetime,
        _folder: &Path,
    ) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        Err(absent("--out"))
    }

    pub(crate) fn pts(
        _results: &Pts,
        _folder: &Path,
    ) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        Err(absent("--out"))
    }
}
