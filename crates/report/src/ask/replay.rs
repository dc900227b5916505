//! The replay of a trace by `ask`: the same requests on every drive, as they are measured, compared
//! and repeated for years.

use super::answers::{self, Answer};
use super::choices::{self, Choice};
use super::drives::{self, Asking};
use super::facts::{AskSpec, Compared, Known, LongUse, Wear};
use fowler_experiment::candidates::{Candidate, Candidates};
use fowler_experiment::device_spec::{DeviceSpec, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::life_estimate::{self, Survey};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::progress::Progress;
use fowler_experiment::replay_speed::ReplaySpeed;
use fowler_experiment::run::{Run, RunSpec};
use fowler_experiment::seeds;
use fowler_experiment::workload::{Control, TraceSpec, Workload, WorkloadSpec};
use fowler_units::Span;
use fowler_workload::{ReadOptions, Remap, TraceInfo};

/// The requests with which the drive's ceiling is measured.
const CEILING_OF: u64 = 50_000;

/// A trace as it is replayed on all drives.
pub(super) struct Replay<'a> {
    spec: &'a AskSpec,
    /// The run, on any drive. Until the pace is chosen, it is that of the first requests in a
    /// closed loop.
    pub(super) run: RunSpec,
    /// The choices that were made.
    pub(super) choices: Vec<Choice>,
    options: ReadOptions,
    /// Recorded time span of the trace.
    recorded: Span,
    long_use: LongUse,
    control: Control<'a>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(
        spec: &'a AskSpec,
        (options, info): (ReadOptions, &TraceInfo),
        choices: Vec<Choice>,
        (long_use, control): (LongUse, Control<'a>),
    ) -> Replay<'a> {
        let run = RunSpec {
            device: DeviceSpec::default(),
            scheme: None,
            workload: workload(spec, &options, Remap::default()),
            replay_speed: ReplaySpeed::Closed(choices::DEPTH),
            limit: Some(spec.limit.min(CEILING_OF)),
            faults: Vec::new(),
            requests: None,
            detail: false,
        };
        Replay { spec, run, choices, options, recorded: info.span, long_use, control }
    }

    /// Chooses the treatment of addresses and the pace. Returns the rates that the drives can
    /// serve, in requests per second.
    pub(super) fn choose(
        &mut self,
        info: &TraceInfo,
        asking: &Asking,
        drives: &[Resolved],
    ) -> Result<Vec<Option<f64>>, Diagnostics> {
        self.choices.push(match (drives, &asking.choice) {
            (_, Some(choice)) => choice.clone(),
            ([drive], None) => choices::drive(drive),
            (several, None) => choices::drives(several),
        });
        // A trace that fits the smallest drive fits all of them, and all get the same requests.
        let smallest = drives.iter().min_by_key(|it| it.layout.logical.0).unwrap_or(&drives[0]);
        let fits = || self.has_room(&workload(self.spec, &self.options, Remap::Compact), smallest);
        let (remap, addresses) = choices::addresses(info, smallest, fits);
        self.choices.push(addresses);
        self.run.workload = workload(self.spec, &self.options, remap);
        let ceilings: Vec<Option<f64>> =
            asking.asked.iter().map(|it| self.ceiling(it)).collect::<Result<_, _>>()?;
        // The slowest drive decides the pace of all.
        let slowest = ceilings.iter().flatten().copied().min_by(f64::total_cmp);
        let (pace, why) = choices::pace(info, slowest);
        self.choices.push(why);
        self.run.replay_speed = pace;
        self.run.limit = Some(self.spec.limit);
        Ok(ceilings)
    }

    /// Returns true if the drive has all addresses of the workload.
    fn has_room(&self, workload: &WorkloadSpec, drive: &Resolved) -> bool {
        let quiet = Control { stop: self.control.stop, progress: &|_| () };
        Workload::prepare(workload, drive, None, quiet).is_ok()
    }

    /// Returns the rate in requests per second at which a drive serves the first requests in a
    /// closed loop; `None` if no time passes.
    fn ceiling(&self, candidate: &Candidate) -> Result<Option<f64>, Diagnostics> {
        Ok(self.once(&candidate.spec(&self.run))?.iops())
    }

    /// Runs once.
    fn once(&self, run: &RunSpec) -> Result<Outcome, Diagnostics> {
        (self.control.progress)(Progress::Planned(1));
        whole(Run::new(run, self.control).outcome()?, self.control)
    }

    /// Runs the candidates with every seed; `detail` is true to record the data of charts.
    pub(super) fn compare(
        &self,
        candidates: &Candidates,
        detail: bool,
    ) -> Result<Compared, Diagnostics> {
        let run = RunSpec { detail, ..self.run.clone() };
        let (outcomes, spread) =
            seeds::compare_over(&run, candidates, self.spec.seeds, self.control)?;
        if outcomes.len() < candidates.all().len() || self.control.stopped() {
            return Err(stopped());
        }
        Ok(Compared { candidates: candidates.clone(), outcomes, spread })
    }

    /// Answers in short for a drive that was not chosen.
    pub(super) fn shortly(&self, device: &DeviceSpec) -> Result<Answer, Diagnostics> {
        let drive = drives::as_described(device)?;
        if !self.has_room(&self.run.workload, &drive) {
            return Ok(answers::no_room(&drive));
        }
        let outcome = self.once(&RunSpec { device: device.clone(), ..self.run.clone() })?;
        Ok(answers::in_short(&self.about(&drive, outcome.iops(), &outcome)?))
    }

    /// Gathers what answers about a drive need. `ceiling` is the rate in requests per second that
    /// the drive can serve in a closed loop, which bounds the wear.
    pub(super) fn about<'b>(
        &'b self,
        drive: &'b Resolved,
        ceiling: Option<f64>,
        outcome: &'b Outcome,
    ) -> Result<Known<'b>, Diagnostics> {
        let (mut survey, wear) = self.wear(drive)?;
        if let (ReplaySpeed::Closed(_), Some(ceiling)) = (self.run.replay_speed, ceiling)
            && survey.span > Span::ZERO
        {
            survey.span = survey.span.max(Span((survey.requests as f64 / ceiling * 1e9) as u64));
        }
        if self.control.stopped() {
            return Err(stopped());
        }
        let (flags, choices, recorded) = (self.spec.flags.as_str(), &self.choices, self.recorded);
        Ok(Known { flags, choices, drive, survey, recorded, wear, outcome })
    }

    /// Surveys a repetition of the trace, and finds how it wears the drive.
    fn wear(&self, drive: &Resolved) -> Result<(Survey, Wear), Diagnostics> {
        let (run, control) = (&self.run, self.control);
        let workload = Workload::prepare(&run.workload, drive, None, control)?;
        let looked = life_estimate::look(&workload, drive, run.limit, control)?;
        let Some(survey) = looked.filter(|survey| survey.writes > 0) else {
            return Ok((Survey::default(), Wear::None));
        };
        if let Some(why) = (self.long_use.why_not)(drive) {
            return Ok((survey, Wear::NotSimulated(why)));
        }
        let waf = (self.long_use.write_amplification)(drive, &run.workload, run.limit, control)?;
        match waf {
            Some(waf) => Ok((survey, Wear::Long(waf))),
            None if control.stopped() => Err(stopped()),
            None => {
                let what = "the write amplification of this trace could not be measured";
                Err(Diagnostic::new(drive.device.clone(), what).into())
            }
        }
    }
}

fn workload(spec: &AskSpec, options: &ReadOptions, remap: Remap) -> WorkloadSpec {
    WorkloadSpec::Trace(TraceSpec::new(spec.path.clone(), options.clone(), remap))
}

/// Returns the outcome of a whole run: one that was cut short answers nothing.
fn whole(outcome: Outcome, control: Control<'_>) -> Result<Outcome, Diagnostics> {
    match &outcome.ending {
        fowler_experiment::outcome::Ending::Failed(diagnostics) => Err(diagnostics.clone()),
        _ if control.stopped() => Err(stopped()),
        _ => Ok(outcome),
    }
}

fn stopped() -> Diagnostics {
    Diagnostic::new("", "stopped before there was an answer").into()
}
