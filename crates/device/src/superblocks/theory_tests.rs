//! Drives with superblocks against theory.

use super::Superblocks;
use super::cases::tiny;
use crate::config::Config;
use crate::device::{Device, Pacing};
use crate::observe::operation::Source;
use crate::precondition::UNWATCHED;
use fowler_units::{HostIo, HostOp, Nanos, Rng};

const SUPERBLOCKS: u32 = 400;

fn drive(over_provisioning: f64, parity: u32) -> (Config, Device<Superblocks>) {
    let mut config = tiny();
    config.geometry.blocks_per_plane = SUPERBLOCKS;
    config.over_provisioning = over_provisioning;
    config.superblocks.parity = parity;
    let device = Device::<Superblocks>::with_superblocks(&config, UNWATCHED);
    let device = device.expect("it works").expect("nobody stops it");
    (config, device)
}

/// Random writes cost what greedy collection costs, before the run and in it. Of the superblocks,
/// those that are erased and half of the two being filled hold no data: three on average. The
/// tolerance is what one more or one less of them changes at the highest load (2.7 %), as their
/// number goes up and down by one while a superblock is emptied.
#[test]
fn random_writes_cost_what_greedy_collection_costs() {
    for over_provisioning in [0.1, 0.2, 0.35] {
        let (config, mut device) = drive(over_provisioning, 0);
        let shape = device.superblocks().shape;
        let logical = device.superblocks().map.logical();
        let held = SUPERBLOCKS - config.gc.foreground_below;
        let load = f64::from(logical) / f64::from(held * shape.data_units());
        let theory = fowler_theory::gc::greedy(load, shape.units).expect("a load below 1");
        let before = device.superblocks().preconditioned().waf.expect("it was overwritten");
        let mut rng = Rng::stream(7, "writes");
        let writes = (0..u64::from(logical) / 2).map(|_| {
            let unit = rng.below(logical.into());
            HostIo::new(HostOp::Write, Nanos::ZERO, unit * 4096, 4096)
        });
        device.run(writes, Pacing::Closed { depth: 64 }, &mut ());
        let within = device.counters().waf().expect("it was written");
        for waf in [before, within] {
            let off = waf / theory - 1.0;
            assert!(off.abs() < 0.027, "{over_provisioning}: {waf}, and {theory} by theory");
        }
    }
}

/// One command in n is parity, of the host's and of those that move data alike.
#[test]
fn parity_takes_its_share() {
    for parity in [4, 16] {
        let (_, mut device) = drive(0.5, parity);
        let logical = u64::from(device.superblocks().map.logical());
        let mut rng = Rng::stream(7, "writes");
        let writes = (0..logical / 4)
            .map(|_| HostIo::new(HostOp::Write, Nanos::ZERO, rng.below(logical) * 4096, 4096));
        device.run(writes, Pacing::Closed { depth: 64 }, &mut ());
        let programs = device.counters().programs;
        let share = programs[Source::Parity] as f64 / programs.sum() as f64;
        // What was begun before the run or ends after it: a superblock of each stream.
        let off = share * f64::from(parity) - 1.0;
        assert!(off.abs() < 0.02, "one in {parity}: {share}");
    }
}
