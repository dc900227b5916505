//! The command `fowler` on a disk that may fail: the process is killed at one operation on files,
//! or the disk is full after so many bytes. Operations are counted, not timed, so that a seed
//! repeats what happens.
//!
//! A process that is killed between two operations leaves what it would leave if it were killed at
//! any time between them. The other moments are within a write: that one is cut short.

use fowler_experiment::disk::{self, Operation};
use rustix::process::{Signal, getpid, kill_process};
use std::ffi::OsString;
use std::fs;
use std::io::{Error, Result};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Variable that passes the [`Plan`] to the child.
const PLAN: &str = "FOWLER_SOAK_DISK";
/// Variable that names the file for the [`Cost`] of the child.
const COST: &str = "FOWLER_SOAK_COST";

/// The errno ENOSPC: no space left on the device.
const NO_SPACE: i32 = 28;

/// Disturbance of a command by its disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plan {
    #[default]
    Whole,
    /// Kill the process at operation number `at`. If that is a write, `bytes` bytes are written
    /// before.
    Kill { at: u64, bytes: u64 },
    /// The disk is full after this many bytes, permanently.
    Full { after: u64 },
}

/// Number of disk operations of a command, and bytes written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub operations: u64,
    pub bytes: u64,
}

impl Plan {
    /// Applies the plan to a child process, which writes its cost to a file.
    pub fn give(self, child: &mut Command, cost: &Path) {
        let text = match self {
            Plan::Whole => "whole 0 0".into(),
            Plan::Kill { at, bytes } => format!("kill {at} {bytes}"),
            Plan::Full { after } => format!("full {after} 0"),
        };
        child.env(PLAN, text).env(COST, cost);
    }

    fn given() -> Plan {
        let text = std::env::var(PLAN).unwrap_or_default();
        let words: Vec<&str> = text.split(' ').collect();
        let number = |at: usize| words.get(at).and_then(|it| it.parse().ok()).unwrap_or(0);
        match words[0] {
            "kill" => Plan::Kill { at: number(1), bytes: number(2) },
            "full" => Plan::Full { after: number(1) },
            _ => Plan::Whole,
        }
    }

    /// Returns the number of bytes that an operation may transfer, given the cost before, or its
    /// error.
    fn allows(self, before: Cost, operation: &Operation) -> Result<usize> {
        let grows = matches!(
            operation,
            Operation::Create(_) | Operation::CreateFolder(_) | Operation::Write(..)
        );
        match (self, operation) {
            (Plan::Kill { at, bytes }, Operation::Write(_, whole))
                if at == before.operations && bytes > 0 && whole.len() > 1 =>
            {
                Ok(bytes as usize % whole.len())
            }
            (Plan::Kill { at, .. }, _) if at <= before.operations => {
                let _gone = kill_process(getpid(), Signal::KILL);
                loop {
                    std::thread::park();
                }
            }
            (Plan::Full { after }, _) if grows => match after.saturating_sub(before.bytes) {
                0 => Err(Error::from_raw_os_error(NO_SPACE)),
                left => Ok(left as usize),
            },
            _ => Ok(usize::MAX),
        }
    }
}

impl Cost {
    /// Reads the cost that a child wrote.
    pub fn read(path: &Path) -> Option<Cost> {
        let text = fs::read_to_string(path).ok()?;
        let (operations, bytes) = text.split_once(' ')?;
        Some(Cost { operations: operations.parse().ok()?, bytes: bytes.parse().ok()? })
    }
}

static DONE: Mutex<Cost> = Mutex::new(Cost { operations: 0, bytes: 0 });

/// Does what `arguments` ask of `fowler`, and returns the exit code.
pub fn fowler(arguments: impl Iterator<Item = OsString>) -> u8 {
    let plan = Plan::given();
    disk::observe(move |operation| {
        let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
        let allowed = plan.allows(*done, operation)?;
        done.operations += 1;
        if let Operation::Write(_, bytes) = operation {
            done.bytes += bytes.len().min(allowed) as u64;
        }
        // A write of nothing would be an error of another kind.
        Ok(allowed.max(1))
    });
    let code = fowler_cli::main([OsString::from("fowler")].into_iter().chain(arguments));
    let Cost { operations, bytes } = *DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = std::env::var_os(COST) {
        // Where files may not grow, this one may not either, and nobody needs it.
        let _lost = fs::write(path, format!("{operations} {bytes}"));
    }
    code
}
