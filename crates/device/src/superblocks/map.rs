//! Where each unit of the host is, and what each superblock holds. One `u32` in each direction per
//! unit: these 8 bytes dominate the memory of a large drive.
//!
//! There is no bitmap: a unit of the flash is valid if the map points at it.

use super::shape::Shape;
use super::words::{TakeWords, list};
use fowler_units::{Bytes, FrameId};
use std::collections::VecDeque;

/// The flag of a place in the buffer; all bits set is nowhere.
const BUFFERED: u32 = 1 << 31;
const NOWHERE: u32 = u32::MAX;

/// The most units a drive may have.
pub(super) const UNITS_MAX: u64 = BUFFERED as u64 - 1;

/// Where a unit of the host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nowhere,
    Buffer(FrameId),
    Flash(u32),
}

/// The state of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Erased.
    Free,
    /// Being filled.
    Open,
    /// Full.
    Full,
    /// Its valid units have been read, and are on their way to another one.
    Draining,
    /// Some of them are; the host has come back while it was emptied in idle time.
    Paused,
    /// Being erased: so many dies have still to finish.
    Erasing(u32),
}

/// A superblock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub state: State,
    /// Units that the map points at.
    pub valid: u32,
    /// Program commands in flight.
    pub flying: u32,
    /// Units on their way out of it.
    pub leaving: u32,
}

impl Record {
    /// Returns whether it is full, and nothing is on its way into it or out of it.
    pub fn is_settled(&self) -> bool {
        self.state == State::Full && self.flying == 0 && self.leaving == 0
    }
}

/// Both directions of the map, and the superblocks.
#[derive(Clone, Debug)]
pub(super) struct Map {
    forward: Vec<u32>,
    owners: Vec<u32>,
    units: u32,
    pub superblocks: Vec<Record>,
    erases: Vec<u32>,
    /// The erased superblocks, the one that has been so for longest first.
    free: VecDeque<u32>,
    /// The first of the superblocks set aside for the SLC cache, and the erased ones of these.
    set_aside: u32,
    free_aside: VecDeque<u32>,
}

impl Map {
    /// Creates the map of an empty drive that sets so many superblocks aside: its last.
    pub fn new(shape: &Shape, logical: u32, aside: u32) -> Map {
        let blank = Record { state: State::Free, valid: 0, flying: 0, leaving: 0 };
        let count = shape.superblocks as usize;
        let set_aside = shape.superblocks - aside;
        Map {
            forward: vec![NOWHERE; logical as usize],
            owners: vec![NOWHERE; shape.all_numbers() as usize],
            units: shape.units,
            superblocks: vec![blank; count],
            erases: vec![0; count],
            free: (0..set_aside).collect(),
            set_aside,
            free_aside: (set_aside..shape.superblocks).collect(),
        }
    }

    pub fn bytes(shape: &Shape, logical: u32) -> Bytes {
        Bytes::of::<u32>(u64::from(logical) + shape.all_numbers())
            + Bytes::of::<(Record, u32, u32)>(shape.superblocks.into())
    }

    /// Returns the number of units of the host.
    pub fn logical(&self) -> u32 {
        self.forward.len() as u32
    }

    #[inline]
    pub fn place(&self, page: u32) -> Place {
        match self.forward[page as usize] {
            NOWHERE => Place::Nowhere,
            raw if raw & BUFFERED != 0 => Place::Buffer(FrameId(raw & !BUFFERED)),
            unit => Place::Flash(unit),
        }
    }

    /// Returns whether the newest data of a unit of the host is in this frame.
    #[inline]
    pub fn is_in(&self, page: u32, frame: FrameId) -> bool {
        self.forward[page as usize] == BUFFERED | frame.0
    }

    /// Returns whether the newest data of a unit of the host is in this unit of the flash.
    #[inline]
    pub fn is_at(&self, page: u32, unit: u32) -> bool {
        self.forward[page as usize] == unit
    }

    /// Returns the unit of the host whose newest data a unit of the flash holds.
    #[inline]
    pub fn valid_owner(&self, unit: u32) -> Option<u32> {
        let owner = self.owners[unit as usize];
        (owner != NOWHERE && self.is_at(owner, unit)).then_some(owner)
    }

    /// Forgets where a unit of the host is. Returns where it was.
    #[inline]
    pub fn leave(&mut self, page: u32) -> Place {
        let place = self.place(page);
        if let Place::Flash(unit) = place {
            self.superblocks[(unit / self.units) as usize].valid -= 1;
        }
        self.forward[page as usize] = NOWHERE;
        place
    }

    /// Moves a unit of the host into a frame. Returns where it was.
    #[inline]
    pub fn buffer(&mut self, page: u32, frame: FrameId) -> Place {
        let place = self.leave(page);
        self.forward[page as usize] = BUFFERED | frame.0;
        place
    }

