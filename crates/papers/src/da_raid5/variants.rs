//! The cases and variants of the DA-RAID-5 study: the schemes with their buffers, the drives, the
//! workloads and the length of the runs.

use super::paper::Paper;
use crate::claim::{Choice, Lens};
use serde::Deserialize;

/// A case of the DA-RAID-5 study: a scheme with its write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// Preset of the scheme, which also names the runs.
    pub scheme: &'static str,
    /// Name of the scheme, together with its write buffer, in tables and legends of the DA-RAID-5
    /// study.
    pub name: &'static str,
    pub caches: Caches,
}

/// The write buffer of a scheme in the DA-RAID-5 study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caches {
    None,
    Grouping,
    Data,
}

pub(super) const RAID5: Case = Case { scheme: "raid5", name: "RAID-5", caches: Caches::None };
pub(super) const PPC: Case = Case { scheme: "ppc", name: "PPC", caches: Caches::None };
pub(super) const UDL: Case = Case { scheme: "udl", name: "UDL", caches: Caches::None };
pub(super) const PE_AWARE: Case =
    Case { scheme: "pe_aware", name: "PE-aware", caches: Caches::Grouping };
pub(super) const HC: Case = Case { scheme: "hc", name: "HC", caches: Caches::Data };
/// Drive of the DA-RAID-5 study without redundancy; in every other respect it is the drive of the
/// other schemes, but the capacity that they use for parity holds data.
pub(super) const NONE: Case = Case { scheme: "fifo", name: "no RAID", caches: Caches::None };
pub(super) const CASES: [Case; 5] = [RAID5, PPC, UDL, PE_AWARE, HC];

/// A variant of the DA-RAID-5 study: a drive and workloads under which schemes are run.
#[derive(Clone)]
pub(super) struct Variant {
    pub name: String,
    pub set: Vec<String>,
    pub cases: Vec<Case>,
    pub requests: u64,
    /// Name of the only workload that the DA-RAID-5 study runs on this variant of the drive; `None`
    /// if it runs all workloads.
    pub only: Option<&'static str>,
    /// Request rate as a multiple of the rate at which the drive under RAID-5 is idle for half of
    /// the time.
    pub load: f64,
    /// Locality of the requests of a run in the DA-RAID-5 study; `None` if the stand-in trace keeps
    /// its own locality.
    pub locality: Option<Locality>,
}

/// The locality of requests, in the words of a workload file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Locality {
    /// Size of the address range that requests reach, such as `32MiB`.
    pub space: String,
    /// Placement of popular pages: `scattered` (their neighbours are seldom written) or `lowest`
    /// (their neighbours are popular, too).
    pub popular: String,
    /// Mean number of writes in a row to consecutive addresses, the first one included, in a
    /// workload of the DA-RAID-5 study.
    pub mean_run: f64,
}

/// The moment at which every scheme that the DA-RAID-5 study compares acknowledges a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acknowledged {
    OnInsert,
    OnProgram,
}

impl Acknowledged {
    pub const ALL: [Acknowledged; 2] = [Acknowledged::OnInsert, Acknowledged::OnProgram];

    /// Returns the name of the moment of acknowledgement, in tables and in names of runs.
    pub fn name(self) -> &'static str {
        ["all acknowledge on insertion", "all acknowledge after the program"][self as usize]
    }

    /// Returns the buffer settings that all compared schemes of the DA-RAID-5 study share when they
    /// acknowledge a write on insertion into the buffer, or after its program.
    fn set(self, paper: &Paper) -> Vec<String> {
        let after = || vec!["buffer.size=1MiB".into(), "buffer.ack=on_program".into()];
        if self == Acknowledged::OnInsert { paper.data_cache.clone() } else { after() }
    }
}

/// Wear of the drive's blocks in the DA-RAID-5 study's comparison of schemes that all acknowledge a
/// write at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worn {
    /// The drive at the end of stage 1: no block is worn.
    None,
    /// The drive in stage 2 of its life, as the DA-RAID-5 paper divides it: some blocks are worn.
    Some,
    /// The drive in stage 3: every block is worn.
    All,
}

