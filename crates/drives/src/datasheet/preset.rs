//! The drive file of a data sheet.
//!
//! The geometry has the real size: as many dies as the capacity needs, and blocks of the usual
//! length. A smaller drive stands for it where rows are simulated (`protocol/scale.rs`), which
//! keeps what GC holds erased in proportion.

use super::FromSheet;
use super::medians::Medians;
use super::sheet::{RANDOM, Sheet};
use std::fmt::Write;

/// Pages of a word line, of a block, and bytes of a page: usual for 3D TLC.
const WORD_LINE: f64 = 3.0;
const PAGES: u32 = 1_536;
const PAGE: f64 = 16_384.0;
/// Capacity of a die in bytes: 512 Gbit, and 1 Tbit for drives above 8 TiB.
const DIE: f64 = (64_u64 << 30) as f64;
const LARGE_DIE: f64 = 2.0 * DIE;
const LARGE_DRIVE: f64 = (8_u64 << 40) as f64;
/// Channels of a controller, unless there are fewer dies.
const CHANNELS: u32 = 8;
/// Steps of a program, and the verify of each, in nanoseconds.
const STEPS: f64 = 16.0;
const VERIFY: f64 = 4_000.0;
/// The shortest program that a TLC die is believed to do, in nanoseconds: faster sequential writes
/// go into a cache of SLC, or there are more dies.
const PROGRAM_LEAST: f64 = 400_000.0;
/// The most units that the map of a drive can number.
const UNITS_MOST: f64 = 2_147_483_647.0;
/// Superblocks that are open or that GC holds erased.
const HELD: f64 = 7.0;
/// The least amplification that the random write rate of a steady drive implies: a data sheet that
/// implies less states the rate of a cache.
const WAF_LEAST: f64 = 1.5;
/// Distance of the simulated saturation rate from the stated one, for the data sheets of the drives
/// in the table of docs/scoreboard.md.
const STATED_ERROR: &str = "the simulated rate lies within 6 % of it on five drives";

/// A number with where it is from.
struct Value {
    number: f64,
    from: String,
}

fn value(number: f64, from: impl Into<String>) -> Value {
    Value { number, from: from.into() }
}

/// Returns the drive file of a sheet.
pub(super) fn make(sheet: &Sheet, medians: &Medians) -> FromSheet {
    let mut notes = Vec::new();
    let assumed = assumed(medians);
    let model = sheet.model.clone().unwrap_or_else(|| "a drive".into());
    let planes = medians.planes.round().max(1.0);
    let parity = medians.parity.round().max(2.0);
    let die = if sheet.capacity > LARGE_DRIVE { LARGE_DIE } else { DIE };
    let dies = dies(sheet.capacity, die);
    let command = planes * WORD_LINE;
    let transfers = command * medians.transfer;
    let program = program(sheet, medians, dies * command * PAGE, parity, transfers, &mut notes);
    let spare = spare(sheet, medians, &program, command, parity, &mut notes);
    let phase = (program.number - transfers) / STEPS - VERIFY;
    // Raw capacity as a whole number of blocks in each plane.
    let superblock = dies * planes * f64::from(PAGES) * PAGE;
    let shown = (1.0 - spare.number) * (1.0 - 1.0 / parity);
    let blocks = (sheet.capacity / shown / superblock).round().max(1.0);
    let over_provisioning = 1.0 - sheet.capacity / (blocks * superblock);
    let kib = [4, 8, 16].into_iter();
    let mut fitting = kib.filter(|kib| blocks * superblock / f64::from(kib << 10) <= UNITS_MOST);
    let unit = fitting.next().unwrap_or(16);
    let channels = f64::from(CHANNELS).min(dies);
    let (link, core) = (link(sheet), core(sheet));
    let [one, two, three] = [0, 1, 2].map(|page| medians.read[page].round());
    let mut text = format!(
        "# Drive from the data sheet of {model}, {:.0} GB, of real size\n#\n# [datasheet] stated, \
         [computed] from what is stated, [assumed] everything else: medians of fitted presets, or\n# \
         usual parts. Nothing was measured on this drive.\n\nseed = 1 # [assumed] any number\n\n",
        sheet.capacity / 1e9
    );
    let _grows = write!(
        text,
        "[geometry]\nchannels = {channels} # [assumed] usual\n\
         chips_per_channel = {} # [computed] {dies} dies of {:.0} Gbit for the capacity\n\
         dies_per_chip = 1 # [assumed] a chip is a die here\n\
         planes_per_die = {planes} # {assumed}\n\
         blocks_per_plane = {blocks} # [computed] the capacity and its spare\n\
         pages_per_block = {PAGES} # [assumed] usual for 3D TLC\n\
         page_size = \"16KiB\" # [assumed] usual for 3D NAND\n\
         over_provisioning = {over_provisioning:.5} # {}; spare of raw, parity included\n\
         over_provisioning_base = \"raw\"\n\n",
        dies / channels,
        die / DIE * 512.0,
        spare.from,
    );
    text += &media(medians, (unit, parity), &program, phase);
    text += &front_end(medians, &link, &core);
    text += &parameters(over_provisioning, [one, two, three]);
    note_unused(sheet, &mut notes);
    for note in &notes {
        let _grows = writeln!(text, "# note: {note}");
    }
    FromSheet { model, text, notes }
}

