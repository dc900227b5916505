//! Every number that a run reports, in one list: its name, its unit, its meaning, and how to read
//! it from an outcome.
//!
//! The list is in the order of `summary.json`, which is generated from it. Its names are the
//! columns of a sweep, and Python and the documentation list it. `layout` says which metrics the
//! tables show, in which order and under which label. To add a metric, add an entry in a file here,
//! and a line of `layout` if a table should show it. The room only reads outcomes; everything that
//! prints or stores results reads the list.
//!
//! See docs/decisions/reports.md, "What makes the summary of a run?".

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
mod metric;
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
pub use json::numbers;
pub use metric::{Metric, Stored, Unit};
pub use schema::{of_run, schema};

use crate::outcome::Outcome;
use serde_json::Value;
use std::sync::LazyLock;

/// Returns every metric of a run, in the order of `summary.json`.
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

/// Returns the facts that identify a run, as text, for files stored beside its summary.
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

/// Finds the metric at a path; if there is none, the nearest metric above it, with the rest of the
/// path.
fn find(path: &str) -> Option<(&'static Metric, &str)> {
    let below = |metric: &'static Metric| match path.strip_prefix(metric.path())? {
        "" => Some((metric, "")),
        rest => Some((metric, rest.strip_prefix('.')?)).filter(|_| metric.has_names()),
    };
    all().iter().filter_map(below).min_by_key(|(_, rest)| rest.len())
}

/// Returns the value of a metric by its path, or of a name below it: `counters.programs.gc`. Null
/// if the run has none.
pub fn value(outcome: &Outcome, path: &str) -> Value {
    let Some((metric, below)) = find(path) else { return Value::Null };
    let value = metric.value(outcome);
    if below.is_empty() {
        return value;
    }
    value.pointer(&format!("/{}", below.replace('.', "/"))).cloned().unwrap_or(Value::Null)
}

/// Returns true if a metric has this path, or if the path names an entry of a metric that is an
/// object, such as `counters.programs.gc`.
pub fn is_listed(path: &str) -> bool {
    find(path).is_some()
}

/// Returns the unit of a metric by its path in the summary.
///
/// # Panics
/// If there is no such metric.
pub fn unit(path: &str) -> Unit {
    find(path).map_or_else(|| panic!("no metric is called {path}"), |(metric, _)| metric.unit)
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
