//! How pages are used over a whole life: the list of section 3.1 of HIRE, of as many pages as the
//! write buffer holds, without the buffer. A page that is written is of the class of its hits by
//! then.

use crate::config::Config;
use crate::policy::hotness::{Hotness, Used};
use crate::policy::stream_tag::StreamTag;
use fowler_units::{IdVec, Lpn};
use serde::{Deserialize, Serialize};

/// No place in the list.
const NOWHERE: u32 = u32::MAX;

/// A page in the list, and its neighbours there.
#[derive(Clone, Copy, Debug)]
struct Entry {
    page: Lpn,
    reads: u16,
    writes: u16,
    older: u32,
    younger: u32,
}

/// A page and its hits, as it is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedUse(u32, u16, u16);

/// The pages used last.
#[derive(Clone, Debug)]
pub struct Uses {
    hotness: Hotness,
    places: IdVec<Lpn, u32>,
    entries: Vec<Entry>,
    most: usize,
    oldest: u32,
    youngest: u32,
}

impl Uses {
    /// The uses that a drive of so many pages and frames tells apart; none if it does not.
    pub fn of(config: &Config, pages: u32, frames: u32) -> Option<Self> {
        let hotness = Hotness::new(&config.hotness, config.geometry.page_size);
        (hotness.tells_classes() && frames > 0).then(|| Self {
            hotness,
            places: IdVec::filled(NOWHERE, pages as usize),
            entries: Vec::with_capacity(frames as usize),
            most: frames as usize,
            oldest: NOWHERE,
            youngest: NOWHERE,
        })
    }

    /// A page is read or written. Returns the tag of what is written there now.
    pub fn used(&mut self, page: Lpn, wrote: bool) -> StreamTag {
        let place = match self.places[page] {
            NOWHERE => self.insert(page),
            place => {
                self.unlink(place);
                place
            }
        };
        self.append(place);
        let its = &mut self.entries[place as usize];
        let hits = if wrote { &mut its.writes } else { &mut its.reads };
        *hits += 1;
        if *hits == u16::MAX {
            // Only their shares are ever asked for.
            (its.reads, its.writes) = (its.reads / 2, its.writes / 2);
        }
        let class = self.hotness.class(Used::often(its.reads, its.writes));
        StreamTag::PLAIN.with(class)
    }

    /// A place for a page: a new one, or that of the page used longest ago.
    fn insert(&mut self, page: Lpn) -> u32 {
        let entry = Entry { page, reads: 0, writes: 0, older: NOWHERE, younger: NOWHERE };
        let place = if self.entries.len() < self.most {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        } else {
            let place = self.oldest;
            self.unlink(place);
            self.places[self.entries[place as usize].page] = NOWHERE;
            self.entries[place as usize] = entry;
            place
        };
        self.places[page] = place;
        place
    }

    fn unlink(&mut self, place: u32) {
        let Entry { older, younger, .. } = self.entries[place as usize];
        match older {
            NOWHERE => self.oldest = younger,
            older => self.entries[older as usize].younger = younger,
        }
        match younger {
            NOWHERE => self.youngest = older,
            younger => self.entries[younger as usize].older = older,
        }
    }

    fn append(&mut self, place: u32) {
        let last = std::mem::replace(&mut self.youngest, place);
        let its = &mut self.entries[place as usize];
        (its.older, its.younger) = (last, NOWHERE);
        match last {
            NOWHERE => self.oldest = place,
            last => self.entries[last as usize].younger = place,
        }
    }

    /// The list, from the page used longest ago on.
    pub fn saved(&self) -> Vec<SavedUse> {
        let mut all = Vec::with_capacity(self.entries.len());
        let mut place = self.oldest;
        while place != NOWHERE {
            let its = &self.entries[place as usize];
            all.push(SavedUse(its.page.0, its.reads, its.writes));
            place = its.younger;
        }
        all
    }

    /// The list as it was saved.
    ///
    /// # Errors
    /// If it is that of another drive.
    pub fn resume(&mut self, saved: &[SavedUse]) -> Result<(), String> {
        let pages = self.places.len() as u32;
        self.places.as_mut_slice().fill(NOWHERE);
        (self.oldest, self.youngest) = (NOWHERE, NOWHERE);
        self.entries.clear();
        for &SavedUse(page, reads, writes) in saved {
            if page >= pages || self.entries.len() == self.most {
                return Err("the pages used last are those of another drive".into());
            }
            if self.places[Lpn(page)] != NOWHERE {
                return Err("a page is twice among those used last".into());
            }
            let place = self.insert(Lpn(page));
            self.append(place);
            let its = &mut self.entries[place as usize];
            (its.reads, its.writes) = (reads, writes);
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

    fn uses(frames: u32) -> Uses {
        let mut config = shaped(Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 8,
            page_size: Bytes(4096),
        });
        assert!(Uses::of(&config, 64, frames).is_none(), "nothing tells uses apart");
        config.hotness.detectors = 2;
        Uses::of(&config, 64, frames).unwrap()
    }

    /// Beside a list that is searched from its beginning.
    #[test]
    fn hits_are_those_of_the_pages_used_last() {
        for seed in 0..8 {
            let (mut uses, mut list) = (uses(6), Vec::<(u32, u16, u16)>::new());
            let mut rng = Rng::stream(seed, "uses");
            for _ in 0..2000 {
                let (page, wrote) = (rng.below(12) as u32, rng.chance(0.3));
                let at = list.iter().position(|its| its.0 == page);
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
