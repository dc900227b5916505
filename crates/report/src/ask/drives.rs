//! The drives and the schemes of `ask`: a fitted drive that has room for the trace where the user
//! names none, and on every drive the schemes that work there.

use super::choices::Choice;
use super::facts::quoted;
use fowler_experiment::candidates::{Candidate, Candidates};
use fowler_experiment::compatibility::{Compatibility, scheme_on};
use fowler_experiment::device_spec::{self, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::numbers::bytes;
use fowler_experiment::scheme::{NO_SCHEME, Scheme};
use fowler_workload::TraceInfo;

/// Presets fitted to latencies under mixed load, the default first. The others that are fitted know
/// reads and cached writes only.
const FITTED: [&str; 4] = ["nvme-pm9a3", "nvme-7450", "nvme-p5520", "nvme-pe8110"];
/// Capacities of the real drives in GB, in the same order: the presets scale them down.
const REAL_GB: [u64; 4] = [960, 960, 1920, 960];
/// The drive for a trace that no fitted drive has room for: it is the largest preset with cells of
/// three bits.
const LARGE: &str = "tlc";

/// The schemes that are compared: they change latency on any drive.
const SCHEMES: [&str; 4] = ["fifo", "rps", "pes_ips", "pes_ipc"];
/// The schemes of the papers that are not compared, because they change the cells, the wear or the
/// number of programs.
const OTHER_SCHEMES: [&str; 4] = ["rhio", "hire", "ready_opt", "da_raid5"];

/// The drives that are asked about, and the comparison that answers for them.
pub(super) struct Asking {
    /// The drives.
    pub(super) asked: Vec<Candidate>,
    /// The schemes on the one drive, or the drives.
    pub(super) candidates: Candidates,
    /// The drives that are asked about in short.
    pub(super) others: Vec<DeviceSpec>,
    /// The choice of the drive, if it is `ask`'s.
    pub(super) choice: Option<Choice>,
}

impl Asking {
    pub(super) fn one(device: &DeviceSpec) -> Result<Asking, Diagnostics> {
        let candidates = schemes(device)?;
        candidates.check(None, &[]).or(())?;
        let asked = candidates.all()[..1].to_vec();
        Ok(Asking { asked, candidates, others: Vec::new(), choice: None })
    }

    pub(super) fn several(candidates: &Candidates) -> Result<Asking, Diagnostics> {
        candidates.check(None, &[]).or(())?;
        let (asked, candidates) = (candidates.all().to_vec(), candidates.clone());
        Ok(Asking { asked, candidates, others: Vec::new(), choice: None })
    }

    pub(super) fn fitted(settings: &DeviceSpec, info: &TraceInfo) -> Result<Asking, Diagnostics> {
        let Fitting { device, others, choice } = fitting(settings, info)?;
        Ok(Asking { others, choice: Some(choice), ..Asking::one(&device)? })
    }
}

/// The drive that answers a question without one.
pub(super) struct Fitting {
    /// The drive.
    pub device: DeviceSpec,
    /// The other fitted drives; none if the trace has room on no fitted drive.
    pub others: Vec<DeviceSpec>,
    /// The choice and its reason.
    pub choice: Choice,
}

/// Chooses the first fitted drive that has room for the trace, and otherwise [`LARGE`]. `settings`
/// holds the settings of all drives.
///
/// # Errors
/// If a setting is wrong on a fitted drive.
pub(super) fn fitting(settings: &DeviceSpec, info: &TraceInfo) -> Result<Fitting, Diagnostics> {
    let named = |name: &str| DeviceSpec { device: name.into(), ..settings.clone() };
    let touched = info.footprint.0.min(info.highest_byte);
    let mut largest = 0;
    for name in FITTED {
        let drive = as_described(&named(name))?;
        let has = drive.layout.logical.0;
        largest = largest.max(has);
        if touched <= has {
            let why = format!(
                "{name}, {}: fitted to measurements of a real drive that it scales down, and it has \
                 room for the {} that the trace touches; --device names another",
                bytes(has),
                bytes(touched)
            );
            let others = FITTED.into_iter().filter(|it| *it != name).map(named).collect();
            return Ok(Fitting { device: named(name), others, choice: Choice::drive(why, name) });
        }
    }
    let why = format!(
        "{LARGE}, fitted to no real drive: the trace touches {}, and the largest fitted drive has \
         {}; --device names another",
        bytes(touched),
        bytes(largest)
    );
    let (device, others) = (named(LARGE), Vec::new());
    Ok(Fitting { device, others, choice: Choice::drive(why, LARGE) })
}

/// Returns the capacity in bytes of the real drive that a preset scales down; `None` for a drive
/// that stands for itself.
pub(super) fn real_capacity(device: &str) -> Option<u64> {
    let place = FITTED.iter().position(|it| *it == device)?;
    Some(REAL_GB[place] * 1_000_000_000)
}

/// Returns the drive without a scheme.
///
/// # Errors
/// All errors in the drive.
pub(super) fn as_described(device: &DeviceSpec) -> Result<Resolved, Diagnostics> {
    device_spec::resolve(&device.source()?, &Scheme::none(), device)
}

/// Returns the drive under each scheme for latency that works on it. The drive as described comes
/// first where it has another order of requests or another suspension than under the first scheme.
///
/// # Errors
/// If the drive is wrong, or none of the schemes works on it: the errors are those of the first.
pub(super) fn schemes(device: &DeviceSpec) -> Result<Candidates, Diagnostics> {
    let described = as_described(device)?;
    let works = SCHEMES.iter().filter(|it| scheme_on(device, it).works());
    let mut schemes: Vec<String> = works.map(ToString::to_string).collect();
    let under = device_spec::resolve(&device.source()?, &Scheme::load(SCHEMES[0])?, device)?;
    let orders = |it: &Resolved| (it.config.die_order, it.config.suspension);
    if orders(&described) != orders(&under) {
        schemes.insert(0, NO_SCHEME.into());
    }
    Ok(Candidates::schemes(device, &schemes))
}

/// Returns a sentence about the schemes that are not compared, and the keys that they need.
pub(super) fn not_compared(device: &DeviceSpec) -> String {
    let of = |keep: &dyn Fn(&Compatibility) -> bool| -> String {
        let all = OTHER_SCHEMES.iter().map(|it| scheme_on(device, it));
        let names: Vec<&str> = all.filter(keep).map(|it| it.scheme).collect();
        names.join(", ")
    };
    let mut text = "Only schemes for latency were tried.".to_string();
    let as_it_is = of(&Compatibility::works);
    if !as_it_is.is_empty() {
        text += &format!(" This drive runs {as_it_is}, too.");
    }
    let with_keys = of(&|it| it.flags().is_some());
    if !with_keys.is_empty() {
        let name = quoted(&device.device);
        text += &format!(" With further keys it runs {with_keys}: `fowler presets --on {name}`.");
    }
    let none = of(&|it| it.needs.is_err());
    if !none.is_empty() {
        text += &format!(" It cannot run {none}.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_experiment::presets;
    use fowler_units::{Bytes, HostIo, Nanos};
    use fowler_workload::TraceError;

    fn settings() -> DeviceSpec {
        DeviceSpec::default()
    }

    /// A trace that touches so many bytes of its first `end` bytes.
    fn info(touched: u64, end: u64) -> TraceInfo {
        let one: Result<HostIo, TraceError> = Ok(HostIo::read(Nanos(0), 0, 4096));
        let info = TraceInfo::gather(None, [one]).unwrap();
        TraceInfo { highest_byte: end, footprint: Bytes(touched), ..info }
    }

    /// The capacities of the fitted drives grow in the order P5520, PM9A3, 7450, PE8110.
    #[test]
    fn the_first_fitted_drive_with_room_is_chosen() {
        let capacity = |name: &str| {
            let device = DeviceSpec { device: name.into(), ..settings() };
            as_described(&device).unwrap().layout.logical.0
        };
        let [first, second, _, last] = FITTED.map(capacity);
        for (touched, end, name, others) in [
            (first, first, FITTED[0], 3),
            // Addresses far apart are moved together.
            (first, u64::MAX, FITTED[0], 3),
            (first + 1, u64::MAX, FITTED[1], 3),
            // The survey counts whole pages: more may be touched than there are addresses.
            (first + 1, first, FITTED[0], 3),
            (second + 1, u64::MAX, FITTED[3], 3),
            (last + 1, u64::MAX, LARGE, 0),
        ] {
            let found = fitting(&settings(), &info(touched, end)).unwrap();
            assert_eq!(found.device.device, name, "{touched} {end}");
            assert_eq!(found.others.len(), others, "{touched} {end}");
            assert!(found.others.iter().all(|it| it.device != name), "{touched} {end}");
            assert!(found.choice.why.starts_with(name), "{}", found.choice.why);
        }
    }

    /// The first line of each preset names the capacity of the real drive.
    #[test]
    fn real_capacities_are_those_of_the_presets() {
        for name in FITTED {
            let gb = real_capacity(name).unwrap() / 1_000_000_000;
            let preset = presets::open(presets::Folder::Devices, name).unwrap().text;
            let line = preset.lines().next().unwrap().to_string();
            let says = |words: &str| line.contains(words);
            assert!(
                says(&format!(" {gb} GB,")) || says(&format!(" {} TB,", gb as f64 / 1e3)),
                "{line}"
            );
        }
        assert_eq!(real_capacity("tlc"), None);
    }

    /// A drive with an order and a suspension of its own is the baseline of its schemes.
    #[test]
    fn a_drive_as_described_is_compared_if_it_differs_from_the_first_scheme() {
        for (device, labels) in [
            ("tlc", &["fifo", "rps", "pes_ips", "pes_ipc"][..]),
            ("nvme-7450", &[NO_SCHEME, "fifo", "rps", "pes_ips", "pes_ipc"]),
        ] {
            let device = DeviceSpec { device: device.into(), ..settings() };
            assert_eq!(schemes(&device).unwrap().labels(), labels);
        }
    }

    /// The caution about schemes that were not tried says what presets say.
    #[test]
    fn schemes_that_are_not_compared_are_named_with_what_they_need() {
        let said = not_compared(&DeviceSpec { device: "nvme-pm9a3".into(), ..settings() });
        for words in
            ["runs ready_opt, too", "runs rhio, hire, da_raid5: `fowler presets --on nvme-pm9a3`"]
        {
            assert!(said.contains(words), "{said}");
        }
    }
}
