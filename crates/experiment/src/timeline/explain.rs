//! Explains slow requests in words and numbers: what each waited for, operation by operation.

use super::recorder::{Asked, Operated, Own, SliceKind, Timeline};
use crate::numbers::{bytes, counted, percent, real, whole, words};
use crate::outcome::Outcome;
use fowler_device::blame::Part;
use fowler_device::{Completion, Op, Source};
use fowler_metrics::{Kind, Percentile};
use fowler_units::{HostOp, Nanos, Span};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Numbers of flash operations that an explanation describes one by one at the beginning and at the
/// end of a request's wait; those in between are only counted.
const TOLD: (usize, usize) = (8, 4);
/// Smallest share of a request's latency at which an explanation lists a cause.
const SHOWN: f64 = 0.005;

/// The explanation of one request's latency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Number of the request in order of completion, from 0.
    pub number: u64,
    /// Text that explains the latency of the request: a headline, then a line for each operation
    /// that it waited for.
    pub text: String,
}

impl Timeline {
    /// Explains the latencies of the recorded requests of a run, in their order.
    pub fn explain(&self, outcome: &Outcome) -> Vec<Explanation> {
        let explain = |(place, asked): (usize, &Asked)| {
            let mut text = self.headline(place, asked, outcome);
            text.push_str(&causes(asked));
            text.push_str(&self.story(asked));
            Explanation { number: asked.number, text }
        };
        self.requests.iter().enumerate().map(explain).collect()
    }

    fn headline(&self, place: usize, asked: &Asked, outcome: &Outcome) -> String {
        let completion = &asked.completion;
        let io = &completion.io;
        let kind = if io.op == HostOp::Read { Kind::Read } else { Kind::Write };
        let median = outcome.recorder.latencies(kind).percentile(Percentile::P50);
        let latency = completion.latency();
        let times = median.filter(|it| it.0 > 0).map_or(String::new(), |median| {
            let times = latency.0 as f64 / median.0 as f64;
            format!(", {} times the median of {}s ({} us)", real(times), kind.name(), us(median))
        });
        format!(
            "{}. Request {}, a {} of {} at byte {}, arrived {} after the first request and completed {} us later{}.\n",
            place + 1,
            whole(asked.number),
            kind.name(),
            bytes(u64::from(io.size)),
            whole(io.offset),
            moment(super::since(io.at, self.origin())),
            us(latency),
            times,
        )
    }

    /// Describes the activity of the die of the last operation, which determined the request's
    /// latency.
    fn story(&self, asked: &Asked) -> String {
        let Some(&own) = asked.operations.last() else {
            return "   It had no flash operation of its own: it waited for room in the drive or in the buffer.\n".into();
        };
        let last = &self.operations[own.place];
        let mut text = String::new();
        let at = asked.completion.io.at;
        text.push_str(&self.parity_before(asked));
        text.push_str(&self.decided(asked, last, own.submitted));
        text.push_str(&self.ahead(asked, last, last.operation.submitted.max(own.submitted), at));
        let _grows = writeln!(
            text,
            "   It took {} us: {}; completed at {}.",
            us(last.until - last.operation.dispatched),
            parts(last),
            after(at, asked.completion.done),
        );
        text.push_str(&afterwards(asked, last.until));
        text
    }

    /// Describes the parity operations that a request waited for before its last operation: for
    /// room in the parity cache, or for its stripe.
    fn parity_before(&self, asked: &Asked) -> String {
        let Some((_, before)) = asked.operations.split_last() else { return String::new() };
        let of_parity = |own: &&Own| self.operations[own.place].operation.source == Source::Parity;
        let parities: Vec<&Own> = before.iter().filter(of_parity).collect();
        let Some(&own) = parities.last() else { return String::new() };
        let at = asked.completion.io.at;
        let latest = &self.operations[own.place];
        let which = match parities.len() {
            1 => "an operation".into(),
            count => format!("{}, the last of them", counted(count as u64, "operation")),
        };
        format!(
            "   Before that it waited for {which} of parity: a {} on die {} from {} until {}, waited for since {}.\n",
            latest.name(),
            latest.die,
            after(at, latest.operation.dispatched),
            after(at, latest.until),
            after(at, own.submitted),
        )
    }

