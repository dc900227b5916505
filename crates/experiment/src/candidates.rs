//! The candidates of a comparison: a drive under several schemes, or several drives, each under the
//! schemes that work on it.

use crate::atomic_file::same;
use crate::device_spec::{self, Axis, DeviceSpec, Resolved};
use crate::diagnostic::{Diagnostic, Diagnostics, escaped};
use crate::faults::Scripted;
use crate::presets::{self, Folder};
use crate::run::{self, RunSpec};
use crate::scheme::NO_SCHEME;
use crate::workload::WorkloadSpec;
use std::collections::BTreeMap;
use std::path::Path;

/// The most drives that one comparison may have.
pub const MOST_DEVICES: usize = 64;

/// One run of a comparison: a drive under a scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The drive of one run of a comparison.
    pub device: DeviceSpec,
    /// The scheme under which the drive runs; `None` runs the drive with the policies of its
    /// description.
    pub scheme: Option<String>,
    /// Name of the drive where drives are compared; `None` where schemes are.
    name: Option<String>,
}

impl Candidate {
    /// Returns the name of the run's column in tables: that of the drive or of the scheme.
    pub fn label(&self) -> &str {
        self.name.as_deref().or(self.scheme.as_deref()).unwrap_or(NO_SCHEME)
    }

    /// Returns the specification of this run of a comparison: `spec`, which all its runs share,
    /// with this run's drive and scheme.
    pub fn spec(&self, spec: &RunSpec) -> RunSpec {
        let (device, scheme) = (self.device.clone(), self.scheme.clone());
        RunSpec { device, scheme, ..spec.clone() }
    }

    /// Gives `drive` the name under which a comparison of drives lists it.
    pub(crate) fn call(&self, drive: &mut Resolved) {
        drive.candidate.clone_from(&self.name);
    }

    /// Returns the configured drive of this run of a comparison, under the run's scheme and with
    /// the settings in `spec`, which all runs of the comparison share.
    ///
    /// # Errors
    ///
    /// All errors in the drive.
    pub fn drive(&self, spec: &RunSpec) -> Result<Resolved, Diagnostics> {
        let spec = self.spec(spec);
        let mut drive = run::drive(&spec, &spec.device.source()?, spec.scheme.as_deref())?;
        self.call(&mut drive);
        Ok(drive)
    }
}

/// A scheme that a comparison leaves out on one drive, because it does not work there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Name of the drive on which the scheme does not work.
    pub drive: String,
    /// Name of the scheme that does not work on the drive.
    pub scheme: String,
    /// The reasons why the scheme does not work on the drive.
    pub wrong: Diagnostics,
}

impl LeftOut {
    /// Returns a sentence that says why the scheme does not work: the first reason and its hint.
    pub fn note(&self) -> String {
        let why = self.wrong.0.first().map_or(String::new(), |it| {
            let hint = it.hint.as_ref().map_or(String::new(), |hint| format!(" (hint: {hint})"));
            format!(": {}{hint}", it.what)
        });
        format!("{} is left out on {}{why}", self.scheme, self.drive)
    }
}

/// The candidates of a comparison, in order. The first is the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    axis: Axis,
    all: Vec<Candidate>,
    left_out: Vec<LeftOut>,
}

impl Candidates {
    fn of(axis: Axis, all: Vec<Candidate>) -> Candidates {
        Candidates { axis, all, left_out: Vec::new() }
    }

    /// Returns the candidates of a comparison of schemes: the same drive under each scheme.
    pub fn schemes(device: &DeviceSpec, schemes: &[String]) -> Candidates {
        let candidate = |scheme: &String| Candidate {
            device: device.clone(),
            scheme: Some(scheme.clone()),
            name: None,
        };
        Candidates::of(Axis::Schemes, schemes.iter().map(candidate).collect())
    }

