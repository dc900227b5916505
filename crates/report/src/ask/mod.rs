//! From a trace to answers: how slow and why, what it costs in flash, how long the drive lives,
//! which scheme or drive is better, and what it would be on the other fitted drives. `ask` chooses
//! drive settings and replay speed, gives the reasons, runs the simulations, and states how far
//! each answer can be trusted.

mod answers;
mod choices;
mod drives;
mod facts;
mod replay;

pub use answers::Answer;
pub use choices::Choice;
pub use facts::{AskSpec, Drives, LongUse, quoted};

use self::drives::Asking;
use self::facts::Compared;
use self::replay::Replay;
use crate::passage::Passage;
use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::fan_out;
use fowler_experiment::outcome::Outcome;
use fowler_experiment::seeds::Spread;
use fowler_experiment::workload::Control;
use serde_json::{Map, Value, json};

/// The answers of `fowler ask` to questions about a trace, and the results that they are based on.
pub struct Asked {
    /// The choices that `fowler ask` made for the user.
    pub choices: Vec<Choice>,
    /// Answers of `fowler ask` to questions about the trace, ordered by question, then by drive.
    pub answers: Vec<Answer>,
    /// Results of the runs with the first seed, one for each scheme or drive that `fowler ask`
    /// compares.
    pub outcomes: Vec<Outcome>,
    /// Metrics of the runs that `fowler ask` compares (of drives or schemes), over the seeds with
    /// which they were repeated; `None` with one seed.
    pub spread: Option<Spread>,
}

/// Answers the questions of `fowler ask`. Progress is reported as for a comparison.
///
/// # Errors
/// Everything that is wrong with the trace or the drive, or if the user stopped it.
pub fn ask(spec: &AskSpec, long_use: LongUse, control: Control<'_>) -> Result<Asked, Diagnostics> {
    // The errors of drives come before those of the trace, which takes long to read.
    let mut fitted = Vec::new();
    let named = match &spec.drives {
        Drives::Fitted(settings) => {
            fitted = drives::fitted(settings)?;
            None
        }
        Drives::One(device) => Some(Asking::one(device)?),
        Drives::Several(candidates) => Some(Asking::several(candidates)?),
    };
    let mut options = spec.options.clone();
    let (info, choices) = choices::look(&spec.path, &mut options, spec.limit)?;
    let asking = match (named, &spec.drives) {
        (None, Drives::Fitted(settings)) => Asking::fitted(fitted, settings, &info)?,
        (named, _) => named.expect("the drives are named"),
    };
    let Asking { asked, candidates, schemes, others, choice } = &asking;
    let mut replay = Replay::new(spec, (options, info), choices, (long_use, control));
    candidates.check(Some(&replay.run.workload), &[]).or(())?;
    let mut drives: Vec<Resolved> =
        asked.iter().map(|it| it.drive(&replay.run)).collect::<Result<_, Diagnostics>>()?;
    let ceilings = replay.choose(&asking, &drives)?;
    if let (Some(_), [drive]) = (choice, &mut drives[..]) {
        // Answers about other drives follow.
        drive.candidate = Some(drive.device.clone());
    }
    let compared = replay.compare(candidates, spec.detail)?;
    let places: Vec<usize> = (0..drives.len()).collect();
    let known = fan_out::each(&places, |&place| {
        replay.about(
            &drives[place],
            &replay.run.workload,
            ceilings[place],
            &compared.outcomes[place],
        )
    });
    let known = known.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut answers = answers::about_drives(&known);
    answers.push(answers::better(&known[0], &compared));
    for (known, schemes) in known.iter().zip(schemes) {
        answers.push(answers::better(known, &replay.compare(schemes, false)?));
    }
    for answer in fan_out::each(others, |other| replay.shortly(other)) {
        answers.push(answer?);
    }
    let Compared { outcomes, spread, .. } = compared;
    Ok(Asked { choices: replay.choices, answers, outcomes, spread })
}

impl Asked {
    /// Returns the answers of `fowler ask` as titled passages for the head of an HTML page, one for
    /// each question.
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

    /// Returns the choices and answers of `fowler ask` as a JSON object.
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
