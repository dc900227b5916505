//! Reproductions of published papers: their tables and figures, regenerated next to the published
//! numbers, with a verdict on every claim; and the effect of combining the five systems
//! ([`ablation`]).
//!
//! A paper is a folder and an entry in [`STUDIES`]. The folder defines the evidence, the runs it
//! needs, the claims next to the evidence they read, tables and figures; `study` handles what is
//! the same for every paper.

pub mod ablation;
mod claim;
mod column;
mod joint;
mod paper_data;
mod real_traces;
mod repetition;
mod run_folder;
mod run_summary;
mod runs;
mod studies;
mod study;

use fowler_experiment::atomic_file::unwritable;
use fowler_experiment::contents;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::disk;
use fowler_experiment::field::nearest;
use fowler_experiment::tables::Sheet;
use std::fmt;
use std::path::PathBuf;
use study::Study;

pub use claim::Verdict;
#[doc(hidden)]
pub use run_folder::reread;
pub use run_folder::{Step, Watch, examine};

/// Declares the Rust module of each paper's study, and the list of all studies. A new study needs a
/// folder and a line in this macro call.
macro_rules! studies {
    ($($study:ident,)+) => {
        $(mod $study;)+

        /// Every paper that can be reproduced.
        pub const STUDIES: &[Paper] = &[$(Paper::of::<$study::Evidence>()),+];
    };
}

studies! {
    pes,
    rhio,
    hire,
    ready,
    da_raid5,
}

/// A paper that can be reproduced, with the functions of its study.
#[derive(Clone, Copy)]
pub struct Paper {
    name: &'static str,
    about: &'static str,
    reproduce: fn(&Request, Watch<'_>) -> Result<Option<Reproduction>, Diagnostics>,
}

impl Paper {
    const fn of<S: Study>() -> Paper {
        Paper { name: S::NAME, about: S::ABOUT, reproduce: study::reproduce::<S> }
    }

    /// Returns the name by which the paper is chosen on the command line.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns one line of help: subject of the paper, venue and year.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Returns the paper with the name `name`.
    ///
    /// # Errors
    /// If no paper has that name; the error lists the known names.
    pub fn by_name(name: &str) -> Result<Paper, Diagnostics> {
        STUDIES.iter().copied().find(|paper| paper.name == name).ok_or_else(|| {
            let names: Vec<&str> = STUDIES.iter().map(|paper| paper.name).collect();
            let near = nearest(name, names.iter().copied());
            Diagnostic::new("", format!("unknown paper `{}`", printable(name)))
                .expected(format!("one of {}", names.join(", ")))
                .hint(near.map(|near| format!("did you mean \"{near}\"?")))
                .into()
        })
    }
}

impl fmt::Debug for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A request to reproduce a paper: the paper, its input traces, and the folder for results.
#[derive(Clone, Debug)]
pub struct Request {
    /// The paper to reproduce.
    pub paper: Paper,
    /// A folder of real traces. Files in it that belong to the paper's workloads are run besides
    /// the stand-in traces.
    pub traces: Option<PathBuf>,
    /// The folder into which tables, figures and finished runs are written.
    pub out: PathBuf,
    /// Largest number of requests in each run; `None` for whole runs. A limited run is a preview,
    /// not a reproduction.
    pub limit: Option<u64>,
    /// True to run only what the paper's own tables and figures need, once: no variants for the
    /// questions that the paper leaves open, and no repetitions with other seeds and lengths.
    pub brief: bool,
}

/// The results of reproducing a paper: published numbers next to measured ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduction {
    /// Title of the paper that the study reproduced.
    pub title: String,
    /// Tables: the paper's own, its figures as numbers, and last the claims with their verdicts.
    pub sheets: Vec<Sheet>,
    /// Verdicts on the paper's claims, one for each.
    pub verdicts: Vec<Verdict>,
    /// Sentences on the verdicts: how many claims got each verdict, which kind of evidence the
    /// reproduced claims rest on, and which measurements were not repeated.
    pub summary: Vec<String>,
    /// Paths of the files written, relative to the output folder of the request.
    pub files: Vec<String>,
    /// Warnings for the user, such as figures that could not be drawn or traces that were not
    /// found.
    pub warnings: Vec<String>,
}

/// Reproduces a paper: executes the runs that are not saved yet, writes every table as CSV and
/// every figure as SVG, and returns them. Returns `None` if the reproduction was stopped; the same
/// request then resumes where it stopped.
///
/// # Errors
/// Everything that is wrong with the traces or the output folder.
pub fn reproduce(request: &Request, watch: Watch<'_>) -> Result<Option<Reproduction>, Diagnostics> {
    let out = &request.out;
    disk::create_folder(out).map_err(|error| unwritable(out, &error))?;
    // A list that a newer version wrote, or that is damaged, is refused before anything is run.
    contents::enter(out)?;
    (request.paper.reproduce)(request, watch)
}

/// Returns the name of the subfolder for saved runs. Runs limited to `limit` requests have a folder
/// of their own, so that they never replace whole runs.
pub(crate) fn runs_folder(limit: Option<u64>) -> String {
    limit.map_or("runs".into(), |limit| format!("runs-of-{limit}"))
}
