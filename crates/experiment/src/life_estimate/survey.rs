//! Surveys one repetition of a workload before a lifetime of many.

use crate::device_spec::Resolved;
use crate::diagnostic::Diagnostics;
use crate::workload::{Control, Workload, WorkloadReport};
use fowler_units::{HostIo, HostOp, Nanos, Span};
use serde::{Deserialize, Serialize};

/// Statistics of one repetition of a workload: its requests, its writes and their times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Survey {
    /// Number of requests in one repetition of the workload.
    pub requests: u64,
    /// Number of writes in one repetition of the workload.
    pub writes: u64,
    /// Number of bytes written in one repetition of the workload.
    pub bytes: u64,
    /// Number of pages written in one repetition of the workload; a write of part of a page counts
    /// as a whole page.
    pub pages: u64,
    /// Arrival time of the first request in one repetition of the workload.
    pub first: Nanos,
    /// Period of the repetition: from the first request to the last, plus a mean gap before the
    /// next repetition. A generator with a duration has that period.
    pub span: Span,
    /// Histogram of the arrival times of the writes in one repetition of the workload.
    pub profile: Profile,
}

/// Number of bins in the histogram of the arrival times of a workload's writes. At least half of
/// them are in use.
const BINS: usize = 32;

/// Histogram of the arrival times of writes in one repetition of a workload. The bins are equally
/// wide, and become wider as the repetition turns out longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Width of each bin of the histogram of arrival times, as the exponent of a power of two in
    /// nanoseconds.
    width: u32,
    bins: [u64; BINS],
}

impl Profile {
    fn add(&mut self, after: Span) {
        while after.0 >> self.width >= BINS as u64 {
            for bin in 0..BINS / 2 {
                self.bins[bin] = self.bins[2 * bin] + self.bins[2 * bin + 1];
            }
            self.bins[BINS / 2..].fill(0);
            self.width += 1;
        }
        self.bins[(after.0 >> self.width) as usize] += 1;
    }

    /// Returns the share of the writes in one repetition of the workload that arrive within `time`
    /// after its first request, from 0 to 1.
    pub fn within(&self, time: Span) -> f64 {
        let place = time.0 as f64 / libm::ldexp(1.0, self.width as i32);
        let whole = (place as usize).min(BINS);
        let part = self.bins.get(whole).map_or(0.0, |&next| next as f64 * (place - whole as f64));
        let all: u64 = self.bins.iter().sum();
        let before: u64 = self.bins[..whole].iter().sum();
        if all == 0 { 0.0 } else { (before as f64 + part) / all as f64 }
    }
}

/// Returns true if a request programs flash: a write of at least one byte.
fn is_write(io: &HostIo) -> bool {
    io.op == HostOp::Write && io.size > 0
}

/// Returns true for writes and trims, the requests that the simulation of a whole drive life
/// replays: reads change no data, and trims save GC from moving pages.
pub fn changes_data(io: &HostIo) -> bool {
    is_write(io) || io.op == HostOp::Trim
}

/// Surveys one repetition of a workload to its end; `None` if the survey was stopped.
pub fn look(
    workload: &Workload,
    drive: &Resolved,
    (speed, limit): (f64, Option<u64>),
    control: Control<'_>,
) -> Result<Option<(Survey, WorkloadReport)>, Diagnostics> {
    let page = drive.layout.page_size.0;
    let (mut survey, mut last) = (Survey::default(), Nanos::ZERO);
    let (report, failed) = workload.replay(speed, limit, control, |requests| {
        for io in requests {
            if survey.requests == 0 {
                survey.first = io.at;
            }
            survey.requests += 1;
            last = io.at;
            if is_write(&io) {
                survey.writes += 1;
                survey.profile.add(Span(io.at.0.saturating_sub(survey.first.0)));
                survey.bytes += u64::from(io.size);
                let end = io.offset + u64::from(io.size) - 1;
                survey.pages += end / page - io.offset / page + 1;
            }
        }
    })?;
    if let Some(diagnostics) = failed {
        return Err(diagnostics);
    }
    if control.stopped() {
        return Ok(None);
    }
    let length = last - survey.first;
    let gap = length.0 / (survey.requests - 1).max(1);
    let duration = workload.duration().map(|it| Span((it.0 as f64 / speed) as u64));
    survey.span = match duration {
        Some(duration) if duration >= length && limit.is_none() => duration,
        _ => Span(length.0 + gap),
    };
    Ok(Some((survey, report)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_knows_how_many_writes_come_before_a_time() {
        let mut profile = Profile::default();
        assert_eq!(profile.within(Span::ms(5)), 0.0);
        // One a millisecond for a second, and then as many within a tenth of the time.
        (0..1000).for_each(|ms| profile.add(Span::ms(ms)));
        (0..1000).for_each(|at| profile.add(Span::ms(1000) + Span::us(100 * at)));
        for (ms, share) in
            [(0, 0.0), (500, 0.25), (1000, 0.5), (1050, 0.75), (1100, 1.0), (9999, 1.0)]
        {
            // A bin is at most a sixteenth of the whole.
            let found = profile.within(Span::ms(ms));
            assert!((found - share).abs() < 0.3, "{ms}: {found}");
        }
        assert!((profile.within(Span::ms(500)) - 0.25).abs() < 0.01);
    }
}
