//! The requests of a run: a trace or a generator, fitted to the drive and to the wanted replay
//! speed.

use crate::atomic_file::is_special;
use crate::device::{Resolved, Source};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::generator::{Generator, Room};
use crate::power::{self, PowerOff};
use crate::provenance::{Digested, file_hash, text_hash};
use fowler_device::policy::throttle::ThrottleKind;
use fowler_units::{HostIo, Span};
pub use fowler_workload::TraceError;
use fowler_workload::{
    DeviceChoice, Format, ReadOptions, ReadReport, Remap, Remapper, TimeScale, TraceReader,
};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where requests come from.
#[derive(Clone, Debug)]
pub enum WorkloadSpec {
    /// A trace file.
    Trace(TraceSpec),
    /// A generator: its description.
    Generated(Source),
    /// Custom requests, which the caller provides.
    Custom(CustomSpec),
}

/// Custom requests, and how they are fitted.
#[derive(Clone, Debug)]
pub struct CustomSpec {
    /// Where they come from.
    pub source: Arc<dyn RequestSource>,
    /// What happens to addresses that the drive does not have.
    pub remap: Remap,
}

/// Requests of the caller's own, in order of time. What reads them may do so on any thread.
pub trait RequestSource: fmt::Debug + Send + Sync {
    /// Its name in reports.
    fn name(&self) -> String;

    /// Begins to yield them, from the first on.
    ///
    /// # Errors
    /// Where they can be had once only, and have been.
    fn requests(&self) -> Result<CustomRequests<'_>, Diagnostics>;
}

/// What is wrong with custom requests, as their source reports it.
pub fn custom_error(name: &str, diagnostics: Diagnostics) -> TraceError {
    let reported = |mut diagnostic: Diagnostic| {
        if !diagnostic.file.is_empty() {
            diagnostic.what = format!("{}: {}", diagnostic.file, diagnostic.what);
        }
        diagnostic
    };
    let diagnostics = diagnostics.0.into_iter().map(reported).collect();
    TraceError { file: name.into(), diagnostics, counts: BTreeMap::new() }
}

/// What a [`RequestSource`] yields.
pub type CustomRequests<'a> = Box<dyn Iterator<Item = Result<HostIo, TraceError>> + Send + 'a>;

impl WorkloadSpec {
    /// What tells it from others: the file, and how it is read.
    ///
    /// # Errors
    /// If the file cannot be read, or the requests have no name to be known by.
    pub fn identity(&self) -> Result<String, Diagnostics> {
        Ok(self.identity_of(&self.hash()?))
    }

    /// The SHA-256 of the trace, or the hash of the generator's text.
    pub(crate) fn hash(&self) -> Result<String, Diagnostics> {
        match self {
            WorkloadSpec::Generated(source) => Ok(text_hash(&source.text)),
            WorkloadSpec::Trace(trace) => file_hash(&trace.path),
            WorkloadSpec::Custom(custom) => Err(nameless(&*custom.source)),
        }
    }

    /// The same as [`WorkloadSpec::identity`], where the hash is known.
    pub(crate) fn identity_of(&self, hash: &str) -> String {
        match self {
            WorkloadSpec::Generated(_) | WorkloadSpec::Custom(_) => hash.into(),
            WorkloadSpec::Trace(trace) => {
                format!("{hash} {:?} {}", trace.options, trace.remap.name())
            }
        }
    }

    /// What is wrong with it, as far as its description or the first lines of the trace tell.
    /// Without a drive, that of one with room for any.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn check(&self, drive: Option<&Resolved>) -> Result<(), Diagnostics> {
        match self {
            WorkloadSpec::Generated(source) => {
                let room = drive.map_or(Room::ANY, Room::of);
                Generator::parse(source, room, 1).map(drop)
            }
            WorkloadSpec::Trace(spec) => {
                // One pass over the beginning is enough to know the format.
                let options = ReadOptions { device: DeviceChoice::Default, ..spec.options.clone() };
                TraceReader::open(&spec.path, &options)?;
                Ok(())
            }
            // What is wrong with it is seen when it comes.
            WorkloadSpec::Custom(_) => Ok(()),
        }
    }
}

/// Saved runs are known by what went into them, and custom requests only once they have gone by.
fn nameless(source: &dyn RequestSource) -> Diagnostics {
    let what = "custom requests cannot be distinguished from others in saved runs";
    Diagnostic::new(source.name(), what).hint("write them to a trace file".to_string()).into()
}

/// A trace, and how to read it.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    /// The file.
    pub path: PathBuf,
    /// Format, lenience, devices.
    pub options: ReadOptions,
    /// What happens to addresses that the drive does not have.
    pub remap: Remap,
}

