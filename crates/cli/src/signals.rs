//! The user's wish to end: Ctrl-C (SIGINT), and what schedulers and closing terminals send
//! (SIGTERM, SIGHUP).

use fowler_experiment::atomic_file;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first signal. A handler can only reach a static.
static STOP: AtomicBool = AtomicBool::new(false);
static HANDLED: Once = Once::new();

/// From now on, the first signal ends the run in good order; the second ends the program.
pub(crate) fn stop_flag() -> &'static AtomicBool {
    HANDLED.call_once(|| {
        handle(|| {
            if STOP.swap(true, Ordering::Relaxed) {
                end();
            }
        });
    });
    &STOP
}

/// For what has no end but its own: a signal ends the program at once, and what is half written
/// goes.
pub(crate) fn end_at_once() {
    HANDLED.call_once(|| handle(end));
}

fn end() {
    atomic_file::abandon();
    std::process::exit(130);
}

/// Calls `act` at every signal. Without a handler (the system refuses a thread) the default holds:
/// a signal ends the program, and files half written keep their `.partial` names.
#[cfg(unix)]
fn handle(mut act: impl FnMut() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored_signals();
    // Shells start `command &` of a script with SIGINT ignored, and `nohup` ignores SIGHUP: whoever
    // did so meant it. SIGTERM is for this program alone.
    let heard = [SIGINT, SIGHUP]
        .into_iter()
        .filter(|signal| ignored >> (signal - 1) & 1 == 0)
        .chain([SIGTERM]);
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heard) else { return };
    let waiting = std::thread::Builder::new().name("signals".into());
    drop(waiting.spawn(move || signals.forever().for_each(|_| act())));
}

/// Signals that this program was started to ignore, one bit each from SIGHUP on; none where the
/// system does not say.
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
