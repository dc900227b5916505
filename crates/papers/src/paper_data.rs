//! Common parts of the papers' data files: reading a file, and building the drive that it names.

use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use serde::de::DeserializeOwned;

/// Reads the data of a study from a preset file: `name` identifies the file in errors, `text` is
/// its TOML.
///
/// # Errors
/// If the text does not match the type.
pub(crate) fn open<P: DeserializeOwned>(name: &str, text: &str) -> Result<P, Diagnostics> {
    let failed = |error: toml::de::Error| {
        Diagnostic::new(format!("presets/{name}.toml"), error.to_string()).into()
    };
    toml::from_str(text).map_err(failed)
}

/// Returns the drive of a paper's study: the preset `preset` with the settings `base`, of which
/// those in `set` replace ones with equal keys.
pub(crate) fn drive(preset: &str, base: &[String], set: &[String]) -> DeviceSpec {
    let set = overridden(base, set);
    DeviceSpec { device: preset.into(), set, ..DeviceSpec::default() }
}

/// Returns the settings (`key=value`) of the drive in `base` whose keys are not in `set`, followed
/// by the settings in `set`.
pub(crate) fn overridden(base: &[String], set: &[String]) -> Vec<String> {
    let key = |setting: &String| setting.split('=').next().map(str::to_string);
    let kept = |mine: &&String| set.iter().all(|other| key(other) != key(mine));
    base.iter().filter(kept).chain(set).cloned().collect()
}
