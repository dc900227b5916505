//! Slot: the protection of a stripe.
//!
//! Contract. A policy sets the rules by which stripes are protected: the stripes that have parity,
//! the moment at which parity is written to the flash, the grouping of pages that leave the write
//! buffer, and the refresh of blocks before their data fades. The drive stores the rules and
//! applies them, so that writes do not call the policy. The drive calls the policy again only when
//! it has aged ([`Redundancy::stage`]).

use crate::policy::registry::slot;
use fowler_units::{ByteRate, Bytes, Span};

slot! { $
    /// The redundancy policy of a drive.
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

/// Configuration of the redundancy policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Name of the selected redundancy policy.
    pub name: RedundancyKind,
    /// Number N of data pages in a stripe, 1 to 63. With its parity page a stripe spans N+1 chips.
    pub stripe: u32,
    /// Bytes of controller memory for parity pages that are cached or being written to the flash.
    pub parity_cache: Bytes,
    /// Number of parity cache entries kept free ahead of demand, at most half of all (only where
    /// parity is cached).
    pub parity_ahead: u32,
    /// Protection of the contents of caches against a loss of power.
    pub cache: CachePower,
    /// Number of pages that a capacitor can still program ([`CachePower::Limited`] only).
    pub saved: u32,
    /// Fate of programs that dies have begun when power is lost, unless caches are protected:
    /// finished or cut off.
    pub cut_programs: CutPrograms,
    /// Number of pages in a word line, which are programmed one after another; 1 to 16
    /// ([`CutPrograms::Torn`] only). With a page that is cut off, the earlier ones of its word line
    /// are lost.
    pub word_line: u32,
    /// Number of pages written together above which the parity of their stripe is rebuilt from the
    /// written pages (only with `hc`, the hybrid caching of DA-RAID-5).
    pub n_update: u32,
    /// Treatment of the stripe's pages that cached parity covered before, if more than `n_update`
    /// pages are written together (only with `hc`, the hybrid caching of DA-RAID-5).
    pub above_n_update: AboveNUpdate,
    /// Number of pages above which a write bypasses the write buffer and the parity cache (`hc`
    /// only); zero means that none does.
    pub cut_off: u32,
    /// The order in which a page is programmed and the page it replaces is read for parity.
    pub update_order: UpdateOrder,
    /// True if cached parity is flushed once a data page of its stripe has been moved.
    pub flush_moved: bool,
    /// True if a run ends by writing the contents of the caches to the flash.
    pub flush_at_end: bool,
    /// P/E cycles above which a block counts as worn, `T_p`.
    pub worn_above: u32,
    /// Duration of the erase pulse of a worn block; zero selects that of other blocks.
    pub worn_erase_pulse: Span,
    /// Number of stripes with parity, `L`, above which all stripes get parity (`da_raid5` only).
    pub all_above: u32,
    /// Data age at which a block is refreshed, `T_retention`.
    pub retention: Span,
    /// Number of reads after which a block is refreshed, `T_read`.
    pub reads: u32,
    /// Growth of the refresh limits with wear: `retention` and `reads` are the limits of a block
    /// with `worn_above` cycles; each cycle less multiplies them by e^`limit_growth`, each cycle
    /// more divides them. Zero makes the limits equal for all blocks.
    pub limit_growth: f64,
    /// Number of pages that are rebuilt at the same time; 1 to 16.
    pub rebuild_at_once: u32,
    /// Maximum rate at which unreadable pages are rebuilt from parity in the background, in bytes
    /// per second; zero for no limit.
    pub rebuild_rate: ByteRate,
    /// True if every page carries a version, against which reads are verified. On a drive without
    /// redundancy, true if pages lost to faults are recorded.
    pub integrity: bool,
    /// Checks of every read, besides the correction of its bit errors.
    pub checks: Checks,
}

/// Checks of every read of a page, after the correction of its bit errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// Reads are not checked: all data that the error-correcting code accepts is used.
    Nothing,
    /// Checks of the logical page number, the version and the checksum stored with each page: a
    /// page that does not hold the data last written counts as unreadable.
    Versions,
}

/// The fate of the contents of caches at a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePower {
    /// The contents survive: the drive has a battery or a capacitor for all of them.
    Protected,
    /// The contents of caches are lost with the power.
    Volatile,
    /// A capacitor supplies [`Params::saved`] programs: pages being programmed first, then the
    /// other pages, then parity. All other contents are lost.
    Limited,
}

/// The fate of programs that a die has begun, at a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutPrograms {
    /// The drive has the energy to end the programs that a die has begun.
    Finished,
    /// The programs are cut off and their pages cannot be read, unless a capacitor has energy left
    /// ([`Params::saved`], of which programs in flight take the first share).
    Torn,
}

