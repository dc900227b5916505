//! Many lives of one drive at a steady write amplification, side by side on one pass over the
//! workload ([`fowler_device::SteadyLife`]): a study of throttles at dilations that are too small
//! for a simulated translation layer.
//!
//! 1. The drives of all lanes are resolved; they must have the same sizes and the same seed.
//! 2. The workload is surveyed, and each lane gets its dilations.
//! 3. The workload is repeated. Each batch of writes is served by every life that is not over.
//! 4. The results come lane by lane, with a note on what was left out.

use super::end_of_life::{Cycles, EndOfLife};
use super::factor::{dilated, repetitions};
use super::record::{Record, Seen};
use super::result::Lifetime;
use super::scope::{left_out, whole, without_effect};
use super::survey::{self, Survey};
use fowler_device::SteadyLife;
use fowler_device::policy::voltage::VoltageKind;
use fowler_experiment::device_spec::{self, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::progress::Progress;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::{Control, Workload, WorkloadSpec};
use fowler_units::{HostIo, Nanos, Span};

/// Specification of lives of one drive under one workload, at a constant write amplification.
#[derive(Clone, Debug)]
pub struct SteadySpec {
    /// Workload that all drives of the comparison repeat for their whole life.
    pub workload: WorkloadSpec,
    /// The replay speed: the factor by which the arrival times of the repeated workload are
    /// divided.
    pub speed: f64,
    /// The most requests that one repetition of the workload has; `None` for all.
    pub limit: Option<u64>,
    /// Pages programmed for each host page ([`super::write_amplification`]).
    pub waf: f64,
    /// Lives that are simulated in parallel, with their drives.
    pub lanes: Vec<SteadyLane>,
    /// Start and length of the close-up, a recording second by second, in the second repetition of
    /// the workload; `None` records no close-up.
    pub close_up: Option<(Span, Span)>,
}

/// A drive and scheme whose life is simulated at one or several dilations (real repetitions of the
/// workload per simulated one).
#[derive(Clone, Debug)]
pub struct SteadyLane {
    /// Drive whose lives are simulated. All lives of one [`SteadySpec`] share a pass over the
    /// workload, and need drives of the same sizes and seed.
    pub device: DeviceSpec,
    /// Scheme under which the drive of this life runs.
    pub scheme: String,
    /// Highest dilation (real repetitions of the workload per simulated one) that is allowed for
    /// this drive and scheme.
    pub most: u32,
    /// The fewest repetitions of the workload that remain to be simulated: an upper limit on the
    /// dilation (real repetitions per simulated one). Time for which the throttle blocks the host
    /// does not count.
    pub repetitions: u32,
    /// Factors by which the chosen dilation (real repetitions of the workload per simulated one) is
    /// multiplied; one life is simulated for each.
    pub times: Vec<u32>,
}

impl SteadyLane {
    fn drive(&self) -> Result<Resolved, Diagnostics> {
        let drive = device_spec::resolve(
            &self.device.source()?,
            &Scheme::load(&self.scheme)?,
            &self.device,
        )?;
        let drive = drive.page_mapped("a lifetime")?;
        whole(&drive)?;
        without_effect(&drive.config).or(())?;
        if drive.config.bad_blocks.share > 0.0 {
            let what =
                "blocks cannot fail in a life at a constant write amplification: it has no blocks";
            return Err(Diagnostic::new("bad_blocks.share", what).expected("0").into());
        }
        Ok(drive)
    }

    /// Returns the number of real repetitions of the workload that one simulated repetition stands
    /// for in the life of this drive.
    fn dilation(&self, drive: &Resolved, survey: &Survey, waf: f64) -> u32 {
        let own = repetitions(&drive.config, survey, waf);
        let most = libm::floor(own / f64::from(self.repetitions)).max(1.0);
        (most as u32).clamp(1, self.most.max(1))
    }
}

/// A life at a constant write amplification in progress.
struct Running {
    /// Index of the lane (a drive with one scheme; its life may be simulated at two dilations) that
    /// the life belongs to.
    lane: usize,
    dilation: u32,
    pages: f64,
    life: SteadyLife,
    record: Record,
    /// Number of repetitions that had started when the life ended; `None` before its end.
    repetitions: Option<u64>,
}

/// Number of writes that every life serves before the next is served any.
const BATCH: usize = 4096;

impl Running {
    /// Serves requests until all are served or the life ends. Returns true if the life continues.
    fn serve(&mut self, requests: &[HostIo], repetition: u64, begins: Span) -> bool {
        for io in requests {
            match self.life.enter(io) {
                Some(entered) => self.record.note(Seen::of_steady(&self.life), entered, begins),
                None => {
                    self.repetitions = Some(repetition + 1);
                    return false;
                }
            }
        }
        true
    }

    /// Returns the share of the drive's life that is over, from 0 to 1.
    fn done(&self) -> f64 {
        match self.repetitions {
            Some(_) => 1.0,
            None => (self.life.now().0 as f64 / self.life.ends().0 as f64).min(1.0),
        }
    }

    fn lived(self) -> EndOfLife {
        let Running { dilation, pages, life, record, repetitions, .. } = self;
        let totals = life.totals(life.ends());
        let mean = totals.programmed / pages;
        EndOfLife {
            dilation,
            repetitions: repetitions.unwrap_or_default(),
            totals,
            counters: *life.counters(),
            wear: Cycles { least: mean, mean, most: mean },
            throttle: life.throttle(),
            blocked_at_end: life.blocked_at_end().total(),
            erases_before: 0.0,
            bad_blocks: None,
            record,
        }
    }
}

/// Simulates all lives at a constant write amplification that a specification lists. Returns one
/// lifetime for each of its drives, in order, or `None` if the simulation was stopped.
///
/// # Errors
/// Everything that is wrong with a drive or the workload, or drives that differ in size.
pub fn steady_lives(
    spec: &SteadySpec,
    control: Control<'_>,
) -> Result<Option<Vec<Lifetime>>, Diagnostics> {
    let drives = spec.lanes.iter().map(SteadyLane::drive).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = drives.first() else { return Ok(Some(Vec::new())) };
    if drives.iter().any(|it| it.layout != first.layout || it.config.seed != first.config.seed) {
        let what = "lives simulated in parallel need drives of the same sizes and the same seed";
        return Err(Diagnostic::new(first.device.clone(), what).into());
    }
    let workload = Workload::prepare(&spec.workload, first, None, control)?;
    // The survey counts as nothing of the lives: it is one repetition of many.
    let quiet = Control { stop: control.stop, progress: &|_| () };
    let counted = survey::survey(&workload, first, (spec.speed, spec.limit), quiet)?;
    let Some((survey, report)) = counted else { return Ok(None) };
    let mut running = Vec::new();
    for (lane, (asked, drive)) in spec.lanes.iter().zip(&drives).enumerate() {
        let dilation = asked.dilation(drive, &survey, spec.waf);
        for &times in &asked.times {
            let dilation = dilation.saturating_mul(times);
            let config = dilated(drive, dilation)?;
            let life = SteadyLife::new(&config, spec.waf);
            let record = Record::new(life.ends(), spec.close_up);
            let pages = f64::from(config.geometry.pages());
            running.push(Running { lane, dilation, pages, life, record, repetitions: None });
        }
    }
    if !simulate(spec, (&workload, &survey), &mut running, control)? {
        return Ok(None);
    }
    let mut lived: Vec<Vec<EndOfLife>> = drives.iter().map(|_| Vec::new()).collect();
    for one in running {
        lived[one.lane].push(one.lived());
    }
    let of_drive = |(drive, lived): (Resolved, Vec<EndOfLife>)| {
        let mut left_out = left_out(&drive.config);
        left_out.push("the translation layer: every host page costs the same".into());
        if drive.config.voltage.name != VoltageKind::Nominal {
            left_out.push("voltages: every program wears the cells as a nominal one does".into());
        }
        Lifetime {
            precondition: format!(
                "drive assumed to be in long use: {:.3} pages are programmed for each host page",
                spec.waf
            ),
            workload: report.clone(),
            survey,
            left_out,
            lived,
            drive,
            fleet: None,
            checkpoints: Vec::new(),
        }
    };
    Ok(Some(drives.into_iter().zip(lived).map(of_drive).collect()))
}

/// Repeats the workload until every life is over. Returns false if stopped.
fn simulate(
    spec: &SteadySpec,
    (workload, survey): (&Workload, &Survey),
    running: &mut [Running],
    control: Control<'_>,
) -> Result<bool, Diagnostics> {
    let mut batch: Vec<HostIo> = Vec::with_capacity(BATCH);
    let mut reported = 0.0;
    let mut report = |running: &[Running], served: usize| {
        let done = running.iter().map(Running::done).sum::<f64>() / running.len().max(1) as f64;
        let (requests, of_a_part) = (served as u64, done - reported);
        reported = done;
        (control.progress)(Progress::Served { requests, of_a_part });
    };
    for repetition in 0u64.. {
        let begins = Span(survey.span.0 * repetition);
        let moved = |io: HostIo| io.with_at(Nanos(io.at.0 - survey.first.0) + begins);
        let quiet = Control { stop: control.stop, progress: &|_| () };
        let (_, failed) =
            workload.replay_round(repetition, spec.speed, spec.limit, quiet, |requests| {
                let mut writes = requests.filter(survey::changes_data).map(moved);
                loop {
                    batch.clear();
                    batch.extend(writes.by_ref().take(BATCH));
                    let mut alive = false;
                    for one in running.iter_mut().filter(|it| it.repetitions.is_none()) {
                        alive |= one.serve(&batch, repetition, begins);
                    }
                    report(running, batch.len());
                    if batch.is_empty() || !alive {
                        break;
                    }
                }
            })?;
        if let Some(diagnostics) = failed {
            return Err(diagnostics);
        }
        if control.stopped() {
            return Ok(false);
        }
        if running.iter().all(|it| it.repetitions.is_some()) {
            break;
        }
    }
    Ok(true)
}
