//! Chooses the offset of the next request in a file.

use super::Sequence;
use super::files::NONE;
use crate::draw::Consumer;
use crate::job::{Distribution, Op, Sequencer};

/// An offset of a fio request, from the first byte that the job uses in the file, and whether the
/// offset is random.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub offset: u64,
    pub random: bool,
    /// True if blocks that were already accessed in this pass may be drawn again.
    pub again: bool,
}

impl Sequence {
    /// Returns the offset of the next request of `op` in `file`; `None` if no block is left.
    #[inline]
    pub(super) fn place(&mut self, file: usize, op: Op) -> Option<Place> {
        self.until_random -= 1;
        let due = self.until_random == 0;
        if due {
            self.until_random = self.job.sequential_run;
        }
        if self.job.kind.trim_then_write() && self.job.kind.random && op == Op::Write {
            // fio adds the start of the job once more.
            let offset = self.files[file].last_start[Op::Trim as usize];
            return Some(Place { offset, random: true, again: true });
        }
        if !self.job.kind.random {
            let offset = self.sequential(file, op)?;
            return Some(Place { offset, random: false, again: false });
        }
        if due && self.is_random_turn(op) {
            let offset = self.random_offset(file, op)?;
            return Some(Place { offset, random: true, again: false });
        }
        let last = self.files[file].last_start[op as usize];
        let offset = match self.job.sequencer {
            Sequencer::Identical if !due && last == NONE => Some(0),
            Sequencer::Identical if !due => Some(last.wrapping_sub(self.files[file].origin)),
            _ => self.sequential(file, op),
        };
        let offset = match offset {
            Some(offset) => offset,
            None => self.random_offset(file, op)?,
        };
        Some(Place { offset, random: false, again: true })
    }

    /// Returns true if the next offset is random, as `percentage_random` asks.
    #[inline]
    fn is_random_turn(&mut self, op: Op) -> bool {
        let percent = self.job.percent_random[op as usize];
        percent == 100 || self.random.order[op as usize].percent() <= percent
    }

    /// Returns the offset of a sequential request: the end of the last one of its direction, or
    /// further.
    #[inline]
    fn sequential(&mut self, file: usize, op: Op) -> Option<u64> {
        let job = &self.job;
        let state = &mut self.files[file];
        let last = &mut state.last_end[op as usize];
        if job.time_based && *last >= state.length + state.start {
            *last = state.origin;
        }
        if *last >= state.end {
            return None;
        }
        let add = job.sequential_add;
        if add < 0 && *last == state.origin && state.origin > 0 {
            *last = state.end.min(state.length);
        }
        let mut position = last.wrapping_sub(state.origin);
        if position != 0 && add != 0 {
            position = position.wrapping_add_signed(add);
            if position >= state.end {
                position = match add > 0 {
                    true => state.origin,
                    false => state.end.min(state.length).wrapping_add_signed(add),
                };
            }
        }
        Some(position)
    }

    /// Returns a random offset in the file, in bytes. A job that runs for a time starts again when
    /// all blocks had their turn.
    #[inline]
    fn random_offset(&mut self, file: usize, op: Op) -> Option<u64> {
        let align = u64::from(self.job.blocks[op as usize].align);
        if let Some(block) = self.random_block(file, op) {
            return Some(block * align);
        }
        if !self.job.time_based {
            return None;
        }
        self.files[file].reset(self.seeds.of(Consumer::Offsets));
        self.random_block(file, op).map(|block| block * align)
    }

    #[inline]
    fn random_block(&mut self, file: usize, op: Op) -> Option<u64> {
        if let Some(skewed) = &mut self.files[file].skewed {
            return Some(skewed.next_block());
        }
        let blocks = self.blocks(file, op);
        match &self.job.distribution {
            Distribution::Zoned(zones) if !zones[op as usize].is_empty() && blocks > 0 => {
                let percent = self.random.zones.percent();
                let (from, to) = zone(&zones[op as usize], percent);
                let (from, to) = (from.min(100), to.min(100));
                let count = blocks * (to - from) / 100;
                Some(self.in_zone(file, count)? + blocks * from / 100)
            }
            Distribution::ZonedBytes(zones) if !zones[op as usize].is_empty() => {
                let percent = self.random.zones.percent();
                let align = u64::from(self.job.blocks[op as usize].align);
                let (from, to) = zone(&zones[op as usize], percent);
                let (from, to) = (from / align, to / align);
                Some(self.in_zone(file, to - from)? + from)
            }
            _ => self.uniform(file, blocks),
        }
    }

    /// Returns the number of blocks from which random offsets are drawn.
    #[inline]
    fn blocks(&self, file: usize, op: Op) -> u64 {
        let state = &self.files[file];
        let sizes = &self.job.blocks[op as usize];
        let (align, min) = (u64::from(sizes.align), u64::from(sizes.min));
        let span = match self.job.strided {
            Some(zones) => zones.range,
            None => state.length.min(state.end),
        };
        let span = if min > align { span.saturating_sub(min - align) } else { span };
        span / align
    }

    /// Draws one of the `count` blocks that was not accessed in this pass; `None` if all were.
    #[inline]
    fn uniform(&mut self, file: usize, count: u64) -> Option<u64> {
        if count == 0 { None } else { self.in_zone(file, count) }
    }

    /// Draws a free block among the `count` blocks of the zone (part of the file) that the random
    /// distribution has chosen. A zone smaller than a block counts as one block, as in fio 3.33.
    #[inline]
    fn in_zone(&mut self, file: usize, count: u64) -> Option<u64> {
        let state = &mut self.files[file];
        if let Some(lfsr) = &mut state.lfsr {
            return lfsr.next_block();
        }
        let block = self.random.offsets.below(count);
        match &state.map {
            Some(map) if !map.is_free(block) => map.next_free(block),
            _ => Some(block),
        }
    }
}

/// Returns the begin and the end of the zone (part of a file) to which a request goes, in percent
/// of the file or in bytes. `percent`, 1 to 100, was drawn for the request; each zone has a share
/// of these.
fn zone(zones: &[crate::job::Zone], percent: u32) -> (u64, u64) {
    let (mut share, mut from) = (0, 0);
    for zone in zones {
        share += zone.percent;
        if percent <= share {
            return (from, from + zone.size);
        }
        from += zone.size;
    }
    (0, from)
}
