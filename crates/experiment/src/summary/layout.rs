//! The metrics that the tables of the terminal and of reports show: their order, labels, and
//! conditions.

use super::metric::{Unit, plural};
use super::value;
use crate::outcome::Outcome;
use fowler_metrics::{Kind, Percentile};
use serde_json::Value;

/// Condition for showing a table's row or column; it must hold for any of the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// At least one of the metrics with these paths is above zero in one of the runs.
    Positive(&'static [&'static str]),
    /// The metric with this path has a value in one of the runs.
    Known(&'static str),
    /// In at least one run, the metric with this path (first field) is a number other than its
    /// usual value (second field).
    Not(&'static str, f64),
}

impl When {
    fn holds(self, outcomes: &[Outcome]) -> bool {
        let number = |it: &Outcome, path: &str| value(it, path).as_f64();
        let above = |it: &Outcome, path: &str| number(it, path).is_some_and(|known| known > 0.0);
        outcomes.iter().any(|it| match self {
            When::Positive(paths) => paths.iter().any(|path| above(it, path)),
            When::Known(path) => !value(it, path).is_null(),
            When::Not(path, usual) => number(it, path).is_some_and(|known| known != usual),
        })
    }
}

/// Returns true for the path of a write amplification metric, which a run reports only if it erased
/// enough.
pub fn is_amplification(path: &str) -> bool {
    path == "waf" || path.starts_with("waf_parts.") || path == "flash_bytes_per_host_byte"
}

/// A metric as a row or column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Path of the metric in the summary.
    pub path: String,
    /// Label of the row or column that shows the metric in a table of results.
    pub label: String,
    /// True if the table also shows the ratio of the metric to that of the first run.
    pub ratio: bool,
    when: Vec<When>,
    /// For a metric with numbered parts (a row or column each): the labels of the first part and of
    /// every other; `{}` stands for the part's number. `None` for a single metric.
    below: Option<(&'static str, &'static str)>,
}

impl Shown {
    fn new(path: impl Into<String>, label: impl Into<String>) -> Shown {
        let (path, label) = (path.into(), label.into());
        Shown { path, label, ratio: false, when: Vec::new(), below: None }
    }

    /// Returns an entry that becomes several rows or columns of a table: one for each numbered part
    /// of the metric at `path`, in ascending order. The first one is labeled `first`, every other
    /// `next`, with `{}` replaced by the number of the part.
    fn each(path: &str, first: &'static str, next: &'static str) -> Shown {
        Shown { below: Some((first, next)), ..Shown::new(path, "") }
    }

    fn ratio(self) -> Shown {
        Shown { ratio: true, ..self }
    }

    fn when(mut self, when: When) -> Shown {
        self.when.push(when);
        self
    }

    /// Returns the unit of the metric that the row or column shows.
    pub fn unit(&self) -> Unit {
        super::unit(&self.path)
    }

    /// Returns the value of the metric in a run; null if it is withheld.
    pub fn value(&self, outcome: &Outcome) -> Value {
        match is_amplification(&self.path) && outcome.withheld().is_some() {
            true => Value::Null,
            false => value(outcome, &self.path),
        }
    }

    /// Returns the rows or columns for this metric in the table of results of the runs `outcomes`:
    /// none if a condition for showing it does not hold, several for a metric with numbered parts.
    fn beside(self, outcomes: &[Outcome]) -> Vec<Shown> {
        if !self.when.iter().all(|when| when.holds(outcomes)) {
            return Vec::new();
        }
        let Some((first, next)) = self.below else { return vec![self] };
        let names = |outcome: &Outcome| match value(outcome, &self.path) {
            Value::Object(below) => below.keys().filter_map(|name| name.parse().ok()).collect(),
            _ => Vec::new(),
        };
        let mut names: Vec<u64> = outcomes.iter().flat_map(names).collect();
        names.sort_unstable();
        names.dedup();
        let one = |(index, name): (usize, u64)| {
            let label = if index == 0 { first } else { next }.replace("{}", &name.to_string());
            Shown::new(format!("{}.{name}", self.path), label)
        };
        names.into_iter().enumerate().map(one).collect()
    }
}

