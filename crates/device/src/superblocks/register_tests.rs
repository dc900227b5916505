//! Cache reads and cache programs: cases derived by hand, to the nanosecond, and the rate that a
//! die reaches with them.
//!
//! The drive has one die of two planes, pages of four units, and three pages to a word line. A page
//! is sensed in 40, 60 or 80 us by its type, a unit crosses the channel in 10 us, and a command of
//! six pages is transferred in 240 us and programmed in 15 x (20 + 24) = 660 us.

use super::cases::{UNIT, answer_to, drive, read, tiny};
use crate::config::{Config, FlashConfig, Pattern, PlaneMode, ProgramTransfer};
use crate::event_loop::Pacing;
use crate::observe::blame::Part;
use crate::observe::completion::Completion;
use crate::observe::operation::Source;
use crate::policy::die_order::DieOrderKind;
use crate::policy::suspension::SuspensionKind;
use fowler_units::{Bytes, HostIo, HostOp, Nanos, Span};

const COMMAND: u64 = 24;
/// The first unit that is written; units below it are read.
const WRITTEN: u64 = 400;

const PLAIN: FlashConfig = FlashConfig {
    word_line: 3,
    cache_read: false,
    cache_program: false,
    decode: Span::ZERO,
    read_command: Span::ZERO,
    program_transfer: ProgramTransfer::Page,
    program_passes: 1,
    first_pass_iterations: 1,
};
const READ: FlashConfig = FlashConfig { cache_read: true, ..PLAIN };
const PROGRAM: FlashConfig = FlashConfig { cache_program: true, ..PLAIN };
const BOTH: FlashConfig = FlashConfig { cache_read: true, ..PROGRAM };

/// One die, half full of data written in order.
fn one_die(flash: FlashConfig) -> Config {
    let mut config = Config { flash, ..tiny() };
    (config.geometry.channels, config.geometry.chips_per_channel) = (1, 1);
    config.geometry.blocks_per_plane = 48;
    config.precondition.pattern = Pattern::Sequential;
    config.precondition.fill = 0.5;
    config
}

/// Writes whole commands at once.
fn writes(commands: u64) -> impl Iterator<Item = HostIo> {
    let size = (COMMAND * UNIT) as u32;
    let place = |at| (WRITTEN + at * COMMAND) * UNIT;
    (0..commands).map(move |at| HostIo::new(HostOp::Write, Nanos::ZERO, place(at), size))
}

/// The outcome of a run, in microseconds.
#[derive(Debug)]
struct Served {
    /// The latency of each read, in the order given.
    reads: Vec<u64>,
    answers: Vec<Completion>,
    /// The time at which each command had been programmed.
    programmed: Vec<u64>,
}

fn serve(config: &Config, commands: u64, reads: &[HostIo]) -> Served {
    let mut device = drive(config);
    let mut answers: Vec<Completion> = Vec::new();
    let mut programmed = Vec::new();
    let mut requests: Vec<HostIo> = writes(commands).chain(reads.iter().copied()).collect();
    // Long after all else, so that everything comes to its end.
    requests.push(read(Span::us(1_000_000), 0, 1));
    device.run_watched(requests, Pacing::Open, &mut answers, |device| {
        device.check_superblocks().expect("the laws");
        let programs = device.counters().programs[Source::Host];
        while (programmed.len() as u64) < programs / (COMMAND / planes_apart(config)) {
            programmed.push(device.now().0 / 1000);
        }
    });
    let took = |io: &HostIo| answer_to(io, &answers).latency().0 / 1000;
    Served { reads: reads.iter().map(took).collect(), answers, programmed }
}

fn planes_apart(config: &Config) -> u64 {
    match config.plane_mode {
        PlaneMode::Lockstep => 1,
        PlaneMode::Independent => config.geometry.planes_per_die.into(),
    }
}

