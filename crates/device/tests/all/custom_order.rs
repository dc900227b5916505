//! The view of waiting transactions that a custom die order gets.

use crate::support::random::requests;
use crate::support::small;
use fowler_device::policy::custom::{CustomDieOrder, Maker, Queued, View};
use fowler_device::{Completion, Device, Pacing};
use fowler_units::{Rng, TxnId};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Serves the oldest transaction, and counts the transactions of garbage collection in its view.
#[derive(Clone, Debug)]
struct Watcher(Arc<AtomicU64>);

impl CustomDieOrder for Watcher {
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId> {
        for class in [Queued::BackgroundRead, Queued::BackgroundProgram, Queued::Erase] {
            for waiting in view.waiting(class) {
                // Without partial writes and suspension nothing is asked for before it waits.
                assert_eq!(waiting.asked, waiting.submitted, "{waiting:?}");
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        view.oldest()
    }
}

/// A job's next transaction reuses the record of the last one: nothing of the last may remain in
/// it.
#[test]
fn every_transaction_of_a_job_is_asked_for_when_it_is_submitted() {
    let seen = Arc::new(AtomicU64::new(0));
    let mut config = small();
    let watcher = Watcher(Arc::clone(&seen));
    config.policies.die_order =
        Some(Maker::new("watcher", move || Box::new(watcher.clone()) as Box<_>));
    let mut device = Device::new(&config).expect("a drive that works");
    let requests = requests(&mut Rng::stream(1, "custom_order"), device.layout(), 3_000);
    let mut completions: Vec<Completion> = Vec::new();
    device.run(requests.iter().copied(), Pacing::Closed { depth: 9 }, &mut completions);
    assert!(seen.load(Ordering::Relaxed) > 100, "{seen:?}");
}
