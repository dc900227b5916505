//! HIRE's three voltage sets, and the number of references that a read at each set needs.
//!
//! Table 1 of the paper has four threshold voltages for each set: the traditional ones times 1.2,
//! 1.0 and 0.8. The step scales in the same way. The *wearing weight* of a program is that factor,
//! because wear is proportional to the voltage (HIRE, 2.1). The paper reads boosted pages with 3
//! references, traditional ones with 9, and reduced ones with 21. [`Hire::window`] returns the
//! range of ages in which the model needs exactly these numbers.

use crate::ldpc::Ldpc;
use crate::rber::{Block, Page, Reliability};
use crate::root::{Found, Rising};
use crate::thresholds::UNIT;
use crate::vth::Setting;
use fowler_units::Span;

/// Threshold voltages in Table 1 of the HIRE paper, in V, erased state first, from boosted to
/// reduced.
pub const TABLE_1: [[f64; 4]; 3] =
    [[1.40, 2.85, 3.55, 4.25], [1.17, 2.37, 2.96, 3.54], [0.93, 1.90, 2.37, 2.83]];

/// Factors of HIRE's boosted, traditional and reduced threshold voltages over the traditional ones;
/// a program also wears its block by this factor.
pub const SCALES: [f64; 3] = [1.2, 1.0, 0.8];

/// A set of threshold voltages, in the order of [`SCALES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Voltage {
    /// 1.2 times the nominal voltages: states are further apart and cells wear faster.
    Boosted,
    /// The nominal threshold voltages of the cells' states, which the HIRE paper calls traditional.
    #[default]
    Nominal,
    /// 0.8 times the nominal voltages: states are closer together and cells wear more slowly.
    Reduced,
}

impl Voltage {
    /// The three voltage sets of HIRE, in the order of [`SCALES`].
    pub const ALL: [Voltage; 3] = [Voltage::Boosted, Voltage::Nominal, Voltage::Reduced];

    /// Returns the factor of this voltage set over the traditional voltages of the HIRE paper: 1.2,
    /// 1.0 or 0.8.
    #[inline]
    pub fn scale(self) -> f64 {
        SCALES[self as usize]
    }
}

fowler_units::enumerated! {
    Voltage:
    /// A value for each of the three voltage sets of the HIRE paper: boosted, nominal and reduced.
    pub ByVoltage
}

/// Indices of the sensing levels (3, 9 and 21 reference voltages) with which the HIRE paper's drive
/// reads data programmed at its three voltage sets.
pub const PUBLISHED: [usize; 3] = [0, 1, 2];

/// Wear (P/E cycles of an average block) and age of data at which the sensing levels that a cell
/// model needs are compared with those of the HIRE paper: just-written data near the limit of hard
/// decision (assumed).
pub const OPERATING_POINT: (f64, Span) = (10_500.0, Span::ZERO);

/// A comparison of the sensing levels that a cell model needs with those that the HIRE paper uses.
#[derive(Clone, Copy, Debug)]
pub struct Hire<'a> {
    /// Cell model whose sensing levels are compared with those in the paper on HIRE, a
    /// voltage-scaling scheme.
    pub model: &'a Reliability,
    /// Sensing levels of the code that corrects the cells' errors.
    pub ldpc: &'a Ldpc,
}

impl Hire<'_> {
    fn setting(&self, scale: f64) -> Setting {
        Setting { scale, step: self.model.parameters().step }
    }

    /// Returns the indices of the sensing levels that reads need at boosted, traditional and
    /// reduced voltages, in a block as worn as an average block after `cycles` P/E cycles and
    /// without read disturb; `None` where no level suffices.
    pub fn levels(&self, cycles: f64, age: Span) -> [Option<usize>; 3] {
        let block = self.model.block(cycles);
        SCALES.map(|scale| self.ldpc.needed(block.rber(age, 0, self.setting(scale))))
    }

    /// Returns true if pages with these P/E cycles and this age need, in each voltage set, the
    /// sensing level that the HIRE paper uses.
    pub fn agrees(&self, cycles: f64, age: Span) -> bool {
        self.levels(cycles, age) == PUBLISHED.map(Some)
    }

    /// Returns, for each voltage set and level, the retention age after which the sensing level no
    /// longer suffices; `None` if the level does not even suffice for just-written data.
    pub fn ages(&self, cycles: f64) -> [Vec<Option<Span>>; 3] {
        let block = self.model.block(cycles);
        SCALES.map(|scale| {
            let levels = self.ldpc.levels().iter();
            levels
                .map(|level| last_age(&block, 0, self.setting(scale), level.correctable))
                .collect()
        })
    }

    /// Returns the youngest and the oldest age at which the model needs the sensing levels that the
    /// HIRE paper uses; `None` if there is no such age.
    pub fn window(&self, cycles: f64) -> Option<(Span, Span)> {
        let [boosted, nominal, reduced] = self.ages(cycles);
        let after = |age: Option<Span>| age.map_or(Span::ZERO, |age| age + UNIT);
        let youngest = after(nominal[PUBLISHED[1] - 1]).max(after(reduced[PUBLISHED[2] - 1]));
        let oldest = boosted[PUBLISHED[0]]?.min(nominal[PUBLISHED[1]]?).min(reduced[PUBLISHED[2]]?);
        (youngest <= oldest).then_some((youngest, oldest))
    }
}

