//! The price of a combination of systems: memory of the controller and buffers in the dies,
//! computed from the configuration of the drive; beside it, the spare capacity that the combination
//! takes. See docs/decisions/together.md, "What does a system cost?".

use super::combination::{Combination, short};
use super::plan::{Evidence, Place, Plan};
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::hotness::Detector;
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::sensing::{Input, SensingKind};
use fowler_device::policy::step::StepKind;
use fowler_device::policy::suspension::SuspensionKind;
use fowler_device::policy::throttle::{Params as Throttle, ThrottleKind};
use fowler_device::{Config, Layout, ReadHot};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_units::Geometry;

/// The kind of memory in which a system keeps something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    /// Memory of the controller.
    Dram,
    /// Flash pages that hold no data of the host. They are taken from the spare capacity of a drive
    /// whose host has as much as any other's.
    Spare,
    /// Page buffers in the flash dies.
    Dies,
}

impl Store {
    pub const ALL: [Store; 3] = [Store::Dram, Store::Spare, Store::Dies];

    fn name(self) -> &'static str {
        ["controller memory", "spare capacity", "buffers in the dies"][self as usize]
    }
}

/// Bytes in each kind of memory, in the order of [`Store::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Price(pub [f64; 3]);

impl Price {
    /// Returns the bytes of controller memory and of buffers in the dies, by which combinations are
    /// compared. Spare capacity is left out: the drive that is measured lacks what a combination
    /// takes of it, so its cost is in wear and life already.
    pub fn paid(self) -> [f64; 2] {
        [Store::Dram, Store::Dies].map(|store| self.0[store as usize])
    }
}

/// Something that a system keeps in memory, on a drive of the ablation study.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// Description, for tables, of the data that a system keeps.
    what: &'static str,
    /// Kind of memory that holds the data of a system.
    pub store: Store,
    pub bytes: f64,
    /// Source of the size for each entry: a paper, the implementation, or an assumption.
    source: &'static str,
}

/// Size of a time stamp of a page or a block.
const STAMP_BYTES: f64 = 4.0;
/// Size of a mapping entry. Assumed: a page number of 32 bits.
const ENTRY_BYTES: f64 = 4.0;
/// Size of the measured strength of a block. Assumed: one of 256 steps.
const STRENGTH_BYTES: f64 = 1.0;
/// Size of the counters of read and write hits of a buffered page, 16 bits each.
const COUNTERS_BYTES: f64 = 4.0;
/// Size of an access class (HIRE, section 3.3: two bits).
const CLASS_BYTES: f64 = 0.25;
/// Size of the pages written in one window of demand.
const DEMAND_BYTES: f64 = 8.0;
/// Size of a flag for each stripe.
const FLAG_BYTES: f64 = 0.125;
/// Size of the counter of pages in worn blocks that each stripe has (DA-RAID-5's PEA counter).
const WORN_BYTES: f64 = 1.0;
/// Size of the counter of reads of a block. DA-RAID-5, section III-C, has 1 MB for 256 GB, which is
/// 262,144 blocks of 1 MB.
const READS_BYTES: f64 = 4.0;

/// Returns the price of a combination on a drive.
pub(super) fn total(items: &[Item]) -> Price {
    let of = |store| items.iter().filter(move |it| it.store == store).map(|it| it.bytes);
    Price(Store::ALL.map(|store| of(store).fold(0.0, |sum, bytes| sum + bytes)))
}

/// Returns what a drive keeps for the systems it has, which `bare`, the same drive without any of
/// them, does not keep.
///
/// # Errors
/// Every reason why a configuration cannot work.
pub(super) fn items(config: &Config, bare: &Config) -> Result<Vec<Item>, Diagnostics> {
    let layout = |it: &Config| {
        let refused = |refusals: Vec<_>| {
            let what = format!("a drive of the study cannot be laid out: {refusals:?}");
            Diagnostics::from(Diagnostic::new("", what))
        };
        it.layout().map_err(refused)
    };
    let (own, none) = (layout(config)?, layout(bare)?);
    let mut all = Inventory(Vec::new());
    all.add_of_schedules_and_voltages(config, &own);
    let streams = f64::from(own.reserve_blocks.saturating_sub(none.reserve_blocks));
    let Geometry { pages_per_block, page_size, .. } = own.geometry;
    let block = f64::from(pages_per_block) * page_size.0 as f64;
    all.add(
        true,
        "open blocks of the streams, in each plane",
        (Store::Spare, streams * f64::from(own.geometry.planes()) * block),
        "as implemented",
    );
    let predicts = matches!(config.throttle.name, ThrottleKind::Ready | ThrottleKind::Dynamic);
    // The windows of the study stand for those of a real drive, which are ten minutes long.
    let real = Throttle::default();
    let windows = (real.history.as_s() / real.window.as_s()).max(2.0);
    all.add(
        predicts,
        "the demand of each window of a day",
        (Store::Dram, DEMAND_BYTES * windows),
        "64 bits, windows of ten minutes, as implemented",
    );
    all.add_of_redundancy(config, &own);
    Ok(all.0)
}

/// Everything that a drive keeps for its systems.
struct Inventory(Vec<Item>);

impl Inventory {
    /// Adds an item if the drive keeps it and it has bytes.
    fn add(
        &mut self,
        is_kept: bool,
        what: &'static str,
        (store, bytes): (Store, f64),
        source: &'static str,
    ) {
        self.0.extend((is_kept && bytes > 0.0).then_some(Item { what, store, bytes, source }));
    }

