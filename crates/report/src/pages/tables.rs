//! The tables of a page.

use fowler_device::Pacing;
use fowler_device::blame::Part;
use fowler_experiment::device_spec::Axis;
use fowler_experiment::numbers::{NOTHING, words};
use fowler_experiment::outcome::{Effect, Outcome};
use fowler_experiment::provenance::VERSION;
use fowler_experiment::summary::layout::{self, Group, Shown};
use fowler_experiment::summary::{BANDS, Unit};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_metrics::Kind;
use fowler_units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the noun for the property in which the runs differ: `scheme` or `drive`.
fn noun(outcomes: &[Outcome]) -> &'static str {
    outcomes.first().map_or_else(Axis::default, |first| first.drive.axis()).noun()
}

/// Returns the table of latencies: a row for each run and kind of request.
pub fn latency(outcomes: &[Outcome]) -> Sheet {
    let columns = Kind::ALL.map(layout::latency);
    let mut heads = vec![noun(outcomes), "requests"];
    heads.extend(columns[0].iter().map(|column| column.label.as_str()));
    let mut sheet = Sheet::new("latency", "Latency", &heads);
    for (kind, columns) in Kind::ALL.into_iter().zip(&columns) {
        for outcome in outcomes {
            if outcome.recorder.latencies(kind).count() == 0 {
                continue;
            }
            let name = outcome.drive.label().into();
            let mut row = vec![name, format!("{}s", kind.name()).into()];
            row.extend(columns.iter().map(|column| cell(column, outcome)));
            sheet.row(row);
        }
    }
    sheet
}

/// Returns the table of request streams: a row for each stream and kind of its requests; `None`
/// without several streams.
pub fn streams(outcomes: &[Outcome]) -> Option<Sheet> {
    let heads = [
        noun(outcomes),
        "stream",
        "requests",
        "count",
        "requests/s",
        "MB/s",
        "mean (us)",
        "p99 (us)",
        "max (us)",
    ];
    let title = "Streams, as their host saw them";
    let mut sheet = Sheet::new("streams", title, &heads);
    for outcome in outcomes {
        for seen in &outcome.streams {
            sheet.row(vec![
                outcome.drive.label().into(),
                seen.stream.as_str().into(),
                format!("{}s", seen.kind).into(),
                Cell::Number(seen.requests as f64),
                Cell::number(seen.iops()),
                Cell::number(seen.mb_per_s()),
                Cell::Number(seen.mean_us),
                Cell::number(seen.p99_us),
                Cell::Number(seen.max_us),
            ]);
        }
    }
    (!sheet.rows.is_empty()).then_some(sheet)
}

/// Returns the tables of the runs' writes and their cost (such as write amplification and erases):
/// one for each group of metrics.
pub fn writing(outcomes: &[Outcome]) -> Vec<Sheet> {
    layout::writing(outcomes).iter().map(|group| of_group(group, outcomes)).collect()
}

/// Returns the table of suspensions: a row for each run; `None` if nothing was suspended.
pub fn suspensions(outcomes: &[Outcome]) -> Option<Sheet> {
    layout::suspensions(outcomes).map(|group| of_group(&group, outcomes))
}

/// Returns the table of one group of metrics, such as those about suspensions: a row for each run,
/// a column for each metric.
fn of_group(group: &Group, outcomes: &[Outcome]) -> Sheet {
    let labels = group.columns.iter().map(|column| column.label.as_str());
    let heads: Vec<&str> = std::iter::once(noun(outcomes)).chain(labels).collect();
    let mut sheet = Sheet::new(group.name, group.title, &heads);
    for outcome in outcomes {
        let mut row: Vec<Cell> = vec![outcome.drive.label().into()];
        row.extend(group.columns.iter().map(|column| cell(column, outcome)));
        sheet.row(row);
    }
    sheet
}

/// Returns the table of the faults (such as failing blocks) planned for the runs, with a row for
/// each, even if the run ended before it; `None` if no fault was planned.
pub fn faults(outcomes: &[Outcome]) -> Option<Sheet> {
    let heads = [
        noun(outcomes),
        "fault",
        "struck (s)",
        "made unreadable",
        "of parity",
        "corrupted",
        "lost for good",
        "rebuilt",
        "rewritten",
        "still waiting",
    ];
    let mut sheet = Sheet::new("faults", "Faults", &heads);
    for outcome in outcomes {
        for fate in &outcome.faults {
            let count = |read: fn(&Effect) -> u64| {
                Cell::number(fate.effect.as_ref().map(|effect| read(effect) as f64))
            };
            let struck = fate.effect.as_ref().map(|effect| (effect.at - Nanos::ZERO).as_s());
            sheet.row(vec![
                outcome.drive.label().into(),
                fate.fault.to_string().as_str().into(),
                Cell::number(struck),
                count(|effect| effect.unreadable),
                count(|effect| effect.parity_unreadable),
                count(|effect| effect.corrupted),
                count(|effect| effect.lost),
                count(|effect| effect.rebuilt),
                count(|effect| effect.rewritten),
                count(|effect| effect.waiting),
            ]);
        }
    }
    outcomes.iter().any(|it| !it.faults.is_empty()).then_some(sheet)
}

