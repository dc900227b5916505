//! Starvation of writes, which the paper does not discuss: the rate of reads at which intra-phase
//! cancellation stops making progress, and the cost to reads of a limit on suspensions.

use super::die;
use super::paper::{Flash, Paper};
use crate::run_folder::{Job, Results, RunFolder};
use crate::run_summary::{Number, RunSummary};
use crate::runs::mean;
use crate::studies::ImageCache;
use fowler_device::{ChipCommand, ChipOp, Config, run_chip};
use fowler_experiment::device_spec::Source;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::sweep::StudyPoint;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_experiment::workload::WorkloadSpec;
use fowler_theory::die::{DieTimes, Load, Suspension};
use fowler_units::{Nanos, Rng, Span};
use fowler_validate::die_times;
use serde::{Deserialize, Serialize};

/// A die whose programs make no progress because of reads.
pub(super) struct Starved {
    pub name: &'static str,
    flash: Flash,
    /// Factor by which sensing and transfer of a read are faster than in the P/E suspension paper;
    /// 1 for the paper's die.
    faster: u64,
}

/// Dies of the study of starvation (writes that reads keep from finishing): the P/E suspension
/// paper's two, which reads saturate before every phase is cancelled, and one whose reads are 20
/// times as fast (assumed; faster than any NAND), so that every phase can be cancelled.
pub(super) const DIES: [Starved; 3] = [
    Starved { name: "SLC", flash: Flash::Slc, faster: 1 },
    Starved { name: "MLC", flash: Flash::Mlc, faster: 1 },
    Starved { name: "MLC, reads 20 times as fast", flash: Flash::Mlc, faster: 20 },
];
/// Number of points of each curve of write completion times. The rate of reads is evenly spaced
/// from zero up, counted in reads in the time during which a program phase can be cancelled.
const POINTS: u32 = 9;
const PER_STRETCH: f64 = 2.0;
/// The largest share of time that reads may keep the die busy; above it, waits of a finite run say
/// little about their mean.
const BUSIEST: f64 = 0.9;
/// Largest number of chip commands in one measurement of write completion times.
const COMMANDS: f64 = 1e6;
/// Largest number of chip writes in one measurement of write completion times.
const WRITES: f64 = 20_000.0;

const SCHEMES: [(&str, &str, Suspension); 2] =
    [("pes_ips", "IPS", Suspension::InterPhase), ("pes_ipc", "IPC", Suspension::IntraPhase)];

/// Completion time of writes on a die under a scheme, at one rate of reads.
pub(super) struct Point {
    pub die: &'static str,
    pub scheme: &'static str,
    /// Mean number of reads that arrive during the part of a program phase in which a read can
    /// still cancel the phase.
    pub per_stretch: f64,
    /// Share of time (0 to 1) for which reads alone keep the die busy.
    pub reads_busy: f64,
    /// Mean completion time of a write relative to an undisturbed one, by the closed-form queueing
    /// model of a die (`fowler_theory::die`).
    pub theory: f64,
    pub measured: Option<f64>,
}

/// Simulated completion times of writes at one rate of reads.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Completion {
    /// Mean completion time of a write relative to an undisturbed one, simulated; `None` if no
    /// write was measured.
    stretched: Option<f64>,
}

/// Rates of reads and writes on one die, for which write completion time is to be simulated.
struct Setting {
    name: String,
    point: Point,
    config: Config,
    times: DieTimes,
    load: Load,
}

impl Starved {
    fn config(&self, scheme: &str) -> Result<Config, Diagnostics> {
        let mut config = die::config(self.flash, scheme)?;
        let timing = &mut config.timing;
        timing.read = timing.read.map(|span| Span::ns(span.0 / self.faster));
        timing.bus_transfer = Span::ns(timing.bus_transfer.0 / self.faster);
        Ok(config)
    }

