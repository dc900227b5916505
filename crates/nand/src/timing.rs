//! The operating times of a die.

use fowler_units::Span;

/// A value that may differ by page type: one for SLC, two for MLC (lower, upper), three for TLC,
/// four for QLC. The type of a page is its position in the block modulo their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerPageType<T> {
    values: [T; 4],
    count: u8,
}

impl<T: Copy> PerPageType<T> {
    /// The same value for every page.
    pub fn uniform(value: T) -> Self {
        Self { values: [value; 4], count: 1 }
    }

    /// One value per page type, in the order in which the types follow each other in a block.
    /// `None` unless there are one to four.
    pub fn new(values: &[T]) -> Option<Self> {
        let first = *values.first()?;
        let mut all = [first; 4];
        all.get_mut(..values.len())?.copy_from_slice(values);
        Some(Self { values: all, count: values.len() as u8 })
    }

    /// The value for the page at `offset` in its block.
    #[inline]
    pub fn at(&self, offset: u32) -> T {
        self.of(|| offset)
    }

    /// As [`PerPageType::at`], of an offset that is found out only where it matters.
    #[inline]
    pub fn of(&self, offset: impl FnOnce() -> u32) -> T {
        if self.count == 1 {
            self.values[0]
        } else {
            self.values[offset() as usize % self.count as usize]
        }
    }

    /// The values, one per page type.
    pub fn values(&self) -> &[T] {
        &self.values[..self.count as usize]
    }

    /// The same for every page type, with each value put through `f`.
    pub fn map<U: Copy>(&self, f: impl Fn(T) -> U) -> PerPageType<U> {
        PerPageType { values: self.values.map(f), count: self.count }
    }
}

/// How long each step of each flash operation takes (Table 1 of the PES paper names them).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Moving one page over the bus, either way (`T_bus`).
    pub bus_transfer: Span,
    /// Sensing a page (`T_r_phy`).
    pub read: PerPageType<Span>,
    /// The program phase of one ISPP iteration (`T_w_program`), its voltage reset included (S3).
    pub program_phase: Span,
    /// The verify phase of one ISPP iteration (`T_verify`), its voltage reset included (S3).
    pub verify_phase: Span,
    /// ISPP iterations of one page program (`N_w_cycle`), constant at its maximum as in the paper.
    pub program_iterations: PerPageType<u32>,
    /// The erase pulse (`T_erase`), its voltage reset included (S3, S4).
    pub erase_pulse: Span,
    /// The verify after the pulse.
    pub erase_verify: Span,
    /// Taking the voltages off the wires (`T_voltage_reset`).
    pub voltage_reset: Span,
    /// Loading the page buffer from the shadow buffer (`T_buffer`).
    pub buffer_load: Span,
}

impl Timing {
    /// One ISPP iteration (`T_w_cycle`).
    pub fn iteration(&self) -> Span {
        self.program_phase + self.verify_phase
    }

    /// A whole undisturbed program of the page at `offset` in its block, without its bus transfer.
    pub fn program(&self, offset: u32) -> Span {
        self.iteration() * u64::from(self.program_iterations.at(offset))
    }

    /// The mean of that over the page types, of which a block has as many pages of each.
    pub fn mean_program(&self) -> Span {
        let iterations = self.program_iterations.values();
        let sum: u64 = iterations.iter().map(|&count| u64::from(count)).sum();
        Span(self.iteration().0 * sum / iterations.len() as u64)
    }

    /// A whole undisturbed erase.
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
}
