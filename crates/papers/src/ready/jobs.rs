//! The jobs of the READY study: the simulations, and the inputs that each depends on.

use super::paper::{Paper, Simulated, Trace};
use super::plan::{Burst, Demand, FIXED, Lives, OF_OPTIONS, READINGS, SCHEMES, read_as};
use crate::column::Column;
use crate::run_folder::{Job, Results};
use crate::studies;
use fowler_experiment::device_spec::{self, DeviceSpec, Resolved, Source};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_lifetime::{Day, DaysSpec, Ended, LifetimeSpec, SaveTo, SteadyLane, SteadySpec, live};
use fowler_units::{HostOp, Span};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Length of a window in which write demand is counted for the READY paper's Figure 4, in seconds.
const WINDOW_S: u64 = 60;

/// Smallest number of repetitions of the workload that are simulated in a life. In the second life,
/// in which each stands for twice as many real ones, half of them are simulated.
const REPETITIONS: u32 = 6;

pub(super) fn life_name(trace: &str, scheme: &str) -> String {
    format!("{trace} {scheme}")
}

/// Returns the name of the scheme in the name of a simulated life of the READY study that has the
/// dilation `dilation` (real repetitions of the workload per simulated one) instead of the default.
pub(super) fn diluted(scheme: &str, dilation: u32) -> String {
    format!("{scheme} at {dilation}")
}

pub(super) fn burst_name(trace: &str, share: f64) -> String {
    format!("{trace} duty {share}")
}

/// Returns the name of the job that counts the write demand of the real trace in a column.
pub(super) fn real_name(column: &str) -> String {
    format!("{column} demand, real")
}

fn workload(trace: &Trace) -> Result<WorkloadSpec, Diagnostics> {
    presets::open(Folder::Workloads, &trace.stand_in).map(WorkloadSpec::Generated)
}

/// The inputs shared by all jobs of a repetition of the READY study.
#[derive(Clone, Copy)]
pub(super) struct Plan<'p> {
    pub paper: &'p Paper,
    pub limit: Option<u64>,
    /// Seed of drives and generated workloads in the READY study; `None` for the seeds that the
    /// presets of drives and workloads contain.
    pub seed: Option<u64>,
    pub brief: bool,
}

