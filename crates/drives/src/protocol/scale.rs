//! The scaled-down drive that stands for one of a terabyte. All dies, times, buses and queues stay;
//! there are fewer blocks, or smaller ones. See docs/real-drives.md, "Scaled drives", for the
//! effects of scaling and the convergence of results.

use super::job::{Needs, State};
use fowler_device::{Config, OpBase, Pattern};
use fowler_experiment::device_spec::{self, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::scheme::Scheme;
use fowler_units::Bytes;

/// Amount of simulation spent on a measured row: precision of tails, and sizes of the scaled-down
/// drives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Precision of the 99.9th percentile of latency: largest half width of its 95 % interval,
    /// relative to its value.
    pub within: f64,
    /// Smallest number of latencies of each kind from which a tail percentile is computed.
    pub least: u64,
    /// Largest number of latencies of each kind from which a tail percentile is computed.
    pub most: u64,
    /// Factor by which runs for tail percentiles are longer than the precision requires.
    pub longer: f64,
    /// Largest capacity of a simulated drive on which a benchmark job writes a given multiple of
    /// the capacity; larger drives are scaled down to it.
    pub blocks: Bytes,
    /// Largest capacity of a simulated drive on which tail latencies are measured.
    pub tail: Bytes,
}

impl Effort {
    /// The default amount of simulation per measured row.
    pub const FULL: Effort = Effort {
        within: 0.05,
        least: 20_000,
        most: 200_000,
        longer: 1.0,
        blocks: Bytes(6 << 30),
        tail: Bytes(48 << 30),
    };
    /// A smaller amount of simulation per measured row, for results in minutes: a third of the
    /// capacity, and the 99.9th percentile to within 10 % of its value.
    pub const BRIEF: Effort = Effort {
        within: 0.1,
        least: 10_000,
        most: 40_000,
        longer: 1.0,
        blocks: Bytes(2 << 30),
        tail: Bytes(16 << 30),
    };

    /// Returns the limits for a run that measures tail latency: the smallest and the largest number
    /// of latencies, and the relative precision of p99.9 at which the run ends. A run `longer`
    /// times as long is required to be more precise by the square root of `longer`.
    pub(super) fn of_a_tail(&self) -> (u64, u64, f64) {
        let times = |count: u64| (count as f64 * self.longer).round().max(1.0) as u64;
        (times(self.least), times(self.most), self.within / libm::sqrt(self.longer))
    }
}

/// Smallest number of blocks in a plane of a scaled-down drive.
const BLOCKS_LEAST: u32 = 64;
/// Smallest number of pages in a block of a scaled-down drive.
const PAGES_LEAST: u32 = 96;
/// Smallest number of pages in a block of a scaled-down drive whose blocks must not become fewer.
const PAGES_LEAST_OF_PIECES: u32 = 12;
/// Smallest allowed ratio of capacity to write buffer size of a scaled-down drive. If the drive
/// simulates tail latencies, its capacity is raised until the ratio is reached; on other drives,
/// the buffer shrinks.
const BUFFER_MOST: u64 = 64;

/// A scaled-down drive that stands for a larger one.
#[derive(Clone, Debug)]
pub struct Scaled {
    /// Description of the scaled-down drive.
    pub drive: Resolved,
    /// Factor by which a plane has fewer blocks than on the full drive.
    pub fewer_blocks: f64,
    /// Factor by which a block has fewer pages than on the full drive; erases are shorter by the
    /// same factor.
    pub shorter_blocks: f64,
    /// Factor by which the capacity shown to the host is smaller than on the full drive.
    pub factor: f64,
}

