//! Stripes and their parity: the reads and writes of an update, the example of Figure 4 of
//! DA-RAID-5, stages of life, refresh, and the cost of a page that must be recovered.

use crate::support::small;
use fowler_device::blame::Part;
use fowler_device::policy::redundancy::{RedundancyKind, Stage};
use fowler_device::*;
use fowler_units::{Bytes, HostIo, HostOp, Lpn, Nanos, Span, StripeId};

/// A drive of `chips` chips whose stripes have `data` pages, filled in order.
fn drive(kind: RedundancyKind, data: u32, chips: u32) -> Config {
    let mut config = small();
    config.geometry.channels = chips;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 40;
    config.over_provisioning = 0.4;
    config.redundancy.name = kind;
    config.redundancy.stripe = data;
    config.redundancy.parity_cache = Bytes(16 * 4096);
    config.redundancy.integrity = true;
    config.redundancy.worn_above = 2000;
    config
}

fn io(op: HostOp, page: u32, pages: u32, at: Span) -> HostIo {
    let offset = u64::from(page) * 4096;
    HostIo::new(op, Nanos(at.0), offset, pages * 4096)
}

fn run(device: &mut Device, requests: impl IntoIterator<Item = HostIo>) -> Vec<Completion> {
    let mut completions: Vec<Completion> = Vec::new();
    device.run_watched(requests, Pacing::Open, &mut completions, |device| {
        device.check().unwrap_or_else(|law| panic!("at {}: {}", device.now().0, law.0));
    });
    device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
    completions
}

const PARITY: Source = Source::Parity;

fn ways(from_rest: u64, by_delta: u64) -> ParityWays {
    ParityWays { from_rest, by_delta }
}

/// Equation (1) or (2), whichever reads less: min(n + 1, N - n) reads and one write more for n
/// pages written together.
#[test]
fn parity_is_built_by_whichever_equation_reads_less() {
    for data in [2, 4, 8] {
        for pages in 1..=data {
            let mut device = Device::new(&drive(RedundancyKind::Raid5, data, data + 1)).unwrap();
            let answered = run(&mut device, [io(HostOp::Write, 3 * data, pages, Span::ZERO)]);
            let counters = device.counters();
            let expected = u64::from((pages + 1).min(data - pages));
            assert_eq!(counters.reads[PARITY], expected, "{pages} of {data}");
            assert_eq!(counters.programs[PARITY], 1);
            assert_eq!(counters.programs[Source::Host], u64::from(pages));
            // The write is complete with its parity: it waited for parity, unless there was nothing
            // to read first.
            assert_eq!(answered[0].blame[Part::Parity] > Span::ZERO, expected > 0);
            let rest = data - pages <= pages + 1;
            assert_eq!(counters.parity_ways, ways(u64::from(rest), u64::from(!rest)));
        }
    }
}

/// Figure 4: stripes of 4, N_update = 2, a cache of 8 pages. When D23 has come, stripe S0 with D1,
/// D2 and D3 is the least recently used and goes to the flash together; its parity PP0 stays in the
/// cache. So does the parity of D8 and D9. When D1, D2 and D3 come again, PP0' is built from them
/// alone: nothing is read, and no parity is written.
#[test]
fn the_example_of_figure_4() {
    let mut config = drive(RedundancyKind::HybridCaching, 4, 5);
    config.redundancy.n_update = 2;
    config.buffer.size = Bytes(8 * 4096);
    config.buffer.ack = Ack::OnInsert;
    config.buffer.evict_ahead = 1;
    let mut device = Device::new(&config).unwrap();
    // The flash is at rest between two requests.
    let write = |device: &mut Device, pages: &[u32]| {
        for &page in pages {
            run(device, [io(HostOp::Write, page, 1, Span::ZERO)]);
            run(device, [io(HostOp::Read, 60, 1, Span::ms(20))]);
        }
    };
    let covered = |device: &Device, stripe: u32| -> Vec<u32> {
        let view = device.stripe(StripeId(stripe));
        let cached = view.cached.map(|it| it.covered).unwrap_or_default();
        let pages = view.data.iter().zip(cached).filter(|(_, entry)| entry.0).map(|(it, _)| it.0.0);
        let mut pages: Vec<u32> = pages.collect();
        pages.sort_unstable();
        pages
    };
    // The order of the study (`fowler reproduce da-raid5`, figure4.csv).
    write(&mut device, &[4, 1, 3, 2, 22, 8, 9, 4]);
    assert_eq!(device.counters().programs, BySource::default(), "the cache has room");
    write(&mut device, &[23]);
    assert_eq!(device.counters().programs[Source::Host], 3, "D1, D2 and D3 are evicted together");
    assert_eq!(covered(&device, 0), [1, 2, 3], "PP0");
    write(&mut device, &[13, 15, 4, 14]);
    assert_eq!(covered(&device, 2), [8, 9], "PP2");
    write(&mut device, &[2, 1, 3]);
    write(&mut device, &[13, 4, 12]);
    let counters = device.counters();
    assert_eq!(covered(&device, 0), [1, 2, 3], "PP0'");
    assert_eq!((counters.reads[PARITY], counters.programs[PARITY]), (0, 0));
    assert_eq!(device.protection().unwrap().exposed_most, device.protection().unwrap().exposed);
}

