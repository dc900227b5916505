//! The folder of files that are not part of the project: traces, oracles and measurements that it
//! may not carry. Few machines have it, so every test that needs one of its files is skipped where
//! it is missing, and says so.
//!
//! Such a test is in a module or a file called `shared_files`. `.ci/run` first runs every test
//! without the folder, as users do, and then these with it. No other code names the folder
//! (`tests/tests/all/tidy.rs`).

use std::io::Write as _; // a direct write: what a test prints is captured
use std::path::{Path, PathBuf};

/// The environment variable with the path of the folder. Empty means that there is none.
pub const VARIABLE: &str = "FOWLER_SHARED";

/// Returns the path of the folder: that of [`VARIABLE`], or `shared` beside the repository.
pub fn folder() -> PathBuf {
    #[allow(clippy::disallowed_methods, reason = "no result depends on it: only what is tested")]
    match std::env::var_os(VARIABLE) {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
    }
}

/// Returns the path of a file or folder in the shared folder. `None` if it is missing; then a line
/// on standard error says that `skipped` is not checked.
pub fn path(inside: &str, skipped: &str) -> Option<PathBuf> {
    let path = folder().join(inside);
    if path.exists() {
        return Some(path);
    }
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: {skipped}: {} does not exist ({VARIABLE} names another folder)",
        path.display()
    );
    None
}
