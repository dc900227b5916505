//! The JSON Schema of the summary of a run, made of the list that the summary itself is made of.

use super::all;
use super::metric::{Metric, Stored, Unit};
use crate::json_schema::output::map_of;
use crate::json_schema::{self, Tree, described, nullable};
use serde_json::{Value, json};

impl Unit {
    /// Returns the JSON Schema of a metric with this unit, for metrics whose type does not say.
    fn schema(self) -> Value {
        match self {
            Unit::Count(_) => json!({ "type": "integer", "minimum": 0 }),
            Unit::Us | Unit::Seconds | Unit::Share | Unit::Ratio | Unit::Rate(_) => {
                json!({ "type": ["number", "null"] })
            }
            Unit::Flag => json!({ "type": "boolean" }),
            Unit::Text => json!({ "type": "string" }),
            Unit::Table => json!({ "type": "object" }),
        }
    }
}

impl Metric {
    /// Returns true if the metric heads a group: a table with other metrics below it, which is null
    /// where the group is absent.
    fn heads(&self) -> bool {
        let below = |other: &Metric| {
            other.name.strip_prefix(&self.name).is_some_and(|rest| rest.starts_with('.'))
        };
        self.unit == Unit::Table && all().iter().any(below)
    }

    fn described(&self) -> String {
        match self.unit {
            Unit::Flag | Unit::Text | Unit::Table => self.about.clone(),
            unit => format!("{} Unit: {}.", self.about, unit.name()),
        }
    }

    fn schema(&self) -> Value {
        let anything = json!({});
        let schema = match &self.like {
            Some(schema) => schema.clone(),
            None if self.has_names() => {
                let names = map_of(self.unit.schema());
                let always = self.schema["type"] == "object";
                if always { names } else { nullable(names) }
            }
            None if self.schema == anything => nullable(self.unit.schema()),
            None => self.schema.clone(),
        };
        described(schema, &self.described())
    }
}

/// Returns the JSON Schema of the summary of a run, for a document that has runs as parts.
pub fn schema() -> Value {
    let mut tree = Tree::default();
    for metric in all().iter().filter(|metric| metric.stored != Stored::Nowhere) {
        if metric.heads() {
            let place = tree.at(&metric.name);
            (place.required, place.null, place.about) = (true, true, metric.described());
        } else {
            tree.insert(metric.path(), metric.schema(), !metric.optional);
        }
    }
    tree.schema()
}

/// Returns the JSON Schema of the summary that `fowler run` writes into `summary.json` and prints
/// with `--json`.
pub fn of_run() -> Value {
    let about = "The summary of a run. Unknown values are null; there are no infinities.";
    json_schema::document("Fowler: the summary of a run", about, schema())
}
