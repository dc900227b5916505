//! The operations on files that results depend on. Every one goes through here, so that a test can
//! record it, let it fail or cut it short. An operation that a signal interrupts is done again.

use crate::diagnostic::{Diagnostic, Diagnostics};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What is about to be done to a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A file is created.
    Create(PathBuf),
    /// Bytes are written to its end.
    Write(PathBuf, Vec<u8>),
    /// All of its bytes are to reach the disk.
    Sync(PathBuf),
    /// It gets another name, and replaces the file that has it.
    Rename(PathBuf, PathBuf),
    /// All names in a folder are to reach the disk.
    SyncFolder(PathBuf),
    /// A file is removed.
    Remove(PathBuf),
    /// A folder is created, with those above it.
    CreateFolder(PathBuf),
    /// The names in a folder are read.
    List(PathBuf),
    /// The kind and length of a file are read.
    Examine(PathBuf),
    /// A file is opened that is there, or a lock file that may be.
    Open(PathBuf),
    /// Bytes are read from it.
    Read(PathBuf),
}

impl Operation {
    /// Returns the file or folder.
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

/// Hears of every operation before it is done, and returns the most bytes that it may read or
/// write, or the error that it ends with instead.
type Observer = Box<dyn Fn(&Operation) -> io::Result<usize> + Send + Sync>;

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Asks `observer` before every operation from now on, of the whole process: how many bytes it may
/// read or write (`usize::MAX`: all), or which error it ends with instead. For tests of crashes and
/// of failing disks; may be called once.
///
/// # Panics
/// If it was called before.
#[doc(hidden)]
pub fn observe(observer: impl Fn(&Operation) -> io::Result<usize> + Send + Sync + 'static) {
    assert!(OBSERVER.set(Box::new(observer)).is_ok(), "there is an observer already");
}

/// Does an operation, with at most so many bytes. Does it again if a signal interrupted it.
fn done<T>(
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

/// An open file.
#[derive(Debug)]
pub struct File {
    file: fs::File,
    path: PathBuf,
}

impl File {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> io::Result<File> {
        let file = done(|| Operation::Open(path.into()), |_| fs::File::open(path))?;
        Ok(File { file, path: path.into() })
    }

    /// Creates a file with a new name.
    ///
    /// # Errors
    /// If something has that name, or it cannot be created.
    pub(crate) fn create_new(path: &Path) -> io::Result<File> {
        let file = done(|| Operation::Create(path.into()), |_| fs::File::create_new(path))?;
        Ok(File { file, path: path.into() })
    }

    /// Opens a device or a pipe to write to it.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn special(path: &Path) -> io::Result<File> {
        let file = done(|| Operation::Open(path.into()), |_| fs::File::create(path))?;
        Ok(File { file, path: path.into() })
    }

    /// Returns its kind and length.
    ///
    /// # Errors
    /// If the system does not say.
    pub(crate) fn facts(&self) -> io::Result<Metadata> {
        done(|| Operation::Examine(self.path.clone()), |_| self.file.metadata())
    }

    /// Waits until all of its bytes are on the disk.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn sync(&self) -> io::Result<()> {
        done(|| Operation::Sync(self.path.clone()), |_| self.file.sync_all())
    }
}

impl Read for File {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let File { file, path } = self;
        let length = into.len();
        done(|| Operation::Read(path.clone()), |most| file.read(&mut into[..length.min(most)]))
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let File { file, path } = self;
        let operation = || Operation::Write(path.clone(), bytes.to_vec());
        done(operation, |most| file.write(&bytes[..bytes.len().min(most)]))
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
/// If it cannot be opened.
pub fn lock_file(path: &Path) -> io::Result<fs::File> {
    done(|| Operation::Open(path.into()), |_| fs::File::create(path))
}

/// Returns all bytes of a file.
///
/// # Errors
/// If it cannot be read.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the kind and length of what has this path; `None` if nothing has.
///
/// # Errors
/// If the system does not say. Nobody may take that for a file that is not there.
pub fn facts(path: &Path) -> Result<Option<Metadata>, Diagnostics> {
    there(metadata(path)).map_err(|error| unreadable(path, &error))
}

/// Like [`facts`]; it is an error if nothing has this path.
pub(crate) fn metadata(path: &Path) -> io::Result<Metadata> {
    done(|| Operation::Examine(path.into()), |_| fs::metadata(path))
}

/// Returns `None` if an operation failed because there is no such file.
///
/// # Errors
/// If it failed for another reason.
pub fn there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Creates a folder and those above it, unless they are there.
///
/// # Errors
/// If it cannot be created.
pub fn create_folder(path: &Path) -> io::Result<()> {
    done(|| Operation::CreateFolder(path.into()), |_| fs::create_dir_all(path))
}

/// Returns the paths in a folder, in the order of the system.
///
/// # Errors
/// If it cannot be read.
pub fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let list = |_| fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect();
    done(|| Operation::List(folder.into()), list)
}

/// Gives a file another name, and replaces the file that has it.
///
/// # Errors
/// If that cannot be done.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    done(|| Operation::Rename(from.into(), to.into()), |_| fs::rename(from, to))
}

/// Removes a file; its name may come back after a crash of the machine.
///
/// # Errors
/// If it cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    done(|| Operation::Remove(path.into()), |_| fs::remove_file(path))
}

/// Waits until the names in the folder of a file are on the disk.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
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
    done(|| Operation::SyncFolder(folder.into()), sync)
}

/// Returns the diagnostic for a file or folder that cannot be read.
pub fn unreadable(path: &Path, error: &io::Error) -> Diagnostics {
    Diagnostic::new(path.display().to_string(), format!("cannot be read: {error}")).into()
}
