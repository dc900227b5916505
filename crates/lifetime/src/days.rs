//! Simulates single days of a life on the whole drive: dies, queues and garbage collection in time.
//! The lifetime determines when writes enter; a simulated day determines how long the drive then
//! takes.

use super::factor::dilated;
use super::repetition::Repetition;
use super::scope::whole;
use super::season::season;
use super::survey::{self, Survey};
use fowler_device::blame::Part;
use fowler_device::{
    Completion, Config, Counters, Device, LifetimeDrive, Pacing, Probe, Source, SteadyLife,
};
use fowler_experiment::Percentile;
use fowler_experiment::device_spec::{self, DeviceSpec};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::progress::Progress;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::{Control, Workload, WorkloadSpec};
use fowler_metrics::Latencies;
use fowler_units::{HostIo, Nanos, Span};
use serde::{Deserialize, Serialize};

/// Specification of single days in the lives of a drive under several schemes.
#[derive(Clone, Debug)]
pub struct DaysSpec {
    /// The drive whose days of use are simulated: one day at each of several ages of its life.
    pub device: DeviceSpec,
    /// Schemes of the drive, each with the dilation of the life until the day: the number of real
    /// repetitions of the workload that one simulated repetition stands for.
    pub schemes: Vec<(String, u32)>,
    /// The workload that is repeated over the life.
    pub workload: WorkloadSpec,
    /// Largest number of requests in one repetition of the workload that a drive repeats for its
    /// life; `None` for all requests of the trace.
    pub limit: Option<u64>,
    /// Replay speed: the factor by which the arrival times of the repeated workload are divided.
    pub speed: f64,
    /// Pages programmed for each host page (write amplification) in the life before a simulated day
    /// begins.
    pub waf: f64,
    /// Ages of the drive, in seconds since the start of its life, ascending, at which a day is
    /// simulated: each in the first repetition of the workload that reaches the age.
    pub ages_s: Vec<f64>,
    /// Start of a simulated day within a repetition of the workload, and length of the day, in
    /// nanoseconds.
    pub window: (Span, Span),
}

/// One simulated day in the life of a drive. A write of several pages is answered when the last
/// page is programmed; times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Day {
    /// Name of the scheme (named set of policies) that the drive has during its simulated life.
    pub scheme: String,
    /// Age of the drive when the simulated day begins, in years.
    pub age_years: f64,
    /// Number of host writes in the simulated day.
    pub writes: u64,
    /// Number of pages in the host writes of the simulated day.
    pub pages: u64,
    /// Number of host pages programmed in the simulated day.
    pub host_programs: u64,
    /// Number of pages programmed in the simulated day, by the host, GC and everything else.
    pub programs: u64,
    /// Number of blocks erased in the simulated day.
    pub erases: u64,
    /// Time of a page write if no other operation occupies the die, in microseconds.
    pub program_us: f64,
    /// Mean time for which the write throttle delays a page, in microseconds; `None` without a
    /// throttle.
    pub held_us: Option<f64>,
    /// Mean latency of writes in the simulated day from the end of the throttle's delay until the
    /// last page is programmed, in microseconds; `None` without writes.
    pub drive_us: Option<f64>,
    /// Median latency of writes in the simulated day, from the end of the throttle's delay until
    /// the last page is programmed, in microseconds.
    pub drive_p50_us: Option<f64>,
    /// 99th percentile of the latency of writes in the simulated day, from the end of the
    /// throttle's delay until the last page is programmed, in microseconds.
    pub drive_p99_us: Option<f64>,
    /// 99.99th percentile of the latency of writes in the simulated day, from the end of the
    /// throttle's delay until the last page is programmed, in microseconds.
    pub drive_p9999_us: Option<f64>,
    /// Mean time that a write of the simulated day waits behind GC after the throttle's delay, in
    /// microseconds.
    pub behind_gc_us: f64,
    /// Mean time that a write of the simulated day waits behind programs of other host data after
    /// the throttle's delay, in microseconds.
    pub behind_host_us: f64,
    /// Mean time that a write of the simulated day waits for a free page or for a place in the
    /// drive's queue, after the throttle's delay, in microseconds.
    pub no_space_us: f64,
    /// Standard deviation of a page's response time if no die were busy: the throttle's delay plus
    /// an undisturbed program, in microseconds.
    pub model_deviation_us: f64,
    /// Standard deviation of a page's response time: the throttle's delay plus the time in the
    /// drive, in microseconds.
    pub deviation_us: f64,
    /// Length of the simulated day, in seconds.
    pub simulated_s: f64,
    /// Mean share of the simulated day for which a die was busy, from 0 to 1.
    pub die_busy: f64,
}