impl Scaled {
    /// Scales a drive down as far as `needs` and `effort` allow.
    ///
    /// # Errors
    /// If no scaled-down drive works.
    pub fn of(full: &Resolved, needs: Needs, effort: &Effort) -> Result<Scaled, Diagnostics> {
        let config = &full.config;
        let most = match needs {
            Needs::Tail => effort.tail.0.max(config.buffer.size.0 * BUFFER_MOST),
            Needs::Blocks | Needs::Pieces => effort.blocks.0,
        };
        let by = full.layout.logical.0 as f64 / most as f64;
        if by <= 1.0 {
            return Ok(Scaled {
                drive: full.clone(),
                fewer_blocks: 1.0,
                shorter_blocks: 1.0,
                factor: 1.0,
            });
        }
        let (blocks, pages) = shape(config, needs, by);
        let spec = DeviceSpec {
            device: full.device.clone(),
            text: Some(full.text.clone()),
            set: settings(full, needs, by, (blocks, pages)),
            ..DeviceSpec::default()
        };
        let drive =
            device_spec::resolve(&spec.source()?, &Scheme::none(), &spec).map_err(|mut why| {
                let what = format!("{} cannot be scaled down by {by:.1}", full.device);
                let hint = "simulate a larger part of it: --capacity".to_string();
                why.0.insert(0, Diagnostic::of(what).hint(hint));
                why
            })?;
        Ok(Scaled {
            fewer_blocks: f64::from(config.geometry.blocks_per_plane) / f64::from(blocks),
            shorter_blocks: f64::from(config.geometry.pages_per_block) / f64::from(pages),
            factor: full.layout.logical.0 as f64 / drive.layout.logical.0 as f64,
            drive,
        })
    }

    /// Returns the drive's configuration with `state` as its initial state.
    pub(super) fn in_state(&self, state: State) -> Config {
        let mut config = self.drive.config.clone();
        let precondition = &mut config.precondition;
        precondition.warm_up = 0;
        (precondition.pattern, precondition.fill) = match state {
            State::Empty => (Pattern::Sequential, 0.0),
            State::Sequential(share) => (Pattern::Sequential, share),
            State::Shuffled => (Pattern::Random, 1.0),
            State::Steady if precondition.pattern == Pattern::Rested => (Pattern::Rested, 1.0),
            State::Steady => (Pattern::Steady, 1.0),
        };
        config
    }
}

/// Returns blocks per plane and pages per block of a drive scaled down by the factor `by`.
fn shape(config: &Config, needs: Needs, by: f64) -> (u32, u32) {
    let (blocks, pages) = (config.geometry.blocks_per_plane, config.geometry.pages_per_block);
    let types = word_line(config);
    let pages_least = match needs {
        Needs::Pieces => PAGES_LEAST_OF_PIECES.max(pages_of_stripes(config)),
        Needs::Tail | Needs::Blocks => PAGES_LEAST.max(pages_of_stripes(config)),
    };
    let fewer_pages = |by: f64| {
        let least = pages_least.min(pages).next_multiple_of(types);
        let wanted = (f64::from(pages) / by).round() as u32;
        (wanted - wanted % types).max(least).min(pages)
    };
    let fewer_blocks = |by: f64| {
        ((f64::from(blocks) / by).round() as u32).max(BLOCKS_LEAST.min(blocks)).min(blocks)
    };
    match needs {
        Needs::Blocks => {
            let shorter = fewer_pages(by);
            (fewer_blocks(by * f64::from(shorter) / f64::from(pages)), shorter)
        }
        Needs::Pieces => (blocks, fewer_pages(by)),
        Needs::Tail => {
            let fewer = fewer_blocks(by);
            (fewer, fewer_pages(by * f64::from(fewer) / f64::from(blocks)))
        }
    }
}

/// Returns a number of pages. The pages of a block in the scaled-down drive must be a multiple of
/// it, so that word lines stay whole and page types keep their frequency.
fn word_line(config: &Config) -> u32 {
    let (types, pages) = (config.timing.read.values().len() as u32, config.flash.word_line);
    if pages.is_multiple_of(types) { pages } else { types * pages }
}

/// Returns the number of pages per block with which a superblock holds two stripes, so that parity
/// takes the same share as on the full drive.
fn pages_of_stripes(config: &Config) -> u32 {
    let stripes = 2 * config.superblocks.parity;
    stripes.div_ceil(config.geometry.dies()) * config.flash.word_line
}

