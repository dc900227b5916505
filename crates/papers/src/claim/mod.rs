//! Claims: statements of a paper with the numbers it prints, how a study measures them, and the
//! resulting verdicts.

mod sheet;
mod verdict;
mod view;

use crate::repetition::Repetition;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use serde::Deserialize;
use std::fmt;

pub(crate) use sheet::{bases, sheet};
pub use verdict::Verdict;
pub(crate) use view::{Lens, View};

/// A number, and the label under which a paper or a table has it.
pub(crate) type Labelled = (String, f64);

/// The ID of a claim in the catalog of claims, such as `004-016`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClaimId(pub &'static str);

impl fmt::Display for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The result of measuring a claim: numbers, or `None` if the claim cannot be measured.
pub(crate) type Found = Result<Option<Measured>, Diagnostics>;

/// A claim of a paper as a study declares it; `E` is the type of the study's measurements. The
/// published numbers and the rule for comparing them are in the [`Statement`] of the same ID.
pub(crate) struct Claim<E> {
    pub id: ClaimId,
    pub measure: fn(&E) -> Found,
    pub null: Null<E>,
}

impl<E> Claim<E> {
    /// States the null of a claim (a measurement without the system that the claim is about): the
    /// claim's own measure with some schemes replaced by others, given as pairs (scheme,
    /// replacement).
    pub const fn without(self, pairs: &'static [(&'static str, &'static str)]) -> Claim<E> {
        Claim { id: self.id, measure: self.measure, null: Null::Without(pairs) }
    }

    /// States the null of a claim: a measurement without the system that the claim is about. It is
    /// made by the function `measure`, and described by `words`.
    pub const fn by(self, words: &'static str, measure: fn(&E) -> Found) -> Claim<E> {
        Claim { id: self.id, measure: self.measure, null: Null::By(words, measure) }
    }

    /// Marks a claim about a worked example, a state machine or a small drive. No workload decides
    /// it, so there is no control measurement (null) without the paper's system.
    pub const fn example(self) -> Claim<E> {
        Claim { id: self.id, measure: self.measure, null: Null::Example }
    }

    /// Marks a claim about a worked example or a small drive, which no workload decides, and states
    /// its null: the example without the paper's system, measured by the function `measure` and
    /// described by `words`.
    pub const fn example_by(self, words: &'static str, measure: fn(&E) -> Found) -> Claim<E> {
        Claim { id: self.id, measure: self.measure, null: Null::ExampleBy(words, measure) }
    }

    /// Marks a claim about a workload under the paper's baseline alone. The paper's system does not
    /// take part, so there is no control measurement (null) without it.
    pub const fn baseline(self) -> Claim<E> {
        Claim { id: self.id, measure: self.measure, null: Null::Baseline }
    }
}

/// Returns a paper's claim with ID `id`; the function `measure` measures the claim's numbers on the
/// study's results.
pub(crate) const fn claim<E>(id: &'static str, measure: fn(&E) -> Found) -> Claim<E> {
    Claim { id: ClaimId(id), measure, null: Null::Unstated }
}

/// Returns the claim with the given ID, measured by the function `measure`. Takes a constant ID,
/// for claims to which other code refers, too; [`claim`] takes a string.
pub(crate) const fn named<E>(id: ClaimId, measure: fn(&E) -> Found) -> Claim<E> {
    Claim { id, measure, null: Null::Unstated }
}

/// Returns a claim that cannot be measured.
pub(crate) const fn unmeasured<E>(id: &'static str) -> Claim<E> {
    Claim { id: ClaimId(id), measure: |_| Ok(None), null: Null::Unstated }
}

