//! Checks of every decoder of Fowler that hold whatever the bytes. The targets of `fuzz/` call
//! these checks without end; `tests/corpus.rs` replays the inputs that fuzzing left.
//!
//! Every check demands that a decoder does not panic, that it refuses in words that a terminal may
//! show, and that what it accepts prints back to the same.

mod arrow;
mod checkpoint;
mod chip;
mod contents;
mod device;
mod fio_job;
mod parquet;
mod point;
mod scheme;
mod sealed_file;
mod smart;
mod study_run;
mod sweep;
mod traces;
mod workload;

use std::fmt::Display;
use std::fs;
use std::path::PathBuf;

/// A decoder: its check, and inputs to start from.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the fuzzing target and of its folder of inputs.
    pub name: &'static str,
    /// Checks an input and returns true if it was accepted; panics if a property does not hold.
    pub check: fn(&[u8]) -> bool,
    /// Returns meaningful inputs, made from presets and by Fowler itself.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

macro_rules! targets {
    ($($name:ident,)+) => {
        /// Every decoder.
        pub const TARGETS: &[Target] = &[$(
            Target { name: stringify!($name), check: $name::check, seeds: $name::seeds },
        )+];
    };
}

targets! {
    arrow,
    checkpoint,
    chip,
    contents,
    device,
    fio_job,
    parquet,
    point,
    scheme,
    sealed_file,
    smart,
    study_run,
    sweep,
    traces,
    workload,
}

/// Returns the target of this name.
///
/// # Panics
/// If there is none.
pub fn target(name: &str) -> Target {
    *TARGETS.iter().find(|target| target.name == name).expect("a target")
}

/// Returns the folder of this process for files that are read back. Tests remove it.
pub fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("fowler-decoders-{}", std::process::id()))
}

/// Returns a new folder for the files of one target. A target is checked by one thread at a time.
fn scratch_of(name: &str) -> PathBuf {
    let folder = scratch().join(name);
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

/// Checks that the message of a refusal has words and no control character that a terminal would
/// obey. Returns false: the input was not accepted.
fn refused_in_words(words: &dyn Display) -> bool {
    let words = words.to_string();
    assert!(!words.trim().is_empty(), "refused without a word");
    assert!(words.chars().all(|c| c == '\n' || !c.is_control()), "{words:?}");
    false
}
