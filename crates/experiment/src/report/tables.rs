//! The tables of a page.

use crate::numbers::words;
use crate::outcome::{BANDS, Outcome};
use crate::provenance::VERSION;
use crate::tables::{Cell, Sheet};
use fowler_device::Pacing;
use fowler_device::blame::Part;
use fowler_metrics::{Kind, Percentile};
use std::collections::{BTreeMap, BTreeSet};

/// Latencies: a row for each scheme and kind of request.
pub fn latency(outcomes: &[Outcome]) -> Sheet {
    let mut heads = vec!["scheme", "requests", "count", "mean (us)"];
    let labels = Percentile::ALL.map(|it| format!("{} (us)", it.label()));
    heads.extend(labels.iter().map(String::as_str));
    heads.push("max (us)");
    let mut sheet = Sheet::new("latency", "Latency", &heads);
    for kind in Kind::ALL {
        for outcome in outcomes {
            let latencies = outcome.recorder.latencies(kind);
            if latencies.count() == 0 {
                continue;
            }
            let mut row: Vec<Cell> =
                vec![outcome.drive.scheme.as_str().into(), format!("{}s", kind.name()).into()];
            row.push(count(latencies.count()));
            row.push(Cell::number(latencies.mean_us()));
            for percentile in Percentile::ALL {
                row.push(Cell::number(latencies.percentile(percentile).map(|it| it.as_us())));
            }
            row.push(Cell::number(latencies.max().map(|it| it.as_us())));
            sheet.row(row);
        }
    }
    sheet
}

/// What was written and what that took: always the first, the others where there is something to say.
pub fn writing(outcomes: &[Outcome]) -> Vec<Sheet> {
    let more = [cells(outcomes), voltages(outcomes), throttle(outcomes), protection(outcomes)];
    std::iter::once(drive(outcomes)).chain(more.into_iter().flatten()).collect()
}

/// What flash reads took, by the reference voltages that they needed; none where cells do not err.
fn cells(outcomes: &[Outcome]) -> Option<Sheet> {
    let reads: Vec<_> = outcomes.iter().map(Outcome::reads_at).collect();
    let levels: BTreeSet<u32> = reads.iter().flatten().flatten().map(|&(level, _)| level).collect();
    let mut heads = vec!["scheme".to_string()];
    heads.extend(levels.iter().map(|level| format!("flash reads with {level} references")));
    heads.extend(["repeated at the next level", "uncorrectable"].map(String::from));
    heads.extend(
        ["reads before others that waited longer", "writes before others"].map(String::from),
    );
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut sheet = Sheet::new("cells", "Reading cells that err", &heads);
    for (outcome, reads) in outcomes.iter().zip(&reads) {
        let mut row: Vec<Cell> = vec![outcome.drive.scheme.as_str().into()];
        let all: u64 = reads.iter().flatten().map(|&(_, count)| count).sum();
        let share = |level: &u32| {
            let (_, count) = reads.as_ref()?.iter().find(|(its, _)| its == level)?;
            (all > 0).then(|| *count as f64 / all as f64)
        };
        row.extend(levels.iter().map(|level| Cell::share(share(level))));
        row.push(count(outcome.counters.retries_at.iter().sum()));
        row.push(count(outcome.counters.uncorrectable));
        row.extend(Kind::ALL.map(|kind| Cell::share(outcome.prioritised_share(kind))));
        sheet.row(row);
    }
    (!levels.is_empty()).then_some(sheet)
}

/// The voltages of programs; none where all are nominal.
fn voltages(outcomes: &[Outcome]) -> Option<Sheet> {
    let heads = [
        "scheme",
        "wearing weight of a program",
        "boosted",
        "nominal",
        "reduced",
        "pages programmed anew for their reads",
    ];
    let mut sheet = Sheet::new("voltages", "Voltages of programs", &heads);
    for outcome in outcomes {
        let programs = outcome.programs_at();
        let mut row: Vec<Cell> = vec![outcome.drive.scheme.as_str().into()];
        row.push(Cell::number(outcome.wearing_weight()));
        row.extend((0..3).map(|voltage| Cell::number(programs.map(|its| its[voltage] as f64))));
        row.push(count(outcome.counters.rewritten[0]));
        sheet.row(row);
    }
    let other = |it: &Outcome| it.wearing_weight().is_some_and(|weight| weight != 1.0);
    outcomes.iter().any(other).then_some(sheet)
}

