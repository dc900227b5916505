//! The law by which blocks fail for good: a program or an erase reports failure, and the controller
//! no longer uses the block.
//!
//! The P/E cycle in which a block fails is drawn from a Weibull distribution, which is usual for
//! times to failure. The distribution is set by the share of blocks that have failed when all have
//! reached their rated endurance. Datasheets bound that share, but do not print the shape: assumed,
//! to be swept.
//!
//! Wear-out is something else, and elsewhere: the bit errors of all blocks rise with their P/E
//! cycles (`rber`, `strength`, and `recovery` for cells that rest).

/// Distribution of the P/E cycles after which blocks fail for good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailureLaw {
    /// Share of blocks that have failed after [`FailureLaw::cycles`], in `[0, 1)`.
    pub share: f64,
    /// Number of P/E cycles after which `share` of the blocks have failed; above 0.
    pub cycles: f64,
    /// Shape of the Weibull distribution; above 0. At 1, blocks fail at a constant rate; above,
    /// ever faster.
    pub shape: f64,
}

impl FailureLaw {
    /// Returns the share of blocks that have failed after `cycles` P/E cycles.
    pub fn failed(&self, cycles: f64) -> f64 {
        -libm::expm1(-self.hazard(cycles))
    }

    /// Returns the P/E cycles, more than `survived`, after which a block fails that has survived
    /// `survived` cycles. `luck`, in `[0, 1)`, is the share of such blocks that fail earlier.
    /// Infinite if no block fails.
    pub fn fails_after(&self, survived: f64, luck: f64) -> f64 {
        let all = -libm::log1p(-self.share);
        if all <= 0.0 {
            return f64::INFINITY;
        }
        let hazard = self.hazard(survived) - libm::log1p(-luck);
        self.cycles * libm::pow(hazard / all, 1.0 / self.shape)
    }

    /// Returns the cumulative hazard of failure after `cycles` P/E cycles.
    fn hazard(&self, cycles: f64) -> f64 {
        -libm::log1p(-self.share) * libm::pow(cycles / self.cycles, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_datasheet_has_failed_at_the_rated_endurance() {
        for shape in [0.5, 1.0, 3.0, 10.0] {
            let law = FailureLaw { share: 0.02, cycles: 3000.0, shape };
            assert!((law.failed(3000.0) - 0.02).abs() < 1e-15, "{shape}");
            assert_eq!(law.failed(0.0), 0.0);
            assert!(law.failed(1e9) <= 1.0 && law.failed(6000.0) > 0.02);
        }
    }

    #[test]
    fn luck_is_the_share_that_fails_earlier() {
        let law = FailureLaw { share: 0.1, cycles: 1500.0, shape: 3.0 };
        for (survived, luck) in [(0.0, 0.0), (0.0, 0.1), (1300.0, 0.5), (20_000.0, 0.9)] {
            let at = law.fails_after(survived, luck);
            let left = 1.0 - law.failed(survived);
            let earlier = (law.failed(at) - law.failed(survived)) / left;
            let exact = left < 1e-9 || (earlier - luck).abs() < 1e-9;
            assert!(at >= survived && exact, "{survived} {luck}: {at}, {earlier}");
        }
        assert_eq!(FailureLaw { share: 0.0, ..law }.fails_after(5.0, 0.5), f64::INFINITY);
    }

    #[test]
    fn a_constant_rate_forgets_the_past() {
        let law = FailureLaw { share: 0.02, cycles: 1000.0, shape: 1.0 };
        let rest = |survived: f64| law.fails_after(survived, 0.3) - survived;
        assert!((rest(0.0) - rest(7000.0)).abs() < 1e-6 * rest(0.0));
    }
}
