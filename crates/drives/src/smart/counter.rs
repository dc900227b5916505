//! The value of one counter in a log: digits with separators, a JSON number, or JSON that splits
//! 128 bits.
//!
//! Tools print the 128-bit counters of NVMe in many ways:
//!
//! - nvme-cli before 2.0 prints floating-point numbers, some 2.x versions JSON strings (an empty
//!   one for zero), later ones bare digits of any length (`util/json.c` of nvme-cli).
//! - OCP logs split `physical_media_units_written` into `hi` and `lo`
//!   (`plugins/ocp/ocp-print-json.c` of nvme-cli).
//! - smartctl writes a number, and for a number above 2^53 also its digits as `KEY_s`
//!   (`set_unsafe_uint128` of smartmontools' `json.cpp`); its first versions wrote `n` and `s`.
//! - Text has the thousands separators of the locale (`%'.0Lf`).

use fowler_experiment::diagnostic::printable;
use serde_json::{Map, Value};

/// Largest value of a counter: 2^128 - 1.
const MOST: f64 = 3.402_823_669_209_385e38;

/// Characters that separate groups of digits in some locale: comma, point, apostrophes, and blanks
/// of several kinds.
const SEPARATORS: [char; 8] = [',', '.', '\'', '\u{2019}', ' ', '\u{a0}', '\u{202f}', '\u{2009}'];

/// Returns the whole number at the beginning of a text, and the text behind it.
///
/// # Errors
/// If the text does not begin with a number, or the number has more than 128 bits.
pub(super) fn whole(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let is_part = |c: char| c.is_ascii_digit() || SEPARATORS.contains(&c);
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    let (mut digits, mut rest) = text.split_at(end);
    // Blanks and points belong to a number only between digits.
    let last = digits.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
    digits = &digits[..last];
    rest = if last < end { text[last..].trim_start() } else { rest };
    if digits.is_empty() || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("`{}` is not a counter", printable(text)));
    }
    if rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '_')) {
        // A unit may follow after a blank, but not digits of another base or an exponent.
        let joined = text[last..].starts_with(|c: char| !c.is_whitespace());
        if joined {
            return Err(format!("`{}` is not a counter", printable(text)));
        }
    }
    grouped(digits).map(|value| (value, rest))
}

/// Returns the whole number that digits with thousands separators state.
fn grouped(digits: &str) -> Result<f64, String> {
    let used: Vec<char> = digits.chars().filter(|c| !c.is_ascii_digit()).collect();
    let Some(&separator) = used.first() else { return decimal(digits) };
    let groups: Vec<&str> = digits.split(separator).collect();
    let (first, others) = groups.split_first().expect("a text has a first part");
    // Groups of three, or of two before the last three (India).
    let last = others.last().map_or(0, |group| group.len());
    let inner = &others[..others.len().saturating_sub(1)];
    let regular = (1..=3).contains(&first.len())
        && last == 3
        && (inner.iter().all(|it| it.len() == 3)
            || (first.len() <= 2 && inner.iter().all(|it| it.len() == 2)));
    if used.iter().any(|&c| c != separator) || !regular {
        let text = printable(digits);
        return Err(format!("`{text}` is not a whole number, nor digits in groups of three"));
    }
    decimal(&groups.concat())
}

/// Returns the whole number that digits without separators state.
fn decimal(digits: &str) -> Result<f64, String> {
    if digits.len() > 64 {
        return Err(format!("{} digits are more than 128 bits have", digits.len()));
    }
    digits
        .parse()
        .map_err(|_| format!("`{}` is not a counter", printable(digits)))
        .and_then(bounded)
}

/// Returns the value of a SMART counter unchanged if it is a whole number of at most 128 bits, or
/// an error.
fn bounded(value: f64) -> Result<f64, String> {
    if !(0.0..=MOST).contains(&value) {
        return Err(format!("{value:e} is not a counter: those have 0 to 2^128 - 1"));
    }
    if value.fract() != 0.0 {
        return Err(format!("{value} is not a whole number"));
    }
    Ok(value)
}

/// Returns the counter with this key in a JSON object; `None` if the object does not have the key.
///
/// # Errors
/// If the value is not a whole number from 0 to 2^128 - 1.
pub(super) fn field(object: &Map<String, Value>, key: &str) -> Result<Option<f64>, String> {
    let Some(value) = object.get(key) else { return Ok(None) };
    // Beside a number that JSON readers round, smartctl writes all digits.
    if let Some(Value::String(digits)) = object.get(&format!("{key}_s"))
        && value.is_number()
    {
        return decimal(digits.trim()).map(Some);
    }
    of_json(value).map(Some)
}

/// Returns the counter that a JSON value states.
///
/// # Errors
/// If the value is not a whole number from 0 to 2^128 - 1.
pub(super) fn of_json(value: &Value) -> Result<f64, String> {
    match value {
        Value::Number(number) => {
            number.as_f64().ok_or_else(|| format!("{number}")).and_then(bounded)
        }
        Value::String(text) => of_string(text),
        Value::Object(parts) => of_parts(parts),
        other => Err(format!("`{}` is not a counter", printable(other.to_string()))),
    }
}

