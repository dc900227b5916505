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

/// Preset drives that are fitted to latencies under mixed load, the default first. The other fitted
/// presets match measured reads and cached writes only.
const FITTED: [&str; 4] = ["nvme-pm9a3", "nvme-7450", "nvme-p5520", "nvme-pe8110"];
/// Capacities in GB of the real drives that the presets of [`FITTED`] scale down, in the same
/// order.
const REAL_GB: [u64; 4] = [960, 960, 1920, 960];
/// Preset drive for a trace that is too large for every drive in [`FITTED`]: the largest preset
/// with cells of three bits.
const LARGE: &str = "tlc";

/// The schemes that `fowler ask` compares: they change latency on any drive.
const SCHEMES: [&str; 4] = ["fifo", "rps", "pes_ips", "pes_ipc"];
/// The schemes of the papers that `fowler ask` does not compare, because they change the cells, the
/// wear or the number of programs.
const OTHER_SCHEMES: [&str; 4] = ["rhio", "hire", "ready_opt", "da_raid5"];

/// Drives that the user of `fowler ask` asks about, and the drives and schemes that are simulated
/// and compared to answer.
pub(super) struct Asking {
    /// Drives that the user of `fowler ask` named, or the preset that the command chose.
    pub(super) asked: Vec<Candidate>,
    /// Candidates that `fowler ask` compares: schemes on the drive if one was named, otherwise the
    /// named drives.
    pub(super) candidates: Candidates,
    /// The schemes on each of several drives.
    pub(super) schemes: Vec<Candidates>,
    /// Presets fitted to real drives other than the one on which `fowler ask` answers in full; each
    /// of these gets one short answer.
    pub(super) others: Vec<Fitted>,
    /// The choice of the drive and its reason, if `ask` chose the drive for the user.
    pub(super) choice: Option<Choice>,
}

impl Asking {
    pub(super) fn one(device: &DeviceSpec) -> Result<Asking, Diagnostics> {
        let candidates = schemes(device)?;
        candidates.check(None, &[]).or(())?;
        let asked = candidates.all()[..1].to_vec();
        let (schemes, others) = (Vec::new(), Vec::new());
        Ok(Asking { asked, candidates, schemes, others, choice: None })
    }

    pub(super) fn several(candidates: &Candidates) -> Result<Asking, Diagnostics> {
        candidates.check(None, &[]).or(())?;
        let (asked, candidates) = (candidates.all().to_vec(), candidates.clone());
        let schemes = asked.iter().map(|it| schemes(&it.device)).collect::<Result<_, _>>()?;
        Ok(Asking { asked, candidates, schemes, others: Vec::new(), choice: None })
    }

    /// Chooses the first drive of `fitted` that has room for the trace. If none has, chooses
    /// [`LARGE`], a preset fitted to no real drive, with the user's `settings`.
    ///
    /// # Errors
    /// If a setting is wrong on the drive.
    pub(super) fn fitted(
        mut fitted: Vec<Fitted>,
        settings: &DeviceSpec,
        info: &TraceInfo,
    ) -> Result<Asking, Diagnostics> {
        let touched = info.footprint.0.min(info.highest_byte);
        let capacity = |it: &Fitted| it.drive.as_ref().map_or(0, |it| it.layout.logical.0);
        let Some(place) = fitted.iter().position(|it| touched <= capacity(it)) else {
            let why = format!(
                "{LARGE}, fitted to no real drive: the trace touches {}, and the largest fitted \
                 drive has {}; --device names another",
                bytes(touched),
                bytes(fitted.iter().map(capacity).max().unwrap_or(0))
            );
            let asking = Asking::one(&named(settings, LARGE)).map_err(|wrong| on(LARGE, wrong))?;
            return Ok(Asking { choice: Some(Choice::drive(why, LARGE)), ..asking });
        };
        let first = fitted.remove(place);
        let name = first.device.device.clone();
        let why = format!(
            "{name}, {}: fitted to measurements of a real drive that it scales down, and it has \
             room for the {} that the trace touches; --device names another",
            bytes(capacity(&first)),
            bytes(touched)
        );
        let choice = Some(Choice::drive(why, &name));
        Ok(Asking { others: fitted, choice, ..Asking::one(&first.device)? })
    }
}

