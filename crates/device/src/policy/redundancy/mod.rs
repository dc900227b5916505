//! Slot: the protection of a stripe.
//!
//! Contract. A policy sets the rules by which stripes are protected: the stripes that have parity,
//! the moment at which parity is written to the flash, the grouping of pages that leave the write
//! buffer, and the refresh of blocks before their data fades. The device stores the rules and
//! applies them, so that writes do not call the policy. The device calls the policy again only when
//! the drive has aged ([`Redundancy::stage`]).

use crate::policy::registry::slot;
use fowler_units::{ByteRate, Bytes, Span};

slot! { $
    /// The redundancy a device was configured with.
    pub enum AnyRedundancy, named RedundancyKind, match by each_redundancy {
        "none" => none::Unprotected needs Nothing, "no redundancy: a page that cannot be read is lost";
        "raid5" => raid5::Raid5 needs Nothing, "N+1 pages over as many chips, with rotating parity that is written with its data";
        "ppc" => ppc::PartialParity needs HomeDie, "as raid5, but parity is cached, and updated there page by page";
        "udl" => udl::DisturbLimiting needs Nothing, "no parity: blocks are refreshed before their data fades or is disturbed";
        "pe_aware" => pe_aware::WearAware needs Nothing, "parity for stripes with a page in a worn block, refresh for the others";
        "hc" => hc::HybridCaching needs HomeDie, "as ppc, but data leaves the buffer by stripe, and parity may be rebuilt from the written pages alone";
        "da_raid5" => da_raid5::ByStage needs Nothing, "udl, then pe_aware, then hc as the drive wears";
    }
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The selected policy.
    pub name: RedundancyKind,
    /// Data pages per stripe, N; 1 to 63. With its parity page a stripe spans N+1 chips.
    pub stripe: u32,
    /// The controller's capacity for parity pages that are cached or being written to the flash.
    pub parity_cache: Bytes,
    /// Where parity is cached: entries kept free ahead of demand, at most half of all.
    pub parity_ahead: u32,
    /// Protection of the cache's contents against power loss.
    pub cache: CachePower,
    /// [`CachePower::Limited`]: the pages that a capacitor still programs.
    pub saved: u32,
    /// The end of programs in flight on power loss, unless caches are protected.
    pub cut_programs: CutPrograms,
    /// [`CutPrograms::Torn`]: pages of a word line, which are programmed one after another; 1 to
    /// 16. A page that is cut off takes the earlier ones with it.
    pub word_line: u32,
    /// `hc`: above this number of pages written together, parity is rebuilt from the written pages.
    pub n_update: u32,
    /// `hc`: the treatment of the other pages that cached parity covered.
    pub above_n_update: AboveNUpdate,
    /// `hc`: writes of more pages than this bypass the caches; zero disables that.
    pub cut_off: u32,
    /// The order in which a page is programmed and the page it replaces is read for parity.
    pub update_order: UpdateOrder,
    /// True if cached parity is flushed once a data page of its stripe has been moved.
    pub flush_moved: bool,
    /// True if a run ends by writing the contents of the caches to the flash.
    pub flush_at_end: bool,
    /// A block with more P/E cycles than this is worn, `T_p`.
    pub worn_above: u32,
    /// The erase pulse of a worn block; zero selects that of other blocks.
    pub worn_erase_pulse: Span,
    /// `da_raid5`: once more than this number of stripes have parity, all stripes get it, `L`.
    pub all_above: u32,
    /// The data age at which a block is refreshed, `T_retention`.
    pub retention: Span,
    /// The number of reads after which a block is refreshed, `T_read`.
    pub reads: u32,
    /// `retention` and `reads` are the limits of a block with `worn_above` cycles. Each cycle less
    /// makes the limits longer by a factor of e^`limit_growth`, each cycle more shorter; zero makes
    /// the limits the same for all blocks.
    pub limit_growth: f64,
    /// Pages rebuilt at once; 1 to 16.
    pub rebuild_at_once: u32,
    /// The maximum rate of rebuilding, in bytes per second; zero: as fast as the drive can.
    pub rebuild_rate: ByteRate,
    /// True if every page carries a version, against which reads are verified. On a drive without
    /// redundancy: true if the pages that faults take are noted.
    pub integrity: bool,
    /// Checks of every read beside the errors of its page.
    pub checks: Checks,
}

/// Checks of every read of a page, once its errors are corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// No check: data that the code takes for right is used.
    Nothing,
    /// Checks of the logical page number, the version and the checksum that each page stores beside
    /// its data: a page that does not hold the data last written reads as a failed one.
    Versions,
}

/// The fate of the contents of caches on power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePower {
    /// The contents survive: the drive has a battery or a capacitor for all of them.
    Protected,
    /// The contents are lost.
    Volatile,
    /// A capacitor keeps the drive up for [`Params::saved`] programs: pages being programmed first,
    /// then the other pages, then parity. The rest is lost.
    Limited,
}

/// The end of programs that a die has begun, on power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutPrograms {
    /// The drive has the energy to end the programs.
    Finished,
    /// The programs are cut off, and their pages cannot be read, unless a capacitor has energy left
    /// ([`Params::saved`], of which programs in flight take the first share).
    Torn,
}

/// The order of programming a page and reading the page it replaces, where parity is computed from
/// the old page, the old parity and the new page (equation (1) of DA-RAID-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateOrder {
    /// Program first: the replaced page is read when parity is computed.
    ProgramFirst,
    /// Read first: the program is sent to its die when the read is done.
    ReadFirst,
}

