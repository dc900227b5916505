//! The name of standard input. Because a trace is read several times, a command copies standard
//! input to a file; reports and messages then name the input, not the copy.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The name of standard input in reports and messages.
pub const STANDARD_INPUT: &str = "standard input";

/// Path of the copy of standard input, if there is one.
static COPY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Sets the path of the copy of standard input; `None` once it is deleted.
pub fn name_standard_input(copy: Option<&Path>) {
    *COPY.lock().unwrap_or_else(PoisonError::into_inner) = copy.map(Path::to_path_buf);
}

/// Returns the name of a trace in reports and messages: its path, or [`STANDARD_INPUT`].
pub fn trace_name(path: &Path) -> String {
    let copy = COPY.lock().unwrap_or_else(PoisonError::into_inner);
    if copy.as_deref() == Some(path) { STANDARD_INPUT.into() } else { path.display().to_string() }
}
