//! Rules out formats that decode the lines of a text but contradict their own rules.

use crate::{Format, Record};
use fowler_units::HostIo;
use std::cmp::Reverse;

/// Fewest lines of a trace from which sectors of 512 B are concluded, if all addresses and sizes
/// are multiples of 512.
const LINES_FOR_UNITS: usize = 8;

/// A format that decodes the lines of a text, and the requests that result.
pub(super) type Fit = (Format, Vec<Record>);

/// Removes formats that decode the lines but contradict their own rules; adds each to `rejected`
/// with the reason.
pub(super) fn rule_out(fits: &mut Vec<Fit>, lines: &[&[u8]], rejected: &mut Vec<(Format, String)>) {
    if fits.iter().any(|(_, records)| !records.is_empty()) {
        fits.retain(|(_, records)| !records.is_empty());
    }
    fits.retain(|(format, _)| !format.is_ruled_out(lines));
    let layer =
        |(format, records): &Fit| format.signs().layer.map(|layer| (records.len(), Reverse(layer)));
    if let Some((_, Reverse(most))) = fits.iter().filter_map(layer).max() {
        fits.retain(|(format, _)| format.signs().layer.is_none_or(|layer| layer == most));
    }
    let mut keep = |why: &dyn Fn(&Fit) -> Option<String>, fits: &mut Vec<Fit>| {
        fits.retain(|fit| {
            let why = why(fit);
            rejected.extend(why.iter().map(|why| (fit.0, why.clone())));
            why.is_none()
        });
    };
    let fractions = lines.iter().any(|line| {
        line.trim_ascii()
            .split(u8::is_ascii_whitespace)
            .next()
            .is_some_and(|time| time.contains(&b'.'))
    });
    let whole = |(format, _): &Fit| {
        (!fractions && format.signs().fractional_times)
            .then(|| "times in this format have decimals, but not those of this file".to_string())
    };
    keep(&whole, fits);
    let in_bytes = fits.iter().find(|(format, _)| format.signs().bytes).map(|(_, records)| {
        let multiples = records.iter().filter(|r| r.io.offset % 512 == 0 && r.io.size % 512 == 0);
        (multiples.count() == records.len(), records.len() >= LINES_FOR_UNITS)
    });
    let units = |(format, _): &Fit| match in_bytes {
        Some((true, true)) if !format.signs().bytes => Some(
            "this format counts sectors, and all addresses and sizes here are multiples of 512"
                .into(),
        ),
        Some((false, _)) if format.signs().bytes => Some(
            "this format counts bytes, and the addresses and sizes here are no multiples of 512"
                .into(),
        ),
        _ => None,
    };
    keep(&units, fits);
    let zero = |(format, records): &Fit| {
        (format.signs().device_is_zero && records.iter().any(|record| record.device != 0))
            .then(|| "the device in this format is always 0".to_string())
    };
    keep(&zero, fits);
    let rules = |(format, records): &Fit| {
        let sample: Vec<(u64, HostIo)> = records.iter().map(|it| (it.device, it.io)).collect();
        format.rules().objection(lines, &sample)
    };
    keep(&rules, fits);
    let left: Vec<Format> = fits.iter().map(|(format, _)| *format).collect();
    fits.retain(|(format, _)| format.signs().same_as.is_none_or(|same| !left.contains(&same)));
}
