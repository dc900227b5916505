//! A validation as JSON, and the schema of that: both from the same lists.

use super::{Row, Validation};
use fowler_experiment::json_schema;
use fowler_experiment::json_schema::output::{self, Fact, written};
use fowler_experiment::provenance::VERSION;
use serde_json::{Value, json};

impl Validation {
    /// One object with everything.
    pub fn json(&self) -> Value {
        written(&facts(), self)
    }
}

/// JSON Schema of the summary that `fowler validate` writes into `summary.json` and prints with
/// `--json`.
pub fn schema() -> Value {
    let about = "The simulator against theory, expectation by expectation.";
    json_schema::document("Fowler: the summary of a validation", about, output::schema(&facts()))
}

fn facts() -> Vec<Fact<Validation>> {
    vec![
        Fact::new("version", "The version of Fowler.", |_: &Validation| VERSION),
        Fact::new("quick", "Whether it was --quick.", |it: &Validation| it.spec.quick),
        Fact::new("only", "What --only said.", |it: &Validation| it.spec.only.clone()),
        Fact::new("spoil", "What --spoil changed.", |it: &Validation| it.spec.spoil.clone()),
        Fact::new("complete", "Whether it ran to its end.", |it: &Validation| it.complete),
        Fact::new("expectations", "How many there are.", |it: &Validation| it.rows.len()),
        Fact::new("failed", "How many of them failed.", Validation::failed),
        Fact::list("rows", "Each expectation.", of_row, |it: &Validation| &it.rows),
    ]
}

fn of_row() -> Vec<Fact<Row>> {
    let finite = |value: f64| value.is_finite().then_some(value);
    vec![
        Fact::new("group", "Its kind.", |it: &Row| it.group.name()).like(groups()),
        Fact::new("what", "What was measured, and of what.", |it: &Row| it.what.clone()),
        Fact::new("unit", "The unit of the numbers; may be empty.", |it: &Row| it.unit),
        Fact::new("theory", "What theory says.", move |it: &Row| finite(it.theory)),
        Fact::new("measured", "What the simulator says.", move |it: &Row| finite(it.measured)),
        Fact::new("ci95", "The 95 % confidence interval of that, if it is random.", |it: &Row| {
            it.half_width.map(|half| [it.measured - half, it.measured + half])
        }),
        Fact::new(
            "deviation",
            "Its distance from theory, as a share of theory.",
            move |it: &Row| finite(it.deviation()),
        ),
        Fact::new("allowed", "How far apart they may be: from, to.", |it: &Row| {
            [it.allowed.low, it.allowed.high]
        }),
        Fact::new("requests", "Requests that were simulated for it.", |it: &Row| it.requests),
        Fact::new("agrees", "Whether the simulator agrees with theory.", Row::agrees),
    ]
}

fn groups() -> Value {
    json!({ "enum": super::Group::ALL.map(super::Group::name) })
}
