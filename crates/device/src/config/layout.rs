//! The sizes that follow from a configuration. A configuration that cannot work is rejected, with
//! all reasons and their numbers.

use crate::config::reliability::{ModelKind, NoModel, RateTable, StrengthSource};
use crate::config::{Ack, Config, OpBase, PlaneMode, ProgramErase, constraints};
use crate::event::Event;
use crate::policy::die_order::{DEADLINE_GRAIN, DEADLINES_MAX};
use crate::policy::hotness::Detector;
use crate::policy::placement::Dies;
use crate::policy::voltage::VoltageKind;
use crate::policy::wear::WearKind;
use fowler_physics::ldpc::Ldpc;
use fowler_physics::rber::ModelError;
use fowler_physics::table::TableError;
use fowler_units::{Bytes, Geometry, Span};

/// Sizes of a drive that follow from its configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Geometry of the flash array as simulated: independent planes count as dies with one plane.
    pub geometry: Geometry,
    /// Size of a mapping unit: a page or, on drives with superblocks, possibly a part of one.
    pub page_size: Bytes,
    /// Maximum number of mapping units that one program command stores.
    pub command_pages: u32,
    /// Physical capacity of the flash, spare included.
    pub raw: Bytes,
    /// Capacity of the drive that is visible to the host.
    pub logical: Bytes,
    /// Number of pages (mapping units) visible to the host.
    pub logical_pages: u32,
    /// Number of pages in the mapping: host pages, and the parity pages of their stripes.
    pub mapped_pages: u32,
    /// Number of entries of the parity cache.
    pub parities: u32,
    /// Number of reclaim units: blocks, or superblocks.
    pub reclaim_units: u32,
    /// Number of erase operations that erase a reclaim unit: a superblock is erased die by die.
    pub erases_of_reclaim_unit: u32,
    /// Number of blocks in each plane that data never fills: the open blocks and GC's last erased
    /// block.
    pub reserve_blocks: u32,
    /// Number of page frames in the write buffer.
    pub frames: u32,
    /// Maximum number of flash transactions in flight.
    pub transactions: usize,
}

impl Layout {
    /// Returns the number of physical pages of the drive, each of [`Layout::page_size`].
    pub fn pages(&self) -> u64 {
        self.raw.0 / self.page_size.0
    }

    /// Returns the spare capacity as a share of the raw and of the logical capacity.
    pub fn over_provisioning(&self) -> (f64, f64) {
        let spare = (self.raw.0 - self.logical.0) as f64;
        (spare / self.raw.0 as f64, spare / self.logical.0 as f64)
    }

    /// Returns the maximum number of logical pages whose data one plane holds.
    pub fn plane_limit(&self) -> u32 {
        (self.geometry.blocks_per_plane - self.reserve_blocks) * self.geometry.pages_per_block
    }
}

/// The maximum number of physical pages of a drive. The map numbers pages with 32 bits, one of
/// which tells if a page is in the buffer.
pub(crate) const PAGES_MAX: u64 = (1 << 31) - 1;

/// A reason why a configuration cannot work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Configuration keys whose values make the configuration impossible.
    pub keys: Vec<&'static str>,
    /// Problem of the configuration, with the rejected values.
    pub what: String,
    /// A way to change the configuration so that it works.
    pub hint: Option<String>,
}

/// The reasons, collected so far, why a configuration cannot work.
pub(crate) struct Refusals(Vec<Refusal>);

