//! The sizes of a drive with superblocks, and why a configuration of one cannot work.

use super::collection::Collector;
use super::commands::Commands;
use super::renewals::MOVING_MOST;
use super::shape::Shape;
use super::slc_cache::{FOLDED_MOST, IDLE_LEAST};
use crate::config::layout::{Layout, Refusals};
use crate::config::stripes::AT_ONCE;
use crate::config::{Config, FlashConfig, OpBase, ProgramUnit, SlcConfig, constraints};
use crate::event::Event;
use crate::policy::hotness::Detector;
use crate::policy::needs::Needs;
use crate::policy::redundancy::{CachePower, RedundancyKind};
use crate::policy::throttle::ThrottleKind;
use fowler_units::{Bytes, Span};

/// The fewest superblocks that garbage collection needs erased before it begins: one for the host,
/// one for what is moved.
const BELOW_LEAST: u32 = 2;

/// Configuration keys that determine how much space of the drive is left for the host's data.
const SPACE: [&str; 3] =
    ["geometry.over_provisioning", "geometry.blocks_per_plane", "superblocks.parity"];
const SPACE_BESIDE_SLC: [&str; 4] = [SPACE[0], SPACE[1], SPACE[2], "slc.static"];

/// Largest number of firmware cores: the simulator searches all of them for the first free one at
/// each command.
const CORES_MOST: u32 = 64;

impl Config {
    /// Returns the capacity, the reserve, the buffer size and other sizes of a drive with
    /// superblocks.
    pub(crate) fn superblock_sizes(&self) -> Layout {
        let shape = Shape::new(self);
        let unit = self.unit().0;
        let raw = Bytes(shape.all_units() * unit);
        let share = match self.over_provisioning_base {
            OpBase::Raw => 1.0 - self.over_provisioning,
            OpBase::Logical => 1.0 / (1.0 + self.over_provisioning),
        };
        let logical = (shape.all_units() as f64 * share).floor() as u32;
        let frames = (self.buffer.size.0 / unit).min(u64::from(Event::INDEX_MAX)) as u32;
        let moved = self.moved_superblocks();
        let commands = Commands::most(&self.flash, &shape, frames, moved) as u32;
        // Of those used in SLC mode, one is open.
        let in_slc = self.slc.fixed + u32::from(self.slc.dynamic > 0);
        let folded = if self.slc.is_on() { FOLDED_MOST } else { 0 };
        let renews = self.aging.is_on()
            || self.redundancy.has_stripes()
            || self.blocks_fail()
            || self.scrubs();
        let refreshed = if renews { MOVING_MOST } else { 0 };
        Layout {
            geometry: Shape::geometry_of(self),
            page_size: self.unit(),
            command_pages: shape.units_per_command,
            raw,
            logical: Bytes(u64::from(logical) * unit),
            logical_pages: logical,
            mapped_pages: logical,
            parities: 0,
            reclaim_units: shape.superblocks,
            erases_of_reclaim_unit: shape.dies,
            // One superblock is open for each stream, and one for swapped data.
            reserve_blocks: self.gc.foreground_below + self.host_streams() + moved + in_slc,
            frames,
            transactions: self.queue.max_reads as usize
                + (commands * shape.pages_per_command * self.flash.program_passes) as usize
                // Units being moved, old units being read for frames, and two erases of each die.
                + (Collector::commands_moving(&shape, moved) * shape.units_per_command) as usize
                + frames as usize
                + self.recovery_reads() as usize
                + usize::from(self.scrubs())
                + ((self.gc.foreground_below + 1 + moved + folded + refreshed) * shape.dies) as usize
                + 16,
        }
    }

    /// Returns the maximum number of flash reads in flight for the recovery of unreadable units
    /// from parity.
    fn recovery_reads(&self) -> u32 {
        let stripe = if self.keeps_contents() { self.stripe_commands() } else { 0 };
        AT_ONCE as u32 * (stripe + 1)
    }

