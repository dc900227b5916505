//! Cells that err, on whole drives: the cost of reads, the knowledge of the controller, and that
//! acquiring this knowledge disturbs nothing.

use crate::support::{mlc, small};
use fowler_device::blame::Part;
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::placement::PlacementKind;
use fowler_device::policy::sensing::SensingKind;
use fowler_device::policy::step::StepKind;
use fowler_device::reliability::{LevelTimes, ModelKind, Params, RetryCost, StrengthSource};
use fowler_device::*;
use fowler_nand::{PerPageType, Timing};
use fowler_units::{Bytes, HostIo, HostOp, Nanos, Rng, Span};

const MS: u64 = 1_000_000;

fn io(at: u64, page: u64, pages: u32, op: HostOp) -> HostIo {
    HostIo::new(op, Nanos(at), page * 4096, pages * 4096)
}

fn run(config: &Config, requests: &[HostIo]) -> (Vec<Completion>, Counters) {
    let mut completions: Vec<Completion> = Vec::new();
    let mut device = Device::new(config).unwrap_or_else(|why| panic!("{why:?}"));
    device.run(requests.iter().copied(), Pacing::Open, &mut completions);
    (completions, device.counters())
}

fn pages_of(config: &Config) -> u64 {
    u64::from(config.layout().expect("a sound drive").logical_pages)
}

/// A drive of one chip with a channel of its own.
fn one_chip() -> Config {
    let mut config = small();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 512;
    config.buffer.size = Bytes(0);
    config.queue =
        QueueConfig { depth: 60_000, max_reads: 60_000, max_writes: 60_000, ..config.queue };
    config.precondition.fill = 0.0;
    config.reliability.model = ModelKind::Analytic;
    config
}

/// The times of programs of data that is all hot, by the source from which the strength of blocks
/// is known.
fn program_times(strength: StrengthSource, fill: f64) -> Vec<u64> {
    let mut config = one_chip();
    config.timing = mlc();
    config.gc.idle_after = Span::ms(3_000_000);
    config.precondition.fill = fill;
    config.reliability.cycles = 1500;
    config.reliability.strength = strength;
    config.hotness.detectors = 1;
    config.placement.name = PlacementKind::Streams;
    config.placement.hot_to_strong = true;
    config.step.name = StepKind::ByStrength;
    let writes: Vec<_> = (0..1000).map(|n| io(n * 10 * MS, n, 1, HostOp::Write)).collect();
    run(&config, &writes).0.iter().map(|completion| completion.latency().0).collect()
}

#[test]
fn who_has_measured_nothing_programs_at_the_nominal_step() {
    let (oracle, measured) =
        (program_times(StrengthSource::Oracle, 0.0), program_times(StrengthSource::Measured, 0.0));
    let nominal = mlc().bus_transfer + mlc().program(0);
    assert!(measured.iter().all(|&took| took == nominal.0), "{measured:?}");
    assert!(oracle.iter().all(|&took| took <= nominal.0));
    assert!(oracle.iter().any(|&took| took < nominal.0), "an oracle gains");
}

#[test]
fn measuring_leaves_gc_in_idle_time_alone() {
    let collections = |strength| {
        let mut config = small();
        config.precondition.pattern = Pattern::Steady;
        config.geometry.blocks_per_plane = 64;
        (config.gc.foreground_below, config.gc.background_below) = (4, 12);
        config.reliability.model = ModelKind::Analytic;
        config.reliability.cycles = 1000;
        config.reliability.strength = strength;
        let pages = pages_of(&config);
        let mut rng = Rng::stream(3, "cells/idle");
        let bursts = (1..=50u64).flat_map(|burst| (0..64u64).map(move |at| (burst, at)));
        let requests: Vec<_> = bursts
            .map(|(burst, at)| {
                io(burst * 1000 * MS + at * 1000, rng.below(pages), 1, HostOp::Write)
            })
            .collect();
        run(&config, &requests).1.collections
    };
    let (reported, measured) =
        (collections(StrengthSource::Oracle), collections(StrengthSource::Measured));
    assert!(reported.background > 500, "{reported:?}");
    let near = |one: u64, other: u64| one.abs_diff(other) * 20 <= reported.background;
    let foreground = near(reported.foreground, measured.foreground);
    let background = near(reported.background, measured.background);
    assert!(foreground && background, "{reported:?} {measured:?}");
}

