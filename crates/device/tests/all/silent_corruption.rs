//! Silent corruption: cases by hand (`silent.toml`), and a swarm of random drives against an
//! obvious model, the set of the pages that read wrong.

use crate::support::random::{Choice, drive, one_of, requests as any_requests, whole_pages};
use crate::support::small;
use fowler_device::policy::redundancy::{Checks, RedundancyKind};
use fowler_device::policy::scrub::ScrubKind;
use fowler_device::reliability::ModelKind;
use fowler_device::*;
use fowler_units::{BlockId, Bytes, HostIo, HostOp, Lpn, Nanos, Rng, Span};
use std::collections::BTreeSet;

fn checks(name: &str) -> Checks {
    match name {
        "none" => Checks::Nothing,
        "versions" => Checks::Versions,
        other => panic!("no checks are called {other}"),
    }
}

/// Drives as in the file.
fn config(scheme: &str, checks: Checks) -> Config {
    let mut config = small();
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel, g.planes_per_die) = (1, 1, 1);
    config.precondition.fill = 0.0;
    config.buffer.size = Bytes(0);
    let redundancy = &mut config.redundancy;
    (redundancy.checks, redundancy.integrity) = (checks, true);
    if scheme == "raid5" {
        config.geometry.channels = 3;
        (redundancy.name, redundancy.stripe) = (RedundancyKind::Raid5, 2);
        redundancy.parity_cache = Bytes(4 * 4096);
    }
    config
}

/// The time in which all data is scrubbed.
const ROUND: Span = Span(10_000_000_000);

/// Lets scrubbing compare stripes with their parity.
fn compare_stripes(config: &mut Config) {
    let params = &mut config.scrub;
    (params.name, params.period, params.stripes) = (ScrubKind::Patrol, ROUND, true);
}

fn run(device: &mut Device, op: HostOp, offset: u64, size: u32) {
    let io = HostIo::new(op, Nanos::ZERO, offset, size);
    device.run([io], Pacing::Closed { depth: 1 }, &mut ());
    device.rest_until(device.now() + Span::ms(100), &mut ());
    device.check().unwrap_or_else(|law| panic!("{}", law.0));
    device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
}

/// Waits until scrubbing has read everything `rounds` times.
fn scrub(device: &mut Device, rounds: u32) {
    let begun = device.scrub().expect("it scrubs").rounds;
    while device.scrub().expect("it scrubs").rounds < begun + rounds {
        device.rest_until(device.now() + Span(ROUND.0 / 64), &mut ());
    }
    device.check().unwrap_or_else(|law| panic!("{}", law.0));
    device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
}

fn step(device: &mut Device, step: &str) {
    let words: Vec<&str> = step.split(' ').collect();
    let number = |at: usize| words[at].parse::<u32>().expect("a number");
    let page = Lpn(number(1));
    match words[0] {
        "write" => run(device, HostOp::Write, u64::from(page.0) * 4096, number(2) * 4096),
        "read" => run(device, HostOp::Read, u64::from(page.0) * 4096, number(2) * 4096),
        "patch" => run(device, HostOp::Write, u64::from(page.0) * 4096, 512),
        "miscorrected" => device.inject(Fault::Miscorrected(page)),
        "misdirected" => device.inject(Fault::Misdirected(page)),
        "fail" => device.inject(Fault::Page(page)),
        "scrub" => scrub(device, number(1)),
        _ => panic!("no step is called {step}"),
    }
}

#[test]
fn by_hand() {
    let table: toml::Table = include_str!("../silent.toml").parse().expect("cases");
    for case in table["case"].as_array().expect("a list") {
        let case = case.as_table().expect("a case");
        let word = |key: &str| case[key].as_str().expect("a word");
        let (about, scheme, checked) = (word("about"), word("scheme"), checks(word("checks")));
        let number = |value: &toml::Value| value.as_integer().expect("a whole number") as u64;
        let pair = |key: &str| {
            let list = case.get(key).map(|value| value.as_array().expect("a list"));
            list.map_or([0, 0], |two| [number(&two[0]), number(&two[1])])
        };
        let one = |key: &str| case.get(key).map_or(0, number);
        let mut config = config(scheme, checked);
        if case.contains_key("compared") {
            compare_stripes(&mut config);
        }
        let mut device = Device::new(&config).expect("a sound drive");
        for text in case["steps"].as_array().expect("steps") {
            step(&mut device, text.as_str().expect("a step"));
        }
        let (losses, census) = (device.losses().expect("a ledger"), device.census());
        let silent = losses.silent;
        let name = format!("{scheme}, {checked:?}: {about}");
        assert_eq!([silent.made, silent.parity_made], pair("made"), "made: {name}");
        assert_eq!([silent.by_versions, silent.corrected], pair("found"), "found: {name}");
        assert_eq!(silent.returned, one("returned"), "returned: {name}");
        let compared = [silent.stripes_compared, silent.by_parity];
        assert_eq!((compared, silent.stripes_undecided), (pair("compared"), 0), "compared: {name}");
        assert_eq!([census.wrong, census.parity_wrong], pair("wrong"), "wrong: {name}");
        assert_eq!((losses.lost_in_all(), census.lost()), (one("lost"), one("lost")), "{name}");
    }
}