/// Pages of the first type. With one page register, the next is sensed when the last has left. With
/// a cache register it is sensed meanwhile.
#[test]
fn a_page_is_sensed_while_the_last_one_leaves() {
    for (reads, plain, cached) in [
        // Sensing and transfer take 40 us each: the second leaves right behind the first.
        (
            vec![read(Span::us(0), 0, 4), read(Span::us(0), 24, 4), read(Span::us(0), 48, 4)],
            [80, 160, 240],
            [80, 120, 160],
        ),
        // The sensing is longer: it sets the pace.
        (
            vec![read(Span::us(0), 0, 1), read(Span::us(0), 24, 1), read(Span::us(0), 48, 1)],
            [50, 100, 150],
            [50, 90, 130],
        ),
        // The second is sensed while one unit of the first leaves, the third with all of its own.
        (
            vec![read(Span::us(0), 8, 1), read(Span::us(0), 16, 4), read(Span::us(0), 0, 4)],
            [70, 190, 270],
            [70, 180, 220],
        ),
        // A read that comes during the transfer is sensed at once; one that comes after it finds
        // the die idle.
        (
            vec![read(Span::us(0), 0, 4), read(Span::us(50), 24, 4), read(Span::us(500), 48, 4)],
            [80, 110, 80],
            [80, 80, 80],
        ),
    ] {
        for (flash, expected) in [(PLAIN, plain), (PROGRAM, plain), (READ, cached), (BOTH, cached)]
        {
            let served = serve(&one_die(flash), 0, &reads);
            assert_eq!(served.reads, expected, "{flash:?}: {reads:?}");
        }
    }
}

/// Two dies on a channel. A page that was sensed keeps its place in the line of the channel, and
/// the next one of its die comes behind those of the other. Of 160 us, the third read waits 40 for
/// its die to sense another, and 20 for the channel. The fourth is sensed from 100 to 140 us, and
/// waits in the page register until the third has left.
#[test]
fn dies_take_turns_on_the_channel() {
    let mut config = one_die(READ);
    config.geometry.chips_per_channel = 2;
    // Commands go round the dies: units 0, 56 and 96 are on the first, 24 on the second.
    let reads = [
        read(Span::us(0), 0, 4),
        read(Span::us(0), 24, 4),
        read(Span::us(0), 56, 4),
        read(Span::us(0), 96, 4),
    ];
    let served = serve(&config, 0, &reads);
    assert_eq!(served.reads, [80, 120, 160, 200]);
    for (unit, blame) in [(56, [40, 60, 40, 20]), (96, [100, 40, 40, 20])] {
        let read = served.answers.iter().find(|it| it.io.offset == unit * UNIT).expect("answered");
        let parts = [Part::BehindHostRead, Part::Sense, Part::Transfer, Part::Channel];
        assert_eq!(parts.map(|part| read.blame[part].0 / 1000), blame, "unit {unit}");
    }
    // Without cache reads, the first die senses again when its page has left, and finds the
    // channel free.
    config.flash = PLAIN;
    assert_eq!(serve(&config, 0, &reads).reads, [80, 120, 180, 260]);
}

/// Programs follow each other without a gap if the transfer is shorter, and transfers if it is
/// longer. A single die then writes a word line in the longer of the two times, and not in their
/// sum.
#[test]
fn a_die_programs_while_the_next_word_line_is_transferred() {
    for transfer in [0, 1, 240, 659, 660, 661, 960, 2400] {
        for (flash, period) in [(PLAIN, transfer + 660), (PROGRAM, transfer.max(660))] {
            let mut config = one_die(flash);
            config.timing.bus_transfer = Span::ns(transfer * 1000 / 24 * 4);
            let (unit, rest) = (transfer * 1000 / 24, transfer * 1000 % 24);
            let served = serve(&config, 9, &[]);
            // The time that the division drops is shorter than a microsecond.
            let exact = (24 * unit + 660_000) / 1000;
            assert!(rest < 24 && served.programmed.len() == 9, "{:?}", served.programmed);
            assert_eq!(served.programmed[0], exact, "{transfer}");
            let all = served.programmed[8] - served.programmed[0];
            assert!(all.abs_diff(8 * period) <= 1, "{flash:?} {transfer}: {:?}", served.programmed);
        }
    }
}

/// Independent planes have registers of their own: the next word line of each crosses the channel
/// while it programs, page by page in turn with the other.
#[test]
fn each_plane_has_a_cache_register_of_its_own() {
    for (flash, expected) in [
        // Pages of the two in turn: their data are there after 200 and 240 us.
        (PROGRAM, [860, 900, 1520, 1560, 2180, 2220]),
        // The first begins again at 860 us and has the channel twice, until 940. Then they take
        // turns: it has its data at 1,020 us, the other at 1,100. In the next round, from 1,680 us
        // on, the first is done with its three pages when the other begins, at 1,800.
        (PLAIN, [860, 900, 1680, 1760, 2460, 2580]),
    ] {
        let mut config = one_die(flash);
        config.plane_mode = PlaneMode::Independent;
        assert_eq!(serve(&config, 3, &[]).programmed, expected, "{flash:?}");
    }
}

