//! Sweeps: many runs that differ in a few keys, chosen by a design and each saved as soon as it is
//! finished.
//!
//! A [`Plan`] is a specification that has been read: it knows its points, what tells each from
//! every other ([`Point::hash`]), and how to run one. It keeps nothing: where results go is decided
//! by who runs it, so that points may be run here, on all cores ([`run`]), or elsewhere, each from
//! the specification's text and its number.

mod axis;
mod design;
mod point;
mod spec;

use crate::atomic_file::Named;
use crate::device::{self, DeviceSpec, Resolved, Source};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::image_cache::ImageCache;
use crate::presets::{self, Folder};
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
pub use point::{Finished, Names, Point};
pub use spec::POINTS_MAX;

/// Preconditioned drives that are cached for points that begin alike.
const IMAGES_MAX: usize = 16;

/// A specification that has been read.
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
}

/// What is the same for every point, unless an axis says otherwise.
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

/// Where requests come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// A generator's name.
    Workload(String),
    /// A trace's path.
    Trace(String),
}

impl Origin {
    fn name(&self) -> &str {
        match self {
            Origin::Workload(name) | Origin::Trace(name) => name,
        }
    }
}

/// Requests that have been looked at once for all points.
#[derive(Debug)]
struct Requests {
    spec: WorkloadSpec,
    hash: String,
    identity: String,
}

impl Plan {
    /// Reads a specification; `name` stands for it in messages. Files that it names are found from
    /// the current folder. Each trace is read once, for its hash.
    ///
    /// # Errors
    /// Everything that is wrong with it, at once: keys and values, axes, designs, names of presets,
    /// files that cannot be read. A combination of values that makes no drive is no error of the
    /// plan: that point fails.
    pub fn read(text: &str, name: &str) -> Result<Plan, Diagnostics> {
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
        };
        plan.look(&read)?;
        plan.rows = design::rows(&read, &mut keys)?;
        plan.points =
            (0..plan.rows.len()).into_par_iter().map(|number| plan.point(number)).collect();
        Ok(plan)
    }

    /// What stands for the specification in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The specification as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it is about; may be empty.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The names of the axes, in the order of [`Point::levels`].
    pub fn axes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.axes.iter().map(|(name, _)| name.as_str())
    }

    /// Every point of the design, in order.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The points to run: of those that are one run, the first.
    pub fn runs(&self) -> Vec<usize> {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for point in &self.points {
            first.entry(&point.hash).or_insert(point.number);
        }
        let mut runs: Vec<usize> = first.into_values().collect();
        runs.sort_unstable();
        runs
    }

    /// Whether a file of every request is wanted for every point.
    pub fn keeps_requests(&self) -> bool {
        self.requests
    }

    /// The files that points are read from, each with what names it.
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

    /// Opens everything that the specification names.
    fn look(&mut self, read: &Read) -> Result<(), Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let (options, remap) = read.options();
        for (key, name, at) in self.named(read) {
            let here = |found: Diagnostics| placed(found, &at);
            match key {
                "device" => {
                    let source = presets::open(Folder::Devices, &name).map_err(here);
                    self.devices.extend(diagnostics.take(source).map(|source| (name, source)));
                }
                "scheme" => {
                    let scheme = Scheme::load(&name).map_err(here);
                    self.schemes.extend(diagnostics.take(scheme).map(|scheme| (name, scheme)));
                }
                "workload" => {
                    let spec = presets::open(Folder::Workloads, &name).map(WorkloadSpec::Generated);
                    let found = spec.and_then(Requests::look).map_err(here);
                    let found = diagnostics.take(found).map(|it| (Origin::Workload(name), it));
                    self.workloads.extend(found);
                }
                _ => {
                    let (path, options) = (PathBuf::from(&name), options.clone());
                    let spec = replayable(&path)
                        .map(|()| WorkloadSpec::Trace(TraceSpec { path, options, remap }));
                    let found = spec.and_then(Requests::look).map_err(here);
                    self.workloads
                        .extend(diagnostics.take(found).map(|it| (Origin::Trace(name), it)));
                }
            }
        }
        diagnostics.unique().or(())
    }

    /// Every name of a preset or a file that any point has, by key, with where it was said.
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
            // What an axis replaces for every point is not looked for.
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

    /// The drive of a point, or why there is none.
    fn drive(&self, names: &Names, spec: &DeviceSpec) -> Result<Resolved, Diagnostics> {
        let none = Scheme::none();
        let scheme = self.schemes.get(&names.scheme).unwrap_or(&none);
        device::resolve(&self.devices[&names.device], scheme, spec)
    }
}

impl Requests {
    fn look(spec: WorkloadSpec) -> Result<Requests, Diagnostics> {
        spec.check(None)?;
        let hash = spec.hash()?;
        let identity = spec.identity_of(&hash);
        Ok(Requests { spec, hash, identity })
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

/// What is wrong with a name is said where the name stands; what is wrong inside its file, there.
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

/// Who watches the points of a sweep.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set from outside to end it: points that are not finished then are not saved. Is notified of
    /// requests.
    pub control: Control<'a>,
    /// Where the requests of a point go, if they go anywhere.
    pub requests: &'a (dyn Fn(&Point) -> Option<RequestsFile> + Sync),
    /// Keeps a point that is finished.
    pub keep: &'a (dyn Fn(Finished) -> Result<(), Diagnostics> + Sync),
}

/// Runs the points `todo` of a plan on so many threads (none: as many as there are cores), in any
/// order; each is saved as soon as it is finished. What comes out does not depend on the number of
/// threads.
///
/// # Errors
/// The first that saving a point fails with. A point that fails is saved with its error and ends
/// nothing.
pub fn run(
    plan: &Plan,
    todo: &[usize],
    threads: Option<usize>,
    watch: Watch<'_>,
) -> Result<(), Diagnostics> {
    let one = |&index: &usize| {
        if watch.control.stopped() {
            return Ok(());
        }
        let file = (watch.requests)(&plan.points[index]);
        match plan.run_point(index, file.as_ref(), watch.control)? {
            Some(finished) => (watch.keep)(finished),
            None => Ok(()),
        }
    };
    // Points take their time: each is a piece of work of its own.
    let all = || todo.par_iter().with_max_len(1).try_for_each(one);
    match threads {
        None => all(),
        Some(threads) => pooled(threads, all)?,
    }
}

/// Does work on one thread of its own. A worker that is one of many needs no more, and one that was
/// forked from a program with threads has lost them: it would wait for them for ever.
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