impl Plan<'_> {
    fn device(&self, trace: &Trace, set: &[String]) -> DeviceSpec {
        let (device, set) = (trace.device.clone(), set.to_vec());
        DeviceSpec { device, set, seed: self.seed, ..DeviceSpec::default() }
    }

    fn drive(&self, trace: &Trace, scheme: &str) -> Result<Resolved, Diagnostics> {
        let spec = self.device(trace, &[]);
        device_spec::resolve(&spec.source()?, &Scheme::load(scheme)?, &spec)
    }

    fn trace(&self, name: &str) -> Result<&Trace, Diagnostics> {
        let unknown =
            || Diagnostic::new("presets/papers/ready.toml", format!("has no trace {name}"));
        self.paper.trace.iter().find(|it| it.name == name).ok_or_else(|| unknown().into())
    }

    /// Returns the name of a job of the READY study, extended by the seed of a repetition, because
    /// the job's result depends on the seed.
    pub fn seeded(&self, name: &str) -> String {
        self.seed.map_or_else(|| name.into(), |seed| format!("{name} seed {seed}"))
    }

    /// Returns the jobs that count the write demand of every stand-in trace, with the seed of the
    /// presets and with the seed of this repetition.
    pub fn demands<'a>(&self) -> Result<Vec<Job<'a, Demand>>, Diagnostics> {
        let mut jobs = Vec::new();
        for trace in &self.paper.trace {
            jobs.push(Plan { seed: None, ..*self }.demand(trace)?);
            if self.seed.is_some() {
                jobs.push(self.demand(trace)?);
            }
        }
        Ok(jobs)
    }

    /// Returns the jobs that count the write demand of the real traces in `columns`. No drive of
    /// the paper is named for them; they are counted in pages of the smaller one.
    pub fn real_demands<'a>(
        &self,
        columns: &[Column],
    ) -> Result<Vec<Job<'a, Demand>>, Diagnostics> {
        let job = |column: &Column| {
            let (drive, limit) = (self.drive(&self.paper.trace[0], "nt")?, self.limit);
            let spec = column.spec.clone();
            let inputs = format!("demand {limit:?} {} {}", drive.hash, spec.identity()?);
            let name = real_name(&column.name);
            Ok(Job::new(name, &inputs, move |control| counted(&drive, (&spec, limit), control)))
        };
        columns.iter().map(job).collect()
    }

    fn demand<'a>(&self, trace: &Trace) -> Result<Job<'a, Demand>, Diagnostics> {
        let (drive, limit) = (self.drive(trace, "nt")?, self.limit);
        let spec = workload(trace)?;
        let logical = drive.layout.logical.0;
        let inputs = format!("demand {limit:?} {logical} {:?} {}", self.seed, spec.identity()?);
        let name = self.seeded(&format!("{} demand", trace.name));
        Ok(Job::new(name, &inputs, move |control| counted(&drive, (&spec, limit), control)))
    }

    /// Returns the write demand of each stand-in trace with the seed of this repetition of the
    /// READY study, and the factor by which the trace's arrival times are divided. With another
    /// seed a stand-in trace has another volume; the factor restores that of the paper's Table 1.
    pub fn own_demands(
        &self,
        counted: &Results<Demand>,
    ) -> (BTreeMap<String, Demand>, BTreeMap<String, f64>) {
        let (mut demands, mut speeds) = (BTreeMap::new(), BTreeMap::new());
        for trace in &self.paper.trace {
            let name = format!("{} demand", trace.name);
            let both = (counted.get(&name), counted.get(&self.seeded(&name)));
            let (Some(first), Some(own)) = both else { continue };
            let pages = |demand: &Demand| demand.minutes.iter().sum::<u64>() as f64;
            let speed = if self.limit.is_some() { 1.0 } else { pages(first) / pages(own) };
            demands.insert(trace.name.clone(), own.clone());
            speeds.insert(trace.name.clone(), speed);
        }
        (demands, speeds)
    }

    /// Returns the jobs that measure the write amplification of every stand-in trace.
    pub fn wafs<'a>(&self) -> Result<Vec<Job<'a, f64>>, Diagnostics> {
        let plan = Plan { seed: None, ..*self };
        let job = |trace: &Trace| {
            let (drive, limit) = (plan.drive(trace, "nt")?, plan.limit);
            let spec = workload(trace)?;
            let inputs = format!("waf {} {} {limit:?}", drive.hash, spec.identity()?);
            Ok(Job::new(format!("{} waf", trace.name), &inputs, move |control| {
                fowler_lifetime::write_amplification(&drive, &spec, limit, control)
            }))
        };
        self.paper.trace.iter().map(job).collect()
    }

    /// Returns, by trace, the results of the READY study's jobs whose name is the trace's name
    /// followed by `what`.
    pub fn by_trace<T: Clone>(&self, results: &Results<T>, what: &str) -> BTreeMap<String, T> {
        let of = |trace: &Trace| {
            let found = results.get(&format!("{} {what}", trace.name))?;
            Some((trace.name.clone(), found.clone()))
        };
        self.paper.trace.iter().filter_map(of).collect()
    }

    /// Returns the jobs that simulate the lives of every stand-in trace. Lives of one stand-in
    /// trace are simulated together, in one pass over its requests.
    pub fn groups<'a>(
        &self,
        wafs: &BTreeMap<String, f64>,
        speeds: &BTreeMap<String, f64>,
    ) -> Result<Vec<Job<'a, BTreeMap<String, Lives>>>, Diagnostics> {
        let mut jobs = Vec::new();
        // The least diluted take longest, and start first.
        let mut traces: Vec<&Trace> = self.paper.trace.iter().collect();
        traces.sort_by_key(|trace| trace.most);
        for trace in traces {
            let numbers = (wafs.get(&trace.name), speeds.get(&trace.name));
            let (Some(&waf), Some(&speed)) = numbers else { continue };
            jobs.push(self.group(trace, waf, speed)?);
        }
        Ok(jobs)
    }

    fn group<'a>(
        &self,
        trace: &Trace,
        waf: f64,
        speed: f64,
    ) -> Result<Job<'a, BTreeMap<String, Lives>>, Diagnostics> {
        let (names, lanes) = self.lanes(trace)?;
        let close_up =
            (trace.name == "map").then(|| (Span::ZERO, Span::ms(self.paper.close_up * 1000)));
        let workload = workload(trace)?;
        let drive = self.drive(trace, "nt")?;
        let inputs = format!(
            "{} {} {lanes:?} {waf} {speed} {:?} {close_up:?}",
            drive.hash,
            workload.identity()?,
            self.limit
        );
        let spec = SteadySpec { workload, speed, limit: self.limit, waf, lanes, close_up };
        let name = self.seeded(&format!("{} lives", trace.name));
        Ok(Job::new(name, &inputs, move |control| {
            let lived = fowler_lifetime::steady_lives(&spec, control)?;
            Ok(lived.map(|all| {
                let json = all.iter().map(fowler_lifetime::Lifetime::json);
                Value::Object(names.iter().cloned().zip(json).collect::<Map<_, _>>())
            }))
        }))
    }

    /// Returns the drive lives to simulate under a stand-in trace, one for each scheme of the READY
    /// study and each dilation, with their names.
    fn lanes(&self, trace: &Trace) -> Result<(Vec<String>, Vec<SteadyLane>), Diagnostics> {
        let mut named: Vec<(String, SteadyLane)> = Vec::new();
        // Other seeds are lived at twice the dilation, at which a verdict has to hold.
        let times = match (self.seed, self.brief) {
            (Some(_), _) => vec![2],
            (None, true) => vec![1],
            (None, false) => vec![1, 2],
        };
        let most = match self.limit {
            Some(_) => look(&self.drive(trace, "nt")?),
            None => trace.most,
        };
        let lane = |scheme: &str, set: &[&str]| SteadyLane {
            device: self.device(trace, &set.iter().map(|it| (*it).into()).collect::<Vec<_>>()),
            scheme: scheme.into(),
            most,
            repetitions: REPETITIONS,
            times: times.clone(),
        };
        for (scheme, _) in SCHEMES {
            named.push((life_name(&trace.name, scheme), lane(scheme, &[])));
        }
        if trace.name == "exchange" {
            let fixed = lane("ready_opt", &["policy.throttle.epoch=fixed"]);
            named.push((life_name(&trace.name, FIXED), fixed));
        }
        if self.seed.is_none() && !self.brief {
            for reading in READINGS {
                for scheme in ["ready_pes", "ready_opt"] {
                    let name = life_name(&trace.name, &read_as(scheme, reading));
                    let set = format!("lifetime.recovery={reading}");
                    named.push((
                        name,
                        SteadyLane { times: vec![1], ..lane(scheme, &[set.as_str()]) },
                    ));
                }
            }
            for option in &self.paper.option {
                let set: Vec<&str> = option.set.iter().map(String::as_str).collect();
                named.push((
                    life_name(&trace.name, &read_as(OF_OPTIONS, &option.name)),
                    SteadyLane { times: vec![1], ..lane(OF_OPTIONS, &set) },
                ));
            }
            let here = |it: &&Simulated| it.trace == trace.name && self.limit.is_none();
            for Simulated { scheme, dilation, .. } in self.paper.simulated.iter().filter(here) {
                let name = life_name(&trace.name, &diluted(scheme, *dilation));
                let (most, times) = (*dilation, vec![1]);
                named.push((name, SteadyLane { most, repetitions: 3, times, ..lane(scheme, &[]) }));
            }
        }
        Ok(named.into_iter().unzip())
    }

    /// Returns the jobs that simulate lives with a full translation layer.
    pub fn simulated<'a>(&self) -> Result<Vec<Job<'a, Lives>>, Diagnostics> {
        let mut jobs = Vec::new();
        for Simulated { trace, scheme, dilation } in &self.paper.simulated {
            let trace = self.trace(trace)?;
            let workload = workload(trace)?;
            let (drive, limit) = (self.drive(trace, scheme)?, self.limit);
            let inputs = format!("{} {} {dilation} {limit:?}", drive.hash, workload.identity()?);
            let dilation = if limit.is_some() { look(&drive) } else { *dilation };
            let spec = LifetimeSpec {
                device: self.device(trace, &[]),
                scheme: Some(scheme.clone()),
                workload,
                limit,
                dilation: Some(dilation),
                check: false,
                close_up: None,
                checkpoint: SaveTo::Nowhere,
                checkpoint_every: u64::MAX,
            };
            let name = life_name(&trace.name, &diluted(scheme, dilation));
            jobs.push(Job::new(name, &inputs, move |control| {
                let watch = fowler_lifetime::Watch {
                    control,
                    share: &|_| (),
                    early: &|_| (),
                    warn: &|_| (),
                };
                Ok(match live(&spec, watch)? {
                    Ended::Lived(lived) => Some(lived.json()),
                    Ended::Stopped { .. } => None,
                })
            }));
        }
        Ok(jobs)
    }

    /// Returns the jobs that simulate the static throttle (ST) under a host that writes in one part
    /// of each cycle and is idle in the other.
    pub fn duty<'a>(
        &self,
        wafs: &BTreeMap<String, f64>,
    ) -> Result<Vec<Job<'a, Burst>>, Diagnostics> {
        let mut jobs = Vec::new();
        for name in &self.paper.duty.traces {
            let trace = self.trace(name)?;
            let Some(&waf) = wafs.get(name) else { continue };
            let gb = self.paper.number(super::claims::DEMAND, &format!("{name} GB/h"));
            let Some(gb) = gb else { continue };
            for &share in &self.paper.duty.shares {
                let text = self.bursts(gb, share);
                let drive = self.drive(trace, "st")?;
                let source = Source { name: burst_name(name, share), text };
                let lane = SteadyLane {
                    device: self.device(trace, &[]),
                    scheme: "st".into(),
                    most: self.limit.map_or(u32::MAX, |_| look(&drive)),
                    repetitions: REPETITIONS,
                    times: vec![1],
                };
                let spec = SteadySpec {
                    workload: WorkloadSpec::Generated(source),
                    speed: 1.0,
                    limit: self.limit,
                    waf,
                    lanes: vec![lane],
                    close_up: None,
                };
                let inputs = format!("{} {spec:?}", drive.hash);
                jobs.push(Job::new(burst_name(name, share), &inputs, move |control| {
                    let lived = fowler_lifetime::steady_lives(&spec, control)?;
                    let totals = lived.map(|all| all[0].lived[0].totals);
                    Ok(totals.map(|it| Burst { share, lost: 1.0 - it.programmed / it.rated }))
                }));
            }
        }
        Ok(jobs)
    }

    /// Returns the description, as TOML, of a workload that writes `gb` GB (of 2^30 bytes) per hour
    /// on average: in each duty cycle of `duty.cycle_s` seconds, the host writes for the share
    /// `share` (0 to 1) and then is idle.
    fn bursts(&self, gb: f64, share: f64) -> String {
        let duty = &self.paper.duty;
        let rate = gb * (1u64 << 30) as f64 / 16384.0 / 3600.0;
        let (busy, quiet) = (duty.cycle_s * share * 1e3, duty.cycle_s * (1.0 - share) * 1e3);
        let arrivals = if share < 1.0 {
            format!(
                "kind = \"cycle\", busy_rate = {}, quiet_rate = 0.0, mean_busy = \"{busy:.0}ms\", \
                 mean_quiet = \"{quiet:.0}ms\", spread = 0.0",
                rate / share
            )
        } else {
            format!("kind = \"poisson\", rate = {rate}")
        };
        format!(
            "duration = \"{}h\"\narrivals = {{ {arrivals} }}\nmix = {{ reads = 0.0 }}\n\
             space = {{ share = 0.8, alignment = \"4KiB\" }}\n\
             [writes]\naddresses = \"uniform\"\nsizes = \"16KiB\"\n",
            duty.hours
        )
    }

    /// Returns the jobs of the READY study that simulate single days in the lives of a drive, at
    /// several ages, under some of the synthetic stand-in traces with the seed of this repetition.
    pub fn days<'a>(
        &self,
        demands: &BTreeMap<String, Demand>,
        wafs: &BTreeMap<String, f64>,
        speeds: &BTreeMap<String, f64>,
    ) -> Result<Vec<Job<'a, Vec<Day>>>, Diagnostics> {
        const YEAR_S: f64 = 365.0 * 86_400.0;
        let plan = self;
        let mut jobs = Vec::new();
        for (name, hours, dilation) in &plan.paper.days.traces {
            let trace = plan.trace(name)?;
            let demand = demands.get(name);
            let numbers = (wafs.get(name), speeds.get(name), demand);
            let (Some(&waf), Some(&speed), Some(demand)) = numbers else { continue };
            let drive = plan.drive(trace, "nt")?;
            let dilation = if plan.limit.is_some() { look(&drive) } else { *dilation };
            let spec = DaysSpec {
                device: plan.device(trace, &[]),
                schemes: SCHEMES.map(|(scheme, _)| (scheme.to_string(), dilation)).into(),
                workload: workload(trace)?,
                limit: plan.limit,
                waf,
                speed,
                ages_s: plan.paper.days.ages.iter().map(|years| years * YEAR_S).collect(),
                window: window(&demand.minutes, *hours, speed),
            };
            let inputs = format!("{} {spec:?}", drive.hash);
            let name = plan.seeded(&format!("{name} days"));
            jobs.push(Job::new(name, &inputs, move |control| {
                fowler_lifetime::days(&spec, control)
            }));
        }
        Ok(jobs)
    }
}

