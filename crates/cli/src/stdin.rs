//! Standard input as a trace, named `-`. Because a trace is read several times (for its hash, its
//! addresses and every scheme), it is first copied to a nameless file that only its owner can read,
//! up to the last request needed.

use crate::flags::Reading;
use crate::{console, fit, signals};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::temporary_file::Temporary;
use fowler_experiment::workload::{STANDARD_INPUT, copy_stream, name_standard_input};
use fowler_experiment::{Bytes, disk, pipe};
use std::env::temp_dir;
use std::io::{self, BufReader, Cursor, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The argument that stands for standard input.
const NAME: &str = "-";
/// Environment variable with the maximum size in bytes of the copy of standard input.
const MOST: &str = "FOWLER_STDIN_MAX";
/// Default maximum size in bytes of the copy of standard input. Half of the free space is a further
/// limit.
const MOST_KEPT: u64 = 64 << 30;
/// Number of bytes at the beginning of a file that show a file of columns (Parquet or Arrow).
const MAGIC: usize = 6;

/// A trace that a command reads, and the options for reading it.
pub(crate) struct TraceInput<'a> {
    path: &'a mut PathBuf,
    reading: Reading,
    limit: Option<u64>,
}

impl<'a> TraceInput<'a> {
    /// A trace of which at most `limit` requests are needed.
    pub fn new(path: &'a mut PathBuf, reading: &Reading, limit: Option<u64>) -> TraceInput<'a> {
        TraceInput { path, reading: reading.clone(), limit }
    }
}

/// Returns true if `path` stands for standard input.
pub(crate) fn is_named(path: &Path) -> bool {
    path == Path::new(NAME)
}

/// The copy of standard input in a temporary file, which is removed when this is dropped and when
/// the program ends.
pub(crate) struct Copy {
    _file: Temporary,
}

impl Drop for Copy {
    fn drop(&mut self) {
        name_standard_input(None);
    }
}

/// Copies standard input if one of `inputs`, the traces of a command, is `-`, and puts the path of
/// the copy in its place. Until it is copied, a signal ends the program.
pub(crate) fn copied(mut inputs: Vec<TraceInput<'_>>) -> Result<Option<Copy>, Diagnostics> {
    inputs.retain(|input| is_named(input.path));
    let input = match &mut inputs[..] {
        [] => return Ok(None),
        [input] => input,
        _ => {
            let what = "standard input can be only one of the traces";
            return Err(Diagnostic::new(NAME, what).into());
        }
    };
    let options = fit::read_options(&input.reading)?;
    signals::end_at_once();
    let folder = temp_dir();
    let failed = |error: &io::Error| {
        let what = format!("copying standard input to a temporary file failed: {error}");
        let hint = "set TMPDIR to a folder with more room, or name a file".to_string();
        let diagnostic = Diagnostic::new(folder.display().to_string(), what).hint(hint);
        Diagnostics::from(diagnostic.os(error.raw_os_error()))
    };
    let file = Temporary::create(&folder).map_err(|error| failed(&error))?;
    let path = file.path().to_path_buf();
    let kept = Kept::new(file, most(&folder)?);
    say_what_is_awaited();
    // Only the beginning shows whether it is a file of columns, which is read from its end.
    let mut head = Vec::new();
    let read = io::stdin().lock().take(MAGIC as u64).read_to_end(&mut head);
    read.map_err(|error| failed(&error))?;
    let columns = cfg!(feature = "parquet") && (head.starts_with(b"PAR1") || head == b"ARROW1");
    let mut stream = BufReader::with_capacity(1 << 18, Cursor::new(head).chain(io::stdin()));
    let copied = if columns {
        let copied = io::copy(&mut stream, &mut kept.clone());
        copied.map(|_| None).map_err(|error| failed(&error))
    } else {
        let stream = Box::new(stream);
        let copied = copy_stream(STANDARD_INPUT, stream, &options, input.limit, kept.clone());
        copied.map(|copy| Some(copy.length)).map_err(Diagnostics::from)
    };
    // An error of the copy looks like one of the stream.
    let (file, limit, error) = kept.ended();
    match (error, copied) {
        (Some(error), _) => return Err(failed(&error)),
        (None, _) if limit.is_reached => return Err(too_long(limit.most)),
        (None, Err(wrong)) => return Err(wrong),
        (None, Ok(Some(length))) => file.cut(length).map_err(|error| failed(&error))?,
        (None, Ok(None)) => {}
    }
    name_standard_input(Some(&path));
    input.path.clone_from(&path);
    Ok(Some(Copy { _file: file }))
}

/// Tells the user on standard error that standard input is read, if it is a terminal or no data
/// arrives.
fn say_what_is_awaited() {
    if io::stdin().is_terminal() {
        console::note("reading the trace from the terminal; Ctrl-D ends it");
    } else {
        pipe::await_standard_input(|| {
            console::note("waiting for the trace on standard input; Ctrl-C stops");
        });
    }
}

/// Returns the maximum size in bytes of the copy of standard input in a folder.
fn most(folder: &Path) -> Result<u64, Diagnostics> {
    let half = disk::free_space(folder).map_or(u64::MAX, |free| free / 2);
    let Some(text) = std::env::var_os(MOST).filter(|text| !text.is_empty()) else {
        return Ok(half.min(MOST_KEPT));
    };
    let text = text.to_string_lossy();
    match text.parse::<Bytes>() {
        Ok(most) if most.0 > 0 => Ok(most.0),
        _ => {
            let diagnostic = Diagnostic::new(MOST, "is not a size").text(&*text);
            Err(diagnostic.expected("a size such as 8GiB").into())
        }
    }
}

fn too_long(most: u64) -> Diagnostics {
    let most = fowler_experiment::numbers::bytes(most);
    let what = format!("this trace is longer than {most}, the limit for a copy of standard input");
    let hint = format!(
        "limit the requests with --limit, name a file instead, or set {MOST} to a larger size"
    );
    Diagnostic::new(STANDARD_INPUT, what).hint(hint).into()
}

/// Maximum size in bytes of the copy of standard input, and true if the input was longer.
#[derive(Clone, Copy)]
struct Limit {
    most: u64,
    is_reached: bool,
}

/// The copy of standard input while it is read.
struct Keeping {
    file: Temporary,
    length: u64,
    limit: Limit,
    error: Option<io::Error>,
}

/// Writer to the file that receives a copy of standard input. The reader of the trace holds it and
/// writes to it all the bytes that it reads.
#[derive(Clone)]
struct Kept(Arc<Mutex<Option<Keeping>>>);

impl Kept {
    fn new(file: Temporary, most: u64) -> Kept {
        let limit = Limit { most, is_reached: false };
        Kept(Arc::new(Mutex::new(Some(Keeping { file, length: 0, limit, error: None }))))
    }

    /// Ends the copying of standard input to a temporary file. Returns the file, the size limit of
    /// the copy, and the error if writing failed. Later writes have no effect.
    fn ended(self) -> (Temporary, Limit, Option<io::Error>) {
        let keeping = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Keeping { file, limit, error, .. } = keeping.expect("it ends once");
        (file, limit, error)
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut keeping = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(keeping) = keeping.as_mut() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        if keeping.length + bytes.len() as u64 > keeping.limit.most {
            keeping.limit.is_reached = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        match keeping.file.write(bytes) {
            Ok(count) => {
                keeping.length += count as u64;
                Ok(count)
            }
            Err(error) => {
                let kind = error.kind();
                keeping.error = Some(error);
                Err(kind.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