    /// Returns the rates of reads and writes at which write completion times on this die are
    /// computed, by scheme; rates of reads that leave no time for writes are left out.
    fn settings(&self) -> Result<Vec<Setting>, Diagnostics> {
        let mut settings = Vec::new();
        for (scheme, name, suspension) in SCHEMES {
            let config = self.config(scheme)?;
            let times = die_times(&config);
            let stretch = times.program_phase - times.voltage_reset;
            let most = PER_STRETCH.min(BUSIEST * stretch / times.read);
            for number in 1..=POINTS {
                let per_stretch = most * f64::from(number) / f64::from(POINTS);
                let reads = per_stretch / stretch;
                let Some(capacity) = suspension.write_capacity(&times, reads) else { continue };
                let load = Load { reads, writes: capacity / 2.0 };
                let Some(means) = suspension.means(&times, &load) else { continue };
                let reads_busy = reads * times.read;
                let theory = means.completion / times.write();
                let (die, measured) = (self.name, None);
                let point = Point { die, scheme: name, per_stretch, reads_busy, theory, measured };
                let name = format!("completion {die} {name} {number}");
                settings.push(Setting { name, point, config: config.clone(), times, load });
            }
        }
        Ok(settings)
    }
}

impl Setting {
    fn job<'a>(&self) -> Job<'a, Completion> {
        let (config, times, load) = (self.config.clone(), self.times, self.load);
        Job::new(self.name.clone(), &format!("{config:?} {load:?}"), move |_| {
            let stretched = completion(&config, &load).map(|took| took / times.write());
            Ok(Some(Completion { stretched }))
        })
    }
}

/// Simulates reads and writes with Poisson arrivals, and returns the mean time from the start of a
/// write to its end, in microseconds; `None` if no write was measured.
fn completion(config: &Config, load: &Load) -> Option<f64> {
    let rate = load.reads + load.writes;
    let count = (WRITES * rate / load.writes).min(COMMANDS) as usize;
    let mut rng = Rng::stream(config.seed, "completion");
    let mut at = 0.0;
    let mut command = || {
        at -= libm::log1p(-rng.unit()) / rate;
        let read = rng.chance(load.reads / rate);
        let op = if read { ChipOp::Read } else { ChipOp::Write };
        ChipCommand { at: Nanos((at * 1e3) as u64), op }
    };
    let commands: Vec<ChipCommand> = (0..count).map(|_| command()).collect();
    let results = run_chip(config, &commands);
    let writes = commands.iter().zip(&results).filter(|(command, _)| command.op == ChipOp::Write);
    let took: Vec<f64> = writes.map(|(_, result)| (result.done - result.start).as_us()).collect();
    mean(&took)
}

/// Settings that keep reads from starving a program, each with a name and the values of its limit.
pub(super) const LIMITS: [(&str, &str, &[&str]); 7] = [
    ("no suspension (RPS)", "rps", &[]),
    ("IPS", "pes_ips", &[]),
    ("IPC, no limit", "pes_ipc", &[]),
    ("IPC, at most 4 suspensions", "pes_ipc", &["policy.suspension.max_suspends=4"]),
    ("IPC, at most 1 suspension", "pes_ipc", &["policy.suspension.max_suspends=1"]),
    ("IPC, 44 us of progress", "pes_ipc", &["policy.suspension.min_progress=44us"]),
    ("IPC, 176 us of progress", "pes_ipc", &["policy.suspension.min_progress=176us"]),
];
/// Offered loads: the share of time for which undisturbed one-page operations would keep the dies
/// busy. Writes to one stripe share a program, so a drive can sustain a load above 1.
pub(super) const LOADS: [f64; 5] = [0.3, 0.6, 0.9, 1.2, 1.5];
/// Share of reads (0 to 1) among the requests of the runs with limits on suspension.
const READ_SHARE: f64 = 0.8;
const REQUESTS: u64 = 200_000;

fn limit_name(limit: &str, load: f64) -> String {
    format!("limit {limit} {load}")
}

/// Results of the P/E suspension study of starvation: writes that reads keep from finishing.
pub(super) struct Starvation {
    pub points: Vec<Point>,
    limits: Results<RunSummary>,
}

