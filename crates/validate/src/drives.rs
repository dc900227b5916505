//! The simulated drives, and their parameters for the theory.

use super::spec::ValidateSpec;
use fowler_device::Config;
use fowler_experiment::device_spec::{self, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::scheme::Scheme;
use fowler_theory::bounds::Array;
use fowler_theory::die::{DieTimes, Suspension};

/// Names of the preset drives of the P/E suspension paper.
pub(super) const FLASHES: [&str; 2] = ["pes-slc", "pes-mlc"];

/// Schemes of the P/E suspension paper, each with the kind of suspension (between or within the
/// phases of a program or erase) for which the queueing formulas of the validation are.
pub(super) const SUSPENSIONS: [(&str, Suspension); 2] =
    [("pes_ips", Suspension::InterPhase), ("pes_ipc", Suspension::IntraPhase)];

/// A drive for validation: its configuration in theory, and its configuration in simulation.
#[derive(Clone, Debug)]
pub(super) struct Drive {
    /// Name of the preset drive.
    pub flash: String,
    /// Configuration of the drive that the validation simulates, to compare the results with
    /// theory.
    pub stated: Config,
    /// Configuration of the drive that the validation simulates.
    pub simulated: Config,
}

impl Drive {
    /// Returns the preset drive under a scheme with some keys set. The user's `spoil` settings,
    /// which make the simulation wrong on purpose, change the simulated drive, but not the one of
    /// the theory.
    pub fn new(
        preset: &str,
        scheme: &str,
        set: &[String],
        spec: &ValidateSpec,
    ) -> Result<Drive, Diagnostics> {
        let stated = resolve(preset, scheme, set.to_vec())?.config;
        let simulated = match spec.spoil.as_slice() {
            [] => stated.clone(),
            _ => resolve(preset, scheme, spoiled(set, spec))?.config,
        };
        Ok(Drive { flash: preset.into(), stated, simulated })
    }
}

fn resolve(preset: &str, scheme: &str, set: Vec<String>) -> Result<Resolved, Diagnostics> {
    let spec = DeviceSpec { device: preset.into(), set, ..DeviceSpec::default() };
    device_spec::resolve(&spec.source()?, &Scheme::load(scheme)?, &spec)
}

/// Returns the settings `key=value` of a simulated drive: those of `set`, replaced or extended by
/// the settings with which the user makes the simulation wrong on purpose (`spoil`).
pub(super) fn spoiled(set: &[String], spec: &ValidateSpec) -> Vec<String> {
    let key = |setting: &String| setting.split('=').next().unwrap_or_default().trim().to_string();
    let is_spoiled = |setting: &&String| spec.spoil.iter().any(|spoil| key(spoil) == key(setting));
    let kept = set.iter().filter(|setting| !is_spoiled(setting));
    kept.chain(&spec.spoil).cloned().collect()
}

/// Returns the text of a setting, `key=value`.
pub(super) fn set(key: &str, value: impl std::fmt::Display) -> String {
    format!("{key}={value}")
}

/// Returns the times of a die's operations in microseconds. The flash of the P/E suspension paper
/// has one page type only.
pub fn die_times(config: &Config) -> DieTimes {
    let timing = config.effective_timing();
    DieTimes {
        read: (timing.read.at(0) + timing.bus_transfer).as_us(),
        transfer: timing.bus_transfer.as_us(),
        program_phase: timing.program_phase.as_us(),
        verify_phase: timing.verify_phase.as_us(),
        iterations: timing.program_iterations.at(0),
        voltage_reset: timing.voltage_reset.as_us(),
        buffer_load: timing.buffer_load.as_us(),
    }
}

/// Returns the parameters of the array of dies and channels, with times in microseconds.
pub(super) fn array(config: &Config) -> Array {
    let timing = config.effective_timing();
    let g = &config.geometry;
    Array {
        channels: f64::from(g.channels),
        dies: f64::from(g.dies()),
        planes: f64::from(g.planes_per_die),
        transfer: timing.bus_transfer.as_us(),
        sensing: timing.read.at(0).as_us(),
        program: timing.program(0).as_us(),
    }
}
