//! What a claim is: a statement of a paper with the numbers that it prints, how a study measures
//! it, and the verdict that follows from both.

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::tables::{Cell, Sheet};
use serde::Deserialize;
use std::fmt;

/// A number with the column it belongs to.
pub(crate) type Labelled = (String, f64);

/// The number of a claim in the catalogue of claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClaimId(pub &'static str);

impl fmt::Display for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What a measure finds: numbers, or nothing if it cannot be measured.
pub(crate) type Found = Result<Option<Measured>, Diagnostics>;

/// A claim as a study has it, declared beside the evidence `E` that it reads. What the paper prints
/// for it, and by which rule the two are compared, is the [`Statement`] of the same number.
pub(crate) struct Claim<E> {
    pub id: ClaimId,
    pub measure: fn(&E) -> Found,
}

/// A claim that is measured so.
pub(crate) const fn claim<E>(id: &'static str, measure: fn(&E) -> Found) -> Claim<E> {
    Claim { id: ClaimId(id), measure }
}

/// The same of a number that is printed elsewhere, too.
pub(crate) const fn named<E>(id: ClaimId, measure: fn(&E) -> Found) -> Claim<E> {
    Claim { id, measure }
}

/// A claim that nothing can be measured for.
pub(crate) const fn unmeasured<E>(id: &'static str) -> Claim<E> {
    Claim { id: ClaimId(id), measure: |_| Ok(None) }
}

/// A statement of a paper, as the project's data has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    /// Its number in the catalogue of claims.
    pub id: String,
    /// Section, table, figure or equation.
    pub place: String,
    /// What is stated, in our words.
    pub claim: String,
    /// The numbers stated.
    pub published: Vec<Labelled>,
    /// How ours are measured.
    pub how: String,
    /// What agreement means.
    pub check: Check,
    /// Why ours differ, where they do.
    #[serde(default)]
    pub why: String,
    /// Whether ours agrees by construction: it is a parameter of the preset, or arithmetic on the
    /// paper's own numbers.
    #[serde(default)]
    pub by_construction: bool,
}

/// What agreement with a claim means.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Check {
    /// To the last digit printed: parameters, and what follows from them alone.
    Exact,
    /// The same, but within a per cent it has at least the shape: what follows from a rounded
    /// parameter.
    Rounded,
    /// Within a per cent, and otherwise in direction: what follows from the means of a workload,
    /// which its stand-in has.
    Close,
    /// It cannot be measured.
    Unmeasured,
    /// In direction, and in size as far as it goes: the workload is not public.
    Shape,
    /// In direction alone: no number is published.
    Direction,
    /// Not below zero, and below what is published.
    Below,
}

/// What we measured for a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measured {
    /// Our numbers, with the labels of the claim's.
    pub values: Vec<Labelled>,
    /// Whether the direction that the claim states holds wherever it is stated.
    pub holds: bool,
}

impl Measured {
    /// Numbers that have no direction beside their size.
    pub fn exactly(values: Vec<Labelled>) -> Measured {
        Measured { values, holds: true }
    }

    /// The same, of labels that are known.
    pub fn of<const N: usize>(values: [(&str, f64); N]) -> Measured {
        Measured::exactly(values.map(|(label, value)| (label.to_string(), value)).into())
    }

    /// The same numbers, with a direction that holds or does not.
    pub fn if_holds(self, holds: bool) -> Measured {
        Measured { holds, ..self }
    }
}

/// A statement and what was measured for it.
pub(crate) struct Answer {
    pub statement: Statement,
    pub measured: Option<Measured>,
}

impl Answer {
    /// How the claim fares.
    pub fn verdict(&self) -> Verdict {
        self.statement.verdict(self.measured.as_ref())
    }
}

/// Measures every claim; `statements` come in the order of `claims`, one for each.
///
/// # Errors
/// Of a measure, and where one side has a claim that the other does not know.
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
        let what = format!("{} claims are stated, {} are measured", statements.len(), claims.len());
        return Err(Diagnostic::new("", what).into());
    }
    statements.iter().zip(claims).map(one).collect()
}

