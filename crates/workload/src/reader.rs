//! Reads a trace as an iterator of host requests in order of arrival.
//!
//! The path of a line: decompressed text (`source`) -> line (`lines`) -> record (`intake`,
//! `decode`) -> time order (`reorder`) -> device and first arrival -> `HostIo`.
//!
//! Nothing is skipped silently. Blank lines and lines that begin with `#` are comments in every
//! format and are counted. Any other line that is not a record is an error: the reader returns the
//! requests before it, scans the rest of the file to count further bad lines, and returns a single
//! [`TraceError`] that lists them all. With [`ReadOptions::lenient`], bad lines are skipped and
//! counted, and become an error at the end if they exceed the given share. An error is always the
//! last item of the iterator.

use crate::detect::{self, fits_poorly};
use crate::devices::{Bases, Devices, device_name};
use crate::error::{Cause, Skipped, error_of};
use crate::intake::{Intake, Taken};
use crate::lines::Lines;
use crate::reorder::Reorder;
use crate::source::{self, ReadSoFar, io_error};
use crate::spread::{MOST_IN_A_SECOND, Spread, Spreader};
use crate::{CsvColumns, DeviceChoice, DeviceUse, Format, OptionalColumns, Record, TraceError};
use fowler_units::{Diagnostic, HostIo, HostOp, Nanos};
use std::collections::BTreeMap;
use std::io::{BufRead, Cursor, Read};
use std::path::Path;

/// How to read a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// The format; `None` to detect it.
    pub format: Option<Format>,
    /// The share of bad lines (0 to 1) to skip; `None` makes every bad line an error.
    pub lenient: Option<f64>,
    /// The size of the reorder window in requests. Requests out of order within it are sorted.
    pub reorder_window: usize,
    /// Which devices to read.
    pub device: DeviceChoice,
    /// The columns of a CSV, whose format then is [`Format::Csv`].
    pub columns: Option<CsvColumns>,
    /// How arrivals in whole seconds are spread over their seconds; `None` for the default. Only
    /// for formats whose times are whole seconds, and for CSV.
    pub spread: Option<Spread>,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        let device = DeviceChoice::Default;
        let (columns, spread) = (None, None);
        ReadOptions { format: None, lenient: None, reorder_window: 4096, device, columns, spread }
    }
}

/// How the format was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatSource {
    /// It was given.
    Given,
    /// No other format fits the text.
    Text,
    /// Several formats fit the text, and the trace's name contains the name of exactly one of them.
    Name,
}

/// Counts of what was read so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReport {
    /// The trace's name.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// How the format was determined.
    pub format_source: FormatSource,
    /// Lines, of every kind.
    pub lines: u64,
    /// The lines among them that are not requests and not bad: blank lines, comments, header rows,
    /// and blkparse's summary and its events other than arrivals.
    pub remarks: u64,
    /// Requests returned.
    pub requests: u64,
    /// Requests of devices that are not read.
    pub other_devices: u64,
    /// Requests that were out of order and were sorted.
    pub reordered: u64,
    /// Bad lines by cause.
    pub skipped: BTreeMap<Cause, Skipped>,
    /// Whether the text ended without a newline, so that its last line may be cut short.
    pub cut: bool,
    /// Whether the file is compressed and its end, where its checksum is, was not read: see
    /// [`TraceReader::check_rest`].
    pub unchecked: bool,
    /// The devices seen, in ascending order of number, with the requests of their good lines.
    pub devices: Vec<DeviceUse>,
    /// The names of the devices in order of their numbers, where the trace names them.
    pub device_names: Vec<String>,
    /// What the format cannot tell, or what was done about it.
    pub notes: Vec<String>,
}

impl ReadReport {
    /// Returns a device's number, followed by its name if it has one.
    pub fn device_name(&self, device: u64) -> String {
        device_name(&self.device_names, device)
    }
}

/// Lines between two looks at who watches a pass over a trace.
const WATCHED_EVERY: u64 = 4096;

/// The least reorder window of formats with whole seconds: a second of many devices may come in any
/// order.
const SECONDS_WINDOW: usize = 1 << 17;

/// The state of a reader.
enum Stage {
    /// Reading lines.
    Reading,
    /// The text ended or an error occurred: return the buffered requests, then the error.
    Draining(Option<TraceError>),
    /// Finished.
    Done,
}