#[test]
fn pages_of_one_request_do_not_overtake_each_other() {
    let mut config = one_chip();
    config.die_order.name = DieOrderKind::Rhio;
    let writes = (1..4).map(|page| io(page * 200 * MS, page, 1, HostOp::Write));
    let requests: Vec<_> = writes.chain([io(1000 * MS, 1, 3, HostOp::Read)]).collect();
    assert_eq!(run(&config, &requests).1.prioritized, Prioritized::default());
}

/// A write of part of a page waits for the read of the old page, which no stream of reads may put
/// off.
#[test]
fn the_reading_of_an_old_page_has_its_write_s_deadline() {
    let mut config = one_chip();
    config.precondition.fill = 1.0;
    config.reliability.model = ModelKind::Off;
    config.die_order.name = DieOrderKind::Rhio;
    config.die_order.deadline = Span::ms(20);
    let pages = pages_of(&config);
    let mut rng = Rng::stream(3, "cells/merge");
    let mut requests: Vec<_> =
        (0..40_000).map(|n| io(n * 29_900, rng.below(pages), 1, HostOp::Read)).collect();
    requests
        .insert(100, io(100 * 29_900, 7, 1, HostOp::Write).with_size(512).with_op(HostOp::Write));
    let (completions, _) = run(&config, &requests);
    let write =
        completions.iter().find(|completion| completion.io.op == HostOp::Write).expect("one write");
    // The read and the program of the write each wait for the deadline at most, and for the
    // operation in service then.
    assert!(write.latency() < Span::ms(45), "{write:?}");
    assert!(write.blame[Part::Merge] > Span::ms(15), "reads went first until then: {write:?}");
}

#[test]
fn streams_leave_stripes_whole() {
    let operations = |placement| {
        let mut config = small();
        config.geometry.planes_per_die = 4;
        config.geometry.blocks_per_plane = 64;
        config.geometry.pages_per_block = 32;
        config.buffer.size = Bytes(0);
        config.hotness.detectors = 1;
        config.hotness.hot_up_to = Bytes(4096);
        config.placement.name = placement;
        config.precondition.fill = 0.0;
        let mut rng = Rng::stream(3, "cells/planes");
        let mut page = 0;
        let writes: Vec<_> = (0..1500u64)
            .map(|number| {
                let pages = if rng.chance(0.5) { 1 } else { 8 };
                page += u64::from(pages);
                io(number / 8 * 3 * MS, page - u64::from(pages), pages, HostOp::Write)
            })
            .collect();
        run(&config, &writes).1.operations
    };
    let (striped, streams) =
        (operations(PlacementKind::SingleStream), operations(PlacementKind::Streams));
    assert!(streams < striped * 3 / 2, "{striped} and {streams} operations");
}

#[test]
fn a_page_of_which_nothing_is_known_is_read_as_the_worst() {
    let mut config = one_chip();
    config.sensing.name = SensingKind::WorstCase;
    let requests = [
        io(0, 0, 1, HostOp::Read),
        io(10 * MS, 1, 1, HostOp::Write),
        io(20 * MS, 1, 1, HostOp::Read),
    ];
    let (completions, counters) = run(&config, &requests);
    assert_eq!(completions[0].latency(), completions[2].latency());
    assert_eq!(counters.reads_at, [0, 0, 2, 0], "at the level of the weakest block's end");
    let read = completions[2].latency();
    assert_eq!(read, config.timing.read.at(0) * 7 + Span(config.timing.bus_transfer.0 * 5 / 2));
}

