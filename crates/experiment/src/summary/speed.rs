//! Simulated time, idle time, and the speed of the simulation.

use super::metric::{Metric, Stored, Unit};
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
            "Share of the simulated time without a request in the drive.",
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
            "Wall-clock time of the simulation on this machine.",
            |it| it.wall_s,
        )
        .stored(Stored::RunOnly),
        Metric::new(
            "requests_per_s",
            Unit::Rate("requests/s"),
            "Requests simulated per second of wall-clock time.",
            Outcome::requests_per_s,
        )
        .stored(Stored::RunOnly),
    ]
}
