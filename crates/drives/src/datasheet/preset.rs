//! The drive file of a data sheet.
//!
//! The geometry has the real size: as many dies as the capacity needs, and blocks of the usual
//! length. A smaller drive stands for it where rows are simulated (`protocol/scale.rs`), which
//! keeps what GC holds erased in proportion.

use super::FromSheet;
use super::medians::Medians;
use super::parts::{PAGE, PAGES, Parts, Value, value};
use super::sheet::Sheet;
use std::fmt::Write;

/// Number of channels assumed for a drive made from a data sheet, unless it has fewer dies or the
/// sequential rates need more channels.
const CHANNELS: u32 = 8;
/// Time of the verify in a step (pulse and verify) of a program, in nanoseconds.
const VERIFY: f64 = 4_000.0;
/// Largest number of mapping units (4, 8 or 16 KiB of data) that the drive's map can number.
const UNITS_MOST: f64 = 2_147_483_647.0;
/// Largest share (0 to 1) of a program's time for which a channel may carry data to its dies.
const BUSY_MOST: f64 = 0.6;
/// Length in microseconds of the steps of an erase, which is suspended only between steps, for
/// drives made from data sheets: of 600, 800 and 1,000 us, the length that fits the measured p99
/// and p99.9 of the presets' drive models best (docs/scoreboard.md, "From the data sheet alone").
const ERASE_STEP: u32 = 800;
/// A drive made from a data sheet, and the rate that its spare capacity is computed from.
pub(super) struct Made {
    /// Drive file made from the data sheet, with notes.
    pub drive: FromSheet,
    /// Random writes per second at saturation; `None` if the spare capacity is assumed.
    pub target: Option<f64>,
}

impl Made {
    /// Notes in the drive file the simulated rate of random writes at saturation, and how far it is
    /// from the rate `target` that the data sheet implies.
    pub fn say_simulated(&mut self, rate: f64, target: f64) {
        let note = format!(
            "simulated with 7 % reads: {rate:.0} random writes a second at saturation, {:+.1} % \
             from the rate that the data sheet implies",
            (rate / target - 1.0) * 100.0
        );
        self.say(note);
    }

    /// Adds a note to the notes of the drive made from the data sheet, and as a comment to the text
    /// of the drive file.
    pub fn say(&mut self, note: String) {
        let _grows = writeln!(self.drive.text, "# note: {note}");
        self.drive.notes.push(note);
    }
}

/// Returns the drive file of a data sheet. `correction` multiplies the computed time of a random
/// write, from which the spare capacity follows.
pub(super) fn make(sheet: &Sheet, medians: &Medians, correction: f64) -> Made {
    let mut notes = Vec::new();
    let assumed = assumed(medians);
    let model = sheet.model.clone().unwrap_or_else(|| "a drive".into());
    let planes = medians.planes.round().max(1.0);
    let parts = Parts::of(sheet, medians, &mut notes);
    let size = Size::of(sheet, medians, &parts, correction, &mut notes);
    let Size { blocks, over_provisioning, .. } = size;
    let channels = channels(sheet, medians, &parts);
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
        "[geometry]\nchannels = {} # {}\n\
         chips_per_channel = {} # [computed] {} dies of {} Gbit for the capacity; the size of a die: {}\n\
         dies_per_chip = 1 # [assumed] a chip is a die here\n\
         planes_per_die = {planes} # {assumed}\n\
         blocks_per_plane = {blocks} # [computed] the capacity and its spare\n\
         pages_per_block = {PAGES} # [assumed] usual for 3D TLC\n\
         page_size = \"16KiB\" # [assumed] usual for 3D NAND\n\
         over_provisioning = {over_provisioning:.5} # {}; spare of raw, parity included\n\
         over_provisioning_base = \"raw\"\n\n",
        channels.number,
        channels.from,
        parts.dies / channels.number,
        parts.dies,
        parts.gbit,
        parts.from,
        size.from,
    );
    text += &media(medians, &parts, size.unit);
    text += &policies(medians, steps(medians, &parts).1);
    text += &front_end(sheet, medians, &link, &core);
    text += &parameters(over_provisioning, [one, two, three]);
    note_reads(sheet, medians, &parts, &mut notes);
    note_unused(sheet, &mut notes);
    for note in &notes {
        let _grows = writeln!(text, "# note: {note}");
    }
    Made { drive: FromSheet { model, text, notes }, target: size.target }
}

/// Returns the comment that the drive file has after a value that the data sheet lacks: that it is
/// a median of fitted presets.
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

