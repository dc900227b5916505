//! The cost of cell models and schemes: requests per second with each of them on and off. Runs
//! alternate, so that a drift of the machine's speed affects both.

use crate::drive::{self, Measured};
use crate::table::median;
use crate::workload::{MIXED_IPC, RANDOM_READ, RANDOM_WRITE, Workload};
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::hotness::Detector;
use fowler_device::policy::placement::{Dies, PlacementKind};
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::sensing::{Input, SensingKind};
use fowler_device::policy::step::StepKind;
use fowler_device::policy::throttle::ThrottleKind;
use fowler_device::policy::voltage::VoltageKind;
use fowler_device::reliability::ModelKind;
use fowler_device::{Config, Device};
use fowler_units::Span;

/// A cell model or scheme that can be switched on, to measure what it costs.
struct Feature {
    /// Name of the feature in the table.
    name: &'static str,
    /// Largest share by which the feature may lower the requests per second; `None` without a
    /// target.
    may_cost: Option<f64>,
    /// Changes the configuration to that of the baseline.
    base: fn(&mut Config),
    /// Changes the configuration to the baseline with the feature switched on.
    on: fn(&mut Config),
}

/// Features whose costs are measured.
const FEATURES: [Feature; 6] = [
    Feature { name: "bit errors, worst case", may_cost: Some(0.25), base: plain, on: cells },
    Feature { name: "bit errors, levels by age", may_cost: Some(0.25), base: plain, on: by_age },
    Feature { name: "RHIO", may_cost: None, base: plain, on: rhio },
    Feature { name: "throttle ready", may_cost: Some(0.05), base: plain, on: ready },
    Feature { name: "HIRE", may_cost: Some(0.15), base: by_voltage, on: hire },
    Feature { name: "RAID-5", may_cost: None, base: by_address, on: raid5 },
];

fn plain(_: &mut Config) {}

/// Switches on bit errors halfway through a life of 1,500 cycles, with data up to 21 days old.
fn cells(config: &mut Config) {
    config.reliability.model = ModelKind::Analytic;
    config.reliability.cycles = 750;
    config.reliability.oldest = Span(21 * 86_400_000_000_000);
}

/// Switches on bit errors as in [`cells`], with each page read at the sensing level that its age
/// requires.
pub fn by_age(config: &mut Config) {
    cells(config);
    config.sensing.name = SensingKind::Model;
    config.sensing.inputs = 1 << Input::Age as u32;
}

/// Switches on all parts of the scheme RHIO.
pub fn rhio(config: &mut Config) {
    by_age(config);
    config.hotness.detectors = 1 << Detector::RequestSize as u32;
    config.placement.name = PlacementKind::Streams;
    config.placement.hot_to_strong = true;
    config.step.name = StepKind::ByStrength;
    config.die_order.name = DieOrderKind::Rhio;
}

/// Switches on READY's throttle for a life too short to use up the drive's endurance, so that the
/// throttle runs but hardly delays writes.
pub fn ready(config: &mut Config) {
    config.throttle.name = ThrottleKind::Ready;
    config.life.target = Span(86_400_000_000_000);
}

/// Changes the drive to that of HIRE: the voltages of its Table 1, and a buffer that caches reads.
fn by_voltage(config: &mut Config) {
    config.reliability.model = ModelKind::ByVoltage;
    config.buffer.cache_reads = true;
}

/// Switches on all parts of the scheme HIRE.
pub fn hire(config: &mut Config) {
    by_voltage(config);
    config.hotness.detectors = 1 << Detector::BufferHits as u32;
    config.placement.name = PlacementKind::Streams;
    config.voltage.name = VoltageKind::ByHotness;
    config.sensing.name = SensingKind::Model;
    config.sensing.inputs = 1 << Input::Voltage as u32;
}

/// Places data on the die that its address determines, as with stripes.
fn by_address(config: &mut Config) {
    config.placement.dies = Dies::ByAddress;
}

/// Switches on stripes of seven data pages and one parity page, which is written with the data.
pub fn raid5(config: &mut Config) {
    by_address(config);
    config.redundancy.name = RedundancyKind::Raid5;
    config.redundancy.stripe = 7;
}

/// Measures and prints the features whose names contain one of `named`, or all if `named` is empty.
pub fn print(named: &[String], rounds: usize) {
    println!("| feature | workload | Mreq/s without | with | slower by | target |");
    println!("|---|---|--:|--:|--:|--:|");
    let wanted =
        |it: &&Feature| named.is_empty() || named.iter().any(|part| it.name.contains(part));
    for feature in FEATURES.iter().filter(wanted) {
        for workload in [RANDOM_READ, RANDOM_WRITE, MIXED_IPC] {
            compare(feature, &workload, rounds);
        }
    }
}

fn compare(feature: &Feature, workload: &Workload, rounds: usize) {
    let mut lower = Vec::new();
    let (mut off, mut on) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let without = served(workload, feature.base);
        let with = served(workload, feature.on);
        lower.push(1.0 - without / with);
        off.push(without);
        on.push(with);
    }
    let most = feature.may_cost.map_or("-".into(), |share| format!("{:.0} %", 100.0 * share));
    println!(
        "| {} | {} | {:.2} | {:.2} | {:.1} % | {most} |",
        feature.name,
        workload.name,
        1e3 / median(&mut off),
        1e3 / median(&mut on),
        100.0 * median(&mut lower)
    );
}

/// Returns the wall time per request, in nanoseconds, on a new drive whose configuration `set` has
/// changed.
fn served(workload: &Workload, set: fn(&mut Config)) -> f64 {
    let mut device: Device = workload.drive_set(drive::geometry(), set);
    let requests = workload.requests(&device, workload.requests);
    let measured: Measured = drive::serve(&mut device, requests, workload.pacing());
    measured.ns_per_request()
}
