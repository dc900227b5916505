//! Standard input as a trace: `-`. A trace is read several times, for its hash, its addresses and
//! every scheme, so that it is copied to a temporary file first.

use crate::args::Command;
use crate::traces::Trace;
use fowler_experiment::atomic_file::AtomicFile;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use std::env::temp_dir;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name that stands for it.
const NAME: &str = "-";

/// Copies standard input to a file if a trace of the command is `-`, and puts the file in its
/// place. Whoever drops the result removes the file; so does a signal that ends the program.
pub(crate) fn copied(command: &mut Command) -> Result<Option<AtomicFile>, Diagnostics> {
    let mut inputs: Vec<&mut PathBuf> = traces(command).into_iter().collect();
    inputs.retain(|path| path.as_path() == Path::new(NAME));
    match inputs.len() {
        0 => return Ok(None),
        1 => {}
        _ => {
            let what = "standard input can be only one of the traces";
            return Err(Diagnostic::new(NAME, what).into());
        }
    }
    let path = temp_dir().join(format!("fowler-standard-input-{}", std::process::id()));
    let mut file = AtomicFile::create(&path)?;
    let failed = |error: std::io::Error| {
        let what = format!("copying standard input to a temporary file failed: {error}");
        let hint = "set TMPDIR to a folder with more room, or name a file".to_string();
        Diagnostics::from(Diagnostic::new(path.display().to_string(), what).hint(hint))
    };
    std::io::copy(&mut std::io::stdin().lock(), &mut file).map_err(failed)?;
    file.flush().map_err(failed)?;
    for input in inputs {
        *input = file.written_to().to_path_buf();
    }
    if let Command::Ask(ask) = command {
        ask.piped = true;
    }
    Ok(Some(file))
}

/// The traces that a command reads.
fn traces(command: &mut Command) -> Vec<&mut PathBuf> {
    match command {
        Command::Ask(ask) => vec![&mut ask.trace],
        Command::Run(run) => run.setup.load.source.trace.iter_mut().collect(),
        Command::Compare(compare) => compare.setup.load.source.trace.iter_mut().collect(),
        Command::Explain(explain) => explain.load.source.trace.iter_mut().collect(),
        Command::Lifetime(lifetime) => lifetime.source.trace.iter_mut().collect(),
        Command::Endurance(endurance) => endurance.trace.iter_mut().collect(),
        #[cfg(feature = "papers")]
        Command::Study(study) => study.trace.iter_mut().collect(),
        Command::Trace(
            Trace::Info { file, .. } | Trace::Convert { file, .. } | Trace::Anonymize { file, .. },
        ) => vec![file],
        _ => Vec::new(),
    }
}
