//! A guard for libraries that panic on damaged files.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// True while a panic of the current thread becomes an error, so that no message is printed.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function of the Parquet or Arrow library, which panics on some damaged files, and
/// returns a panic as an error.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                before(panic);
            }
        }));
    });
    GUARDED.set(true);
    // Callers that get an error drop everything that the call may have left half done.
    let called = panic::catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(false);
    called.map_err(|_| "it is damaged".to_string())
}
