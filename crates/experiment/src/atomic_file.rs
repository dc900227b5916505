//! Files that appear only when complete: an existing file is never replaced by a partial one, and
//! no input file is overwritten.
//!
//! A finished file also survives a crash of the machine. Its bytes are synced before it gets its
//! name, and its folder afterwards: without the first, a file may have its name but not its bytes;
//! without the second, the name itself may be lost (Pillai et al., "All File Systems Are Not
//! Created Equal", OSDI 2014).
//!
//! A program that is killed leaves its unfinished files. The next one that writes there removes
//! them, but never those of a program that still runs, which may be on another machine. A lock
//! tells the two apart: whoever writes a file holds it, and the system lets go of it however the
//! program ends. A process number in the name would not do: containers and machines that share a
//! folder number their processes alike.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::disk::{self, File};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Paths of unfinished files, which are removed if the program ends without dropping them.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Most names tried for one temporary file before creating it fails.
const NAMES: u32 = 1000;
/// Suffix of the name of every temporary file of an [`AtomicFile`].
const PARTIAL: &str = ".partial";
/// Hexadecimal digits of the process number in a temporary name.
const PROCESS: usize = 8;
/// Number of the next temporary file that this process creates, counted from 0.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A file that is written under a temporary name until [`AtomicFile::finish`] renames it:
/// `<name>.<process>-<number>.partial`, with eight hexadecimal digits for the process. A file that
/// is never finished is removed. Devices and pipes are written directly.
#[derive(Debug)]
pub struct AtomicFile {
    out: BufWriter<File>,
    path: PathBuf,
    partial: Option<PathBuf>,
    /// First error of writing data to the temporary file, which then never gets the name of the
    /// finished file; `None` while all writes have succeeded.
    failed: Option<(io::ErrorKind, String)>,
}

impl AtomicFile {
    /// Creates the temporary file that [`AtomicFile::finish`] renames to `path`.
    pub fn create(path: &Path) -> Result<AtomicFile, Diagnostics> {
        let opened = if path.is_dir() {
            Err(io::ErrorKind::IsADirectory.into())
        } else if is_special(path) {
            File::special(path).map(|file| (file, None))
        } else {
            beside(path).map(|(file, partial)| (file, Some(partial)))
        };
        let (file, partial) = opened.map_err(|error| unwritable(path, &error))?;
        let out = BufWriter::with_capacity(1 << 18, file);
        Ok(AtomicFile { out, path: path.to_path_buf(), partial, failed: None })
    }

    /// Creates an [`AtomicFile`] for results that a later command reads back. The path may not be
    /// that of a device or a pipe: writing to a pipe might wait for a reader forever.
    pub fn create_stored(path: &Path) -> Result<AtomicFile, Diagnostics> {
        stored(path)?;
        AtomicFile::create(path)
    }

    /// Returns the path of the temporary file, which is the path written to until it is finished.
    pub fn written_to(&self) -> &Path {
        self.partial.as_deref().unwrap_or(&self.path)
    }

    /// Writes the remaining bytes, waits until all are on the disk, and renames the file to its
    /// final name.
    pub fn finish(mut self) -> Result<(), Diagnostics> {
        self.named().map_err(|error| unwritable(&self.path, &error))
    }

    fn named(&mut self) -> io::Result<()> {
        if let Some((kind, why)) = self.failed.take() {
            return Err(io::Error::new(kind, why));
        }
        self.out.flush()?;
        let Some(partial) = &self.partial else { return Ok(()) };
        self.out.get_ref().sync()?;
        disk::rename(partial, &self.path)?;
        // From here on, the temporary name is free for another process.
        forget(partial);
        self.partial = None;
        disk::sync_folder(&self.path)
    }

    fn remember<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.failed.get_or_insert_with(|| (error.kind(), error.to_string()));
        }
        result
    }
}

/// Removes a finished file and waits until the removal is on the disk.
///
/// # Errors
///
/// If the file cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    disk::remove(path)?;
    disk::sync_folder(path)
}

/// Creates and locks a temporary file in the folder of `path`, under a name that no file has.
fn beside(path: &Path) -> io::Result<(File, PathBuf)> {
    for _ in 0..NAMES {
        let mut name = path.as_os_str().to_owned();
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        name.push(format!(".{process:0PROCESS$x}-{number}{PARTIAL}"));
        let partial = PathBuf::from(name);
        let mut list = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        match File::create_new(&partial) {
            Ok(file) if file.is_claimed() => {
                list.push(partial.clone());
                return Ok((file, partial));
            }
            // Another process found the file before it was locked, took it for abandoned, and
            // removes it.
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        "there are too many .partial files next to it",
    ))
}

/// Registers a temporary file to be removed when the program ends.
pub(crate) fn will_remove(path: PathBuf) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path);
}

/// Removes a temporary file from the list of files to be removed at the end of the program.
pub(crate) fn forget(partial: &Path) {
    let mut list = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    list.retain(|other| other != partial);
}

