//! Processes that are started, waited for and killed. None is waited for longer than a limit.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Reason why a bout failed, in words.
pub(crate) type Failure = String;

/// No child takes that long, by far, however busy the machine is. Counted in steps: time in which
/// the machine sleeps, or the soak is suspended with its child, does not count.
const LIMIT: Duration = Duration::from_secs(300);
const STEP: Duration = Duration::from_millis(1);
/// The most bytes of output that are looked at.
const OUTPUT: u64 = 1 << 20;

/// The lines of a report.
const LINES: usize = 30;

/// Exit status and output of a child process.
pub struct Ended {
    status: ExitStatus,
    pub out: String,
    pub err: String,
    pub took: Duration,
}

impl Ended {
    /// Returns the exit code of the command; `None` if a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }

    /// Returns the exit status and output, for a report.
    pub fn said(&self) -> String {
        format!("{}\n{}\n{}", self.status, last(&self.out), last(&self.err))
    }
}

/// Returns the last lines of a text; of one that ends with the backtrace of a panic, the last lines
/// before the backtrace, which say where it happened and why.
fn last(text: &str) -> String {
    let before = text.split("\nstack backtrace:").next().unwrap_or_default();
    let lines: Vec<&str> = before.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// Runs a child to its end, or kills it after `kill_after`.
pub fn run(command: &mut Command, kill_after: Option<Duration>) -> Result<Ended, Failure> {
    let (begin, shown) = (Instant::now(), format!("{command:?}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{shown}: {error}"))?;
    let readers = (reader(child.stdout.take()), reader(child.stderr.take()));
    let ended = wait(&mut child, kill_after.map(|after| begin + after));
    let took = begin.elapsed();
    let text = |reader: JoinHandle<String>| reader.join().unwrap_or_default();
    let (out, err) = (text(readers.0), text(readers.1));
    match ended {
        Some(status) => Ok(Ended { status, out, err, took }),
        None => {
            let said = [last(&out), last(&err)].join("\n");
            Err(format!("{shown} did not end within {LIMIT:?}\n{said}"))
        }
    }
}

/// Waits until the child has ended; kills it at a time, if one is given. At the limit it is killed,
/// too, and there is no status.
fn wait(child: &mut Child, kill_at: Option<Instant>) -> Option<ExitStatus> {
    for _ in 0..LIMIT.as_millis() / STEP.as_millis() {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if kill_at.is_some_and(|at| Instant::now() >= at) {
            let _ended = child.kill();
            return child.wait().ok();
        }
        std::thread::sleep(STEP);
    }
    let _ended = child.kill();
    let _gone = child.wait();
    None
}

/// Reads all that a child prints, and keeps the beginning.
fn reader(from: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let Some(mut from) = from else { return String::new() };
        let mut kept = Vec::new();
        let _failed = from.by_ref().take(OUTPUT).read_to_end(&mut kept);
        let _failed = std::io::copy(&mut from, &mut std::io::sink());
        String::from_utf8_lossy(&kept).into_owned()
    })
}
