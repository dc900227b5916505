//! Parses numbers exactly, by integer arithmetic. Fractional times are parsed as decimals, because
//! `f64` can represent neither a Windows file time (1.28e17 ticks) nor Unix seconds with
//! nanoseconds.

use std::fmt;

/// Why a text is not a valid number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberError {
    /// The text to be parsed as a number is not a number at all.
    NotANumber,
    /// The text to be parsed as a number is negative where no negative number is allowed.
    Negative,
    /// The text is a whole number, but too large for 64 bits.
    TooLarge,
}

/// The number of decimal digits that always fit in a `u64`.
pub(crate) const SAFE_DIGITS: usize = 19;

/// Powers of ten, from 10^0 to 10^9.
pub(crate) const TEN_TO: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// Parses a whole decimal number.
pub(crate) fn unsigned(text: &[u8]) -> Result<u64, NumberError> {
    if let Some(rest) = text.strip_prefix(b"-") {
        return Err(below_zero(rest));
    }
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::NotANumber);
    }
    text.iter()
        .try_fold(0u64, |value, &digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        .ok_or(NumberError::TooLarge)
}

/// Parses a whole hexadecimal number, with or without `0x`.
pub(crate) fn hexadecimal(text: &[u8]) -> Result<u64, NumberError> {
    let text = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    if text.is_empty() || !text.iter().all(u8::is_ascii_hexdigit) {
        return Err(NumberError::NotANumber);
    }
    text.iter()
        .try_fold(0u64, |value, &digit| {
            let digit = (digit as char).to_digit(16).expect("checked above");
            value.checked_mul(16)?.checked_add(u64::from(digit))
        })
        .ok_or(NumberError::TooLarge)
}

/// Parses a decimal number in units of `10^digits` ns to whole nanoseconds. Digits finer than a
/// nanosecond are rounded to the nearest, halves up. Exponents are rejected: no tracer prints them.
pub(crate) fn decimal_ns(text: &[u8], digits: usize) -> Result<u64, NumberError> {
    if let Some(rest) = text.strip_prefix(b"-") {
        return Err(below_zero(rest));
    }
    let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let fraction = text.get(point + 1..).unwrap_or_default();
    if point + fraction.len() == 0 || !fraction.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::NotANumber);
    }
    let whole = if point == 0 { 0 } else { unsigned(&text[..point])? };
    let kept = &fraction[..fraction.len().min(digits)];
    let part = kept.iter().fold(0, |part, &digit| part * 10 + u64::from(digit - b'0'));
    let round = fraction.get(digits).is_some_and(|&digit| digit >= b'5');
    whole
        .checked_mul(TEN_TO[digits])
        .and_then(|ns| ns.checked_add(part * TEN_TO[digits - kept.len()]))
        .and_then(|ns| ns.checked_add(u64::from(round)))
        .ok_or(NumberError::TooLarge)
}

/// Parses a time like [`decimal_ns`], also with a negative exponent as in `7.25e-05`: Python and R
/// print small numbers so. Positive exponents are rejected, see [`cuts_digits`].
pub(crate) fn time_ns(text: &[u8], digits: usize) -> Result<u64, NumberError> {
    let Some(at) = text.iter().position(|byte| matches!(byte, b'e' | b'E')) else {
        return decimal_ns(text, digits);
    };
    let (mantissa, exponent) = (&text[..at], &text[at + 1..]);
    let exponent = exponent.strip_prefix(b"-").ok_or(NumberError::NotANumber)?;
    let exponent = unsigned(exponent)?.min(LONGEST_EXPONENT) as usize;
    if let Some(rest) = mantissa.strip_prefix(b"-") {
        return Err(below_zero(rest));
    }
    let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
    let (whole, fraction) = (&mantissa[..point], mantissa.get(point + 1..).unwrap_or_default());
    if whole.is_empty() {
        return Err(NumberError::NotANumber);
    }
    // The point moves to the left: 7.25e-05 is 0.0000725.
    let mut shifted = vec![b'0'; exponent];
    shifted.extend(whole);
    shifted.insert(shifted.len() - exponent, b'.');
    shifted.extend(fraction);
    decimal_ns(&shifted, digits)
}

/// Largest negative exponent that is examined; smaller numbers are zero nanoseconds.
const LONGEST_EXPONENT: u64 = 64;

/// Returns true if a number has a positive exponent, as in `1.70531e+15`: its last digits may be
/// lost.
pub(crate) fn cuts_digits(text: &[u8]) -> bool {
    let Some(at) = text.iter().position(|byte| matches!(byte, b'e' | b'E')) else { return false };
    let exponent = text[at + 1..].strip_prefix(b"+").unwrap_or(&text[at + 1..]);
    let is_number = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_digit)
            && part.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
    };
    is_number(&text[..at]) && unsigned(exponent).is_ok()
}

/// Displays a number compactly: very large and very small values with an exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Short(pub f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Short(value) = self;
        if (1e-6..1e15).contains(&value.abs()) || *value == 0.0 || !value.is_finite() {
            write!(f, "{value}")
        } else {
            write!(f, "{value:e}")
        }
    }
}

