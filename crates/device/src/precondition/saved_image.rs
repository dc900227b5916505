//! The saved state of a page-mapped drive before its first request, as 32-bit words that can be
//! written and read. It excludes everything that follows from the configuration: the buffer is
//! empty, and no job of GC is running.
//!
//! The owners of all pages are saved, including those that are no longer valid; the location of
//! each logical page follows from them.

use super::Preconditioned;
use super::image::PreconditionedImage;
use crate::blocks::words::{PutWords, TakeWords, halves, whole};
use crate::config::{Config, Pattern};
use crate::core::Core;
use crate::gc::Gc;
use crate::gc::untimed_gc::Moves;
use crate::mapping::page_map::Location;
use crate::policy::victim::AnyVictim;
use fowler_units::{Id, Lpn, UnitId};

/// Number of physical pages whose owners, the logical pages last programmed to them, are written to
/// or read from the saved state together.
const AT_ONCE: u32 = 1 << 14;

/// Prefetch distance, in physical pages, while the mapping table of a saved drive is rebuilt from
/// the logical page of each physical page: the table entry of the page this far ahead is fetched
/// into the processor cache.
const AHEAD: usize = 32;

impl PreconditionedImage {
    /// Returns true if the state of this drive can be saved completely. A victim policy with a
    /// state of its own, such as a random stream, prevents that.
    pub fn can_be_saved(&self) -> bool {
        matches!(
            self.gc.policies().0,
            AnyVictim::Greedy(_) | AnyVictim::Fifo(_) | AnyVictim::CostBenefit(_)
        )
    }

    /// Saves the state of this drive through `put`, which writes 32-bit words.
    ///
    /// # Errors
    /// If `put` fails, or the state of a policy is not part of the words.
    pub fn save_state(&self, put: PutWords<'_>) -> Result<(), String> {
        if !self.can_be_saved() {
            return Err("its victim rule has a state that cannot be saved".into());
        }
        self.preconditioned.save(put)?;
        let Moves { collected, leveled } = self.gc.untimed.moves;
        [collected, leveled].into_iter().try_for_each(|moves| put(&halves(moves)))?;
        self.core.allocator.save(put)?;
        let pages = self.core.layout.geometry.pages();
        for first in (0..pages).step_by(AT_ONCE as usize) {
            let some = first..pages.min(first + AT_ONCE);
            let owners: Vec<u32> = some.map(|at| self.core.map.owner(UnitId(at)).0).collect();
            put(&owners)?;
        }
        Ok(())
    }

    /// Returns the drive of `config` in a saved state, through `take`, which reads the 32-bit words
    /// of that state. A drive with the same settings of preconditioning must have saved it.
    ///
    /// # Errors
    /// The reason why the words are not the state of such a drive.
    pub fn with_saved_state(
        config: &Config,
        take: TakeWords<'_>,
    ) -> Result<PreconditionedImage, String> {
        let layout = config.layout().map_err(|_| "the configuration cannot work".to_string())?;
        let (mut core, mut gc) = (Core::new(config, &layout), Gc::new(config, &layout));
        let pattern = config.precondition.pattern;
        let preconditioned = Preconditioned::restore(take, pattern, core.map.logical())?;
        let mut moves = [0; 4];
        take(&mut moves)?;
        let [low, high, leveled_low, leveled_high] = moves;
        gc.untimed.moves =
            Moves { collected: whole(low, high), leveled: whole(leveled_low, leveled_high) };
        core.allocator.restore(take)?;
        restore_map(&mut core, take)?;
        Ok(PreconditionedImage { config: config.clone(), core, gc, preconditioned })
    }
}

/// Reads, from the saved state of a drive, the owner of every physical page (the logical page that
/// it was last programmed for), and maps logical pages to those that are valid.
fn restore_map(core: &mut Core, take: TakeWords<'_>) -> Result<(), String> {
    let (pages, logical) = (core.layout.geometry.pages(), core.map.logical());
    let mut owners = vec![0; AT_ONCE.min(pages) as usize];
    for first in (0..pages).step_by(AT_ONCE as usize) {
        let owners = &mut owners[..AT_ONCE.min(pages - first) as usize];
        take(owners)?;
        for (at, &owner) in owners.iter().enumerate() {
            if let Some(&soon) = owners.get(at + AHEAD) {
                core.map.prefetch(Lpn(soon));
            }
            let (page, unit) = (Lpn(owner), UnitId(first + at as u32));
            if page.is_some() && owner >= logical {
                return Err("it holds a page beyond the drive".into());
            }
            core.map.set_owner(unit, page);
            if core.allocator.blocks.is_valid(unit) {
                if !page.is_some() || core.map.place(page) != Location::Nowhere {
                    return Err("a valid page has no owner, or one that is elsewhere".into());
                }
                core.map.set_flash(page, unit);
            }
        }
    }
    Ok(())
}

