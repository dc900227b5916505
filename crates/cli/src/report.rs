//! What a run or a comparison says to a person.

use crate::numbers::{
    NOTHING, bytes, counted, counted_as, maybe, maybe_percent, percent, ratio, real, seconds,
    whole, words,
};
use crate::table::Grid;
use fowler_experiment::notes::{Note, alike, interruptions, notes};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::{Band, Kind, Latencies, Part, Percentile};
use std::collections::BTreeSet;
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
    text.push_str(&search_line(first));
    text.push_str(&lines(&notes(outcomes)));
    text
}

/// Why requests were slow, and of which run they are.
pub(crate) fn explanations(outcome: &Outcome, texts: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for paragraph in texts {
        text.push_str(&paragraph);
        text.push('\n');
    }
    text.push_str(&drive_line(outcome));
    text.push_str(&workload_line(outcome));
    text.push_str(&search_line(outcome));
    text.push_str(&lines(&interruptions(std::slice::from_ref(outcome))));
    text
}

/// A row of the table of metrics.
enum Row {
    /// A number that is set in relation to the first scheme's, where both are known and of the same
    /// requests.
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

fn add(grid: &mut Grid, outcomes: &[Outcome], name: &str, row: Row) {
    let mut cells = vec![name.to_string()];
    match row {
        Row::Plain(texts) => cells
            .extend(texts.into_iter().enumerate().map(|(index, text)| beside(index, text, None))),
        Row::Ratio(values) => {
            let first = values.first().copied().flatten().filter(|&first| first > 0.0);
            cells.extend(values.iter().enumerate().map(|(index, value)| {
                let first = first.filter(|_| alike(&outcomes[0], &outcomes[index]));
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
    add(grid, outcomes, &format!("{name}s"), Row::Plain(counts.into_iter().map(whole).collect()));
    let means = latencies.iter().map(|it| it.mean_us()).collect();
    add(grid, outcomes, &format!("{name} mean (us)"), Row::Ratio(means));
    for percentile in Percentile::ALL {
        let values = latencies.iter().map(|it| Some(it.percentile(percentile)?.as_us())).collect();
        add(grid, outcomes, &format!("{name} {} (us)", percentile.label()), Row::Ratio(values));
    }
    let most = latencies.iter().map(|it| Some(it.max()?.as_us())).collect();
    add(grid, outcomes, &format!("{name} max (us)"), Row::Ratio(most));
}

fn device_rows(grid: &mut Grid, outcomes: &[Outcome]) {
    let plain =
        |texts: &dyn Fn(&Outcome) -> String| Row::Plain(outcomes.iter().map(texts).collect());
    let waf = outcomes.iter().map(|it| it.counters.waf()).collect();
    add(grid, outcomes, "write amplification (pages)", Row::Ratio(waf));
    let part = |outcome: &Outcome, account: usize| {
        let host = outcome.counters.programs[0];
        (host > 0).then(|| outcome.counters.programs[account] as f64 / host as f64)
    };
    add(grid, outcomes, "  of it collection", plain(&|it| maybe(part(it, 1))));
    add(grid, outcomes, "  of it wear levelling", plain(&|it| maybe(part(it, 2))));
    for (account, name) in [(3, "  of it refreshing"), (4, "  of it parity")] {
        if outcomes.iter().any(|it| it.counters.programs[account] > 0) {
            add(grid, outcomes, name, plain(&|it| maybe(part(it, account))));
        }
    }
    let in_bytes = outcomes.iter().map(Outcome::flash_bytes_per_host_byte).collect();
    add(grid, outcomes, "flash bytes per host byte", Row::Ratio(in_bytes));
    add(grid, outcomes, "reads for partial writes", plain(&|it| whole(it.counters.merge_reads)));
    if outcomes.iter().any(|it| it.wearing_weight().is_some_and(|weight| weight != 1.0)) {
        wearing_rows(grid, outcomes);
    }
    add(grid, outcomes, "erases", plain(&|it| whole(it.counters.erases.iter().sum())));
    add(grid, outcomes, "suspensions", plain(&|it| whole(it.counters.suspensions)));
    add(
        grid,
        outcomes,
        "suspended programs, erases",
        plain(&|it| maybe_percent(it.suspended_share())),
    );
    add(
        grid,
        outcomes,
        "  extra time, of their undisturbed time",
        plain(&|it| maybe_percent(it.suspension_overhead())),
    );
    cell_rows(grid, outcomes);
    add(grid, outcomes, "requests per simulated second", plain(&|it| maybe(it.iops())));
    add(grid, outcomes, "idle", plain(&|it| maybe_percent(it.idle_share())));
}

/// What reads took where cells err, and what went before others.
fn cell_rows(grid: &mut Grid, outcomes: &[Outcome]) {
    let reads: Vec<_> = outcomes.iter().map(Outcome::reads_at).collect();
    let levels: BTreeSet<u32> = reads.iter().flatten().flatten().map(|&(level, _)| level).collect();
    for (index, &level) in levels.iter().enumerate() {
        let share = |reads: &Vec<(u32, u64)>| {
            let all: u64 = reads.iter().map(|&(_, count)| count).sum();
            let (_, count) = reads.iter().find(|(its, _)| *its == level)?;
            (all > 0).then(|| *count as f64 / all as f64)
        };
        let shares = reads.iter().map(|reads| maybe_percent(reads.as_ref().and_then(share)));
        let name = match index {
            0 => format!("flash reads with {level} references"),
            _ => format!("  with {level}"),
        };
        add(grid, outcomes, &name, Row::Plain(shares.collect()));
    }
    let plain =
        |texts: &dyn Fn(&Outcome) -> String| Row::Plain(outcomes.iter().map(texts).collect());
    if !levels.is_empty() {
        add(
            grid,
            outcomes,
            "  repeated at the next level",
            plain(&|it| whole(it.counters.retries_at.iter().sum())),
        );
        add(grid, outcomes, "  uncorrectable", plain(&|it| whole(it.counters.uncorrectable)));
    }
    for (kind, name) in Kind::ALL.into_iter().zip(["reads", "writes"]) {
        let shares = outcomes.iter().map(|it| it.prioritised_share(kind));
        if shares.clone().any(|share| share.is_some_and(|share| share > 0.0)) {
            let texts = shares.map(maybe_percent).collect();
            add(
                grid,
                outcomes,
                &format!("{name} before others that waited longer"),
                Row::Plain(texts),
            );
        }
    }
}

/// Where voltages are not all nominal: what programs wear on average, and how they were made.
fn wearing_rows(grid: &mut Grid, outcomes: &[Outcome]) {
    let weights = outcomes.iter().map(Outcome::wearing_weight).collect();
    add(grid, outcomes, "wearing weight of a program", Row::Ratio(weights));
    for (voltage, name) in ["  boosted", "  nominal", "  reduced"].into_iter().enumerate() {
        let programs = |outcome: &Outcome| {
            outcome.programs_at().map_or(NOTHING.into(), |programs| whole(programs[voltage]))
        };
        add(grid, outcomes, name, Row::Plain(outcomes.iter().map(programs).collect()));
    }
    let anew = |outcome: &Outcome| whole(outcome.counters.rewritten[0]);
    if outcomes.iter().any(|outcome| outcome.counters.rewritten[0] > 0) {
        let anew = outcomes.iter().map(anew).collect();
        add(grid, outcomes, "pages programmed anew for their reads", Row::Plain(anew));
    }
}

/// What makes the slowest 1 % slow: the mean time of each part in a request of the band, and its share.
/// Parts and "other" add up to the mean latency.
fn blame(outcomes: &[Outcome], kind: Kind) -> String {
    let bands: Vec<Band> =
        outcomes.iter().map(|outcome| outcome.recorder.blame(kind).slowest(0.01)).collect();
    if bands.iter().all(|band| band.count == 0) {
        return String::new();
    }
    let mut heads = vec![format!("slowest 1 % of {}s (us)", kind.name())];
    heads.extend(outcomes.iter().map(|outcome| outcome.drive.scheme.clone()));
    let mut grid = Grid::new(heads);
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

/// The mean time of these parts in a request of the band, and their share.
fn sum_of(band: &Band, parts: &[Part]) -> (String, String) {
    let mean: f64 = parts.iter().filter_map(|&part| band.mean_us(part)).sum();
    let share: f64 = parts.iter().filter_map(|&part| band.share(part)).sum();
    if mean > 0.0 { (real(mean), percent(share)) } else { (NOTHING.into(), String::new()) }
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

/// How the speed was found, if it was searched for.
fn search_line(first: &Outcome) -> String {
    let Some(search) = first.search else { return String::new() };
    format!(
        "idle      {} wanted, {} reached under {} at {} times the speed, found in {}\n",
        percent(search.target),
        percent(search.reached),
        first.drive.scheme,
        real(first.workload.speed),
        counted(search.runs as u64, "run"),
    )
}

/// What is to be said beside the tables, a line each.
fn lines(notes: &[Note]) -> String {
    let mut text = String::new();
    for Note { weight, text: what } in notes {
        let word = weight.word();
        writeln!(text, "{word:<9} {what}").expect("text grows");
    }
    text
}