    /// Returns the number of parity pages of all superblocks, if all have parity.
    pub(crate) fn parity_pages(&self) -> u32 {
        let shape = Shape::new(self);
        shape.superblocks * shape.stripes() * shape.pages_per_command
    }

    /// Refuses settings that do not work on a drive with superblocks, and settings of superblocks
    /// on a page-mapped drive.
    pub(crate) fn refuse_superblocks(&self, refusals: &mut Refusals) {
        let fits = self.refuse_unit(refusals);
        if !self.ftl.has_superblocks() {
            return self.refuse_unmet(constraints::PAGE_MAPPED, refusals);
        }
        self.refuse_policies(refusals);
        let FlashConfig { program_passes: passes, first_pass_iterations, .. } = self.flash;
        refusals.unless((1..=2).contains(&passes), &["flash.program_passes"], || {
            format!("{passes} passes; expected 1 or 2")
        });
        refusals.unless(first_pass_iterations > 0, &["flash.first_pass_iterations"], || {
            "0 iterations; expected at least 1".into()
        });
        if !(1..=2).contains(&passes) {
            return;
        }
        let (line, block) = (self.flash.word_line, self.geometry.pages_per_block);
        let whole = line > 0 && block.is_multiple_of(line);
        refusals.unless(whole, &["flash.word_line", "geometry.pages_per_block"], || {
            format!("{line} pages per word line; expected a divisor of {block} pages per block")
        });
        self.refuse_unmet(constraints::PROGRAMS_OF_PAGES, refusals);
        let in_slc = self.slc.is_on() && self.ftl.program_unit == ProgramUnit::Page;
        refusals.unless(self.host.cores <= CORES_MOST, &["host.cores"], || {
            format!("{} cores; expected at most {CORES_MOST}", self.host.cores)
        });
        self.refuse_aging(refusals);
        self.refuse_errors_by_level(refusals);
        let sane = self.refuse_slc(refusals);
        if sane && fits && whole && !in_slc && self.refuse_number_of_units(refusals) {
            self.refuse_superblock_space(refusals);
        }
    }

    /// Refuses an SLC cache that cannot work. Returns false if the bits of its cells or the number
    /// of superblocks set aside are impossible, so that no other size can be checked.
    fn refuse_slc(&self, refusals: &mut Refusals) -> bool {
        let SlcConfig { fixed, dynamic, keep_erased, fold_after, read_time, iterations, .. } =
            self.slc;
        if !self.slc.is_on() {
            return true;
        }
        let (line, types) = (self.flash.word_line, &self.timing);
        let bits = (2..=4).contains(&line);
        refusals.unless_hinted(
            bits,
            &["slc.static", "slc.dynamic", "flash.word_line"],
            || format!("word lines of {line} pages; SLC mode needs cells of 2 to 4 bits"),
            || "leave out the cache, or set flash.word_line = 3 (TLC)".into(),
        );
        let counts = [types.read.values().len(), types.program_iterations.values().len()];
        let whole = counts.iter().all(|&count| (line as usize).is_multiple_of(count));
        refusals.unless(
            whole || !bits,
            &["slc.static", "slc.dynamic", "timing.read", "timing.program_iterations"],
            || {
                format!(
                    "{} types of pages for {line} pages of a word line; expected one or {line}",
                    counts[0].max(counts[1])
                )
            },
        );
        let below = self.gc.foreground_below;
        refusals.unless(
            dynamic == 0 || keep_erased >= below,
            &["slc.keep_erased", "gc.foreground_below"],
            || format!("{keep_erased}; expected at least gc.foreground_below, {below}"),
        );
        refusals.unless(fold_after >= IDLE_LEAST, &["slc.fold_after"], || {
            format!("{fold_after}; expected at least {IDLE_LEAST}")
        });
        refusals.unless(read_time > Span::ZERO, &["slc.read_time"], || {
            "0ns; expected at least 1ns".into()
        });
        refusals.unless(iterations > 0, &["slc.iterations"], || {
            "0 iterations; expected at least 1".into()
        });
        let all = self.geometry.blocks_per_plane;
        refusals.unless(fixed < all, &["slc.static", "geometry.blocks_per_plane"], || {
            format!(
                "{fixed} of {all} superblocks set aside for the SLC cache; some must hold the data"
            )
        });
        bits && fixed < all
    }