    /// Returns the candidates of a single run: a drive under a scheme, or with its own policies.
    pub fn one(device: &DeviceSpec, scheme: Option<&str>) -> Candidates {
        let (device, scheme) = (device.clone(), scheme.map(Into::into));
        Candidates::of(Axis::Schemes, vec![Candidate { device, scheme, name: None }])
    }

    /// Returns the candidates of a comparison of drives, all under one scheme. A preset is called
    /// by its name, a file by its name without folder and ending; files that would be called alike
    /// have as much of their path as tells them apart.
    ///
    /// # Errors
    /// If there are fewer than two, or one of them is listed twice.
    pub fn devices(
        devices: Vec<DeviceSpec>,
        scheme: Option<&str>,
    ) -> Result<Candidates, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let flag = "--devices";
        for (place, device) in devices.iter().enumerate() {
            if let Some(first) = devices[..place].iter().find(|earlier| is_same(earlier, device)) {
                let [first, name] = [first, device].map(|it| escaped(&it.device).into_owned());
                let what = match first == name {
                    true => format!("drive `{name}` is listed twice"),
                    false => format!("`{first}` and `{name}` are the same file"),
                };
                diagnostics.push(Diagnostic::new(flag, what));
            }
        }
        match devices.len() {
            0 => diagnostics.push(Diagnostic::new(flag, "no drives are given")),
            1 => {
                let what = format!("`{}` names only one drive", escaped(&devices[0].device));
                let one = Diagnostic::new(flag, what)
                    .expected("at least two drives, separated by commas");
                diagnostics.push(
                    one.hint(
                        "to run a single drive, use --device instead of --devices".to_string(),
                    ),
                );
            }
            MOST_DEVICES.. if devices.len() > MOST_DEVICES => {
                let what = format!("{} drives are more than can be compared", devices.len());
                let expected = format!("at most {MOST_DEVICES}");
                diagnostics.push(Diagnostic::new(flag, what).expected(expected));
            }
            _ => {}
        }
        diagnostics.or(())?;
        let names = names(&devices);
        let candidate = |(device, name): (DeviceSpec, String)| Candidate {
            device,
            scheme: scheme.map(Into::into),
            name: Some(name),
        };
        let all = devices.into_iter().zip(names).map(candidate).collect();
        Ok(Candidates::of(Axis::Devices, all))
    }

    /// Returns the candidates of a comparison of drives under schemes: each drive under each scheme
    /// that works on it. With several schemes, candidates are called by the names of both.
    ///
    /// # Errors
    /// As [`Candidates::devices`]; if a scheme is unknown, listed twice or works on none of the
    /// drives, or if none of them works on a drive.
    pub fn crossed(
        devices: Vec<DeviceSpec>,
        schemes: &[String],
    ) -> Result<Candidates, Diagnostics> {
        let drives = Candidates::devices(devices, None)?;
        drives.check(None, &[]).or(())?;
        let schemes: Vec<&str> = schemes.iter().map(|it| it.trim()).collect();
        let (mut all, mut left_out): (Vec<Candidate>, Vec<LeftOut>) = (Vec::new(), Vec::new());
        for drive in &drives.all {
            for scheme in &schemes {
                let scheme = (*scheme).to_string();
                let wrong = run::check(&drive.device, std::slice::from_ref(&scheme), None, &[]);
                if wrong.0.is_empty() {
                    let label = drive.label();
                    let name =
                        if schemes.len() > 1 { format!("{label} {scheme}") } else { label.into() };
                    let device = drive.device.clone();
                    all.push(Candidate { device, scheme: Some(scheme), name: Some(name) });
                } else {
                    left_out.push(LeftOut { drive: drive.label().into(), scheme, wrong });
                }
            }
        }
        let mut diagnostics = Diagnostics::default();
        let mut none_of = |what: String, which: &dyn Fn(&LeftOut) -> bool, most: usize| {
            let here: Vec<&LeftOut> = left_out.iter().filter(|it| which(it)).collect();
            if here.len() == most {
                diagnostics.push(Diagnostic::new("--schemes", what));
                diagnostics.0.extend(here.iter().flat_map(|it| it.wrong.0.iter().cloned()));
            }
        };
        for scheme in &schemes {
            let what = format!("the scheme `{}` works on none of the drives", escaped(scheme));
            none_of(what, &|it| it.scheme == **scheme, drives.all.len());
        }
        for drive in drives.labels() {
            let what = format!("none of the schemes works on {}", escaped(drive));
            none_of(what, &|it| it.drive == drive, schemes.len());
        }
        for (place, scheme) in schemes.iter().enumerate() {
            if schemes[..place].contains(scheme) {
                diagnostics.push(Diagnostic::new("", format!("scheme `{scheme}` is listed twice")));
            }
        }
        if all.len() > MOST_DEVICES {
            let what = format!("{} drives under schemes are more than can be compared", all.len());
            let expected = format!("at most {MOST_DEVICES}");
            diagnostics.push(Diagnostic::new("--devices", what).expected(expected));
        }
        diagnostics.unique().or(Candidates { axis: Axis::Devices, all, left_out })
    }

    /// Returns the property in which the candidates differ: scheme or drive.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// Returns the candidates of the comparison, the baseline first.
    pub fn all(&self) -> &[Candidate] {
        &self.all
    }

    /// Returns the schemes that were left out on some drive, because they do not work there.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns the names of the drives and schemes in a comparison (the candidates), which are the
    /// headings of their columns in tables.
    pub fn labels(&self) -> Vec<&str> {
        self.all.iter().map(Candidate::label).collect()
    }

    /// Checks each candidate of a comparison (a drive under a scheme). Also checks the workload,
    /// without reading a whole trace, and that each drive has the pages, blocks, dies and other
    /// units that the faults to be injected name.
    pub fn check(&self, workload: Option<&WorkloadSpec>, faults: &[Scripted]) -> Diagnostics {
        if self.axis == Axis::Schemes {
            let Some(first) = self.all.first() else { return Diagnostics::default() };
            let schemes: Vec<String> = self.all.iter().filter_map(|it| it.scheme.clone()).collect();
            return run::check(&first.device, &schemes, workload, faults);
        }
        let of = |candidate: &Candidate| {
            run::check(&candidate.device, candidate.scheme.as_slice(), workload, faults)
        };
        self.merged(self.all.iter().map(of).collect())
    }

    /// Joins the errors of all candidates. If drives are compared, an error that not all of them
    /// have is reported with the name of its drive.
    pub(crate) fn merged(&self, wrong: Vec<Diagnostics>) -> Diagnostics {
        let everywhere = |it: &Diagnostic| wrong.iter().all(|errors| errors.0.contains(it));
        let mut all = Diagnostics::default();
        for (candidate, errors) in self.all.iter().zip(&wrong) {
            for one in &errors.0 {
                let mut one = one.clone();
                let label = escaped(candidate.label());
                let names_drive = one.file == candidate.device.device || one.what.contains(&*label);
                if self.axis == Axis::Devices && !names_drive && !everywhere(&one) {
                    one.what += &format!(" (on {label})");
                }
                all.push(one);
            }
        }
        all.unique()
    }

    /// Returns the candidates of the comparison with `seed` as the seed of every drive.
    pub(crate) fn with_seed(&self, seed: u64) -> Candidates {
        let is_seed = |setting: &String| setting.split('=').next().map(str::trim) == Some("seed");
        let mut changed = self.clone();
        for candidate in &mut changed.all {
            candidate.device.seed = Some(seed);
            candidate.device.set.retain(|setting| !is_seed(setting));
        }
        changed
    }

    /// Returns the candidates with the first drive's seed for all: requests are drawn from the
    /// seed, and drives whose files say different ones would not serve the same requests.
    ///
    /// # Errors
    /// If the first drive is invalid.
    pub(crate) fn on_one_seed(&self) -> Result<Candidates, Diagnostics> {
        match self.axis {
            Axis::Schemes => Ok(self.clone()),
            Axis::Devices => Ok(self.with_seed(self.seed()?)),
        }
    }

    /// Returns the seed of the first drive of the comparison.
    ///
    /// # Errors
    /// If the comparison has no drive, or the first drive is invalid.
    pub(crate) fn seed(&self) -> Result<u64, Diagnostics> {
        let Some(Candidate { device, scheme, .. }) = self.all.first() else {
            return Err(Diagnostic::of("nothing is compared").into());
        };
        let scheme = device.scheme(scheme.as_deref())?;
        Ok(device_spec::resolve(&device.source()?, &scheme, device)?.config.seed)
    }
}

