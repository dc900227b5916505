//! A drive file from a data sheet: what the sheet states, what follows from it, and for the rest
//! the medians of the fitted presets.
//!
//! 1. The sheet is read, as JSON or TOML, with the keys that drives have in measured files. Only
//!    the capacity must be there (`sheet.rs`).
//! 2. Numbers that contradict each other are refused, all at once (`sheet.rs`).
//! 3. The medians are taken over the fitted presets of data-center drives (`medians.rs`).
//! 4. The drive file is written, each value with where it is from (`preset.rs`).
//!
//! **Owns** the form of a data sheet. **May touch** the file that it reads. **Called** by `fowler
//! calibrate --from-datasheet`. See docs/real-drives.md, "From a data sheet".

mod medians;
mod preset;
mod sheet;
#[cfg(test)]
mod tests;

use fowler_experiment::device_spec::{self, DeviceSpec};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::scheme::Scheme;
use std::path::Path;

/// A drive made from a data sheet.
#[derive(Clone, Debug)]
pub struct FromSheet {
    /// The model, or `a drive` if the sheet names none.
    pub model: String,
    /// The drive file.
    pub text: String,
    /// Remarks on numbers of the sheet that were not used, or that look odd.
    pub notes: Vec<String>,
}

/// Makes a drive from a data sheet. Presets fitted to the model `leave_out` give no medians.
///
/// # Errors
/// Everything that is wrong with the sheet, and numbers that contradict each other.
pub fn drive(path: &Path, leave_out: Option<&str>) -> Result<FromSheet, Diagnostics> {
    let sheet = sheet::read(path)?;
    let medians = medians::of_presets(leave_out)?;
    let made = preset::make(&sheet, &medians);
    let spec = DeviceSpec {
        device: made.model.clone(),
        text: Some(made.text.clone()),
        ..DeviceSpec::default()
    };
    device_spec::resolve(&spec.source()?, &Scheme::none(), &spec).map_err(|mut why| {
        let what = "no drive follows from these numbers";
        why.0.insert(0, Diagnostic::new(path.display().to_string(), what));
        why
    })?;
    Ok(made)
}