impl Worn {
    pub const ALL: [Worn; 3] = [Worn::None, Worn::Some, Worn::All];

    /// Returns the words for a drive's wear in the DA-RAID-5 study (no, some or all blocks worn),
    /// for tables and names of runs.
    pub fn name(self) -> &'static str {
        ["no block worn", "some blocks worn", "all blocks worn"][self as usize]
    }

    fn set(self, paper: &Paper) -> &[String] {
        [&[], &paper.worn[..], &paper.all_worn[..]][self as usize]
    }

    /// Returns the schemes that are compared on the drive: PE-aware RAID-5 only in the stages for
    /// which the DA-RAID-5 paper has it.
    pub fn cases(self) -> &'static [Case] {
        [&[RAID5, PPC, UDL, HC][..], &[RAID5, PPC, PE_AWARE], &[RAID5, PPC, HC]][self as usize]
    }
}

/// Returns the name of the variant of the DA-RAID-5 study's drive in which all schemes have the
/// same write buffer and acknowledge a write at the same moment.
pub(super) fn equal(worn: Worn, acknowledged: Acknowledged) -> String {
    format!("{}, {}", acknowledged.name(), worn.name())
}

/// Returns the name of the DA-RAID-5 study's variant in which requests have the locality
/// `locality`: most go to a small popular part of the addresses, in runs of consecutive pages.
pub(super) fn local(locality: &Locality, acknowledged: Acknowledged) -> String {
    let Locality { space, popular, mean_run } = locality;
    format!("{}, {popular} in {space}, runs of {mean_run}", acknowledged.name())
}

pub(super) const AS_IT_IS: &str = "";
/// Name of the variant in which all schemes of the DA-RAID-5 study run on a drive with some worn
/// blocks (stage 2 of its life), where the scheme PE-aware RAID-5 is compared.
pub(super) const STAGE_2: &str = "stage 2";
/// Name of the variant in which all schemes of the DA-RAID-5 study run on a drive more worn than at
/// the paper's stage 2 (some blocks are worn).
pub(super) const MORE_WORN: &str = "more worn";
/// Name of the DA-RAID-5 study's variant with a web search workload that is long enough for its
/// reads to cause refreshes of blocks.
pub(super) const LONG_SEARCH: &str = "long";
/// Name of the DA-RAID-5 study's variant in which GC may move a page of a stripe without writing
/// the stripe's cached parity to the flash.
pub(super) const KEEPS_MOVED: &str = "moved pages kept";
/// The schemes that the DA-RAID-5 study runs on drives with worn blocks.
pub(super) const ON_WORN: [Case; 3] = [RAID5, PPC, PE_AWARE];

pub(super) fn n_update(n: u32) -> String {
    format!("N_update {n}")
}

/// Returns the name of the variant in which, if more than N_update pages of a stripe are written
/// together, cached parity covers only the new pages.
pub(super) fn replaced(n: u32) -> String {
    format!("N_update {n}, coverage replaced")
}

pub(super) fn cache(kib: u32) -> String {
    format!("cache {kib} KiB")
}

pub(super) fn cut_off(pages: u32) -> String {
    format!("cut-off {pages}")
}

pub(super) fn ahead(entries: u32) -> String {
    format!("{entries} entries ahead")
}

pub(super) fn stripe(n: u32) -> String {
    format!("N {n}")
}

pub(super) fn length(requests: u64) -> String {
    format!("{requests} requests")
}

/// The order of an update: whether a page is programmed before or after the page that it replaces
/// is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    ReadFirst,
    ProgramFirst,
}

impl Order {
    pub const ALL: [Order; 2] = [Order::ReadFirst, Order::ProgramFirst];

    /// Returns the configuration's word for the order in which the DA-RAID-5 study updates a page:
    /// the old page is read first, or the new one is programmed first.
    pub fn key(self) -> &'static str {
        ["read_first", "program_first"][self as usize]
    }

    /// Returns the words of the DA-RAID-5 study's tables and legends for the order in which a page
    /// is updated.
    pub fn name(self) -> &'static str {
        ["read first", "program first"][self as usize]
    }
}

