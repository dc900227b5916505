//! The verdict on a single run: what was measured, how slow requests are and why, and what they
//! cost in flash.

use super::facts::Facts;
use super::tail::dominant;
use fowler_experiment::device_spec::Axis;
use fowler_experiment::numbers::{counted, percent, real, seconds, words};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::scheme::NO_SCHEME;
use fowler_metrics::{Kind, Latencies, Percentile};

/// The fewest requests that must lie beyond a percentile of latency that is reported.
pub const BEYOND: u64 = 100;

/// Returns sentences that sum up a run: the requests and the drive, then the latency of each kind
/// of request, then write amplification if the drive erased enough to measure it.
pub fn headline(outcome: &Outcome) -> Vec<String> {
    let facts = Facts::of(outcome);
    let mut sentences = vec![measured(outcome)];
    sentences.extend(Kind::ALL.into_iter().filter_map(|kind| how_slow(outcome, &facts, kind)));
    if sentences.len() == 1 {
        sentences.push("No read and no write completed, so no latency was measured.".into());
    }
    if let Some(waf) = outcome.waf() {
        sentences.push(format!(
            "The drive programs {} pages for each page of the host (write amplification).",
            real(waf)
        ));
    }
    sentences
}

/// Returns a sentence on the run that was measured: number of requests, workload, drive, scheme,
/// simulated time, and number of outstanding requests in a closed loop.
fn measured(outcome: &Outcome) -> String {
    let drive = &outcome.drive;
    let scheme = match drive.axis() {
        Axis::Schemes if drive.scheme != NO_SCHEME => format!(" {}", drive.place()),
        _ => String::new(),
    };
    let pace = match outcome.pacing {
        fowler_experiment::Pacing::Closed { depth } => format!(", {depth} outstanding"),
        fowler_experiment::Pacing::Open => String::new(),
    };
    format!(
        "{} of {} on {}{scheme}: {} simulated{pace}.",
        counted(outcome.recorder.requests(), "request"),
        outcome.workload.name,
        drive.device,
        seconds(outcome.simulated.as_s()),
    )
}

/// Returns a sentence on the latency of reads or writes: the mean, the highest percentile that
/// stands on enough requests, and the largest cause of latency for the slowest 1 %; where no cause
/// is that large, the largest one of all requests.
fn how_slow(outcome: &Outcome, facts: &Facts, kind: Kind) -> Option<String> {
    let latencies = outcome.recorder.latencies(kind);
    let mean = latencies.mean_us()?;
    let at = solid_tail(latencies)
        .map_or(String::new(), |(it, us)| format!(" and {} us at {}", real(us), it.label()));
    let why = match dominant(facts, kind) {
        Some((part, share)) => format!(
            "; in the slowest 1 %, {} of the time is \u{201c}{}\u{201d}",
            percent(share),
            words(part)
        ),
        None => {
            let band = outcome.recorder.blame(kind).slowest(1.0);
            let part = band.ranked().into_iter().next();
            let share = part.and_then(|part| Some((part, band.share(part)?)));
            share.map_or(String::new(), |(part, share)| {
                format!("; {} of the time is \u{201c}{}\u{201d}", percent(share), words(part))
            })
        }
    };
    let name = kind.name();
    let first = name[..1].to_uppercase();
    Some(format!("{first}{}s take {} us on average{at}{why}.", &name[1..], real(mean)))
}

/// Returns the highest percentile of latency with at least [`BEYOND`] requests beyond it, and the
/// latency there in microseconds.
pub(crate) fn solid_tail(latencies: &Latencies) -> Option<(Percentile, f64)> {
    let count = latencies.count();
    let highest = Percentile::ALL.into_iter().rfind(|it| count / it.one_in() >= BEYOND)?;
    Some((highest, latencies.percentile(highest)?.as_us()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Span;

    #[test]
    fn the_tail_that_is_named_has_a_hundred_requests_beyond_it() {
        for (count, tail) in [
            (199, None),
            (200, Some(Percentile::P50)),
            (1_999, Some(Percentile::P90)),
            (2_000, Some(Percentile::P95)),
            (9_999, Some(Percentile::P95)),
            (10_000, Some(Percentile::P99)),
            (100_000, Some(Percentile::P999)),
        ] {
            let mut latencies = Latencies::new();
            latencies.record_many(Span(5_000), count);
            assert_eq!(solid_tail(&latencies).map(|(it, _)| it), tail, "{count}");
        }
    }
}
