//! The JSON of a validation and its schema, from the same lists.

use super::{Row, Validation};
use fowler_experiment::json_schema;
use fowler_experiment::json_schema::output::{self, Fact, written};
use fowler_experiment::provenance::VERSION;
use serde_json::{Value, json};

impl Validation {
    /// Returns the result of a validation as one JSON object.
    pub fn json(&self) -> Value {
        written(&facts(), self)
    }
}

/// Returns the JSON Schema of the summary that `fowler validate` writes into `summary.json` and
/// prints with `--json`.
pub fn schema() -> Value {
    let about = "The simulator against theory, expectation by expectation.";
    json_schema::document("Fowler: the summary of a validation", about, output::schema(&facts()))
}

fn facts() -> Vec<Fact<Validation>> {
    vec![
        Fact::new("version", "The version of Fowler.", |_: &Validation| VERSION),
        Fact::new("quick", "True if the validation ran with --quick.", |it: &Validation| {
            it.spec.quick
        }),
        Fact::new("only", "Text given to --only; null for all expectations.", |it: &Validation| {
            it.spec.only.clone()
        }),
        Fact::new("spoil", "Settings given to --spoil.", |it: &Validation| it.spec.spoil.clone()),
        Fact::new("complete", "True if the validation ran to its end.", |it: &Validation| {
            it.complete
        }),
        Fact::new("expectations", "Number of expectations.", |it: &Validation| it.rows.len()),
        Fact::new("failed", "Number of expectations that failed.", Validation::failed),
        Fact::list("rows", "Each expectation.", of_row, |it: &Validation| &it.rows),
    ]
}

fn of_row() -> Vec<Fact<Row>> {
    let finite = |value: f64| value.is_finite().then_some(value);
    vec![
        Fact::new("group", "Group that the expectation belongs to.", |it: &Row| it.group.name())
            .like(groups()),
        Fact::new(
            "what",
            "Name of the expectation: the quantity, and the system it was measured on.",
            |it: &Row| it.what.clone(),
        ),
        Fact::new("unit", "The unit of the numbers; may be empty.", |it: &Row| it.unit),
        Fact::new("theory", "Value that theory predicts.", move |it: &Row| finite(it.theory)),
        Fact::new("measured", "Value measured in simulation.", move |it: &Row| finite(it.measured)),
        Fact::new(
            "ci95",
            "95 % confidence interval of the simulated value; null if it is not random.",
            |it: &Row| it.half_width.map(|half| [it.measured - half, it.measured + half]),
        ),
        Fact::new(
            "deviation",
            "Difference between simulation and theory, as a share of the theoretical value.",
            move |it: &Row| finite(it.deviation()),
        ),
        Fact::new("allowed", "Accepted range of the difference: from, to.", |it: &Row| {
            [it.allowed.low, it.allowed.high]
        }),
        Fact::new("requests", "Number of requests simulated for the expectation.", |it: &Row| {
            it.requests
        }),
        Fact::new("agrees", "True if simulation agrees with theory.", Row::agrees),
    ]
}

fn groups() -> Value {
    json!({ "enum": super::Group::ALL.map(super::Group::name) })
}
