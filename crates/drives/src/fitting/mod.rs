//! Fits a few parameters of a drive to measured rows, with the simulator in the loop, and says how
//! sharply the rows determine each parameter.
//!
//! 1. The files of measurements and the drive are read. The table `[calibrate]` of the drive file
//!    declares the parameters, with bounds and the public source of each bound
//!    (`calibrate_table.rs`); the drive must work at every bound.
//! 2. The filters pick the rows to fit, all of one model (`measurements`).
//! 3. Choices are made one after the other: each option has a search of its own, and the one with
//!    the smallest distance is taken, the first of equals (`choice.rs`).
//! 4. Each set of parameter values makes a drive, on which the rows are simulated. The distance
//!    from a measured number is weighed by the deviation expected of a good model (`objective.rs`).
//! 5. A bounded least-squares search finds the best set of values (`search.rs`).
//! 6. The slopes at the best set give the confidence interval of each parameter (`intervals.rs`).
//! 7. The result is a new drive file, with the fitted values and the measured numbers
//!    (`drive_file.rs`).
//!
//! Exceptions: rows whose protocol cannot be simulated are listed, with the reason. A set of values
//! with which no drive can be built counts as a bad fit, and the search continues. A stopped fit
//! has no result.
//!
//! **Owns** the table `[calibrate]` of a drive file. **May touch** drives that it makes itself, and
//! the file it is asked to write. See docs/decisions/real_drives.md.

mod calibrate_table;
mod choice;
mod draws;
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
pub use choice::{Choice, Tried};
pub use intervals::Held;
pub(crate) use objective::measured;
pub use spec::FitSpec;
pub use term::Term;

use crate::measurements as files;
use crate::protocol::{self, Rows};
use fowler_experiment::device_spec::{self, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::numbers::{counted, counted_as};
use fowler_experiment::progress::{Control, Progress};
use fowler_experiment::scheme::Scheme;
use objective::Objective;
use search::Found;

/// Result of a fit: the fitted drive, and how well it matches the measured rows.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Model of the real drive that was measured.
    pub model: String,
    /// Fitted parameters, with their values and confidence intervals.
    pub parameters: Vec<Held>,
    /// Measured numbers that were fitted, each with its simulated value on the fitted drive.
    pub terms: Vec<Term>,
    /// Options that were tried; empty if the drive file declares no choice.
    pub options: Vec<Tried>,
    /// Number of drives that the searches simulated, those of all options together.
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

/// Returns a warning if a fit may try too few drives for two descents from the points at which its
/// search begins; `None` also for a drive that cannot be fitted at all.
pub fn few_tries(spec: &FitSpec) -> Option<String> {
    let declared = CalibrateTable::read(&spec.drive.source().ok()?).ok()?;
    let parameters = declared.parameters.len();
    let wanted = search::tries_for(parameters, 2);
    (parameters > 0 && spec.tries < wanted).then(|| {
        let parameters = counted(parameters as u64, "parameter");
        format!(
            "{} for {parameters} allow fewer than two descents of the search, so the result is \
             near the best of the points at which it begins; two take --tries {wanted}",
            counted_as(spec.tries as u64, "try", "tries")
        )
    })
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
    let least = search::least_tries(declared.parameters.len());
    if spec.tries < least {
        let parameters = counted(declared.parameters.len() as u64, "parameter");
        let what = format!("{} tries do not suffice for {parameters}", spec.tries);
        let expected = format!("at least {least}: the drive as it is, and two for each parameter");
        return Err(Diagnostic::new("--tries", what).expected(expected).into());
    }
    let picks = files::pick(&read, &declared.filters(&spec.filters, &read))?;
    let model = one_model(&picks)?;
    let rows = Rows::of(picks);
    let Some(chosen) = choose(&drive, &declared, &rows, spec, control)? else { return Ok(None) };
    let Chosen { drive, found, options, tried } = chosen;
    let parameters = intervals::held(&declared, &found);
    let refused = rows.refused.iter().map(|(pick, why)| (pick.place(), why.clone())).collect();
    let written = drive_file::Written {
        drive: &drive,
        declared: &declared,
        model: &model,
        parameters: &parameters,
        options: &options,
        found: &found,
        tried,
        seed: spec.seed,
    };
    let text = written.text()?;
    let off = off(&found);
    let (terms, steps) = (found.terms, found.steps);
    Ok(Some(Fitted { model, parameters, terms, options, tried, steps, off, text, refused }))
}

/// The best result of the searches, one for each option of each choice.
struct Chosen {
    /// Drive with the chosen settings.
    drive: Resolved,
    found: Found,
    options: Vec<Tried>,
    /// Number of drives that all searches simulated.
    tried: usize,
}

/// Makes the choices one after the other, with a search for each option. Returns `None` if the fit
/// was stopped.
fn choose(
    drive: &Resolved,
    declared: &CalibrateTable,
    rows: &Rows<'_>,
    spec: &FitSpec,
    control: Control<'_>,
) -> Result<Option<Chosen>, Diagnostics> {
    let images = protocol::images();
    let searches: usize = declared.choices.iter().map(|it| it.options.len()).sum();
    let runs = searches.max(1) * spec.tries * rows.count().1;
    (control.progress)(Progress::Planned(runs as u64));
    let search = |drive: &Resolved| {
        let objective = Objective::new(drive, declared, rows, spec, &images)?;
        let start = declared.start(drive)?;
        search::search(&objective, &start, spec.tries, spec.seed, control)
    };
    if declared.choices.is_empty() {
        let chosen = |found: Found| Chosen {
            drive: drive.clone(),
            tried: found.tried,
            found,
            options: vec![],
        };
        return Ok(search(drive)?.map(chosen));
    }
    let (mut taken, mut options, mut tried) = (Vec::new(), Vec::new(), 0);
    let mut best = None::<(Resolved, Found)>;
    for choice in &declared.choices {
        let before = taken.clone();
        for option in &choice.options {
            let settings = [before.clone(), option.clone()].concat();
            // Two values that work alone may not work together.
            let Ok(drive) = calibrate_table::with(drive, settings.clone()) else {
                options.push(Tried { settings, off: None });
                continue;
            };
            // The option that the best drive has already was searched under the choice before.
            let known = best.as_ref().filter(|(best, _)| best.text == drive.text);
            let found = match known {
                Some((_, found)) => found.clone(),
                None => {
                    let Some(found) = search(&drive)? else { return Ok(None) };
                    tried += found.tried;
                    found
                }
            };
            options.push(Tried { settings: settings.clone(), off: Some(off(&found)) });
            if best.as_ref().is_none_or(|(_, best)| found.squares() < best.squares()) {
                (best, taken) = (Some((drive, found)), settings);
            }
        }
    }
    let Some((drive, found)) = best else {
        let what = "no option of the choices makes a drive that works";
        return Err(Diagnostic::new(&drive.device, what).into());
    };
    Ok(Some(Chosen { drive, found, options, tried }))
}

/// Returns the root mean square of the deviations, in units of the deviation expected of each.
fn off(found: &Found) -> f64 {
    libm::sqrt(found.squares() / found.terms.len() as f64)
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
