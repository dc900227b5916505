//! What a run or a comparison says to a person.

use crate::numbers::{NOTHING, bytes, maybe, maybe_percent, percent, ratio, real, seconds, whole};
use crate::table::Grid;
use fowler_experiment::outcome::Outcome;
use fowler_experiment::{Band, Kind, Latencies, Part, Percentile};
use std::fmt::Write;

/// Parts below this share of a band's latency, under every scheme, are left out of the table of blame.
const BLAME_SHOWN: f64 = 0.005;

/// The whole report. The first outcome is the one that others are compared with.
pub(crate) fn report(outcomes: &[Outcome]) -> String {
    let Some(first) = outcomes.first() else { return String::new() };
    let mut text = metrics(outcomes);
    for kind in Kind::ALL {
        text.push_str(&blame(outcomes, kind));
    }
    text.push('\n');
    text.push_str(&drive_line(first));
    text.push_str(&workload_line(first));
    text.push_str(&ending_lines(outcomes));
    text
}

/// A row of the table of metrics.
enum Row {
    /// A number that is set in relation to the first scheme's.
    Ratio(Vec<Option<f64>>),
    /// Text.
    Plain(Vec<String>),
}

fn metrics(outcomes: &[Outcome]) -> String {
    let mut heads = vec![String::new()];
    heads.extend(outcomes.iter().map(|outcome| outcome.drive.scheme.clone()));
    let mut grid = Grid::new(heads);
    for kind in Kind::ALL {
        latency_rows(&mut grid, outcomes, kind);
    }
    device_rows(&mut grid, outcomes);
    grid.text()
}

fn add(grid: &mut Grid, name: &str, row: Row) {
    let mut cells = vec![name.to_string()];
    match row {
        Row::Plain(texts) => cells
            .extend(texts.into_iter().enumerate().map(|(index, text)| beside(index, text, None))),
        Row::Ratio(values) => {
            let first = values.first().copied().flatten().filter(|&first| first > 0.0);
            cells.extend(values.iter().enumerate().map(|(index, value)| {
                let ratio = value.zip(first).map(|(value, first)| ratio(value / first));
                beside(index, maybe(*value), ratio)
            }));
        }
    }
    grid.row(cells);
}

/// A cell: its text, and in every column but the first a place for the ratio, so that numbers align.
fn beside(column: usize, text: String, ratio: Option<String>) -> String {
    if column == 0 { text } else { format!("{text}  {:>6}", ratio.unwrap_or_default()) }
}

fn latency_rows(grid: &mut Grid, outcomes: &[Outcome], kind: Kind) {
    let latencies: Vec<&Latencies> =
        outcomes.iter().map(|outcome| outcome.recorder.latencies(kind)).collect();
    let counts: Vec<u64> = latencies.iter().map(|it| it.count()).collect();
    if counts.iter().all(|&count| count == 0) {
        return;
    }
    let name = kind.name();
    add(grid, &format!("{name}s"), Row::Plain(counts.into_iter().map(whole).collect()));
    let means = latencies.iter().map(|it| it.mean_us()).collect();
    add(grid, &format!("{name} mean (us)"), Row::Ratio(means));
    for percentile in Percentile::ALL {
        let values = latencies.iter().map(|it| Some(it.percentile(percentile)?.as_us())).collect();
        add(grid, &format!("{name} {} (us)", percentile.label()), Row::Ratio(values));
    }
    let most = latencies.iter().map(|it| Some(it.max()?.as_us())).collect();
    add(grid, &format!("{name} max (us)"), Row::Ratio(most));
}

fn device_rows(grid: &mut Grid, outcomes: &[Outcome]) {
    let plain =
        |texts: &dyn Fn(&Outcome) -> String| Row::Plain(outcomes.iter().map(texts).collect());
    add(
        grid,
        "write amplification",
        Row::Ratio(outcomes.iter().map(|it| it.counters.waf()).collect()),
    );
    let part = |outcome: &Outcome, account: usize| {
        let host = outcome.counters.programs[0];
        (host > 0).then(|| outcome.counters.programs[account] as f64 / host as f64)
    };
    add(grid, "  of it collection", plain(&|it| maybe(part(it, 1))));
    add(grid, "  of it wear levelling", plain(&|it| maybe(part(it, 2))));
    add(grid, "erases", plain(&|it| whole(it.counters.erases.iter().sum())));
    add(grid, "suspensions", plain(&|it| whole(it.counters.suspensions)));
    add(grid, "suspended programs, erases", plain(&|it| maybe_percent(it.suspended_share())));
    add(grid, "  their overhead", plain(&|it| maybe_percent(it.suspension_overhead())));
    add(grid, "requests per second", plain(&|it| maybe(it.iops())));
    add(grid, "idle", plain(&|it| maybe_percent(it.idle_share())));
}