/// What was replayed, for the report.
#[derive(Clone, Debug)]
pub struct WorkloadReport {
    /// The trace's file name, or the name of the generator or of the custom requests.
    pub name: String,
    /// The trace's SHA-256, the generator's text hash, or that of the custom requests.
    pub hash: String,
    /// Requests that entered the drive.
    pub requests: u64,
    /// What reading the trace came to; none for a generator.
    pub read: Option<ReadReport>,
    /// How addresses were fitted; none for a generator, which fits itself.
    pub remap: Option<Remap>,
    /// Pages that the trace touches, where fitting had to count them.
    pub touched_pages: Option<u64>,
    /// By what factor the times were divided.
    pub speed: f64,
    /// The complete description of the generator.
    pub generator: Option<String>,
}

/// A workload made ready for drives of one size.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    kind: Kind,
    name: String,
    hash: String,
}

#[derive(Clone, Debug)]
enum Kind {
    Trace { spec: TraceSpec, remapper: Remapper },
    Generated(Box<Generator>),
    Custom { source: Arc<dyn RequestSource>, remap: Remap, remapper: Remapper },
}

/// Who watches a run and may end it early.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Set from outside to end the run; what is in flight is completed.
    pub stop: &'a AtomicBool,
    /// Hears, every few thousand requests, how many more have entered the drive.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl Control<'_> {
    /// Whether the run is to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Requests between two looks at [`Control`].
const STRIDE: u64 = 4096;

impl Workload {
    /// Hashes the trace and, where addresses are compacted, reads it once for its footprint.
    pub fn prepare(
        spec: &WorkloadSpec,
        drive: &Resolved,
        limit: Option<u64>,
        control: Control<'_>,
    ) -> Result<Workload, Diagnostics> {
        Workload::prepare_hashed(spec, None, drive, limit, control)
    }

    /// The same where the trace's hash may be known: a file is read once for it, however many runs
    /// it has.
    pub fn prepare_hashed(
        spec: &WorkloadSpec,
        trace_hash: Option<&str>,
        drive: &Resolved,
        limit: Option<u64>,
        control: Control<'_>,
    ) -> Result<Workload, Diagnostics> {
        let (logical, page_size) = (drive.layout.logical.0, drive.config.geometry.page_size.0);
        match spec {
            WorkloadSpec::Generated(source) => {
                let generator = Generator::parse(source, Room::of(drive), drive.config.seed)?;
                if drive.config.throttle.name != ThrottleKind::Off {
                    let what = "the life that policy.throttle looks after goes by under power";
                    generator.refuse_power_off(&source.name, what)?;
                }
                let hash = text_hash(generator.text());
                let name = source.name.clone();
                Ok(Workload { kind: Kind::Generated(Box::new(generator)), name, hash })
            }
            WorkloadSpec::Trace(spec) => {
                let name = spec.path.display().to_string();
                let first_pass = (spec.remap == Remap::Compact)
                    .then(|| TraceReader::open(&spec.path, &spec.options))
                    .transpose()?;
                let first_pass = first_pass.into_iter().flatten().take(limit_of(limit));
                // Whoever stops it here gets no request replayed: what was not seen is not missed.
                let first_pass = first_pass.take_while(|_| !control.stopped());
                let remapper = Remapper::new(spec.remap, logical, page_size, first_pass)
                    .map_err(|error| named(error, &name))?;
                let hash = trace_hash.map_or_else(|| file_hash(&spec.path), |it| Ok(it.into()))?;
                Ok(Workload { kind: Kind::Trace { spec: spec.clone(), remapper }, name, hash })
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

    /// The depth of a generator that says its own.
    pub fn depth(&self) -> Option<u32> {
        match &self.kind {
            Kind::Generated(generator) => generator.depth(),
            Kind::Trace { .. } | Kind::Custom { .. } => None,
        }
    }

    /// Refuses spans without power, of which `what` knows nothing.
    pub fn refuse_power_off(&self, what: &str) -> Result<(), Diagnostics> {
        match &self.kind {
            Kind::Generated(generator) => generator.refuse_power_off(&self.name, what),
            Kind::Trace { .. } | Kind::Custom { .. } => Ok(()),
        }
    }

    /// When the power is off meanwhile, at times divided by `speed`.
    pub fn power_off(&self, speed: f64) -> Vec<PowerOff> {
        match (&self.kind, TimeScale::new(speed)) {
            (Kind::Generated(generator), Ok(scale)) => power::scaled(generator.power_off(), &scale),
            // A speed that cannot be is refused where it is applied.
            _ => Vec::new(),
        }
    }

    /// How long a generator that says so runs.
    pub fn duration(&self) -> Option<Span> {
        match &self.kind {
            Kind::Generated(generator) => generator.duration(),
            Kind::Trace { .. } | Kind::Custom { .. } => None,
        }
    }

    /// Hands `replay` the requests, and reports what became of the source.
    pub fn replay(
        &self,
        speed: f64,
        limit: Option<u64>,
        control: Control<'_>,
        replay: impl FnOnce(&mut dyn Iterator<Item = HostIo>),
    ) -> Result<(WorkloadReport, Option<Diagnostics>), Diagnostics> {
        self.replay_round(0, speed, limit, control, replay)
    }

    /// The same, for a workload that is repeated: a trace repeats itself, a generator its times and
    /// sizes, and draws other addresses from the same distribution ([`Generator::round`]).
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
                let mut feed = Feed::new(scale.over(generator.round(round)?), limit, control);
                replay(&mut feed);
                report.requests = feed.given;
                feed.finish()
            }
            Kind::Trace { spec, remapper } => {
                report.remap = Some(spec.remap);
                report.touched_pages = remapper.touched_pages();
                let reader = TraceReader::open(&spec.path, &spec.options)?;
                let requests = remapper.clone().over(scale.over(reader));
                let mut feed = Feed::new(requests, limit, control);
                replay(&mut feed);
                report.requests = feed.given;
                report.read = Some(feed.source.source().source().report().clone());
                feed.finish()
            }
            Kind::Custom { source, remap, remapper } => {
                report.remap = Some(*remap);
                report.touched_pages = remapper.touched_pages();
                let requests = Digested::new(source.requests()?);
                let requests = remapper.clone().over(scale.over(requests));
                let mut feed = Feed::new(requests, limit, control);
                replay(&mut feed);
                report.requests = feed.given;
                report.hash = feed.source.source().source().hash();
                feed.finish()
            }
        };
        Ok((report, failed.map(|error| named(error, &self.name))))
    }
}