/// Removes every temporary file that is being written, for a program that exits immediately.
pub fn abandon() {
    remove_all(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Removes every temporary file that is being written, for a program that is out of memory:
/// allocates nothing, and removes nothing if a file is being created or renamed at this moment.
pub fn abandon_at_once() {
    if let Ok(mut list) = UNFINISHED.try_lock() {
        remove_all(&mut list);
    }
}

fn remove_all(list: &mut Vec<PathBuf>) {
    for partial in list.drain(..) {
        let _left = fs::remove_file(partial);
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.remember(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.remember(flushed)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // A disk that failed once may not fail again. If it does, the file stays under its
            // .partial name, where `fowler check` finds it.
            let _left = disk::if_present(disk::remove(partial))
                .or_else(|_| disk::if_present(disk::remove(partial)));
            forget(partial);
        }
    }
}

/// Returns true if a file name has the form of an [`AtomicFile`]'s temporary name.
pub fn is_partial(name: &str) -> bool {
    let number = name.rsplit_once(PARTIAL).map(|(_, number)| number);
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the name that a file with this temporary name gets when it is finished; empty if the
/// name is not a temporary one.
pub fn finished_name(partial: &str) -> &str {
    if !is_partial(partial) {
        return "";
    }
    let (whole, _) = partial.rsplit_once(PARTIAL).unwrap_or_default();
    without_process(whole).unwrap_or(whole)
}

/// Returns a temporary file name without the suffix and the numbers that [`AtomicFile`] adds to it;
/// `None` if they are missing.
fn without_process(name: &str) -> Option<&str> {
    let (whole, token) = name.rsplit_once('.')?;
    let (process, number) = token.split_once('-')?;
    let is_process = process.len() == PROCESS
        && process.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    (is_process && is_number && !whole.is_empty()).then_some(whole)
}

/// Removes the unfinished files of killed programs from a folder. Leaves files that a program is
/// writing, and files whose names only look alike. On a file system without locks, all of them
/// stay: nobody knows who is writing.
///
/// # Errors
/// If the folder cannot be read, unless that is not permitted. A file that cannot be removed now is
/// removed another time.
pub fn remove_abandoned(folder: &Path) -> Result<(), Diagnostics> {
    let found = match disk::entries(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        found => disk::if_present(found).map_err(|error| disk::unreadable(folder, &error))?,
    };
    for path in found.unwrap_or_default() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let whole = name.strip_suffix(PARTIAL).and_then(without_process);
        if whole.is_some()
            && let Ok(Some(_abandoned)) = File::abandoned(&path)
        {
            // The lock is held until the file's name is gone.
            let _another_time = disk::remove(&path);
        }
    }
    Ok(())
}

/// Returns true if `path` exists and is not a regular file, such as `/dev/null`.
pub(crate) fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir())
}

/// Checks that no file, or a regular one, is at the path of a file to be read back.
///
/// # Errors
///
/// If something else is at the path.
pub fn stored(path: &Path) -> Result<(), Diagnostics> {
    let Some(what) = disk::no_file(path)? else { return Ok(()) };
    let hint = "remove it, or choose another path".to_string();
    let diagnostic = Diagnostic::new(path.display().to_string(), what);
    Err(diagnostic.expected("a regular file, or none").hint(hint).into())
}

/// Checks that a file can be created at `path`. Permissions are not reliable (network drives, full
/// disks), so it creates one next to it and removes it. Removes what killed programs left there.
pub fn writable(path: &Path) -> Result<(), Diagnostics> {
    if is_special(path) {
        return Ok(());
    }
    AtomicFile::create(path).and_then(|mut file| {
        file.write_all(b"x").and_then(|()| file.flush()).map_err(|error| unwritable(path, &error))
    })?;
    remove_abandoned(disk::folder_of(path))
}

/// Returns the diagnostic for a file that cannot be written.
pub fn unwritable(path: &Path, error: &io::Error) -> Diagnostics {
    let what = format!("cannot be written: {error}");
    Diagnostic::new(path.display().to_string(), what).os(error.raw_os_error()).into()
}

/// A file that a command reads or writes, and the flag that names it.
pub type Named = (String, PathBuf);

/// Rejects outputs that are also inputs, and two outputs to the same file, whatever the paths.
pub fn clashes(inputs: &[Named], outputs: &[Named]) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let plain = |named: &&Named| !is_special(&named.1);
    let inputs: Vec<_> = inputs.iter().filter(plain).map(|it| (it, real(&it.1))).collect();
    let mut written: Vec<(&Named, PathBuf)> = Vec::new();
    for output in outputs.iter().filter(plain) {
        let (flag, path) = output;
        let (real, shown) = (real(path), path.display());
        let what = |other: &str, does: &str| {
            Diagnostic::new(flag.clone(), format!("`{shown}` is also what {other} {does}"))
                .hint("name another file".to_string())
        };
        if let Some(((other, _), _)) = inputs.iter().find(|(_, input)| *input == real) {
            diagnostics.push(what(other, "reads: it would be replaced"));
        } else if let Some(((other, _), _)) = written.iter().find(|(_, path)| *path == real) {
            diagnostics.push(what(other, "writes: one would replace the other"));
        }
        written.push((output, real));
    }
    diagnostics
}

