//! Sweeps: many runs that differ in a few keys, chosen by a design. Each is saved as soon as it is
//! finished.
//!
//! A [`Plan`] is a specification that has been read: it lists its points, identifies them
//! ([`Point::hash`]), and runs them one by one. It stores no results; the caller decides where they
//! go. So points can run here, on all cores ([`run`]), or elsewhere, each from the text of the
//! specification and its number. [`store`] has what all folders of points have in common.
//!
//! A study of a paper declares its points in code instead: each is a [`StudyPoint`].

mod axis;
mod caller_values;
mod design;
mod point;
mod schema;
mod spec;
pub mod store;
mod study_point;

use crate::atomic_file::Named;
use crate::device_spec::{self, DeviceSpec, Resolved, Source};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::image_cache::ImageCache;
use crate::memory::{self, Need};
use crate::presets::{self, Folder};
use crate::progress::{Part, Progress};
use crate::requests::RequestsFile;
use crate::scheme::Scheme;
use crate::workload::{Control, TraceSpec, WorkloadSpec, replayable};
use axis::{Chosen, Keys, Knob, Levels};
use design::Row;
use rayon::prelude::*;
use spec::{Read, SOURCES};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub use axis::Level;
pub use caller_values::CallerValues;
pub use point::{Finished, HASH_DIGITS, Names, Point};
pub use schema::schema;
pub use spec::POINTS_MAX;
pub use study_point::StudyPoint;

/// Largest number of preconditioned drives that a sweep caches, for points with equal initial
/// states.
const IMAGES_MAX: usize = 16;
/// Hint on running fewer points of a sweep in parallel.
const FEWER: &str = "use --threads";

/// The plan of a sweep: its specification and its points.
#[derive(Debug)]
pub struct Plan {
    name: String,
    text: String,
    title: String,
    requests: bool,
    base: Base,
    axes: Vec<(String, Knob)>,
    rows: Vec<Row>,
    points: Vec<Point>,
    devices: BTreeMap<String, Source>,
    schemes: BTreeMap<String, Scheme>,
    workloads: BTreeMap<Origin, Requests>,
    images: ImageCache,
    need: Need,
    given: CallerValues,
}

/// The settings of every point of a sweep, unless an axis overrides them.
#[derive(Debug)]
struct Base {
    device: String,
    scheme: Option<String>,
    source: Option<Origin>,
    set: Vec<String>,
    seed: Option<u64>,
    limit: Option<u64>,
    replay_speed: crate::run::ReplaySpeed,
}

/// The source of the requests of one run of a sweep: a generator or a trace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// Name of the generated workload that a run of the sweep replays.
    Workload(String),
    /// Path of the trace that a run of the sweep replays.
    Trace(String),
}

impl Origin {
    fn name(&self) -> &str {
        match self {
            Origin::Workload(name) | Origin::Trace(name) => name,
        }
    }
}

/// Returns the number of points of a sweep's specification, without planning them. For tests that
/// plan only few.
///
/// # Errors
/// Everything that is wrong with the specification's keys, values, axes and design.
#[doc(hidden)]
pub fn points(text: &str, name: &str) -> Result<u128, Diagnostics> {
    Ok(design::points(&spec::read(text, name, &mut Keys::new())?))
}

/// Workloads that a sweep prepares once for all points.
#[derive(Debug)]
struct Requests {
    spec: WorkloadSpec,
    hash: String,
    identity: String,
    /// True if the workload lists faults, so that its drives record the effects of faults.
    lists_faults: bool,
}

impl Plan {
    /// Reads the specification of a sweep; `name` identifies it in messages. Relative paths in it
    /// start at the current folder. Each trace is read once, for its hash.
    ///
    /// # Errors
    /// Everything that is wrong with it, at once: keys and values, axes, designs, names of
    /// presets, and files that cannot be read. A combination of values that makes no valid drive is
    /// not an error of the plan: only that point fails.
    pub fn read(text: &str, name: &str) -> Result<Plan, Diagnostics> {
        Plan::read_watched(text, name, Control::UNWATCHED)
    }

    /// Reads the specification of a sweep, which may also name drives, policies and request sources
    /// that the calling program supplies in `given`.
    ///
    /// # Errors
    /// As [`Plan::read`], or if the caller's requests cannot be read.
    pub fn read_given(text: &str, name: &str, given: CallerValues) -> Result<Plan, Diagnostics> {
        Plan::read_all(text, name, given, Control::UNWATCHED)
    }

