//! Finds the better scheme or drive, and by how much.

use super::facts::Facts;
use super::finding::{Case, Finding, and};
use fowler_experiment::device_spec::Axis;
use fowler_experiment::numbers::{counted, percent, ratio, real};
use fowler_metrics::Kind;

/// Relative difference below which two mean latencies count as equal.
const SAME: f64 = 0.01;
/// Fewest requests whose mean latency is compared between runs.
const FEWEST: u64 = 100;
/// Fewest requests for which p99.9 is reported, so that a hundred are beyond it.
const FEWEST_OF_TAIL: u64 = 100_000;

/// Finds the run with the lowest mean read latency, or write latency if there are no reads. Schemes
/// are compared with the first scheme, the best drive with the second best. A run that lost data,
/// or was stopped, is named but not called better.
pub(super) fn look(case: &Case<'_>) -> Vec<Finding> {
    let [first, others @ ..] = case.runs else { return Vec::new() };
    let kind = match first.served[Kind::Read].count > 0 {
        true => Kind::Read,
        false => Kind::Write,
    };
    let mean = |run: &Facts| run.served[kind].mean_us.filter(|&mean| mean > 0.0);
    if first.served[kind].count < FEWEST || others.is_empty() {
        return Vec::new();
    }
    let unfair: Vec<String> = case.runs.iter().filter_map(|run| unfair(first, run)).collect();
    let mut fair: Vec<(usize, &Facts, f64)> = case
        .runs
        .iter()
        .enumerate()
        .filter(|(_, run)| self::unfair(first, run).is_none())
        .filter_map(|(place, run)| Some((place, run, mean(run)?)))
        .collect();
    let baseline = match first.axis {
        Axis::Schemes => match fair.first() {
            Some((0, ..)) => fair.remove(0),
            _ => return Vec::new(),
        },
        Axis::Devices => {
            fair.sort_by(|one, other| one.2.total_cmp(&other.2));
            if fair.len() < 2 {
                return Vec::new();
            }
            fair.remove(1)
        }
    };
    let best = fair.into_iter().min_by(|one, other| one.2.total_cmp(&other.2));
    let Some((place, best, of_best)) = best else { return Vec::new() };
    let (base_place, base, of_base) = baseline;
    let by = of_best / of_base;
    let numbers = [("mean_us", of_best), ("first_mean_us", of_base), ("least_difference", SAME)];
    let chance = case.spread.and_then(|spread| spread.ratio_to(base_place, place, path(kind)));
    let by_chance = chance.is_some_and(|interval| {
        interval.half_width > 0.0 && interval.mean + interval.half_width >= 1.0
    });
    let mut text = if by > 1.0 - SAME || by_chance {
        let beyond = if by_chance { ", beyond what seeds do" } else { "" };
        no_best(first.axis, kind, (best, of_best), (base, of_base), beyond)
    } else {
        gain(base, best, kind) + &price(base, best, kind)
    };
    if !unfair.is_empty() {
        text += &format!(" Left out: {}.", unfair.join("; "));
    }
    let finding = Finding::new(&[base, best], text).numbers(&numbers);
    vec![if case.spread.is_none() {
        finding.next("--seeds 5, to see what is chance")
    } else {
        finding
    }]
}

/// Returns the finding that the best run differs too little from the run that it is compared with.
fn no_best(
    axis: Axis,
    kind: Kind,
    (best, of_best): (&Facts, f64),
    (base, of_base): (&Facts, f64),
    beyond: &str,
) -> String {
    match axis {
        Axis::Schemes => format!(
            "No scheme lowers the mean {} latency of {} by {} or more{beyond}.",
            kind.name(),
            base.called(),
            percent(SAME),
        ),
        Axis::Devices => format!(
            "No drive is the best: the mean {} latencies of {} ({} us) and {} ({} us) do not \
             differ by {} or more{beyond}.",
            kind.name(),
            best.called(),
            real(of_best),
            base.called(),
            real(of_base),
            percent(SAME),
        ),
    }
}

/// Returns the reason why a run cannot be called best, by any metric, among the compared runs (such
/// as lost pages); `None` if it can.
fn unfair(first: &Facts, run: &Facts) -> Option<String> {
    let why = if run.lost > 0 {
        format!("lost {}", counted(run.lost, "page"))
    } else if !run.complete {
        "did not end".into()
    } else if !run.alike(first) {
        "served other requests".into()
    } else {
        return None;
    };
    Some(format!("{} {why}", run.called()))
}

/// Returns the path of the metric whose values are compared: the mean latency of reads or of
/// writes.
fn path(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read.mean_us",
        Kind::Write => "write.mean_us",
    }
}

fn gain(first: &Facts, best: &Facts, kind: Kind) -> String {
    let [of_first, of_best] = [first, best].map(|run| &run.served[kind]);
    let mean = of_best.mean_us.unwrap_or_default();
    let mut text = format!(
        "{} has the lowest mean {} latency, {} us, {} times that of {}",
        best.called(),
        kind.name(),
        real(mean),
        times(mean / of_first.mean_us.unwrap_or(mean)),
        first.called()
    );
    if let Some((was, is)) = of_first.p999_us.zip(of_best.p999_us)
        && of_best.count >= FEWEST_OF_TAIL
    {
        text += &format!("; at p99.9 {} us, {} times", real(is), times(is / was));
    }
    text + "."
}