/// Returns the value of a metric in a run as the cell of a table.
fn cell(column: &Shown, outcome: &Outcome) -> Cell {
    let number = column.value(outcome).as_f64();
    if column.unit() == Unit::Share { Cell::share(number) } else { Cell::number(number) }
}

/// Returns the table of causes of latency: a row for each run, kind of request, band of latency,
/// and cause.
pub fn blame(outcomes: &[Outcome]) -> Sheet {
    let heads = [noun(outcomes), "requests", "band", "cause", "mean (us)", "share"];
    let mut sheet = Sheet::new("blame", "Causes of latency", &heads);
    for outcome in outcomes {
        for kind in Kind::ALL {
            for (name, share) in BANDS {
                let band = outcome.recorder.blame(kind).slowest(share);
                for part in Part::ALL.into_iter().filter(|&it| band.parts[it] > 0) {
                    sheet.row(vec![
                        outcome.drive.label().into(),
                        format!("{}s", kind.name()).into(),
                        name.replace("_0_1pct", " 0.1 %").replace("_1pct", " 1 %").into(),
                        words(part).into(),
                        Cell::number(band.mean_us(part)),
                        Cell::share(band.share(part)),
                    ]);
                }
            }
        }
    }
    sheet
}

/// Returns the table of the consistency checks that every simulated run must pass (for example,
/// busy times of dies against elapsed time): bounds and measured times.
pub fn laws(outcomes: &[Outcome]) -> Sheet {
    let heads = [
        noun(outcomes),
        "law",
        "statement",
        "at least (s)",
        "measured (s)",
        "at most (s)",
        "holds",
    ];
    let mut sheet = Sheet::new("laws", "Laws of every run", &heads);
    let seconds = |ns: u128| Cell::Number(ns as f64 / 1e9);
    for outcome in outcomes {
        for law in outcome.laws().0 {
            sheet.row(vec![
                outcome.drive.label().into(),
                law.name.into(),
                law.says.into(),
                seconds(law.low),
                seconds(law.value),
                seconds(law.high),
                if law.holds() { "yes" } else { "NO" }.into(),
            ]);
        }
    }
    sheet
}

/// Returns the table of provenance on the HTML page: the facts needed to reproduce each run, such
/// as versions and seeds, with a column for each run.
pub fn provenance(outcomes: &[Outcome]) -> Sheet {
    let mut heads = vec!["fact"];
    heads.extend(outcomes.iter().map(|it| it.drive.label()));
    let mut sheet = Sheet::new("provenance", "Provenance", &heads);
    let mut fact = |name: &str, of: &dyn Fn(&Outcome) -> String| {
        let mut row: Vec<Cell> = vec![name.into()];
        row.extend(outcomes.iter().map(|it| Cell::Text(of(it))));
        sheet.row(row);
    };
    fact("version of fowler", &|_| VERSION.into());
    fact("device", &|it| it.drive.device.clone());
    fact("hash of the configuration", &|it| it.drive.hash.clone());
    fact("seed", &|it| it.drive.config.seed.to_string());
    fact("initial state", &|it| it.precondition.clone());
    fact("workload", &|it| it.workload.name.clone());
    fact("hash of the workload", &|it| it.workload.hash.clone());
    fact("requests", &|it| it.workload.requests.to_string());
    fact("times divided by", &|it| it.workload.speed.to_string());
    fact("requests issued", &|it| match it.pacing {
        Pacing::Open => "at their times".into(),
        Pacing::Closed { depth } => format!("whenever fewer than {depth} requests are outstanding"),
    });
    fact("simulated (s)", &|it| it.simulated.as_s().to_string());
    sheet
}

/// Returns the table of configuration keys in which the runs differ; `None` for one run, or without
/// differences.
pub fn differences(outcomes: &[Outcome]) -> Option<Sheet> {
    let mut heads = vec!["key"];
    heads.extend(outcomes.iter().map(|it| it.drive.label()));
    let mut sheet =
        Sheet::new("differences", format!("Differences between the {}s", noun(outcomes)), &heads);
    let all: Vec<BTreeMap<String, String>> =
        outcomes.iter().map(|it| flat(&it.drive.text)).collect();
    // Some keys are there in some runs only.
    let keys: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    for key in keys {
        let values: Vec<&str> =
            all.iter().map(|it| it.get(key).map_or(NOTHING, String::as_str)).collect();
        if values.iter().any(|value| *value != values[0]) {
            let mut row: Vec<Cell> = vec![key.as_str().into()];
            row.extend(values.into_iter().map(Cell::from));
            sheet.row(row);
        }
    }
    (!sheet.rows.is_empty()).then_some(sheet)
}

/// Returns every key of a configuration with its value. The text comes from this program, so it
/// always parses.
fn flat(text: &str) -> BTreeMap<String, String> {
    fn walk(prefix: &str, table: &toml::Table, keys: &mut BTreeMap<String, String>) {
        for (name, value) in table {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            match value {
                toml::Value::Table(inner) => walk(&path, inner, keys),
                toml::Value::String(text) => drop(keys.insert(path, text.clone())),
                other => drop(keys.insert(path, other.to_string())),
            }
        }
    }
    let mut keys = BTreeMap::new();
    walk("", &text.parse().unwrap_or_default(), &mut keys);
    keys
}
