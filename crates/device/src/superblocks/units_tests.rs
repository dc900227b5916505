//! Superblocks of other units than those of a drive of today: programs of pages, and units that
//! are whole pages. The drive is [`tiny`], whose units are four to a page.

use super::Superblocks;
use super::cases::{UNIT, answer_to, drive, read, tiny};
use super::commands::Stream;
use crate::config::{Config, FtlConfig, Pattern, ProgramUnit, ReclaimUnit};
use crate::event_loop::{Device, Pacing};
use crate::mapping::page_map::Location;
use crate::observe::completion::Completion;
use crate::observe::operation::Source;
use crate::policy::die_order::DieOrderKind;
use crate::policy::placement::StreamId;
use fowler_nand::PerPageType;
use fowler_units::{Bytes, HostIo, HostOp, Lpn, Nanos, Rng, Span};

fn filled(alter: impl Fn(&mut Config)) -> Config {
    let mut config = tiny();
    config.precondition.pattern = Pattern::Sequential;
    config.precondition.fill = 0.5;
    alter(&mut config);
    config
}

fn programs_pages(config: &mut Config) {
    config.ftl.program_unit = ProgramUnit::Page;
}

fn units_are_pages(config: &mut Config) {
    config.ftl.unit = None;
}

fn write(unit: u64, units: u64) -> HostIo {
    HostIo::new(HostOp::Write, Nanos::ZERO, unit * UNIT, (units * UNIT) as u32)
}

/// Serves requests on a preconditioned drive. Returns their answers.
fn answers(config: &Config, requests: &[HostIo]) -> Vec<Completion> {
    let mut answers: Vec<Completion> = Vec::new();
    let mut device = drive(config);
    device.run_watched(requests.iter().copied(), Pacing::Open, &mut answers, |device| {
        device.check_superblocks().unwrap_or_else(|law| panic!("{}", law.0));
    });
    assert_eq!(answers.len(), requests.len());
    answers
}

/// A command stores one page on each of two planes, eight units: 80 us of transfers, and a program
/// whose iterations of 20 + 24 us are those of the type of its pages. Four commands later, the same
/// die programs pages of the next type.
#[test]
fn a_page_of_each_plane_is_programmed_at_once() {
    let mut types = Vec::new();
    for before in [0, 4, 8] {
        let mut config = filled(programs_pages);
        let iterations = [5, 10, 15];
        config.timing.program_iterations = PerPageType::new(&iterations).expect("three types");
        config.die_order.name = DieOrderKind::ReadFirst;
        let mut device = drive(&config);
        let later = read(Span::ms(50), 0, 1);
        let writes = (0..before).map(|at| write(200 + 8 * at, 8));
        device.run(writes.chain([later]), Pacing::Open, &mut ());
        assert_eq!(device.counters().programs[Source::Host], 8 * before);
        let layer = device.superblocks();
        let open = layer.commands.open_of(Stream::Host(StreamId(0))).expect("half full");
        let die = layer.shape.die_at(open.command % 4);
        let on_die = |unit: &Lpn| match layer.map.place(*unit) {
            Location::Flash(place) => layer.shape.place(place).0 == die,
            _ => false,
        };
        let there = Lpn(0).run(200).find(on_die).expect("every die holds data");
        let kind = (open.command / 4 % 3) as usize;
        let [mut last, beside] = [write(300, 8), read(Span::us(100_081), there.0.into(), 1)];
        last.at = Nanos::ZERO + Span::ms(100);
        let mut answers: Vec<Completion> = Vec::new();
        device.run([last, beside], Pacing::Open, &mut answers);
        let waits = Span::us(80 + 44 * u64::from(iterations[kind]) - 81);
        let senses = config.timing.read.values()[type_of_page(&device, there)];
        let answer = answers.iter().find(|it| it.io.op == HostOp::Read).expect("answered");
        assert_eq!(answer.latency(), waits + senses + Span::us(10), "after {before} commands");
        types.push(kind);
    }
    types.sort_unstable();
    assert_eq!(types, [0, 1, 2]);
}

/// Returns the type of the page that holds a unit of the host.
fn type_of_page(device: &Device<Superblocks>, unit: Lpn) -> usize {
    let layer = device.superblocks();
    match layer.map.place(unit) {
        Location::Flash(place) => (layer.shape.place(place).1.0 % 12 % 3) as usize,
        _ => panic!("it is in the buffer"),
    }
}

/// A unit that is a page is sensed and transferred as a whole, 40 us, whatever is read of it.
#[test]
fn a_unit_may_be_a_page() {
    let config = filled(units_are_pages);
    let layout = config.layout().expect("it works");
    assert_eq!((layout.page_size, layout.command_pages), (Bytes(16 << 10), 6));
    for (unit, units, expected) in [(0, 4, 40 + 40), (1, 1, 40 + 40), (8, 4, 60 + 40)] {
        let io = read(Span::ZERO, unit, units);
        let took = answer_to(&io, &answers(&config, &[io])).latency();
        assert_eq!(took, Span::us(expected), "{units} from {unit}");
    }
    // A command stores six units of 16 KiB.
    let mut device = drive(&config);
    let all = (0..6).map(|page| write(4 * page, 4));
    device.run(all.chain([read(Span::ms(50), 0, 1)]), Pacing::Open, &mut ());
    assert_eq!(device.counters().programs[Source::Host], 6);
}