    /// Describes the request's last flash operation, and the time since which the request waited
    /// for it.
    fn decided(&self, asked: &Asked, last: &Operated, since: Nanos) -> String {
        let at = asked.completion.io.at;
        let Operated { operation, die, .. } = *last;
        let count = asked.operations.len();
        let which = match count {
            1 => "Its operation".into(),
            _ => format!("The last of its {count} operations"),
        };
        let place = format!("die {die} (channel {})", self.channel_of(die));
        let (name, taken) = (last.name(), after(at, operation.dispatched));
        if operation.source != Source::Parity {
            let waited = if operation.dispatched > since { "waited" } else { "started at once" };
            return format!(
                "   {which}, a {name}, {waited} on {place}, from {} until {taken}.\n",
                after(at, since)
            );
        }
        // A stripe's parity operations may have begun for another request to that stripe.
        let why = match (operation.op, asked.completion.io.op) {
            (Op::Read, HostOp::Read) => "one of those that rebuilt an unreadable page",
            (Op::Read, _) => "the last one for the parity of its stripe",
            _ => "the parity of its stripe",
        };
        format!(
            "   {which}, a {name}, was {why}: waited for since {}, queued on {place} at {}, started at {taken}.\n",
            after(at, since),
            after(at, operation.submitted),
        )
    }

    /// Returns the operations that the die of a request's last operation served while it waited, in
    /// order.
    pub(super) fn behind(&self, asked: &Asked) -> Vec<&Operated> {
        let Some(last) = asked.operations.last() else { return Vec::new() };
        let own = &self.operations[last.place];
        let (from, until) = (own.operation.submitted.max(last.submitted), own.operation.dispatched);
        let mut behind: Vec<&Operated> = self
            .operations
            .iter()
            .filter(|it| it.die == own.die && it.operation.order != own.operation.order)
            .filter(|it| it.operation.dispatched < until && it.until > from)
            .collect();
        behind.sort_by_key(|it| (it.operation.dispatched, it.operation.order));
        behind
    }

    /// Describes the operations that the die served ahead of a request's own operation.
    fn ahead(&self, asked: &Asked, own: &Operated, from: Nanos, at: Nanos) -> String {
        let until = own.operation.dispatched;
        let ahead = self.behind(asked);
        let mut text = String::new();
        let (first, last) = TOLD;
        let skipped = ahead.len().saturating_sub(first + last);
        let skipped = if skipped > 1 { skipped } else { 0 };
        for (index, operated) in ahead.iter().enumerate() {
            if skipped > 0 && index == first {
                text.push_str(&summary(&ahead[first..first + skipped]));
            }
            if skipped == 0 || index < first || index >= first + skipped {
                // Indent operations served while another is suspended.
                let within = |other: &&Operated| other.until > operated.until;
                let deep = if ahead[..index].iter().any(within) { "  " } else { "" };
                text.push_str(deep);
                text.push_str(&reported(operated, at, from, until));
            }
        }
        text
    }
}

/// Lists the causes of a request's latency, the largest first.
fn causes(asked: &Asked) -> String {
    let completion = &asked.completion;
    let latency = completion.latency().0 as f64;
    let mut causes: Vec<(Part, Span)> =
        Part::ALL.into_iter().map(|part| (part, completion.blame[part])).collect();
    causes.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
    let share = |time: Span| time.0 as f64 / latency;
    let shown = causes.iter().filter(|(_, time)| time.0 > 0 && share(*time) >= SHOWN);
    let shown: Vec<String> = shown
        .map(|&(part, time)| format!("{} {} us ({})", words(part), us(time), percent(share(time))))
        .collect();
    if shown.is_empty() {
        return String::new();
    }
    format!("   Causes: {}.\n", shown.join(", "))
}