    /// Reads the specification of a sweep like [`Plan::read`]; reports to `control` how much of
    /// each trace has been read.
    ///
    /// # Errors
    /// As [`Plan::read`], or if `control` stopped it.
    pub fn read_watched(text: &str, name: &str, control: Control<'_>) -> Result<Plan, Diagnostics> {
        Plan::read_all(text, name, CallerValues::default(), control)
    }

    fn read_all(
        text: &str,
        name: &str,
        given: CallerValues,
        control: Control<'_>,
    ) -> Result<Plan, Diagnostics> {
        let mut keys = Keys::new();
        let read = spec::read(text, name, &mut keys)?;
        let mut plan = Plan {
            name: name.into(),
            text: text.into(),
            title: read.spec.title.clone(),
            requests: read.spec.requests,
            base: Base::of(&read),
            axes: read.axes.iter().map(|axis| (axis.name.clone(), axis.knob)).collect(),
            rows: Vec::new(),
            points: Vec::new(),
            devices: BTreeMap::new(),
            schemes: BTreeMap::new(),
            workloads: BTreeMap::new(),
            images: ImageCache::of(IMAGES_MAX),
            need: Need::default(),
            given,
        };
        plan.look(&read, control)?;
        plan.rows = design::rows(&read, &mut keys)?;
        let none = || (Vec::new(), Need::caching(IMAGES_MAX));
        (plan.points, plan.need) = (0..plan.rows.len())
            .into_par_iter()
            .fold(none, |(mut points, mut need), number| {
                points.push(plan.point(number, &mut need));
                (points, need)
            })
            .reduce(none, |(mut points, need), (more, needed)| {
                points.extend(more);
                (points, need.merge(needed))
            });
        Ok(plan)
    }

    /// Returns a sentence on the memory that the sweep needs with `threads` runs in parallel
    /// (`None`: one per core).
    pub fn memory(&self, threads: Option<usize>) -> String {
        self.need.report(self.at_once(threads))
    }

    fn at_once(&self, threads: Option<usize>) -> usize {
        threads.map_or_else(|| memory::at_once(self.points.len()), |it| it.min(self.points.len()))
    }

    /// Refuses to run the points `todo` of the sweep if the machine has too little memory to
    /// simulate them on `threads` threads (`None`: one per core).
    ///
    /// # Errors
    /// With what they take, and what would fit.
    pub fn refuse(&self, todo: &[usize], threads: Option<usize>) -> Result<(), Diagnostics> {
        let at_once = self.at_once(threads).min(todo.len());
        // If all points fit, so do any of them.
        self.need.refuse(at_once, FEWER).or_else(|_| {
            let mut need = Need::caching(IMAGES_MAX);
            for &index in todo {
                self.point(index, &mut need);
            }
            need.refuse(at_once, FEWER)
        })
    }

