//! The table of claims.

use super::{Answer, Bound, Labelled, Measured, Statement, Verdict, labelled};
use crate::repetition::Repetition;
use crate::studies::interval;
use fowler_experiment::tables::{Cell, Sheet};

/// Column with the verdict on each claim at every step of a range that the study assumes; only in
/// tables of studies with such a range.
const SIZES: &str = "over sizes of volumes";

/// Returns the table of a paper's claims, one row each.
pub(crate) fn sheet(answers: &[Answer]) -> Sheet {
    let all_heads = [
        "id",
        "where",
        "claim",
        "published",
        "derived",
        "ours",
        "seeds",
        "twice as long",
        "range over seeds and lengths",
        "range over choices",
        SIZES,
        "limits",
        "verdict",
        "null",
        "null gives",
        "verdict of the null",
        "directions",
        "how",
        "remark",
    ];
    let has_range = answers.iter().any(|it| !it.bounds.is_empty());
    let is_shown = |head: &&str| has_range || *head != SIZES;
    let heads: Vec<&str> = all_heads.into_iter().filter(is_shown).collect();
    let mut sheet = Sheet::new("claims", "Every number of the paper next to ours", &heads);
    for answer in answers {
        let Answer { statement, measured, repeated, null, chosen, .. } = answer;
        let verdict = answer.verdict();
        let remark =
            if matches!(verdict, Verdict::NotReproducible(_)) { "" } else { &statement.why };
        let ours = |it: &Option<Measured>| match it {
            Some(it) if !it.values.is_empty() => listed(&it.values).into(),
            _ => Cell::Nothing,
        };
        let twice = repeated.iter().find(|(it, _)| *it == Repetition::Twice);
        let cells = [
            statement.id.as_str().into(),
            statement.place.as_str().into(),
            statement.claim.as_str().into(),
            in_full(&statement.published).into(),
            derived(statement).into(),
            ours(measured),
            seeds(answer).map_or(Cell::Nothing, Cell::from),
            twice.map_or(Cell::Nothing, |(_, it)| ours(it)),
            ranges(repetitions(answer)),
            ranges(chosen.iter().map(|(name, it)| (name.clone(), it))),
            over_bounds(answer),
            statement.check.limits().into(),
            verdict.words().into(),
            null.words.as_str().into(),
            ours(&null.measured),
            answer.null_verdict().map_or(Cell::Nothing, |it| it.words().into()),
            directions(statement, measured.as_ref()).into(),
            statement.how.as_str().into(),
            remark.into(),
        ];
        let shown = all_heads.into_iter().zip(cells).filter(|(head, _)| is_shown(head));
        sheet.row(shown.map(|(_, cell)| cell).collect());
    }
    sheet
}

/// Lists the derived numbers of a statement with their derivation, for a cell of the table of
/// claims.
fn derived(statement: &Statement) -> String {
    if statement.derived.is_empty() {
        return String::new();
    }
    format!("{} ({})", in_full(&statement.derived), statement.derivation)
}

/// Lists the effects that a paper's statement names in words (such as "reads are faster than
/// writes"), each with `holds`, `does not hold` or `not measured`, for a cell of the table of
/// claims.
fn directions(statement: &Statement, measured: Option<&Measured>) -> String {
    let found = |words: &str| {
        let all = measured.map(|it| it.directions.as_slice()).unwrap_or_default();
        all.iter().find(|(it, _)| it == words).map(|(_, holds)| *holds)
    };
    let one = |words: &String| match found(words) {
        Some(true) => format!("{words}: holds"),
        Some(false) => format!("{words}: does not hold"),
        None => format!("{words}: not measured"),
    };
    statement.directions.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Lists the mean of every measured number of a claim over the seeds, with its 95 % confidence
/// interval; `None` if the study was not repeated.
fn seeds(answer: &Answer) -> Option<String> {
    let is_seed = |it: Repetition| matches!(it, Repetition::Seed(_));
    let others = answer.repeated.iter().filter(|(it, _)| is_seed(*it));
    let all: Vec<&Measured> =
        answer.measured.iter().chain(others.filter_map(|(_, it)| it.as_ref())).collect();
    let first = answer.measured.as_ref().filter(|it| all.len() > 1 && !it.values.is_empty())?;
    let one = |label: &str| -> Option<String> {
        let values: Option<Vec<f64>> = all.iter().map(|it| labelled(&it.values, label)).collect();
        let spread = interval(&values?)?;
        Some(format!("{label} {} ± {}", short(spread.mean), short(spread.half_width)))
    };
    let listed: Vec<String> = first.values.iter().filter_map(|(label, _)| one(label)).collect();
    Some(listed.join(", "))
}

/// Lists the least and the largest value of every number of a claim over several named measurements
/// (the study and its repetitions, or the options for what the paper leaves open), each with the
/// name of its measurement. The cell is empty if there are fewer than two measurements.
fn ranges<'a>(all: impl Iterator<Item = (String, &'a Measured)>) -> Cell {
    let all: Vec<(String, &Measured)> = all.collect();
    let Some((_, first)) = all.first().filter(|it| all.len() > 1 && !it.1.values.is_empty()) else {
        return Cell::Nothing;
    };
    let one = |label: &str| {
        let mut values: Vec<(f64, &str)> = all
            .iter()
            .filter_map(|(name, it)| Some((labelled(&it.values, label)?, name.as_str())))
            .collect();
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        let end = |it: Option<&(f64, &str)>| {
            it.map_or(String::new(), |(value, name)| format!("{} ({name})", short(*value)))
        };
        format!("{label} {} to {}", end(values.first()), end(values.last()))
    };
    let listed: Vec<String> = first.values.iter().map(|(label, _)| one(label)).collect();
    listed.join(", ").into()
}

