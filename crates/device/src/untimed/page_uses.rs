//! The access classes of pages over a whole life: the LRU list of section 3.1 of HIRE, which holds
//! as many pages as the write buffer, without the buffer. The hits of a page decide its class when
//! the page is written.
//!
//! Invariants: a page is in the list at most once, and `places` finds it; the list has at most as
//! many pages as the buffer has frames; only the ratio of reads to writes matters, so both are
//! halved before one overflows.

use crate::config::Config;
use crate::policy::hotness::{Hotness, Used};
use crate::policy::stream_tag::StreamTag;
use fowler_units::{FrameId, Id, IdVec, Link, Linked, List, Lpn};
use serde::{Deserialize, Serialize};

/// A logical page in the LRU list of pages used most recently by the host, with its reads and
/// writes while there.
#[derive(Clone, Copy, Debug)]
struct Entry {
    page: Lpn,
    reads: u16,
    writes: u16,
    link: Link<FrameId>,
}

impl Linked<FrameId> for Entry {
    fn link(&self) -> &Link<FrameId> {
        &self.link
    }

    fn link_mut(&mut self) -> &mut Link<FrameId> {
        &mut self.link
    }
}

/// A logical page in the LRU list of pages used most recently by the host, with its reads and
/// writes while there, as saved in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedUse(u32, u16, u16);

/// LRU list of the logical pages used most recently, with the number of reads and writes of each
/// while in the list; as long as the write buffer.
#[derive(Clone, Debug)]
pub struct PageUses {
    hotness: Hotness,
    /// For each logical page, its entry in the LRU list of pages used most recently by the host;
    /// `NONE` if it is not in the list.
    places: IdVec<Lpn, FrameId>,
    entries: IdVec<FrameId, Entry>,
    /// LRU list of the logical pages that the host has read or written most recently, the least
    /// recently used one first.
    list: List<FrameId>,
}

impl PageUses {
    /// Creates an empty LRU list for a drive with `pages` logical pages, of which the list holds
    /// `frames` (as many as the write buffer); `None` if the drive does not divide data into access
    /// classes (read-hot, write-hot or mixed).
    pub fn of(config: &Config, pages: u32, frames: u32) -> Option<Self> {
        let hotness = Hotness::new(&config.hotness, config.geometry.page_size);
        let blank = Entry { page: Lpn(0), reads: 0, writes: 0, link: Link::NONE };
        (hotness.tells_classes() && frames > 0).then(|| Self {
            hotness,
            places: IdVec::filled(FrameId::NONE, pages as usize),
            entries: IdVec::filled(blank, frames as usize),
            list: List::EMPTY,
        })
    }

    /// Counts a host read or write of a page, which becomes the most recently used one of the list.
    /// Returns the stream tag for data written to the page now, with the page's access class:
    /// read-hot, write-hot or mixed, by its reads and writes while in the list.
    pub fn used(&mut self, page: Lpn, wrote: bool) -> StreamTag {
        let mut place = self.places[page];
        if place.is_some() {
            self.list.remove(&mut self.entries, place);
            self.list.push_back(&mut self.entries, place);
        } else {
            place = self.insert(page);
        }
        let entry = &mut self.entries[place];
        let hits = if wrote { &mut entry.writes } else { &mut entry.reads };
        *hits += 1;
        if *hits == u16::MAX {
            // Only the ratio of the two matters.
            (entry.reads, entry.writes) = (entry.reads / 2, entry.writes / 2);
        }
        let class = self.hotness.class(Used::often(entry.reads, entry.writes));
        StreamTag::PLAIN.with_class(class)
    }

