//! Runs benchmark jobs on simulated drives that stand for the measured one.

use super::addresses::Slots;
use super::estimate::Estimate;
use super::job::{Job, Needs, Role, StreamPlan};
use super::scale::{Effort, Scaled};
use super::tally::{Moment, Recording, Tally};
use crate::streams::{self, Stream};
use fowler_device::Config;
use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::image_cache::ImageCache;
use fowler_experiment::memory;
use fowler_experiment::progress::Control;
use fowler_experiment::run::DriveKind;
use fowler_experiment::with_drive_kind;
use fowler_metrics::{ByKind, Kind};
use fowler_units::{HostIo, HostOp, Nanos, Rng, Span};

/// Lag of a stream of requests behind its schedule above which the stream starts a new schedule.
/// The load generator `iob`, which made the measurements, forgets a lag above 5 s.
const FORGETS: Span = Span::ms(5_000);
/// Number of preconditioned images kept in memory: two initial states (such as erased and steady),
/// each at two sizes of the scaled-down drive.
const IMAGES: usize = 4;

/// Returns a cache for preconditioned drive images, from which the simulated measurements start.
/// Drives that differ only in timing can share one.
pub(crate) fn images() -> ImageCache {
    ImageCache::of(IMAGES)
}

/// A simulated drive on which benchmark jobs run, each on a copy of its own.
pub struct Bench<'a> {
    /// Scaled-down drive for each property that scaling may have to preserve ([`Needs`]: block
    /// size, number of blocks, block size relative to the drive), or the reason why there is none.
    scaled: [Result<Scaled, Diagnostics>; 3],
    effort: Effort,
    images: &'a ImageCache,
}

/// Results of a benchmark job on a simulated drive.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Description of the drive's initial state, in words.
    pub state: String,
    /// Capacity of the simulated drive in bytes.
    pub capacity: u64,
    /// Factors by which the simulated drive has fewer blocks, and fewer pages per block, than the
    /// described one.
    pub scale: (f64, f64),
    /// Number of requests completed in the benchmark job.
    pub requests: u64,
    /// Simulated time of the benchmark job in seconds.
    pub simulated_s: f64,
    moments: Vec<Moment>,
    tallies: [ByKind<Tally>; 2],
    /// Start of the measured part of the run, in seconds of simulated time.
    from: f64,
}

impl<'a> Bench<'a> {
    /// Prepares the scaled-down drives that stand for `drive`.
    pub(crate) fn new(drive: &Resolved, effort: Effort, images: &'a ImageCache) -> Bench<'a> {
        let scaled = [Needs::Tail, Needs::Blocks, Needs::Pieces];
        let scaled = scaled.map(|needs| Scaled::of(drive, needs, &effort));
        Bench { scaled, effort, images }
    }

    /// Returns the scaled-down drive on which a job runs.
    ///
    /// # Errors
    /// If the described drive cannot be scaled down as far as the job needs.
    fn scaled(&self, job: &Job) -> Result<&Scaled, Diagnostics> {
        self.scaled[job.needs as usize].as_ref().map_err(Clone::clone)
    }

    /// Runs a benchmark job. Returns `None` if it was stopped.
    ///
    /// # Errors
    /// If the drive cannot run the job, or needs too much memory.
    pub fn run(&self, job: &Job, control: Control<'_>) -> Result<Option<Findings>, Diagnostics> {
        let scaled = self.scaled(job)?;
        // An image, and the drive made from it.
        memory::refuse_run(&scaled.drive, 2)?;
        let config = scaled.in_state(job.state);
        with_drive_kind!(config, Kind => {
            self.run_on::<Kind>(job, scaled, &config, control)
        })
    }

    fn run_on<L: DriveKind>(
        &self,
        job: &Job,
        scaled: &Scaled,
        config: &Config,
        control: Control<'_>,
    ) -> Result<Option<Findings>, Diagnostics> {
        let device = L::drive(&scaled.drive.device, config, Some(self.images), control);
        let mut device = match device {
            Err(_) if control.stopped() => return Ok(None),
            device => device?,
        };
        let logical = scaled.drive.layout.logical.0;
        let seed = config.seed;
        let streams = job.streams.iter().enumerate().map(|(number, plan)| {
            Ok(Stream {
                requests: Box::new(requests(plan, number, logical, seed)?),
                pace: plan.pace,
                depth: plan.depth,
                host: plan.host,
                begins: Span::ZERO,
                forgets: FORGETS,
            })
        });
        let streams: Result<Vec<Stream<'_>>, Diagnostics> = streams.collect();
        let state = L::history(&device).to_string();
        let mut recording = Recording::new(job, &self.effort, &device, scaled.factor);
        streams::run(&mut device, streams?, seed, &mut recording, &mut (), control);
        if control.stopped() {
            return Ok(None);
        }
        let from = recording.from();
        let Recording { moments, tallies, .. } = recording;
        let last = moments.last().copied().unwrap_or_default();
        Ok(Some(Findings {
            state,
            capacity: logical,
            scale: (scaled.fewer_blocks, scaled.shorter_blocks),
            requests: last.answered.iter().flatten().sum::<f64>() as u64,
            simulated_s: last.at,
            moments,
            tallies,
            from,
        }))
    }
}

/// Returns the requests of a stream, without end.
fn requests(
    plan: &StreamPlan,
    number: usize,
    logical: u64,
    seed: u64,
) -> Result<impl Iterator<Item = HostIo> + Send + use<>, Diagnostics> {
    let (block, reads) = (plan.block, plan.reads);
    let slots = (logical as f64 * plan.space) as u64 / u64::from(block);
    if slots == 0 {
        let what = format!("requests of {block} B do not fit into {logical} B of the drive");
        return Err(Diagnostic::of(what).hint("--capacity simulates more".to_string()).into());
    }
    let mut slots = Slots::new(&plan.addresses, slots, seed, &number.to_string());
    let mut coin = Rng::stream(seed, &format!("protocol/op/{number}"));
    Ok(std::iter::repeat_with(move || {
        let read = reads >= 1.0 || (reads > 0.0 && coin.chance(reads));
        let op = if read { HostOp::Read } else { HostOp::Write };
        HostIo::new(op, Nanos::ZERO, slots.draw() * u64::from(block), block)
    }))
}

/// Number of batches into which an interval is divided for the confidence interval of a rate.
const PARTS: u32 = 20;

impl Findings {
    /// Returns the latencies of reads or of writes (`kind`) over all request streams with one role:
    /// probe (the measured streams) or load.
    pub(super) fn latencies(&self, role: Role, kind: Kind) -> &Tally {
        &self.tallies[role as usize][kind]
    }