/// With more pages than N_update no replaced page is read; with fewer each of them is.
#[test]
fn cached_parity_is_built_anew_only_from_many_pages() {
    for (n_update, reads) in [(2, 0), (3, 3)] {
        let mut config = drive(RedundancyKind::HybridCaching, 4, 5);
        config.redundancy.n_update = n_update;
        config.redundancy.cut_off = 0;
        config.buffer.size = Bytes(4 * 4096);
        config.buffer.ack = Ack::OnInsert;
        config.buffer.evict_ahead = 1;
        let mut device = Device::new(&config).unwrap();
        for turn in 0..2 {
            let at = Span::ms(100 * turn);
            run(
                &mut device,
                [io(HostOp::Write, 0, 3, at), io(HostOp::Write, 8, 3, at + Span::ms(9))],
            );
        }
        run(&mut device, [io(HostOp::Write, 16, 3, Span::ms(50))]);
        let stripe = device.stripe(StripeId(0)).cached.expect("it is cached");
        assert_eq!(stripe.covered.iter().filter(|page| page.0).count(), 3);
        let read = device.counters().reads[PARITY];
        assert!(if reads == 0 { read == 0 } else { read >= reads }, "{read} with {n_update}");
    }
}

/// A covered page that is replaced leaves the cached parity by being read: until then the page is
/// valid, and faults can strike it. If the page fails, the cached parity is recomputed from the
/// other covered pages, and recovers none of them until they are read.
#[test]
fn what_leaves_cached_parity_can_fail_before_it_is_read() {
    for (second, lost) in [(None, 0), (Some(false), 1), (Some(true), 0)] {
        let mut config = drive(RedundancyKind::HybridCaching, 4, 5);
        (config.redundancy.n_update, config.redundancy.cut_off) = (4, 0);
        config.buffer.size = Bytes(4 * 4096);
        config.buffer.ack = Ack::OnInsert;
        config.buffer.evict_ahead = 1;
        let mut device = Device::new(&config).unwrap();
        // The whole stripe is covered, then one page of the stripe leaves the buffer once more.
        run(&mut device, [io(HostOp::Write, 0, 4, Span::ZERO)]);
        run(&mut device, [io(HostOp::Write, 8, 4, Span::ms(50))]);
        run(&mut device, [io(HostOp::Write, 16, 4, Span::ms(50))]);
        assert_eq!(device.counters().reads[PARITY], 0);
        let writes = [0, 24, 28, 32, 36].map(|page| io(HostOp::Write, page, 1, Span::ms(50)));
        let (mut completions, mut failed, mut struck): (Vec<Completion>, u32, bool) =
            (Vec::new(), 0, second.is_none());
        device.run_with_faults(writes, Pacing::Open, &mut completions, |device| {
            let cached = device.stripe(StripeId(0)).cached.expect("it is cached");
            if failed > 0 && !struck && cached.value.is_some() == second.unwrap_or_default() {
                struck = true;
                device.inject(Fault::Page(Lpn(1)));
            }
            if let (0, Some(&(ppn, _))) = (failed, cached.deltas.first()) {
                failed += 1;
                let geometry = device.layout().geometry;
                let others: Vec<Lpn> = (1..4).map(Lpn).collect();
                device.inject(Fault::Block(geometry.block_of(ppn)));
                let after = device.stripe(StripeId(0)).cached.expect("it is cached");
                assert!(after.value.is_none() && after.deltas.is_empty());
                assert!(others.iter().all(|&page| device.lost(page).is_none()));
                if second == Some(false) {
                    struck = true;
                    device.inject(Fault::Page(Lpn(1)));
                }
            }
            device.check().unwrap_or_else(|law| panic!("{}", law.0));
        });
        run(&mut device, [io(HostOp::Flush, 0, 0, Span::ms(1000))]);
        assert!(failed == 1 && struck, "{second:?}");
        assert_eq!(u64::from(device.lost(Lpn(1)).is_some()), lost, "{second:?}");
        assert!(device.counters().reads[PARITY] >= 4, "the one that left, and three in its place");
    }
}

