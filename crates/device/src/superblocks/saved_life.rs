//! The state of a drive with superblocks in the middle of a life, from which the life can resume.
//!
//! Invariants: everything that follows from the configuration or from the map is left out; no
//! damaged state makes a drive that cannot be, because each part is checked when it is taken over.

use super::Superblocks;
use super::aging::Data;
use super::bad_blocks::SavedBadBlocks;
use super::collection::{EmptyingJob, UNPACED, Why};
use super::commands::{MOVED_MAX, Open, SWAPPED, Stream};
use super::limits::SavedLimits;
use super::renewals::Renewals;
use super::slc_cache::Mode;
use crate::mapping::page_map::Location;
use crate::policy::placement::StreamId;
use crate::policy::stream_tag::StreamTag;
use crate::policy::victim::AnyVictim;
use crate::policy::wear::AnyWear;
use fowler_units::{Id, Lpn, Nanos, RuId, UnitId};
use serde::{Deserialize, Serialize};

/// Checkpoint of a drive with superblocks in a lifetime simulation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedLife {
    /// Mapping table and superblock states, as 32-bit words in the format of a preconditioned
    /// drive's saved state ([`super::map::Map::save`]).
    words: Vec<u32>,
    /// The time at which each superblock last became full.
    filled_at: Vec<Nanos>,
    victim: AnyVictim,
    /// The superblock that each stream fills, by the number of the stream, and its next command.
    open: Vec<(u8, RuId, u32)>,
    /// Program commands that streams of moved data have begun to fill: for each, the stream, the
    /// next free unit and the end of the command's units.
    begun: Vec<(u8, UnitId, UnitId)>,
    /// Host units that wait in the write buffer, in order, each with the stream tag of its data
    /// (hotness, access class and placement handle).
    waiting: Vec<(Lpn, StreamTag)>,
    /// Tag (hotness and placement handle) of the data of each superblock; empty if there is one
    /// stream.
    tags: Vec<StreamTag>,
    /// Number of the host stream that sent the latest program command.
    last: u8,
    /// The sizes of requests seen by the detector of hotness, each with its number of requests.
    sizes: Vec<(u32, u64)>,
    job: Option<SavedJob>,
    chosen: Option<RuId>,
    /// State of static wear leveling: the policy, and the superblock whose cold data is to be
    /// swapped next; `None` on a drive without wear leveling.
    wear: Option<(AnyWear, Option<RuId>)>,
    carried: i64,
    gained_little: bool,
    /// The superblocks in SLC mode, in the order in which they were opened.
    cached: Vec<RuId>,
    /// The ages of the superblocks; empty if no data ages.
    ages: Vec<Data>,
    /// Superblocks due for a refresh, the next one first; and the one that is being refreshed.
    due: Vec<RuId>,
    refreshed: Option<RuId>,
    /// Superblocks that have become due for refresh since their last erase, including those that
    /// still wait for it and the one being refreshed.
    were_due: Vec<RuId>,
    /// Superblocks without parity; and the drive's stage of life, 0 to 2: a range of wear with its
    /// own rules for parity. Empty and 0 on a drive without parity.
    bare: Vec<RuId>,
    stage: u8,
    /// Age and read counts of all superblocks; `None` on a drive that does not refresh superblocks
    /// by age or reads.
    limits: Option<SavedLimits>,
    /// Blocks that have failed; `None` on a drive whose blocks never fail.
    bad: Option<SavedBadBlocks>,
}

/// The superblock that is being emptied.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SavedJob {
    victim: RuId,
    /// True if the superblock is emptied because its data is due to be moved, false if for its
    /// space.
    refreshes: bool,
    /// True if the superblock being emptied is in SLC mode, and the reason is that the SLC cache is
    /// full.
    folds: bool,
    /// True if the superblock is emptied because static wear leveling swaps its cold data into a
    /// worn superblock.
    swaps: bool,
    /// Next unit to look at in the superblock being emptied; it is moved if it is valid.
    next: UnitId,
    valid: u32,
    gain: u32,
    moved: u32,
    written: i64,
}

