//! All numbers of a run or a comparison, for a person: what `--full` prints. The lines below the
//! tables are those of the short report, too.

use crate::console;
use crate::table::Grid;
use fowler_experiment::device_spec::Axis;
use fowler_experiment::numbers::{
    NOTHING, bytes, counted, counted_as, maybe, percent, ratio, real, seconds, whole, words,
};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::seeds::Spread;
use fowler_experiment::summary::Unit;
use fowler_experiment::summary::layout::{Shown, rows};
use fowler_experiment::warnings::{Warning, alike, interruptions, warnings};
use fowler_experiment::{Band, Kind, Nanos, Part};
use fowler_report::verdict;
use serde_json::Value;
use std::fmt::Write;

/// Smallest share (0.5 %) of the mean latency of the slowest 1 % of requests at which a cause of
/// latency gets a row of its own in the table of causes; one run with such a share suffices.
const BLAME_SHOWN: f64 = 0.005;
/// Width of the labels at the beginning of lines below the tables of a report, in characters.
pub(crate) const LABEL: usize = 10;

/// Returns the full report of runs as text. The first run is the one that others are compared with.
pub(crate) fn report(outcomes: &[Outcome], spread: Option<&Spread>) -> String {
    let Some(first) = outcomes.first() else { return String::new() };
    let mut text = metrics(outcomes);
    text.push_str(
        &spread.map_or_else(String::new, |of_seeds| over_seeds(outcomes, of_seeds, |_| true)),
    );
    for kind in Kind::ALL {
        text.push_str(&blame(outcomes, kind));
    }
    text.push('\n');
    let drives = drive_lines(outcomes);
    let facts = [drives, workload_line(first), search_line(first)].concat();
    let faults: String = outcomes.iter().map(|it| fault_lines(it, FAULTS_SHOWN)).collect();
    let findings: String = verdict::of(outcomes, spread)
        .iter()
        .map(|finding| format!("{:<9} {}\n", "verdict", finding.sentences()))
        .collect();
    let said = facts + &faults + &findings + &lines(&warnings(outcomes));
    text + &console::fitted(&said, LABEL)
}

/// Returns the table of means over all seeds, with half the width of their 95 % confidence
/// intervals.
pub(crate) fn over_seeds(
    outcomes: &[Outcome],
    spread: &Spread,
    wanted: impl Fn(&str) -> bool,
) -> String {
    let head = format!("mean \u{b1} 95 % interval, {} seeds", spread.seeds());
    let mut grid = runs_beside(outcomes, &head);
    for row in rows(outcomes).into_iter().filter(|row| row.ratio && wanted(&row.path)) {
        let of = |place: usize| spread.of(place, &row.path);
        let cell = |place: usize| {
            of(place).map_or_else(
                || NOTHING.into(),
                |interval| {
                    format!("{} \u{b1} {}", real(interval.mean), maybe(Some(interval.half_width)))
                },
            )
        };
        if (0..outcomes.len()).any(|place| of(place).is_some()) {
            let cells = (0..outcomes.len()).map(cell);
            grid.row(std::iter::once(row.label.clone()).chain(cells).collect());
        }
    }
    format!("\n{}", grid.text())
}

/// Returns the explanations of slow requests, with the name of their run.
pub(crate) fn explanations(outcome: &Outcome, texts: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for paragraph in texts {
        text.push_str(&console::fitted(&paragraph, 3));
        text.push('\n');
    }
    let facts = [drive_line(outcome), workload_line(outcome), search_line(outcome)].concat();
    let warnings = lines(&interruptions(std::slice::from_ref(outcome)));
    text + &console::fitted(&(facts + &warnings), LABEL)
}

/// Returns the table of metrics: a row for each metric, a column for each run.
fn metrics(outcomes: &[Outcome]) -> String {
    let mut grid = runs_beside(outcomes, "");
    for row in rows(outcomes) {
        grid.row(cells(&row, outcomes));
    }
    grid.text()
}

/// Returns an empty table with a column for each run, after one of labels.
pub(crate) fn runs_beside(outcomes: &[Outcome], head: &str) -> Grid {
    let mut heads = vec![head.to_string()];
    heads.extend(outcomes.iter().map(|outcome| outcome.drive.label().into()));
    Grid::new(heads)
}

/// Returns the cells of a row: its label, and a value for each run. The ratio to the first run is
/// added if the row has ratios, both values are known, and both runs served the same requests.
pub(crate) fn cells(row: &Shown, outcomes: &[Outcome]) -> Vec<String> {
    let values: Vec<Value> = outcomes.iter().map(|outcome| row.value(outcome)).collect();
    let first = values[0].as_f64().filter(|&first| row.ratio && first > 0.0);
    let cell = |(index, value): (usize, &Value)| {
        let first = first.filter(|_| alike(&outcomes[0], &outcomes[index]));
        let ratio = value.as_f64().zip(first).map(|(value, first)| ratio(value / first));
        beside(index, shown(value, row.unit()), ratio)
    };
    std::iter::once(row.label.clone()).chain(values.iter().enumerate().map(cell)).collect()
}

