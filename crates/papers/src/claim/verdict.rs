//! The verdict on a claim: how measured numbers and directions are compared with a statement.
//!
//! No limit is wider than a factor of two, and every repetition of a study has to confirm a
//! verdict.

use super::sheet::short;
use super::{Answer, Bound, Check, Labelled, Measured, Statement, labelled};
use crate::repetition::Repetition;
use std::fmt;

/// The verdict on a claim of a paper: how far the simulator's measurement agrees with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The measured numbers agree with those that the paper prints.
    Reproduced,
    /// The measured numbers agree with numbers that follow by arithmetic from those that the paper
    /// prints.
    Derived,
    /// The claim's numbers agree, which proves nothing, because nothing that could differ was
    /// measured: they are parameters of the preset, arithmetic on the paper's own numbers, or
    /// numbers to which something was fitted.
    ByConstruction,
    /// The directions of effects that the paper's claim states hold in the simulator, and the
    /// measured numbers are within a factor of two of the published ones.
    Shape,
    /// The claim does not discriminate: the measured numbers or directions agree with the paper's,
    /// but so do those measured without the paper's system (the null, described by the text).
    Indistinct(String),
    /// The claim is not reproducible here, for the reason given: a direction does not hold, a
    /// number is more than a factor of two off, or it cannot be measured.
    NotReproducible(String),
}

impl Verdict {
    /// Returns the verdict on a claim of a paper (such as `reproduced`) as words for a table, with
    /// the reason.
    pub fn words(&self) -> String {
        match self {
            Verdict::Reproduced => "reproduced".into(),
            Verdict::Derived => "agrees with derived numbers".into(),
            Verdict::ByConstruction => "agrees by construction".into(),
            Verdict::Shape => "shape".into(),
            Verdict::Indistinct(why) => format!("does not discriminate: {why}"),
            Verdict::NotReproducible(why) => format!("not reproducible here: {why}"),
        }
    }

    /// Returns the name of the verdict on a claim in at most [`Verdict::NAME_WIDTH`] characters,
    /// without a reason.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Derived => "derived",
            Verdict::ByConstruction => "by construction",
            Verdict::Shape => "shape",
            Verdict::Indistinct(_) => "does not discriminate",
            Verdict::NotReproducible(_) => "not reproduced",
        }
    }

    /// Number of characters in the longest name of a verdict on a paper's claim; columns of
    /// verdicts in the terminal are padded to it.
    pub const NAME_WIDTH: usize = 21;

    /// Returns a sentence that counts the verdicts on a paper's claims by kind.
    pub fn counted(verdicts: &[Verdict]) -> String {
        let count = |is: fn(&Verdict) -> bool| verdicts.iter().filter(|it| is(it)).count();
        format!(
            "{} claims: {} reproduced, {} agree with derived numbers, {} agree by construction, \
             {} match in shape, {} do not discriminate (a baseline would do as well), \
             {} not reproducible here",
            verdicts.len(),
            count(|it| *it == Verdict::Reproduced),
            count(|it| *it == Verdict::Derived),
            count(|it| *it == Verdict::ByConstruction),
            count(|it| *it == Verdict::Shape),
            count(|it| matches!(it, Verdict::Indistinct(_))),
            count(|it| matches!(it, Verdict::NotReproducible(_))),
        )
    }

    /// Returns the strength of the verdict on a claim, from 0 (not reproducible) to 2 (reproduced).
    fn strength(&self) -> u8 {
        match self {
            Verdict::Reproduced | Verdict::Derived | Verdict::ByConstruction => 2,
            Verdict::Shape => 1,
            Verdict::Indistinct(_) | Verdict::NotReproducible(_) => 0,
        }
    }
}

