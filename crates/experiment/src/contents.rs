//! The list of the files in a folder of results, `contents.json`: what wrote them, and the SHA-256
//! of each. A run that replaces another in the same folder removes what the other left there, so
//! that a folder holds one run, and `fowler check` can tell whether it holds all of it.

use crate::atomic_file::{self, AtomicFile, unwritable};
use crate::diagnostic::{Diagnostic, Diagnostics, printable};
use crate::disk;
use crate::provenance::{VERSION, file_hash, text_hash};
use crate::text_file;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Name of the file that lists the results in a folder of one run.
pub const CONTENTS: &str = "contents.json";
/// Name of the file with the SHA-256 checksums in the folder of a sweep. Folders of other commands
/// have `contents.json` instead.
pub const SWEEP_SUMS: &str = "sweep.sha256";
/// Name of the HTML page with charts in a folder of results, in a program built with reports.
const PAGE: &str = "report.html";
/// Version of the format of `contents.json`, to be incremented with every change.
const FORMAT: u32 = 1;
/// Largest accepted `contents.json` in bytes: tens of thousands of files.
const LARGEST: u64 = 16 << 20;

/// The list of the files that one run has left in a folder, with their checksums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    format: u32,
    /// Version of the Fowler program that wrote the files of results listed in this
    /// `contents.json`.
    pub version: String,
    /// Command of `fowler` that wrote the files of results listed in this `contents.json`, such as
    /// `run`.
    pub command: String,
    /// SHA-256 of each file that the run has left in the folder, by the file's name.
    pub files: BTreeMap<String, String>,
    /// Hash of the other fields of this `contents.json`: format, version, command, and the names
    /// and checksums of the files of results.
    checksum: String,
}

/// State on disk of a file that `contents.json`, the list of the files in a folder of results,
/// names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The bytes of a result file match its checksum in `contents.json`.
    Whole,
    /// The bytes of a result file no longer match its checksum in `contents.json`.
    Changed,
    /// The folder of results has no file of the name that `contents.json` lists.
    Missing,
}

impl Contents {
    fn new(command: &str, files: BTreeMap<String, String>) -> Contents {
        let (version, command) = (VERSION.to_string(), command.to_string());
        let mut all = Contents { format: FORMAT, version, command, files, checksum: String::new() };
        all.checksum = all.sum();
        all
    }

    fn sum(&self) -> String {
        let Contents { format, version, command, files, checksum: _ } = self;
        text_hash(&format!("{format} {version:?} {command:?} {files:?}"))
    }

    /// Compares a file in `folder` with its checksum in the list of the folder's results.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn state(&self, folder: &Path, name: &str) -> Result<State, Diagnostics> {
        let path = folder.join(name);
        Ok(match disk::facts(&path)? {
            None => State::Missing,
            Some(facts) if facts.is_file() && self.files.get(name) == Some(&file_hash(&path)?) => {
                State::Whole
            }
            Some(_) => State::Changed,
        })
    }
}

/// Checks that a folder may take the results of a command: it holds no sweep, its list of files can
/// be read and replaced, and its HTML report is no pipe.
///
/// # Errors
///
/// If one of these does not hold.
pub fn enter(folder: &Path) -> Result<(), Diagnostics> {
    if disk::facts(&folder.join(SWEEP_SUMS))?.is_some() {
        let what = "holds a sweep, and a folder holds results of one command only";
        let hint = "choose another folder".to_string();
        return Err(Diagnostic::new(folder.display().to_string(), what).hint(hint).into());
    }
    atomic_file::stored(&folder.join(PAGE))?;
    read(folder).map(drop)
}

/// Reads the list of the results in a folder; `None` if the folder has no list.
///
/// # Errors
/// If the list cannot be read or is damaged, or a newer version of Fowler wrote it.
pub fn read(folder: &Path) -> Result<Option<Contents>, Diagnostics> {
    let path = folder.join(CONTENTS);
    if disk::facts(&path)?.is_none() {
        return Ok(None);
    }
    // Damage can leave bytes that are not text.
    let text = text_file::bytes(&path, LARGEST)?;
    let failed = |what: String, hint: &str| -> Diagnostics {
        Diagnostic::new(path.display().to_string(), what).hint(hint.to_string()).into()
    };
    let damaged = || {
        let hint = "remove it, and run the command that filled this folder again";
        failed("is damaged: its checksum does not match its list of files".into(), hint)
    };
    let Ok(contents) = serde_json::from_slice::<Contents>(&text) else { return Err(damaged()) };
    if contents.sum() != contents.checksum || !contents.files.keys().all(|name| is_plain(name)) {
        return Err(damaged());
    }
    if contents.format > FORMAT {
        let what = format!(
            "the list of results was written by Fowler {} in format {}; this is Fowler {VERSION}, which reads formats up to {FORMAT}",
            printable(&contents.version),
            contents.format
        );
        return Err(failed(what, "use the newer version, or another folder"));
    }
    Ok(Some(contents))
}