/// One of many pages that leave together may have to read its old data first, because only part of
/// the page was written: its parity is still rebuilt with that of the others. The page that is
/// covered and stays is read once.
#[test]
fn a_page_that_is_merged_first_is_still_one_of_many() {
    for partial in 0..3 {
        let mut config = drive(RedundancyKind::HybridCaching, 4, 5);
        (config.redundancy.n_update, config.redundancy.cut_off) = (2, 0);
        config.buffer.size = Bytes(4 * 4096);
        config.buffer.ack = Ack::OnInsert;
        config.buffer.evict_ahead = 1;
        let mut device = Device::new(&config).unwrap();
        let rest = |device: &mut Device| {
            run(device, [io(HostOp::Read, 60, 1, Span::ms(20))]);
        };
        // The whole stripe is covered: four pages fill the cache and leave.
        run(&mut device, [io(HostOp::Write, 0, 4, Span::ZERO)]);
        rest(&mut device);
        let part = |page: u32| {
            let request = io(HostOp::Write, page, 1, Span::ZERO);
            request.with_size(if page == partial { 1024 } else { 4096 })
        };
        run(&mut device, [part(0), part(1), part(2), io(HostOp::Write, 8, 1, Span::us(5))]);
        rest(&mut device);
        let counters = device.counters();
        assert_eq!(counters.programs[Source::Host], 7, "both times together");
        assert_eq!((counters.merge_reads, counters.reads[PARITY]), (1, 1), "{partial}");
    }
}

/// A write that is too long for the caches writes the parity of each of its stripes once, and reads
/// nothing for a stripe that it writes whole (section III-E), however full the data cache is and
/// whatever the parity cache has of the stripe.
#[test]
fn long_writes_pass_the_caches_a_stripe_at_a_time() {
    for (singles, pages) in [(0, 8), (7, 8), (14, 8), (14, 16), (14, 12)] {
        let mut config = drive(RedundancyKind::HybridCaching, 4, 5);
        (config.redundancy.n_update, config.redundancy.cut_off) = (2, 4);
        config.buffer.size = Bytes(8 * 4096);
        config.buffer.ack = Ack::OnInsert;
        config.buffer.evict_ahead = 1;
        let mut device = Device::new(&config).unwrap();
        // Each page is of another stripe, the stripes of the long write among them; no more than
        // the parity cache has room for.
        let single = |turn: u32| io(HostOp::Write, 4 * turn + 1, 1, Span::us(10 * u64::from(turn)));
        let long = io(HostOp::Write, 0, pages, Span::us(300));
        let answered = run(&mut device, (0..singles).map(single).chain([long]));
        assert_eq!(answered.len() as u32, singles + 1);
        let counters = device.counters();
        let stripes = u64::from(pages / 4);
        let of = (singles, pages);
        assert_eq!(counters.programs[PARITY], stripes, "{of:?}");
        assert_eq!(counters.parity_ways, ways(stripes, 0), "{of:?}");
        assert_eq!(counters.reads[PARITY], 0, "{of:?}");
    }
}