/// Returns true if both drives are the same preset, come from the same file, or are descriptions
/// with one name.
fn is_same(one: &DeviceSpec, other: &DeviceSpec) -> bool {
    match (file(one), file(other)) {
        (Some(one), Some(other)) => same(one, other),
        (None, None) => one.device == other.device && one.text == other.text,
        _ => false,
    }
}

/// Returns the path of the file that describes a drive; `None` for presets and for descriptions
/// given as text.
fn file(device: &DeviceSpec) -> Option<&Path> {
    presets::file(Folder::Devices, &device.device).filter(|_| device.text.is_none())
}

/// Returns a name for each drive of a comparison; no two names are alike.
fn names(devices: &[DeviceSpec]) -> Vec<String> {
    // Number of path parts in each name, counted from the end; 0 means the file name without its
    // extension.
    let mut parts = vec![0; devices.len()];
    loop {
        let names: Vec<String> =
            devices.iter().zip(&parts).map(|(device, &parts)| name(device, parts)).collect();
        let mut seen: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, name) in names.iter().enumerate() {
            seen.entry(name).or_default().push(place);
        }
        let mut grown = false;
        for place in seen.values().filter(|places| places.len() > 1).flatten().copied() {
            if name(&devices[place], parts[place]) != devices[place].device {
                parts[place] += 1;
                grown = true;
            }
        }
        // Names that stopped growing are whole paths, or descriptions without a file.
        if !grown {
            return numbered(names);
        }
    }
}

