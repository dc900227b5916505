//! From a trace to four answers: how slow and why, what it costs in flash, how long the drive
//! lives, and which scheme or drive is better. `ask` chooses drive settings and replay speed, gives
//! the reasons, runs the simulations, and states how far each answer can be trusted.

mod answers;
mod choices;

pub use answers::Answer;
pub use choices::Choice;

use crate::passage::Passage;
use fowler_experiment::candidates::{Candidate, Candidates};
use fowler_experiment::device_spec::{Axis, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::life_estimate::{self, Survey};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::replay_speed::ReplaySpeed;
use fowler_experiment::run::{Run, RunSpec};
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

/// A question to `ask`: the trace, the drives and the limits.
#[derive(Clone, Debug)]
pub struct AskSpec {
    /// Path of the trace.
    pub path: PathBuf,
    /// Options for reading the trace.
    pub options: ReadOptions,
    /// The flags for these options, and settings of the drive, for the commands at the ends of
    /// answers.
    pub flags: String,
    /// The drive, under schemes of `ask`'s choice, or the drives.
    pub drives: Drives,
    /// The most requests that are replayed.
    pub limit: u64,
    /// The seeds of the comparison.
    pub seeds: u32,
    /// True to record the data of charts.
    pub detail: bool,
}

/// The drives that are asked about.
#[derive(Clone, Debug)]
pub enum Drives {
    /// One drive, on which schemes are compared.
    One(DeviceSpec),
    /// Several drives, which are compared.
    Several(Candidates),
}

/// Long use of a drive, which is simulated above this crate.
#[derive(Clone, Copy)]
pub struct LongUse {
    /// Returns the reason why long use of a drive cannot be simulated; `None` if it can.
    pub why_not: fn(&Resolved) -> Option<String>,
    /// Returns the pages programmed per host page after long use of a drive by at most so many
    /// requests of a workload, repeated; `None` if stopped.
    pub write_amplification: WriteAmplification,
}

/// The type of [`LongUse::write_amplification`].
pub type WriteAmplification =
    fn(&Resolved, &WorkloadSpec, Option<u64>, Control<'_>) -> Result<Option<f64>, Diagnostics>;

/// The answers, and the results that they are based on.
pub struct Asked {
    /// The choices that were made.
    pub choices: Vec<Choice>,
    /// The four answers.
    pub answers: Vec<Answer>,
    /// The runs of the comparison.
    pub outcomes: Vec<Outcome>,
    /// The numbers of the runs over the seeds; `None` with one seed.
    pub spread: Option<Spread>,
}

/// The facts that answers are derived from.
struct Known<'a> {
    flags: &'a str,
    choices: &'a [Choice],
    drive: &'a Resolved,
    survey: Survey,
    /// Recorded time span of the trace.
    recorded: Span,
    wear: Wear,
    /// The run on the drive: of several schemes, under the first.
    outcome: &'a Outcome,
}

/// The runs that the last answer compares.
struct Compared<'a> {
    candidates: &'a Candidates,
    outcomes: &'a [Outcome],
    spread: Option<&'a Spread>,
}

impl Compared<'_> {
    /// Returns a command line for all drives and this trace.
    fn command(&self, known: &Known<'_>, command: &str, more: &str) -> String {
        let devices: Vec<&str> =
            self.candidates.all().iter().map(|it| it.device.device.as_str()).collect();
        known.command_on(&format!("--devices {}", quoted(&devices.join(","))), command, more)
    }
}

/// The wear of the drive by the trace.
enum Wear {
    /// The trace contains no writes.
    None,
    /// Pages programmed per host page after long use.
    Long(f64),
    /// Long use of this drive is not simulated, and why.
    NotSimulated(String),
}

