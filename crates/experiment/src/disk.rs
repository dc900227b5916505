//! The operations on the files that a command writes and reads back. All of them go through here,
//! so that a test can record one, make it fail or cut it short. An operation interrupted by a
//! signal is retried. Input that is only read, such as traces, is opened where it is parsed.

use crate::diagnostic::{Diagnostic, Diagnostics};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// An operation that is about to be done to a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A file is created.
    Create(PathBuf),
    /// Bytes (second field) are appended to the file with this path (first field).
    Write(PathBuf, Vec<u8>),
    /// A file is synchronized, so that all its bytes reach the disk.
    Sync(PathBuf),
    /// A file gets another name, and replaces the file that has that name.
    Rename(PathBuf, PathBuf),
    /// A folder is synchronized, so that all names in it reach the disk.
    SyncFolder(PathBuf),
    /// A file is removed.
    Remove(PathBuf),
    /// A folder is created, with the missing folders above it.
    CreateFolder(PathBuf),
    /// The names of the files in a folder are read.
    List(PathBuf),
    /// The kind and length of a file are read.
    Examine(PathBuf),
    /// An existing file, or a lock file, is opened.
    Open(PathBuf),
    /// Bytes are read from a file.
    Read(PathBuf),
}

impl Operation {
    /// Returns the path of the file or folder that this file operation (such as create, write or
    /// rename) is about to use.
    pub fn path(&self) -> &Path {
        use Operation::{
            Create, CreateFolder, Examine, List, Open, Read, Remove, Rename, Sync, SyncFolder,
            Write,
        };
        match self {
            Create(path)
            | Write(path, _)
            | Sync(path)
            | Rename(_, path)
            | SyncFolder(path)
            | Remove(path)
            | CreateFolder(path)
            | List(path)
            | Examine(path)
            | Open(path)
            | Read(path) => path,
        }
    }
}

/// A test hook called before each operation; returns the number of bytes that the operation may
/// transfer, or the error to fail with.
type Observer = Box<dyn Fn(&Operation) -> io::Result<usize> + Send + Sync>;

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Calls `observer` before each operation of the process from now on. It returns how many bytes the
/// operation may transfer (`usize::MAX`: all), or the error to fail with. For tests of crashes and
/// of failing disks; may be called once.
///
/// # Panics
/// If it was called before.
#[doc(hidden)]
pub fn observe(observer: impl Fn(&Operation) -> io::Result<usize> + Send + Sync + 'static) {
    assert!(OBSERVER.set(Box::new(observer)).is_ok(), "there is an observer already");
}

/// Performs an operation, and retries it if a signal interrupted it.
fn retried<T>(
    operation: impl Fn() -> Operation,
    mut act: impl FnMut(usize) -> io::Result<T>,
) -> io::Result<T> {
    loop {
        let most = OBSERVER.get().map_or(Ok(usize::MAX), |observer| observer(&operation()));
        match most.and_then(&mut act) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// An open file. Before each operation on it, the function that a test may have set with
/// [`observe`] is called, which can make the operation fail.
#[derive(Debug)]
pub struct File {
    file: fs::File,
    path: PathBuf,
}

impl File {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<File> {
        let file = retried(|| Operation::Open(path.into()), |_| fs::File::open(path))?;
        Ok(File { file, path: path.into() })
    }

    /// Opens a result file of an earlier run, to read it.
    ///
    /// # Errors
    /// If it cannot be opened, or is no regular file: a named pipe would never end, or never begin.
    pub fn open_stored(path: &Path) -> io::Result<File> {
        let kind = metadata(path)?.file_type();
        if kind.is_file() || kind.is_dir() {
            return File::open(path);
        }
        Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"))
    }

    /// Creates a file with a new name.
    ///
    /// # Errors
    /// If something has that name already, or the file cannot be created.
    pub(crate) fn create_new(path: &Path) -> io::Result<File> {
        let file = retried(|| Operation::Create(path.into()), |_| fs::File::create_new(path))?;
        Ok(File { file, path: path.into() })
    }

    /// Locks a file that has just been created. Returns false if another process has taken it for
    /// abandoned; true also where the file system has no locks.
    pub(crate) fn is_claimed(&self) -> bool {
        if matches!(self.file.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            return false;
        }
        #[cfg(unix)]
        let has_name = |facts: Metadata| std::os::unix::fs::MetadataExt::nlink(&facts) > 0;
        #[cfg(not(unix))]
        let has_name = |_: Metadata| true;
        self.file.metadata().map_or(true, has_name)
    }

    /// Opens and locks a regular file that no process is writing; `None` if a process is writing
    /// it, or if the file system has no locks.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub(crate) fn abandoned(path: &Path) -> io::Result<Option<File>> {
        if !fs::symlink_metadata(path)?.file_type().is_file() {
            return Ok(None);
        }
        let mut options = fs::OpenOptions::new();
        options.write(true);
        let file = retried(|| Operation::Open(path.into()), |_| options.open(path))?;
        Ok(file.try_lock().is_ok().then(|| File { file, path: path.into() }))
    }

    /// Creates a file with a new name, which only its owner may read, to write it and read it back.
    ///
    /// # Errors
    /// As `File::create_new`.
    pub fn create_private(path: &Path) -> io::Result<File> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = retried(|| Operation::Create(path.into()), |_| options.open(path))?;
        Ok(File { file, path: path.into() })
    }

    /// Truncates the file to `length` bytes.
    ///
    /// # Errors
    ///
    /// If the file cannot be truncated.
    pub fn cut(&self, length: u64) -> io::Result<()> {
        retried(|| Operation::Write(self.path.clone(), Vec::new()), |_| self.file.set_len(length))
    }

    /// Returns a path under which this process can reopen a file that has no name any more, each
    /// time from its beginning; `None` on systems without such paths.
    pub fn nameless_path(&self) -> Option<PathBuf> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            let path = PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()));
            path.exists().then_some(path)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Opens a device or a pipe to write to it.
    ///
    /// # Errors
    /// If the device or pipe cannot be opened.
    pub(crate) fn special(path: &Path) -> io::Result<File> {
        let file = retried(|| Operation::Open(path.into()), |_| fs::File::create(path))?;
        Ok(File { file, path: path.into() })
    }

    /// Returns the kind and length of the open file.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub(crate) fn facts(&self) -> io::Result<Metadata> {
        retried(|| Operation::Examine(self.path.clone()), |_| self.file.metadata())
    }

    /// Waits until all bytes of the file are on the disk.
    ///
    /// # Errors
    /// If the bytes cannot be written.
    pub(crate) fn sync(&self) -> io::Result<()> {
        retried(|| Operation::Sync(self.path.clone()), |_| self.file.sync_all())
    }
}

