//! Lookups without a check (`fowler_units::Table`), under an interpreter that sees every access
//! beyond an allocation: `make miri`. Without the interpreter these are a few more random drives.

use crate::support::random::{Choice, drive, requests};
use crate::support::superblocks::{built, tiny};
use crate::support::{scheme, small};
use fowler_device::policy::custom::{CustomDieOrder, Maker, View};
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::reliability::ModelKind;
use fowler_device::{Completion, Device, Layer, Pacing};
use fowler_units::{DieId, Nanos, Rng, TxnId};

/// A few requests take an interpreted drive some seconds.
const REQUESTS: u64 = if cfg!(miri) { 30 } else { 300 };

fn serve<L: Layer + Clone>(mut device: Device<L>, seed: u64) {
    let mut rng = Rng::stream(seed, "tables");
    let requests = requests(&mut rng, device.layout(), REQUESTS);
    let mut completions: Vec<Completion> = Vec::new();
    device.run(requests.iter().copied(), Pacing::Closed { depth: 9 }, &mut completions);
    assert_eq!(completions.len(), requests.len(), "seed {seed}");
    // A clone continues independently of the original.
    let mut clone = device.clone();
    let mut again: Vec<Completion> = Vec::new();
    clone.run(requests.iter().copied(), Pacing::Closed { depth: 3 }, &mut again);
    assert_eq!(again.len(), requests.len(), "seed {seed}");
}

#[test]
fn every_scheme() {
    for name in ["FIFO", "RPS", "PES_IPS", "PES_IPC"] {
        let mut config = small();
        scheme(&mut config, name);
        serve(Device::new(&config).expect("a drive that works"), 1);
    }
}

/// A drive with superblocks, with and without parity.
#[test]
fn superblocks() {
    for parity in [0, 4] {
        let mut config = tiny();
        (config.geometry.planes_per_die, config.geometry.blocks_per_plane) = (1, 10);
        config.geometry.page_size.0 = 4096;
        (config.buffer.size.0, config.over_provisioning) = (64 * 4096, 0.65);
        config.superblocks.parity = parity;
        if parity > 0 {
            config.redundancy.name = RedundancyKind::Raid5;
            config.redundancy.integrity = true;
        }
        serve(built(&config).expect("a drive that works"), 1);
    }
}

/// Drives of any kind, with and without redundancy.
#[test]
fn random_drives() {
    let choices = [Choice::all(), Choice::protected(RedundancyKind::Raid5)];
    for (choice, first) in choices.iter().zip([0, 100]) {
        let drives = (first..).filter_map(|seed| {
            let mut config = drive(&mut Rng::stream(seed, "tables/drive"), seed, choice);
            if cfg!(miri) {
                // The mathematics of cells has machine code, which is not interpreted.
                config.reliability.model = ModelKind::Off;
            }
            Device::new(&config).ok().map(|device| (seed, device))
        });
        for (seed, device) in drives.take(if cfg!(miri) { 3 } else { 20 }) {
            serve(device, seed);
        }
    }
}

/// A die order that chooses a transaction that nobody offered.
#[derive(Clone, Debug)]
struct Liar(TxnId);

impl CustomDieOrder for Liar {
    fn pick(&mut self, _view: &View<'_>) -> Option<TxnId> {
        Some(self.0)
    }
}

fn serve_with(liar: TxnId) {
    let mut config = small();
    config.policies.die_order = Some(Maker::new("liar", move || Box::new(Liar(liar)) as Box<_>));
    serve(Device::new(&config).expect("a drive that works"), 1);
}

#[test]
#[should_panic(expected = "a die order chose transaction 4000000, which does not wait here")]
fn an_order_that_invents_a_transaction_is_found_out() {
    serve_with(TxnId(4_000_000));
}

/// The first number that a drive gives is sooner or later in flight somewhere else.
#[test]
#[should_panic(expected = "which does not wait here")]
fn an_order_that_chooses_for_another_die_is_found_out() {
    serve_with(TxnId(0));
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn a_die_that_is_not_there_is_not_asked() {
    let device = Device::new(&small()).expect("a drive that works");
    device.die_times(DieId(4), Nanos::ZERO);
}
