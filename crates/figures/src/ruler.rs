//! Axes as rulers: the range that the data needs, and ticks with short labels.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::Scale;
use crate::style::{LABEL, width};

/// An axis with its range and ticks. Positions are values on a linear axis and exponents on a
/// logarithmic one.
#[derive(Clone, Debug)]
pub struct Ruler {
    scale: Scale,
    pub low: f64,
    pub high: f64,
    /// Positions of the ticks with their labels, in ascending order.
    pub ticks: Vec<(f64, String)>,
}

/// Space for the labels of an axis and their direction, which determine how many fit.
#[derive(Clone, Copy, Debug)]
pub enum Room {
    /// Horizontal axis: labels stand side by side, in a total width of this many pixels.
    Across(f64),
    /// Vertical axis: labels stand above each other, in a total height of this many pixels.
    Up(f64),
}

impl Room {
    /// Returns the number of labels of an axis, at least 2, that fit along it without overlapping;
    /// `labels` give the widest one.
    fn holds(self, labels: &[(f64, String)]) -> usize {
        let fits = match self {
            Self::Across(pixels) => {
                let widest =
                    labels.iter().map(|(_, label)| width(label, LABEL)).fold(0.0, f64::max);
                pixels / (widest + 12.0)
            }
            Self::Up(pixels) => pixels / 24.0,
        };
        (fits as usize).max(2)
    }
}

/// Share of an axis's range that is left free on either side of the data.
const MARGIN: f64 = 0.04;

impl Ruler {
    /// Returns an axis without ticks, for categories.
    pub fn plain(low: f64, high: f64) -> Self {
        Self { scale: Scale::Linear, low, high, ticks: Vec::new() }
    }

    /// Returns an axis for values from `min` to `max`. A linear axis includes zero if the value
    /// closest to zero is less than `reach` times the value farthest from zero.
    pub fn new(scale: Scale, (min, max): (f64, f64), reach: f64, room: Room) -> Self {
        match scale {
            Scale::Linear => Self::linear(min, max, reach, room),
            Scale::Log2 | Scale::Log10 => Self::logarithmic(scale, min, max, room),
        }
    }

    /// Returns a linear axis for shares from 0 to 1, with almost no margins.
    pub fn shares() -> Self {
        let ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map(|share| (share, format!("{share:.1}")));
        Self { scale: Scale::Linear, low: 0.0, high: 1.02, ticks: ticks.to_vec() }
    }

    /// Returns the position of a value on the axis: the value if the axis is linear, its logarithm
    /// if not.
    pub fn place(&self, value: f64) -> f64 {
        logarithm(self.scale, value)
    }

    fn linear(min: f64, max: f64, reach: f64, room: Room) -> Self {
        let zero = min >= 0.0 && min < reach * max || max <= 0.0 && max > reach * min;
        let (mut low, mut high) = if zero { (min.min(0.0), max.max(0.0)) } else { (min, max) };
        let size = low.abs().max(high.abs());
        if high - low <= size * 1e-9 || size < 1e-200 {
            let spare = if size < 1e-200 { 1.0 } else { size * 0.5 };
            (low, high) = (if low == 0.0 { low } else { low - spare }, high + spare);
        }
        let margin = (high - low) * MARGIN;
        low -= if low == 0.0 { 0.0 } else { margin };
        high += if high == 0.0 { 0.0 } else { margin };
        let mut ticks = Vec::new();
        for wanted in (2..=6).rev() {
            ticks = divide(low, high, wanted);
            if ticks.len() <= room.holds(&ticks) {
                break;
            }
        }
        Self { scale: Scale::Linear, low, high, ticks }
    }