impl Refusals {
    pub(crate) fn unless(
        &mut self,
        works: bool,
        keys: &[&'static str],
        what: impl FnOnce() -> String,
    ) {
        if !works {
            self.0.push(Refusal { keys: keys.to_vec(), what: what(), hint: None });
        }
    }

    /// Records, unless `works`, a reason why a configuration cannot work, with a hint at a remedy.
    pub(crate) fn unless_hinted(
        &mut self,
        works: bool,
        keys: &[&'static str],
        what: impl FnOnce() -> String,
        hint: impl FnOnce() -> String,
    ) {
        if !works {
            self.0.push(Refusal { keys: keys.to_vec(), what: what(), hint: Some(hint()) });
        }
    }
}

/// Maximum number of pages in a stripe unit (consecutive pages placed on one die).
const STRIPE_UNIT_MOST: u32 = 1024;
/// Maximum number of pages in one stripe unit of every die together. The table of the striping
/// order has one entry for each of these pages.
const STRIPE_UNITS_MOST: u64 = 1 << 24;

/// Minimum time between two measurements of block strength on one die. Reading the page for a
/// measurement, in idle time, takes about a tenth of it (0.1 ms).
const EVERY_LEAST: Span = Span::ms(1);

/// Maximum age of data at the first request. Page timestamps hold nine years, the run included.
pub(crate) const OLDEST_MOST: Span = Span(1827 * 24 * HOUR.0);

/// Maximum rate of uncorrectable errors (UBER): a million times the specification of any drive.
const UBER_MOST: f64 = 1e-6;

const HOUR: Span = Span(3_600_000_000_000);

/// Returns the configuration keys to name in the error message if a cell model cannot work, for the
/// reason `why`: the constants that cause it. With `word_lines`, cells are programmed by word
/// lines, whose program step is a key of `aging`.
fn constants_of(why: &ModelError, word_lines: bool) -> &'static [&'static str] {
    match why {
        ModelError::TooGood { .. } | ModelError::TooBad { .. } if word_lines => {
            &["reliability.cells.rber_unworn", "aging.step_share", "reliability.cells.erased_sd"]
        }
        ModelError::NoAmount { .. } => &["reliability.cells"],
        ModelError::NotAscending => &[
            "reliability.cells.erased",
            "reliability.cells.programmed_1",
            "reliability.cells.programmed_2",
            "reliability.cells.programmed_3",
        ],
        ModelError::Healing { .. } => &[
            "reliability.cells.growth_mean",
            "reliability.cells.growth_sd",
            "reliability.cells.growth_bound",
        ],
        ModelError::Bits { .. } => &["reliability.model", "flash.word_line"],
        ModelError::TooGood { .. } | ModelError::TooBad { .. } => &[
            "reliability.cells.rber_unworn",
            "reliability.cells.step",
            "reliability.cells.erased_sd",
        ],
    }
}

const TABLE: [&str; 4] = [
    "reliability.table.rates",
    "reliability.table.cycles",
    "reliability.table.ages",
    "reliability.model",
];

/// Rejects an error table whose rows do not match its axes.
fn refuse_shape(table: &RateTable, refusals: &mut Refusals) {
    let RateTable { cycles, ages, rates } = table;
    let what = match rates.iter().position(|row| row.len() != ages.len()) {
        Some(at) if rates.len() == cycles.len() => {
            format!("rates in row {}: {}; expected {}", at + 1, rates[at].len(), ages.len())
        }
        _ => format!("rows of rates: {}; expected {}", rates.len(), cycles.len()),
    };
    refusals.unless_hinted(
        false,
        &TABLE,
        || what,
        || "give one row for each entry of cycles, with one rate for each entry of ages".into(),
    );
}

/// Maximum number of reported errors of the table of bit error rates: enough to see the problem.
const SHOWN: usize = 10;

fn refuse_table(table: &RateTable, wrong: &[TableError], refusals: &mut Refusals) {
    let point = |cycles: usize, age: usize| {
        format!(
            "{:?} at {} cycles and {}",
            table.rates[cycles][age], table.cycles[cycles], table.ages[age]
        )
    };
    let [rates, axis_of_cycles, axis_of_ages, model] = TABLE;
    for (at, why) in wrong.iter().enumerate().take(SHOWN) {
        let (key, what) = match *why {
            TableError::Axis { axis: "cycles", index, value } => (
                axis_of_cycles,
                format!(
                    "P/E cycles of the table must ascend from 0 or more: item {} is {value}",
                    index + 1
                ),
            ),
            TableError::Axis { index, .. } => (
                axis_of_ages,
                format!("data ages must ascend: table item {} is {}", index + 1, table.ages[index]),
            ),
            TableError::Rate { cycles, age, .. } => (
                rates,
                format!("table error rates must be above 0 and below 0.5: {}", point(cycles, age)),
            ),
            TableError::Falls { cycles, age } => (
                rates,
                format!("table error rates must not fall with wear or age: {}", point(cycles, age)),
            ),
            TableError::Size { .. } => (rates, "the table has no cycles or no ages".into()),
            TableError::Settings => (rates, why.to_string()),
        };
        let more = wrong.len() - wrong.len().min(SHOWN);
        let rest =
            if at + 1 == SHOWN && more > 0 { format!("; and {more} more") } else { String::new() };
        refusals.unless(false, &[key, model], || what + &rest);
    }
}

impl Config {
    /// Returns the numbers of logical and physical pages, buffer frames and other sizes that follow
    /// from the configuration of the drive.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    pub fn layout(&self) -> Result<Layout, Vec<Refusal>> {
        let mut refusals = Refusals(Vec::new());
        self.refuse_geometry(&mut refusals);
        self.refuse_timing(&mut refusals);
        self.refuse_queues(&mut refusals);
        self.refuse_unmet(constraints::HANDLES, &mut refusals);
        self.refuse_stripe_unit(&mut refusals);
        self.refuse_cells(&mut refusals);
        self.refuse_uses(&mut refusals);
        self.refuse_unmet(constraints::VOLTAGES, &mut refusals);
        self.refuse_unmet(constraints::TRANSFERS, &mut refusals);
        self.refuse_unmet(constraints::EVICTION, &mut refusals);
        self.refuse_redundancy(&mut refusals);
        self.refuse_scrub(&mut refusals);
        self.refuse_bad_blocks(&mut refusals);
        self.refuse_unmet(constraints::CUT_PROGRAMS, &mut refusals);
        self.refuse_superblocks(&mut refusals);
        refusals.0.extend(self.refuse_life());
        if refusals.0.is_empty() && self.ftl.has_superblocks() {
            return Ok(self.superblock_sizes());
        }
        if refusals.0.is_empty() {
            let layout = self.sizes();
            self.refuse_space(&layout, &mut refusals);
            self.refuse_dies(&layout, &mut refusals);
            self.refuse_share_of_a_die(&layout, &mut refusals);
            if refusals.0.is_empty() {
                return Ok(layout);
            }
        }
        Err(refusals.0)
    }

