//! The requests of a test: what is read and written, how large, and where.

use fowler_units::{HostIo, HostOp, Nanos, Rng};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The requests of a host under one load of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Stimulus {
    /// Share of reads among the requests, 0 to 1.
    pub reads: f64,
    /// Sizes of the requests in bytes with their shares, which add up to 1.
    pub sizes: Vec<(u32, f64)>,
    /// Distribution of the requests' addresses.
    pub addresses: Addresses,
    /// Alignment of random offsets in bytes; `None` for the request's own size.
    pub alignment: Option<u32>,
}

/// The distribution of the addresses of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Addresses {
    /// Sequential addresses, starting again at the beginning after the end.
    Sequential,
    /// Random addresses, uniform over the part of the drive that the test uses (the active range).
    Uniform,
    /// Random addresses in zones from the start of the tested part, each with its share of accesses
    /// and of the range; uniform within each zone.
    Zones(&'static [(f64, f64)]),
}

impl Stimulus {
    /// Returns a stimulus of requests of a single size.
    pub fn of(addresses: Addresses, reads: f64, size: u32) -> Stimulus {
        Stimulus { reads, sizes: vec![(size, 1.0)], addresses, alignment: None }
    }

    /// Returns the mean size in bytes of a request of the host under this load of a test.
    pub fn mean_size(&self) -> f64 {
        self.sizes.iter().map(|&(size, share)| f64::from(size) * share).sum()
    }

    /// Returns the greatest size of a request in bytes.
    pub fn largest(&self) -> u32 {
        self.sizes.iter().map(|&(size, _)| size).max().unwrap_or(0)
    }
}

/// Part of a drive, from the first LBA on, to which a test restricts its requests (active range).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveRange {
    /// Length in bytes of the active range, the part at the start of the drive that a test may use.
    pub span: u64,
    /// Number of bytes of the active range that requests address: all of it, or 2 MiB pieces spread
    /// evenly over it.
    pub amount: u64,
}

/// Size in bytes of the pieces of a partial active range, as in PTS-C.
pub const PIECE: u64 = 2 << 20;

impl ActiveRange {
    /// Returns the byte address on the drive of byte number `byte` of the tested bytes; these may
    /// lie in pieces that are spread over the drive.
    #[inline]
    pub fn place(&self, byte: u64) -> u64 {
        if self.amount == self.span {
            return byte;
        }
        let (piece, within) = (byte / PIECE, byte % PIECE);
        let pieces = self.amount / PIECE;
        // Pieces begin at equal distances, each at a multiple of its size.
        let slots = u128::from(self.span / PIECE);
        let slot = (u128::from(piece) * slots / u128::from(pieces)) as u64;
        slot * PIECE + within
    }
}

/// Stop condition of a source of requests: its time is over, or the user stops everything.
#[derive(Debug)]
pub struct Over<'a> {
    over: Cell<bool>,
    stop: &'a AtomicBool,
}

impl<'a> Over<'a> {
    /// Returns a condition that ends a source of requests as soon as it is `set`, or as soon as the
    /// user stops the tests (`stop`).
    pub fn unless(stop: &'a AtomicBool) -> Over<'a> {
        Over { over: Cell::new(false), stop }
    }

    /// Makes the source of a load's requests stop: it generates no further request. The drive
    /// already has up to eight requests that were generated before.
    pub fn set(&self) {
        self.over.set(true);
    }

    /// Returns true if a test's source of requests must end: its load is over, or the user stopped
    /// the tests.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.over.get() || self.stop.load(Ordering::Relaxed)
    }
}

/// Requests of a host under one load of a test, without arrival times: in a closed loop, the next
/// one is issued when one completes. They end once `over` is set.
///
/// The drive takes up to eight requests before their turn, so they must not depend on the drive.
/// Only the end of these requests does: if a closed loop lasts for a given time, the requests
/// already taken follow after it.
pub struct Requests<'a> {
    stimulus: &'a Stimulus,
    range: ActiveRange,
    rng: Rng,
    /// Address at which sequential requests continue.
    next: u64,
    /// Number of bytes that this source of a load's requests may still request.
    left: u64,
    over: &'a Over<'a>,
}

impl<'a> Requests<'a> {
    /// Returns the random requests that `stimulus` describes in the tested range of the drive;
    /// `seed` and the name of the random stream determine them.
    pub fn new(
        stimulus: &'a Stimulus,
        range: ActiveRange,
        (seed, name): (u64, &str),
        over: &'a Over<'a>,
    ) -> Requests<'a> {
        let rng = Rng::stream(seed, name);
        Requests { stimulus, range, rng, next: 0, left: u64::MAX, over }
    }

    /// Returns this source of a load's requests, limited to requests for `bytes` bytes in all.
    pub fn take_bytes(self, bytes: u64) -> Requests<'a> {
        Requests { left: bytes, ..self }
    }

    fn size(&mut self) -> u32 {
        let sizes = &self.stimulus.sizes;
        if let [(only, _)] = sizes[..] {
            return only;
        }
        let mut drawn = self.rng.unit();
        for &(size, share) in sizes {
            if drawn < share {
                return size;
            }
            drawn -= share;
        }
        // Shares add up to 1 but for rounding.
        sizes.last().map_or(0, |&(size, _)| size)
    }

    /// Returns the index, among the tested bytes of the drive, of the first byte of a random
    /// request.
    fn random(&mut self, size: u32) -> u64 {
        let alignment = u64::from(self.stimulus.alignment.unwrap_or(size));
        let (from, until) = match self.stimulus.addresses {
            Addresses::Zones(zones) => self.zone(zones),
            Addresses::Uniform | Addresses::Sequential => (0.0, 1.0),
        };
        // The zone of a request is that of its first byte.
        let positions = self.range.amount.saturating_sub(u64::from(size)) / alignment + 1;
        let first = (from * positions as f64) as u64;
        let last = ((until * positions as f64) as u64).clamp(first + 1, positions.max(first + 1));
        (first + self.rng.below(last - first)).min(positions - 1) * alignment
    }

    fn zone(&mut self, zones: &[(f64, f64)]) -> (f64, f64) {
        let (mut drawn, mut from) = (self.rng.unit(), 0.0);
        for &(accesses, space) in zones {
            if drawn < accesses {
                return (from, from + space);
            }
            drawn -= accesses;
            from += space;
        }
        (from.min(1.0 - f64::EPSILON), 1.0)
    }
}