/// A preset drive whose parameters are fitted to measurements of a real drive.
pub(super) struct Fitted {
    /// Preset drive with the settings that the user of `fowler ask` gave.
    pub(super) device: DeviceSpec,
    /// The drive with no scheme (named set of policies) applied, or the reasons why the drive
    /// cannot have the user's settings.
    pub(super) drive: Result<Resolved, Diagnostics>,
}

/// Returns the presets of [`FITTED`], which are fitted to measurements of real drives, with the
/// user's settings.
///
/// # Errors
/// If the settings are wrong on all of them.
pub(super) fn fitted(settings: &DeviceSpec) -> Result<Vec<Fitted>, Diagnostics> {
    let of = |name| {
        let device = named(settings, name);
        Fitted { drive: as_described(&device), device }
    };
    let all: Vec<Fitted> = FITTED.into_iter().map(of).collect();
    let wrong: Option<Vec<&Diagnostics>> = all.iter().map(|it| it.drive.as_ref().err()).collect();
    match wrong.as_deref() {
        Some([first, rest @ ..]) if rest.iter().all(|it| it.0 == first.0) => Err((*first).clone()),
        Some([first, ..]) => Err(on(FITTED[0], (*first).clone())),
        _ => Ok(all),
    }
}

/// Returns the specification of the preset drive called `name`, with the settings of `settings`.
fn named(settings: &DeviceSpec, name: &str) -> DeviceSpec {
    DeviceSpec { device: name.into(), ..settings.clone() }
}

/// Adds the name of the drive to errors that lack it: the user, who has not named a drive, would
/// not know which one is meant.
fn on(drive: &str, mut wrong: Diagnostics) -> Diagnostics {
    for one in wrong.0.iter_mut().filter(|it| it.file != drive && !it.what.contains(drive)) {
        one.what += &format!(" (on {drive}, which is chosen where --device names no drive)");
    }
    wrong
}

/// Returns the capacity in bytes of the real drive that a fitted preset scales down, and its ratio
/// to the capacity of the preset; `None` if the drive is no fitted preset, or if settings have
/// changed its capacity.
pub(super) fn real_capacity(drive: &Resolved) -> Option<(u64, f64)> {
    let place = FITTED.iter().position(|it| *it == drive.device)?;
    let preset = as_described(&named(&DeviceSpec::default(), FITTED[place])).ok()?;
    let (whole, has) = (REAL_GB[place] * 1_000_000_000, drive.layout.logical.0);
    (preset.layout.logical.0 == has).then(|| (whole, whole as f64 / has as f64))
}

/// Returns the drive as its description has it, with no scheme (named set of policies) applied.
///
/// # Errors
/// All errors in the drive's description.
pub(super) fn as_described(device: &DeviceSpec) -> Result<Resolved, Diagnostics> {
    device_spec::resolve(&device.source()?, &Scheme::none(), device)
}

/// Returns the drive under each of the latency schemes (`fifo`, `rps`, `pes_ips`, `pes_ipc`) that
/// work on it. The drive without a scheme comes first if it orders or suspends operations in
/// another way than the first scheme.
///
/// # Errors
/// All errors in the drive.
pub(super) fn schemes(device: &DeviceSpec) -> Result<Candidates, Diagnostics> {
    let described = as_described(device)?;
    let works = SCHEMES.iter().filter(|it| scheme_on(device, it).works());
    let mut schemes: Vec<String> = works.map(ToString::to_string).collect();
    let orders = |it: &Resolved| (it.config.die_order, it.config.suspension);
    let is_first = match schemes.first() {
        Some(first) => {
            let under = device_spec::resolve(&device.source()?, &Scheme::load(first)?, device)?;
            orders(&described) == orders(&under)
        }
        None => false,
    };
    if !is_first {
        schemes.insert(0, NO_SCHEME.into());
    }
    Ok(Candidates::schemes(device, &schemes))
}