/// Returns the time in nanoseconds that a request takes on one of the drive's two firmware cores,
/// with the source of the number.
fn core(sheet: &Sheet) -> Value {
    sheet.rand_read.map_or_else(
        || value(2_900.0, "[assumed] 700,000 requests a second, half on each of 2 firmware cores"),
        |rate| {
            value(
                (2e9 / rate).round(),
                format!("[datasheet] {rate} reads a second, half on each of 2 firmware cores"),
            )
        },
    )
}

/// Notes that the dies cannot reach the random read rate of the data sheet. They read one page at a
/// time, as in the presets; with planes that read independently they would reach that rate, but
/// such planes would program independently, too.
fn note_reads(sheet: &Sheet, medians: &Medians, parts: &Parts, notes: &mut Vec<String>) {
    let sensing = medians.read.iter().sum::<f64>() / medians.read.len() as f64;
    let most = parts.dies / (sensing + medians.transfer) * 1e9;
    if let Some(rate) = sheet.rand_read.filter(|rate| *rate > most) {
        notes.push(format!(
            "`rand_read_iops` of {rate} sets the rate of the front end, but is not reached: {} dies that \
             read one page at a time, as in the fitted presets, read some {:.0} pages a second",
            parts.dies,
            (most / 1e3).round() * 1e3
        ));
    }
}

/// Notes the numbers of the data sheet that have no effect on the drive file, with the reason.
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

/// Size of the drive made from a data sheet: blocks, spare capacity and mapping unit.
struct Size {
    /// Number of blocks in a plane.
    blocks: f64,
    /// Spare capacity as a share (0 to 1) of the raw capacity, space of parity included, and the
    /// source of that number.
    over_provisioning: f64,
    from: String,
    /// Random writes per second from which the spare capacity is computed; `None` if it is assumed.
    target: Option<f64>,
    /// Mapping unit in KiB: the smallest that the map can number.
    unit: u32,
}

impl Size {
    fn of(
        sheet: &Sheet,
        medians: &Medians,
        parts: &Parts,
        correction: f64,
        notes: &mut Vec<String>,
    ) -> Size {
        let planes = medians.planes.round().max(1.0);
        // Raw capacity as a whole number of blocks in each plane.
        let superblock = parts.dies * planes * f64::from(PAGES) * PAGE;
        let of_unit = |unit: u32| {
            let mut said = Vec::new();
            let spare = parts.spare(sheet, medians, f64::from(unit << 10), correction, &mut said);
            let shown = (1.0 - spare.value.number) * (1.0 - 1.0 / parts.parity);
            let blocks = (sheet.capacity / shown / superblock).round().max(1.0);
            let over_provisioning = 1.0 - sheet.capacity / (blocks * superblock);
            let (from, target) = (spare.value.from, spare.target);
            let fits = blocks * superblock / f64::from(unit << 10) <= UNITS_MOST;
            (fits, Size { blocks, over_provisioning, from, target, unit }, said)
        };
        let mut units = [4, 8].into_iter().map(of_unit);
        let (_, size, said) = units.find(|(fits, ..)| *fits).unwrap_or_else(|| of_unit(16));
        notes.extend(said);
        size
    }
}

/// Returns the number of channels: as many as the sequential rates need, at least the usual number.
fn channels(sheet: &Sheet, medians: &Medians, parts: &Parts) -> Value {
    let least = f64::from(CHANNELS).min(parts.dies);
    let mut channels = least;
    let reads = |channels: f64| channels * PAGE / medians.transfer * 1e3;
    // Programs overlap with transfers to other dies of the channel.
    let busy = |channels: f64| parts.dies / channels * parts.transfers / parts.program.number;
    while channels < parts.dies
        && (sheet.seq_read.is_some_and(|rate| rate > reads(channels)) || busy(channels) > BUSY_MOST)
    {
        channels *= 2.0;
    }
    let from = if channels > least { "[computed] the sequential rates" } else { "[assumed] usual" };
    value(channels, from)
}

/// Returns the number of steps of a program, and the time of a step (pulse and verify) in
/// nanoseconds. A longer program has more steps, not longer ones.
///
/// A step is about as long as the median time, in whole steps, that a read waits for a program in
/// the fitted presets (123 to 190 us). The median of their configured shortest progress before a
/// suspension (11 to 170 us) would suit no preset.
fn steps(medians: &Medians, parts: &Parts) -> (f64, f64) {
    let cells = parts.program.number - parts.transfers;
    let number = (cells / medians.progress).round().max(1.0);
    (number, (cells / number).max(VERIFY + 1.0))
}