/// The null of a claim: a measurement without the system that the claim is about. A claim that its
/// null confirms, too, does not discriminate: it cannot tell the system from its absence.
#[derive(Clone, Copy)]
pub(crate) enum Null<E> {
    /// The claim has no control measurement without the paper's system: it agrees by construction
    /// or cannot be measured.
    Unstated,
    /// The claim has no control measurement without the paper's system: it is about a worked
    /// example, a state machine or a small drive, and no workload decides it.
    Example,
    /// The claim has no control measurement without the paper's system: it is about a workload
    /// under the paper's baseline, in which the system does not take part.
    Baseline,
    /// The control measurement repeats the claim's own with one scheme of each pair replaced: where
    /// the claim uses the first scheme, the control uses the second, which lacks the paper's
    /// system.
    Without(&'static [(&'static str, &'static str)]),
    /// A description in words, for tables, of the control measurement without the paper's system,
    /// and the separate function that makes it.
    By(&'static str, fn(&E) -> Found),
    /// A description in words, for tables, of a worked example or a small drive without the paper's
    /// system, and the function that measures it. No workload decides the claim.
    ExampleBy(&'static str, fn(&E) -> Found),
}

impl<E: Viewed> Null<E> {
    /// Returns true if the claim has a null (a measurement without the system that the claim is
    /// about) that can be measured.
    pub fn exists(&self) -> bool {
        matches!(self, Null::Without(_) | Null::By(..) | Null::ExampleBy(..))
    }

    /// Returns true if a workload decides the claim, and not a worked example, a state machine, a
    /// small drive or a parameter.
    fn is_of_workload(&self) -> bool {
        matches!(self, Null::Without(_) | Null::By(..) | Null::Baseline)
    }

    /// Describes in words, for tables, the null of the claim (a measurement without the system that
    /// the claim is about), or why it has none.
    pub fn words(&self) -> String {
        match self {
            Null::Unstated => "not applicable".into(),
            Null::Example => "not applicable: a worked example or a state machine".into(),
            Null::Baseline => "not applicable: about the baseline alone".into(),
            Null::Without(pairs) => {
                let one = |(system, read): &(&str, &str)| format!("{read} in place of {system}");
                pairs.iter().map(one).collect::<Vec<_>>().join(", ")
            }
            Null::By(words, _) | Null::ExampleBy(words, _) => (*words).into(),
        }
    }

    /// Measures the null of a claim on `evidence`: the claim's number without the system that it is
    /// about. Returns `None` if the claim has no null.
    ///
    /// # Errors
    /// Any error of the measurement.
    pub fn measure(claim: &Claim<E>, evidence: &E) -> Found {
        match claim.null {
            Null::Without(pairs) => {
                evidence.view().through(&Lens::replacing(pairs), || (claim.measure)(evidence))
            }
            Null::By(_, measure) | Null::ExampleBy(_, measure) => measure(evidence),
            Null::Unstated | Null::Example | Null::Baseline => Ok(None),
        }
    }
}

/// An option for a choice that a paper leaves open, under which the paper's claims are measured
/// again.
pub(crate) struct Choice {
    /// Name of an option for a choice that a paper leaves open, such as the value of a setting.
    /// Tables name the options at both ends of a claim's range over the open choices.
    pub name: String,
    pub lens: Lens,
}

/// Measures a claim once for each option that the study has runs of, where the paper leaves a
/// setting open. Returns the name of each option with its measurement.
///
/// # Errors
/// Any error of a measurement.
fn under_choices<E: Viewed>(
    claim: &Claim<E>,
    choices: &[Choice],
    evidence: &E,
) -> Result<Vec<(String, Measured)>, Diagnostics> {
    // A claim without a workload is the same under all of them.
    if !claim.null.is_of_workload() {
        return Ok(Vec::new());
    }
    let own = (claim.measure)(evidence)?;
    let mut all = Vec::new();
    for choice in choices {
        let found = evidence.view().through(&choice.lens, || (claim.measure)(evidence))?;
        // A measure that does not read what the choice varies is no evidence on it.
        let found = found.filter(|found| Some(found) != own.as_ref());
        all.extend(found.map(|found| (choice.name.clone(), found)));
    }
    Ok(all)
}

/// Measures a claim at each step of the range of what the study assumes, in one repetition of the
/// study.
fn over_bounds<E: Viewed>(
    claim: &Claim<E>,
    repetition: Repetition,
    evidence: &E,
) -> Result<Vec<Bound>, Diagnostics> {
    if !claim.null.is_of_workload() {
        return Ok(Vec::new());
    }
    let own = (claim.measure)(evidence)?;
    let mut all = Vec::new();
    for Choice { name, lens } in evidence.bounds() {
        let measured = evidence.view().through(&lens, || (claim.measure)(evidence))?;
        // A measure that does not read what the study assumes is the same at every step.
        if measured != own {
            all.push(Bound { name, repetition, measured });
        }
    }
    Ok(all)
}

/// Measurements of a paper's study, with a view: a replacement of the results of some schemes or
/// drives by those of others, from which claims are then measured.
pub(crate) trait Viewed: Sized + 'static {
    /// Returns the view of the study's measurements: it makes claims read the results of another
    /// scheme or drive in place of the one that they ask for, as control measurements need.
    fn view(&self) -> &View;

    /// Returns the options for which the study has runs where its paper leaves a choice open, such
    /// as a setting of the drive.
    fn choices(&self) -> Vec<Choice>;

    /// Returns the steps of the range of what the study itself assumes, such as the sizes of
    /// volumes where others are published. A verdict must hold at each of them.
    fn bounds(&self) -> Vec<Choice> {
        Vec::new()
    }
}

/// A statement of a paper, as given in the paper's data file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    /// ID of the statement in the catalog of claims, such as `004-016`.
    pub id: String,
    /// Place of the statement in the paper: section, table, figure or equation.
    pub place: String,
    /// Statement that the paper makes and that is to be reproduced, reworded.
    pub claim: String,
    /// Numbers that the paper itself prints for this claim; numbers that only follow from these are
    /// in `derived`.
    #[serde(default)]
    pub published: Vec<Labelled>,
    /// Numbers that follow by arithmetic from those that the paper prints.
    #[serde(default)]
    pub derived: Vec<Labelled>,
    /// Arithmetic, in words, that gives the numbers which follow from those that the paper prints.
    #[serde(default)]
    pub derivation: String,
    /// Directions of effects that the paper's statement names, such as "reads are faster than
    /// writes". The measurement must report on every one of them.
    #[serde(default)]
    pub directions: Vec<String>,
    /// Description of the way in which the simulator measures the numbers of the paper's statement.
    pub how: String,
    /// The criterion by which measured and published numbers agree.
    pub check: Check,
    /// Reason why the numbers measured for the paper's statement differ from the published ones;
    /// empty if they do not differ.
    #[serde(default)]
    pub why: String,
    /// True if the measured number cannot differ from the published one: it is a parameter of the
    /// preset, arithmetic on the paper's own numbers, or fitted to them.
    #[serde(default)]
    pub by_construction: bool,
}

/// The criterion by which the measured numbers of a claim agree with the published ones.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Check {
    /// Numbers measured for a paper's statement must equal the published ones to the last printed
    /// digit. For parameters, and numbers derived from parameters alone.
    Exact,
    /// Measured numbers must equal the published ones to the last printed digit; a number within 1
    /// % still matches in shape. For numbers derived from a rounded parameter.
    Rounded,
    /// Measured numbers must be within 1 % of the published ones: used if a published number
    /// follows from mean values of a workload that the stand-in trace has too. The claim matches in
    /// shape if the directions hold and the numbers are within a factor of two.
    Close,
    /// The paper's claim cannot be measured in the simulator.
    #[default]
    Unmeasured,
    /// Measured numbers must be within 10 % of the published ones, because the workload is not
    /// public. The claim matches in shape if the directions hold and the numbers are within a
    /// factor of two.
    Shape,
    /// Only the directions that the paper states must hold: the paper prints no number.
    Direction,
    /// Numbers measured for a paper's statement must be from zero up to the number that the paper
    /// prints.
    Below,
}

