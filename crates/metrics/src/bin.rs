//! The bin of a latency: worked out once for each request, and all that counts latencies finds its
//! place by it.
//!
//! Bins are those of `hdrhistogram` for three digits: one for each latency below 2048 ns, then 1024
//! for each doubling up to 2^64.

use fowler_units::Span;

/// Places of a table that holds one for every bin, with some to spare: a table of a place for each
/// `u16` needs no check of its bounds.
pub(crate) const PLACES: usize = 1 << 16;

/// A bin, by its number: slower requests have higher ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bin(u16);

impl Bin {
    /// Bins per doubling of latency.
    pub const PER_OCTAVE: usize = 1 << Bin::SHIFT;
    pub const SHIFT: u32 = 10;

    /// The bin that a latency falls into.
    #[inline]
    pub fn of(Span(latency): Span) -> Bin {
        let octave = (latency | (2 * Bin::PER_OCTAVE as u64 - 1)).ilog2() - Bin::SHIFT;
        // A latency's leading one adds one octave.
        Bin((octave << Bin::SHIFT) as u16 + (latency >> octave) as u16)
    }

    /// Where it stands in a table of [`PLACES`].
    #[inline]
    pub fn place(self) -> usize {
        usize::from(self.0)
    }

    /// The bins from the one of `first` to the one of `last`; none if `last` is less.
    pub fn between(first: Span, last: Span) -> impl Iterator<Item = Bin> {
        (Bin::of(first).0..=Bin::of(last).0).map(Bin)
    }

    /// The smallest latency in it.
    pub fn first(self) -> Span {
        let octave = (self.place() / Bin::PER_OCTAVE).saturating_sub(1);
        Span(((self.place() - octave * Bin::PER_OCTAVE) as u64) << octave)
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
