//! Every number that a run reports, in one list: its name, its unit, its meaning, and how to read
//! it from an outcome.
//!
//! The list is in the order of `summary.json`, which is generated from it. Its names are the
//! columns of a sweep, and Python and the documentation list it. `layout` says which metrics the
//! tables show, in which order and under which label. To add a metric, add an entry in a file here,
//! and a line of `layout` if a table should show it. The room only reads outcomes; everything that
//! prints or stores results reads the list.

mod aging;
pub(crate) mod bad_blocks;
mod blame;
mod census;
mod counters;
pub(crate) mod failed_dies;
mod faults;
mod flash;
mod json;
pub mod layout;
mod protection;
mod requests;
mod schema;
mod scrub;
mod setup;
mod slc;
mod speed;
mod voltages;

pub use blame::BANDS;
pub use counters::by_source;
pub use json::comparison_json;
pub use schema::{of_comparison, of_run};

use crate::json_schema::output::Typed;
use crate::outcome::Outcome;
use fowler_metrics::Kind;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number of something: `pages`.
    Count(&'static str),
    /// Microseconds.
    Us,
    /// Seconds.
    Seconds,
    /// A share, from 0 to 1.
    Share,
    /// A ratio of two numbers of the same unit.
    Ratio,
    /// A rate per second: `requests/s`.
    Rate(&'static str),
    /// Yes or no.
    Flag,
    /// Text.
    Text,
    /// A table or a list of the metrics below it.
    Table,
}

impl Unit {
    /// Returns the name of the unit for documentation and programs: `us`, `s`, `share`, `pages`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Count(of) | Unit::Rate(of) => of,
            Unit::Us => "us",
            Unit::Seconds => "s",
            Unit::Share => "share",
            Unit::Ratio => "ratio",
            Unit::Flag => "flag",
            Unit::Text => "text",
            Unit::Table => "table",
        }
    }
}

/// Where a metric is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stored {
    /// In the summary, and in a column of a sweep.
    #[default]
    Everywhere,
    /// Only in the summary of a run: it depends on wall-clock time, which sweeps leave out.
    RunOnly,
    /// Only in the summary: it is too long for a column.
    SummaryOnly,
    /// Nowhere: it is derived from others for tables.
    Nowhere,
}

type Read = Box<dyn Fn(&Outcome) -> Value + Send + Sync>;

/// A number that a run reports, or a fact about the run.
pub struct Metric {
    /// Its path in `summary.json`, which is also the name of its column: `read.p99_us`. A last part
    /// in capitals is a placeholder for several names, and the value is an object of them:
    /// `counters.erases.SOURCE`.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// What it means, in a sentence.
    pub about: String,
    /// Where it is stored.
    pub stored: Stored,
    /// Whether it is one of the few that summarize a run in a row.
    pub headline: bool,
    present: fn(&Outcome) -> bool,
    /// Whether it may be absent.
    optional: bool,
    /// The JSON Schema of its value, as far as the type says it.
    schema: Value,
    /// The same of all of it, where neither type nor unit say enough.
    like: Option<Value>,
    read: Read,
}

impl Metric {
    fn new<V: Into<Value> + Typed>(
        name: impl Into<String>,
        unit: Unit,
        about: impl Into<String>,
        read: impl Fn(&Outcome) -> V + Send + Sync + 'static,
    ) -> Metric {
        Metric {
            name: name.into(),
            unit,
            about: about.into(),
            stored: Stored::Everywhere,
            headline: false,
            present: |_| true,
            optional: false,
            schema: V::schema(),
            like: None,
            read: Box::new(move |outcome| read(outcome).into()),
        }
    }

    /// Returns a metric that heads a group: where `exists` is false, it is null and those below it
    /// are absent.
    fn group(name: &str, about: &str, exists: fn(&Outcome) -> bool) -> Metric {
        let value = move |it: &Outcome| if exists(it) { Map::new().into() } else { Value::Null };
        Metric::new(name, Unit::Table, about, value)
    }

    fn stored(self, stored: Stored) -> Metric {
        Metric { stored, ..self }
    }

    fn headline(self) -> Metric {
        Metric { headline: true, ..self }
    }

    /// Makes it absent, instead of null, where this does not hold.
    fn only_if(self, present: fn(&Outcome) -> bool) -> Metric {
        Metric { present, optional: true, ..self }
    }

