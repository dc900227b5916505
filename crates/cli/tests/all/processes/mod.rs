//! Programs that a test starts, waits for and stops. Nothing here waits forever.
#![allow(clippy::disallowed_methods, reason = "another process is waited for, in its own time")]

use std::process::{Child, Command, Output};
use std::sync::mpsc;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(2);

/// Waits until `ready`, at most a minute; the program must not end before that.
pub fn wait_until(child: &mut Child, mut ready: impl FnMut() -> bool) {
    for _ in 0..LIMIT.as_millis() / STEP.as_millis() {
        if ready() {
            return;
        }
        if let Some(status) = child.try_wait().unwrap() {
            let mut text = String::new();
            if let Some(mut err) = child.stderr.take() {
                let _text = std::io::Read::read_to_string(&mut err, &mut text);
            }
            panic!("it ended by itself: {status}: {text}");
        }
        std::thread::sleep(STEP);
    }
    child.kill().unwrap();
    panic!("what was waited for has not come after a minute");
}

/// Sends a signal, by its name.
pub fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
}

/// Stops a program with a signal and returns what it printed. Most tests send SIGTERM: what runs in
/// the background of a script inherits an ignored SIGINT.
pub fn stopped(child: Child, name: &str) -> Output {
    let pid = child.id().to_string();
    signal(&child, name);
    let (ended, end) = mpsc::channel();
    // The output is read while the program runs, however much there is.
    let reader = std::thread::spawn(move || {
        let output = child.wait_with_output().unwrap();
        ended.send(()).unwrap();
        output
    });
    if end.recv_timeout(LIMIT).is_err() {
        let _killed = Command::new("kill").args(["-KILL", &pid]).status();
        panic!("it has not stopped after a minute");
    }
    let output = reader.join().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{}: {err}", output.status);
    output
}
