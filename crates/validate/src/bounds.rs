//! Validates the peak throughput of an array and the latency of a single request.

use super::drives::{Drive, FLASHES, array, set};
use super::expectation::{Allowed, Group, Point, Row};
use super::spec::ValidateSpec;
use fowler_device::{Completion, Config, Device, Pacing, PreconditionWatch, Probe};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::workload::Control;
use fowler_theory::bounds::Array;
use fowler_units::{HostIo, HostOp, Nanos, Rng, Span};

/// Smallest accepted ratio of the simulated throughput of a saturated drive to the theoretical
/// upper bound, the capacity of the dies or channels.
const REACHED: f64 = 0.99;
/// Number of requests outstanding on a saturated drive. Reads of random pages occasionally leave a
/// die idle: with `n` outstanding on `d` dies for at most a share `(d - 1) / (n + d - 1)` of the
/// time (a closed network with exponential service; fixed service times vary less), 0.8 % for 32
/// dies.
const DEPTH: u32 = 4096;

/// Geometries of the drives for the bounds on throughput: one where the dies are the bottleneck,
/// and one where the channels are.
const SHAPES: [(&str, u32, u32); 2] =
    [("16 dies on 16 channels", 16, 1), ("32 dies on 2 channels", 2, 16)];

pub(super) fn points(spec: &ValidateSpec) -> Result<Vec<Point>, Diagnostics> {
    let mut points = Vec::new();
    for flash in FLASHES {
        for (name, channels, chips) in SHAPES {
            for op in [HostOp::Read, HostOp::Write] {
                let drive = drive(flash, (channels, chips), op, spec)?;
                let word = if op == HostOp::Read { "read" } else { "write" };
                let requests = if spec.quick { 60_000 } else { 150_000 };
                points.push(alone(format!("{flash}, {name}, single {word}s"), &drive, op));
                let title = format!("{flash}, {name}, saturated with {word}s");
                points.push(saturated(title, &drive, op, requests));
            }
        }
    }
    Ok(points)
}

/// Returns the drive of a preset with fewer blocks and no host link. It is full for reads and empty
/// for writes, so that GC never runs.
fn drive(
    flash: &str,
    (channels, chips): (u32, u32),
    op: HostOp,
    spec: &ValidateSpec,
) -> Result<Drive, Diagnostics> {
    let keys = [
        set("geometry.channels", channels),
        set("geometry.chips_per_channel", chips),
        set("geometry.blocks_per_plane", 64),
        set("buffer.size", "\"16MiB\""), // less than the smallest of these drives
        set("gc.foreground_below", 3),
        set("gc.background_below", 3),
        set("host.bandwidth", "\"0B/s\""),
        set("precondition.fill", if op == HostOp::Read { "1.0" } else { "0.0" }),
    ];
    Drive::new(flash, "fifo", &keys, spec)
}

/// Generates one-page requests: reads at random pages, or writes page after page.
fn requests(device: &Device, op: HostOp, count: u64) -> impl Iterator<Item = HostIo> + use<> {
    let layout = device.layout();
    let (pages, page) = (u64::from(layout.logical_pages), layout.geometry.page_size.0);
    let mut rng = Rng::stream(1, "validate/bounds");
    (0..count).map(move |number| {
        let at = if op == HostOp::Read { rng.below(pages) } else { number % pages };
        HostIo::new(op, Nanos::ZERO, at * page, page as u32)
    })
}

/// Shortest and longest latency of the requests of a run; `None` without requests.
#[derive(Default)]
struct Extremes(Option<(Span, Span)>);

impl Probe for Extremes {
    fn completed(&mut self, completion: &Completion) {
        let latency = completion.latency();
        let (least, most) = self.0.unwrap_or((latency, latency));
        self.0 = Some((least.min(latency), most.max(latency)));
    }
}

fn alone(title: String, drive: &Drive, op: HostOp) -> Point {
    const REQUESTS: u64 = 1000;
    let array = array(&drive.stated);
    let theory = if op == HostOp::Read { array.read_alone() } else { array.write_alone() };
    let config = drive.simulated.clone();
    let name = title.clone();
    Point::new(Group::Bounds, title, move |control| {
        let mut device = ready(&config, control)?;
        let mut extremes = Extremes::default();
        let requests = requests(&device, op, REQUESTS);
        device.run(requests, Pacing::Closed { depth: 1 }, &mut extremes);
        control.served(REQUESTS);
        let (least, most) = extremes.0.expect("requests were served");
        let row = |which: &str, latency: Span| Row {
            group: Group::Bounds,
            what: format!("{name}: {which} latency"),
            unit: "us",
            theory,
            measured: latency.as_us(),
            half_width: None,
            allowed: Allowed::exactly(),
            requests: REQUESTS,
        };
        Some(vec![row("shortest", least), row("longest", most)])
    })
}

/// Records the time at which a given number of requests is complete.
struct Milestone {
    left: u64,
    at: Nanos,
}

impl Probe for Milestone {
    fn completed(&mut self, completion: &Completion) {
        if self.left > 0 {
            self.left -= 1;
            self.at = completion.done;
        }
    }
}

fn saturated(title: String, drive: &Drive, op: HostOp, count: u64) -> Point {
    let bound = if op == HostOp::Read { Array::read_iops } else { Array::write_iops };
    let theory = bound(&array(&drive.stated)).expect("flash takes time");
    let config = drive.simulated.clone();
    let name = title.clone();
    Point::new(Group::Bounds, title, move |control: Control<'_>| {
        let mut device = ready(&config, control)?;
        // Until then the queue was never empty: this many requests are still outstanding.
        let counted = count - u64::from(DEPTH);
        let mut milestone = Milestone { left: counted, at: Nanos::ZERO };
        let requests = requests(&device, op, count);
        device.run(requests, Pacing::Closed { depth: DEPTH }, &mut milestone);
        control.served(count);
        Some(vec![Row {
            group: Group::Bounds,
            what: format!("{name}: rate"),
            unit: "per s",
            theory,
            measured: counted as f64 / (milestone.at - device.began()).as_s(),
            half_width: None,
            allowed: Allowed { low: REACHED - 1.0, high: 0.0 },
            requests: count,
        }])
    })
}

/// Returns the preconditioned drive of `config`; `None` if stopped.
pub(super) fn ready(config: &Config, control: Control<'_>) -> Option<Device> {
    let watch = PreconditionWatch { stop: control.stop, progress: &|_| () };
    Device::watched(config, watch).expect("the configuration was laid out when it was read")
}
