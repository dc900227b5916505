//! Tells the program which version it is: the workspace's, and the commit where that is known.
//!
//! No other crate may know the commit: each commit would then build everything anew. Results do not
//! name it either; they have the fingerprint of the sources that simulate (`experiment`).

use std::path::Path;
use std::process::Command;

#[allow(clippy::print_stdout, reason = "it is how a build script speaks to Cargo")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let version = env!("CARGO_PKG_VERSION");
    let version = commit().map_or(version.into(), |commit| format!("{version} ({commit})"));
    println!("cargo:rustc-env=FOWLER_VERSION={version}");
}

/// The commit that is checked out, as its hash and its day; none where this is no checkout of
/// Fowler's own repository, such as an unpacked archive within another one.
fn commit() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().ok()?;
    let top = Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    if top != root {
        return None;
    }
    watch();
    let commit = git(&["show", "--no-patch", "--format=%H %cs", "HEAD"])?;
    let (hash, day) = commit.split_once(' ')?;
    Some(format!("{} {day}", hash.get(..7)?))
}

/// Has this script run again when another commit is checked out or made: then HEAD changes, or the
/// branch that it names, or, where git keeps branches packed, the log of where HEAD was.
#[allow(clippy::print_stdout, reason = "it is how a build script speaks to Cargo")]
fn watch() {
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    let names = ["HEAD".to_string(), "logs/HEAD".to_string()].into_iter().chain(branch);
    for name in names {
        // Cargo takes a file that is missing for one that has changed.
        let path = git(&["rev-parse", "--path-format=absolute", "--git-path", &name]);
        if let Some(path) = path.filter(|path| Path::new(path).is_file()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
}

/// Returns the output of a git command, in one line; `None` where there is no git or it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let command =
        Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = command.ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}