    fn refuse_geometry(&self, refusals: &mut Refusals) {
        let g = &self.geometry;
        for (key, count) in [
            ("geometry.channels", g.channels),
            ("geometry.chips_per_channel", g.chips_per_channel),
            ("geometry.dies_per_chip", g.dies_per_chip),
            ("geometry.planes_per_die", g.planes_per_die),
            ("geometry.blocks_per_plane", g.blocks_per_plane),
            ("geometry.pages_per_block", g.pages_per_block),
        ] {
            refusals.unless(count > 0, &[key], || format!("{key} is 0; expected at least 1"));
        }
        refusals.unless(g.planes_per_die <= 32, &["geometry.planes_per_die"], || {
            format!("{} planes per die; expected at most 32", g.planes_per_die)
        });
        refusals.unless(g.pages_per_block <= 65_535, &["geometry.pages_per_block"], || {
            format!("{} pages per block; expected at most 65535", g.pages_per_block)
        });
        let size = g.page_size.0;
        let fits = size >= 512 && size.is_multiple_of(512) && size <= 1 << 20;
        refusals.unless(fits, &["geometry.page_size"], || {
            format!("a page of {size} bytes; expected a multiple of 512 bytes, at most 1 MiB")
        });
        let pages = g.pages_checked();
        refusals.unless(pages.is_some_and(|pages| pages <= PAGES_MAX), &["geometry"], || {
            let pages = pages.map_or("more than 2^64".into(), |pages| pages.to_string());
            format!("{pages} physical pages; expected at most {}", PAGES_MAX)
        });
        let op = self.over_provisioning;
        let range = match self.over_provisioning_base {
            OpBase::Raw => (0.0..1.0).contains(&op),
            OpBase::Logical => (0.0..1e6).contains(&op),
        };
        refusals.unless(range, &["geometry.over_provisioning"], || {
            format!(
                "over-provisioning of {op} of {:?} capacity; expected 0 to below 1 of Raw, \
                 or to below 1e6 of Logical",
                self.over_provisioning_base
            )
        });
    }