fn matching(statement: &Statement, id: ClaimId) -> Result<(), Diagnostics> {
    if statement.id == id.0 {
        return Ok(());
    }
    let what = format!("claim {} is stated where {id} is measured", statement.id);
    Err(Diagnostic::new("", what).into())
}

/// How a claim fares.
/// See docs/decisions/papers.md, "When is a claim reproduced?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The numbers agree.
    Reproduced,
    /// They agree by construction: nothing was measured that could differ.
    ByConstruction,
    /// The direction agrees, the size does not.
    Shape,
    /// Not reproducible here: not even the direction agrees, or it cannot be measured; with the
    /// reason.
    NotReproducible(String),
}

impl Verdict {
    /// The verdict in words.
    pub fn words(&self) -> String {
        match self {
            Verdict::Reproduced => "reproduced".into(),
            Verdict::ByConstruction => "agrees by construction".into(),
            Verdict::Shape => "shape".into(),
            Verdict::NotReproducible(why) => format!("not reproducible here: {why}"),
        }
    }

    /// How many there are of each, in words.
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

/// How far a number of a workload that is not public may be from the published one to count as the
/// same: a tenth of it. Assumed; a second trace of the same server differs by more.
const NEAR: f64 = 0.10;

/// How far a number that follows from a rounded parameter, or from means, may be from the one
/// printed.
const ROUNDED: f64 = 0.01;

/// How many digits stand behind the point of a number as printed.
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
    /// The number that it publishes under a label.
    pub fn number(&self, label: &str) -> Option<f64> {
        labelled(&self.published, label)
    }

    /// Compares the claim with what was measured; nothing if it could not be.
    pub fn verdict(&self, measured: Option<&Measured>) -> Verdict {
        let out = |reason: &str| {
            let why = if self.why.is_empty() { reason } else { &self.why };
            Verdict::NotReproducible(why.into())
        };
        if self.check == Check::Unmeasured {
            return out("it cannot be measured");
        }
        // Whatever explains a difference does not explain that there is nothing to differ.
        let Some(measured) = measured else {
            return Verdict::NotReproducible("not measured".into());
        };
        let ours = |label: &str| measured.values.iter().find(|(ours, _)| ours == label);
        let all = self.published.iter().all(|(label, published)| {
            ours(label).is_some_and(|(_, ours)| agrees(self.check, *published, *ours))
        });
        // Where no number is published there is a direction to agree with, and no more.
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
                out("not what is stated, and we do not know why")
            }
            Check::Below => out("not below, and we do not know why"),
            Check::Exact | Check::Rounded | Check::Unmeasured => {
                out("the numbers differ, and we do not know why")
            }
        }
    }
}

/// The number with that label.
pub(crate) fn labelled(values: &[Labelled], label: &str) -> Option<f64> {
    values.iter().find(|(name, _)| name == label).map(|(_, value)| *value)
}

/// The number that a claim publishes under a label.
pub(crate) fn number(statements: &[Statement], id: ClaimId, label: &str) -> Option<f64> {
    statements.iter().find(|it| it.id == id.0)?.number(label)
}

/// Numbers with their columns: `SLC 0.446, MLC 0.483`.
fn listed(values: &[Labelled]) -> String {
    let one = |(label, value): &Labelled| format!("{label} {}", short(*value));
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Three significant digits or fewer, and every digit of a whole number.
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

/// The claims as a table, a row each.
pub(crate) fn sheet(answers: &[Answer]) -> Sheet {
    let heads = ["id", "where", "claim", "published", "ours", "verdict", "how", "remark"];
    let mut sheet = Sheet::new("claims", "Every number of the paper beside ours", &heads);
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

    /// Every statement of a paper has its claim, in the same order.
    pub(crate) fn assert_each_is_declared<E>(statements: &[Statement], claims: &[Claim<E>]) {
        let stated: Vec<&str> = statements.iter().map(|it| it.id.as_str()).collect();
        let declared: Vec<&str> = claims.iter().map(|it| it.id.0).collect();
        assert_eq!(stated, declared);
    }

    /// How the claim of that number fares by some evidence.
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
            |what: &str| NotReproducible(format!("the {what} differ, and we do not know why"));
        let turned = NotReproducible("not what is stated, and we do not know why".into());
        let above = NotReproducible("not below, and we do not know why".into());
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
