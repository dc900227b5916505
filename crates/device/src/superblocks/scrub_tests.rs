//! Scrubbing, in cases derived by hand. The drive is [`tiny`], full of data written in order: its
//! superblocks have 16 commands of six pages, and a read of a page senses for 40, 60 or 80 us by
//! page type and transfers its four units in 40 us.

use super::Superblocks;
use super::cases::{drive, protect, read, tiny};
use super::collection::Why;
use crate::blocks::block_table::BlockState;
use crate::config::{Coding, Config, Pattern};
use crate::event_loop::{Device, Pacing};
use crate::observe::completion::Completion;
use crate::observe::counters::Scrubbed;
use crate::observe::operation::Source;
use crate::policy::scrub::{self, ScrubKind};
use crate::raid::fault_kinds::Fault;
use fowler_units::{HostIo, Lpn, Rng, RuId, Span};

const DAY: Span = Span(86_400_000_000_000);
/// Pages of a superblock, and superblocks.
const PAGES: u64 = 96;
const SUPERBLOCKS: u64 = 24;

/// A drive that is scrubbed once in `period`.
fn patrolled(period: Span, margin: f64) -> Config {
    let mut config = tiny();
    config.precondition.pattern = Pattern::Sequential;
    config.scrub = scrub::Params { name: ScrubKind::Patrol, period, margin, stripes: false };
    config
}

/// A drive of data up to a year old, after so many cycles.
fn aged(period: Span, cycles: u32) -> Config {
    let mut config = patrolled(period, 0.5);
    config.aging.coding = Coding::Balanced;
    config.reliability.cycles = cycles;
    config.reliability.oldest = DAY * 365;
    config
}

/// Lets time pass, and checks the laws.
fn rest(device: &mut Device<Superblocks>, lasts: Span) -> Scrubbed {
    device.rest_until(device.now() + lasts, &mut ());
    device.check_superblocks().expect("the laws hold");
    device.counters().scrubbed
}

/// Returns the pages that hold data.
fn held(device: &Device<Superblocks>) -> u64 {
    u64::from(device.superblocks().map.logical().div_ceil(4))
}

/// Every page with data is read once in each period, in its own time: the fifth of the first
/// superblock after four times the period's share of a page.
#[test]
fn each_page_is_read_once_in_its_time() {
    let gap = Span::us(1_000);
    let period = gap * PAGES * SUPERBLOCKS;
    let mut device = drive(&patrolled(period, 0.5));
    let pages = held(&device);
    assert!(pages > 1_000);
    assert_eq!(rest(&mut device, gap * 4 - Span::ns(1)).pages, 4);
    assert_eq!(rest(&mut device, Span::us(80) + Span::ns(1)).pages, 4);
    // It is of the third type: 80 us and 40.
    assert_eq!(rest(&mut device, Span::us(40)).pages, 5);
    let counts = rest(&mut device, period - gap * 4 - Span::us(120) - Span::ns(1));
    let superblocks = pages.div_ceil(PAGES);
    let all = Scrubbed { pages, blocks: superblocks, ..Scrubbed::default() };
    assert_eq!(counts, all);
    let counters = device.counters();
    assert_eq!(counters.reads[Source::Refresh], pages * 4);
    assert_eq!((counters.reads.sum(), counters.programs.sum()), (pages * 4, 0));
    // Two of each type in a command, and three pages in the last one.
    let busy = Span::us(600) * (pages / 6) + Span::us(80 + 80 + 100);
    assert_eq!((pages % 6, counters.die_busy), (3, busy));
    let counts = rest(&mut device, period * 2);
    assert_eq!((counts.pages, counts.under_load), (pages * 3, 0));
    let progress = device.scrub().expect("it scrubs");
    assert_eq!(progress.rounds, 3);
    // The last page of a superblock is read after 95 of 96 parts of its turn.
    assert_eq!(progress.latest, gap * (PAGES - 1) + Span::us(120));
}

/// Returns the share of errors of each page of a superblock at the first moment.
fn shares(config: &Config, superblock: RuId) -> Vec<f64> {
    let mut device = drive(config);
    let layer = &mut device.layer;
    let first = layer.shape.first_unit(superblock);
    let aging = layer.aging.as_mut().expect("its data ages");
    let places = (0..PAGES as u32).map(|page| layer.shape.place(first.plus(page * 4)).1);
    places.map(|page| aging.errors(&layer.map, page, fowler_units::Nanos::ZERO).0).collect()
}

