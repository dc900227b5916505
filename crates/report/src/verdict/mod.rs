//! What the numbers of runs say, in sentences: which scheme is better, why two columns coincide,
//! which numbers stand on too little, and what to try next.
//!
//! A rule is one file: what it looks at, from when on it speaks (its thresholds, as constants), and
//! what it says. It reads `Facts` and nothing else, and is silent where the facts do not suffice.
//! To add one, add its file and its line in `RULES`. The room reads outcomes and the spread over
//! seeds, and prints nothing.

mod backlog;
mod best;
mod coincide;
mod facts;
mod few;
mod idle;
mod noise;
mod steady;
mod tail;

pub(crate) use facts::Facts;
use fowler_experiment::outcome::Outcome;
use fowler_experiment::seeds::Spread;
use serde_json::{Map, Value, json};

/// A rule: what it says of these runs, of which the first is the baseline.
type Rule = fn(&Case<'_>) -> Vec<Finding>;

/// The rules, in the order in which they are shown.
const RULES: [(&str, Rule); 8] = [
    ("best", best::look),
    ("noise", noise::look),
    ("coincide", coincide::look),
    ("tail", tail::look),
    ("backlog", backlog::look),
    ("idle", idle::look),
    ("steady", steady::look),
    ("few", few::look),
];

/// What rules look at.
pub(crate) struct Case<'a> {
    /// The runs that belong together, the baseline first.
    pub runs: &'a [Facts],
    /// Their numbers over several seeds, if there are several.
    pub spread: Option<&'a Spread>,
}

/// What a rule has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static str,
    /// The schemes that it is about.
    pub schemes: Vec<String>,
    /// What it says: whole sentences.
    pub text: String,
    /// The numbers that it stands on, with the thresholds that they crossed.
    pub numbers: Vec<(&'static str, f64)>,
    /// What to try to learn more.
    pub next: Option<String>,
}

impl Finding {
    fn new(schemes: &[&Facts], text: String) -> Finding {
        let schemes = schemes.iter().map(|its| its.scheme.clone()).collect();
        Finding { schemes, text, ..Finding::default() }
    }

    fn numbers(self, numbers: &[(&'static str, f64)]) -> Finding {
        Finding { numbers: numbers.to_vec(), ..self }
    }

    fn next(self, next: impl Into<String>) -> Finding {
        Finding { next: Some(next.into()), ..self }
    }

    /// Returns it as an object.
    pub fn json(&self) -> Value {
        let numbers: Map<String, Value> = self
            .numbers
            .iter()
            .filter(|(_, value)| value.is_finite())
            .map(|&(name, value)| (name.to_string(), value.into()))
            .collect();
        json!({
            "rule": self.rule,
            "schemes": self.schemes,
            "text": self.text,
            "numbers": numbers,
            "next": self.next,
        })
    }

    /// Returns the sentences, and what to try.
    pub fn sentences(&self) -> String {
        match &self.next {
            Some(next) => format!("{} Try {next}.", self.text),
            None => self.text.clone(),
        }
    }
}

/// Returns what the rules say of these runs; the first is the one that others are compared with.
pub fn of(outcomes: &[Outcome], spread: Option<&Spread>) -> Vec<Finding> {
    let runs: Vec<Facts> = outcomes.iter().map(Facts::of).collect();
    look(&Case { runs: &runs, spread })
}

/// Returns the summary of a comparison: its runs, what the rules say of them, and the numbers over
/// several seeds; the latter are null with one.
pub fn comparison_json(outcomes: &[Outcome], spread: Option<&Spread>) -> Value {
    let findings: Vec<Value> = of(outcomes, spread).iter().map(Finding::json).collect();
    let mut object = fowler_experiment::summary::comparison_json(outcomes);
    object["verdict"] = findings.into();
    object["seeds"] = spread.map_or(Value::Null, Spread::json);
    object
}

fn look(case: &Case<'_>) -> Vec<Finding> {
    let of = |(rule, look): (&'static str, Rule)| {
        look(case).into_iter().map(move |finding| Finding { rule, ..finding })
    };
    if case.runs.is_empty() { Vec::new() } else { RULES.into_iter().flat_map(of).collect() }
}

/// What makes requests meet more often.
fn more_load(run: &Facts) -> &'static str {
    match run.open {
        true => "a higher rate (--speed), or a closed loop (--queue-depth)",
        false => "more outstanding requests (--queue-depth)",
    }
}

/// Joins names: `a`, `a and b`, `a, b and c`.
fn and(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined() {
        assert_eq!(and(&["a"]), "a");
        assert_eq!(and(&["a", "b", "c"]), "a, b and c");
    }

    /// Without requests there is nothing to say.
    #[test]
    fn nothing_is_said_of_nothing() {
        let empty = [Facts::default(), Facts { scheme: "b".into(), ..Facts::default() }];
        let said = look(&Case { runs: &empty, spread: None });
        assert!(said.is_empty(), "{said:?}");
    }
}
