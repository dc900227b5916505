//! Anonymizes a trace: a seeded permutation moves equal-sized extents of its address space.
//!
//! Requests are not split. Extents that one request spans move together, as one piece. Two requests
//! overlap by the same bytes as before, so rewrites, reuse distances and the footprint are those of
//! the trace. Gaps between touched extents are closed.

use crate::TraceError;
use crate::extents::Extents;
use fowler_units::{Diagnostic, HostIo, HostOp, Nanos, Rng};

/// Largest number of pieces of a trace: ranges of its address space that are moved as a whole when
/// it is anonymized. Each piece takes 24 bytes of memory.
pub const PIECES_MOST: usize = 1 << 22;

/// Range of extents (equal-sized pieces of a trace's address space) that move together when the
/// trace is anonymized: `[first, end)`, and the new position of the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    first: u64,
    end: u64,
    place: u64,
}

/// Collects the extents that the requests of a trace touch.
#[derive(Clone, Debug)]
pub struct Touched {
    extent: u64,
    touched: Extents,
    /// Boundaries between extents that a request crosses. Boundary k is the beginning of extent k.
    crossed: Extents,
}

impl Touched {
    /// Creates an empty set of the extents that a trace touches. `extent` is the size of each
    /// extent (piece of the address space) in bytes, a power of two.
    ///
    /// # Panics
    ///
    /// If `extent` is not a power of two.
    pub fn new(extent: u64) -> Touched {
        assert!(extent.is_power_of_two(), "extents keep the alignment of requests");
        Touched { extent, touched: Extents::new(extent), crossed: Extents::new(1) }
    }

    /// Adds the extents that a request touches to the set of those that the trace touches.
    ///
    /// # Errors
    ///
    /// If there are more pieces than [`PIECES_MOST`].
    pub fn add(&mut self, request: &HostIo) -> Result<(), TraceError> {
        if request.op == HostOp::Flush || request.size == 0 {
            return Ok(());
        }
        self.touched.add(request);
        let first = request.offset / self.extent;
        let last = (request.offset + u64::from(request.size) - 1) / self.extent;
        if last > first {
            let boundaries = HostIo::read(Nanos(0), first + 1, (last - first) as u32);
            self.crossed.add(&boundaries);
        }
        let runs = self.touched.merged().max(self.crossed.merged());
        if runs > PIECES_MOST { Err(too_many(self.extent)) } else { Ok(()) }
    }

    /// Draws a random new position for each piece of the trace's address space (a range of touched
    /// extents that moves as a whole).
    ///
    /// # Errors
    ///
    /// If there are more pieces than [`PIECES_MOST`].
    pub fn permuted(self, seed: u64) -> Result<Anonymizer, TraceError> {
        let extent = self.extent;
        let crossed: Vec<(u64, u64)> = self.crossed.into_runs().collect();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut behind = 0;
        for (first, end) in self.touched.into_runs() {
            let mut from = first;
            while from < end {
                while crossed.get(behind).is_some_and(|(_, end)| *end <= from + 1) {
                    behind += 1;
                }
                let cut = match crossed.get(behind) {
                    Some(&(first, end)) if first <= from + 1 => end,
                    _ => from + 1,
                };
                if pieces.len() == PIECES_MOST {
                    return Err(too_many(extent));
                }
                pieces.push(Piece { first: from, end: cut, place: 0 });
                from = cut;
            }
        }
        // The numbers of the pieces, in the order of their new positions.
        let mut order: Vec<u32> = (0..pieces.len() as u32).collect();
        let mut rng = Rng::stream(seed, "trace/anonymize");
        for last in (1..order.len()).rev() {
            order.swap(last, rng.below(last as u64 + 1) as usize);
        }
        let mut place = 0;
        for &number in &order {
            let piece = &mut pieces[number as usize];
            piece.place = place;
            place += piece.end - piece.first;
        }
        Ok(Anonymizer { extent, pieces, extents: place })
    }
}

