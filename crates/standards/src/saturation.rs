//! Write saturation: random writes on a purged drive, until nothing changes any more.

use super::element::Element;
use super::rig::Rig;
use super::rounds::Point;
use super::steady_state::{ROUNDS_MOST, Window, first_steady};
use super::test_progress::TestProgress;
use fowler_device::Doing;
use fowler_device::blame::Part;

/// The most minutes of the write saturation test: a day.
pub const MINUTES_MOST: usize = 24 * 60;
/// Number of minutes from one minute whose IOPS the write saturation test examines for steady state
/// to the next such minute; 30 minutes lie between them.
pub const EVERY: usize = 31;

/// The reason why the write saturation test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Four times the user capacity was written.
    Written,
    /// The write saturation test ended because its throughput is steady: the first minutes of five
    /// successive 30-minute rounds are alike.
    Steady,
    /// The write saturation test ended because its time limit of 24 hours was reached.
    Day,
}

impl Ended {
    /// Describes in words why the write saturation test ended.
    pub fn words(self) -> &'static str {
        match self {
            Ended::Written => "4 times the user capacity were written",
            Ended::Steady => "steady state: five values, 30 minutes apart, are alike",
            Ended::Day => "24 hours of simulated time are over",
        }
    }
}

/// Results of the write saturation test.
#[derive(Clone, Debug, PartialEq)]
pub struct Saturation {
    /// Measurements of each minute of the random writes of the write saturation test.
    pub minutes: Vec<Element>,
    /// The requests of the write saturation test.
    pub point: Point,
    /// Reason for which the write saturation test ended.
    pub ended: Ended,
    /// Steady-state window of the write saturation test: five values of IOPS, one every 31st
    /// minute, that no longer differ; `None` if steady state was not reached.
    pub window: Option<Window>,
    /// Capacity of the drive that the host sees, in bytes.
    pub capacity: u64,
    /// Write amplification of random writes over the drive in closed form; `None` if unknown.
    pub theory: Option<f64>,
}

/// The fall of throughput in the write saturation test, and the causes of response times before and
/// after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cliff {
    /// First minute of the write saturation test, counted from 1, in which throughput is nearer (in
    /// ratio) to that at the end than to that of the first minute.
    pub minute: usize,
    /// Number of times that the user capacity had been written by the minute in which throughput
    /// fell.
    pub fills: f64,
    /// Requests per second in the first minute, and over the last five, of the write saturation
    /// test.
    pub iops: [f64; 2],
    /// Write amplification in the first minute, and over the last five, of the write saturation
    /// test; `None` if the drive programmed or erased too little to measure it.
    pub waf: [Option<f64>; 2],
    /// Share of the dies' time that garbage collection took in the first minute, and over the last
    /// five, of the write saturation test, from 0 to 1.
    pub gc: [f64; 2],
    /// Up to three causes whose share of the response time grew most in the write saturation test,
    /// with the share in the first minute and over the last five, from 0 to 1.
    pub causes: Vec<(Part, [f64; 2])>,
}

/// Number of minutes at the end of the write saturation test whose mean throughput is compared with
/// that of the first minute, to find a fall.
const LEVEL: usize = 5;
/// Smallest ratio of the throughput at the end of the write saturation test to that of the first
/// minute that does not count as a fall.
const CLIFF_SHARE: f64 = 0.8;

impl Saturation {
    /// Number of times that the host writes the user capacity before the write saturation test
    /// ends, unless it ends for another reason.
    pub const FILLS: u64 = 4;

    /// Returns the bytes that the host had written since the start of the write saturation test by
    /// the end of each minute.
    pub fn written(&self) -> Vec<u64> {
        let mut sum = 0;
        let grow = |minute: &Element| {
            sum += minute.bytes;
            sum
        };
        self.minutes.iter().map(grow).collect()
    }

    /// Returns the measurements of the last five minutes of the write saturation test as one.
    pub fn level(&self) -> Element {
        let from = self.minutes.len().saturating_sub(LEVEL);
        merged(&self.minutes[from..])
    }