/// Bound on the units by which host writes can be ahead of or behind the emptying of a superblock:
/// a saved state with more is rejected as corrupt.
const AHEAD_MOST: i64 = 1 << 32;

impl Superblocks {
    /// Returns the state of the drive in a lifetime simulation, to be saved in a checkpoint, while
    /// no program, read or erase is in progress.
    pub(crate) fn save_life(&self) -> SavedLife {
        let mut words = Vec::new();
        let saved = self.map.save(&mut |more| {
            words.extend_from_slice(more);
            Ok(())
        });
        saved.expect("memory takes any state");
        // The map of a unit in the buffer is saved as its old copy in the flash; what the buffer
        // holds is saved in `waiting`.
        let first = words.len() - self.map.logical() as usize;
        for (page, place) in self.map.pages().zip(&mut words[first..]) {
            if let Location::Buffer(frame) = self.map.place(page) {
                *place = self.buffer.unit(frame).0;
            }
        }
        let open = Stream::all().filter_map(|stream| {
            let open = self.commands.open_of(stream)?;
            Some((stream.index() as u8, open.superblock, open.command))
        });
        let begun = (0..MOVED_MAX).filter_map(|stream| {
            let (next, end) = self.collector.begun[stream]?;
            Some((stream as u8, next, end))
        });
        let (tags, last) = self.streams.snapshot();
        let aging = self.aging.as_deref();
        SavedLife {
            filled_at: self.map.blocks().filled_times().to_vec(),
            victim: self.victim.clone(),
            open: open.collect(),
            begun: begun.collect(),
            waiting: self.streams.of_host().flat_map(|at| self.buffer.waiting_units(at)).collect(),
            tags: tags.to_vec(),
            last: last.0,
            sizes: self.streams.sizes_seen(),
            job: self.collector.job.map(|job| SavedJob::of(&job)),
            chosen: self.collector.chosen,
            wear: self.leveling.as_ref().map(|it| (it.rule.clone(), it.wanted)),
            carried: self.collector.carried,
            gained_little: self.collector.gained_little,
            cached: self.slc.as_ref().map_or_else(Vec::new, |cache| cache.held().to_vec()),
            ages: aging.map_or_else(Vec::new, |aging| aging.all.as_slice().to_vec()),
            due: self.renewals.due.iter().copied().collect(),
            refreshed: self.renewals.moving,
            were_due: self.map.superblocks().filter(|&it| self.renewals.has(it)).collect(),
            bare: self.bare_superblocks(),
            stage: self.coverage.as_ref().map_or(0, |coverage| coverage.stage as u8),
            limits: self.limits.as_ref().map(|limits| limits.save()),
            bad: self.save_bad_blocks(),
            words,
        }
    }

