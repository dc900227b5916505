//! Published papers reproduced: their tables and figures regenerated beside the numbers that were
//! published, with a verdict on every claim; and what the five systems buy together ([`ablation`]).
//!
//! A paper is a folder and a line of [`STUDIES`]. The folder has the evidence, the runs it needs,
//! the claims declared beside what they read, tables and figures; `study` does with it what is
//! the same for every paper.

pub mod ablation;
mod claim;
mod column;
mod published;
mod real;
mod run_folder;
mod run_summary;
mod runs;
mod study;

use fowler_experiment::atomic_file::unwritable;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::field::nearest;
use fowler_experiment::tables::Sheet;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use study::Study;

pub use claim::Verdict;
pub use run_folder::{Step, Watch};

/// Declares the module of each study and lists them: a study is a folder and a line here.
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

/// A paper that can be reproduced.
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

    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is about, where and when it was published, in a line of help.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// The paper of that name.
    ///
    /// # Errors
    /// There is none; what there is.
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

/// What to reproduce, from what, and where to.
#[derive(Clone, Debug)]
pub struct Request {
    /// The paper.
    pub paper: Paper,
    /// A folder of real traces, of which those of the paper's workloads are used.
    pub traces: Option<PathBuf>,
    /// Where tables, figures and finished runs go.
    pub out: PathBuf,
    /// Requests of each run at most. Less than all is a look, not a reproduction.
    pub limit: Option<u64>,
    /// Whether only what the paper shows is measured, and not what it leaves open.
    pub brief: bool,
}

/// A paper beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduction {
    /// The paper.
    pub title: String,
    /// Its tables and figures as tables, the claims last.
    pub sheets: Vec<Sheet>,
    /// How each claim fares.
    pub verdicts: Vec<Verdict>,
    /// The files written, in the request's folder.
    pub files: Vec<String>,
    /// What there is to know besides: a figure that could not be drawn, traces that were not found.
    pub warnings: Vec<String>,
}

/// Reproduces a paper: runs what is not finished yet, writes every table as CSV and every figure as
/// SVG, and returns them; nothing if it was stopped, and then the same request resumes where it
/// was.
///
/// # Errors
/// Everything that is wrong with the traces or the folder.
pub fn reproduce(request: &Request, watch: Watch<'_>) -> Result<Option<Reproduction>, Diagnostics> {
    let out = &request.out;
    fs::create_dir_all(out).map_err(|error| unwritable(out, &error))?;
    (request.paper.reproduce)(request, watch)
}

/// A look keeps its runs apart: it must not replace those of the whole.
pub(crate) fn runs_folder(limit: Option<u64>) -> String {
    limit.map_or("runs".into(), |limit| format!("runs-of-{limit}"))
}