fn of_string(text: &str) -> Result<f64, String> {
    let text = text.trim();
    if text.is_empty() {
        // Some versions of nvme-cli 2.x print a zero so.
        return Ok(0.0);
    }
    if let Some((digits, zeros)) = text.split_once('.')
        && !zeros.is_empty()
        && zeros.bytes().all(|byte| byte == b'0')
        && zeros.len() != 3
    {
        // `%Lf`: 742.000000.
        return decimal_of(digits);
    }
    match whole(text)? {
        (value, "") => Ok(value),
        (_, rest) => Err(format!("`{}` behind a counter", printable(rest))),
    }
}

fn decimal_of(digits: &str) -> Result<f64, String> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{}` is not a counter", printable(digits)));
    }
    decimal(digits)
}

fn of_parts(parts: &Map<String, Value>) -> Result<f64, String> {
    let part = |key: &str| parts.get(key).filter(|it| !it.is_object()).map(of_json).transpose();
    if let (Some(hi), Some(lo)) = (part("hi")?, part("lo")?) {
        const WORD: f64 = 18_446_744_073_709_551_616.0;
        return match hi < WORD && lo < WORD {
            true => bounded(hi * WORD + lo),
            false => Err("`hi` and `lo` have more than 64 bits".into()),
        };
    }
    match (part("s")?, part("n")?, part("value")?) {
        (Some(value), ..) | (None, Some(value), _) | (None, None, Some(value)) => Ok(value),
        _ => {
            let keys: Vec<&str> = parts.keys().map(String::as_str).take(4).collect();
            Err(format!(
                "an object with the keys `{}` is not a SMART counter; expected the key `value`, \
                 `s` or `n`, or `hi` and `lo`",
                printable(keys.join(", "))
            ))
        }
    }
}

/// Returns true if all bits of a counter of 32, 64 or 128 bits are set: the drive does not report
/// the counter, or it has saturated.
pub(super) fn is_full(value: f64) -> bool {
    // As floating-point numbers, the last two are powers of two.
    [4_294_967_295.0, 18_446_744_073_709_551_615.0, MOST].contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn digits_are_read_with_the_separators_of_every_locale() {
        for text in [
            "64663716",
            "64,663,716",
            "64.663.716",
            "64'663'716",
            "64\u{2019}663\u{2019}716",
            "64 663 716",
            "64\u{202f}663\u{202f}716",
            "6,46,63,716",
        ] {
            assert_eq!(whole(text), Ok((64_663_716.0, "")), "{text}");
        }
        assert_eq!(whole(" 64,663,716 (33.11 TB)"), Ok((64_663_716.0, "(33.11 TB)")));
        assert_eq!(whole("3%"), Ok((3.0, "%")));
        assert_eq!(whole("34 C"), Ok((34.0, "C")));
        assert_eq!(whole("1,023 [523 MB]"), Ok((1023.0, "[523 MB]")));
        assert_eq!(whole("0"), Ok((0.0, "")));
    }

    #[test]
    fn what_is_no_counter_is_refused() {
        for text in [
            "",
            "-",
            "x",
            "-5",
            "+5",
            "64,66",
            "64,663.716",
            "1,2,3",
            "1.5",
            "0x1f",
            "1e5",
            "12ab",
            "6.46e7",
            "nan",
            "NaN",
            "inf",
            ",5",
            "1,,000",
            "0x",
        ] {
            assert!(whole(text).is_err(), "{text}: {:?}", whole(text));
        }
        assert!(whole(&"9".repeat(39)).is_err());
        assert!(whole(&"9".repeat(1_000_000)).is_err());
        assert_eq!(whole("340282366920938463463374607431768211455").map(|it| it.0), Ok(MOST));
    }

    #[test]
    fn json_splits_a_counter_in_several_ways() {
        for value in [
            json!(742),
            json!(742.0),
            json!("742"),
            json!("742.000000"),
            json!({"hi": 0, "lo": 742}),
            json!({"hi": "0", "lo": "742"}),
            json!({"n": 742, "s": "742"}),
            json!({"value": 742}),
        ] {
            assert_eq!(of_json(&value), Ok(742.0), "{value}");
        }
        assert_eq!(of_json(&json!({"hi": 1, "lo": 0})), Ok(18_446_744_073_709_551_616.0));
        assert_eq!(of_json(&json!("")), Ok(0.0));
        assert_eq!(of_json(&json!("1.000")), Ok(1000.0));
        for value in [
            json!(-1),
            json!(1.5),
            json!(1e39),
            json!(true),
            json!(null),
            json!([1]),
            json!({}),
            json!("x"),
            json!("-3"),
            json!("7 TB"),
            json!({"hi": 1}),
            json!({"hi": 1e20, "lo": 0}),
            json!({"n": {"n": 1}}),
            json!("1.5"),
            json!("NaN"),
        ] {
            assert!(of_json(&value).is_err(), "{value}: {:?}", of_json(&value));
        }
        let unsafe_number = json!({"units": 9007199254740993_u64, "units_s": "9007199254740994"});
        let object = unsafe_number.as_object().unwrap();
        assert_eq!(field(object, "units"), Ok(Some(9_007_199_254_740_994.0)));
        assert_eq!(field(object, "other"), Ok(None));
        assert!(is_full(f64::from(u32::MAX)) && is_full(u64::MAX as f64) && !is_full(1e9));
    }
}