fn too_many(extent: u64) -> TraceError {
    let what =
        format!("the requests touch more than {PIECES_MOST} separate extents of {extent} bytes");
    let hint = "use a larger --extent".to_string();
    TraceError::one("the trace", Diagnostic::of(what).hint(hint))
}

/// The permutation of a trace's addresses: every piece with its new position.
#[derive(Clone, Debug)]
pub struct Anonymizer {
    extent: u64,
    pieces: Vec<Piece>,
    extents: u64,
}

impl Anonymizer {
    /// Returns the number of extents that the trace touches.
    pub fn extents(&self) -> u64 {
        self.extents
    }

    /// Returns the number of pieces (groups of extents that move together) of the trace.
    pub fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the size of the largest range of the trace's address space that moves as a whole, in
    /// extents.
    pub fn largest(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.end - piece.first).max().unwrap_or(0)
    }

    /// Returns a request of the trace at its anonymized address: the extents of the address space
    /// have been moved at random, and the request moves with its extent.
    ///
    /// # Errors
    /// If the request was not among those that were collected.
    pub fn moved(&self, request: HostIo) -> Result<HostIo, TraceError> {
        if request.op == HostOp::Flush || request.size == 0 {
            return Ok(request);
        }
        let first = request.offset / self.extent;
        let last = (request.offset + u64::from(request.size) - 1) / self.extent;
        let behind = self.pieces.partition_point(|piece| piece.first <= first);
        let piece = behind.checked_sub(1).map(|at| self.pieces[at]);
        let Some(piece) = piece.filter(|piece| last < piece.end) else {
            let what = "the file has changed between the two passes in which anonymizing reads it; use a file that does not change";
            return Err(TraceError::one("the trace", Diagnostic::of(what)));
        };
        let extent = piece.place + (first - piece.first);
        let offset = extent * self.extent + request.offset % self.extent;
        Ok(request.with_offset(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn anonymizer(requests: &[HostIo], extent: u64, seed: u64) -> Anonymizer {
        let mut touched = Touched::new(extent);
        requests.iter().for_each(|request| touched.add(request).unwrap());
        touched.permuted(seed).unwrap()
    }

    /// Returns random requests within `extents` extents of 64 KiB: most within one, some across
    /// several.
    fn requests(rng: &mut Rng, extents: u64) -> Vec<HostIo> {
        let request = |at: u64| {
            let size = if rng.chance(0.05) { 1 << 18 } else { 4096 };
            let offset = rng.below(extents * 16) * 4096 + rng.below(8) * 512;
            let op = HostOp::ALL[rng.below(4) as usize];
            let size = if op == HostOp::Flush { 0 } else { 1 + rng.below(size) as u32 };
            HostIo::new(op, Nanos(at), if op == HostOp::Flush { 0 } else { offset }, size)
        };
        (0..2_000).map(request).collect()
    }

    fn sectors(request: &HostIo) -> std::ops::Range<u64> {
        request.offset / 512..(request.offset + u64::from(request.size)).div_ceil(512)
    }

    /// Returns how often each sector is touched, in the order of first touches.
    fn touches(requests: &[HostIo]) -> Vec<u64> {
        let (mut counts, mut order) = (BTreeMap::new(), Vec::new());
        for sector in requests.iter().filter(|it| it.size > 0).flat_map(sectors) {
            let count = counts.entry(sector).or_insert(0);
            if *count == 0 {
                order.push(sector);
            }
            *count += 1;
        }
        order.into_iter().map(|sector| counts[&sector]).collect()
    }

    #[test]
    fn what_the_documentation_promises_is_preserved() {
        for (seed, extents) in [(1, 40), (2, 1_000), (3, 1 << 30)] {
            let mut rng = Rng::stream(seed, "anonymize/test");
            let before = requests(&mut rng, extents);
            let to = anonymizer(&before, 1 << 16, seed);
            let after: Vec<HostIo> = before.iter().map(|it| to.moved(*it).unwrap()).collect();
            for (one, other) in before.iter().zip(&after) {
                assert_eq!(other.with_offset(one.offset), *one, "seed {seed}");
                assert_eq!(one.offset % (1 << 16), other.offset % (1 << 16), "seed {seed}");
            }
            // Sector by sector, the same rewrites and the same footprint in the same order.
            assert_eq!(touches(&before), touches(&after), "seed {seed}");
            // Every sector has one place of its own.
            let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
            let mut taken = BTreeSet::new();
            for (one, other) in before.iter().zip(&after).filter(|(it, _)| it.size > 0) {
                for (from, to) in sectors(one).zip(sectors(other)) {
                    if let Some(before) = seen.insert(from, to) {
                        assert_eq!(before, to, "seed {seed}: one sector at two places");
                    } else {
                        assert!(taken.insert(to), "seed {seed}: two sectors at one place");
                    }
                }
            }
            let end = after.iter().map(|it| it.offset + u64::from(it.size)).max().unwrap();
            assert!(end <= to.extents() << 16, "seed {seed}: gaps are closed");
            assert!(to.pieces() > 10 || extents == 40, "seed {seed}: {} pieces", to.pieces());
        }
    }

    #[test]
    fn pieces_are_permuted_by_the_seed_alone() {
        let space: Vec<HostIo> =
            (0..1000).map(|at| HostIo::write(Nanos(at), at << 20, 4096)).collect();
        let places = |seed| -> Vec<u64> {
            let to = anonymizer(&space, 1 << 20, seed);
            space.iter().map(|it| to.moved(*it).unwrap().offset >> 20).collect()
        };
        assert_eq!(places(7), places(7));
        assert_ne!(places(7), places(8));
        let mut sorted = places(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<u64>>());
        let stayed = places(7).iter().zip(0..).filter(|(place, at)| **place == *at).count();
        assert!(stayed < 10, "{stayed} of 1000 stayed, where one is expected");
    }

    #[test]
    fn requests_across_boundaries_hold_their_extents_together() {
        let across = |first: u64, extents: u64| {
            HostIo::write(Nanos(0), (first << 20) + 4096, ((extents - 1) << 20) as u32)
        };
        let apart: Vec<HostIo> = (0..10).map(|at| HostIo::read(Nanos(0), at << 20, 4096)).collect();
        let to = anonymizer(&[&apart[..], &[across(2, 2), across(3, 3)]].concat(), 1 << 20, 1);
        // Extents 2 to 5 are one piece, and the other six are alone.
        assert_eq!((to.extents(), to.pieces(), to.largest()), (10, 7, 4));
        let begin = to.moved(apart[2]).unwrap().offset;
        for (extents, request) in apart[2..=5].iter().enumerate() {
            let offset = begin + ((extents as u64) << 20);
            assert_eq!(to.moved(*request).unwrap().offset, offset);
        }
        assert!(to.moved(across(8, 2)).is_err(), "nobody held these together");
        assert!(to.moved(HostIo::read(Nanos(0), 11 << 20, 512)).is_err());
    }

    #[test]
    fn the_last_bytes_there_can_be_are_moved() {
        let last = HostIo::read(Nanos(0), u64::MAX - 4096, 4096);
        let to = anonymizer(&[last], 4096, 1);
        assert_eq!(to.moved(last).unwrap().offset, 4095);
        assert_eq!(anonymizer(&[], 4096, 1).pieces(), 0);
    }

    #[test]
    fn more_pieces_than_memory_is_given_for_are_refused() {
        let mut touched = Touched::new(4096);
        let most = (0..=PIECES_MOST as u64)
            .try_for_each(|at| touched.add(&HostIo::read(Nanos(0), at * 8192, 512)));
        let refused = most.and_then(|()| touched.permuted(1).map(drop)).unwrap_err().to_string();
        assert!(refused.contains("--extent"), "{refused}");
    }
}