/// Returns the begin and the length of the part of a repetition that is `hours` hours long as
/// recorded and whose write volume is nearest to the mean, replayed at `speed`.
fn window(minutes: &[u64], hours: u64, speed: f64) -> (Span, Span) {
    const MINUTE: Span = Span::ms(60_000);
    let length = (hours * 60).min(minutes.len() as u64).max(1);
    let mean = minutes.iter().sum::<u64>() as f64 / minutes.len().max(1) as f64 * length as f64;
    let parts = minutes.chunks_exact(length as usize).map(|part| part.iter().sum::<u64>() as f64);
    let off = parts.map(|volume| (volume - mean).abs()).enumerate();
    let nearest = off.min_by(|one, other| one.1.total_cmp(&other.1)).map_or(0, |(at, _)| at as u64);
    let replayed = |minutes: u64| Span(((MINUTE * minutes).0 as f64 / speed) as u64);
    (replayed(nearest * length), replayed(length))
}

/// Returns the number of real repetitions of the workload that a simulated one stands for in a
/// preview of the READY study, which is quick and inexact: a whole life has only about a dozen
/// epochs of the throttle.
fn look(drive: &Resolved) -> u32 {
    const LEFT_S: f64 = 7200.0;
    (drive.config.life.target.as_s() / LEFT_S).ceil() as u32
}

