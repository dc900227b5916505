//! Power losses in a workload: when, for how long, and how a drive runs through them.

use fowler_device::{Device, Pacing, Probe};
use fowler_units::{HostIo, Nanos, Span};
use fowler_workload::TimeScale;

/// A power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerOff {
    /// When, in the time of the requests: all later requests are delayed by its length.
    pub at: Nanos,
    /// How long it lasts.
    pub lasts: Span,
}

/// What [`parse`] expects.
pub const EXPECTED: &str = "times and lengths such as \"10s 381d\", or \"10s 1h, 500s 381d\"";

/// The longest total time without power: five years. Ages of data are limited to nine.
const LONGEST: Span = Span(5 * 365 * 86_400_000_000_000);

/// Parses power losses, in order; empty text has none.
///
/// # Errors
/// Everything that is wrong with them.
pub fn parse(text: &str) -> Result<Vec<PowerOff>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let (mut all, mut wrong): (Vec<PowerOff>, Vec<String>) = (Vec::new(), Vec::new());
    for part in text.split(',') {
        match one(part.trim()) {
            Err(what) => wrong.push(what),
            Ok(span) => {
                if let Some(before) = all.last().filter(|before| before.at >= span.at) {
                    let (at, then) = (span.at - Nanos::ZERO, before.at - Nanos::ZERO);
                    wrong.push(if at == then {
                        format!("two power losses begin at {at} and overlap")
                    } else {
                        format!("the power loss at {at} is listed after the one at {then}")
                    });
                }
                all.push(span);
            }
        }
    }
    let longest = all.iter().map(|span| u128::from(span.lasts.0)).sum::<u128>();
    if longest > u128::from(LONGEST.0) {
        wrong.push(format!("the power is off for more than {LONGEST} in total"));
    }
    if wrong.is_empty() { Ok(all) } else { Err(wrong.join("; ")) }
}

fn one(text: &str) -> Result<PowerOff, String> {
    let shown = || crate::diagnostic::printable(text);
    let [at, lasts] = text.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(format!("`{}` is not a time and a length", shown()));
    };
    let time = |text: &str| -> Result<Span, String> {
        if text.starts_with('-') {
            return Err(format!("`{}` is negative", crate::diagnostic::printable(text)));
        }
        text.parse().map_err(|error: fowler_units::QuantityError| error.reason)
    };
    let (at, lasts) = (time(at)?, time(lasts)?);
    if lasts == Span::ZERO {
        return Err(format!("`{}` has no length", shown()));
    }
    Ok(PowerOff { at: Nanos(at.0), lasts })
}

/// Prints power losses.
pub fn print(spans: &[PowerOff]) -> String {
    let one = |span: &PowerOff| format!("{} {}", span.at - Nanos::ZERO, span.lasts);
    spans.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Returns the power losses of a workload with scaled times. Their lengths are not scaled.
pub fn scaled(spans: &[PowerOff], scale: &TimeScale) -> Vec<PowerOff> {
    let moved = |span: &PowerOff| Some(PowerOff { at: scale.apply(span.at)?, ..*span });
    spans.iter().filter_map(moved).collect()
}

/// Runs the drive through `requests` with power losses in between. The power fails once the drive
/// has answered all earlier requests. A power loss that no request follows has no effect and is
/// skipped.
pub fn run<P: Probe>(
    device: &mut Device,
    requests: &mut dyn Iterator<Item = HostIo>,
    pacing: Pacing,
    probe: &mut P,
    spans: &[PowerOff],
) {
    if spans.is_empty() {
        return device.run(requests, pacing, probe);
    }
    let mut requests = requests.peekable();
    let mut from = Nanos::ZERO;
    let since = |from: Nanos| move |io: HostIo| io.with_at(Nanos((io.at - from).0));
    for span in spans {
        let began = device.now();
        let before = std::iter::from_fn(|| requests.next_if(|io| io.at < span.at));
        device.run(before.map(since(from)), pacing, probe);
        if requests.peek().is_none() {
            return;
        }
        if pacing == Pacing::Open {
            device.rest_until(began + (span.at - from), probe);
        }
        device.power_off(span.lasts, probe);
        from = span.at;
    }
    device.run(requests.map(since(from)), pacing, probe);
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
            ("10s", "`10s` is not a time and a length"),
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