impl Known<'_> {
    /// Name of the drive, where several are asked about.
    fn name(&self) -> Option<String> {
        self.drive.candidate.clone()
    }

    /// The life at a write amplification; `None` without times.
    fn estimate(&self, waf: f64) -> Option<life_estimate::Estimate> {
        let is_timed = self.survey.span > Span::ZERO;
        is_timed.then(|| life_estimate::at_waf(self.drive, &self.survey, waf))
    }

    /// Returns a command line for this trace, replayed as here.
    fn command(&self, command: &str, more: &str) -> String {
        self.command_on(&format!("--device {}", quoted(&self.drive.device)), command, more)
    }

    fn command_on(&self, drives: &str, command: &str, more: &str) -> String {
        // A life has a pace of its own, and repeats all of the trace.
        let of_runs = |it: &Choice| matches!(it.of, "pace" | "requests");
        let chosen = self.choices.iter().filter(|it| command != "lifetime" || !of_runs(it));
        let flags = chosen.flat_map(|choice| choice.flags.iter().map(String::as_str));
        let words = ["fowler", command, drives, self.flags].into_iter().chain(flags).chain([more]);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Answers the four questions. Progress is reported as for a comparison.
///
/// # Errors
/// Everything that is wrong with the trace or the drive, or if it was stopped.
pub fn ask(spec: &AskSpec, long_use: LongUse, control: Control<'_>) -> Result<Asked, Diagnostics> {
    let mut options = spec.options.clone();
    let candidates = match &spec.drives {
        Drives::One(device) => Candidates::schemes(device, &SCHEMES.map(String::from)),
        Drives::Several(candidates) => candidates.clone(),
    };
    candidates.check(None, &[]).or(())?;
    let asked = match candidates.axis() {
        Axis::Schemes => &candidates.all()[..1],
        Axis::Devices => candidates.all(),
    };
    let Some(first) = asked.first() else { return Err(Diagnostic::of("no drive is given").into()) };
    let (info, mut choices) = choices::look(&spec.path, &mut options, spec.limit)?;
    let mut run = RunSpec {
        device: first.device.clone(),
        scheme: first.scheme.clone(),
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
    candidates.check(Some(&run.workload), &[]).or(())?;
    let drives: Vec<Resolved> =
        asked.iter().map(|it| it.drive(&run)).collect::<Result<_, Diagnostics>>()?;
    choices.push(match &drives[..] {
        [drive] => choices::drive(drive),
        several => choices::drives(several),
    });
    // A trace that fits the smallest drive fits all of them, and all get the same requests.
    let smallest = drives.iter().min_by_key(|it| it.layout.logical.0).unwrap_or(&drives[0]);
    let quiet = Control { stop: control.stop, progress: &|_| () };
    let trace =
        |remap| WorkloadSpec::Trace(TraceSpec::new(spec.path.clone(), options.clone(), remap));
    let fits = || Workload::prepare(&trace(Remap::Compact), smallest, None, quiet).is_ok();
    let (remap, addresses) = choices::addresses(&info, smallest, fits);
    choices.push(addresses);
    run.workload = trace(remap);
    let ceiling = |it: &Candidate| -> Result<Option<f64>, Diagnostics> {
        Ok(whole(Run::new(&it.spec(&run), control).outcome()?, control)?.iops())
    };
    let ceilings = asked.iter().map(ceiling).collect::<Result<Vec<_>, _>>()?;
    // The slowest drive decides the pace of all.
    let slowest = ceilings.iter().flatten().copied().min_by(f64::total_cmp);
    let (pace, why) = choices::pace(&info, slowest);
    choices.push(why);
    run.replay_speed = pace;
    run.limit = Some(spec.limit);
    run.detail = spec.detail;
    let (outcomes, spread) = seeds::compare_over(&run, &candidates, spec.seeds, control)?;
    if outcomes.len() < candidates.all().len() || control.stopped() {
        return Err(stopped());
    }
    let (flags, recorded) = (spec.flags.as_str(), info.span);
    let mut known = Vec::new();
    for ((drive, ceiling), outcome) in drives.iter().zip(&ceilings).zip(&outcomes) {
        let (survey, wear) = long_use_of(&run, (drive, *ceiling), long_use, control)?;
        known.push(Known { flags, choices: &choices, drive, survey, recorded, wear, outcome });
    }
    let compared =
        Compared { candidates: &candidates, outcomes: &outcomes, spread: spread.as_ref() };
    let answers = answers::all(&known, &compared);
    Ok(Asked { choices, answers, outcomes, spread })
}

/// Surveys a repetition of the trace at the pace of the runs, and finds how it wears the drive. In
/// a closed loop the drive serves no more than its ceiling in requests per second, which bounds the
/// wear.
fn long_use_of(
    run: &RunSpec,
    (drive, ceiling): (&Resolved, Option<f64>),
    long_use: LongUse,
    control: Control<'_>,
) -> Result<(Survey, Wear), Diagnostics> {
    let (mut survey, wear) = wear(run, drive, long_use, control)?;
    if let (ReplaySpeed::Closed(_), Some(ceiling)) = (run.replay_speed, ceiling)
        && survey.span > Span::ZERO
    {
        survey.span = survey.span.max(Span((survey.requests as f64 / ceiling * 1e9) as u64));
    }
    if control.stopped() { Err(stopped()) } else { Ok((survey, wear)) }
}

/// Surveys a repetition of the trace, and finds how it wears the drive.
fn wear(
    run: &RunSpec,
    drive: &Resolved,
    long_use: LongUse,
    control: Control<'_>,
) -> Result<(Survey, Wear), Diagnostics> {
    let workload = Workload::prepare(&run.workload, drive, None, control)?;
    let looked = life_estimate::look(&workload, drive, run.limit, control)?;
    let Some(survey) = looked.filter(|survey| survey.writes > 0) else {
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
            Err(Diagnostic::new(drive.device.clone(), what).into())
        }
    }
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/=:,+@%".contains(c);
    match word.chars().all(plain) && !word.is_empty() {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
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
    /// Returns the answers for the head of a page, a passage for each question.
    pub fn passages(&self) -> Vec<Passage> {
        let mut passages: Vec<Passage> = Vec::new();
        for answer in &self.answers {
            let title = answer.question.to_string();
            if passages.last().is_none_or(|last| last.title != title) {
                passages.push(Passage { title, paragraphs: Vec::new() });
            }
            let Some(passage) = passages.last_mut() else { continue };
            let about = answer.drive.clone().unwrap_or_default();
            passage.paragraphs.push((about, answer.text.clone()));
            passage.paragraphs.push(("confidence".into(), answer.confidence.clone()));
            passage.paragraphs.push(("next".into(), answer.next.clone()));
        }
        passages
    }

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
            "drive": self.drive,
            "answer": self.text,
            "confidence": self.confidence,
            "next": self.next,
            "numbers": numbers,
        })
    }
}