impl Answer {
    /// Returns the verdict on a paper's claim: the weakest of those from the study, from each
    /// repetition, and from each step of the range of what the study assumes. If the measurement
    /// without the paper's system gets a verdict as strong, the verdict is that the claim does not
    /// discriminate. That measurement is made over the study's own sizes only: it is not weakened
    /// by steps of the range, as the claim itself is.
    pub fn verdict(&self) -> Verdict {
        let own = self.statement.verdict(self.measured.as_ref());
        let bounds = self.bounds.iter().map(|it| (it.to_string(), it.measured.as_ref()));
        let own = self.confirmed(own, repetitions(&self.repeated).chain(bounds));
        let agrees = matches!(own, Verdict::Reproduced | Verdict::Derived | Verdict::Shape);
        match self.null_verdict() {
            Some(null) if agrees && null.strength() >= own.strength() => {
                Verdict::Indistinct(format!(
                    "{}, and in the measurement without the paper's system as well ({})",
                    own.words(),
                    self.null.words
                ))
            }
            _ => own,
        }
    }

    /// Returns the verdict on a claim's number measured without the system that the claim is about
    /// (the null), by the same criterion as for the claim itself: the strongest of those from the
    /// study and from each repetition. That is deliberately strict: the claim at its weakest has to
    /// be better than its null at its strongest. `None` if there is no null.
    pub fn null_verdict(&self) -> Option<Verdict> {
        let Answer { null, .. } = self;
        let again = null.repeated.iter().map(|(_, measured)| measured);
        let all = [&null.measured].into_iter().chain(again);
        let strongest = |one: Verdict, other: Verdict| {
            if other.strength() > one.strength() { other } else { one }
        };
        let judged = all.map(|it| self.statement.judge(it.as_ref())).reduce(strongest);
        judged.filter(|_| null.exists)
    }

    /// Returns the verdict on a claim at one step, called `name`, of the range of what the study
    /// assumes: the weakest of those from the study and from its repetitions.
    pub fn verdict_at(&self, name: &str) -> Verdict {
        let all = || self.bounds.iter().filter(|it| it.name == name);
        let own = all().find(|it| it.repetition.is_original()).and_then(|it| it.measured.as_ref());
        let again = all().filter(|it| !it.repetition.is_original());
        let again = again.map(|it| (it.repetition.to_string(), it.measured.as_ref()));
        self.confirmed(self.statement.judge(own), again)
    }

    /// Returns the weakest verdict on a claim over a study and further measurements of it, each
    /// with its name, where `own` is the verdict of the study itself.
    fn confirmed<'a>(
        &self,
        own: Verdict,
        further: impl Iterator<Item = (String, Option<&'a Measured>)>,
    ) -> Verdict {
        if own.strength() == 0 {
            return own;
        }
        let (mut weakest, mut against) = (own, Vec::new());
        for (name, measured) in further {
            match self.statement.judge(measured) {
                Verdict::NotReproducible(why) => against.push(format!("({name}): {why}")),
                verdict if verdict.strength() < weakest.strength() => weakest = verdict,
                _ => {}
            }
        }
        if against.is_empty() {
            return weakest;
        }
        Verdict::NotReproducible(format!("not confirmed {}", against.join("; ")))
    }
}

/// Returns the measurements of a claim in the repetitions of the study, by the repetition's name.
fn repetitions(
    repeated: &[(Repetition, Option<Measured>)],
) -> impl Iterator<Item = (String, Option<&Measured>)> {
    repeated.iter().map(|(repetition, it)| (repetition.to_string(), it.as_ref()))
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.repetition.is_original() { Ok(()) } else { write!(f, ", {}", self.repetition) }
    }
}

/// Largest relative difference from a published number that counts as reproduced when the workload
/// is not public: 10 %. Assumed; a second trace of the same server differs by more.
const NEAR: f64 = 0.10;

/// Largest relative difference (1 %) from the printed number for a number that is derived from a
/// rounded parameter or from means.
const ROUNDED: f64 = 0.01;

/// Largest factor between a measured and a published number that still matches in shape.
const SHAPE_FACTOR: f64 = 2.0;