    fn refuse_timing(&self, refusals: &mut Refusals) {
        let t = &self.timing;
        let positive = t.read.values().iter().all(|&read| read > Span::ZERO);
        refusals.unless(positive, &["timing.read"], || "a read time of 0; expected more".into());
        let iterations = t.program_iterations.values();
        let sane = iterations.iter().all(|&count| (1..=100_000).contains(&count));
        refusals.unless(sane, &["timing.program_iterations"], || {
            format!("{iterations:?} program iterations; expected 1 to 100000")
        });
        let longest = iterations.iter().copied().max().map_or(0, u64::from);
        let program = u128::from(t.program_phase.0) + u128::from(t.verify_phase.0);
        let bearable = program * u128::from(longest) <= u128::from(HOUR.0);
        refusals.unless(bearable, &["timing.program_iterations", "timing.program_phase"], || {
            format!("{longest} program iterations of {program} ns; expected at most one hour")
        });
        let times = [
            ("timing.bus_transfer", t.bus_transfer),
            ("timing.read", t.read.values().iter().copied().max().unwrap_or_default()),
            ("timing.program_phase", t.program_phase),
            ("timing.verify_phase", t.verify_phase),
            ("timing.erase_pulse", t.erase_pulse),
            ("timing.erase_verify", t.erase_verify),
            ("timing.voltage_reset", t.voltage_reset),
            ("timing.buffer_load", t.buffer_load),
            ("flash.decode", self.flash.decode),
            ("flash.read_command", self.flash.read_command),
            ("host.command", self.host.command),
            ("host.page_list", self.host.page_list),
            ("host.core_time", self.host.core_time),
            ("host.latency", self.host.latency),
            ("host.trim", self.host.trim),
            ("gc.idle_after", self.gc.idle_after),
        ];
        for (key, time) in times {
            refusals.unless(time <= HOUR, &[key], || {
                format!("{key} is {time}; expected at most one hour")
            });
        }
        // A trim may have millions of entries.
        let entry = self.host.trim_entry;
        refusals.unless(entry <= Span::ms(1), &["host.trim_entry"], || {
            format!("a trim takes {entry} per mapping entry; expected at most 1 ms")
        });
        if self.program_erase == ProgramErase::Nominal {
            let programs = t.program_phase + t.verify_phase > Span::ZERO;
            refusals.unless_hinted(
                programs,
                &["timing.program_phase"],
                || "the program phase and the verify phase are both 0".into(),
                || "for PE0 of the PES paper, set timing.program_erase = \"zero\"".into(),
            );
        }
    }

    fn refuse_queues(&self, refusals: &mut Refusals) {
        let q = &self.queue;
        for (key, count) in [
            ("queue.depth", q.depth),
            ("queue.max_reads", q.max_reads),
            ("queue.max_writes", q.max_writes),
        ] {
            let works = (1..=Event::INDEX_MAX).contains(&count);
            refusals.unless(works, &[key], || {
                format!("{key} is {count}; expected 1 to {}", Event::INDEX_MAX)
            });
        }
        let p = &self.precondition;
        refusals.unless((0.0..=1.0).contains(&p.fill), &["precondition.fill"], || {
            format!("a fill of {}; expected a share of the logical pages, 0 to 1", p.fill)
        });
        refusals
            .unless(self.victim.d > 0, &["policy.victim.d"], || "0; expected at least 1".into());
        let line = self.redundancy.word_line;
        refusals.unless((1..=16).contains(&line), &["policy.redundancy.word_line"], || {
            format!("{line} pages in a word line; expected 1 to 16")
        });
    }

    /// Checks the size of a stripe unit. See docs/decisions/blocks.md, "How much of a request lies
    /// on one die?".
    fn refuse_stripe_unit(&self, refusals: &mut Refusals) {
        let unit = self.placement.stripe_unit;
        refusals.unless(
            (1..=STRIPE_UNIT_MOST).contains(&unit),
            &["policy.placement.stripe_unit"],
            || format!("stripe units of {unit} pages; 1 to {STRIPE_UNIT_MOST} are possible"),
        );
        let striped = self.redundancy.has_stripes() && !self.ftl.has_superblocks();
        let free = unit == 1 || !striped;
        refusals.unless(free, &["policy.placement.stripe_unit", "policy.redundancy"], || {
            format!(
                "stripe units of {unit} pages; expected 1: with parity, stripes determine the chips"
            )
        });
    }

