//! Reads that age: cases derived by hand, to the nanosecond. The drive is [`tiny`], full of data
//! written in order: a read senses for 40, 60 or 80 us by page type and transfers each unit in 10
//! us. The cells are the defaults, at 1,000 cycles unless a case says otherwise. A page takes as
//! many retries as [`fowler_physics::multibit`] has entries that fail before one that succeeds.

use super::Superblocks;
use super::cases::{UNIT, answer_to, drive, read, tiny};
use crate::config::{Coding, Config, Pattern, Tracking};
use crate::event_loop::{Device, Pacing};
use crate::mapping::page_map::Location;
use crate::observe::blame::Part;
use crate::observe::completion::Completion;
use crate::observe::operation::Source;
use fowler_units::{HostIo, HostOp, Lpn, Nanos, RuId, Span};

const DAY: Span = Span(86_400_000_000_000);

/// A drive whose first superblock is a year old, after 1,000 cycles.
fn aged() -> Config {
    let mut config = tiny();
    config.precondition.pattern = Pattern::Sequential;
    config.aging.coding = Coding::Balanced;
    config.reliability.cycles = 1000;
    config.reliability.oldest = DAY * 365;
    config
}

/// Serves requests, one at a time. Returns how long each took in nanoseconds, and how much of it
/// were retries.
fn serve(device: &mut Device<Superblocks>, requests: &[HostIo]) -> Vec<(u64, u64)> {
    let mut answers: Vec<Completion> = Vec::new();
    device.run(requests.iter().copied(), Pacing::Open, &mut answers);
    let took = |io: &HostIo| {
        let answer = answer_to(io, &answers);
        (answer.latency().0, answer.blame[Part::Retry].0)
    };
    requests.iter().map(took).collect()
}

/// Returns how often a page of a type is read again, by the model alone.
fn retries(config: &Config, kind: usize, age: Span) -> u64 {
    let cells = config.aging_cells().expect("cells");
    let worn = cells.worn(config.reliability.cycles.into());
    let reads = |entry: &u32| {
        let shift = f64::from(*entry) * config.aging.retry_shift;
        worn.rber(kind, shift, age) <= config.aging.correctable
    };
    (0..=config.aging.retry_entries).find(reads).expect("some entry").into()
}

/// Of the first superblock, one unit or three of each type of page: each retry senses and transfers
/// again, and takes a microsecond more. Data a year old takes 3, 3 and 2 of them.
#[test]
fn a_retry_senses_and_transfers_again() {
    for (overhead, units) in [(0, 1), (1, 1), (21, 3)] {
        let mut config = aged();
        config.aging.retry_overhead = Span::us(overhead);
        let mut device = drive(&config);
        let requests = [0, 8, 16].map(|unit| read(Span::us(1000 * unit), unit, units));
        let expected = [(40, 3), (60, 3), (80, 2)].map(|(sense, retries)| {
            let again = retries * (sense + 10 * units + overhead);
            (1000 * (sense + 10 * units + again), 1000 * again)
        });
        assert_eq!(serve(&mut device, &requests), expected, "{overhead} us, {units} units");
        let counters = device.counters();
        assert_eq!((counters.retries_at[0], counters.aged.retried), (8, 3));
        assert_eq!((counters.aged.units, counters.uncorrectable), (8 * units, 0));
    }
    let config = aged();
    assert_eq!([0, 1, 2].map(|kind| retries(&config, kind, DAY * 365)), [3, 3, 2]);
}

/// Superblocks were filled one after the other, over the year before the first request. Data
/// written now takes no retry, and the older data is, the more retries it takes.
#[test]
fn data_is_as_old_as_the_order_of_filling_says() {
    let config = aged();
    let mut device = drive(&config);
    let layer = device.superblocks();
    let filled = layer.map.logical() / layer.shape.data_units();
    let of_superblock = u64::from(layer.shape.data_units());
    let full = u64::from(filled);
    let requests: Vec<_> =
        (0..full).map(|order| read(Span::us(1000 * order), order * of_superblock, 1)).collect();
    let took = serve(&mut device, &requests);
    let mut last = u64::MAX;
    for (order, &(_, again)) in (0..full).zip(&took) {
        let age = Span(DAY.0 * 365 / full * (full - order));
        assert_eq!(again, retries(&config, 0, age) * 51_000, "superblock {order}");
        assert!(again <= last);
        last = again;
    }
    let written = HostIo::new(HostOp::Write, Nanos(0), 0, (24 * UNIT) as u32);
    let young = read(Span::us(5000), 0, 1);
    let mut answers: Vec<Completion> = Vec::new();
    device.run([written, young], Pacing::Open, &mut answers);
    assert_eq!(answers[1].latency(), Span::us(50), "{:?}", answers[1]);
}

