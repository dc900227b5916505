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

/// A number with the column it belongs to.
pub(crate) type Labelled = (String, f64);

/// The ID of a claim in the catalog of claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClaimId(pub &'static str);

impl fmt::Display for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The result of a measurement: numbers, or `None` if the claim cannot be measured.
pub(crate) type Found = Result<Option<Measured>, Diagnostics>;

/// A claim as declared by a study, next to the evidence `E` that it reads. The published numbers
/// and the rule for comparing them are in the [`Statement`] of the same ID.
pub(crate) struct Claim<E> {
    pub id: ClaimId,
    pub measure: fn(&E) -> Found,
    pub null: Null<E>,
}

impl<E> Claim<E> {
    /// States the claim's null: schemes that are replaced by others, as pairs.
    pub const fn without(self, pairs: &'static [(&'static str, &'static str)]) -> Claim<E> {
        Claim { id: self.id, measure: self.measure, null: Null::Without(pairs) }
    }

    /// States a null with a measure of its own, described in words.
    pub const fn by(self, words: &'static str, measure: fn(&E) -> Found) -> Claim<E> {
        Claim { id: self.id, measure: self.measure, null: Null::By(words, measure) }
    }

    /// States that the claim is about a worked example, a state machine or a small drive.
    pub const fn example(self) -> Claim<E> {
        Claim { id: self.id, measure: self.measure, null: Null::Example }
    }

    /// States that the claim is about a workload under the baseline alone.
    pub const fn baseline(self) -> Claim<E> {
        Claim { id: self.id, measure: self.measure, null: Null::Baseline }
    }
}

/// Returns a claim measured by `measure`.
pub(crate) const fn claim<E>(id: &'static str, measure: fn(&E) -> Found) -> Claim<E> {
    Claim { id: ClaimId(id), measure, null: Null::Unstated }
}

/// Like [`claim`], for an ID that is also used elsewhere.
pub(crate) const fn named<E>(id: ClaimId, measure: fn(&E) -> Found) -> Claim<E> {
    Claim { id, measure, null: Null::Unstated }
}

/// Returns a claim that cannot be measured.
pub(crate) const fn unmeasured<E>(id: &'static str) -> Claim<E> {
    Claim { id: ClaimId(id), measure: |_| Ok(None), null: Null::Unstated }
}

/// The null of a claim.
#[derive(Clone, Copy)]
pub(crate) enum Null<E> {
    /// None is stated: the claim agrees by construction or cannot be measured.
    Unstated,
    /// None exists: the claim is about a worked example, a state machine or a small drive, and no
    /// workload decides it.
    Example,
    /// None exists: the claim is about a workload under the baseline, without the system.
    Baseline,
    /// The claim's own measure, with the second scheme of each pair in place of the first.
    Without(&'static [(&'static str, &'static str)]),
    /// Another measure, described in words.
    By(&'static str, fn(&E) -> Found),
}

impl<E: Viewed> Null<E> {
    /// True if the null can be measured.
    pub fn exists(&self) -> bool {
        matches!(self, Null::Without(_) | Null::By(..))
    }

    /// Describes the null.
    pub fn words(&self) -> String {
        match self {
            Null::Unstated => "not applicable".into(),
            Null::Example => "not applicable: a worked example or a state machine".into(),
            Null::Baseline => "not applicable: about the baseline alone".into(),
            Null::Without(pairs) => {
                let one = |(system, read): &(&str, &str)| format!("{read} in place of {system}");
                pairs.iter().map(one).collect::<Vec<_>>().join(", ")
            }
            Null::By(words, _) => (*words).into(),
        }
    }

    /// Measures the null of a claim.
    ///
    /// # Errors
    /// Any error of the measurement.
    pub fn measure(claim: &Claim<E>, evidence: &E) -> Found {
        match claim.null {
            Null::Without(pairs) => {
                evidence.view().through(&Lens::replacing(pairs), || (claim.measure)(evidence))
            }
            Null::By(_, measure) => measure(evidence),
            Null::Unstated | Null::Example | Null::Baseline => Ok(None),
        }
    }
}

/// An answer to what a paper leaves open, for which claims are measured again.
pub(crate) struct Choice {
    /// Name of the choice in tables.
    pub name: String,
    pub lens: Lens,
}

/// Measures a claim under every open choice for which it has runs. Returns each choice's name and
/// measurement.
///
/// # Errors
/// Any error of a measurement.
fn under_choices<E: Viewed>(
    claim: &Claim<E>,
    choices: &[Choice],
    evidence: &E,
) -> Result<Vec<(String, Measured)>, Diagnostics> {
    // A claim without a workload is the same under all of them.
    if matches!(claim.null, Null::Unstated | Null::Example) {
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

/// Evidence that claims read through a view.
pub(crate) trait Viewed: Sized + 'static {
    /// Returns the view through which claims read the evidence.
    fn view(&self) -> &View;

    /// Returns the answers to what the paper leaves open, for which the study has runs.
    fn choices(&self) -> Vec<Choice>;
}

/// A statement of a paper, as given in the project's data.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    /// ID of the statement in the catalog of claims.
    pub id: String,
    /// Section, table, figure or equation.
    pub place: String,
    /// The statement, in our words.
    pub claim: String,
    /// The numbers that the paper prints, and nothing else.
    #[serde(default)]
    pub published: Vec<Labelled>,
    /// Numbers that follow from printed ones by arithmetic.
    #[serde(default)]
    pub derived: Vec<Labelled>,
    /// The arithmetic that gives `derived`.
    #[serde(default)]
    pub derivation: String,
    /// The directions that the paper states. The measurement must name every one of them.
    #[serde(default)]
    pub directions: Vec<String>,
    /// Description of how our numbers are measured.
    pub how: String,
    /// The criterion for agreement.
    pub check: Check,
    /// The reason why our numbers differ from the published ones, if they do.
    #[serde(default)]
    pub why: String,
    /// True if our number could not differ: it is a parameter of the preset, arithmetic on the
    /// paper's own numbers, or fitted to them.
    #[serde(default)]
    pub by_construction: bool,
}

/// The criterion for agreement with a claim.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Check {
    /// Equal to the last printed digit: parameters, and numbers derived from them alone.
    Exact,
    /// Like `Exact`, but a number within 1 % still matches in shape: for numbers derived from a
    /// rounded parameter.
    Rounded,
    /// Within 1 %: numbers derived from the means of a workload, which its stand-in reproduces. It
    /// matches in shape if the directions hold and the size is within a factor of two.
    Close,
    /// The claim cannot be measured.
    #[default]
    Unmeasured,
    /// Within 10 %: the workload is not public. It matches in shape if the directions hold and the
    /// size is within a factor of two.
    Shape,
    /// By direction only: the paper gives no number.
    Direction,
    /// Not below zero, and below the published number.
    Below,
}

/// The measurement for a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measured {
    /// Our numbers, with the claim's labels.
    pub values: Vec<Labelled>,
    /// True if the claim's statement in words holds everywhere.
    pub holds: bool,
    /// The directions that the paper states, in its data's words, and whether each holds.
    pub directions: Vec<(String, bool)>,
}