/// A long write whose parity had to wait for that of the write before leaves no parity in the
/// cache.
#[test]
fn a_long_write_that_waited_for_its_stripe_leaves_no_parity_behind() {
    for gap in [1, 20, 60, 200, 500] {
        let mut config = drive(RedundancyKind::HybridCaching, 4, 5);
        (config.redundancy.n_update, config.redundancy.cut_off) = (2, 2);
        config.buffer.size = Bytes(16 * 4096);
        config.buffer.ack = Ack::OnInsert;
        config.buffer.evict_ahead = 1;
        let mut device = Device::new(&config).unwrap();
        let long = |turn: u32| io(HostOp::Write, turn % 2, 3, Span::us(gap * u64::from(turn)));
        run(&mut device, (0..8).map(long));
        device.rest_until(device.now() + Span::ms(100), &mut ());
        let exposed = device.protection().expect("it has stripes").exposed;
        assert_eq!(exposed, 0, "one every {gap} us");
    }
}

/// The first parity of a stripe takes N - 1 reads and one write, each later parity two reads and
/// two writes (section III-D).
#[test]
fn a_stripe_gets_parity_with_its_first_page_in_a_worn_block() {
    let mut config = drive(RedundancyKind::WearAware, 8, 9);
    config.buffer.ack = Ack::OnProgram;
    config.reliability.cycles = 1996;
    config.reliability.cycles_spread = 5;
    let mut device = Device::new(&config).unwrap();
    let mut firsts = 0;
    for stripe in (0..device.stripes()).map(StripeId) {
        let before = device.counters();
        let view = device.stripe(stripe);
        let page = view.data[0].0;
        run(&mut device, [io(HostOp::Write, page.0, 1, Span::ms(100))]);
        let after = device.counters();
        let (reads, programs) = (
            after.reads[PARITY] - before.reads[PARITY],
            after.programs[PARITY] - before.programs[PARITY],
        );
        match (view.parity, device.stripe(stripe).parity) {
            (None, Some(_)) => {
                firsts += 1;
                assert_eq!((reads, programs), (7, 1), "the first");
            }
            (None, None) => assert_eq!((reads, programs), (0, 0), "none yet"),
            (Some(_), Some(_)) => assert_eq!((reads, programs), (2, 1), "a later one"),
            (Some(_), None) => assert_eq!(programs, 0, "no page is in a worn block any more"),
        }
    }
    // A sixth of the blocks are worn.
    assert!(firsts > 0, "no stripe got its first parity");
}

/// A drive moves through the three stages as it wears, for the reasons that the paper gives.
#[test]
fn a_drive_goes_through_its_stages() {
    let mut config = drive(RedundancyKind::ByStage, 4, 5);
    config.buffer.ack = Ack::OnInsert;
    config.redundancy.worn_above = 6;
    config.redundancy.all_above = 40;
    let mut device = Device::new(&config).unwrap();
    assert_eq!(device.protection().unwrap().stage, Stage::First);
    let pages = device.layout().logical_pages;
    let mut rng = fowler_units::Rng::stream(1, "stages");
    for round in 0..40u64 {
        let requests: Vec<HostIo> = (0..400)
            .map(|number| {
                let page = rng.below(u64::from(pages)) as u32;
                io(HostOp::Write, page, 1, Span::us(400 * (number + u64::from(round == 0))))
            })
            .collect();
        let mut completions: Vec<Completion> = Vec::new();
        device.run(requests, Pacing::Open, &mut completions);
        device.check().unwrap_or_else(|law| panic!("{}", law.0));
        device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
    }
    let protection = device.protection().unwrap();
    assert_eq!(protection.stage, Stage::Third);
    let [second, third] = protection.changes[..] else { panic!("{:?}", protection.changes) };
    assert_eq!((second.to, third.to), (Stage::Second, Stage::Third));
    assert!(second.age.cycles == 7 && third.age.worn_stripes == 41, "{second:?} {third:?}");
    assert!(second.at < third.at);
}