impl Preconditioned {
    /// Writes the record of preconditioning as words, except for the pattern in which pages were
    /// written.
    ///
    /// # Errors
    /// If `put` fails.
    pub(crate) fn save(&self, put: PutWords<'_>) -> Result<(), String> {
        let Preconditioned { filled, pattern: _, overwritten, waf, steady } = *self;
        let [low, high] = halves(overwritten);
        let [waf_low, waf_high] = halves(waf.unwrap_or_default().to_bits());
        put(&[filled.0, filled.1, low, high, waf.is_some().into(), waf_low, waf_high])?;
        put(&[steady.into()])
    }

    /// Reads the saved record of preconditioning of a drive of `logical` pages, written by
    /// `pattern`.
    ///
    /// # Errors
    /// The reason why the words are not such a record.
    pub(crate) fn restore(
        take: TakeWords<'_>,
        pattern: Pattern,
        logical: u32,
    ) -> Result<Preconditioned, String> {
        let mut head = [0; 8];
        take(&mut head)?;
        let [filled, all, low, high, has_waf, waf_low, waf_high, steady] = head;
        if all != logical || filled > all || has_waf > 1 || steady > 1 {
            return Err("it is of a drive of another size".into());
        }
        let waf = f64::from_bits(whole(waf_low, waf_high));
        if has_waf == 1 && !waf.is_finite() {
            return Err("its write amplification is no number".into());
        }
        Ok(Preconditioned {
            filled: (filled, all),
            pattern,
            overwritten: whole(low, high),
            waf: (has_waf == 1).then_some(waf),
            steady: steady == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::shaped;
    use fowler_units::{Bytes, Geometry, Rng};

    fn filled(pattern: Pattern) -> Config {
        let mut config = shaped(Geometry {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 16,
            pages_per_block: 24,
            page_size: Bytes(4096),
        });
        (config.over_provisioning, config.buffer.size) = (0.3, Bytes(16 * 4096));
        config.precondition.pattern = pattern;
        config
    }

    fn saved(image: &PreconditionedImage) -> Vec<u32> {
        let mut words = Vec::new();
        let put = image.save_state(&mut |more| {
            words.extend_from_slice(more);
            Ok(())
        });
        put.expect("memory takes everything");
        words
    }

    fn restored(config: &Config, words: &[u32]) -> Result<PreconditionedImage, String> {
        let mut rest = words;
        PreconditionedImage::with_saved_state(config, &mut |into| {
            let (now, later) = rest.split_at_checked(into.len()).ok_or("it ends too early")?;
            into.copy_from_slice(now);
            rest = later;
            Ok(())
        })
    }

    #[test]
    fn no_damage_makes_a_drive_that_cannot_be() {
        for pattern in [Pattern::Sequential, Pattern::Steady] {
            let config = filled(pattern);
            let words = saved(&PreconditionedImage::new(&config).unwrap());
            let short = restored(&config, &words[..words.len() - 1]);
            assert_eq!(short.err().as_deref(), Some("it ends too early"));
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
                    Ok(image) => {
                        let drive = image.device(&config).expect("a drive that works");
                        let law = drive.check();
                        law.unwrap_or_else(|law| panic!("{pattern:?}, case {case}: {}", law.0));
                    }
                    Err(_) => refused += 1,
                }
            }
            assert!(refused > 100, "{pattern:?}: {refused} of 500");
            let mut other = config.clone();
            other.geometry.blocks_per_plane += 4;
            assert!(restored(&other, &words).is_err());
        }
    }

    #[test]
    fn a_rule_with_a_state_of_its_own_is_not_saved() {
        let mut config = filled(Pattern::Steady);
        config.victim.name = crate::policy::victim::VictimKind::DChoices;
        let image = PreconditionedImage::new(&config).unwrap();
        assert!(!image.can_be_saved());
        assert!(image.save_state(&mut |_| Ok(())).is_err());
    }
}