/// Errors of the way of a request name the trace, not the step.
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

/// Turns what may fail into what the device takes: on an error, a stop or the limit it ends, the
/// device completes what is in flight, and the reason is asked for afterwards.
struct Feed<'a, I> {
    source: I,
    left: u64,
    given: u64,
    reported: u64,
    control: Control<'a>,
    error: Option<TraceError>,
}

impl<'a, I> Feed<'a, I> {
    fn new(source: I, limit: Option<u64>, control: Control<'a>) -> Self {
        Feed {
            source,
            left: limit.unwrap_or(u64::MAX),
            given: 0,
            reported: 0,
            control,
            error: None,
        }
    }

    fn finish(mut self) -> Option<TraceError> {
        self.tell();
        self.error
    }

    fn tell(&mut self) {
        (self.control.progress)(self.given - self.reported);
        self.reported = self.given;
    }
}

impl<I: Iterator<Item = Result<HostIo, TraceError>>> Iterator for Feed<'_, I> {
    type Item = HostIo;

    #[inline]
    fn next(&mut self) -> Option<HostIo> {
        if self.left == 0 {
            return None;
        }
        if self.given.is_multiple_of(STRIDE) {
            self.tell();
            if self.control.stopped() {
                self.left = 0;
                return None;
            }
        }
        match self.source.next() {
            Some(Ok(request)) => {
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

/// Whether a trace can be opened and read more than once; what is in it is looked at later.
pub fn replayable(path: &Path) -> Result<(), Diagnostics> {
    let name = path.display().to_string();
    if is_special(path) {
        let what = "this is a pipe or a device, and a trace is read several times: for its hash, for its \
                    addresses, for every scheme";
        return Err(Diagnostic::new(name, what)
            .hint("write it to a file first".to_string())
            .into());
    }
    readable(path)
}

/// Whether a file can be opened at all.
pub fn readable(path: &Path) -> Result<(), Diagnostics> {
    let name = path.display().to_string();
    File::open(path)
        .map(drop)
        .map_err(|error| Diagnostic::new(name, format!("cannot be read: {error}")).into())
}

/// A format of that name, or what there is.
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

/// A way to fit addresses of that name, or what there is.
pub fn remap_by_name(name: &str) -> Result<Remap, Diagnostics> {
    Remap::by_name(name).ok_or_else(|| {
        let names = Remap::ALL.map(Remap::name);
        let what = format!("unknown way `{}`", crate::diagnostic::printable(name));
        let near = crate::field::nearest(name, names);
        Diagnostic::new("--remap", what)
            .expected(format!("one of {}", names.join(", ")))
            .hint(near.map(|near| format!("did you mean \"{near}\"?")))
            .into()
    })
}

/// A device of a trace by its number, or all of them: `side-by-side`.
pub fn trace_device(text: &str) -> Option<DeviceChoice> {
    match text {
        "side-by-side" => Some(DeviceChoice::SideBySide),
        number => number.parse().map(DeviceChoice::Only).ok(),
    }
}

/// A share of a length of time; none of no time.
pub(crate) fn share(part: Span, whole: Span) -> Option<f64> {
    (whole.0 > 0).then(|| part.0 as f64 / whole.0 as f64)
}