    /// Resumes this drive from a saved state.
    ///
    /// # Errors
    /// The reason why the state is that of another drive.
    pub(crate) fn resume_life(&mut self, saved: SavedLife) -> Result<(), String> {
        let other = || String::from("it is of a drive of another size");
        let count = self.shape.superblocks as usize;
        if saved.filled_at.len() != count || saved.due.len() > count {
            return Err(other());
        }
        // A life resumes from the drive at its beginning, which may be in the middle of something.
        self.buffer.clear();
        (self.collector.job, self.collector.leaving) = (None, 0);
        let taken = self.open_saved(&saved)?;
        self.map.clear(&self.shape, self.layout.logical_pages);
        self.resume_bad_blocks(saved.bad.as_ref())?;
        let in_gap = |open: &Open| {
            open.command < self.shape.commands && !self.uses(open.superblock, open.command)
        };
        if taken.iter().any(in_gap) {
            return Err("an open superblock programs nothing next".into());
        }
        let mut rest = saved.words.as_slice();
        self.map.restore(
            &mut |into| {
                let (now, later) = rest.split_at_checked(into.len()).ok_or("it ends too early")?;
                into.copy_from_slice(now);
                rest = later;
                Ok(())
            },
            &taken,
        )?;
        self.resume_bare(&saved.bare, saved.stage)?;
        self.resume_limits(saved.limits.clone())?;
        self.resume_begun(&saved)?;
        self.resume_leveling(&saved)?;
        if let Some(job) = saved.job {
            self.resume_job(job, saved.refreshed)?;
        }
        self.map.set_filled_times(&saved.filled_at);
        let bounded = (-AHEAD_MOST..=AHEAD_MOST).contains(&saved.carried);
        if !bounded || saved.chosen.is_some_and(|chosen| chosen.index() >= count) {
            return Err("its collection chose a superblock that is not there".into());
        }
        (self.collector.carried, self.collector.chosen) = (saved.carried, saved.chosen);
        self.collector.gained_little = saved.gained_little;
        self.victim = saved.victim.clone();
        let sizes = self.streams.resume_sizes(&saved.sizes);
        if !sizes || !self.streams.resume(&saved.tags, StreamId(saved.last)) {
            return Err("it is of a drive with other streams".into());
        }
        self.resume_cache(&saved)?;
        self.resume_ages(&saved)?;
        self.resume_buffer(&saved)?;
        self.map.superblocks().for_each(|superblock| self.keep_places(superblock));
        self.check_bad_blocks()
    }

    /// Opens the superblocks that were open in a saved life. Returns them, and those that are being
    /// emptied or have a command in progress, which count as completely used.
    fn open_saved(&mut self, saved: &SavedLife) -> Result<Vec<Open>, String> {
        let wrong = || String::from("a superblock is open that the drive does not have");
        let (superblocks, commands) = (self.shape.superblocks, self.shape.commands);
        for stream in Stream::all() {
            self.commands.set_open(stream, None);
        }
        let mut taken = Vec::new();
        for &(number, superblock, command) in &saved.open {
            let stream = Stream::all().nth(number.into()).ok_or_else(wrong)?;
            let known = match stream {
                Stream::Host(at) => at.0 < self.streams.count(),
                Stream::Moved(at) => self.streams.moved().contains(&at),
                Stream::Slc => self.slc.is_some(),
            };
            if !known || superblock.0 >= superblocks || command >= commands {
                return Err(wrong());
            }
            let open = Open { superblock, command };
            self.commands.set_open(stream, Some(open));
            taken.push(open);
        }
        let whole = |superblock| Open { superblock, command: commands };
        for &(_, _, end) in &saved.begun {
            if end.0 == 0 || u64::from(end.0) > self.shape.all_numbers() {
                return Err(wrong());
            }
            let superblock = self.shape.superblock_of(UnitId(end.0 - 1));
            if !taken.iter().any(|open| open.superblock == superblock) {
                taken.push(whole(superblock));
            }
        }
        if let Some(job) = saved.job {
            if job.victim.0 >= superblocks {
                return Err(wrong());
            }
            taken.push(whole(job.victim));
        }
        Ok(taken)
    }

