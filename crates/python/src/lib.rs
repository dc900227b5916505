//! The module `fowler._core`, the compiled part of the package `fowler`. It only converts: Python
//! values into specifications of experiments, and outcomes into Python objects.

mod columns;
mod command;
mod errors;
mod keys;
mod lifetime;
mod metrics;
mod outcome;
mod palette;
mod policies;
mod py_requests;
mod result_file;
mod run;
mod sheets;
mod spec;
mod spread;
mod study;
mod sweep;
mod table;
mod watch;

/// The compiled part of the package `fowler`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::command::{answer, main};
    #[pymodule_export]
    use super::keys::{keys, preset, presets, resolve};
    #[pymodule_export]
    use super::lifetime::{Lifetime, lifetime};
    #[pymodule_export]
    use super::metrics::metrics;
    #[pymodule_export]
    use super::outcome::{Outcome, verdict, write_report};
    #[pymodule_export]
    use super::palette::palette;
    #[pymodule_export]
    use super::policies::{Block, Data, Page, Plane, Read, Running, View, Waiting, Write};
    #[pymodule_export]
    use super::result_file::{read_saved, save};
    #[pymodule_export]
    use super::run::{check, compare, run};
    #[pymodule_export]
    use super::spread::Spread;
    #[pymodule_export]
    use super::study::study_all;
    #[pymodule_export]
    use super::sweep::{Folder, Plan, load};
    #[pymodule_export]
    use super::table::Table;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = fowler_experiment::provenance::VERSION;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name for it")]
    const __fingerprint__: &str = fowler_experiment::provenance::FINGERPRINT;
}