/// The handling of cached parity by `hc` when more than `N_update` pages are written together
/// (Algorithm 2 of DA-RAID-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AboveNUpdate {
    /// The parity covers the new pages beside the old ones, which are read.
    Add,
    /// The parity covers the new pages alone: nothing is read, and until this parity goes to the
    /// flash, no parity covers the other pages.
    Replace,
}

/// The stripes that have a parity page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protects {
    /// No stripe.
    Nothing,
    /// Stripes with a data page in a worn block.
    Worn,
    /// All stripes.
    All,
}

/// The moment at which the parity of a write goes to the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParityFlush {
    /// Together with the data: a write is complete when both are in the flash.
    AtOnce,
    /// When another stripe needs the entry in the parity cache.
    WhenEvicted,
}

/// The grouping of pages that leave the write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// Each page alone, the least recently used first.
    Alone,
    /// Each page with all pages of its stripe, the stripe of the least recently used page first.
    WithStripe,
    /// Each page with all pages of its stripe, the least recently used stripe first.
    StripeByStripe,
}

/// The rules that a policy sets for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The stripes that have parity.
    pub protects: Protects,
    /// The moment at which parity goes to the flash.
    pub parity_flush: ParityFlush,
    /// The grouping of pages that leave the write buffer.
    pub eviction: Eviction,
    /// True if blocks are refreshed at [`Params::retention`] and [`Params::reads`].
    pub refreshes: bool,
    /// The number of pages written together above which cached parity is rebuilt from the new
    /// pages, without reading the pages that they replace.
    pub n_update: Option<u32>,
    /// The number of pages above which a write bypasses the caches.
    pub cut_off: Option<u32>,
}

impl Rules {
    /// No parity, nothing refreshed.
    pub const NONE: Rules = Rules {
        protects: Protects::Nothing,
        parity_flush: ParityFlush::AtOnce,
        eviction: Eviction::Alone,
        refreshes: false,
        n_update: None,
        cut_off: None,
    };
}

/// A stage in the life of a drive (DA-RAID-5, section III-B).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Stage {
    /// No block is worn.
    First,
    /// Some blocks are worn.
    Second,
    /// So many stripes have a page in a worn block that all stripes get parity.
    Third,
}

/// The age of the drive, as far as a policy knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age {
    /// The P/E cycles of the most worn block.
    pub cycles: u32,
    /// The number of stripes with a page in a worn block.
    pub worn_stripes: u32,
}

/// A rule that determines how stripes are protected.
pub trait Redundancy {
    /// Returns the rules at a stage of life.
    fn rules(&self, stage: Stage) -> Rules;
    /// Returns the present stage of a drive that was at `stage`; most policies have only one.
    fn stage(&self, stage: Stage, _age: &Age) -> Stage {
        stage
    }
}

impl Redundancy for AnyRedundancy {
    fn rules(&self, stage: Stage) -> Rules {
        each_redundancy!(self, policy => policy.rules(stage))
    }

    fn stage(&self, stage: Stage, age: &Age) -> Stage {
        each_redundancy!(self, policy => policy.stage(stage, age))
    }
}

/// The drive of DA-RAID-5, section IV-A, without protection.
impl Default for Params {
    fn default() -> Self {
        Self {
            name: RedundancyKind::Unprotected,
            stripe: 8,
            parity_cache: Bytes(512 << 10),
            parity_ahead: 1,
            cache: CachePower::Protected,
            saved: 0,
            cut_programs: CutPrograms::Finished,
            word_line: 1,
            n_update: 6,
            above_n_update: AboveNUpdate::Add,
            cut_off: 8,
            update_order: UpdateOrder::ProgramFirst,
            flush_moved: false,
            flush_at_end: false,
            worn_above: 15_000,
            worn_erase_pulse: Span::ZERO,
            all_above: 1 << 14,
            retention: Span(381 * 86_400_000_000_000),
            reads: 46_000,
            limit_growth: 0.0,
            rebuild_at_once: 4,
            rebuild_rate: ByteRate(0),
            integrity: false,
            checks: Checks::Nothing,
        }
    }
}

impl Params {
    /// Returns the factor by which the limits of a block with this number of P/E cycles are longer
    /// than those of a block with [`Params::worn_above`]. Assumed: the error rate of cells grows
    /// exponentially with cycles (`limit_growth`) and in proportion to age and to reads.
    pub fn limits_at(&self, cycles: f64) -> f64 {
        libm::exp(self.limit_growth * (f64::from(self.worn_above) - cycles))
    }

    /// Returns true if the drive is divided into stripes.
    pub fn has_stripes(&self) -> bool {
        self.name != RedundancyKind::Unprotected
    }

    /// Returns the number of pages in caches that survive power loss.
    pub fn pages_saved(&self) -> usize {
        match self.cache {
            CachePower::Protected => usize::MAX,
            CachePower::Volatile => 0,
            CachePower::Limited => self.saved as usize,
        }
    }

    /// Returns true if programs in flight are cut off on power loss.
    pub fn tears_programs(&self) -> bool {
        self.cut_programs == CutPrograms::Torn
    }

    /// Returns true if pages carry versions, so that a page that cannot be read is noticed.
    pub fn has_versions(&self) -> bool {
        self.has_stripes() && self.integrity
    }

    /// Returns true if a drive without redundancy notes the pages that faults take.
    pub fn notes_lost_pages(&self) -> bool {
        !self.has_stripes() && self.integrity
    }
}
