//! A fleet of drives like the simulated one, each with its own cells, early failure and load: how
//! many are alive after how many years, what they have written, and how many spare drives it takes.
//!
//! The life of each drive is that of the simulated drive as a function of its load and its cells
//! (`laws`). Without a throttle the load only stretches time: after the same number of repetitions
//! the simulated drive has the same pages in the same blocks, so one simulation is enough.
//! See docs/decisions/lifetime.md, "How does a fleet follow from one life?".

mod draw;
mod drawn_drives;
mod drive;
mod failures;
mod fleet_file;
mod json;
mod laws;
mod merge;
mod report;
mod spec;
mod statistics;
mod wear;

pub use draw::draw;
pub use drive::{Cause, Drive, Replaced};
pub use fleet_file::{Examined, ShardDrawn, ShardSpec, draw_shard, examine, with_life};
pub use json::Year;
pub(super) use json::fact;
pub use merge::{Merging, merge};
pub use spec::{DRIVES_MOST, FleetSpec, check, suits};
pub use statistics::{Interval, at_most, normal_quantile, poisson, wilson};

use fowler_experiment::atomic_file::{AtomicFile, unwritable};
use fowler_experiment::diagnostic::Diagnostics;
use rayon::prelude::*;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

/// Number of points in time at which the survival of a fleet is reported, after the beginning.
const MOMENTS: usize = 60;

/// A fleet of drives that was drawn from the simulated life of one.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Specification by which the fleet was drawn.
    pub spec: FleetSpec,
    /// First drive in each slot of the fleet; a slot holds one drive and, one after another, the
    /// drives that replace it.
    pub drives: Vec<Drive>,
    /// Counts of the drives replaced in each year of the target lifetime, of which the last may be
    /// a part of a year.
    pub by_year: Vec<Replaced>,
    /// Counts of all drives replaced in the target lifetime.
    pub all: Replaced,
    /// Target lifetime of the drives in years.
    pub horizon: f64,
    /// Bytes that the host writes in a year to a drive under the load of the workload.
    pub bytes_year: f64,
    /// The law by which blocks of the drives fail for good; `None` if none does.
    pub bad_blocks: Option<BadBlocks>,
    /// Relative error in the years until wear-out that may arise because each simulated repetition
    /// of the workload stands for several real ones (dilation); `None` if unknown.
    pub dilation_error: Option<f64>,
    sorted: Sorted,
}

/// The law by which blocks of a fleet's drives fail before they are worn out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BadBlocks {
    /// Share of blocks that have failed when all have reached `cycles`, 0 to 0.5.
    pub share: f64,
    /// P/E cycles at which `share` of the blocks have failed: `lifetime.cycles`.
    pub cycles: f64,
    /// Shape of the Weibull distribution of the cycle in which a block fails.
    pub shape: f64,
    /// Share of the spare that the simulated life lost, 0 to 1. Write amplification is known up to
    /// that loss.
    pub simulated_loss: f64,
}

/// Years until replacement and terabytes written of the drives that a fleet started with,
/// ascending, each with the lower, the simulated and the upper estimate of the years until
/// wear-out. Cached, because a report uses them a hundred times.
#[derive(Clone, Debug, Default)]
struct Sorted {
    years: OnceLock<[Vec<f64>; 3]>,
    tbw: OnceLock<[Vec<f64>; 3]>,
}

/// Share of a fleet's drives that are alive at a point in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alive {
    /// Time since the fleet began, in years.
    pub years: f64,
    /// Share of the drives that the fleet started with that are still alive, 0 to 1. The interval
    /// covers the sampling error and the error of simulating only some repetitions of the workload.
    pub share: Interval,
}

impl Fleet {
    /// Returns `value` for every drive that the fleet started with, ascending, three times: with
    /// the years until wear-out shortened by the error of simulating one repetition of the workload
    /// for several ([`Self::dilation_error`]), as simulated, and lengthened by that error.
    fn sorted(&self, value: impl Fn(&Drive) -> f64 + Sync) -> [Vec<f64>; 3] {
        let error = self.dilation_error.unwrap_or(0.0).min(0.99);
        [1.0 - error, 1.0, 1.0 + error].map(|factor| {
            let drives = self.drives.par_iter();
            let scaled = |it: &Drive| Drive {
                worn_years: it.worn_years * factor,
                spare_years: it.spare_years * factor,
                ..*it
            };
            let mut all: Vec<f64> = drives.map(|it| value(&scaled(it))).collect();
            all.par_sort_unstable_by(f64::total_cmp);
            all
        })
    }

    fn sorted_years(&self) -> &[Vec<f64>; 3] {
        self.sorted.years.get_or_init(|| self.sorted(Drive::years))
    }

    fn sorted_tbw(&self) -> &[Vec<f64>; 3] {
        self.sorted.tbw.get_or_init(|| self.sorted(|drive| self.tbw(drive)))
    }

    fn z(&self) -> f64 {
        normal_quantile(0.5 + self.spec.confidence / 2.0)
    }

