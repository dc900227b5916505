//! From a trace to four answers: how slow and why, what it costs in flash, how long the drive
//! lives, and which scheme is better. `ask` chooses what the user would have to choose, says why,
//! runs what is needed, and tells how far each answer can be trusted.

mod answers;
mod choices;

pub use answers::Answer;
pub use choices::Choice;

use fowler_experiment::device_spec::{DeviceSpec, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::life_estimate::{self, Survey};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::replay_speed::ReplaySpeed;
use fowler_experiment::run::{self, Run, RunSpec};
use fowler_experiment::seeds::{self, Spread};
use fowler_experiment::workload::{Control, TraceSpec, Workload, WorkloadSpec};
use fowler_units::Span;
use fowler_workload::{ReadOptions, Remap};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The schemes that are compared: they change latency on any drive.
const SCHEMES: [&str; 4] = ["fifo", "rps", "pes_ips", "pes_ipc"];
/// The requests with which the drive's ceiling is measured.
const CEILING_OF: u64 = 50_000;

/// What is asked of which trace.
#[derive(Clone, Debug)]
pub struct AskSpec {
    /// The trace.
    pub path: PathBuf,
    /// How it is read.
    pub options: ReadOptions,
    /// The flags that say so, for the commands that answers end with.
    pub flags: String,
    /// The drive.
    pub device: DeviceSpec,
    /// The most requests that are replayed.
    pub limit: u64,
    /// The seeds of the comparison.
    pub seeds: u32,
    /// Whether to record the data of charts.
    pub detail: bool,
}

/// Long use of a drive, which is simulated above this crate.
#[derive(Clone, Copy)]
pub struct LongUse {
    /// Returns why long use of a drive is not simulated; `None` if it is.
    pub why_not: fn(&Resolved) -> Option<String>,
    /// Returns the pages programmed per host page after long use of a drive by at most so many
    /// requests of a workload, repeated; `None` if stopped.
    pub write_amplification: WriteAmplification,
}

/// The type of [`LongUse::write_amplification`].
pub type WriteAmplification =
    fn(&Resolved, &WorkloadSpec, Option<u64>, Control<'_>) -> Result<Option<f64>, Diagnostics>;

/// The answers, and what they stand on.
pub struct Asked {
    /// What was chosen.
    pub choices: Vec<Choice>,
    /// The answers.
    pub answers: [Answer; 4],
    /// The runs of the comparison.
    pub outcomes: Vec<Outcome>,
    /// Their numbers over the seeds.
    pub spread: Option<Spread>,
}

/// What answers look at.
struct Known<'a> {
    flags: &'a str,
    choices: &'a [Choice],
    drive: &'a Resolved,
    survey: &'a Survey,
    /// What the trace covers, by its own times.
    recorded: Span,
    wear: Wear,
    outcomes: &'a [Outcome],
    spread: Option<&'a Spread>,
    schemes: &'a [String],
}

/// What is known of how the trace wears the drive.
enum Wear {
    /// It writes nothing.
    None,
    /// Pages programmed per host page after long use.
    Long(f64),
    /// Long use of this drive is not simulated, and why.
    NotSimulated(String),
}

impl Known<'_> {
    /// The life at a write amplification; `None` without times.
    fn estimate(&self, waf: f64) -> Option<life_estimate::Estimate> {
        let is_timed = self.survey.span > Span::ZERO;
        is_timed.then(|| life_estimate::at_waf(self.drive, self.survey, waf))
    }

    /// A command on the same trace, as it was replayed here.
    fn command(&self, command: &str, more: &str) -> String {
        // A life has a pace of its own, and repeats all of the trace.
        let of_runs = |it: &Choice| matches!(it.of, "pace" | "requests");
        let chosen = self.choices.iter().filter(|it| command != "lifetime" || !of_runs(it));
        let flags = chosen.flat_map(|choice| choice.flags.iter().map(String::as_str));
        let words = ["fowler", command, self.flags].into_iter().chain(flags).chain([more]);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Answers what is asked. Progress is that of a comparison.
///
/// # Errors
/// Everything that is wrong with the trace or the drive, or if it was stopped.
pub fn ask(spec: &AskSpec, long_use: LongUse, control: Control<'_>) -> Result<Asked, Diagnostics> {
    let mut options = spec.options.clone();
    let source = spec.device.source()?;
    let schemes = SCHEMES.map(String::from);
    run::check(&spec.device, &schemes, None, &[]).or(())?;
    let (info, mut choices) = choices::look(&spec.path, &mut options, spec.limit)?;
    let mut run = RunSpec {
        device: spec.device.clone(),
        scheme: Some(SCHEMES[0].into()),
        workload: WorkloadSpec::Trace(TraceSpec::new(
            spec.path.clone(),
            options.clone(),
            Default::default(),
        )),
        replay_speed: ReplaySpeed::Closed(choices::DEPTH),
        limit: Some(spec.limit.min(CEILING_OF)),
        faults: Vec::new(),
        requests: None,
        detail: false,
    };
    run::check(&run.device, &schemes, Some(&run.workload), &[]).or(())?;
    let drive = run::drive(&run, &source, Some(SCHEMES[0]))?;
    choices.push(choices::drive(&drive));
    let quiet = Control { stop: control.stop, progress: &|_| () };
    let trace =
        |remap| WorkloadSpec::Trace(TraceSpec::new(spec.path.clone(), options.clone(), remap));
    let fits = || Workload::prepare(&trace(Remap::Compact), &drive, None, quiet).is_ok();
    let (remap, addresses) = choices::addresses(&info, &drive, fits);
    choices.push(addresses);
    run.workload = trace(remap);
    let ceiling = whole(Run::new(&run, control).outcome()?, control)?.iops();
    let (pace, why) = choices::pace(&info, ceiling);
    choices.push(why);
    run.replay_speed = pace;
    run.limit = Some(spec.limit);
    run.detail = spec.detail;
    let (outcomes, spread) = seeds::compare_over(&run, &schemes, spec.seeds, control)?;
    if outcomes.len() < schemes.len() || control.stopped() {
        return Err(stopped());
    }
    let (mut survey, wear) = wear(&run, &drive, long_use, control)?;
    if let (ReplaySpeed::Closed(_), Some(ceiling)) = (pace, ceiling)
        && survey.span > Span::ZERO
    {
        // Faster than that the drive does not wear.
        survey.span = survey.span.max(Span((survey.requests as f64 / ceiling * 1e9) as u64));
    }
    if control.stopped() {
        return Err(stopped());
    }
    let known = Known {
        flags: &spec.flags,
        choices: &choices,
        drive: &drive,
        survey: &survey,
        recorded: info.span,
        wear,
        outcomes: &outcomes,
        spread: spread.as_ref(),
        schemes: &schemes,
    };
    let answers = answers::all(&known);
    Ok(Asked { choices, answers, outcomes, spread })
}

/// What a repetition of the trace holds, and how many of them wear the drive.
fn wear(
    run: &RunSpec,
    drive: &Resolved,
    long_use: LongUse,
    control: Control<'_>,
) -> Result<(Survey, Wear), Diagnostics> {
    let workload = Workload::prepare(&run.workload, drive, None, control)?;
    let looked = life_estimate::look(&workload, drive, run.limit, control)?;
    let Some(survey) = looked.filter(|its| its.writes > 0) else {
        return Ok((Survey::default(), Wear::None));
    };
    if let Some(why) = (long_use.why_not)(drive) {
        return Ok((survey, Wear::NotSimulated(why)));
    }
    let waf = (long_use.write_amplification)(drive, &run.workload, run.limit, control)?;
    match waf {
        Some(waf) => Ok((survey, Wear::Long(waf))),
        None if control.stopped() => Err(stopped()),
        None => {
            let what = "the write amplification of this trace could not be measured";
            Err(Diagnostic::new(run.device.device.clone(), what).into())
        }
    }
}

/// A run that was cut short answers nothing.
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

impl Asked {
    /// Returns choices and answers as an object.
    pub fn json(&self) -> Value {
        let choices: Vec<Value> = self
            .choices
            .iter()
            .map(|it| json!({ "of": it.of, "why": it.why, "flags": it.flags }))
            .collect();
        json!({ "choices": choices, "answers": self.answers.iter().map(Answer::json).collect::<Vec<_>>() })
    }
}

impl Answer {
    fn json(&self) -> Value {
        let numbers = self.numbers.iter().filter(|(_, value)| value.is_finite());
        let numbers: Map<String, Value> =
            numbers.map(|&(name, value)| (name.to_string(), value.into())).collect();
        json!({
            "question": self.question,
            "answer": self.text,
            "confidence": self.confidence,
            "next": self.next,
            "numbers": numbers,
        })
    }
}
