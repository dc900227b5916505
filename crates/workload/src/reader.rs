//! A trace as an iterator of host requests, in order of arrival.
//!
//! The way of a line: unpacked text (`source`) -> line (`lines`) -> record (`intake`, `decode`) ->
//! order of time (`reorder`) -> device and first arrival -> `HostIo`.
//!
//! Nothing is skipped silently. Blank lines and lines beginning with `#` are remarks in every
//! format and are counted. Any other line that is no record is an error: on the first one the
//! requests before it are handed on, the rest of the file is only counted, and one [`TraceError`]
//! says all that is wrong. With [`ReadOptions::lenient`] bad lines are skipped and counted, and are
//! an error at the end if they are more than the stated share. Whatever the error, it comes last:
//! after it the iterator ends.

use crate::detect::fits_poorly;
use crate::devices::{Bases, Devices};
use crate::error::{Cause, Skipped, error_of};
use crate::intake::{Intake, Taken};
use crate::lines::Lines;
use crate::reorder::Reorder;
use crate::source::{self, io_error};
use crate::{DeviceChoice, DeviceUse, Format, OptionalColumns, Record, TraceError};
use fowler_units::{Diagnostic, HostIo, Nanos};
use std::collections::BTreeMap;
use std::io::{BufRead, Cursor, Read};
use std::path::Path;

/// How a trace is to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// The format; none to detect it.
    pub format: Option<Format>,
    /// The share of bad lines (0 to 1) that is skipped instead of being an error; none for none.
    pub lenient: Option<f64>,
    /// How many requests are held back to put late ones in order.
    pub reorder_window: usize,
    /// Which devices to read.
    pub device: DeviceChoice,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        let device = DeviceChoice::Default;
        ReadOptions { format: None, lenient: None, reorder_window: 4096, device }
    }
}

/// How the format was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatSource {
    /// It was given.
    Given,
    /// No other format fits the text.
    Text,
    /// Several formats fit the text and the trace's name holds the name of one of them.
    Name,
}

/// What has been read so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReport {
    /// The trace's name.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// How the format was found.
    pub format_source: FormatSource,
    /// Lines, of every kind.
    pub lines: u64,
    /// Lines among them that are meant to be no request: blank ones, remarks, header rows, events
    /// of blkparse other than arrivals, and its summary.
    pub remarks: u64,
    /// Requests handed on.
    pub requests: u64,
    /// Requests of devices that are not read.
    pub other_devices: u64,
    /// Requests that came after a later one and were put right.
    pub reordered: u64,
    /// Bad lines by cause.
    pub skipped: BTreeMap<Cause, Skipped>,
    /// The devices seen, ascending by number, with their requests of lines that are not bad.
    pub devices: Vec<DeviceUse>,
}

/// Where a reader stands.
enum Stage {
    /// Lines are read.
    Reading,
    /// The text is at its end, or an error was met: what is held back is handed on, then the error.
    Draining(Option<TraceError>),
    /// Nothing more comes.
    Done,
}

/// A trace reader: an iterator of `Result<HostIo, TraceError>`.
pub struct TraceReader {
    intake: Intake,
    options: ReadOptions,
    window: Reorder,
    devices: Devices,
    bases: Bases,
    report: ReadReport,
    stage: Stage,
    /// The beginning of the text, to say which format fits where the given one does not.
    head: Vec<u8>,
    /// The moment that counts as time zero, once it is known.
    origin: Option<u64>,
}