/// Lists the verdict and the numbers of a claim at each step of the range of what the study assumes
/// (the sizes of volumes), for a cell of the table of claims: `published sizes: shape (mean 0.4)`.
fn over_bounds(answer: &Answer) -> Cell {
    let own = answer.bounds.iter().filter(|it| it.repetition.is_original());
    let one = |bound: &Bound| {
        let verdict = answer.verdict_at(&bound.name);
        let values = bound.measured.as_ref().map_or("not measured".into(), |it| listed(&it.values));
        format!("{}: {} ({values})", bound.name, verdict.name())
    };
    let listed: Vec<String> = own.map(one).collect();
    if listed.is_empty() { Cell::Nothing } else { listed.join("; ").into() }
}

/// Returns the measurements of a claim in the original study and its repetitions, each with the
/// name of the repetition.
fn repetitions(answer: &Answer) -> impl Iterator<Item = (String, &Measured)> {
    let own = answer.measured.iter().map(|it| (Repetition::Original.to_string(), it));
    let again = answer.repeated.iter();
    own.chain(again.filter_map(|(repetition, it)| Some((repetition.to_string(), it.as_ref()?))))
}

/// Returns a sentence that counts the reproduced claims by the evidence they rest on: printed or
/// derived numbers.
pub(crate) fn bases(answers: &[Answer]) -> String {
    let agrees = |it: &&Answer| matches!(it.verdict(), Verdict::Reproduced | Verdict::Derived);
    let (works, examples): (Vec<&Answer>, Vec<&Answer>) =
        answers.iter().filter(agrees).partition(|it| it.null.of_workload);
    format!(
        "of the claims that are reproduced, or agree with numbers derived from the paper by \
         arithmetic, {} rest on a workload, \
         {} on worked examples and state machines",
        works.len(),
        examples.len()
    )
}

/// Lists the published or measured numbers of a paper's claim with their labels: `SLC 0.446, MLC
/// 0.483`.
fn listed(values: &[Labelled]) -> String {
    let one = |(label, value): &Labelled| format!("{label} {}", short(*value));
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Lists numbers of a paper with every digit: `usr 0.0034, web 0.0056`.
fn in_full(values: &[Labelled]) -> String {
    values.iter().map(|(label, value)| format!("{label} {value}")).collect::<Vec<_>>().join(", ")
}

/// Formats a number with at most three significant digits or one decimal, but every digit of a
/// whole number.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    match value {
        _ if value.fract() == 0.0 => value.to_string(),
        _ if size < 0.0005 => format!("{value:.1e}"),
        _ if size < 1.0 => format!("{value:.3}"),
        _ if size < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::NullAnswer;

    #[test]
    fn printed_numbers_keep_their_digits() {
        let all = [0.0034, 2053.3, 3320.0].map(|value| ("us".to_string(), value));
        assert_eq!(in_full(&all), "us 0.0034, us 2053.3, us 3320");
        assert_eq!(listed(&all), "us 0.003, us 2053.3, us 3320");
    }

    #[test]
    fn seeds_are_listed_with_their_interval() {
        let of = |value: f64| Some(Measured::of([("SLC", value)]));
        let answer = Answer {
            statement: Statement::default(),
            measured: of(1.0),
            null: NullAnswer::default(),
            chosen: Vec::new(),
            bounds: Vec::new(),
            repeated: vec![
                (Repetition::Seed(1), of(2.0)),
                (Repetition::Seed(2), of(3.0)),
                (Repetition::Twice, of(100.0)),
            ],
        };
        assert_eq!(seeds(&answer).as_deref(), Some("SLC 2 ± 2.48"));
        assert_eq!(seeds(&Answer { repeated: vec![], ..answer }), None);
    }
}
