//! Folders of results, compared with each other.

use std::fs;
use std::path::Path;

/// Returns every file below a folder, by name, with its bytes.
pub fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            files.push((name, fs::read(path).unwrap()));
        }
    }
    files.sort();
    files
}
