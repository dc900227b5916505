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

mod copy;
mod verdict;

pub use copy::{TraceCopy, copy_stream};

use crate::detect::{self, Detected};
use crate::devices::{Bases, Devices};
use crate::intake::{Intake, Taken};
use crate::lines::Lines;
use crate::options::{check, spreader};
use crate::reorder::Reorder;
use crate::source::{self, ReadSoFar, io_error};
use crate::spread::{MOST_IN_A_SECOND, Spreader};
use crate::standard_input::trace_name;
use crate::{
    DeviceChoice, Format, FormatSource, OptionalColumns, ReadOptions, ReadReport, Record,
    TraceError,
};
use fowler_units::{Diagnostic, HostIo, HostOp, Nanos};
use std::collections::BTreeMap;
use std::io::{BufRead, Cursor, Read};
use std::path::Path;
use verdict::{detected, given_format};

/// Number of trace lines between two calls of the progress callback.
const WATCHED_EVERY: u64 = 4096;

/// Smallest reorder window, in requests, for formats with whole seconds: the requests that several
/// devices get within a second may come in any order.
const SECONDS_WINDOW: usize = 1 << 17;

/// State of a trace reader.
enum Stage {
    /// The reader is reading lines.
    Reading,
    /// The text ended or an error occurred: the reader returns the buffered requests, then the
    /// error.
    Draining(Option<TraceError>),
    /// The reader has returned everything.
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
    /// Notes on the beginning of the trace's text, reported even if reading fails later.
    notes: Vec<String>,
    /// Beginning of the trace's text, to suggest a better format if the given one does not fit.
    head: Vec<u8>,
    /// Time on the trace's clock that counts as zero, in nanoseconds; `None` before the first
    /// request.
    origin: Option<u64>,
    /// Number of the device of the last request returned.
    device: u64,
    /// Number of bytes of the trace file read so far; `None` if the trace is a stream.
    read: Option<ReadSoFar>,
    /// True if the trace file is damaged or reading it failed. A bad line does not set this.
    torn: bool,
    /// True if nothing is read after the first bad line of the trace, which then is the only one
    /// reported.
    ends_at_fault: bool,
}

