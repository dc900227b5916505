//! Rounds of the same elements, until the tracking variable is steady: the loop of every test that
//! has a measurement window.

use super::element::Element;
use super::rig::Rig;
use super::steady_state::{ROUNDS_MOST, WINDOW, Window, first_steady};
use super::stimulus::Stimulus;
use super::test_progress::TestProgress;
use fowler_experiment::fan_out;

/// An element of a test's round: one load, given by the kind of the host's requests, the number
/// outstanding at a time, and the duration.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Requests of the host under this load of the round.
    pub stimulus: Stimulus,
    /// Number of host threads under this load of the round.
    pub threads: u32,
    /// Number of outstanding requests per host thread.
    pub depth: u32,
    /// Length of this load of the round, in minutes of the test.
    pub minutes: u64,
}

impl Point {
    /// Returns the number of requests outstanding under this load of the round, over all threads.
    pub fn outstanding(&self) -> u32 {
        self.threads.saturating_mul(self.depth)
    }
}

/// The tracking variable: the measured number that must become steady over rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// Requests per second under that load of a test's rounds which must become steady.
    Iops,
    /// Throughput in megabytes (10^6 bytes) per second, measured in every round under the load that
    /// decides when the test is in steady state.
    Throughput,
    /// Mean response time in microseconds under that load of a test's rounds which must become
    /// steady.
    Latency,
}

impl Variable {
    /// Returns the value of the tracking variable (which must become steady over the rounds of a
    /// test) measured under one load; zero if no request was answered.
    pub fn of(self, element: &Element) -> f64 {
        match self {
            Variable::Iops => element.iops(),
            Variable::Throughput => element.mb_s(),
            Variable::Latency => element.mean_us.unwrap_or(0.0),
        }
    }

    /// Returns the name of the tracking variable with its unit.
    pub fn name(self) -> &'static str {
        match self {
            Variable::Iops => "IOPS",
            Variable::Throughput => "MB/s",
            Variable::Latency => "mean response time (us)",
        }
    }
}

/// Rounds of a test, and the measurement window of five of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// The loads of each round of the test, in the order in which they run.
    pub points: Vec<Point>,
    /// Index, from 0, of the load in each round whose measurements must become steady.
    pub tracked: usize,
    /// Quantity that must become steady over the rounds of the test: IOPS, throughput or mean
    /// response time.
    pub variable: Variable,
    /// Measurements of a PTS test, by round and, within a round, by load.
    pub rounds: Vec<Vec<Element>>,
    /// Measurement window: the first five rounds in a row that are steady, or the last five.
    pub window: Window,
}

impl Rounds {
    /// Returns the result of a test's rounds, with the window of five rounds from which values are
    /// reported: the first steady one, or the last. `None` if there are fewer than five rounds.
    pub(super) fn of(
        points: Vec<Point>,
        (tracked, variable): (usize, Variable),
        rounds: Vec<Vec<Element>>,
    ) -> Option<Rounds> {
        let values: Vec<f64> = rounds.iter().map(|round| variable.of(&round[tracked])).collect();
        let window = first_steady(&values).or_else(|| Window::ending(&values, values.len()))?;
        Some(Rounds { points, tracked, variable, rounds, window })
    }

    /// Returns true if a test's tracked measurement became steady over five rounds in a row.
    pub fn is_steady(&self) -> bool {
        self.window.is_steady()
    }

    /// Returns the tracking variable of each round.
    pub fn tracking(&self) -> Vec<f64> {
        self.values(self.tracked, |element| Some(self.variable.of(element)))
    }

    /// Returns, for each round of the test, the number that `value` returns for the load with index
    /// `point`; zero for rounds without such a number.
    pub fn values(&self, point: usize, value: impl Fn(&Element) -> Option<f64>) -> Vec<f64> {
        self.rounds.iter().map(|round| value(&round[point]).unwrap_or(0.0)).collect()
    }

    /// Returns the mean of a measurement (`value`, such as IOPS) over the five rounds of the test's
    /// measurement window, under the load with index `point`; `None` if a round lacks the
    /// measurement.
    pub fn mean(&self, point: usize, value: impl Fn(&Element) -> Option<f64>) -> Option<f64> {
        let rounds = &self.rounds[self.window.first - 1..self.window.last];
        let values: Option<Vec<f64>> = rounds.iter().map(|round| value(&round[point])).collect();
        values.map(|values| values.iter().sum::<f64>() / WINDOW as f64)
    }

