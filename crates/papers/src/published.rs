//! What the data of every paper have in common: the file they are read from, and the drive they
//! name.

use fowler_experiment::device::DeviceSpec;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use serde::de::DeserializeOwned;

/// The data of a study: a file of the presets.
///
/// # Errors
/// Where the text is not what the type asks for.
pub(crate) fn open<P: DeserializeOwned>(name: &str, text: &str) -> Result<P, Diagnostics> {
    let failed = |error: toml::de::Error| {
        Diagnostic::new(format!("presets/{name}.toml"), error.to_string()).into()
    };
    toml::from_str(text).map_err(failed)
}

/// A paper's drive: a preset and what the study sets besides, of which `set` replaces what it sets
/// otherwise.
pub(crate) fn drive(preset: &str, base: &[String], set: &[String]) -> DeviceSpec {
    let key = |setting: &String| setting.split('=').next().map(str::to_string);
    let kept = |mine: &&String| set.iter().all(|other| key(other) != key(mine));
    let set = base.iter().filter(kept).chain(set).cloned().collect();
    DeviceSpec { device: preset.into(), set, ..DeviceSpec::default() }
}
