//! The user's folder of caches. Cached files save time and can be made again: states of drives
//! before their first request, and lives that were interrupted. The folder is bounded in number,
//! size and age of its files.
#![allow(
    clippy::disallowed_methods,
    reason = "which file is old is a matter of the clock, and no result depends on it"
)]

use crate::atomic_file::{is_partial, remove_abandoned};
use crate::disk;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Environment variable that names the folder of Fowler's cached files.
pub const VARIABLE: &str = "FOWLER_CACHE";
/// Time without use after which a cached file is removed.
pub const AGE_MOST: Duration = Duration::from_secs(30 * 24 * 3600);

/// Returns the folder of Fowler's cached files: `FOWLER_CACHE`, or `fowler` in `XDG_CACHE_HOME` or
/// `~/.cache`. `None` if none of the three is an absolute path.
pub fn path() -> Option<PathBuf> {
    let folder =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let of_user = || folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    folder(VARIABLE).or_else(|| Some(of_user()?.join("fowler")))
}

/// Limits for the files of one kind in Fowler's cache folder.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Prefix, such as `image-`, of the names of those files in Fowler's cache folder that the
    /// limits `files` and `bytes` apply to.
    pub prefix: &'static str,
    /// Largest number of files of one kind (those whose names begin with `prefix`) in Fowler's
    /// cache folder.
    pub files: usize,
    /// Largest total size in bytes of the files of one kind (those whose names begin with `prefix`)
    /// in Fowler's cache folder.
    pub bytes: u64,
}

/// Removes the cached files of a kind that no program has used for [`AGE_MOST`], and the least
/// recently used ones until there is room for one more of `bytes` bytes; and unfinished files of
/// killed programs. A file that cannot be removed now is removed another time.
pub fn make_room(folder: &Path, bound: Bound, bytes: u64) {
    // A folder that cannot be read is found when the file is written.
    let _unreadable = remove_abandoned(folder);
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(bound.prefix) && !is_partial(&name)
    };
    let found = disk::entries(folder).unwrap_or_default().into_iter().filter(is_one);
    let mut files: Vec<(SystemTime, u64, PathBuf)> = found
        .filter_map(|path| {
            let facts = disk::metadata(&path).ok()?;
            Some((facts.modified().ok()?, facts.len(), path))
        })
        .collect();
    files.sort();
    let mut left = files.len();
    let mut all: u64 = files.iter().map(|(_, length, _)| length).sum();
    let now = SystemTime::now();
    for (used, length, path) in files {
        let is_old = now.duration_since(used).is_ok_and(|age| age > AGE_MOST);
        if is_old || left + 1 > bound.files || all.saturating_add(bytes) > bound.bytes {
            let _another_time = disk::remove(&path);
            (left, all) = (left - 1, all - length);
        }
    }
}

/// Updates a cached file's time of last use.
pub fn used(path: &Path) {
    if let Ok(file) = std::fs::OpenOptions::new().append(true).open(path) {
        let _not_permitted = file.set_modified(SystemTime::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const BOUND: Bound = Bound { prefix: "image-", files: 4, bytes: 1000 };

    /// Creates cached files of these lengths in bytes; the first is unused for `oldest_days`, each
    /// next one a day less.
    fn filled(folder: &Path, lengths: &[usize], oldest_days: u64) {
        for (number, &length) in lengths.iter().enumerate() {
            let path = folder.join(format!("image-{number}"));
            fs::write(&path, vec![0; length]).unwrap();
            let days = oldest_days - number as u64;
            let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
            fs::File::options().append(true).open(&path).unwrap().set_modified(then).unwrap();
        }
    }

    fn left(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            names.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_old_or_too_much_goes_first() {
        for (lengths, oldest, bytes, expected) in [
            (&[1, 1, 1][..], 3, 1, &["image-0", "image-1", "image-2"][..]),
            (&[1, 1, 1, 1], 4, 1, &["image-1", "image-2", "image-3"]),
            (&[300, 300, 300], 3, 300, &["image-1", "image-2"]),
            (&[300, 300, 300], 3, 900, &[]),
            (&[1, 1, 1], 31, 1, &["image-2"]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            filled(folder.path(), lengths, oldest);
            fs::write(folder.path().join("lifetime-x"), "another kind").unwrap();
            fs::write(folder.path().join("image-9.0000abcd-1.partial"), "of a killed program")
                .unwrap();
            make_room(folder.path(), BOUND, bytes);
            let expected = [expected, &["lifetime-x"]].concat();
            assert_eq!(left(folder.path()), expected, "{lengths:?}, {oldest} days, {bytes} bytes");
        }
    }

    #[test]
    fn what_is_used_stays() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path(), &[1, 1, 1, 1], 4);
        used(&folder.path().join("image-0"));
        make_room(folder.path(), BOUND, 1);
        assert_eq!(left(folder.path()), ["image-0", "image-2", "image-3"]);
    }
}