/// Returns true if two paths lead to the same file.
pub fn same(one: &Path, other: &Path) -> bool {
    real(one) == real(other)
}

/// Returns the canonical path; its last parts need not exist yet.
fn real(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let there = whole.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    match there {
        Some((above, real)) => match whole.strip_prefix(above) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => whole,
        },
        None => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("fowler-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_part_never_replaces_what_was_there() {
        let folder = folder("unfinished");
        let path = folder.join("file");
        fs::write(&path, "old").unwrap();
        let mut unfinished = AtomicFile::create(&path).unwrap();
        unfinished.write_all(b"new").unwrap();
        drop(unfinished);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let mut finished = AtomicFile::create(&path).unwrap();
        finished.write_all(b"new").unwrap();
        finished.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert!(AtomicFile::create(&folder).is_err());
        assert!(writable(&folder.join("absent/file")).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_of_the_users_is_never_taken_for_ours() {
        let folder = folder("partial");
        let (path, theirs) = (folder.join("file"), folder.join("file.partial"));
        fs::write(&theirs, "theirs").unwrap();
        writable(&path).unwrap();
        let mut both = [AtomicFile::create(&path).unwrap(), AtomicFile::create(&path).unwrap()];
        for file in &mut both {
            file.write_all(b"new").unwrap();
        }
        for file in both {
            file.finish().unwrap();
        }
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn only_what_nobody_writes_is_removed() {
        let folder = folder("abandoned");
        let file = |name: &str| {
            fs::write(folder.join(name), "half").unwrap();
            name.to_string()
        };
        let dead = ["a.csv.0000abcd-0.partial", "b.0000abcd-12.partial"].map(file);
        let theirs = [
            "a.csv.partial",
            "a.csv.0000abc-0.partial",
            "a.csv.0000ABCD-0.partial",
            "a.csv.0000abcd-.partial",
            ".0000abcd-1.partial",
            "0000abcd-1.partial",
            "a.csv.0000abcd-0.partial.bak",
        ];
        let mut theirs = theirs.map(file).to_vec();
        let living = AtomicFile::create(&folder.join("a.csv")).unwrap();
        let name = living.written_to().file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(finished_name(&name), "a.csv");
        theirs.push(name.clone());
        remove_abandoned(&folder).unwrap();
        let left = || {
            let names = fs::read_dir(&folder).unwrap();
            let mut names: Vec<String> =
                names.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        };
        theirs.sort();
        assert_eq!(left(), theirs, "{dead:?} are gone");
        living.finish().unwrap();
        remove_abandoned(&folder.join("absent")).unwrap();
        assert!(left().contains(&"a.csv".to_string()) && !left().contains(&name));
        let names = ["a.csv.partial2", "a.csv", "x.partial"].map(finished_name);
        assert_eq!(names, ["a.csv", "", "x"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Two threads can stand for two processes, because a lock belongs to an open file.
    #[test]
    fn who_writes_while_others_clean_up_loses_nothing() {
        let folder = folder("cleaned-meanwhile");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    for number in 0..200 {
                        let path = folder.join(format!("{writer}-{number}"));
                        let mut file = AtomicFile::create(&path).unwrap();
                        file.write_all(b"whole").unwrap();
                        remove_abandoned(folder).unwrap();
                        file.finish().unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 800);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn one_file_is_found_by_every_path_to_it() {
        let folder = folder("clashes");
        let file = folder.join("a.csv");
        fs::write(&file, "").unwrap();
        let named = |flag: &str, path: PathBuf| (flag.to_string(), path);
        let input = [named("--trace", file.clone())];
        let detour = folder.join("../").join(folder.file_name().unwrap()).join("./a.csv");
        for (path, diagnostics) in [(file, 1), (detour, 1), (folder.join("b.csv"), 0)] {
            let output = [named("--requests", path)];
            assert_eq!(clashes(&input, &output).0.len(), diagnostics, "{output:?}");
        }
        let outputs = ["new/s.json", "new/./s.json"].map(|path| named("--out", folder.join(path)));
        assert_eq!(clashes(&input, &outputs).0.len(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn devices_stay_devices() {
        let null = Path::new("/dev/null");
        writable(null).unwrap();
        let mut file = AtomicFile::create(null).unwrap();
        file.write_all(b"x").unwrap();
        file.finish().unwrap();
        assert!(is_special(null));
        let twice = ["--out", "--requests"].map(|flag| (flag.to_string(), null.into()));
        assert_eq!(clashes(&[], &twice), Diagnostics::default());
    }
}