/// What makes the slowest 1 % slow: the mean time of each part in a request of the band, and its share.
fn blame(outcomes: &[Outcome], kind: Kind) -> String {
    let bands: Vec<Band> =
        outcomes.iter().map(|outcome| outcome.recorder.blame(kind).slowest(0.01)).collect();
    if bands.iter().all(|band| band.count == 0) {
        return String::new();
    }
    let mut heads = vec![format!("slowest 1 % of {}s (us)", kind.name())];
    heads.extend(outcomes.iter().map(|outcome| outcome.drive.scheme.clone()));
    let mut grid = Grid::new(heads);
    let row = |name: &str, cell: &dyn Fn(&Band) -> String| {
        std::iter::once(name.to_string()).chain(bands.iter().map(cell)).collect::<Vec<_>>()
    };
    grid.row(row("requests", &|band| {
        if band.count == 0 { NOTHING.into() } else { whole(band.count) }
    }));
    grid.row(row("all at least", &|band| {
        if band.count == 0 { NOTHING.into() } else { real(band.from.as_us()) }
    }));
    for part in shown_parts(&bands) {
        grid.row(row(&words(part), &|band| match (band.mean_us(part), band.share(part)) {
            (Some(mean), Some(share)) if mean > 0.0 => {
                format!("{}  {:>7}", real(mean), percent(share))
            }
            _ => format!("{NOTHING}  {:>7}", ""),
        }));
    }
    format!("\n{}", grid.text())
}

/// The parts worth a row, the largest under the first scheme first.
fn shown_parts(bands: &[Band]) -> Vec<Part> {
    let worth = |part: &Part| {
        bands.iter().any(|band| band.share(*part).is_some_and(|share| share >= BLAME_SHOWN))
    };
    let mut parts: Vec<Part> = bands.first().map(Band::ranked).unwrap_or_default();
    parts.extend(Part::ALL.into_iter().filter(|part| !parts.contains(part)).collect::<Vec<_>>());
    parts.retain(worth);
    parts
}

/// A part's name in words.
fn words(part: Part) -> String {
    part.name()
        .replace("_gc_", "_collection_")
        .replace("_wear_", "_wear-levelling_")
        .replace('_', " ")
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

fn workload_line(outcome: &Outcome) -> String {
    let report = &outcome.workload;
    let mut facts = vec![format!("{} requests", whole(report.requests))];
    if let Some(read) = &report.read {
        facts.insert(0, format!("format {}", read.format));
        let skipped: u64 = read.skipped.values().map(|skipped| skipped.count).sum();
        for (count, what) in [
            (read.reordered, "put in order of time"),
            (skipped, "bad lines skipped"),
            (read.other_devices, "requests of other devices left out"),
        ] {
            if count > 0 {
                facts.push(format!("{} {what}", whole(count)));
            }
        }
    }
    if let Some(remap) = report.remap {
        let touched = report
            .touched_pages
            .map_or(String::new(), |pages| format!(" ({} pages)", whole(pages)));
        facts.push(format!("remap {}{touched}", remap.name()));
    }
    if report.speed != 1.0 {
        facts.push(format!("{} times as fast as recorded", real(report.speed)));
    }
    if let fowler_experiment::Pacing::Closed { depth } = outcome.pacing {
        facts.push(format!("{depth} outstanding"));
    }
    let unwritten = outcome.counters.unwritten_reads;
    facts.push(format!("{} reads of never-written pages", whole(unwritten)));
    facts.push(format!("{} simulated", seconds(outcome.simulated.as_s())));
    format!("workload  {}: {}\n", report.name, facts.join("; "))
}

/// What cut a run short, so that nobody takes a part for the whole.
fn ending_lines(outcomes: &[Outcome]) -> String {
    use fowler_experiment::outcome::Ending;
    let mut text = String::new();
    for outcome in outcomes {
        let why = match outcome.ending {
            Ending::Complete => continue,
            Ending::Stopped => "stopped by the user",
            Ending::Failed(_) => "the workload is wrong from there on",
        };
        let scheme = &outcome.drive.scheme;
        let requests = whole(outcome.workload.requests);
        writeln!(text, "interrupted after {requests} requests under {scheme}: {why}")
            .expect("text grows");
    }
    text
}
