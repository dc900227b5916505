//! Loads the mapping of pages that come in random order, on a drive whose mapping is far larger
//! than any processor cache.
//!
//! Stored directly, each entry would wait for a cache miss and a TLB miss. Instead, the logical
//! pages are divided into slices whose entries fit the second-level cache. At first an entry is
//! only appended to its slice; at the end each slice is put into order while it is in the cache.
//!
//! This takes hardly any memory beyond the mapping itself. A page of a slice is identified by 16
//! bits, and the other 16 of the entry hold the lower half of its physical location. The upper half
//! is never smaller than that of the previous entry, because physical pages come in ascending
//! order; its increments are stored in unary, which takes little more than one bit per page (Elias,
//! "Efficient storage and retrieval by content and address of static files", J. ACM 21, 1974).

use crate::mapping::page_map::PageMap;
use fowler_units::{Bytes, Column, Geometry, Id, Lpn, UnitId, prefetch};
use std::panic::resume_unwind;
use std::thread::{self, Builder};

/// Number of logical pages in a slice of the mapping: 256 KiB of entries.
const SLICE: usize = 1 << 16;
/// Number of bits in the lower half of a physical page number.
const LOWER: u32 = 16;
/// Number of mapping entries written at once to their slice (the entries of 2^16 logical pages):
/// one cache line.
const LINE: usize = 16;
/// Number of cache lines of mapping entries written together. Each line misses the TLB, and only
/// writes in close succession overlap these misses.
const BURST: usize = 32;
/// Number of slices of the mapping, of 2^16 logical pages each, from which a second core is worth
/// its startup time.
const SLICES_SHARED: usize = 32;

/// A cache line of mapping entries of one slice (2^16 logical pages): 16 entries, or the last ones
/// while they do not fill a line.
#[derive(Clone)]
#[repr(align(64))]
struct Line([u32; LINE]);

/// Progress of loading a slice of the mapping.
#[derive(Clone, Default)]
struct Slice {
    /// Number of mapping entries of this slice (2^16 logical pages) added so far.
    count: u32,
    /// Index of the 64-bit word being written for this slice of the mapping. Words store the upper
    /// halves of the slice's physical page numbers in unary.
    index: u32,
    /// Content of the 64-bit word being written for this slice of the mapping: the upper halves of
    /// physical page numbers, as increments in unary.
    word: u64,
}

/// A mapping that is being loaded in slices.
pub struct BulkMapLoad {
    lines: Vec<Line>,
    slices: Vec<Slice>,
    /// Complete cache lines of 16 mapping entries, not yet written to the mapping, each with the
    /// index of its first entry there.
    whole: Vec<(usize, Line)>,
    /// Upper halves of the physical page numbers in the mapping table, coded in unary. Each slice
    /// of 2^16 logical pages has a bit string: its n-th entry sets bit `upper half + n`. Word k of
    /// all slices comes before word k + 1 of any slice, because all slices advance at about the
    /// same rate.
    uppers: Column<u64>,
}

impl BulkMapLoad {
    /// Creates a loader for an empty mapping.
    pub fn new(map: &PageMap, geometry: &Geometry) -> Self {
        let logical = map.logical() as usize;
        let slices = logical.div_ceil(SLICE);
        let words = (logical.min(SLICE) + (geometry.pages() >> LOWER) as usize) / 64 + 1;
        Self {
            lines: vec![Line([0; LINE]); slices],
            slices: vec![Slice::default(); slices],
            whole: Vec::with_capacity(BURST),
            uppers: Column::filled(0, slices * words),
        }
    }

    /// Returns the memory that a bulk load of the mapping takes on the simulating machine.
    pub fn bytes(logical: u32, geometry: &Geometry) -> Bytes {
        let (logical, slice) = (u64::from(logical), SLICE as u64);
        let words = (logical.min(slice) + u64::from(geometry.pages() >> LOWER)) / 64 + 1;
        Bytes::of::<Line>(logical.div_ceil(slice))
            + Bytes::of::<Slice>(logical.div_ceil(slice))
            + Bytes::of::<u64>(logical.div_ceil(slice) * words)
    }

    /// Adds to the mapping a logical page that has not been added before, at a physical location
    /// beyond all previous ones.
    #[inline(always)]
    pub fn put(&mut self, map: &mut PageMap, page: Lpn, to: UnitId) {
        let number = page.0 as usize / SLICE;
        let count = self.slices.len();
        let slice = &mut self.slices[number];
        let bit = (to.0 >> LOWER) + slice.count;
        if bit / 64 != slice.index {
            self.uppers[slice.index as usize * count + number] = slice.word;
            (slice.index, slice.word) = (bit / 64, 0);
        }
        slice.word |= 1 << (bit % 64);
        let line = &mut self.lines[number];
        let at = slice.count as usize % LINE;
        let entry = (to.0 << LOWER) | (page.0 % SLICE as u32);
        slice.count += 1;
        if at + 1 < LINE {
            line.0[at] = entry;
        } else {
            self.complete(map, number, entry);
        }
        map.set_owner(to, page);
    }