/// Describes the time between the end of a write's last flash operation and the write's completion,
/// which it spends waiting for the parity of its RAID stripe. Empty without such a wait.
fn afterwards(asked: &Asked, until: Nanos) -> String {
    let Completion { done, blame, .. } = &asked.completion;
    if blame[Part::Parity] == Span::ZERO || *done <= until {
        return String::new();
    }
    format!(
        "   It completed {} us after its last operation: a write also waits for its parity, this one for {} us in total.\n",
        us(*done - until),
        us(blame[Part::Parity]),
    )
}

/// Describes an operation that a request waited behind, within the wait.
fn reported(operated: &Operated, at: Nanos, from: Nanos, until: Nanos) -> String {
    let taken = operated.operation.dispatched;
    let began = if taken < from {
        format!(", begun {} us before this wait", us(from - taken))
    } else {
        String::new()
    };
    let suspended = match operated.suspensions {
        0 => String::new(),
        1 => ", suspended once".into(),
        times => format!(", suspended {times} times"),
    };
    let pages = match operated.beside {
        0 => String::new(),
        more => format!(" of {}", counted(u64::from(more) + 1, "page")),
    };
    let unfinished = if operated.until > until { ", and continued afterwards" } else { "" };
    let (begin, end) = (taken.max(from), operated.until.min(until));
    format!(
        "     {} to {}: {}{pages}{began}{suspended}{unfinished}\n",
        after(at, begin),
        after(at, end),
        operated.name(),
    )
}

/// Summarizes many flash operations in one line.
fn summary(operations: &[&Operated]) -> String {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for operated in operations {
        *kinds.entry(operated.name()).or_default() += 1;
    }
    let kinds: Vec<String> =
        kinds.into_iter().map(|(name, count)| format!("{} {name}", whole(count))).collect();
    format!("     ... {} more: {} ...\n", whole(operations.len() as u64), kinds.join(", "))
}

/// Lists the time of each kind of slice of an operation, in order of first occurrence.
fn parts(operated: &Operated) -> String {
    let mut sums: Vec<(&str, Span, u32)> = Vec::new();
    let own = |track| matches!(track, super::Track::Die(_));
    for slice in operated.slices.iter().filter(|slice| own(slice.track)) {
        let (name, length) = (slice.what.name(), slice.until - slice.from);
        match sums.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, sum, count)) => {
                *sum += length;
                *count += 1;
            }
            None => sums.push((name, length, 1)),
        }
    }
    let part = |&(name, sum, count): &(&str, Span, u32)| match count {
        1 => format!("{name} {} us", us(sum)),
        _ => format!("{name} {count} times, {} us", us(sum)),
    };
    let reads = operated.slices.iter().any(|slice| slice.what == SliceKind::Suspended);
    let served = if reads && operated.operation.op != Op::Read {
        " (reads were served while it was suspended)"
    } else {
        ""
    };
    format!("{}{served}", sums.iter().map(part).collect::<Vec<_>>().join("; "))
}

/// Formats a time relative to another, such as `+12.5 us`.
fn after(at: Nanos, moment: Nanos) -> String {
    if moment >= at {
        format!("+{} us", us(moment - at))
    } else {
        format!("-{} us", us(at - moment))
    }
}

/// Formats a time exactly in microseconds, without trailing zeros.
fn us(span: Span) -> String {
    let (whole_us, rest) = (span.0 / 1000, span.0 % 1000);
    let rest = if rest == 0 { String::new() } else { format!(".{rest:03}") };
    format!("{}{}", whole(whole_us), rest.trim_end_matches('0'))
}

/// Formats a time in a run, to the nanosecond.
fn moment(span: Span) -> String {
    format!("{} us", us(span))
}
