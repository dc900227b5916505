//! The cost of GC and wear leveling where there is no closed form. Greedy, FIFO and d-choices GC
//! are compared with theory by `fowler validate`, which runs in the tests of `fowler-experiment`.

use crate::support::small;
use fowler_device::policy::victim::VictimKind;
use fowler_device::policy::wear::WearKind;
use fowler_device::*;
use fowler_units::{HostIo, Nanos, Rng};

/// The drive has one plane. It is overwritten 12 times, half of them before measuring: rules differ
/// by tens of per cent, their scatter is below one.
const BLOCKS: u32 = 2000;

fn measure(victim: VictimKind, pages_per_block: u32, load: f64) -> f64 {
    let mut config = small();
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel, g.planes_per_die) = (1, 1, 1);
    (g.blocks_per_plane, g.pages_per_block) = (BLOCKS, pages_per_block);
    config.over_provisioning = 1.0 - load;
    config.timing.program_iterations = fowler_nand::PerPageType::uniform(1);
    config.precondition.pattern = Pattern::Steady;
    config.victim.name = victim;
    let mut device = Device::new(&config).expect("a sound drive");
    let pages = device.layout().logical_pages;
    let mut rng = Rng::stream(3, "waf");
    let mut writes = |count: u64| -> Vec<HostIo> {
        let io = |_| HostIo::write(Nanos::ZERO, rng.below(u64::from(pages)) * 4096, 4096);
        (0..count).map(io).collect()
    };
    let (warm_up, counted) = (writes(6 * u64::from(pages)), writes(6 * u64::from(pages)));
    device.run(warm_up, Pacing::Closed { depth: 4 }, &mut ());
    let before = device.counters().programs;
    device.run(counted, Pacing::Closed { depth: 4 }, &mut ());
    let after = device.counters().programs;
    let host = after[Source::Host] - before[Source::Host];
    1.0 + (after[Source::Gc] - before[Source::Gc]) as f64 / host as f64
}

#[test]
fn cost_benefit_lies_between_greedy_and_fifo_under_uniform_writes() {
    // Age tells nothing under uniform writes, so weighing age can only cost; but age never weighs
    // alone, as it does in FIFO.
    let [greedy, cost_benefit, fifo] =
        [VictimKind::Greedy, VictimKind::CostBenefit, VictimKind::Fifo]
            .map(|victim| measure(victim, 16, 0.85));
    assert!(greedy < cost_benefit && cost_benefit < fifo, "{greedy} {cost_benefit} {fifo}");
}

#[test]
fn swapping_hot_and_cold_keeps_blocks_alike_and_says_what_it_costs() {
    let run = |wear: WearKind| {
        let mut config = small();
        config.precondition.pattern = Pattern::Sequential;
        config.wear.name = wear;
        config.wear.threshold = 5;
        let mut device = Device::new(&config).expect("a sound drive");
        let hot = u64::from(device.layout().logical_pages) / 10;
        let mut rng = Rng::stream(5, "wear");
        // Nine tenths of the data are never written again.
        let writes = (0..60_000).map(|_| HostIo::write(Nanos::ZERO, rng.below(hot) * 4096, 4096));
        device.run(writes, Pacing::Closed { depth: 8 }, &mut ());
        device.check().unwrap_or_else(|law| panic!("{}", law.0));
        let erases = device.erase_counts();
        let spread = erases.iter().max().unwrap() - erases.iter().min().unwrap();
        (spread, device.counters().programs[Source::Wear])
    };
    let (loose, free) = run(WearKind::Off);
    let (tight, paid) = run(WearKind::HotColdSwap);
    assert_eq!(free, 0);
    assert!(paid > 0, "moves for wear are counted as such");
    assert!(tight * 5 < loose, "spread {tight} with swaps, {loose} without");
}
