//! The state machine of blocks under HIRE (section 3.2), checked with all invariants of a small
//! drive after every event.

use crate::run_folder::Job;
use crate::studies;
use fowler_device::{Completion, Pacing, Voltage};
use fowler_experiment::device_spec::{DeviceSpec, Resolved, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::Control;
use fowler_units::{HostIo, HostOp, Nanos, Rng};
use serde::{Deserialize, Serialize};

/// Number of requests, to random pages of a small drive, during which the HIRE study checks the
/// states of blocks.
const REQUESTS: u64 = 6000;

/// Number of pages that the small drive's workload reads often at one time, half of all requests.
const OFTEN_READ: u64 = 8;

/// Number of requests after which other pages of the small drive are read often, so that those read
/// before leave the buffer.
const TURN: u64 = 400;

/// Settings of the small drive of the HIRE study, on which every invariant can be checked after
/// every event.
const SMALL: [&str; 8] = [
    "geometry.channels=1",
    "geometry.chips_per_channel=2",
    "geometry.blocks_per_plane=24",
    "geometry.pages_per_block=16",
    "buffer.size=256KiB",
    "buffer.evict_ahead=2",
    "geometry.over_provisioning=0.6",
    "precondition.pattern=random",
];

/// The results of checking block states after every event under HIRE.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct States {
    pub events: u64,
    /// Number of events of a small drive under HIRE after which an invariant of its block states
    /// did not hold.
    pub violations: u64,
    pub erases: u64,
    /// Number of programs at boosted, nominal and reduced voltages: a drive without any of one kind
    /// shows nothing about blocks of that class.
    pub programs: [u64; 3],
}

impl States {
    /// Returns true if the checks could have found something: an idle drive breaks no invariant,
    /// nor does one without blocks of read-hot data.
    pub fn is_evidence(&self) -> bool {
        let every_class = self.programs.iter().all(|&programs| programs > 20);
        self.events > 10_000 && self.erases > 100 && every_class
    }
}

/// Returns a job that serves reads and writes on a small drive under HIRE, checks every invariant
/// after each event, and counts events and violations.
pub(super) fn job<'a>(name: &str) -> Result<Job<'a, States>, Diagnostics> {
    let drive = small_drive()?;
    Ok(Job::new(name, &format!("{} {REQUESTS}", drive.hash), move |control| {
        checked(&drive, control)
    }))
}

/// Returns the small drive of the HIRE study whose invariants are checked.
fn small_drive() -> Result<Resolved, Diagnostics> {
    let spec = DeviceSpec {
        device: "hire".into(),
        set: SMALL.iter().map(|it| (*it).to_string()).collect(),
        ..DeviceSpec::default()
    };
    let source = presets::open(Folder::Devices, &spec.device)?;
    resolve(&source, &Scheme::load("hire")?, &spec)
}

/// Serves reads and writes on the small drive and checks every invariant after each event; `None`
/// if it was stopped.
fn checked(drive: &Resolved, control: Control<'_>) -> Result<Option<States>, Diagnostics> {
    let mut device = studies::drive("hire", &drive.config, control)?;
    let pages = u64::from(drive.layout.logical_pages);
    let page = drive.config.geometry.page_size.0;
    let mut rng = Rng::stream(drive.config.seed, "reproduce/hire/states");
    let requests: Vec<HostIo> = (0..REQUESTS)
        .map(|number| {
            // Dirty pages leave read-hot only if they are read very often (19 times of 20).
            let often = rng.chance(0.5);
            let at = if often {
                number / TURN * OFTEN_READ + rng.below(OFTEN_READ)
            } else {
                rng.below(pages)
            };
            let reads = rng.chance(if often { 0.96 } else { [0.05, 0.5, 0.9][at as usize % 3] });
            let op = if reads { HostOp::Read } else { HostOp::Write };
            HostIo::new(op, Nanos(400_000 * number), at * page, page as u32)
        })
        .collect();
    let (mut events, mut violations) = (0u64, 0u64);
    let mut completions: Vec<Completion> = Vec::new();
    let requests = requests.into_iter().take_while(|_| !control.stopped());
    device.run_watched(requests, Pacing::Open, &mut completions, |device| {
        events += 1;
        violations += u64::from(!control.stopped() && device.check().is_err());
    });
    let counters = device.counters();
    let programs = [Voltage::Boosted, Voltage::Nominal, Voltage::Reduced]
        .map(|voltage| counters.programs_at.values().map(|at| at[voltage]).sum());
    let states = States { events, violations, erases: counters.erases.sum(), programs };
    Ok((!control.stopped()).then_some(states))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_folder::tests::stopped_midway;

    /// The small drive is worth checking: it erases blocks, and programs at every set of voltages.
    #[test]
    fn they_meet_every_class() {
        let states = checked(&small_drive().unwrap(), Control::UNWATCHED).unwrap().unwrap();
        assert!(states.is_evidence() && states.violations == 0, "{states:?}");
    }

    #[test]
    fn they_can_be_stopped() {
        assert!(stopped_midway(job("hire").unwrap()).is_none());
    }
}
