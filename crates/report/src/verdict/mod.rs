//! Sentences about the numbers of runs: which scheme or drive is better, why two columns coincide,
//! which numbers stand on too little, and what to try next.
//!
//! A rule is one file: the facts it looks at, its thresholds as constants, and its sentences. It
//! reads `Facts` and nothing else, and is silent where the facts do not suffice. To add one, add
//! its file and its line in `RULES`. The room reads outcomes and the spread over seeds, and prints
//! nothing.

mod backlog;
mod best_column;
mod equal_columns;
mod facts;
mod finding;
mod headline;
mod idle_drive;
mod noise;
mod small_samples;
mod steady_state;
mod tail;

pub(crate) use facts::Facts;
pub use facts::TAIL;
use finding::Case;
pub use finding::Finding;
use fowler_experiment::device_spec::Axis;
use fowler_experiment::json_schema::output::{self, Fact, all_written, list_of, written};
use fowler_experiment::json_schema::{self, nullable};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::seeds::Spread;
use fowler_experiment::summary;
pub(crate) use headline::solid_tail;
pub use headline::{BEYOND, headline};
use serde_json::{Value, json};

/// A rule that derives findings (sentences about results) from the runs that a report compares; the
/// first of these runs is the baseline.
type Rule = fn(&Case<'_>) -> Vec<Finding>;

/// Names and functions of all rules that derive sentences (findings) from the results of runs, in
/// the order in which a report shows the sentences.
const RULES: [(&str, Rule); 8] = [
    ("best", best_column::look),
    ("noise", noise::look),
    ("coincide", equal_columns::look),
    ("tail", tail::look),
    ("backlog", backlog::look),
    ("idle", idle_drive::look),
    ("steady", steady_state::look),
    ("few", small_samples::look),
];

/// Returns the sentences (findings, such as which scheme is fastest) that all rules derive from the
/// results of compared runs. The first of `outcomes` is the baseline.
pub fn of(outcomes: &[Outcome], spread: Option<&Spread>) -> Vec<Finding> {
    let runs: Vec<Facts> = outcomes.iter().map(Facts::of).collect();
    look(&Case { runs: &runs, spread })
}

/// Runs of one workload under several schemes or on several drives, and their metrics over several
/// seeds.
struct Comparison<'a> {
    outcomes: &'a [Outcome],
    spread: Option<&'a Spread>,
}

/// Returns the summary of a comparison as JSON: its runs, the sentences (findings) that rules
/// derive from their results, and the metrics over several seeds (null with one seed).
pub fn comparison_json(outcomes: &[Outcome], spread: Option<&Spread>) -> Value {
    let axis = axis(outcomes);
    written(&facts(axis), &Comparison { outcomes, spread })
}

/// Returns the JSON Schema of the summary of `fowler compare`.
pub fn schema() -> Value {
    // Both kinds of comparison have these properties, and one of the two lists of runs.
    let [mut body, other] = Axis::ALL.map(|axis| output::schema(&facts(axis)));
    for key in ["verdict", "seeds"] {
        let both = [&body, &other].map(|comparison| comparison["properties"][key].clone());
        body["properties"][key] = json!({ "anyOf": both });
    }
    let devices = Axis::Devices.key();
    body["properties"][devices] = other["properties"][devices].clone();
    body["required"] = json!(["verdict", "seeds"]);
    body["oneOf"] = Axis::ALL.map(|axis| json!({ "required": [axis.key()] })).to_vec().into();
    body["$defs"] = json!({ "run": summary::schema() });
    let about = "The summary of a comparison: a run for each scheme, or for each drive.";
    json_schema::document("Fowler: the summary of a comparison", about, body)
}

/// Returns the property in which the runs that a report compares differ: scheme or drive.
fn axis(outcomes: &[Outcome]) -> Axis {
    outcomes.first().map_or_else(Axis::default, |first| first.drive.axis())
}

fn facts<'a>(axis: Axis) -> Vec<Fact<Comparison<'a>>> {
    type It<'a> = Comparison<'a>;
    let runs = format!(
        "Summaries of the compared runs, one run {} each {}, in the order in which the user named the \
         {}s.",
        axis.preposition(),
        axis.noun(),
        axis.noun()
    );
    let seeds = format!(
        "Over several seeds: for each {}, in the same order, the mean of each metric and half the \
         width of its 95 % confidence interval. Null with one seed.",
        axis.noun()
    );
    vec![
        Fact::new(axis.key(), runs, |it: &It| {
            it.outcomes.iter().map(Outcome::json).collect::<Vec<_>>()
        })
        .like(json!({ "type": "array", "items": { "$ref": "#/$defs/run" }, "minItems": 1 })),
        Fact::new(
            "verdict",
            "Findings about the runs, in sentences, the most important first.",
            move |it: &It| all_written(&finding::facts(axis), &of(it.outcomes, it.spread)),
        )
        .like(list_of(output::schema(&finding::facts(axis)))),
        Fact::new("seeds", seeds, move |it: &It| it.spread.map(|spread| spread.json(axis)))
            .like(nullable(Spread::schema(axis))),
    ]
}

fn look(case: &Case<'_>) -> Vec<Finding> {
    let of = |(rule, look): (&'static str, Rule)| {
        look(case).into_iter().map(move |finding| Finding { rule, ..finding })
    };
    if case.runs.is_empty() { Vec::new() } else { RULES.into_iter().flat_map(of).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without requests there are no findings.
    #[test]
    fn nothing_is_said_of_nothing() {
        let empty = [Facts::default(), Facts { label: "b".into(), ..Facts::default() }];
        let said = look(&Case { runs: &empty, spread: None });
        assert!(said.is_empty(), "{said:?}");
    }
}