    /// Appends a page to the LRU list of used pages, with no reads or writes counted; if the list
    /// is full, the least recently used page drops out.
    fn insert(&mut self, page: Lpn) -> FrameId {
        let held = self.list.len() as usize;
        let place = if held < self.entries.len() {
            FrameId::new(held)
        } else {
            let oldest = self.list.pop_front(&mut self.entries).expect("a list of frames");
            self.places[self.entries[oldest].page] = FrameId::NONE;
            oldest
        };
        self.entries[place] = Entry { page, reads: 0, writes: 0, link: Link::NONE };
        self.places[page] = place;
        self.list.push_back(&mut self.entries, place);
        place
    }

    /// Returns the LRU list of used pages for a checkpoint, the least recently used page first.
    pub fn saved(&self) -> Vec<SavedUse> {
        let saved = |place: FrameId| {
            let Entry { page, reads, writes, .. } = self.entries[place];
            SavedUse(page.0, reads, writes)
        };
        self.list.iter(&self.entries).map(saved).collect()
    }

    /// Replaces the LRU list of recently used pages by a saved one.
    ///
    /// # Errors
    /// If the saved list is that of another drive.
    pub fn resume(&mut self, saved: &[SavedUse]) -> Result<(), String> {
        let pages = self.places.len() as u32;
        self.places.as_mut_slice().fill(FrameId::NONE);
        self.list = List::EMPTY;
        for &SavedUse(page, reads, writes) in saved {
            if page >= pages || self.list.len() as usize == self.entries.len() {
                return Err("the list of recently used pages is that of another drive".into());
            }
            if self.places[Lpn(page)].is_some() {
                return Err("the list of recently used pages has a page twice".into());
            }
            let place = self.insert(Lpn(page));
            let entry = &mut self.entries[place];
            (entry.reads, entry.writes) = (reads, writes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::shaped;
    use crate::policy::stream_tag::AccessClass;
    use fowler_units::{Bytes, Geometry, Rng};

    fn uses(frames: u32) -> PageUses {
        let mut config = shaped(Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 8,
            page_size: Bytes(4096),
        });
        assert!(PageUses::of(&config, 64, frames).is_none(), "nothing tells uses apart");
        config.hotness.detectors = 2;
        PageUses::of(&config, 64, frames).unwrap()
    }

    /// The hits of pages are the same as those found by a search through a list from its beginning.
    #[test]
    fn hits_are_those_of_the_pages_used_last() {
        for seed in 0..8 {
            let (mut uses, mut list) = (uses(6), Vec::<(u32, u16, u16)>::new());
            let mut rng = Rng::stream(seed, "uses");
            for _ in 0..2000 {
                let (page, wrote) = (rng.below(12) as u32, rng.chance(0.3));
                let at = list.iter().position(|entry| entry.0 == page);
                let (_, reads, writes) = at.map_or((page, 0, 0), |at| list.remove(at));
                let hits = (reads + u16::from(!wrote), writes + u16::from(wrote));
                list.push((page, hits.0, hits.1));
                if list.len() > 6 {
                    list.remove(0);
                }
                let class = uses.hotness.class(Used::often(hits.0, hits.1));
                assert_eq!(uses.used(Lpn(page), wrote).class(), class, "seed {seed}");
            }
            let saved = uses.saved();
            let expected: Vec<SavedUse> =
                list.iter().map(|&(page, reads, writes)| SavedUse(page, reads, writes)).collect();
            assert_eq!(saved, expected, "seed {seed}");
            let mut again = self::uses(6);
            again.resume(&saved).unwrap();
            assert_eq!(again.saved(), saved, "seed {seed}");
            assert!(again.resume(&[saved[0], saved[0]]).is_err());
            assert!(self::uses(5).resume(&saved).is_err());
        }
    }

    #[test]
    fn what_is_only_written_is_write_hot() {
        let mut uses = uses(4);
        assert_eq!(uses.used(Lpn(1), true).class(), AccessClass::WriteHot);
        assert_eq!(uses.used(Lpn(2), false).class(), AccessClass::ReadHot);
        assert_eq!(uses.used(Lpn(2), true).class(), AccessClass::Mixed);
    }
}
