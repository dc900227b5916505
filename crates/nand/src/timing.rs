//! The operating times of a die.

use fowler_units::Span;

/// A value that may differ by page type: one for SLC, two for MLC (lower, upper), three for TLC,
/// four for QLC, and one more on drives that also use such cells in SLC mode. The type of a page is
/// its position in the block modulo the number of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerPageType<T> {
    values: [T; PAGES_MOST + 1],
    count: u8,
}

/// Largest number of pages that share a word line.
const PAGES_MOST: usize = 4;

impl<T: Copy> PerPageType<T> {
    /// Returns the same value for every page type.
    pub fn uniform(value: T) -> Self {
        Self { values: [value; PAGES_MOST + 1], count: 1 }
    }

    /// Creates one value per page type, in the order of the types in a block. `None` unless there
    /// are one to four values.
    pub fn new(values: &[T]) -> Option<Self> {
        let first = *values.first()?;
        let mut all = [first; PAGES_MOST + 1];
        all[..PAGES_MOST].get_mut(..values.len())?.copy_from_slice(values);
        Some(Self { values: all, count: values.len() as u8 })
    }

    /// Returns the per-page-type values (such as latencies) of a word line of `pages` pages, and
    /// one more for the single page of a word line in SLC mode, whose type comes last.
    ///
    /// # Panics
    /// If there are no pages, or more than four.
    #[must_use]
    pub fn with_slc(&self, pages: u32, value: T) -> Self {
        assert!((1..=PAGES_MOST as u32).contains(&pages), "{pages} pages of a word line");
        let mut values = [value; PAGES_MOST + 1];
        for (offset, entry) in (0..pages).zip(&mut values) {
            *entry = self.at(offset);
        }
        Self { values, count: pages as u8 + 1 }
    }

    /// Returns the value (such as an operating time) for the type of the page at `offset` in its
    /// block, such as lower or upper page.
    #[inline]
    pub fn at(&self, offset: u32) -> T {
        self.of(|| offset)
    }

    /// Returns the value for the type of a page (such as lower or upper), given by a function of
    /// the page's offset in its block. The offset is computed only if page types have different
    /// values.
    #[inline]
    pub fn of(&self, offset: impl FnOnce() -> u32) -> T {
        if self.count == 1 {
            self.values[0]
        } else {
            self.values[offset() as usize % self.count as usize]
        }
    }

    /// Returns one value (such as an operating time) for each page type, in the order of page types
    /// in a block.
    pub fn values(&self) -> &[T] {
        &self.values[..self.count as usize]
    }

    /// Returns the result of `f` for the value of each page type.
    pub fn map<U: Copy>(&self, f: impl Fn(T) -> U) -> PerPageType<U> {
        PerPageType { values: self.values.map(f), count: self.count }
    }
}

/// The times of the steps of flash operations, as in Table 1 of the PES paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Time to move one page over the bus, in either direction (`T_bus`).
    pub bus_transfer: Span,
    /// Time to sense a page (`T_r_phy`), by page type.
    pub read: PerPageType<Span>,
    /// Time of the program phase of one ISPP iteration (`T_w_program`), including its voltage reset
    /// (S3).
    pub program_phase: Span,
    /// Time of the verify phase of one ISPP iteration (`T_verify`), including its voltage reset
    /// (S3).
    pub verify_phase: Span,
    /// Number of ISPP iterations of one page program (`N_w_cycle`). Every program has this many,
    /// the most that a page needs, as in the paper on program and erase suspension (Wu and He,
    /// FAST'12).
    pub program_iterations: PerPageType<u32>,
    /// Time of the erase pulse (`T_erase`), including its voltage reset (S3, S4).
    pub erase_pulse: Span,
    /// Time of the verify phase after the erase pulse.
    pub erase_verify: Span,
    /// Time to discharge the voltages of the cells (`T_voltage_reset`).
    pub voltage_reset: Span,
    /// Time to load the page buffer from the shadow buffer (`T_buffer`).
    pub buffer_load: Span,
}

impl Timing {
    /// Returns the time of one ISPP iteration of a program (`T_w_cycle`).
    pub fn iteration(&self) -> Span {
        self.program_phase + self.verify_phase
    }

    /// Returns the time of an undisturbed program of the page at `offset` in its block, without its
    /// bus transfer.
    pub fn program(&self, offset: u32) -> Span {
        self.iteration() * u64::from(self.program_iterations.at(offset))
    }

    /// Returns the mean of [`Timing::program`] over the page types, which are equally frequent.
    pub fn mean_program(&self) -> Span {
        let iterations = self.program_iterations.values();
        let sum: u64 = iterations.iter().map(|&count| u64::from(count)).sum();
        Span(self.iteration().0 * sum / iterations.len() as u64)
    }

    /// Returns the time of an undisturbed block erase.
    pub fn erase(&self) -> Span {
        self.erase_pulse + self.erase_verify
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_types_take_turns() {
        let read = PerPageType::new(&[Span::us(50), Span::us(70), Span::us(100)]).unwrap();
        let turns: Vec<_> = (0..5).map(|offset| read.at(offset).0 / 1000).collect();
        assert_eq!(turns, [50, 70, 100, 50, 70]);
        assert!(PerPageType::<u32>::new(&[]).is_none());
        assert!(PerPageType::new(&[1; 5]).is_none());
    }

    #[test]
    fn a_page_in_slc_mode_comes_last() {
        for (values, pages, expected) in [
            (&[50, 70, 100][..], 3, &[50, 70, 100, 9, 50][..]),
            (&[60], 2, &[60, 60, 9, 60]),
            (&[1, 2], 4, &[1, 2, 1, 2, 9, 1]),
        ] {
            let types = PerPageType::new(values).unwrap().with_slc(pages, 9);
            let turns: Vec<_> = (0..expected.len() as u32).map(|offset| types.at(offset)).collect();
            assert_eq!(turns, expected, "{values:?} of {pages} pages");
        }
    }
}