    /// Returns the share of drives alive at points in time (Kaplan-Meier; all drives are followed
    /// to the end). The interval is Wilson's, widened by the error of simulating only some
    /// repetitions of the workload.
    pub fn survival(&self) -> Vec<Alive> {
        let (all, z) = (self.sorted_years(), self.z());
        let moment = |number: usize| {
            let years = self.horizon * number as f64 / MOMENTS as f64;
            let [least, own, most] = [0, 1, 2].map(|which| {
                let lives: &[f64] = &all[which];
                let dead = lives.partition_point(|&it| it <= years);
                wilson((lives.len() - dead) as u64, lives.len() as u64, z)
            });
            let share = Interval { low: least.low, value: own.value, high: most.high };
            Alive { years, share }
        };
        (0..=MOMENTS).map(moment).collect()
    }

    /// Returns the years after which `share` of the drives that the fleet started with are
    /// replaced. The interval covers sampling (binomial interval of the rank) and the error of
    /// simulating only some repetitions of the workload.
    pub fn years_at(&self, share: f64) -> Interval {
        self.quantile(share, self.sorted_years())
    }

    /// Returns the terabytes (10^12 bytes) that the host has written to a drive when `share` of the
    /// fleet's first drives are replaced. The interval covers sampling (binomial interval of the
    /// rank) and the error of simulating only some repetitions of the workload.
    pub fn tbw_at(&self, share: f64) -> Interval {
        self.quantile(share, self.sorted_tbw())
    }

    /// Returns the terabytes (10^12 bytes) that the host has written to a drive when it is
    /// replaced.
    pub fn tbw(&self, drive: &Drive) -> f64 {
        self.bytes_year * drive.load * drive.years() / 1e12
    }

    fn quantile(&self, share: f64, sorted: &[Vec<f64>; 3]) -> Interval {
        let quantiles = sorted.each_ref().map(|all| statistics::quantile(all, share, self.z()));
        Interval { low: quantiles[0].low, value: quantiles[1].value, high: quantiles[2].high }
    }

    /// Returns the number of drives replaced per slot of the fleet (each holds one drive at a time)
    /// and year; the interval reflects sampling only.
    pub fn rate(&self, replaced: Replaced, years: f64) -> Interval {
        let per = f64::from(self.spec.drives) * years;
        let interval = statistics::replacements(replaced, self.spec.drives, self.z());
        interval.map(|count| count / per)
    }

    /// Returns the number of spare drives that suffice to replace the drives counted in `replaced`,
    /// with the probability that the specification of the fleet states.
    pub fn spares(&self, replaced: Replaced) -> u64 {
        at_most(replaced, self.spec.drives, normal_quantile(self.spec.confidence))
    }

    /// Returns the share of first drives that failed early, among those replaced within the target
    /// lifetime.
    pub fn early(&self) -> Option<f64> {
        self.replaced_for(Cause::Early)
    }

    /// Returns the share of first drives whose spare was used up by failed blocks, among those
    /// replaced within the target lifetime; `None` if no block fails.
    pub fn out_of_spare(&self) -> Option<f64> {
        self.bad_blocks.and_then(|_| self.replaced_for(Cause::Spare))
    }

    fn replaced_for(&self, cause: Cause) -> Option<f64> {
        let replaced = || self.drives.iter().filter(|it| it.years() < self.horizon);
        let these = replaced().filter(|it| it.cause() == cause).count();
        let all = replaced().count();
        (all > 0).then(|| these as f64 / all as f64)
    }

    /// Returns the share (0 to 1) of the fleet's first drives that do not fail early and lose more
    /// of their spare than the drive did in its simulated life; from then on they are given the
    /// write amplification at the end of that life. `None` if no block fails.
    pub fn beyond_simulated(&self) -> Option<f64> {
        let seen = self.bad_blocks?.simulated_loss;
        let lives_on = |it: &&Drive| it.cause() != Cause::Early && it.spare_lost > seen;
        let beyond = self.drives.iter().filter(lives_on).count();
        Some(beyond as f64 / self.drives.len().max(1) as f64)
    }

    /// Writes one CSV row for each drive that the fleet started with: its load, strength, years
    /// until failure, cause and terabytes written.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_drives(&self, path: &Path) -> Result<(), Diagnostics> {
        let failed = |error: std::io::Error| unwritable(path, &error);
        let mut file = std::io::BufWriter::new(AtomicFile::create(path)?);
        let head =
            "drive,load,strength,early_years,worn_years,years,cause,tbw,spare_years,spare_lost";
        writeln!(file, "{head}").map_err(failed)?;
        for (number, drive) in self.drives.iter().enumerate() {
            let &Drive { load, strength, spare_lost, .. } = drive;
            // An event that never happens is an empty cell.
            let cell = |years: f64| if years.is_finite() { years.to_string() } else { "".into() };
            let [early, worn, spare] =
                [drive.early_years, drive.worn_years, drive.spare_years].map(cell);
            let cause = drive.cause().word();
            let (years, tbw) = (drive.years(), self.tbw(drive));
            let number = number + 1;
            writeln!(
                file,
                "{number},{load},{strength},{early},{worn},{years},{cause},{tbw},{spare},{spare_lost}"
            )
            .map_err(failed)?;
        }
        file.into_inner().map_err(|error| failed(error.into_error()))?.finish()
    }
}
