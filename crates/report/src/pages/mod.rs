//! Report pages: self-contained HTML files that open offline and print well.
//! See docs/decisions/reports.md, "Which library draws the charts of a report page?".
//! See docs/decisions/reports.md, "Which template engine renders the report page?".
//!
//! A page is a template filled with tables and with charts as data. Its script draws the charts
//! with Apache ECharts, which is embedded (`vendor/`, with its license). Equal results give equal
//! bytes: nothing on a page depends on the machine or its clock.
//!
//! The room reads outcomes, the layout of metrics, the verdict and the warnings. It renders the
//! page of runs and the page of a study, and writes no other file.

mod address_charts;
pub mod chart;
mod density;
mod latency;
mod overlay;
mod phases;
mod seed_intervals;
mod tables;
mod texts;
mod tiles;
mod time_series;
mod visible_text;

use crate::passage::Passage;
use crate::verdict::{self, Finding};
use address_charts::ByAddress;
use askama::Template;
use fowler_device::blame::Part;
use fowler_device::{Op, Source};
use fowler_experiment::atomic_file::{AtomicFile, unwritable};
use fowler_experiment::device_spec::{Axis, Resolved};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::numbers::{bytes, counted};
use fowler_experiment::outcome::{Ending, Outcome};
use fowler_experiment::provenance::VERSION;
use fowler_experiment::seeds::Spread;
use fowler_experiment::tables::Sheet;
use fowler_experiment::warnings::{Severity, Warning, warnings};
use fowler_figures::{Axis as Scale, Figure, Panel, Series, Shape};
use fowler_metrics::Kind;
pub use latency::at_least;
pub use overlay::of_two;
use std::io::Write;
use std::path::Path;
use texts::Text;
use tiles::Tile;
use time_series::AllTimeSeries;
pub(crate) use visible_text::Visible;

/// Most rows of a table that an HTML page prints; charts show longer ones.
const PRINTED: usize = 40;

/// File name of the HTML report in a folder of results.
pub const REPORT: &str = "report.html";

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: String,
    /// Introduction at the head of the page, in a line or two.
    lead: Vec<String>,
    passages: &'a [Passage],
    /// The most important metrics of the runs, shown as tiles (boxes with one number each) on the
    /// HTML page of the results.
    verdict: Vec<String>,
    /// Warnings and notes at the top of the HTML report page.
    remarks: Vec<Remark>,
    sections: Vec<Section>,
    /// The most important metrics of the runs, shown as tiles.
    tiles: Vec<Tile>,
    /// Table of the differences between named texts on the page, such as configurations.
    differences: Option<Sheet>,
    texts: Vec<Text>,
    /// Largest number of rows with which a table of the results is printed on the HTML page.
    printed: usize,
    version: &'a str,
    hues: String,
    style: &'a str,
    charting: &'a str,
    sorting: &'a str,
    /// Parts of the report page's JavaScript, in the order in which the page includes them.
    scripts: [&'a str; 5],
}

/// A warning or note at the top of a page.
struct Remark {
    /// True for a warning, false for a note.
    grave: bool,
    text: String,
}

/// A section of a page: a heading, with charts, pictures and tables under it.
pub struct Section {
    /// Heading of this section of an HTML report page.
    pub title: &'static str,
    /// Tables in this section of an HTML report page, below the charts.
    pub sheets: Vec<Sheet>,
    /// Charts in this section of an HTML report page, which the page's script draws in the browser.
    pub charts: Vec<Figure>,
    /// Pictures in this section of an HTML report page, drawn beforehand as SVG.
    pub drawings: Vec<Drawing>,
}

/// A picture that has already been drawn.
pub struct Drawing {
    /// File name of the picture in the folder of results, without the extension.
    pub name: String,
    /// Text of the picture as SVG, with the picture's title inside.
    pub svg: String,
}

