//! The census: a count of every unreadable page of a drive, which neither a sensing level nor its
//! stripe recovers, at one moment and without reading anything.
//!
//! 1. Each page with data is judged by its cells, and by the failures that are known
//!    ([`Taking::look`]).
//! 2. An unreadable page whose newest data is in the buffer is counted as buffered.
//! 3. On a drive with stripes, the equations of the stripe determine which of its unreadable pages
//!    can be recovered ([`Taking::stripes`]); without stripes none can ([`Taking::plain`]).
//! 4. All others are lost, and are counted by cause: losses that have been *found*, and losses that
//!    a read would find.
//!
//! A run reports a page as lost once it has been read. A drive whose parity makes it read more
//! therefore finds more of its losses, though no more data is lost; so the census counts both.

use super::Raid;
use super::integrity::Integrity;
use super::losses::{Failure, Loss};
use super::parity_cache::bit;
use super::silent_corruption::SilentErrors;
use crate::core::Core;
use crate::mapping::page_map::Location;
use fowler_units::{FrameId, Id, Lpn, StripeId, UnitId};

/// Number of pages lost by one cause, in a census: a count of all pages of the drive by
/// readability, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Cause of the loss of all pages counted in this record.
    pub loss: Loss,
    /// Number of pages that the drive knows to be lost: a read by the host, of GC, for parity or to
    /// rebuild a page has failed, or the unit that holds the page has failed.
    pub found: u64,
    /// Number of lost pages that nobody has read since.
    pub unfound: u64,
}

/// A count of a drive's pages by readability, at one moment. Pages are those of the host unless
/// stated otherwise.
///
/// `unreadable` = `buffered` + `recoverable` + [`Census::lost`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Number of pages that hold data, lost pages included. A page is no longer lost once the host
    /// has rewritten or trimmed it.
    pub pages: u64,
    /// Number of pages with data whose copy in the flash no sensing level reads.
    pub unreadable: u64,
    /// Number of unreadable pages whose newest data is in the buffer.
    pub buffered: u64,
    /// Number of unreadable pages that can be recovered from their stripe.
    pub recoverable: u64,
    /// Numbers of lost pages by cause, sorted by cause.
    pub losses: Vec<Counted>,
    /// Number of pages that are readable but do not hold the data written to them, which nobody has
    /// noticed. None of them is counted as unreadable.
    pub wrong: u64,
    /// Number of parity pages in the flash.
    pub parity_pages: u64,
    /// Number of parity pages that no sensing level reads.
    pub parity_unreadable: u64,
    /// Number of unreadable parity pages whose stripe has lost data too, so that they cannot be
    /// computed again.
    pub parity_lost: u64,
    /// Number of parity pages that are readable but are not the parity of the data written to their
    /// stripe.
    pub parity_wrong: u64,
}

impl Census {
    /// Returns the number of lost pages that the drive knows of.
    pub fn found(&self) -> u64 {
        self.losses.iter().map(|counted| counted.found).sum()
    }

    /// Returns the number of lost pages that nobody has read since.
    pub fn unfound(&self) -> u64 {
        self.losses.iter().map(|counted| counted.unfound).sum()
    }

    /// Returns the number of lost pages, found or not.
    pub fn lost(&self) -> u64 {
        self.found() + self.unfound()
    }

    /// Counts a lost page that the drive knows to be lost.
    pub(crate) fn known_lost(&mut self, loss: Loss) {
        self.pages += 1;
        self.unreadable += 1;
        self.lose(loss, true);
    }

    /// Counts a lost page; `found` is true if a read has failed.
    pub(crate) fn lose(&mut self, loss: Loss, found: bool) {
        let at =
            self.losses.binary_search_by_key(&loss, |counted| counted.loss).unwrap_or_else(|at| {
                self.losses.insert(at, Counted { loss, found: 0, unfound: 0 });
                at
            });
        let counted = &mut self.losses[at];
        (counted.found, counted.unfound) =
            (counted.found + u64::from(found), counted.unfound + u64::from(!found));
    }
}

/// The readability of a page, as far as its cells determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A read of the page succeeds.
    Reads,
    /// A read of the page would fail, but none has been tried.
    WouldFail,
    /// A read of the page has failed.
    HasFailed,
}

/// A count of all pages of a drive by readability at one moment (a census), in progress.
pub(crate) struct Taking<'a, J> {
    pub core: &'a Core,
    /// Function that returns the readability of a copy of a logical page in the flash. The logical
    /// page passed is [`Lpn::NONE`] if the copy is not its current one.
    pub judge: J,
    /// Pages that are readable but wrong, if the drive tracks silent corruption.
    pub silent: Option<&'a SilentErrors>,
    pub census: Census,
}

