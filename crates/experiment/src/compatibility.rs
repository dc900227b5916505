//! Lists the schemes that work on a drive, the keys with which others do, and why the rest does
//! not. The answers come from the code that resolves a drive for a run.

use crate::device_spec::{self, DeviceSpec};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::presets::{Folder, Preset};
use crate::scheme::Scheme;

/// The maximum number of configuration keys that are set, one after the other, to make a preset
/// scheme work on a drive.
const MOST_KEYS: usize = 6;

/// Result of trying a preset scheme on a drive: it works as it is, with further settings, or not at
/// all.
#[derive(Clone, Debug)]
pub struct Compatibility {
    /// Name of the preset scheme (a named set of policies) that was tried on the drive.
    pub scheme: &'static str,
    /// Settings `key=value` with which the scheme works on the drive, as the hints of configuration
    /// errors say, and `gc.foreground_below` if its streams need more erased superblocks; empty if
    /// the scheme works without any. `Err` has the errors if no hint helps.
    pub needs: Result<Vec<String>, Diagnostics>,
}

impl Compatibility {
    /// Returns true if the scheme works on the drive without further settings.
    pub fn works(&self) -> bool {
        self.needs.as_ref().is_ok_and(Vec::is_empty)
    }

    /// Returns the `--set` flags that let the drive run the scheme of policies it was checked
    /// against; `None` if it needs none, or if no flags help.
    pub fn flags(&self) -> Option<String> {
        let needs = self.needs.as_ref().ok().filter(|needs| !needs.is_empty())?;
        Some(needs.iter().map(|it| format!("--set {it}")).collect::<Vec<_>>().join(" "))
    }
}

/// The reasons why schemes do not work, each once, in the order in which schemes meet them.
#[derive(Clone, Debug, Default)]
pub struct Reasons(Vec<String>);

impl Reasons {
    /// Returns the numbers of the reasons why a scheme does not work, ascending from 1; no numbers
    /// if the scheme works.
    pub fn of(&mut self, scheme: &Compatibility) -> Vec<usize> {
        let wrong = scheme.needs.as_ref().err().into_iter().flat_map(|wrong| &wrong.0);
        let number = |it: &Diagnostic| {
            let hint = it.hint.as_ref().map_or(String::new(), |hint| format!(". Hint: {hint}"));
            let reason = format!("{}{hint}", it.what);
            let known = self.0.iter().position(|known| *known == reason);
            1 + known.unwrap_or_else(|| {
                self.0.push(reason);
                self.0.len() - 1
            })
        };
        let mut numbers: Vec<usize> = wrong.map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns each reason why schemes do not work, with its number, from 1.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.0.iter().map(String::as_str))
    }
}

/// Returns the compatibility of every preset scheme with a drive: the keys that each scheme needs
/// there.
///
/// # Errors
/// If the drive itself is invalid.
pub fn schemes_on(device: &DeviceSpec) -> Result<Vec<Compatibility>, Diagnostics> {
    let source = device.source()?;
    device_spec::resolve(&source, &Scheme::none(), device)?;
    let of = |preset: &'static Preset| scheme_on(device, preset.name);
    Ok(Folder::Schemes.presets().iter().map(of).collect())
}

/// Returns the compatibility of one preset scheme with a drive: the keys that the scheme needs
/// there.
pub fn scheme_on(device: &DeviceSpec, scheme: &'static str) -> Compatibility {
    Compatibility { scheme, needs: needs(device, scheme) }
}

