//! The state of a drive with superblocks before its first request, as words that can be saved and
//! read again.
//!
//! Invariants: everything that follows from the configuration is left out; a drive from its saved
//! state serves as the one that was filled; no damaged state makes a drive that cannot be.

use super::Superblocks;
use super::commands::Open;
use crate::blocks::words::{PutWords, TakeWords, list};
use crate::config::Config;
use crate::precondition::Preconditioned;
use fowler_units::{Id, RuId};

/// 32-bit word that stands for a missing optional number, such as a superblock that does not exist,
/// in a saved state.
const NONE: u32 = u32::MAX;

/// Writes a list of superblocks to a saved state: their count, and then the number of each.
fn put_list<'a>(
    put: PutWords<'_>,
    superblocks: impl IntoIterator<Item = &'a RuId>,
) -> Result<(), String> {
    let words: Vec<u32> = superblocks.into_iter().map(|superblock| superblock.0).collect();
    put(&[words.len() as u32])?;
    put(&words)
}

/// Reads a list of superblocks from a saved state, a count and then the number of each; fails if
/// one is not below `count`, the superblocks of the drive, or appears twice.
fn take_list(take: TakeWords<'_>, count: u32) -> Result<Vec<RuId>, String> {
    Ok(list(take, count)?.into_iter().map(RuId).collect())
}

impl Superblocks {
    /// Writes the state of this preconditioned drive, which has served no request yet, to `put`,
    /// from which [`Superblocks::with_saved_state`] can restore it.
    ///
    /// # Errors
    /// If `put` fails.
    pub fn save_state(&self, put: PutWords<'_>) -> Result<(), String> {
        self.preconditioned.save(put)?;
        for stream in self.streams.of_filling() {
            let open = self.commands.open_of(stream);
            put(&open.map_or([NONE, NONE], |open| [open.superblock.0, open.command]))?;
        }
        let opened = self.aging.as_ref().map_or(&[][..], |aging| aging.opened_in_order());
        put_list(put, opened)?;
        let bare = self.bare_superblocks();
        let stage = self.coverage.as_ref().map_or(0, |coverage| coverage.stage as u32);
        put(&[stage])?;
        put_list(put, &bare)?;
        put_list(put, self.renewals.due.iter())?;
        self.map.save(put)
    }

