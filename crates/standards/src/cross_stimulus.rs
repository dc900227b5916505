//! The cross stimulus recovery test: sequential writes, random writes, and sequential writes again.

use super::element::Element;
use super::rig::Rig;
use super::rounds::Point;
use super::stimulus::{Addresses, Stimulus};
use super::test_progress::TestProgress;

/// Groups of the cross stimulus test: hours, addresses (sequential or random), and write size in
/// bytes.
pub const GROUPS: [(u64, Addresses, u32); 3] = [
    (8, Addresses::Sequential, 1 << 20),
    (6, Addresses::Uniform, 8 << 10),
    (8, Addresses::Sequential, 1 << 20),
];

/// One of the three groups of the cross stimulus test: hours of writes of one size and one address
/// pattern, without a pause.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The writes of this group of the cross stimulus test: addresses, size, threads, queue depth,
    /// length.
    pub point: Point,
    /// Measurements of each minute of this group of the cross stimulus test.
    pub minutes: Vec<Element>,
}

impl Group {
    /// Returns the mean write throughput over this group of the cross stimulus test, in megabytes
    /// (10^6 bytes) per second.
    pub fn mb_s(&self) -> f64 {
        self.minutes.iter().map(Element::mb_s).sum::<f64>() / self.minutes.len().max(1) as f64
    }
}

/// The results of the cross stimulus recovery test.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossStimulus {
    /// The groups of the cross stimulus test: sequential writes, random writes, sequential writes
    /// again.
    pub groups: Vec<Group>,
}

impl CrossStimulus {
    /// Returns the minute of the test's last group, counted from 1, in which throughput reaches the
    /// mean of the first group; `None` if it never does.
    pub fn recovery(&self) -> Option<usize> {
        let [first, _, last] = &self.groups[..] else { return None };
        let mean = first.mb_s();
        last.minutes.iter().position(|minute| minute.mb_s() >= mean).map(|minute| minute + 1)
    }
}

/// Runs the cross stimulus recovery test. `None` if stopped.
pub(super) fn run(
    rig: &mut Rig<'_>,
    (threads, depth): (u32, u32),
    progress: &TestProgress<'_>,
) -> Option<CrossStimulus> {
    let hours: u64 = GROUPS.iter().map(|(hours, ..)| hours).sum();
    let (mut groups, mut past) = (Vec::new(), 0);
    for (number, (length, addresses, size)) in GROUPS.into_iter().enumerate() {
        let share = |hour: u64| hour as f64 / hours as f64;
        let progress =
            progress.part(&format!("group {}", number + 1), share(past), share(past + length));
        past += length;
        let all = (length * 60) as usize;
        let mut ends = |minutes: &[Element]| {
            progress.share(minutes.len() as f64 / all as f64, &format!("minute {}", minutes.len()));
            minutes.len() == all
        };
        let stimulus = Stimulus::of(addresses, 0.0, size);
        let point = Point { stimulus, threads, depth, minutes: length * 60 };
        let minutes =
            rig.minutes(&point.stimulus, point.outstanding(), &progress.stream(), &mut ends)?;
        groups.push(Group { point, minutes });
    }
    Some(CrossStimulus { groups })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_is_the_first_minute_at_the_mean_of_the_first_group() {
        let group = |rates: &[u64]| Group {
            point: Point {
                stimulus: Stimulus::of(Addresses::Sequential, 0.0, 1 << 20),
                threads: 1,
                depth: 32,
                minutes: rates.len() as u64,
            },
            minutes: rates
                .iter()
                .map(|&mb| Element { bytes: mb * 1_000_000, seconds: 1.0, ..Element::default() })
                .collect(),
        };
        let all = |last: &[u64]| CrossStimulus {
            groups: vec![group(&[300, 320, 340]), group(&[40]), group(last)],
        };
        assert_eq!(all(&[90, 319, 320, 400]).recovery(), Some(3));
        assert_eq!(all(&[90, 319]).recovery(), None);
        assert_eq!(all(&[]).groups[0].mb_s(), 320.0);
    }
}
