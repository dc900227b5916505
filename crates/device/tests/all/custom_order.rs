//! The view of waiting transactions that a custom die order gets.

use crate::support::program_order::ProgramOrder;
use crate::support::random::requests;
use crate::support::small;
use crate::support::superblocks::{built, tiny};
use fowler_device::policy::custom::{CustomDieOrder, Maker, Queued, View};
use fowler_device::{Completion, Device, Pacing};
use fowler_units::{HostIo, HostOp, Nanos, Rng, TxnId};
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

/// Serves the youngest transaction.
#[derive(Clone, Debug)]
struct Youngest;

impl CustomDieOrder for Youngest {
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId> {
        let classes = [Queued::HostProgram, Queued::BackgroundProgram, Queued::HostRead];
        let all = classes.into_iter().chain([Queued::BackgroundRead, Queued::Erase]);
        all.filter_map(|class| view.waiting(class).last()).next().map(|waiting| waiting.id)
    }
}

/// Pages of a superblock have their places before they wait, and a block is programmed in order: of
/// its programs the first goes, whichever the order chooses.
#[test]
fn no_order_programs_a_block_out_of_order() {
    for passes in [1, 2] {
        let mut config = tiny();
        config.policies.die_order = Some(Maker::new("youngest", || Box::new(Youngest) as Box<_>));
        (config.flash.program_passes, config.flash.first_pass_iterations) = (passes, 5);
        let mut device = built(&config).unwrap_or_else(|why| panic!("{why:?}"));
        let units = config.layout().expect("it was built").logical.0 / 4096;
        let writes =
            (0..2 * units).map(|n| HostIo::new(HostOp::Write, Nanos::ZERO, n % units * 4096, 4096));
        let order = ProgramOrder::new(&config, format!("{passes} passes"));
        let mut probe = (Vec::<Completion>::new(), order);
        device.run(writes, Pacing::Closed { depth: 200 }, &mut probe);
        assert_eq!(probe.0.len() as u64, 2 * units);
        assert!(probe.1.programs > 500, "{} programs", probe.1.programs);
    }
}