    fn refuse_superblock_space(&self, refusals: &mut Refusals) {
        let shape = Shape::new(self);
        let units = shape.all_units();
        let parity = self.superblocks.parity;
        self.refuse_parity(&shape, refusals);
        let sane = parity == 0 || (2..=shape.commands).contains(&parity);
        refusals.unless(sane, &["superblocks.parity"], || {
            format!(
                "parity over {parity} commands; expected 0 for none, or at least 2 and at most {}, the commands of a superblock",
                shape.commands
            )
        });
        if !sane {
            return;
        }
        let layout = self.superblock_sizes();
        let (frames, held) = (layout.frames, layout.logical_pages);
        refusals.unless(
            !self.buffer.cache_reads || frames <= held,
            &["buffer.size", "buffer.cache_reads"],
            || {
                format!(
                    "a buffer of {frames} units that caches reads; expected at most {held}, all \
                     units of the host on this drive"
                )
            },
        );
        if self.has_streams() {
            return self.refuse_streams(&shape, &layout, refusals);
        }
        let least = 2 * shape.units_per_command;
        refusals.unless(layout.frames >= least, &["buffer.size"], || {
            let (frames, unit) = (layout.frames, self.unit());
            format!(
                "a buffer of {frames} units of {unit}; expected at least {least}, the units of two \
                 program commands"
            )
        });
        self.refuse_passes(&shape, &layout, refusals);
        if self.levels_wear() {
            return self.refuse_moves(&shape, &layout, refusals);
        }
        let reserve = layout.reserve_blocks;
        let most =
            u64::from(shape.superblocks.saturating_sub(reserve)) * u64::from(shape.data_units());
        let logical = u64::from(layout.logical_pages);
        refusals.unless(
            0 < logical && logical <= most,
            if self.slc.is_on() { &SPACE_BESIDE_SLC } else { &SPACE },
            || {
                format!(
                    "the host would see {logical} of {units} units, but at most {most} can hold \
                     data, as {reserve} of {} superblocks stay in reserve and parity takes space",
                    shape.superblocks
                )
            },
        );
    }

    /// Refuses parity commands (`superblocks.parity`) if the redundancy policy gives no superblock
    /// parity, and the reverse: a policy of parity if no command is parity.
    fn refuse_parity(&self, shape: &Shape, refusals: &mut Refusals) {
        let (parity, name) = (self.superblocks.parity, self.redundancy.name);
        let keys = ["policy.redundancy", "superblocks.parity"];
        refusals.unless_hinted(
            parity == 0 || name != RedundancyKind::Unprotected,
            &keys,
            || {
                format!(
                    "superblocks.parity makes one program command in {parity} parity, but the \
                     redundancy policy protects no superblock"
                )
            },
            || "set policy.redundancy = \"raid5\", or superblocks.parity = 0".into(),
        );
        let covers = !matches!(name, RedundancyKind::Unprotected | RedundancyKind::DisturbLimiting);
        refusals.unless_hinted(
            parity > 0 || !covers,
            &keys,
            || {
                format!(
                    "policy.redundancy = {} protects superblocks with parity, but \
                     superblocks.parity = 0 makes no program command parity",
                    name.name()
                )
            },
            || {
                let stripe = shape.dies.clamp(2, shape.commands.max(2));
                format!(
                    "set superblocks.parity = {stripe}, so that one program command in {stripe} \
                     is parity: stripes of one command on each die"
                )
            },
        );
        self.refuse_wear_limits(refusals);
    }