    fn logarithmic(scale: Scale, min: f64, max: f64, room: Room) -> Self {
        let (mut low, mut high) = (logarithm(scale, min), logarithm(scale, max));
        if high - low < 1e-6 {
            (low, high) = (low - 0.5, high + 0.5);
        }
        let margin = (high - low) * MARGIN;
        (low, high) = (low - margin, high + margin);
        let mut ticks = powers(scale, low, high, room);
        if ticks.len() < 3 && scale == Scale::Log10 {
            ticks = halves(low, high);
        }
        if ticks.len() < 2 || ticks.len() > room.holds(&ticks) {
            let values = divide(libm::pow(base(scale), low), libm::pow(base(scale), high), 5);
            ticks = values
                .into_iter()
                .filter(|(value, _)| *value > 0.0)
                .map(|(value, label)| (logarithm(scale, value), label))
                .collect();
        }
        Self { scale, low, high, ticks }
    }
}

/// An axis acts as a coordinate of `plotters`, the drawing library: it maps positions, and its
/// ticks are fixed.
impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (place - self.low) / (self.high - self.low);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(place, _)| *place).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Ruler {
    /// Returns the label of the tick at a position of the axis. The drawing library asks only for
    /// positions of ticks.
    fn format_ext(&self, place: &f64) -> String {
        let tick = self.ticks.iter().find(|(at, _)| at == place);
        tick.map_or_else(String::new, |(_, label)| label.clone())
    }
}

fn base(scale: Scale) -> f64 {
    if scale == Scale::Log2 { 2.0 } else { 10.0 }
}

/// Returns the logarithm of a value on this scale, computed by `libm` so that the last digit is the
/// same on every machine.
fn logarithm(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Log2 => libm::log2(value),
        Scale::Log10 => libm::log10(value),
    }
}

/// Returns the ticks of a logarithmic axis: whole powers of the base, or every second, third... if
/// not all fit.
fn powers(scale: Scale, low: f64, high: f64, room: Room) -> Vec<(f64, String)> {
    let all: Vec<i32> = (low.ceil() as i32..=high.floor() as i32).collect();
    let plain = match scale {
        Scale::Log2 => all.iter().all(|power| (0..=14).contains(power)),
        _ => all.iter().all(|power| (-3..=4).contains(power)),
    };
    let label = |power: i32| {
        let value = libm::pow(base(scale), f64::from(power));
        if plain { trimmed(value, 3) } else { format!("{}{}", base(scale), superscript(power)) }
    };
    let mut ticks = Vec::new();
    for step in 1.. {
        ticks = all
            .iter()
            .filter(|power| power.rem_euclid(step) == 0)
            .map(|power| (f64::from(*power), label(*power)))
            .collect();
        if ticks.len() <= room.holds(&ticks) {
            break;
        }
    }
    ticks
}

/// Returns ticks at 1, 2 and 5 of every decade, for a logarithmic axis.
fn halves(low: f64, high: f64) -> Vec<(f64, String)> {
    let mut ticks = Vec::new();
    for power in low.floor() as i32..=high.ceil() as i32 {
        for digit in [1.0, 2.0, 5.0] {
            let value = digit * libm::pow(10.0, f64::from(power));
            let place = libm::log10(value);
            if (low..=high).contains(&place) {
                let label = if (-3..=5).contains(&power) {
                    trimmed(value, 3)
                } else {
                    format!("{digit}×10{}", superscript(power))
                };
                ticks.push((place, label));
            }
        }
    }
    ticks
}

/// Returns ticks of a linear axis: about this many round numbers between two values.
fn divide(low: f64, high: f64, wanted: usize) -> Vec<(f64, String)> {
    let raw = (high - low) / wanted as f64;
    let power = libm::floor(libm::log10(raw)) as i32;
    let unit = libm::pow(10.0, f64::from(power));
    let digit = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|digit| digit * unit >= raw * 0.999);
    let step = digit.unwrap_or(10.0) * unit;
    let (first, last) = (libm::ceil(low / step - 1e-9), libm::floor(high / step + 1e-9));
    let values: Vec<f64> =
        (0..=(last - first) as usize).map(|index| (first + index as f64) * step).collect();
    let size = low.abs().max(high.abs());
    values.into_iter().map(|value| (value, short(value, step, size))).collect()
}