/// Formats the value of a metric as a person reads it.
pub(crate) fn shown(value: &Value, unit: Unit) -> String {
    match (value.as_u64(), value.as_f64()) {
        (Some(count), _) => whole(count),
        (None, Some(share)) if unit == Unit::Share => percent(share),
        (None, number) => maybe(number),
    }
}

/// Returns a cell of a table that compares runs: the text, and in every column but the first a
/// field six characters wide for the ratio to the first run, so that numbers align.
pub(crate) fn beside(column: usize, text: String, ratio: Option<String>) -> String {
    if column == 0 { text } else { format!("{text}  {:>6}", ratio.unwrap_or_default()) }
}

/// Returns the table of the causes of latency of the slowest 1 % of requests: the mean time of each
/// cause in a request, and its share. The causes and "other" add up to the mean latency.
fn blame(outcomes: &[Outcome], kind: Kind) -> String {
    let bands: Vec<Band> =
        outcomes.iter().map(|outcome| outcome.recorder.blame(kind).slowest(0.01)).collect();
    if bands.iter().all(|band| band.count == 0) {
        return String::new();
    }
    let mut grid = runs_beside(outcomes, &format!("slowest 1 % of {}s (us)", kind.name()));
    let row = |name: &str, cell: &dyn Fn(&Band, u64) -> (String, String)| {
        let cell = |(band, outcome): (&Band, &Outcome)| {
            let (text, share) = match band.count {
                0 => (NOTHING.into(), String::new()),
                _ => cell(band, outcome.recorder.blame(kind).count()),
            };
            format!("{text}  {share:>8}")
        };
        let cells = bands.iter().zip(outcomes).map(cell);
        std::iter::once(name.to_string()).chain(cells).collect::<Vec<_>>()
    };
    grid.row(row("requests, share of all", &|band, all| {
        (whole(band.count), percent(band.count as f64 / all as f64))
    }));
    grid.row(row("all at least", &|band, _| (real(band.from.as_us()), String::new())));
    grid.row(row("mean latency", &|band, _| (maybe(band.mean_latency_us()), percent(1.0))));
    let shown = shown_parts(&bands);
    for &part in &shown {
        grid.row(row(&words(part), &|band, _| sum_of(band, &[part])));
    }
    let rest: Vec<Part> = Part::ALL.into_iter().filter(|part| !shown.contains(part)).collect();
    grid.row(row("other", &|band, _| sum_of(band, &rest)));
    format!("\n{}", grid.text())
}

/// Returns the mean time in microseconds that these causes of latency take in a request of a band
/// (such as the slowest 1 %), and their share of the mean latency.
fn sum_of(band: &Band, parts: &[Part]) -> (String, String) {
    let mean: f64 = parts.iter().filter_map(|&part| band.mean_us(part)).sum();
    let share: f64 = parts.iter().filter_map(|&part| band.share(part)).sum();
    if mean > 0.0 { (real(mean), percent(share)) } else { (NOTHING.into(), String::new()) }
}

/// Returns the causes of latency that have a row in the table of causes, in descending order of
/// their share in the first run.
fn shown_parts(bands: &[Band]) -> Vec<Part> {
    let worth = |part: &Part| {
        bands.iter().any(|band| band.share(*part).is_some_and(|share| share >= BLAME_SHOWN))
    };
    let mut parts: Vec<Part> = bands.first().map(Band::ranked).unwrap_or_default();
    parts.extend(Part::ALL.into_iter().filter(|part| !parts.contains(part)).collect::<Vec<_>>());
    parts.retain(worth);
    parts
}

/// Returns the description of the simulated drives in the report of `run` or `compare`: a line for
/// each drive; if schemes are compared, one line, for the drive under the first scheme.
pub(crate) fn drive_lines(outcomes: &[Outcome]) -> String {
    match outcomes.first() {
        None => String::new(),
        Some(first) => match first.drive.axis() {
            Axis::Schemes => drive_line(first),
            Axis::Devices => lines_of_drives(outcomes),
        },
    }
}

/// Returns a line for each drive. Under several schemes a drive has several lines only where these
/// change its capacity or its state.
fn lines_of_drives(outcomes: &[Outcome]) -> String {
    let mut lines: Vec<(&Outcome, Vec<&str>)> = Vec::new();
    for outcome in outcomes {
        let line = drive_line(outcome);
        match lines.iter_mut().find(|(earlier, _)| drive_line(earlier) == line) {
            Some((_, labels)) => labels.push(outcome.drive.label()),
            None => lines.push((outcome, vec![outcome.drive.label()])),
        }
    }
    let is_alone = |outcome: &Outcome| {
        lines.iter().filter(|(other, _)| other.drive.device == outcome.drive.device).count() == 1
    };
    let line = |(outcome, labels): &(&Outcome, Vec<&str>)| match is_alone(outcome) {
        true => drive_line(outcome),
        false => drive_line(outcome).replacen(&outcome.drive.device, &labels.join(", "), 1),
    };
    lines.iter().map(line).collect()
}

