//! The paper's worked examples, on the state machines of the throttle.

use fowler_device::policy::throttle::capacity::CapacityRegulator;
use fowler_device::policy::throttle::delay::DelayEstimator;
use fowler_device::policy::throttle::demand::DemandPredictor;
use fowler_units::Span;

const PERIOD: Span = Span::ms(1000);
const EPOCH: Span = Span::ms(600_000);

/// Section 3.3: a closed host that would write twice an epoch's capacity, epoch by epoch, after the first.
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

/// Figures 6 and 7: what each of four periods of an epoch of 4 MB writes of what is asked for in it; `spare` is what may
/// be borrowed.
pub(super) fn periods(spare: f64, demands: [f64; 4]) -> [f64; 4] {
    let mut regulator = CapacityRegulator::new(PERIOD, spare / 4.0);
    // As much again in later epochs as can be borrowed from.
    let remains = if spare > 0.0 { 8.0 } else { 4.0 };
    regulator.begin(PERIOD * 4, remains, remains / 4.0, false);
    let (mut written, mut waiting) = (0.0, 0.0);
    [0u64, 1, 2, 3].map(|number| {
        let wanted = demands[number as usize] + waiting;
        let here = f64::min(wanted, regulator.allowed(PERIOD * number) - written);
        waiting = wanted - here;
        written += here;
        here
    })
}

/// Section 3.4: capacity and spare of an epoch of three that share 3 MB, after the first has written so much.
pub(super) fn spare_after(written: Option<f64>) -> [f64; 2] {
    let mut regulator = CapacityRegulator::new(PERIOD, 0.1);
    regulator.begin(EPOCH, 3.0, 3.0, false);
    if let Some(written) = written {
        regulator.begin(EPOCH, 3.0 - written, 2.0, written > regulator.capacity());
    }
    [regulator.capacity(), regulator.most() - regulator.capacity()]
}

/// Figure 9: the mean difference ratio of these windows, and the epoch that is chosen.
pub(super) fn epoch(windows: &[u64]) -> (Option<f64>, Option<u32>) {
    let window = EPOCH;
    let mut predictor = DemandPredictor::new(window, window * 100);
    for (number, &pages) in windows.iter().enumerate() {
        predictor.record(window * number as u64, pages);
    }
    predictor.record(window * windows.len() as u64, 0);
    (predictor.fluctuation(1), predictor.choose().map(|(length, _)| length))
}
