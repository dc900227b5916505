//! Files that exist only while a program runs and that only their owner may read. On Linux they
//! have no name, so that nothing is left however the program ends.

use crate::atomic_file::{forget, will_remove};
use crate::disk::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Number of random file names that are tried for a temporary file before creating it fails.
const NAMES: u32 = 1000;

/// A temporary file, which is removed when the value is dropped.
#[derive(Debug)]
pub struct Temporary {
    file: File,
    path: PathBuf,
    /// True if the temporary file has a name in the file system, so that it must be removed.
    is_named: bool,
}

impl Temporary {
    /// Creates an empty temporary file in a folder.
    ///
    /// # Errors
    /// If the file cannot be created there.
    pub fn create(folder: &Path) -> io::Result<Temporary> {
        for number in 0..NAMES {
            let name = folder.join(format!("fowler-{}-{number}", std::process::id()));
            match File::create_private(&name) {
                Ok(file) => return Temporary::unnamed(file, name),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Removes the name of a temporary file if the system can open nameless files.
    fn unnamed(file: File, name: PathBuf) -> io::Result<Temporary> {
        match file.nameless_path() {
            Some(path) => {
                disk::remove(&name).inspect_err(|_| will_remove(name))?;
                Ok(Temporary { file, path, is_named: false })
            }
            None => {
                will_remove(name.clone());
                Ok(Temporary { file, path: name, is_named: true })
            }
        }
    }

    /// Returns the path under which this process can open the temporary file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Truncates the temporary file to `length` bytes.
    ///
    /// # Errors
    /// If it cannot be truncated.
    pub fn cut(&self, length: u64) -> io::Result<()> {
        self.file.cut(length)
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.is_named {
            let _left = disk::remove(&self.path);
            forget(&self.path);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nobody_else_reads_it_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = Temporary::create(folder.path()).unwrap();
        file.write_all(b"a secret and more").unwrap();
        file.cut(8).unwrap();
        for _ in 0..2 {
            assert_eq!(fs::read_to_string(file.path()).unwrap(), "a secret");
        }
        let mode = fs::metadata(file.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        if cfg!(target_os = "linux") {
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
