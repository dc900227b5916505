//! Demand intensity: IOPS and response times over threads and queue depth, and the distribution of
//! response times at three of these points. With an OLTP stimulus it is DIRTH; with the enterprise
//! workload of JESD219 it is ECW.

use super::element::Element;
use super::rig::Rig;
use super::rounds::{self, Point, Rounds, Variable, saturate};
use super::stimulus::Stimulus;
use super::test_progress::TestProgress;
use fowler_metrics::Latencies;

/// Numbers of host threads in the demand intensity test, which are also the queue depths.
pub const STEPS: [u32; 7] = [32, 16, 8, 6, 4, 2, 1];
/// Minutes of writes at the start of each round of the demand intensity test.
pub const PRE_WRITES: u64 = 5;
/// Minutes of writes before each histogram of response times.
pub const HISTOGRAM_WRITES: u64 = 60;
/// Length of the measurement for a histogram of response times, in minutes.
pub const HISTOGRAM: u64 = 10;
/// The longest mean response time at which a load may count as that with the most IOPS, in
/// microseconds.
pub const CEILING_US: f64 = 5_000.0;
/// Index, in a round of the demand intensity test, of the load whose IOPS must become steady: most
/// threads at the greatest queue depth. Before it, at index 0, come the round's writes.
const TRACKED: usize = 1;

/// Response times at one load of the demand intensity test.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Name of the load: `MinIOPS`, `MidIOPS` or `MaxIOPS`.
    pub name: &'static str,
    /// Index of the load among the loads of a round, from 0.
    pub place: usize,
    /// Measurements under one load of the demand intensity test, over the ten minutes of the
    /// histogram.
    pub element: Element,
    /// Response times of all requests under one load of the demand intensity test.
    pub latencies: Latencies,
}

/// The results of a demand intensity test.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Writes with most threads and the greatest queue depth at the start of the demand intensity
    /// test, in rounds of 30 minutes until their IOPS are steady.
    pub base: Rounds,
    /// Rounds of the test: in each the writes, and then the loads by threads and depth.
    pub rounds: Rounds,
    /// Response times at the loads of the demand intensity test with the least, the middle and the
    /// most IOPS.
    pub histograms: Vec<Histogram>,
    /// True if every element (one load kept on the drive for a time) has a mean response time of at
    /// least 5 ms (`CEILING_US`).
    pub none_fast: bool,
}

/// Returns the indices of the loads with the lowest, middle and highest IOPS. Middle and highest
/// are chosen among loads whose mean response time is below 5 ms (`CEILING_US`); if there are none,
/// among all, and the flag is true. `elements` holds IOPS and mean response times in us.
fn points(elements: &[(f64, f64)]) -> ([usize; 3], bool) {
    let fast = |us: f64| us < CEILING_US;
    let none_fast = !elements.iter().any(|&(_, us)| fast(us));
    let allowed = || elements.iter().enumerate().filter(|(_, it)| none_fast || fast(it.1));
    let least = elements.len() - 1;
    let most = allowed().max_by(|(_, one), (_, other)| one.0.total_cmp(&other.0));
    let most = most.map_or(least, |(place, _)| place);
    let middle = f64::midpoint(elements[least].0, elements[most].0);
    let distance = |it: &(f64, f64)| (it.0 - middle).abs();
    let near = allowed().min_by(|(_, one), (_, other)| distance(one).total_cmp(&distance(other)));
    ([least, near.map_or(least, |(place, _)| place), most], none_fast)
}

/// Runs the demand intensity test. `None` if stopped.
pub(super) fn run(
    rig: &mut Rig<'_>,
    stimulus: &Stimulus,
    progress: &TestProgress<'_>,
) -> Option<Demand> {
    let writes = Stimulus { reads: 0.0, ..stimulus.clone() };
    let [most, ..] = STEPS;
    let pre = Point { stimulus: writes, threads: most, depth: most, minutes: PRE_WRITES };
    let base = saturate(rig, &pre, &progress.part("writes", 0.0, 0.25))?;
    let element =
        |threads: u32, depth: u32| Point { stimulus: stimulus.clone(), threads, depth, minutes: 1 };
    let steps = STEPS.into_iter().flat_map(|threads| STEPS.map(|depth| element(threads, depth)));
    let all: Vec<Point> = std::iter::once(pre.clone()).chain(steps).collect();
    let rounds =
        rounds::run(rig, all, (TRACKED, Variable::Iops), &progress.part("elements", 0.25, 0.6))?;
    let mean = |place: usize| {
        let iops = rounds.mean(place, |it| Some(it.iops())).unwrap_or(0.0);
        (iops, rounds.mean(place, |it| it.mean_us).unwrap_or(f64::INFINITY))
    };
    let elements: Vec<(f64, f64)> = (TRACKED..rounds.points.len()).map(mean).collect();
    let (places, none_fast) = points(&elements);
    let mut histograms = Vec::new();
    for (number, name) in ["MinIOPS", "MidIOPS", "MaxIOPS"].into_iter().enumerate() {
        let share = |number: usize| 0.6 + 0.4 * number as f64 / 3.0;
        let progress = progress.part(name, share(number), share(number + 1));
        let place = TRACKED + places[number];
        let point = &rounds.points[place];
        progress.share(0.0, "writes before the histogram");
        let (length, stream) = (rig.of_minutes(HISTOGRAM_WRITES), progress.stream());
        rig.element(&pre.stimulus, pre.outstanding(), length, &format!("{stream}/writes"))?;
        progress.share(0.8, "histogram");
        let length = rig.of_minutes(HISTOGRAM);
        let tally = rig.measure(&point.stimulus, point.outstanding(), length, &stream)?;
        let element = tally.element(&rig.device);
        histograms.push(Histogram { name, place, element, latencies: tally.latencies });
    }
    Some(Demand { base, rounds, histograms, none_fast })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_points_are_below_the_ceiling() {
        // IOPS and mean response times; the last is one request at a time.
        let elements =
            [(900.0, 9e3), (800.0, 4e3), (500.0, 6e3), (430.0, 2e3), (300.0, 1e3), (100.0, 500.0)];
        assert_eq!(points(&elements), ([5, 3, 1], false));
        let slow = elements.map(|(iops, us)| (iops, us * 100.0));
        assert_eq!(points(&slow), ([5, 2, 0], true));
    }
}
