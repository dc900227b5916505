//! Runs independent pieces of work on all cores; each free core takes the next piece.
//!
//! Rayon alone halves a list until each thread has a few parts, and does not divide these further:
//! of eight runs on two cores, one core may be left with the last two. Here a free thread takes the
//! next piece, so no core is idle before the last piece has started.

use crate::diagnostic::{Diagnostic, Diagnostics};
use rayon::prelude::*;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest number of worker threads that a user may request.
pub const THREADS_MAX: usize = 1024;
/// Environment variables that set the number of worker threads.
const VARIABLES: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

/// Starts the worker threads, unless they are running.
///
/// # Errors
///
/// If too many threads are requested, or the system cannot start them.
pub fn start() -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    for name in VARIABLES {
        let Some(text) = std::env::var_os(name).filter(|text| !text.is_empty()) else { continue };
        diagnostics.take(threads(name, &text.to_string_lossy()));
    }
    diagnostics.or(())?;
    let started = rayon::ThreadPoolBuilder::new().build_global();
    // Only an error of the system has a cause; threads that are already running are no error.
    let Err(Some(cause)) = started.as_ref().map_err(Error::source) else { return Ok(()) };
    let hint = "set RAYON_NUM_THREADS=1, or raise the limits of memory and processes (ulimit)";
    let what = format!("threads cannot be started: {cause}");
    Err(Diagnostic::of(what).hint(hint.to_string()).into())
}

/// Checks the number of worker threads that an environment variable sets.
fn threads(name: &str, text: &str) -> Result<(), Diagnostics> {
    if text.trim().parse().is_ok_and(|threads: usize| threads <= THREADS_MAX) {
        return Ok(());
    }
    let diagnostic =
        Diagnostic::new(name, "this environment variable does not hold a number of worker threads")
            .text(text);
    let hint = "unset it: there are then as many threads as cores".to_string();
    let expected = format!("a whole number from 1 to {THREADS_MAX}, or 0 for as many as cores");
    Err(diagnostic.expected(expected).hint(hint).into())
}

/// Does pieces of work in parallel: starts them in order, as threads become free, and returns their
/// results in the same order. Put long pieces first: a long one at the end would leave the other
/// cores idle. A single piece is done by the caller, without threads.
pub fn each<T: Sync, R: Send>(pieces: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if let [only] = pieces {
        return vec![work(only)];
    }
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, R)> = (0..pieces.len())
        .into_par_iter()
        .with_max_len(1)
        .map(|_| {
            let place = next.fetch_add(1, Ordering::Relaxed);
            (place, work(&pieces[place]))
        })
        .collect();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Runs two functions, in parallel if a core is free.
pub fn both<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    rayon::join(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn threads_are_bounded() {
        for text in ["0", "1", " 1", "1024"] {
            assert!(threads("N", text).is_ok(), "{text}");
        }
        for text in ["1025", "1000000", "18446744073709551616", "-1", "two"] {
            let said = threads("N", text).unwrap_err().to_string();
            assert!(said.contains("from 1 to 1024") && said.contains(text), "{said}");
        }
    }

    #[test]
    fn pieces_begin_and_results_are_in_their_order() {
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let pieces = [3.0, 1.0, 4.0, 1.5, 4.0];
        for threads in [1, 2, 8] {
            let begun = Mutex::new(Vec::new());
            let results = pool(threads).install(|| {
                each(&pieces, |&piece| {
                    begun.lock().unwrap().push(piece);
                    piece * 2.0
                })
            });
            assert_eq!(results, pieces.map(|piece| piece * 2.0));
            if threads == 1 {
                assert_eq!(begun.into_inner().unwrap(), pieces);
            }
        }
        assert!(each(&[] as &[u8], |piece| *piece).is_empty());
    }
}