    /// Refuses stripe units by which addresses assign more pages to a die than it can hold: if the
    /// pages do not divide evenly, the first dies get up to one stripe unit more than the last.
    fn refuse_share_of_a_die(&self, layout: &Layout, refusals: &mut Refusals) {
        let unit = self.placement.stripe_unit;
        if unit == 1 {
            return;
        }
        let units = u64::from(layout.geometry.dies()) * u64::from(unit);
        let keys = ["policy.placement.stripe_unit", "geometry.channels"];
        refusals.unless(units <= STRIPE_UNITS_MOST, &keys, || {
            format!("one stripe unit per die is {units} pages in all; {STRIPE_UNITS_MOST} at most")
        });
        if units > STRIPE_UNITS_MOST || self.placement.dies != Dies::ByAddress {
            return;
        }
        let row = unit * layout.geometry.dies();
        let (rows, rest) = (layout.mapped_pages / row, layout.mapped_pages % row);
        let most = rows * unit + rest.min(unit);
        let room = layout.geometry.planes_per_die * layout.plane_limit();
        let keys = ["policy.placement.stripe_unit", "geometry.over_provisioning"];
        refusals.unless(most <= room, &keys, || {
            format!("addresses assign {most} pages to one die, which can hold {room}")
        });
    }

    fn refuse_cells(&self, refusals: &mut Refusals) {
        self.refuse_deadline(refusals);
        let reliability = &self.reliability;
        refusals.unless(
            (0.0..=UBER_MOST).contains(&reliability.uber),
            &["reliability.uber"],
            || {
                format!(
                    "{} uncorrectable errors per bit; expected 0 to {UBER_MOST:e}",
                    reliability.uber
                )
            },
        );
        if reliability.model == ModelKind::Off {
            return;
        }
        refusals.unless((1..=3).contains(&reliability.levels), &["reliability.levels"], || {
            format!("{} levels of soft sensing; expected 1 to 3", reliability.levels)
        });
        self.refuse_cell_model(refusals);
        if let Err(why) = Ldpc::hire(&reliability.cells) {
            let keys = [
                "reliability.cells.correctable_3",
                "reliability.cells.correctable_9",
                "reliability.cells.correctable_21",
            ];
            refusals.unless(false, &keys, || why.to_string());
        }
        let read = reliability.model != ModelKind::ByVoltage || reliability.levels == 3;
        refusals.unless(read, &["reliability.levels", "reliability.model"], || {
            format!(
                "{} sensing levels; expected 3, one for each set of voltages",
                reliability.levels
            )
        });
        let covered =
            reliability.model != ModelKind::Table || self.voltage.name == VoltageKind::Nominal;
        refusals.unless(covered, &["policy.voltage", "reliability.model"], || {
            "reliability.table covers only pages programmed at nominal voltages".into()
        });
        refusals.unless(reliability.oldest <= OLDEST_MOST, &["reliability.oldest"], || {
            format!("data that is {} old; expected at most five years", reliability.oldest)
        });
        let planes = match self.plane_mode {
            PlaneMode::Lockstep => self.geometry.planes_per_die,
            PlaneMode::Independent => 1,
        };
        let blocks = u64::from(planes) * u64::from(self.geometry.blocks_per_plane);
        let least = EVERY_LEAST * blocks;
        refusals.unless_hinted(
            reliability.strength == StrengthSource::Oracle || reliability.measure_every >= least,
            &["reliability.measure_every"],
            || {
                format!(
                    "a die cannot measure the strength of its {blocks} blocks once every {}",
                    reliability.measure_every
                )
            },
            || {
                format!(
                    "set reliability.measure_every to {least} or more, so that the die has \
                     {EVERY_LEAST} for the measurement of each block"
                )
            },
        );
    }

    fn refuse_cell_model(&self, refusals: &mut Refusals) {
        let reliability = &self.reliability;
        let word_lines = self.ftl.has_superblocks() && reliability.model == ModelKind::Analytic;
        match self.cell_model() {
            Ok(_) => {}
            // Impossible distances between these states are refused with the keys of `aging`
            // (`refuse_states`).
            Err(NoModel::Cells(ModelError::NotAscending)) if word_lines => {}
            Err(NoModel::Cells(why)) => {
                refusals.unless(false, constants_of(&why, word_lines), || why.to_string());
            }
            Err(NoModel::Shape) => refuse_shape(&reliability.table, refusals),
            Err(NoModel::Table(wrong)) => refuse_table(&reliability.table, &wrong, refusals),
        }
    }

