//! A quantity with its range: counters have steps, so that each quantity is known only to a range.

/// A quantity of at least zero that is derived from SMART counters, with the range in which it lies
/// because counters count in steps (such as 1,000 sectors).
///
/// All numbers are finite. Arithmetic keeps the range: the true quantity is inside if the true
/// operands are inside theirs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Smallest value that a quantity derived from SMART counters can have.
    pub low: f64,
    /// Value that the SMART counters state for a derived quantity, such as bytes written; `None` if
    /// they only give bounds.
    pub value: Option<f64>,
    /// Largest value that a quantity derived from SMART counters can have; `None` without an upper
    /// bound.
    pub high: Option<f64>,
}

impl Interval {
    /// Returns a quantity that is known exactly.
    pub fn exact(value: f64) -> Interval {
        Interval { low: value, value: Some(value), high: Some(value) }
    }

    /// Returns a quantity that lies between `low` and `high`, without a best value.
    pub fn between(low: f64, high: f64) -> Interval {
        Interval { low, value: None, high: Some(high) }
    }

    /// Returns the range of a quantity, such as bytes written, from a counter of steps of `unit`
    /// that is rounded up.
    pub fn rounded_up(count: f64, unit: f64) -> Interval {
        let low = (count - 1.0).max(0.0) * unit;
        Interval { low, value: Some(count * unit), high: Some(count * unit) }
    }

    /// Returns the quantity behind a counter of completed steps of `unit`, which is rounded down.
    pub fn completed(count: f64, unit: f64) -> Interval {
        let high = Some((count + 1.0) * unit);
        Interval { low: count * unit, value: Some(count * unit), high }
    }

    /// Returns the range of a quantity from a whole number that may be rounded up, down or to
    /// nearest.
    pub fn rounded(count: f64) -> Interval {
        Interval { low: (count - 1.0).max(0.0), value: Some(count), high: Some(count + 1.0) }
    }

    /// Returns the quantity multiplied by `factor`, as for a change of unit.
    pub fn times(self, factor: f64) -> Interval {
        self.map(|it| it * factor)
    }

    fn map(self, change: impl Fn(f64) -> f64) -> Interval {
        let finite = |value: f64| Some(change(value)).filter(|value| value.is_finite());
        Interval {
            low: finite(self.low).unwrap_or(f64::MAX),
            value: self.value.and_then(finite),
            high: self.high.and_then(finite),
        }
    }

    /// Returns the sum of two quantities.
    pub fn plus(self, other: Interval) -> Interval {
        let both = |one: Option<f64>, two: Option<f64>| Some(one? + two?);
        Interval {
            low: self.low + other.low,
            value: both(self.value, other.value),
            high: both(self.high, other.high),
        }
    }

    /// Returns the difference of two quantities, at least zero.
    pub fn minus(self, other: Interval) -> Interval {
        let less = |one: f64, two: f64| (one - two).max(0.0);
        Interval {
            low: other.high.map_or(0.0, |most| less(self.low, most)),
            value: self.value.zip(other.value).map(|(one, two)| less(one, two)),
            high: self.high.map(|most| less(most, other.low)),
        }
    }

    /// Returns the quotient of two quantities, without an upper bound if the divisor may be zero.
    pub fn over(self, other: Interval) -> Interval {
        let quotient =
            |one: f64, two: f64| Some(one / two).filter(|value| two > 0.0 && value.is_finite());
        Interval {
            low: other.high.and_then(|most| quotient(self.low, most)).unwrap_or(0.0),
            value: self.value.zip(other.value).and_then(|(one, two)| quotient(one, two)),
            high: self.high.and_then(|most| quotient(most, other.low)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_a_range_of_its_steps() {
        let units = Interval::rounded_up(3.0, 1000.0);
        assert_eq!(units, Interval { low: 2000.0, value: Some(3000.0), high: Some(3000.0) });
        assert_eq!(Interval::rounded_up(0.0, 1000.0), Interval::exact(0.0));
        let hours = Interval::completed(2.0, 1.0);
        assert_eq!(hours, Interval { low: 2.0, value: Some(2.0), high: Some(3.0) });
        assert_eq!(Interval::rounded(0.0).low, 0.0);
        assert_eq!(
            Interval::rounded(3.0),
            Interval { low: 2.0, value: Some(3.0), high: Some(4.0) }
        );
        let rate = units.over(hours);
        assert_eq!(rate, Interval { low: 2000.0 / 3.0, value: Some(1500.0), high: Some(1500.0) });
    }

    #[test]
    fn nothing_is_below_zero_and_nothing_infinite() {
        let none = Interval::completed(0.0, 1.0);
        let rate = Interval::rounded_up(5.0, 1.0).over(none);
        assert_eq!(rate, Interval { low: 4.0, value: None, high: None });
        assert_eq!(Interval::exact(1.0).over(Interval::exact(0.0)).low, 0.0);
        let less = Interval::exact(1.0).minus(Interval::rounded(5.0));
        assert_eq!(less, Interval::exact(0.0));
        assert_eq!(Interval::exact(1e300).times(1e300).value, None);
        let open = Interval { high: None, ..Interval::exact(2.0) };
        assert_eq!(Interval::exact(3.0).minus(open).low, 0.0);
        assert_eq!(Interval::exact(3.0).plus(open).high, None);
    }
}