/// Returns the rows of the table that `run` and `compare` print for these runs.
pub fn rows(outcomes: &[Outcome]) -> Vec<Shown> {
    all_rows().into_iter().flat_map(|row| row.beside(outcomes)).collect()
}

/// Returns the metric path and the label of every row that `run` and `compare` may print. The label
/// of a subordinate row begins with that of the row above it.
pub fn labels() -> Vec<(String, String)> {
    let mut above = String::new();
    let label = |row: Shown| match row.label.strip_prefix("  ") {
        Some(part) => (row.path, format!("{above}: {part}")),
        None => {
            above.clone_from(&row.label);
            (row.path, row.label)
        }
    };
    all_rows().into_iter().filter(|row| row.below.is_none()).map(label).collect()
}

fn all_rows() -> Vec<Shown> {
    let mut rows: Vec<Shown> = Kind::ALL.into_iter().flat_map(latency_rows).collect();
    rows.extend([
        Shown::new("waf", "write amplification (pages)").ratio(),
        Shown::new("waf_parts.gc", "  of which GC"),
        Shown::new("waf_parts.wear", "  of which wear leveling"),
        Shown::new("waf_parts.refresh", "  of which refresh")
            .when(When::Positive(&["counters.programs.refresh"])),
        Shown::new("waf_parts.parity", "  of which parity")
            .when(When::Positive(&["counters.programs.parity"])),
        Shown::new("flash_bytes_per_host_byte", "flash bytes per host byte").ratio(),
        Shown::new("counters.merge_reads", "reads for partial writes"),
    ]);
    let wearing = [
        Shown::new("wearing_weight", "wearing weight of a program").ratio(),
        Shown::new("counters.programs_at.boosted", "  boosted"),
        Shown::new("counters.programs_at.nominal", "  nominal"),
        Shown::new("counters.programs_at.reduced", "  reduced"),
        Shown::new("pages_rewritten", "pages reprogrammed for reads")
            .when(When::Positive(&["pages_rewritten"])),
    ];
    rows.extend(wearing.map(|row| row.when(OTHER_VOLTAGES)));
    rows.extend([
        Shown::new("erases", "erases"),
        Shown::new("suspensions", "suspensions"),
        Shown::new("suspended_share", "suspended programs, erases"),
        Shown::new("suspension_overhead", "  extra time, share of undisturbed time"),
        Shown::each("reads_at_share", "flash reads with {} references", "  with {}"),
        Shown::new("counters.retries", "  repeated at the next level").when(CELLS_ERR),
        Shown::new("counters.uncorrectable_reads", "  uncorrectable").when(CELLS_ERR),
        Shown::new("scrub.pages", "pages scrubbed").when(SCRUBS),
        Shown::new("scrub.unreadable", "  unreadable").when(SCRUBS),
        Shown::new("scrub.moved", "  blocks moved").when(SCRUBS),
        Shown::new("slc.cached", "units written to the SLC cache").when(CACHES),
        Shown::new("slc.folded", "  folded").when(CACHES),
        Shown::new("slc.erased", "  superblocks erased").when(CACHES),
        Shown::new("aging.retried", "flash reads repeated at other references").when(AGES),
        Shown::new("aging.retries", "  retries").when(AGES),
        Shown::new("counters.uncorrectable_reads", "  uncorrectable").when(AGES),
        Shown::new("aging.refreshed", "  superblocks refreshed").when(AGES),
        Shown::new("bad_blocks.retired", "blocks retired").when(BLOCKS_FAIL),
        Shown::new("bad_blocks.spare", "  spare that is left").when(BLOCKS_FAIL),
        Shown::new("failed_dies.failed", "dies failed for good").when(DIES_FAIL),
        Shown::new("failed_dies.spare", "  spare dies left").when(DIES_FAIL),
        Shown::new("failed_dies.read_only_s", "  read-only after (s)").when(READ_ONLY),
        Shown::new("failed_dies.offline_s", "  out of service after (s)").when(OFFLINE),
        Shown::new("census.lost", "pages lost at the end").when(LOSES),
        Shown::new("census.found", "  found, by any read").when(LOSES),
        Shown::new("census.unfound", "  unfound: the drive does not know yet").when(LOSES),
        Shown::new("redundancy.losses.silent.returned", "pages returned wrong, unnoticed")
            .when(CORRUPTS),
        Shown::new("redundancy.losses.silent.by_versions", "  found by checks").when(CORRUPTS),
        Shown::new("redundancy.losses.silent.by_parity", "  stripes that do not match")
            .when(CORRUPTS),
        Shown::new("census.wrong", "  wrong at the end, unnoticed").when(CORRUPTS),
        Shown::new("prioritized_share.read", "reads served before older ones")
            .when(When::Positive(&["prioritized_share.read"])),
        Shown::new("prioritized_share.write", "writes served before older ones")
            .when(When::Positive(&["prioritized_share.write"])),
        Shown::new("iops", "requests per simulated second"),
        Shown::new("idle_share", "idle"),
    ]);
    rows
}

