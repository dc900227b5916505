//! A hash of the sources that simulate: equal in every checkout, build profile and program that
//! they are built into. Saved results carry the hash, so results of an earlier version are told
//! from those of this version.

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The crate whose templates and scripts are compiled in.
const PAGES: &str = "report";

/// The files and folders whose contents count, relative to the workspace: the sources of the crate
/// `top` and of all that it depends on, what is compiled in with them, and the versions of what is
/// not ours.
pub fn places(root: &Path, top: &str) -> Vec<PathBuf> {
    let mut crates = BTreeSet::from([top.to_string()]);
    let mut open = vec![top.to_string()];
    while let Some(name) = open.pop() {
        let manifest = root.join("crates").join(&name).join("Cargo.toml");
        let fresh = ours(&text(&manifest)).into_iter().filter(|it| crates.insert(it.clone()));
        open.extend(fresh.collect::<Vec<_>>());
    }
    let sources = crates.iter().map(|name| Path::new("crates").join(name).join("src"));
    let compiled_in = ["templates", "vendor/echarts.js", "vendor/sortable.js"];
    let compiled_in = compiled_in.map(|it| Path::new("crates").join(PAGES).join(it));
    let compiled_in = compiled_in.into_iter().filter(|_| crates.contains(PAGES));
    sources.chain(compiled_in).chain(["presets".into(), "Cargo.lock".into()]).collect()
}

/// The crates of ours that a manifest depends on, in the running program.
fn ours(manifest: &str) -> Vec<String> {
    let section = manifest.lines().skip_while(|line| line.trim() != "[dependencies]").skip(1);
    let section = section.take_while(|line| !line.trim_start().starts_with('['));
    let name = |line: &str| {
        let name = line.trim().strip_prefix("fowler-")?;
        Some(name.split(['.', ' ', '=']).next()?.to_string())
    };
    section.filter_map(name).collect()
}

/// The SHA-256 over the relative path and the contents of every file of `top`, in the order of the
/// paths.
pub fn of(root: &Path, top: &str) -> String {
    let mut files = Vec::new();
    for place in places(root, top) {
        gather(root, &place, &mut files);
    }
    let named = |file: PathBuf| {
        let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        (parts.join("/"), file)
    };
    let mut files: Vec<(String, PathBuf)> = files.into_iter().map(named).collect();
    files.sort();
    let mut digest = Sha256::new();
    for (name, file) in files {
        let path = root.join(file);
        let contents = std::fs::read(&path).unwrap_or_else(|error| unreadable(&path, &error));
        // Each part comes after its length, so that no bytes can pass from a name to a text or from
        // file to file.
        for part in [name.as_bytes(), &contents] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn gather(root: &Path, place: &Path, files: &mut Vec<PathBuf>) {
    let path = root.join(place);
    if !path.is_dir() {
        files.push(place.to_path_buf());
        return;
    }
    let entries = std::fs::read_dir(&path).unwrap_or_else(|error| unreadable(&path, &error));
    for entry in entries {
        let name = entry.unwrap_or_else(|error| unreadable(&path, &error)).file_name();
        gather(root, &place.join(name), files);
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| unreadable(path, &error))
}

fn unreadable<T>(path: &Path, error: &std::io::Error) -> T {
    panic!("{} is part of what a result depends on, and cannot be read: {error}", path.display())
}
