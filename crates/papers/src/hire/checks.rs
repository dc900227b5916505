//! The state machine of blocks under HIRE (section 3.2), checked with all invariants of a small
//! drive after every event.

use crate::run_folder::Job;
use crate::studies;
use fowler_device::{Completion, Pacing};
use fowler_experiment::device_spec::{DeviceSpec, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::scheme::Scheme;
use fowler_units::{HostIo, HostOp, Nanos, Rng};
use serde::{Deserialize, Serialize};

/// Number of requests, to random pages of a small drive, during which the HIRE study checks the
/// states of blocks.
const REQUESTS: u64 = 6000;

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
}

/// Returns a job that serves reads and writes on a small drive under HIRE, checks every invariant
/// after each event, and counts events and violations.
pub(super) fn job<'a>(name: &str) -> Result<Job<'a, States>, Diagnostics> {
    let spec = DeviceSpec {
        device: "hire".into(),
        set: SMALL.iter().map(|it| (*it).to_string()).collect(),
        ..DeviceSpec::default()
    };
    let source = presets::open(Folder::Devices, &spec.device)?;
    let drive = resolve(&source, &Scheme::load("hire")?, &spec)?;
    Ok(Job::new(name, &format!("{} {REQUESTS}", drive.hash), move |control| {
        let mut device = studies::drive("hire", &drive.config, control)?;
        let pages = u64::from(drive.layout.logical_pages);
        let page = drive.config.geometry.page_size.0;
        let mut rng = Rng::stream(drive.config.seed, "reproduce/hire/states");
        let requests: Vec<HostIo> = (0..REQUESTS)
            .map(|number| {
                let at = rng.below(pages);
                let reads = rng.chance([0.05, 0.5, 0.9][at as usize % 3]);
                let op = if reads { HostOp::Read } else { HostOp::Write };
                let size = page as u32;
                HostIo::new(op, Nanos(400_000 * number), at * page, size)
            })
            .collect();
        let (mut events, mut violations) = (0u64, 0u64);
        let mut completions: Vec<Completion> = Vec::new();
        let requests = requests.into_iter().take_while(|_| !control.stopped());
        device.run_watched(requests, Pacing::Open, &mut completions, |device| {
            events += 1;
            violations += u64::from(!control.stopped() && device.check().is_err());
        });
        let erases: u64 = device.counters().erases.sum();
        let states = States { events, violations, erases };
        Ok((!control.stopped()).then_some(states))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_folder::tests::stopped_midway;

    #[test]
    fn they_can_be_stopped() {
        assert!(stopped_midway(job("hire").unwrap()).is_none());
    }
}
