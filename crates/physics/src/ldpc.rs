//! Soft sensing: the number of reference voltages that a read needs, and the time that the read
//! takes.
//!
//! LDPC corrects more errors if it knows each cell's voltage more precisely. A read at a level
//! senses `references` voltages in total: three (one for each boundary of a 2-bit cell, the hard
//! decision), nine or twenty-one (three or seven for each boundary). Each reference takes a fixed
//! time to sense. N references divide the voltages into N + 1 regions, so ceil(log2(N + 1)) bits
//! are transferred (HIRE, 2.1). With 10 and 20 us this gives all of HIRE's Table 1 exactly:
//! 30/90/210 us and 40/80/100 us. We read the "seven reference voltages" of RHIO and HIRE, with 90
//! and 80 us, as nine: seven would be 3 bits, 60 us.
//!
//! The RBER that each level corrects is assumed, within the bound set by the information in a
//! reading: a code of rate 8/9 corrects at most 1.48e-2 with hard decision, 2.51e-2 with three and
//! 2.82e-2 with seven references per boundary (the tests compute these bounds).

use crate::parameters::Parameters;
use fowler_units::Span;

/// A sensing level: a number of reference voltages with which a page is sensed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Number of reference voltages that the level senses, over all boundaries of a cell.
    pub references: u32,
    /// Highest raw bit error rate (RBER) of a page that can be corrected after sensing these
    /// reference voltages.
    pub correctable: f64,
}

/// A problem with a list of sensing levels.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LdpcError {
    /// There is no sensing level, or there are more than 255.
    #[error("{0} sensing levels; expected 1 to 255")]
    Count(usize),
    /// A sensing level does not have more references and a higher correctable rate than the
    /// previous level, or that rate is not below 0.5.
    #[error(
        "level {0} must have more references than the level before, and correct a higher RBER \
         (below 0.5)"
    )]
    Order(usize),
}

/// The sensing levels of a drive, from the fastest to the strongest, and their times.
#[derive(Clone, Debug, PartialEq)]
pub struct Ldpc {
    levels: Vec<Level>,
    sense: Span,
    transfer: Span,
}

/// Converts microseconds to a length of time.
fn us(us: f64) -> Span {
    Span((us * 1e3).round() as u64)
}

impl Ldpc {
    /// Returns the sensing levels of a drive, from the fastest to the strongest. `sense` is the
    /// time for one reference, `transfer` the time for one bit.
    ///
    /// # Errors
    /// If there is no level, or a level is not stronger than the one before it.
    pub fn new(levels: Vec<Level>, sense: Span, transfer: Span) -> Result<Ldpc, LdpcError> {
        if !(1..=255).contains(&levels.len()) {
            return Err(LdpcError::Count(levels.len()));
        }
        let mut before = Level { references: 0, correctable: 0.0 };
        for (index, level) in levels.iter().enumerate() {
            let more = level.references > before.references;
            if !(more && level.correctable > before.correctable && level.correctable < 0.5) {
                return Err(LdpcError::Order(index));
            }
            before = *level;
        }
        Ok(Ldpc { levels, sense, transfer })
    }

    /// Creates the three sensing levels of HIRE, 3, 9 and 21 reference voltages, with the constants
    /// of `parameters`.
    ///
    /// # Errors
    /// If a level does not correct more than the one before it.
    pub fn hire(parameters: &Parameters) -> Result<Ldpc, LdpcError> {
        let Parameters { correctable_3, correctable_9, correctable_21, .. } = *parameters;
        let levels = [(3, correctable_3), (9, correctable_9), (21, correctable_21)];
        let levels = levels.map(|(references, correctable)| Level { references, correctable });
        Ldpc::new(levels.to_vec(), us(parameters.sense_us), us(parameters.transfer_us))
    }

    /// Returns the sensing levels, from the fastest to the strongest.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Returns the highest raw bit error rate (RBER) that any sensing level corrects.
    pub fn correctable(&self) -> f64 {
        self.levels.last().map_or(0.0, |level| level.correctable)
    }

    /// Returns the index of the fastest sensing level that corrects a raw bit error rate of `rber`;
    /// `None` if no level does.
    pub fn needed(&self, rber: f64) -> Option<usize> {
        self.levels.iter().position(|level| rber <= level.correctable)
    }

    /// Returns the time to sense a page at a sensing level.
    ///
    /// # Panics
    ///
    /// If `level` does not exist.
    pub fn sensing(&self, level: usize) -> Span {
        self.sense * u64::from(self.levels[level].references)
    }