impl TraceReader {
    /// Opens a file; text packed with zstd or gzip is unpacked on the fly.
    ///
    /// # Errors
    /// If the file cannot be read, is no text, or its format is not certain.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<TraceReader, TraceError> {
        let name = path.display().to_string();
        let reader = TraceReader::of(&name, source::open(path)?, options)?;
        if options.device != DeviceChoice::SideBySide {
            return Ok(reader);
        }
        let again = TraceReader::of(&name, source::open(path)?, options)?;
        reader.followed_by(again)
    }

    /// Reads a stream under a name. [`DeviceChoice::SideBySide`] needs two passes: the whole text
    /// is then held in memory.
    ///
    /// # Errors
    /// As [`TraceReader::open`].
    pub fn from_stream(
        name: &str,
        stream: Box<dyn BufRead + Send>,
        options: &ReadOptions,
    ) -> Result<TraceReader, TraceError> {
        let mut text = source::unpack(name, stream)?;
        if options.device != DeviceChoice::SideBySide {
            return TraceReader::of(name, text, options);
        }
        let mut held = Vec::new();
        text.read_to_end(&mut held).map_err(|error| io_error(name, "reading", &error))?;
        let reader = TraceReader::of(name, Box::new(Cursor::new(held.clone())), options)?;
        reader.followed_by(TraceReader::of(name, Box::new(Cursor::new(held)), options)?)
    }

    fn of(
        name: &str,
        text: source::Text,
        options: &ReadOptions,
    ) -> Result<TraceReader, TraceError> {
        check(name, options)?;
        let lines = Lines::of(text).map_err(|error| io_error(name, "reading", &error))?;
        source::refuse_other_files(name, lines.head())?;
        let (format, format_source) = match options.format {
            Some(format) => (format, FormatSource::Given),
            None => detect(name, &lines)?,
        };
        Ok(TraceReader {
            head: lines.head().to_vec(),
            intake: Intake::of(lines, format),
            window: Reorder::new(options.reorder_window),
            options: options.clone(),
            devices: Devices::default(),
            bases: Bases::default(),
            report: ReadReport {
                file: name.into(),
                format,
                format_source,
                lines: 0,
                remarks: 0,
                requests: 0,
                other_devices: 0,
                reordered: 0,
                skipped: BTreeMap::new(),
                devices: Vec::new(),
            },
            stage: Stage::Reading,
            origin: (!format.counts_from_a_date()).then_some(0),
        })
    }

    /// The format the trace is read in.
    pub fn format(&self) -> Format {
        self.report.format
    }

    /// The optional columns that the header of a native trace names; none before the first request.
    pub fn optional_columns(&self) -> OptionalColumns {
        self.intake.optional_columns()
    }

    /// What has been read: requests at any time, everything else once the iterator has ended.
    pub fn report(&self) -> &ReadReport {
        &self.report
    }

    /// Reads this text for its devices' lengths, then gives the second reader of it their places.
    /// What is wrong with the text is left for the second pass to say.
    fn followed_by(mut self, mut second: TraceReader) -> Result<TraceReader, TraceError> {
        while let Ok(taken) = self.intake.take() {
            match taken {
                Taken::Record(record) => {
                    self.devices.count(&record);
                }
                Taken::Remark | Taken::Bad => {}
                Taken::End => break,
            }
        }
        second.bases = self.devices.side_by_side(&self.report.file)?;
        Ok(second)
    }

    /// Reads lines until the window is full, the text ends, or something is wrong.
    #[inline]
    fn fill(&mut self) {
        while !self.window.is_full() {
            let Some(record) = self.intake.take_ahead().or_else(|| self.take_anew()) else {
                return;
            };
            match self.window.push(record) {
                Ok(()) => {
                    let changed = self.devices.count(&record);
                    if changed && self.options.device == DeviceChoice::Default {
                        let several = self.devices.seen().len() > 1;
                        if several {
                            return self.refuse_devices();
                        }
                    }
                }
                Err(back) => {
                    self.intake.refuse_late(back, self.options.reorder_window);
                    if self.options.lenient.is_none() {
                        return self.refuse_rest();
                    }
                }
            }
        }
    }

    /// Reads lines up to the next record. None if the text ends, or something is wrong.
    fn take_anew(&mut self) -> Option<Record> {
        loop {
            match self.intake.take() {
                Ok(Taken::Record(record)) => return Some(record),
                Ok(Taken::Remark) => {}
                Ok(Taken::Bad) if self.options.lenient.is_some() => {}
                Ok(Taken::Bad) => self.refuse_rest(),
                Ok(Taken::End) => {
                    self.stage = Stage::Draining(self.verdict());
                    self.complete_report();
                }
                Err(error) => self.break_off(&error),
            }
            if !matches!(self.stage, Stage::Reading) {
                return None;
            }
        }
    }

    /// What is wrong with a text that was read to its end.
    fn verdict(&self) -> Option<TraceError> {
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
            error.diagnostics.push(no_request());
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

    /// The bad lines as an error; first of all, if the whole format is wrong, that.
    fn bad_lines(&self) -> TraceError {
        let mut error = error_of(&self.report.file, &self.intake.bad);
        if let Some(diagnostic) = fits_poorly(self.report.format, &self.head) {
            error.diagnostics.insert(0, diagnostic);
        }
        if let Some(share) = self.options.lenient {
            let lines = self.intake.line - self.intake.remarks;
            let what = format!(
                "{} of {lines} lines are bad: more than the tolerated {} %",
                self.intake.bad_lines(),
                share * 100.0
            );
            error.diagnostics.push(Diagnostic::of(what));
        }
        error
    }

    /// Counts what else is wrong, without handing on anything that comes after the first bad line.
    #[cold]
    fn refuse_rest(&mut self) {
        let broken = self.count_rest();
        let mut error = self.bad_lines();
        error.diagnostics.extend(broken);
        self.stage = Stage::Draining(Some(error));
        self.complete_report();
    }

    /// Counts the devices of the rest, then refuses the trace.
    #[cold]
    fn refuse_devices(&mut self) {
        let broken = self.count_rest();
        let mut error = self.devices.several(&self.report.file);
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

    /// Reads to the end and keeps nothing but counts. The diagnostic, if the text breaks off.
    fn count_rest(&mut self) -> Option<Diagnostic> {
        let mut window = self.window.clone();
        loop {
            match self.intake.take() {
                Ok(Taken::Record(record)) => {
                    if window.is_full() {
                        window.pop();
                    }
                    match window.push(record) {
                        Ok(()) => {
                            self.devices.count(&record);
                        }
                        Err(back) => self.intake.refuse_late(back, self.options.reorder_window),
                    }
                }
                Ok(Taken::Remark | Taken::Bad) => {}
                Ok(Taken::End) => return None,
                Err(error) => return Some(self.broken(&error)),
            }
        }
    }

    /// The text broke off: what came before is still handed on.
    #[cold]
    fn break_off(&mut self, error: &std::io::Error) {
        let diagnostic = self.broken(error);
        let mut all = error_of(&self.report.file, &self.intake.bad);
        all.diagnostics.push(diagnostic);
        self.stage = Stage::Draining(Some(all));
        self.complete_report();
    }

    fn broken(&self, error: &std::io::Error) -> Diagnostic {
        let line = self.intake.line;
        Diagnostic::of(format!("reading failed behind line {line}: {error}")).hint(
            "the file may be cut short: compare its size or checksum with its source's".to_string(),
        )
    }

    fn complete_report(&mut self) {
        self.report.lines = self.intake.line;
        self.report.remarks = self.intake.remarks;
        self.report.reordered = self.window.reordered();
        self.report.skipped = self.intake.bad.clone();
        self.report.devices = self.devices.seen().to_vec();
    }

    /// A record as a request of the simulated drive; none if its device is not read.
    #[inline]
    fn request(&mut self, record: Record) -> Result<Option<HostIo>, TraceError> {
        let origin = *self.origin.get_or_insert(record.io.at.0);
        let base = match self.options.device {
            DeviceChoice::Default => 0,
            DeviceChoice::Only(device) if record.device != device => {
                self.report.other_devices += 1;
                return Ok(None);
            }
            DeviceChoice::Only(_) => 0,
            DeviceChoice::SideBySide => self.bases.of(record.device).ok_or_else(|| {
                let what = "this file changed between the two passes over it";
                TraceError::one(&self.report.file, Diagnostic::of(what))
            })?,
        };
        self.report.requests += 1;
        let Record { io, .. } = record;
        let at = Nanos(io.at.0 - origin);
        Ok(Some(io.with_at(at).with_offset(base.saturating_add(io.offset))))
    }
}

impl Iterator for TraceReader {
    type Item = Result<HostIo, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Result<HostIo, TraceError>> {
        loop {
            if matches!(self.stage, Stage::Reading) {
                self.fill();
            }
            let Some(record) = self.window.pop() else {
                return match std::mem::replace(&mut self.stage, Stage::Done) {
                    Stage::Draining(error) => error.map(Err),
                    Stage::Reading | Stage::Done => None,
                };
            };
            match self.request(record) {
                Ok(Some(request)) => return Some(Ok(request)),
                Ok(None) => {}
                Err(error) => {
                    self.window = Reorder::new(1);
                    self.stage = Stage::Done;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// The diagnostic of an empty trace.
fn no_request() -> Diagnostic {
    Diagnostic::of("this trace holds no request").expected("at least one request")
}

/// Refuses options that mean nothing.
fn check(name: &str, options: &ReadOptions) -> Result<(), TraceError> {
    let share = options.lenient.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&share) {
        let diagnostic = Diagnostic::of(format!("the tolerated share of bad lines is {share}"));
        return Err(TraceError::one(name, diagnostic.expected("a share from 0 to 1")));
    }
    if options.reorder_window == 0 {
        let diagnostic = Diagnostic::of("the reorder window is 0 requests");
        return Err(TraceError::one(
            name,
            diagnostic.expected("at least 1, which reorders nothing"),
        ));
    }
    Ok(())
}

/// The format of a text: by the text alone or, where that leaves several, by the trace's name.
fn detect(name: &str, lines: &Lines) -> Result<(Format, FormatSource), TraceError> {
    let undetected = match Format::detect(lines.head(), lines.head_is_all()) {
        Ok(format) => return Ok((format, FormatSource::Text)),
        Err(undetected) => undetected,
    };
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    let mut named = undetected
        .candidates
        .iter()
        .map(|candidate| candidate.format)
        .filter(|format| file.contains(format.name()));
    match (named.next(), named.next()) {
        (Some(format), None) => Ok((format, FormatSource::Name)),
        _ if undetected.first_line.is_empty() => Err(TraceError::one(name, no_request())),
        _ => Err(TraceError::one(name, undetected.diagnostic())),
    }
}
