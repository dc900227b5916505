//! Laws that hold for every run, whatever the drive and the workload. Each relates numbers that
//! were counted in different places. A run that violates one is wrong, and its JSON reports it.

use super::Outcome;
use crate::json_schema::output::{self, Fact, written};
use fowler_device::reliability::{LevelTimes, ModelKind, RetryCost};
use fowler_device::{Counters, Pacing};
use fowler_metrics::Kind;
use fowler_units::Span;
use serde_json::{Map, Value};

/// A law (consistency check) of a finished run: `low <= value <= high`, where `value` is a time
/// that the run counted (of one request, channel or die) and the bounds follow from other counters,
/// in ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Law {
    /// Name of the consistency check in the JSON of a run.
    pub name: &'static str,
    /// Short statement of the consistency check, as an equation or inequality.
    pub says: &'static str,
    /// Lower bound of the time that this consistency check compares (`value`), derived from other
    /// counters of the run, in nanoseconds.
    pub low: u128,
    /// The checked time, such as the total busy time of all channels, as the run counted it, in
    /// nanoseconds.
    pub value: u128,
    /// Upper bound of the time that this consistency check compares (`value`), derived from other
    /// counters of the run, in nanoseconds.
    pub high: u128,
}

impl Law {
    /// Returns true if a run passed this consistency check of its counters.
    pub fn holds(&self) -> bool {
        (self.low..=self.high).contains(&self.value)
    }

    /// Returns the JSON Schema of a consistency check of a run: true if it holds, bounds and value.
    pub fn schema() -> Value {
        output::schema(&facts())
    }
}

/// Returns the JSON fields of a consistency check of a run: true if it holds, bounds and value in
/// seconds.
fn facts() -> Vec<Fact<Law>> {
    let seconds = |ns: u128| ns as f64 / 1e9;
    vec![
        Fact::new("holds", "True if the run obeys the law.", Law::holds),
        Fact::new("low_s", "Lower bound of the law's value, in seconds.", move |it: &Law| {
            seconds(it.low)
        }),
        Fact::new("value_s", "Value that the run counted, in seconds.", move |it: &Law| {
            seconds(it.value)
        }),
        Fact::new("high_s", "Upper bound of the law's value, in seconds.", move |it: &Law| {
            seconds(it.high)
        }),
    ]
}

/// The laws that every run must obey, applied to one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Laws(pub Vec<Law>);

impl Laws {
    /// Returns true if a run passed all consistency checks of its counters.
    pub fn hold(&self) -> bool {
        self.0.iter().all(Law::holds)
    }

    /// Returns the bounds and the value, in seconds, of each consistency check of the run, by the
    /// name of the check.
    pub fn json(&self) -> Value {
        let facts = facts();
        let law = |law: &Law| (law.name.to_string(), written(&facts, law));
        self.0.iter().map(law).collect::<Map<_, _>>().into()
    }
}

impl Outcome {
    /// Returns the laws that every run must obey, as they apply to this run.
    pub fn laws(&self) -> Laws {
        Laws(vec![
            self.little(),
            self.blame(),
            self.occupancy(),
            self.transfers(),
            self.channels(),
            self.dies(),
        ])
    }

    /// The parts of each latency add up to it, so all parts add up to all latencies, to the
    /// nanosecond.
    fn blame(&self) -> Law {
        let recorder = &self.recorder;
        let latencies = Kind::ALL.iter().map(|&kind| recorder.latencies(kind).sum()).sum();
        let blamed = Kind::ALL.iter().map(|&kind| recorder.blame(kind).slowest(1.0).total()).sum();
        Law {
            name: "blame",
            says: "all parts of blame = all latencies of reads and writes",
            low: latencies,
            value: blamed,
            high: latencies,
        }
    }

    /// Little's law, `L = lambda W`, times the length of the run: exact to the nanosecond, because
    /// a run ends when nothing is in flight.
    fn little(&self) -> Law {
        let latencies = self.recorder.total_latency();
        Law {
            name: "little",
            says: "Little: time integral of requests in flight = sum of latencies",
            low: latencies,
            value: self.counters.outstanding,
            high: latencies,
        }
    }

    /// While the drive is busy there is at least one request in flight, and at most the depth of a
    /// closed loop, or all requests in an open one.
    fn occupancy(&self) -> Law {
        let busy = u128::from(self.simulated.saturating_sub(self.counters.idle).0);
        let most = match self.pacing {
            Pacing::Open => u128::from(self.recorder.requests()),
            Pacing::Closed { depth } => u128::from(depth),
        };
        Law {
            name: "occupancy",
            says: "busy time <= time integral of requests in flight <= busy time x most in flight",
            low: busy,
            value: self.counters.outstanding,
            high: busy * most,
        }
    }

