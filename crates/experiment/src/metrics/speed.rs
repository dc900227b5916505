//! How much time was simulated, how busy the drive was, and how long the simulation took.

use super::{Metric, Stored, Unit};
use crate::outcome::Outcome;

pub(super) fn metrics() -> Vec<Metric> {
    vec![
        Metric::new(
            "simulated_s",
            Unit::Seconds,
            "Simulated time since the first request entered.",
            |it| it.simulated.as_s(),
        ),
        Metric::new(
            "idle_share",
            Unit::Share,
            "Share of the simulated time in which no request was in the drive.",
            Outcome::idle_share,
        ),
        Metric::new(
            "iops",
            Unit::Rate("requests/s"),
            "Requests per simulated second.",
            Outcome::iops,
        ),
        Metric::new(
            "wall_s",
            Unit::Seconds,
            "Time that the simulation took on this machine.",
            |it| it.wall_s,
        )
        .stored(Stored::RunOnly),
        Metric::new(
            "requests_per_s",
            Unit::Rate("requests/s"),
            "Requests simulated in each second of this machine's clock.",
            Outcome::requests_per_s,
        )
        .stored(Stored::RunOnly),
    ]
}
