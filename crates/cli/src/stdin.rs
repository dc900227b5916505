//! Standard input as a trace: `-`. A trace is read several times, for its hash, its addresses and
//! every scheme, so that it is copied to a temporary file first.

use fowler_experiment::atomic_file::AtomicFile;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use std::env::temp_dir;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name that stands for it.
const NAME: &str = "-";

/// Returns true if `path` stands for standard input.
pub(crate) fn is_named(path: &Path) -> bool {
    path == Path::new(NAME)
}

/// Copies standard input to a file if one of `inputs`, the traces of a command, is `-`, and puts
/// the file in its place. Whoever drops the result removes the file; so does a signal that ends the
/// program.
pub(crate) fn copied(mut inputs: Vec<&mut PathBuf>) -> Result<Option<AtomicFile>, Diagnostics> {
    inputs.retain(|path| is_named(path));
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
    Ok(Some(file))
}