/// The order of programming a page and reading the page it replaces, where parity is computed from
/// the old page, the old parity and the new page (equation (1) of DA-RAID-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateOrder {
    /// Program first: the replaced page is read when parity is computed.
    ProgramFirst,
    /// Read first: the new page is sent to its die when the read of the page that it replaces is
    /// done.
    ReadFirst,
}

/// The treatment of cached parity by `hc` when more than `N_update` pages are written together
/// (Algorithm 2 of DA-RAID-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AboveNUpdate {
    /// The new parity of the stripe covers the pages written now and those that its cached parity
    /// covered before; the latter are read from the flash.
    Add,
    /// The parity covers only the pages written: no page is read, and until this parity goes to the
    /// flash, no parity covers the other pages of the stripe.
    Replace,
}

/// The stripes that have a parity page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protects {
    /// No stripe of the drive has parity.
    Nothing,
    /// Stripes with a data page in a worn block have parity.
    Worn,
    /// All stripes of the drive have parity.
    All,
}

/// The moment at which the parity of a write goes to the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParityFlush {
    /// Parity is programmed with the data: a write is complete when both are in the flash.
    AtOnce,
    /// Parity is programmed when another stripe needs its entry in the parity cache.
    WhenEvicted,
}

/// The grouping of pages that leave the write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// Each page leaves the write buffer alone, the least recently used first.
    Alone,
    /// Each page leaves the write buffer with all pages of its stripe, the stripe of the least
    /// recently used page first.
    WithStripe,
    /// Each page leaves the write buffer with all pages of its stripe, the least recently used
    /// stripe first.
    StripeByStripe,
}

/// The rules by which a redundancy policy protects stripes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Stripes that have a parity page.
    pub protects: Protects,
    /// Moment at which parity goes to the flash.
    pub parity_flush: ParityFlush,
    /// Grouping of pages that leave the write buffer.
    pub eviction: Eviction,
    /// True if blocks are refreshed once their data reaches the age [`Params::retention`] or has
    /// been read [`Params::reads`] times.
    pub refreshes: bool,
    /// Number of pages written together above which cached parity is rebuilt from the new pages,
    /// without reading the pages that they replace; `None` for never.
    pub n_update: Option<u32>,
    /// Number of pages above which a write bypasses the write buffer and the parity cache; `None`
    /// for never.
    pub cut_off: Option<u32>,
}

impl Rules {
    /// Rules without parity for any stripe and without refresh of blocks.
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
    /// No block of the drive is worn.
    First,
    /// Some blocks of the drive are worn.
    Second,
    /// So many stripes have a page in a worn block that all stripes get parity.
    Third,
}

/// Wear of the drive, as far as a redundancy policy needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age {
    /// P/E cycles of the most worn block of the drive.
    pub cycles: u32,
    /// Number of stripes with a page in a worn block.
    pub worn_stripes: u32,
}

/// A policy that determines how stripes are protected against unreadable pages.
pub trait Redundancy {
    /// Returns the rules by which stripes are protected at a stage of the drive's life.
    fn rules(&self, stage: Stage) -> Rules;
    /// Returns the present stage of the drive's life (which depends on the stripes with worn
    /// blocks) from its wear and from `stage`, the stage so far. Redundancy policies that ignore
    /// wear stay in one stage.
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

/// Returns the default parameters of redundancy: those of the drive of DA-RAID-5, section IV-A,
/// without redundancy.
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
    /// Returns the factor by which the refresh limits of a block with this number of P/E cycles are
    /// longer than those of a block with [`Params::worn_above`]. Assumed: the error rate of cells
    /// grows exponentially with cycles (`limit_growth`) and in proportion to age and to reads.
    pub fn limits_at(&self, cycles: f64) -> f64 {
        libm::exp(self.limit_growth * (f64::from(self.worn_above) - cycles))
    }

    /// Returns true if the drive is divided into stripes.
    pub fn has_stripes(&self) -> bool {
        self.name != RedundancyKind::Unprotected
    }

    /// Returns the number of pages in caches whose contents survive a loss of power.
    pub fn pages_saved(&self) -> usize {
        match self.cache {
            CachePower::Protected => usize::MAX,
            CachePower::Volatile => 0,
            CachePower::Limited => self.saved as usize,
        }
    }

    /// Returns true if programs in flight are cut off at a loss of power.
    pub fn tears_programs(&self) -> bool {
        self.cut_programs == CutPrograms::Torn
    }

    /// Returns true if pages carry versions, so that an unreadable page is noticed.
    pub fn has_versions(&self) -> bool {
        self.has_stripes() && self.integrity
    }

    /// Returns true if a drive without redundancy records the pages lost to faults.
    pub fn notes_lost_pages(&self) -> bool {
        !self.has_stripes() && self.integrity
    }
}