impl Section {
    fn new(title: &'static str, sheets: Vec<Sheet>, charts: Vec<Figure>) -> Section {
        Section { title, sheets, charts, drawings: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.sheets.is_empty() && self.charts.is_empty() && self.drawings.is_empty()
    }
}

/// Renders the HTML page of a run, or of several under different schemes or on different drives,
/// with their spread over several seeds. `passages`, titled sentences, stand at its head.
pub fn of_runs(outcomes: &[Outcome], spread: Option<&Spread>, passages: &[Passage]) -> String {
    if outcomes.is_empty() {
        return String::new();
    }
    let time_series = AllTimeSeries::of(outcomes);
    let mut over_time = time_series.charts();
    let mut take = |id: &str| {
        over_time.iter().position(|chart| chart.id == id).map(|index| over_time.remove(index))
    };
    let (map, suspensions) = (take("wear-map"), take("suspensions-over-time"));
    let both = |of: fn(&[Outcome], Kind) -> Option<Figure>| {
        Kind::ALL.into_iter().filter_map(|kind| of(outcomes, kind)).collect::<Vec<_>>()
    };
    let labels: Vec<&str> = outcomes.iter().map(|it| it.drive.label()).collect();
    let mut latencies = both(latency::distribution);
    latencies.extend(latency::of_streams(outcomes));
    latencies.extend(time_series.distributions());
    let of_seeds = |spread| Kind::ALL.map(|kind| seed_intervals::chart(&labels, spread, kind));
    latencies.extend(spread.into_iter().flat_map(of_seeds).flatten());
    let mut writing: Vec<Figure> = amplification(outcomes).into_iter().collect();
    writing.extend(map);
    let mut sections = vec![
        Section::new(
            "Latency",
            std::iter::once(tables::latency(outcomes)).chain(tables::streams(outcomes)).collect(),
            latencies,
        ),
        Section::new("Causes", vec![tables::blame(outcomes)], both(latency::blame)),
        Section::new("Over time", Vec::new(), over_time),
        Section::new("By address", Vec::new(), ByAddress::of(outcomes).charts()),
        Section::new("Writing and wear", tables::writing(outcomes), writing),
        Section::new(
            "Suspensions",
            tables::suspensions(outcomes).into_iter().collect(),
            suspensions.into_iter().collect(),
        ),
    ];
    sections.push(Section::new(
        "Faults",
        tables::faults(outcomes).into_iter().collect(),
        Vec::new(),
    ));
    let facts = vec![tables::provenance(outcomes), tables::laws(outcomes)];
    sections.push(Section::new("Provenance and checks", facts, Vec::new()));
    sections.retain(|section| !section.is_empty());
    fill(Page {
        title: title(outcomes),
        lead: lead(outcomes, &labels),
        passages,
        verdict: verdict::of(outcomes, spread).iter().map(Finding::sentences).collect(),
        remarks: remarks(outcomes),
        sections,
        tiles: tiles::of(outcomes, spread),
        differences: tables::differences(outcomes),
        texts: texts::of(outcomes),
        printed: PRINTED,
        ..Page::blank()
    })
}

/// Returns the title of an HTML page about runs.
fn title(outcomes: &[Outcome]) -> String {
    let first = &outcomes[0];
    match first.drive.axis() {
        Axis::Schemes => format!("{} under {}", first.drive.device, first.workload.name),
        Axis::Devices => format!("{} drives under {}", outcomes.len(), first.workload.name),
    }
}

/// Returns lines for the head of an HTML page about runs: schemes or drives, number of requests,
/// and preconditioning.
fn lead(outcomes: &[Outcome], labels: &[&str]) -> Vec<String> {
    let first = &outcomes[0];
    let requests = counted(first.workload.requests, "request");
    match first.drive.axis() {
        Axis::Schemes => vec![
            format!("Schemes: {}.", labels.join(", ")),
            format!("{requests}; {}.", first.precondition),
        ],
        Axis::Devices => {
            let drive = |it: &Outcome| {
                let capacity = bytes(it.drive.layout.logical.0);
                format!("{}: {capacity}; {}.", it.drive.label(), it.precondition)
            };
            let head = format!("Scheme: {}; {requests}.", first.drive.scheme);
            std::iter::once(head).chain(outcomes.iter().map(drive)).collect()
        }
    }
}

/// Renders the HTML page of a study of a paper: its pictures and all tables.
pub fn of_study(
    title: &str,
    lead: Vec<String>,
    sheets: &[Sheet],
    drawings: Vec<Drawing>,
) -> String {
    let pictures = Section { drawings, ..Section::new("Pictures", Vec::new(), Vec::new()) };
    let tables = Section::new("Tables", sheets.to_vec(), Vec::new());
    let mut sections = vec![pictures, tables];
    sections.retain(|section| !section.is_empty());
    fill(Page { title: title.into(), lead, sections, ..Page::blank() })
}

/// Renders an HTML page of sections: a line or two on its subject, the conclusions from the
/// numbers, warnings, and the sections; the drive's configuration is a text at its end.
pub fn of_sections(
    title: &str,
    [lead, verdict, warnings]: [Vec<String>; 3],
    mut sections: Vec<Section>,
    drive: &Resolved,
) -> String {
    sections.retain(|section| !section.is_empty());
    fill(Page {
        title: title.into(),
        lead,
        verdict,
        remarks: warnings.into_iter().map(|text| Remark { grave: true, text }).collect(),
        sections,
        texts: vec![texts::of_drive(drive)],
        printed: PRINTED,
        ..Page::blank()
    })
}

impl Page<'_> {
    /// Returns true if the page has charts and so needs the charting library.
    fn has_charts(&self) -> bool {
        self.sections.iter().any(|section| !section.charts.is_empty())
    }

