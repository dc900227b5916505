//! Drives and requests for the tests of this room.

use super::Superblocks;
use crate::config::tests::shaped;
use crate::config::{Config, FtlConfig, Pattern, ProgramUnit, ReclaimUnit};
use crate::event_loop::Device;
use crate::observe::completion::Completion;
use crate::policy::redundancy::RedundancyKind;
use crate::precondition::UNWATCHED;
use fowler_nand::PerPageType;
use fowler_units::{Bytes, Geometry, HostIo, HostOp, Nanos, Span};

/// Returns the configuration of a tiny drive for tests: four dies of two planes on two channels,
/// pages of four mapping units of 4 KiB, three pages to a word line.
pub(super) fn tiny() -> Config {
    let mut config = shaped(Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 24,
        pages_per_block: 12,
        page_size: Bytes(16 << 10),
    });
    config.ftl = FtlConfig {
        unit: Some(Bytes(UNIT)),
        reclaim_unit: ReclaimUnit::Superblock,
        program_unit: ProgramUnit::WordLine,
    };
    config.flash.word_line = 3;
    config.timing.read = PerPageType::new(&[Span::us(40), Span::us(60), Span::us(80)]).unwrap();
    config.buffer.size = Bytes(1 << 20);
    config.over_provisioning = 0.4;
    config.gc.background_below = config.gc.foreground_below;
    config.precondition.pattern = Pattern::Steady;
    config
}

/// Gives all superblocks of a drive parity: one of every `parity` program commands holds parity;
/// zero for no parity.
pub(super) fn protect(config: &mut Config, parity: u32) {
    config.superblocks.parity = parity;
    config.redundancy.name = match parity {
        0 => RedundancyKind::Unprotected,
        _ => RedundancyKind::Raid5,
    };
}

/// Size of a mapping unit of the tiny drive in these tests, in bytes.
pub(super) const UNIT: u64 = 4096;

pub(super) fn drive(config: &Config) -> Device<Superblocks> {
    let device = Device::<Superblocks>::with_superblocks(config, UNWATCHED);
    device.expect("it works").expect("nobody stops it")
}

/// Returns a read of `units` mapping units from the unit `unit` on, which arrives `since` after
/// time zero.
pub(super) fn read(since: Span, unit: u64, units: u64) -> HostIo {
    HostIo::new(HostOp::Read, Nanos::ZERO + since, unit * UNIT, (units * UNIT) as u32)
}

/// Returns the completion of a request, after a check that the parts of its latency, by cause, add
/// up to the whole.
pub(super) fn answer_to<'a>(io: &HostIo, answers: &'a [Completion]) -> &'a Completion {
    let same = |answer: &&Completion| (answer.io.offset, answer.io.at) == (io.offset, io.at);
    let answer = answers.iter().find(same).expect("answered");
    assert_eq!(answer.blame.total(), answer.latency());
    answer
}