/// Returns the words for a value that is a median.
fn assumed(medians: &Medians) -> String {
    format!("[assumed] median of {} fitted presets", medians.presets)
}

/// Returns the rate of the link in 10^6 bytes per second.
fn link(sheet: &Sheet) -> Value {
    let link = sheet.link.as_ref().map_or_else(
        || value(7_000.0, "[assumed] PCI Express 4.0 x4"),
        |(name, most)| value((most * 0.89).round(), format!("[datasheet] the link: pcie {name}")),
    );
    match sheet.seq_read {
        Some(rate) if rate > link.number => value(rate, "[datasheet] seq_read_mb_s"),
        _ => link,
    }
}

/// Returns the time of a request on one of two cores, in nanoseconds.
fn core(sheet: &Sheet) -> Value {
    sheet.rand_read.map_or_else(
        || value(2_900.0, "[assumed] 700,000 requests a second over 2 cores"),
        |rate| {
            value((2e9 / rate).round(), format!("[datasheet] {rate} reads a second over 2 cores"))
        },
    )
}

/// Notes the numbers of the sheet that no key follows from.
fn note_unused(sheet: &Sheet, notes: &mut Vec<String>) {
    let unused = [
        ("dwpd", sheet.dwpd, "endurance does not show in these keys"),
        ("read_latency_us", sheet.read_latency, "its conditions are not stated"),
        ("write_latency_us", sheet.write_latency, "its conditions are not stated"),
    ];
    for (key, number, why) in unused {
        if let Some(number) = number {
            notes.push(format!("`{key}` of {number} is not used: {why}"));
        }
    }
}

/// Returns the tables of the translation layer and of the flash.
fn media(medians: &Medians, (unit, parity): (u32, f64), program: &Value, phase: f64) -> String {
    let mut text = String::new();
    let assumed = assumed(medians);
    let [one, two, three] = [0, 1, 2].map(|page| medians.read[page].round());
    let _grows = write!(
        text,
        "[ftl]\nunit = \"{unit}KiB\" # [assumed] the smallest of 4, 8 and 16 that the map can number\nreclaim_unit = \"superblock\"\n\
         program_unit = \"word_line\"\n\n[flash]\nword_line = 3 # [assumed] TLC in one pass\n\n\
         [superblocks]\nparity = {parity} # {assumed}\n\n\
         [timing]\nbus_transfer = \"{}ns\" # {assumed}\n\
         read = [\"{one}ns\", \"{two}ns\", \"{three}ns\"] # {assumed}\n\
         program_phase = \"{}ns\" # {}\n\
         verify_phase = \"4us\" # [assumed] next to nothing\n\
         program_iterations = 16 # [assumed] pulses of a TLC program: some 15 to 20\n\
         erase_pulse = \"4800us\" # [assumed] some 5 ms for 3D TLC\n\
         erase_verify = \"25us\" # [assumed] about a page read\n\
         voltage_reset = \"4us\" # [assumed] a part of each phase\n\
         buffer_load = \"10us\" # [assumed] three pages from the latches of a plane\n\n",
        medians.transfer.round(),
        phase.round().max(1.0),
        program.from,
    );
    text
}

