//! A finished life, saved with the drives of a fleet, so that resuming or merging does not simulate
//! it again.

use super::{EndOfLife, Lifetime};
use fowler_experiment::device_spec::{self, DeviceSpec, Source};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::life_estimate::Survey;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::WorkloadReport;
use serde::{Deserialize, Serialize};

/// The result of a drive's life, without a fleet, in the form in which it is saved. The drive is
/// given by its description, and the workload by the report of the life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SavedLife {
    device: String,
    scheme: String,
    /// Every configuration key of the drive as TOML, and its hash.
    config: String,
    config_hash: String,
    precondition: String,
    workload: String,
    workload_hash: String,
    generator: Option<String>,
    requests: u64,
    speed: f64,
    survey: Survey,
    left_out: Vec<String>,
    lived: Vec<EndOfLife>,
}

impl SavedLife {
    pub fn of(life: &Lifetime) -> SavedLife {
        let Lifetime { drive, precondition, workload, survey, left_out, lived, .. } = life;
        SavedLife {
            device: drive.device.clone(),
            scheme: drive.scheme.clone(),
            config: drive.text.clone(),
            config_hash: drive.hash.clone(),
            precondition: precondition.clone(),
            workload: workload.name.clone(),
            workload_hash: workload.hash.clone(),
            generator: workload.generator.clone(),
            requests: workload.requests,
            speed: workload.speed,
            survey: *survey,
            left_out: left_out.clone(),
            lived: lived.clone(),
        }
    }

    /// Returns the lifetime of a drive that was saved in a fleet file.
    ///
    /// If this version of Fowler reads the saved description of the drive as a different drive.
    pub fn life(self) -> Result<Lifetime, Diagnostics> {
        let spec = DeviceSpec { device: self.device.clone(), ..DeviceSpec::default() };
        let source = Source { name: self.device, text: self.config };
        let resolved = device_spec::resolve(&source, &Scheme::none(), &spec);
        let mut drive = resolved.map_err(|mut diagnostics| {
            let what =
                "this version of Fowler does not understand the description of a saved drive";
            let hint = "use the version that saved it, or run it again".to_string();
            diagnostics.push(Diagnostic::new(&source.name, what).hint(hint));
            diagnostics
        })?;
        if drive.hash != self.config_hash {
            let what = "this version of Fowler reads the saved description as a different drive: \
                        its configuration has another hash; use the version that saved it, or run \
                        it again";
            return Err(Diagnostic::new(source.name, what).into());
        }
        drive.scheme = self.scheme;
        let workload = WorkloadReport {
            name: self.workload,
            hash: self.workload_hash,
            requests: self.requests,
            read: None,
            remap: None,
            touched_pages: None,
            speed: self.speed,
            generator: self.generator,
        };
        Ok(Lifetime {
            drive,
            precondition: self.precondition,
            workload,
            survey: self.survey,
            left_out: self.left_out,
            lived: self.lived,
            fleet: None,
            checkpoints: Vec::new(),
        })
    }
}
