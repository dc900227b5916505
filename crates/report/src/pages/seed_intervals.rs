//! Percentiles over several seeds, with their intervals.

use super::chart::coarse;
use fowler_experiment::seeds::Spread;
use fowler_figures::{Axis, Figure, Panel, Series, Shape};
use fowler_metrics::{Kind, Percentile};

/// Returns the chart of the latency percentiles of reads or writes in each of these runs, as means
/// over the seeds with their 95 % intervals. `None` if the seed changes nothing, or if fewer than
/// two percentiles are known.
pub fn chart(labels: &[&str], spread: &Spread, kind: Kind) -> Option<Figure> {
    if spread.is_nothing() {
        return None;
    }
    let line = |(place, label): (usize, &&str)| {
        let known = Percentile::ALL.into_iter().filter_map(|percentile| {
            let path = format!("{}.{}_us", kind.name(), percentile.name());
            // A logarithmic axis has no place for zero.
            let found = spread.of(place, &path).filter(|found| found.mean > 0.0)?;
            Some((1.0 / percentile.one_in() as f64, found))
        });
        let mut series = Series::values(*label, [None; 0]).of_scheme(place);
        for (slower, found) in known {
            series.x.push(slower);
            series.y.push(Some(coarse(found.mean)));
            let low = (found.mean - found.half_width).max(0.0);
            series.spread.push(Some((coarse(low), coarse(found.mean + found.half_width))));
        }
        series
    };
    let mut series: Vec<Series> = labels.iter().enumerate().map(line).collect();
    series.retain(|series| series.x.len() > 1);
    let name = kind.name();
    let about = format!(
        "p50 at 0.5, p90 at 0.1, p99 at 0.01 and so on: the mean over the seeds, between thin lines that \
             bound its 95 % interval. Where two bands overlap, {name}s may differ by chance.",
    );
    (!series.is_empty()).then(|| {
        Figure::new(
            format!("{name}-percentiles"),
            format!("Percentiles of {name}s over {} seeds", spread.seeds()),
            vec![Panel::view("", Axis::log10(format!("latency of {name}s (us)")), series)],
        )
        .caption(about)
        .views(Shape::Lines, Axis::log10(format!("share of {name}s that are slower (1 is all)")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_band_is_the_interval_of_the_seeds() {
        let values = |p50: [f64; 3], p99: [f64; 3]| {
            let all = [("read.p50_us", p50), ("read.p99_us", p99)];
            let all = all.map(|(path, values)| (path.to_string(), values.to_vec()));
            BTreeMap::from(all)
        };
        let of = |values: Vec<BTreeMap<String, Vec<f64>>>| {
            chart(&["fifo", "rps"], &Spread::of_values(values), Kind::Read)
        };
        let same = values([70.0; 3], [90.0; 3]);
        let first = values([60.0, 70.0, 80.0], [900.0; 3]);
        assert!(of(vec![same.clone(), same.clone()]).is_none(), "the seed changes nothing");
        let drawn = of(vec![first, same]).expect("two percentiles are known");
        let [fifo, rps] = drawn.panels[0].series.as_slice() else { panic!("{drawn:?}") };
        assert_eq!((&fifo.x, &fifo.y), (&vec![0.5, 0.01], &vec![Some(70.0), Some(900.0)]));
        // Student's t for two degrees of freedom, 4.303, times 10, by the root of 3.
        assert_eq!(fifo.spread, [(45.16, 94.84), (900.0, 900.0)].map(Some));
        assert_eq!(rps.spread, [(70.0, 70.0), (90.0, 90.0)].map(Some));
        let writes = Spread::of_values(vec![values([60.0, 70.0, 80.0], [900.0; 3])]);
        assert!(chart(&["fifo"], &writes, Kind::Write).is_none());
    }
}
