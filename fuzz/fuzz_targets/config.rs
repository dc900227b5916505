//! Reads any text as a device or as a workload. It must be accepted or rejected with a message. An
//! accepted device must print as text that gives the same device again.
//!
//! The first byte chooses between device and workload. The rest is the text.

#![no_main]

use fowler_experiment::device::parse_device;
use fowler_experiment::generator;
use libfuzzer_sys::fuzz_target;

/// The capacity of the drive that workloads are checked against, in bytes.
const LOGICAL: u64 = 1 << 30;

fn refused_in_words(diagnostics: &dyn std::fmt::Display) {
    let words = diagnostics.to_string();
    assert!(!words.is_empty());
    assert!(words.chars().all(|c| c == '\n' || !c.is_control()), "{words:?}");
}

fuzz_target!(|input: &[u8]| {
    let Some((&kind, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    if kind % 4 == 0 {
        if let Err(diagnostics) = generator::check(text, "fuzz.toml", LOGICAL) {
            refused_in_words(&diagnostics);
        }
        return;
    }
    match parse_device(text, "fuzz.toml") {
        Err(diagnostics) => refused_in_words(&diagnostics),
        Ok(resolved) => {
            let again = parse_device(&resolved.text, "again.toml");
            let again = again.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
            assert_eq!(again.hash, resolved.hash);
        }
    }
});
