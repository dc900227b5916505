//! The summary of a run as JSON: every stored metric at its path, in the order of the list.

use super::all;
use super::metric::{Metric, Stored};
use crate::outcome::Outcome;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

impl Outcome {
    /// Returns the summary of the run: every metric, in one JSON object. Unknown values are null;
    /// there are no infinities.
    pub fn json(&self) -> Value {
        self.json_of(|stored| stored != Stored::Nowhere)
    }

    /// Returns the summary of the run, like [`Outcome::json`], without anything that depends on
    /// wall-clock time: it is equal on every machine.
    pub fn reproducible_json(&self) -> Value {
        self.json_of(|stored| !matches!(stored, Stored::Nowhere | Stored::RunOnly))
    }

    fn json_of(&self, wanted: impl Fn(Stored) -> bool) -> Value {
        let mut object = Map::new();
        for metric in all().iter().filter(|it| wanted(it.stored) && (it.present)(self)) {
            insert(&mut object, metric.path(), metric, self);
        }
        Value::Object(object)
    }
}

/// Adds a metric's value to the summary at the metric's path. A group that is null has nothing
/// below it.
fn insert(object: &mut Map<String, Value>, path: &str, metric: &Metric, outcome: &Outcome) {
    let Some((above, below)) = path.split_once('.') else {
        object.insert(path.into(), metric.value(outcome));
        return;
    };
    let inside = object.entry(above).or_insert_with(|| Map::new().into());
    if let Value::Object(inside) = inside {
        insert(inside, below, metric, outcome);
    }
}

/// Returns every number of a summary by its path. Lists are omitted, because their indices do not
/// correspond between runs.
pub fn numbers(summary: &Map<String, Value>) -> BTreeMap<String, f64> {
    fn add(object: &Map<String, Value>, above: &str, numbers: &mut BTreeMap<String, f64>) {
        for (name, value) in object {
            let path = format!("{above}{name}");
            match value {
                Value::Object(below) => add(below, &format!("{path}."), numbers),
                value => numbers.extend(value.as_f64().map(|number| (path, number))),
            }
        }
    }
    let mut numbers = BTreeMap::new();
    add(summary, "", &mut numbers);
    numbers
}