/// The measurement of a paper's claim: numbers, and which of the effects that the paper states in
/// words (such as "reads are faster than writes") hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measured {
    /// Measured numbers of the claim, with the labels of the published ones.
    pub values: Vec<Labelled>,
    /// True if the claim's statement in words holds under every workload measured.
    pub holds: bool,
    /// Returns the measurement of a paper's claim that consists of numbers only, without a
    /// direction of an effect, such as "reads are faster", that must hold.
    pub directions: Vec<(String, bool)>,
}

impl Measured {
    /// Returns a measurement of a claim that has only numbers and no direction.
    pub fn exactly(values: Vec<Labelled>) -> Measured {
        Measured::held(values, true)
    }

    /// Returns a measurement of a statement in a paper: numbers, and true in `holds` if what the
    /// statement says in words is also true in the simulation.
    pub fn held(values: Vec<Labelled>, holds: bool) -> Measured {
        Measured { values, holds, directions: Vec::new() }
    }

    /// Returns a measurement of a claim that has only numbers, with labels that are constants.
    pub fn of<const N: usize>(values: [(&str, f64); N]) -> Measured {
        Measured::exactly(values.map(|(label, value)| (label.to_string(), value)).into())
    }

    /// Returns the measurement with a new answer to whether the paper's statement in words is true
    /// in the simulation.
    pub fn if_holds(self, holds: bool) -> Measured {
        Measured { holds, ..self }
    }

    /// Adds to the measurement an effect that the paper's statement names, such as "reads are
    /// faster than writes", in the words of the statement, with true if it holds.
    pub fn direction(mut self, words: &str, holds: bool) -> Measured {
        self.directions.push((words.into(), holds));
        self
    }
}