    /// Restores, from a saved state, the program commands that streams of moved data have begun to
    /// fill.
    fn resume_begun(&mut self, saved: &SavedLife) -> Result<(), String> {
        let wrong = || String::from("it has begun a command that cannot be");
        self.collector.begun = [None; MOVED_MAX];
        for &(stream, next, end) in &saved.begun {
            let stream = StreamId(stream);
            let superblock = self.shape.superblock_of(UnitId(end.0 - 1));
            let command = self.shape.command_of(UnitId(end.0 - 1));
            let first = self.shape.unit_of_command(superblock, command);
            let open = self.commands.open_of(Stream::Moved(stream.min(SWAPPED)));
            let after = match self.gaps_of(superblock) {
                None => command + 1,
                Some(gaps) => gaps.next_used(command + 1),
            };
            let follows = match open {
                Some(open) => (open.superblock, open.command) == (superblock, after),
                None => after == self.shape.commands,
            };
            let whole = end == first.plus(self.shape.units_per_command);
            let known = self.streams.moved().contains(&stream);
            let rest_is_empty =
                || next.run(end.0 - next.0).all(|unit| self.map.valid_owner(unit).is_none());
            if !(known && follows && whole && first <= next && next < end && rest_is_empty())
                || self.collector.begun[stream.index()].is_some()
            {
                return Err(wrong());
            }
            self.collector.begun[stream.index()] = Some((next, end));
            self.map.departed(superblock);
        }
        Ok(())
    }

    /// Restores, from a saved state, the superblock that is being emptied and how far that has
    /// come.
    fn resume_job(&mut self, saved: SavedJob, refreshed: Option<RuId>) -> Result<(), String> {
        let SavedJob { victim, refreshes, folds, swaps, next, valid, gain, moved, written } = saved;
        let first = self.shape.first_unit(victim);
        let end = first.plus(self.shape.units);
        let data = self.data_units_of(victim);
        let sound = (first..=end).contains(&next)
            && (next.0 - first.0).is_multiple_of(self.shape.units_per_page)
            && valid.max(gain).max(moved) <= data
            && (-AHEAD_MOST..=AHEAD_MOST).contains(&written)
            && refreshes == (refreshed == Some(victim))
            && u32::from(refreshes) + u32::from(folds) + u32::from(swaps) <= 1
            && (!swaps || self.leveling.is_some())
            && (!folds || self.slc.is_some())
            && first.run(next.0 - first.0).all(|unit| self.map.valid_owner(unit).is_none());
        if !sound {
            return Err("it empties a superblock that cannot be emptied".into());
        }
        let why = match (refreshes, folds, swaps) {
            (true, ..) => Why::Refresh,
            (_, true, _) => Why::CacheFull,
            (.., true) => Why::Wear,
            _ => Why::Space,
        };
        if let Some(leveling) = &mut self.leveling {
            leveling.moving = swaps.then_some(victim);
        }
        self.map.fill_and_empty(victim);
        self.collector.leaving = u32::from(!self.map.is_aside(victim));
        self.collector.job = Some(EmptyingJob {
            victim,
            why,
            next,
            end,
            valid: valid.into(),
            gain: gain.into(),
            moved: moved.into(),
            written,
            slack: if why == Why::Refresh { UNPACED } else { self.collector.slack },
            into: StreamId(0),
        });
        Ok(())
    }

    /// Restores, from a saved state, the state of the wear-leveling policy and the superblock whose
    /// cold data it has chosen to be swapped next.
    fn resume_leveling(&mut self, saved: &SavedLife) -> Result<(), String> {
        let wanted = match (&mut self.leveling, &saved.wear) {
            (None, None) => return Ok(()),
            (Some(leveling), Some((rule, wanted))) => {
                leveling.rule = rule.clone();
                (leveling.wanted, leveling.moving) = (*wanted, None);
                *wanted
            }
            _ => return Err("it is of a drive that levels its wear otherwise".into()),
        };
        match wanted.is_some_and(|wanted| wanted.0 >= self.shape.superblocks) {
            true => Err("it swaps the data of a superblock that is not there".into()),
            false => Ok(()),
        }
    }

    /// Restores, from a saved state, which superblocks are in SLC mode.
    fn resume_cache(&mut self, saved: &SavedLife) -> Result<(), String> {
        let folded = saved.job.filter(|job| job.folds).map(|job| job.victim);
        let aside = |number: RuId| self.map.is_aside(number);
        let dynamic = saved.cached.iter().filter(|&&number| !aside(number)).count() as u32;
        let known = match &mut self.slc {
            Some(cache) => cache.resume(&saved.cached, dynamic, folded),
            None => saved.cached.is_empty(),
        };
        if known { Ok(()) } else { Err("it is of a drive with another SLC cache".into()) }
    }

