//! The requests of a run: a trace or a generator, fitted to the drive and the replay speed.

use crate::atomic_file::is_special;
use crate::device_spec::{Resolved, Source};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::faults::{self, Scripted};
use crate::generator::{self, Generator, Room};
pub use crate::progress::Control;
use crate::progress::{Length, Progress};
use crate::provenance::{Digested, text_hash};
use crate::trace_spec::Passes;
pub use crate::trace_spec::TraceSpec;
use fowler_units::{HostIo, Nanos, Span};
use fowler_workload::{
    DeviceChoice, Format, ReadOptions, ReadReport, Remap, Remapper, Spread, TimeScale, TraceReader,
};
pub use fowler_workload::{
    STANDARD_INPUT, TraceCopy, TraceError, copy_stream, name_standard_input, trace_name,
};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The source of a run's requests.
#[derive(Clone, Debug)]
pub enum WorkloadSpec {
    /// Requests of a trace file.
    Trace(TraceSpec),
    /// Requests that a generator draws, given its description.
    Generated(Source),
    /// Requests that the caller supplies.
    Custom(CustomSpec),
}

/// Custom requests, and how to fit them to the drive.
#[derive(Clone, Debug)]
pub struct CustomSpec {
    /// Source of the requests, which the calling program supplies instead of a trace or a
    /// generator.
    pub source: Arc<dyn RequestSource>,
    /// Treatment of addresses of the requests that the drive does not have.
    pub remap: Remap,
}

/// A source of custom requests in order of time. It may be read on any thread.
pub trait RequestSource: fmt::Debug + Send + Sync {
    /// Returns the name of the source of requests for reports.
    fn name(&self) -> String;

    /// Returns the source's requests, beginning with the first.
    ///
    /// # Errors
    /// If they can be read only once and have been.
    fn requests(&self) -> Result<CustomRequests<'_>, Diagnostics>;
}

/// Wraps the diagnostics of custom requests as a trace error.
pub fn custom_error(name: &str, diagnostics: Diagnostics) -> TraceError {
    let reported = |mut diagnostic: Diagnostic| {
        if !diagnostic.file.is_empty() && diagnostic.file != name {
            diagnostic.what = format!("{}: {}", diagnostic.file, diagnostic.what);
        }
        diagnostic
    };
    let diagnostics = diagnostics.0.into_iter().map(reported).collect();
    TraceError { file: name.into(), diagnostics, counts: BTreeMap::new() }
}

/// Iterator over requests that a program supplies instead of a trace file or a generator.
pub type CustomRequests<'a> = Box<dyn Iterator<Item = Result<HostIo, TraceError>> + Send + 'a>;

impl WorkloadSpec {
    /// Returns a string that identifies the requests of the workload: the SHA-256 of the trace file
    /// or of the generator's text, and for a trace also the options with which it is read.
    ///
    /// # Errors
    /// If the file cannot be read, or for custom requests, of which no hash is known before the
    /// run.
    pub fn identity(&self) -> Result<String, Diagnostics> {
        Ok(self.identity_of(&self.hash(Control::UNWATCHED)?))
    }

    /// Returns the SHA-256 of the trace, or the hash of the generator's text.
    pub(crate) fn hash(&self, control: Control<'_>) -> Result<String, Diagnostics> {
        match self {
            WorkloadSpec::Generated(source) => Ok(text_hash(&source.text)),
            WorkloadSpec::Trace(trace) => trace.hash(&Passes::over(1, control)),
            WorkloadSpec::Custom(custom) => Err(nameless(&*custom.source)),
        }
    }

    /// Returns text that identifies the workload's requests: `hash`, which is that of the trace
    /// file or of the generator's text, and for a trace also the options with which it is read.
    pub(crate) fn identity_of(&self, hash: &str) -> String {
        match self {
            WorkloadSpec::Generated(_) | WorkloadSpec::Custom(_) => hash.into(),
            WorkloadSpec::Trace(trace) => {
                format!("{hash} {:?} {}", trace.options, trace.remap.name())
            }
        }
    }