    /// Checks the busy time of all channels: each programmed page is transferred once per program
    /// pass, each read once per sensing level tried. The upper bound adds operations that may be
    /// unfinished: per die a program and a read, those in cache registers, and first passes.
    fn transfers(&self) -> Law {
        let counters = &self.counters;
        let g = &self.drive.layout.geometry;
        let page = u128::from(self.drive.config.effective_timing().bus_transfer.0);
        let programs: u64 = counters.programs.sum();
        let flash = &self.drive.config.flash;
        let passes = u128::from(flash.program_passes);
        let least = if self.drive.config.slc.is_on() { 1 } else { passes };
        let once = u128::from(programs) * page;
        let (fewest, most) = self.read_commands();
        let low = once * least + self.read_transfers() + fewest;
        let by_level = self.transfer_by_level();
        let tries = by_level.len() as u128;
        let one_read: u128 = by_level.iter().map(|it| u128::from(it.0)).sum();
        let layout = &self.drive.layout;
        let parts = u128::from(g.page_size.0 / layout.page_size.0);
        let command = u128::from(layout.command_pages) * page;
        let begun = 3 * u128::from(self.drive.config.open_streams());
        let in_programs = 1 + u128::from(flash.cache_program) + begun * (passes - 1);
        let in_reads = 1 + u128::from(flash.cache_read);
        let read_command = u128::from(flash.read_command.0);
        let one_read = one_read + tries * read_command;
        let unfinished =
            u128::from(g.dies()) * (in_programs * command + in_reads * parts * one_read);
        // Without a shadow buffer (S7) the data of a suspended program is transferred again.
        let again = match self.drive.config.suspension.shadow_buffer {
            true => 0,
            false => u128::from(counters.suspensions) * command,
        };
        Law {
            name: "transfers",
            says: "channel time = pages read or programmed x transfer",
            // Operations left unfinished by the warm-up are counted, but their transfers are not.
            low: if self.warm_up() > 0 { low.saturating_sub(unfinished) } else { low },
            value: u128::from(counters.channel_busy.0),
            high: low + (most - fewest) + once * (passes - least) + unfinished + again,
        }
    }

    /// Returns the time that a read takes to transfer its data over the channel at each sensing
    /// level, from the level with the fewest senses.
    fn transfer_by_level(&self) -> Vec<Span> {
        let levels = LevelTimes::of_drive(&self.drive.config);
        (0..levels.count()).map(|level| levels.transfer(level)).collect()
    }

    /// Returns the time that the transfers of all reads took, failed tries included. Each try
    /// transfers all its data or, by `reliability.retry`, only what its level adds. See
    /// docs/decisions/validation.md, "How is channel time checked with several sensing levels?".
    fn read_transfers(&self) -> u128 {
        let Counters { reads, reads_at, retries_at, aged, .. } = self.counters;
        let reliability = &self.drive.config.reliability;
        let tries = |level: usize| match (reliability.model, reliability.retry) {
            // Each try of a read of aged data on a drive with superblocks transfers all units that
            // were requested.
            (ModelKind::Off, _) => reads.sum() + aged.units,
            (_, RetryCost::Increment) => reads_at[level],
            (_, RetryCost::Whole) => reads_at[level] + retries_at[level],
        };
        let transfers = self.transfer_by_level().into_iter().enumerate();
        transfers.map(|(level, it)| u128::from(tries(level)) * u128::from(it.0)).sum()
    }

    /// Returns the least and the most time for which the commands of all reads held the channel
    /// (`flash.read_command`). Reads are counted in mapping units, of which a command brings one up
    /// to a whole page; a command in flight at the end is not counted yet.
    fn read_commands(&self) -> (u128, u128) {
        let Counters { reads, retries_at, aged, .. } = self.counters;
        let layout = &self.drive.layout;
        let parts = layout.geometry.page_size.0 / layout.page_size.0;
        let tries = reads.sum() + aged.units + retries_at.iter().sum::<u64>();
        let in_flight = 2 * u64::from(layout.geometry.dies());
        let time = |commands: u64| {
            u128::from(commands) * u128::from(self.drive.config.flash.read_command.0)
        };
        (time(reads.sum() / parts), time(tries + in_flight))
    }

    /// Law of the channels: the time of all transfers fits into the time that the channels had. A
    /// transfer is counted when it begins, and may end after the run.
    fn channels(&self) -> Law {
        let g = &self.drive.layout.geometry;
        let timing = self.drive.config.effective_timing();
        let stripe = u128::from(timing.bus_transfer.0) * u128::from(g.planes_per_die);
        let command = u128::from(self.drive.config.flash.read_command.0);
        let read = self.transfer_by_level().last().map_or(0, |it| u128::from(it.0)) + command;
        let longest = read.max(stripe);
        Law {
            name: "channels",
            says: "channel time <= channels x time",
            low: 0,
            value: u128::from(self.counters.channel_busy.0),
            high: u128::from(g.channels) * (u128::from(self.clock.0) + longest),
        }
    }

    fn dies(&self) -> Law {
        Law {
            name: "dies",
            says: "die time <= dies x time",
            low: 0,
            value: u128::from(self.counters.die_busy.0),
            high: u128::from(self.drive.layout.geometry.dies()) * u128::from(self.clock.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_law_is_seen() {
        let law = Law { name: "n", says: "s", low: 5, value: 5, high: 5 };
        let broken = Law { value: 6, ..law.clone() };
        assert!(law.holds() && !broken.holds());
        assert!(Laws(vec![law.clone()]).hold() && !Laws(vec![law, broken.clone()]).hold());
        assert_eq!(Laws(vec![broken]).json()["n"]["holds"], false);
    }
}