/// Returns the settings that turn the full drive into one scaled down by the factor `by`.
fn settings(full: &Resolved, needs: Needs, by: f64, (blocks, pages): (u32, u32)) -> Vec<String> {
    let config = &full.config;
    let mut set = vec![
        format!("geometry.blocks_per_plane={blocks}"),
        format!("geometry.pages_per_block={pages}"),
        format!("geometry.over_provisioning={}", over_provisioning(config, blocks)),
    ];
    let shorter = f64::from(pages) / f64::from(config.geometry.pages_per_block);
    if shorter < 1.0 {
        // As much of a die's time goes into erases as on the large drive.
        let least = config.timing.voltage_reset.0.max(1);
        let pulse = ((config.timing.erase_pulse.0 as f64 * shorter).round() as u64).max(least);
        set.push(format!("timing.erase_pulse={pulse}ns"));
    }
    if config.slc.is_on() {
        let of = |superblocks| fewer(config, blocks, superblocks);
        set.push(format!("slc.static={}", of(config.slc.fixed)));
        set.push(format!("slc.dynamic={}", of(config.slc.dynamic)));
        let kept = of(config.slc.keep_erased).max(config.gc.foreground_below);
        set.push(format!("slc.keep_erased={}", kept.min(config.slc.keep_erased)));
    }
    if needs != Needs::Tail {
        let page = config.geometry.page_size.0;
        let types = u64::from(word_line(config));
        // Room for two programs of every plane.
        let least = 2 * types * u64::from(config.geometry.planes()) * page;
        let wanted = ((config.buffer.size.0 as f64 / by) as u64).max(least);
        if wanted < config.buffer.size.0 {
            let frames = wanted.div_ceil(page);
            set.push(format!("buffer.size={}B", frames * page));
            if config.evicts_lazily() {
                let ahead = u64::from(config.buffer.evict_ahead).min(frames / 4);
                set.push(format!("buffer.evict_ahead={ahead}"));
            }
        }
    }
    set
}

/// Returns a number of superblocks scaled to a drive with `blocks` blocks per plane; at least one
/// if the full drive has any.
fn fewer(config: &Config, blocks: u32, superblocks: u32) -> u32 {
    let share = f64::from(blocks) / f64::from(config.geometry.blocks_per_plane);
    let scaled = (f64::from(superblocks) * share).round() as u32;
    scaled.max(u32::from(superblocks > 0))
}

/// Returns the number of blocks in each plane that are open or that GC keeps erased:
/// `gc.foreground_below` for drives with superblocks, else one less, at least 1. This was found to
/// give equal write amplification at 64 and at 400 blocks per plane.
fn held_back(config: &Config) -> f64 {
    let kept = f64::from(config.gc.foreground_below);
    if config.ftl.has_superblocks() { kept } else { (kept - 1.0).max(1.0) }
}

/// Returns the over-provisioning of the scaled-down drive that gives GC the same share of valid
/// pages as on the full drive. Erased and open blocks do not shrink in number, so they take a
/// larger share of the smaller plane.
fn over_provisioning(config: &Config, blocks: u32) -> f64 {
    let aside = f64::from(config.slc.fixed);
    let less_aside = f64::from(fewer(config, blocks, config.slc.fixed));
    let (all, blocks) = (f64::from(config.geometry.blocks_per_plane), f64::from(blocks));
    let data = match config.over_provisioning_base {
        OpBase::Raw => all * (1.0 - config.over_provisioning),
        OpBase::Logical => all / (1.0 + config.over_provisioning),
    };
    let held_back = held_back(config);
    let smaller = data * (blocks - held_back - less_aside) / (all - held_back - aside);
    match config.over_provisioning_base {
        OpBase::Raw => 1.0 - smaller / blocks,
        OpBase::Logical => blocks / smaller - 1.0,
    }
}
