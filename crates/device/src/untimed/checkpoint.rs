//! The saved state of a lifetime drive, from which a run can resume.
//!
//! Invariants: state that follows from the configuration or from the mapping is not saved; a drive
//! that resumes continues exactly as the saved one would have; a state of another drive is refused,
//! with the reason.

use super::translation::{PageMapped, UntimedLayer};
use crate::blocks::block_table::BlocksSnapshot;
use crate::blocks::page_allocator::AllocatorSnapshot;
use crate::mapping::page_map::Location;
use crate::observe::counters::Counters;
use crate::policy::throttle::AnyThrottle;
use crate::policy::victim::AnyVictim;
use crate::policy::wear::AnyWear;
use crate::superblocks::SavedLife;
use crate::untimed::page_uses::{PageUses, SavedUse};
use crate::untimed::{LifetimeDrive, Moved, Position};
use fowler_units::{IdVec, Lpn};
use serde::{Deserialize, Serialize};

/// The saved state of a [`LifetimeDrive`], from which its life can resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    translation: Saved,
    throttle: AnyThrottle,
    counters: Counters,
    position: Position,
}

/// Saved state of the translation layer of a lifetime drive, by its kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Saved {
    Pages(Box<SavedPages>),
    Superblocks(Box<SavedLife>),
}

/// The saved state of a page-mapped translation layer.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedPages {
    map: IdVec<Lpn, u32>,
    blocks: BlocksSnapshot,
    allocator: AllocatorSnapshot,
    victim: AnyVictim,
    wear: AnyWear,
    moved: Moved,
    /// Pages used most recently, with their reads and writes, if the drive divides data into access
    /// classes (read-hot, write-hot or mixed); `None` otherwise.
    uses: Option<Vec<SavedUse>>,
}

impl LifetimeDrive {
    /// Returns the state of the drive to be saved.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            translation: match &self.translation {
                UntimedLayer::Pages(pages) => Saved::Pages(Box::new(pages.saved())),
                UntimedLayer::Superblocks(layer) => Saved::Superblocks(Box::new(layer.save_life())),
            },
            throttle: self.throttle.clone(),
            counters: self.counters,
            position: self.position(),
        }
    }

    /// Resumes this drive, which is at the beginning of its life, from a checkpoint.
    ///
    /// # Errors
    /// The reason why the checkpoint belongs to another drive.
    pub fn resumed(mut self, checkpoint: Checkpoint) -> Result<Self, String> {
        let Checkpoint { translation, throttle, counters, position } = checkpoint;
        match (&mut self.translation, translation) {
            (UntimedLayer::Pages(pages), Saved::Pages(saved)) => {
                pages.resume(*saved, position)?;
            }
            (UntimedLayer::Superblocks(layer), Saved::Superblocks(saved)) => {
                layer.resume_life(*saved)?;
            }
            _ => return Err("it is of another kind of drive".into()),
        }
        (self.throttle, self.counters) = (throttle, counters);
        self.go_on_from(position);
        Ok(self)
    }
}

impl PageMapped {
    fn saved(&self) -> SavedPages {
        let (victim, wear) = self.gc.policies();
        SavedPages {
            map: self.core.map.snapshot(),
            blocks: self.core.allocator.blocks.snapshot(),
            allocator: self.core.allocator.snapshot(),
            victim: victim.clone(),
            wear: wear.clone(),
            moved: Moved { pages: self.gc.untimed.moves, programs_at: self.gc.untimed.programs_at },
            uses: self.uses.as_ref().map(PageUses::saved),
        }
    }

    fn resume(&mut self, saved: SavedPages, position: Position) -> Result<(), String> {
        let core = &mut self.core;
        if !core.map.resume(saved.map) || !core.allocator.blocks.resume(saved.blocks) {
            return Err("it belongs to a drive of another size".into());
        }
        let pages = core.layout.geometry.pages();
        for page in (0..core.map.logical()).map(Lpn) {
            let at = match core.map.place(page) {
                Location::Flash(at) => at,
                Location::Nowhere => continue,
                Location::Buffer(_) => {
                    return Err(
                        "a host page is mapped to the write buffer, which is not saved".into()
                    );
                }
            };
            if at.0 >= pages || core.allocator.blocks.is_valid(at) {
                return Err("two host pages share a location, or one lies beyond the drive".into());
            }
            core.allocator.blocks.validate(at);
            core.map.set_owner(at, page);
        }
        if !core.allocator.resume(saved.allocator) {
            return Err("it is of a drive whose blocks fail otherwise".into());
        }
        self.gc.resume(saved.victim, saved.wear);
        match (&mut self.uses, &saved.uses) {
            (Some(uses), Some(saved)) => uses.resume(saved)?,
            (None, None) => {}
            _ => return Err("it is of a drive that tells uses apart otherwise".into()),
        }
        let untimed = &mut self.gc.untimed;
        (untimed.moves, untimed.clock) = (saved.moved.pages, position.now);
        untimed.programs_at = saved.moved.programs_at;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::shaped;
    use crate::precondition::image::PreconditionedImage;
    use fowler_units::{Bytes, Geometry};

    #[test]
    fn a_mapping_that_cannot_be_is_refused() {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 8,
            page_size: Bytes(4096),
        };
        let mut config = shaped(geometry);
        (config.over_provisioning, config.buffer.size) = (0.3, Bytes(16 * 4096));
        let image = PreconditionedImage::new(&config).expect("a drive that works");
        let drive = || LifetimeDrive::new(&image, &config).expect("a drive that works");
        let whole = drive().checkpoint();
        assert!(drive().resumed(whole.clone()).is_ok());
        let Saved::Pages(pages) = &whole.translation else { unreachable!() };
        let [first, second] = [Lpn(0), Lpn(1)].map(|page| pages.map[page]);
        assert_ne!(first, u32::MAX, "the drive was filled");
        let cases = [
            (1 << 31 | 3, "mapped to the write buffer"),
            (geometry.pages(), "beyond the drive"),
            (second, "share a location"),
        ];
        for (entry, said) in cases {
            let mut damaged = whole.clone();
            let Saved::Pages(pages) = &mut damaged.translation else { unreachable!() };
            pages.map[Lpn(0)] = entry;
            let Err(refused) = drive().resumed(damaged) else { panic!("{entry} is not rejected") };
            assert!(refused.contains(said), "{entry}: {refused}");
        }
    }
}