    /// Returns the workload with `times` as many requests if it is generated. A trace stays as it
    /// is.
    ///
    /// # Errors
    /// If the description of a generator is no TOML, or its length is not a number.
    pub fn longer(&self, times: u32) -> Result<WorkloadSpec, Diagnostics> {
        match self {
            WorkloadSpec::Generated(source) => {
                let text = generator::longer(source, times)?;
                Ok(WorkloadSpec::Generated(Source { text, ..source.clone() }))
            }
            other => Ok(other.clone()),
        }
    }

    /// Returns true if the description of a generator lists faults beside the power losses of
    /// `power_off`. Without a drive, assumes one that is large enough.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn lists_faults(&self, drive: Option<&Resolved>) -> Result<bool, Diagnostics> {
        let WorkloadSpec::Generated(source) = self else { return Ok(false) };
        Ok(Generator::parse(source, drive.map_or(Room::ANY, Room::of), 1)?.lists_faults())
    }

    /// Checks the description of a generator or the first lines of a trace. Without a drive,
    /// assumes one that is large enough.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn check(&self, drive: Option<&Resolved>) -> Result<(), Diagnostics> {
        match self {
            WorkloadSpec::Generated(source) => {
                let room = drive.map_or(Room::ANY, Room::of);
                let generator = Generator::parse(source, room, 1)?;
                drive.map_or(Ok(()), |drive| faults::check(generator.faults(), drive, &source.name))
            }
            WorkloadSpec::Trace(spec) => {
                // The beginning is enough to detect the format.
                let options = ReadOptions { device: DeviceChoice::Default, ..spec.options.clone() };
                TraceReader::open(&spec.path, &options)?;
                Ok(())
            }
            // Custom requests are checked as they arrive.
            WorkloadSpec::Custom(_) => Ok(()),
        }
    }
}

/// Returns the error for custom requests where the identity of a workload is needed: saved runs are
/// identified by their inputs, but the hash of custom requests is known only after they have been
/// read.
fn nameless(source: &dyn RequestSource) -> Diagnostics {
    let what = "runs of custom requests cannot be saved: saved runs are found by a hash of their inputs, and \
        that of custom requests is not known before the run";
    Diagnostic::new(source.name(), what)
        .hint("write the requests to a trace file and replay that file".to_string())
        .into()
}

/// A summary of the replayed requests, for reports.
#[derive(Clone, Debug)]
pub struct WorkloadReport {
    /// Name of the trace's file, of the generator, or of the custom requests.
    pub name: String,
    /// SHA-256 of the trace, hash of the generator's text, or hash of the custom requests.
    pub hash: String,
    /// Number of requests that entered the drive.
    pub requests: u64,
    /// Report of reading the trace; `None` for a generator.
    pub read: Option<ReadReport>,
    /// Treatment of addresses of the trace that the drive does not have; `None` for a generator,
    /// whose addresses always fit.
    pub remap: Option<Remap>,
    /// Number of pages that the trace touches; `None` unless fitting it to the drive had to count
    /// them.
    pub touched_pages: Option<u64>,
    /// Factor by which the times of the requests were divided.
    pub speed: f64,
    /// Complete description of the generator, as TOML; `None` for other workloads.
    pub generator: Option<String>,
}

/// A workload prepared for drives of one size.
#[derive(Clone, Debug)]
pub struct Workload {
    kind: Kind,
    name: String,
    hash: String,
}

#[derive(Clone, Debug)]
enum Kind {
    Trace {
        spec: TraceSpec,
        remapper: Remapper,
        /// True if the trace file is known to be whole, so that a run that ends early need not read
        /// on.
        whole: Arc<AtomicBool>,
    },
    Generated(Box<Generator>),
    Custom {
        source: Arc<dyn RequestSource>,
        remap: Remap,
        remapper: Remapper,
    },
}

/// Number of requests between two checks of [`Control`] whether a replay should stop.
const STRIDE: u64 = 4096;

impl Workload {
    /// Prepares a workload for drives of one size: hashes a trace and, where addresses are
    /// compacted, reads it once for the pages it touches.
    pub fn prepare(
        spec: &WorkloadSpec,
        drive: &Resolved,
        limit: Option<u64>,
        control: Control<'_>,
    ) -> Result<Workload, Diagnostics> {
        Workload::prepare_hashed(spec, None, drive, limit, control)
    }

