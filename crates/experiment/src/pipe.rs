//! Pipes that are read: whether a command has to wait for whoever writes to them.

use std::fs::File;
use std::path::Path;

/// How long a writer may take before the user is told, in milliseconds.
#[cfg(unix)]
const PATIENCE: i64 = 1000;

/// A pipe that stays open for reading, so that its writer is not ended between two readers.
#[derive(Debug)]
pub struct HeldPipe {
    _file: File,
}

/// Waits up to a second for a named pipe to have something to read, and calls `say` if it has not.
/// Keep the result until the pipe is open; `None` for anything else than a pipe.
pub fn await_writer(path: &Path, say: impl FnOnce()) -> Option<HeldPipe> {
    #[cfg(unix)]
    {
        use rustix::fs::{FileType, Mode, OFlags, fstat, open, stat};
        let is_pipe = |mode| FileType::from_raw_mode(mode) == FileType::Fifo;
        if !stat(path).is_ok_and(|facts| is_pipe(facts.st_mode)) {
            return None;
        }
        // A pipe that is opened in this way does not wait for its writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let pipe = open(path, flags, Mode::empty()).ok()?;
        if !fstat(&pipe).is_ok_and(|facts| is_pipe(facts.st_mode)) {
            return None;
        }
        if !is_ready(&pipe) {
            say();
        }
        Some(HeldPipe { _file: File::from(pipe) })
    }
    #[cfg(not(unix))]
    {
        let _unknown = (path, say);
        None
    }
}

/// Waits up to a second for standard input to have something to read, and calls `say` if it has
/// not.
pub fn await_standard_input(say: impl FnOnce()) {
    #[cfg(unix)]
    if !is_ready(&std::io::stdin()) {
        say();
    }
    #[cfg(not(unix))]
    let _unknown = say;
}

/// Returns true if there is something to read within [`PATIENCE`], or the end has come. An
/// interrupted wait counts as ready.
#[cfg(unix)]
fn is_ready(file: impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut files = [PollFd::new(&file, PollFlags::IN)];
    let patience = Timespec { tv_sec: PATIENCE / 1000, tv_nsec: 0 };
    poll(&mut files, Some(&patience)) != Ok(0)
}
