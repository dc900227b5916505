//! The facts of a run that rules read: a few numbers, so that a rule can be tested on a case made
//! by hand.

use fowler_device::blame::Part;
use fowler_device::{BySource, Source};
use fowler_experiment::device_spec::Axis;
use fowler_experiment::outcome::Outcome;
use fowler_metrics::{ByKind, Kind, Milestone, Percentile};
use std::collections::BTreeMap;

/// The share of slowest requests that findings call the tail.
pub const TAIL: f64 = 0.01;

/// Results of a run from which rules derive sentences (findings), such as latencies, programs and
/// erases.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facts {
    /// Label of the run: the name of its scheme or, if drives are compared, of its drive.
    pub label: String,
    /// Property in which this run and the runs compared with it differ: scheme or drive.
    pub axis: Axis,
    /// Count and latencies of the requests that the drive completed in the run, by kind of request.
    pub served: ByKind<Served>,
    /// Number of requests that the drive completed in the run: reads, writes and all others.
    pub requests: u64,
    /// Pages that the drive programmed, by source.
    pub programs: BySource<u64>,
    /// Number of blocks that the drive erased.
    pub erases: u64,
    /// True if the drive erased too few blocks for its write amplification to be reported.
    pub withheld: bool,
    /// Number of times that a program or erase was suspended.
    pub suspensions: u64,
    /// Share of the simulated time without a request in the drive, from 0 to 1; `None` for a run
    /// without time.
    pub idle: Option<f64>,
    /// True if requests arrive at their own times (open loop).
    pub open: bool,
    /// Simulated time of the run, in seconds.
    pub simulated_s: f64,
    /// Number of physical pages beyond the pages of data and parity.
    pub spare_pages: u64,
    /// Number of blocks of the drive.
    pub blocks: u64,
    /// Number of host pages that were lost, detected or not, including lost writes.
    pub lost: u64,
    /// True if the run reached the end of its workload.
    pub complete: bool,
    /// The settings of the drive, by their configuration keys.
    pub settings: BTreeMap<String, String>,
    /// Counters of the drive at points of simulated time, each twice as long after the start of the
    /// run as the one before, and at the end of the run.
    pub milestones: Vec<Milestone>,
}

/// Latencies of the reads or of the writes of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Served {
    /// Number of requests of this kind.
    pub count: u64,
    /// Mean latency of the requests, in microseconds; `None` without requests.
    pub mean_us: Option<f64>,
    /// Percentiles of latency that tables show: those with enough requests beyond them.
    pub shown: Vec<Percentile>,
    /// The 99.9th percentile of the latencies, in microseconds; `None` if unknown.
    pub p999_us: Option<f64>,
    /// Sum of the latencies in nanoseconds. Two runs with equal requests, sums and maxima count as
    /// equal.
    pub sum: u128,
    /// Highest latency of the requests of this kind, in nanoseconds.
    pub max: u64,
    /// Share of each cause in the latency of the slowest 1 % of requests, largest first.
    pub tail: Vec<(Part, f64)>,
}

impl Facts {
    /// Collects from a finished run the numbers from which the rules of the report derive sentences
    /// about the results.
    pub fn of(outcome: &Outcome) -> Facts {
        let layout = &outcome.drive.layout;
        let served = |kind: Kind| {
            let latencies = outcome.recorder.latencies(kind);
            let band = outcome.recorder.blame(kind).slowest(TAIL);
            let share = |part: Part| Some((part, band.share(part).filter(|&it| it > 0.0)?));
            Served {
                count: latencies.count(),
                mean_us: latencies.mean_us(),
                shown: Percentile::ALL
                    .into_iter()
                    .filter(|&it| latencies.percentile(it).is_some())
                    .collect(),
                p999_us: latencies.percentile(Percentile::P999).map(|it| it.as_us()),
                sum: latencies.sum(),
                max: latencies.max().map_or(0, |it| it.0),
                tail: band.ranked().into_iter().filter_map(share).collect(),
            }
        };
        let census = outcome.census.as_ref();
        let census = census.map_or(0, |census| census.found() + census.unfound());
        let lost = outcome.losses.map_or(0, |losses| losses.lost_in_all()).max(census);
        Facts {
            label: outcome.drive.label().into(),
            axis: outcome.drive.axis(),
            served: ByKind::from_fn(served),
            requests: outcome.recorder.requests(),
            programs: outcome.counters.programs,
            erases: outcome.counters.erases.sum(),
            withheld: outcome.withheld().is_some(),
            suspensions: outcome.counters.suspensions,
            idle: outcome.idle_share(),
            open: outcome.pacing == fowler_device::Pacing::Open,
            simulated_s: outcome.simulated.as_s(),
            spare_pages: layout.pages() - u64::from(layout.mapped_pages),
            blocks: u64::from(layout.geometry.blocks()),
            lost: lost.max(outcome.power_offs.lost_writes),
            complete: outcome.ending == fowler_experiment::outcome::Ending::Complete,
            settings: settings(&outcome.drive.text),
            milestones: outcome.milestones.clone(),
        }
    }