    /// Prepares a workload like [`Workload::prepare`], with the hash of the trace if it is known:
    /// each file is hashed once, however many runs use it.
    pub fn prepare_hashed(
        spec: &WorkloadSpec,
        trace_hash: Option<&str>,
        drive: &Resolved,
        limit: Option<u64>,
        control: Control<'_>,
    ) -> Result<Workload, Diagnostics> {
        let (logical, page_size) = (drive.layout.logical.0, drive.layout.page_size.0);
        match spec {
            WorkloadSpec::Generated(source) => {
                let generator = Generator::parse(source, Room::of(drive), drive.config.seed)?;
                let hash = text_hash(generator.text());
                let name = source.name.clone();
                Ok(Workload { kind: Kind::Generated(Box::new(generator)), name, hash })
            }
            WorkloadSpec::Trace(spec) => {
                let name = trace_name(&spec.path);
                let passes = Passes::over(spec.passes(trace_hash.is_none()), control);
                let first_pass = spec.first_pass(&passes)?.take(limit_of(limit));
                let remapper = Remapper::new(spec.remap, logical, page_size, first_pass)
                    .map_err(|error| named(error, &name))?;
                passes.finish(u32::from(spec.remap == Remap::Compact));
                let hash = trace_hash.map_or_else(|| spec.hash(&passes), |it| Ok(it.into()))?;
                let (spec, whole) = (spec.clone(), Arc::default());
                Ok(Workload { kind: Kind::Trace { spec, remapper, whole }, name, hash })
            }
            WorkloadSpec::Custom(CustomSpec { source, remap }) => {
                let first_pass =
                    (*remap == Remap::Compact).then(|| source.requests()).transpose()?;
                let first_pass = first_pass.into_iter().flatten().take(limit_of(limit));
                let first_pass = first_pass.take_while(|_| !control.stopped());
                let remapper = Remapper::new(*remap, logical, page_size, first_pass)
                    .map_err(|error| named(error, &source.name()))?;
                let (source, remap, name) = (source.clone(), *remap, source.name());
                Ok(Workload {
                    kind: Kind::Custom { source, remap, remapper },
                    name,
                    hash: String::new(),
                })
            }
        }
    }

    /// Returns the queue depth of a generated workload that sets one.
    pub fn depth(&self) -> Option<u32> {
        match &self.kind {
            Kind::Generated(generator) => generator.depth(),
            Kind::Trace { .. } | Kind::Custom { .. } => None,
        }
    }

    /// Returns an error if the workload has power losses or other faults; `what` says why they
    /// cannot be used.
    pub fn refuse_faults(&self, what: &str) -> Result<(), Diagnostics> {
        faults::refuse(self.faults(), &self.name, what)
    }

    /// Returns the power losses and other faults that the workload itself lists.
    pub fn faults(&self) -> &[Scripted] {
        match &self.kind {
            Kind::Generated(generator) => generator.faults(),
            Kind::Trace { .. } | Kind::Custom { .. } => &[],
        }
    }

    /// Returns true if the workload lists faults beside the power losses of `power_off`.
    pub fn lists_faults(&self) -> bool {
        matches!(&self.kind, Kind::Generated(generator) if generator.lists_faults())
    }

    /// Returns the name of the workload in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the duration of a generated workload that sets one.
    pub fn duration(&self) -> Option<Span> {
        match &self.kind {
            Kind::Generated(generator) => generator.duration(),
            Kind::Trace { .. } | Kind::Custom { .. } => None,
        }
    }

    /// Returns true if every repetition of the workload has the same requests, so that they can be
    /// kept.
    pub fn is_same_every_round(&self) -> bool {
        matches!(self.kind, Kind::Trace { .. })
    }

    /// Passes the workload's requests to `replay`, and returns the report on them and the error of
    /// their source, if any.
    pub fn replay(
        &self,
        speed: f64,
        limit: Option<u64>,
        control: Control<'_>,
        replay: impl FnOnce(&mut dyn Iterator<Item = HostIo>),
    ) -> Result<(WorkloadReport, Option<Diagnostics>), Diagnostics> {
        self.replay_round(0, speed, limit, control, replay)
    }

