//! Laws that hold of every run, whatever the drive and the workload: each ties numbers together
//! that were counted in different places. A run that breaks one is wrong, and says so in its JSON.

use super::Outcome;
use fowler_device::reliability::{LevelTimes, ModelKind};
use fowler_device::{Counters, Pacing};
use fowler_metrics::Kind;
use fowler_units::Span;
use serde_json::{Map, Value, json};

/// One law, as a run bears it out: `low <= value <= high`, in nanoseconds (of one request, channel
/// or die).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Law {
    /// Its name in JSON.
    pub name: &'static str,
    /// What it says, in short.
    pub says: &'static str,
    /// The least that the value may be.
    pub low: u128,
    /// What was counted.
    pub value: u128,
    /// The most that the value may be.
    pub high: u128,
}

impl Law {
    /// Whether the run obeys it.
    pub fn holds(&self) -> bool {
        (self.low..=self.high).contains(&self.value)
    }
}

/// Every law of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Laws(pub Vec<Law>);

impl Laws {
    /// Whether the run obeys all of them.
    pub fn hold(&self) -> bool {
        self.0.iter().all(Law::holds)
    }

    /// Each law by name, times in seconds.
    pub fn json(&self) -> Value {
        let seconds = |ns: u128| json!(ns as f64 / 1e9);
        let law = |law: &Law| {
            json!({
                "holds": law.holds(),
                "low_s": seconds(law.low),
                "value_s": seconds(law.value),
                "high_s": seconds(law.high),
            })
        };
        self.0.iter().map(|it| (it.name.to_string(), law(it))).collect::<Map<_, _>>().into()
    }
}

impl Outcome {
    /// The laws, and whether this run obeys them.
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

    /// The parts of every latency sum to it; so all parts sum to all latencies, to the nanosecond.
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

    /// While the drive is not idle there is a request in flight, and no more than may be: the depth
    /// of a closed loop, or all there are.
    fn occupancy(&self) -> Law {
        let busy = u128::from(self.simulated.saturating_sub(self.counters.idle).0);
        let most = match self.pacing {
            Pacing::Open => u128::from(self.recorder.requests()),
            Pacing::Closed { depth } => u128::from(depth),
        };
        Law {
            name: "occupancy",
            says: "busy time <= time integral of requests in flight <= busy time x most",
            low: busy,
            value: self.counters.outstanding,
            high: busy * most,
        }
    }

    /// A page costs one transfer, and a read one at each level that was tried. Operations that the
    /// run ends in the middle of have transferred their pages, but are not counted: one program, of
    /// a page for each plane, and one read, which may have climbed, on each die.
    fn transfers(&self) -> Law {
        let counters = &self.counters;
        let g = &self.drive.layout.geometry;
        let page = u128::from(self.drive.config.effective_timing().bus_transfer.0);
        let programs: u64 = counters.programs.sum();
        let low = u128::from(programs) * page + self.read_transfers();
        let one_read: u128 = self.transfer_by_level().iter().map(|it| u128::from(it.0)).sum();
        let unfinished = u128::from(g.dies()) * (u128::from(g.planes_per_die) * page + one_read);
        // Without a shadow buffer (S7) the data of a suspended program goes over the bus again.
        let again = match self.drive.config.suspension.shadow_buffer {
            true => 0,
            false => u128::from(counters.suspensions) * u128::from(g.planes_per_die) * page,
        };
        Law {
            name: "transfers",
            says: "channel time = pages read or programmed x transfer",
            low,
            value: u128::from(counters.channel_busy.0),
            high: low + unfinished + again,
        }
    }

    /// The transfer of what a read senses, by level.
    fn transfer_by_level(&self) -> Vec<Span> {
        let config = &self.drive.config;
        let timing = config.effective_timing();
        let levels = match config.reliability.model {
            ModelKind::Off => LevelTimes::nominal(&timing),
            _ => LevelTimes::new(&timing, &config.reliability.ldpc()),
        };
        (0..levels.count()).map(|level| levels.transfer(level)).collect()
    }

    /// What the transfers of all reads took, tries that were not enough included.
    /// See docs/decisions/validation.md, "How is channel time checked with several sensing
    /// levels?".
    fn read_transfers(&self) -> u128 {
        let Counters { reads, reads_at, retries_at, .. } = self.counters;
        let tries = |level: usize| match self.drive.config.reliability.model {
            ModelKind::Off => reads.sum(),
            _ => reads_at[level] + retries_at[level],
        };
        let transfers = self.transfer_by_level().into_iter().enumerate();
        transfers.map(|(level, it)| u128::from(tries(level)) * u128::from(it.0)).sum()
    }

    /// A transfer counts when it begins, and may end after the run.
    fn channels(&self) -> Law {
        let g = &self.drive.layout.geometry;
        let timing = self.drive.config.effective_timing();
        let stripe = u128::from(timing.bus_transfer.0) * u128::from(g.planes_per_die);
        let longest = self.transfer_by_level().last().map_or(0, |it| u128::from(it.0)).max(stripe);
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
