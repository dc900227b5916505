//! Tests of a drive in the manner of SNIA's Solid State Storage Performance Test Specification.
//!
//! A test purges a drive, preconditions it, and puts it under rounds of the same elements until a
//! tracking variable is steady. The simulated drive keeps its state from element to element. Every
//! number that was not verified against the text of the specification is a setting, and is reported
//! as such. See docs/pts.md.
//!
//! - `spec.rs`: which tests, on what drive, how. `setup.rs`: the drive and the settings.
//! - `steady_state.rs`: the criterion of steady state. `series.rs`: its verdict on rounds from a
//!   file.
//! - `stimulus.rs`: requests. `rig.rs`, `bench_drive.rs`: the drive on the bench. `element.rs`,
//!   `records.rs`: what is measured of an element, and of each minute of a load without a pause.
//! - `rounds.rs`: rounds until steady state. `matrix.rs` (IOPS, latency), `throughput.rs`,
//!   `saturation.rs`, `host_idle.rs`, `cross_stimulus.rs`, `demand.rs`: the tests.
//! - `endurance.rs`, `endurance_report.rs`, `uber.rs`: what a host can write in a life, in the
//!   manner of JESD218.
//! - `jesd219.rs`: the enterprise workload. `test_progress.rs`: what the caller hears meanwhile.
//! - `sheets.rs`, `json.rs`, `charts.rs`, `page.rs`: the results as tables, JSON, charts, a page.

mod bench_drive;
#[cfg(feature = "pages")]
mod charts;
mod cross_stimulus;
mod demand;
mod element;
pub mod endurance;
mod endurance_report;
mod host_idle;
pub mod jesd219;
mod json;
mod matrix;
#[cfg(feature = "pages")]
mod page;
mod records;
mod rig;
mod rounds;
mod saturation;
pub mod series;
mod setup;
mod sheets;
mod spec;
pub mod steady_state;
mod stimulus;
mod test_progress;
mod throughput;
pub mod uber;

pub use cross_stimulus::CrossStimulus;
pub use demand::Demand;
pub use element::Element;
pub use endurance_report::schema as endurance_schema;
pub use host_idle::HostIdle;
pub use json::schema;
pub use matrix::Matrix;
pub use rig::Preconditioned;
pub use rounds::{Point, Rounds, Variable};
pub use saturation::{Cliff, Ended, Saturation};
pub use setup::{Setting, Setup};
pub use spec::{Edition, PtsSpec, Purge, Test, stimulus as parse_stimulus};
pub use stimulus::{ActiveRange, Addresses, Stimulus};
pub use test_progress::Watch;

use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::fan_out;
use fowler_experiment::life_estimate;
use fowler_experiment::memory;
use fowler_units::Span;
use rig::Rig;
use test_progress::TestProgress;

/// Size in bytes of the writes that precondition a drive before a test of random requests.
const WIPC: u32 = 128 << 10;
/// Number of times that preconditioning writes the drive's user capacity.
const WIPC_FILLS: u64 = 2;
/// Size in bytes of the writes in the write saturation and host idle tests.
const WRITES: u32 = 4096;

/// Results of one test, by the kind of test.
#[derive(Clone, Debug)]
pub enum Found {
    /// Results of the IOPS test or the latency test.
    Matrix(Matrix),
    /// Results of the throughput test, by request size in bytes.
    Throughput(Vec<(u32, Rounds)>),
    /// Results of the write saturation test.
    Saturation(Saturation),
    /// Results of the host idle recovery test.
    HostIdle(HostIdle),
    /// Results of the cross stimulus recovery test.
    CrossStimulus(CrossStimulus),
    /// Results of the demand intensity test or of the enterprise composite workload.
    Demand(Demand),
}

/// A test with its results.
#[derive(Clone, Debug)]
pub struct Tested {
    /// Test of SNIA's Performance Test Specification (PTS) that was run on the drive.
    pub test: Test,
    /// Records of workload-independent preconditioning, one for each purge.
    pub preconditioned: Vec<Preconditioned>,
    /// Simulated time of the test, from the purge on.
    pub simulated: Span,
    /// Number of host threads and queue depth per thread, where the test does not vary them.
    pub load: (u32, u32),
    /// Results of one PTS test of the drive, such as a matrix of IOPS by request size and mix.
    pub found: Found,
}

/// Results of all tests of a drive.
#[derive(Clone, Debug)]
pub struct Pts {
    /// The drive that was tested, and the settings of the tests.
    pub setup: Setup,
    /// Tests to run on the drive, with the choices that the user made for them.
    pub spec: PtsSpec,
    /// Results of the tests that were finished, in the order in which SNIA's Performance Test
    /// Specification (PTS) lists the tests.
    pub tested: Vec<Tested>,
    /// PTS tests of the drive that the user stopped before they were finished.
    pub stopped: Vec<Test>,
}

/// Checks the drive and the settings for the tests of SNIA's PTS without running the tests.
pub fn check(spec: &PtsSpec) -> Diagnostics {
    setup::check(spec)
}

