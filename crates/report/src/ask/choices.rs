//! The choices of `ask` for a trace, with their reasons: the device in the file, the treatment of
//! addresses, and the pace.

use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::numbers::{bytes, percent, real, whole};
use fowler_experiment::replay_speed::ReplaySpeed;
use fowler_experiment::trace;
use fowler_workload::{DeviceChoice, ReadOptions, Remap, TraceInfo, TraceReader};
use std::path::Path;

/// Number of outstanding requests where `fowler ask` replays a trace in a closed loop, typical of a
/// busy host.
pub(super) const DEPTH: u32 = 32;
/// Largest ratio of the trace's request rate to the drive's maximum at which recorded times are
/// used; above it, the queue would grow to the end (assumed: bursts need the margin).
const BUSY: f64 = 0.9;

/// A choice that `ask` made for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Subject of a choice that `fowler ask` made for the user: `drive`, `addresses`, `pace` (times
    /// of requests) or `requests`.
    pub of: &'static str,
    /// Sentence that states a choice that `fowler ask` made for the user, and the reason for it.
    pub why: String,
    /// Command-line flags with which other commands of `fowler` choose the drive, addresses, times
    /// or number of requests as `fowler ask` did; empty if they choose so without flags.
    pub flags: Vec<String>,
}

impl Choice {
    /// Returns a record of the drive that `fowler ask` chose for the user, and of the reason.
    pub(super) fn drive(why: String, name: &str) -> Choice {
        Choice::new("drive", why, &["--device", name])
    }

    fn new(of: &'static str, why: String, flags: &[&str]) -> Choice {
        Choice { of, why, flags: flags.iter().map(ToString::to_string).collect() }
    }
}

/// Surveys the part of a trace that is replayed: the requests up to the limit; of a trace with
/// several devices, those of the device with the most requests, unless the options choose.
///
/// # Errors
/// If the trace cannot be read.
pub(super) fn look(
    path: &Path,
    options: &mut ReadOptions,
    limit: u64,
) -> Result<(TraceInfo, Vec<Choice>), Diagnostics> {
    let looked = trace::info(path, options)?;
    let mut choices = Vec::new();
    let mut info = looked.info.clone();
    let busiest = looked.devices.iter().max_by_key(|(number, info)| {
        // Of devices with equally many requests, the first.
        (info.total_requests(), std::cmp::Reverse(**number))
    });
    if let Some((&number, device_info)) = busiest.filter(|_| looked.devices.len() > 1) {
        options.device = DeviceChoice::Only(number);
        let share = device_info.total_requests() as f64 / looked.info.total_requests() as f64;
        let name = looked.read.as_ref().map_or(number.to_string(), |read| read.device_name(number));
        let why = format!(
            "{name}, one of {} devices in the trace: it has the most requests, {} of all",
            looked.devices.len(),
            percent(share)
        );
        choices.push(Choice::new("device", why, &["--device-id", &number.to_string()]));
        info = device_info.clone();
    }
    let all = info.total_requests();
    if all > limit {
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        info = TraceInfo::gather(info.format, TraceReader::open(path, options)?.take(most))?;
        let why = format!("the first {} of {}", whole(limit), whole(all));
        choices.push(Choice::new("requests", why, &["--limit", &limit.to_string()]));
    }
    Ok((info, choices))
}

/// Returns a record of the drive that the user of `fowler ask` named.
pub(super) fn drive(drive: &Resolved) -> Choice {
    let why = format!("{}, {}, as named", drive.device, bytes(drive.layout.logical.0));
    Choice::new("drive", why, &[])
}

/// Returns a record of the several drives that the user of `fowler ask` named.
pub(super) fn drives(drives: &[Resolved]) -> Choice {
    let drive = |it: &Resolved| format!("{} ({})", it.label(), bytes(it.layout.logical.0));
    let all: Vec<String> = drives.iter().map(drive).collect();
    Choice::new("drives", format!("{}, each as described", all.join(", ")), &[])
}