/// Draws a drive at random, except for its cells, which do not err, and its checks.
fn random_drive(rng: &mut Rng, seed: u64, checks: Checks) -> Option<(Config, Device)> {
    let kind = one_of(rng, RedundancyKind::ALL);
    let mut config = drive(rng, seed, &Choice::protected(kind));
    (config.redundancy.integrity, config.redundancy.checks) = (true, checks);
    (config.reliability.model, config.reliability.uber) = (ModelKind::Off, 0.0);
    config.voltage.name = policy::voltage::VoltageKind::Nominal;
    config.redundancy.above_n_update = policy::redundancy::AboveNUpdate::Add;
    if rng.chance(0.5) {
        compare_stripes(&mut config);
    }
    let device = Device::new(&config).ok()?;
    Some((config, device))
}

/// The pages that read wrong, as far as that is obvious.
#[derive(Default)]
struct Model {
    /// Pages that read wrong until they are overwritten.
    wrong: BTreeSet<Lpn>,
    /// Pages that may read wrong: the buffer held the page when its copy in the flash was struck.
    perhaps: BTreeSet<Lpn>,
}

impl Model {
    /// Strikes a page, and notes the pages that read wrong since, as the drive reports them: there
    /// may be none, and with a misdirected write there may be another one.
    fn strike(&mut self, device: &mut Device, fault: Fault) {
        let (Fault::Miscorrected(page) | Fault::Misdirected(page)) = fault else {
            unreachable!("a silent fault")
        };
        let before = device.losses().expect("a ledger").silent;
        let wrong = |device: &Device| pages(device).filter(|&page| device.is_wrong(page)).collect();
        let were: BTreeSet<Lpn> = wrong(device);
        device.inject(fault);
        let are: BTreeSet<Lpn> = wrong(device);
        let after = device.losses().expect("a ledger").silent;
        let made = after.made - before.made + after.parity_made - before.parity_made;
        let new: BTreeSet<Lpn> = &are - &were;
        assert!(were.is_subset(&are), "a fault corrects nothing");
        assert!(new.len() as u64 <= after.made - before.made, "{new:?} of {made}");
        match fault {
            Fault::Misdirected(_) => assert!(made <= 2 && new.len() <= 2),
            _ => assert!(made <= 1 && new.iter().all(|&lpn| lpn == page)),
        }
        self.wrong.extend(new);
        // The frame of a page hides a corrupted copy until the frame is dropped; so does the frame
        // of the other page.
        let buffered = pages(device).filter(|&lpn| device.is_buffered(lpn));
        self.perhaps.extend(buffered.filter(|_| made > 0));
    }

    /// The host has written or trimmed pages.
    fn serve(&mut self, io: &HostIo, page: u64) {
        if !matches!(io.op, HostOp::Write | HostOp::Trim) {
            return;
        }
        let (from, to) = (io.offset, io.offset + u64::from(io.size));
        for whole in (from.div_ceil(page) as u32)..(to / page) as u32 {
            self.wrong.remove(&Lpn(whole));
            self.perhaps.remove(&Lpn(whole));
        }
    }

    fn compare(&self, device: &Device) {
        for page in pages(device).filter(|page| !self.perhaps.contains(page)) {
            assert_eq!(device.is_wrong(page), self.wrong.contains(&page), "page {}", page.0);
        }
    }
}

fn pages(device: &Device) -> impl Iterator<Item = Lpn> + use<> {
    (0..device.layout().logical_pages).map(Lpn)
}