/// What held writes back for the sake of the drive's life; none where nothing did.
fn throttle(outcomes: &[Outcome]) -> Option<Sheet> {
    let heads = ["scheme", "writes delayed (s in all)", "writes stopped (s in all)", "stops"];
    let mut sheet = Sheet::new("throttle", "Throttling", &heads);
    for outcome in outcomes {
        let counters = &outcome.counters;
        let mut row: Vec<Cell> = vec![outcome.drive.scheme.as_str().into()];
        row.extend(counters.held.map(|held| Cell::Number(held.as_s())));
        row.push(count(counters.stops));
        sheet.row(row);
    }
    let held = |it: &Outcome| it.counters.held.iter().any(|held| held.as_s() > 0.0);
    outcomes.iter().any(held).then_some(sheet)
}

/// How data was protected by parity, and what became of what could not be read; none where nothing is striped.
fn protection(outcomes: &[Outcome]) -> Option<Sheet> {
    let heads = [
        "scheme",
        "stripes",
        "stage in the end",
        "stripes without their parity in the end",
        "parity from the rest",
        "parity from the difference",
        "blocks recycled when due",
        "in idle time",
        "pages that could not be read",
        "rebuilt",
        "written anew by the host",
        "lost",
        "reads served from the others",
    ];
    let mut sheet = Sheet::new("protection", "Protection by parity", &heads);
    for outcome in outcomes {
        let its = outcome.protection.as_ref();
        let losses = outcome.losses.as_ref();
        let some = |value: Option<u64>| Cell::number(value.map(|value| value as f64));
        let mut row: Vec<Cell> = vec![outcome.drive.scheme.as_str().into()];
        row.push(some(its.map(|it| it.stripes.into())));
        row.push(some(its.map(|it| it.stage as u64 + 1)));
        row.push(some(its.map(|it| it.bare.into())));
        let counters = &outcome.counters;
        let pairs = counters.parity_ways.into_iter().chain(counters.recycled);
        row.extend(pairs.map(|value| some(its.map(|_| value))));
        row.push(some(losses.map(|it| it.unreadable)));
        row.push(some(losses.map(|it| it.rebuilt)));
        row.push(some(losses.map(|it| it.rewritten)));
        row.push(some(losses.map(|it| it.lost_in_all())));
        row.push(some(losses.map(|it| it.degraded_reads)));
        sheet.row(row);
    }
    outcomes.iter().any(|it| it.protection.is_some()).then_some(sheet)
}

/// What the drive did: a row for each scheme.
fn drive(outcomes: &[Outcome]) -> Sheet {
    let heads = [
        "scheme",
        "requests per simulated second",
        "idle",
        "write amplification (pages)",
        "of it collection",
        "of it wear levelling",
        "of it refreshing",
        "of it parity",
        "flash bytes per host byte",
        "erases",
        "fewest erases of a block",
        "mean erases of a block",
        "most erases of a block",
    ];
    let mut sheet = Sheet::new("drive", "The drive", &heads);
    for outcome in outcomes {
        let counters = &outcome.counters;
        let [host, gc, wear, refresh, parity] = counters.programs;
        let part = |pages: u64| Cell::number((host > 0).then(|| pages as f64 / host as f64));
        sheet.row(vec![
            outcome.drive.scheme.as_str().into(),
            Cell::number(outcome.iops()),
            Cell::share(outcome.idle_share()),
            Cell::number(counters.waf()),
            part(gc),
            part(wear),
            part(refresh),
            part(parity),
            Cell::number(outcome.flash_bytes_per_host_byte()),
            count(counters.erases.iter().sum()),
            count(outcome.wear.min.into()),
            Cell::number(outcome.wear.mean),
            count(outcome.wear.max.into()),
        ]);
    }
    sheet
}

