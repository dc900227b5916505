//! Options for reading a trace, and the report on what was read.

use crate::devices::device_name;
use crate::error::Skipped;
use crate::spread::{Spread, Spreader};
use crate::{Cause, CsvColumns, DeviceChoice, DeviceUse, Format, LeftOut, TraceError};
use fowler_units::Diagnostic;
use std::collections::BTreeMap;

/// Options for reading a trace: format, errors allowed, order and devices.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// Format of the trace; `None` to detect it.
    pub format: Option<Format>,
    /// Largest share of bad lines, 0 to 1, that may be skipped; `None` makes every bad line an
    /// error.
    pub lenient: Option<f64>,
    /// Size of the reorder window, in requests. Requests out of order within it are sorted.
    pub reorder_window: usize,
    /// Devices whose requests are read.
    pub device: DeviceChoice,
    /// The columns of a CSV, whose format then is [`Format::Csv`].
    pub columns: Option<CsvColumns>,
    /// Way to spread arrivals in whole seconds over each second; `None` for the default. Applies
    /// only to formats with times in whole seconds, and to CSV.
    pub spread: Option<Spread>,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        let device = DeviceChoice::Default;
        let (columns, spread) = (None, None);
        ReadOptions { format: None, lenient: None, reorder_window: 4096, device, columns, spread }
    }
}

/// The way in which the format of a trace was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatSource {
    /// The caller named the format of the trace.
    Given,
    /// Only this format fits the text of the trace.
    Text,
    /// Several formats fit the text, and the file name contains the name of exactly one of them.
    Name,
}

/// Counts of the lines and requests that a trace reader has read so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReport {
    /// Name of the trace, usually its path.
    pub file: String,
    /// Format in which the trace was read.
    pub format: Format,
    /// The way in which the trace's format was determined, such as by the caller or from the text.
    pub format_source: FormatSource,
    /// Number of lines of the trace read so far, of every kind.
    pub lines: u64,
    /// Number of lines that are neither requests nor bad: blank lines, comments, header rows, and
    /// blkparse's summary and its events other than arrivals.
    pub remarks: u64,
    /// Events that the format skips, such as completions, by kind. Their lines are counted in
    /// `remarks`.
    pub left_out: Vec<LeftOut>,
    /// Number of requests in addition to one for each line: the flush before a write that has a
    /// preflush, and the further pieces of a trim of 4 GiB or more.
    pub added: u64,
    /// Number of requests that were read from the trace and returned to the caller.
    pub requests: u64,
    /// Number of requests of the trace to devices that were not selected.
    pub other_devices: u64,
    /// Number of requests that were out of order and were sorted.
    pub reordered: u64,
    /// Bad lines that were skipped, by cause.
    pub skipped: BTreeMap<Cause, Skipped>,
    /// True if the text ended without a newline, so that its last line may be cut short.
    pub cut: bool,
    /// True if the file is compressed and the checksum at its end was not checked: see
    /// [`check_rest`](crate::TraceReader::check_rest).
    pub unchecked: bool,
    /// Devices that the trace named, in ascending order of number, with the requests of their good
    /// lines.
    pub devices: Vec<DeviceUse>,
    /// The names of the devices in order of their numbers, where the trace names them.
    pub device_names: Vec<String>,
    /// Notes on information that the format lacks, and on what the reader assumed instead.
    pub notes: Vec<String>,
}

impl ReadReport {
    /// Returns a device's number, followed by its name if it has one.
    pub fn device_name(&self, device: u64) -> String {
        device_name(&self.device_names, device)
    }
}

/// Returns the spreader for arrivals in whole seconds; `None` if the trace has finer times.
pub(crate) fn spreader(
    name: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<Option<Spreader>, TraceError> {
    let may_be_coarse = format.has_whole_seconds() || format == Format::Csv;
    match options.spread {
        Some(_) if !may_be_coarse => {
            let what = format!(
                "times of format `{format}` are finer than a second, so arrivals need no spreading over their second"
            );
            let diagnostic = Diagnostic::of(what).hint("leave out --spread".to_string());
            Err(TraceError::one(name, diagnostic))
        }
        None if !format.has_whole_seconds() => Ok(None),
        spread => Ok(Some(Spreader::new(spread.unwrap_or_default()))),
    }
}

/// Rejects options for reading a trace that contradict each other or are out of range.
pub(crate) fn check(name: &str, options: &ReadOptions) -> Result<(), TraceError> {
    let share = options.lenient.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&share) {
        let diagnostic = Diagnostic::of(format!(
            "the allowed share of bad lines is {share}, which is not from 0 to 1"
        ));
        return Err(TraceError::one(name, diagnostic.expected("a share from 0 to 1")));
    }
    let columns_of_another = options.format.filter(|&format| format != Format::Csv);
    if let (Some(_), Some(format)) = (&options.columns, columns_of_another) {
        let what = format!("--columns does not apply to format `{format}`, which has its own");
        let hint = "leave out --format, or choose --format csv";
        return Err(TraceError::one(name, Diagnostic::of(what).hint(hint.to_string())));
    }
    if options.reorder_window == 0 {
        let diagnostic = Diagnostic::of("a reorder window of 0 requests cannot hold any request");
        return Err(TraceError::one(
            name,
            diagnostic
                .expected("a reorder window of at least 1 request, where 1 turns reordering off"),
        ));
    }
    Ok(())
}
