//! A drive file from a data sheet: what the sheet states, what follows from it, and for the rest
//! the medians of the fitted presets.
//!
//! 1. The sheet is read, as JSON or TOML, with the keys that drives have in measured files. Only
//!    the capacity must be there (`sheet.rs`).
//! 2. Numbers that contradict each other are refused, all at once (`sheet.rs`).
//! 3. The medians are taken over the fitted presets of data-center drives (`medians.rs`).
//! 4. Dies, their program and the spare capacity follow from the rates (`parts.rs`).
//! 5. The drive file is written, each value with where it is from (`preset.rs`).
//! 6. Random writes are simulated, and the spare capacity is corrected until they have the rate
//!    that the sheet implies (`saturation.rs`).
//!
//! **Owns** the form of a data sheet. **May touch** the file that it reads, and drives that it
//! makes itself. **Called** by `fowler calibrate --from-datasheet`. See docs/real-drives.md, "From
//! a data sheet".

mod medians;
mod parts;
mod preset;
mod saturation;
mod sheet;
#[cfg(test)]
mod tests;

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::progress::Control;
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

/// Makes a drive from a data sheet. Presets fitted to the model `leave_out` give no medians. Some
/// seconds of random writes are simulated; if that is stopped, the spare capacity is the computed
/// one.
///
/// # Errors
/// Everything that is wrong with the sheet, and numbers that contradict each other.
pub fn drive(
    path: &Path,
    leave_out: Option<&str>,
    control: Control<'_>,
) -> Result<FromSheet, Diagnostics> {
    let sheet = sheet::read(path)?;
    let medians = medians::of_presets(leave_out)?;
    let made = saturation::drive(&sheet, &medians, control).map_err(|mut why| {
        let what = "no drive follows from these numbers";
        why.0.insert(0, Diagnostic::new(path.display().to_string(), what));
        why
    })?;
    Ok(made.drive)
}