/// Runs the tests of a drive, several at a time.
///
/// # Errors
/// Everything that is wrong with the drive, or that the machine has too little memory.
pub fn run(spec: &PtsSpec, watch: Watch<'_>) -> Result<Pts, Diagnostics> {
    let setup = Setup::of(spec)?;
    let tests: Vec<(usize, Test)> = spec.tests.iter().copied().enumerate().collect();
    // A test has a drive of its own, and a copy of it that reads.
    let mut need = memory::Need::caching(0);
    need.add(&setup.drive, 2);
    need.refuse(memory::at_once(tests.len()), "--test with one test after the other")?;
    let results = fan_out::each(&tests, |&(number, test)| {
        one(&setup, spec, test, &TestProgress::test(watch, number, test.name()), watch)
    });
    let mut diagnostics = Diagnostics::default();
    let (mut tested, mut stopped) = (Vec::new(), Vec::new());
    for (result, (_, test)) in results.into_iter().zip(tests) {
        match diagnostics.take(result) {
            Some(Some(result)) => tested.push(result),
            Some(None) => stopped.push(test),
            None => {}
        }
    }
    diagnostics.unique().or(Pts { setup, spec: spec.clone(), tested, stopped })
}

/// Runs one test of the drive. `None` if stopped.
fn one(
    setup: &Setup,
    spec: &PtsSpec,
    test: Test,
    progress: &TestProgress<'_>,
    watch: Watch<'_>,
) -> Result<Option<Tested>, Diagnostics> {
    let bench = Bench { setup, spec, watch };
    let load = spec.load(test);
    let mut preconditioned = Vec::new();
    let mut simulated = Span::ZERO;
    let found = if test == Test::Throughput {
        let mut all = Vec::new();
        for (number, size) in throughput::SIZES.into_iter().enumerate() {
            let part = |number: usize| number as f64 / throughput::SIZES.len() as f64;
            let name = format!("{} KiB", size >> 10);
            let progress = progress.part(&name, part(number), part(number + 1));
            let Some((mut rig, wrote)) = bench.preconditioned(size, &progress)? else {
                return Ok(None);
            };
            preconditioned.push(wrote);
            let Some(rounds) = throughput::run(&mut rig, size, load, &progress) else {
                return Ok(None);
            };
            simulated += rig.simulated();
            all.push((size, rounds));
        }
        Found::Throughput(all)
    } else {
        let Some(mut rig) = bench.purged()? else { return Ok(None) };
        if test.is_preconditioned() {
            let Some(wrote) = bench.precondition(&mut rig, WIPC, progress) else { return Ok(None) };
            preconditioned.push(wrote);
        }
        let found = bench.found(&mut rig, test, load, progress);
        simulated += rig.simulated();
        let Some(found) = found else { return Ok(None) };
        found
    };
    Ok(Some(Tested { test, preconditioned, simulated, load, found }))
}

/// The inputs that every test of a drive starts from.
struct Bench<'a> {
    setup: &'a Setup,
    spec: &'a PtsSpec,
    watch: Watch<'a>,
}

impl<'a> Bench<'a> {
    fn purged(&self) -> Result<Option<Rig<'a>>, Diagnostics> {
        let drive = &self.setup.drive;
        let how = (self.setup.range, self.spec.minute);
        Rig::purged(&drive.device, &drive.config, how, self.watch.control)
    }

    fn precondition(
        &self,
        rig: &mut Rig<'_>,
        size: u32,
        progress: &TestProgress<'_>,
    ) -> Option<Preconditioned> {
        let bytes = WIPC_FILLS * self.setup.drive.layout.logical.0;
        progress.preconditioning(bytes);
        rig.write_sequentially(size, bytes)
    }

    fn preconditioned(
        &self,
        size: u32,
        progress: &TestProgress<'_>,
    ) -> Result<Option<(Rig<'a>, Preconditioned)>, Diagnostics> {
        let Some(mut rig) = self.purged()? else { return Ok(None) };
        let wrote = self.precondition(&mut rig, size, progress);
        Ok(wrote.map(|wrote| (rig, wrote)))
    }

    /// Runs one test of SNIA's PTS on a drive that is already prepared for it. Not for the
    /// throughput test, which has a drive for each request size.
    fn found(
        &self,
        rig: &mut Rig<'_>,
        test: Test,
        load: (u32, u32),
        progress: &TestProgress<'_>,
    ) -> Option<Found> {
        let writes = || Point {
            stimulus: Stimulus::of(Addresses::Uniform, 0.0, WRITES),
            threads: load.0,
            depth: load.1,
            minutes: 1,
        };
        let capacity = self.setup.drive.layout.logical.0;
        match test {
            Test::Iops => {
                let all = (&matrix::IOPS_SIZES[..], &matrix::IOPS_READS[..]);
                matrix::run(rig, all, load, Variable::Iops, progress).map(Found::Matrix)
            }
            Test::Latency => {
                let all = (&matrix::LATENCY_SIZES[..], &matrix::LATENCY_READS[..]);
                matrix::run(rig, all, load, Variable::Latency, progress).map(Found::Matrix)
            }
            Test::Throughput => unreachable!("it has a drive for each size"),
            Test::Saturation => {
                let theory = life_estimate::greedy(&self.setup.drive);
                let how = (capacity, self.spec.whole_day, theory);
                saturation::run(rig, &writes(), how, progress).map(Found::Saturation)
            }
            Test::HostIdle => host_idle::run(rig, &writes(), progress).map(Found::HostIdle),
            Test::CrossStimulus => {
                cross_stimulus::run(rig, load, progress).map(Found::CrossStimulus)
            }
            Test::Enterprise => {
                demand::run(rig, &jesd219::enterprise(), progress).map(Found::Demand)
            }
            Test::Demand => demand::run(rig, &self.spec.stimulus, progress).map(Found::Demand),
        }
    }
}
