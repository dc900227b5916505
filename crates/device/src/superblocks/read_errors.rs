//! Reads of a drive with superblocks in closed form: bit errors, and pages that no entry of the
//! retry table reads.

use crate::config::{AgingConfig, Config};
use fowler_units::Span;

/// Read errors to expect of data of one age, in cells with one number of P/E cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgedReads {
    /// The mean raw bit error rate at the usual references, over the types of pages.
    pub rber: f64,
    /// The share of types of pages that no entry of the retry table reads, from 0 to 1.
    pub unreadable: f64,
}

impl Config {
    /// Returns the read errors to expect of data of age `age` in cells with `cycles` P/E cycles;
    /// `None` if data does not age on the drive.
    pub fn aged_reads(&self, cycles: f64, age: Span) -> Option<AgedReads> {
        if !self.aging.is_on() {
            return None;
        }
        let cells = self.aging_cells().ok()?;
        let worn = cells.worn(cycles);
        let AgingConfig { retry_entries, retry_shift, correctable, .. } = self.aging;
        let types = self.flash.word_line as usize;
        let rber = |kind: usize, entry: u32| worn.rber(kind, f64::from(entry) * retry_shift, age);
        let fails =
            |kind: &usize| (0..=retry_entries).all(|entry| rber(*kind, entry) > correctable);
        let unreadable = (0..types).filter(fails).count() as f64 / types as f64;
        let usual: f64 = (0..types).map(|kind| rber(kind, 0)).sum();
        Some(AgedReads { rber: usual / types as f64, unreadable })
    }
}
