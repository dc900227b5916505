//! The warm-up of a run: the first requests of its workload, which are not measured.
//!
//! 1. The drive serves these requests, and all of them are answered.
//! 2. Time and counts of the run begin anew, at the next request
//!    ([`fowler_device::Device::begin_again`]).
//! 3. The requests that follow keep their times, unless the drive was still busy with the warm-up:
//!    then all of them come later by the same time.

use super::drive_kind::DriveKind;
use fowler_device::{Counters, Device, Pacing};
use fowler_units::{HostIo, Nanos};

/// A drive that has served its warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Warmed {
    /// Counters of the drive at the end of the warm-up.
    pub counters: Counters,
    /// Simulated time at which the warm-up ended, from which the times of the measured requests
    /// count.
    pub from: Nanos,
}

/// Serves the first `count` requests of a run as a warm-up, which is not measured. All are answered
/// before the first measured request is issued, so laws of a run, such as Little's law, hold for
/// measured requests alone. See docs/decisions/precondition.md, "What is a warm-up?".
pub(super) fn serve<L: DriveKind>(
    device: &mut Device<L>,
    requests: &mut dyn Iterator<Item = HostIo>,
    pacing: Pacing,
    count: u64,
) -> Warmed {
    device.run(requests.take(usize::try_from(count).unwrap_or(usize::MAX)), pacing, &mut ());
    device.begin_again();
    L::count_failures_anew(device);
    Warmed { counters: device.counters(), from: device.now() }
}

impl Warmed {
    /// Returns the requests after the warm-up, with times relative to its end. If the drive was
    /// still busy with the warm-up, all are delayed by the same time.
    pub fn rest<'a>(
        self,
        requests: &'a mut dyn Iterator<Item = HostIo>,
    ) -> impl Iterator<Item = HostIo> + 'a {
        let mut from = None;
        requests.map(move |io| {
            let from = *from.get_or_insert(self.from.min(io.at));
            io.with_at(Nanos((io.at - from).0))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_keeps_its_times_unless_the_drive_is_busy() {
        let at = |ns| HostIo::flush(Nanos(ns));
        let times = |from, all: [u64; 2]| {
            let mut requests = all.map(at).into_iter();
            let warmed = Warmed { from: Nanos(from), ..Warmed::default() };
            warmed.rest(&mut requests).map(|io| io.at.0).collect::<Vec<_>>()
        };
        assert_eq!(times(0, [7, 9]), [7, 9]);
        assert_eq!(times(5, [7, 9]), [2, 4]);
        assert_eq!(times(8, [7, 9]), [0, 2]);
    }
}
