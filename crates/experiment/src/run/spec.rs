//! The specification of a run.

use crate::device_spec::DeviceSpec;
use crate::faults::Scripted;
use crate::replay_speed::ReplaySpeed;
use crate::requests::RequestsFile;
use crate::workload::WorkloadSpec;

/// The specification of a run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The drive.
    pub device: DeviceSpec,
    /// The scheme on the drive; `None` leaves the drive as described.
    pub scheme: Option<String>,
    /// The requests.
    pub workload: WorkloadSpec,
    /// The replay speed.
    pub replay_speed: ReplaySpeed,
    /// Most requests to run; `None` for all.
    pub limit: Option<u64>,
    /// Power losses and other faults in addition to those of the workload, in order of time.
    pub faults: Vec<Scripted>,
    /// The log of all requests, if one is wanted.
    pub requests: Option<RequestsFile>,
    /// True to record the data of charts: [`detail`](crate::outcome::Outcome::detail).
    pub detail: bool,
}

impl RunSpec {
    /// Returns the run of all requests of a workload on a drive as described.
    pub fn new(device: DeviceSpec, workload: WorkloadSpec, replay_speed: ReplaySpeed) -> RunSpec {
        RunSpec {
            device,
            scheme: None,
            workload,
            replay_speed,
            limit: None,
            faults: Vec::new(),
            requests: None,
            detail: false,
        }
    }
}
