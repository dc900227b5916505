//! Programs in two passes. The first pass of a word line is coarse. The second is fine, and follows
//! the first pass of the next word line of the same die and superblock, which would disturb it. At
//! the end of a superblock the second pass follows at once. Each pass transfers the data, which
//! stay in the controller until the second has ended, and are read from there. Units that the host
//! has written keep their frames of the buffer for so long; units that garbage collection moves
//! leave their old place after the first pass. See docs/decisions/superblocks.md, "What are two
//! passes?".

use super::commands::Stream;
use super::shape::Shape;
use crate::config::FlashConfig;
use crate::observe::operation::Source;
use fowler_units::{Bytes, RuId, UnitId};

/// A command between its passes: its number, and the source of its data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub(super) number: u32,
    pub(super) source: Source,
}

/// The commands whose second pass has not ended.
#[derive(Clone, Debug)]
pub(super) struct Passes {
    /// The command whose second pass has not been sent, by stream ([`Stream::index`]) and by
    /// position of the die in striping order.
    pub(super) begun: Vec<Vec<Option<Begun>>>,
    /// For each command of every superblock, true while it has begun and its last pass has not
    /// ended.
    pub(super) unfinished: Vec<bool>,
}

impl Passes {
    /// Creates the state of a drive that programs in two passes; none for a drive that programs in
    /// one.
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

    /// The second pass of the command of a unit has ended.
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