/// Two dies on a channel; the word line of one, of 240 us, crosses it from the start. The other die
/// senses a unit from 10 to 50 us: it leaves behind the page of 40 to 80 us, for 10 us that the
/// other pages wait, or behind all pages.
#[test]
fn a_whole_word_line_holds_the_channel() {
    let whole = FlashConfig { program_transfer: ProgramTransfer::Command, ..PLAIN };
    for (flash, took, programmed) in [(PLAIN, 80, 910), (whole, 240, 900)] {
        let mut config = one_die(flash);
        config.geometry.chips_per_channel = 2;
        let served = serve(&config, 1, &[read(Span::us(10), 24, 1)]);
        assert_eq!((served.reads[0], served.programmed[0]), (took, programmed), "{flash:?}");
    }
    // Planes that are dies of their own: the second has its data 120 us after the first, always.
    let mut config = one_die(whole);
    config.plane_mode = PlaneMode::Independent;
    assert_eq!(serve(&config, 3, &[]).programmed, [780, 900, 1560, 1680, 2340, 2460]);
}

/// A decoder of 40 us for a page, 10 for a unit, holds the channel behind each transfer out, and
/// behind none in.
#[test]
fn a_decoder_holds_the_channel_for_what_was_read() {
    let flash = FlashConfig { decode: Span::us(40), ..PLAIN };
    let mut config = one_die(flash);
    config.geometry.chips_per_channel = 2;
    let reads = [read(Span::us(0), 0, 4), read(Span::us(0), 24, 1), read(Span::us(500), 8, 2)];
    let served = serve(&config, 0, &reads);
    // Both are sensed by 40 us; the first has the channel until 120. A page of the second type
    // takes 60 us to sense.
    assert_eq!(served.reads, [120, 140, 60 + 2 * 20]);
    let second = served.answers.iter().find(|it| it.io.offset == 24 * UNIT).expect("answered");
    let parts = [Part::Sense, Part::Transfer, Part::Channel];
    assert_eq!(parts.map(|part| second.blame[part].0 / 1000), [40, 20, 80]);
    assert_eq!(serve(&config, 1, &[]).programmed[0], 900);
}

/// The command of a read holds the channel for 15 us, whether one unit of the page is read or all
/// four, and no program takes it.
#[test]
fn a_read_command_holds_the_channel_once_for_each_page() {
    let flash = FlashConfig { read_command: Span::us(15), ..PLAIN };
    let mut config = one_die(flash);
    config.geometry.chips_per_channel = 2;
    let reads = [read(Span::us(0), 0, 4), read(Span::us(0), 24, 1), read(Span::us(500), 8, 2)];
    let served = serve(&config, 0, &reads);
    // Both are sensed by 40 us; the first has the channel until 40 + 40 + 15, the second for 10 +
    // 15 more. A page of the second type takes 60 us to sense.
    assert_eq!(served.reads, [95, 120, 60 + 20 + 15]);
    let second = served.answers.iter().find(|it| it.io.offset == 24 * UNIT).expect("answered");
    let parts = [Part::Sense, Part::Transfer, Part::Channel];
    assert_eq!(parts.map(|part| second.blame[part].0 / 1000), [40, 25, 55]);
    assert_eq!(serve(&config, 1, &[]).programmed[0], 900);
}

/// The first command runs from 240 us on, and the data of the second are there at 480. A read that
/// comes then finds them in the cache register, passes them, and goes where the order of the die
/// says.
#[test]
fn a_read_passes_the_data_of_the_next_program() {
    use DieOrderKind::{Fifo, ReadFirst};
    use SuspensionKind::{Ips, Never};
    for (order, suspension, at, took, programmed) in [
        // Behind the second program, which came before it.
        (Fifo, Never, 500, 1060 + 50, [900, 1560]),
        // Between the two.
        (ReadFirst, Never, 500, 400 + 50, [900, 950 + 660]),
        // 260 us into the program, its verify ends after 4 us. It resumes 3 us after the read, with
        // 396 us to go.
        (ReadFirst, Ips, 500, 4 + 50, [554 + 3 + 396, 953 + 660]),
        // 60 us into the program, its phase ends after 4 us. The second page of the next program is
        // on the channel until 320 us; the others wait until the program is on the cells again.
        (ReadFirst, Ips, 300, 4 + 50, [354 + 3 + 596, 953 + 660]),
        // During the transfer of the first: as without a cache register (S14).
        (ReadFirst, Ips, 100, 140 + 50, [290 + 3 + 660, 953 + 660]),
    ] {
        for flash in [PROGRAM, BOTH] {
            let mut config = one_die(flash);
            config.die_order.name = order;
            config.suspension.name = suspension;
            let served = serve(&config, 2, &[read(Span::us(at), 0, 1)]);
            let case = format!("{flash:?} {order:?} {suspension:?} at {at}");
            assert_eq!(
                (served.reads[0], &served.programmed[..]),
                (took, &programmed[..]),
                "{case}"
            );
        }
    }
}

