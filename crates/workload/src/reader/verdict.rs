//! Start and end of reading a trace: determines the format, and collects the errors.

use super::{Stage, TraceReader};
use crate::detect::{self, Detected, fits_poorly};
use crate::error::error_of;
use crate::intake::Taken;
use crate::lines::Lines;
use crate::reorder::Reorder;
use crate::{DeviceChoice, Format, FormatSource, ReadOptions, TraceError};
use fowler_units::Diagnostic;

impl TraceReader {
    /// Returns the error that makes a completely read trace unusable, such as too many bad lines or
    /// no request; `None` if there is none.
    pub(super) fn verdict(&self) -> Option<TraceError> {
        let (bad, file) = (self.intake.bad_lines(), &self.report.file);
        let records: u64 = self.devices.seen().iter().map(|device| device.requests).sum();
        let lines = self.intake.line - self.intake.remarks;
        let tolerated = self.options.lenient.unwrap_or(0.0);
        if bad > 0 && bad as f64 > tolerated * lines as f64 {
            return Some(self.bad_lines());
        }
        if records == 0 {
            let mut error = error_of(file, &self.intake.bad);
            error.diagnostics.extend(fits_poorly(self.report.format, &self.head));
            let why = self.report.format.without_requests(&self.intake.left_out());
            error.diagnostics.push(why.unwrap_or_else(no_request));
            return Some(error);
        }
        match self.options.device {
            DeviceChoice::Only(wanted)
                if self.devices.seen().iter().all(|device| device.device != wanted) =>
            {
                Some(self.devices.missing(file, wanted))
            }
            _ => None,
        }
    }

    /// Returns the trace's bad lines as one error, preceded by a diagnostic if the format itself
    /// seems wrong.
    pub(super) fn bad_lines(&self) -> TraceError {
        let mut error = error_of(&self.report.file, &self.intake.bad);
        if let Some(diagnostic) = fits_poorly(self.report.format, &self.head) {
            error.diagnostics.insert(0, diagnostic);
        }
        if let Some(share) = self.options.lenient {
            let lines = self.intake.line - self.intake.remarks;
            let what = format!(
                "{} of {lines} lines are bad, more than the {} % allowed",
                self.intake.bad_lines(),
                share * 100.0
            );
            error.diagnostics.push(Diagnostic::of(what));
        }
        error
    }

    /// Counts the remaining bad lines without returning any request after the first of them.
    #[cold]
    pub(super) fn refuse_rest(&mut self) {
        let broken = self.count_rest();
        self.torn |= broken.is_some();
        let mut error = self.bad_lines();
        error.diagnostics.extend(broken);
        self.stage = Stage::Draining(Some(error));
        self.complete_report();
    }

    /// Counts the devices in the rest of the trace, then rejects the trace for having several.
    #[cold]
    pub(super) fn refuse_devices(&mut self) {
        let broken = self.count_rest();
        self.torn |= broken.is_some();
        let names = self.intake.device_names();
        let mut error = self.devices.several(&self.report.file, &names);
        if self.intake.bad_lines() > 0 && self.options.lenient.is_none() {
            let bad = self.bad_lines();
            error.diagnostics.extend(bad.diagnostics);
            error.counts = bad.counts;
        }
        error.diagnostics.extend(broken);
        self.window = Reorder::new(1);
        self.stage = Stage::Draining(Some(error));
        self.complete_report();
    }

    /// Reads the trace to its end, only counting lines. Returns a diagnostic if the source fails.
    pub(super) fn count_rest(&mut self) -> Option<Diagnostic> {
        if self.ends_at_fault {
            return None;
        }
        let mut window = self.window.clone();
        loop {
            match self.intake.take() {
                Ok(Taken::Record(_)) if self.devices.are_too_many() => return None,
                Ok(Taken::Record(record)) if self.is_left_out(&record) => {
                    self.devices.count(&record);
                }
                Ok(Taken::Record(record)) => {
                    if window.is_full() {
                        window.pop();
                    }
                    match window.push(record) {
                        Ok(()) => {
                            self.devices.count(&record);
                        }
                        Err(back) => self.intake.refuse_late(back, window.size()),
                    }
                }
                Ok(Taken::Remark | Taken::Bad) => {}
                Ok(Taken::End) => return None,
                Err(error) => return Some(self.broken(&error)),
            }
        }
    }

    /// Handles a failure to read the trace's file or stream: the requests before the failure are
    /// still returned.
    #[cold]
    pub(super) fn break_off(&mut self, error: &std::io::Error) {
        let diagnostic = self.broken(error);
        let mut all = error_of(&self.report.file, &self.intake.bad);
        all.diagnostics.push(diagnostic);
        self.torn = true;
        self.stage = Stage::Draining(Some(all));
        self.complete_report();
    }

