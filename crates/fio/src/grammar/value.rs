//! The value of an option: numbers with suffixes, times, shares, lists.

use super::arithmetic::evaluate;
use crate::job::{ByDirection, Size};
use fowler_units::Span;

/// Error about the value of an option, with the accepted values and a hint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub what: String,
    pub expected: String,
    pub hint: Option<String>,
}

impl Wrong {
    pub fn new(what: impl Into<String>, expected: impl Into<String>) -> Wrong {
        Wrong { what: what.into(), expected: expected.into(), hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Wrong {
        self.hint = Some(hint.into());
        self
    }
}

/// Units in which the value of an option counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Units {
    /// The value is a number of bytes; `k` means this many, the `kb_base` of the job.
    Bytes(u64),
    /// The value of the fio option is a time; without a suffix such as `ms`, its number is
    /// multiplied by this many microseconds.
    Time(u64),
}

/// Value of an option as written, with the units needed to read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    /// Text of an option's value, as in the job file.
    pub text: &'a str,
    /// Bytes that `k` means in an option's value (`kb_base`): 1000 or 1024.
    pub base: u64,
}

const SECOND: u64 = 1_000_000;
/// Longest time that an option can give: 100 years. Five of them still fit in 64 bits of
/// nanoseconds.
const LONGEST: Span = Span(36_500 * 86_400 * 1_000_000_000);

impl<'a> Value<'a> {
    /// Parses the option's value as a whole number, with an optional suffix.
    pub fn number(&self) -> Result<u64, Wrong> {
        self.bytes_of(self.text)
    }

    /// Parses the option's value as a whole number of at most `most`.
    pub fn up_to(&self, most: u64) -> Result<u64, Wrong> {
        self.within(0, most)
    }

    /// Parses the option's value as a whole number from `least` to `most`.
    pub fn within(&self, least: u64, most: u64) -> Result<u64, Wrong> {
        let value = self.number()?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(Wrong::new(format!("`{}` is out of range", self.text), format!("{least} to {most}")))
    }

    /// Parses the option's value as a count, at most 2^32 - 1.
    pub fn count(&self) -> Result<u32, Wrong> {
        Ok(self.up_to(u64::from(u32::MAX))? as u32)
    }

    /// Parses the option's value as a switch, 0 or 1. Without a value the switch is on.
    pub fn switch(&self) -> Result<bool, Wrong> {
        Ok(self.number()? != 0)
    }

    /// Parses the option's value as a number of bytes or a percentage.
    pub fn size(&self) -> Result<Size, Wrong> {
        let Some(percent) = self.text.strip_suffix('%') else {
            return self.number().map(Size::Bytes);
        };
        match percent.trim().parse() {
            Ok(percent) if percent <= 100 => Ok(Size::Percent(percent)),
            _ => Err(Wrong::new(format!("`{}` is not a share", self.text), "0% to 100%")),
        }
    }

    /// Parses the option's value as a time; a number without a unit counts `bare` microseconds
    /// each.
    pub fn time(&self, bare: u64) -> Result<Span, Wrong> {
        let micros = time(self.text, bare).map_err(|what| {
            Wrong::new(what, "a time, such as 30, 30s, 5m, 2h, 1d, 100ms or 20us")
        })?;
        let time = micros.checked_mul(1000).map(Span).filter(|time| *time <= LONGEST);
        let expected = "at most 100 years of 365 days";
        time.ok_or_else(|| Wrong::new(format!("`{}` is too long", self.text), expected))
    }

    /// Parses the option's value as a time; a number without a unit counts seconds.
    pub fn seconds(&self) -> Result<Span, Wrong> {
        self.time(SECOND)
    }

    /// Parses the option's value as a real number from `least` to `most`.
    pub fn real(&self, least: f64, most: f64) -> Result<f64, Wrong> {
        let expected = format!("a number from {least} to {most}");
        match self.text.trim().parse::<f64>() {
            Ok(value) if (least..=most).contains(&value) => Ok(value),
            _ => Err(Wrong::new(
                format!("`{}` is not a number from {least} to {most}", self.text),
                expected,
            )),
        }
    }