impl Starvation {
    /// Executes the measurements of starvation (writes that reads keep from finishing). Returns
    /// `None` if the study was stopped.
    pub fn gather(
        paper: &Paper,
        limit: Option<u64>,
        images: &ImageCache,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Starvation>, Diagnostics> {
        let mut settings = Vec::new();
        for die in &DIES {
            settings.extend(die.settings()?);
        }
        let points = limit_points(paper, limit)?;
        let measured = runs.results(settings.iter().map(Setting::job).collect())?;
        let Some(measured) = measured else { return Ok(None) };
        let Some(limits) = runs.simulate(points, images)? else { return Ok(None) };
        let point = |Setting { name, point, .. }: Setting| Point {
            measured: measured.get(&name).and_then(|it| it.stretched),
            ..point
        };
        Ok(Some(Starvation { points: settings.into_iter().map(point).collect(), limits }))
    }

    /// Returns a metric of the P/E suspension study's run in which the drive limits how operations
    /// are suspended (`limit` names the limit), at a load.
    pub fn limited(&self, limit: &str, load: f64, of: Number) -> Option<f64> {
        of(self.limits.get(&limit_name(limit, load))?)
    }
}

/// Returns the runs under every limit on suspension, at every load.
fn limit_points(paper: &Paper, limit: Option<u64>) -> Result<Vec<StudyPoint>, Diagnostics> {
    let mut points = Vec::new();
    let config = die::config(Flash::Mlc, "fifo")?;
    let times = die_times(&config);
    for load in LOADS {
        let offered = Load::offered(&times, load * f64::from(config.geometry.dies()), READ_SHARE);
        let text = format!(
            "requests = {REQUESTS}\narrivals = {{ kind = \"poisson\", rate = {:.3} }}\n\
             mix.reads = {READ_SHARE}\nreads.sizes = \"4KiB\"\nwrites.sizes = \"4KiB\"\n",
            1e6 * (offered.reads + offered.writes)
        );
        let source = Source { name: format!("random requests at load {load}"), text };
        for (name, scheme, set) in LIMITS {
            let set: Vec<String> = set.iter().map(|it| (*it).to_string()).collect();
            let workload = WorkloadSpec::Generated(source.clone());
            let device = paper.device(Flash::Mlc, &set);
            let run = RunSpec::new(device, workload, ReplaySpeed::AsRecorded);
            let run = RunSpec { scheme: Some(scheme.into()), limit, ..run };
            points.push(StudyPoint { name: limit_name(name, load), run });
        }
    }
    Ok(points)
}

impl Starvation {
    /// Returns the table of write completion times by the rate of reads.
    pub fn completion_sheet(&self) -> Sheet {
        let heads = [
            "die",
            "scheme",
            "reads per cancellable 16 us",
            "die busy with reads",
            "write time / undisturbed, theory",
            "measured",
            "deviation",
        ];
        let title = "How long reads delay a write: closed form and simulation";
        let mut sheet = Sheet::new("starvation_completion", title, &heads);
        for point in &self.points {
            sheet.row(vec![
                point.die.into(),
                point.scheme.into(),
                Cell::Number(point.per_stretch),
                Cell::Share(point.reads_busy),
                Cell::Number(point.theory),
                Cell::number(point.measured),
                Cell::share(point.measured.map(|measured| measured / point.theory - 1.0)),
            ]);
        }
        sheet
    }

    /// Returns the table of read and write tail latencies by load, for each limit on suspension.
    pub fn limit_sheet(&self) -> Sheet {
        let heads = [
            "load",
            "limit",
            "read mean (us)",
            "read p99.9 (us)",
            "write mean (us)",
            "write p99.9 (us)",
            "suspensions per program or erase",
        ];
        let title = "Limits to suspension: 80 % random reads of 4 KiB on pes-mlc in steady state";
        let mut sheet = Sheet::new("starvation_limits", title, &heads);
        for load in LOADS {
            for (name, ..) in LIMITS {
                let number = |of: Number| Cell::number(self.limited(name, load, of));
                sheet.row(vec![
                    Cell::Number(load),
                    name.into(),
                    number(|it| it.get("read.mean_us")),
                    number(|it| it.get("read.p999_us")),
                    number(|it| it.get("write.mean_us")),
                    number(|it| it.get("write.p999_us")),
                    number(|it| Some(it.get("suspensions")? / it.get("counters.operations")?)),
                ]);
            }
        }
        sheet
    }
}
