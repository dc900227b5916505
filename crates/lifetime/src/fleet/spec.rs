//! The properties in which the drives of a fleet differ, and the lives from which a fleet can be
//! drawn.

use fowler_device::policy::throttle::ThrottleKind;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use serde::{Deserialize, Serialize};

/// The most drives that a fleet may have.
pub const DRIVES_MOST: u32 = 1_000_000;

/// The properties in which the drives of a fleet differ. All defaults are assumed; sweep them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetSpec {
    /// Number of drives in the fleet; in 1 to [`DRIVES_MOST`].
    pub drives: u32,
    /// Standard deviation of the logarithm of a drive's load, 0 to 3. The median drive has the
    /// workload's load.
    pub load_spread: f64,
    /// Share of the fleet's drives that fail early, for no reason of wear, within the first year;
    /// in 0 to 0.5.
    pub early_share: f64,
    /// Weibull shape of the times of early failures; in 0.1 to 5. Below 1 the rate falls with age.
    pub early_shape: f64,
    /// Share of worn-out blocks at which a drive is replaced; in 0 to 0.5.
    pub worn_blocks: f64,
    /// Probability, 0.5 to 0.9999, that a confidence interval in the fleet's results (such as that
    /// of the share of drives alive) contains the true value.
    pub confidence: f64,
}

impl FleetSpec {
    /// Default specification of a fleet. All of its values are assumed.
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

/// Checks a fleet specification, before the life is simulated.
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

/// Refuses drives on which the simulated life under one load does not tell the life under other
/// loads, so that no fleet can be derived from it. Call it before simulating.
///
/// # Errors
///
/// If the drive has a throttle, or an SLC cache whose blocks fail.
pub fn suits(config: &fowler_device::Config) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    if config.throttle.name != ThrottleKind::Off {
        let what = "a throttle delays each drive of a fleet differently, so one simulated life \
            cannot represent the others";
        let hint = "use a scheme without one, such as nt".to_string();
        diagnostics.push(Diagnostic::new("policy.throttle", what).expected("off").hint(hint));
    }
    if config.bad_blocks.share > 0.0 && config.slc.is_on() {
        let what = "blocks that fail also shrink the SLC cache, and the simulation of a fleet does \
            not follow the size of the cache";
        let hint = "use a drive without slc, or no bad_blocks.share".to_string();
        diagnostics.push(Diagnostic::new("bad_blocks.share", what).expected("0").hint(hint));
    }
    diagnostics.or(())
}