    /// Adds what suspension, the order of requests, steps and voltages need.
    fn add_of_schedules_and_voltages(&mut self, config: &Config, own: &Layout) {
        let geometry = &own.geometry;
        let (pages, blocks) = (f64::from(geometry.pages()), f64::from(geometry.blocks()));
        let page = geometry.page_size.0 as f64;
        let suspends = config.suspension.name != SuspensionKind::Never;
        self.add(
            suspends && config.suspension.shadow_buffer,
            "a page of shadow buffer for each plane",
            (Store::Dies, f64::from(geometry.planes()) * page),
            "PES, section 4",
        );
        let models_age =
            config.sensing.name == SensingKind::Model && config.sensing.knows(Input::Age);
        // RHIO's order serves the read of the youngest data first, however pages are sensed.
        self.add(
            models_age || config.die_order.name == DieOrderKind::Rhio,
            "a time stamp for each physical page",
            (Store::Dram, STAMP_BYTES * pages),
            "32 bits, as implemented",
        );
        self.add(
            config.step.name == StepKind::ByStrength,
            "the strength of each block",
            (Store::Dram, STRENGTH_BYTES * blocks),
            "8 bits (assumed)",
        );
        let counts = config.hotness.uses(Detector::BufferHits);
        self.add(
            counts,
            "hit counters of each buffered page",
            (Store::Dram, COUNTERS_BYTES * f64::from(own.frames)),
            "32 bits, as implemented",
        );
        self.add(
            counts,
            "the class of each block",
            (Store::Dram, CLASS_BYTES * blocks),
            "2 bits (HIRE, section 3.3), one for each block as implemented",
        );
        self.add(
            counts && config.buffer.read_hot == ReadHot::OnEvict,
            "the class of each mapping entry",
            (Store::Dram, CLASS_BYTES * f64::from(own.mapped_pages)),
            "2 bits, HIRE, section 3.3",
        );
    }

    /// Adds what parity, its cache and its stages need.
    fn add_of_redundancy(&mut self, config: &Config, own: &Layout) {
        let geometry = &own.geometry;
        let (blocks, page) = (f64::from(geometry.blocks()), geometry.page_size.0 as f64);
        let stripes = f64::from(config.stripes());
        self.add(
            true,
            "a parity page for each stripe",
            (Store::Spare, stripes * page),
            "as configured",
        );
        self.add(
            true,
            "the mapping of parity pages",
            (Store::Dram, ENTRY_BYTES * stripes),
            "32 bits (assumed)",
        );
        self.add(
            config.redundancy.has_stripes(),
            "the parity cache",
            (Store::Dram, f64::from(own.parities) * page),
            "as configured",
        );
        let has_stages =
            matches!(config.redundancy.name, RedundancyKind::ByStage | RedundancyKind::WearAware);
        self.add(
            has_stages,
            "a flag for each stripe with parity",
            (Store::Dram, FLAG_BYTES * stripes),
            "1 bit, as implemented",
        );
        self.add(
            has_stages,
            "the number of pages in worn blocks, for each stripe",
            (Store::Dram, WORN_BYTES * stripes),
            "8 bits, as implemented",
        );
        let refreshes = has_stages || config.redundancy.name == RedundancyKind::DisturbLimiting;
        self.add(
            refreshes,
            "a time stamp for each block that is refreshed",
            (Store::Dram, STAMP_BYTES * blocks),
            "32 bits (assumed)",
        );
        self.add(
            refreshes,
            "the number of reads of each block that is refreshed",
            (Store::Dram, READS_BYTES * blocks),
            "32 bits, DA-RAID-5, section III-C",
        );
    }
}

impl Plan {
    /// Returns what the first drive of the study keeps under each combination of systems.
    pub(super) fn prices(&self) -> Result<Vec<(Combination, Vec<Item>)>, Diagnostics> {
        let age = self.age.last().expect("a study has ages");
        let place = Place { drive: 0, age, column: "" };
        let bare = self.config(place, 0)?;
        let of = |of: Combination| Ok((of, items(&self.config(place, of)?, &bare)?));
        self.combinations().into_iter().map(of).collect()
    }
}

/// Size of a unit in which prices are shown.
pub(super) const KIB: f64 = 1024.0;

impl Evidence {
    /// Returns the table of prices: what each system and each alternative keeps, and all five
    /// together; `None` if the study compares no prices.
    pub(super) fn price(&self) -> Option<Sheet> {
        let title = "Memory that each system needs over the life of the drive, by kind. Spare capacity that a system takes \
                     is no price: its cost is in the measured wear and life";
        let heads = ["system", "keeps", "in", "KiB", "size of an entry from"];
        let mut sheet = Sheet::new("price", title, &heads);
        let factors = &self.plan.factor;
        let all = Combination::from(self.plan.subsets() - 1);
        let singles = |of: &Combination| of.subset.count_ones() == 1 || *of == all;
        let prices = self.prices.iter().filter(|(of, _)| singles(of));
        for (of, items) in prices {
            let name = match of.replacement(factors) {
                Some((factor, it)) => format!("{} (for {})", it.shown_name(), short(&factor.name)),
                None if *of == all => "all five".into(),
                None => of.named(factors),
            };
            let mut row = |what: &str, (store, bytes): (&str, f64), source: &str| {
                let kib = Cell::number(Some(bytes / KIB));
                sheet.row(vec![
                    name.as_str().into(),
                    what.into(),
                    store.into(),
                    kib,
                    source.into(),
                ]);
            };
            if *of == all {
                for (store, bytes) in Store::ALL.into_iter().zip(total(items).0) {
                    row("in total", (store.name(), bytes), "what systems share is counted once");
                }
                continue;
            }
            for item in items {
                row(item.what, (item.store.name(), item.bytes), item.source);
            }
            if items.is_empty() {
                row("nothing", ("", 0.0), "");
            }
        }
        (!sheet.rows.is_empty()).then_some(sheet)
    }
}