/// A word line of one page is a page: programs of pages do what programs of such word lines do.
// Slow: 1,500 requests on eight drives, with all checks.
#[test]
fn programs_of_pages_are_programs_of_short_word_lines() {
    for seed in 0..4 {
        let mut rng = Rng::stream(seed, "programs of pages");
        let logical = filled(programs_pages).layout().expect("it works").logical_pages;
        let requests: Vec<HostIo> = (0..1500)
            .map(|at: u64| {
                let mut io = write(rng.below(u64::from(logical) - 9), 1 + rng.below(9));
                io.op = if rng.chance(0.5) { HostOp::Read } else { HostOp::Write };
                io.at = Nanos(at * 40_000);
                io
            })
            .collect();
        let pages = filled(programs_pages);
        let mut lines = filled(|_| ());
        lines.flash.word_line = 1;
        assert!(answers(&pages, &requests) == answers(&lines, &requests), "seed {seed}");
    }
}

/// The refusals of [`tiny`] after a change: keys, reason and hint of each.
fn refused(alter: impl Fn(&mut Config)) -> Vec<String> {
    let mut config = tiny();
    alter(&mut config);
    let refusals = config.layout().err().unwrap_or_default();
    let line = |it: crate::Refusal| {
        format!("({}) {} / {}", it.keys.join(", "), it.what, it.hint.unwrap_or_default())
    };
    refusals.into_iter().map(line).collect()
}

#[test]
fn impossible_units_are_refused() {
    let unit = |unit: u64| refused(|config| config.ftl.unit = Some(Bytes(unit)));
    let programs_pages = |alter: &dyn Fn(&mut Config)| {
        refused(|config| {
            programs_pages(config);
            alter(config);
        })
    };
    let blocks = refused(|config| {
        let ftl = FtlConfig { reclaim_unit: ReclaimUnit::Block, ..config.ftl };
        *config = Config { ftl, ..Config::new(config.geometry, config.timing) };
    });
    let many = refused(|config| {
        (config.geometry.page_size, config.ftl.unit) = (Bytes(64 << 10), Some(Bytes(512)));
    });
    for (found, expected) in [
        (
            unit(5 << 10),
            &["(ftl.unit, geometry.page_size) mapping units of 5KiB in pages of 16KiB: some \
            units would lie in two pages / the nearest possible size of a mapping unit is \"4KiB\""]
                [..],
        ),
        (unit(64 << 10), &["a unit is read from one page"]),
        (unit(700), &["a mapping unit must consist of whole sectors of 512B"]),
        (unit(0), &["a mapping unit must consist of whole sectors of 512B"]),
        (many, &["a page can have at most 32 mapping units"]),
        (
            programs_pages(&|it| it.flash.program_passes = 2),
            &["(flash.program_passes, ftl.program_unit)"],
        ),
        (programs_pages(&|it| it.slc.fixed = 2), &["(slc.static, slc.dynamic, ftl.program_unit)"]),
        (refused(|it| it.flash.word_line = 0), &["(flash.word_line, geometry.pages_per_block)"]),
        (refused(|it| it.flash.word_line = 5), &["(flash.word_line, geometry.pages_per_block)"]),
        (
            blocks,
            &[
                "(ftl.unit, ftl.reclaim_unit) mapping units of 4KiB in pages",
                "(ftl.program_unit, ftl.reclaim_unit)",
            ],
        ),
    ] {
        expect(&found, expected);
    }
}

fn expect(found: &[String], expected: &[&str]) {
    assert_eq!(found.len(), expected.len(), "{expected:?}: {found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{expected}: {found}");
    }
}

/// The map numbers 2^31 - 1 units: less than 8 TiB of 4 KiB, or 32 TiB of 16 KiB.
#[test]
fn more_units_than_the_map_can_number_are_refused() {
    // 64 dies of four planes, with 1024 superblocks of 256 pages to a block for each TiB.
    let terabytes = |count: u32, unit: Option<Bytes>| {
        refused(|config| {
            let geometry = &mut config.geometry;
            (geometry.channels, geometry.chips_per_channel) = (16, 4);
            (geometry.planes_per_die, geometry.blocks_per_plane) = (4, 1024);
            geometry.pages_per_block = 256 * count;
            (config.ftl.unit, config.flash.word_line) = (unit, 1);
            config.buffer.size = Bytes(64 << 20);
        })
    };
    let small = Some(Bytes(4096));
    for (count, unit, expected) in [
        (7, small, &[][..]),
        (
            8,
            small,
            &["(ftl.unit, geometry) 2147483648 mapping units of 4KiB; the mapping table can \
            number 2147483647 at most / set ftl.unit = \"8KiB\""][..],
        ),
        (
            16,
            small,
            &["4294967296 mapping units of 4KiB; the mapping table can number 2147483647 at most \
            / set ftl.unit = \"16KiB\""],
        ),
        (16, None, &[]),
        (31, None, &[]),
        (32, None, &["(geometry) 2147483648 physical pages; expected at most 2147483647"]),
        (32, small, &["(geometry) 2147483648 physical pages; expected at most 2147483647"]),
        (255, small, &["(geometry) 17112760320 physical pages"]),
    ] {
        expect(&terabytes(count, unit), expected);
    }
}
