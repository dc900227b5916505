//! Reads small text files: regular files of bounded size that are UTF-8.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::disk::{self, unreadable};
use std::io::{self, Read};
use std::path::Path;

/// The path under which standard input can be read as a file.
const STANDARD_INPUT: &str = "/dev/stdin";

/// Returns the text of a file of at most `limit` bytes.
///
/// # Errors
/// The file cannot be read, is not a regular file or `/dev/stdin`, is longer than `limit`, or is
/// not UTF-8. Nothing beyond `limit` is read.
pub fn read(path: &Path, limit: u64) -> Result<String, Diagnostics> {
    String::from_utf8(bytes(path, limit)?).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count();
        let diagnostic = Diagnostic::new(path.display().to_string(), "the file is not UTF-8 text");
        diagnostic.line(Some(line as u64 + 1)).expected("UTF-8").into()
    })
}

/// Returns the bytes of a file of at most `limit` bytes.
///
/// # Errors
/// As [`read`], but the bytes need not be UTF-8.
pub fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Diagnostics> {
    let name = path.display().to_string();
    let failed = |error: io::Error| unreadable(path, &error);
    let too_long = || {
        let what = format!("the file has more than {limit} bytes, which is the limit");
        Diagnostics::from(Diagnostic::new(&*name, what))
    };
    // A named pipe would block when it is opened, so ask first.
    let facts = disk::metadata(path).map_err(failed)?;
    if !facts.is_file() && path != Path::new(STANDARD_INPUT) {
        let what = if facts.is_dir() { "this is a folder" } else { "this is not a regular file" };
        return Err(Diagnostic::new(&*name, what).expected("a regular file or /dev/stdin").into());
    }
    if facts.len() > limit {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    // One byte beyond the limit shows whether the file is longer.
    let reading =
        disk::File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    reading.map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(too_long());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn said(path: &str, limit: u64) -> String {
        read(Path::new(path), limit).unwrap_err().to_string()
    }

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            path.display().to_string()
        };
        assert_eq!(read(Path::new(&file("five", b"abcde")), 5).unwrap(), "abcde");
        assert!(said(&file("six", b"abcdef"), 5).contains("more than 5 bytes"));
        let latin = said(&file("latin", b"a\n\xe9\n"), 9);
        assert!(latin.contains("latin:2: the file is not UTF-8"), "{latin}");
        assert!(said("/dev/zero", 5).contains("not a regular file"));
        assert!(said(&folder.path().display().to_string(), 5).contains("a folder"));
        assert!(said("no/such/file", 5).contains("cannot be read"));
    }
}
