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
mod extra_wait;
mod gc;
mod json;
mod runs;

pub use drives::die_times;
pub use json::schema;

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::fan_out;
use fowler_experiment::progress::Progress;
use fowler_experiment::workload::Control;

/// What to validate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidateSpec {
    /// Fewer requests, smaller drives, fewer points, and wider tolerances to match.
    pub quick: bool,
    /// Only expectations of the group with this name, or whose name contains this text; the case
    /// does not matter.
    pub only: Option<String>,
    /// Settings `key=value` that change the simulated drives but not the theory.
    /// See docs/decisions/validation.md, "What may the caller of `fowler validate` change?".
    pub spoil: Vec<String>,
}

/// A group of expectations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// One die under Poisson arrivals.
    Die,
    /// The extra wait of a read, equation (1) of the P/E suspension paper.
    ExtraWait,
    /// The peak throughput of an array, and the latency of a single request.
    Bounds,
    /// Write amplification.
    Gc,
    /// Conservation laws of whole runs.
    Laws,
}

impl Group {
    /// Every group, in the order of the report.
    pub const ALL: [Group; 5] =
        [Group::Die, Group::ExtraWait, Group::Bounds, Group::Gc, Group::Laws];

    /// Its name.
    pub fn name(self) -> &'static str {
        ["die", "extra wait", "bounds", "gc", "laws"][self as usize]
    }

    /// Describes what it compares, and how.
    pub fn about(self) -> &'static str {
        [die::ABOUT, extra_wait::ABOUT, bounds::ABOUT, gc::ABOUT, runs::ABOUT][self as usize]
    }
}

/// The allowed deviation of a measurement, as a share of theory: from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    /// The lowest deviation; at most zero.
    pub low: f64,
    /// The highest deviation; at least zero.
    pub high: f64,
}

impl Allowed {
    /// Allows a deviation of `share` in either direction.
    pub(crate) fn within(share: f64) -> Allowed {
        Allowed { low: -share, high: share }
    }

    /// Allows only the rounding errors of floating-point sums and quotients.
    pub(crate) fn exactly() -> Allowed {
        Allowed::within(1e-9)
    }
}

/// An expectation and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its kind.
    pub group: Group,
    /// The name of the measurement.
    pub what: String,
    /// The unit of both numbers; may be empty.
    pub unit: &'static str,
    /// The value that theory predicts.
    pub theory: f64,
    /// The value that the simulator measured.
    pub measured: f64,
    /// Half the width of the 95 % confidence interval of the measurement; `None` if nothing about
    /// it is random.
    pub half_width: Option<f64>,
    /// The allowed deviation.
    pub allowed: Allowed,
    /// The number of requests simulated for it.
    pub requests: u64,
}

impl Row {
    /// Returns the deviation of the measurement as a share of theory.
    pub fn deviation(&self) -> f64 {
        if self.measured == self.theory { 0.0 } else { self.measured / self.theory - 1.0 }
    }

    /// Returns whether the simulator agrees with theory.
    pub fn agrees(&self) -> bool {
        (self.allowed.low..=self.allowed.high).contains(&self.deviation())
    }
}

/// The result of a validation.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    /// Every expectation that was checked, in a fixed order.
    pub rows: Vec<Row>,
    /// Whether it ran to the end.
    pub complete: bool,
    /// The request.
    pub spec: ValidateSpec,
}

impl Validation {
    /// Returns the number of expectations that failed.
    pub fn failed(&self) -> usize {
        self.rows.iter().filter(|row| !row.agrees()).count()
    }
}

/// Simulates expectations. Returns `None` if the user stopped it.
type Simulate = Box<dyn Fn(Control<'_>) -> Option<Vec<Row>> + Send + Sync>;

/// Expectations that share one simulation.
pub(crate) struct Point {
    group: Group,
    title: String,
    simulate: Simulate,
}

impl Point {
    fn new(
        group: Group,
        title: String,
        simulate: impl Fn(Control<'_>) -> Option<Vec<Row>> + Send + Sync + 'static,
    ) -> Point {
        Point { group, title, simulate: Box::new(simulate) }
    }

    /// Returns whether `text` is the name of its group, or part of its own name.
    fn is_named(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        match Group::ALL.into_iter().find(|group| group.name() == text) {
            Some(group) => self.group == group,
            None => self.title.to_lowercase().contains(&text),
        }
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
            let expected =
                format!("a group ({names}), or part of the name of an expectation, such as ipc");
            return Err(Diagnostic::new("--only", what).expected(expected).into());
        }
    }
    (control.progress)(Progress::Planned(points.len() as u64));
    // A point is a part, whatever runs it makes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_counts_either_way_and_nothing_is_no_agreement() {
        let row = |theory, measured, allowed| Row {
            group: Group::Die,
            what: String::new(),
            unit: "us",
            theory,
            measured,
            half_width: None,
            allowed,
            requests: 0,
        };
        let one_percent = Allowed::within(0.01);
        assert!(row(100.0, 100.9, one_percent).agrees() && row(100.0, 99.1, one_percent).agrees());
        assert!(!row(100.0, 101.1, one_percent).agrees());
        assert!(!row(100.0, 98.9, one_percent).agrees());
        assert!(!row(100.0, f64::NAN, one_percent).agrees());
        assert!(!row(0.0, 1.0, one_percent).agrees() && row(0.0, 0.0, one_percent).agrees());
        let at_most = Allowed { low: -0.01, high: 0.0 };
        assert!(row(100.0, 99.5, at_most).agrees() && !row(100.0, 100.1, at_most).agrees());
    }
}
