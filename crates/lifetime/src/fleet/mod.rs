//! A fleet of drives like the simulated one, each with its own cells, early failure and load: how
//! many are alive after how many years, what they have written, and how many spare drives it takes.
//!
//! The life of each drive is that of the simulated drive as a function of its load and its cells
//! (`laws`). Without a throttle the load only stretches time: after the same number of repetitions
//! the simulated drive has the same pages in the same blocks, so one simulation is enough.
//! See docs/decisions/lifetime.md, "How does a fleet follow from one life?".

mod drawn;
mod json;
mod laws;
mod merge;
mod report;
mod saved;
mod statistics;
mod wear;

pub use json::Year;
pub(super) use json::fact;
pub use merge::{Merging, merge};
pub use saved::{Examined, ShardDrawn, ShardSpec, draw_shard, examine, with_life};
pub use statistics::{Interval, at_most, normal_quantile, poisson, wilson};

use super::Lifetime;
use drawn::{Drawn, Part};
use fowler_device::policy::throttle::ThrottleKind;
use fowler_experiment::atomic_file::{AtomicFile, unwritable};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::life_estimate::YEAR_S;
use fowler_experiment::shard::Shard;
use fowler_experiment::workload::Control;
use laws::Laws;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

/// The most drives of a fleet.
pub const DRIVES_MOST: u32 = 1_000_000;
/// Moments at which survival is reported, after the beginning.
const MOMENTS: usize = 60;
/// The most drives that a place may use up within the target life.
const REPLACED_MOST: u32 = 1000;

/// What differs between the drives of a fleet. All defaults are assumed; sweep them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetSpec {
    /// How many there are; in 1 to [`DRIVES_MOST`].
    pub drives: u32,
    /// The standard deviation of the logarithm of a drive's load; in 0 to 3. The median drive has
    /// that of the workload.
    pub load_spread: f64,
    /// The share of drives that fail early, for no reason of wear, within the first year; in 0 to
    /// 0.5.
    pub early_share: f64,
    /// The Weibull shape of these failures; in 0.1 to 5. Below 1 the rate falls with age.
    pub early_shape: f64,
    /// The share of worn-out blocks at which a drive is replaced; in 0 to 0.5.
    pub worn_blocks: f64,
    /// The probability that an interval holds what it is for; in 0.5 to 0.9999.
    pub confidence: f64,
}

impl FleetSpec {
    /// What is taken where nothing is said. All of it is assumed.
    pub const ASSUMED: FleetSpec = FleetSpec {
        drives: 10_000,
        load_spread: 0.5,
        early_share: 0.01,
        early_shape: 0.6,
        worn_blocks: 0.02,
        confidence: 0.95,
    };
}

impl Default for FleetSpec {
    fn default() -> Self {
        FleetSpec::ASSUMED
    }
}

/// Checks what can be checked before a life is simulated.
pub fn check(spec: &FleetSpec) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    if !(1..=DRIVES_MOST).contains(&spec.drives) {
        let what = format!("a fleet of {} drives", spec.drives);
        let expected = format!("1 to {DRIVES_MOST}");
        diagnostics.push(Diagnostic::new("--drives", what).expected(expected));
    }
    for (flag, value, range) in [
        ("--load-spread", spec.load_spread, 0.0..=3.0),
        ("--early-share", spec.early_share, 0.0..=0.5),
        ("--early-shape", spec.early_shape, 0.1..=5.0),
        ("--worn-blocks", spec.worn_blocks, 0.0..=0.5),
        ("--confidence", spec.confidence, 0.5..=0.9999),
    ] {
        if !range.contains(&value) {
            let expected = format!("{} to {}", range.start(), range.end());
            diagnostics.push(Diagnostic::new(flag, format!("is {value}")).expected(expected));
        }
    }
    diagnostics
}

/// Why a drive is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It failed early.
    Early,
    /// Too many of its blocks are worn out.
    Worn,
}

impl Cause {
    /// Returns the word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Cause::Early => "early",
            Cause::Worn => "worn",
        }
    }
}

/// The first drive in a place of the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drive {
    /// Its load over that of the workload.
    pub load: f64,
    /// The cycles that the block endures with which it ends, over `lifetime.cycles`.
    pub strength: f64,
    /// After how many years it fails early, or would.
    pub early_years: f64,
    /// After how many years too many of its blocks are worn out, or would be.
    pub worn_years: f64,
}

impl Drive {
    /// Returns when it is replaced.
    pub fn years(&self) -> f64 {
        self.early_years.min(self.worn_years)
    }