/// A statement of a paper, with all measurements of its claim.
pub(crate) struct Answer {
    pub statement: Statement,
    pub measured: Option<Measured>,
    /// Measurements of the claim in the repetitions of the study; `None` where it could not be
    /// measured.
    pub repeated: Vec<(Repetition, Option<Measured>)>,
    pub null: NullAnswer,
    /// Measurements of the claim under alternative settings for what the paper leaves open, by the
    /// name of the alternative; only those that the study has runs of.
    pub chosen: Vec<(String, Measured)>,
    /// Measurements of the claim over the range of what the study assumes, which bind the verdict.
    pub bounds: Vec<Bound>,
}

/// Measurement of a claim at one step of the range of a value that the study assumes, such as the
/// sizes of volumes. The verdict on the claim must hold there too.
pub(crate) struct Bound {
    /// Name of the step of the range, such as "published sizes".
    pub name: String,
    pub repetition: Repetition,
    /// Measurement of the claim at a step of the range of what the study assumes; `None` if the
    /// claim cannot be measured there, which counts against its verdict.
    pub measured: Option<Measured>,
}

/// The null of a claim (a measurement without the system that the claim is about), with its
/// results.
#[derive(Default)]
pub(crate) struct NullAnswer {
    /// Description of the measurement without the system that the claim is about (the claim's
    /// null), or the reason why there is none.
    pub words: String,
    /// True if the claim's number can be measured without the system that the claim is about.
    pub exists: bool,
    /// True if the claim is about simulated behaviour under a workload; false for worked examples,
    /// state machines and claims about a baseline alone.
    pub of_workload: bool,
    pub measured: Option<Measured>,
    /// The claim's number without the system that the claim is about, measured in the repetitions
    /// of the study (other seeds and longer runs).
    pub repeated: Vec<(Repetition, Option<Measured>)>,
}

/// Measures every claim of a paper on `evidence`, the measurements of its study. `statements` and
/// `claims` must be in the same order.
///
/// # Errors
/// Any error of a measurement, or an error if statements and claims do not match or a statement
/// could not fail.
pub(crate) fn answers<E: Viewed>(
    statements: &[Statement],
    claims: &[Claim<E>],
    evidence: &E,
) -> Result<Vec<Answer>, Diagnostics> {
    let choices = evidence.choices();
    let one = |(statement, claim): (&Statement, &Claim<E>)| {
        matching(statement, claim.id)?;
        statement.refuse_if_vacuous()?;
        let measured = (claim.measure)(evidence)?;
        if let Some(measured) = &measured {
            let is_measured = |stated: &String| {
                measured.directions.is_empty()
                    || measured.directions.iter().any(|(words, _)| words == stated)
            };
            let missing = statement.directions.iter().find(|&stated| !is_measured(stated));
            debug_assert_eq!(missing, None, "{}: the study measures others", statement.id);
        }
        let null = NullAnswer {
            words: claim.null.words(),
            exists: claim.null.exists(),
            of_workload: claim.null.is_of_workload(),
            measured: Null::measure(claim, evidence)?,
            repeated: Vec::new(),
        };
        let chosen = under_choices(claim, &choices, evidence)?;
        let bounds = over_bounds(claim, Repetition::Original, evidence)?;
        let statement = statement.clone();
        Ok(Answer { statement, measured, repeated: Vec::new(), null, chosen, bounds })
    };
    if statements.len() != claims.len() {
        let what = format!(
            "the paper's data file states {} claims, and the study measures {}",
            statements.len(),
            claims.len()
        );
        return Err(Diagnostic::new("", what).into());
    }
    statements.iter().zip(claims).map(one).collect()
}

/// Measures every claim of a paper again on `evidence`, the measurements of a repetition of the
/// study (another seed or longer runs), and adds them to the claims' entries in `answers`.
///
/// # Errors
/// Any error of a measurement.
pub(crate) fn repeat<E: Viewed>(
    answers: &mut [Answer],
    claims: &[Claim<E>],
    repetition: Repetition,
    evidence: &E,
) -> Result<(), Diagnostics> {
    for (answer, claim) in answers.iter_mut().zip(claims) {
        answer.repeated.push((repetition, (claim.measure)(evidence)?));
        answer.null.repeated.push((repetition, Null::measure(claim, evidence)?));
        answer.bounds.extend(over_bounds(claim, repetition, evidence)?);
    }
    Ok(())
}

