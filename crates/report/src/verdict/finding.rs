//! Input and output of a rule: the runs it looks at, and a finding.

use super::facts::Facts;
use fowler_experiment::device_spec::Axis;
use fowler_experiment::json_schema::output::{Fact, written};
use fowler_experiment::seeds::Spread;
use serde_json::{Map, Value, json};

/// Runs to which a rule is applied that derives sentences (findings) from their results.
pub(crate) struct Case<'a> {
    /// Runs that are compared, the baseline first.
    pub runs: &'a [Facts],
    /// Statistics of the metrics of the compared runs over several seeds; `None` if only one seed
    /// was run.
    pub spread: Option<&'a Spread>,
}

/// A sentence or more about the results of runs, derived by a rule from their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// Name of the rule that derived this sentence from the results of runs, such as `best`.
    pub rule: &'static str,
    /// Property in which the compared runs differ that the sentence is about: scheme or drive.
    pub axis: Axis,
    /// Names of the schemes or drives that the sentence about the results of runs is about.
    pub labels: Vec<String>,
    /// Whole sentences that state a result of runs, such as which scheme is faster and by how much.
    pub text: String,
    /// Numbers from which the sentence about the results of runs is derived, and the thresholds
    /// that they crossed, by name.
    pub numbers: Vec<(&'static str, f64)>,
    /// Command or flags that the user may try next, after reading this finding (a sentence about
    /// the results of runs); `None` for no suggestion.
    pub next: Option<String>,
}

impl Finding {
    pub(super) fn new(runs: &[&Facts], text: String) -> Finding {
        let labels = runs.iter().map(|run| run.label.clone()).collect();
        let axis = runs.first().map_or_else(Axis::default, |run| run.axis);
        Finding { axis, labels, text, ..Finding::default() }
    }

    pub(super) fn numbers(self, numbers: &[(&'static str, f64)]) -> Finding {
        Finding { numbers: numbers.to_vec(), ..self }
    }

    pub(super) fn next(self, next: impl Into<String>) -> Finding {
        Finding { next: Some(next.into()), ..self }
    }

    /// Returns true if the finding explains the tail of latencies: the slowest 1 % of requests.
    pub fn is_tail(&self) -> bool {
        self.rule == "tail"
    }

    /// Returns the number of requests on which a finding about rough percentiles is based; `None`
    /// for other findings.
    pub fn rough_percentiles(&self) -> Option<u64> {
        let count = self.numbers.iter().find(|(name, _)| self.rule == "few" && *name == "count");
        count.map(|&(_, count)| count as u64)
    }

    /// Returns this sentence about the results of runs, with its rule, schemes or drives, and
    /// numbers, as a JSON object.
    pub fn json(&self) -> Value {
        written(&facts(self.axis), self)
    }

    /// Returns the sentences about the results of runs, followed by a suggestion of what to try
    /// next, if there is one.
    pub fn sentences(&self) -> String {
        match &self.next {
            Some(next) => format!("{} Try {next}.", self.text),
            None => self.text.clone(),
        }
    }
}

pub(super) fn facts(axis: Axis) -> Vec<Fact<Finding>> {
    type It = Finding;
    vec![
        Fact::new("rule", "Name of the rule that made the finding.", |it: &It| it.rule),
        Fact::new(axis.key(), "", |it: &It| it.labels.clone()),
        Fact::new("text", "The finding, in whole sentences.", |it: &It| it.text.clone()),
        Fact::new("numbers", "", |it: &It| {
            let known = it.numbers.iter().filter(|(_, value)| value.is_finite());
            known.map(|&(name, value)| (name.into(), value.into())).collect::<Map<_, _>>()
        })
        .like(json!({
            "type": "object",
            "description": "Numbers on which the finding is based, with the thresholds that they \
                crossed.",
            "additionalProperties": { "type": "number" },
        })),
        Fact::new("next", "Suggested command to learn more.", |it: &It| it.next.clone()),
    ]
}

/// Joins names for a sentence: `a`, `a and b`, `a, b and c`.
pub(super) fn and(names: &[&str]) -> String {
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
}
