//! Steps of progress, from which a progress bar is drawn.

use fowler_units::Nanos;

/// A step of the work. Steps come from any thread; they add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// So many more parts are to be done: runs, or expectations.
    Planned(u64),
    /// A drive has been preconditioned up to this share, from 0 to 1.
    Preconditioning(f64),
    /// Requests have been served.
    Served {
        /// How many since the last step of this run.
        requests: u64,
        /// By how much of one part the work has advanced, from 0 to 1.
        of_a_part: f64,
    },
}

/// What a source of requests knows of its length.
#[derive(Clone, Debug)]
pub(crate) enum Length {
    /// Nothing.
    Unknown,
    /// How many requests there are.
    Requests(u64),
    /// When the last of them arrives at the latest.
    Until(Nanos),
    /// How much of a file has been read.
    File(fowler_workload::ReadSoFar),
}

impl Length {
    /// The share that is given after so many requests, the last of which arrived at `at`.
    pub fn share(&self, given: u64, at: Nanos) -> f64 {
        match self {
            Length::Unknown => 0.0,
            Length::Requests(all) => given as f64 / (*all).max(1) as f64,
            Length::Until(end) => at.0 as f64 / end.0.max(1) as f64,
            Length::File(file) => file.share(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_what_is_known() {
        assert_eq!(Length::Requests(200).share(50, Nanos(7)), 0.25);
        assert_eq!(Length::Until(Nanos(1_000)).share(50, Nanos(500)), 0.5);
        assert_eq!(Length::Unknown.share(50, Nanos(500)), 0.0);
        assert_eq!(Length::Requests(0).share(0, Nanos(0)), 0.0);
    }
}