fn strike(rng: &mut Rng, device: &Device) -> Fault {
    let page = Lpn(rng.below(device.layout().logical_pages.into()) as u32);
    if rng.chance(0.5) { Fault::Miscorrected(page) } else { Fault::Misdirected(page) }
}

/// Serves requests one after another, with faults between them.
fn live(rng: &mut Rng, device: &mut Device, requests: Vec<HostIo>, model: &mut Model, page: u64) {
    for io in requests {
        if rng.chance(0.1) {
            let fault = strike(rng, device);
            model.strike(device, fault);
        }
        model.serve(&io, page);
        device.run([io], Pacing::Closed { depth: 1 }, &mut ());
    }
    device.rest_until(device.now() + Span::ms(10_000), &mut ());
    device.check().unwrap_or_else(|law| panic!("{}", law.0));
    device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
}

/// Reads each page once. Returns the number of pages that the drive itself reported as wrong
/// before.
fn read_all(device: &mut Device, page: u64) -> u64 {
    let mut wrong = 0;
    for lpn in pages(device) {
        wrong += u64::from(device.is_wrong(lpn));
        let io = HostIo::new(HostOp::Read, Nanos::ZERO, u64::from(lpn.0) * page, page as u32);
        device.run([io], Pacing::Closed { depth: 1 }, &mut ());
    }
    device.rest_until(device.now() + Span::ms(10_000), &mut ());
    wrong
}

fn each_seed(name: &str, seeds: u64, checks: Checks, test: fn(&mut Rng, Config, &mut Device)) {
    let (mut made, mut undecided) = (0, 0);
    for seed in 0..seeds {
        let outcome = std::panic::catch_unwind(|| {
            let mut rng = Rng::stream(seed, name);
            let (config, mut device) = random_drive(&mut rng, seed, checks)?;
            test(&mut rng, config, &mut device);
            Some(device.losses().expect("a ledger").silent)
        });
        let outcome = outcome.unwrap_or_else(|_| panic!("seed {seed} failed; the reason is above"));
        let silent = outcome.unwrap_or_default();
        (made, undecided) = (made + silent.made, undecided + silent.stripes_undecided);
    }
    assert!(made > seeds, "only {made} pages were ever corrupted");
    assert!(undecided > 0, "no comparison was ever cut short");
}

/// Without checks exactly the struck pages read wrong until they are overwritten, wherever they are
/// moved, and each read of them counts.
// Slow: 150 drives, each against a model of what every page holds.
#[test]
fn unchecked_a_page_stays_wrong_until_it_is_overwritten() {
    each_seed("silent/unchecked", 150, Checks::Nothing, |rng, config, device| {
        let page = config.geometry.page_size.0;
        let mut requests = whole_pages(rng, device.layout(), 150);
        if rng.chance(0.3) {
            requests = any_requests(rng, device.layout(), 150);
        }
        let whole =
            requests.iter().all(|io| io.offset % page == 0 && u64::from(io.size) % page == 0);
        let mut model = Model::default();
        live(rng, device, requests, &mut model, page);
        // A write of part of a page makes all of it right only where the model does not look.
        if whole || config.partial_writes == PartialWrites::ReadModifyWrite {
            model.compare(device);
        }
        let before = device.losses().expect("a ledger").silent.returned;
        let wrong = read_all(device, page);
        let silent = device.losses().expect("a ledger").silent;
        assert_eq!(silent.returned - before, wrong, "each read of a wrong page returns it");
        assert_eq!((silent.by_versions, silent.corrected), (0, 0), "nobody looks");
    });
}

/// With checks no wrong data is ever returned, nothing spreads, and reading everything finds all
/// errors.
// Slow: 150 drives, of which every page is read in the end.
#[test]
fn checked_nothing_wrong_is_returned() {
    each_seed("silent/checked", 150, Checks::Versions, |rng, config, device| {
        let page = config.geometry.page_size.0;
        let requests = any_requests(rng, device.layout(), 150);
        live(rng, device, requests, &mut Model::default(), page);
        read_all(device, page);
        let silent = device.losses().expect("a ledger").silent;
        assert_eq!(silent.returned, 0);
        assert!(silent.by_versions <= silent.made + silent.parity_made, "{silent:?}");
        assert!(silent.corrected <= silent.by_versions, "{silent:?}");
        // Pages in the buffer have not been read from the flash, and are right.
        let wrong = pages(device).filter(|&lpn| device.is_wrong(lpn) && !device.is_buffered(lpn));
        assert_eq!(wrong.count(), 0, "all has been read");
        device.check().unwrap_or_else(|law| panic!("{}", law.0));
        device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
    });
}

