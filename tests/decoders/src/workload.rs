//! Decoder of workload descriptions.

use crate::device::bare;
use crate::refused_in_words;
use fowler_experiment::generator;
use fowler_experiment::presets::Folder;

/// The capacity of the drive that workloads are checked against, in bytes.
const LOGICAL: u64 = 1 << 36;

/// An accepted workload prints as text that gives the same workload again.
pub fn check(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    match generator::check(text, "fuzz.toml", LOGICAL) {
        Err(diagnostics) => refused_in_words(&diagnostics),
        Ok(printed) => {
            let again = generator::check(&printed, "again.toml", LOGICAL);
            assert_eq!(again.unwrap_or_else(|diagnostics| panic!("{diagnostics}")), printed);
            true
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    bare(Folder::Workloads).into_iter().map(String::into_bytes).collect()
}
