//! Programs in two passes. The first pass of a word line is coarse. The second is fine, and follows
//! the first pass of the next word line of the same die and superblock, which would disturb it. At
//! the end of a superblock the second pass follows at once. Each pass transfers the data, which
//! stay in the controller until the second has ended, and are read from there. Units that the host
//! has written keep their frames of the buffer for so long; units that garbage collection moves
//! leave their old place after the first pass. See docs/decisions/superblocks.md, "What are two
//! passes?".
//!
//! Invariants: for each stream and die at most one command is between the submissions of its
//! passes; `unfinished` is true from the submission of the first pass of a command to the end of
//! the second.

use super::commands::Stream;
use super::shape::Shape;
use crate::config::FlashConfig;
use crate::observe::operation::Source;
use fowler_units::{Bytes, RuId, UnitId};

/// A program command between the first and the second program pass of its word lines: its number
/// among the commands in flight, and the kind of operation that caused it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub(super) number: u32,
    pub(super) source: Source,
}

/// Program commands on a drive that programs word lines in two passes: those whose second pass has
/// not been sent, and those where it has not ended.
#[derive(Clone, Debug)]
pub(super) struct Passes {
    /// The command whose first program pass has been sent and whose second has not: one or none for
    /// each stream ([`Stream::index`]) and each position of a die in the striping order.
    pub(super) begun: Vec<Vec<Option<Begun>>>,
    /// For each command of every superblock, true while it has begun and its last pass has not
    /// ended.
    pub(super) unfinished: Vec<bool>,
}

impl Passes {
    /// Creates the record of commands between two program passes of their word lines, empty; `None`
    /// if the flash programs word lines in one pass.
    pub fn new(config: &FlashConfig, shape: &Shape) -> Option<Box<Passes>> {
        let none = vec![None; shape.dies as usize];
        let commands = (shape.superblocks * shape.commands) as usize;
        (config.program_passes > 1).then(|| {
            Box::new(Passes { begun: vec![none; Stream::COUNT], unfinished: vec![false; commands] })
        })
    }

    pub fn bytes(config: &FlashConfig, shape: &Shape) -> Bytes {
        if config.program_passes == 1 {
            return Bytes(0);
        }
        Bytes::of::<[Option<Begun>; Stream::COUNT]>(shape.dies.into())
            + Bytes::of::<bool>(u64::from(shape.superblocks) * u64::from(shape.commands))
    }

    fn at(shape: &Shape, unit: UnitId) -> usize {
        (shape.superblock_of(unit).0 * shape.commands + shape.command_of(unit)) as usize
    }

    /// Returns true if the command of a unit has begun and not ended.
    #[inline]
    pub fn holds(&self, shape: &Shape, unit: UnitId) -> bool {
        self.unfinished[Passes::at(shape, unit)]
    }

    /// Records the end of the second program pass of the command that contains a unit: the data is
    /// in the flash from now on.
    pub fn ended(&mut self, shape: &Shape, unit: UnitId) {
        self.unfinished[Passes::at(shape, unit)] = false;
    }

    /// Returns the number of commands of a superblock that have begun and not ended.
    pub fn unfinished_in(&self, shape: &Shape, superblock: RuId) -> u32 {
        let first = (superblock.0 * shape.commands) as usize;
        let commands = &self.unfinished[first..first + shape.commands as usize];
        commands.iter().filter(|&&unfinished| unfinished).count() as u32
    }
}
