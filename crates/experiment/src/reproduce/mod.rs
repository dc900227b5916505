//! The tables and figures of published papers, regenerated beside the numbers that were published.

mod claim;
pub(crate) mod column;
mod da_raid5;
mod hire;
mod pes;
pub(crate) mod published;
mod ready;
mod real;
mod rhio;
pub(crate) mod runs;
mod sheet;
pub(crate) mod study;

use crate::atomic_file::{AtomicFile, unwritable};
use crate::problem::{Problem, Problems};
use crate::report::Drawing;
use fowler_figures::Figure;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use claim::Verdict;
pub use sheet::{Cell, Sheet};
pub use study::{Step, Watch};

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
            let near = crate::field::nearest(name, Paper::ALL.map(Paper::name));
            Problem::new("", format!("unknown paper `{}`", crate::problem::shown(name)))
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

/// What was written.
pub(crate) struct Written {
    /// The names of the files.
    pub files: Vec<String>,
    /// What could not be drawn.
    pub notes: Vec<String>,
    /// What could.
    pub drawings: Vec<Drawing>,
}

/// Writes every table as CSV and every figure as SVG, each with the name of its file; returns the names,
/// and what could not be drawn: of a few requests there may be nothing to draw, and tables say so as well.
pub(crate) fn write(
    sheets: &[Sheet],
    figures: &[(String, Figure)],
    folder: &Path,
) -> Result<Written, Problems> {
    let (mut files, mut notes, mut drawings) = (Vec::new(), Vec::new(), Vec::new());
    for sheet in sheets {
        sheet.write(folder)?;
        files.push(format!("{}.csv", sheet.name));
    }
    for (stem, figure) in figures {
        let name = format!("{stem}.svg");
        let path = folder.join(&name);
        let svg = match figure.svg() {
            Ok(svg) => svg,
            Err(error) => {
                notes.push(format!("{name} is not drawn: {error}"));
                continue;
            }
        };
        let mut file = AtomicFile::create(&path)?;
        file.write_all(svg.as_bytes()).map_err(|error| unwritable(&path, &error))?;
        file.finish()?;
        files.push(name);
        drawings.push(Drawing { name: stem.clone(), svg });
    }
    Ok(Written { files, notes, drawings })
}

/// A look keeps its runs apart: it must not replace those of the whole.
pub(crate) fn runs_folder(limit: Option<u64>) -> String {
    limit.map_or("runs".into(), |limit| format!("runs-of-{limit}"))
}