/// Readability of a page's data in the flash and the buffer, as found by a count of all pages of
/// the drive at one moment (a census).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    /// The copy in the flash is readable, or there is none.
    Well,
    /// The copy in the flash is unreadable, but the buffer holds the newest data.
    Buffered,
    /// The copy in the flash is unreadable, and the page depends on it.
    Unreadable { found: bool },
}

impl<J: FnMut(Lpn, UnitId) -> Verdict> Taking<'_, J> {
    /// Counts a logical page, if it holds data, by its readability, and returns the readability.
    pub fn look(&mut self, page: Lpn) -> Fate {
        let core = self.core;
        let (unit, frame) = match core.map.place(page) {
            Location::Nowhere => return Fate::Well,
            Location::Flash(unit) => (unit, None),
            Location::Buffer(frame_id) => (core.buffer.get(frame_id).unit, Some(frame_id)),
        };
        self.census.pages += 1;
        let verdict = if unit.is_some() { (self.judge)(page, unit) } else { Verdict::Reads };
        if verdict == Verdict::Reads {
            self.census.wrong += u64::from(self.is_wrong(unit, frame));
            return Fate::Well;
        }
        self.census.unreadable += 1;
        let found = verdict == Verdict::HasFailed;
        match frame {
            // The data of a clean frame was read from this very copy.
            Some(frame_id)
                if core.buffer.holds_newest(frame_id)
                    && !(found && core.buffer.is_clean(frame_id)) =>
            {
                self.census.buffered += 1;
                Fate::Buffered
            }
            _ => Fate::Unreadable { found },
        }
    }

    /// Returns true if a page does not hold the data written to it, in its buffer frame or in the
    /// flash.
    fn is_wrong(&self, unit: UnitId, frame: Option<FrameId>) -> bool {
        let Some(silent) = self.silent.filter(|silent| silent.any()) else { return false };
        let buffer = &self.core.buffer;
        let in_frame = frame.is_some_and(|id| buffer.get(id).wrong);
        let whole = frame.is_some_and(|id| buffer.is_whole(id));
        in_frame || !whole && silent.error(unit) != 0
    }

    /// Counts the pages of a drive without stripes by their readability. `lost` returns the cause
    /// if a fault took a page.
    pub fn plain(&mut self, lost: impl Fn(Lpn) -> Option<Loss>) {
        for page in (0..self.core.map.logical()).map(Lpn) {
            if let Some(loss) = lost(page) {
                self.census.known_lost(loss);
            } else if let Fate::Unreadable { found } = self.look(page) {
                self.census.lose(Loss::unprotected(Failure::Cells), found);
            }
        }
    }

    /// Counts the pages of a drive with stripes by their readability, and those that their stripes
    /// can recover.
    pub fn stripes(&mut self, raid: &Raid) {
        for stripe in (0..raid.stripes.count()).map(StripeId) {
            self.stripe(raid, stripe);
        }
    }

    fn stripe(&mut self, raid: &Raid, stripe: StripeId) {
        let integrity = raid.integrity.as_deref();
        // Unreadable copies; of these, the copies that the drive needs, and those whose reads have
        // failed.
        let (mut unread, mut needed, mut found) = (0, 0, 0);
        for (at, page) in raid.stripes.data_pages(stripe) {
            if let Some(loss) = integrity.and_then(|record| record.lost(page)) {
                self.census.known_lost(loss);
                continue;
            }
            match self.look(page) {
                Fate::Well => {}
                Fate::Buffered => unread |= bit(at),
                Fate::Unreadable { found: is_found } => {
                    (unread, needed) = (unread | bit(at), needed | bit(at));
                    found |= bit(at) * u64::from(is_found);
                }
            }
        }
        let parity = self.core.flash_copy(raid.stripes.parity(stripe));
        let mut fails = |unit: UnitId| (self.judge)(Lpn::NONE, unit) != Verdict::Reads;
        let parity_fails = parity.is_some() && fails(parity);
        self.census.parity_pages += u64::from(parity.is_some());
        self.census.parity_unreadable += u64::from(parity_fails);
        let wrong = self.silent.is_some_and(|silent| silent.error(parity) != 0);
        self.census.parity_wrong += u64::from(wrong && !parity_fails);
        if unread == 0 {
            return;
        }
        let left = raid.left_unknown(self.core, stripe, unread, fails);
        let lost = left.lost & needed;
        self.census.recoverable += u64::from((needed & !lost).count_ones());
        self.census.parity_lost += u64::from(parity_fails && left.lost != 0);
        for (at, page) in raid.stripes.data_pages(stripe).filter(|&(at, _)| lost & bit(at) != 0) {
            let unit = self.core.flash_copy(page);
            let failure = integrity.and_then(|record: &Integrity| record.failure(unit));
            let loss = raid.why_lost(stripe, left, failure.unwrap_or(Failure::Cells));
            self.census.lose(loss, found & bit(at) != 0);
        }
    }
}