/// A read that climbs occupies the die and the channel for each try.
#[test]
fn every_try_is_paid_for() {
    let mut config = one_chip();
    config.precondition.fill = 1.0;
    config.sensing.name = SensingKind::Retry;
    config.reliability.cycles = 3000;
    config.reliability.oldest = Span(30 * 86_400_000 * MS);
    let pages = pages_of(&config);
    let reads: Vec<_> = (0..pages).map(|page| io(page * 10 * MS, page, 1, HostOp::Read)).collect();
    let (completions, counters) = run(&config, &reads);
    let at = |references: u64, bits: u64| {
        Span(config.timing.read.at(0).0 * references / 3 + config.timing.bus_transfer.0 * bits / 2)
    };
    let tries = [at(3, 2), at(9, 4), at(21, 5)];
    let sums = [tries[0], tries[0] + tries[1], tries[0] + tries[1] + tries[2]];
    for completion in &completions {
        assert!(sums.contains(&completion.latency()), "{completion:?}");
        assert_eq!(
            completion.blame[Part::Retry] > Span::ZERO,
            completion.latency() > sums[0],
            "{completion:?}"
        );
    }
    let climbed = |latency| {
        completions.iter().filter(|completion| completion.latency() == latency).count() as u64
    };
    assert_eq!(counters.reads_at[..3], sums.map(climbed));
    assert!(counters.reads_at[..3].iter().all(|&reads| reads > 10), "{:?}", counters.reads_at);
    assert_eq!(counters.retries_at[0], counters.reads_at[1] + counters.reads_at[2]);
    assert!(counters.uncorrectable > 0, "some of the weakest are lost at such an age");
}

/// With progressive sensing a read that climbs takes as long as one that knew its level, however
/// many tries that took, and only the time after the first try is put down to retries.
#[test]
fn a_progressive_try_pays_for_what_it_adds() {
    let mut config = one_chip();
    config.precondition.fill = 1.0;
    config.sensing.name = SensingKind::Retry;
    config.reliability.retry = RetryCost::Increment;
    config.reliability.cycles = 3000;
    config.reliability.oldest = Span(30 * 86_400_000 * MS);
    let pages = pages_of(&config);
    let reads: Vec<_> = (0..pages).map(|page| io(page * 10 * MS, page, 1, HostOp::Read)).collect();
    let (completions, counters) = run(&config, &reads);
    let at = |references: u64, bits: u64| {
        Span(config.timing.read.at(0).0 * references / 3 + config.timing.bus_transfer.0 * bits / 2)
    };
    let levels = [at(3, 2), at(9, 4), at(21, 5)];
    for completion in &completions {
        assert!(levels.contains(&completion.latency()), "{completion:?}");
        assert_eq!(
            completion.blame[Part::Retry],
            completion.latency() - levels[0],
            "{completion:?}"
        );
        assert_eq!(completion.blame[Part::SoftSensing], Span::ZERO, "{completion:?}");
    }
    let climbed = |latency| {
        completions.iter().filter(|completion| completion.latency() == latency).count() as u64
    };
    assert_eq!(counters.reads_at[..3], levels.map(climbed));
    assert!(counters.reads_at[..3].iter().all(|&reads| reads > 10), "{:?}", counters.reads_at);
    let transfers = |level: usize, bits: u64| {
        counters.reads_at[level] * config.timing.bus_transfer.0 * bits / 2
    };
    let carried = transfers(0, 2) + transfers(1, 4) + transfers(2, 5);
    assert_eq!(counters.channel_busy.0, carried, "the channel carries each bit once");
}

/// Read times by page type, in microseconds.
const READS: [&[u64]; 4] = [&[25], &[25, 40], &[20, 30, 50], &[20, 25, 35, 60]];

fn reading(types: &[u64]) -> Timing {
    let read: Vec<Span> = types.iter().map(|&us| Span::us(us)).collect();
    Timing { read: PerPageType::new(&read).expect("one to four types"), ..mlc() }
}

/// The time of one try: 3, 9 and 21 references, and 2, 4 and 5 bits. The nominal times are those of
/// the first level.
fn try_at(timing: &Timing, level: usize, offset: u32) -> (Span, Span) {
    let (references, bits) = [(3, 2), (9, 4), (21, 5)][level];
    let sense = Span(timing.read.at(offset).0 * references / 3);
    (sense, Span(timing.bus_transfer.0 * bits / 2))
}

#[test]
fn what_a_level_takes_beyond_a_hard_read_is_the_difference_of_their_times() {
    for (types, levels) in READS.iter().flat_map(|types| (1..=3).map(move |count| (types, count))) {
        let timing = reading(types);
        let times = LevelTimes::new(&timing, &Params { levels, ..Params::default() }.ldpc());
        assert_eq!(u32::from(times.count()), levels);
        for (level, offset) in (0..times.count()).flat_map(|it| (0..12).map(move |at| (it, at))) {
            let (sense, transfer) = try_at(&timing, usize::from(level), offset);
            assert_eq!(times.sense_and_transfer(level, || offset), (sense, transfer));
            assert_eq!((times.sense(level, offset), times.transfer(level)), (sense, transfer));
            let hard = timing.read.at(offset) + timing.bus_transfer;
            // The difference is one number only if every page type takes the same time.
            let beyond = (types.len() == 1).then(|| sense + transfer - hard);
            assert_eq!(times.beyond_hard(level), beyond, "{types:?}, level {level}");
        }
        assert_eq!(
            LevelTimes::nominal(&timing).beyond_hard(0),
            (types.len() == 1).then_some(Span::ZERO)
        );
    }
}

