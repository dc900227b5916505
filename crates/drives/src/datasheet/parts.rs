//! The dies of a drive, their program, and the spare capacity, from the rates of its data sheet.
//!
//! A data sheet promises a little less than drives do: the sequential write rates of the fitted
//! presets' models lie some percent above the stated ones. Both write rates are taken to be that
//! much higher (`Medians::sequential`).

use super::medians::Medians;
use super::sheet::{RANDOM, Sheet};

/// Pages of a word line, of a block, and bytes of a page: usual for 3D TLC.
pub(super) const WORD_LINE: f64 = 3.0;
pub(super) const PAGES: u32 = 1_536;
pub(super) const PAGE: f64 = 16_384.0;
/// A Gbit in bytes.
const GBIT: f64 = (1_u64 << 27) as f64;
/// Capacities of a die in Gbit. Drives up to 8 TiB usually have 512, larger ones 1,024; all four
/// are tried if the data sheet states a sequential write rate.
const DIES: [f64; 4] = [512.0, 1_024.0, 256.0, 2_048.0];
const LARGE_DRIVE: f64 = (8_u64 << 40) as f64;
/// The highest rate that a TLC die is believed to program, in 10^6 bytes per second: faster writes
/// go into a cache of SLC. The fastest dies published at ISSCC 2021 have 160 to 184.
const DIE_MOST: f64 = 200.0;
/// Share of the link's rate above which a stated sequential rate counts as limited by the link, not
/// by the flash.
const OF_LINK: f64 = 0.85;
/// Number of superblocks of a drive that are open or that GC keeps erased.
const HELD: f64 = 7.0;
/// Smallest write amplification that the random write rate of a data sheet may imply: a sheet that
/// implies less states the rate of a cache.
const WAF_LEAST: f64 = 1.5;
/// Smallest spare capacity of a drive made from a data sheet, as a share of the raw capacity.
const SPARE_LEAST: f64 = 0.02;

/// A number with where it is from.
pub(super) struct Value {
    pub number: f64,
    pub from: String,
}

pub(super) fn value(number: f64, from: impl Into<String>) -> Value {
    Value { number, from: from.into() }
}

/// Spare capacity of a drive, as computed or assumed from its data sheet.
pub(super) struct Spare {
    /// Spare capacity as a share of the raw capacity, parity not counted, with the source of the
    /// number.
    pub value: Value,
    /// Random writes per second that the spare capacity is computed from; `None` if the data sheet
    /// states none.
    pub target: Option<f64>,
}

/// The dies of a drive.
pub(super) struct Parts {
    /// Number of dies: a power of two that holds the capacity.
    pub dies: f64,
    /// Capacity of a die in Gbit.
    pub gbit: f64,
    /// Reason for which a capacity of the die was chosen, in words for the drive file.
    pub from: String,
    /// Program of a word line on all planes of a die with its transfers, in nanoseconds.
    pub program: Value,
    /// Time of the transfers for one program of a word line on all planes of a die, in nanoseconds.
    pub transfers: f64,
    /// Number of pages that one program of a word line on all planes of a die stores.
    pub command: f64,
    /// Number of program commands in a parity stripe, that of the parity included.
    pub parity: f64,
}

impl Parts {
    /// Returns the dies of a drive. As data sheets do not state the capacity of a die, each usual
    /// one is tried: the sequential write rate of the sheet implies a program time for it, and the
    /// capacity whose program time is nearest to the presets' median is chosen.
    pub fn of(sheet: &Sheet, medians: &Medians, notes: &mut Vec<String>) -> Parts {
        let command = medians.planes.round().max(1.0) * WORD_LINE;
        let parity = medians.parity.round().max(2.0);
        let transfers = command * medians.transfer;
        let usual = if sheet.capacity > LARGE_DRIVE { DIES[1] } else { DIES[0] };
        let median = medians.program + transfers;
        let assumed = |from: &str| Parts {
            dies: count(sheet.capacity, usual),
            gbit: usual,
            from: from.into(),
            program: value(
                median,
                format!("[assumed] median of {} fitted presets", medians.presets),
            ),
            transfers,
            command,
            parity,
        };
        let Some(rate) = sheet.seq_write else { return assumed("usual") };
        // One command in so many is parity.
        let programmed = rate * 1e6 * medians.sequential * parity / (parity - 1.0);
        let time = |gbit: f64| count(sheet.capacity, gbit) * command * PAGE / programmed * 1e9;
        let from = |time: f64| {
            format!(
                "[computed] {:.2} times (as drives exceed their data sheets) the stated {rate} MB/s of \
                 sequential writes, which gives {:.2} ms for each program command",
                medians.sequential,
                time / 1e6
            )
        };
        if sheet.link.as_ref().is_some_and(|(_, most)| rate > OF_LINK * most) {
            let limit = time(usual);
            if programmed / count(sheet.capacity, usual) < DIE_MOST * 1e6 {
                notes.push(format!(
                    "`seq_write_mb_s` of {rate} is close to the rate of the link, which may limit \
                     it"
                ));
                let mut parts = assumed("usual");
                if limit < median {
                    parts.program = value(limit, from(limit));
                }
                return parts;
            }
        }
        let believed = |gbit: &f64| {
            let of_a_die = programmed / count(sheet.capacity, *gbit) / 1e6;
            of_a_die < DIE_MOST && time(*gbit) > 1.5 * transfers
        };
        let off = |gbit: &f64| libm::log((time(*gbit) - transfers) / medians.program).abs();
        let nearest = DIES.into_iter().filter(believed).min_by(|a, b| off(a).total_cmp(&off(b)));
        let Some(gbit) = nearest else {
            notes.push(format!(
                "`seq_write_mb_s` of {rate} needs more than {DIE_MOST} MB/s of each TLC die, which none \
                 does: it is the rate of a cache or of more dies, and not used"
            ));
            return assumed("usual");
        };
        Parts {
            dies: count(sheet.capacity, gbit),
            gbit,
            from: "the program time nearest to the presets' median".into(),
            program: value(time(gbit), from(time(gbit))),
            ..assumed("")
        }
    }