fn matching(statement: &Statement, id: ClaimId) -> Result<(), Diagnostics> {
    if statement.id == id.0 {
        return Ok(());
    }
    let what = format!(
        "the paper's data file states claim {} where the study measures claim {id}",
        statement.id
    );
    Err(Diagnostic::new("", what).into())
}

impl Statement {
    /// Returns the published number of the statement with the label `label`, printed or derived.
    pub fn number(&self, label: &str) -> Option<f64> {
        labelled(&self.published, label).or_else(|| labelled(&self.derived, label))
    }

    /// Returns an error for a paper's statement that every measurement would confirm, or whose
    /// derivation is not given.
    fn refuse_if_vacuous(&self) -> Result<(), Diagnostics> {
        let empty = self.published.is_empty() && self.derived.is_empty();
        let what = match self.check {
            Check::Unmeasured => return Ok(()),
            Check::Direction if !empty => "a claim by direction has no numbers",
            Check::Direction if self.directions.is_empty() => "no direction is stated",
            Check::Direction => return Ok(()),
            _ if empty => "no number is published, so any number would agree",
            _ if self.derived.is_empty() != self.derivation.is_empty() => {
                "`derived` and `derivation` come together"
            }
            _ => return Ok(()),
        };
        Err(Diagnostic::new(format!("claim {}", self.id), what).into())
    }
}

/// Returns the number that has the label `label` in a list of labelled numbers of a claim; `None`
/// if there is none.
pub(crate) fn labelled(values: &[Labelled], label: &str) -> Option<f64> {
    values.iter().find(|(name, _)| name == label).map(|(_, value)| *value)
}

/// Returns the number with the label `label` that the statement of the claim `id` publishes.
pub(crate) fn number(statements: &[Statement], id: ClaimId, label: &str) -> Option<f64> {
    statements.iter().find(|it| it.id == id.0)?.number(label)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Asserts that the statements of a paper and the claims of its study match in number and
    /// order, and that every statement could fail.
    pub(crate) fn assert_each_is_declared<E>(statements: &[Statement], claims: &[Claim<E>]) {
        let stated: Vec<&str> = statements.iter().map(|it| it.id.as_str()).collect();
        let declared: Vec<&str> = claims.iter().map(|it| it.id.0).collect();
        assert_eq!(stated, declared);
        for (statement, claim) in statements.iter().zip(claims) {
            statement.refuse_if_vacuous().unwrap_or_else(|why| panic!("{why}"));
            let needs_none = statement.by_construction || statement.check == Check::Unmeasured;
            let unstated = matches!(claim.null, Null::Unstated);
            assert_eq!(unstated, needs_none, "{}: the null of the claim", statement.id);
        }
    }

    /// Returns the verdict on the claim `id` for made-up measurements, without repetitions.
    pub(crate) fn verdict_of<E>(
        id: &str,
        statements: &[Statement],
        claims: &[Claim<E>],
        evidence: &E,
    ) -> Verdict {
        let statement = statements.iter().find(|it| it.id == id).expect("a statement");
        let claim = claims.iter().find(|it| it.id.0 == id).expect("a claim");
        statement.verdict((claim.measure)(evidence).unwrap().as_ref())
    }

    #[test]
    fn a_statement_that_cannot_fail_is_refused() {
        let number = || vec![("SLC".to_string(), 1.0)];
        let stated = |published, derived, derivation: &str, directions: &[&str], check| Statement {
            published,
            derived,
            derivation: derivation.into(),
            directions: directions.iter().map(|it| (*it).into()).collect(),
            check,
            ..Statement::default()
        };
        for (statement, refused) in [
            (stated(number(), vec![], "", &[], Check::Shape), false),
            (stated(vec![], number(), "half of 2", &[], Check::Exact), false),
            (stated(vec![], number(), "", &[], Check::Exact), true),
            (stated(number(), vec![], "half of 2", &[], Check::Exact), true),
            (stated(vec![], vec![], "", &[], Check::Shape), true),
            (stated(vec![], vec![], "", &["a < b"], Check::Shape), true),
            (stated(vec![], vec![], "", &["a < b"], Check::Direction), false),
            (stated(vec![], vec![], "", &[], Check::Direction), true),
            (stated(number(), vec![], "", &["a < b"], Check::Direction), true),
            (stated(vec![], vec![], "", &[], Check::Unmeasured), false),
        ] {
            assert_eq!(statement.refuse_if_vacuous().is_err(), refused, "{statement:?}");
        }
    }
}