/// The first read of a superblock finds the references; the others begin there. A page of another
/// type that these do not suit finds its own. Each superblock has its own.
#[test]
fn tracking_begins_where_the_last_retry_succeeded() {
    let mut config = aged();
    config.aging.tracking = Tracking::Superblock;
    let mut device = drive(&config);
    let next = u64::from(device.superblocks().shape.data_units());
    let units = [0, 24, 8, 16, 0, next, next + 24];
    let requests: Vec<_> =
        (0..).zip(units).map(|(at, unit)| read(Span::us(1000 * at), unit, 1)).collect();
    let took = serve(&mut device, &requests);
    let again: Vec<u64> = took.iter().map(|(_, again)| again / 51_000).collect();
    assert_eq!(again, [3, 0, 0, 0, 0, 3, 0]);
    // When the superblock is erased and written anew, the usual references suit it again.
    device.layer.age_anew(RuId(0), Nanos(0));
    let mut answers: Vec<Completion> = Vec::new();
    device.run([read(Span::us(0), 0, 1)], Pacing::Open, &mut answers);
    assert_eq!(answers[0].latency(), Span::us(50));
}

/// With tries from an entry in the middle, the table is gone through to its end and then from its
/// beginning. If none reads the page, every entry was tried.
#[test]
fn a_page_that_no_entry_reads_takes_them_all() {
    let mut config = aged();
    config.reliability.cycles = 3000;
    config.aging.retry_entries = 4;
    let mut device = drive(&config);
    let took = serve(&mut device, &[read(Span::us(0), 0, 1)]);
    assert_eq!(took, [(50_000 + 4 * 51_000, 4 * 51_000)]);
    let counters = device.counters();
    assert_eq!((counters.uncorrectable, counters.retries_at[0], counters.aged.retried), (1, 4, 1));
}

/// At 3,000 cycles and a year, the best references leave 5e-3: more errors than the default code
/// corrects, and fewer than one for 8e-3 does (docs/modern-drives.md).
#[test]
fn no_reference_reads_what_is_too_worn() {
    let config = aged();
    let cells = config.aging_cells().expect("cells");
    let rates = [0, 1, 2].map(|kind| cells.worn(3000.0).rber_at_best(kind, DAY * 365));
    let worst = rates.into_iter().fold(0.0, f64::max);
    assert!(worst > config.aging.correctable && worst < 8e-3, "{rates:?}");
    assert!((worst / 5e-3 - 1.0).abs() < 0.1, "{rates:?}");
}

/// Independent planes have their own word lines; an SLC page never ages; both find their type.
#[test]
fn planes_and_the_cache_find_their_type() {
    let mut config = aged();
    config.plane_mode = crate::config::PlaneMode::Independent;
    let requests = [(0, 0), (1, 4), (2, 8)].map(|(at, unit)| read(Span::us(1000 * at), unit, 1));
    let expected = [(40, 3), (60, 3), (80, 2)].map(|(sense, retries)| {
        (1000 * (sense + 10 + retries * (sense + 11)), 1000 * retries * (sense + 11))
    });
    assert_eq!(serve(&mut drive(&config), &requests), expected);
    config.slc.fixed = 2;
    config.precondition.fill = 0.9;
    let mut device = drive(&config);
    assert_eq!(serve(&mut device, &requests), expected);
    // Units go to the cache, one page of a plane at a time, and are read from it in 25 us.
    let written = HostIo::new(HostOp::Write, Nanos(0), 0, (24 * UNIT) as u32);
    let mut answers: Vec<Completion> = Vec::new();
    device.run([written, read(Span::us(5000), 0, 1)], Pacing::Open, &mut answers);
    let Location::Flash(unit) = device.superblocks().map.place(Lpn(0)) else {
        panic!("it was programmed")
    };
    assert!(device.superblocks().shape.is_slc(unit));
    assert_eq!(answers[1].latency(), Span::us(35));
}

/// A read of the first superblock, which is read at entry 3, moves it: what is beyond entry 2 is
/// due. Its data is young then, and the next read of it is not repeated.
#[test]
fn what_is_read_far_down_the_table_is_moved() {
    for (above, moved) in [(3, 0), (2, 1)] {
        for tracking in [Tracking::Off, Tracking::Superblock] {
            let mut config = aged();
            config.aging.tracking = tracking;
            config.aging.refresh_above = above;
            let mut device = drive(&config);
            let of_superblock = u64::from(device.superblocks().shape.data_units());
            let again = read(Span::us(900_000), of_superblock - 1, 1);
            let took = serve(&mut device, &[read(Span::us(0), 0, 1), again]);
            let counters = device.counters();
            let moved_units = moved * of_superblock;
            assert_eq!(counters.aged.refreshed, moved, "{above}");
            assert_eq!(counters.reads[Source::Refresh], moved_units);
            assert_eq!(counters.programs[Source::Refresh], moved_units);
            assert_eq!(counters.erases[Source::Refresh], 4 * moved);
            assert_eq!(counters.programs[Source::Gc] + counters.reads[Source::Gc], 0);
            if moved > 0 {
                assert_eq!(took[1], (90_000, 0), "{tracking:?}");
            } else {
                assert!(took[1].0 >= 90_000, "{took:?}");
            }
            device.check_superblocks().expect("the laws");
        }
    }
    // If young data would fail at once as well, nothing is gained.
    let mut config = aged();
    config.aging.refresh_above = 1;
    config.aging.correctable = 1.2e-4;
    config.reliability.oldest = Span(DAY.0 / 24);
    let mut device = drive(&config);
    serve(&mut device, &[read(Span::us(0), 0, 1), read(Span::us(500_000), 16, 1)]);
    assert_eq!(device.counters().aged.refreshed, 0);
}