/// Stage 3 gives all stripes parity, stripes that nobody writes to included, though the parity
/// cache stays full; until the last stripe has parity, blocks are refreshed (section III-B: "the
/// RAID-5 is applied to all the stripes").
#[test]
fn cold_stripes_get_their_parity_in_the_third_stage() {
    let mut config = drive(RedundancyKind::ByStage, 4, 5);
    config.buffer.ack = Ack::OnInsert;
    (config.redundancy.worn_above, config.redundancy.all_above) = (1, 4);
    config.geometry.blocks_per_plane = 200;
    config.redundancy.retention = Span::ms(60_000);
    let mut device = Device::new(&config).unwrap();
    let mut rng = fowler_units::Rng::stream(1, "cold stripes");
    // A fifth of the pages is written without a pause, over more stripes than the parity cache has
    // places.
    let hot = u64::from(device.layout().logical_pages / 5);
    let mut bare = 0;
    for _ in 0..60 {
        let write = |_| io(HostOp::Write, rng.below(hot) as u32, 1, Span::ZERO);
        let writes: Vec<HostIo> = (0..400).map(write).collect();
        let mut completions: Vec<Completion> = Vec::new();
        device.run(writes, Pacing::Closed { depth: 32 }, &mut completions);
        bare = bare.max(device.protection().unwrap().bare);
    }
    assert_eq!(device.protection().unwrap().stage, Stage::Third);
    // The cache was never left alone.
    assert!(
        bare > 0 && device.protection().unwrap().bare == 0,
        "{} of {bare}",
        device.protection().unwrap().bare
    );
    device.check().unwrap_or_else(|law| panic!("{}", law.0));
    device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
    let holds = |stripe: &StripeId| device.stripe(*stripe).data.iter().any(|page| page.1.is_some());
    for stripe in (0..device.stripes()).map(StripeId).filter(holds) {
        let view = device.stripe(stripe);
        assert!(view.parity.is_some() || view.cached.is_some(), "stripe {}", stripe.0);
    }
}

/// A block that is read T_read times is refreshed, in idle time before that if there is any.
#[test]
fn blocks_are_refreshed_before_they_are_read_too_often() {
    for (gap, idle) in [(Span::ms(3), true), (Span::us(200), false)] {
        let mut config = drive(RedundancyKind::DisturbLimiting, 4, 5);
        config.redundancy.reads = 100;
        let mut device = Device::new(&config).unwrap();
        run(&mut device, (0..1000).map(|turn| io(HostOp::Read, 7, 1, gap * turn)));
        let counters = device.counters();
        let Refreshed { at_hard_limit: due, when_idle: early } = counters.refreshed;
        assert!(if idle { early >= 8 && due == 0 } else { due >= 8 }, "{:?}", counters.refreshed);
        assert!(counters.erases[Source::Refresh] >= 8);
        assert!(counters.programs[Source::Refresh] > 0);
    }
}

/// Where the limits follow wear, a block bears more reads than T_read before T_p cycles, and fewer
/// after T_p: by a factor of e for each thousand cycles here.
#[test]
fn limits_follow_wear() {
    let refreshed = |cycles: u32, growth: f64| {
        let mut config = drive(RedundancyKind::DisturbLimiting, 4, 5);
        (config.redundancy.reads, config.redundancy.limit_growth) = (100, growth);
        config.reliability.cycles = cycles;
        let mut device = Device::new(&config).unwrap();
        run(&mut device, (0..1000).map(|turn| io(HostOp::Read, 7, 1, Span::us(200) * turn)));
        let Refreshed { at_hard_limit, when_idle } = device.counters().refreshed;
        at_hard_limit + when_idle
    };
    let fixed = refreshed(2000, 0.0);
    assert!((8..=10).contains(&fixed), "{fixed} of 1,000 reads, 100 each");
    assert_eq!(refreshed(1000, 0.0), fixed);
    // The block bears 272 reads a thousand cycles before T_p, and 37 a thousand after it.
    assert!(refreshed(1000, 1e-3) <= 3);
    assert!(refreshed(2000, 1e-3).abs_diff(fixed) <= 1);
    assert!(refreshed(3000, 1e-3) >= 24);
}