fn is_file(path: &Path) -> Result<bool, Diagnostics> {
    Ok(disk::facts(path)?.is_some_and(|facts| facts.is_file()))
}

/// Returns true if a name is that of a file in the folder itself: no path can lead out of the
/// folder.
fn is_plain(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|last| last == name)
}

/// Writes the list of a folder's results: `files`, all in `folder`, written by `command`. Removes
/// unchanged files of the previous list that are not among them, and returns their names.
///
/// # Errors
///
/// If a file or the previous list cannot be read, or the list cannot be written.
pub fn list(folder: &Path, command: &str, files: &[PathBuf]) -> Result<Vec<String>, Diagnostics> {
    let mut hashes = BTreeMap::new();
    for file in files.iter().filter(|file| file.parent() == Some(folder)) {
        if is_file(file)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            hashes.insert(name, file_hash(file)?);
        }
    }
    let mut removed = Vec::new();
    if let Some(before) = read(folder)? {
        for name in before.files.keys().filter(|name| !hashes.contains_key(*name)) {
            if before.state(folder, name)? == State::Whole {
                let path = folder.join(name);
                atomic_file::remove(&path).map_err(|error| unwritable(&path, &error))?;
                removed.push(name.clone());
            }
        }
    }
    write(folder, &Contents::new(command, hashes))?;
    Ok(removed)
}

/// Adds `file`, which is in `folder`, to the list of the folder's results.
///
/// # Errors
/// If there is no list, or a file cannot be read or written.
pub fn add(folder: &Path, file: &Path) -> Result<(), Diagnostics> {
    let Some(Contents { command, mut files, .. }) = read(folder)? else {
        let what = format!("has no {CONTENTS}");
        return Err(Diagnostic::new(folder.display().to_string(), what).into());
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.insert(name, file_hash(file)?);
    write(folder, &Contents::new(&command, files))
}

fn write(folder: &Path, contents: &Contents) -> Result<(), Diagnostics> {
    let path = folder.join(CONTENTS);
    let text = serde_json::to_string_pretty(contents).expect("text");
    let mut out = AtomicFile::create_stored(&path)?;
    out.write_all(format!("{text}\n").as_bytes()).map_err(|error| unwritable(&path, &error))?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;
    use std::fs;

    #[test]
    fn a_folder_holds_the_files_of_one_run() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let file = |name: &str, text: &str| {
            fs::write(folder.join(name), text).unwrap();
            folder.join(name)
        };
        let first = [file("summary.json", "1"), file("log.csv", "1"), file("edited.csv", "1")];
        assert_eq!(list(folder, "run", &first).unwrap(), [""; 0]);
        file("edited.csv", "mine");
        file("notes.txt", "mine");
        let again = [file("summary.json", "2"), folder.join("elsewhere/log.csv")];
        assert_eq!(list(folder, "compare", &again).unwrap(), ["log.csv"]);
        let contents = read(folder).unwrap().unwrap();
        assert_eq!(contents.command, "compare");
        assert_eq!(contents.files.keys().collect::<Vec<_>>(), ["summary.json"]);
        assert_eq!(contents.state(folder, "summary.json"), Ok(State::Whole));
        assert!(folder.join("edited.csv").exists() && folder.join("notes.txt").exists());
        file("summary.json", "3");
        assert_eq!(contents.state(folder, "summary.json"), Ok(State::Changed));
        fs::remove_file(folder.join("summary.json")).unwrap();
        assert_eq!(contents.state(folder, "summary.json"), Ok(State::Missing));
    }

    #[test]
    fn no_damage_to_the_list_goes_unnoticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("summary.json");
        fs::write(&file, "1").unwrap();
        list(folder.path(), "run", &[file]).unwrap();
        let path = folder.path().join(CONTENTS);
        let (whole, list) = (fs::read(&path).unwrap(), read(folder.path()).unwrap());
        let mut rng = Rng::stream(1, "damage");
        for _ in 0..300 {
            let mut bytes = whole.clone();
            match rng.below(2) {
                0 => bytes[rng.below(whole.len() as u64) as usize] ^= 1 << rng.below(8),
                _ => bytes.truncate(rng.below(whole.len() as u64) as usize),
            }
            fs::write(&path, &bytes).unwrap();
            // Whitespace may differ between equal lists.
            let bytes = String::from_utf8_lossy(&bytes);
            match read(folder.path()) {
                Ok(now) => assert_eq!(now, list, "{bytes}"),
                Err(said) => {
                    assert!(said.to_string().contains("remove it, and run"), "{said}: {bytes}")
                }
            }
        }
        let newer = Contents { format: FORMAT + 1, ..list.unwrap() };
        let newer = Contents { checksum: newer.sum(), ..newer };
        fs::write(&path, serde_json::to_string(&newer).unwrap()).unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("in format 2"));
        for name in ["../x", "x/", "/x", ".."] {
            let outside = Contents::new("run", [(name.to_string(), String::new())].into());
            fs::write(&path, serde_json::to_string(&outside).unwrap()).unwrap();
            assert!(read(folder.path()).is_err(), "{name}");
        }
    }
}