    fn refuse_deadline(&self, refusals: &mut Refusals) {
        let (deadline, grain) = (self.die_order.deadline, DEADLINE_GRAIN);
        let below = (deadline.0 / grain.0).clamp(1, DEADLINES_MAX);
        let above = (below + 1).min(DEADLINES_MAX);
        refusals.unless_hinted(
            deadline == grain * below,
            &["policy.die_order.deadline"],
            || {
                let most = grain * DEADLINES_MAX;
                format!("a deadline of {deadline}; expected a multiple of {grain} up to {most}")
            },
            || match deadline < grain * below || below == above {
                true => format!("the nearest is \"{}\"", grain * below),
                false => format!("the nearest are \"{}\" and \"{}\"", grain * below, grain * above),
            },
        );
    }

    /// Refuses impossible settings of the access classes of pages (HIRE: read-hot and write-hot).
    /// Accepts a `buffer.read_hot` without effect, because access classes are off, so that one
    /// configuration of a drive serves schemes with and without them.
    fn refuse_uses(&self, refusals: &mut Refusals) {
        let watermark = self.hotness.watermark;
        let tells = watermark > 0.5 && watermark <= 1.0;
        refusals.unless(tells, &["policy.hotness.watermark"], || {
            format!(
                "a watermark of {watermark} for the share of reads, or of writes, in a page's \
                 hits; expected above 0.5 and at most 1, so that no page is both read-hot and \
                 write-hot"
            )
        });
        let (name, page) = match self.ftl.unit {
            None => ("page", self.geometry.page_size),
            Some(unit) => ("mapping unit", unit),
        };
        let small = self.hotness.hot_up_to;
        refusals.unless(small.0 == 0 || small >= page, &["policy.hotness.hot_up_to"], || {
            format!(
                "requests up to {small} write hot data; expected at least one {name} ({page}), or \
                 0B to use the median request size as the limit"
            )
        });
        let pages = self.buffer.size.0 / page.0.max(1);
        let by_use = self.hotness.uses(Detector::BufferHits);
        refusals.unless(!by_use || pages > 0, &["policy.hotness", "buffer.size"], || {
            format!(
                "a buffer of {} holds no page, so the hotness detector `buffer_hits` has no \
                 hits to count",
                self.buffer.size
            )
        });
        refusals.unless_hinted(
            by_use || self.policies.hotness.is_none(),
            &["policy.hotness"],
            || "a custom policy replaces `buffer_hits`, which this drive does not use".into(),
            || "set policy.hotness = [\"buffer_hits\"], or use a scheme such as hire".into(),
        );
        let caches = self.buffer.cache_reads;
        refusals.unless(!caches || pages > 0, &["buffer.cache_reads", "buffer.size"], || {
            format!(
                "a buffer of {} cannot cache reads: it must hold at least one page",
                self.buffer.size
            )
        });
    }

    /// Returns the number of stripes; zero on a drive without them.
    pub fn stripes(&self) -> u32 {
        let (logical, mapped) = self.pages_beside_parity(self.held());
        mapped - logical
    }

    /// Returns the number of physical pages that are not spare capacity, parity pages included.
    fn held(&self) -> u32 {
        let pages = self.geometry.pages();
        match self.over_provisioning_base {
            OpBase::Raw => f64::from(pages) * (1.0 - self.over_provisioning),
            OpBase::Logical => f64::from(pages) / (1.0 + self.over_provisioning),
        }
        .floor() as u32
    }

    fn sizes(&self) -> Layout {
        let mut geometry = self.geometry;
        if self.plane_mode == PlaneMode::Independent {
            geometry.dies_per_chip *= geometry.planes_per_die;
            geometry.planes_per_die = 1;
        }
        let (logical_pages, mapped_pages) = self.pages_beside_parity(self.held());
        let size = geometry.page_size.0;
        let frames = match (self.buffer.size.0 / size, self.buffer.ack) {
            (0, Ack::OnProgram) => u64::from(self.queue.max_writes),
            (frames, _) => frames,
        };
        // The open blocks of each stream of host data and of GC, and the erased block that GC needs
        // to start. Swaps for wear leveling have their own open block.
        let reserve_blocks = 1 + self.open_streams() + u32::from(self.wear.name != WearKind::Off);
        Layout {
            geometry,
            page_size: geometry.page_size,
            command_pages: geometry.planes_per_die,
            raw: geometry.raw(),
            logical: Bytes(u64::from(logical_pages) * size),
            logical_pages,
            mapped_pages,
            parities: self.parities(),
            reclaim_units: geometry.blocks(),
            erases_of_reclaim_unit: 1,
            reserve_blocks,
            frames: frames.min(u64::from(Event::INDEX_MAX)) as u32,
            transactions: self.queue.max_reads as usize
                + 2 * self.queue.max_writes as usize
                + geometry.planes() as usize
                + if self.measures() { geometry.dies() as usize } else { 0 }
                + if self.scrubs() { geometry.dies() as usize } else { 0 }
                + if self.compares_stripes() { geometry.dies() as usize } else { 0 }
                + self.parity_transactions()
                + 16,
        }
    }

