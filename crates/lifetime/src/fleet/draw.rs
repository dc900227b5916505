//! Draws the drives of a fleet, or of one shard of it, from the simulated life of one drive.
//!
//! 1. The specification and the drive are checked (`spec`).
//! 2. The probability distributions of loads, cells, failing blocks and early failures follow from
//!    the life and the specification (`laws`).
//! 3. The drives that are still missing are drawn, each with those that replace it
//!    (`drawn_drives`).

use super::drawn_drives::{DrawnDrives, Part};
use super::failures::share_seen;
use super::laws::Laws;
use super::spec::{check, suits};
use super::{BadBlocks, Fleet, FleetSpec, Sorted};
use crate::Lifetime;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::life_estimate::YEAR_S;
use fowler_experiment::shard::Shard;
use fowler_experiment::workload::Control;

/// Draws a fleet of drives like one whose life is simulated; `None` if stopped.
///
/// # Errors
///
/// If the specification is invalid, or the life cannot represent other drives.
pub fn draw(
    life: &Lifetime,
    spec: &FleetSpec,
    control: Control<'_>,
) -> Result<Option<Fleet>, Diagnostics> {
    let drawing = Drawing { shard: Shard::WHOLE, control, share: &|_| (), every: u64::MAX };
    let mut drawn = DrawnDrives::nothing(horizon(life));
    let whole = drawing.complete(&mut drawn, life, spec, &mut |_| Ok(()))?;
    Ok(whole.then(|| Fleet::of(life, spec, drawn)))
}

/// Options for drawing a fleet, or a shard of one.
#[derive(Clone, Copy)]
pub(super) struct Drawing<'a> {
    pub shard: Shard,
    pub control: Control<'a>,
    pub share: &'a (dyn Fn(f64) + Sync),
    pub every: u64,
}

impl Drawing<'_> {
    /// Draws the missing drives of a fleet or of one of its shards, and adds them to those in
    /// `drawn`.
    pub fn complete(
        self,
        drawn: &mut DrawnDrives,
        life: &Lifetime,
        spec: &FleetSpec,
        save: &mut dyn FnMut(&DrawnDrives) -> Result<(), Diagnostics>,
    ) -> Result<bool, Diagnostics> {
        check(spec).or(())?;
        suits(&life.drive.config)?;
        let laws = Laws::of(life, spec)?;
        let Drawing { shard, control, share, every } = self;
        let (places, horizon) = (shard.places(spec.drives), horizon(life));
        drawn.complete(Part { laws: &laws, places, horizon, control, share, every, save })
    }
}

/// Returns the target lifetime of the drive in years.
pub(super) fn horizon(life: &Lifetime) -> f64 {
    life.target().as_s() / YEAR_S
}

/// Returns the law by which blocks of a fleet's drives fail, and the share of spare capacity that
/// the drive lost to failed blocks in its simulated life; `None` if no block fails.
fn bad_blocks(life: &Lifetime) -> Option<BadBlocks> {
    let config = &life.drive.config;
    let simulated_loss = share_seen(life)?;
    let (share, shape) = (config.bad_blocks.share, config.bad_blocks.shape);
    Some(BadBlocks { share, cycles: config.life.cycles, shape, simulated_loss })
}

impl Fleet {
    pub(super) fn of(life: &Lifetime, spec: &FleetSpec, drawn: DrawnDrives) -> Fleet {
        let DrawnDrives { drives, by_year, all } = drawn;
        Fleet {
            spec: *spec,
            drives,
            by_year,
            all,
            horizon: horizon(life),
            bytes_year: life.survey.bytes as f64 / life.survey.span.as_s() * YEAR_S,
            bad_blocks: bad_blocks(life),
            dilation_error: life.dilation_error(),
            sorted: Sorted::default(),
        }
    }
}