    /// Returns the counters of the simulated drive (bytes, requests, programs) when the share
    /// `share` (0 to 1) of the time of the benchmark job after its warm-up has passed.
    fn at(&self, share: f64) -> Moment {
        let last = self.moments.last().copied().unwrap_or_default();
        let at = self.from + share * (last.at - self.from);
        let next = self.moments.partition_point(|moment| moment.at < at);
        let (before, after) = (next.saturating_sub(1), next.min(self.moments.len() - 1));
        self.moments[before].towards(&self.moments[after], at)
    }

    /// Returns the mean increase per second of the counter that `of` selects, between two shares (0
    /// to 1) of the benchmark job's time after its warm-up, with a confidence interval by batch
    /// means.
    fn rate(&self, (from, to): (f64, f64), of: impl Fn(&Moment) -> f64) -> Estimate {
        let rate = |from: f64, to: f64| {
            let (one, other) = (self.at(from), self.at(to));
            (of(&other) - of(&one)) / (other.at - one.at).max(f64::MIN_POSITIVE)
        };
        let part = |number: u32| from + (to - from) * f64::from(number) / f64::from(PARTS);
        let parts: Vec<f64> = (0..PARTS).map(|it| rate(part(it), part(it + 1))).collect();
        Estimate::of_batches(rate(from, to), &parts)
    }

    /// Returns the throughput of reads or of writes in 10^6 bytes per second, between two shares (0
    /// to 1) of the measured part.
    pub(super) fn mb_s(&self, kind: Kind, between: (f64, f64)) -> Estimate {
        self.rate(between, |moment| moment.moved[kind as usize]).map(|it| it / 1e6)
    }

    /// Returns the requests per second, of reads or of writes, of all probe streams, of all load
    /// streams or, without a role, of both; `between` is the part of the job, as shares (0 to 1) of
    /// its length.
    pub(crate) fn iops(&self, role: Option<Role>, kind: Kind, between: (f64, f64)) -> Estimate {
        let of = |moment: &Moment| match role {
            Some(role) => moment.answered[role as usize][kind as usize],
            None => moment.answered.iter().map(|both| both[kind as usize]).sum(),
        };
        self.rate(between, of)
    }

    /// Returns write amplification between two shares (0 to 1) of the measured part: bytes
    /// programmed, and bytes that GC copied, per byte that the host wrote; `None` if the host wrote
    /// nothing.
    pub(super) fn waf(&self, (from, to): (f64, f64)) -> Option<(Estimate, Estimate)> {
        let ratio = |from: f64, to: f64, of: fn(&Moment) -> f64| {
            let (one, other) = (self.at(from), self.at(to));
            let host = other.moved[1] - one.moved[1];
            (host > 0.0).then(|| (of(&other) - of(&one)) / host)
        };
        let estimate = |of: fn(&Moment) -> f64| {
            let part = |number: u32| from + (to - from) * f64::from(number) / f64::from(PARTS);
            let parts: Option<Vec<f64>> =
                (0..PARTS).map(|it| ratio(part(it), part(it + 1), of)).collect();
            let value = ratio(from, to, of)?;
            Some(parts.map_or(Estimate::bare(value), |it| Estimate::of_batches(value, &it)))
        };
        Some((estimate(|moment| moment.programmed)?, estimate(|moment| moment.copied)?))
    }

    /// Returns throughput and write amplification over the run, in `parts` parts with equal writes:
    /// drive writes so far, 10^6 bytes per second, and bytes programmed per byte written.
    pub fn curve(&self, parts: u32) -> Vec<[f64; 3]> {
        let all = self.moments.last().map_or(0.0, |it| it.moved[1]);
        let moment = |number: u32| {
            let written = all * f64::from(number) / f64::from(parts);
            let next = self.moments.partition_point(|it| it.moved[1] < written);
            self.moments[next.min(self.moments.len() - 1)]
        };
        let part = |number: u32| {
            let (one, other) = (moment(number), moment(number + 1));
            let host = other.moved[1] - one.moved[1];
            let middle = (one.moved[1] + other.moved[1]) / 2.0 / self.capacity as f64;
            let mb_s = host / (other.at - one.at) / 1e6;
            [middle, mb_s, (other.programmed - one.programmed) / host]
        };
        let curve: Vec<[f64; 3]> = (0..parts).map(part).collect();
        curve.into_iter().filter(|it| it.iter().all(|value| value.is_finite())).collect()
    }
}