    /// Refuses a write buffer too small for a drive that programs word lines in two passes: it must
    /// hold the data of one word line of every die between the passes, and of two more program
    /// commands.
    fn refuse_passes(&self, shape: &Shape, layout: &Layout, refusals: &mut Refusals) {
        let needed = u64::from(shape.dies + 2) * u64::from(shape.units_per_command);
        let unit = self.unit();
        refusals.unless_hinted(
            self.flash.program_passes == 1 || u64::from(layout.frames) >= needed,
            &["flash.program_passes", "buffer.size"],
            || {
                format!(
                    "a buffer of {} units of {unit} is too small for two program passes: it must \
                     hold {needed} units, those of a word line of each of {} dies between its \
                     passes and of two more commands",
                    layout.frames, shape.dies
                )
            },
            || {
                format!(
                    "set buffer.size = \"{}\" or larger to hold these units, or \
                     flash.program_passes = 1 to program each word line at once",
                    Bytes(needed * unit.0)
                )
            },
        );
    }

    /// Refuses policies that need what a drive with superblocks lacks, and keys without effect
    /// there.
    fn refuse_policies(&self, refusals: &mut Refusals) {
        let used = Detector::ALL.iter().filter(|(detector, ..)| self.hotness.uses(*detector));
        let detectors = used.map(|(detector, ..)| ("policy.hotness", detector.needs()));
        let slots = [
            ("policy.die_order", self.die_order.name.needs()),
            ("policy.suspension", self.suspension.name.needs()),
            ("policy.victim", self.victim.name.needs()),
            ("policy.placement", self.placement.name.needs()),
            ("policy.step", self.step.name.needs()),
            ("policy.voltage", self.voltage.name.needs()),
            ("policy.replacement", self.replacement.name.needs()),
            ("policy.sensing", self.sensing.name.needs()),
            ("policy.wear", self.wear.name.needs()),
            ("policy.scrub", self.scrub.name.needs()),
            ("policy.redundancy", self.redundancy.name.needs()),
            ("policy.throttle", self.throttle.name.needs()),
        ];
        for (key, needs) in detectors.chain(slots) {
            if let Some([why, instead]) = why_not(needs) {
                let keys = [key, "ftl.reclaim_unit"];
                refusals.unless_hinted(false, &keys, || why.into(), || instead.into());
            }
        }
        self.refuse_throttle_of_slc(refusals);
        self.refuse_rules_of_streams(refusals);
        self.refuse_unmet(constraints::EVICTION_OF_SUPERBLOCKS, refusals);
        self.refuse_power_losses(refusals);
        self.refuse_what_has_no_effect(refusals);
        let gc = &self.gc;
        refusals.unless(gc.foreground_below >= BELOW_LEAST, &["gc.foreground_below"], || {
            format!("{}; expected at least {BELOW_LEAST}", gc.foreground_below)
        });
        refusals.unless(
            gc.background_below <= gc.foreground_below,
            &["gc.background_below", "ftl.reclaim_unit"],
            || {
                let (background, foreground) = (gc.background_below, gc.foreground_below);
                format!(
                    "gc.background_below = {background}, but a drive with superblocks collects \
                     garbage only in step with host writes and not in idle time: expected at most \
                     gc.foreground_below, {foreground}"
                )
            },
        );
    }

    /// Refuses losses of power whose effects are not modeled.
    fn refuse_power_losses(&self, refusals: &mut Refusals) {
        let keys = ["policy.redundancy.cache", "flash.program_passes"];
        let survives = self.redundancy.cache == CachePower::Protected;
        refusals.unless_hinted(
            survives || self.flash.program_passes == 1,
            &keys,
            || {
                "between its two passes, data is in the buffer only, and its old copy may be gone"
                    .into()
            },
            || {
                "set policy.redundancy.cache = \"protected\", as drives that program so need it"
                    .into()
            },
        );
        let keys = ["policy.redundancy.flush_at_end", "flash.program_passes"];
        refusals.unless_hinted(
            !self.redundancy.flush_at_end || self.flash.program_passes == 1,
            &keys,
            || "the second pass of a word line waits for the next one, which never comes".into(),
            || "leave it out, or program in one pass".into(),
        );
        let keys = ["policy.redundancy.cut_programs", "ftl.program_unit"];
        refusals.unless_hinted(
            !self.redundancy.tears_programs()
                || self.ftl.program_unit == ProgramUnit::WordLine
                || self.flash.word_line == 1,
            &keys,
            || "a page that is cut off takes earlier pages of its word line with it, which a drive \
                with superblocks does not model".into(),
            || "set ftl.program_unit = \"word_line\", or policy.redundancy.cut_programs = \"finished\"".into(),
        );
    }

