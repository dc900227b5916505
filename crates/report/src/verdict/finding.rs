//! Input and output of a rule: the runs it looks at, and a finding.

use super::facts::Facts;
use fowler_experiment::device_spec::Axis;
use fowler_experiment::json_schema::output::{Fact, written};
use fowler_experiment::seeds::Spread;
use serde_json::{Map, Value, json};

/// The runs that a rule for findings examines.
pub(crate) struct Case<'a> {
    /// Runs that are compared, the baseline first.
    pub runs: &'a [Facts],
    /// Metrics of the runs over several seeds; `None` with one seed.
    pub spread: Option<&'a Spread>,
}

/// A finding of a rule about the results of runs, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// Name of the rule that made the finding.
    pub rule: &'static str,
    /// The property in which the runs of the comparison differ: scheme or drive.
    pub axis: Axis,
    /// The schemes or drives that the finding is about.
    pub labels: Vec<String>,
    /// Text of the finding: whole sentences.
    pub text: String,
    /// The numbers that the finding is based on, with the thresholds that they crossed.
    pub numbers: Vec<(&'static str, f64)>,
    /// Suggested command that shows more about the finding; `None` if there is none.
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

    /// Returns the finding as a JSON object.
    pub fn json(&self) -> Value {
        written(&facts(self.axis), self)
    }

    /// Returns the sentences of the finding, followed by the suggested command.
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