/// Chooses how the trace's addresses are placed on the drive: unchanged if the drive has them all;
/// else the touched pages are packed together, or, if the drive cannot hold these, addresses wrap
/// around at the capacity. `fits` tries the packing.
pub(super) fn addresses(
    info: &TraceInfo,
    drive: &Resolved,
    fits: impl FnOnce() -> bool,
) -> (Remap, Choice) {
    let capacity = drive.layout.logical.0;
    let (end, touched) = (info.highest_byte, info.footprint.0);
    if end <= capacity {
        let why = format!(
            "as recorded: the trace's addresses end at {}, and {} has {}",
            bytes(end),
            drive_name(drive),
            bytes(capacity)
        );
        return (Remap::Error, Choice::new("addresses", why, &[]));
    }
    // The footprint counts pages of 4 KiB; those of the drive may be larger, and not as full.
    if touched <= capacity && fits() {
        let why = format!(
            "moved together: the trace's addresses end at {}, beyond the {} of {}, but it touches only \
             {}",
            bytes(end),
            bytes(capacity),
            drive_name(drive),
            bytes(touched)
        );
        return (Remap::Compact, Choice::new("addresses", why, &["--remap", "compact"]));
    }
    let why = format!(
        "wrapped around at the {} of {}, which cannot hold all pages that are touched ({}): \
         different pages of the trace then share an address, which a larger drive would avoid",
        bytes(capacity),
        drive_name(drive),
        bytes(touched)
    );
    (Remap::Modulo, Choice::new("addresses", why, &["--remap", "modulo"]))
}

/// Returns the words for a drive in the middle of a sentence: "the drive", or, of several drives,
/// "the smallest drive" with its name.
fn drive_name(drive: &Resolved) -> String {
    match &drive.candidate {
        Some(name) => format!("the smallest drive, {name},"),
        None => "the drive".into(),
    }
}

/// Returns the replay speed and its reason: the recorded times, or a closed loop of [`DEPTH`]
/// requests if the trace has no times or the drive cannot keep up. `ceiling` is the rate that the
/// drive served in such a loop, in requests per second; `None` if unknown.
pub(super) fn pace(info: &TraceInfo, ceiling: Option<f64>) -> (ReplaySpeed, Choice) {
    let depth = DEPTH.to_string();
    let closed = |why: String| {
        (ReplaySpeed::Closed(DEPTH), Choice::new("pace", why, &["--queue-depth", &depth]))
    };
    if info.span.0 == 0 {
        return closed(format!(
            "{DEPTH} requests outstanding: the trace gives all requests one arrival time"
        ));
    }
    let mean = real(info.mean_rate);
    if let Some(ceiling) = ceiling.filter(|ceiling| info.mean_rate > BUSY * ceiling) {
        return closed(format!(
            "{DEPTH} requests outstanding: {mean} come per second, and the drive serves {} at most, so \
             at the recorded times the queue would only grow; days and years below are of the \
             requests that it serves",
            whole(ceiling as u64)
        ));
    }
    let peak = whole(info.peak_rate);
    let serves = ceiling.map(|ceiling| {
        let ceiling = whole(ceiling as u64);
        format!(
            "; with {DEPTH} requests outstanding, the drive served the first requests of the trace \
             at {ceiling} per second"
        )
    });
    let why = format!(
        "as recorded: {mean} requests per second on average, {peak} in the busiest second{}",
        serves.unwrap_or_default()
    );
    (ReplaySpeed::AsRecorded, Choice::new("pace", why, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_experiment::device_spec::{self, DeviceSpec};
    use fowler_experiment::scheme::Scheme;
    use fowler_units::{Bytes, HostIo, Nanos, Span};
    use fowler_workload::TraceError;

    fn info() -> TraceInfo {
        let one: Result<HostIo, TraceError> = Ok(HostIo::read(Nanos(0), 0, 4096));
        TraceInfo::gather(None, [one]).unwrap()
    }

    /// Tests both sides of each boundary on a drive with 100 GiB of 16 KiB pages.
    #[test]
    fn addresses_move_only_if_they_must() {
        let spec = DeviceSpec { device: "tlc".into(), ..DeviceSpec::default() };
        let drive = device_spec::resolve(&spec.source().unwrap(), &Scheme::none(), &spec).unwrap();
        let has = drive.layout.logical.0;
        for (end, touched, fits, remap) in [
            (has, has, false, Remap::Error),
            (has + 1, has, true, Remap::Compact),
            (has + 1, has, false, Remap::Modulo),
            (has + 1, has + 1, true, Remap::Modulo),
        ] {
            let info = TraceInfo { highest_byte: end, footprint: Bytes(touched), ..info() };
            assert_eq!(addresses(&info, &drive, || fits).0, remap, "{end} {touched}");
        }
    }

    #[test]
    fn the_pace_is_the_traces_unless_the_drive_cannot_keep_up() {
        for (span, rate, ceiling, pace) in [
            (0, 0.0, Some(1000.0), ReplaySpeed::Closed(DEPTH)),
            (1, 900.0, Some(1000.0), ReplaySpeed::AsRecorded),
            (1, 900.1, Some(1000.0), ReplaySpeed::Closed(DEPTH)),
            (1, 900.1, None, ReplaySpeed::AsRecorded),
        ] {
            let info = TraceInfo { span: Span(span), mean_rate: rate, ..info() };
            assert_eq!(self::pace(&info, ceiling).0, pace, "{span} {rate}");
        }
    }
}