    /// Parses a list of values for reads, writes and trims. A value that is left out is `None`;
    /// missing later ones repeat the last.
    pub fn by_direction<T: Copy>(
        &self,
        read: impl Fn(Value<'a>) -> Result<T, Wrong>,
    ) -> Result<ByDirection<Option<T>>, Wrong> {
        let parts: Vec<&str> = self.text.split(',').map(str::trim).collect();
        if parts.len() > 3 {
            return Err(Wrong::new(
                format!("`{}` has more than three comma-separated values", self.text),
                "a value, or values for reads, writes and trims",
            ));
        }
        let mut values = [None; 3];
        for (index, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let value = read(Value { text: part, base: self.base })?;
            values[index] = Some(value);
            let more = parts.get(index + 1..).unwrap_or(&[]).iter().all(|part| part.is_empty());
            // `8k,` is for reads alone.
            if more && parts.len() == index + 1 {
                values[index..].fill(Some(value));
            }
        }
        Ok(values)
    }

    /// Parses the option's value as one of the words in `words`, and returns the meaning.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Wrong> {
        let found = words.iter().find(|(word, _)| *word == self.text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let near = super::nearest(self.text, known.iter().copied());
            let wrong = Wrong::new(format!("unknown value `{}`", self.text), known.join(", "));
            match near {
                Some(word) => wrong.hint(format!("did you mean `{word}`?")),
                None => wrong,
            }
        })
    }

    fn bytes_of(&self, text: &str) -> Result<u64, Wrong> {
        let expected = "a whole number, such as 4096, 0x1000, 4k, 16m or 1g";
        let value = evaluated(text, Units::Bytes(self.base));
        let value = value.map_err(|what| Wrong::new(what, expected))?;
        Ok(value)
    }
}

fn evaluated(text: &str, units: Units) -> Result<u64, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the value is empty".into());
    }
    if text.starts_with('(') || text.starts_with("-(") {
        return whole(evaluate(text, units)?, text);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let value = exact(digits, units)?;
    match text.starts_with('-') {
        // fio reads -1 as the largest number there is.
        true => Ok(value.wrapping_neg()),
        false => Ok(value),
    }
}

fn whole(value: f64, text: &str) -> Result<u64, String> {
    if value < 0.0 {
        return Err(format!("`{text}` is negative"));
    }
    // Above this a double cannot tell whole numbers apart.
    if value > 9.0e15 {
        return Err(format!("`{text}` is too large"));
    }
    Ok(value as u64)
}

/// Parses a whole number, decimal or (after `0x`) hexadecimal, and its suffix such as `k` or `ms`.
/// Returns the number of bytes or microseconds without rounding, up to 2^64 - 1.
fn exact(text: &str, units: Units) -> Result<u64, String> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    if digits.is_empty() {
        return Err(format!("`{text}` is not a number"));
    }
    if suffix.starts_with('.') {
        return Err(format!("`{text}` is not a whole number"));
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| format!("`{text}` is too large"))?;
    let scale = scale(suffix.trim(), units).ok_or_else(|| unknown(suffix))?;
    value.checked_mul(scale).ok_or_else(|| format!("`{text}` is too large"))
}

/// Parses a number with its suffix in an expression.
pub(super) fn suffixed(text: &str, units: Units) -> Result<f64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    if text.starts_with("0x") || !text[..end].contains('.') {
        return exact(text, units).map(|value| value as f64);
    }
    let scale = scale(&text[end..], units).ok_or_else(|| unknown(&text[end..]))?;
    let value: f64 = text[..end].parse().map_err(|_| format!("`{text}` is not a number"))?;
    Ok(value * scale as f64)
}

fn unknown(suffix: &str) -> String {
    match suffix.trim() {
        "z" | "Z" => "sizes in zones (`z`) are not simulated".into(),
        suffix => format!("`{suffix}` is an unknown suffix"),
    }
}