/// Returns the tables of the scheduler, the queues and the host.
fn front_end(medians: &Medians, link: &Value, core: &Value) -> String {
    let mut text = String::new();
    let assumed = assumed(medians);
    let behind = medians.reads_behind.map_or(String::new(), |behind| {
        format!("reads_behind = {} # {assumed}\n", behind.round().max(1.0))
    });
    let _grows = write!(
        text,
        "[policy]\nredundancy = \"raid5\" # [assumed] as in every fitted data-center preset\n\
         die_order = \"read_first\" # [assumed] as in every fitted preset\n\
         suspension.name = \"ips\" # [assumed] as in every fitted preset\n\
         suspension.delay = \"{}ns\" # {assumed}\n\
         suspension.min_progress = \"{}ns\" # {assumed}\n\n\
         [buffer]\nsize = \"16MiB\" # [assumed] some milliseconds of writes\n\n\
         [queue]\ndepth = 4096 # [assumed] NVMe allows up to 64 Ki\n\
         max_reads = 4096 # [assumed] as many as there may be requests\n\
         admission = \"{}\" # [assumed] the most frequent of {} fitted presets\n{behind}\n\
         [host]\nbandwidth = \"{}MB/s\" # {}\nlatency = \"{}ns\" # {assumed}\n\
         cores = 2 # [assumed] the data sheet gives their rate together\n\
         core_time = \"{}ns\" # {}\n\n\
         [gc]\nforeground_below = 5 # [assumed] as in every fitted preset\n\
         background_below = 5 # [assumed] as in every fitted preset\n\n\
         [precondition]\nfill = 1.0 # [assumed] a full drive\npattern = \"steady\"\n",
        medians.delay.round(),
        medians.min_progress.round(),
        medians.admission,
        medians.presets,
        link.number,
        link.from,
        medians.latency.round(),
        core.number,
        core.from,
    );
    text
}

/// Returns the declarations of what measured rows of the drive may move: `fowler calibrate` begins
/// from this file.
fn parameters(over_provisioning: f64, read: [f64; 3]) -> String {
    const PRESETS: &str = "bounds that hold every fitted preset";
    let reads = |times: f64| read.map(|it| format!("\"{}ns\"", (it * times).round())).join(", ");
    let span = |by: f64| format!("{:.3}", (over_provisioning + by).clamp(0.03, 0.7));
    let parameters = [
        (
            "timing.read",
            format!("[{}]", reads(0.5)),
            format!("[{}]", reads(1.8)),
            "half to 1.8 times the median of fitted presets",
        ),
        ("policy.suspension.delay", "\"5us\"".into(), "\"200us\"".into(), PRESETS),
        ("policy.suspension.min_progress", "\"5us\"".into(), "\"800us\"".into(), PRESETS),
        (
            "geometry.over_provisioning",
            span(-0.06),
            span(0.1),
            "around what the data sheet implies",
        ),
        ("host.latency", "\"200ns\"".into(), "\"12us\"".into(), PRESETS),
    ];
    let table = |(key, low, high, source): &(&str, String, String, &str)| {
        format!(
            "\n[[calibrate.parameter]]\nkey = \"{key}\"\nlow = {low}\nhigh = {high}\n\
             source = \"[assumed] {source}\"\n"
        )
    };
    parameters.iter().map(table).collect()
}