/// Returns a sentence about the schemes that `fowler ask` does not compare, and the keys that they
/// need.
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
        text += &format!(
            " With further configuration keys, which `fowler presets --on {name}` lists, the drive \
             runs {with_keys}."
        );
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

    /// Returns the characteristics of a trace that touches `touched` of its first `end` bytes.
    fn info(touched: u64, end: u64) -> TraceInfo {
        let one: Result<HostIo, TraceError> = Ok(HostIo::read(Nanos(0), 0, 4096));
        let info = TraceInfo::gather(None, [one]).unwrap();
        TraceInfo { highest_byte: end, footprint: Bytes(touched), ..info }
    }

    /// The capacities of the fitted drives grow in the order P5520, 7450, PM9A3, PE8110.
    #[test]
    fn the_first_fitted_drive_with_room_is_chosen() {
        let capacity = |name: &str| {
            let device = DeviceSpec { device: name.into(), ..settings() };
            as_described(&device).unwrap().layout.logical.0
        };
        let [first, _, _, last] = FITTED.map(capacity);
        for (touched, end, name, others) in [
            (first, first, FITTED[0], 3),
            // Addresses far apart are moved together.
            (first, u64::MAX, FITTED[0], 3),
            (first + 1, u64::MAX, FITTED[3], 3),
            // The survey counts whole pages: more may be touched than there are addresses.
            (first + 1, first, FITTED[0], 3),
            (last + 1, u64::MAX, LARGE, 0),
        ] {
            let all = fitted(&settings()).unwrap();
            let found = Asking::fitted(all, &settings(), &info(touched, end)).unwrap();
            assert_eq!(found.asked[0].device.device, name, "{touched} {end}");
            assert_eq!(found.others.len(), others, "{touched} {end}");
            assert!(found.others.iter().all(|it| it.device.device != name), "{touched} {end}");
            let why = found.choice.unwrap().why;
            assert!(why.starts_with(name), "{why}");
        }
    }

    /// A setting that only some fitted drives can have leaves these out; one that none can have is
    /// an error.
    #[test]
    fn fitted_drives_with_wrong_settings_are_passed_over() {
        let with = |set: &str| DeviceSpec { set: vec![set.into()], ..settings() };
        // Two of the drives take writes from their queues in turn, of which that is the number.
        let taken = with("queue.taken=100");
        let all = fitted(&taken).unwrap();
        let wrong: Vec<&str> =
            all.iter().filter(|it| it.drive.is_err()).map(|it| it.device.device.as_str()).collect();
        assert_eq!(wrong, ["nvme-7450", "nvme-pe8110"]);
        let typo = fitted(&with("geometry.chanels=2")).err().unwrap().to_string();
        assert!(typo.contains("geometry.channels") && !typo.contains("nvme-pm9a3"), "{typo}");
        let all = fitted(&settings()).unwrap();
        let huge = info(u64::MAX, u64::MAX);
        let wrong = Asking::fitted(all, &with("superblocks.parity=20"), &huge).err().unwrap();
        assert!(wrong.to_string().contains("on tlc, which is chosen"), "{wrong}");
    }

    /// The first line of each preset names the capacity of the real drive.
    #[test]
    fn real_capacities_are_those_of_the_presets() {
        for name in FITTED {
            let drive = as_described(&named(&settings(), name)).unwrap();
            let gb = real_capacity(&drive).unwrap().0 / 1_000_000_000;
            let preset = presets::open(presets::Folder::Devices, name).unwrap().text;
            let line = preset.lines().next().unwrap().to_string();
            let says = |words: &str| line.contains(words);
            assert!(
                says(&format!(" {gb} GB,")) || says(&format!(" {} TB,", gb as f64 / 1e3)),
                "{line}"
            );
        }
        let small = ["geometry.channels=2".to_string()].to_vec();
        let small = DeviceSpec { set: small, ..named(&settings(), FITTED[0]) };
        for other in [named(&settings(), "tlc"), small] {
            assert_eq!(real_capacity(&as_described(&other).unwrap()), None);
        }
    }

    /// A drive with its own order of requests and its own suspension is the baseline of its
    /// schemes.
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

    /// The caution about schemes that were not tried agrees with the presets.
    #[test]
    fn schemes_that_are_not_compared_are_named_with_what_they_need() {
        let said = not_compared(&DeviceSpec { device: "nvme-pm9a3".into(), ..settings() });
        for words in [
            "runs ready_opt, too",
            "`fowler presets --on nvme-pm9a3` lists, the drive runs rhio, hire, da_raid5",
        ] {
            assert!(said.contains(words), "{said}");
        }
    }
}