impl Check {
    /// Describes in words the limits within which measured and published numbers of a claim must
    /// agree.
    pub fn limits(self) -> &'static str {
        match self {
            Check::Exact => "every printed digit",
            Check::Rounded => "every printed digit; shape: 1 %",
            Check::Close => "1 %; shape: factor of 2",
            Check::Shape => "10 %; shape: factor of 2",
            Check::Direction => "direction only",
            Check::Below => "from 0 to the printed number",
            Check::Unmeasured => "",
        }
    }

    fn agrees(self, published: f64, ours: f64) -> bool {
        match self {
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

    /// True if the measured number `ours` is near enough to the published one for the verdict that
    /// the claim matches in shape: within a factor of two, where numbers are compared.
    fn near(self, published: f64, ours: f64) -> bool {
        match self {
            Check::Rounded => (ours - published).abs() < ROUNDED * published.abs(),
            Check::Close | Check::Shape => {
                let ratio = ours / published;
                ours == published || (1.0 / SHAPE_FACTOR..=SHAPE_FACTOR).contains(&ratio)
            }
            Check::Direction => true,
            Check::Exact | Check::Below | Check::Unmeasured => false,
        }
    }
}

/// Returns the number of digits after the decimal point of a printed number.
fn decimals(value: f64) -> usize {
    value.to_string().split_once('.').map_or(0, |(_, digits)| digits.len())
}

impl Statement {
    /// Returns the verdict on the claim from its measurement, with the reason for a difference;
    /// `measured` is `None` if the claim could not be measured.
    pub fn verdict(&self, measured: Option<&Measured>) -> Verdict {
        match self.judge(measured) {
            // The reason for a difference does not apply if nothing was measured.
            Verdict::NotReproducible(reason) if measured.is_some() && !self.why.is_empty() => {
                Verdict::NotReproducible(format!("{reason}; {}", self.why))
            }
            Verdict::NotReproducible(_)
                if self.check == Check::Unmeasured && !self.why.is_empty() =>
            {
                Verdict::NotReproducible(self.why.clone())
            }
            verdict => verdict,
        }
    }

    /// Returns the verdict on a claim of a paper from its measurement (`None` if not measured),
    /// before the reason that the paper's data file states for a difference is considered.
    fn judge(&self, measured: Option<&Measured>) -> Verdict {
        let out = |reason: String| Verdict::NotReproducible(reason);
        if self.check == Check::Unmeasured {
            return out("it cannot be measured".into());
        }
        let Some(measured) = measured else { return out("not measured".into()) };
        if let Some(direction) = self.broken_direction(measured) {
            return out(direction);
        }
        let numbers = || self.published.iter().chain(&self.derived);
        let all = |near: fn(Check, f64, f64) -> bool| {
            numbers().all(|(label, published)| {
                labelled(&measured.values, label)
                    .is_some_and(|ours| near(self.check, *published, ours))
            })
        };
        if self.check != Check::Direction && all(Check::agrees) {
            return match self {
                _ if self.by_construction => Verdict::ByConstruction,
                _ if self.published.is_empty() => Verdict::Derived,
                _ => Verdict::Reproduced,
            };
        }
        if all(Check::near) {
            // Neither numbers that are fitted to printed ones nor rounded parameters are evidence,
            // however near they come.
            let no_evidence = self.by_construction && self.check != Check::Close;
            return if no_evidence { Verdict::ByConstruction } else { Verdict::Shape };
        }
        let kind = if self.published.is_empty() { "derived" } else { "published" };
        out(farthest(numbers(), &measured.values, kind))
    }

    /// Returns a sentence on the first direction stated in the claim that does not hold or was not
    /// measured; `None` if all hold.
    fn broken_direction(&self, measured: &Measured) -> Option<String> {
        for stated in &self.directions {
            match measured.directions.iter().find(|(words, _)| words == stated) {
                None => return Some(format!("\"{stated}\" was not measured")),
                Some((_, false)) => return Some(format!("\"{stated}\" does not hold")),
                Some((_, true)) => {}
            }
        }
        if let Some((words, _)) = measured.directions.iter().find(|(_, holds)| !holds) {
            return Some(format!("\"{words}\" does not hold"));
        }
        (!measured.holds).then(|| "what was measured contradicts it".into())
    }
}

/// Returns a sentence on the measured number that is farthest from the published one; `kind` names
/// the published numbers (printed or derived).
fn farthest<'a>(
    published: impl Iterator<Item = &'a Labelled>,
    measured: &[Labelled],
    kind: &str,
) -> String {
    let mut worst: Option<(f64, String)> = None;
    for (label, published) in published {
        let Some(ours) = labelled(measured, label) else {
            return format!("{label} was not measured");
        };
        let ratio = ours / published;
        let far =
            if ratio.is_finite() && ratio > 0.0 { libm::fabs(libm::log(ratio)) } else { f64::MAX };
        if worst.as_ref().is_none_or(|(most, _)| far > *most) {
            let words = if far < f64::MAX {
                format!("{label} is {ratio:.2} times the {kind} number")
            } else {
                format!("{label} is {} instead of {published}", short(ours))
            };
            worst = Some((far, words));
        }
    }
    worst.map_or_else(|| "no number was measured".into(), |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::super::NullAnswer;
    use super::*;
    use crate::repetition::Repetition;

    fn stated(check: Check, published: f64) -> Statement {
        Statement {
            id: "1".into(),
            published: vec![("SLC".into(), published)],
            check,
            ..Statement::default()
        }
    }

    fn out(why: &str) -> Verdict {
        Verdict::NotReproducible(why.into())
    }

    #[test]
    fn verdicts_follow_the_numbers() {
        use Verdict::{Reproduced, Shape};
        let times = |ratio: &str| out(&format!("SLC is {ratio} times the published number"));
        let turned = out("what was measured contradicts it");
        for (check, published, ours, holds, verdict) in [
            (Check::Exact, 8.29, 8.2857, true, Reproduced),
            (Check::Exact, 8.29, 8.2849, true, times("1.00")),
            (Check::Exact, 20.0, 20.4, true, Reproduced),
            (Check::Exact, 20.0, 20.6, true, times("1.03")),
            (Check::Exact, 20.0, 20.0, false, turned.clone()),
            (Check::Shape, 0.5, 0.46, true, Reproduced),
            (Check::Shape, 0.5, 0.3, true, Shape),
            (Check::Shape, 0.5, 0.25, true, Shape),
            (Check::Shape, 0.5, 0.249, true, times("0.50")),
            (Check::Shape, 0.5, 1.0, true, Shape),
            (Check::Shape, 0.5, 1.01, true, times("2.02")),
            (Check::Shape, 0.5, -0.5, true, out("SLC is -0.500 instead of 0.5")),
            (Check::Shape, 0.0, 0.0, true, Reproduced),
            (Check::Shape, 0.0, 0.1, true, out("SLC is 0.100 instead of 0")),
            (Check::Shape, 0.5, f64::NAN, true, out("SLC is NaN instead of 0.5")),
            (Check::Shape, 0.5, 0.5, false, turned),
            (Check::Close, 0.5, 0.504, true, Reproduced),
            (Check::Close, 0.5, 0.6, true, Shape),
            (Check::Below, 0.01, 0.004, true, Reproduced),
            (Check::Below, 0.01, 0.011, true, times("1.10")),
            (Check::Below, 0.01, -0.001, true, out("SLC is -0.001 instead of 0.01")),
            (Check::Rounded, 1.4, 1.402, true, Reproduced),
            (Check::Rounded, 1.40, 1.393, true, Reproduced),
            (Check::Rounded, 2.85, 2.844, true, Shape),
            (Check::Rounded, 2.85, 2.82, true, times("0.99")),
            (Check::Unmeasured, 1.0, 1.0, true, out("it cannot be measured")),
        ] {
            let measured = Measured::held(vec![("SLC".into(), ours)], holds);
            let said = stated(check, published).verdict(Some(&measured));
            assert_eq!(said, verdict, "{check:?} {published} {ours}");
        }
        let statement = Statement { why: "batches".into(), ..stated(Check::Shape, 0.5) };
        let far = Measured::of([("SLC", 2.0)]);
        assert_eq!(
            statement.verdict(Some(&far)),
            out("SLC is 4.00 times the published number; batches")
        );
        assert_eq!(statement.verdict(None), out("not measured"));
        let other = Measured::of([("MLC", 0.5)]);
        assert_eq!(stated(Check::Exact, 0.5).verdict(Some(&other)), out("SLC was not measured"));
    }

    #[test]
    fn what_agrees_with_more_than_printed_numbers_says_so() {
        let agreed = Measured::of([("SLC", 1.0)]);
        let printed = stated(Check::Exact, 1.0);
        let derived = Statement {
            derived: printed.published.clone(),
            published: Vec::new(),
            derivation: "2 - 1".into(),
            ..printed.clone()
        };
        let constructed = Statement { by_construction: true, ..printed.clone() };
        let both = Statement { derived: vec![("MLC".into(), 2.0)], ..printed.clone() };
        assert_eq!(printed.verdict(Some(&agreed)), Verdict::Reproduced);
        assert_eq!(derived.verdict(Some(&agreed)), Verdict::Derived);
        assert_eq!(constructed.verdict(Some(&agreed)), Verdict::ByConstruction);
        assert_eq!(both.verdict(Some(&agreed)), out("MLC was not measured"));
        // Numbers that are fitted are no evidence, however near they come.
        let fitted = Statement { by_construction: true, ..stated(Check::Shape, 1.0) };
        let near = Measured::of([("SLC", 1.5)]);
        assert_eq!(fitted.verdict(Some(&near)), Verdict::ByConstruction);
        assert_eq!(stated(Check::Shape, 1.0).verdict(Some(&near)), Verdict::Shape);
        let direction = Statement {
            check: Check::Direction,
            directions: vec!["a < b".into()],
            published: Vec::new(),
            ..fitted
        };
        let holds = Measured::of([]).direction("a < b", true);
        assert_eq!(direction.verdict(Some(&holds)), Verdict::ByConstruction);
        // A constructed number that differs is an error of ours, not an agreement.
        assert!(matches!(
            constructed.verdict(Some(&Measured::of([("SLC", 2.0)]))),
            Verdict::NotReproducible(_)
        ));
    }

    #[test]
    fn every_direction_that_is_stated_must_be_measured_and_hold() {
        let statement = Statement {
            check: Check::Direction,
            directions: vec!["a < b".into(), "b < c".into()],
            ..Statement::default()
        };
        let measured = |holds: &[(&str, bool)]| {
            let none = Measured::of([]);
            holds.iter().fold(none, |all, (words, holds)| all.direction(words, *holds))
        };
        for (holds, verdict) in [
            (&[("a < b", true), ("b < c", true)][..], Verdict::Shape),
            (&[("a < b", true)], out("\"b < c\" was not measured")),
            (&[("a < b", false), ("b < c", true)], out("\"a < b\" does not hold")),
            (&[("a < b", true), ("b < c", true), ("c < d", false)], out("\"c < d\" does not hold")),
        ] {
            assert_eq!(statement.verdict(Some(&measured(holds))), verdict);
        }
    }

    #[test]
    fn every_repetition_must_confirm_the_verdict() {
        let seed = Repetition::Seed(7);
        let of = |value: f64| Some(Measured::of([("SLC", value)]));
        for (own, repeated, verdict) in [
            (of(1.0), vec![(seed, of(1.05))], Verdict::Reproduced),
            (of(1.0), vec![(seed, of(1.05)), (Repetition::Twice, of(1.5))], Verdict::Shape),
            (of(1.5), vec![(seed, of(1.0))], Verdict::Shape),
            (
                of(1.0),
                vec![(seed, of(3.0))],
                out("not confirmed (seed 7): SLC is 3.00 times the published number"),
            ),
            (
                of(1.0),
                vec![(seed, of(3.0)), (Repetition::Seed(8), of(1.0)), (Repetition::Twice, None)],
                out("not confirmed (seed 7): SLC is 3.00 times the published number; \
                     (twice as long): not measured"),
            ),
            (
                of(1.0),
                vec![(Repetition::Twice, None)],
                out("not confirmed (twice as long): not measured"),
            ),
            (of(3.0), vec![(seed, of(1.0))], out("SLC is 3.00 times the published number")),
        ] {
            let statement = stated(Check::Shape, 1.0);
            let (null, chosen) = (NullAnswer::default(), Vec::new());
            let bounds = Vec::new();
            let answer = Answer { statement, measured: own, repeated, null, chosen, bounds };
            assert_eq!(answer.verdict(), verdict);
        }
    }

    #[test]
    fn a_claim_that_its_null_meets_as_well_does_not_discriminate() {
        let of = |value: f64| Some(Measured::of([("SLC", value)]));
        let seed = Repetition::Seed(7);
        for (own, null, repeated, verdict) in [
            (1.0, 3.0, 3.0, Verdict::Reproduced),
            // The null has the shape alone.
            (1.0, 1.5, 1.5, Verdict::Reproduced),
            (1.0, 1.05, 1.05, indistinct("reproduced")),
            (1.5, 1.6, 1.6, indistinct("shape")),
            (1.5, 1.0, 1.0, indistinct("shape")),
            // One repetition in which the null agrees is enough, as one is enough against a claim.
            (1.5, 1.0, 3.0, indistinct("shape")),
            (1.5, 3.0, 1.0, indistinct("shape")),
            (1.0, 3.0, 1.5, Verdict::Reproduced),
            // A claim that is not reproduced stays so.
            (3.0, 1.0, 1.0, out("SLC is 3.00 times the published number")),
        ] {
            let null = NullAnswer {
                words: "nt in place of dt".into(),
                exists: true,
                of_workload: true,
                measured: of(null),
                repeated: vec![(seed, of(repeated))],
            };
            let answer = Answer {
                statement: stated(Check::Shape, 1.0),
                measured: of(own),
                repeated: vec![(seed, of(own))],
                null,
                chosen: Vec::new(),
                bounds: Vec::new(),
            };
            assert_eq!(answer.verdict(), verdict, "{own} {repeated}");
        }
    }

    /// A verdict must hold over the range of what the study assumes, and under each seed there.
    #[test]
    fn every_step_of_the_assumed_range_must_confirm_the_verdict() {
        let (own, seed) = (Repetition::Original, Repetition::Seed(7));
        for (steps, verdict, at) in [
            (vec![(own, 1.05)], Verdict::Reproduced, Verdict::Reproduced),
            (vec![(own, 1.05), (seed, 1.2)], Verdict::Shape, Verdict::Shape),
            (vec![(own, 1.2), (seed, 1.05)], Verdict::Shape, Verdict::Shape),
            (
                vec![(own, 1.05), (seed, 3.0)],
                out("not confirmed (larger, seed 7): SLC is 3.00 times the published number"),
                out("not confirmed (seed 7): SLC is 3.00 times the published number"),
            ),
            // A step at which the claim could not be measured.
            (
                vec![(own, f64::NAN)],
                out("not confirmed (larger): not measured"),
                out("not measured"),
            ),
        ] {
            let bound = |&(repetition, value): &(Repetition, f64)| {
                let measured = value.is_finite().then(|| Measured::of([("SLC", value)]));
                Bound { name: "larger".into(), repetition, measured }
            };
            let answer = Answer {
                statement: stated(Check::Shape, 1.0),
                measured: Some(Measured::of([("SLC", 1.0)])),
                repeated: Vec::new(),
                null: NullAnswer::default(),
                chosen: Vec::new(),
                bounds: steps.iter().map(bound).collect(),
            };
            assert_eq!([answer.verdict(), answer.verdict_at("larger")], [verdict, at], "{steps:?}");
        }
    }

    fn indistinct(words: &str) -> Verdict {
        let why = format!(
            "{words}, and in the measurement without the paper's system as well (nt in place of dt)"
        );
        Verdict::Indistinct(why)
    }
}