/// Returns the number of dies: a power of two that holds the capacity.
fn dies(capacity: f64, die: f64) -> f64 {
    let mut dies = 2.0;
    while dies * die < capacity {
        dies *= 2.0;
    }
    dies
}

/// Returns the time of a program command with its transfers, in nanoseconds. `all` is what the
/// commands of all dies program, in bytes.
fn program(
    sheet: &Sheet,
    medians: &Medians,
    all: f64,
    parity: f64,
    transfers: f64,
    notes: &mut Vec<String>,
) -> Value {
    let usual = (medians.phase + VERIFY) * STEPS + transfers;
    let assumed = || {
        let from = format!("[assumed] median of {} fitted presets", medians.presets);
        value(usual, from)
    };
    let Some(rate) = sheet.seq_write else { return assumed() };
    // One command in so many is parity.
    let programmed = rate * 1e6 * parity / (parity - 1.0);
    let time = all / programmed * 1e9;
    if time - transfers < PROGRAM_LEAST {
        notes.push(format!(
            "`seq_write_mb_s` of {rate} leaves a TLC program {:.0} us, which no die does: it is the \
             rate of a cache or of more dies, and not used",
            (time - transfers) / 1e3
        ));
        return assumed();
    }
    value(
        time,
        format!("[computed] {rate} MB/s of sequential writes: {:.2} ms a command", time / 1e6),
    )
}

/// Returns the spare capacity as a share of the raw one without parity.
///
/// At saturation the dies do nothing but program and read what is copied, one plane after the
/// other. A byte that the host writes is programmed `W` times, of which `W - 1` are copies:
/// sequential rate / random rate = `W + (W - 1) f`, where `f` is the time of the reads of a command
/// over that of its program. Greedy GC with that `W` has the load, and so the spare capacity.
fn spare(
    sheet: &Sheet,
    medians: &Medians,
    program: &Value,
    command: f64,
    parity: f64,
    notes: &mut Vec<String>,
) -> Value {
    let usual = || {
        let from = format!("[assumed] median of {} fitted presets", medians.presets);
        value(medians.spare, from)
    };
    let (Some(sequential), Some(random)) = (sheet.seq_write, sheet.rand_write) else {
        return usual();
    };
    let sensing = medians.read.iter().sum::<f64>() / medians.read.len() as f64;
    let reads = command * (sensing + medians.transfer) / program.number;
    let waf = (sequential * 1e6 / (random * RANDOM) + reads) / (1.0 + reads);
    if waf < WAF_LEAST {
        notes.push(format!(
            "`rand_write_iops` of {random} implies a write amplification of {waf:.2}: it is the rate of \
             a cache or of an empty drive, and not used"
        ));
        return usual();
    }
    let load = load_of(waf);
    // Superblocks held erased hold nothing; their share of a real-size drive is small.
    let superblocks = sheet.capacity / (PAGE * f64::from(PAGES)) / command * WORD_LINE;
    let dies = (sheet.capacity / DIE).max(1.0);
    let held = 1.0 - (HELD / (superblocks / dies)).min(0.2);
    let from = format!(
        "[computed] {random} random writes a second: WAF {waf:.2} with {:.0} % of it for reads; one \
         command in {parity} is parity; {STATED_ERROR}",
        reads * (waf - 1.0) / (waf + reads * (waf - 1.0)) * 100.0
    );
    value((1.0 - load * held).clamp(0.02, 0.6), from)
}

/// Returns the load at which greedy GC has this amplification, by bisection.
fn load_of(waf: f64) -> f64 {
    const PAGES_OF_A_BLOCK: u32 = 4_096;
    let (mut low, mut high) = (0.05, 0.99);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        match fowler_theory::gc::greedy(middle, PAGES_OF_A_BLOCK) {
            Some(there) if there < waf => low = middle,
            _ => high = middle,
        }
    }
    f64::midpoint(low, high)
}