/// Formats the label of a tick, a multiple of `step`, on an axis that extends to `size`, with just
/// enough digits to distinguish it from its neighbors.
fn short(value: f64, step: f64, size: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-5..1e13).contains(&size) {
        let power = libm::floor(libm::log10(size)) as i32;
        let digits = libm::pow(10.0, f64::from(power));
        return format!("{}×10{}", fixed(value / digits, step / digits), superscript(power));
    }
    let (by, sign) = match size {
        size if size >= 1e10 => (1e9, "G"),
        size if size >= 1e7 => (1e6, "M"),
        size if size >= 1e5 => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{}{sign}", fixed(value / by, step / by))
}

/// Formats a number with as many decimals as the distance of two ticks of the axis (`step`) needs.
fn fixed(value: f64, step: f64) -> String {
    let decimals = (0..12).find(|decimals| {
        let shifted = step * libm::pow(10.0, f64::from(*decimals));
        shifted > 0.9 && (shifted - shifted.round()).abs() < 1e-6 * shifted
    });
    minus(format!("{value:.*}", decimals.unwrap_or(12) as usize))
}

fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    minus(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// Replaces the hyphen with a true minus sign.
fn minus(text: String) -> String {
    text.replace('-', "−")
}

fn superscript(power: i32) -> String {
    power
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_their_labels_short() {
        use Scale::{Linear, Log2, Log10};
        for (scale, range, expected) in [
            (Linear, (0.0, 1.0), "0 0.2 0.4 0.6 0.8 1.0"),
            (Linear, (0.0, 2.2), "0 0.5 1.0 1.5 2.0"),
            (Linear, (0.0, 0.0), "0 0.2 0.4 0.6 0.8 1.0"),
            (Linear, (950.0, 1000.0), "950 960 970 980 990 1000"),
            (Linear, (-3.0, 3.0), "−2 0 2"),
            (Linear, (0.0, 340_000.0), "0 100k 200k 300k"),
            (Linear, (0.0, 3e-6), "0 1×10⁻⁶ 2×10⁻⁶ 3×10⁻⁶"),
            (Log2, (16.0, 512.0), "16 32 64 128 256 512"),
            (Log2, (1.0, 1_048_576.0), "2⁰ 2² 2⁴ 2⁶ 2⁸ 2¹⁰ 2¹² 2¹⁴ 2¹⁶ 2¹⁸ 2²⁰"),
            (Log10, (1.0, 1000.0), "1 10 100 1000"),
            (Log10, (0.01, 50.0), "0.01 0.1 1 10"),
            (Log10, (25.0, 260_000.0), "10² 10³ 10⁴ 10⁵"),
            (Log10, (20.0, 600.0), "20 50 100 200 500"),
            (Log10, (40.0, 48.0), "40 42 44 46 48"),
        ] {
            let ruler = Ruler::new(scale, range, 0.6, Room::Across(400.0));
            let labels: Vec<&str> = ruler.ticks.iter().map(|(_, label)| label.as_str()).collect();
            assert_eq!(labels.join(" "), expected, "{scale:?} {range:?}");
            let inside = |(place, _): &(f64, String)| (ruler.low..=ruler.high).contains(place);
            assert!(ruler.ticks.iter().all(inside), "{ruler:?}");
        }
    }

    #[test]
    fn ticks_that_have_no_room_are_left_out() {
        let ruler = Ruler::new(Scale::Log10, (1e-30, 1e30), 0.0, Room::Up(240.0));
        assert!(ruler.ticks.len() <= 10, "{ruler:?}");
        let ruler = Ruler::new(Scale::Linear, (10_000.0, 10_001.0), 0.0, Room::Across(150.0));
        assert!(ruler.ticks.len() <= 3, "{ruler:?}");
    }
}
