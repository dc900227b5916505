//! How the speed changes with the number of dies, the queue depth and the length of the run.
//!
//! All drives have the same number of pages, so that the mapping costs the same and only the effect
//! of the number of dies shows: more busy dies mean more pending events.

use crate::drive::{self, State};
use crate::workload::{Asked, RANDOM_READ, Workload};
use fowler_figures::{Axis, Figure, Panel, Series};
use fowler_units::Geometry;
use std::path::Path;

/// Number of pages of the drives: 32 GiB, which is small enough to build quickly with eight dies
/// and with four thousand.
const PAGES: u32 = 1 << 23;
const DIES_PER_CHANNEL: u32 = 8;
/// Largest number of reads in the device: more than 4,096 dies at 60 % have in service and waiting.
const QUEUE: u32 = 1 << 14;
const REQUESTS: u64 = 1_000_000;
const ROUNDS: usize = 5;

/// Poisson arrivals of reads that keep each die busy for 60 % of the time.
const OPEN: Asked = Asked::Poisson { utilisation: 0.6 };

/// A measured point of a table: a run and the time that it took.
struct Point {
    /// Value of the varied quantity (dies, queue depth or requests).
    x: u64,
    dies: u32,
    asked: Asked,
    requests: u64,
    /// Wall time of the fastest round in seconds, as other load on the machine only makes a run
    /// slower.
    seconds: f64,
}

impl Point {
    fn new(x: u64, dies: u32, asked: Asked, requests: u64) -> Self {
        Self { x, dies, asked, requests, seconds: f64::INFINITY }
    }

    fn millions_per_second(&self) -> f64 {
        self.requests as f64 / self.seconds / 1e6
    }

    fn ns_per_request(&self) -> f64 {
        self.seconds * 1e9 / self.requests as f64
    }
}

/// Prints the three tables and writes their figures into `folder`. Runs have up to 10^`longest`
/// requests.
///
/// # Errors
/// If a figure cannot be drawn or written.
pub fn print(folder: &Path, longest: u32) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let by_dies = (3..=12).map(|power| Point::new(1 << power, 1 << power, OPEN, REQUESTS));
    let dies = table("dies (random reads, each die busy for 60 % of the time)", by_dies);
    keep(folder, &speeds("scaling_dies", "dies", &dies))?;

    let closed = |depth| Asked::Random { read_share: 1.0, depth };
    let by_depth = (0..=12).map(|power| Point::new(1 << power, 64, closed(1 << power), REQUESTS));
    let depths = table("requests outstanding (random reads, 64 dies)", by_depth);
    keep(folder, &speeds("scaling_depth", "requests outstanding", &depths))?;

    let powers = (5..=longest).map(|power| 10u64.pow(power));
    let by_length = powers.map(|count| Point::new(count, 64, OPEN, count));
    let lengths = table("requests (random reads, 64 dies busy for 60 % of the time)", by_length);
    keep(folder, &times("scaling_length", &lengths))
}

/// Measures the points and prints them. Each round covers all points, so that a slow minute of the
/// machine does not hit only one of them. Runs of more than 10^7 requests outlast such minutes and
/// have one round.
fn table(what: &str, points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut points: Vec<Point> = points.collect();
    for number in 0..ROUNDS {
        for point in points.iter_mut().filter(|it| number == 0 || it.requests <= 10_000_000) {
            point.seconds = point.seconds.min(round(point));
        }
    }
    println!("\n| {what} | wall s | Mreq/s | ns/request |\n|--:|--:|--:|--:|");
    for it in &points {
        let (speed, ns) = (it.millions_per_second(), it.ns_per_request());
        println!("| {} | {:.3} | {speed:.2} | {ns:.0} |", it.x, it.seconds);
    }
    points
}

fn round(point: &Point) -> f64 {
    let workload = Workload { asked: point.asked, ..RANDOM_READ };
    let dies = point.dies;
    let geometry = Geometry {
        channels: dies / DIES_PER_CHANNEL,
        chips_per_channel: DIES_PER_CHANNEL,
        blocks_per_plane: PAGES / 64 / dies,
        pages_per_block: 64,
        ..drive::geometry()
    };
    let mut config = drive::config(geometry, State::Sequential);
    config.queue.depth = QUEUE;
    config.queue.max_reads = QUEUE;
    let mut device = drive::build(&config);
    let source = workload.requests(&device, point.requests);
    drive::serve(&mut device, source, workload.pacing()).seconds
}

/// Returns the figure of requests per second and time per request. The latter is a straight line if
/// it grows with the logarithm.
fn speeds(id: &str, varied: &str, points: &[Point]) -> Figure {
    let panel = |title: &str, y: fn(&Point) -> f64| {
        let line = Series::line("Fowler", points.iter().map(|it| (it.x as f64, y(it))));
        Panel::lines(title, Axis::log2(varied), Axis::linear(title), [line])
    };
    let panels = [
        panel("M requests/s", Point::millions_per_second),
        panel("ns per request", Point::ns_per_request),
    ];
    Figure::new(id, format!("Speed by {varied}, on one core"), panels)
}

/// Returns the figure of wall time by number of requests, with the line in proportion to the
/// longest run.
fn times(id: &str, points: &[Point]) -> Figure {
    let each = points.last().map_or(0.0, |it| it.seconds / it.requests as f64);
    let line = |name, y: &dyn Fn(&Point) -> f64| {
        Series::line(name, points.iter().map(|it| (it.x as f64, y(it))))
    };
    let series = [
        line("Fowler", &|it| it.seconds),
        line("in proportion", &|it| it.requests as f64 * each).theory(),
    ];
    let panel = Panel::lines("", Axis::log10("requests"), Axis::log10("wall time (s)"), series);
    Figure::new(id, "Wall time by length of the run, on one core", [panel])
}

fn keep(folder: &Path, figure: &Figure) -> Result<(), String> {
    let name = &figure.id;
    let svg = figure.svg().map_err(|error| format!("{name}: {error}"))?;
    let path = folder.join(name).with_extension("svg");
    std::fs::write(&path, svg).map_err(|error| format!("{}: {error}", path.display()))
}
