//! What models of the cells and schemes cost: requests per second with each of them on, beside the
//! same workload with it off, in turn, so that a machine whose speed drifts drifts for both.

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

/// Something that can be switched on.
struct Feature {
    /// Its name in the table.
    name: &'static str,
    /// By what share it may lower the requests per second, where that is set.
    may_cost: Option<f64>,
    /// What it is compared with.
    base: fn(&mut Config),
    /// Itself.
    on: fn(&mut Config),
}

/// All of them.
const FEATURES: [Feature; 6] = [
    Feature { name: "cells that err, worst case", may_cost: Some(0.25), base: plain, on: cells },
    Feature {
        name: "cells that err, levels by age",
        may_cost: Some(0.25),
        base: plain,
        on: by_age,
    },
    Feature { name: "RHIO", may_cost: None, base: plain, on: rhio },
    Feature { name: "throttle ready", may_cost: Some(0.05), base: plain, on: ready },
    Feature { name: "HIRE", may_cost: Some(0.15), base: by_voltage, on: hire },
    Feature { name: "RAID-5", may_cost: None, base: by_address, on: raid5 },
];

fn plain(_: &mut Config) {}

/// Half-way through a life of 1,500 cycles, data up to 21 days old.
fn cells(config: &mut Config) {
    config.reliability.model = ModelKind::Analytic;
    config.reliability.cycles = 750;
    config.reliability.oldest = Span(21 * 86_400_000_000_000);
}

/// The same, each page read at the level that its age asks for.
pub fn by_age(config: &mut Config) {
    cells(config);
    config.sensing.name = SensingKind::Model;
    config.sensing.inputs = 1 << Input::Age as u32;
}

/// RHIO whole.
pub fn rhio(config: &mut Config) {
    by_age(config);
    config.hotness.detectors = 1 << Detector::RequestSize as u32;
    config.placement.name = PlacementKind::Streams;
    config.placement.hot_to_strong = true;
    config.step.name = StepKind::ByStrength;
    config.die_order.name = DieOrderKind::Rhio;
}

/// READY's throttle on a life so short that what the drive endures is not used up: it looks on and
/// never holds a write for long.
pub fn ready(config: &mut Config) {
    config.throttle.name = ThrottleKind::Ready;
    config.life.target = Span(86_400_000_000_000);
}

/// HIRE's drive: Table 1, and a buffer that keeps what is read.
fn by_voltage(config: &mut Config) {
    config.reliability.model = ModelKind::ByVoltage;
    config.buffer.cache_reads = true;
}

/// HIRE whole.
pub fn hire(config: &mut Config) {
    by_voltage(config);
    config.hotness.detectors = 1 << Detector::BufferHits as u32;
    config.placement.name = PlacementKind::Streams;
    config.voltage.name = VoltageKind::ByHotness;
    config.sensing.name = SensingKind::Model;
    config.sensing.inputs = 1 << Input::Voltage as u32;
}

/// Data lies on the die that its address says, as the pages of a stripe do.
fn by_address(config: &mut Config) {
    config.placement.dies = Dies::ByAddress;
}

/// Stripes of seven data pages and one of parity, written with their data.
pub fn raid5(config: &mut Config) {
    by_address(config);
    config.redundancy.name = RedundancyKind::Raid5;
    config.redundancy.stripe = 7;
}

/// Prints the features whose names contain one of `named`; all if that is empty.
pub fn print(named: &[String], rounds: usize) {
    println!("| on | workload | Mreq/s off | on | requests per second lower by | at most |");
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

/// Nanoseconds per request on a drive of that kind, made anew.
fn served(workload: &Workload, set: fn(&mut Config)) -> f64 {
    let mut device: Device = workload.drive_set(drive::geometry(), set);
    let requests = workload.requests(&device, workload.requests);
    let measured: Measured = drive::serve(&mut device, requests, workload.pacing());
    measured.ns_per_request()
}