/// Returns the factor that a suffix stands for, such as 1024 for `k`; `None` if it is unknown.
fn scale(suffix: &str, units: Units) -> Option<u64> {
    let suffix = suffix.to_ascii_lowercase();
    match units {
        Units::Bytes(base) => {
            let (letter, rest) = match suffix.as_str() {
                "" | "b" => return Some(1),
                suffix => suffix.split_at_checked(1)?,
            };
            let power = 1 + "kmgtp".find(letter)? as u32;
            // Only the whole `kib` is the other base, in fio as it is.
            let other = if base == 1000 { 1024 } else { 1000 };
            match rest {
                "" | "b" | "i" => base.checked_pow(power),
                "ib" => u64::checked_pow(other, power),
                _ => None,
            }
        }
        Units::Time(bare) => Some(match suffix.as_str() {
            "" => bare,
            "us" | "usec" => 1,
            "ms" | "msec" => 1000,
            "s" | "sec" => SECOND,
            "m" | "min" => 60 * SECOND,
            "h" | "hr" => 3600 * SECOND,
            "d" => 86_400 * SECOND,
            _ => return None,
        }),
    }
}

/// Parses a time in microseconds: a number with a unit, or `[[days:]hours:]minutes:seconds`.
fn time(text: &str, bare: u64) -> Result<u64, String> {
    if !text.contains(':') {
        return evaluated(text, Units::Time(bare));
    }
    let mut total: u64 = 0;
    let parts: Vec<&str> = text.rsplit(':').collect();
    if parts.len() > 4 {
        return Err(format!("`{text}` is not a time"));
    }
    for (part, scale) in parts.iter().zip([1, 60, 3600, 86_400]) {
        let number: u64 = part.trim().parse().map_err(|_| format!("`{text}` is not a time"))?;
        total = number
            .checked_mul(scale * SECOND)
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| format!("`{text}` is too long"))?;
    }
    Ok(total)
}

/// Returns true if a number has a suffix that reads as a power of 1024 but means a power of 1000
/// (`4KiB`).
pub(crate) fn is_misleading(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["kib", "mib", "gib", "tib", "pib"].iter().any(|suffix| {
        text.match_indices(suffix).any(|(at, _)| at > 0 && text.as_bytes()[at - 1].is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, base: u64) -> Option<u64> {
        Value { text, base }.number().ok()
    }

    #[test]
    fn numbers_are_read_as_fio_does() {
        for (text, value) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4ki", 4096),
            ("4KiB", 4000),
            ("1m", 1 << 20),
            ("1mib", 1_000_000),
            ("0x10k", 16_384),
            ("2g", 2 << 30),
            ("1t", 1 << 40),
            ("12b", 12),
            ("-1", u64::MAX),
            ("(2*1024k)", 2 << 20),
            ("(1+2^3*2-1)", 16),
            ("(7%4/2)", 1),
        ] {
            assert_eq!(read(text, 1024), Some(value), "{text}");
        }
        assert_eq!((read("1k", 1000), read("1kib", 1000)), (Some(1000), Some(1024)));
        for text in ["", "k", "4x", "1.5m", "4z", "(1", "(1/0)", "((", "99999999999g", "1kk"] {
            assert_eq!(read(text, 1024), None, "{text}");
        }
        let deep = "(".repeat(10_000);
        assert_eq!(read(&deep, 1024), None);
    }

    #[test]
    fn times_have_units() {
        let time = |text, bare| Value { text, base: 1024 }.time(bare).ok().map(|span| span.0);
        assert_eq!(time("10", SECOND), Some(10_000_000_000));
        assert_eq!(time("10", 1), Some(10_000));
        assert_eq!(time("5ms", SECOND), Some(5_000_000));
        assert_eq!(time("2m", SECOND), Some(120_000_000_000));
        assert_eq!(time("01:10:02", SECOND), Some(4_202_000_000_000));
        assert_eq!(time("ten", SECOND), None);
    }

    #[test]
    fn lists_repeat_their_last_value() {
        let list = |text| {
            Value { text, base: 1024 }
                .by_direction(|value| value.number())
                .map(|it| it.map(|v| v.unwrap_or(0)))
        };
        assert_eq!(list("4k"), Ok([4096; 3]));
        assert_eq!(list("4k,8k"), Ok([4096, 8192, 8192]));
        assert_eq!(list(",8k"), Ok([0, 8192, 8192]));
        assert_eq!(list("8k,"), Ok([8192, 0, 0]));
        assert_eq!(list("1,2,3"), Ok([1, 2, 3]));
        assert!(list("1,2,3,4").is_err());
    }
}
