//! Which scheme is better, and by how much.

use super::{Case, Facts, Finding};
use crate::numbers::{ratio, real};
use fowler_metrics::Kind;

/// A difference below this is none: latencies are compared to a percent.
const SAME: f64 = 0.01;

/// The scheme with the lowest mean read latency, or mean write latency where nothing is read. A
/// scheme that lost data, or was stopped, is not called better.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let [first, others @ ..] = case.runs else { return Vec::new() };
    let fair = |its: &&Facts| its.alike(first) && its.lost == 0 && its.complete;
    let fair: Vec<&Facts> = others.iter().filter(fair).collect();
    let reads = first.served[Kind::Read].count > 0;
    let kind = if reads { Kind::Read } else { Kind::Write };
    let mean = |its: &Facts| its.served[kind].mean_us;
    let Some(of_first) = mean(first).filter(|&mean| mean > 0.0 && first.lost == 0) else {
        return Vec::new();
    };
    let best = fair.iter().copied().filter(|its| mean(its).is_some());
    let best = best.min_by(|one, other| mean(one).partial_cmp(&mean(other)).expect("numbers"));
    let Some(best) = best else { return Vec::new() };
    let of_best = mean(best).unwrap_or(of_first);
    let by = of_best / of_first;
    let name = kind.name();
    let numbers = [("mean_us", of_best), ("first_mean_us", of_first), ("least_difference", SAME)];
    if by > 1.0 - SAME {
        let none = fair.iter().all(|its| mean(its).is_some_and(|it| it / of_first < 1.0 + SAME));
        let text = if none && fair.len() == others.len() {
            format!("No scheme changes the mean {name} latency by 1 %.")
        } else {
            format!("No scheme has a lower mean {name} latency than {}, by 1 %.", first.scheme)
        };
        return vec![Finding::new(&[first, best], text).numbers(&numbers)];
    }
    let mut text = format!(
        "{} has the lowest mean {name} latency, {} us, {} that of {}",
        best.scheme,
        real(of_best),
        times(by),
        first.scheme
    );
    let tails = first.served[kind].p999_us.zip(best.served[kind].p999_us);
    if let Some((of_first, of_best)) = tails.filter(|(first, _)| *first > 0.0) {
        text += &format!("; at p99.9 {} us, {}", real(of_best), times(of_best / of_first));
    }
    text.push('.');
    text += &price(first, best, kind);
    vec![Finding::new(&[first, best], text).numbers(&numbers)]
}

/// `0.34 times`.
fn times(by: f64) -> String {
    format!("{} times", ratio(by).trim_end_matches('x'))
}

/// What it costs: the other kind of request, and pages programmed.
fn price(first: &Facts, best: &Facts, kind: Kind) -> String {
    let mut price = Vec::new();
    let other = if kind == Kind::Read { Kind::Write } else { Kind::Read };
    if let Some((was, is)) = first.served[other].mean_us.zip(best.served[other].mean_us)
        && was > 0.0
        && is / was > 1.0 + SAME
    {
        let of = if other == Kind::Write { "writes" } else { "reads" };
        price.push(format!("{of} take {} as long", times(is / was)));
    }
    if let Some((was, is)) = first.waf().zip(best.waf())
        && is / was > 1.0 + SAME
    {
        price.push(format!("write amplification is {}, not {}", real(is), real(was)));
    }
    if price.is_empty() { String::new() } else { format!(" Its price: {}.", price.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::facts::Served;
    use fowler_metrics::ByKind;

    fn run(scheme: &str, read: f64, write: f64) -> Facts {
        let served = |us: f64| Served { count: 100, mean_us: Some(us), ..Served::default() };
        Facts {
            scheme: scheme.into(),
            requests: 200,
            complete: true,
            served: ByKind::from_fn(|kind| served([read, write][kind as usize])),
            ..Facts::default()
        }
    }

    fn says(runs: &[Facts]) -> String {
        let said = look(&Case { runs, spread: None });
        said.into_iter().map(|it| it.text).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn the_lowest_mean_read_is_the_best_and_has_its_price() {
        let runs = [run("a", 100.0, 500.0), run("b", 50.0, 600.0), run("c", 80.0, 500.0)];
        let said = says(&runs);
        assert!(
            said.starts_with("b has the lowest mean read latency, 50.00 us, 0.50 times that of a")
        );
        assert!(said.ends_with("Its price: writes take 1.20 times as long."), "{said}");
    }

    /// On both sides of a percent.
    #[test]
    fn less_than_a_percent_is_nothing() {
        let none = "No scheme changes the mean read latency by 1 %.";
        assert_eq!(says(&[run("a", 100.0, 1.0), run("b", 99.5, 1.0)]), none);
        assert_eq!(says(&[run("a", 100.0, 1.0), run("b", 100.9, 1.0)]), none);
        assert!(says(&[run("a", 100.0, 1.0), run("b", 98.9, 1.0)]).starts_with("b has the lowest"));
        assert!(says(&[run("a", 100.0, 1.0), run("b", 101.1, 1.0)]).contains("than a, by 1 %"));
    }

    #[test]
    fn who_loses_data_is_not_better_nor_who_served_others() {
        let losing = Facts { lost: 1, ..run("b", 50.0, 1.0) };
        assert_eq!(says(&[run("a", 100.0, 1.0), losing]), "");
        let fewer = Facts { requests: 150, ..run("b", 50.0, 1.0) };
        assert_eq!(says(&[run("a", 100.0, 1.0), fewer]), "");
        assert_eq!(says(&[run("a", 100.0, 1.0)]), "");
    }
}
