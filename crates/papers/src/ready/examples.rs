//! Worked examples of the READY paper, run on the state machines of the throttle.

use fowler_device::policy::throttle::capacity::{CapacityRegulator, Rest};
use fowler_device::policy::throttle::delay::DelayEstimator;
use fowler_device::policy::throttle::demand::DemandPredictor;
use fowler_device::policy::throttle::{AnyThrottle, Life, Params, State, Throttle, ThrottleKind};
use fowler_units::{Nanos, Span};

const PERIOD: Span = Span::ms(1000);
const EPOCH: Span = Span::ms(600_000);

/// Section 3.3 of the READY paper: returns the pages written in each epoch after the first by a
/// closed-loop host whose demand is twice the capacity of an epoch.
pub(super) fn constant_demand(epochs: usize) -> Vec<f64> {
    let mut estimator = DelayEstimator::default();
    let mut written = 2.0;
    let epoch = EPOCH.0 as f64;
    let mut shares = Vec::new();
    for _ in 0..epochs {
        estimator.adjust(EPOCH, written * 1000.0, 1000.0);
        written = epoch / (epoch / 2000.0 + estimator.delay()) / 1000.0;
        shares.push(written);
    }
    shares
}

/// Section 3.3 of the READY paper: returns the delay of a page write in nanoseconds after an epoch
/// with twice its capacity of demand and one with a tenth, which would take the delay below zero.
pub(super) fn delay_after_little_demand() -> f64 {
    let mut estimator = DelayEstimator::default();
    [2000.0, 100.0].into_iter().for_each(|pages| estimator.adjust(EPOCH, pages, 1000.0));
    estimator.delay()
}

/// Figures 6 and 7 of the READY paper: returns the megabytes written in each of the four periods of
/// an epoch with a capacity of 4 MB, given the megabytes that the host demands in each. `spare` is
/// the capacity in megabytes that the epoch may borrow from later ones.
pub(super) fn periods(spare: f64, demands: [f64; 4]) -> [f64; 4] {
    let mut regulator = CapacityRegulator::new(PERIOD, spare / 4.0);
    // Later epochs provide as much again, from which can be borrowed.
    let remains = if spare > 0.0 { 8 } else { 4 };
    let even = 1.0 / PERIOD.0 as f64;
    let rest = Rest { pages: remains as f64, time: PERIOD * remains, even };
    regulator.begin(PERIOD * 4, rest, false);
    let (mut written, mut waiting) = (0.0, 0.0);
    [0u64, 1, 2, 3].map(|number| {
        let wanted = demands[number as usize] + waiting;
        let here = f64::min(wanted, regulator.allowed(PERIOD * number) - written);
        waiting = wanted - here;
        written += here;
        here
    })
}

/// Section 3.4 of the READY paper: returns capacity and spare capacity, in MB, of the first of
/// three epochs that share 3 MB; with `written`, of the second epoch, after this number of MB was
/// written in the first.
pub(super) fn spare_after(written: Option<f64>) -> [f64; 2] {
    let mut regulator = CapacityRegulator::new(PERIOD, 0.1);
    let rest = |pages, epochs| Rest { pages, time: EPOCH * epochs, even: 1.0 / EPOCH.0 as f64 };
    regulator.begin(EPOCH, rest(3.0, 3), false);
    if let Some(written) = written {
        regulator.begin(EPOCH, rest(3.0 - written, 2), written > regulator.capacity());
    }
    [regulator.capacity(), regulator.most() - regulator.capacity()]
}

/// Figure 9 of the READY paper: returns the mean relative difference in demand between neighbouring
/// time windows, whose written pages are `windows`, and the epoch length that READY chooses.
pub(super) fn epoch(windows: &[u64]) -> (Option<f64>, Option<u32>) {
    let window = EPOCH;
    let mut predictor = DemandPredictor::new(window, window * 100);
    for (number, &pages) in windows.iter().enumerate() {
        predictor.record(window * number as u64, pages);
    }
    predictor.record(window * windows.len() as u64, 0);
    (predictor.fluctuation(1), predictor.choose().map(|(length, _)| length))
}

/// The life of a drive under a throttle of the READY paper: pages written so far, pages that its
/// cells endure, and the time at which it ends.
struct Pages {
    taken: u64,
    rated: f64,
    ends: Nanos,
}

impl Life for Pages {
    fn taken(&self) -> u64 {
        self.taken
    }

    fn left(&self, _now: Nanos, _healed: bool) -> f64 {
        self.rated - self.taken as f64
    }

    fn ends(&self) -> Nanos {
        self.ends
    }
}

/// Simulates a host that waits for each write before the next and writes the given number of pages
/// in each window, evenly spread. Returns the state of READY's dynamic throttle (DT) after the
/// first page of each window; `rated` is the drive's capacity in pages.
fn windows(rated: f64, demand: impl Iterator<Item = u64>) -> Vec<State> {
    let params = Params { name: ThrottleKind::Dynamic, ..Params::default() };
    let mut throttle = AnyThrottle::new(&params, 1);
    let mut life = Pages { taken: 0, rated, ends: Nanos::ZERO + params.window * 10_000 };
    let (mut behind, mut states) = (Span::ZERO, Vec::new());
    for (window, pages) in demand.enumerate() {
        let begins = Nanos::ZERO + params.window * window as u64;
        for page in 0..pages {
            let at = begins + Span(params.window.0 / pages * page) + behind;
            behind += throttle.delay(at, 1, &life).total();
            life.taken += 1;
            if page == 0 {
                states.push(throttle.state());
            }
        }
    }
    states
}

/// Section 3.3 of the READY paper: returns the delay of a page write in the first epoch of a drive,
/// when demand is ten times the capacity.
pub(super) fn delay_of_the_first_epoch() -> f64 {
    windows(1e5, [100].into_iter())[0].delay.as_us()
}

/// Section 3.5 of the READY paper: returns the number of consecutive misses after which the epoch
/// length is chosen again, and the smallest relative difference in demand that counts as a miss, in
/// thousandths.
pub(super) fn misses_until_chosen() -> (f64, f64) {
    let alternating = (0..40).map(|window| [1000, 2000][window % 2]);
    let states = windows(1e12, alternating);
    let chosen = states.iter().find(|state| state.chosen > 0);
    let misses = chosen.map_or(0, |state| state.predicted.missed());
    let is_missed = |thousandths: u64| {
        let states = windows(1e12, [1000, 1000 + thousandths, 1].into_iter());
        states.last().is_some_and(|state| state.predicted.missed() > 0)
    };
    let most = (0..1000).take_while(|&thousandths| !is_missed(thousandths)).last();
    (misses as f64, most.unwrap_or(0) as f64 / 1000.0)
}