    /// Its JSON Schema, where neither its type nor its unit say enough.
    fn like(self, schema: Value) -> Metric {
        Metric { like: Some(schema), ..self }
    }

    /// Returns its value: null where it is unknown, never infinite.
    pub fn value(&self, outcome: &Outcome) -> Value {
        (self.read)(outcome)
    }

    /// Returns its path without the placeholder.
    pub fn path(&self) -> &str {
        let placeholder = |last: &str| last.bytes().all(|byte| byte.is_ascii_uppercase());
        let parts = self.name.rsplit_once('.').filter(|(_, last)| placeholder(last));
        parts.map_or(&self.name, |(path, _)| path)
    }

    /// Returns whether its value is an object of several names.
    fn has_names(&self) -> bool {
        self.path() != self.name
    }
}

/// Returns every metric, in the order of `summary.json`.
pub fn all() -> &'static [Metric] {
    static ALL: LazyLock<Vec<Metric>> = LazyLock::new(|| {
        let parts = [
            setup::identity(),
            requests::metrics(),
            flash::metrics(),
            blame::metrics(),
            speed::metrics(),
            protection::metrics(),
            faults::metrics(),
            census::metrics(),
            scrub::metrics(),
            bad_blocks::metrics(),
            failed_dies::metrics(),
            slc::metrics(),
            aging::metrics(),
            counters::metrics(),
            setup::laws_and_origin(),
        ];
        parts.into_iter().flatten().collect()
    });
    &ALL
}

/// Returns what identifies a run, for files that are kept beside its summary: metrics and their
/// values as text.
pub(crate) fn which_run(outcome: &Outcome) -> Vec<(&'static str, String)> {
    let names = [
        "scheme",
        "device",
        "complete",
        "config_hash",
        "provenance.version",
        "provenance.seed",
        "provenance.workload_hash",
    ];
    let text = |name| {
        let value = value(outcome, name);
        (name, value.as_str().map_or_else(|| value.to_string(), str::to_string))
    };
    names.map(text).into()
}

/// Finds the metric of a path, or the nearest one above it. Also returns the rest of the path.
fn find(path: &str) -> Option<(&'static Metric, &str)> {
    let below = |metric: &'static Metric| match path.strip_prefix(metric.path())? {
        "" => Some((metric, "")),
        rest => Some((metric, rest.strip_prefix('.')?)).filter(|_| metric.has_names()),
    };
    all().iter().filter_map(below).min_by_key(|(_, rest)| rest.len())
}

/// Returns the value of a metric by its path, or of a name below it: `counters.programs.gc`. Null
/// if it has none.
pub fn value(outcome: &Outcome, path: &str) -> Value {
    let Some((metric, below)) = find(path) else { return Value::Null };
    let value = metric.value(outcome);
    if below.is_empty() {
        return value;
    }
    value.pointer(&format!("/{}", below.replace('.', "/"))).cloned().unwrap_or(Value::Null)
}

/// Returns whether the list has a metric with this path, or one of several names below it.
pub fn is_listed(path: &str) -> bool {
    find(path).is_some()
}

/// Returns the unit of a metric by its path.
///
/// # Panics
/// If there is no such metric.
pub fn unit(path: &str) -> Unit {
    find(path).map_or_else(|| panic!("no metric is called {path}"), |(metric, _)| metric.unit)
}

/// `reads` or `writes`.
fn plural(kind: Kind) -> String {
    format!("{}s", kind.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_metric_has_a_name_of_its_own_and_says_what_it_is() {
        let mut names = BTreeSet::new();
        for Metric { name, about, .. } in all() {
            assert!(names.insert(name), "{name} stands twice in the list");
            assert!(about.len() > 10 && about.ends_with('.'), "{name}: {about}");
            let first = about.chars().next().unwrap_or(' ');
            assert!(first.is_uppercase(), "{name}: {about}");
        }
    }

    #[test]
    fn headlines_are_stored() {
        for metric in all().iter().filter(|it| it.headline) {
            assert_eq!(metric.stored, Stored::Everywhere, "{}", metric.name);
        }
    }

    #[test]
    fn what_tables_show_is_in_the_list() {
        for path in layout::paths() {
            assert!(find(&path).is_some(), "{path}");
        }
    }
}
