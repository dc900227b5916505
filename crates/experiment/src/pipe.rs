//! Reads named pipes, and tells the user when the writer is slow.

use std::fs::File;
use std::io;
use std::path::Path;

/// Time without data from a pipe after which the user is told, in milliseconds.
#[cfg(unix)]
const PATIENCE: i64 = 1000;

/// Opens a named pipe and waits until data can be read or the writer has closed it. Calls `say` if
/// that takes more than a second. `None` if the path is not a pipe.
///
/// # Errors
///
/// If the pipe cannot be opened.
pub fn open(path: &Path, say: impl FnOnce()) -> Option<io::Result<File>> {
    #[cfg(unix)]
    {
        use rustix::fs::{FileType, stat};
        let is_pipe =
            stat(path).is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Fifo);
        is_pipe.then(|| opened(path, say))
    }
    #[cfg(not(unix))]
    {
        let _unknown = (path, say);
        None
    }
}

#[cfg(unix)]
fn opened(path: &Path, say: impl FnOnce()) -> io::Result<File> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
    // Opening the pipe in blocking mode would wait for a writer silently. A second reader would not
    // help, because a writer may come and go before the pipe is open.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let pipe = open(path, flags, Mode::empty())?;
    if !is_ready(&pipe) {
        say();
        while poll(&mut [PollFd::new(&pipe, PollFlags::IN)], None) == Err(rustix::io::Errno::INTR) {
        }
    }
    fcntl_setfl(&pipe, fcntl_getfl(&pipe)?.difference(OFlags::NONBLOCK))?;
    Ok(File::from(pipe))
}

/// Waits up to a second for data on standard input; calls `say` if none arrives.
pub fn await_standard_input(say: impl FnOnce()) {
    #[cfg(unix)]
    if !is_ready(io::stdin()) {
        say();
    }
    #[cfg(not(unix))]
    let _unknown = say;
}

/// Returns true if the pipe or standard input has data, or has ended, within [`PATIENCE`] (one
/// second). An interrupted wait counts as true.
#[cfg(unix)]
fn is_ready(file: impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut files = [PollFd::new(&file, PollFlags::IN)];
    let patience = Timespec { tv_sec: PATIENCE / 1000, tv_nsec: 0 };
    poll(&mut files, Some(&patience)) != Ok(0)
}
