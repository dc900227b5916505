//! The table of drive and floor.
//!
//! Rounds of drive and floor alternate, so that a drift of the machine's speed affects both. The
//! table shows the median of each, and the median of the ratios of the rounds.

use crate::drive::{self, Measured, State};
use crate::floor::Floor;
use crate::requests::{Repeated, Requests};
use crate::traces::{self, TRACES, Trace};
use crate::workload::{WORKLOADS, Workload};
use fowler_device::{Device, Pacing};
use fowler_units::HostIo;
use std::sync::Arc;
use std::time::Instant;

/// Measures and prints the rows whose names contain one of `named`, or all if `named` is empty.
pub fn print(named: &[String], rounds: usize) {
    let wanted = |name: &str| named.is_empty() || named.iter().any(|part| name.contains(part));
    println!(
        "| workload | Mreq/s | Mpages/s | ns/request | ns/page | ns/flash event | plain floor ns | times floor | \
         floor asking ahead ns | times floor | WAF | s until ready |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for workload in WORKLOADS.iter().filter(|workload| wanted(workload.name)) {
        synthetic(workload, rounds);
    }
    for trace in TRACES.iter().filter(|trace| wanted(trace.name)) {
        real(trace, rounds);
    }
}

fn synthetic(workload: &Workload, rounds: usize) {
    let build = || workload.drive(drive::geometry());
    let ask = |device: &Device| Some(workload.requests(device, workload.requests));
    let scattered = workload.state != State::Sequential;
    Row { name: workload.name, scattered, pacing: workload.pacing() }.measure(rounds, build, ask);
}

fn real(trace: &Trace, rounds: usize) {
    let build = || drive::build(&drive::config(drive::geometry(), State::Sequential));
    let mut excerpt: Option<Arc<[HostIo]>> = None;
    let ask = |device: &Device| {
        if excerpt.is_none() {
            excerpt = traces::load(*trace, device.layout().logical.0).map(Arc::from);
        }
        let once = excerpt.clone()?;
        Some(Requests::Repeated(Repeated::new(once, traces::REQUESTS)))
    };
    Row { name: trace.name, scattered: false, pacing: Pacing::Open }.measure(rounds, build, ask);
}

/// A row of the table: a workload, measured on a drive and on its floor.
struct Row {
    name: &'static str,
    /// True if logical pages are scattered over the drive.
    scattered: bool,
    pacing: Pacing,
}

impl Row {
    /// Measures the workload of the row. Builds drive and floor for each round and runs them at
    /// once, as users do. Copying them would bypass the caches and start with cold ones.
    fn measure(
        &self,
        rounds: usize,
        build: impl Fn() -> Device,
        mut ask: impl FnMut(&Device) -> Option<Requests>,
    ) {
        let (mut ready, mut drives) = (Vec::new(), Vec::new());
        let (mut plain, mut ahead) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let start = Instant::now();
            let mut device = build();
            ready.push(start.elapsed().as_secs_f64());
            let Some(requests) = ask(&device) else {
                return println!("| {} | skipped: the trace was not found |", self.name);
            };
            let layout = *device.layout();
            let measured = drive::serve(&mut device, requests.clone(), self.pacing);
            drop(device);
            let floor = || Floor::new(&layout, self.scattered);
            plain.push(floor().plain().run(requests.clone(), self.pacing, &measured.work));
            ahead.push(floor().run(requests, self.pacing, &measured.work));
            drives.push(measured);
        }
        self.print(&mut ready, &drives, [&mut plain, &mut ahead]);
    }

    fn print(&self, ready: &mut [f64], drives: &[Measured], floors: [&mut Vec<f64>; 2]) {
        let mut per_request: Vec<f64> = drives.iter().map(Measured::ns_per_request).collect();
        let [plain, ahead] = floors.map(|floor| {
            let mut ratios: Vec<f64> =
                per_request.iter().zip(floor.iter()).map(|(drive, floor)| drive / floor).collect();
            format!("{:.0} | {:.2}", median(floor), median(&mut ratios))
        });
        let ns = median(&mut per_request);
        let all = ns * drives[0].requests as f64;
        let per_page = all / drives[0].pages as f64;
        println!(
            "| {} | {:.2} | {:.2} | {:.0} | {:.0} | {:.0} | {plain} | {ahead} | {:.2} | {:.2} |",
            self.name,
            1e3 / ns,
            1e3 / per_page,
            ns,
            per_page,
            all / drives[0].events() as f64,
            drives[0].work.waf(),
            median(ready),
        );
    }
}

/// Returns the median of the values; of an even number of values, the upper of the middle two.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