impl Iterator for Requests<'_> {
    type Item = HostIo;

    #[inline]
    fn next(&mut self) -> Option<HostIo> {
        if self.left == 0 || self.over.is_set() {
            return None;
        }
        let read = match self.stimulus.reads {
            0.0 => false,
            1.0 => true,
            share => self.rng.chance(share),
        };
        let mut size = self.size();
        let at = if self.stimulus.addresses == Addresses::Sequential {
            let at = self.next;
            // The last request before the end is shorter, so that every byte is written.
            size = u64::from(size).min(self.range.amount - at).min(self.left) as u32;
            self.next = (at + u64::from(size)) % self.range.amount;
            at
        } else {
            self.random(size)
        };
        self.left = self.left.saturating_sub(u64::from(size));
        let op = if read { HostOp::Read } else { HostOp::Write };
        Some(HostIo::new(op, Nanos::ZERO, self.range.place(at), size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: ActiveRange = ActiveRange { span: 1000 << 10, amount: 1000 << 10 };

    #[test]
    fn sequential_requests_touch_every_byte_once_and_begin_again() {
        let stimulus = Stimulus::of(Addresses::Sequential, 0.0, 128 << 10);
        let stop = AtomicBool::new(false);
        let over = Over::unless(&stop);
        let twice = Requests::new(&stimulus, ALL, (1, "s"), &over).take_bytes(2 * ALL.span);
        let all: Vec<HostIo> = twice.collect();
        assert_eq!(all.len(), 16);
        let mut expected = 0;
        for io in &all {
            assert_eq!((io.op, io.offset), (HostOp::Write, expected % ALL.span));
            expected += u64::from(io.size);
        }
        assert_eq!((expected, all[7].size), (2 * ALL.span, 104 << 10));
    }

    #[test]
    fn random_requests_lie_within_the_range_on_multiples_of_their_size() {
        let sizes = vec![(512, 0.25), (3 << 10, 0.25), (64 << 10, 0.5)];
        let stimulus =
            Stimulus { reads: 0.4, sizes, addresses: Addresses::Uniform, alignment: None };
        let stop = AtomicBool::new(false);
        let over = Over::unless(&stop);
        let mut requests = Requests::new(&stimulus, ALL, (1, "r"), &over);
        let drawn: Vec<HostIo> = requests.by_ref().take(20_000).collect();
        let share = |what: fn(&HostIo) -> bool| {
            drawn.iter().filter(|io| what(io)).count() as f64 / drawn.len() as f64
        };
        assert!((share(|io| io.op == HostOp::Read) - 0.4).abs() < 0.02);
        assert!((share(|io| io.size == 512) - 0.25).abs() < 0.02);
        assert!((share(|io| io.offset < 500 << 10) - 0.5).abs() < 0.05);
        assert!(drawn.iter().all(|io| io.offset % u64::from(io.size) == 0));
        assert!(drawn.iter().all(|io| io.offset + u64::from(io.size) <= ALL.span));
        // The last position of each size is reached.
        assert!(drawn.iter().any(|io| io.offset + 512 == ALL.span));
        assert!(drawn.iter().any(|io| io.offset == 14 * (64 << 10)));
        over.set();
        assert_eq!(requests.next(), None);
    }

    #[test]
    fn zones_get_their_shares() {
        const ZONES: &[(f64, f64)] = &[(0.5, 0.05), (0.3, 0.15), (0.2, 0.8)];
        let stimulus =
            Stimulus { alignment: Some(4096), ..Stimulus::of(Addresses::Zones(ZONES), 0.0, 512) };
        let range = ActiveRange { span: 4096 * 1000, amount: 4096 * 1000 };
        let stop = AtomicBool::new(false);
        let over = Over::unless(&stop);
        let drawn = Requests::new(&stimulus, range, (1, "z"), &over).take(50_000);
        let mut found = [0.0; 3];
        for io in drawn {
            let page = io.offset / 4096;
            assert_eq!(io.offset % 4096, 0);
            found[usize::from(page >= 50) + usize::from(page >= 200)] += 1.0 / 50_000.0;
        }
        for (found, (share, _)) in found.into_iter().zip(ZONES) {
            assert!((found - share).abs() < 0.01, "{found} of {share}");
        }
    }

    #[test]
    fn pieces_are_spread_over_the_range_and_do_not_overlap() {
        let range = ActiveRange { span: 100 * PIECE + 5, amount: 30 * PIECE };
        let places: Vec<u64> = (0..30).map(|piece| range.place(piece * PIECE + 7)).collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= PIECE), "{places:?}");
        assert!(places.iter().all(|place| place % PIECE == 7));
        assert_eq!((places[0] / PIECE, places[29] / PIECE), (0, 96));
    }
}
