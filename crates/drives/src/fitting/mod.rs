//! Fits a few parameters of a drive to measured rows, with the simulator in the loop, and says how
//! sharply the rows determine each parameter.
//!
//! 1. The files of measurements and the drive are read. The table `[calibrate]` of the drive file
//!    declares the parameters, with bounds and the public source of each bound
//!    (`calibrate_table.rs`); the drive must work at every bound.
//! 2. The filters pick the rows to fit, all of one model (`measurements`).
//! 3. Each set of parameter values makes a drive, on which the rows are simulated. The distance
//!    from a measured number is weighed by the deviation expected of a good model (`objective.rs`).
//! 4. A bounded least-squares search finds the best set of values (`search.rs`).
//! 5. The slopes at the best set give the confidence interval of each parameter (`intervals.rs`).
//! 6. The result is a new drive file, with the fitted values and the measured numbers
//!    (`drive_file.rs`).
//!
//! Exceptions: rows whose protocol cannot be simulated are listed, with the reason. A set of values
//! with which no drive can be built counts as a bad fit, and the search continues. A stopped fit
//! has no result.
//!
//! **Owns** the table `[calibrate]` of a drive file. **May touch** drives that it makes itself, and
//! the file it is asked to write. See docs/decisions/real_drives.md.

mod calibrate_table;
mod drive_file;
mod intervals;
mod objective;
mod quantity;
mod search;
mod spec;
mod term;
#[cfg(test)]
mod tests;

pub use calibrate_table::{CalibrateTable, MOST, Parameter};
pub use intervals::Held;
pub(crate) use objective::measured;
pub use spec::FitSpec;
pub use term::Term;

use crate::measurements as files;
use crate::protocol::{self, Rows};
use fowler_experiment::device_spec;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::progress::{Control, Progress};
use fowler_experiment::scheme::Scheme;
use objective::Objective;

/// Result of a fit: the fitted drive, and how well it matches the measured rows.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Model of the real drive that was measured.
    pub model: String,
    /// Fitted parameters, with their values and confidence intervals.
    pub parameters: Vec<Held>,
    /// Measured numbers that were fitted, each with its simulated value on the fitted drive.
    pub terms: Vec<Term>,
    /// Number of drives that the search simulated.
    pub tried: usize,
    /// Number of descent steps that lowered the distance. Zero means that the result is the best of
    /// the points at which the search began, which is no fit.
    pub steps: usize,
    /// Root mean square of the deviations between simulated and measured numbers, in units of the
    /// deviation expected of each.
    pub off: f64,
    /// Text of the fitted drive's file: every configuration key, and the table `[calibrate]`.
    pub text: String,
    /// Measured rows that could not be simulated, each with the reason.
    pub refused: Vec<(String, String)>,
}

/// Fits a drive to measured rows. Returns `None` if the fit was stopped.
///
/// # Errors
/// Everything that is wrong with the drive, its table `[calibrate]`, the files or the filters.
pub fn fit(spec: &FitSpec, control: Control<'_>) -> Result<Option<Fitted>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let read: Vec<_> =
        spec.files.iter().filter_map(|path| diagnostics.take(files::read(path))).collect();
    let source = diagnostics.take(spec.drive.source());
    let drive = source.as_ref().and_then(|source| {
        let scheme = diagnostics.take(spec.scheme.as_deref().map(Scheme::load).transpose())?;
        let scheme = scheme.unwrap_or_else(Scheme::none);
        diagnostics.take(device_spec::resolve(source, &scheme, &spec.drive))
    });
    let declared =
        source.as_ref().and_then(|source| diagnostics.take(CalibrateTable::read(source)));
    if let (Some(declared), Some(drive)) = (&declared, &drive) {
        diagnostics.take(declared.check(drive));
    }
    diagnostics.or(())?;
    let (Some(drive), Some(declared)) = (drive, declared) else {
        return Err(Diagnostic::of("there is no drive").into());
    };
    if declared.parameters.is_empty() {
        let what = "the drive file declares no parameter to fit";
        let hint = "add a table [[calibrate.parameter]] with key, low, high and source".to_string();
        return Err(Diagnostic::new(&drive.device, what).hint(hint).into());
    }
    let picks = files::pick(&read, &declared.filters(&spec.filters, &read))?;
    let model = one_model(&picks)?;
    let rows = Rows::of(picks);
    let images = protocol::images();
    let objective = Objective::new(&drive, &declared, &rows, spec, &images)?;
    (control.progress)(Progress::Planned((spec.tries * rows.count().1) as u64));
    let start = declared.start(&drive)?;
    let searched = search::search(&objective, &start, spec.tries, spec.seed, control)?;
    let Some(found) = searched else { return Ok(None) };
    let parameters = intervals::held(&declared, &found);
    let refused = rows.refused.iter().map(|(pick, why)| (pick.place(), why.clone())).collect();
    let text = drive_file::text(&drive, &declared, &model, &parameters, &found, spec.seed)?;
    let off = libm::sqrt(found.squares() / found.terms.len() as f64);
    let (tried, steps) = (found.tried, found.steps);
    let terms = found.terms;
    Ok(Some(Fitted { model, parameters, terms, tried, steps, off, text, refused }))
}

/// Returns the model of the real drive that the measured rows are of; rows of several models are an
/// error.
fn one_model(picks: &[files::Pick<'_>]) -> Result<String, Diagnostics> {
    let mut models: Vec<&str> = Vec::new();
    for pick in picks {
        if !models.contains(&pick.drive.model.as_str()) {
            models.push(&pick.drive.model);
        }
    }
    if let [model] = models[..] {
        return Ok(model.into());
    }
    let what = format!("the measured rows are of {} drives: {}", models.len(), models.join(", "));
    let hint = "choose one: --rows 'model=...'".to_string();
    Err(Diagnostic::new("--rows", what).expected("rows of one model").hint(hint).into())
}