    /// Returns the bytes stored when one word line on all planes of every die of the drive is
    /// programmed.
    fn all(&self) -> f64 {
        self.dies * self.command * PAGE
    }

    /// Returns the spare capacity of a drive, computed from its data sheet, as a share of the raw
    /// capacity without parity. `unit` is the mapping unit in bytes; `correction` multiplies the
    /// computed time of a random write.
    ///
    /// At saturation the dies do nothing but program, and read what GC copies, one plane after the
    /// other. A byte that the host writes is programmed `W` times, of which `W - 1` are copies:
    /// sequential rate / random rate = `W + (W - 1) f`, where `f` is the time of the reads of a
    /// command over that of its program. A write smaller than a unit takes the program of a whole
    /// unit, after the read of a page. The spare capacity is the one with which greedy GC has the
    /// write amplification `W`.
    pub fn spare(
        &self,
        sheet: &Sheet,
        medians: &Medians,
        unit: f64,
        correction: f64,
        notes: &mut Vec<String>,
    ) -> Spare {
        let usual = || {
            let from = format!("[assumed] median of {} fitted presets", medians.presets);
            Spare { value: value(medians.spare, from), target: None }
        };
        let Some(random) = sheet.rand_write else { return usual() };
        let of_data = self.all() * (self.parity - 1.0) / self.parity;
        let sequential = of_data / self.program.number * 1e9;
        let sensing = medians.read.iter().sum::<f64>() / medians.read.len() as f64;
        let reads = self.command * (sensing + medians.transfer) / self.program.number;
        let before = if unit > RANDOM { reads * PAGE / unit } else { 0.0 };
        let target = random * medians.sequential;
        let ratio = correction * sequential / (target * unit);
        let waf = (ratio - before + reads) / (1.0 + reads);
        if waf < WAF_LEAST {
            notes.push(format!(
                "`rand_write_iops` of {random} implies a write amplification of {waf:.2}: it is the rate \
                 of a cache or of an empty drive, and not used"
            ));
            return usual();
        }
        // Superblocks held erased hold nothing; their share of a real-size drive is small.
        let superblocks = self.gbit * GBIT / (self.command / WORD_LINE * PAGE * f64::from(PAGES));
        let held = 1.0 - (HELD / superblocks).min(0.2);
        let from = format!(
            "[computed] the {random} random writes a second of the data sheet, times the median ratio of \
             measured to stated sequential writes, give WAF {waf:.2}: GC reads take {:.0} % of die time, \
             and one program command in {} is parity",
            reads * (waf - 1.0) / (waf + reads * (waf - 1.0)) * 100.0,
            self.parity,
        );
        let spare = (1.0 - load_of(waf) * held).clamp(SPARE_LEAST, 0.6);
        if spare <= SPARE_LEAST {
            notes.push(format!(
                "`rand_write_iops` of {random} implies a write amplification of {waf:.0}, which takes \
                 less spare capacity than any drive has: the simulated rate is higher"
            ));
        }
        Spare { value: value(spare, from), target: Some(target) }
    }
}

/// Returns the number of dies of so many Gbit: a power of two that holds the capacity.
fn count(capacity: f64, gbit: f64) -> f64 {
    let mut dies = 2.0;
    while dies * gbit * GBIT < capacity {
        dies *= 2.0;
    }
    dies
}

/// Returns the share of a drive's raw capacity (0 to 1) that user data takes if greedy GC has this
/// write amplification, by bisection.
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