/// Largest numbers of compressed and of decompressed bytes that are read behind the last request
/// needed, only to check the checksum at the end of a compressed trace.
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

    /// Opens a trace file; zstd and gzip are decompressed. [`DeviceChoice::SideBySide`] first reads
    /// the whole file once: `go_on` is called repeatedly with the progress of that pass, and may
    /// end it by returning false.
    ///
    /// # Errors
    ///
    /// As for [`TraceReader::open`], or if the pass was ended.
    pub fn open_watched(
        path: &Path,
        options: &ReadOptions,
        mut go_on: impl FnMut(&ReadSoFar) -> bool,
    ) -> Result<TraceReader, TraceError> {
        let name = trace_name(path);
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
            detect::refuse_no_requests(name, &lines, given)?;
        }
        let (found, format_source) = match (given, shown) {
            (Some(format), _) => {
                (given_format(name, format, &lines, options)?, FormatSource::Given)
            }
            (None, Some(format)) => (Detected::of(format), FormatSource::Text),
            (None, None) => match (detected(name, &lines), lines.torn()) {
                (Err(_), Some(error)) => return Err(io_error(name, "reading", error)),
                (detected, _) => detected?,
            },
        };
        let columns = options.columns.clone().or(found.columns);
        let (format, mut notes) = (found.format, found.notes);
        let is_given = format_source == FormatSource::Given;
        let named = found.header;
        notes.extend(detect::remarks(format, &lines, columns.as_ref(), named, is_given));
        let window =
            options.reorder_window.max(if format.has_whole_seconds() { SECONDS_WINDOW } else { 1 });
        Ok(TraceReader {
            head: lines.head().to_vec(),
            intake: Intake::of(lines, format, columns, found.header),
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
                left_out: Vec::new(),
                added: 0,
                requests: 0,
                other_devices: 0,
                reordered: 0,
                skipped: BTreeMap::new(),
                cut: false,
                unchecked: false,
                devices: Vec::new(),
                device_names: Vec::new(),
                notes: notes.clone(),
            },
            notes,
            stage: Stage::Reading,
            origin: (!format.counts_from_a_date()).then_some(0),
            device: 0,
            read: None,
            torn: false,
            ends_at_fault: false,
        })
    }

    /// Checks the rest of a compressed file after the caller has read as much as it needs, since
    /// only the checksum at its end shows damage. Reads at most 16 MiB of the file and 1 GiB of
    /// text; before each read, `go_on` may return false to stop. [`ReadReport::unchecked`] is then
    /// true, as for a larger rest or a pipe.
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
                // The error was found ahead of the requests already returned.
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

    /// Returns the number of bytes of the compressed trace file read after the first `before`; zero
    /// if the file is not compressed.
    fn read_after(&self, before: u64) -> u64 {
        let compressed = self.read.as_ref().and_then(ReadSoFar::compressed);
        compressed.map_or(0, |(read, _)| read - before)
    }

    /// Returns how much of the trace file has been read; `None` for a stream.
    pub fn read_so_far(&self) -> Option<ReadSoFar> {
        self.read.clone()
    }

    /// Returns the options with which the trace is read.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Returns the device of the last request returned.
    pub fn device(&self) -> u64 {
        self.device
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

    /// Returns the counts of what was read so far. The number of requests is always up to date;
    /// everything else is final only once the iterator has ended.
    pub fn report(&self) -> &ReadReport {
        &self.report
    }

    /// Reads the whole trace to find the size of each device, then sets the base addresses of the
    /// devices, side by side, in `second`, another reader of the same trace. Errors in the text are
    /// left to that reader. `go_on` returns false to stop.
    fn followed_by(
        mut self,
        mut second: TraceReader,
        mut go_on: impl FnMut() -> bool,
    ) -> Result<TraceReader, TraceError> {
        let mut taken_so_far = 0u64;
        while let Ok(taken) = self.intake.take() {
            if taken_so_far.is_multiple_of(WATCHED_EVERY) && !go_on() {
                let what = "the command was stopped while it read the trace";
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

    /// Reads lines until the reorder window is full, the text ends, or an error occurs.
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

    /// True if the request is for a device that was not selected. It is dropped before the reorder
    /// window, where it would push out requests of the selected device.
    #[inline]
    fn is_left_out(&self, record: &Record) -> bool {
        matches!(self.options.device, DeviceChoice::Only(device) if record.device != device)
    }

    /// True if the trace has more devices than may be read.
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

    /// Converts a record to a request for the simulated drive.
    #[inline]
    fn request(&mut self, record: Record) -> Result<HostIo, TraceError> {
        let origin = *self.origin.get_or_insert(record.io.at.0);
        let base = match self.options.device {
            DeviceChoice::Default | DeviceChoice::Only(_) | DeviceChoice::Each => 0,
            DeviceChoice::SideBySide => self.bases.of(record.device).ok_or_else(|| {
                let what = "the trace file changed between the first and the second pass over it";
                TraceError::one(&self.report.file, Diagnostic::of(what))
            })?,
        };
        self.report.requests += 1;
        let Record { io, device } = record;
        self.device = device;
        // A flush has no range and therefore needs no base address.
        let base = if io.op == HostOp::Flush { 0 } else { base };
        let at = Nanos(io.at.0 - origin);
        Ok(io.with_at(at).with_offset(base.saturating_add(io.offset)))
    }

    /// Returns the next request of the trace in order of time.
    #[inline]
    fn sorted(&mut self) -> Option<Record> {
        if matches!(self.stage, Stage::Reading) {
            self.fill();
        }
        self.window.pop()
    }

    /// Returns the next request of the trace; arrivals in whole seconds are spread over their
    /// second.
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

    /// Stops reading the trace and returns `error` as its last item.
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
