//! Turns a parsed fio job into the plan of a process.

use super::flow::Share;
use super::plan::{
    Batches, ByDirection, Direction, Ends, Least, Logs, Looks, Op, Plan, Rate, Recorded,
    RequestKind, Requests, Steady, Target, Think,
};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_fio as fio;
use fowler_units::Span;
use std::path::Path;
use std::sync::Arc;

fn given(span: Span) -> Option<Span> {
    (span > Span::ZERO).then_some(span)
}

/// Position of a process of a simulated fio run: its job in the job file, and its wave (the
/// processes between two `stonewall` options).
pub(super) struct Place {
    /// Index of the process's job among the sections of the job file, from 0, and the number of
    /// `stonewall` options up to it, each of which begins a wave of processes.
    pub job: usize,
    pub wave: usize,
    /// True if other processes write an iolog of the same name.
    pub shares_iolog: bool,
}

/// Returns the plan of a process; `draws` draws its start delay if that is a range.
///
/// # Errors
///
/// Options that would change the requests and are not simulated, each with the line of its job.
pub(super) fn plan(
    job: &fio::Job,
    files: &fio::JobFiles,
    place: &Place,
    draws: &mut fio::TimingDraws,
) -> Result<Plan, Diagnostics> {
    refused(job)?;
    let delay = draws.start_delay(job.start_delay);
    let depth = job.depth.max(1);
    let batches = Batches {
        submit: job.batch.clamp(1, depth),
        complete_min: job.batch_complete_min,
        complete_max: job.batch_complete_max.max(job.batch_complete_min).max(1),
        low: job.depth_low.clamp(1, depth),
    };
    let passes = if job.recording.is_some() { 1 } else { u64::from(job.loops.max(1)) };
    let moved = if files.io_size > 0 { files.io_size } else { files.size.saturating_mul(passes) };
    Ok(Plan {
        name: job.name.clone(),
        number: job.number,
        job: place.job,
        group: job.group as usize,
        wave: place.wave,
        waits_for: match &job.start_after {
            fio::StartAfter::Named(name) => Some(name.clone()),
            fio::StartAfter::Nothing | fio::StartAfter::AllAbove => None,
        },
        delay,
        depth,
        synchronous: job.waits(),
        waits_for_trims: job.waits_for_trims,
        batches,
        rates: rates(job),
        poisson: job.rate.process == fio::RateProcess::Poisson,
        pauses_shift_rates: job.rate.ignore_thinktime,
        think: think(&job.think),
        serialize_overlap: job.serialize_overlap,
        least: least(job),
        share: share(&job.flow),
        runtime: job.runtime,
        ramp: job.ramp,
        target: target(&job.latency),
        steady: job.steady.and_then(|state| steady(&state)),
        durable: job.durable_writes,
        max_latency: given(job.latency.max),
        ends: match job.exit_all {
            fio::ExitAll::Off => Ends::Itself,
            fio::ExitAll::Group => Ends::Group,
            fio::ExitAll::Stonewall => Ends::Wave,
            fio::ExitAll::All => Ends::All,
        },
        recorded: recorded(job),
        logs: logs(job, place.shares_iolog),
        files: files.files.iter().map(|file| file.name.clone()).collect(),
        grouped: job.group_reporting,
        silent: job.statistics.silent,
        bytes: (!job.time_based).then_some(moved),
    })
}

/// Refuses options of a job that would change its requests and are not simulated.
fn refused(job: &fio::Job) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut refuse = |what: &str, hint: &str| {
        let name = format!("[{}]", job.name);
        let problem = Diagnostic::new(&job.file, what).line(job.line).text(name);
        problems.push(problem.hint(hint.to_string()));
    };
    if job.statistics.unified == fio::Unified::Both {
        refuse("`unified_rw_reporting=both` is not simulated", "use mixed or none");
    }
    if job.steady.is_some_and(|state| steady(&state).is_none()) {
        refuse("`steadystate` of latencies is not simulated", "use iops or bw");
    }
    problems.or(())
}

fn rates(job: &fio::Job) -> ByDirection<Option<Rate>> {
    ByDirection::from_fn(|direction| {
        let place = direction as usize;
        let block = u64::from(job.blocks[place].min);
        let by_iops = u64::from(job.rate.iops[place]) * block;
        let bytes_per_s = if by_iops > 0 { by_iops } else { job.rate.bytes[place] };
        (bytes_per_s > 0).then_some(Rate { bytes_per_s, block })
    })
}

fn least(job: &fio::Job) -> Option<Least> {
    let fio::Rate { mut min_bytes, mut min_iops, cycle, .. } = job.rate;
    // A single value stands for all directions, and the job may not have them all.
    let fio::Kind { reads, writes, trims, .. } = job.kind;
    for (place, has) in [reads, writes, trims].into_iter().enumerate() {
        if !has {
            (min_bytes[place], min_iops[place]) = (0, 0);
        }
    }
    let some = min_bytes.iter().any(|&it| it > 0) || min_iops.iter().any(|&it| it > 0);
    let by = |of: &dyn Fn(usize) -> u64| ByDirection::from_fn(|it: Direction| of(it as usize));
    some.then(|| Least {
        bytes: by(&|place| min_bytes[place]),
        requests: by(&|place| u64::from(min_iops[place])),
        cycle,
    })
}

fn think(think_time: &fio::ThinkTime) -> Option<Think> {
    (think_time.time > Span::ZERO).then(|| Think {
        time: think_time.time,
        blocks: u64::from(think_time.blocks.max(1)),
        counts_issued: think_time.count_issues,
        after: given(think_time.io_time),
    })
}