/// Numbers drive names that are still alike: `mine`, `mine 2`.
fn numbered(names: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let numbers = (2..).map(|number| format!("{name} {number}"));
        let free = std::iter::once(name.clone()).chain(numbers).find(|it| !all.contains(it));
        all.extend(free);
    }
    all
}

/// Returns the name of a drive: its preset, or the last `parts` parts of its path.
fn name(device: &DeviceSpec, parts: usize) -> String {
    let whole = || device.device.clone();
    let Some(path) = file(device) else { return whole() };
    if parts == 0 {
        return path.file_stem().map_or_else(whole, |stem| stem.to_string_lossy().into_owned());
    }
    let all: Vec<_> = path.iter().collect();
    match all.len().checked_sub(parts) {
        None | Some(0) => whole(),
        Some(first) => {
            let last = all[first..].iter().map(|part| part.to_string_lossy());
            last.collect::<Vec<_>>().join(std::path::MAIN_SEPARATOR_STR)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn specs(names: &[&str]) -> Vec<DeviceSpec> {
        let spec = |name: &&str| DeviceSpec { device: (*name).into(), ..DeviceSpec::default() };
        names.iter().map(spec).collect()
    }

    #[test]
    fn no_two_drives_are_called_alike() {
        for (devices, names) in [
            (&["tlc", "rhio"][..], &["tlc", "rhio"][..]),
            (&["tlc", "my/fast.toml"], &["tlc", "fast"]),
            (&["tlc", "my/tlc.toml"], &["tlc", "tlc.toml"]),
            (&["a/x.toml", "b/x.toml", "c/y.toml"], &["a/x.toml", "b/x.toml", "y"]),
            (&["x.toml", "b/x.toml"], &["x.toml", "b/x.toml"]),
            (
                &["p/a/x.toml", "q/a/x.toml", "r/b/x.toml"],
                &["p/a/x.toml", "q/a/x.toml", "b/x.toml"],
            ),
            (&["/x.toml", "/a/x.toml"], &["/x.toml", "a/x.toml"]),
        ] {
            let found = Candidates::devices(specs(devices), None).unwrap();
            assert_eq!(found.labels(), names, "{devices:?}");
        }
    }

    #[test]
    fn descriptions_of_one_name_are_numbered() {
        let of = |text: &str| DeviceSpec {
            device: "mine".into(),
            text: Some(text.into()),
            ..DeviceSpec::default()
        };
        let found = Candidates::devices(vec![of("a"), of("b")], None).unwrap();
        assert_eq!(found.labels(), ["mine", "mine 2"]);
        assert!(Candidates::devices(vec![of("a"), of("a")], None).is_err());
    }

    /// `ppc` needs parity that is updated in place, which no drive with superblocks has.
    #[test]
    fn several_schemes_are_compared_on_the_drives_where_they_work() {
        let crossed = |schemes: &[&str]| {
            let schemes: Vec<String> = schemes.iter().map(ToString::to_string).collect();
            Candidates::crossed(specs(&["da-raid5", "nvme-7450"]), &schemes)
        };
        let found = crossed(&["as described", "rps", "ppc"]).unwrap();
        let labels = [
            "da-raid5 as described",
            "da-raid5 rps",
            "da-raid5 ppc",
            "nvme-7450 as described",
            "nvme-7450 rps",
        ];
        assert_eq!(found.labels(), labels);
        let notes: Vec<String> = found.left_out().iter().map(LeftOut::note).collect();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("ppc is left out on nvme-7450: the stripes"), "{notes:?}");
        for (schemes, says) in [
            (&["rps", " rps"][..], "scheme `rps` is listed twice"),
            (&["rps", "nosuch"], "the scheme `nosuch` works on none of the drives"),
            (&["ppc", "hc"], "none of the schemes works on nvme-7450"),
            (&["ppc"], "none of the schemes works on nvme-7450"),
        ] {
            let wrong = crossed(schemes).unwrap_err();
            let texts: Vec<&str> = wrong.0.iter().map(|it| it.what.as_str()).collect();
            assert!(texts.contains(&says), "{schemes:?}: {texts:?}");
        }
        assert_eq!(crossed(&["rps"]).unwrap().labels(), ["da-raid5", "nvme-7450"]);
    }

    #[test]
    fn a_list_that_compares_nothing_is_refused() {
        for (devices, what) in [
            (&["tlc"][..], "--devices: `tlc` names only one drive"),
            (&["tlc", "rhio", "tlc"], "drive `tlc` is listed twice"),
            (
                &["src/x.toml", "src/../src/x.toml"],
                "`src/x.toml` and `src/../src/x.toml` are the same file",
            ),
            (&[], "no drives are given"),
        ] {
            let said = Candidates::devices(specs(devices), None).unwrap_err().to_string();
            assert!(said.contains(what), "{devices:?}: {said}");
        }
    }

    /// An error in the trace is reported once for all drives; an error in a drive is reported with
    /// that drive's name.
    #[test]
    fn an_error_that_not_all_drives_have_names_its_drive() {
        let candidates = Candidates::devices(specs(&["tlc", "rhio"]), None).unwrap();
        let all = Diagnostic::new("t.csv", "is empty");
        let one = Diagnostic::new("--set", "has no effect");
        let own = Diagnostic::new("rhio", "is broken");
        let wrong = [vec![all.clone()], vec![all, one, own]].map(Diagnostics);
        let said = candidates.merged(wrong.into());
        let texts: Vec<&str> = said.0.iter().map(|it| it.what.as_str()).collect();
        assert_eq!(texts, ["is empty", "has no effect (on rhio)", "is broken"]);
    }
}
