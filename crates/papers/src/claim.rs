//! Claims: statements of a paper with the numbers it prints, how a study measures them, and the
//! resulting verdicts.

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::tables::{Cell, Sheet};
use serde::Deserialize;
use std::fmt;

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
}

/// Returns a claim measured by `measure`.
pub(crate) const fn claim<E>(id: &'static str, measure: fn(&E) -> Found) -> Claim<E> {
    Claim { id: ClaimId(id), measure }
}

/// Like [`claim`], for an ID that is also used elsewhere.
pub(crate) const fn named<E>(id: ClaimId, measure: fn(&E) -> Found) -> Claim<E> {
    Claim { id, measure }
}

/// Returns a claim that cannot be measured.
pub(crate) const fn unmeasured<E>(id: &'static str) -> Claim<E> {
    Claim { id: ClaimId(id), measure: |_| Ok(None) }
}

/// A statement of a paper, as given in the project's data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    /// Its ID in the catalog of claims.
    pub id: String,
    /// Section, table, figure or equation.
    pub place: String,
    /// The statement, in our words.
    pub claim: String,
    /// The published numbers.
    pub published: Vec<Labelled>,
    /// How our numbers are measured.
    pub how: String,
    /// The criterion for agreement.
    pub check: Check,
    /// Why our numbers differ, if they do.
    #[serde(default)]
    pub why: String,
    /// Whether our number agrees by construction: it is a parameter of the preset, or arithmetic on
    /// the paper's own numbers.
    #[serde(default)]
    pub by_construction: bool,
}

/// The criterion for agreement with a claim.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Check {
    /// Equal to the last printed digit: parameters, and numbers derived from them alone.
    Exact,
    /// Like `Exact`, but within 1 % it still matches in shape: numbers derived from a rounded
    /// parameter.
    Rounded,
    /// Within 1 %, otherwise by direction: numbers derived from the means of a workload, which its
    /// stand-in reproduces.
    Close,
    /// It cannot be measured.
    Unmeasured,
    /// By direction, and by size where possible: the workload is not public.
    Shape,
    /// By direction only: no number is published.
    Direction,
    /// Not below zero, and below the published number.
    Below,
}

/// The measurement for a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measured {
    /// Our numbers, with the claim's labels.
    pub values: Vec<Labelled>,
    /// Whether the direction stated by the claim holds everywhere.
    pub holds: bool,
}

impl Measured {
    /// Returns numbers for a claim without a direction.
    pub fn exactly(values: Vec<Labelled>) -> Measured {
        Measured { values, holds: true }
    }

    /// Like [`Measured::exactly`], with constant labels.
    pub fn of<const N: usize>(values: [(&str, f64); N]) -> Measured {
        Measured::exactly(values.map(|(label, value)| (label.to_string(), value)).into())
    }

    /// Returns the same numbers with the direction that holds or does not.
    pub fn if_holds(self, holds: bool) -> Measured {
        Measured { holds, ..self }
    }
}

/// A statement and its measurement.
pub(crate) struct Answer {
    pub statement: Statement,
    pub measured: Option<Measured>,
}

impl Answer {
    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        self.statement.verdict(self.measured.as_ref())
    }
}