    /// Restores, from a saved state, the age of the data in each superblock and the superblocks due
    /// for refresh.
    fn resume_ages(&mut self, saved: &SavedLife) -> Result<(), String> {
        let there = |number: &RuId| number.0 < self.shape.superblocks;
        if !saved.due.iter().chain(&saved.refreshed).chain(&saved.were_due).all(there) {
            return Err("a superblock is due that the drive does not have".into());
        }
        self.renewals = Renewals::new(self.shape.superblocks);
        for &number in &saved.were_due {
            self.renewals.is_due[number] = true;
        }
        self.renewals.due = saved.due.iter().copied().collect();
        self.renewals.moving = saved.refreshed;
        let entries = self.aging.as_ref().map_or(0, |aging| aging.entries());
        let count = self.aging.as_ref().map_or(0, |aging| aging.all.len());
        if saved.ages.len() != count || saved.ages.iter().any(|data| data.last >= entries) {
            return Err("it is of a drive whose data ages otherwise".into());
        }
        if let Some(aging) = &mut self.aging {
            aging.all.as_mut_slice().copy_from_slice(&saved.ages);
        }
        Ok(())
    }

    /// Puts the host units of a checkpoint of a lifetime simulation back into the write buffer, and
    /// sets the stream that takes the data of the superblock being emptied.
    fn resume_buffer(&mut self, saved: &SavedLife) -> Result<(), String> {
        let wrong = || String::from("its buffer holds what it cannot hold");
        if let Some(job) = &mut self.collector.job {
            job.into = match job.why {
                Why::Wear => SWAPPED,
                _ => self.streams.of_survivors(job.victim),
            };
        }
        for &(page, tag) in &saved.waiting {
            if page.0 >= self.map.logical() || !self.streams.knows(tag) {
                return Err(wrong());
            }
            let copy = match self.map.place(page) {
                Location::Nowhere => UnitId::NONE,
                Location::Flash(unit) => unit,
                Location::Buffer(_) => return Err(wrong()),
            };
            let stream = self.streams.of(tag);
            let frame = self.buffer.take(page, copy, (stream, tag)).ok_or_else(wrong)?;
            self.map.buffer(page, frame);
            self.buffer.complete(frame);
        }
        // No stream waits with a whole command: it would have been programmed.
        let least = self.shape.units_per_command;
        match self.streams.of_host().any(|stream| self.buffer.waiting(stream) >= least) {
            true => Err(wrong()),
            false => Ok(()),
        }
    }
}

impl SavedJob {
    fn of(job: &EmptyingJob) -> SavedJob {
        SavedJob {
            victim: job.victim,
            refreshes: job.why == Why::Refresh,
            folds: job.why == Why::CacheFull,
            swaps: job.why == Why::Wear,
            next: job.next,
            valid: job.valid as u32,
            gain: job.gain as u32,
            moved: job.moved as u32,
            written: job.written,
        }
    }
}

impl super::slc_cache::SlcCache {
    /// Takes over saved superblocks in SLC mode, of which `dynamic` are not reserved for the SLC
    /// cache, and one may be in the process of being folded into normal mode. Returns false if this
    /// drive cannot have such superblocks.
    fn resume(&mut self, held: &[RuId], dynamic: u32, folded: Option<RuId>) -> bool {
        self.clear();
        for &number in held {
            let Some(Mode::Usual) = self.modes.get(number) else { return false };
            self.modes[number] = Mode::Slc;
        }
        if let Some(victim) = folded {
            if !held.contains(&victim) {
                return false;
            }
            self.modes[victim] = Mode::Folded;
        }
        (self.dynamic, self.folded) = (dynamic, u32::from(folded.is_some()));
        self.held = held.to_vec();
        true
    }
}