    fn refuse_throttle_of_slc(&self, refusals: &mut Refusals) {
        let throttles = self.throttle.name != ThrottleKind::Off;
        refusals.unless_hinted(
            !(throttles && self.slc.is_on()),
            &["policy.throttle", "slc.static", "slc.dynamic"],
            || {
                "a throttle counts each program of a unit as wear of a cycle, but one in SLC mode wears \
                 its cells less, and no source says how much"
                    .into()
            },
            || "leave out the SLC cache (slc.static = 0, slc.dynamic = 0)".into(),
        );
    }
}

/// Returns the reason why a drive with superblocks cannot run a policy with these `needs`, and a
/// hint to the user at what works instead; `None` if the drive can. The hint must not say "set" and
/// a key, as no setting makes the policy work.
#[rustfmt::skip]
fn why_not(needs: Needs) -> Option<[&'static str; 2]> {
    Some(match needs {
        Needs::Nothing => return None,
        Needs::HomeDie => ["the stripes of a drive with superblocks are commands that follow each other, whatever the address: their parity is written once and never updated, so that there is nothing to cache", "use raid5, which gives every superblock parity of its own"],
    })
}

#[cfg(test)]
mod tests {
    use super::super::cases::tiny;
    use super::*;
    use crate::config::Eviction;
    use crate::policy::placement::PlacementKind;

    /// The keys and the reasons of the refusals of a drive.
    fn refused(alter: impl FnOnce(&mut Config)) -> Vec<(String, String)> {
        let mut config = tiny();
        alter(&mut config);
        let refusals = config.layout().err().unwrap_or_default();
        refusals.into_iter().map(|it| (it.keys.join(", "), it.what)).collect()
    }

    /// Every policy of every slot: refused with the reason of what it needs, or not at all.
    #[test]
    fn a_policy_is_refused_if_the_drive_lacks_what_it_needs() {
        macro_rules! slots {
            ($($slot:ident::$Kind:ident),+) => {$(
                for &kind in crate::policy::$slot::$Kind::ALL {
                    let key = concat!("policy.", stringify!($slot), ", ftl.reclaim_unit");
                    let mut found = refused(|config| config.$slot.name = kind);
                    found.retain(|(keys, _)| keys == key);
                    let why = why_not(kind.needs());
                    let reason = why.map(|[why, _]| (key.into(), why.into()));
                    assert_eq!(found, Vec::from_iter(reason), "{key} {}", kind.name());
                    // `fowler presets --on` would try it, and it would not help.
                    let sets = why.is_some_and(|[_, instead]| instead.contains("set "));
                    assert!(!sets, "the hint proposes a setting: {why:?}");
                }
            )+};
        }
        slots!(
            die_order::DieOrderKind,
            suspension::SuspensionKind,
            victim::VictimKind,
            placement::PlacementKind,
            step::StepKind,
            voltage::VoltageKind,
            sensing::SensingKind,
            replacement::ReplacementKind,
            wear::WearKind,
            scrub::ScrubKind,
            throttle::ThrottleKind,
            redundancy::RedundancyKind
        );
        for &(detector, name, _) in Detector::ALL {
            let found = refused(|config| {
                config.hotness.detectors = 1 << detector as u8;
                config.buffer.eviction = Eviction::Lazy;
                config.placement.name = PlacementKind::Streams;
                (config.geometry.blocks_per_plane, config.gc.foreground_below) = (128, 8);
            });
            let why = why_not(detector.needs()).map(|[why, _]| why.to_string());
            let found: Vec<String> = found.into_iter().map(|(_, what)| what).collect();
            assert_eq!(found, Vec::from_iter(why), "{name}");
        }
    }
}
