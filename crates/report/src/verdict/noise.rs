//! Whether schemes differ by more than seeds do.

use super::finding::{Case, Finding};
use fowler_experiment::numbers::ratio;

/// What is compared, how it is called, and the name of its interval.
const NUMBERS: [(&str, &str, &str); 4] = [
    ("read.mean_us", "mean read", "read.mean_us.half_width"),
    ("read.p999_us", "read p99.9", "read.p999_us.half_width"),
    ("write.mean_us", "mean write", "write.mean_us.half_width"),
    ("waf", "write amplification", "waf.half_width"),
];

/// For each scheme beside the first: which of its differences are larger than chance.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let Some(spread) = case.spread else { return Vec::new() };
    let Some((first, others)) = case.runs.split_first() else { return Vec::new() };
    if spread.is_nothing() {
        let text = format!("All {} seeds gave the same numbers.", spread.seeds());
        return vec![Finding::new(&[first], text)];
    }
    let mut findings = Vec::new();
    for (place, run) in others.iter().enumerate() {
        let (mut real, mut chance, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for (path, name, half_width) in NUMBERS {
            let Some(its) = spread.ratio(place + 1, path) else { continue };
            // The same with every seed.
            if its.mean == 1.0 && its.half_width == 0.0 {
                continue;
            }
            let by = |value: f64| ratio(value).trim_end_matches('x').to_string();
            let says = format!("{name} {} \u{b1} {} times", by(its.mean), by(its.half_width));
            let differs = (its.mean - 1.0).abs() > its.half_width;
            if differs { &mut real } else { &mut chance }.push(says);
            numbers.extend([(path, its.mean), (half_width, its.half_width)]);
        }
        let says = match (real.is_empty(), chance.is_empty()) {
            (true, true) => continue,
            (false, true) => format!("{}; each beyond chance", real.join(", ")),
            (true, false) => format!("no difference beyond chance ({})", chance.join(", ")),
            (false, false) => {
                format!("{}; not beyond chance: {}", real.join(", "), chance.join(", "))
            }
        };
        let text = format!(
            "{} against {} over {} seeds (95 % intervals, each by itself): {says}.",
            run.scheme,
            first.scheme,
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
        let runs = ["a", "b"].map(|it| Facts { scheme: it.into(), ..Facts::default() });
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
}