/// Returns the TOML tables that configure the translation layer and the flash, for a drive file
/// made from a data sheet.
fn media(medians: &Medians, parts: &Parts, unit: u32) -> String {
    let mut text = String::new();
    let assumed = assumed(medians);
    let (number, step) = steps(medians, parts);
    let [one, two, three] = [0, 1, 2].map(|page| medians.read[page].round());
    let _grows = write!(
        text,
        "[ftl]\nunit = \"{unit}KiB\" # [assumed] the smallest of 4, 8 and 16 that the map can number\n\
         reclaim_unit = \"superblock\"\nprogram_unit = \"word_line\"\n\n\
         [flash]\nword_line = 3 # [assumed] TLC in one pass\n\n\
         [superblocks]\nparity = {} # {assumed}\n\n\
         [timing]\nbus_transfer = \"{}ns\" # {assumed}\n\
         read = [\"{one}ns\", \"{two}ns\", \"{three}ns\"] # {assumed}\n\
         program_phase = \"{}ns\" # {}\n\
         verify_phase = \"4us\" # [assumed] next to nothing\n\
         program_iterations = {} # [computed] steps as long as the median of what reads wait for in the presets\n\
         erase_pulse = \"4800us\" # [assumed] some 5 ms for 3D TLC\n\
         erase_verify = \"25us\" # [assumed] about a page read\n\
         voltage_reset = \"4us\" # [assumed] a part of each phase\n\
         buffer_load = \"10us\" # [assumed] three pages from the latches of a plane\n\n",
        parts.parity,
        medians.transfer.round(),
        (step - VERIFY).round().max(1.0),
        parts.program.from,
        number,
    );
    text
}

/// Returns the table `[policy]`, which sets the drive's policies, for a drive file made from a data
/// sheet.
fn policies(medians: &Medians, step: f64) -> String {
    let assumed = assumed(medians);
    format!(
        "[policy]\nredundancy = \"raid5\" # [assumed] as in every fitted data-center preset\n\
         die_order = \"read_first\" # [assumed] as in every fitted preset\n\
         suspension.name = \"ips\" # [assumed] as in every fitted preset\n\
         suspension.delay = \"{}ns\" # {assumed}\n\
         suspension.min_progress = \"{}ns\" # [computed] half a step of a program, which is rounded up to one step\n\
         suspension.erase_step = \"{ERASE_STEP}us\" # [fitted] p99 and p99.9 of the models of the fitted presets, together\n\n",
        medians.delay.round(),
        (step / 2.0).round(),
    )
}

/// Returns the TOML tables that configure the write buffer, the queues and the host interface, for
/// a drive file made from a data sheet.
fn front_end(sheet: &Sheet, medians: &Medians, link: &Value, core: &Value) -> String {
    let mut text = String::new();
    let assumed = assumed(medians);
    let sata = sheet.link.as_ref().is_some_and(|(name, _)| name.starts_with("sata"));
    let (depth, allowed) = match sata {
        true => (32, "[datasheet] SATA: 32 commands (NCQ)"),
        false => (4_096, "[assumed] NVMe allows up to 64 Ki"),
    };
    let duplex = match sata {
        true => "duplex = \"half\" # [datasheet] SATA: one frame at a time, in either direction\n",
        false => "",
    };
    let behind = medians.reads_behind.map_or(String::new(), |behind| {
        format!("reads_behind = {} # {assumed}\n", behind.round().max(1.0))
    });
    let _grows = write!(
        text,
        "[buffer]\nsize = \"16MiB\" # [assumed] some milliseconds of writes\n\n\
         [queue]\ndepth = {depth} # {allowed}\n\
         max_reads = {depth} # [assumed] as many as there may be requests\n\
         admission = \"{}\" # [assumed] the most frequent of {} fitted presets\n{behind}\n\
         [host]\nbandwidth = \"{}MB/s\" # {}\n{duplex}latency = \"{}ns\" # {assumed}\n\
         cores = 2 # [assumed] the data sheet gives their rate together\n\
         core_time = \"{}ns\" # {}\n\n\
         [gc]\nforeground_below = 5 # [assumed] as in every fitted preset\n\
         background_below = 5 # [assumed] as in every fitted preset\n\n\
         [precondition]\nfill = 1.0 # [assumed] a full drive\npattern = \"steady\"\n",
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

/// Returns the tables `[[calibrate.parameter]]` of a drive made from a data sheet: the keys that
/// `fowler calibrate` may fit to measured rows, with their bounds.
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