/// Counts the pages that the writes of a trace touch in each minute.
fn counted(
    drive: &Resolved,
    (spec, limit): (&WorkloadSpec, Option<u64>),
    control: Control<'_>,
) -> Result<Option<Demand>, Diagnostics> {
    let page = drive.config.geometry.page_size.0;
    let mut minutes: Vec<u64> = Vec::new();
    studies::requests(spec, drive, limit, control, |requests| {
        for io in requests.filter(|io| io.op == HostOp::Write && io.size > 0) {
            let minute = (io.at.0 / (WINDOW_S * 1_000_000_000)) as usize;
            if minutes.len() <= minute {
                minutes.resize(minute + 1, 0);
            }
            let last = (io.offset + u64::from(io.size) - 1) / page;
            minutes[minute] += last - io.offset / page + 1;
        }
    })?;
    Ok((!control.stopped()).then_some(Demand { minutes }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::columns;

    /// Reads are no demand, and a write of parts of two pages is one of two: 512 bytes at the end
    /// of a page, 4 KiB in the middle of two, and 4 KiB in place are 1, 2 and 1 pages. The first
    /// two come in the first minute.
    #[test]
    fn the_demand_of_a_trace_is_that_of_its_writes() {
        let text = "time_us,op,offset,size\n0,R,0,65536\n1000000,W,3584,512\n\
                    2000000,W,6144,4096\n61000000,W,8192,4096\n61000001,R,0,4096\n";
        let folder = std::env::temp_dir().join(format!("fowler-demand-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("MSNFS.csv"), text).unwrap();
        let paper = Paper::open().unwrap();
        let plan = Plan { paper: &paper, limit: None, seed: None, brief: true };
        let drive = plan.drive(&paper.trace[0], "nt").unwrap();
        let found = columns(&paper.real, Some(&folder)).unwrap();
        let [column] = &found[..] else { panic!("{found:?}") };
        assert_eq!(column.name, "msnfs real");
        let demand = counted(&drive, (&column.spec, None), Control::UNWATCHED).unwrap().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(demand.minutes, [3, 1]);
    }

    /// The demand of a real trace is looked up by the name of its column.
    #[test]
    fn no_real_trace_has_the_name_of_a_stand_in() {
        let paper = Paper::open().unwrap();
        for real in &paper.real {
            assert!(paper.trace.iter().all(|it| it.name != real.name()), "{}", real.name());
        }
    }

    #[test]
    fn a_representative_part_is_the_one_nearest_to_the_mean() {
        let minutes: Vec<u64> = [9, 1, 5, 6].into_iter().flat_map(|rate| [rate; 60]).collect();
        let hour = Span::ms(3_600_000);
        assert_eq!(window(&minutes, 1, 1.0), (hour * 2, hour));
        assert_eq!(window(&minutes, 1, 0.5), (hour * 4, hour * 2));
        assert_eq!(window(&minutes, 2, 1.0).0, Span::ZERO);
        assert_eq!(window(&minutes, 100, 1.0), (Span::ZERO, hour * 4));
    }
}