    /// Returns the name of the sweep's specification in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text of the sweep's specification as given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the title of the sweep; may be empty.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the names of the sweep's axes, in the order of [`Point::levels`].
    pub fn axes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.axes.iter().map(|(name, _)| name.as_str())
    }

    /// Returns every point of the sweep's design, in order.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the indices of the points of the sweep that must be run: of several points with
    /// equal inputs (one hash), only the first.
    pub fn runs(&self) -> Vec<usize> {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for point in &self.points {
            first.entry(&point.hash).or_insert(point.number);
        }
        let mut runs: Vec<usize> = first.into_values().collect();
        runs.sort_unstable();
        runs
    }

    /// Returns true if the sweep saves a file of every request for each point.
    pub fn keeps_requests(&self) -> bool {
        self.requests
    }

    /// Returns the files that the points of the sweep read, each with the key that names it.
    pub fn inputs(&self) -> Vec<Named> {
        let file = |folder, name: &str| presets::file(folder, name).map(|it| it.to_path_buf());
        let parts = self.schemes.keys().flat_map(|scheme| scheme.split('+')).map(str::trim);
        let schemes = parts.filter_map(|name| Some(("scheme", file(Folder::Schemes, name)?)));
        let devices = self.devices.keys();
        let devices = devices.filter_map(|name| Some(("device", file(Folder::Devices, name)?)));
        let requests = self.workloads.keys().filter_map(|origin| match origin {
            Origin::Trace(path) => Some(("trace", PathBuf::from(path))),
            Origin::Workload(name) => Some(("workload", file(Folder::Workloads, name)?)),
        });
        let all = devices.chain(schemes).chain(requests);
        all.map(|(key, path)| (format!("`{key}` of {}", self.name), path)).collect()
    }

    /// Opens every preset and file that the sweep's specification names.
    fn look(&mut self, read: &Read, control: Control<'_>) -> Result<(), Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let (options, remap) = read.options();
        for (key, name, at) in self.named(read) {
            let here = |found: Diagnostics| placed(found, &at);
            match key {
                "device" => {
                    let given = self.given.devices.get(&name).cloned();
                    let open = || presets::open(Folder::Devices, &name).map_err(here);
                    let source = given.map_or_else(open, Ok);
                    self.devices.extend(diagnostics.take(source).map(|source| (name, source)));
                }
                "scheme" => {
                    let scheme = Scheme::load_with(&name, &self.given.policies).map_err(here);
                    self.schemes.extend(diagnostics.take(scheme).map(|scheme| (name, scheme)));
                }
                "workload" => {
                    let open = || {
                        let spec = presets::open(Folder::Workloads, &name)?;
                        Requests::look(WorkloadSpec::Generated(spec), control)
                    };
                    let given = self.given.requests.get(&name);
                    let found = given
                        .map_or_else(open, |requests| Requests::given(requests, remap, control));
                    let found = found.map_err(here);
                    let found = diagnostics.take(found).map(|it| (Origin::Workload(name), it));
                    self.workloads.extend(found);
                }
                _ => {
                    let (path, options) = (PathBuf::from(&name), options.clone());
                    let spec = replayable(&path)
                        .map(|()| WorkloadSpec::Trace(TraceSpec::new(path, options, remap)));
                    let found = spec.and_then(|it| Requests::look(it, control)).map_err(here);
                    self.workloads
                        .extend(diagnostics.take(found).map(|it| (Origin::Trace(name), it)));
                }
            }
        }
        diagnostics.unique().or(())
    }

    /// Returns every preset or file that a point of the sweep names, with its key and origin.
    fn named(&self, read: &Read) -> Vec<(&'static str, String, Option<crate::document::Origin>)> {
        let mut all = Vec::new();
        for key in ["device", "scheme", "workload", "trace"] {
            let spec = &read.spec;
            let base = match key {
                "device" => Some(spec.device.clone()),
                "scheme" => self.base.scheme.clone(),
                "workload" => read.says(key).then(|| spec.workload.clone()),
                _ => read.says(key).then(|| spec.trace.clone()),
            };
            // Skip a name that an axis replaces for every point.
            let axis = read.axes.iter().find(|axis| axis.name == key);
            let everywhere = axis.is_some() && read.spec.design != design::Design::List;
            let base = base.filter(|_| !everywhere);
            all.extend(base.map(|name| (key, name, read.origins.get(key).cloned())));
            if let Some(axis::Axis { levels: Levels::List(levels), origin, .. }) = axis {
                let name = |it: &Chosen| (key, it.level.to_string(), Some(origin.clone()));
                all.extend(levels.iter().map(name));
            }
        }
        all
    }

    /// Returns the drive that a point of the sweep simulates, or the reason why the point's values
    /// make no valid drive.
    fn drive(&self, names: &Names, spec: &DeviceSpec) -> Result<Resolved, Diagnostics> {
        let none = Scheme::none();
        let scheme = self.schemes.get(&names.scheme).unwrap_or(&none);
        device_spec::resolve(&self.devices[&names.device], scheme, spec)
    }
}

impl Requests {
    fn look(spec: WorkloadSpec, control: Control<'_>) -> Result<Requests, Diagnostics> {
        spec.check(None)?;
        let lists_faults = spec.lists_faults(None)?;
        let hash = spec.hash(control)?;
        let identity = spec.identity_of(&hash);
        Ok(Requests { spec, hash, identity, lists_faults })
    }
}