/// Only the oldest superblock has a page above the margin. It is moved when that page has been
/// read, and nothing else is; its data is read once more where it has moved to.
#[test]
fn a_page_above_the_margin_moves_its_superblock() {
    let period = Span::us(1_000) * PAGES * SUPERBLOCKS;
    let mut config = aged(period, 1000);
    let (oldest, next) = (shares(&config, RuId(0)), shares(&config, RuId(1)));
    let most = |shares: &[f64]| shares.iter().copied().fold(0.0, f64::max);
    assert!(most(&next) < most(&oldest) * 0.999, "{} and {}", most(&oldest), most(&next));
    config.scrub.margin = (most(&oldest) + most(&next)) / 2.0;
    let before = oldest.iter().position(|&share| share >= config.scrub.margin).expect("one") as u64;
    let mut device = drive(&config);
    let (pages, erases) = (held(&device), device.superblocks().erase_counts().to_vec());
    let valid = u64::from(device.superblocks().map.valid(RuId(0)));
    assert_eq!(valid, PAGES * 4);
    let counts = rest(&mut device, period - Span::ns(1));
    assert_eq!((counts.moved, counts.left, counts.postponed), (1, 0, 0));
    assert_eq!(counts.pages, pages + before + 1);
    let counters = device.counters();
    assert_eq!(counters.aged.refreshed, 1);
    assert_eq!(counters.programs[Source::Refresh], valid);
    assert_eq!(counters.reads[Source::Refresh], counts.pages * 4 + valid);
    let now = device.superblocks().erase_counts();
    let erased: Vec<usize> = (0..now.len()).filter(|&it| now[it] > erases[it]).collect();
    assert_eq!(erased, [0]);
}

/// Data that would have as many errors if it had just been programmed stays where it is, and counts
/// once in each turn.
#[test]
fn what_gains_nothing_stays() {
    let period = Span::us(1_000) * PAGES * SUPERBLOCKS;
    let mut config = aged(period, 9000);
    config.scrub.margin = 0.1;
    let mut device = drive(&config);
    let counts = rest(&mut device, period * 2 - Span::ns(1));
    assert_eq!((counts.moved, counts.left), (0, 2 * held(&device).div_ceil(PAGES)));
    assert_eq!(device.counters().erases.sum(), 0);
}

/// A drive that is scrubbed loses to age what is in open superblocks at most, which it cannot move,
/// and one that is not scrubbed loses most.
#[test]
fn what_is_scrubbed_in_time_is_not_lost() {
    let ended = |name| {
        let mut config = aged(DAY * 30, 3000);
        config.scrub.margin = 0.9;
        config.reliability.oldest = DAY * 20;
        if name == ScrubKind::Off {
            config.scrub = scrub::Params::default();
        }
        let mut device = drive(&config);
        rest(&mut device, DAY * 3000);
        let map = &device.superblocks().map;
        let open = map.superblocks().filter(|&it| map.state(it) == BlockState::Open);
        let open: u32 = open.map(|superblock| map.valid(superblock)).sum();
        (device.census(), device.counters(), u64::from(open))
    };
    let (census, counters, _) = ended(ScrubKind::Off);
    assert!(census.lost() * 2 > census.pages, "{census:?}");
    assert_eq!((counters.reads.sum(), counters.scrubbed), (0, Scrubbed::default()));
    let (census, counters, open) = ended(ScrubKind::Patrol);
    assert!(census.unreadable <= open && open < census.pages / 20, "{census:?}, {open} open");
    assert!(counters.scrubbed.moved > 20 && counters.scrubbed.postponed > 20, "{counters:?}");
    assert_eq!(counters.scrubbed.moved, counters.aged.refreshed);
}

/// The host reads without a pause, and pages are read in time all the same.
#[test]
fn pages_are_read_in_time_under_load() {
    let period = Span::us(1_000) * PAGES * SUPERBLOCKS;
    let mut device = drive(&patrolled(period, 0.5));
    let logical = u64::from(device.superblocks().map.logical());
    let mut rng = Rng::stream(1, "reads");
    let mut answers: Vec<Completion> = Vec::new();
    while device.now().0 < period.0 {
        let reads = (0..1000).map(|_| read(Span::ZERO, rng.below(logical), 1));
        let reads: Vec<HostIo> = reads.collect();
        device.run(reads, Pacing::Closed { depth: 16 }, &mut answers);
    }
    device.check_superblocks().expect("the laws hold");
    let counts = device.counters().scrubbed;
    assert!(counts.pages >= held(&device), "{counts:?} of {}", held(&device));
    let latest = device.scrub().expect("it scrubs").latest;
    assert!(latest <= Span::us(1_000) * (PAGES + 2), "{latest}");
}