    pub(super) fn broken(&self, error: &std::io::Error) -> Diagnostic {
        let line = self.intake.line;
        Diagnostic::of(format!("reading failed after line {line}: {error}")).hint(
            "the file may be truncated: compare its size or checksum with the original".to_string(),
        )
    }

    pub(super) fn complete_report(&mut self) {
        self.report.lines = self.intake.line;
        self.report.remarks = self.intake.remarks;
        self.report.left_out = self.intake.left_out();
        self.report.added = self.intake.added();
        self.report.reordered = self.window.reordered();
        self.report.cut = self.intake.cut();
        self.report.skipped = self.intake.bad.clone();
        self.report.devices = self.devices.seen().to_vec();
        self.report.device_names = self.intake.device_names();
        self.report.notes = self.notes.clone();
        self.report.notes.extend(self.intake.notes());
        if self.report.format.has_whole_seconds() {
            let spread = self.options.spread.unwrap_or_default();
            self.report.notes.push(spread.note().to_string());
        }
    }
}

/// Returns the diagnostic for an empty trace.
fn no_request() -> Diagnostic {
    Diagnostic::of("this trace has no requests").expected("at least one request")
}

/// Checks a format given by the user: finds a header that the format does not define, and the
/// columns that the header of a CSV names.
pub(super) fn given_format(
    name: &str,
    format: Format,
    lines: &Lines,
    options: &ReadOptions,
) -> Result<Detected, TraceError> {
    if format == Format::Csv && options.columns.is_none() {
        let (first_line, proposed) = match detect::detected(lines.head(), lines.head_is_all()) {
            Ok(found) if found.columns.is_some() => return Ok(found),
            Ok(_) => (String::new(), None),
            Err(undetected) => (undetected.first_line, undetected.otherwise),
        };
        let what = "format `csv` needs a list of columns";
        let line = detect::line_of(lines, &first_line).filter(|_| !first_line.is_empty());
        let diagnostic = Diagnostic { text: first_line, ..Diagnostic::of(what).line(line) };
        let diagnostic = diagnostic.expected(
            "the option --columns, or a header line that names every column with its unit",
        );
        let hint = proposed.unwrap_or_else(|| {
            "describe the columns: --columns ts=us,op=rw,lba=512,len=bytes".to_string()
        });
        return Err(TraceError::one(name, diagnostic.hint(hint)));
    }
    Ok(Detected { header: detect::has_names(format, lines.head()), ..Detected::of(format) })
}

/// Detects the format of a trace from the text or, if that is ambiguous, from the trace's name.
pub(super) fn detected(name: &str, lines: &Lines) -> Result<(Detected, FormatSource), TraceError> {
    let undetected = match detect::detected(lines.head(), lines.head_is_all()) {
        Ok(found) => return Ok((found, FormatSource::Text)),
        Err(undetected) => undetected,
    };
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    let named_so = |format: &Format| {
        file.contains(format.name()) || file.contains(&format.name().replace('-', ""))
    };
    let could_be = Format::could_be_binary(lines.head());
    if let Some(format) = could_be.iter().copied().find(named_so) {
        return Ok((Detected::of(format), FormatSource::Name));
    }
    let candidates = undetected.candidates.iter().map(|candidate| candidate.format);
    let mut named = candidates.filter(named_so);
    match (named.next(), named.next()) {
        (Some(format), None) => Ok((Detected::of(format), FormatSource::Name)),
        _ if detect::is_biosnoop_bt(lines.head()) => {
            let what = "this is the output of bpftrace's biosnoop.bt, which prints neither addresses \
                        nor sizes";
            let hint = "trace with bcc's biosnoop, or with blktrace";
            Err(TraceError::one(name, Diagnostic::of(what).hint(hint.to_string())))
        }
        _ if undetected.first_line.is_empty() => Err(TraceError::one(name, no_request())),
        _ if !could_be.is_empty() => {
            let names: Vec<String> = could_be.iter().map(|it| format!("--format {it}")).collect();
            let what = "this is a binary file, and its first bytes do not show its format";
            let hint =
                format!("if the file is in one of these formats, name it: {}", names.join(", "));
            Err(TraceError::one(name, Diagnostic::of(what).hint(hint)))
        }
        _ => {
            let line = detect::line_of(lines, &undetected.first_line);
            Err(TraceError::one(name, undetected.diagnostic().line(line)))
        }
    }
}