/// Formats the ratio of two latencies, such as `0.34`.
fn times(by: f64) -> String {
    ratio(by).trim_end_matches('x').to_string()
}

/// Describes the price of the lowest latency against the baseline run: longer latency of the other
/// kind of request (reads or writes), and more pages programmed.
fn price(first: &Facts, best: &Facts, kind: Kind) -> String {
    let mut price = Vec::new();
    let other = if kind == Kind::Read { Kind::Write } else { Kind::Read };
    let [was, is] = [first, best].map(|run| run.served[other].mean_us.filter(|&it| it > 0.0));
    if let Some((was, is)) = was.zip(is)
        && is / was > 1.0 + SAME
        && best.served[other].count >= FEWEST
    {
        price.push(format!("{}s take {} longer", other.name(), percent(is / was - 1.0)));
    }
    if let Some((was, is)) = first.waf().zip(best.waf())
        && is / was > 1.0 + SAME
        && first.host_programs().min(best.host_programs()) >= first.spare_pages
    {
        price.push(format!("write amplification rises from {} to {}", real(was), real(is)));
    }
    let price: Vec<&str> = price.iter().map(String::as_str).collect();
    if price.is_empty() { String::new() } else { format!(" In exchange, {}.", and(&price)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::facts::Served;
    use fowler_experiment::seeds::Spread;
    use fowler_metrics::ByKind;
    use std::collections::BTreeMap;

    fn run(scheme: &str, read: f64, write: f64) -> Facts {
        let served = |us: f64| Served { count: 100, mean_us: Some(us), ..Served::default() };
        Facts {
            label: scheme.into(),
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
        let gain = "b has the lowest mean read latency, 50.00 us, 0.50 times that of a.";
        assert_eq!(said, format!("{gain} In exchange, writes take 20.0 % longer."));
    }

    /// Tests both sides of a difference of one percent, and of a hundred requests.
    #[test]
    fn less_than_a_percent_is_nothing() {
        let none = "No scheme lowers the mean read latency of a by 1.0 % or more.";
        assert_eq!(says(&[run("a", 100.0, 1.0), run("b", 99.5, 1.0)]), none);
        assert_eq!(says(&[run("a", 100.0, 1.0), run("b", 150.0, 1.0)]), none);
        assert!(says(&[run("a", 100.0, 1.0), run("b", 98.9, 1.0)]).starts_with("b has the lowest"));
        let mut few = [run("a", 100.0, 1.0), run("b", 50.0, 1.0)];
        few.iter_mut().for_each(|facts| facts.served[Kind::Read].count = 99);
        assert_eq!(says(&few), "");
    }

    #[test]
    fn who_loses_data_is_named_and_not_better() {
        let losing = Facts { lost: 2, ..run("b", 50.0, 1.0) };
        let runs = [run("a", 100.0, 1.0), losing.clone(), run("c", 90.0, 1.0)];
        assert!(says(&runs).starts_with("c has the lowest"));
        assert!(says(&runs).ends_with("Left out: b lost 2 pages."), "{}", says(&runs));
        assert_eq!(says(&[run("a", 100.0, 1.0), losing.clone()]), "");
        assert_eq!(says(&[losing, run("a", 20.0, 1.0), run("c", 90.0, 1.0)]), "");
        let fewer = Facts { requests: 150, ..run("b", 50.0, 1.0) };
        let runs = [run("a", 100.0, 1.0), fewer, run("c", 90.0, 1.0)];
        assert!(says(&runs).ends_with("Left out: b served other requests."));
        assert_eq!(says(&[run("a", 100.0, 1.0)]), "");
    }

    /// The best drive may be the first of a comparison; it is compared with the next best.
    #[test]
    fn of_drives_the_best_is_compared_with_the_next() {
        let drive = |label: &str, read| Facts { axis: Axis::Devices, ..run(label, read, 1.0) };
        let runs = [drive("a", 50.0), drive("b", 200.0), drive("c", 100.0)];
        let best = "a has the lowest mean read latency, 50.00 us, 0.50 times that of c.";
        assert_eq!(says(&runs), best);
        let near = [drive("a", 50.0), drive("b", 50.1)];
        assert!(
            says(&near)
                .starts_with("No drive is the best: the mean read latencies of a (50.00 us)")
        );
        let lost = [Facts { lost: 1, ..drive("a", 5.0) }, drive("b", 50.0), drive("c", 100.0)];
        assert!(says(&lost).starts_with("b has the lowest"), "{}", says(&lost));
        assert!(says(&lost).ends_with("Left out: a lost 1 page."), "{}", says(&lost));
    }

    #[test]
    fn what_seeds_do_as_well_is_no_gain() {
        let runs = [run("a", 100.0, 1.0), run("b", 90.0, 1.0)];
        let of = |values: [f64; 3]| BTreeMap::from([("read.mean_us".to_string(), values.to_vec())]);
        let spread = Spread::of_values(vec![of([100.0; 3]), of([90.0, 130.0, 85.0])]);
        let said = look(&Case { runs: &runs, spread: Some(&spread) });
        assert!(said[0].text.contains("beyond what seeds do"), "{}", said[0].text);
    }
}