/// Measurements of the host writes of a day.
struct Watched {
    page: u64,
    program: f64,
    pages: u64,
    held: f64,
    drive: Latencies,
    parts: [f64; 3],
    /// Sum, and sum of squares, over all pages written in the day, of a page's modelled response
    /// time: the throttle's delay plus an undisturbed program.
    model: [f64; 2],
    response: [f64; 2],
}

/// The parts of a write's latency that a day reports: waiting for garbage collection, for the
/// host's programs, and for a free page.
const PARTS: [&[Part]; 3] = [
    &[Part::BehindGcRead, Part::BehindGcProgram, Part::BehindGcErase],
    &[Part::BehindHostProgram],
    &[Part::NoSpace, Part::QueueFull],
];

impl Probe for Watched {
    fn completed(&mut self, completion: &Completion) {
        let io = &completion.io;
        let pages = (io.offset + u64::from(io.size) - 1) / self.page - io.offset / self.page + 1;
        let held = completion.blame[Part::Throttled];
        let inside = completion.latency() - held;
        self.pages += pages;
        self.held += held.as_us();
        self.drive.record(inside);
        for (sum, parts) in self.parts.iter_mut().zip(PARTS) {
            *sum += parts.iter().map(|&part| completion.blame[part].as_us()).sum::<f64>();
        }
        let (count, each) = (pages as f64, held.as_us() / pages as f64);
        for (sums, own) in [(&mut self.model, self.program), (&mut self.response, inside.as_us())] {
            sums[0] += count * (each + own);
            sums[1] += count * (each + own).powi(2);
        }
    }
}

impl Watched {
    fn new(config: &Config, life: &SteadyLife) -> Self {
        Self {
            page: config.geometry.page_size.0,
            program: life.program().as_us(),
            pages: 0,
            held: 0.0,
            drive: Latencies::new(),
            parts: [0.0; 3],
            model: [0.0; 2],
            response: [0.0; 2],
        }
    }

    fn deviation(&self, [sum, squares]: [f64; 2]) -> f64 {
        let count = (self.pages as f64).max(1.0);
        libm::sqrt((squares / count - (sum / count).powi(2)).max(0.0))
    }

    fn day(self, scheme: &str, age_years: f64, (device, before): (&Device, &Counters)) -> Day {
        let after = device.counters();
        let at = |percentile| self.drive.percentile(percentile).map(Span::as_us);
        let writes = self.drive.count();
        let each = |sum: f64| if writes > 0 { sum / writes as f64 } else { 0.0 };
        let simulated_s = (device.now() - device.began()).as_s();
        let dies = f64::from(device.layout().geometry.dies());
        let [behind_gc_us, behind_host_us, no_space_us] = self.parts.map(each);
        Day {
            scheme: scheme.into(),
            age_years,
            writes,
            pages: self.pages,
            host_programs: after.programs[Source::Host] - before.programs[Source::Host],
            programs: after.programs.sum() - before.programs.sum(),
            erases: after.erases.sum() - before.erases.sum(),
            program_us: self.program,
            held_us: (self.pages > 0).then(|| self.held / self.pages as f64),
            drive_us: self.drive.mean_us(),
            drive_p50_us: at(Percentile::P50),
            drive_p99_us: at(Percentile::P99),
            drive_p9999_us: at(Percentile::P9999),
            behind_gc_us,
            behind_host_us,
            no_space_us,
            model_deviation_us: self.deviation(self.model),
            deviation_us: self.deviation(self.response),
            simulated_s,
            die_busy: after.die_busy.as_s() / (simulated_s * dies).max(1e-9),
        }
    }
}

/// Drive whose simulated life has reached the age at which a day is to be simulated request by
/// request.
struct Dawn {
    life: SteadyLife,
    repetition: u64,
}

