//! Jobs of one `flow` issue requests in proportion to their weights: a job ahead of its share waits
//! for the others.

use fowler_units::Span;

/// Membership of a process in a flow, a group of processes that issue requests in proportion to
/// their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of the flow that the process belongs to: the processes of a flow issue requests in
    /// proportion to their weights.
    pub flow: u32,
    /// Weight of the process in its flow, at least 1.
    pub weight: u32,
    /// `flow_sleep` of fio: time before a process that has issued more than its share of the flow's
    /// requests checks the shares again; zero means until another process has issued a request.
    pub sleep: Span,
}

/// Progress of a process relative to the others of its flow. Only running processes count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    /// Number of requests that the process itself has issued.
    pub issued: u64,
    /// Number of requests issued by the other processes of the flow, and the sum of their weights,
    /// which wraps as in fio.
    pub others: (u64, u32),
    /// True while the process waits for the other processes of its flow.
    pub held: bool,
}

impl Standing {
    /// Returns true if the process has issued more than its share of the flow's requests.
    pub fn is_ahead(&self, weight: u32) -> bool {
        let (issued, weights) = self.others;
        let sum = u128::from(weight.wrapping_add(weights));
        u128::from(self.issued) * sum > u128::from(weight) * u128::from(self.issued + issued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_ahead_alone_or_exactly_at_its_share() {
        for (issued, others, weight, ahead) in [
            (0, (0, 3), 1, false),
            (1, (0, 3), 1, true),
            (1, (3, 3), 1, false),
            (2, (6, 3), 1, false),
            (3, (6, 3), 1, true),
            (9, (0, 0), 1, false),
            (u64::MAX / 2, (u64::MAX / 2, 1000), 1000, false),
            // As fio 3.33 does: beside -8 a weight of 1 gets one request, and -2 and 2 do not limit
            // each other.
            (1_000, (1, 1), 8_u32.wrapping_neg(), false),
            (1, (1_000, 8_u32.wrapping_neg()), 1, true),
            (1_000, (0, 2), 2_u32.wrapping_neg(), false),
            (1_000, (0, 2_u32.wrapping_neg()), 2, false),
        ] {
            let standing = Standing { issued, others, held: false };
            assert_eq!(standing.is_ahead(weight), ahead, "{standing:?} of weight {weight}");
        }
    }
}
