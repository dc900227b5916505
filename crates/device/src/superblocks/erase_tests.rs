//! The erase of a superblock waits for the reads of every block that it erases.

use super::cases::{UNIT, drive, tiny};
use crate::event_loop::Pacing;
use crate::flash::die::Cells;
use crate::flash::queue::TxnClass;
use crate::observe::completion::Completion;
use crate::observe::operation::Op;
use crate::policy::custom::{CustomDieOrder, Maker, Queued, View};
use fowler_units::{HostIo, HostOp, Id, Locator, Nanos, Rng, TxnId};

/// Erases before everything else, which no rule of the drive's own says.
#[derive(Clone, Debug)]
struct ErasesFirst;

impl CustomDieOrder for ErasesFirst {
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId> {
        view.head(Queued::Erase).or_else(|| view.oldest())
    }
}

/// While a die erases its blocks of a superblock, no read of one of them waits there. Every unit is
/// written, and what is read from a superblock was valid when the read was submitted, which is
/// before its erase.
#[test]
fn an_erase_waits_for_the_reads_of_all_planes() {
    let mut config = tiny();
    let order = || Box::new(ErasesFirst) as Box<dyn CustomDieOrder>;
    config.policies.die_order = Some(Maker::new("erases first", order));
    let mut device = drive(&config);
    let logical = u64::from(device.superblocks().map.logical());
    let mut rng = Rng::stream(3, "requests");
    let requests: Vec<HostIo> = (0..20_000)
        .map(|_| {
            let op = if rng.chance(0.5) { HostOp::Read } else { HostOp::Write };
            HostIo::new(op, Nanos::ZERO, rng.below(logical) * UNIT, UNIT as u32)
        })
        .collect();
    let mut answers: Vec<Completion> = Vec::new();
    let (locator, blocks) = (Locator::new(&config.geometry), config.geometry.blocks_per_plane);
    let (mut erasing, mut reads) = (0, 0);
    device.run_watched(requests, Pacing::Closed { depth: 64 }, &mut answers, |device| {
        let flash = &device.flash;
        let superblock = |id: TxnId| locator.block_of(flash.txns.get(id).unit).0 % blocks;
        for die in flash.dies().ids().map(|id| flash.die(id)) {
            let erases = die.cells == Cells::Running
                && die.command.first.is_some()
                && flash.txns.get(die.command.first).op == Op::Erase;
            if !erases {
                continue;
            }
            erasing += 1;
            let erased = superblock(die.command.first);
            for class in [TxnClass::HostRead, TxnClass::BackgroundRead] {
                for read in die.queue.iter(class, &flash.txns) {
                    reads += 1;
                    assert_ne!(superblock(read), erased, "a read of what is being erased waits");
                }
            }
        }
    });
    assert!(erasing > 100 && reads > 100, "{erasing} events of erases, {reads} reads seen");
}
