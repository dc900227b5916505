//! Infers units of times from their digits: the dates that the numbers would be in one unit, and
//! the gaps between them in another.
//!
//! A number may be a date in one unit and a time since boot in a finer one: nanoseconds of 11 to 25
//! days are as large as the microseconds since 1970 of 2000 to 2040, and those of 16 to 37 minutes
//! as the milliseconds. Only the gaps between requests can tell them apart.

use crate::number::{time_ns, unsigned};
use std::ops::RangeInclusive;

/// Units, the finest first: the power of ten of each in nanoseconds, and its name in `--columns`.
const UNITS: [(usize, &str); 5] = [(0, "ns"), (2, "100ns"), (3, "us"), (6, "ms"), (9, "s")];
/// Units of clocks that count from boot, the finest first, as powers of ten of a nanosecond.
const OF_CLOCKS: [usize; 3] = [0, 3, 6];

/// Nanoseconds since 1970 of the first date that a time may be, and of the last: 2000 to 2040. A
/// wider range would mistake more times since boot for dates.
const DATES: RangeInclusive<u64> = 946_684_800_000_000_000..=2_208_988_800_000_000_000;
/// Dates from 2000 to 2040 on the clock of Windows, in ticks of 100 ns since 1601.
const TICKS: RangeInclusive<u64> = 125_911_584_000_000_000..=138_534_624_000_000_000;

/// Longest mean time between requests at which times are accepted as dates, in nanoseconds.
const LONGEST_GAP: u64 = 60_000_000_000;
/// Shortest mean time between requests of a drive, in nanoseconds: shorter ones are questioned.
pub(crate) const SHORTEST_GAP_NS: f64 = 250.0;
/// Shortest plausible time between two requests of a trace, in nanoseconds (assumed). A time unit
/// in which more than a quarter of the gaps between requests are shorter is too fine.
const SHORTEST_STEP: u64 = 50;

/// Time unit that the values of a column show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    /// All values of the time column are dates in this unit (a power of ten of a nanosecond), and
    /// cannot be times since boot in a finer unit.
    Dates(usize),
    /// All values of a trace's time column are either dates in the unit `dates` or times since boot
    /// in the finer unit `since_boot`; each unit is a power of ten of a nanosecond.
    Unclear { dates: usize, since_boot: usize },
    /// The values of the column are not dates in any time unit.
    Unknown,
}

impl TimeUnit {
    /// Returns the unit in which the values are dates (a power of ten of a nanosecond); `None` if
    /// they are no dates.
    pub fn dates(self) -> Option<usize> {
        match self {
            TimeUnit::Dates(dates) | TimeUnit::Unclear { dates, .. } => Some(dates),
            TimeUnit::Unknown => None,
        }
    }

    /// Returns a question to the user if the values of a time column may be either dates or times
    /// since boot; `None` if they are clear.
    pub fn question(self) -> Option<String> {
        let TimeUnit::Unclear { dates, since_boot } = self else { return None };
        let [dates, since_boot] = [dates, since_boot].map(name);
        Some(format!(
            "dates in {dates} (ts={dates}) or times since boot in {since_boot} (ts={since_boot})"
        ))
    }
}

/// Returns true if a time has decimals, or an exponent instead of them.
pub(crate) fn has_decimals(value: &[u8]) -> bool {
    value.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

/// Returns the name in `--columns` of a time unit that is given as a power of ten of a nanosecond:
/// `us` for 3.
pub(crate) fn name(digits: usize) -> &'static str {
    UNITS.iter().find(|(known, _)| *known == digits).map_or("s", |&(_, name)| name)
}

/// Returns the unit with this name in `--columns`, as the power of ten of its nanoseconds.
pub(crate) fn by_name(name: &str) -> Option<usize> {
    UNITS.iter().find(|(_, known)| *known == name).map(|&(digits, _)| digits)
}

/// Determines the unit of a column of times from its values: the one unit in which all are dates
/// from 2000 to 2040. The unit is unclear if the values may also be times since boot, and unknown
/// if they are not dates.
pub(crate) fn by_values<'a>(values: impl Iterator<Item = &'a [u8]> + Clone) -> TimeUnit {
    let Some(dates) = of_dates(values.clone()) else { return TimeUnit::Unknown };
    // Numbers with decimals count seconds, because no clock prints fractions of finer units.
    let whole: Option<Vec<u64>> = values.map(|value| unsigned(value).ok()).collect();
    match whole.and_then(|mut counts| since_boot(&mut counts, dates)) {
        Some(since_boot) => TimeUnit::Unclear { dates, since_boot },
        None => TimeUnit::Dates(dates),
    }
}

/// Returns the unit, as a power of ten of a nanosecond, in which all values of a column are dates
/// from 2000 to 2040; `None` if there is none.
fn of_dates<'a>(values: impl Iterator<Item = &'a [u8]> + Clone) -> Option<usize> {
    values.clone().next()?;
    let fits = |digits: &usize| {
        let dates = || values.clone().map(|value| time_ns(value, *digits).unwrap_or(0));
        let (first, last) = (dates().min().unwrap_or(0), dates().max().unwrap_or(0));
        let steps = (dates().count() as u64 - 1).max(1);
        DATES.contains(&first) && DATES.contains(&last) && (last - first) / steps <= LONGEST_GAP
    };
    let ticks = || {
        let is_date = |value: &[u8]| unsigned(value).is_ok_and(|ticks| TICKS.contains(&ticks));
        values.clone().all(is_date).then_some(2)
    };
    [9, 6, 3, 0].into_iter().find(fits).or_else(ticks)
}

