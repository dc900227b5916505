//! Dies that fail during a run: their replacement by spare dies, and the effects on a drive without
//! one.
//!
//! 1. A fault strikes dies. Each that no spare die replaces fails for good: background work there
//!    is given up (`gc/failed_dies.rs`), and the flash returns what the die had begun
//!    ([`Controller::fail_dies`]).
//! 2. Programs that it had begun, and data that it had programmed and that the controller still
//!    has, go to other dies.
//! 3. The pages of the die fail, as by any other fault (`raid/faults.rs`).
//! 4. If the others cannot hold the capacity, the drive becomes read-only; if they cannot even hold
//!    the data in the controller, it goes offline ([`Controller::look_at_capacity`]).
//! 5. Transactions that waited for the die, or are sent to it later, come back: programs go to
//!    another die, reads have failed ([`Controller::take_back`]).

use super::Device;
use super::controller::{Controller, with_redundancy};
use crate::blocks::failed_dies::FailedDieCounts;
use crate::flash::txn::{Owner, Txn};
use crate::flash::{Flash, Translation};
use crate::host::failed_dies::Service;
use crate::observe::operation::Op;
use crate::raid::fault_kinds::Fault;
use fowler_units::{DieId, Id, Lpn, TxnId, UnitId};

impl Device {
    /// Returns the numbers of failed and replaced dies, and the effects of their failures so far,
    /// with the stripes that these leave exposed now; `None` if no die has failed.
    pub fn failed_dies(&self) -> Option<FailedDieCounts> {
        let core = &self.layer.ftl.core;
        let mut counts = core.allocator.failed_dies()?;
        if let Some(raid) = self.layer.raid() {
            (counts.degraded_stripes, counts.sharing_stripes) = raid.exposed_stripes(core);
        }
        Some(counts)
    }
}

impl Controller {
    /// Fails the dies that a fault strikes, except those that a spare die replaces, before their
    /// pages fail. Programs that the failed dies had begun go to other dies.
    pub(super) fn fail_dies(&mut self, flash: &mut Flash, fault: Fault) {
        let ftl = &mut self.ftl;
        let mut begun = Vec::new();
        for die in fault.dies(&ftl.core.layout.geometry).map(DieId) {
            if ftl.core.allocator.die_fails(die) {
                ftl.gc.give_up_die(&ftl.core, die);
                begun.extend(flash.fail_die(die));
            }
        }
        for id in begun {
            let txn = flash.txns.get(id);
            match txn.op {
                Op::Program => self.ftl.displace(flash, id),
                // An erase belonged to a job that was given up.
                Op::Erase | Op::Read => flash.txns.close(id),
            }
        }
        self.program_again(flash);
    }

    /// Programs again, on another die, the data that a die had programmed before it failed, if the
    /// controller still has that data because its parity has not been written yet.
    fn program_again(&mut self, flash: &mut Flash) {
        let core = &self.ftl.core;
        let stays = |txn: &Txn| {
            let failed = || core.allocator.has_failed(core.locator.die_of(txn.unit));
            txn.op == Op::Program
                && txn.unit.is_some()
                && core.allocator.blocks.is_valid(txn.unit)
                && failed()
        };
        let all = flash.txns.iter().filter(|(_, txn)| stays(txn));
        let done: Vec<(UnitId, Lpn)> = all.map(|(_, txn)| (txn.unit, txn.lpn)).collect();
        for (unit, lpn) in done {
            let again = |(_, txn): (TxnId, &Txn)| txn.from == unit;
            if !flash.txns.iter().any(again) {
                self.ftl.program_copy(flash, unit, lpn);
            }
        }
    }

    /// Determines if the drive becomes read-only or offline after dies have failed, and their pages
    /// with them.
    pub(super) fn look_at_capacity(&mut self, flash: &mut Flash) {
        let now = flash.now();
        let allocator = &mut self.ftl.core.allocator;
        let fewer = allocator.dies_have_failed();
        if !fewer || allocator.holds_capacity() || self.ftl.service == Service::Offline {
            return;
        }
        allocator.note_worn_out(now);
        if self.ftl.service == Service::Whole {
            allocator.failed_dies_mut().read_only = Some(now);
            let flash = &mut *flash;
            with_redundancy!(self, |ftl, raid| ftl.become_read_only(flash, raid));
        }
        if !self.ftl.holds_what_it_has() {
            self.ftl.core.allocator.failed_dies_mut().offline = Some(now);
            for die in (0..self.ftl.core.layout.geometry.dies()).map(DieId) {
                self.ftl.core.allocator.shut_down(die);
                self.ftl.gc.give_up_die(&self.ftl.core, die);
                flash.shut_down(die);
            }
            self.ftl.go_offline(flash);
        }
    }

    /// Handles a transaction that a failed die has returned.
    pub(super) fn take_back(&mut self, flash: &mut Flash, id: TxnId) {
        let txn = flash.txns.get(id);
        match (txn.op, txn.owner) {
            (Op::Program, _) if self.ftl.is_orphan(flash, id) => self.done(flash, id, true),
            (Op::Program, _) => self.ftl.displace(flash, id),
            // The jobs of the die were given up.
            (Op::Erase, _) | (Op::Read, Owner::Job | Owner::Scrub | Owner::Measure) => {
                flash.txns.close(id);
            }
            (Op::Read, _) => self.read_done(flash, id),
        }
    }
}