    /// A unit of the flash has been programmed with the newest data of a unit of the host.
    #[inline]
    pub fn settle(&mut self, page: u32, unit: u32) {
        self.leave(page);
        self.forward[page as usize] = unit;
        self.owners[unit as usize] = page;
        self.superblocks[(unit / self.units) as usize].valid += 1;
    }

    /// Returns the number of erased superblocks.
    #[inline]
    pub fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    /// Opens the superblock that has been erased for longest.
    pub fn open(&mut self) -> Option<u32> {
        let superblock = self.free.pop_front()?;
        self.superblocks[superblock as usize].state = State::Open;
        Some(superblock)
    }

    /// Opens the one set aside that has been erased for longest.
    pub fn open_aside(&mut self) -> Option<u32> {
        let superblock = self.free_aside.pop_front()?;
        self.superblocks[superblock as usize].state = State::Open;
        Some(superblock)
    }

    /// Returns the number of erased superblocks of those set aside.
    pub fn free_aside_count(&self) -> u32 {
        self.free_aside.len() as u32
    }

    /// Returns whether a superblock is set aside.
    pub fn is_aside(&self, superblock: u32) -> bool {
        superblock >= self.set_aside
    }

    /// A superblock is full.
    pub fn close(&mut self, superblock: u32) {
        self.superblocks[superblock as usize].state = State::Full;
    }

    /// A superblock is erased.
    pub fn erased(&mut self, superblock: u32) {
        let record = &mut self.superblocks[superblock as usize];
        debug_assert_eq!((record.valid, record.flying, record.leaving), (0, 0, 0));
        record.state = State::Free;
        self.erases[superblock as usize] += 1;
        let aside = self.is_aside(superblock);
        if aside { &mut self.free_aside } else { &mut self.free }.push_back(superblock);
    }

    /// Returns the full superblock with the fewest valid units, and their number, of those that are
    /// not set aside and of which nothing is being written or moved.
    pub fn emptiest(&self) -> Option<(u32, u32)> {
        let all = self.superblocks[..self.set_aside as usize].iter().zip(0..);
        let all = all.filter(|(record, _)| record.is_settled());
        all.map(|(record, number)| (record.valid, number)).min().map(|(valid, at)| (at, valid))
    }

    pub fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// Returns the erased superblocks, and those among the ones set aside, oldest first.
    pub fn free_lists(&self) -> [&VecDeque<u32>; 2] {
        [&self.free, &self.free_aside]
    }

    /// Returns 1 for each superblock that is full, and 0 for the others.
    pub fn full(&self) -> Vec<u32> {
        self.superblocks.iter().map(|record| u32::from(record.state == State::Full)).collect()
    }

    /// Returns where each unit of the host is.
    pub fn places(&self) -> &[u32] {
        &self.forward
    }

    /// Takes over the saved state of a map of this size, which holds nothing.
    ///
    /// # Errors
    /// Why it is not the state of such a map.
    pub fn restore(&mut self, take: TakeWords<'_>) -> Result<(), String> {
        let count = self.superblocks.len() as u32;
        let (free, free_aside) = (list(take, count)?, list(take, count)?);
        let mut full = vec![0; self.superblocks.len()];
        take(&mut full)?;
        for (record, &full) in self.superblocks.iter_mut().zip(&full) {
            record.state = if full == 1 { State::Full } else { State::Open };
        }
        for (list, aside) in [(&free, false), (&free_aside, true)] {
            for &number in list {
                if (number >= self.set_aside) != aside || full[number as usize] != 0 {
                    return Err("a superblock is erased that cannot be".into());
                }
                self.superblocks[number as usize].state = State::Free;
            }
        }
        (self.free, self.free_aside) = (free.into(), free_aside.into());
        take(&mut self.erases)?;
        let mut forward = std::mem::take(&mut self.forward);
        take(&mut forward)?;
        for (page, &unit) in forward.iter().enumerate().filter(|(_, unit)| **unit != NOWHERE) {
            let Some(owner) = self.owners.get_mut(unit as usize).filter(|it| **it == NOWHERE)
            else {
                return Err("two units share a place, or one lies beyond the drive".into());
            };
            *owner = page as u32;
            let record = &mut self.superblocks[(unit / self.units) as usize];
            if record.state == State::Free {
                return Err("a unit lies in an erased superblock".into());
            }
            record.valid += 1;
        }
        self.forward = forward;
        Ok(())
    }

    /// Prefetches the entry of the unit of the host that a unit of the flash was written for.
    #[inline]
    pub fn prefetch_owner(&self, unit: u32) {
        if let Some(&owner) = self.owners.get(unit as usize) {
            fowler_units::prefetch(&self.forward, owner as usize);
        }
    }

    /// Prefetches the entry of a unit of the host.
    #[inline]
    pub fn prefetch(&self, page: u32) {
        fowler_units::prefetch(&self.forward, page as usize);
    }
}