    /// Returns a phrase with the scheme or the drive of the run: `under rps`, `without a scheme` or
    /// `on nvme-pm9a3`.
    pub(super) fn place(&self) -> String {
        self.axis.place(&self.label)
    }

    /// Returns the scheme or the drive of the run as a noun: `rps`, `the drive as described` or
    /// `nvme-pm9a3`.
    pub(super) fn called(&self) -> &str {
        self.axis.called(&self.label)
    }

    /// Returns true if the runs `self` and `other` served equal numbers of reads, of writes and of
    /// all requests.
    pub fn alike(&self, other: &Facts) -> bool {
        let counts = |run: &Facts| Kind::ALL.map(|kind| run.served[kind].count);
        self.requests == other.requests && counts(self) == counts(other)
    }

    /// Returns pages programmed per page programmed for the host; `None` if the drive erased too
    /// little for this number to be that of steady use.
    pub fn waf(&self) -> Option<f64> {
        fowler_device::waf(&self.programs).filter(|_| !self.withheld)
    }

    /// Returns the number of pages programmed for the host.
    pub fn host_programs(&self) -> u64 {
        self.programs[Source::Host]
    }

    /// Returns two successive intervals of the run, which show if its results are steady: the
    /// second lasts from a time t, between a quarter and half of the run, to the end, and the first
    /// from t / 2 to t. `None` if the run has too few recorded times.
    pub fn parts(&self) -> Option<[Interval; 2]> {
        let end = self.milestones.last()?;
        let at = self.milestones.iter().rposition(|milestone| milestone.at.0 <= end.at.0 / 2)?;
        let (before, from) = (self.milestones.get(at.checked_sub(1)?)?, &self.milestones[at]);
        Some([Interval::of(before, from), Interval::of(from, end)])
    }

    /// Returns command-line flags of `fowler`, with words, that put more load on the drive so that
    /// requests wait for one another more often.
    pub(super) fn more_load(&self) -> &'static str {
        match self.open {
            true => "a higher rate (--speed), or a closed loop (--queue-depth)",
            false => "more outstanding requests (--queue-depth)",
        }
    }
}

/// Counters of a drive between two times of a run at which they were recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// Start of this part of a run, in simulated seconds from the start of the run.
    pub from_s: f64,
    /// End of this part of a run, in simulated seconds from the start of the run.
    pub until_s: f64,
    /// Number of pages that the drive programmed in this part of a run, by source: host, GC and
    /// others.
    pub programs: BySource<u64>,
    /// Number of blocks that the drive erased in this part of a run.
    pub erases: u64,
    /// Mean number of requests outstanding in the drive over this part of a run.
    pub outstanding: f64,
    /// True if the drive was without a request at some time in this part of a run.
    pub drained: bool,
}

impl Interval {
    fn of(from: &Milestone, until: &Milestone) -> Interval {
        let length = until.at - from.at;
        Interval {
            from_s: from.at.as_s(),
            until_s: until.at.as_s(),
            programs: until.programs - from.programs,
            erases: until.erases - from.erases,
            outstanding: (until.outstanding - from.outstanding) as f64 / length.0 as f64,
            drained: until.idle > from.idle,
        }
    }
}

/// Returns the settings of a device file, by their dotted keys.
fn settings(text: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let Ok(table) = text.parse::<toml::Table>() else { return all };
    flatten(String::new(), &toml::Value::Table(table), &mut all);
    all
}

fn flatten(path: String, value: &toml::Value, all: &mut BTreeMap<String, String>) {
    let toml::Value::Table(table) = value else {
        all.insert(path, value.to_string());
        return;
    };
    for (key, value) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        flatten(path, value, all);
    }
}