impl Read for File {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let File { file, path } = self;
        let length = into.len();
        retried(|| Operation::Read(path.clone()), |most| file.read(&mut into[..length.min(most)]))
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let File { file, path } = self;
        let operation = || Operation::Write(path.clone(), bytes.to_vec());
        retried(operation, |most| file.write(&bytes[..bytes.len().min(most)]))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Opens the lock file at this path, and creates it if necessary.
///
/// # Errors
/// If it cannot be opened, or is no regular file: a file elsewhere, which a link points to, is not
/// locked.
pub fn lock_file(path: &Path) -> io::Result<fs::File> {
    if fs::symlink_metadata(path).is_ok_and(|it| !it.file_type().is_file()) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    // A lock file's contents do not matter, so an existing file is not emptied.
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    retried(|| Operation::Open(path.into()), |_| options.open(path))
}

/// Returns all bytes of a result file of an earlier run.
///
/// # Errors
/// If the file cannot be read, or is no regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open_stored(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the kind and length of the file at a path; `None` if none exists.
///
/// # Errors
///
/// If the system cannot tell. Do not treat this as a missing file.
pub fn facts(path: &Path) -> Result<Option<Metadata>, Diagnostics> {
    if_present(metadata(path)).map_err(|error| unreadable(path, &error))
}

/// Returns the kind of a path that is not a regular file, in words; `None` for a regular file or
/// nothing.
///
/// # Errors
///
/// If the system cannot tell.
pub fn no_file(path: &Path) -> Result<Option<&'static str>, Diagnostics> {
    Ok(match facts(path)? {
        Some(facts) if facts.is_dir() => Some("is a folder"),
        Some(facts) if !facts.is_file() => Some("is not a regular file"),
        _ => None,
    })
}

/// Returns the kind and length of the file at a path, like [`facts`], with an error if nothing
/// exists there.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    retried(|| Operation::Examine(path.into()), |_| fs::metadata(path))
}

/// Converts the error of a missing file to `None`.
///
/// # Errors
///
/// If the operation failed for another reason.
pub fn if_present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Creates a folder and the missing folders above it.
///
/// # Errors
/// If one of them cannot be created.
pub fn create_folder(path: &Path) -> io::Result<()> {
    retried(|| Operation::CreateFolder(path.into()), |_| fs::create_dir_all(path))
}

/// Returns the paths of the files in a folder, in the order in which the system lists them.
///
/// # Errors
/// If the folder cannot be read.
pub fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let list = |_| fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect();
    retried(|| Operation::List(folder.into()), list)
}

/// Renames a file, and replaces any file that has the new name.
///
/// # Errors
/// If the file cannot be renamed.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    retried(|| Operation::Rename(from.into(), to.into()), |_| fs::rename(from, to))
}

/// Removes a file. After a crash of the machine, the file may exist again.
///
/// # Errors
///
/// If the file cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    retried(|| Operation::Remove(path.into()), |_| fs::remove_file(path))
}

/// Removes an empty folder.
///
/// # Errors
/// If the folder is not empty, or cannot be removed.
pub fn remove_empty_folder(path: &Path) -> io::Result<()> {
    retried(|| Operation::Remove(path.into()), |_| fs::remove_dir(path))
}

/// Returns the number of bytes that can be written to the file system of a folder; `None` if the
/// system does not say.
pub fn free_space(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let facts = rustix::fs::statvfs(folder).ok()?;
        Some(facts.f_bavail.saturating_mul(facts.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _unknown = folder;
        None
    }
}

/// Waits until the names of the files in a file's folder are on the disk.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = folder_of(path);
    // Only Unix opens folders, and some file systems there cannot sync them.
    let sync = |_| -> io::Result<()> {
        #[cfg(unix)]
        match fs::File::open(folder)?.sync_all() {
            Err(error)
                if !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) =>
            {
                return Err(error);
            }
            _ => {}
        }
        Ok(())
    };
    retried(|| Operation::SyncFolder(folder.into()), sync)
}

/// Returns the folder in which a file is: its path without the last part, or `.`.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the diagnostic for a file or folder that cannot be read.
pub fn unreadable(path: &Path, error: &io::Error) -> Diagnostics {
    let what = format!("cannot be read: {error}");
    Diagnostic::new(path.display().to_string(), what).os(error.raw_os_error()).into()
}
