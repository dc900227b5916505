//! A point that a study declares in code: its name, and the run.

use super::point::verdict;
use crate::device_spec;
use crate::diagnostic::Diagnostics;
use crate::image_cache::ImageCache;
use crate::run::{Run, RunSpec};
use crate::scheme::Scheme;
use crate::workload::Control;
use serde_json::Value;

/// A point of a study: a run, and the name of its result.
#[derive(Clone, Debug)]
pub struct StudyPoint {
    /// Name of the point's result; a study has only one result of that name.
    pub name: String,
    /// The run of this point of a study: drive, scheme, workload and replay speed.
    pub run: RunSpec,
}

impl StudyPoint {
    /// Returns text that identifies the inputs on which the result of the study's run depends:
    /// drive, workload, replay speed and limit, but not the version of the simulator.
    ///
    /// # Errors
    /// If the run has no valid drive, or its workload cannot be read.
    pub fn identity(&self) -> Result<String, Diagnostics> {
        let RunSpec { device, scheme, workload, replay_speed, limit, .. } = &self.run;
        let scheme = scheme.as_deref().map_or(Ok(Scheme::none()), Scheme::load)?;
        let drive = device_spec::resolve(&device.source()?, &scheme, device)?;
        Ok(format!("{} {} {replay_speed:?} {limit:?}", drive.hash, workload.identity()?))
    }

    /// Simulates the run of this point of a study. Returns the summary of the run, without anything
    /// that depends on wall-clock time; `None` if the run was stopped.
    ///
    /// # Errors
    /// Why the run failed.
    pub fn simulate(
        &self,
        images: &ImageCache,
        control: Control<'_>,
    ) -> Result<Option<Value>, Diagnostics> {
        match Run::new(&self.run, control).images(images).outcome() {
            Ok(outcome) => verdict(&outcome).transpose(),
            // The run was stopped before its first request.
            Err(_) if control.stopped() => Ok(None),
            Err(diagnostics) => Err(diagnostics),
        }
    }
}