    /// Replays one repetition of a workload, like [`Workload::replay`]. A trace repeats exactly; a
    /// generator repeats times and sizes but draws new addresses from the same distribution
    /// (`Generator::round`).
    pub fn replay_round(
        &self,
        round: u64,
        speed: f64,
        limit: Option<u64>,
        control: Control<'_>,
        replay: impl FnOnce(&mut dyn Iterator<Item = HostIo>),
    ) -> Result<(WorkloadReport, Option<Diagnostics>), Diagnostics> {
        let scale = TimeScale::new(speed)?;
        let mut report = WorkloadReport {
            name: self.name.clone(),
            hash: self.hash.clone(),
            requests: 0,
            read: None,
            remap: None,
            touched_pages: None,
            speed,
            generator: None,
        };
        let failed = match &self.kind {
            Kind::Generated(generator) => {
                report.generator = Some(generator.text().into());
                let length = match generator.length() {
                    Length::Until(end) => Length::Until(Nanos((end.0 as f64 / speed) as u64)),
                    other => other,
                };
                let requests = scale.over(generator.round(round)?);
                let mut feed = Feed::new(requests, length, limit, control);
                replay(&mut feed);
                report.requests = feed.given;
                feed.finish()
            }
            Kind::Trace { spec, remapper, whole } => {
                report.remap = Some(spec.remap);
                report.touched_pages = remapper.touched_pages();
                let reader = spec.open(&Passes::over(spec.opening(), control))?;
                let length = reader.read_so_far().map_or(Length::Unknown, Length::File);
                let requests = remapper.clone().over(scale.over(reader));
                let mut feed = Feed::new(requests, length, limit, control);
                replay(&mut feed);
                report.requests = feed.given;
                let reader = feed.source.source_mut().source_mut();
                if feed.error.is_none() && !whole.load(Ordering::Relaxed) {
                    feed.error = reader.check_rest(|| !control.stopped()).err();
                    let known = feed.error.is_none() && !reader.report().unchecked;
                    whole.store(known, Ordering::Relaxed);
                }
                report.read = Some(reader.report().clone());
                feed.finish()
            }
            Kind::Custom { source, remap, remapper } => {
                report.remap = Some(*remap);
                report.touched_pages = remapper.touched_pages();
                let requests = Digested::new(source.requests()?);
                let requests = remapper.clone().over(scale.over(requests));
                let mut feed = Feed::new(requests, Length::Unknown, limit, control);
                replay(&mut feed);
                report.requests = feed.given;
                report.hash = feed.source.source().source().hash();
                feed.finish()
            }
        };
        Ok((report, failed.map(|error| named(error, &self.name))))
    }
}

/// Makes an error of a workload name the trace, not the step of reading that failed.
fn named(mut error: TraceError, name: &str) -> Diagnostics {
    if error.file != name {
        for diagnostic in &mut error.diagnostics {
            diagnostic.what = format!("{}: {}", error.file, diagnostic.what);
        }
        error.file = name.into();
    }
    error.into()
}

fn limit_of(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Iterator over the requests of a workload that hides read errors from the device. It ends at the
/// first error, when the run is stopped, or at the limit on the number of requests;
/// [`Feed::finish`] returns the error after the device has completed the requests in flight.
struct Feed<'a, I> {
    source: I,
    left: u64,
    given: u64,
    /// Length of the workload, and the limit on the number of requests; the run ends at the shorter
    /// one.
    lengths: [Length; 2],
    /// Number of requests, and share of the workload, that have been reported to the progress bar
    /// so far.
    reported: (u64, f64),
    control: Control<'a>,
    error: Option<TraceError>,
}

impl<'a, I> Feed<'a, I> {
    fn new(source: I, length: Length, limit: Option<u64>, control: Control<'a>) -> Self {
        let limited = limit.map_or(Length::Unknown, Length::Requests);
        Feed {
            source,
            left: limit.unwrap_or(u64::MAX),
            given: 0,
            lengths: [length, limited],
            reported: (0, 0.0),
            control,
            error: None,
        }
    }

    fn finish(mut self) -> Option<TraceError> {
        self.tell(1.0);
        self.error
    }

    #[cold]
    fn tell(&mut self, share: f64) {
        let (requests, before) = self.reported;
        let share = share.clamp(before, 1.0);
        (self.control.progress)(Progress::Served {
            requests: self.given - requests,
            of_a_part: share - before,
        });
        self.reported = (self.given, share);
    }
}

