//! The files of a folder of results: their kinds, their bytes, and what differs between two
//! folders.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Files with their bytes, by their names in the folder.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The kinds of files, by how their names begin and end. Files of a kind may be swapped.
const KINDS: [(&str, &str, &str); 21] = [
    ("points/", ".parquet", "row of a point"),
    ("points/", ".sha256", "checksums of a point"),
    ("requests/", ".parquet", "requests of a point"),
    ("design.", "parquet", "design of a sweep"),
    ("sweep.", "toml", "specification of a sweep"),
    ("sweep.", "sha256", "checksums of a sweep"),
    ("format", "", FORMAT),
    ("lifetime.", "checkpoint", CHECKPOINT),
    ("runs", ".json", RUN),
    ("runs", ".sha256", "checksums of a run"),
    ("runs", "format", FORMAT),
    ("summary.", "json", "summary"),
    ("contents.", "json", LIST),
    ("timeline.", "json", "timeline"),
    ("report.", "html", "page"),
    ("", ".partial", PARTIAL),
    ("", ".csv", "table or requests"),
    ("", ".parquet", "requests"),
    ("", ".svg", "picture"),
    ("", ".html", "page"),
    ("", "", "other"),
];

/// A file that a killed command has not finished.
pub const PARTIAL: &str = "unfinished file";
/// The format of a folder of a sweep or a study, which has no checksum and is written again by
/// both.
pub const FORMAT: &str = "format of a folder";
/// How the kinds of files of checksums begin.
pub const CHECKSUMS: &str = "checksums";
pub const CHECKPOINT: &str = "checkpoint";
const RUN: &str = "run of a study";
pub const LIST: &str = "list of contents";

/// Returns the kind of a file, by its name in the folder.
pub fn kind(name: &Path) -> &'static str {
    let text = name.to_string_lossy();
    // A number may follow.
    let end = text.trim_end_matches(|it: char| it.is_ascii_digit());
    if end.ends_with(".partial") {
        return PARTIAL;
    }
    let fits = |(begins, ends, _): &&(&str, &str, _)| {
        text.starts_with(begins) && text[begins.len()..].ends_with(ends)
    };
    KINDS.iter().find(fits).map_or("other", |it| it.2)
}

/// Every file below a folder; empty lock files do not count.
pub fn contents(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        if let Ok(entries) = fs::read_dir(&path) {
            open.extend(entries.flatten().map(|entry| entry.path()));
        } else if let Ok(bytes) = fs::read(&path)
            && !path.ends_with(".lock")
        {
            files.insert(path.strip_prefix(folder).expect("below it").into(), bytes);
        }
    }
    files
}

/// The bytes without the time that the run took by the clock, and what follows from it.
fn timeless(name: &Path, bytes: &[u8]) -> Vec<u8> {
    let timed = [Path::new("summary.json"), Path::new("contents.json")].contains(&name);
    let Some(mut value) = timed.then(|| serde_json::from_slice::<Value>(bytes).ok()).flatten()
    else {
        return bytes.into();
    };
    strip(&mut value);
    if let Some(files) = value.get_mut("files").and_then(Value::as_object_mut) {
        files.remove("summary.json");
    }
    value.to_string().into_bytes()
}

/// Removes the times, also those of each run of a comparison.
fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for key in ["wall_s", "requests_per_s", "checksum"] {
                fields.remove(key);
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(all) => all.iter_mut().for_each(strip),
        _ => {}
    }
}

/// True if two files with this name are equal except for times by the clock.
pub fn alike(name: &Path, one: &[u8], other: &[u8]) -> bool {
    one == other || timeless(name, one) == timeless(name, other)
}

/// True if two versions of a file are equal; white space does not count in JSON that Fowler reads
/// back.
pub fn say_the_same(name: &Path, one: &[u8], other: &[u8]) -> bool {
    let value = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    let read_back = [LIST, RUN].contains(&kind(name));
    one == other || read_back && value(one).is_some_and(|it| value(other) == Some(it))
}

/// Returns the differences between a folder and its expected content, a line each.
pub fn differences(there: &Files, whole: &Files) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, bytes) in there {
        match whole.get(name) {
            None => lines.push(format!("{} should not be there", name.display())),
            Some(other) if !alike(name, bytes, other) => {
                let at = bytes.iter().zip(other).take_while(|(one, other)| one == other).count();
                lines.push(format!("{} has other bytes, from byte {at} on", name.display()));
            }
            Some(_) => {}
        }
    }
    let missing = whole.keys().filter(|name| !there.contains_key(*name));
    lines.extend(missing.map(|name| format!("{} is missing", name.display())));
    lines
}
