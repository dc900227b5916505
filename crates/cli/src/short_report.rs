//! The short report of a run or a comparison: the verdict, a chart of latencies, the numbers that
//! matter, what to be careful with, and where the rest is. `--full` prints [`crate::report`].

use crate::chart::{self, Curve};
use crate::console::{self, labelled};
use crate::report::{self, LABEL};
use crate::table::Grid;
use fowler_experiment::numbers::{NOTHING, maybe, percent, real, whole, words};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::seeds::Spread;
use fowler_experiment::summary::layout::rows;
use fowler_experiment::warnings::warnings;
use fowler_experiment::{Band, Kind, Part, Percentile};
use fowler_report::verdict::{self, Finding};

/// The latency percentiles in the table of a short report.
const PERCENTILES: [Percentile; 4] =
    [Percentile::P50, Percentile::P95, Percentile::P99, Percentile::P999];
/// Mark before a percentile with few requests beyond it.
const ROUGH: &str = "~";
/// Metrics of the drive in a short report: the key of each metric, and its name in the report.
const OF_THE_DRIVE: [(&str, &str); 6] = [
    ("idle_share", "idle"),
    ("waf", "write amplification"),
    ("erases", "erases"),
    ("counters.uncorrectable_reads", "uncorrectable flash reads"),
    ("census.lost", "pages lost at the end"),
    ("failed_dies.failed", "dies failed for good"),
];
/// The metrics of lost data and failed dies, which a short report shows only where they are above
/// zero.
const LOST: [&str; 3] = ["counters.uncorrectable_reads", "census.lost", "failed_dies.failed"];
/// The metrics whose intervals over several seeds a short report shows.
const INTERVALS: [&str; 7] = [
    "read.mean_us",
    "read.p99_us",
    "read.p999_us",
    "write.mean_us",
    "write.p99_us",
    "write.p999_us",
    "waf",
];
/// Number of causes of the slowest 1 % of requests that the table of a short report shows.
const CAUSES: usize = 3;
/// Largest number of injected faults that the short report on a run lists; further ones are only
/// counted.
const FAULTS: usize = 5;

/// Returns the short report on these runs; the first is the one that others are compared with.
/// `explains` is the command that says more about the first run.
pub(crate) fn report(outcomes: &[Outcome], spread: Option<&Spread>, explains: &str) -> String {
    let text = match outcomes {
        [] => return String::new(),
        [run] => of_run(run),
        several => of_several(several, spread),
    };
    let careful: String = match outcomes {
        [run] => lines_of("note", careful(&verdict::of(std::slice::from_ref(run), spread))),
        _ => String::new(),
    };
    let faults: String = outcomes.iter().map(|it| report::fault_lines(it, FAULTS)).collect();
    let warned = report::lines(&warnings(outcomes));
    let said = careful + &console::fitted(&(asked_for(outcomes) + &faults + &warned), LABEL);
    let space = if said.is_empty() { "" } else { "\n" };
    let more = "--full prints every number, --out DIR writes them with a page of charts; why the \
                slowest requests were slow:";
    let more = format!(
        "\n{}{}",
        labelled("more", LABEL, more),
        console::labelled_command("", LABEL, explains)
    );
    emphasized(&text) + space + &said + &more
}

/// Returns the lines about the input that the opening sentences of a short report leave out: for a
/// trace, how it was read; for a comparison, the drives and the workload; and the search for a
/// replay speed.
fn asked_for(outcomes: &[Outcome]) -> String {
    let Some(first) = outcomes.first() else { return String::new() };
    let mut text = String::new();
    if outcomes.len() > 1 {
        text += &report::drive_lines(outcomes);
    }
    if outcomes.len() > 1 || first.workload.read.is_some() {
        text += &report::workload_line(first);
    }
    text + &report::search_line(first)
}

/// Returns the text with its first sentence in bold, where standard output may be emphasized.
fn emphasized(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    format!("{}\n{rest}", console::strong(first))
}