/// Returns the oldest age, in whole [`UNIT`]s, at which a page has an RBER of at most
/// `correctable`; `None` if even a just-written page has a higher one.
pub fn last_age(block: &Block<'_>, reads: u32, setting: Setting, correctable: f64) -> Option<Span> {
    Ages::of(&block.page(reads, setting)).last(correctable)
}

/// Search for the oldest retention age at which the bit error rate of a page is still correctable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ages<'a> {
    page: &'a Page<'a>,
    /// Bit error rates of the page when just written and at the largest retention age, 2^32 - 1
    /// units of 1.07 s (some 146 years).
    ends: [Found; 2],
}

/// Retention age at which the fall of a cell's threshold voltage turns from linear to logarithmic
/// in time: about an hour, in [`UNIT`]s of 1.07 s.
const BEND: f64 = 3600e9 / UNIT.0 as f64;

fn units(at: f64) -> Span {
    UNIT * u64::from(at as u32)
}

impl<'a> Ages<'a> {
    pub fn of(page: &'a Page<'a>) -> Ages<'a> {
        let found = |at| Found { at, value: page.rber(units(at)) };
        Ages { page, ends: [0.0, f64::from(u32::MAX)].map(found) }
    }

    /// Returns the oldest retention age, in whole units of 1.07 s, at which the page's bit error
    /// rate is at most `correctable`; `None` if even just-written data exceeds it.
    pub fn last(&self, correctable: f64) -> Option<Span> {
        let value = |at| self.page.rber(units(at));
        let rate = Rising { value, target: correctable, bend: BEND, smooth: self.page.is_smooth() };
        rate.last_whole(self.ends).map(|units| UNIT * u64::from(units))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Parameters;
    use crate::rber::Analytic;
    use crate::root;

    #[test]
    fn table_1_is_one_set_scaled() {
        for (set, scale) in TABLE_1.iter().zip(SCALES) {
            for (voltage, nominal) in set.iter().zip(&TABLE_1[1]) {
                assert!((voltage / nominal / scale - 1.0).abs() < 0.008, "{voltage} {nominal}");
            }
        }
        let p = Parameters::default();
        assert_eq!([p.erased, p.programmed_1, p.programmed_2, p.programmed_3], TABLE_1[1]);
        let p = Parameters::rhio();
        assert_eq!([p.erased, p.programmed_1, p.programmed_2, p.programmed_3], TABLE_1[0]);
    }

    /// Compares with plain bisection, over all kinds of pages that a drive may have.
    #[test]
    fn ages_are_those_that_halving_finds() {
        let (mut ages, asked) = (0, std::cell::Cell::new(0));
        for parameters in [Parameters::default(), Parameters::rhio()] {
            let analytic = Analytic::new(parameters).unwrap();
            let ldpc = Ldpc::hire(&parameters).unwrap();
            for case in 0..120 {
                let block = Block::Analytic(analytic.worn(f64::from(case) * 37.5));
                let scale = SCALES[case as usize % 3];
                let page = block.page(case * 700, Setting { scale, step: parameters.step });
                let ends = Ages::of(&page).ends;
                for level in ldpc.levels() {
                    let target = level.correctable;
                    let holds = |at: f64| page.rber(units(at)) <= target;
                    let expected = root::last(0.0, f64::from(u32::MAX), holds).map(units);
                    assert_eq!(Ages::of(&page).last(target), expected, "{case}");
                    let value = |at| {
                        asked.set(asked.get() + 1);
                        page.rber(units(at))
                    };
                    ages += u32::from(
                        Rising { value, target, bend: BEND, smooth: true }
                            .last_whole(ends)
                            .is_some(),
                    );
                }
            }
        }
        assert!(asked.get() < 8 * ages, "{asked:?} for {ages}");
    }

    #[test]
    fn a_window_is_where_the_model_agrees_and_nowhere_else() {
        let parameters = Parameters::default();
        let model = Reliability::Analytic(Analytic::new(parameters).unwrap());
        let ldpc = Ldpc::hire(&parameters).unwrap();
        let hire = Hire { model: &model, ldpc: &ldpc };
        let (mut inside, mut outside) = (0, 0);
        for step in 0..60 {
            let cycles = 250.0 * f64::from(step);
            let window = hire.window(cycles);
            if let Some((from, to)) = window {
                assert!(hire.agrees(cycles, from) && hire.agrees(cycles, to), "{cycles}");
                assert!(!hire.agrees(cycles, to + UNIT), "{cycles}");
                assert!(from == Span::ZERO || !hire.agrees(cycles, from - UNIT), "{cycles}");
            }
            for age in [Span::ZERO, Span::ms(60_000), Span::ms(3_600_000), Span::ms(36_000_000)] {
                let within = window.is_some_and(|(from, to)| (from..=to).contains(&age));
                assert_eq!(hire.agrees(cycles, age), within, "{cycles} {age}");
                if within { inside += 1 } else { outside += 1 }
            }
        }
        assert!(inside > 0 && outside > 0, "{inside} {outside}");
        let (cycles, age) = OPERATING_POINT;
        assert!(hire.agrees(cycles, age), "{:?}", hire.levels(cycles, age));
    }
}