impl<I: Iterator<Item = Result<HostIo, TraceError>>> Iterator for Feed<'_, I> {
    type Item = HostIo;

    #[inline]
    fn next(&mut self) -> Option<HostIo> {
        if self.left == 0 {
            return None;
        }
        let looks = self.given.is_multiple_of(STRIDE);
        if looks && self.control.stopped() {
            self.left = 0;
            return None;
        }
        match self.source.next() {
            Some(Ok(request)) => {
                if looks {
                    let shares = self.lengths.each_ref().map(|it| it.share(self.given, request.at));
                    self.tell(shares[0].max(shares[1]));
                }
                self.left -= 1;
                self.given += 1;
                Some(request)
            }
            Some(Err(error)) => {
                self.left = 0;
                self.error = Some(error);
                None
            }
            None => {
                self.left = 0;
                None
            }
        }
    }
}

/// Checks that a trace file can be opened and read more than once. Its contents are checked later.
pub fn replayable(path: &Path) -> Result<(), Diagnostics> {
    let name = trace_name(path);
    if is_special(path) {
        let what = "this is a pipe or a device, but a trace file is read several times: for its \
            hash, for its addresses, and for every scheme";
        return Err(Diagnostic::new(name, what)
            .hint("save the trace to a file first".to_string())
            .into());
    }
    readable(path)
}

/// Checks that a file can be opened. Does not open a pipe: its writer would take that for its
/// reader.
pub fn readable(path: &Path) -> Result<(), Diagnostics> {
    if is_special(path) {
        return Ok(());
    }
    let name = trace_name(path);
    File::open(path)
        .map(drop)
        .map_err(|error| Diagnostic::new(name, format!("cannot be read: {error}")).into())
}

/// Returns the trace format of that name, or an error that lists all formats.
pub fn format_by_name(name: &str) -> Result<Format, Diagnostics> {
    Format::by_name(name).ok_or_else(|| {
        let names = Format::ALL.iter().map(|format| format.name());
        let near = crate::field::nearest(name, names);
        Diagnostic::new(
            "--format",
            format!("unknown format `{}`", crate::diagnostic::printable(name)),
        )
        .expected(format!("one of {}", Format::names()))
        .hint(near.map(|near| format!("did you mean \"{near}\"?")))
        .into()
    })
}

/// Returns the treatment of addresses (remapping) of that name, or an error that lists all of them.
pub fn remap_by_name(name: &str) -> Result<Remap, Diagnostics> {
    Remap::by_name(name).ok_or_else(|| {
        let names = Remap::ALL.map(Remap::name);
        let what = format!("unknown remapping `{}`", crate::diagnostic::printable(name));
        let near = crate::field::nearest(name, names);
        Diagnostic::new("--remap", what)
            .expected(format!("one of {}", names.join(", ")))
            .hint(near.map(|near| format!("did you mean \"{near}\"?")))
            .into()
    })
}

/// Parses the device of a trace: a number, or `side-by-side` for all of them.
pub fn device_id(text: &str) -> Option<DeviceChoice> {
    match text {
        "side-by-side" => Some(DeviceChoice::SideBySide),
        number => number.parse().map(DeviceChoice::Only).ok(),
    }
}

/// Returns the distribution of arrivals within a second, called `name`, for traces whose times are
/// whole seconds; or an error that lists all distributions.
pub fn spread_by_name(name: &str) -> Result<Spread, Diagnostics> {
    Spread::by_name(name).ok_or_else(|| {
        let names = Spread::ALL.map(Spread::name);
        let what = format!("unknown spread `{}`", crate::diagnostic::printable(name));
        let near = crate::field::nearest(name, names);
        Diagnostic::new("--spread", what)
            .expected(format!("one of {}", names.join(", ")))
            .hint(near.map(|near| format!("did you mean \"{near}\"?")))
            .into()
    })
}

/// Returns the share of a part in a length of time, from 0 to 1; `None` if the length is zero.
pub(crate) fn share(part: Span, whole: Span) -> Option<f64> {
    (whole.0 > 0).then(|| part.0 as f64 / whole.0 as f64)
}
