//! Compares the simulator with theory: every expectation that has a closed form, a bound or a law,
//! next to what the simulator measures.
//!
//! The parameters of the theory come from the presets. The simulated drives are the same presets
//! with [`ValidateSpec::spoil`] on top, so that anyone can see a wrong drive fail. Seeds are fixed
//! and each expectation has its own random streams, so the result depends neither on the number of
//! threads nor on which other expectations are checked.
//!
//! The crate runs drives, writes nothing, and returns the expectations with their results.

mod bounds;
mod die;
mod drives;
mod expectation;
mod extra_wait;
mod gc;
mod json;
mod runs;
mod spec;

pub use drives::die_times;
pub use expectation::{Allowed, Group, Row};
pub use json::schema;
pub use spec::ValidateSpec;

use expectation::Point;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::fan_out;
use fowler_experiment::progress::Progress;
use fowler_experiment::workload::Control;

/// Result of a validation of the simulator against theory.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    /// Every value that theory predicted for the validation, with the simulated one, in the order
    /// in which the report shows them.
    pub rows: Vec<Row>,
    /// True if the validation ran to its end.
    pub complete: bool,
    /// Settings of the validation: its length, the values of theory that are checked, and drive
    /// settings that make the simulation wrong on purpose.
    pub spec: ValidateSpec,
}

impl Validation {
    /// Returns the number of simulated values that deviate too much from the values that theory
    /// predicts.
    pub fn failed(&self) -> usize {
        self.rows.iter().filter(|row| !row.agrees()).count()
    }
}

/// Validates the simulator against theory.
///
/// # Errors
/// If no expectation matches, or the settings of `spoil` are invalid.
pub fn validate(spec: &ValidateSpec, control: Control<'_>) -> Result<Validation, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let groups = [
        diagnostics.take(die::points(spec)),
        diagnostics.take(extra_wait::points(spec)),
        diagnostics.take(bounds::points(spec)),
        diagnostics.take(gc::points(spec)),
        diagnostics.take(runs::points(spec)),
    ];
    // The settings made here are valid, so errors come from `--spoil`; every drive reports the same
    // ones.
    for diagnostic in diagnostics.0.iter_mut().filter(|diagnostic| diagnostic.file == "--set") {
        diagnostic.file = "--spoil".into();
    }
    diagnostics.unique().or(())?;
    let mut points: Vec<Point> = groups.into_iter().flatten().flatten().collect();
    if let Some(text) = &spec.only {
        points.retain(|point| point.is_named(text));
        if points.is_empty() {
            let what = format!("no expectation matches `{}`", printable(text));
            let names = Group::ALL.map(Group::name).join(", ");
            let expected = format!(
                "the name of a group of expectations ({names}), or part of an expectation's title, \
                 such as ipc"
            );
            return Err(Diagnostic::new("--only", what).expected(expected).into());
        }
    }
    (control.progress)(Progress::Planned(points.len() as u64));
    // Each point is one part of the progress, whatever runs it makes.
    let part = |step| {
        if let Progress::Served { requests, .. } = step {
            control.served(requests);
        }
    };
    let rows = fan_out::each(&points, |point| {
        if control.stopped() {
            return None;
        }
        let rows = (point.simulate)(Control { progress: &part, ..control });
        (control.progress)(Progress::Served { requests: 0, of_a_part: 1.0 });
        rows
    });
    let complete = rows.iter().all(Option::is_some);
    let rows = rows.into_iter().flatten().flatten().collect();
    Ok(Validation { rows, complete, spec: spec.clone() })
}