    fn blank() -> Page<'static> {
        Page {
            title: String::new(),
            lead: Vec::new(),
            passages: &[],
            verdict: Vec::new(),
            remarks: Vec::new(),
            sections: Vec::new(),
            tiles: Vec::new(),
            differences: None,
            texts: Vec::new(),
            printed: usize::MAX,
            version: VERSION,
            hues: chart::hues(),
            style: include_str!("../../templates/report.css"),
            charting: include_str!("../../vendor/echarts.js"),
            sorting: include_str!("../../vendor/sortable.js"),
            scripts: [
                include_str!("../../templates/ink.js"),
                include_str!("../../templates/numbers.js"),
                include_str!("../../templates/options.js"),
                include_str!("../../templates/chart.js"),
                include_str!("../../templates/report.js"),
            ],
        }
    }
}

fn fill(page: Page<'_>) -> String {
    page.render().expect("writing to a string does not fail")
}

/// Returns the warnings and notes that the HTML page of the results shows about the runs
/// `outcomes`.
fn remarks(outcomes: &[Outcome]) -> Vec<Remark> {
    let mut texts: Vec<Remark> = Vec::new();
    for Warning { severity, text } in warnings(outcomes) {
        let text = match severity {
            Severity::Interrupted => {
                format!("Interrupted {text}. This page shows the part of the run until then.")
            }
            Severity::Warning => format!("Warning: {text}."),
            Severity::Remark => format!("Note: {text}."),
        };
        texts.push(Remark { grave: severity != Severity::Remark, text });
    }
    // An error of the workload occurs in every run.
    let mut wrong: Vec<String> = Vec::new();
    for outcome in outcomes {
        if let Ending::Failed(diagnostics) = &outcome.ending {
            wrong.push(diagnostics.to_string());
        }
    }
    wrong.dedup();
    let reported = wrong.into_iter().map(|text| Remark { grave: true, text });
    let interrupted = outcomes.iter().filter(|it| it.ending != Ending::Complete).count();
    texts.splice(interrupted..interrupted, reported);
    texts
}

/// Returns the chart of write amplification: pages programmed per page of the host, by source.
fn amplification(outcomes: &[Outcome]) -> Option<Figure> {
    let known: Vec<&Outcome> =
        outcomes.iter().filter(|it| it.counters.programs[Source::Host] > 0).collect();
    let part = |source: Source| {
        let of = |outcome: &&Outcome| {
            let programs = &outcome.counters.programs;
            Some(chart::coarse(programs[source] as f64 / programs[Source::Host] as f64))
        };
        // Programming for a source looks like waiting for such a program.
        let part = Part::behind(Op::Program, source);
        Series::values(source.name(), known.iter().map(of)).of_cause(part.name())
    };
    let mut series: Vec<Series> = Source::ALL.into_iter().map(part).collect();
    series.retain(|series| series.y.iter().flatten().any(|&value| value > 0.0));
    (!known.is_empty()).then(|| {
        Figure::new(
            "write-amplification",
            "Write amplification and its parts",
            [Panel {
                rows: known.iter().map(|it| it.drive.label().into()).collect(),
                ..Panel::view("", Scale::linear("pages programmed per host page"), series)
            }],
        )
        .caption("Pages programmed per page programmed for the host, by source.")
        .views(Shape::Bars, Scale::linear(known[0].drive.axis().noun()))
    })
}