    /// Returns why.
    pub fn cause(&self) -> Cause {
        if self.early_years < self.worn_years { Cause::Early } else { Cause::Worn }
    }
}

/// How often drives are replaced in a year, or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// How many drives.
    pub count: u64,
    /// The sum of the squares of the counts of all places.
    pub squares: u64,
}

impl Replaced {
    fn add(&mut self, count: u32) {
        self.count += u64::from(count);
        self.squares += u64::from(count).pow(2);
    }

    fn join(&mut self, other: Replaced) {
        self.count += other.count;
        self.squares += other.squares;
    }
}

/// A fleet that was drawn.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// What was asked for.
    pub spec: FleetSpec,
    /// The first drive in each place.
    pub drives: Vec<Drive>,
    /// Drives replaced in each year of the target life, the last may be a part of one.
    pub by_year: Vec<Replaced>,
    /// Drives replaced in the target life.
    pub all: Replaced,
    /// The target life in years.
    pub horizon: f64,
    /// Bytes that a drive under the load of the workload takes from the host in a year.
    pub bytes_year: f64,
    /// By which share the years until wear-out may be wrong because the life is dilated.
    pub dilation_error: Option<f64>,
    sorted: Sorted,
}

/// Years and terabytes of all first drives, sorted, each as with [`Fleet::sorted`]. A report asks
/// for them a hundred times.
#[derive(Clone, Debug, Default)]
struct Sorted {
    years: OnceLock<[Vec<f64>; 3]>,
    tbw: OnceLock<[Vec<f64>; 3]>,
}

/// Draws a fleet of drives like the one of a life; `None` if it was stopped.
///
/// # Errors
/// If the specification is wrong, or the life does not say how others live.
pub fn draw(
    life: &Lifetime,
    spec: &FleetSpec,
    control: Control<'_>,
) -> Result<Option<Fleet>, Diagnostics> {
    let drawing = Drawing { shard: Shard::WHOLE, control, share: &|_| (), every: u64::MAX };
    let mut drawn = Drawn::nothing(horizon(life));
    let whole = drawing.complete(&mut drawn, life, spec, &mut |_| Ok(()))?;
    Ok(whole.then(|| Fleet::of(life, spec, drawn)))
}

/// How a fleet, or a shard of one, is drawn.
#[derive(Clone, Copy)]
struct Drawing<'a> {
    shard: Shard,
    control: Control<'a>,
    share: &'a (dyn Fn(f64) + Sync),
    every: u64,
}

impl Drawing<'_> {
    /// As [`Drawn::complete`].
    fn complete(
        self,
        drawn: &mut Drawn,
        life: &Lifetime,
        spec: &FleetSpec,
        save: &mut dyn FnMut(&Drawn) -> Result<(), Diagnostics>,
    ) -> Result<bool, Diagnostics> {
        check(spec).or(())?;
        suits(&life.drive.config)?;
        let laws = Laws::of(life, spec)?;
        let Drawing { shard, control, share, every } = self;
        let (places, horizon) = (shard.places(spec.drives), horizon(life));
        drawn.complete(Part { laws: &laws, places, horizon, control, share, every, save })
    }
}

/// The target life in years.
fn horizon(life: &Lifetime) -> f64 {
    life.target().as_s() / YEAR_S
}

/// Refuses drives of which one life does not tell how the others live. Call it before a life is
/// simulated.
///
/// # Errors
/// If the drive has a throttle, or blocks that fail by another law.
pub fn suits(config: &fowler_device::Config) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    if config.throttle.name != ThrottleKind::Off {
        let what = "a throttle delays each drive of a fleet otherwise, so that one life does not \
                    tell how the others live";
        let hint = "use a scheme without one, such as nt".to_string();
        diagnostics.push(Diagnostic::new("policy.throttle", what).expected("off").hint(hint));
    }
    if config.bad_blocks.share > 0.0 {
        let what = "the blocks of a fleet wear out by their strengths, and not by this law as well";
        let hint = "see --worn-blocks".to_string();
        diagnostics.push(Diagnostic::new("bad_blocks.share", what).expected("0").hint(hint));
    }
    diagnostics.or(())
}

/// How many are alive at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alive {
    /// The moment.
    pub years: f64,
    /// The share of the first drives that are alive, between what sampling and dilation may do.
    pub share: Interval,
}

impl Fleet {
    fn of(life: &Lifetime, spec: &FleetSpec, drawn: Drawn) -> Fleet {
        let Drawn { drives, by_year, all } = drawn;
        Fleet {
            spec: *spec,
            drives,
            by_year,
            all,
            horizon: horizon(life),
            bytes_year: life.survey.bytes as f64 / life.survey.span.as_s() * YEAR_S,
            dilation_error: life.dilation_error(),
            sorted: Sorted::default(),
        }
    }