/// Finds the settings with which a scheme works on a drive: as long as an error names a key and a
/// value that would help, tries that value. Where the streams of the drive need more erased
/// superblocks than it keeps, and it has room for them, they are the last setting.
fn needs(device: &DeviceSpec, scheme: &str) -> Result<Vec<String>, Diagnostics> {
    let source = device.source()?;
    let scheme = device.scheme(Some(scheme))?;
    let resolve = |needs: &[String]| {
        let set = device.set.iter().chain(needs).cloned().collect();
        let spec = DeviceSpec { set, ..device.clone() };
        device_spec::resolve(&source, &scheme, &spec)
    };
    let mut needs: Vec<String> = Vec::new();
    loop {
        let wrong = match resolve(&needs) {
            Ok(drive) => {
                let erased = drive.config.erased_for_streams();
                let with_erased = erased
                    .map(|count| [&needs[..], &[format!("gc.foreground_below={count}")]].concat());
                return Ok(with_erased.filter(|it| resolve(it).is_ok()).unwrap_or(needs));
            }
            Err(wrong) => wrong,
        };
        let key = |setting: &str| setting.split('=').next().map(str::to_string);
        let is_new = |it: &String| needs.iter().all(|need| key(need) != key(it));
        let next = wrong.0.iter().filter_map(helps).find(is_new);
        match next.filter(|_| needs.len() < MOST_KEYS) {
            Some(next) => needs.push(next),
            // Only the errors that no setting resolves keep the scheme from working.
            None => {
                let (mut blocking, other): (Vec<_>, Vec<_>) =
                    wrong.0.into_iter().partition(|it| helps(it).is_none());
                blocking.extend(other);
                return Err(Diagnostics(blocking));
            }
        }
    }
}

/// Returns the setting that the hint of an error names, for example `--set
/// reliability.model=analytic` or `set policy.redundancy.stripe to one of 1, 3`. From a list of
/// numbers it takes the largest, because a stripe of 1 is a mirror; from words, the first.
fn helps(wrong: &Diagnostic) -> Option<String> {
    let (_, rest) = wrong.hint.as_deref()?.split_once("set ")?;
    let end = rest.find([' ', '=']).unwrap_or(rest.len());
    let (key, rest) = rest.split_at(end);
    let is_key = |c: char| c.is_ascii_alphanumeric() || "._".contains(c);
    if key.is_empty() || !key.chars().all(is_key) {
        return None;
    }
    let rest = [" to ", " = ", "="].iter().find_map(|joint| rest.strip_prefix(joint))?;
    let one_of = rest.strip_prefix("one of ");
    let values: Vec<&str> = match one_of {
        Some(list) => list.split(", ").map(str::trim).collect(),
        None => rest.split([' ', ',', ';']).take(1).collect(),
    };
    let numbers: Option<Vec<u64>> = values.iter().map(|it| it.parse().ok()).collect();
    let value = match numbers.and_then(|all| all.into_iter().max()) {
        Some(number) => number.to_string(),
        None => values.first()?.trim_matches(['"', '`', ':']).to_string(),
    };
    (!value.is_empty()).then(|| format!("{key}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_read_as_settings() {
        for (hint, setting) in [
            ("set policy.redundancy.stripe to one of 1, 3, 7", Some("policy.redundancy.stripe=7")),
            ("set buffer.ack to on_insert", Some("buffer.ack=on_insert")),
            ("set buffer.ack to \"on_insert\", or leave it out", Some("buffer.ack=on_insert")),
            (
                "add --set reliability.model=analytic, or use another",
                Some("reliability.model=analytic"),
            ),
            (
                "for Table 1, set reliability.model = \"by_voltage\"",
                Some("reliability.model=by_voltage"),
            ),
            ("leave out the rest", None),
            ("set several keys to something", None),
        ] {
            let wrong = Diagnostic::new("x", "y").hint(hint.to_string());
            assert_eq!(helps(&wrong).as_deref(), setting, "{hint}");
        }
    }

    /// For every preset drive and scheme, a scheme reported to work does work with the keys it is
    /// said to need.
    #[test]
    fn a_scheme_works_with_the_keys_that_it_is_said_to_need() {
        for preset in Folder::Devices.presets() {
            let device = DeviceSpec { device: preset.name.into(), ..DeviceSpec::default() };
            let all = schemes_on(&device).unwrap();
            assert_eq!(all.len(), Folder::Schemes.presets().len());
            assert!(all.iter().any(|it| it.needs.as_ref().is_ok_and(Vec::is_empty)), "{device:?}");
            for Compatibility { scheme, needs } in all {
                let Ok(set) = needs else { continue };
                let spec = DeviceSpec { set, ..device.clone() };
                let loaded = spec.scheme(Some(scheme)).unwrap();
                let found = device_spec::resolve(&spec.source().unwrap(), &loaded, &spec);
                assert!(found.is_ok(), "{} {scheme}: {spec:?}", preset.name);
            }
        }
    }
}