fn share(flow: &fio::Flow) -> Option<Share> {
    let fio::Flow { id, weight, sleep } = *flow;
    (weight > 0).then_some(Share { flow: id, weight, sleep })
}

fn target(latency_target: &fio::LatencyTarget) -> Option<Target> {
    (latency_target.target > Span::ZERO).then_some(Target {
        latency: latency_target.target,
        window: latency_target.window,
        percentile: latency_target.percentile,
        runs_on: latency_target.keep_running,
    })
}

/// Returns the job's steady-state criterion; `None` if its metric is not simulated.
fn steady(state: &fio::SteadyState) -> Option<Steady> {
    let looks = match state.metric {
        fio::SteadyMetric::Iops => Looks::Iops,
        fio::SteadyMetric::Bandwidth => Looks::Bandwidth,
        fio::SteadyMetric::Latency => return None,
    };
    let duration = (state.duration.0 / 1_000_000_000).max(1);
    let fio::SteadyState { slope, limit, percent, ramp, .. } = *state;
    Some(Steady { looks, slope, limit, percent, duration, ramp })
}

fn recorded(job: &fio::Job) -> Recorded {
    let statistics = &job.statistics;
    let window = |span: Span| given(span).unwrap_or(Span::ms(500));
    Recorded {
        percentiles: statistics.percentiles.clone(),
        of: [statistics.slat_percentiles, statistics.clat_percentiles, statistics.lat_percentiles],
        windows: [window(job.logs.bandwidth_window), window(job.logs.iops_window)],
        unified: statistics.unified == fio::Unified::Mixed,
        kept: [!statistics.no_slat, !statistics.no_clat, !statistics.no_lat],
        rates: !statistics.no_bandwidth,
    }
}

fn logs(job: &fio::Job, shares_iolog: bool) -> Logs {
    let logs = &job.logs;
    // A job of somebody else must not choose a folder of this machine.
    let named = |name: &Option<String>| {
        let own = |name: &String| Path::new(name).file_name()?.to_str().map(str::to_string);
        let name = name.as_ref().map(|name| own(name).unwrap_or_else(|| job.name.clone()))?;
        Some(name.replace('/', "_"))
    };
    let window = given(logs.histogram_window);
    Logs {
        bandwidth: named(&logs.bandwidth),
        iops: named(&logs.iops),
        latency: named(&logs.latency),
        histogram: named(&logs.histogram).zip(window),
        coarseness: logs.histogram_coarseness,
        window: given(logs.window),
        maximum: logs.max_value,
        offset: logs.offset,
        per_job: logs.per_job,
        iolog: named(&logs.iolog).map(|name| match shares_iolog {
            true => format!("{name}.{}", job.number),
            false => name,
        }),
    }
}

/// The requests of a process, with their places on the drive.
pub(super) struct Bound {
    pub sequence: fio::Sequence,
    pub layout: Arc<fio::Layout>,
    /// Index, from 0, of the process's fio job among the jobs of `layout`, which gives each job its
    /// files and their places on the drive.
    pub job: usize,
    /// Random draws of the intervals between the process's requests.
    pub draws: fio::TimingDraws,
}

impl Bound {
    fn op(&self, request: &fio::Request, after_all: bool, not_before: Option<Span>) -> Op {
        let what = match request.op {
            fio::Op::Read => RequestKind::Data(Direction::Read),
            fio::Op::Write => RequestKind::Data(Direction::Write),
            fio::Op::Trim => RequestKind::Data(Direction::Trim),
            fio::Op::Sync => RequestKind::Sync,
            fio::Op::DataSync => RequestKind::DataSync,
        };
        let (offset, length, file) = (request.offset, request.length, request.file);
        let address = match request.op.is_flush() {
            true => 0,
            false => self.layout.drive_offset(self.job, file, offset),
        };
        Op { what, file: file as usize, offset, address, length, after_all, not_before }
    }
}

impl Requests for Bound {
    fn next(&mut self, pick: &mut dyn FnMut(Direction) -> Direction) -> Option<Op> {
        let mut choose = |drawn: fio::Op| match drawn {
            fio::Op::Read => word(pick(Direction::Read)),
            fio::Op::Write => word(pick(Direction::Write)),
            other => other,
        };
        let (mut after_all, mut not_before) = (false, None);
        loop {
            match self.sequence.next_step_as(&mut choose) {
                fio::Step::Issue(request) => {
                    return Some(self.op(&request, after_all, not_before));
                }
                fio::Step::NotBefore(time) => not_before = Some(time),
                fio::Step::Drain => after_all = true,
                fio::Step::Done => return None,
            }
        }
    }

    fn stop(&mut self) {
        self.sequence.stop();
    }

    fn gap_us(&mut self, direction: Direction, iops: u64) -> u64 {
        self.draws.interval(word(direction), iops).0 / 1_000
    }
}

fn word(direction: Direction) -> fio::Op {
    [fio::Op::Read, fio::Op::Write, fio::Op::Trim][direction as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_least_rate_is_one_of_directions_that_the_job_has() {
        let text = "[j]\nsize=1m\nrw=randread\nrate_iops_min=100\nrate_min=1m\n";
        let file = fio::JobFile::parse(text, "job.fio", &fio::Environment::empty());
        let least = least(&file.expect("a job file").jobs[0]).expect("a least rate");
        assert_eq!(Direction::ALL.map(|it| least.requests[it]), [100, 0, 0]);
        assert_eq!(Direction::ALL.map(|it| least.bytes[it]), [1 << 20, 0, 0]);
    }
}
