//! BCH: the probability that a code word can be corrected (the yield), and the worst cells that
//! reach a given yield (DA-RAID-5, equation 3):
//!
//! ```text
//! Y(n) = sum over k <= n of C(m, k) p^k (1 - p)^(m - k)
//! ```
//!
//! The paper's code corrects n = 8 errors in words of m = 4200 bits and must yield 99.9 %, which
//! cells with p = 5.84297e-4 reach. The sum starts at its largest term and goes outwards, so that
//! no term is lost to underflow. The code sums the yield or its complement, whichever is smaller,
//! because `1 - Y` would have no digits left.

use crate::root;

/// A BCH code: the length of its words, and the number of errors that it corrects in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bch {
    /// Number of bits in a code word, `m` in equation 3 of the paper on DA-RAID-5, a RAID of flash
    /// chips.
    pub bits: u32,
    /// Number of wrong bits that the code corrects in a word, `n`; less than `bits`.
    pub corrects: u32,
}

impl Bch {
    /// The code of DA-RAID-5: 8-bit BCH (4200, 4096, 104).
    pub const DA_RAID_5: Bch = Bch { bits: 4200, corrects: 8 };

    /// Returns the probability that a word can be corrected if each of its bits is wrong with
    /// probability `p`.
    ///
    /// # Panics
    /// If `p` is not in 0 to 1.
    pub fn yields(&self, p: f64) -> f64 {
        if self.mostly_fails(p) { self.sum(p, 0, self.corrects) } else { 1.0 - self.fails(p) }
    }

    /// Returns the probability that a code word cannot be corrected if each of its bits is wrong
    /// with probability `p`; precise even where it is below 1e-16.
    ///
    /// # Panics
    /// If `p` is not in 0 to 1.
    pub fn fails(&self, p: f64) -> f64 {
        if self.corrects >= self.bits {
            return 0.0;
        }
        if self.mostly_fails(p) {
            return 1.0 - self.yields(p);
        }
        self.sum(p, self.corrects + 1, self.bits)
    }

    /// Returns true if a word with bit error rate `p` has more errors on average than the code
    /// corrects.
    fn mostly_fails(&self, p: f64) -> bool {
        f64::from(self.bits) * p > f64::from(self.corrects)
    }

    /// Returns the highest bit error rate at which at most a share `loss` of all words cannot be
    /// corrected.
    ///
    /// # Panics
    /// If `loss` is not in 0 to 1.
    pub fn worst_cells(&self, loss: f64) -> f64 {
        assert!((0.0..=1.0).contains(&loss), "{loss} is not a share");
        root::last(0.0, 1.0, |p| self.fails(p) <= loss).unwrap_or(0.0)
    }

    /// Returns the probability that a word has `low` to `high` wrong bits, if each is wrong with
    /// probability `p`.
    fn sum(&self, p: f64, low: u32, high: u32) -> f64 {
        assert!((0.0..=1.0).contains(&p), "{p} is not a probability");
        if p == 0.0 || p == 1.0 {
            let errors = if p == 0.0 { 0 } else { self.bits };
            return if (low..=high).contains(&errors) { 1.0 } else { 0.0 };
        }
        let m = f64::from(self.bits);
        let high = high.min(self.bits);
        let peak = (((m + 1.0) * p) as u32).clamp(low, high);
        let largest = self.term(p, peak);
        let odds = p / (1.0 - p);
        let (mut sum, mut term) = (largest, largest);
        for k in (low..peak).rev() {
            term *= f64::from(k + 1) / (m - f64::from(k)) / odds;
            sum += term;
            if term < sum * 1e-18 {
                break;
            }
        }
        term = largest;
        for k in peak..high {
            term *= (m - f64::from(k)) / f64::from(k + 1) * odds;
            sum += term;
            if term < sum * 1e-18 {
                break;
            }
        }
        sum.min(1.0)
    }

    /// Returns the probability that a word has exactly `k` wrong bits, if each is wrong with
    /// probability `p`.
    fn term(&self, p: f64, k: u32) -> f64 {
        let few = k.min(self.bits - k);
        let ways: f64 =
            (0..few).map(|i| libm::log(f64::from(self.bits - i) / f64::from(i + 1))).sum();
        let (wrong, right) = (f64::from(k), f64::from(self.bits - k));
        libm::exp(ways + wrong * libm::log(p) + right * libm::log1p(-p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_of_da_raid_5() {
        let worst = Bch::DA_RAID_5.worst_cells(1e-3);
        assert_eq!(format!("{worst:.5e}"), "5.84297e-4");
        assert!((Bch::DA_RAID_5.yields(worst) - 0.999).abs() < 1e-12);
        // A page of 8 KiB is 16 words.
        assert_eq!(format!("{:.5}", Bch::DA_RAID_5.yields(worst).powi(16)), "0.98412");
    }

    #[test]
    fn a_small_code_is_counted_by_hand() {
        let code = Bch { bits: 3, corrects: 1 };
        for p in [1e-12f64, 0.1, 0.5, 0.9] {
            let yields = (1.0 - p).powi(3) + 3.0 * p * (1.0 - p).powi(2);
            let fails = 3.0 * p * p * (1.0 - p) + p.powi(3);
            assert!((code.yields(p) / yields - 1.0).abs() < 1e-12, "{p}");
            assert!((code.fails(p) / fails - 1.0).abs() < 1e-12, "{p}");
        }
        assert_eq!((code.yields(0.0), code.yields(1.0)), (1.0, 0.0));
        assert_eq!((code.fails(0.0), code.fails(1.0)), (0.0, 1.0));
    }

    #[test]
    fn yield_and_loss_are_one_and_loss_grows() {
        for code in [Bch::DA_RAID_5, Bch { bits: 65_536, corrects: 100 }] {
            let mut before = 0.0;
            for step in 1..60 {
                let p = 10f64.powf(-6.0 + f64::from(step) * 0.1);
                let (yields, fails) = (code.yields(p), code.fails(p));
                assert!((yields + fails - 1.0).abs() < 1e-10, "{code:?} {p}: {yields} {fails}");
                assert!(fails >= before, "{code:?} {p}");
                before = fails;
            }
        }
    }

    #[test]
    fn a_code_that_corrects_more_yields_more() {
        let of = |corrects| Bch { bits: 4200, corrects }.worst_cells(1e-3);
        assert!((1..20).all(|corrects| of(corrects) > of(corrects - 1)));
    }
}
