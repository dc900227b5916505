//! Reports to the caller during a lifetime.

use fowler_experiment::life_estimate::Estimate;
use fowler_experiment::workload::Control;

/// An estimate of a lifetime's result before its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Early {
    /// Bounds of the drive's years of life before anything is simulated.
    Bounds(Estimate),
    /// Estimate of the drive's life from the wear so far, at the rate of wear until now.
    SoFar {
        /// Estimated lifetime of the drive, in years.
        years: f64,
        /// Mean number of flash pages programmed per page that the host wrote (write amplification)
        /// since the simulated life began.
        waf: f64,
    },
    /// The life is over, and the drives of a fleet are drawn from now on.
    Drawing {
        /// Number of drives of the fleet to draw.
        drives: usize,
    },
}

/// Lets the caller watch a lifetime.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set by the caller to end the lifetime; the state is saved if there is a checkpoint file.
    pub control: Control<'a>,
    /// Called with the share, from 0 to 1, that is done of that part of a lifetime study which
    /// takes the longest; from it, callers estimate the time left.
    pub share: &'a (dyn Fn(f64) + Sync),
    /// Function called with estimates of the drive's lifetime while its life is still being
    /// simulated.
    pub early: &'a (dyn Fn(Early) + Sync),
    /// Called with warnings that matter before the lifetime's end.
    pub warn: &'a (dyn Fn(&str) + Sync),
}