fn drive_line(outcome: &Outcome) -> String {
    let layout = &outcome.drive.layout;
    format!(
        "drive     {}: {} raw, {} logical; over-provisioning {} of raw, {} of logical; {}\n",
        outcome.drive.device,
        bytes(layout.raw.0),
        bytes(layout.logical.0),
        percent(outcome.spare_of_raw()),
        percent(outcome.spare_of_logical()),
        outcome.precondition,
    )
}

pub(crate) fn workload_line(outcome: &Outcome) -> String {
    let report = &outcome.workload;
    let mut facts = vec![counted(report.requests, "request")];
    if let Some(read) = &report.read {
        facts.insert(0, format!("format {}", read.format));
        let skipped: u64 = read.skipped.values().map(|skipped| skipped.count).sum();
        for (count, what) in [
            (read.reordered, ["request put in order of time", "requests put in order of time"]),
            (skipped, ["bad line skipped", "bad lines skipped"]),
            (
                read.other_devices,
                ["request of another device left out", "requests of other devices left out"],
            ),
        ] {
            if count > 0 {
                facts.push(counted_as(count, what[0], what[1]));
            }
        }
    }
    if let Some(remap) = report.remap {
        let touched = report
            .touched_pages
            .map_or(String::new(), |pages| format!(" ({})", counted(pages, "page")));
        facts.push(format!("remap {}{touched}", remap.name()));
    }
    if report.speed != 1.0 {
        facts.push(format!("{} times as fast as recorded", real(report.speed)));
    }
    if let fowler_experiment::Pacing::Closed { depth } = outcome.pacing {
        facts.push(format!("{depth} outstanding"));
    }
    let unwritten = outcome.counters.unwritten_reads;
    facts.push(counted_as(
        unwritten,
        "read of a never-written page",
        "reads of never-written pages",
    ));
    facts.push(format!("{} simulated", seconds(outcome.simulated.as_s())));
    format!("workload  {}: {}\n", report.name, facts.join("; "))
}

/// Returns the line of the report on the search for the replay speed; empty if there was none.
pub(crate) fn search_line(first: &Outcome) -> String {
    let Some(search) = first.search else { return String::new() };
    format!(
        "idle      {} wanted, {} of the time reached {} with arrival times divided by {}; the search took {}\n",
        percent(search.target),
        percent(search.reached),
        first.drive.place(),
        real(first.workload.speed),
        counted(search.runs as u64, "run"),
    )
}

/// Largest number of injected faults that the report of `--full` lists; further ones are only
/// counted.
const FAULTS_SHOWN: usize = 20;

/// Returns a line for each fault of the run on its effect; those beyond `most` are only counted.
pub(crate) fn fault_lines(outcome: &Outcome, most: usize) -> String {
    let mut text = String::new();
    let struck = || outcome.faults.iter().filter_map(|fate| Some((fate.fault, fate.effect?)));
    for (fault, effect) in struck().take(most) {
        let counts = [
            (effect.unreadable, "pages unreadable"),
            (effect.parity_unreadable, "parity pages unreadable"),
            (effect.lost, "lost for good"),
            (effect.rebuilt, "rebuilt"),
            (effect.rewritten, "rewritten"),
            (effect.waiting, "still waiting to be rebuilt"),
        ];
        let some = counts.into_iter().filter(|(count, _)| *count > 0);
        let mut did: Vec<String> =
            some.map(|(count, what)| format!("{} {what}", whole(count))).collect();
        if did.is_empty() {
            did.push("took nothing".into());
        }
        let (at, place) = (seconds((effect.at - Nanos::ZERO).as_s()), outcome.drive.place());
        writeln!(text, "{:<9} {} at {at} {place}: {}", "fault", fault.what, did.join(", "))
            .expect("text grows");
    }
    let more = struck().count().saturating_sub(most);
    if more > 0 {
        let more = counted(more as u64, "more fault");
        writeln!(text, "{:<9} {more} {}", "fault", outcome.drive.place()).expect("text grows");
    }
    text
}

/// Returns the warnings beside the tables as text, a line each.
pub(crate) fn lines(warnings: &[Warning]) -> String {
    let mut text = String::new();
    for Warning { severity, text: what } in warnings {
        let word = severity.word();
        writeln!(text, "{word:<9} {what}").expect("text grows");
    }
    text
}