/// Measures every claim. `statements` and `claims` must be in the same order.
///
/// # Errors
/// Any error of a measurement, or an error if statements and claims do not match.
pub(crate) fn answers<E>(
    statements: &[Statement],
    claims: &[Claim<E>],
    evidence: &E,
) -> Result<Vec<Answer>, Diagnostics> {
    let one = |(statement, claim): (&Statement, &Claim<E>)| {
        matching(statement, claim.id)?;
        Ok(Answer { statement: statement.clone(), measured: (claim.measure)(evidence)? })
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

fn matching(statement: &Statement, id: ClaimId) -> Result<(), Diagnostics> {
    if statement.id == id.0 {
        return Ok(());
    }
    let what = format!("the data states claim {} where the study measures {id}", statement.id);
    Err(Diagnostic::new("", what).into())
}

/// The verdict on a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The numbers agree.
    Reproduced,
    /// They agree by construction: nothing that could differ was measured.
    ByConstruction,
    /// The direction agrees, the size does not.
    Shape,
    /// Not reproducible here, with the reason: the direction does not agree either, or it cannot be
    /// measured.
    NotReproducible(String),
}

impl Verdict {
    /// Describes the verdict.
    pub fn words(&self) -> String {
        match self {
            Verdict::Reproduced => "reproduced".into(),
            Verdict::ByConstruction => "agrees by construction".into(),
            Verdict::Shape => "shape".into(),
            Verdict::NotReproducible(why) => format!("not reproducible here: {why}"),
        }
    }

    /// Describes how many verdicts there are of each kind.
    pub fn counted(verdicts: &[Verdict]) -> String {
        let count = |is: fn(&Verdict) -> bool| verdicts.iter().filter(|it| is(it)).count();
        format!(
            "{} claims: {} reproduced, {} agree by construction, {} match in shape, {} not \
             reproducible here",
            verdicts.len(),
            count(|it| *it == Verdict::Reproduced),
            count(|it| *it == Verdict::ByConstruction),
            count(|it| *it == Verdict::Shape),
            count(|it| matches!(it, Verdict::NotReproducible(_))),
        )
    }
}

/// How far a number may be from the published one to count as reproduced when the workload is not
/// public: 10 %. Assumed; a second trace of the same server differs by more.
const NEAR: f64 = 0.10;

/// How far a number derived from a rounded parameter, or from means, may be from the printed one.
const ROUNDED: f64 = 0.01;

/// Returns the number of digits after the decimal point of a printed number.
fn decimals(value: f64) -> usize {
    value.to_string().split_once('.').map_or(0, |(_, digits)| digits.len())
}

fn agrees(check: Check, published: f64, ours: f64) -> bool {
    match check {
        Check::Exact | Check::Rounded => {
            let digits = decimals(published);
            format!("{ours:.digits$}") == format!("{published:.digits$}")
        }
        Check::Close => (ours - published).abs() <= ROUNDED * published.abs(),
        Check::Shape => (ours - published).abs() <= NEAR * published.abs(),
        Check::Below => (0.0..published).contains(&ours),
        Check::Unmeasured | Check::Direction => false,
    }
}

impl Statement {
    /// Returns the number published under a label.
    pub fn number(&self, label: &str) -> Option<f64> {
        labelled(&self.published, label)
    }

    /// Compares the claim with its measurement; `None` if it could not be measured.
    pub fn verdict(&self, measured: Option<&Measured>) -> Verdict {
        let out = |reason: &str| {
            let why = if self.why.is_empty() { reason } else { &self.why };
            Verdict::NotReproducible(why.into())
        };
        if self.check == Check::Unmeasured {
            return out("it cannot be measured");
        }
        // The reason for a difference does not apply if nothing was measured.
        let Some(measured) = measured else {
            return Verdict::NotReproducible("not measured".into());
        };
        let ours = |label: &str| measured.values.iter().find(|(ours, _)| ours == label);
        let all = self.published.iter().all(|(label, published)| {
            ours(label).is_some_and(|(_, ours)| agrees(self.check, *published, *ours))
        });
        // If no number is published, only the direction can agree.
        let all = all && self.check != Check::Direction;
        let within = |published: f64, ours: f64| (ours / published - 1.0).abs() < ROUNDED;
        let about = || {
            let mut published = self.published.iter();
            published.all(|(label, it)| ours(label).is_some_and(|(_, ours)| within(*it, *ours)))
        };
        match self.check {
            _ if all && measured.holds && self.by_construction => Verdict::ByConstruction,
            _ if all && measured.holds => Verdict::Reproduced,
            Check::Close | Check::Shape | Check::Direction if measured.holds => Verdict::Shape,
            Check::Rounded if measured.holds && about() => Verdict::Shape,
            Check::Close | Check::Shape | Check::Direction => {
                out("the direction differs, for an unknown reason")
            }
            Check::Below => out("not below the published number, for an unknown reason"),
            Check::Exact | Check::Rounded | Check::Unmeasured => {
                out("the numbers differ, for an unknown reason")
            }
        }
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

/// Lists numbers with their labels: `SLC 0.446, MLC 0.483`.
fn listed(values: &[Labelled]) -> String {
    let one = |(label, value): &Labelled| format!("{label} {}", short(*value));
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Formats a number with at most three significant digits, but every digit of a whole number.
fn short(value: f64) -> String {
    let size = value.abs();
    match value {
        _ if value.fract() == 0.0 => value.to_string(),
        _ if size < 0.0005 => format!("{value:.1e}"),
        _ if size < 1.0 => format!("{value:.3}"),
        _ if size < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

/// Returns the claims as a table, one row each.
pub(crate) fn sheet(answers: &[Answer]) -> Sheet {
    let heads = ["id", "where", "claim", "published", "ours", "verdict", "how", "remark"];
    let mut sheet = Sheet::new("claims", "Every number of the paper next to ours", &heads);
    for answer in answers {
        let Answer { statement, measured } = answer;
        let verdict = answer.verdict();
        let remark =
            if matches!(verdict, Verdict::NotReproducible(_)) { "" } else { &statement.why };
        sheet.row(vec![
            statement.id.as_str().into(),
            statement.place.as_str().into(),
            statement.claim.as_str().into(),
            listed(&statement.published).into(),
            measured.as_ref().map_or(Cell::Nothing, |it| listed(&it.values).into()),
            verdict.words().into(),
            statement.how.as_str().into(),
            remark.into(),
        ]);
    }
    sheet
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Asserts that every statement of a paper has its claim, in the same order.
    pub(crate) fn assert_each_is_declared<E>(statements: &[Statement], claims: &[Claim<E>]) {
        let stated: Vec<&str> = statements.iter().map(|it| it.id.as_str()).collect();
        let declared: Vec<&str> = claims.iter().map(|it| it.id.0).collect();
        assert_eq!(stated, declared);
    }

    /// Returns the verdict on a claim for some evidence.
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

    fn stated(check: Check, published: f64) -> Statement {
        Statement {
            id: "1".into(),
            place: "Table 1".into(),
            claim: "a number".into(),
            published: vec![("SLC".into(), published)],
            how: "so".into(),
            check,
            why: String::new(),
            by_construction: false,
        }
    }

    #[test]
    fn verdicts_follow_the_numbers() {
        use Verdict::{NotReproducible, Reproduced, Shape};
        let differ =
            |what: &str| NotReproducible(format!("the {what} differ, for an unknown reason"));
        let turned = NotReproducible("the direction differs, for an unknown reason".into());
        let above = NotReproducible("not below the published number, for an unknown reason".into());
        for (check, published, ours, holds, verdict) in [
            (Check::Exact, 8.29, 8.2857, true, Reproduced),
            (Check::Exact, 8.29, 8.2849, true, differ("numbers")),
            (Check::Exact, 20.0, 20.4, true, Reproduced),
            (Check::Exact, 20.0, 20.6, true, differ("numbers")),
            (Check::Exact, 20.0, 20.0, false, differ("numbers")),
            (Check::Shape, 0.5, 0.46, true, Reproduced),
            (Check::Shape, 0.5, 0.3, true, Shape),
            (Check::Shape, 0.5, 0.5, false, turned),
            (Check::Below, 0.01, 0.004, true, Reproduced),
            (Check::Below, 0.01, 0.011, true, above.clone()),
            (Check::Below, 0.01, -0.001, true, above),
            (Check::Rounded, 1.4, 1.402, true, Reproduced),
            (Check::Rounded, 1.40, 1.393, true, Reproduced),
            (Check::Rounded, 2.85, 2.844, true, Shape),
            (Check::Rounded, 2.85, 2.82, true, differ("numbers")),
            (Check::Unmeasured, 1.0, 1.0, true, NotReproducible("it cannot be measured".into())),
        ] {
            let measured = Measured { values: vec![("SLC".into(), ours)], holds };
            let said = stated(check, published).verdict(Some(&measured));
            assert_eq!(said, verdict, "{check:?} {published} {ours}");
        }
        assert_eq!(stated(Check::Exact, 1.0).verdict(None), NotReproducible("not measured".into()));
        let constructed = Statement { by_construction: true, ..stated(Check::Exact, 1.0) };
        let agreed = Measured { values: vec![("SLC".into(), 1.0)], holds: true };
        assert_eq!(constructed.verdict(Some(&agreed)), Verdict::ByConstruction);
        let worded = Statement { published: Vec::new(), ..stated(Check::Direction, 1.0) };
        assert_eq!(worded.verdict(Some(&agreed)), Shape);
        let missing =
            Statement { why: "reads come in batches".into(), ..stated(Check::Shape, 1.0) };
        assert_eq!(missing.verdict(None), NotReproducible("not measured".into()));
        let other = Measured { values: vec![("MLC".into(), 1.0)], holds: true };
        assert_eq!(stated(Check::Exact, 1.0).verdict(Some(&other)), differ("numbers"));
    }
}
