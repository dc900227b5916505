//! The tables and figures of published papers, regenerated beside the numbers that were published.

pub mod ablation;
mod claim;
mod column;
mod da_raid5;
mod hire;
mod pes;
mod published;
mod ready;
mod real;
mod rhio;
mod run_folder;
mod runs;

use fowler_experiment::atomic_file::unwritable;
use fowler_experiment::problem::{Problem, Problems};
use fowler_experiment::tables::Sheet;
use std::fs;
use std::path::PathBuf;

pub use claim::Verdict;
pub use run_folder::{Step, Watch};

/// A paper that can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// P/E suspension: Wu and He, FAST 2012.
    Pes,
    /// RHIO, order and speed by latency variation: Cui et al., MSST 2016.
    Rhio,
    /// HIRE, voltages by use in the buffer: Cui et al., NPC 2016.
    Hire,
    /// READY, throttling for a lifetime: Lee et al., FAST 2012.
    Ready,
    /// DA-RAID-5, redundancy inside the drive by stage of life: Guo et al., DATE 2013.
    DaRaid5,
}

impl Paper {
    /// Every paper.
    pub const ALL: [Paper; 5] =
        [Paper::Pes, Paper::Rhio, Paper::Hire, Paper::Ready, Paper::DaRaid5];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        ["pes", "rhio", "hire", "ready", "da-raid5"][self as usize]
    }

    /// The paper of that name.
    ///
    /// # Errors
    /// There is none; what there is.
    pub fn by_name(name: &str) -> Result<Paper, Problems> {
        Paper::ALL.into_iter().find(|paper| paper.name() == name).ok_or_else(|| {
            let names = Paper::ALL.map(Paper::name).join(", ");
            let near = fowler_experiment::field::nearest(name, Paper::ALL.map(Paper::name));
            Problem::new("", format!("unknown paper `{}`", fowler_experiment::problem::shown(name)))
                .expected(format!("one of {names}"))
                .hint(near.map(|near| format!("did you mean \"{near}\"?")))
                .into()
        })
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
    pub notes: Vec<String>,
}

/// Reproduces a paper: runs what is not finished yet, writes every table as CSV and every figure as SVG,
/// and returns them; nothing if it was stopped, and then the same request goes on where it was.
///
/// # Errors
/// Everything that is wrong with the traces or the folder.
pub fn reproduce(request: &Request, watch: Watch<'_>) -> Result<Option<Reproduction>, Problems> {
    let out = &request.out;
    fs::create_dir_all(out).map_err(|error| unwritable(out, &error))?;
    match request.paper {
        Paper::Pes => pes::reproduce(request, watch),
        Paper::Rhio => rhio::reproduce(request, watch),
        Paper::Hire => hire::reproduce(request, watch),
        Paper::Ready => ready::reproduce(request, watch),
        Paper::DaRaid5 => da_raid5::reproduce(request, watch),
    }
}

/// A look keeps its runs apart: it must not replace those of the whole.
pub(crate) fn runs_folder(limit: Option<u64>) -> String {
    limit.map_or("runs".into(), |limit| format!("runs-of-{limit}"))
}