/// Under requests in flight, units that fail and losses of power: errors stay in the stripes that
/// were struck, all laws hold, and errors that checks find are not returned.
#[test]
fn errors_stay_in_their_stripes() {
    for checks in [Checks::Nothing, Checks::Versions] {
        each_seed("silent/spread", 150, checks, |rng, config, device| {
            let stripe = |page: Lpn| match config.redundancy.has_stripes() {
                true => page.0 / config.redundancy.stripe,
                false => page.0,
            };
            // Nobody says on which page a misdirected write has landed.
            let in_place = rng.chance(0.5);
            let mut struck: BTreeSet<u32> = BTreeSet::new();
            let mut faults = Rng::stream(rng.bits(), "faults");
            let requests = any_requests(rng, device.layout(), 150);
            device.run_with_faults(requests, Pacing::Closed { depth: 5 }, &mut (), |device| {
                if !faults.chance(0.02) {
                    return;
                }
                let page = Lpn(faults.below(device.layout().logical_pages.into()) as u32);
                let block = faults.below(device.layout().geometry.blocks().into());
                let fault = match faults.below(6) {
                    0 => Fault::Page(page),
                    1 => Fault::Block(BlockId(block as u32)),
                    2 => Fault::Power,
                    3 if !in_place => Fault::Misdirected(page),
                    _ => Fault::Miscorrected(page),
                };
                if matches!(fault, Fault::Miscorrected(_)) {
                    struck.insert(stripe(page));
                }
                device.inject(fault);
                device.check().unwrap_or_else(|law| panic!("{}", law.0));
            });
            device.rest_until(device.now() + Span::ms(10_000), &mut ());
            device.check().unwrap_or_else(|law| panic!("{}", law.0));
            device.check_data().unwrap_or_else(|law| panic!("{}", law.0));
            let mut wrong = pages(device).filter(|&lpn| device.is_wrong(lpn));
            let inside = wrong.all(|lpn| struck.contains(&stripe(lpn)));
            assert!(inside || !in_place, "an error left its stripe");
            let returned = device.losses().expect("a ledger").silent.returned;
            assert!(config.redundancy.checks == Checks::Nothing || returned == 0);
        });
    }
}

/// On a drive at rest, the scrub that follows a fault finds every stripe that the fault struck, and
/// no other: the fault corrupts one page, or two, which may share a stripe.
// Slow: a patrol over every stripe of 150 drives.
#[test]
fn scrubbing_finds_the_stripes_that_were_struck() {
    let (mut compared, mut found) = (0, 0);
    for seed in 0..150 {
        let mut rng = Rng::stream(seed, "silent/scrubbed");
        let Some((mut config, _)) = random_drive(&mut rng, seed, Checks::Nothing) else { continue };
        compare_stripes(&mut config);
        let Ok(mut device) = Device::new(&config) else { continue };
        if !config.compares_stripes() {
            continue;
        }
        device.run(
            any_requests(&mut rng, device.layout(), 100),
            Pacing::Closed { depth: 5 },
            &mut (),
        );
        // A block that had its turn before the fault is read in the next round.
        scrub(&mut device, 2);
        let before = device.losses().expect("a ledger").silent;
        assert_eq!(before.by_parity, 0, "seed {seed}: nothing was struck");
        let pages = device.layout().logical_pages;
        device.inject(Fault::Miscorrected(Lpn(rng.below(pages.into()) as u32)));
        scrub(&mut device, 2);
        let after = device.losses().expect("a ledger").silent;
        // Stripes whose parity is in the cache alone are not compared.
        let cached = device.protection().expect("stripes").exposed > 0;
        let bare = device.protection().expect("stripes").bare > 0;
        assert!(after.by_parity <= after.made + after.parity_made, "seed {seed}: {after:?}");
        let protects_all = config.redundancy.name == RedundancyKind::Raid5;
        if protects_all && !cached && !bare {
            assert_eq!(after.by_parity, after.made_in_all(), "seed {seed}: {after:?}");
        }
        (compared, found) = (compared + after.stripes_compared, found + after.by_parity);
    }
    assert!(compared > 1000, "only {compared} stripes were compared");
    assert!(found > 10, "only {found} stripes did not match");
}
