//! The host idle recovery test: does a saturated drive recover while the host is idle?

use super::element::Element;
use super::rig::Rig;
use super::rounds::{MINUTES, Point, Rounds, saturate};
use super::test_progress::TestProgress;

/// Waits between bursts of the host idle test in seconds, in their order.
pub const WAITS: [u64; 5] = [5, 10, 15, 25, 50];
/// Number of bursts with each wait in the host idle test.
pub const BURSTS: usize = 360;
/// Length of a burst of the host idle test, in seconds.
pub const BURST: u64 = 5;

/// Length of the wait between two bursts of writes in the host idle recovery test, in seconds if a
/// minute of the test lasts 60 s; shorter in proportion if minutes are shorter.
#[derive(Clone, Debug, PartialEq)]
pub struct Waited {
    /// Length of the wait between two bursts of writes, in seconds of a test whose minutes last 60
    /// s; shorter in proportion if minutes are shorter.
    pub seconds: u64,
    /// Measurements of each burst of writes in the host idle recovery test, between which the drive
    /// is idle for `seconds`.
    pub bursts: Vec<Element>,
    /// Measurements of the minutes in which the host writes without a pause after the bursts of
    /// writes of the host idle recovery test.
    pub back: Vec<Element>,
}

impl Waited {
    /// Returns the mean IOPS over the bursts of writes with this wait between them in the host idle
    /// recovery test.
    pub fn iops(&self) -> f64 {
        self.bursts.iter().map(Element::iops).sum::<f64>() / self.bursts.len().max(1) as f64
    }
}

/// The results of the host idle recovery test.
#[derive(Clone, Debug, PartialEq)]
pub struct HostIdle {
    /// The baseline of the host idle recovery test: rounds of writes without a pause until their
    /// IOPS are steady.
    pub base: Rounds,
    /// Results of the host idle recovery test for each length of the wait between bursts of writes.
    pub waits: Vec<Waited>,
}

impl HostIdle {
    /// Returns the mean IOPS of the writes without a pause at the start of the host idle recovery
    /// test, over the five rounds of 30 minutes in the measurement window.
    pub fn baseline(&self) -> f64 {
        let all = (0..MINUTES).filter_map(|minute| self.base.mean(minute, |it| Some(it.iops())));
        all.sum::<f64>() / MINUTES as f64
    }
}

/// Runs the host idle recovery test. `None` if stopped.
pub(super) fn run(
    rig: &mut Rig<'_>,
    point: &Point,
    progress: &TestProgress<'_>,
) -> Option<HostIdle> {
    let base = saturate(rig, point, &progress.part("baseline", 0.0, 0.4))?;
    let mut waits = Vec::new();
    for (number, wait) in WAITS.into_iter().enumerate() {
        let share = |waits: usize| 0.4 + 0.6 * waits as f64 / WAITS.len() as f64;
        let progress = progress.part(&format!("wait {wait} s"), share(number), share(number + 1));
        let mut bursts = Vec::with_capacity(BURSTS);
        for burst in 0..BURSTS {
            let name = format!("{}/burst {}", progress.stream(), burst + 1);
            let length = rig.of_seconds(BURST);
            bursts.push(rig.element(&point.stimulus, point.outstanding(), length, &name)?);
            rig.rest(rig.of_seconds(wait));
            progress.share(burst as f64 / (2 * BURSTS) as f64, "bursts");
        }
        let mut ends = |minutes: &[Element]| {
            progress
                .share(0.5 + minutes.len() as f64 / (2 * MINUTES) as f64, "return to the baseline");
            minutes.len() == MINUTES
        };
        let name = format!("{}/return", progress.stream());
        let back = rig.minutes(&point.stimulus, point.outstanding(), &name, &mut ends)?;
        waits.push(Waited { seconds: wait, bursts, back });
    }
    Some(HostIdle { base, waits })
}
