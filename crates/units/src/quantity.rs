//! Numbers with units in configuration text: exact decimal arithmetic, no floats, no bare numbers.

/// The reason why text is not a valid quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; expected {expected}")]
pub struct QuantityError {
    /// Problem with the text of a quantity, in words.
    pub reason: String,
    /// Description of valid texts for the quantity (a time, size or rate), as error messages show
    /// it after "expected".
    pub expected: &'static str,
}

/// A unit of a quantity: the suffix in texts, such as `us`, and the size of the unit in the
/// quantity's base unit, such as 1,000 ns.
pub(crate) struct Unit {
    pub suffix: &'static str,
    pub scale: u64,
}

/// Returns the suffixes of the given units of time, size or rate, such as `us` or `KiB`.
pub(crate) fn suffixes(units: &'static [Unit]) -> impl Iterator<Item = &'static str> {
    units.iter().map(|unit| unit.suffix)
}

/// Shortens text for a message and removes anything that a terminal would interpret.
fn quoted(text: &str) -> String {
    let mut quoted: String = text.chars().take(QUOTED_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTED_MAX).is_some() {
        quoted.push_str("...");
    }
    format!("`{quoted}`")
}

const QUOTED_MAX: usize = 40;

/// Parses `<decimal><unit>` exactly: the value must be a whole number of base units.
pub(crate) fn parse_exact(
    text: &str,
    units: &[Unit],
    expected: &'static str,
) -> Result<u64, QuantityError> {
    let fail = |reason: String| QuantityError { reason, expected };
    let text = text.trim();
    let shown = quoted(text);
    if text.starts_with('-') {
        return Err(fail(format!("{shown} is negative")));
    }
    let number_length =
        text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, suffix) = (&text[..number_length], text[number_length..].trim());
    if suffix.is_empty() {
        return Err(fail(format!("{shown} has no unit")));
    }
    let Some(unit) = units.iter().find(|unit| unit.suffix == suffix) else {
        let known: Vec<_> = units.iter().map(|unit| unit.suffix).collect();
        let reason = if number.is_empty() && known.contains(&text) {
            format!("{shown} has no number")
        } else {
            format!("{} is an unknown unit (known: {})", quoted(suffix), known.join(", "))
        };
        let exponent = suffix.strip_prefix(['e', 'E']).is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-')
        });
        return Err(fail(if exponent && !number.is_empty() {
            format!(
                "{shown} has no number that can be read exactly (write the number without exponent)"
            )
        } else {
            reason
        }));
    };
    let digits = number.replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return Err(fail(format!("{shown} has no number")));
    }
    let fraction = fraction.trim_end_matches('0');
    let too_large = || {
        let base = units.iter().find(|unit| unit.scale == 1).map_or("", |unit| unit.suffix);
        fail(format!("{shown} is too large: it must be below 2^64 {base}"))
    };
    let too_fine = || {
        fail(format!(
            "{shown} is finer than the simulator's smallest unit; give fewer decimal places"
        ))
    };
    let shift = 10u128.checked_pow(fraction.len() as u32).ok_or_else(too_fine)?;
    let mantissa: u128 = format!("0{whole}{fraction}").parse().map_err(|_| too_large())?;
    let scaled = mantissa.checked_mul(u128::from(unit.scale)).ok_or_else(too_large)?;
    if scaled % shift != 0 {
        return Err(too_fine());
    }
    u64::try_from(scaled / shift).map_err(|_| too_large())
}

/// Formats `value` in the largest unit that divides it, so that parsing the result loses nothing.
pub(crate) fn format_exact(value: u64, units: &[Unit]) -> String {
    let unit = units
        .iter()
        .find(|unit| value.is_multiple_of(unit.scale))
        .expect("the smallest unit divides everything");
    format!("{}{}", value / unit.scale, unit.suffix)
}
