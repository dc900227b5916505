//! The parts of a drive that a lifetime simulates, leaves out, and refuses.

use fowler_device::policy::hotness::Detector;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::scrub::ScrubKind;
use fowler_device::policy::step::StepKind;
use fowler_device::policy::voltage::VoltageKind;
use fowler_device::{AccessClass, Config, ReadHot};
use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_units::Span;

/// Returns the reason why the life of a drive cannot be simulated; `None` if it can.
pub fn why_not(drive: &Resolved) -> Option<String> {
    whole(drive).err().and_then(|why| why.0.first().map(|it| it.what.clone()))
}

/// Rejects drives whose wear the lifetime model misses: with parity writes, or with superblocks and
/// voltages or lazy eviction.
pub(crate) fn whole(drive: &Resolved) -> Result<(), Diagnostics> {
    let config = &drive.config;
    let superblocks = config.ftl.has_superblocks();
    if superblocks && config.voltage.name != VoltageKind::Nominal {
        let what = "the lifetime of a drive with superblocks ignores programming voltages, so \
            they would not change its wear";
        let diagnostic = Diagnostic::new(drive.device.clone(), what);
        return Err(diagnostic.expected("policy.voltage = \"nominal\"").into());
    }
    if superblocks && config.evicts_lazily() {
        let what = "the lifetime of a drive with superblocks does not simulate data that stays in \
            the buffer until room is needed";
        let diagnostic = Diagnostic::new(drive.device.clone(), what);
        return Err(diagnostic.expected("buffer.eviction = \"eager\"").into());
    }
    // Parity by position is programmed with the data of its superblock, as in a run.
    if superblocks || config.redundancy.name == RedundancyKind::Unprotected {
        return Ok(());
    }
    let what = "a lifetime does not simulate parity writes, so parity would cause no wear";
    let diagnostic =
        Diagnostic::new(drive.device.clone(), what).expected("policy.redundancy = \"none\"");
    Err(diagnostic.hint(Some("`fowler run` simulates parity writes".into())).into())
}

/// Returns errors for custom policies that a lifetime simulation never asks: it uses only the
/// policies for throttling, victims of GC and placement of data.
pub(crate) fn without_effect(config: &Config) -> Diagnostics {
    const ASKED: [&str; 3] = ["policy.throttle", "policy.victim", "policy.placement"];
    let idle = config.policies.labels().filter(|(key, _)| !ASKED.contains(key));
    let reported = |(key, label): (&str, &str)| {
        let what =
            format!("{label} would never be used: a lifetime does not simulate commands on dies");
        Diagnostic::new(key, what)
            .hint(format!("of all policies, a lifetime uses only {}", ASKED.join(", ")))
    };
    Diagnostics(idle.map(reported).collect())
}

/// Lists the parts of a drive that a lifetime does not simulate.
#[rustfmt::skip]
pub(crate) fn left_out(config: &Config) -> Vec<String> {
    let (buffer, older) = (&config.buffer, &config.precondition);
    let rewrites = "rewrites that it would absorb reach the flash";
    let buffered = format!("the write buffer of {}: {rewrites}", buffer.size);
    let superblocks = config.ftl.has_superblocks();
    [
        (true, "dies: writes never wait for a die"),
        (buffer.size.0 > 0 && !superblocks, &buffered),
        (buffer.pace > Span::ZERO, "buffer.pace: no write is held back"),
        (config.slc.is_on(),
            "the time that folding takes: a pause beyond slc.fold_after empties the SLC cache"),
        (config.slc.is_on(),
            "that cells wear less in SLC mode: each erase of a superblock is a cycle of its cells"),
        (config.aging.refresh_above > 0,
            "old data: with a dilation of K, no data becomes older than a K-th of the life"),
        (config.hotness.uses(Detector::RequestSize) && !superblocks,
            "request sizes: data of small requests is placed with all other data"),
        (config.hotness.uses(Detector::BufferHits),
            "buffer hits after a write: a page's class is that of its hits until it is written"),
        (buffer.read_hot == ReadHot::RewriteOnIdle,
            "idle time: read-hot pages are not reprogrammed"),
        (config.reliability.uber > 0.0,
            "errors at the rate reliability.uber: no read fails, and nothing is moved for one"),
        (config.failed_dies.spare > 0,
            "dies that fail: none does, so none is replaced (failed_dies.spare)"),
        (config.redundancy.rebuild_rate.0 > 0,
            "unreadable pages: none has to be rebuilt (policy.redundancy.rebuild_rate)"),
        (config.scrub.name != ScrubKind::Off,
            "scrubbing: no page is read or moved in idle time"),
        (config.step.name != StepKind::Nominal,
            "ISPP steps: every program takes as long as one with the nominal step"),
        (older.access_class != AccessClass::Mixed,
            "access classes of preconditioned data: a life begins with data of the workload"),
        (older.warm_up > 0, "the warm-up: a life begins after long use anyway"),
    ]
    .into_iter()
    .filter(|(used, _)| *used)
    .map(|(_, what)| what.to_string())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_experiment::device_spec::{self, DeviceSpec};
    use fowler_experiment::scheme::Scheme;

    #[test]
    fn keys_of_faults_are_left_out() {
        let said = |set: &[&str]| {
            let set = set.iter().map(ToString::to_string).collect();
            let spec = DeviceSpec { device: "nvme-pm9a3".into(), set, ..DeviceSpec::default() };
            let drive = device_spec::resolve(&spec.source().unwrap(), &Scheme::none(), &spec);
            left_out(&drive.unwrap().config).join("; ")
        };
        for (setting, key) in [
            ("failed_dies.spare=1", "failed_dies.spare"),
            ("policy.redundancy.rebuild_rate=100MB/s", "policy.redundancy.rebuild_rate"),
        ] {
            assert!(said(&[setting]).contains(key) && !said(&[]).contains(key), "{setting}");
        }
    }

    #[test]
    fn a_life_without_its_parity_is_refused() {
        let reported = |scheme: &str| {
            let spec = DeviceSpec { device: "da-raid5".into(), ..DeviceSpec::default() };
            let scheme = Scheme::load(scheme).unwrap();
            let drive = device_spec::resolve(&spec.source().unwrap(), &scheme, &spec).unwrap();
            whole(&drive).err().map(|diagnostics| diagnostics.to_string()).unwrap_or_default()
        };
        assert!(reported("raid5").contains("parity would cause no wear"));
        assert_eq!(reported("nt"), "");
    }
}
