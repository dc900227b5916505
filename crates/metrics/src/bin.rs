//! The histogram bin of a latency. The bin is computed once per request and shared by everything
//! that counts latencies.
//!
//! Bins are those of `hdrhistogram` at three digits: one for each latency below 2048 ns, then 1024
//! for each doubling up to 2^64.

use fowler_units::Span;

/// Number of entries in a table indexed by latency bin: one for each `u16`, so that indexing needs
/// no bounds check.
pub(crate) const PLACES: usize = 1 << 16;

/// Number of a histogram bin; slower requests are in bins with higher numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bin(u16);

impl Bin {
    /// Number of histogram bins per doubling of latency.
    pub const PER_OCTAVE: usize = 1 << Bin::SHIFT;
    pub const SHIFT: u32 = 10;

    /// Returns the histogram bin of a latency.
    #[inline]
    pub fn of(Span(latency): Span) -> Bin {
        let octave = (latency | (2 * Bin::PER_OCTAVE as u64 - 1)).ilog2() - Bin::SHIFT;
        // The latency's leading one counts as one octave.
        Bin((octave << Bin::SHIFT) as u16 + (latency >> octave) as u16)
    }

    /// Returns the histogram bin's index in a table that has an entry for each of the [`PLACES`]
    /// (65,536) possible bin numbers.
    #[inline]
    pub fn place(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the histogram bins from that of the latency `first` to that of the latency `last`;
    /// none if `last` is in a lower bin.
    pub fn between(first: Span, last: Span) -> impl Iterator<Item = Bin> {
        (Bin::of(first).0..=Bin::of(last).0).map(Bin)
    }

    /// Returns the smallest latency that falls into this bin of a latency histogram.
    pub fn first(self) -> Span {
        let octave = self.octave();
        Span(((self.place() - octave * Bin::PER_OCTAVE) as u64) << octave)
    }

    /// Returns the largest latency that falls into this bin of a latency histogram.
    pub fn last(self) -> Span {
        Span(self.first().0 + ((1 << self.octave()) - 1))
    }

    /// Returns the number of low bits in which the latencies of the bin differ.
    fn octave(self) -> usize {
        (self.place() / Bin::PER_OCTAVE).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_in_order_and_without_gaps() {
        let all: Vec<Bin> = Bin::between(Span(0), Span(u64::MAX)).collect();
        assert!(all.len() <= PLACES);
        for (number, &bin) in all.iter().enumerate() {
            assert_eq!((bin.place(), Bin::of(bin.first())), (number, bin));
            if number > 0 {
                assert_eq!(Bin::of(Span(bin.first().0 - 1)), all[number - 1]);
            }
        }
        assert_eq!(Bin::between(Span(u64::MAX), Span(0)).count(), 0);
    }
}
