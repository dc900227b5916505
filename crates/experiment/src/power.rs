//! Power losses in a workload: time and length of each.

use fowler_units::{Nanos, Span};

/// A power loss of the drive: its time and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerOff {
    /// Time of the power loss, in the time of the requests. All later requests are delayed by its
    /// length.
    pub at: Nanos,
    /// Length of time for which the drive is without power.
    pub lasts: Span,
}

/// Format of a list of power losses (start time and length of each), for error messages.
pub const EXPECTED: &str = "times and lengths such as \"10s 381d\", or \"10s 1h, 500s 381d\"";

/// Longest total time without power in a run: five years, because ages of data are limited to nine.
const LONGEST: Span = Span(5 * 365 * 86_400_000_000_000);

/// Parses a list of power losses, which must be in order of time; empty text has none.
///
/// # Errors
/// Every error in the text.
pub fn parse(text: &str) -> Result<Vec<PowerOff>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let (mut all, mut wrong): (Vec<PowerOff>, Vec<String>) = (Vec::new(), Vec::new());
    for part in text.split(',') {
        match one(part.trim()) {
            Err(what) => wrong.push(what),
            Ok(span) => {
                wrong.extend(all.last().and_then(|before| disorder(before, &span)));
                all.push(span);
            }
        }
    }
    wrong.extend(too_long(all.iter().copied()));
    if wrong.is_empty() { Ok(all) } else { Err(wrong.join("; ")) }
}

/// Returns an error if the power loss `span` does not follow `before` in time; `None` if it does.
pub(crate) fn disorder(before: &PowerOff, span: &PowerOff) -> Option<String> {
    let (at, then) = (span.at - Nanos::ZERO, before.at - Nanos::ZERO);
    if at == then {
        return Some(format!("two power losses begin at {at} and overlap"));
    }
    (at < then).then(|| format!("the power loss at {at} is listed after the one at {then}"))
}

/// Returns an error if the power is off for too long in total.
pub(crate) fn too_long(spans: impl Iterator<Item = PowerOff>) -> Option<String> {
    let longest = spans.map(|span| u128::from(span.lasts.0)).sum::<u128>();
    (longest > u128::from(LONGEST.0))
        .then(|| format!("the power is off for more than {LONGEST} in total"))
}

/// Parses the time of a power loss, or the length of time without power.
pub(crate) fn time(text: &str) -> Result<Span, String> {
    if text.starts_with('-') {
        return Err(format!("`{}` is negative", crate::diagnostic::printable(text)));
    }
    text.parse().map_err(|error: fowler_units::QuantityError| error.reason)
}

fn one(text: &str) -> Result<PowerOff, String> {
    let shown = || crate::diagnostic::printable(text);
    let [at, lasts] = text.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(format!(
            "`{}` is not the time of a power loss and the length of time without power",
            shown()
        ));
    };
    let (at, lasts) = (time(at)?, time(lasts)?);
    if lasts == Span::ZERO {
        return Err(format!("`{}` has no length", shown()));
    }
    Ok(PowerOff { at: Nanos(at.0), lasts })
}

/// Formats power losses as the text that [`parse`] accepts.
pub fn print(spans: &[PowerOff]) -> String {
    let one = |span: &PowerOff| format!("{} {}", span.at - Nanos::ZERO, span.lasts);
    spans.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_written() {
        let text = "10s 1h, 500s 381d";
        let spans = parse(text).unwrap();
        assert_eq!(spans[0], PowerOff { at: Nanos(10_000_000_000), lasts: Span::ms(3_600_000) });
        assert_eq!(parse(&print(&spans)), Ok(spans));
        assert_eq!(parse(""), Ok(Vec::new()));
        assert_eq!(print(&[]), "");
    }

    #[test]
    fn everything_that_is_wrong_is_said() {
        for (text, reported) in [
            ("10s", "`10s` is not the time of a power loss and the length of time without power"),
            ("10s 0s", "`10s 0s` has no length"),
            ("-1s 1h", "`-1s` is negative"),
            ("10s -1h", "`-1h` is negative"),
            ("10 1h", "has no unit"),
            ("10s 1h, 10s 2h", "two power losses begin at 10s and overlap"),
            ("10s 1h, 5s 2h", "the power loss at 5s is listed after the one at 10s"),
            ("1s 1000d, 2s 1000d", "in total"),
            ("10s, 4s 0s", "; `4s 0s` has no length"),
        ] {
            let what = parse(text).unwrap_err();
            assert!(what.contains(reported), "{text}: {what}");
        }
    }
}