/// However long the power was off, every page is read once for that time, at twice the pace.
#[test]
fn all_is_read_once_after_a_span_without_power() {
    let gap = Span::us(1_000);
    let period = gap * PAGES * SUPERBLOCKS;
    for periods in [1, 20] {
        let mut device = drive(&patrolled(period, 0.5));
        let pages = held(&device);
        let before = rest(&mut device, gap * 7).pages;
        device.power_off(period * periods, &mut ());
        // The patrol catches up with the last superblocks, which lack part of the full period.
        let caught_up = rest(&mut device, period).pages - before;
        assert!((2 * pages - 2..=2 * pages).contains(&caught_up), "{caught_up} of {pages}");
        let then = rest(&mut device, period).pages - before - caught_up;
        assert!((pages - 2..=pages + 2).contains(&then), "{then} of {pages}");
    }
}

/// A superblock that is emptied while a page of it is read is not judged, whatever the read finds.
#[test]
fn a_superblock_that_is_emptied_meanwhile_is_not_judged() {
    let period = Span::us(1_000) * PAGES * SUPERBLOCKS;
    let mut config = aged(period, 1000);
    config.scrub.margin = 0.01;
    let mut device = drive(&config);
    device.rest_until(fowler_units::Nanos(1), &mut ());
    assert!(device.layer.patrol.as_ref().is_some_and(|patrol| patrol.reading.is_some()));
    let layer = &mut device.layer;
    assert_eq!(layer.map.state(RuId(0)), BlockState::Full);
    let valid = layer.map.valid(RuId(0));
    layer.renewals.add(RuId(0));
    layer.renewals.moving = layer.renewals.due.pop_front();
    assert!(layer.begin_emptying(RuId(0), valid, |_| 0, Why::Refresh));
    layer.collector.leaving += 1;
    device.flash.counters.aged.refreshed += 1;
    layer.collect(&mut device.flash);
    let counts = rest(&mut device, Span::us(900));
    assert_eq!((counts.pages, counts.moved, counts.left), (1, 0, 0));
    assert!(device.layer.patrol.as_ref().is_some_and(|patrol| patrol.found.is_empty()));
}

/// Scrubbing compares each stripe with its parity: it counts the one that holds wrong data, once
/// until it matches again, and reads every page of a full superblock for that.
#[test]
fn a_stripe_with_wrong_data_is_found() {
    let period = Span::us(1_000) * PAGES * SUPERBLOCKS;
    let mut config = patrolled(period, 0.5);
    protect(&mut config, 4);
    config.redundancy.integrity = true;
    config.over_provisioning = 0.5;
    config.scrub.stripes = true;
    let mut device = drive(&config);
    let layer = device.superblocks();
    let full = layer.map.superblocks().filter(|&it| layer.map.state(it) == BlockState::Full).count()
        as u64;
    let open = layer.map.superblocks().any(|it| layer.map.state(it) == BlockState::Open);
    let inside =
        (0..layer.map.logical()).find(|&page| layer.map.valid(RuId(0)) > page).expect("one");
    device.inject(Fault::Miscorrected(Lpn(inside)));
    for round in 1..=3 {
        let counts = rest(&mut device, period - Span::ns(u64::from(round == 1)));
        let ledger = device.losses().expect("it notices losses").silent;
        // A superblock has four stripes, of six pages each.
        assert_eq!(ledger.stripes_compared, full * 24 * round, "{round}");
        assert_eq!((ledger.by_parity, ledger.stripes_undecided), (1, 0), "{round}");
        assert!(counts.pages >= full * 96 * round && (open || counts.pages.is_multiple_of(96)));
        // Beside each page of parity, the three others of its stripe are read again.
        let read = device.counters().reads[Source::Refresh];
        assert_eq!(read, counts.pages * 4 + ledger.stripes_compared * 3 * 4);
    }
}

#[test]
fn what_the_drive_cannot_do_is_refused() {
    let refused = |period| patrolled(period, 0.5).layout().err().unwrap_or_default();
    // All pages of the drive, 120 us each at most, in a quarter of the time.
    let least = Span::us(4 * 120) * PAGES * SUPERBLOCKS;
    assert!(refused(least).is_empty());
    let refusals = refused(least - Span::ns(1));
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert_eq!(refusals[0].keys, ["policy.scrub.period"]);
    assert!(refusals[0].what.contains("reads all 2304 pages of a drive"), "{refusals:?}");
}
