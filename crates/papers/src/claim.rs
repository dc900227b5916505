//! A paper's statements, one by one, held against what was measured.

use fowler_experiment::tables::{Cell, Sheet};
use serde::Deserialize;

/// A number with the column it belongs to.
pub(crate) type Labelled = (String, f64);

/// A statement of a paper, as the project's data has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
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
    /// Whether ours could not but agree: it is a parameter of the preset, or arithmetic on the paper's own numbers.
    #[serde(default)]
    pub given: bool,
}

/// What agreement with a claim means.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Check {
    /// To the last digit printed: parameters, and what follows from them alone.
    Exact,
    /// The same, but within a per cent it has at least the shape: what follows from a rounded parameter.
    Rounded,
    /// Within a per cent, and otherwise in direction: what follows from the means of a workload, which its stand-in has.
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

/// How a claim fares.
/// See docs/decisions/papers.md, "When is a claim reproduced?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The numbers agree.
    Reproduced,
    /// They agree, and could not but do so.
    ByConstruction,
    /// The direction agrees, the size does not.
    Shape,
    /// Not even the direction, or it cannot be measured; with the reason.
    OutOfReach(String),
}

impl Verdict {
    /// The verdict in words.
    pub fn words(&self) -> String {
        match self {
            Verdict::Reproduced => "reproduced".into(),
            Verdict::ByConstruction => "by construction".into(),
            Verdict::Shape => "shape".into(),
            Verdict::OutOfReach(why) => format!("out of reach: {why}"),
        }
    }

    /// How many there are of each, in words.
    pub fn counted(verdicts: &[Verdict]) -> String {
        let count = |is: fn(&Verdict) -> bool| verdicts.iter().filter(|it| is(it)).count();
        format!(
            "{} claims: {} reproduced, {} that could not but agree, {} in shape, {} out of reach",
            verdicts.len(),
            count(|it| *it == Verdict::Reproduced),
            count(|it| *it == Verdict::ByConstruction),
            count(|it| *it == Verdict::Shape),
            count(|it| matches!(it, Verdict::OutOfReach(_))),
        )
    }
}

/// How far a number of a workload that is not public may be from the published one to count as the same:
/// a tenth of it. Assumed; a second trace of the same server differs by more.
const NEAR: f64 = 0.10;

/// How far a number that follows from a rounded parameter, or from means, may be from the one printed.
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

impl Claim {
    /// Holds the claim against what was measured; nothing if it could not be.
    pub fn verdict(&self, measured: Option<&Measured>) -> Verdict {
        let out = |reason: &str| {
            let why = if self.why.is_empty() { reason } else { &self.why };
            Verdict::OutOfReach(why.into())
        };
        if self.check == Check::Unmeasured {
            return out("it cannot be measured");
        }
        // Whatever explains a difference does not explain that there is nothing to differ.
        let Some(measured) = measured else { return Verdict::OutOfReach("not measured".into()) };
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
            _ if all && measured.holds && self.given => Verdict::ByConstruction,
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
pub(crate) fn sheet(claims: &[(Claim, Option<Measured>)]) -> Sheet {
    let heads = ["id", "where", "claim", "published", "ours", "verdict", "how", "remark"];
    let mut sheet = Sheet::new("claims", "Every number of the paper beside ours", &heads);
    for (claim, measured) in claims {
        let verdict = claim.verdict(measured.as_ref());
        let remark = if matches!(verdict, Verdict::OutOfReach(_)) { "" } else { &claim.why };
        sheet.row(vec![
            claim.id.as_str().into(),
            claim.place.as_str().into(),
            claim.claim.as_str().into(),
            listed(&claim.published).into(),
            measured.as_ref().map_or(Cell::Nothing, |it| listed(&it.values).into()),
            verdict.words().into(),
            claim.how.as_str().into(),
            remark.into(),
        ]);
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(check: Check, published: f64) -> Claim {
        Claim {
            id: "1".into(),
            place: "Table 1".into(),
            claim: "a number".into(),
            published: vec![("SLC".into(), published)],
            how: "so".into(),
            check,
            why: String::new(),
            given: false,
        }
    }

    #[test]
    fn verdicts_follow_the_numbers() {
        use Verdict::{OutOfReach, Reproduced, Shape};
        let differ = |what: &str| OutOfReach(format!("the {what} differ, and we do not know why"));
        let turned = OutOfReach("not what is stated, and we do not know why".into());
        let above = OutOfReach("not below, and we do not know why".into());
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
            (Check::Unmeasured, 1.0, 1.0, true, OutOfReach("it cannot be measured".into())),
        ] {
            let measured = Measured { values: vec![("SLC".into(), ours)], holds };
            let said = claim(check, published).verdict(Some(&measured));
            assert_eq!(said, verdict, "{check:?} {published} {ours}");
        }
        assert_eq!(claim(Check::Exact, 1.0).verdict(None), OutOfReach("not measured".into()));
        let given = Claim { given: true, ..claim(Check::Exact, 1.0) };
        let agreed = Measured { values: vec![("SLC".into(), 1.0)], holds: true };
        assert_eq!(given.verdict(Some(&agreed)), Verdict::ByConstruction);
        let worded = Claim { published: Vec::new(), ..claim(Check::Direction, 1.0) };
        assert_eq!(worded.verdict(Some(&agreed)), Shape);
        let missing = Claim { why: "reads come in batches".into(), ..claim(Check::Shape, 1.0) };
        assert_eq!(missing.verdict(None), OutOfReach("not measured".into()));
        let other = Measured { values: vec![("MLC".into(), 1.0)], holds: true };
        assert_eq!(claim(Check::Exact, 1.0).verdict(Some(&other)), differ("numbers"));
    }
}
