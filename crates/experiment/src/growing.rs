//! Files that appear when they are complete: what was there before is never replaced by a part.

use crate::problem::{Problem, Problems};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that grows under another name, `<name>.partial`, until [`Growing::finish`]. One that is never
/// finished is removed. Devices and pipes are written directly.
#[derive(Debug)]
pub struct Growing {
    out: BufWriter<File>,
    path: PathBuf,
    partial: Option<PathBuf>,
}

impl Growing {
    /// Starts the file.
    pub fn create(path: &Path) -> Result<Growing, Problems> {
        let partial = (!is_special(path)).then(|| {
            let mut name = path.as_os_str().to_owned();
            name.push(".partial");
            PathBuf::from(name)
        });
        let file = if path.is_dir() {
            Err(io::ErrorKind::IsADirectory.into())
        } else {
            File::create(partial.as_deref().unwrap_or(path))
        };
        let file = file.map_err(|error| unwritable(path, &error))?;
        let out = BufWriter::with_capacity(1 << 18, file);
        Ok(Growing { out, path: path.to_path_buf(), partial })
    }

    /// Writes out what is left and gives the file its name.
    pub fn finish(mut self) -> Result<(), Problems> {
        let flushed = self.out.flush();
        let named = flushed.and_then(|()| match &self.partial {
            Some(partial) => fs::rename(partial, &self.path),
            None => Ok(()),
        });
        named.map_err(|error| unwritable(&self.path, &error))?;
        self.partial = None;
        Ok(())
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // What cannot be removed is left under its telling name.
            let _left = fs::remove_file(partial);
        }
    }
}

/// Whether there is something there that is no plain file, such as `/dev/null`.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir())
}

/// Whether a file could be made at `path`. Asking for permissions is not reliable (network drives, full
/// disks), so one is made beside it and removed.
pub fn writable(path: &Path) -> Result<(), Problems> {
    if is_special(path) {
        return Ok(());
    }
    Growing::create(path).and_then(|mut file| {
        file.write_all(b"x").and_then(|()| file.flush()).map_err(|error| unwritable(path, &error))
    })
}

/// The problem of a file that cannot be written.
pub fn unwritable(path: &Path, error: &io::Error) -> Problems {
    Problem::new(path.display().to_string(), format!("cannot be written: {error}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_never_replaces_what_was_there() {
        let folder = std::env::temp_dir().join(format!("fowler-growing-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        fs::write(&path, "old").unwrap();
        let mut unfinished = Growing::create(&path).unwrap();
        unfinished.write_all(b"new").unwrap();
        drop(unfinished);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let mut finished = Growing::create(&path).unwrap();
        finished.write_all(b"new").unwrap();
        finished.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert!(Growing::create(&folder).is_err());
        assert!(writable(&folder.join("absent/file")).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn devices_stay_devices() {
        let null = Path::new("/dev/null");
        writable(null).unwrap();
        let mut file = Growing::create(null).unwrap();
        file.write_all(b"x").unwrap();
        file.finish().unwrap();
        assert!(is_special(null));
    }
}