    /// Returns the measurements of the last hour of the write saturation test as one; `None` if the
    /// test lasted for less than an hour.
    pub fn last_hour(&self) -> Option<Element> {
        let from = self.minutes.len().checked_sub(60)?;
        Some(merged(&self.minutes[from..]))
    }

    /// Returns the measurements of the first hour of the write saturation test as one; `None` if
    /// the test lasted for less than an hour.
    pub fn first_hour(&self) -> Option<Element> {
        self.minutes.get(..60).map(merged)
    }

    /// Returns the fall of throughput in the write saturation test, with its minute and causes;
    /// `None` if throughput stayed above 80 % of that of the first minute.
    pub fn cliff(&self) -> Option<Cliff> {
        let (first, level) = (self.minutes.first()?, self.level());
        let iops = [first.iops(), level.iops()];
        if iops[1] >= CLIFF_SHARE * iops[0] || iops[1] <= 0.0 {
            return None;
        }
        // Half way between both on a scale of ratios.
        let middle = (iops[0] * iops[1]).sqrt();
        let place = self.minutes.iter().position(|minute| minute.iops() < middle)?;
        let fills = self.written()[place] as f64 / self.capacity as f64;
        let shares = |part: Part| [first.share(part), level.share(part)];
        let mut causes: Vec<(Part, [f64; 2])> =
            Part::ALL.into_iter().map(|part| (part, shares(part))).collect();
        let growth = |shares: &[f64; 2]| shares[1] - shares[0];
        causes.retain(|(_, shares)| growth(shares) > 0.01);
        causes.sort_by(|(_, one), (_, other)| growth(other).total_cmp(&growth(one)));
        causes.truncate(3);
        let (waf, gc) = ([first.waf(), level.steady_waf()], [first.gc_share(), level.gc_share()]);
        Some(Cliff { minute: place + 1, fills, iops, waf, gc, causes })
    }
}