const CACHES: When = When::Known("slc.cached");
const AGES: When = When::Known("aging.retried");
const CELLS_ERR: When = When::Known("counters.reads_at");
const SCRUBS: When = When::Known("scrub.pages");
const BLOCKS_FAIL: When = When::Known("bad_blocks.retired");
const DIES_FAIL: When = When::Known("failed_dies.failed");
const READ_ONLY: When = When::Known("failed_dies.read_only_s");
const OFFLINE: When = When::Known("failed_dies.offline_s");
const LOSES: When = When::Positive(&["census.lost"]);
const CORRUPTS: When = When::Positive(&["redundancy.losses.silent.made"]);
const OTHER_VOLTAGES: When = When::Not("wearing_weight", 1.0);

fn latency_rows(kind: Kind) -> Vec<Shown> {
    let name = kind.name();
    let when = match kind {
        Kind::Read => When::Positive(&["read.count"]),
        Kind::Write => When::Positive(&["write.count"]),
    };
    let count = Shown::new(format!("{name}.count"), plural(kind));
    let row = |(path, head): (String, String)| Shown::new(path, format!("{name} {head}")).ratio();
    let times = times(kind).into_iter().map(row);
    std::iter::once(count).chain(times).map(|row| row.when(when)).collect()
}

/// Returns the metrics of latencies that tables show, each with the heading of its column.
fn times(kind: Kind) -> Vec<(String, String)> {
    let time =
        |name: &str, head: &str| (format!("{}.{name}_us", kind.name()), format!("{head} (us)"));
    let percentiles = Percentile::ALL.map(|it| time(it.name(), it.label()));
    [vec![time("mean", "mean")], percentiles.to_vec(), vec![time("max", "max")]].concat()
}

/// A table of a report: a row for each run, a column for each metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name of the file to which this table of the report is written, without the extension.
    pub name: &'static str,
    /// Title of the table.
    pub title: &'static str,
    /// Columns of this table of the report, one for each metric.
    pub columns: Vec<Shown>,
}

impl Group {
    fn of(name: &'static str, title: &'static str, columns: &[(&str, &str)]) -> Group {
        let columns = columns.iter().map(|&(path, label)| Shown::new(path, label)).collect();
        Group { name, title, columns }
    }