impl Measured {
    /// Returns numbers for a claim without a direction.
    pub fn exactly(values: Vec<Labelled>) -> Measured {
        Measured::held(values, true)
    }

    /// Returns numbers for a claim whose direction holds or does not.
    pub fn held(values: Vec<Labelled>, holds: bool) -> Measured {
        Measured { values, holds, directions: Vec::new() }
    }

    /// Like [`Measured::exactly`], with constant labels.
    pub fn of<const N: usize>(values: [(&str, f64); N]) -> Measured {
        Measured::exactly(values.map(|(label, value)| (label.to_string(), value)).into())
    }

    /// Returns the measured numbers, with the fact that the direction holds or does not.
    pub fn if_holds(self, holds: bool) -> Measured {
        Measured { holds, ..self }
    }

    /// Adds one of the statement's directions, in the same words.
    pub fn direction(mut self, words: &str, holds: bool) -> Measured {
        self.directions.push((words.into(), holds));
        self
    }
}

/// A statement and its measurements.
pub(crate) struct Answer {
    pub statement: Statement,
    pub measured: Option<Measured>,
    /// Measurements of the claim in the repetitions of the study; `None` where it could not be
    /// measured.
    pub repeated: Vec<(Repetition, Option<Measured>)>,
    pub null: NullAnswer,
    /// Measurements of the claim under the open choices for which the study has runs, by the name
    /// of the choice.
    pub chosen: Vec<(String, Measured)>,
}

/// The null of a claim and its measurements.
#[derive(Default)]
pub(crate) struct NullAnswer {
    /// Description of the null, or why none applies.
    pub words: String,
    /// True if the null can be measured.
    pub exists: bool,
    /// True if the claim is about a workload.
    pub of_workload: bool,
    pub measured: Option<Measured>,
    /// Measurements of the null in the repetitions of the study.
    pub repeated: Vec<(Repetition, Option<Measured>)>,
}

/// Measures every claim. `statements` and `claims` must be in the same order.
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
        let null = NullAnswer {
            words: claim.null.words(),
            exists: claim.null.exists(),
            of_workload: claim.null.exists() || matches!(claim.null, Null::Baseline),
            measured: Null::measure(claim, evidence)?,
            repeated: Vec::new(),
        };
        let chosen = under_choices(claim, &choices, evidence)?;
        let statement = statement.clone();
        Ok(Answer { statement, measured, repeated: Vec::new(), null, chosen })
    };
    if statements.len() != claims.len() {
        let what = format!(
            "the data states {} claims, the study measures {}",
            statements.len(),
            claims.len()
        );
        return Err(Diagnostic::new("", what).into());
    }
    statements.iter().zip(claims).map(one).collect()
}

/// Measures every claim again, on the evidence of a repetition.
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
    }
    Ok(())
}

fn matching(statement: &Statement, id: ClaimId) -> Result<(), Diagnostics> {
    if statement.id == id.0 {
        return Ok(());
    }
    let what = format!("the data states claim {} where the study measures {id}", statement.id);
    Err(Diagnostic::new("", what).into())
}

impl Statement {
    /// Returns the number published under a label, printed or derived.
    pub fn number(&self, label: &str) -> Option<f64> {
        labelled(&self.published, label).or_else(|| labelled(&self.derived, label))
    }

    /// Refuses a statement that any measurement would confirm, or whose derivation is not given.
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

/// Returns the number with a label.
pub(crate) fn labelled(values: &[Labelled], label: &str) -> Option<f64> {
    values.iter().find(|(name, _)| name == label).map(|(_, value)| *value)
}

/// Returns the number that a claim publishes under a label.
pub(crate) fn number(statements: &[Statement], id: ClaimId, label: &str) -> Option<f64> {
    statements.iter().find(|it| it.id == id.0)?.number(label)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Asserts that every statement of a paper has its claim, in the same order, and could fail.
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

    /// Returns the verdict on a claim for some evidence, without repetitions.
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
