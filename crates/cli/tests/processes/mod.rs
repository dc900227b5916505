//! Programs that a test starts, waits for and stops. Nothing here waits for ever.
#![allow(clippy::disallowed_methods, reason = "another process is waited for, in its own time")]

use std::process::{Child, Command, Output};
use std::time::Duration;

/// Waits until `ready`, at most a minute; the program must not end before that.
pub fn wait_until(child: &mut Child, mut ready: impl FnMut() -> bool) {
    for _ in 0..30_000 {
        if ready() {
            return;
        }
        if let Some(status) = child.try_wait().unwrap() {
            panic!("it ended by itself: {status}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    panic!("it has not begun after a minute");
}

/// Sends a signal, by its name.
pub fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
}

/// Stops a program as a scheduler does, and returns what it printed. SIGTERM and not SIGINT: a test
/// that runs in the background of a script has that one ignored, and so has what it starts.
pub fn stopped(mut child: Child) -> Output {
    signal(&child, "TERM");
    for _ in 0..30_000 {
        if child.try_wait().unwrap().is_some() {
            let output = child.wait_with_output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(130), "{}: {err}", output.status);
            return output;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    panic!("it has not stopped after a minute");
}
