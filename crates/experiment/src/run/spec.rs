//! The specification of a run.

use crate::device_spec::DeviceSpec;
use crate::faults::Scripted;
use crate::replay_speed::ReplaySpeed;
use crate::requests::RequestsFile;
use crate::workload::WorkloadSpec;

/// Specification of a run: a drive, a scheme, requests and their replay speed.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The drive of the run.
    pub device: DeviceSpec,
    /// The scheme of the drive; `None` leaves the drive's policies as described.
    pub scheme: Option<String>,
    /// The requests of the run.
    pub workload: WorkloadSpec,
    /// The speed at which the requests of the run are replayed.
    pub replay_speed: ReplaySpeed,
    /// Most requests that the run replays; `None` for all.
    pub limit: Option<u64>,
    /// Power losses and other faults that strike the drive in addition to those of the workload, in
    /// order of time.
    pub faults: Vec<Scripted>,
    /// Log of all requests of the run; `None` for no log.
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