/// A point of the DA-RAID-5 study's grid: an order of updates, a stripe size and a load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub order: Order,
    pub stripe: u32,
    pub load: f64,
}

impl Setting {
    /// Returns the variant of the drive in which a scheme runs with this order of parity updates,
    /// stripe size and load. The scheme UDL has no parity, and so no order of updates.
    pub fn variant(self, case: Case) -> String {
        let order = if case == UDL { Order::ReadFirst } else { self.order };
        format!("{}, N {}, load {}", order.name(), self.stripe, self.load)
    }
}

/// Name of the workload on which stripe sizes and lengths of runs are swept: the one with the most
/// writes.
pub(super) const SWEPT: &str = "TPCC";
/// Name of the DA-RAID-5 study's workload whose writes are up to 16 pages long; the cut-off of
/// hybrid caching, above which a write is not cached, is swept on it.
pub(super) const LONG: &str = "Win7";
/// Name of the DA-RAID-5 study's web search workload: it reads so much that blocks are refreshed,
/// and hardly writes.
pub(super) const SEARCH: &str = "websearch";

/// Schemes that the DA-RAID-5 study runs with every combination of update order, stripe size and
/// load.
pub(super) const GRID: [Case; 4] = [RAID5, PPC, UDL, HC];
/// The schemes for which the DA-RAID-5 study varies the number of pages in a stripe.
pub(super) const STRIPED: [Case; 2] = [RAID5, HC];

impl Paper {
    /// Returns all points of the grid of the DA-RAID-5 study: orders of updates, stripe sizes and
    /// loads.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let mut all = Vec::new();
        for order in Order::ALL {
            for &stripe in &self.sweeps.grid_stripes {
                for &load in &self.sweeps.loads {
                    all.push(Setting { order, stripe, load });
                }
            }
        }
        all
    }
}

/// Returns a variant of the DA-RAID-5 study's drive: it is called `name`, has the settings `set`,
/// and runs `requests` requests under each of the schemes `cases`.
fn variant(name: String, set: Vec<String>, cases: &[Case], requests: u64) -> Variant {
    Variant { name, set, cases: cases.to_vec(), requests, only: None, load: 1.0, locality: None }
}

/// Returns the variants of the DA-RAID-5 study, grouped by drive because variants of one drive
/// share its preconditioned images. If `brief`, only those from which the paper's claims are
/// measured.
pub(super) fn variants(paper: &Paper, brief: bool) -> Vec<Vec<Variant>> {
    let s = &paper.sweeps;
    let one = |name, set, cases: &[Case]| variant(name, set, cases, paper.requests);
    let swept = |name, set, cases: &[Case]| variant(name, set, cases, paper.swept_requests);
    let mut first = vec![
        one(AS_IT_IS.into(), Vec::new(), &[RAID5, PPC, UDL, HC, NONE]),
        one(AS_IT_IS.into(), paper.worn.clone(), &[PE_AWARE]),
        one(STAGE_2.into(), paper.worn.clone(), &[RAID5, PPC, NONE]),
    ];
    for &n in &s.n_update {
        first.push(swept(n_update(n), vec![format!("policy.redundancy.n_update={n}")], &[HC]));
    }
    let ends = [s.caches_kib.first(), s.caches_kib.last()];
    for kib in s.caches_kib.iter().filter(|it| !brief || ends.contains(&Some(it))) {
        first.push(swept(cache(*kib), vec![format!("buffer.size={kib}KiB")], &[HC]));
    }
    let long = one(LONG_SEARCH.into(), Vec::new(), &[RAID5, PPC, UDL, NONE]);
    first.push(Variant { only: Some(SEARCH), requests: s.search, ..long });
    for &pages in &s.cut_off {
        let set = vec![format!("policy.redundancy.cut_off={pages}")];
        first.push(Variant { only: Some(LONG), ..swept(cut_off(pages), set, &[HC]) });
    }
    let mut groups = Vec::new();
    for worn in Worn::ALL {
        for acknowledged in Acknowledged::ALL {
            let set = [worn.set(paper), &acknowledged.set(paper)].concat();
            let variant = one(equal(worn, acknowledged), set, worn.cases());
            // The drives without worn blocks are those of the first group.
            if worn == Worn::None { first.push(variant) } else { groups.push(vec![variant]) }
        }
    }
    if brief {
        return [vec![first], groups].concat();
    }
    first.extend(readings(paper));
    for locality in &paper.sweeps.localities {
        for acknowledged in Acknowledged::ALL {
            let set = acknowledged.set(paper);
            let variant = swept(local(locality, acknowledged), set, &[RAID5, PPC, HC]);
            let locality = Some(locality.clone());
            first.push(Variant { only: Some(SWEPT), locality, ..variant });
        }
    }
    let equal = groups;
    let mut groups = [vec![first], equal].concat();
    groups.push(vec![one(MORE_WORN.into(), paper.more_worn.clone(), &ON_WORN)]);
    groups.extend(grid(paper));
    for &n in &s.stripes {
        let mut set = paper.wide.clone();
        set.push(format!("policy.redundancy.stripe={n}"));
        let variant = swept(stripe(n), set, &STRIPED);
        groups.push(vec![Variant { only: Some(SWEPT), load: paper.wide_load, ..variant }]);
    }
    groups
}