impl Base {
    fn of(read: &Read) -> Base {
        use crate::run::ReplaySpeed;
        let (spec, says) = (&read.spec, |key| read.says(key));
        let replay_speed = match () {
            () if says("queue_depth") => ReplaySpeed::Closed(spec.queue_depth as u32),
            () if says("speed") => ReplaySpeed::Speed(spec.speed),
            () if says("idle") => ReplaySpeed::Idle(spec.idle),
            () => ReplaySpeed::AsRecorded,
        };
        let [workload, trace] = SOURCES;
        let source = says(workload)
            .then(|| Origin::Workload(spec.workload.clone()))
            .or_else(|| says(trace).then(|| Origin::Trace(spec.trace.clone())));
        Base {
            device: spec.device.clone(),
            scheme: says("scheme").then(|| spec.scheme.clone()),
            source,
            set: read.set.clone(),
            seed: says("seed").then_some(spec.seed),
            limit: says("limit").then_some(spec.limit),
            replay_speed,
        }
    }
}

/// Reports an unknown name of a preset or file at the place that gives the name, and an error
/// inside a file in that file.
fn placed(diagnostics: Diagnostics, at: &Option<crate::document::Origin>) -> Diagnostics {
    let Some(at) = at else { return diagnostics };
    let here = |diagnostic: Diagnostic| {
        if diagnostic.line.is_some() || !diagnostic.text.is_empty() {
            return diagnostic;
        }
        let what = match &*diagnostic.file {
            "" => diagnostic.what,
            file => format!("{file}: {}", diagnostic.what),
        };
        at.diagnostic(what).expected(diagnostic.expected).hint(diagnostic.hint)
    };
    Diagnostics(diagnostics.0.into_iter().map(here).collect())
}

pub use crate::document::MAX_BYTES;

/// Lets the caller watch the points of a sweep.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Flag by which the caller stops the sweep, and callback that reports requests served and
    /// points finished. The results of unfinished points are not saved.
    pub control: Control<'a>,
    /// Returns the file into which the requests of one run of the sweep are logged; `None` for no
    /// log.
    pub requests: &'a (dyn Fn(&Point) -> Option<RequestsFile> + Sync),
    /// Saves the result of one finished run of the sweep.
    pub keep: &'a (dyn Fn(Finished) -> Result<(), Diagnostics> + Sync),
}

/// Runs the points `todo` of a plan on `threads` threads (`None`: one per core), in any order. Each
/// is saved as soon as it is finished. The results do not depend on the number of threads.
///
/// # Errors
/// If the machine has too little memory for so many drives, or the first error of saving a point. A
/// point that fails is saved with its error and does not end the sweep.
pub fn run(
    plan: &Plan,
    todo: &[usize],
    threads: Option<usize>,
    watch: Watch<'_>,
) -> Result<(), Diagnostics> {
    if todo.is_empty() {
        return Ok(());
    }
    plan.refuse(todo, threads)?;
    let one = |&index: &usize| {
        if watch.control.stopped() {
            return Ok(());
        }
        let file = (watch.requests)(&plan.points[index]);
        let part = Part::default();
        let served = |requests, of_a_part| {
            (watch.control.progress)(Progress::Served { requests, of_a_part });
        };
        let follow = |step| {
            let requests = if let Progress::Served { requests, .. } = step { requests } else { 0 };
            served(requests, part.advanced(step));
        };
        let control = Control { progress: &follow, ..watch.control };
        match plan.run_point(index, file.as_ref(), control)? {
            // A custom policy that fails ends the sweep. From then on it makes default decisions.
            Some(_) if watch.control.stopped() && plan.asks_given_policies(index) => Ok(()),
            Some(finished) => {
                served(0, part.rest());
                (watch.keep)(finished)
            }
            None => Ok(()),
        }
    };
    // Points take long: make each a separate piece of work.
    // Custom policies may block each other, as those written in Python do on the interpreter: run
    // them one after another, beside all others.
    let (alone, beside): (Vec<usize>, Vec<usize>) =
        todo.iter().partition(|&&index| plan.asks_given_policies(index));
    let all = || {
        let (alone, beside) = rayon::join(
            || alone.iter().try_for_each(one),
            || beside.par_iter().with_max_len(1).try_for_each(one),
        );
        alone.and(beside)
    };
    match threads {
        None => all(),
        Some(threads) => pooled(threads, all)?,
    }
}

/// Runs `work` on one new thread. A worker process needs no more threads, and one forked from a
/// program with a thread pool has lost its threads and would wait for them forever.
///
/// # Errors
/// If no thread can be started.
pub fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Diagnostics> {
    pooled(1, work)
}

fn pooled<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, Diagnostics> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let failed = |error| Diagnostic::new("", format!("threads cannot be started: {error}"));
    Ok(pool.map_err(failed)?.install(work))
}
