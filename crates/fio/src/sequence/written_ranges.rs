//! Written ranges that are still to be read back.

use std::collections::{BTreeMap, VecDeque};

/// A range of a file that the job wrote.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub file: u32,
    pub offset: u64,
    pub length: u32,
}

/// Written ranges that the fio job still has to read back for verification. Files whose blocks are
/// each written once, and jobs with `experimental_verify`, have them in the order of writing. Other
/// files have them by offset, and a write replaces the ranges that it overlaps.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    in_order: VecDeque<Range>,
    sorted: BTreeMap<(u32, u64), u32>,
}

impl Written {
    /// Adds a written range, to be read back in the order of writing (`in_order`) or in that of
    /// offsets.
    pub fn add(&mut self, range: Range, in_order: bool) {
        if in_order {
            self.in_order.push_back(range);
            return;
        }
        let end = range.offset + u64::from(range.length);
        while let Some((&key, &length)) = self.sorted.range(..(range.file, end)).next_back()
            && key.0 == range.file
            && key.1 + u64::from(length) > range.offset
        {
            self.sorted.remove(&key);
        }
        self.sorted.insert((range.file, range.offset), range.length);
    }

    /// Returns the number of written ranges of the job's files that are still to be read back for
    /// verification.
    pub fn len(&self) -> u64 {
        (self.in_order.len() + self.sorted.len()) as u64
    }

    /// Removes and returns the range of a job's file that is to be read back next for verification;
    /// `None` if none is left.
    pub fn next_range(&mut self) -> Option<Range> {
        if let Some(((file, offset), length)) = self.sorted.pop_first() {
            return Some(Range { file, offset, length });
        }
        self.in_order.pop_front()
    }
}