    /// Returns the maximum of `value` over the five rounds of the measurement window, for the load
    /// at index `point` of each round; `None` if no round has a value.
    pub fn greatest(&self, point: usize, value: impl Fn(&Element) -> Option<f64>) -> Option<f64> {
        let rounds = &self.rounds[self.window.first - 1..self.window.last];
        rounds.iter().filter_map(|round| value(&round[point])).max_by(f64::total_cmp)
    }

    /// Describes the end of a test's rounds: in steady state, or at the largest number of rounds
    /// without it.
    pub fn ended(&self) -> String {
        let Window { first, last, .. } = self.window;
        if self.is_steady() {
            format!("steady state at round {last}: the window is rounds {first} to {last}")
        } else {
            format!(
                "STEADY STATE NOT REACHED within {last} rounds: values are of rounds {first} to {last}"
            )
        }
    }
}

/// Runs rounds of loads until the load `tracked` is steady, 25 rounds at most. `None` if stopped.
pub(super) fn run(
    rig: &mut Rig<'_>,
    points: Vec<Point>,
    (tracked, variable): (usize, Variable),
    progress: &TestProgress<'_>,
) -> Option<Rounds> {
    let (mut rounds, mut values) = (Vec::new(), Vec::new());
    while rounds.len() < ROUNDS_MOST && first_steady(&values).is_none() {
        let number = rounds.len() + 1;
        let round = one(rig, &points, number, progress)?;
        values.push(variable.of(&round[tracked]));
        rounds.push(round);
    }
    Rounds::of(points, (tracked, variable), rounds)
}

/// Loads that only read and do not change the drive's state run on a copy of the drive, in parallel
/// with the loads that follow if a core is free. Results do not depend on the number of cores.
///
/// Reads that leave nothing behind run on a copy of the drive, at the same time as the loads
/// that follow them if a core is free. Nothing depends on the number of cores.
fn one(
    rig: &mut Rig<'_>,
    points: &[Point],
    number: usize,
    progress: &TestProgress<'_>,
) -> Option<Vec<Element>> {
    let sequence = |rig: &mut Rig<'_>, from: usize, until: usize| {
        let mut elements = Vec::with_capacity(until - from);
        for (place, point) in points.iter().enumerate().take(until).skip(from) {
            let name = format!("{}/round {number}/element {}", progress.stream(), place + 1);
            let length = rig.of_minutes(point.minutes);
            elements.push(rig.element(&point.stimulus, point.outstanding(), length, &name)?);
            // The longer of two parts at a time tells how far the round is.
            if until == points.len() {
                progress.round(number, (place + 1 - from) as f64 / (until - from) as f64);
            }
        }
        Some(elements)
    };
    let is_read = |point: &&Point| point.stimulus.reads == 1.0;
    let reads = points.iter().take_while(is_read).count();
    let (first, rest) = points.split_at(reads);
    let fewest = first.iter().map(Point::outstanding).min();
    let minutes = first.iter().map(|point| point.minutes).sum();
    let reader = fewest.filter(|_| !rest.is_empty());
    let Some(mut reader) = reader.and_then(|fewest| rig.reader(fewest, minutes)) else {
        return sequence(rig, 0, points.len());
    };
    let (first, rest) =
        fan_out::both(|| sequence(&mut reader, 0, reads), || sequence(rig, reads, points.len()));
    let (mut elements, rest) = (first?, rest?);
    elements.extend(rest);
    Some(elements)
}

/// Number of minutes that count as a round if a test keeps one load on the drive without a pause.
pub(super) const MINUTES: usize = 30;

