//! Patrol scrub: every block is read once in each period, in the order of its die, and moved once
//! the errors of a page reach a margin. Disks are scrubbed in the same order (Oprea and Juels, "A
//! Clean-Slate Look at Disk Scrubbing", FAST 2010, compare it with others).

use super::{Errors, Params, Scrub, Span, Verdict};

/// The scrubbing policy `patrol`: every block is read once in each period, and moved once the
/// errors of a page reach a margin.
#[derive(Clone, Debug)]
pub struct Patrol {
    period: Span,
    margin: f64,
}

impl Patrol {
    pub(super) fn new(params: &Params, _seed: u64) -> Self {
        Self { period: params.period, margin: params.margin }
    }
}

impl Scrub for Patrol {
    fn period(&self) -> Option<Span> {
        Some(self.period)
    }

    /// Returns the decision to move a block if a page of it has many bit errors, unless it would
    /// have as many just after programming: moving it then only wears the drive, and would be
    /// repeated in every scrubbing period.
    fn judge(&mut self, errors: Errors) -> Verdict {
        let many = |share: f64| share >= self.margin;
        match (many(errors.now), many(errors.fresh)) {
            (false, _) => Verdict::Stays,
            (true, false) => Verdict::Moves,
            (true, true) => Verdict::GainsNothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ScrubKind, Verdict};
    use super::*;

    #[test]
    fn a_block_moves_if_its_errors_are_many_and_a_move_lowers_them() {
        let params = Params { name: ScrubKind::Patrol, margin: 0.5, ..Params::default() };
        let cases = [
            (0.49, 0.1, Verdict::Stays),
            (0.5, 0.1, Verdict::Moves),
            (7.0, 0.49, Verdict::Moves),
            (0.6, 0.5, Verdict::GainsNothing),
            (0.1, 0.9, Verdict::Stays),
        ];
        for (now, fresh, verdict) in cases {
            assert_eq!(Patrol::new(&params, 1).judge(Errors { now, fresh }), verdict, "{now}");
        }
    }
}