    /// Adds a mapping entry that completes a cache line of its slice (2^16 logical pages). Separate
    /// from [`BulkMapLoad::put`], so that `put` is short enough to be inlined.
    #[inline(never)]
    fn complete(&mut self, map: &mut PageMap, number: usize, entry: u32) {
        let first = number * SLICE + self.slices[number].count as usize - LINE;
        self.whole.push((first, self.lines[number].clone()));
        // The entry is written into the copy: storing it in the line before copying the line would
        // make the copy wait for all earlier stores.
        self.whole.last_mut().expect("just pushed").1.0[LINE - 1] = entry;
        if self.whole.len() == BURST {
            self.write_whole(map);
        }
    }

    fn write_whole(&mut self, map: &mut PageMap) {
        let entries = map.entries();
        for (first, _) in &self.whole {
            prefetch(entries, *first);
            prefetch(entries, first + LINE - 1);
        }
        for (first, line) in self.whole.drain(..) {
            entries[first..][..LINE].copy_from_slice(&line.0);
        }
    }

    /// Writes all mapping entries that were added to the bulk load to their places in the mapping
    /// table; logical pages that were not added are unmapped.
    pub fn settle(mut self, map: &mut PageMap) {
        self.write_whole(map);
        let slices = self.slices.len();
        for (number, slice) in self.slices.iter().enumerate() {
            self.uppers[slice.index as usize * slices + number] = slice.word;
        }
        let entries = map.entries();
        if slices < SLICES_SHARED {
            return self.settle_slices(entries, 0);
        }
        // Slices are independent, so each of two cores takes half of them.
        let half = slices / 2;
        let (low, high) = entries.split_at_mut(half * SLICE);
        let shared = thread::scope(|threads| {
            let settle_high = || self.settle_slices(high, half);
            let beside = Builder::new().spawn_scoped(threads, settle_high);
            self.settle_slices(low, 0);
            beside.map(|beside| beside.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        // The operating system refused a second thread.
        if shared.is_err() {
            self.settle_slices(high, half);
        }
    }

    /// Moves the mapping entries of all slices (2^16 logical pages each) from number `first` on to
    /// their places in the mapping.
    fn settle_slices(&self, entries: &mut [u32], first: usize) {
        let slices = self.slices.len();
        let mut came = vec![0; SLICE.min(entries.len())];
        for (number, entries) in (first..).zip(entries.chunks_mut(SLICE)) {
            let count = self.slices[number].count as usize;
            let whole = count / LINE * LINE;
            came[..whole].copy_from_slice(&entries[..whole]);
            came[whole..count].copy_from_slice(&self.lines[number].0[..count - whole]);
            entries.fill(UnitId::NONE.0);
            let uppers = self.uppers[number..].iter().step_by(slices);
            put_in_place(entries, &came[..count], uppers.copied());
        }
    }
}

/// Moves the mapping entries of one slice (2^16 logical pages), given in the order in which they
/// were added, to their places in the mapping.
fn put_in_place(entries: &mut [u32], came: &[u32], uppers: impl Iterator<Item = u64>) {
    let mut came = came.iter().zip(0..);
    for (mut word, first) in uppers.zip((0..).step_by(64)) {
        while word != 0
            && let Some((&entry, number)) = came.next()
        {
            let upper: u32 = first + word.trailing_zeros() - number;
            entries[entry as usize % SLICE] = (upper << LOWER) | (entry >> LOWER);
            word &= word - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::{Bytes, Rng, Scatter};

    #[test]
    fn every_entry_comes_to_its_place_whatever_lies_between() {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 90,
            pages_per_block: 1 << LOWER,
            page_size: Bytes(4096),
        };
        // The pages added, the logical pages, and the maximum gap between two physical pages.
        for (pages, logical, gap) in [(0u32, 5u32, 1), (5, 5, 1_000_000), (70_000, 140_000, 80)] {
            let mut rng = Rng::stream(u64::from(pages), "bulk_map_load");
            let order = Scatter::new(u64::from(logical), &mut rng);
            let mut map = PageMap::new(logical, geometry.pages());
            let mut loader = BulkMapLoad::new(&map, &geometry);
            let (mut to, mut expected) = (0, vec![UnitId::NONE.0; logical as usize]);
            for turn in 0..pages {
                to += 1 + rng.below(gap) as u32;
                let page = order.at(u64::from(turn)) as u32;
                expected[page as usize] = to;
                loader.put(&mut map, Lpn(page), UnitId(to));
                assert_eq!(map.owner(UnitId(to)), Lpn(page));
            }
            loader.settle(&mut map);
            assert_eq!(map.entries(), expected);
        }
    }
}
