//! Read retries of aged data, in the order of the retry table. Only layers that are
//! [`Translation::PACKED`] have them.
//!
//! 1. The layer says at which entry of the table the first try reads, and how many more tries the
//!    page takes ([`Flash::sense_by_age`]).
//! 2. The page is sensed and transferred: the whole time of a read of its page type for each try
//!    and, after the first, the time to set the references.
//! 3. If the code cannot correct the bit errors, the next try begins at once ([`Flash::retries`]).
//!    The die serves nothing else in between: the controller continues with the page that it has
//!    begun, as with soft sensing.
//! 4. The time of failed tries is blamed on retries ([`Flash::read_retry_blame`]).
//!
//! A page that no entry of the table reads takes every try, and is counted as uncorrectable.

use super::flash_trace::FlashEvent;
use super::{Flash, Translation};
use crate::config::AgingConfig;
use crate::flash::die::State;
use crate::flash::txn::Txn;
use crate::observe::blame::{Blame, Part};
use fowler_units::{DieId, Span, TxnId, UnitId};

/// Tries that the read of a page takes: where they begin, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tries {
    /// Entry of the retry table at which the first try reads.
    pub first: u8,
    /// Number of read tries after the first; one more than the drive allows if none succeeds.
    pub more: u8,
}

/// The limit and the cost of read retries on a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadRetry {
    /// Maximum number of tries of a read after the first.
    most: u8,
    /// Time of each retry beyond sensing and transfer.
    overhead: Span,
}

impl ReadRetry {
    pub fn new(config: &AgingConfig) -> ReadRetry {
        ReadRetry { most: config.retry_entries as u8, overhead: config.retry_overhead }
    }
}

impl Flash {
    /// Begins to sense a page, and records how many tries the read will take. Not inlined, because
    /// a drive whose data does not age never needs it.
    #[inline(never)]
    pub(super) fn sense_by_age<L: Translation>(&mut self, id: DieId, read: TxnId, layer: &mut L) {
        let unit = self.txns.get(read).unit;
        let Tries { first, more } = layer.tries(unit, self.now());
        let record = self.txns.get_mut(read);
        (record.first_level, record.level, record.needed) = (first, 0, more);
        let beyond = self.read_retry.most + 1;
        if self.random_failures.is_some() && self.strikes_unit(read, beyond, layer) {
            // No entry of the table corrects the unit; the read finds that out entry by entry.
            self.txns.get_mut(read).needed = beyond;
        }
        let (sense, transfer) = self.try_of_page(unit);
        self.sense_for(id, sense, self.txns.get(read).all_of(true, transfer));
    }

    /// Starts the next try of a read whose last try has failed. Returns true if there is another
    /// try.
    #[cold]
    pub(super) fn retries(&mut self, id: DieId, read: TxnId) -> bool {
        let Txn { unit, level: tried, parts, .. } = *self.txns.get(read);
        if tried == self.read_retry.most {
            self.counters.uncorrectable += 1;
            return false;
        }
        self.counters.retries_at[0] += 1;
        self.counters.aged.units += u64::from(parts);
        self.note_try_at(id, read, true);
        let record = self.txns.get_mut(read);
        record.level += 1;
        let (sense, transfer) = self.try_of_page(unit);
        let transfer = self.txns.get(read).all_of(true, transfer);
        self.dies[id].state = State::Sensing;
        self.sense_for(id, sense + self.read_retry.overhead, transfer);
        true
    }

    /// Counts and traces the end of a read that took several tries.
    #[cold]
    pub(super) fn retried(&mut self, id: DieId, read: TxnId) {
        self.counters.aged.retried += 1;
        self.note_try_at(id, read, false);
    }

    /// In the latency breakdown `blame` of a read, moves the time of failed tries from the part of
    /// the channel to that of retries.
    #[cold]
    #[inline(never)]
    pub(super) fn read_retry_blame(&self, txn: &Txn, blame: &mut Blame) {
        let (sense, transfer) = self.try_of_page(txn.unit);
        let transfer = txn.all_of(true, transfer) + self.registers.read_command;
        let each = sense + transfer + self.read_retry.overhead;
        let tries = each * u64::from(txn.level);
        blame[Part::Retry] += tries;
        blame[Part::Channel] -= tries;
    }

    /// Returns the time to sense a page, and the time to transfer one mapping unit of the page.
    fn try_of_page(&self, unit: UnitId) -> (Span, Span) {
        self.levels.sense_and_transfer(0, || self.offset(unit))
    }

    /// Traces the end of a try of a read.
    fn note_try_at(&mut self, id: DieId, read: TxnId, again: bool) {
        if self.is_watched() {
            let Txn { unit, level, .. } = *self.txns.get(read);
            let (sense, transfer) = self.try_of_page(unit);
            let transfer = self.txns.get(read).all_of(true, transfer) + self.registers.read_command;
            let overhead = if level > 0 { self.read_retry.overhead } else { Span::ZERO };
            let sense = sense + overhead;
            // Each try is a hard decision.
            self.note(id, read, FlashEvent::Read { sense, transfer, level: 0, again });
        }
    }
}
