//! The environment of a job file: the variables and files that it may refer to.

use crate::recording::ReadRecording;
use fowler_units::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;

/// The fio version whose seeds are used: seeds changed with 3.35.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seeding {
    /// Seeds of fio up to version 3.34.
    V333,
    /// Seeds of fio from version 3.35 on.
    #[default]
    V335,
}

/// Function that opens a file which a fio job file includes: given its name as written and the file
/// that includes it, returns the name for messages and the text.
pub type Include = dyn Fn(&str, &str) -> Result<(String, String), Diagnostics>;

/// The variables, seeds and files that a job file can refer to.
pub struct Environment<'a> {
    /// Values of `${NAME}`; a missing name stands for empty text.
    pub variables: BTreeMap<String, String>,
    /// Value that `$pagesize` has in the job file, in bytes.
    pub page_size: u64,
    /// Value that `$mb_memory` has in the job file, in MiB.
    pub memory_mib: u64,
    /// Value that `$ncpus` has in the job file: number of processors.
    pub cpus: u64,
    /// Seed of jobs that are to differ from run to run (`randrepeat=0` without `randseed`).
    pub seed: u64,
    /// Version of fio for options and seeds: from 3.35 on `allrandrepeat` is another name of
    /// `randrepeat`.
    pub seeding: Seeding,
    /// Function that opens files which the fio job file includes.
    pub include: &'a Include,
    /// Function that reads the request logs that `read_iolog` names.
    pub recording: &'a ReadRecording,
}

impl Environment<'_> {
    /// Returns an environment without variables, included files and request logs.
    pub fn empty() -> Environment<'static> {
        Environment {
            variables: BTreeMap::new(),
            page_size: 4096,
            memory_mib: 0,
            cpus: 1,
            seed: 0,
            seeding: Seeding::default(),
            include: &|name, _| {
                Err(Diagnostic::new(
                    name,
                    "this file cannot be included: only the job file itself is read here",
                )
                .into())
            },
            recording: &|name, _| {
                Err(Diagnostic::new(
                    name,
                    "this log cannot be replayed: only the job file itself is read here",
                )
                .into())
            },
        }
    }
}