    /// Returns the translation layer of a drive configured by `config`, with the saved state of a
    /// drive of the same configuration after the same preconditioning.
    ///
    /// # Errors
    /// The reason why the words are not the state of such a drive.
    pub fn with_saved_state(config: &Config, take: TakeWords<'_>) -> Result<Superblocks, String> {
        let mut layer = Superblocks::empty(config);
        let (pattern, logical) = (config.precondition.pattern, layer.map.logical());
        layer.preconditioned = Preconditioned::restore(take, pattern, logical)?;
        let mut open = [None; 3];
        for place in &mut open {
            let mut pair = [0; 2];
            take(&mut pair)?;
            let [superblock, command] = pair;
            let superblock = RuId(superblock);
            *place = superblock.is_some().then_some(Open { superblock, command });
        }
        let (superblocks, commands) = (layer.shape.superblocks, layer.shape.commands);
        let is_there = |open: &Open| open.superblock.0 < superblocks && open.command < commands;
        let all: Vec<Open> = open.into_iter().flatten().collect();
        if !all.iter().all(is_there) {
            return Err("a superblock is open that the drive does not have".into());
        }
        for (stream, open) in layer.streams.of_filling().into_iter().zip(open) {
            layer.commands.set_open(stream, open);
        }
        let opened = take_list(take, superblocks)?;
        let mut stage = [0];
        take(&mut stage)?;
        let bare = take_list(take, superblocks)?;
        let due = take_list(take, superblocks)?;
        layer.map.restore(take, &all)?;
        layer.resume_bare(&bare, stage[0].min(u8::MAX.into()) as u8)?;
        due.into_iter().for_each(|superblock| layer.renewals.add(superblock));
        match &mut layer.aging {
            Some(aging) => aging.filled_in_order(opened, &layer.map),
            None if opened.is_empty() => {}
            None => return Err("it is of a drive whose data ages".into()),
        }
        Ok(layer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coding;
    use crate::config::Pattern;
    use crate::event_loop::Device;
    use crate::policy::redundancy::RedundancyKind;
    use crate::policy::sensing::SensingKind;
    use crate::precondition::UNWATCHED;
    use crate::reliability::{ModelKind, References};
    use crate::superblocks::cases::{protect, tiny};
    use fowler_units::{HostIo, Nanos, Rng, Span};

    fn made(config: &Config) -> Superblocks {
        Superblocks::preconditioned_for(config, UNWATCHED).unwrap().expect("nobody stops it")
    }

    fn saved(drive: &Superblocks) -> Vec<u32> {
        let mut words = Vec::new();
        drive
            .save_state(&mut |more| {
                words.extend_from_slice(more);
                Ok(())
            })
            .unwrap();
        words
    }

    fn restored(config: &Config, words: &[u32]) -> Result<Superblocks, String> {
        let mut rest = words;
        Superblocks::with_saved_state(config, &mut |into| {
            let (now, later) = rest.split_at_checked(into.len()).ok_or("it ends too early")?;
            into.copy_from_slice(now);
            rest = later;
            Ok(())
        })
    }

    /// Returns the counters and the final time of a drive after 3,000 requests, as text.
    fn served(config: &Config, drive: Superblocks) -> String {
        let mut device = Device::over(config, drive);
        let mut rng = Rng::stream(7, "requests");
        let logical = device.superblocks().map.logical();
        let requests = (0..3000u64).map(|number| {
            let at = (Nanos(number * 20_000), rng.below(logical.into()) * 4096);
            if number % 3 == 0 {
                HostIo::read(at.0, at.1, 4096)
            } else {
                HostIo::write(at.0, at.1, 4096)
            }
        });
        let requests: Vec<HostIo> = requests.collect();
        device.run(requests, crate::event_loop::Pacing::Open, &mut ());
        device.check_superblocks().unwrap();
        format!("{:?} {:?}", device.counters(), device.now())
    }

    fn drives() -> Vec<Config> {
        let mut all = Vec::new();
        for pattern in [Pattern::Sequential, Pattern::Random, Pattern::Steady] {
            for fill in [0.0, 0.4, 1.0] {
                let mut config = tiny();
                (config.precondition.pattern, config.precondition.fill) = (pattern, fill);
                all.push(config);
            }
        }
        // Parity comes with wear, and some superblocks are still to get it.
        for seed in 0..20 {
            let mut config = tiny();
            (config.precondition.pattern, config.precondition.fill) = (Pattern::Steady, 1.0);
            protect(&mut config, 8);
            config.redundancy.name = RedundancyKind::ByStage;
            (config.redundancy.worn_above, config.redundancy.all_above) = (7, 144);
            config.seed = seed;
            all.push(config);
        }
        // Ages of data follow from the order in which superblocks became full, those that have been
        // erased since included.
        for pattern in [Pattern::Random, Pattern::Steady] {
            let mut config = tiny();
            (config.precondition.pattern, config.precondition.fill) = (pattern, 1.0);
            config.reliability.model = ModelKind::Analytic;
            config.reliability.references = References::Fixed;
            config.reliability.cells.end_cycles = 3000.0;
            config.reliability.cycles = 1000;
            config.reliability.oldest = Span(21 * 86_400_000_000_000);
            config.sensing.name = SensingKind::Retry;
            all.push(config);
            let mut config = tiny();
            (config.precondition.pattern, config.precondition.fill) = (pattern, 1.0);
            config.aging.coding = Coding::Balanced;
            config.reliability.cycles = 1000;
            config.reliability.oldest = Span(365 * 86_400_000_000_000);
            all.push(config);
        }
        all
    }

    #[test]
    fn a_drive_from_its_saved_state_serves_as_one_that_was_filled() {
        for config in drives() {
            let case = config.precondition;
            let whole = made(&config);
            let words = saved(&whole);
            let again = restored(&config, &words).unwrap_or_else(|why| panic!("{case:?}: {why}"));
            assert_eq!(saved(&again), words, "{case:?}");
            assert_eq!(again.preconditioned, whole.preconditioned, "{case:?}");
            let said = served(&config, whole);
            assert_eq!(served(&config, again), said, "{case:?}");
            if config.reliability.oldest > Span::ZERO {
                let young =
                    said.contains("retries_at: [0, 0, 0, 0]") && said.contains("retried: 0");
                assert!(!young, "no read shows its age: {said}");
            }
        }
    }

    #[test]
    fn no_damage_makes_a_drive_that_cannot_be() {
        let mut config = tiny();
        config.precondition.pattern = Pattern::Steady;
        config.precondition.fill = 1.0;
        let words = saved(&made(&config));
        assert_eq!(
            restored(&config, &words[..words.len() - 1]).err().as_deref(),
            Some("it ends too early")
        );
        let mut rng = Rng::stream(3, "damage");
        let mut refused = 0;
        for case in 0..500 {
            let mut damaged = words.clone();
            let at = rng.below(words.len() as u64) as usize;
            damaged[at] = match rng.below(3) {
                0 => rng.below(1 << 32) as u32,
                1 => damaged[at].wrapping_add(1),
                _ => words[rng.below(words.len() as u64) as usize],
            };
            match restored(&config, &damaged) {
                Ok(drive) => assert!(drive.map.logical() == words[1], "case {case}"),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 100, "{refused} of 500");
        let mut other = config.clone();
        other.geometry.blocks_per_plane += 4;
        assert!(restored(&other, &words).is_err());
    }
}