/// Suspensions: a row for each scheme; none where nothing was suspended.
pub fn suspensions(outcomes: &[Outcome]) -> Option<Sheet> {
    let heads = [
        "scheme",
        "programs and erases",
        "of them suspended",
        "suspensions",
        "suspensions of each that was",
        "extra time, of their undisturbed time",
    ];
    let mut sheet = Sheet::new("suspensions", "Suspensions", &heads);
    for outcome in outcomes {
        let counters = &outcome.counters;
        let suspended = counters.suspended_operations;
        let each = (suspended > 0).then(|| counters.suspensions as f64 / suspended as f64);
        sheet.row(vec![
            outcome.drive.scheme.as_str().into(),
            count(counters.operations),
            Cell::share(outcome.suspended_share()),
            count(counters.suspensions),
            Cell::number(each),
            Cell::share(outcome.suspension_overhead()),
        ]);
    }
    outcomes.iter().any(|it| it.counters.suspensions > 0).then_some(sheet)
}

/// Where the time went: a row for each scheme, kind, band and cause.
pub fn blame(outcomes: &[Outcome]) -> Sheet {
    let heads = ["scheme", "requests", "band", "cause", "mean (us)", "share"];
    let mut sheet = Sheet::new("blame", "Causes of latency", &heads);
    for outcome in outcomes {
        for kind in Kind::ALL {
            for (name, share) in BANDS {
                let band = outcome.recorder.blame(kind).slowest(share);
                for part in Part::ALL.into_iter().filter(|&it| band.parts[it as usize] > 0) {
                    sheet.row(vec![
                        outcome.drive.scheme.as_str().into(),
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

/// The laws that every run must obey.
pub fn laws(outcomes: &[Outcome]) -> Sheet {
    let heads = ["scheme", "law", "says", "at least (s)", "counted (s)", "at most (s)", "holds"];
    let mut sheet = Sheet::new("laws", "Laws of every run", &heads);
    let seconds = |ns: u128| Cell::Number(ns as f64 / 1e9);
    for outcome in outcomes {
        for law in outcome.laws().0 {
            sheet.row(vec![
                outcome.drive.scheme.as_str().into(),
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

/// What the results need to be made again: a row for each fact, a column for each scheme.
pub fn provenance(outcomes: &[Outcome]) -> Sheet {
    let mut heads = vec!["fact"];
    heads.extend(outcomes.iter().map(|it| it.drive.scheme.as_str()));
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
    fact("state at the start", &|it| it.precondition.clone());
    fact("workload", &|it| it.workload.name.clone());
    fact("hash of the workload", &|it| it.workload.hash.clone());
    fact("requests", &|it| it.workload.requests.to_string());
    fact("times divided by", &|it| it.workload.speed.to_string());
    fact("requests issued", &|it| match it.pacing {
        Pacing::Open => "at their times".into(),
        Pacing::Closed { depth } => format!("as soon as fewer than {depth} are outstanding"),
    });
    fact("simulated (s)", &|it| it.simulated.as_s().to_string());
    sheet
}

/// The configuration keys in which the schemes differ; none where there is one scheme, or no difference.
pub fn differences(outcomes: &[Outcome]) -> Option<Sheet> {
    let mut heads = vec!["key"];
    heads.extend(outcomes.iter().map(|it| it.drive.scheme.as_str()));
    let mut sheet = Sheet::new("differences", "What tells the schemes apart", &heads);
    let all: Vec<BTreeMap<String, String>> =
        outcomes.iter().map(|it| flat(&it.drive.text)).collect();
    for key in all.first()?.keys() {
        let values: Vec<&str> =
            all.iter().map(|it| it.get(key).map_or("", String::as_str)).collect();
        if values.iter().any(|value| *value != values[0]) {
            let mut row: Vec<Cell> = vec![key.as_str().into()];
            row.extend(values.into_iter().map(Cell::from));
            sheet.row(row);
        }
    }
    (!sheet.rows.is_empty()).then_some(sheet)
}

/// Every key of a configuration with its value. Configurations are printed by this program: they can be read.
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

fn count(count: u64) -> Cell {
    Cell::Number(count as f64)
}