    /// Returns true if the controller measures block strengths during the run.
    fn measures(&self) -> bool {
        let reliability = &self.reliability;
        reliability.model != ModelKind::Off && reliability.strength == StrengthSource::Measured
    }

    /// Checks the spare space of planes. See docs/decisions/blocks.md, "What does a plane keep in
    /// reserve?".
    fn refuse_space(&self, layout: &Layout, refusals: &mut Refusals) {
        let g = &layout.geometry;
        refusals.unless(g.dies() <= Event::INDEX_MAX, &["geometry"], || {
            format!("{} dies; expected at most {}", g.dies(), Event::INDEX_MAX)
        });
        refusals.unless(layout.logical_pages > 0, &["geometry.over_provisioning"], || {
            "over-provisioning leaves no capacity for the host".into()
        });
        let (blocks, reserve) = (g.blocks_per_plane, layout.reserve_blocks);
        refusals.unless(blocks > reserve, &["geometry.blocks_per_plane"], || {
            format!("{blocks} blocks per plane; garbage collection alone needs {reserve} of them")
        });
        if blocks > reserve {
            // One page less than all planes together can hold: an overwrite needs its new page
            // before the old one becomes invalid.
            let most = u64::from(g.planes()) * u64::from(layout.plane_limit()) - 1;
            // Rounded up, so that the recommended value works.
            let needed = (1e4 * (1.0 - most as f64 / f64::from(g.pages()))).ceil() / 1e4;
            refusals.unless_hinted(
                u64::from(layout.mapped_pages) <= most,
                &["geometry.over_provisioning", "geometry.blocks_per_plane"],
                || {
                    format!(
                        "the host would see {} pages{} of {} physical ones, but with {reserve} of {blocks} \
                         blocks per plane reserved for garbage collection, only {most} can hold data",
                        layout.logical_pages,
                        match layout.mapped_pages - layout.logical_pages {
                            0 => String::new(),
                            parity => format!(" (plus {parity} of parity)"),
                        },
                        g.pages()
                    )
                },
                || format!("reserve more: an over-provisioning of at least {needed:.4} of raw"),
            );
        }
        let (low, high) = (self.gc.foreground_below, self.gc.background_below);
        refusals.unless(low >= 2 && low < blocks, &["gc.foreground_below"], || {
            format!(
                "foreground GC below {low} erased blocks, of {blocks} per plane; expected 2 to {}",
                blocks - 1
            )
        });
        let order = high >= low && high <= blocks;
        refusals.unless(order, &["gc.background_below", "gc.foreground_below"], || {
            format!("background GC below {high} erased blocks; expected {low} to {blocks}")
        });
        let frames = self.buffer.size.0 / g.page_size.0;
        // A write buffer that never fills only has unused frames; one that caches reads would hold
        // all data. See docs/decisions/cache.md, "Why is a very large buffer refused?".
        let fits = !self.buffer.cache_reads || frames <= u64::from(layout.logical_pages);
        refusals.unless(fits, &["buffer.size", "buffer.cache_reads"], || {
            format!("a buffer of {frames} pages; the drive has only {}", layout.logical_pages)
        });
        refusals.unless(frames <= u64::from(Event::INDEX_MAX), &["buffer.size"], || {
            format!("a buffer of {frames} pages; expected at most {}", Event::INDEX_MAX)
        });
        let room = layout.frames > 0;
        refusals.unless(room, &["buffer.size", "buffer.ack"], || {
            format!("a buffer of {} cannot hold a page of {}", self.buffer.size, g.page_size)
        });
    }
}
