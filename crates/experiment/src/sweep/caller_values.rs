//! Devices, policies and requests supplied by the calling program, which a sweep may name like
//! presets.

use super::{Plan, Requests};
use crate::device_spec::Source;
use crate::diagnostic::Diagnostics;
use crate::provenance::Digested;
use crate::workload::{Control, CustomSpec, RequestSource, WorkloadSpec};
use fowler_device::policy::custom::Policies;
use fowler_workload::Remap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Drives, policies and requests of the caller, by the names that a sweep's specification uses for
/// them. They precede presets of the same name.
#[derive(Debug, Default)]
pub struct CallerValues {
    /// Descriptions of drives by their names.
    pub devices: BTreeMap<String, Source>,
    /// Custom policies by the names that schemes use for them.
    pub policies: Vec<(String, Policies)>,
    /// Sources of requests that the calling program supplies, by the names that the sweep's file
    /// uses for them as workloads. Each is read once for its hash, and again for each run of the
    /// sweep.
    pub requests: BTreeMap<String, Arc<dyn RequestSource>>,
}

impl Requests {
    /// Reads requests supplied by the caller, for their hash.
    pub(super) fn given(
        source: &Arc<dyn RequestSource>,
        remap: Remap,
        control: Control<'_>,
    ) -> Result<Requests, Diagnostics> {
        let mut digested = Digested::new(source.requests()?);
        for request in digested.by_ref().take_while(|_| !control.stopped()) {
            request?;
        }
        let hash = digested.hash();
        let identity = format!("{hash} {}", remap.name());
        let spec = WorkloadSpec::Custom(CustomSpec { source: Arc::clone(source), remap });
        Ok(Requests { spec, hash, identity, lists_faults: false })
    }
}

impl Plan {
    /// Returns true if the scheme of the sweep's point `index` includes a custom policy of the
    /// caller.
    pub(super) fn asks_given_policies(&self, index: usize) -> bool {
        let names = self.points.get(index).map(|point| &point.names);
        let scheme = names.and_then(|names| self.schemes.get(&names.scheme));
        scheme.is_some_and(|scheme| scheme.policies().labels().next().is_some())
    }
}