/// Returns the measurements of several minutes in a row as one. Percentiles cannot be merged; the
/// greatest is kept.
pub(super) fn merged(minutes: &[Element]) -> Element {
    let mut all = Element {
        blame: vec![0; Part::COUNT],
        activity: vec![0; Doing::COUNT],
        ..Element::default()
    };
    let mut latency = 0.0;
    for minute in minutes {
        all.requests += minute.requests;
        all.bytes += minute.bytes;
        all.written += minute.written;
        all.seconds += minute.seconds;
        all.erases += minute.erases;
        all.erase_unit = minute.erase_unit;
        latency += minute.mean_us.unwrap_or(0.0) * minute.requests as f64;
        for (sum, own) in all.programs.iter_mut().zip(minute.programs) {
            *sum += own;
        }
        for (sum, own) in all.buffer.iter_mut().zip(minute.buffer) {
            *sum += own;
        }
        for (sums, own) in [(&mut all.blame, &minute.blame), (&mut all.activity, &minute.activity)]
        {
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        for (most, own) in [
            (&mut all.p99_us, minute.p99_us),
            (&mut all.p99999_us, minute.p99999_us),
            (&mut all.max_us, minute.max_us),
        ] {
            *most = [*most, own].into_iter().flatten().max_by(f64::total_cmp);
        }
    }
    all.mean_us = (all.requests > 0).then(|| latency / all.requests as f64);
    all
}

/// Runs the write saturation test: writes until four times the user capacity is written, a day is
/// over or steady state is reached; with `whole_day` until the day is over. `None` if stopped.
pub(super) fn run(
    rig: &mut Rig<'_>,
    point: &Point,
    (capacity, whole_day, theory): (u64, bool, Option<f64>),
    progress: &TestProgress<'_>,
) -> Option<Saturation> {
    let steady = |minutes: &[Element]| steady_after_fill(minutes, capacity);
    let (mut ended, mut written) = (Ended::Day, 0);
    let mut ends = |minutes: &[Element]| {
        written += minutes.last().map_or(0, |minute| minute.bytes);
        let of_day = minutes.len() as f64 / MINUTES_MOST as f64;
        let fills = written as f64 / capacity as f64;
        let done = if whole_day { of_day } else { of_day.max(fills / Saturation::FILLS as f64) };
        progress.share(done, &format!("minute {}, {fills:.1} fills", minutes.len()));
        if !whole_day && written >= Saturation::FILLS * capacity {
            ended = Ended::Written;
        } else if !whole_day && steady(minutes).is_some() {
            ended = Ended::Steady;
        } else if minutes.len() < MINUTES_MOST {
            return false;
        }
        true
    };
    let name = progress.stream();
    let minutes = rig.minutes(&point.stimulus, point.outstanding(), &name, &mut ends)?;
    let window = steady(&minutes);
    Some(Saturation { minutes, point: point.clone(), ended, window, capacity, theory })
}

/// Returns the first steady window of five values, taken every 31 minutes of the write saturation
/// test once the user capacity was written. PTS counts from the first minute; but while a large
/// drive fills, all minutes are alike, and the test would end before throughput falls.
fn steady_after_fill(minutes: &[Element], capacity: u64) -> Option<Window> {
    let mut written = 0;
    let filled = minutes.iter().skip_while(|minute| {
        written += minute.bytes;
        written < capacity
    });
    let values: Vec<f64> = filled.step_by(EVERY).take(ROUNDS_MOST).map(Element::iops).collect();
    first_steady(&values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stimulus::{Addresses, Stimulus};
    use fowler_experiment::device_spec;
    use fowler_experiment::outcome::write_amplification::EraseUnit;

    /// Returns the erase unit of a small drive: a block.
    fn block() -> EraseUnit {
        let text = include_str!("../../cli/tests/small.toml");
        let drive = device_spec::parse_device(text, "small.toml");
        EraseUnit::of(&drive.unwrap_or_else(|wrong| panic!("{wrong}")).layout)
    }

    fn minute(iops: u64, waf: u64, gc: u64) -> Element {
        let mut blame = vec![0; Part::COUNT];
        blame[Part::Program as usize] = 100 - gc;
        blame[Part::BehindGcProgram as usize] = gc;
        Element {
            requests: iops * 60,
            bytes: iops * 60 * 4096,
            seconds: 60.0,
            mean_us: Some(1e6 / iops as f64),
            programs: [iops * waf, iops],
            erases: 10_000,
            erase_unit: block(),
            blame,
            ..Element::default()
        }
    }

    #[test]
    fn a_cliff_is_where_throughput_is_nearer_to_the_end() {
        let minutes: Vec<Element> = [900, 890, 880, 250, 120, 100, 100, 100, 100, 100]
            .into_iter()
            .enumerate()
            .map(|(place, iops)| {
                minute(iops, 1 + u64::from(place > 2) * 3, 60 * u64::from(place > 2))
            })
            .collect();
        let stimulus = Stimulus::of(Addresses::Uniform, 0.0, 4096);
        let point = Point { stimulus, threads: 1, depth: 1, minutes: 1 };
        let written: u64 = minutes.iter().take(4).map(|it| it.bytes).sum();
        let mut all = Saturation {
            minutes,
            point,
            ended: Ended::Written,
            window: None,
            capacity: written / 2,
            theory: None,
        };
        let cliff = all.cliff().unwrap();
        assert_eq!(
            (cliff.minute, cliff.iops, cliff.waf),
            (4, [900.0, 100.0], [Some(1.0), Some(4.0)])
        );
        assert!((cliff.fills - 2.0).abs() < 1e-9);
        assert_eq!(cliff.causes, [(Part::BehindGcProgram, [0.0, 0.6])]);
        assert_eq!((all.first_hour(), all.last_hour()), (None, None));
        all.minutes.truncate(3);
        assert_eq!(all.cliff(), None);
    }

    #[test]
    fn a_drive_that_is_not_full_is_not_steady() {
        let minutes = vec![minute(100, 1, 0); 200];
        let each = minutes[0].bytes;
        // From the fill on, five values lie 4 × 31 minutes apart.
        for (fill, steady) in [(1, true), (76, true), (77, false), (201, false)] {
            assert_eq!(steady_after_fill(&minutes, fill * each).is_some(), steady, "{fill}");
        }
    }
}