/// Writes an HTML page; the file appears when it is complete.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, page: &str) -> Result<(), Diagnostics> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(page.as_bytes()).map_err(|error| unwritable(path, &error))?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_device::{BySource, Source as Flashed};
    use fowler_experiment::device_spec::{DeviceSpec, Source};
    use fowler_experiment::provenance::file_hash;
    use fowler_experiment::run::{ReplaySpeed, Run, RunSpec};
    use fowler_experiment::workload::{Control, WorkloadSpec};

    /// The libraries embedded in pages are those built from the named packages, and cannot end a
    /// script element.
    #[test]
    fn what_pages_carry_is_what_was_vendored() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendor");
        let mut files = 0;
        for line in include_str!("../../vendor/SHA256SUMS").lines() {
            let (hash, name) = line.split_once("  ").unwrap();
            assert_eq!(file_hash(&folder.join(name)).unwrap(), hash, "{name}");
            files += 1;
        }
        assert_eq!(files, 2);
        let page = Page::blank();
        for script in [page.charting, page.sorting].into_iter().chain(page.scripts) {
            assert!(!script.to_lowercase().contains("</script"));
        }
        assert!(!page.style.to_lowercase().contains("</style"));
    }

    #[test]
    fn a_name_cannot_become_part_of_the_page() {
        let evil = "</script><script>alert('x')</script>";
        let panel = Panel::view(evil, Scale::linear("y"), [Series::line(evil, [(1.0, None)])]);
        let chart = Figure::new("c", evil, vec![panel])
            .caption(evil)
            .views(Shape::Lines, Scale::log10("x"));
        let mut sheet = Sheet::new("s", evil, &[evil]);
        sheet.row(vec![evil.into()]);
        let (file, delta) = (String::from(evil), String::from(evil));
        let others = vec![texts::Other { file, delta }];
        let text = Text { title: evil.into(), file: evil.into(), text: evil.into(), others };
        let page = fill(Page {
            title: evil.into(),
            lead: vec![evil.into()],
            passages: &[Passage {
                title: evil.into(),
                paragraphs: vec![(evil.into(), evil.into())],
            }],
            verdict: vec![evil.into()],
            remarks: vec![Remark { grave: true, text: evil.into() }],
            sections: vec![Section::new("x", vec![sheet], vec![chart])],
            texts: vec![text],
            ..Page::blank()
        });
        assert!(!page.contains("alert('x')</script>"));
        assert_eq!(page.matches("<script").count(), 4, "data, charting, sorting, drawing");
    }

    /// The chart, the time series and the table count the same pages, for all sources.
    #[test]
    fn what_is_drawn_of_write_amplification_is_all_of_it() {
        let set = [
            "geometry.chips_per_channel=1",
            "geometry.blocks_per_plane=40",
            "geometry.pages_per_block=16",
            "geometry.over_provisioning=0.45",
            "buffer.size=512KiB",
        ];
        let text =
            "requests = 4000\narrivals = { kind = 'poisson', rate = 2000 }\nmix.reads = 0.2\n";
        let spec = RunSpec {
            device: DeviceSpec {
                device: "together".into(),
                set: set.iter().map(ToString::to_string).collect(),
                ..DeviceSpec::default()
            },
            scheme: Some("raid5".into()),
            workload: WorkloadSpec::Generated(Source { name: "w".into(), text: text.into() }),
            replay_speed: ReplaySpeed::AsRecorded,
            limit: None,
            requests: None,
            faults: Vec::new(),
            detail: true,
        };
        let stop = std::sync::atomic::AtomicBool::new(false);
        let control = Control { stop: &stop, progress: &|_| () };
        let outcome =
            Run::new(&spec, control).outcome().unwrap_or_else(|reported| panic!("{reported}"));
        let counters = &outcome.counters;
        assert!(counters.programs[Flashed::Parity] > 100, "{counters:?}");
        let mut seen = BySource::default();
        for window in outcome.detail.as_ref().expect("it was asked for").over_time.windows() {
            seen += window.programs;
        }
        assert_eq!(seen, counters.programs);
        let waf = counters.waf().expect("there were writes");
        let chart = amplification(&[outcome]).expect("there were writes");
        let drawn: f64 = chart.panels[0].series.iter().flat_map(|series| &series.y).flatten().sum();
        // Each part is drawn with three digits.
        assert!((drawn / waf - 1.0).abs() < 0.01, "{drawn} of {waf}");
    }
}