/// On a drive whose reads wait for nothing, the blame of a read is the time of its tries. If a try
/// pays only for its increment, all tries together take as long as the last one alone.
#[test]
fn a_soft_read_is_blamed_on_its_tries_whatever_the_page_type() {
    let costs = [RetryCost::Whole, RetryCost::Increment];
    for (types, cost) in READS.iter().flat_map(|types| costs.map(|cost| (*types, cost))) {
        let mut config = one_chip();
        config.timing = reading(types);
        config.precondition.fill = 1.0;
        config.sensing.name = SensingKind::Retry;
        config.reliability.retry = cost;
        config.reliability.cycles = 3000;
        config.reliability.oldest = Span(30 * 86_400_000 * MS);
        let reads = (0..pages_of(&config)).map(|page| io(page * 10 * MS, page, 1, HostOp::Read));
        let (completions, _) = run(&config, &reads.collect::<Vec<_>>());
        // By page type and level: latency, hard sensing, soft sensing, retries.
        let timing = config.timing;
        let kinds = (0..types.len() as u32).flat_map(|offset| {
            let took = move |level| {
                let (sense, transfer) = try_at(&timing, level, offset);
                sense + transfer
            };
            (0..3).map(move |level| {
                let (failed, more): (Span, Span) =
                    ((0..level).map(took).sum(), took(level) - took(0));
                let (total, soft, retries) = match cost {
                    RetryCost::Whole => (failed + took(level), more, failed),
                    RetryCost::Increment => (took(level), Span::ZERO, more),
                };
                (total, timing.read.at(offset), soft, retries)
            })
        });
        let mut kinds: Vec<_> = kinds.map(|kind| (kind, 0)).collect();
        for completion in &completions {
            let blame = &completion.blame;
            let parts = (
                completion.latency(),
                blame[Part::Sense],
                blame[Part::SoftSensing],
                blame[Part::Retry],
            );
            let kind = kinds.iter_mut().find(|(kind, _)| *kind == parts);
            kind.unwrap_or_else(|| panic!("{types:?} {cost:?}: {completion:?}")).1 += 1;
            assert_eq!(blame[Part::Transfer], timing.bus_transfer, "{completion:?}");
            assert_eq!(blame[Part::Channel], Span::ZERO, "{completion:?}");
        }
        assert!(kinds.iter().all(|&(_, count)| count > 0), "{types:?} {cost:?}: {kinds:?}");
    }
}

#[test]
fn absurd_numbers_are_refused_or_do_no_harm() {
    let mut config = one_chip();
    config.reliability.oldest = Span(3650 * 86_400_000 * MS);
    let refusals = config.layout().unwrap_err();
    assert!(refusals.iter().any(|it| it.keys.contains(&"reliability.oldest")), "{refusals:?}");
    let mut config = one_chip();
    config.timing.program_iterations = PerPageType::uniform(70_000);
    (config.timing.program_phase, config.timing.verify_phase) = (Span(10), Span(10));
    run(&config, &[io(0, 0, 1, HostOp::Write)]);
    let mut config = small();
    (config.geometry.channels, config.geometry.chips_per_channel) = (32, 4);
    config.reliability.model = ModelKind::Analytic;
    config.reliability.strength = StrengthSource::Measured;
    // 32 blocks of a die.
    config.reliability.measure_every = Span(31_999_999);
    let refusals = config.layout().unwrap_err();
    assert!(refusals.iter().any(|it| it.keys == ["reliability.measure_every"]), "{refusals:?}");
    for every in [Span::ms(32), Span(3650 * 86_400_000 * MS)] {
        config.reliability.measure_every = every;
        run(&config, &[io(0, 0, 1, HostOp::Read), io(100 * MS, 1, 1, HostOp::Read)]);
    }
}
