//! Formats numbers for people: three or four significant digits, with thousands separators. Also
//! names the causes of latency.

use fowler_device::blame::Part;

/// Text shown in tables in place of a value that was not measured.
pub const NOTHING: &str = "-";

/// Formats a whole number with thousands separators: `1,234,567`.
pub fn whole(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun: `1 request`, `2,000 requests`.
pub fn counted(count: u64, what: &str) -> String {
    counted_as(count, what, &format!("{what}s"))
}

/// Formats a count with its noun, whose plural is irregular: such as `2 entries`.
pub fn counted_as(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", whole(count), if count == 1 { one } else { many })
}

/// Formats a number of at least zero with three to four significant digits: `1.234`, `12.34`,
/// `123.4`, `1,234`.
pub fn real(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        _ if value < 9.9995 => format!("{value:.3}"),
        _ if value < 99.995 => format!("{value:.2}"),
        _ if value < 999.95 => format!("{value:.1}"),
        _ => whole(value.round() as u64),
    }
}

/// Formats a number of at least zero: a whole one as it is, such as a count, and any other with
/// three to four significant digits.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 { whole(value as u64) } else { real(value) }
}

/// Formats a number of at least zero with three to four significant digits, and `None` as a dash.
pub fn maybe(value: Option<f64>) -> String {
    value.map_or(NOTHING.into(), real)
}

/// Formats a ratio: `0.372x`.
pub fn ratio(value: f64) -> String {
    match value {
        _ if value < 0.0995 => format!("{value:.3}x"),
        _ if value < 9.995 => format!("{value:.2}x"),
        _ if value < 99.95 => format!("{value:.1}x"),
        _ => format!("{}x", whole(value.round() as u64)),
    }
}

/// Formats a share in percent: `12.3 %`. Never rounds up to 100 % or down to 0 %.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0 %".into(),
        _ if percent < 0.005 => "<0.01 %".into(),
        _ if (99.995..100.0).contains(&percent) => ">99.99 %".into(),
        _ if (99.95..100.0).contains(&percent) => format!("{percent:.2} %"),
        _ if percent < 0.95 => format!("{percent:.2} %"),
        _ => format!("{percent:.1} %"),
    }
}

/// Formats an amount of data in binary units: `44.8 GiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] =
        [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, size)| bytes >= *size) {
        None => format!("{bytes} B"),
        Some((unit, size)) if bytes.is_multiple_of(*size) => format!("{} {unit}", bytes / size),
        Some((unit, size)) => format!("{} {unit}", real(bytes as f64 / *size as f64)),
    }
}

/// Formats a time in a suitable unit: `300.0 s`.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 86_400.0 * 3.0 => format!("{} days", real(seconds / 86_400.0)),
        _ if seconds >= 1.0 || seconds == 0.0 => format!("{} s", real(seconds)),
        _ if seconds >= 1e-3 => format!("{} ms", real(seconds * 1e3)),
        _ => format!("{} us", real(seconds * 1e6)),
    }
}

/// Returns the name of a cause of latency, as reports show it.
pub fn words(part: Part) -> String {
    part.name().replace("_gc_", "_GC_").replace("_wear_", "_wear-leveling_").replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_to_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.0004, "0.000"),
            (1.2345, "1.234"),
            (9.9996, "10.00"),
            (12.345, "12.35"),
            (99.996, "100.0"),
            (123.45, "123.5"),
            (999.96, "1,000"),
            (1_234_567.8, "1,234,568"),
        ] {
            assert_eq!(real(value), text);
        }
        assert_eq!([number(3.0), number(0.0), number(3.5)], ["3", "0", "3.500"]);
        assert_eq!(whole(0), "0");
        assert_eq!(whole(999), "999");
        assert_eq!(whole(1_000), "1,000");
        assert_eq!(ratio(0.3719), "0.37x");
        assert_eq!(ratio(0.00371), "0.004x");
        assert_eq!(ratio(1234.0), "1,234x");
        assert_eq!(percent(0.0012), "0.12 %");
        assert_eq!(percent(49_990.0 / 50_000.0), "99.98 %");
        assert_eq!(percent(0.999_999), ">99.99 %");
        assert_eq!((percent(1.0), percent(0.9994)), ("100.0 %".into(), "99.9 %".into()));
        assert_eq!((percent(1e-6), percent(0.0)), ("<0.01 %".into(), "0 %".into()));
        assert_eq!(
            (counted(1, "remark"), counted(0, "remark")),
            ("1 remark".into(), "0 remarks".into())
        );
        assert_eq!(bytes(64 << 30), "64 GiB");
        assert_eq!(bytes(48_100_000_000), "44.80 GiB");
        assert_eq!(seconds(0.0125), "12.50 ms");
        assert_eq!(maybe(None), "-");
    }
}