/// A superblock was still open when a retry found its references. When it is full, its pages are
/// read there at once, and it is moved.
#[test]
fn what_tracking_reads_far_down_the_table_is_moved() {
    let mut config = aged();
    config.precondition.fill = 0.5;
    config.aging.tracking = Tracking::Superblock;
    config.aging.refresh_above = 2;
    let mut device = drive(&config);
    let of_superblock = u64::from(device.superblocks().shape.data_units());
    let year = DAY.0 / 1000 * 365;
    let write = |at_us, unit| {
        HostIo::new(HostOp::Write, Nanos(at_us * 1000), unit * UNIT, (24 * UNIT) as u32)
    };
    let rest = (1..of_superblock / 24).map(|command| write(year + 1000 * command, 24 * command));
    let mut requests = vec![write(0, 0), read(Span::us(year), 0, 1)];
    requests.extend(rest);
    requests.push(read(Span::us(year + 1_000_000), 0, 1));
    // Long after it was moved.
    requests.push(read(Span::us(year + 2_000_000), 0, 1));
    let took = serve(&mut device, &requests);
    let again: Vec<u64> = took.iter().map(|(_, again)| again / 51_000).collect();
    assert_eq!((again[1], again.iter().sum::<u64>()), (3, 3), "{again:?}");
    assert_eq!(device.counters().aged.refreshed, 1);
}

/// Data of a minute would be due again: moving it would have no end.
#[test]
fn what_would_be_due_again_at_once_is_not_moved() {
    let mut config = aged();
    config.reliability.oldest = Span::ms(60_000);
    let minute = Span::ms(60_000);
    let cells = config.aging_cells().expect("cells");
    let worn = cells.worn(1000.0);
    let rates = [worn.rber_at_best(0, minute), worn.rber(0, 0.0, minute)];
    config.aging.correctable = (rates[0] + rates[1]) / 2.0;
    config.aging.retry_shift = worn.shift(minute) / 8.0;
    assert!(retries(&config, 0, minute) > 1, "{rates:?}");
    assert_eq!(retries(&config, 0, Span::ZERO), 0);
    config.aging.refresh_above = 1;
    let mut device = drive(&config);
    let took = serve(&mut device, &[read(Span::us(0), 0, 1), read(Span::us(500_000), 0, 1)]);
    assert!(took[0].1 > 51_000, "{took:?}");
    assert_eq!(device.counters().aged.refreshed, 0);
}

/// A unit that was never written is read where its address points, and has no old data.
#[test]
fn what_was_never_written_has_no_age() {
    let mut config = aged();
    config.precondition.fill = 0.0;
    assert_eq!(serve(&mut drive(&config), &[read(Span::us(0), 0, 1)]), [(50_000, 0)]);
}

/// Settings that cannot work are refused, and so are settings without meaning on a drive with
/// superblocks.
#[test]
fn what_cannot_age_is_refused() {
    let refused = |alter: &dyn Fn(&mut Config)| {
        let mut config = aged();
        alter(&mut config);
        let refusals = config.layout().expect_err("refused");
        refusals.iter().map(|it| format!("{}: {}", it.keys.join(", "), it.what)).collect::<String>()
    };
    for (alter, expected) in [
        (&(|config: &mut Config| config.flash.word_line = 6) as &dyn Fn(&mut Config), "6 pages"),
        (&|config| config.aging.correctable = 0.0, "a bit error rate of 0; expected"),
        (&|config| config.aging.retry_entries = 32, "aging.retry_entries: 32; expected 1 to 31"),
        (&|config| config.aging.refresh_above = 15, "refresh of data read beyond entry 15"),
        (&|config| config.aging.retry_shift = f64::NAN, "references that shift by NaN V"),
        (&|config| config.aging.step_share = 0.9, "rber_unworn"),
        (&|config| config.reliability.cells.rber_unworn = 0.3, "rber_unworn"),
        (&|config| config.reliability.cells.retention_onset = -1.0, "retention_onset"),
        (&|config| config.reliability.oldest = DAY * 4000, "reliability.oldest"),
        (&|config| config.reliability.levels = 2, "reliability.levels, ftl.reclaim_unit"),
        (
            &|config| config.reliability.cells.disturb_slope = 0.0,
            "reliability.cells.disturb_slope, ftl.reclaim_unit",
        ),
        (&|config| config.aging.coding = Coding::Off, "reliability.oldest, ftl.reclaim_unit"),
        (&|config| config.ftl = crate::config::FtlConfig::default(), "aging.coding"),
    ] {
        let found = refused(alter);
        assert!(found.contains(expected), "{expected}: {found}");
    }
    assert!(aged().layout().is_ok());
}