/// Returns the finest unit, as a power of ten of a nanosecond, in which the numbers `counts`, dates
/// in the coarser unit `dates`, may be times since boot: the gaps between them are plausible for
/// requests to a drive. `None` if there is none. Sorts `counts`.
pub(crate) fn since_boot(counts: &mut [u64], dates: usize) -> Option<usize> {
    counts.sort_unstable();
    // Ticks are in no other unit the uptime of a machine: nanoseconds of four years at least.
    if dates == 2 {
        return None;
    }
    let steps = counts.windows(2).map(|pair| pair[1] - pair[0]);
    let number = counts.len().saturating_sub(1);
    let span = steps.clone().sum::<u64>();
    OF_CLOCKS.into_iter().filter(|&digits| digits < dates).find(|&digits| {
        let unit = 10u64.pow(digits as u32);
        let ns = |steps: u64| steps.saturating_mul(unit);
        let gap = ns(span) as f64 / number.max(1) as f64;
        let hurried = steps.clone().filter(|&step| ns(step) < SHORTEST_STEP).count();
        let is_gap = (SHORTEST_GAP_NS..=LONGEST_GAP as f64).contains(&gap);
        number == 0 || is_gap && 4 * hurried <= number
    })
}

/// Returns the finest unit in which a mean gap is plausible between requests: a microsecond to a
/// second. `gap` is in nanoseconds as read in the unit `now`.
pub(crate) fn by_gap(gap: f64, now: usize) -> Option<usize> {
    let in_unit = |digits: usize| gap * 10f64.powi(digits as i32 - now as i32);
    let units = UNITS.into_iter().map(|(digits, _)| digits).filter(|&digits| digits != 2);
    units.into_iter().find(|&digits| (1e3..1e9).contains(&in_unit(digits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(values: &[&str]) -> TimeUnit {
        by_values(values.iter().map(|value| value.as_bytes()))
    }

    #[test]
    fn dates_show_their_unit() {
        for (values, digits) in [
            (&["1577808144", "1577808144", "1577808144", "1577808145"][..], 9),
            (&["1577808144.5", "1577808145"], 9),
            (&["1577808144.5"], 9),
            (&["1577808144360", "1577808144360", "1577808144361"], 6),
            (&["1577808144360767", "1577808144360801"], 3),
            (&["1577808144360767", "1577808144360767"], 3),
            (&["1577808144360767000"], 0),
            (&["128166372003061629"], 2),
        ] {
            assert_eq!(unit(values), TimeUnit::Dates(digits), "{values:?}");
        }
    }

    #[test]
    fn times_since_boot_are_no_dates_without_a_question() {
        let unclear = |dates, since_boot| TimeUnit::Unclear { dates, since_boot };
        for (values, expected) in [
            // 18 days of nanoseconds with 157 us between requests, or dates with 157 ms.
            (&["1577808144360767", "1577808144517767"][..], unclear(3, 0)),
            // 18 days of microseconds, or milliseconds.
            (&["1577808144360", "1577808144367", "1577808144391"], unclear(6, 3)),
            // Half an hour of nanoseconds with 10 us between requests.
            (&["1577808144360", "1577808154360"], unclear(6, 0)),
            (&["1577808144", "1577808147", "1577808160"], unclear(9, 3)),
            // A single request has no gaps.
            (&["1577808144360767"], unclear(3, 0)),
            // Dates two minutes apart are not accepted as dates.
            (&["1577808144360", "1577808301360"], TimeUnit::Unknown),
            (&["1577808144", "12"], TimeUnit::Unknown),
            (&["x"], TimeUnit::Unknown),
            (&[], TimeUnit::Unknown),
        ] {
            assert_eq!(unit(values), expected, "{values:?}");
        }
    }

    /// Bursts of a few microseconds show dates: no requests come nanoseconds apart.
    #[test]
    fn bursts_show_what_mean_gaps_do_not() {
        let start = 1_577_808_144_360_767u64;
        let times: Vec<String> = (0..40u64)
            .map(|number| (start + number / 4 * 1_000_000 + number % 4 * 7).to_string())
            .collect();
        let texts: Vec<&str> = times.iter().map(String::as_str).collect();
        assert_eq!(unit(&texts), TimeUnit::Dates(3));
    }

    #[test]
    fn units_have_names_and_gaps() {
        for (digits, word) in UNITS {
            assert_eq!((name(digits), by_name(word)), (word, Some(digits)));
        }
        assert_eq!(by_name("h"), None);
        assert_eq!(by_gap(7.0, 0), Some(3));
        assert_eq!(by_gap(9e14, 9), Some(0));
        assert_eq!(by_gap(0.0, 0), None);
    }
}