    /// Returns the table with the columns that have content for these runs; `None` if it would be
    /// empty.
    fn beside(self, outcomes: &[Outcome], when: Option<When>) -> Option<Group> {
        let columns = self.columns.into_iter().flat_map(|column| column.beside(outcomes));
        let columns = columns.collect();
        when.is_none_or(|when| when.holds(outcomes)).then_some(Group { columns, ..self })
    }
}

/// Returns the columns that show the latencies of one kind of request.
pub fn latency(kind: Kind) -> Vec<Shown> {
    let count = Shown::new(format!("{}.count", kind.name()), "count");
    let times = times(kind).into_iter().map(|(path, head)| Shown::new(path, head));
    std::iter::once(count).chain(times).collect()
}

/// Returns the tables of writes and their costs: the first always, the others only if they have
/// content.
pub fn writing(outcomes: &[Outcome]) -> Vec<Group> {
    let throttled = When::Positive(&["counters.delayed_s", "counters.stopped_s"]);
    [
        drive().beside(outcomes, None),
        cells().beside(outcomes, Some(CELLS_ERR)),
        scrub().beside(outcomes, Some(SCRUBS)),
        bad_blocks().beside(outcomes, Some(BLOCKS_FAIL)),
        failed_dies().beside(outcomes, Some(DIES_FAIL)),
        voltages().beside(outcomes, Some(OTHER_VOLTAGES)),
        throttle().beside(outcomes, Some(throttled)),
        protection().beside(outcomes, Some(When::Known("redundancy"))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn drive() -> Group {
    let columns = [
        ("iops", "requests per simulated second"),
        ("idle_share", "idle"),
        ("waf", "write amplification (pages)"),
        ("waf_parts.gc", "of which GC"),
        ("waf_parts.wear", "of which wear leveling"),
        ("waf_parts.refresh", "of which refresh"),
        ("waf_parts.parity", "of which parity"),
        ("flash_bytes_per_host_byte", "flash bytes per host byte"),
        ("erases", "erases"),
        ("counters.block_erases.min", "fewest erases of a block"),
        ("counters.block_erases.mean", "mean erases of a block"),
        ("counters.block_erases.max", "most erases of a block"),
    ];
    Group::of("drive", "The drive", &columns)
}

/// Returns the table of the sensing effort of flash reads, by number of reference voltages.
fn cells() -> Group {
    let label = "flash reads with {} references";
    let columns = [
        ("counters.retries", "repeated at the next level"),
        ("counters.uncorrectable_reads", "uncorrectable"),
        ("census.lost", "pages lost at the end"),
        ("census.found", "found"),
        ("census.unfound", "unfound"),
        ("prioritized_share.read", "reads served before older ones"),
        ("prioritized_share.write", "writes served before older ones"),
    ];
    let mut group = Group::of("cells", "Reads with bit errors", &columns);
    group.columns.insert(0, Shown::each("reads_at_share", label, label));
    group
}

/// Returns the table of scrubbing: pages that the drive read in the background, and errors found.
fn scrub() -> Group {
    let columns = [
        ("scrub.pages", "pages read"),
        ("scrub.under_load", "under load"),
        ("scrub.unreadable", "unreadable"),
        ("scrub.moved", "blocks moved"),
        ("scrub.left", "blocks left: no gain"),
        ("scrub.postponed", "blocks postponed: no room"),
        ("scrub.rounds", "rounds"),
        ("scrub.latest_s", "latest block (s)"),
    ];
    Group::of("scrub", "Scrubbing", &columns)
}

fn bad_blocks() -> Group {
    let columns = [
        ("bad_blocks.retired", "blocks retired"),
        ("bad_blocks.sound", "sound blocks lost with them"),
        ("bad_blocks.programs", "failed programs"),
        ("bad_blocks.erases", "failed erases"),
        ("bad_blocks.delayed", "retired late: no room"),
        ("bad_blocks.spare", "spare that is left"),
        ("bad_blocks.worn_out_s", "spare used up (s)"),
    ];
    Group::of("bad_blocks", "Blocks that fail", &columns)
}

fn failed_dies() -> Group {
    let columns = [
        ("failed_dies.failed", "failed for good"),
        ("failed_dies.replaced", "replaced"),
        ("failed_dies.spare", "spare dies left"),
        ("redundancy.losses.at_risk_s", "rebuilding (s)"),
        ("failed_dies.degraded_stripes", "stripes degraded at the end"),
        ("failed_dies.sharing_stripes", "stripes with two pages on a chip"),
        ("failed_dies.read_only_s", "read-only after (s)"),
        ("failed_dies.offline_s", "out of service after (s)"),
        ("failed_dies.refused", "requests refused"),
    ];
    Group::of("failed_dies", "Dies that fail", &columns)
}

fn voltages() -> Group {
    let columns = [
        ("wearing_weight", "wearing weight of a program"),
        ("counters.programs_at.boosted", "boosted"),
        ("counters.programs_at.nominal", "nominal"),
        ("counters.programs_at.reduced", "reduced"),
        ("pages_rewritten", "pages reprogrammed for reads"),
    ];
    Group::of("voltages", "Voltages of programs", &columns)
}

fn throttle() -> Group {
    let columns = [
        ("counters.delayed_s", "writes delayed (total s)"),
        ("counters.stopped_s", "writes stopped (total s)"),
        ("counters.stops", "stops"),
    ];
    Group::of("throttle", "Throttling", &columns)
}

fn protection() -> Group {
    let columns = [
        ("redundancy.stripes", "stripes"),
        ("redundancy.stage", "stage at the end"),
        ("redundancy.bare", "stripes without parity at the end"),
        ("redundancy.parity_from_rest", "parity from the rest of the stripe"),
        ("redundancy.parity_from_difference", "parity from old data and parity"),
        ("redundancy.refreshed_at_hard_limit", "blocks refreshed at the hard limit"),
        ("redundancy.refreshed_in_idle_time", "in idle time"),
        ("redundancy.losses.unreadable", "unreadable pages"),
        ("redundancy.losses.rebuilt", "rebuilt"),
        ("redundancy.losses.rewritten", "overwritten by the host"),
        ("pages_lost", "found to be lost"),
        ("census.recoverable", "recoverable at the end"),
        ("redundancy.losses.degraded_reads", "degraded reads"),
        ("redundancy.losses.silent.made", "corrupted unnoticed"),
        ("redundancy.losses.silent.by_versions", "found by checks"),
        ("redundancy.losses.silent.corrected", "rebuilt"),
        ("redundancy.losses.silent.returned", "returned wrong"),
        ("redundancy.losses.silent.by_parity", "stripes that do not match"),
        ("census.wrong", "wrong at the end"),
    ];
    Group::of("protection", "Protection and losses", &columns)
}

/// Returns the table of suspensions of programs and erases; `None` if nothing was suspended.
pub fn suspensions(outcomes: &[Outcome]) -> Option<Group> {
    let columns = [
        ("counters.operations", "programs and erases"),
        ("suspended_share", "of them suspended"),
        ("suspensions", "suspensions"),
        ("suspensions_each", "suspensions per suspended operation"),
        ("suspension_overhead", "extra time, share of undisturbed time"),
    ];
    let group = Group::of("suspensions", "Suspensions", &columns);
    group.beside(outcomes, Some(When::Positive(&["suspensions"])))
}

/// Returns the paths of all metrics that tables may show.
#[cfg(test)]
pub(super) fn paths() -> Vec<String> {
    let groups = [
        drive(),
        cells(),
        scrub(),
        bad_blocks(),
        failed_dies(),
        voltages(),
        throttle(),
        protection(),
    ];
    let columns = groups.into_iter().flat_map(|group| group.columns);
    let latencies = Kind::ALL.into_iter().flat_map(latency);
    all_rows().into_iter().chain(columns).chain(latencies).map(|it| it.path).collect()
}
