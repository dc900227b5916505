//! Stop requests: Ctrl-C (SIGINT), and what schedulers and closing terminals send (SIGTERM,
//! SIGHUP).

use fowler_experiment::atomic_file;
use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// True once a signal has asked the program to stop. A signal handler can only reach a static.
static STOP: AtomicBool = AtomicBool::new(false);
static HANDLED: Once = Once::new();
/// True while the first signal ends the program.
static AT_ONCE: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Stop flag of a caller that runs a command on this thread and handles signals.
    static ITS_CALLER: Cell<Option<&'static AtomicBool>> = const { Cell::new(None) };
}

/// Calls `act`, such as a command of `fowler`, on this thread, for a caller that handles signals
/// itself. By setting the flag `stop`, the caller stops `act`.
pub(crate) fn heard_by<T>(stop: &'static AtomicBool, act: impl FnOnce() -> T) -> T {
    ITS_CALLER.set(Some(stop));
    let done = act();
    ITS_CALLER.set(None);
    done
}

/// Makes a file that grows beyond the limit of this process (`ulimit -f`) an error of writing from
/// now on. By default the system ends the program without a message.
pub(crate) fn outlive_file_limits() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::new(AtomicBool::new(false));
        let _refused = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    }
}

/// Returns the stop flag of this thread. From now on, the first signal sets it, so that the run
/// ends with its results; the second signal ends the program.
pub(crate) fn stop_flag() -> &'static AtomicBool {
    if let Some(stop) = ITS_CALLER.get() {
        return stop;
    }
    AT_ONCE.store(false, Ordering::Relaxed);
    listen();
    &STOP
}

/// Makes a signal end the program at once and remove partial files, for commands that cannot stop
/// early, and while standard input is copied.
pub(crate) fn end_at_once() {
    if ITS_CALLER.get().is_none() {
        AT_ONCE.store(true, Ordering::Relaxed);
        listen();
    }
}

fn listen() {
    HANDLED.call_once(|| {
        handle(|| {
            if STOP.swap(true, Ordering::Relaxed) || AT_ONCE.load(Ordering::Relaxed) {
                end();
            }
        });
    });
}

fn end() {
    atomic_file::abandon();
    std::process::exit(130);
}

/// Calls `act` at every signal from now on. If the system refuses a thread, nothing is registered
/// and a signal ends the program.
#[cfg(unix)]
fn handle(mut act: impl FnMut() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored_signals();
    // Shells start `command &` of a script with SIGINT ignored, and `nohup` ignores SIGHUP.
    let heard = [SIGINT, SIGHUP]
        .into_iter()
        .filter(move |signal| ignored >> (signal - 1) & 1 == 0)
        .chain([SIGTERM]);
    let (registers, registered) = std::sync::mpsc::channel();
    let wait = move || {
        let Ok(mut signals) = signal_hook::iterator::Signals::new(heard) else { return };
        let _nobody_left = registers.send(());
        signals.forever().for_each(|_| act());
    };
    if std::thread::Builder::new().name("signals".into()).spawn(wait).is_ok() {
        let _refused = registered.recv();
    }
}

/// Returns the signals that this program was started to ignore, one bit each from SIGHUP on; no
/// bits where the system does not say.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
fn handle(act: impl FnMut() + Send + 'static) {
    drop(ctrlc::try_set_handler(act));
}