/// Returns the options of the choices that the DA-RAID-5 paper leaves open: the order of updates
/// with stripe size and load, and the number of parity cache entries kept free.
pub(super) fn choices(paper: &Paper) -> Vec<Choice> {
    let setting = |it: Setting| {
        let lens = Lens::variant(it.variant(RAID5)).but(UDL.scheme, it.variant(UDL));
        Choice { name: it.variant(RAID5), lens }
    };
    let variant = |name: String| Choice { lens: Lens::variant(name.as_str()), name };
    let ahead = paper.sweeps.parity_ahead.iter().map(|&entries| variant(ahead(entries)));
    paper.settings().into_iter().map(setting).chain(ahead).collect()
}

/// Returns the variants for questions that the DA-RAID-5 paper leaves open, and those with longer
/// runs.
fn readings(paper: &Paper) -> Vec<Variant> {
    let s = &paper.sweeps;
    let swept = |name, set, cases: &[Case]| variant(name, set, cases, paper.swept_requests);
    let mut all = Vec::new();
    for &entries in &s.parity_ahead {
        let set = vec![format!("policy.redundancy.parity_ahead={entries}")];
        all.push(swept(ahead(entries), set, &[PPC, HC]));
    }
    for &n in &s.n_update {
        let set = vec![
            format!("policy.redundancy.n_update={n}"),
            "policy.redundancy.above_n_update=replace".into(),
        ];
        all.push(swept(replaced(n), set, &[HC]));
    }
    let keeps = vec!["policy.redundancy.flush_moved=false".into()];
    all.push(swept(KEEPS_MOVED.into(), keeps, &[PPC, HC]));
    for &requests in &s.lengths {
        let variant = variant(length(requests), Vec::new(), &GRID, requests);
        all.push(Variant { only: Some(SWEPT), ..variant });
    }
    all
}

/// Returns the DA-RAID-5 study's variants with every combination of update order, stripe size and
/// load, in one group for each stripe size.
fn grid(paper: &Paper) -> Vec<Vec<Variant>> {
    let of_stripe = |&n: &u32| {
        let run = |it: Setting| {
            let cases =
                GRID.into_iter().filter(move |&case| case != UDL || it.order == Order::ReadFirst);
            let set = vec![
                format!("policy.redundancy.stripe={n}"),
                format!("policy.redundancy.update_order={}", it.order.key()),
            ];
            let requests = paper.swept_requests;
            let each = move |case| Variant {
                load: it.load,
                ..variant(it.variant(case), set.clone(), &[case], requests)
            };
            cases.map(each).collect::<Vec<_>>()
        };
        let settings = paper.settings();
        settings.iter().filter(|it| it.stripe == n).copied().flat_map(run).collect()
    };
    paper.sweeps.grid_stripes.iter().map(of_stripe).collect()
}
