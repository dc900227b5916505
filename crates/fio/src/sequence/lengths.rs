//! The length of the next request.

use super::Sequence;
use super::offsets::Place;
use crate::job::Op;

impl Sequence {
    /// Returns the length of the request of `op` at `offset` of `file`, in bytes; `None` if no
    /// request fits there.
    #[inline]
    pub(super) fn length(&mut self, file: usize, op: Op, offset: u64, place: Place) -> Option<u32> {
        let state = &self.files[file];
        if self.job.kind.trim_then_write() && self.job.kind.random && op == Op::Write {
            let trim = Op::Trim as usize;
            return Some((state.last_end[trim] - state.last_start[trim]) as u32);
        }
        let direction = match (self.job.blocks_by_order, place.random) {
            (false, _) => op as usize,
            (true, true) => Op::Write as usize,
            (true, false) => Op::Read as usize,
        };
        let sizes = &self.job.blocks[direction];
        if sizes.min == sizes.max {
            return Some(sizes.min);
        }
        // fio takes a share of the file anew here, when the file has its final size.
        let end = state.length + state.restart;
        let fits = |length: u32| offset + u64::from(length) <= end;
        if !fits(sizes.min) {
            return None;
        }
        let random = &mut self.random.sizes[direction];
        loop {
            let scale = random.largest();
            let drawn = random.draw();
            let mut length = match sizes.split.as_slice() {
                [] => {
                    let unit = drawn as f64 / (scale as f64 + 1.0);
                    sizes.min.saturating_add((f64::from(sizes.max) * unit) as u32)
                }
                split => {
                    let (mut share, mut length) = (0, 0);
                    for entry in split.iter().filter(|entry| entry.percent > 0) {
                        length = entry.bytes;
                        share += u64::from(entry.percent);
                        if drawn / share <= scale / 100 && fits(length) {
                            break;
                        }
                    }
                    length
                }
            };
            if !self.job.unaligned {
                length -= length % sizes.min;
            }
            let length = length.min(sizes.max);
            if fits(length) {
                return Some(length);
            }
            let mut split = sizes.split.iter().filter(|entry| entry.percent > 0);
            if !sizes.split.is_empty() && !split.any(|entry| fits(entry.bytes)) {
                return None;
            }
        }
    }
}
