//! Speeds a trace up or slows it down by dividing every time by one factor, exactly.
//!
//! A factor is taken as its shortest decimal representation, which is what the user wrote: 0.001
//! means one thousandth. The division uses integers and rounds to the nearest nanosecond, halves
//! up, so it preserves order and gives the same result on every machine.

use crate::{LATEST, Short, TraceError};
use fowler_units::{Diagnostic, Diagnostics, HostIo, Nanos};

/// Accepted factors of replay speed. Beyond them, times soon fall below a nanosecond or exceed the
/// 292 years that a trace may last.
const FACTORS: std::ops::RangeInclusive<f64> = 1e-3..=1e9;

/// Divides times by a factor: 2 replays a trace twice as fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeScale {
    factor: f64,
    /// Numerator of the factor by which a trace's arrival times are divided; the factor is the
    /// fraction `above / below`.
    above: u128,
    below: u128,
}

impl TimeScale {
    /// Returns the scale that divides all arrival times of a trace by `factor`: 2 replays it twice
    /// as fast.
    ///
    /// # Errors
    /// If the factor is not between 0.001 and 10^9. The diagnostic names the flag `--speed`.
    pub fn new(factor: f64) -> Result<TimeScale, Diagnostics> {
        if !FACTORS.contains(&factor) {
            let what = format!("cannot replay a trace at {} times its speed", Short(factor));
            let diagnostic = Diagnostic::new("--speed", what);
            return Err(diagnostic.expected("a factor from 0.001 to 1000000000").into());
        }
        // `{:e}` prints the shortest digits that read back as the same number: at most 17 of them.
        let text = format!("{factor:e}");
        let (digits, exponent) = text.split_once('e').expect("printed with an exponent");
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa: u128 = format!("{whole}{fraction}").parse().expect("printed digits");
        let exponent = exponent.parse::<i32>().expect("a printed exponent") - fraction.len() as i32;
        let power = 10u128.pow(exponent.unsigned_abs());
        let (above, below) = if exponent < 0 { (mantissa, power) } else { (mantissa * power, 1) };
        Ok(TimeScale { factor, above, below })
    }

    /// Returns the factor of the replay speed: 2 for twice as fast.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// Returns the arrival time divided by the factor that speeds the trace up; `None` if the
    /// result is beyond [`LATEST`].
    #[inline]
    pub fn apply(&self, at: Nanos) -> Option<Nanos> {
        // A factor of at least 10^-3 with 17 digits has an exponent of at least -19: 2^64 * 10^19
        // is below 2^128.
        let scaled = (u128::from(at.0) * self.below + self.above / 2) / self.above;
        u64::try_from(scaled).ok().map(Nanos).filter(|&at| at <= LATEST)
    }

    /// Returns the requests of `source` at their scaled times.
    pub fn over<I>(self, source: I) -> Scaled<I::IntoIter>
    where
        I: IntoIterator<Item = Result<HostIo, TraceError>>,
    {
        Scaled { scale: self, source: source.into_iter(), done: false }
    }
}

/// Iterator over the requests of a source at their scaled times, as [`TimeScale::over`] returns it.
#[derive(Clone, Debug)]
pub struct Scaled<I> {
    scale: TimeScale,
    source: I,
    done: bool,
}

impl<I> Scaled<I> {
    /// Returns the iterator that supplies the requests before their times are scaled, such as a
    /// trace reader with its report.
    pub fn source(&self) -> &I {
        &self.source
    }

    /// Returns the iterator that supplies the requests before their times are scaled, for
    /// modification.
    pub fn source_mut(&mut self) -> &mut I {
        &mut self.source
    }
}

impl<I: Iterator<Item = Result<HostIo, TraceError>>> Iterator for Scaled<I> {
    type Item = Result<HostIo, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Result<HostIo, TraceError>> {
        if self.done {
            return None;
        }
        let request = match self.source.next()? {
            Ok(request) => request,
            Err(error) => return Some(Err(error)),
        };
        if let Some(at) = self.scale.apply(request.at) {
            return Some(Ok(request.with_at(at)));
        }
        self.done = true;
        let (at, factor) = (request.at.0, Short(self.scale.factor));
        let what =
            format!("at {factor} times the speed, the request at {at} ns arrives beyond 292 years");
        Some(Err(TraceError::one("time scale", Diagnostic::of(what))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;

    fn scaled(factor: f64, at: u64) -> Option<u64> {
        TimeScale::new(factor).unwrap().apply(Nanos(at)).map(|at| at.0)
    }

    #[test]
    fn times_are_divided_and_rounded_to_the_nearest() {
        assert_eq!(scaled(1.0, u64::MAX / 2), Some(u64::MAX / 2));
        assert_eq!(scaled(2.0, 3), Some(2));
        assert_eq!(scaled(3.0, 4), Some(1));
        assert_eq!(scaled(3.0, 5), Some(2));
        assert_eq!(scaled(0.5, 7), Some(14));
        assert_eq!(scaled(1.0, u64::MAX / 2 + 1), None);
        assert_eq!(scaled(0.5, u64::MAX / 4), Some(u64::MAX / 2 - 1));
        assert_eq!(scaled(0.5, u64::MAX / 4 + 1), None);
        assert_eq!(scaled(1e9, 1_499_999_999), Some(1));
        assert_eq!(scaled(0.001, 1_000_000_000_000_000), Some(1_000_000_000_000_000_000));
        assert_eq!(scaled(1.5, 604_800_000_000_000), Some(403_200_000_000_000));
    }

    #[test]
    fn order_is_kept_for_any_factor() {
        let mut rng = Rng::stream(1, "scale");
        for _ in 0..2000 {
            let factor = 1e-3 * 10f64.powf(rng.unit() * 12.0);
            let Ok(scale) = TimeScale::new(factor) else { continue };
            let at = rng.bits() >> rng.below(64);
            let earlier = at - rng.below(at.max(1)).min(rng.below(1000));
            let (Some(late), Some(early)) = (scale.apply(Nanos(at)), scale.apply(Nanos(earlier)))
            else {
                continue;
            };
            assert!(early <= late, "{factor}: {earlier} {at}");
            let error = late.0 as f64 * factor - at as f64;
            assert!(error.abs() <= 0.5 * factor + at as f64 * 1e-15, "{factor}: {at} {late:?}");
        }
    }

    #[test]
    fn senseless_factors_are_refused() {
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-4, 1e10] {
            assert!(TimeScale::new(factor).is_err(), "{factor}");
        }
    }

    #[test]
    fn requests_that_leave_time_are_an_error() {
        let request = |at| Ok(HostIo::read(Nanos(at), 0, 1));
        let scale = TimeScale::new(0.25).unwrap();
        let out: Vec<_> = scale.over([request(8), request(u64::MAX), request(0)]).collect();
        assert_eq!((out.len(), &out[0]), (2, &request(32)));
        assert!(out[1].as_ref().unwrap_err().to_string().contains("292 years"));
    }
}