    /// Returns a value of all first drives, sorted: in the middle as it is, and before and after
    /// that as if dilation had made lives until wear-out too long or too short.
    fn sorted(&self, value: impl Fn(&Drive) -> f64 + Sync) -> [Vec<f64>; 3] {
        let error = self.dilation_error.unwrap_or(0.0).min(0.99);
        [1.0 - error, 1.0, 1.0 + error].map(|factor| {
            let its = self.drives.par_iter();
            let scaled = |it: &Drive| Drive { worn_years: it.worn_years * factor, ..*it };
            let mut all: Vec<f64> = its.map(|it| value(&scaled(it))).collect();
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

    /// Returns the share of drives that are alive at some moments, the first of them the beginning.
    /// All drives are followed to the end, so this is the estimate of Kaplan and Meier, and its
    /// interval is Wilson's, of the drives as they would be if dilation made lives too short or too
    /// long.
    pub fn survival(&self) -> Vec<Alive> {
        let (all, z) = (self.sorted_years(), self.z());
        let moment = |number: usize| {
            let years = self.horizon * number as f64 / MOMENTS as f64;
            let [least, own, most] = [0, 1, 2].map(|which| {
                let its: &[f64] = &all[which];
                let dead = its.partition_point(|&it| it <= years);
                wilson((its.len() - dead) as u64, its.len() as u64, z)
            });
            let share = Interval { low: least.low, value: own.value, high: most.high };
            Alive { years, share }
        };
        (0..=MOMENTS).map(moment).collect()
    }

    /// Returns quantiles of the years after which the first drives are replaced. The interval is
    /// that of the rank, of the drives as in [`Fleet::survival`].
    pub fn years_at(&self, share: f64) -> Interval {
        self.quantile(share, self.sorted_years())
    }

    /// Returns quantiles of the terabytes (10^12 bytes) that the host has written when a first
    /// drive is replaced, with an interval as in [`Fleet::years_at`].
    pub fn tbw_at(&self, share: f64) -> Interval {
        self.quantile(share, self.sorted_tbw())
    }

    /// Returns the terabytes that the host has written when a drive is replaced.
    pub fn tbw(&self, drive: &Drive) -> f64 {
        self.bytes_year * drive.load * drive.years() / 1e12
    }

    fn quantile(&self, share: f64, sorted: &[Vec<f64>; 3]) -> Interval {
        let its = sorted.each_ref().map(|all| statistics::quantile(all, share, self.z()));
        Interval { low: its[0].low, value: its[1].value, high: its[2].high }
    }

    /// Returns the drives replaced in a year for each place of the fleet. The interval is that of
    /// sampling alone.
    pub fn rate(&self, replaced: Replaced, years: f64) -> Interval {
        let per = f64::from(self.spec.drives) * years;
        let its = statistics::replacements(replaced, self.spec.drives, self.z());
        its.map(|count| count / per)
    }

    /// Returns how many spare drives are enough, with the confidence asked for.
    pub fn spares(&self, replaced: Replaced) -> u64 {
        at_most(replaced, self.spec.drives, normal_quantile(self.spec.confidence))
    }

    /// Returns the share of first drives that failed early among those replaced within the target.
    pub fn early(&self) -> Option<f64> {
        let replaced = || self.drives.iter().filter(|it| it.years() < self.horizon);
        let early = replaced().filter(|it| it.cause() == Cause::Early).count();
        let all = replaced().count();
        (all > 0).then(|| early as f64 / all as f64)
    }

    /// Writes the first drive of each place as CSV.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_drives(&self, path: &Path) -> Result<(), Diagnostics> {
        let failed = |error: std::io::Error| unwritable(path, &error);
        let mut file = std::io::BufWriter::new(AtomicFile::create(path)?);
        let head = "drive,load,strength,early_years,worn_years,years,cause,tbw";
        writeln!(file, "{head}").map_err(failed)?;
        for (number, drive) in self.drives.iter().enumerate() {
            let Drive { load, strength, early_years, worn_years } = drive;
            // No early failure ever is an empty cell.
            let early = if early_years.is_finite() { early_years.to_string() } else { "".into() };
            let cause = drive.cause().word();
            let (years, tbw) = (drive.years(), self.tbw(drive));
            let number = number + 1;
            writeln!(file, "{number},{load},{strength},{early},{worn_years},{years},{cause},{tbw}")
                .map_err(failed)?;
        }
        file.into_inner().map_err(|error| failed(error.into_error()))?.finish()
    }
}