    /// Returns the time to transfer a page read at a sensing level.
    ///
    /// # Panics
    ///
    /// If `level` does not exist.
    pub fn transfer(&self, level: usize) -> Span {
        let bits = 32 - self.levels[level].references.leading_zeros();
        self.transfer * u64::from(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::above;

    fn hire() -> Ldpc {
        Ldpc::hire(&Parameters::default()).unwrap()
    }

    #[test]
    fn times_are_those_of_hire() {
        let times: Vec<_> = (0..3).map(|it| (hire().sensing(it), hire().transfer(it))).collect();
        let us = |sensing, transfer| (Span::us(sensing), Span::us(transfer));
        assert_eq!(times, [us(30, 40), us(90, 80), us(210, 100)]);
    }

    #[test]
    fn bits_are_the_logarithm_of_the_regions() {
        for (references, bits) in [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (15, 4), (21, 5)]
        {
            let level = Level { references, correctable: 0.1 };
            let ldpc = Ldpc::new(vec![level], Span::us(1), Span::us(1)).unwrap();
            assert_eq!(ldpc.transfer(0), Span::us(bits), "{references}");
            let regions = f64::from(references) + 1.0;
            assert_eq!(bits, regions.log2().ceil() as u64);
        }
    }

    #[test]
    fn the_fastest_level_that_suffices_is_needed() {
        for (rber, level) in [
            (0.0, Some(0)),
            (4e-3, Some(0)),
            (4.001e-3, Some(1)),
            (1e-2, Some(1)),
            (1.5e-2, Some(2)),
            (1.501e-2, None),
            (0.5, None),
        ] {
            assert_eq!(hire().needed(rber), level, "{rber}");
        }
    }

    #[test]
    fn a_level_must_be_better_than_the_one_before() {
        let new = |levels: &[(u32, f64)]| {
            let level = |&(references, correctable)| Level { references, correctable };
            Ldpc::new(levels.iter().map(level).collect(), Span::us(10), Span::us(20))
        };
        assert_eq!(new(&[]), Err(LdpcError::Count(0)));
        assert_eq!(new(&[(3, 1e-2), (9, 1e-2)]), Err(LdpcError::Order(1)));
        assert_eq!(new(&[(3, 1e-3), (3, 1e-2)]), Err(LdpcError::Order(1)));
        assert_eq!(new(&[(0, 1e-3)]), Err(LdpcError::Order(0)));
        assert_eq!(new(&[(3, f64::NAN)]), Err(LdpcError::Order(0)));
        assert_eq!(new(&[(3, 0.5)]), Err(LdpcError::Order(0)));
    }

    /// Returns the information that a reading with references at `at` has on a bit, in bits, if the
    /// two states are Gaussians of standard deviation `sd` around -1 and 1.
    fn reported(sd: f64, at: &[f64]) -> f64 {
        let ends: Vec<f64> =
            [f64::NEG_INFINITY].iter().chain(at).chain(&[f64::INFINITY]).copied().collect();
        let share =
            |mean: f64, ends: &[f64]| above((ends[0] - mean) / sd) - above((ends[1] - mean) / sd);
        let regions = ends.windows(2).map(|ends| (share(1.0, ends), share(-1.0, ends)));
        regions.map(|(high, low)| high * (2.0 * high / (high + low)).log2()).sum()
    }

    /// Returns the highest RBER that a code of rate 8/9 can correct with `count` equidistant
    /// references per boundary: the limit is the capacity of the channel.
    fn bound(count: u32) -> f64 {
        let middle = f64::from(count - 1) / 2.0;
        let places = |apart: f64| -> Vec<f64> {
            (0..count).map(|place| (f64::from(place) - middle) * apart).collect()
        };
        let spread = (1..60).map(|hundredths| f64::from(hundredths) / 100.0);
        let widest = spread.filter_map(|apart| {
            crate::root::last(0.3, 0.8, |sd| reported(sd, &places(apart)) >= 8.0 / 9.0)
        });
        above(1.0 / widest.fold(0.0, f64::max))
    }

    #[test]
    fn nothing_corrects_more_than_its_reading_tells() {
        let bounds = [1, 3, 7].map(bound);
        for (bound, stated) in bounds.into_iter().zip([1.48e-2, 2.51e-2, 2.82e-2]) {
            assert!((bound / stated - 1.0).abs() < 5e-3, "{bound} {stated}");
        }
        let sweeps = ["correctable_3", "correctable_9", "correctable_21"].map(|name| {
            let constant = crate::parameters::CONSTANTS.iter().find(|it| it.name == name);
            constant.and_then(|it| it.sweep).unwrap().1
        });
        for ((level, bound), most) in hire().levels().iter().zip(bounds).zip(sweeps) {
            assert!(level.correctable < bound && most < bound, "{level:?} {bound}");
        }
    }
}
