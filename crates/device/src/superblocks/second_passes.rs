//! The second passes of word lines that are programmed twice.
//!
//! 1. The first pass of a command is submitted ([`Superblocks::submit_in_passes`]).
//! 2. The second pass of the previous command on the same die, of the same stream, follows it.
//! 3. After the last command of a die in a superblock, the second pass of that command follows at
//!    once.

use super::Superblocks;
use super::commands::{Open, Stream};
use super::passes::Begun;
use crate::flash::Flash;
use crate::flash::txn::Owner;
use crate::observe::operation::Source;
use fowler_units::UnitId;

impl Superblocks {
    /// Returns true if a unit of the flash is read from the controller, because its word line
    /// is between its passes.
    #[inline]
    pub(super) fn is_between_passes(&self, unit: UnitId) -> bool {
        self.commands.passes.as_ref().is_some_and(|passes| passes.holds(&self.shape, unit))
    }

    /// Sends the first of a command's two program passes, and then the second pass of the previous
    /// command on its die. For the last command of the die in a superblock, sends that command's
    /// own second pass as well.
    pub(super) fn submit_in_passes(
        &mut self,
        flash: &mut Flash,
        (stream, open): (Stream, Open),
        number: u32,
        source: Source,
    ) {
        let begun = Begun { number, source };
        self.submit_pass(flash, stream, number, source, Owner::FirstPass(number));
        let last = self.is_last_of_die(open.superblock, open.command);
        let Some(passes) = &mut self.commands.passes else { return };
        passes.unfinished[(open.superblock.0 * self.shape.commands + open.command) as usize] = true;
        let position = (open.command % self.shape.dies) as usize;
        let place = &mut passes.begun[stream.index()][position];
        let before = std::mem::replace(place, (!last).then_some(begun));
        for command in [before, last.then_some(begun)].into_iter().flatten() {
            let owner = Owner::Command(command.number);
            self.submit_pass(flash, stream, command.number, command.source, owner);
        }
    }
}