/// Returns the short report on one run: sentences that sum it up, its chart, and a table with a
/// column for reads and one for writes.
fn of_run(run: &Outcome) -> String {
    let mut text = String::new();
    for sentence in verdict::headline(run) {
        text += &labelled("", 0, &sentence);
    }
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|&it| count(run, it) > 0).collect();
    let curve =
        |&kind: &Kind| Curve { name: plural(kind), latencies: run.recorder.latencies(kind) };
    let curves: Vec<Curve<'_>> = kinds.iter().map(curve).collect();
    for part in [chart::draw(&curves, console::width()), numbers(run, &kinds)] {
        if !part.is_empty() {
            text += &format!("\n{part}");
        }
    }
    text
}

/// Returns the table of a run's metrics: a column for each kind of request.
fn numbers(run: &Outcome, kinds: &[Kind]) -> String {
    if kinds.is_empty() {
        return String::new();
    }
    let heads = std::iter::once("").chain(kinds.iter().map(|&it| plural(it)));
    let mut grid = Grid::new(heads.map(String::from).collect());
    let mut row = |label: &str, cell: &dyn Fn(Kind) -> String| {
        let cells = kinds.iter().map(|&kind| cell(kind));
        grid.row(std::iter::once(label.to_string()).chain(cells).collect());
    };
    let latencies = |kind| run.recorder.latencies(kind);
    row("requests", &|kind| whole(count(run, kind)));
    let seconds = run.simulated.as_s();
    if seconds > 0.0 {
        row("per second", &|kind| real(count(run, kind) as f64 / seconds));
    }
    row("mean (us)", &|kind| maybe(latencies(kind).mean_us()));
    let mut is_rough = false;
    for percentile in PERCENTILES {
        let of = |kind| latencies(kind).percentile(percentile).map(|it| it.as_us());
        let rough = |kind| of(kind).is_some() && is_beyond(count(run, kind), percentile);
        is_rough |= kinds.iter().any(|&kind| rough(kind));
        row(&format!("{} (us)", percentile.label()), &|kind| {
            format!("{}{}", if rough(kind) { ROUGH } else { "" }, maybe(of(kind)))
        });
    }
    row("max (us)", &|kind| maybe(latencies(kind).max().map(|it| it.as_us())));
    let mut text = grid.text();
    if is_rough {
        let rough = format!(
            "rough: fewer than {} requests are slower than this percentile",
            verdict::BEYOND
        );
        text += &labelled(ROUGH, LABEL, &rough);
    }
    for &kind in kinds {
        let band = run.recorder.blame(kind).slowest(verdict::TAIL);
        let causes: Vec<String> =
            causes(&[band]).into_iter().filter_map(|part| cause(&band, part)).collect();
        let slowest = format!("slowest 1 %: {}", causes.join(", "));
        text += &labelled(plural(kind), LABEL, &slowest);
    }
    let all = rows(std::slice::from_ref(run));
    let facts: Vec<String> = OF_THE_DRIVE
        .into_iter()
        .filter_map(|(path, name)| {
            let row = all.iter().find(|row| row.path == path)?;
            let value = row.value(run);
            let is_lost = LOST.contains(&path) && value.as_f64() == Some(0.0);
            (!value.is_null() && !is_lost)
                .then(|| format!("{name} {}", report::shown(&value, row.unit())))
        })
        .collect();
    text + &labelled("drive", LABEL, &facts.join("; "))
}

/// Returns a cause of the slowest requests in words, with its share of their time.
fn cause(band: &Band, part: Part) -> Option<String> {
    Some(format!("{} {}", words(part), percent(band.share(part)?)))
}

