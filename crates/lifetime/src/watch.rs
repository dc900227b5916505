//! Reports to the caller during a lifetime.

use fowler_experiment::life_estimate::Estimate;
use fowler_experiment::workload::Control;

/// Partial knowledge of a lifetime's result before its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Early {
    /// Before anything is simulated: the bounds.
    Bounds(Estimate),
    /// The estimate so far, at the rate of wear until now.
    SoFar {
        /// The effective lifetime, in years.
        years: f64,
        /// Pages programmed for each host page.
        waf: f64,
    },
    /// The life is over, and the drives of a fleet are drawn from here on.
    Drawing {
        /// Number of drives to draw.
        drives: usize,
    },
}

/// Lets the caller watch a lifetime.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set by the caller to end the lifetime; the state is saved if there is a checkpoint file.
    pub control: Control<'a>,
    /// Called with the finished share of the work that takes the longest, from 0 to 1: the time
    /// left follows from it.
    pub share: &'a (dyn Fn(f64) + Sync),
    /// Called with early estimates of the result.
    pub early: &'a (dyn Fn(Early) + Sync),
    /// Called with notes that matter before the end.
    pub warn: &'a (dyn Fn(&str) + Sync),
}