/// A trace reader: an iterator of `Result<HostIo, TraceError>`.
pub struct TraceReader {
    intake: Intake,
    options: ReadOptions,
    window: Reorder,
    spreader: Option<Spreader>,
    devices: Devices,
    bases: Bases,
    report: ReadReport,
    stage: Stage,
    /// The beginning of the text, to suggest a better format if the given one does not fit.
    head: Vec<u8>,
    /// The time that counts as zero, once known.
    origin: Option<u64>,
    /// How much of the file has been read, if it is one.
    read: Option<ReadSoFar>,
    /// Whether the file itself is damaged or failed, and not a line of it.
    torn: bool,
}

/// The most bytes of a compressed file, and of its text, that [`TraceReader::check_rest`] reads.
const REST: u64 = 16 << 20;
const REST_OF_TEXT: u64 = 1 << 30;

impl TraceReader {
    /// Opens a file; zstd and gzip are decompressed on the fly.
    ///
    /// # Errors
    /// If the file cannot be read, is not text, or its format cannot be determined.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<TraceReader, TraceError> {
        TraceReader::open_watched(path, options, |_| true)
    }

    /// Like [`TraceReader::open`]. Where that takes a pass over the whole file, for
    /// [`DeviceChoice::SideBySide`], `go_on` is called now and then with how much has been read; if
    /// it returns false, the pass ends.
    ///
    /// # Errors
    /// As for [`TraceReader::open`], or if the pass was ended.
    pub fn open_watched(
        path: &Path,
        options: &ReadOptions,
        mut go_on: impl FnMut(&ReadSoFar) -> bool,
    ) -> Result<TraceReader, TraceError> {
        let name = path.display().to_string();
        source::refuse_one_of_several(path)?;
        let (text, read) = source::open(path)?;
        let reader = TraceReader { read: Some(read), ..TraceReader::of(&name, text, options)? };
        if options.device != DeviceChoice::SideBySide {
            return Ok(reader);
        }
        let (text, again_read) = source::open(path)?;
        let again =
            TraceReader { read: Some(again_read), ..TraceReader::of(&name, text, options)? };
        let read = reader.read_so_far();
        reader.followed_by(again, || read.as_ref().is_none_or(&mut go_on))
    }

    /// Reads a stream under a name. [`DeviceChoice::SideBySide`] needs two passes, so the whole
    /// text is held in memory.
    ///
    /// # Errors
    /// As for [`TraceReader::open`].
    pub fn from_stream(
        name: &str,
        stream: Box<dyn BufRead + Send>,
        options: &ReadOptions,
    ) -> Result<TraceReader, TraceError> {
        let (mut text, _) = source::unpack(name, stream)?;
        if options.device != DeviceChoice::SideBySide {
            return TraceReader::of(name, text, options);
        }
        let mut held = Vec::new();
        text.read_to_end(&mut held).map_err(|error| io_error(name, "reading", &error))?;
        let reader = TraceReader::of(name, Box::new(Cursor::new(held.clone())), options)?;
        let again = TraceReader::of(name, Box::new(Cursor::new(held)), options)?;
        reader.followed_by(again, || true)
    }

    fn of(
        name: &str,
        text: source::Text,
        options: &ReadOptions,
    ) -> Result<TraceReader, TraceError> {
        check(name, options)?;
        let read_error = |error: std::io::Error| io_error(name, "reading", &error);
        let mut lines = Lines::raw(text).map_err(read_error)?;
        let given = options.columns.as_ref().map(|_| Format::Csv).or(options.format);
        let shown = Format::of_binary(lines.head());
        if shown.is_none() && !given.is_some_and(Format::is_binary) {
            source::refuse_other_files(name, lines.head())?;
            lines.begin_text().map_err(read_error)?;
        }
        let (format, format_source) = match (given, shown) {
            (Some(format), _) => (format, FormatSource::Given),
            (None, Some(format)) => (format, FormatSource::Text),
            (None, None) => match (detected(name, &lines), lines.torn()) {
                (Err(_), Some(error)) => return Err(io_error(name, "reading", error)),
                (detected, _) => detected?,
            },
        };
        let window =
            options.reorder_window.max(if format.has_whole_seconds() { SECONDS_WINDOW } else { 1 });
        Ok(TraceReader {
            head: lines.head().to_vec(),
            intake: Intake::of(lines, format, options.columns.clone()),
            window: Reorder::new(window),
            spreader: spreader(name, format, options)?,
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
                cut: false,
                unchecked: false,
                devices: Vec::new(),
                device_names: Vec::new(),
                notes: Vec::new(),
            },
            stage: Stage::Reading,
            origin: (!format.counts_from_a_date()).then_some(0),
            read: None,
            torn: false,
        })
    }

    /// For a caller that stops early: checks the rest of a compressed file, since only the checksum
    /// at its end may show that it is damaged. Reads up to 16 MiB of the file for that, and up to
    /// 1 GiB of text; [`ReadReport::unchecked`] says if there is more, if the file is a pipe, or if
    /// `go_on` returned false, which is called before each read. The reader is at its end then.
    ///
    /// # Errors
    /// If the file is damaged, or reading it failed.
    pub fn check_rest(&mut self, mut go_on: impl FnMut() -> bool) -> Result<(), TraceError> {
        let stage = std::mem::replace(&mut self.stage, Stage::Done);
        self.window = Reorder::new(1);
        let (Stage::Reading, Some((before, left))) =
            (&stage, self.read.as_ref().and_then(ReadSoFar::compressed))
        else {
            return match stage {
                // The reader was ahead of its requests.
                Stage::Draining(Some(error)) if self.torn => Err(error),
                _ => Ok(()),
            };
        };
        self.report.unchecked = true;
        if left > REST {
            return Ok(());
        }
        let mut dropped = 0;
        while dropped < REST_OF_TEXT && self.read_after(before) <= REST && go_on() {
            match self.intake.drop_some() {
                Ok(0) => {
                    self.report.unchecked = false;
                    break;
                }
                Ok(more) => dropped += more as u64,
                Err(error) => {
                    return Err(TraceError::one(&self.report.file, self.broken(&error)));
                }
            }
        }
        Ok(())
    }

    /// Returns how many bytes of the file have been read since `before`.
    fn read_after(&self, before: u64) -> u64 {
        let compressed = self.read.as_ref().and_then(ReadSoFar::compressed);
        compressed.map_or(0, |(read, _)| read - before)
    }

    /// How much of the file has been read; none of a stream.
    pub fn read_so_far(&self) -> Option<ReadSoFar> {
        self.read.clone()
    }

    /// Returns the format in which the trace is read.
    pub fn format(&self) -> Format {
        self.report.format
    }

    /// Returns the optional columns named by a native trace's header; none before the first
    /// request.
    pub fn optional_columns(&self) -> OptionalColumns {
        self.intake.optional_columns()
    }

    /// Returns the counts. The number of requests is always up to date; everything else is final
    /// only once the iterator has ended.
    pub fn report(&self) -> &ReadReport {
        &self.report
    }

    /// Reads this text to find the devices' sizes, then sets the devices' base addresses in the
    /// second reader. Errors in the text are left to the second pass. `go_on` says now and then
    /// whether to continue.
    fn followed_by(
        mut self,
        mut second: TraceReader,
        mut go_on: impl FnMut() -> bool,
    ) -> Result<TraceReader, TraceError> {
        let mut taken_so_far = 0u64;
        while let Ok(taken) = self.intake.take() {
            if taken_so_far.is_multiple_of(WATCHED_EVERY) && !go_on() {
                let what = "stopped while the trace was read";
                return Err(TraceError::one(self.report.file, Diagnostic::of(what)));
            }
            taken_so_far += 1;
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

    /// Reads lines until the window is full, the text ends, or an error occurs.
    #[inline]
    fn fill(&mut self) {
        while !self.window.is_full() {
            let Some(record) = self.intake.take_ahead().or_else(|| self.take_anew()) else {
                return;
            };
            if self.is_left_out(&record) {
                self.devices.count(&record);
                self.report.other_devices += 1;
                if self.devices.are_too_many() {
                    return self.refuse_devices();
                }
                continue;
            }
            match self.window.push(record) {
                Ok(()) => {
                    if self.devices.count(&record) && self.refuses_devices() {
                        return self.refuse_devices();
                    }
                }
                Err(back) => {
                    self.intake.refuse_late(back, self.window.size());
                    if self.options.lenient.is_none() {
                        return self.refuse_rest();
                    }
                }
            }
        }
    }

    /// Whether a record is of a device that is not read. It does not even enter the reorder window:
    /// requests of other devices must not push those that are read out of it.
    #[inline]
    fn is_left_out(&self, record: &Record) -> bool {
        matches!(self.options.device, DeviceChoice::Only(device) if record.device != device)
    }

    /// Whether there are more devices than may be read.
    fn refuses_devices(&self) -> bool {
        let only_one = self.options.device == DeviceChoice::Default;
        only_one && self.devices.seen().len() > 1 || self.devices.are_too_many()
    }

    /// Reads lines up to the next record. Returns `None` if the text ends or an error occurs.
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

    /// Returns the error, if any, of a text that was read to its end.
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

    /// Returns the bad lines as an error, preceded by a diagnostic if the format itself seems
    /// wrong.
    fn bad_lines(&self) -> TraceError {
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
    fn refuse_rest(&mut self) {
        let broken = self.count_rest();
        self.torn |= broken.is_some();
        let mut error = self.bad_lines();
        error.diagnostics.extend(broken);
        self.stage = Stage::Draining(Some(error));
        self.complete_report();
    }

    /// Counts the devices in the rest of the trace, then rejects it.
    #[cold]
    fn refuse_devices(&mut self) {
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

    /// Reads to the end, only counting. Returns a diagnostic if the source fails.
    fn count_rest(&mut self) -> Option<Diagnostic> {
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

    /// Handles a failing source: requests before the failure are still returned.
    #[cold]
    fn break_off(&mut self, error: &std::io::Error) {
        let diagnostic = self.broken(error);
        let mut all = error_of(&self.report.file, &self.intake.bad);
        all.diagnostics.push(diagnostic);
        self.torn = true;
        self.stage = Stage::Draining(Some(all));
        self.complete_report();
    }

    fn broken(&self, error: &std::io::Error) -> Diagnostic {
        let line = self.intake.line;
        Diagnostic::of(format!("reading failed after line {line}: {error}")).hint(
            "the file may be truncated: compare its size or checksum with the original".to_string(),
        )
    }

    fn complete_report(&mut self) {
        self.report.lines = self.intake.line;
        self.report.remarks = self.intake.remarks;
        self.report.reordered = self.window.reordered();
        self.report.cut = self.intake.cut();
        self.report.skipped = self.intake.bad.clone();
        self.report.devices = self.devices.seen().to_vec();
        self.report.device_names = self.intake.device_names();
        self.report.notes = self.intake.notes();
        if self.report.format.has_whole_seconds() {
            let spread = self.options.spread.unwrap_or_default();
            self.report.notes.push(spread.note().to_string());
        }
    }

    /// Converts a record to a request for the simulated drive.
    #[inline]
    fn request(&mut self, record: Record) -> Result<HostIo, TraceError> {
        let origin = *self.origin.get_or_insert(record.io.at.0);
        let base = match self.options.device {
            DeviceChoice::Default | DeviceChoice::Only(_) => 0,
            DeviceChoice::SideBySide => self.bases.of(record.device).ok_or_else(|| {
                let what = "the file changed between the first and the second pass";
                TraceError::one(&self.report.file, Diagnostic::of(what))
            })?,
        };
        self.report.requests += 1;
        let Record { io, .. } = record;
        // A flush has no range that could be beside another.
        let base = if io.op == HostOp::Flush { 0 } else { base };
        let at = Nanos(io.at.0 - origin);
        Ok(io.with_at(at).with_offset(base.saturating_add(io.offset)))
    }

    /// Returns the next record in order of time.
    #[inline]
    fn sorted(&mut self) -> Option<Record> {
        if matches!(self.stage, Stage::Reading) {
            self.fill();
        }
        self.window.pop()
    }

    /// Returns the next record, spread over its second.
    fn spread(&mut self) -> Result<Option<Record>, TraceError> {
        let Some(mut spreader) = self.spreader.take() else { return Ok(self.sorted()) };
        let next = spreader.next(|| self.sorted());
        self.spreader = Some(spreader);
        next.map_err(|second| {
            let what = format!("second {second} has more than {MOST_IN_A_SECOND} requests");
            let hint = "choose a device, or --spread none";
            TraceError::one(&self.report.file, Diagnostic::of(what).hint(hint.to_string()))
        })
    }

    /// Ends the reading with an error.
    fn end(&mut self, error: TraceError) -> Option<Result<HostIo, TraceError>> {
        self.window = Reorder::new(1);
        self.spreader = None;
        self.stage = Stage::Done;
        Some(Err(error))
    }
}

impl Iterator for TraceReader {
    type Item = Result<HostIo, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Result<HostIo, TraceError>> {
        let record = if self.spreader.is_none() {
            self.sorted()
        } else {
            match self.spread() {
                Ok(record) => record,
                Err(error) => return self.end(error),
            }
        };
        let Some(record) = record else {
            return match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Draining(error) => error.map(Err),
                Stage::Reading | Stage::Done => None,
            };
        };
        match self.request(record) {
            Ok(request) => Some(Ok(request)),
            Err(error) => self.end(error),
        }
    }
}

/// Returns the diagnostic for an empty trace.
fn no_request() -> Diagnostic {
    Diagnostic::of("this trace has no requests").expected("at least one request")
}

/// Returns what spreads the arrivals of a trace, if anything must.
fn spreader(
    name: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<Option<Spreader>, TraceError> {
    let may_be_coarse = format.has_whole_seconds() || format == Format::Csv;
    match options.spread {
        Some(_) if !may_be_coarse => {
            let what = format!("times of format `{format}` are finer than a second");
            let diagnostic = Diagnostic::of(what).hint("leave out --spread".to_string());
            Err(TraceError::one(name, diagnostic))
        }
        None if !format.has_whole_seconds() => Ok(None),
        spread => Ok(Some(Spreader::new(spread.unwrap_or_default()))),
    }
}

/// Rejects invalid options.
fn check(name: &str, options: &ReadOptions) -> Result<(), TraceError> {
    let share = options.lenient.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&share) {
        let diagnostic = Diagnostic::of(format!("the allowed share of bad lines is {share}"));
        return Err(TraceError::one(name, diagnostic.expected("a share from 0 to 1")));
    }
    let columns_of_another = options.format.filter(|&format| format != Format::Csv);
    if let (Some(_), Some(format)) = (&options.columns, columns_of_another) {
        let what = format!("--columns does not apply to format `{format}`, which has its own");
        let hint = "leave out --format, or choose --format csv";
        return Err(TraceError::one(name, Diagnostic::of(what).hint(hint.to_string())));
    }
    if options.format == Some(Format::Csv) && options.columns.is_none() {
        let diagnostic = Diagnostic::of("format `csv` has no columns of its own");
        let hint = "give them: --columns ts=us,op=rw,lba=512,len=bytes";
        return Err(TraceError::one(name, diagnostic.hint(hint.to_string())));
    }
    if options.reorder_window == 0 {
        let diagnostic = Diagnostic::of("a reorder window of 0 requests cannot hold any request");
        return Err(TraceError::one(
            name,
            diagnostic.expected("at least 1; 1 turns reordering off"),
        ));
    }
    Ok(())
}

/// Detects the format from the text or, if that is ambiguous, from the trace's name.
fn detected(name: &str, lines: &Lines) -> Result<(Format, FormatSource), TraceError> {
    let undetected = match Format::detect(lines.head(), lines.head_is_all()) {
        Ok(format) => return Ok((format, FormatSource::Text)),
        Err(undetected) => undetected,
    };
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    let named_so = |format: &Format| {
        file.contains(format.name()) || file.contains(&format.name().replace('-', ""))
    };
    let could_be = Format::could_be_binary(lines.head());
    if let Some(format) = could_be.iter().copied().find(named_so) {
        return Ok((format, FormatSource::Name));
    }
    let candidates = undetected.candidates.iter().map(|candidate| candidate.format);
    let mut named = candidates.filter(named_so);
    match (named.next(), named.next()) {
        (Some(format), None) => Ok((format, FormatSource::Name)),
        _ if detect::is_biosnoop_bt(lines.head()) => {
            let what = "this is the output of bpftrace's biosnoop.bt, which prints neither addresses \
                        nor sizes";
            let hint = "trace with bcc's biosnoop, or with blktrace";
            Err(TraceError::one(name, Diagnostic::of(what).hint(hint.to_string())))
        }
        _ if undetected.first_line.is_empty() => Err(TraceError::one(name, no_request())),
        _ if !could_be.is_empty() => {
            let names: Vec<String> = could_be.iter().map(|it| format!("--format {it}")).collect();
            let what = "this is a binary file, and nothing in it shows its format";
            let hint = format!("if it is one of these, say so: {}", names.join(", "));
            Err(TraceError::one(name, Diagnostic::of(what).hint(hint)))
        }
        _ => Err(TraceError::one(name, undetected.diagnostic())),
    }
}
