//! Static wear leveling of superblocks: the rule of `policy.wear`, and the swap in progress.
//! [`super::swaps`] does what the rule says.
//!
//! Invariant: at most one swap is wanted or in progress; an erase asks the rule only if none is.

use super::map::Map;
use crate::config::Config;
use crate::policy::wear::{AnyWear, Params, Wear, WearKind};
use fowler_units::{BlockId, RuId};

/// State of a drive's static wear leveling, which swaps cold data into worn superblocks.
#[derive(Clone, Debug)]
pub(super) struct WearLeveling {
    params: Params,
    seed: u64,
    pub(super) rule: AnyWear,
    /// Superblock whose cold data is to be moved next; `None` if no erase has made a swap
    /// necessary.
    pub(super) wanted: Option<RuId>,
    /// The superblock whose cold data is being moved, until its erase has ended.
    pub(super) moving: Option<RuId>,
}

impl Config {
    /// Returns true if cold data is swapped into worn superblocks.
    pub(super) fn levels_wear(&self) -> bool {
        self.wear.name != WearKind::Off
    }

    /// Returns the number of superblocks that are open for moved data: one for each stream of
    /// garbage collection, and one for swapped data.
    pub(crate) fn moved_superblocks(&self) -> u32 {
        self.moved_streams() + u32::from(self.levels_wear())
    }
}

impl WearLeveling {
    /// Creates the state of static wear leveling for a drive; `None` if its wear is not leveled.
    pub fn new(config: &Config) -> Option<WearLeveling> {
        config.levels_wear().then(|| WearLeveling {
            params: config.wear,
            seed: config.seed,
            rule: AnyWear::new(&config.wear, config.seed),
            wanted: None,
            moving: None,
        })
    }

    /// Begins a life in which each erase stands for `dilation` erases: the threshold of the wear
    /// policy, in real erases, is divided by that.
    pub fn begin_life(&mut self, dilation: u32) {
        let threshold = self.params.threshold.div_ceil(dilation.max(1));
        self.rule = AnyWear::new(&Params { threshold, ..self.params }, self.seed);
    }

    /// Lets the wear-leveling policy choose, after the erase of a superblock, a superblock whose
    /// cold data is to be swapped into a worn one, unless such a swap is pending or in progress.
    pub fn erased(&mut self, map: &Map, superblock: RuId) {
        if self.wanted.is_none() && self.moving.is_none() {
            let cold = self.rule.swap(&map.candidates(), BlockId(superblock.0));
            self.wanted = cold.map(|cold| RuId(cold.0));
        }
    }
}