/// Keeps one load on the drive without a pause until the first minutes of rounds of 30 minutes are
/// steady. `None` if it was stopped.
pub(super) fn saturate(
    rig: &mut Rig<'_>,
    point: &Point,
    progress: &TestProgress<'_>,
) -> Option<Rounds> {
    let firsts = |minutes: &[Element]| -> Vec<f64> {
        minutes.iter().step_by(MINUTES).map(Element::iops).collect()
    };
    let mut ends = |minutes: &[Element]| {
        let (number, within) = (minutes.len().div_ceil(MINUTES), (minutes.len() - 1) % MINUTES + 1);
        progress.round(number, within as f64 / MINUTES as f64);
        let whole = within == MINUTES;
        whole && (number == ROUNDS_MOST || first_steady(&firsts(minutes)).is_some())
    };
    let name = format!("{}/saturation", progress.stream());
    let minutes = rig.minutes(&point.stimulus, point.outstanding(), &name, &mut ends)?;
    let rounds = minutes.chunks(MINUTES).map(<[Element]>::to_vec).collect();
    Rounds::of(vec![point.clone(); MINUTES], (0, Variable::Iops), rounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stimulus::Addresses;

    fn element(iops: f64) -> Element {
        Element { requests: (iops * 10.0) as u64, seconds: 10.0, ..Element::default() }
    }

    #[test]
    fn values_are_of_the_window() {
        let point = Point {
            stimulus: Stimulus::of(Addresses::Uniform, 0.0, 4096),
            threads: 2,
            depth: 3,
            minutes: 1,
        };
        let all = |iops: &[f64]| {
            let rounds = iops.iter().map(|&iops| vec![element(iops)]).collect();
            Rounds::of(vec![point.clone()], (0, Variable::Iops), rounds)
        };
        let rounds = all(&[900.0, 100.0, 101.0, 99.0, 100.0, 105.0]).unwrap();
        assert!(rounds.is_steady() && rounds.ended().contains("rounds 2 to 6"));
        assert_eq!(rounds.mean(0, |it| Some(it.iops())), Some(101.0));
        assert_eq!(rounds.greatest(0, |it| Some(it.iops())), Some(105.0));
        assert_eq!(rounds.mean(0, |it| it.mean_us), None);
        let never = all(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]).unwrap();
        assert!(!never.is_steady() && never.ended().contains("NOT REACHED within 6 rounds"));
        assert_eq!(all(&[1.0; 4]), None);
        assert_eq!(point.outstanding(), 6);
    }

    /// The first round has equal results, whether reads run on a copy or one after the other. Later
    /// ones are alike: collections that writes have begun end beside the reads in one case, and on
    /// a resting drive in the other.
    #[test]
    fn reads_on_a_copy_change_little() {
        use crate::rig::{ReadsApart, Rig};
        use crate::{PtsSpec, Setup, Watch};
        use fowler_experiment::device_spec::DeviceSpec;
        use fowler_experiment::progress::Control;
        use fowler_units::Span;
        let set = ["geometry.channels=2", "geometry.blocks_per_plane=32", "buffer.size=0B"];
        let quiet = ["gc.background_below=8", "gc.foreground_below=8"];
        let device = DeviceSpec {
            device: "pes-mlc".into(),
            set: set.iter().chain(&quiet).map(ToString::to_string).collect(),
            ..DeviceSpec::default()
        };
        let setup = Setup::of(&PtsSpec::of(device)).unwrap_or_else(|wrong| panic!("{wrong}"));
        let (name, config) = (&setup.drive.device, &setup.drive.config);
        let how = (setup.range, Span::ms(50));
        let rig = Rig::purged(name, config, how, Control::UNWATCHED);
        let mut rig = rig.unwrap_or_else(|wrong| panic!("{wrong}")).expect("nobody stops it");
        assert_eq!(rig.reads_apart, ReadsApart::Resting);
        rig.write_sequentially(128 << 10, 2 * setup.range.span).expect("nobody stops it");
        let points: Vec<Point> = [(1.0, 4096), (1.0, 65_536), (0.5, 4096), (0.0, 4096)]
            .map(|(reads, size)| Point {
                stimulus: Stimulus::of(Addresses::Uniform, reads, size),
                threads: 1,
                depth: 8,
                minutes: 1,
            })
            .to_vec();
        let rounds = |reads_apart| {
            let mut rig = Rig { reads_apart, ..rig.clone() };
            let watch = Watch { control: Control::UNWATCHED, share: &|_, _| (), say: &|_| () };
            let progress = TestProgress::test(watch, 0, "test");
            run(&mut rig, points.clone(), (3, Variable::Iops), &progress).expect("nobody stops it")
        };
        let (apart, sequence) = (rounds(ReadsApart::Resting), rounds(ReadsApart::Never));
        assert_eq!(apart.rounds[0], sequence.rounds[0]);
        let ratio = apart.window.average / sequence.window.average;
        assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
    }
}
