//! An expectation: the value by theory, the measured value, and the allowed deviation.

use fowler_experiment::workload::Control;

/// A group of expectations, which are values that theory predicts for the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Latencies on one die under Poisson arrivals.
    Die,
    /// The extra wait of a read behind a suspension, equation (1) of the P/E suspension paper.
    ExtraWait,
    /// The peak throughput of an array of dies, and the latency of a single request.
    Bounds,
    /// Write amplification by garbage collection.
    Gc,
    /// Consistency checks that every run of the validation must pass, such as Little's law, and
    /// channels and dies busy for at most 100 % of the time.
    Laws,
}

impl Group {
    /// All groups of expectations (values that theory predicts for the simulator), in the order of
    /// the validation's report.
    pub const ALL: [Group; 5] =
        [Group::Die, Group::ExtraWait, Group::Bounds, Group::Gc, Group::Laws];

    /// Returns the name of a group of expectations (values that theory predicts for the simulator)
    /// on the command line and in the report.
    pub fn name(self) -> &'static str {
        ["die", "extra wait", "bounds", "gc", "laws"][self as usize]
    }

    /// Describes in words which values of theory and of the simulation the validation compares in
    /// this group (such as garbage collection), and how.
    pub fn about(self) -> &'static str {
        match self {
            Group::Die => {
                "one die, Poisson arrivals: FIFO by Pollaczek-Khinchine (reads alone: \
    M/D/1), read priority by Cobham, suspension by exact means; independent replications"
            }
            Group::ExtraWait => {
                "eq. (1) of the paper: a read that arrives at a uniformly random moment of a \
    program; measured at the midpoints of all 8 ns intervals, which gives the exact integral"
            }
            Group::Bounds => {
                "one-page requests on a drive whose host link takes no time: alone (one at a \
    time) exact to the nanosecond; saturated within 99 to 100 % of the capacity of channels or dies"
            }
            Group::Gc => {
                "write amplification of one plane in steady state under one-page writes to \
    random pages, one at a time; mean-field limits that exclude reserved blocks; batch means"
            }
            Group::Laws => {
                "laws of every run (`laws` in its JSON): Little's law exact to the nanosecond, \
    and channels and dies never busier than 100 %"
            }
        }
    }
}

/// The allowed deviation of a simulated value from theory, as a share of theory: from `low` to
/// `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    /// Lowest allowed deviation of the simulated from the theoretical value, as a share of the
    /// latter: zero or negative.
    pub low: f64,
    /// Highest allowed deviation of the simulated value from the theoretical one, as a share of the
    /// latter; at least zero.
    pub high: f64,
}

impl Allowed {
    /// Allows the simulated value to deviate from the theoretical one by `share` of the latter, up
    /// or down.
    pub(crate) fn within(share: f64) -> Allowed {
        Allowed { low: -share, high: share }
    }

    /// Allows the simulated value to deviate from the theoretical one only by the rounding of
    /// floating-point numbers: 1e-9 of the latter.
    pub(crate) fn exactly() -> Allowed {
        Allowed::within(1e-9)
    }
}

/// A value that theory predicts (an expectation), and the value that the simulator measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Group of the validation, such as a queueing formula, to which the comparison of a
    /// theoretical with a simulated value belongs.
    pub group: Group,
    /// Name of the quantity for which the validation compares a theoretical with a simulated value.
    pub what: String,
    /// Unit of the theoretical and of the simulated value that the validation compares; may be
    /// empty.
    pub unit: &'static str,
    /// Value that theory predicts for the simulated drive, such as a mean response time.
    pub theory: f64,
    /// Half the width of the 95 % confidence interval of the value that the validation measured in
    /// simulation; `None` if that value is not random.
    pub measured: f64,
    /// Half the width of the 95 % confidence interval of the simulated value; `None` if that value
    /// is not random.
    pub half_width: Option<f64>,
    /// Deviation of the simulated value from the theoretical one up to which the two agree.
    pub allowed: Allowed,
    /// Number of requests that the validation simulated to measure the value that it compares with
    /// theory.
    pub requests: u64,
}

impl Row {
    /// Returns the deviation of the simulated value from the theoretical one, as a share of the
    /// latter.
    pub fn deviation(&self) -> f64 {
        if self.measured == self.theory { 0.0 } else { self.measured / self.theory - 1.0 }
    }

    /// Returns true if the simulated value deviates from the theoretical one by no more than the
    /// validation allows.
    pub fn agrees(&self) -> bool {
        (self.allowed.low..=self.allowed.high).contains(&self.deviation())
    }
}

/// Function that simulates the runs of one case of the validation (such as one die at one load) and
/// compares them with theory, one row for each value; `None` if the user stopped it.
type Simulate = Box<dyn Fn(Control<'_>) -> Option<Vec<Row>> + Send + Sync>;

/// A point of the validation: values that theory predicts (expectations) and one simulation
/// measures.
pub(crate) struct Point {
    pub group: Group,
    pub title: String,
    pub simulate: Simulate,
}

impl Point {
    pub fn new(
        group: Group,
        title: String,
        simulate: impl Fn(Control<'_>) -> Option<Vec<Row>> + Send + Sync + 'static,
    ) -> Point {
        Point { group, title, simulate: Box::new(simulate) }
    }

    /// Returns true if `text`, in any case, selects these expectations of the validation: it is the
    /// name of their group, or part of their title.
    pub fn is_named(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        match Group::ALL.into_iter().find(|group| group.name() == text) {
            Some(group) => self.group == group,
            None => self.title.to_lowercase().contains(&text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_counts_either_way_and_nothing_is_no_agreement() {
        let row = |theory, measured, allowed| Row {
            group: Group::Die,
            what: String::new(),
            unit: "us",
            theory,
            measured,
            half_width: None,
            allowed,
            requests: 0,
        };
        let one_percent = Allowed::within(0.01);
        assert!(row(100.0, 100.9, one_percent).agrees() && row(100.0, 99.1, one_percent).agrees());
        assert!(!row(100.0, 101.1, one_percent).agrees());
        assert!(!row(100.0, 98.9, one_percent).agrees());
        assert!(!row(100.0, f64::NAN, one_percent).agrees());
        assert!(!row(0.0, 1.0, one_percent).agrees() && row(0.0, 0.0, one_percent).agrees());
        let at_most = Allowed { low: -0.01, high: 0.0 };
        assert!(row(100.0, 99.5, at_most).agrees() && !row(100.0, 100.1, at_most).agrees());
    }
}