/// Simulates the days in the life of a drive under every scheme; `None` if stopped.
///
/// # Errors
///
/// All errors in the drive and the workload.
pub fn days(spec: &DaysSpec, control: Control<'_>) -> Result<Option<Vec<Day>>, Diagnostics> {
    let mut seasoned: Option<LifetimeDrive> = None;
    let mut days = Vec::new();
    for (name, dilation) in &spec.schemes {
        let scheme = Scheme::load(name)?;
        let drive = device_spec::resolve(&spec.device.source()?, &scheme, &spec.device)?;
        let drive = drive.page_mapped("a lifetime")?;
        whole(&drive)?;
        let workload = Workload::prepare(&spec.workload, &drive, None, control)?;
        // The survey counts as nothing of the days: it is one repetition of many.
        let quiet = Control { stop: control.stop, progress: &|_| () };
        let counted = survey::survey(&workload, &drive, (spec.speed, spec.limit), quiet)?;
        let Some((survey, _)) = counted else { return Ok(None) };
        let config = dilated(&drive, *dilation)?;
        let repetition = Repetition::read_anew(&workload, spec.limit);
        let used = match seasoned.take() {
            Some(used) => used,
            None => match season(&drive, &config, &repetition, control)? {
                Some((used, _)) => used,
                None => return Ok(None),
            },
        };
        // A drive without a throttle is the same at every age.
        let is_throttled = SteadyLife::new(&config, spec.waf).is_throttled();
        let ages: &[f64] = if is_throttled { &spec.ages_s[..] } else { &[0.0] };
        let dawns = dawns(spec, (&config, ages), (&workload, &survey), control)?;
        // The life up to the last of its days counts as much as one of them.
        let of_a_part = 1.0 / (spec.schemes.len() * (1 + dawns.len())) as f64;
        let report = || (control.progress)(Progress::Served { requests: 0, of_a_part });
        report();
        for dawn in dawns {
            let day = one_day(spec, (&used, &config), (&workload, &survey), (&dawn, name), control);
            days.push(day?);
            report();
            if control.stopped() {
                return Ok(None);
            }
        }
        seasoned = Some(used);
    }
    Ok((!control.stopped()).then_some(days))
}

/// Simulates the life of a drive under one scheme, and saves the drive's state at the beginning of
/// each day that will be simulated in detail.
fn dawns(
    spec: &DaysSpec,
    (config, ages): (&Config, &[f64]),
    (workload, survey): (&Workload, &Survey),
    control: Control<'_>,
) -> Result<Vec<Dawn>, Diagnostics> {
    let mut life = SteadyLife::new(config, spec.waf);
    let dilation = f64::from(config.life.dilation.max(1));
    let mut ages = ages.iter().map(|age_s| Nanos((age_s * 1e9 / dilation) as u64)).peekable();
    let (mut dawns, mut is_over) = (Vec::new(), false);
    for repetition in 0u64.. {
        let begins = Span(survey.span.0 * repetition);
        let from = Nanos::ZERO + begins + spec.window.0;
        let moved = |io: HostIo| io.with_at(Nanos(io.at.0 - survey.first.0) + begins);
        let quiet = Control { stop: control.stop, progress: &|_| () };
        let (_, failed) =
            workload.replay_round(repetition, spec.speed, spec.limit, quiet, |requests| {
                let mut is_before = true;
                for io in requests.filter(survey::changes_data).map(moved) {
                    if is_before && io.at >= from {
                        is_before = false;
                        if ages.next_if(|&age| life.now() >= age).is_some() {
                            dawns.push(Dawn { life: life.clone(), repetition });
                            // A life may pass several ages in one repetition.
                            while ages.next_if(|&age| life.now() >= age).is_some() {}
                        }
                        is_over |= ages.peek().is_none();
                    }
                    is_over = is_over || life.enter(&io).is_none();
                    if is_over {
                        break;
                    }
                }
            })?;
        if let Some(diagnostics) = failed {
            return Err(diagnostics);
        }
        if is_over || control.stopped() {
            break;
        }
    }
    Ok(dawns)
}

fn one_day(
    spec: &DaysSpec,
    (seasoned, config): (&LifetimeDrive, &Config),
    (workload, survey): (&Workload, &Survey),
    (dawn, scheme): (&Dawn, &str),
    control: Control<'_>,
) -> Result<Day, Diagnostics> {
    let Dawn { life, repetition } = dawn;
    let mut device = Device::in_life(life, seasoned, config);
    let before = device.counters();
    let mut watched = Watched::new(config, life);
    let begins = Span(survey.span.0 * repetition);
    let (from, length) = spec.window;
    let (from, until) = (Nanos::ZERO + from, Nanos::ZERO + from + length);
    let quiet = Control { stop: control.stop, progress: &|_| () };
    let (_, failed) =
        workload.replay_round(*repetition, spec.speed, spec.limit, quiet, |requests| {
            let own = |io: HostIo| io.with_at(Nanos(io.at.0 - survey.first.0));
            let writes = requests.filter(survey::changes_data).map(own);
            let day = writes.skip_while(|io| io.at < from).take_while(|io| io.at < until);
            let late = begins + life.behind();
            device.run(day.map(|io| io.with_at(io.at + late)), Pacing::Open, &mut watched);
        })?;
    if let Some(diagnostics) = failed {
        return Err(diagnostics);
    }
    let age_s = life.now().0 as f64 / 1e9 * f64::from(config.life.dilation.max(1));
    Ok(watched.day(scheme, age_s / (365.0 * 86_400.0), (&device, &before)))
}