/// Data is moved before it is older than T_retention, though nobody asks for it.
#[test]
fn blocks_are_refreshed_before_their_data_is_too_old() {
    let mut config = drive(RedundancyKind::DisturbLimiting, 4, 5);
    config.redundancy.retention = Span::ms(60_000);
    let mut device = Device::new(&config).unwrap();
    run(
        &mut device,
        [io(HostOp::Read, 0, 1, Span::ZERO), io(HostOp::Read, 0, 1, Span::ms(50_000))],
    );
    assert_eq!(device.counters().refreshed, Refreshed::default(), "too young");
    run(&mut device, [io(HostOp::Read, 0, 1, Span::ms(20_000))]);
    let blocks = device.layout().mapped_pages / 5 * 4 / device.layout().geometry.pages_per_block;
    let Refreshed { at_hard_limit: due, when_idle: early } = device.counters().refreshed;
    // An open block is refreshed once it is full.
    assert!(due + early + 5 >= u64::from(blocks), "{due} and {early} of {blocks}");
}

/// A read of a page whose chip has failed reads the N other pages of the stripe, and the page is
/// rebuilt.
#[test]
fn a_degraded_read_costs_the_reads_of_a_stripe() {
    let mut device = Device::new(&drive(RedundancyKind::Raid5, 4, 5)).unwrap();
    let page = Lpn(13);
    device.inject(Fault::Page(page));
    let answered = run(&mut device, [io(HostOp::Read, page.0, 1, Span::ZERO)]);
    assert!(answered[0].blame[Part::Degraded] > Span::ZERO);
    assert_eq!(answered[0].blame.total(), answered[0].latency());
    run(&mut device, [io(HostOp::Flush, 0, 0, Span::ms(1000))]);
    let losses = device.losses().unwrap();
    assert_eq!((losses.unreadable, losses.rebuilt, losses.lost_in_all()), (1, 1, 0));
    assert_eq!(losses.degraded_reads, 1);
    assert_eq!(device.counters().reads[PARITY], 8, "for the host, and to rebuild it");
    assert!(losses.at_risk > Span::ZERO && losses.since.is_none());
}

/// If one chip fails, its pages are rebuilt from the others and nothing is lost; if two fail at
/// once, exactly the pages that their stripes lack are lost.
#[test]
fn chips_fail() {
    let mut config = drive(RedundancyKind::Raid5, 4, 5);
    config.failed_dies.spare = 1;
    let mut device = Device::new(&config).unwrap();
    device.inject(Fault::Chip(2));
    let all = device.to_rebuild();
    assert!(all > 0);
    run(&mut device, [io(HostOp::Flush, 0, 0, Span::ms(60_000))]);
    assert_eq!((device.to_rebuild(), device.losses().unwrap().lost_in_all()), (0, 0));
    device.inject(Fault::Chip(0));
    device.inject(Fault::Chip(1));
    // Every stripe lies on both chips: all its data pages on them are lost.
    let lost = device.losses().unwrap().lost_in_all();
    let stripes = u64::from(device.stripes());
    let parities = (0..device.stripes()).filter(|turn| (4 - turn % 5) < 2).count() as u64;
    assert_eq!(lost, 2 * stripes - parities);
}

#[test]
fn what_cannot_work_is_refused_with_the_numbers() {
    let reported = |config: &Config| {
        let refusals = config.layout().expect_err("refused");
        refusals.iter().map(|it| format!("{} {:?}\n", it.what, it.hint)).collect::<String>()
    };
    let wide = drive(RedundancyKind::Raid5, 8, 5);
    assert!(reported(&wide).contains("8 data pages and a parity page per stripe do not fit on 5"));
    let odd = drive(RedundancyKind::Raid5, 2, 8);
    assert!(
        reported(&odd).contains("do not divide the drive's 8 chips")
            && reported(&odd).contains("1, 3, 7")
    );
    let mut late = drive(RedundancyKind::ByStage, 4, 5);
    late.redundancy.worn_above = 15_000;
    assert!(reported(&late).contains("15000 P/E cycles, but live for only 3000"));
    let mut short = drive(RedundancyKind::ByStage, 4, 5);
    (short.redundancy.worn_above, short.redundancy.limit_growth) = (100, 0.01);
    assert!(reported(&short).contains("at 3000 P/E cycles, every read of a block would refresh"));
    let mut tiny = drive(RedundancyKind::HybridCaching, 4, 5);
    (tiny.buffer.size, tiny.redundancy.parity_cache) = (Bytes(3 * 4096), Bytes(4096));
    assert!(
        reported(&tiny).contains("smaller than a stripe of 4")
            && reported(&tiny).contains("expected at least 2")
    );
}
