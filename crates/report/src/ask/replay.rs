//! The replay of a trace by `ask`: the same requests on every drive, as they are measured, compared
//! and repeated for years.

use super::answers::{self, Answer};
use super::choices::{self, Choice};
use super::drives::{Asking, Fitted};
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

/// Number of the trace's first requests with which a drive's highest rate is measured.
const CEILING_OF: u64 = 50_000;

/// A trace as `fowler ask` replays it on all drives.
pub(super) struct Replay<'a> {
    spec: &'a AskSpec,
    /// The run of the trace that `fowler ask` makes on every drive. Until the times of requests are
    /// chosen, the run measures the highest rate of a drive: the first 50,000 requests in a closed
    /// loop.
    pub(super) run: RunSpec,
    /// The choices that `fowler ask` made about the replay.
    pub(super) choices: Vec<Choice>,
    options: ReadOptions,
    /// Counts, sizes, addresses and rates of the requests that are replayed.
    info: TraceInfo,
    long_use: LongUse,
    control: Control<'a>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(
        spec: &'a AskSpec,
        (options, info): (ReadOptions, TraceInfo),
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
        Replay { spec, run, choices, options, info, long_use, control }
    }

    /// Chooses how the trace's addresses are fitted to the drives, and at which times its requests
    /// are issued. Returns the rates that the drives can serve, in requests per second.
    pub(super) fn choose(
        &mut self,
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
        let (workload, _, addresses) = self.on(smallest);
        self.choices.push(addresses);
        self.run.workload = workload;
        let ceilings: Vec<Option<f64>> =
            asking.asked.iter().map(|it| self.ceiling(it)).collect::<Result<_, _>>()?;
        // The slowest drive decides the pace of all.
        let slowest = ceilings.iter().flatten().copied().min_by(f64::total_cmp);
        let (pace, why) = choices::pace(&self.info, slowest);
        self.choices.push(why);
        self.run.replay_speed = pace;
        self.run.limit = Some(self.spec.limit);
        Ok(ceilings)
    }

    /// Returns the workload that replays the trace on the drive, the placement of the trace's
    /// addresses (unchanged, packed or wrapped around), and the reason for it.
    fn on(&self, drive: &Resolved) -> (WorkloadSpec, Remap, Choice) {
        let quiet = Control { stop: self.control.stop, progress: &|_| () };
        let limit = Some(self.spec.limit);
        let of = |remap| workload(self.spec, &self.options, remap);
        let fits = || Workload::prepare(&of(Remap::Compact), drive, limit, quiet).is_ok();
        let (remap, choice) = choices::addresses(&self.info, drive, fits);
        (of(remap), remap, choice)
    }

    /// Returns the rate in requests per second at which a drive serves the first requests of the
    /// trace in a closed loop; `None` if no time passes.
    fn ceiling(&self, candidate: &Candidate) -> Result<Option<f64>, Diagnostics> {
        Ok(self.once(&candidate.spec(&self.run))?.iops())
    }

    /// Runs the trace of `fowler ask` once as `run` says, and returns the outcome; an error if the
    /// run was cut short.
    fn once(&self, run: &RunSpec) -> Result<Outcome, Diagnostics> {
        (self.control.progress)(Progress::Planned(1));
        whole(Run::new(run, self.control).outcome()?, self.control)
    }

    /// Runs the drives or schemes that `fowler ask` compares under the trace, with every seed;
    /// `detail` is true to record the data of charts.
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

    /// Returns the short answer about a preset fitted to a real drive on which `fowler ask` does
    /// not answer in full.
    pub(super) fn shortly(&self, other: &Fitted) -> Result<Answer, Diagnostics> {
        let drive = match &other.drive {
            Ok(drive) => drive,
            Err(wrong) => return Ok(answers::refused(&other.device.device, wrong)),
        };
        let (workload, remap, addresses) = self.on(drive);
        if remap == Remap::Modulo {
            return Ok(answers::no_room(drive, &self.info));
        }
        let (device, run) = (other.device.clone(), self.run.clone());
        let run = RunSpec { device, scheme: None, workload, ..run };
        let outcome = self.once(&run)?;
        let choices: Vec<Choice> = self
            .choices
            .iter()
            .map(|it| if it.of == addresses.of { addresses.clone() } else { it.clone() })
            .collect();
        let mut known = self.about(drive, &run.workload, outcome.iops(), &outcome)?;
        known.choices = &choices;
        Ok(answers::in_short(&known))
    }

    /// Gathers the results from which `fowler ask` answers about `drive`: `outcome`, and the wear
    /// and the duration of the trace. `ceiling` is the highest request rate in a closed loop, in
    /// requests per second; the wear assumes no higher rate.
    pub(super) fn about<'b>(
        &'b self,
        drive: &'b Resolved,
        workload: &WorkloadSpec,
        ceiling: Option<f64>,
        outcome: &'b Outcome,
    ) -> Result<Known<'b>, Diagnostics> {
        let (mut survey, wear) = self.wear(drive, workload)?;
        if let (ReplaySpeed::Closed(_), Some(ceiling)) = (self.run.replay_speed, ceiling)
            && survey.span > Span::ZERO
        {
            survey.span = survey.span.max(Span((survey.requests as f64 / ceiling * 1e9) as u64));
        }
        if self.control.stopped() {
            return Err(stopped());
        }
        let (flags, choices) = (self.spec.flags.as_str(), &self.choices);
        let recorded = self.info.span;
        Ok(Known { flags, choices, drive, survey, recorded, wear, outcome })
    }

    /// Counts the requests of the trace that are replayed, and determines how their repetition
    /// wears the drive.
    fn wear(&self, drive: &Resolved, spec: &WorkloadSpec) -> Result<(Survey, Wear), Diagnostics> {
        // The bar counts the requests of runs.
        let (run, control) = (&self.run, Control { progress: &|_| (), ..self.control });
        let workload = Workload::prepare(spec, drive, run.limit, control)?;
        let looked = life_estimate::look(&workload, drive, run.limit, control)?;
        let Some(survey) = looked.filter(|survey| survey.writes > 0) else {
            return Ok((Survey::default(), Wear::None));
        };
        if let Some(why) = (self.long_use.why_not)(drive) {
            return Ok((survey, Wear::NotSimulated(why)));
        }
        let waf = (self.long_use.write_amplification)(drive, spec, run.limit, control)?;
        match waf {
            Some(waf) => Ok((survey, Wear::Long(waf))),
            None if control.stopped() => Err(stopped()),
            None => Ok((survey, Wear::Absorbed)),
        }
    }
}

fn workload(spec: &AskSpec, options: &ReadOptions, remap: Remap) -> WorkloadSpec {
    WorkloadSpec::Trace(TraceSpec::new(spec.path.clone(), options.clone(), remap))
}

/// Returns the outcome of a run that was completed, or an error: a run that was cut short answers
/// nothing.
fn whole(outcome: Outcome, control: Control<'_>) -> Result<Outcome, Diagnostics> {
    match &outcome.ending {
        fowler_experiment::outcome::Ending::Failed(diagnostics) => Err(diagnostics.clone()),
        _ if control.stopped() => Err(stopped()),
        _ => Ok(outcome),
    }
}

fn stopped() -> Diagnostics {
    Diagnostic::new("", "stopped by the user before any question about the trace had its answer")
        .into()
}
