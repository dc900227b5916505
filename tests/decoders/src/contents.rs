//! Decoder of the list of files in a folder of results.
//!
//! The first byte of the input determines whether the list gets its correct checksum.

use crate::{refused_in_words, scratch_of};
use fowler_experiment::contents::{self, CONTENTS, Contents};
use fowler_experiment::provenance::text_hash;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = scratch_of("contents");
    fs::write(folder.join("summary.json"), "{}").expect("a folder for temporary files");
    folder
});

fn read(text: &[u8]) -> Option<Contents> {
    fs::write(FOLDER.join(CONTENTS), text).expect("a folder for temporary files");
    match contents::read(&FOLDER) {
        Err(diagnostics) => {
            refused_in_words(&diagnostics);
            None
        }
        Ok(contents) => Some(contents.expect("the file is there")),
    }
}

/// Returns the list with its correct checksum, if it is a list.
fn summed(text: &[u8]) -> Option<String> {
    let mut list: Value = serde_json::from_slice(text).ok()?;
    let format = u32::try_from(list["format"].as_u64()?).ok()?;
    let (version, command) = (list["version"].as_str()?, list["command"].as_str()?);
    let files: BTreeMap<&str, &str> = list["files"]
        .as_object()?
        .iter()
        .map(|(name, sum)| Some((&**name, sum.as_str()?)))
        .collect::<Option<_>>()?;
    let sum = text_hash(&format!("{format} {version:?} {command:?} {files:?}"));
    list["checksum"] = sum.into();
    Some(list.to_string())
}

/// An accepted list names files within its folder, says of each whether it is whole, and reads back
/// the same as it is written.
pub fn check(input: &[u8]) -> bool {
    let [kind, text @ ..] = input else { return false };
    let summed = if kind % 2 == 0 { None } else { summed(text) };
    let Some(list) = read(summed.as_deref().map_or(text, str::as_bytes)) else { return false };
    for name in list.files.keys() {
        assert!(Path::new(name).file_name().is_some_and(|it| it.to_str() == Some(name)), "{name}");
        if let Err(diagnostics) = list.state(&FOLDER, name) {
            refused_in_words(&diagnostics);
        }
    }
    let again = read(serde_json::to_string(&list).expect("text").as_bytes());
    assert_eq!(again, Some(list));
    true
}

pub fn seeds() -> Vec<Vec<u8>> {
    contents::list(&FOLDER, "run", &[FOLDER.join("summary.json")]).expect("a new list");
    let list = fs::read_to_string(FOLDER.join(CONTENTS)).expect("a new list");
    let newer = list.replace("\"format\": 1", "\"format\": 2");
    let outside = list.replace("summary.json", "../summary.json");
    let texts = [[0].as_slice(), &[1]].map(|kind| [kind, list.as_bytes()].concat());
    let more = [newer, outside].map(|text| [&[1], text.as_bytes()].concat());
    texts.into_iter().chain(more).collect()
}
