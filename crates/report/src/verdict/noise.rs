//! Decides whether schemes or drives differ by more than seeds do.

use super::finding::{Case, Finding};
use fowler_experiment::numbers::ratio;

/// Metrics whose differences between runs are tested against chance: path in the summary, name in
/// sentences, and name under which half the width of the confidence interval is reported.
const NUMBERS: [(&str, &str, &str); 4] = [
    ("read.mean_us", "mean read", "read.mean_us.half_width"),
    ("read.p999_us", "read p99.9", "read.p999_us.half_width"),
    ("write.mean_us", "mean write", "write.mean_us.half_width"),
    ("waf", "write amplification", "waf.half_width"),
];

/// Finds for each compared run after the first the metrics (mean and p99.9 read, mean write, write
/// amplification) that differ from the first run's by more than chance. Nothing is chance if all
/// seeds gave equal numbers.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let Some(spread) = case.spread else { return Vec::new() };
    let Some((first, others)) = case.runs.split_first() else { return Vec::new() };
    if spread.is_nothing() {
        let text = format!(
            "All {} seeds gave the same numbers: chance plays no part in this.",
            spread.seeds()
        );
        return vec![Finding::new(&[first], text)];
    }
    let mut findings = Vec::new();
    for (place, run) in others.iter().enumerate() {
        let (mut real, mut chance, mut exact) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers = Vec::new();
        for (path, name, half_width) in NUMBERS {
            if path == "waf" && (first.withheld || run.withheld) {
                continue;
            }
            let Some(interval) = spread.ratio(place + 1, path) else { continue };
            // Every seed gives equal values.
            if interval.mean == 1.0 && interval.half_width == 0.0 {
                continue;
            }
            let by = |value: f64| ratio(value).trim_end_matches('x').to_string();
            let says =
                format!("{name} {} \u{b1} {} times", by(interval.mean), by(interval.half_width));
            match (interval.mean - 1.0).abs() > interval.half_width {
                _ if interval.half_width == 0.0 => {
                    exact.push(format!("{name} {} times", by(interval.mean)))
                }
                true => real.push(says),
                false => chance.push(says),
            }
            numbers.extend([(path, interval.mean), (half_width, interval.half_width)]);
        }
        let mut says = match (real.is_empty(), chance.is_empty()) {
            (true, true) => Vec::new(),
            (false, true) => vec![format!("{}; each beyond chance", real.join(", "))],
            (true, false) => vec![format!("no difference beyond chance ({})", chance.join(", "))],
            (false, false) => {
                vec![format!("{}; not beyond chance: {}", real.join(", "), chance.join(", "))]
            }
        };
        if !exact.is_empty() {
            says.push(format!(
                "the ratio of the two runs is the same with every seed: {}",
                exact.join(", ")
            ));
        }
        if says.is_empty() {
            continue;
        }
        let says = says.join("; ");
        let text = format!(
            "{} against {} over {} seeds (95 % intervals, each by itself): {says}.",
            run.called(),
            first.called(),
            spread.seeds()
        );
        findings.push(Finding::new(&[first, run], text).numbers(&numbers));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Facts;
    use fowler_experiment::seeds::Spread;
    use std::collections::BTreeMap;

    fn spread(of: [[f64; 3]; 2]) -> Spread {
        let path = "read.mean_us".to_string();
        Spread::of_values(of.map(|values| BTreeMap::from([(path.clone(), values.to_vec())])).into())
    }

    #[test]
    fn what_is_larger_than_between_seeds_is_real() {
        let runs = ["a", "b"].map(|it| Facts { label: it.into(), ..Facts::default() });
        for (values, says) in [
            ([[100.0, 110.0, 120.0], [50.0, 55.0, 60.5]], "each beyond chance"),
            ([[100.0, 110.0, 120.0], [100.0, 105.0, 130.0]], "no difference beyond chance"),
        ] {
            let spread = spread(values);
            let said = look(&Case { runs: &runs, spread: Some(&spread) });
            assert!(said[0].text.contains(says), "{}", said[0].text);
        }
        assert!(look(&Case { runs: &runs, spread: None }).is_empty());
    }

    /// A ratio that every seed repeats is not called beyond chance, and neither is anything where
    /// the seed changes nothing at all.
    #[test]
    fn what_the_seed_does_not_change_is_no_matter_of_chance() {
        let runs = ["a", "b"].map(|it| Facts { label: it.into(), ..Facts::default() });
        let text = |spread: &Spread| {
            let said = look(&Case { runs: &runs, spread: Some(spread) });
            said.into_iter().map(|it| it.text).collect::<String>()
        };
        let still = text(&spread([[100.0; 3], [50.0; 3]]));
        assert_eq!(still, "All 3 seeds gave the same numbers: chance plays no part in this.");
        let waf = |values: [f64; 3]| ("waf".to_string(), values.to_vec());
        let mean = |values: [f64; 3]| ("read.mean_us".to_string(), values.to_vec());
        let partly = text(&Spread::of_values(vec![
            BTreeMap::from([mean([100.0; 3]), waf([2.0, 2.1, 2.2])]),
            BTreeMap::from([mean([50.0; 3]), waf([2.0, 2.2, 2.1])]),
        ]));
        assert!(
            partly.contains(
                "the ratio of the two runs is the same with every seed: mean read 0.50 times"
            ),
            "{partly}"
        );
        assert!(!partly.contains("each beyond chance"), "{partly}");
    }
}
