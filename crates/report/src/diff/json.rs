//! The differences of two results as JSON.

use super::{Causes, Chance, Change, Diff, Pair, Setting};
use serde_json::{Map, Value, json};

impl Diff {
    /// Returns the differences of two results as one JSON object. Unknown numbers are null; there
    /// are no infinities.
    pub fn json(&self) -> Value {
        let [first, second] = &self.alone;
        json!({
            "pairs": self.pairs.iter().map(Pair::json).collect::<Vec<_>>(),
            "only_in_first": first,
            "only_in_second": second,
        })
    }
}

impl Pair {
    fn json(&self) -> Value {
        let settings =
            self.settings.iter().map(|Setting { key, values }| (key.clone(), json!(values)));
        json!({
            self.axis.key(): self.labels,
            "settings": settings.collect::<Map<_, _>>(),
            "chance": match self.chance {
                Chance::Seeds => "seeds",
                Chance::OnlySeed => "only_seed",
                Chance::Unknown => "unknown",
            },
            "results": self.changes.iter().map(Change::json).collect::<Map<_, _>>(),
            "results_the_same": self.same,
            "causes": self.causes.iter().map(Causes::json).collect::<Map<_, _>>(),
        })
    }
}

impl Change {
    fn json(&self) -> (String, Value) {
        let change = json!({
            "values": self.values,
            "share": self.share(),
            "half_width": self.half_width,
            "beyond_chance": self.is_real(),
        });
        (self.path.clone(), change)
    }
}

impl Causes {
    fn json(&self) -> (String, Value) {
        let parts = self.parts_us.iter().map(|(name, values)| (name.clone(), json!(values)));
        let causes =
            json!({ "mean_us": self.means_us, "by_cause_us": parts.collect::<Map<_, _>>() });
        (self.kind.into(), causes)
    }
}
