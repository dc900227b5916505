//! The set of pages that a trace touches, as sorted runs: one entry per contiguous run, not per
//! page, and no hashing per request.

use fowler_units::{HostIo, HostOp};

/// A run of pages `[first, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    first: u64,
    end: u64,
}

/// Number of runs of consecutive pages that a page set collects before it first merges them.
const GATHERED: usize = 1 << 16;

/// A set of pages of one size, filled from byte ranges.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    page_size: u64,
    /// Runs of consecutive pages in the set: those before index `merged` are sorted and disjoint,
    /// the rest are in order of arrival.
    runs: Vec<Run>,
    merged: usize,
}

impl Extents {
    /// Returns an empty set of pages of `page_size` bytes.
    pub fn new(page_size: u64) -> Extents {
        assert!(page_size > 0, "a page holds something");
        Extents { page_size, runs: Vec::new(), merged: 0 }
    }

    /// Adds to the set the pages that a request touches.
    #[inline]
    pub fn add(&mut self, request: &HostIo) {
        if request.op == HostOp::Flush || request.size == 0 {
            return;
        }
        let first = request.offset / self.page_size;
        let end = (request.offset + u64::from(request.size) - 1) / self.page_size + 1;
        if let Some(last) = self.runs[self.merged..].last_mut()
            && (last.first..=last.end).contains(&first)
        {
            last.end = last.end.max(end);
            return;
        }
        self.runs.push(Run { first, end });
        // Merging only when new runs outnumber merged ones keeps the cost logarithmic per request.
        if self.runs.len() - self.merged >= self.merged.max(GATHERED) {
            self.merge();
        }
    }

    /// Sorts the runs of contiguous pages that a trace touches, and joins those that overlap or
    /// touch.
    fn merge(&mut self) {
        self.runs.sort_unstable();
        self.runs.dedup_by(|next, kept| {
            let joined = next.first <= kept.end;
            if joined {
                kept.end = kept.end.max(next.end);
            }
            joined
        });
        self.merged = self.runs.len();
    }

    /// Returns the number of runs of pages after the last merge. Memory never holds many more than
    /// twice as many.
    pub fn merged(&self) -> usize {
        self.merged
    }

    /// Returns the runs in order, each as its first page and the page after its last. No two of
    /// them touch.
    pub fn into_runs(mut self) -> impl Iterator<Item = (u64, u64)> {
        self.merge();
        self.runs.into_iter().map(|run| (run.first, run.end))
    }

    /// Numbers the pages that a trace touches from 0 in address order, without gaps between them.
    pub fn into_dense(mut self) -> Dense {
        self.merge();
        let mut pages = 0;
        let starts = self
            .runs
            .iter()
            .map(|run| {
                let start = pages;
                pages += run.end - run.first;
                start
            })
            .collect();
        Dense { page_size: self.page_size, runs: self.runs, starts, pages }
    }
}

/// A dense numbering of a set of pages: order and adjacency are preserved, gaps are closed.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    page_size: u64,
    runs: Vec<Run>,
    /// Number of the first page of each run of contiguous pages in the dense numbering, in which
    /// the touched pages are numbered from 0 without gaps.
    starts: Vec<u64>,
    pages: u64,
}

impl Dense {
    /// Returns the number of pages that the trace touches.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the byte offset of a range of the trace's addresses after the gaps between touched
    /// pages are closed; `None` unless the trace touches all of the range.
    #[inline]
    pub fn place(&self, offset: u64, size: u32) -> Option<u64> {
        let first = offset / self.page_size;
        let behind = self.runs.partition_point(|run| run.first <= first);
        let run = self.runs.get(behind.checked_sub(1)?)?;
        let last = (offset + u64::from(size.max(1)) - 1) / self.page_size;
        if last >= run.end {
            return None;
        }
        let page = self.starts[behind - 1] + (first - run.first);
        Some(page * self.page_size + offset % self.page_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::{Nanos, Rng};
    use std::collections::BTreeSet;

    fn request(offset: u64, size: u32) -> HostIo {
        HostIo::read(Nanos(0), offset, size)
    }

    #[test]
    fn the_numbering_is_that_of_the_sorted_set_of_pages() {
        let mut rng = Rng::stream(5, "extents");
        for space in [40u64, 4_000, 1 << 40] {
            let (mut extents, mut set) = (Extents::new(512), BTreeSet::new());
            let requests: Vec<HostIo> = (0..3_000)
                .map(|_| request(rng.below(space) * 256, 1 + rng.below(4_000) as u32))
                .collect();
            for (count, it) in requests.iter().enumerate() {
                extents.add(it);
                if count % 700 == 0 {
                    extents.merge();
                }
                set.extend(it.offset / 512..=(it.offset + u64::from(it.size) - 1) / 512);
            }
            let sorted: Vec<u64> = set.into_iter().collect();
            let dense = extents.into_dense();
            assert_eq!(dense.pages(), sorted.len() as u64);
            for it in &requests {
                let page = sorted.binary_search(&(it.offset / 512)).unwrap() as u64;
                assert_eq!(dense.place(it.offset, it.size), Some(page * 512 + it.offset % 512));
            }
        }
    }

    #[test]
    fn what_was_not_added_has_no_place() {
        let mut extents = Extents::new(4096);
        extents.add(&request(8192, 4096));
        extents.add(&request(0, 0).with_op(HostOp::Flush));
        let dense = extents.into_dense();
        assert_eq!(
            (dense.pages(), dense.place(8192, 4096), dense.place(8192, 4097)),
            (1, Some(0), None)
        );
        assert_eq!((dense.place(0, 1), dense.place(20_000, 1)), (None, None));
        assert_eq!(Extents::new(1).into_dense().place(0, 1), None);
    }

    #[test]
    fn the_last_byte_there_can_be_is_a_page() {
        let mut extents = Extents::new(1);
        extents.add(&request(u64::MAX - 1, 1));
        assert_eq!(extents.into_dense().place(u64::MAX - 1, 1), Some(0));
    }
}