/// Returns the short report on several runs: the findings, and a table with a column for each.
fn of_several(outcomes: &[Outcome], spread: Option<&Spread>) -> String {
    let mut text = String::new();
    for finding in shown(verdict::of(outcomes, spread)) {
        text += &labelled("verdict", LABEL, &finding.sentences());
    }
    let mut grid = report::runs_beside(outcomes, "");
    for row in rows(outcomes).into_iter().filter(|row| matters(&row.path)) {
        if outcomes.iter().any(|outcome| !row.value(outcome).is_null()) {
            grid.row(report::cells(&row, outcomes));
        }
    }
    for kind in Kind::ALL {
        let bands: Vec<Band> =
            outcomes.iter().map(|it| it.recorder.blame(kind).slowest(verdict::TAIL)).collect();
        let parts = causes(&bands);
        if !parts.is_empty() {
            let head = format!("slowest 1 % of {}", plural(kind));
            grid.row(std::iter::once(head).chain(bands.iter().map(|_| String::new())).collect());
        }
        for part in parts {
            let share = |(place, band): (usize, &Band)| {
                let share = band.share(part).filter(|&share| share > 0.0);
                report::beside(place, share.map_or_else(|| NOTHING.into(), percent), None)
            };
            let cells = bands.iter().enumerate().map(share);
            grid.row(std::iter::once(format!("  {}", words(part))).chain(cells).collect());
        }
    }
    text += &format!("\n{}", grid.text());
    if let Some(spread) = spread.filter(|it| !it.is_nothing()) {
        text += &report::over_seeds(outcomes, spread, |path| INTERVALS.contains(&path));
    }
    text
}

/// Returns true if a metric has a row in the table of a short report.
fn matters(path: &str) -> bool {
    let of_kind = |kind: Kind| {
        let Some(metric) = path.strip_prefix(kind.name()).and_then(|it| it.strip_prefix('.'))
        else {
            return false;
        };
        let percentile = |it: Percentile| metric.strip_suffix("_us") == Some(it.name());
        ["count", "mean_us", "max_us"].contains(&metric) || PERCENTILES.into_iter().any(percentile)
    };
    OF_THE_DRIVE.iter().any(|(listed, _)| *listed == path) || Kind::ALL.into_iter().any(of_kind)
}

/// Returns the causes of latency that have a row in the table of a short report: the largest ones
/// in the first run, and the largest one in each other run.
fn causes(bands: &[Band]) -> Vec<Part> {
    let known = |band: &Band, part: Part| band.share(part).is_some_and(|share| share > 0.0);
    let of = |band: &Band, most: usize| -> Vec<Part> {
        band.ranked().into_iter().filter(|&part| known(band, part)).take(most).collect()
    };
    let Some((first, others)) = bands.split_first() else { return Vec::new() };
    let mut parts = of(first, CAUSES);
    for part in others.iter().flat_map(|band| of(band, 1)) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// Returns the findings on a run (sentences that warn the reader about its numbers), without those
/// on percentiles that the short report does not show.
fn shown(findings: Vec<Finding>) -> Vec<Finding> {
    let is_shown = |it: &Finding| {
        it.rough_percentiles().is_none_or(|count| is_beyond(count, Percentile::P999))
    };
    findings.into_iter().filter(is_shown).collect()
}

/// Returns true if fewer than 100 of `count` requests are slower than a percentile of their
/// latencies.
fn is_beyond(count: u64, percentile: Percentile) -> bool {
    count / percentile.one_in() < verdict::BEYOND
}

/// Returns the sentences of the short report that warn the reader about a single run. Sentences on
/// the slowest requests and on percentiles of too few requests are left out: the report's headline
/// and its table of latencies show them.
fn careful(findings: &[Finding]) -> Vec<String> {
    let said = findings.iter().filter(|it| !it.is_tail() && it.rough_percentiles().is_none());
    said.map(Finding::sentences).collect()
}

fn lines_of(label: &str, sentences: Vec<String>) -> String {
    sentences.iter().map(|it| labelled(label, LABEL, it)).collect()
}

fn count(run: &Outcome, kind: Kind) -> u64 {
    run.recorder.latencies(kind).count()
}

fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "reads",
        Kind::Write => "writes",
    }
}