/// Without a shadow buffer, the data of a suspended program cross the channel again. Those of the
/// next program, of which two pages are in the cache register by then, do not delay that reload:
/// the first program ends when it does on a drive without cache programs.
#[test]
fn a_reload_goes_before_the_data_of_the_next_program() {
    for at in [300, 320, 440] {
        let [plain, cached] = [PLAIN, PROGRAM].map(|flash| {
            let mut config = one_die(flash);
            config.die_order.name = DieOrderKind::ReadFirst;
            config.suspension.name = SuspensionKind::Ips;
            config.suspension.shadow_buffer = false;
            serve(&config, 2, &[read(Span::us(at), 0, 1)])
        });
        // A page that is on the channel when the program is taken off ends after the sensing began.
        assert_eq!(cached.reads, plain.reads, "at {at}");
        let [first, second] = [cached.programmed[0], cached.programmed[1]];
        assert_eq!(first, plain.programmed[0], "at {at}");
        assert_eq!(second, first + 660, "at {at}");
    }
}

/// The program ends before the data of the next are complete: what is left of them is transferred
/// as without a cache register, and a read that comes meanwhile goes first, before the cells run.
#[test]
fn a_program_takes_over_the_transfer_of_its_data() {
    let mut config = one_die(PROGRAM);
    config.timing.bus_transfer = Span::us(160);
    config.die_order.name = DieOrderKind::ReadFirst;
    // Six pages of 160 us each, then 660 us: 960 to 1,620. The next is there at 1,920.
    for (suspension, at, took, second) in [
        (SuspensionKind::Never, 5000, 80, 1920 + 660),
        (SuspensionKind::Ips, 1700, 220 + 80, 2000 + 3 + 660),
        // The read waits for the fifth page, which is on the channel until 1,760 us. The page of
        // the read follows.
        (SuspensionKind::Never, 1600, 160 + 40, 1960 + 660),
    ] {
        config.suspension.name = suspension;
        let served = serve(&config, 2, &[read(Span::us(at), 0, 1)]);
        assert_eq!(served.programmed, [1620, second], "{suspension:?} at {at}");
        assert_eq!(served.reads, [took], "{suspension:?} at {at}");
    }
}

/// A suspended program resumes when the data of all reads have left, and reads that come together
/// take the time of one transfer less.
#[test]
fn reads_of_a_suspended_program_overlap() {
    let reads = [read(Span::us(500), 0, 1), read(Span::us(500), 24, 1)];
    for (flash, took, programmed) in
        [(PLAIN, [54, 104], 604 + 3 + 396), (READ, [54, 94], 594 + 3 + 396)]
    {
        let mut config = one_die(flash);
        config.die_order.name = DieOrderKind::ReadFirst;
        config.suspension.name = SuspensionKind::Ips;
        let served = serve(&config, 1, &reads);
        assert_eq!((&served.reads[..], served.programmed[0]), (&took[..], programmed), "{flash:?}");
    }
}

/// A program waits until a read has left the cache register, whatever else waits.
#[test]
fn a_program_begins_when_reads_have_left() {
    let mut config = one_die(BOTH);
    config.buffer.size = Bytes(1 << 20);
    config.die_order.name = DieOrderKind::ReadFirst;
    // Two reads at once, before the first command: it is transferred from 120 us on.
    let served = serve(&config, 1, &[read(Span::us(0), 0, 4), read(Span::us(0), 24, 4)]);
    assert_eq!(served.reads, [80, 120]);
    assert_eq!(served.programmed, [120 + 240 + 660]);
}
