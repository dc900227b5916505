//! A metric: a number that a run reports, with its name, its unit and its meaning.

use crate::json_schema::nullable;
use crate::json_schema::output::{Fact, Typed, all_written, list_of, schema};
use crate::outcome::Outcome;
use fowler_metrics::Kind;
use serde_json::{Map, Value};

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number of things of this name, such as `pages`.
    Count(&'static str),
    /// Microseconds of latency or other short times.
    Us,
    /// Seconds of simulated or wall-clock time.
    Seconds,
    /// A share of a whole, from 0 to 1.
    Share,
    /// A ratio of two numbers of the same unit.
    Ratio,
    /// A rate per second of things of this name, such as `requests/s`.
    Rate(&'static str),
    /// A truth value, yes or no.
    Flag,
    /// A text, such as a name.
    Text,
    /// A table or a list of further metrics, whose paths in the summary begin with that of this
    /// one.
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

/// Files and tables in which a metric is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stored {
    /// Stored in the summary of a run, and in a column of a sweep.
    #[default]
    Everywhere,
    /// Stored only in the summary of a run: the metric depends on wall-clock time, which sweeps
    /// leave out.
    RunOnly,
    /// Stored only in the summary of a run: the metric is too long for a column.
    SummaryOnly,
    /// Shown only in tables: the metric is derived from others, and no file has it.
    Nowhere,
}

type Read = Box<dyn Fn(&Outcome) -> Value + Send + Sync>;

/// A number that a run reports, or a fact about the run.
pub struct Metric {
    /// Path of the metric in `summary.json`, which is also the name of its column: `read.p99_us`. A
    /// last part in capitals is a placeholder for several names, and the value is an object of
    /// them: `counters.erases.SOURCE`.
    pub name: String,
    /// Unit of the metric.
    pub unit: Unit,
    /// Meaning of the metric, in a sentence.
    pub about: String,
    /// The files and tables in which the metric is stored.
    pub stored: Stored,
    /// True if the metric is one of the few that summarize a run in a row.
    pub headline: bool,
    pub(super) present: fn(&Outcome) -> bool,
    /// True if the metric may be absent from the summary.
    pub(super) optional: bool,
    /// JSON Schema of the metric's value, as derived from its Rust type.
    pub(super) schema: Value,
    /// Complete JSON Schema of the metric, if type and unit are not specific enough.
    pub(super) like: Option<Value>,
    read: Read,
}

impl Metric {
    pub(super) fn new<V: Into<Value> + Typed>(
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

    /// Returns a metric whose value is a list of JSON objects, one for each of `rows`; `facts` are
    /// the fields of an object. The value is null if the run has no list.
    pub(super) fn list<R: 'static>(
        name: &str,
        about: &str,
        facts: fn() -> Vec<Fact<R>>,
        rows: impl Fn(&Outcome) -> Option<&[R]> + Send + Sync + 'static,
    ) -> Metric {
        let read = move |it: &Outcome| rows(it).map(|rows| all_written(&facts(), rows));
        Metric::new(name, Unit::Table, about, read).like(nullable(list_of(schema(&facts()))))
    }

    /// Returns a metric that heads a group of metrics: if `exists` is false, it is null and its
    /// members are absent.
    pub(super) fn group(name: &str, about: &str, exists: fn(&Outcome) -> bool) -> Metric {
        let value = move |it: &Outcome| if exists(it) { Map::new().into() } else { Value::Null };
        Metric::new(name, Unit::Table, about, value)
    }

    pub(super) fn stored(self, stored: Stored) -> Metric {
        Metric { stored, ..self }
    }

    pub(super) fn headline(self) -> Metric {
        Metric { headline: true, ..self }
    }

    /// Makes the metric absent, instead of null, where `present` is false.
    pub(super) fn only_if(self, present: fn(&Outcome) -> bool) -> Metric {
        Metric { present, optional: true, ..self }
    }

    /// Sets the JSON Schema of the metric, where neither its type nor its unit say enough.
    pub(super) fn like(self, schema: Value) -> Metric {
        Metric { like: Some(schema), ..self }
    }

    /// Returns the metric's value in a run: null where it is unknown, never infinite.
    pub fn value(&self, outcome: &Outcome) -> Value {
        (self.read)(outcome)
    }

    /// Returns the dotted path of the metric in JSON, without a last part in capitals, which stands
    /// for several names, such as `CAUSE`.
    pub fn path(&self) -> &str {
        let placeholder = |last: &str| last.bytes().all(|byte| byte.is_ascii_uppercase());
        let parts = self.name.rsplit_once('.').filter(|(_, last)| placeholder(last));
        parts.map_or(&self.name, |(path, _)| path)
    }

    /// Returns true if the metric's value is an object with several names.
    pub(super) fn has_names(&self) -> bool {
        self.path() != self.name
    }
}

/// Returns the plural noun for a kind of request: `reads` or `writes`.
pub(super) fn plural(kind: Kind) -> String {
    format!("{}s", kind.name())
}