/// Returns the error for the text `-rest`: a negative number, or not a number.
fn below_zero(rest: &[u8]) -> NumberError {
    let digits = rest.iter().filter(|byte| byte.is_ascii_digit()).count();
    let points = rest.iter().filter(|&&byte| byte == b'.').count();
    if digits > 0 && points <= 1 && digits + points == rest.len() {
        NumberError::Negative
    } else {
        NumberError::NotANumber
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_up_to_the_last_one_that_fits() {
        assert_eq!(unsigned(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(unsigned(b"18446744073709551616"), Err(NumberError::TooLarge));
        assert_eq!(unsigned(b"00000000000000000000000007"), Ok(7));
        assert_eq!(unsigned(b"-7"), Err(NumberError::Negative));
        for text in [&b""[..], b"-", b"+7", b"7 ", b"0x7", b"1e3", b"\xff", b"7.0", b"--7"] {
            assert_eq!(unsigned(text), Err(NumberError::NotANumber), "{text:?}");
        }
    }

    #[test]
    fn hexadecimal_numbers_are_read_with_and_without_their_prefix() {
        assert_eq!(hexadecimal(b"0xfF"), Ok(255));
        assert_eq!(hexadecimal(b"10"), Ok(16));
        assert_eq!(hexadecimal(b"ffffffffffffffff"), Ok(u64::MAX));
        assert_eq!(hexadecimal(b"10000000000000000"), Err(NumberError::TooLarge));
        assert_eq!(hexadecimal(b"0x"), Err(NumberError::NotANumber));
        assert_eq!(hexadecimal(b"g"), Err(NumberError::NotANumber));
    }

    #[test]
    fn decimal_times_are_exact_where_a_float_is_not() {
        assert_eq!(decimal_ns(b"1456095145.133076001", 9), Ok(1_456_095_145_133_076_001));
        assert_eq!(decimal_ns(b"640.875000", 6), Ok(640_875_000));
        assert_eq!(decimal_ns(b".5", 6), Ok(500_000));
        assert_eq!(decimal_ns(b"5.", 6), Ok(5_000_000));
        assert_eq!(decimal_ns(b"7", 0), Ok(7));
        assert_eq!(decimal_ns(b"7.5", 0), Ok(8));
        assert_eq!(decimal_ns(b"18446744073.709551615", 9), Ok(u64::MAX));
        assert_eq!(decimal_ns(b"18446744073.7095516154", 9), Ok(u64::MAX));
        assert_eq!(decimal_ns(b"18446744073.7095516155", 9), Err(NumberError::TooLarge));
        assert_eq!(decimal_ns(b"18446744073.709551616", 9), Err(NumberError::TooLarge));
    }

    #[test]
    fn negative_exponents_move_the_point_and_positive_ones_cut_digits() {
        for (text, ns) in [
            ("7.25e-05", 72_500),
            ("12.5E-3", 12_500_000),
            ("5e-10", 1),
            ("4e-10", 0),
            ("1e-99999999999999999999", 0),
            ("7.25", 7_250_000_000),
        ] {
            let found = time_ns(text.as_bytes(), 9);
            let too_long = text.len() > 20;
            assert!(found == Ok(ns) || too_long && found == Err(NumberError::TooLarge), "{text}");
        }
        for text in ["1.5e+03", "1e3", "e-5", "1.2.3e-5", "1xe-5", "1e-", "1e-5e-5", ".5e-5"] {
            assert_eq!(time_ns(text.as_bytes(), 9), Err(NumberError::NotANumber), "{text}");
        }
        assert_eq!(time_ns(b"-1e-5", 9), Err(NumberError::Negative));
        for (text, cuts) in
            [("1.70531e+15", true), ("1e3", true), ("7e-05", false), ("0x1e3", false)]
        {
            assert_eq!(cuts_digits(text.as_bytes()), cuts, "{text}");
        }
        assert!(!cuts_digits(b"e+5") && !cuts_digits(b"sde") && !cuts_digits(b""));
    }

    #[test]
    fn messages_hold_no_endless_numbers() {
        let values = [0.0, 7.0, -0.5, 1e308, 1e-300, f64::INFINITY, f64::NAN];
        let texts = values.map(|value| Short(value).to_string());
        assert_eq!(texts, ["0", "7", "-0.5", "1e308", "1e-300", "inf", "NaN"]);
    }

    #[test]
    fn what_is_finer_than_a_nanosecond_is_rounded() {
        assert_eq!(decimal_ns(b"0.0000004", 6), Ok(0));
        assert_eq!(decimal_ns(b"0.00000049999", 6), Ok(0));
        assert_eq!(decimal_ns(b"0.0000005", 6), Ok(1));
        assert_eq!(decimal_ns(b"0.9999999", 6), Ok(1_000_000));
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in [&b""[..], b".", b"1e3", b"1.2.3", b"1.x", b"x.1", b"nan", b"inf", b"-", b"-."]
        {
            assert_eq!(decimal_ns(text, 6), Err(NumberError::NotANumber), "{text:?}");
        }
        assert_eq!(decimal_ns(b"-0.001", 6), Err(NumberError::Negative));
    }
}
