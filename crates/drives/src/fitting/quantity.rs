//! Values of a fitted parameter: the value of a configuration key at a position (0 to 1) between
//! two bounds.
//!
//! Invariants: all numbers of a value have one unit; numbers of all page types move together.

use fowler_experiment::document::Value;
use fowler_units::{ByteRate, Bytes, Span};

/// Kind of the numbers in a parameter, such as whole numbers, real numbers or times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Time,
    Size,
    Rate,
    Whole,
    Real,
}

/// Value of a fitted parameter: one number, or one for each page type. Numbers of all page types
/// move together.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    unit: Unit,
    values: Vec<f64>,
    list: bool,
}

impl Quantity {
    /// Reads the value of a key in a drive file; `None` if such a value cannot lie between two
    /// bounds.
    pub(super) fn of(value: &Value) -> Option<Quantity> {
        match value {
            Value::List(items) => {
                let all: Option<Vec<Quantity>> = items.iter().map(Quantity::of).collect();
                let all = all.filter(|all| !all.is_empty() && !all.iter().any(|it| it.list))?;
                let unit = all[0].unit;
                let alike = all.iter().all(|it| it.unit == unit);
                let values = all.iter().map(|it| it.values[0]).collect();
                alike.then_some(Quantity { unit, values, list: true })
            }
            single => {
                let (unit, value) = Quantity::single(single)?;
                Some(Quantity { unit, values: vec![value], list: false })
            }
        }
    }

    fn single(value: &Value) -> Option<(Unit, f64)> {
        match value {
            Value::Whole(number) => Some((Unit::Whole, *number as f64)),
            Value::Real(number) if number.is_finite() => Some((Unit::Real, *number)),
            Value::Text(text) | Value::Bare(text) => {
                let time = text.parse::<Span>().map(|it| (Unit::Time, it.0));
                let size = || text.parse::<Bytes>().map(|it| (Unit::Size, it.0));
                let rate = || text.parse::<ByteRate>().map(|it| (Unit::Rate, it.0));
                let found = time.ok().or_else(|| size().ok()).or_else(|| rate().ok());
                found.map(|(unit, number)| (unit, number as f64))
            }
            _ => None,
        }
    }

    /// Returns the reason why two quantities cannot be the bounds of one parameter; `None` if they
    /// can.
    pub(super) fn refuse(low: &Quantity, high: &Quantity) -> Option<String> {
        if low.alike(high).is_none() {
            return Some("the bounds of the parameter are of different kinds".into());
        }
        let ascending = low.values.iter().zip(&high.values).all(|(low, high)| low < high);
        (!ascending).then(|| {
            format!(
                "the parameter's lower bound {} is not below its upper bound {}",
                low.print(),
                high.print()
            )
        })
    }

    /// Returns the unit that two quantities share, `None` if they differ; a whole number may stand
    /// for a real one.
    fn alike(&self, other: &Quantity) -> Option<Unit> {
        let shape = self.list == other.list && self.values.len() == other.values.len();
        let unit = match (self.unit, other.unit) {
            (one, same) if one == same => Some(one),
            (Unit::Whole | Unit::Real, Unit::Whole | Unit::Real) => Some(Unit::Real),
            _ => None,
        };
        unit.filter(|_| shape)
    }

    /// Returns the value at `position` (0 to 1) between two bounds: on a logarithmic scale if both
    /// bounds are above zero, on a linear one otherwise.
    pub(super) fn between(low: &Quantity, high: &Quantity, position: f64) -> Quantity {
        let position = position.clamp(0.0, 1.0);
        let at = |(&low, &high): (&f64, &f64)| {
            let steps = low + position * (high - low);
            let ratios = || low * libm::exp(position * libm::log(high / low));
            let value = if low > 0.0 { ratios() } else { steps };
            value.clamp(low, high)
        };
        let values = low.values.iter().zip(&high.values).map(at).collect();
        Quantity { unit: low.alike(high).unwrap_or(low.unit), values, list: low.list }
    }

    /// Returns the position (0 to 1) of a configuration value between two bounds; of a value with
    /// several numbers, only the first counts.
    pub(super) fn position(&self, low: &Quantity, high: &Quantity) -> f64 {
        let (low, high, value) = (low.values[0], high.values[0], self.values[0]);
        let position = match low > 0.0 && value > 0.0 {
            true => libm::log(value / low) / libm::log(high / low),
            false => (value - low) / (high - low),
        };
        position.clamp(0.0, 1.0)
    }

    /// Returns the parameter's value as text for a drive file.
    pub fn print(&self) -> String {
        let one = |value: &f64| match self.unit {
            Unit::Time => format!("\"{}ns\"", value.round()),
            Unit::Size => format!("\"{}B\"", value.round()),
            Unit::Rate => format!("\"{}B/s\"", value.round()),
            Unit::Whole => format!("{}", value.round()),
            Unit::Real => format!("{value:?}"),
        };
        match self.list {
            true => format!("[{}]", self.values.iter().map(one).collect::<Vec<_>>().join(", ")),
            false => one(&self.values[0]),
        }
    }

    /// Returns the parameter's value as text for people, times in microseconds.
    pub fn in_words(&self) -> String {
        let one = |value: &f64| match self.unit {
            Unit::Time => format!("{} us", fowler_experiment::numbers::real(value / 1e3)),
            Unit::Size => fowler_experiment::numbers::bytes(value.round() as u64),
            Unit::Rate => format!("{} MB/s", fowler_experiment::numbers::real(value / 1e6)),
            Unit::Whole => format!("{}", value.round()),
            Unit::Real => format!("{value:.4}"),
        };
        self.values.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}
