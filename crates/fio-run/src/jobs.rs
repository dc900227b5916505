//! A job file on a drive: read, laid out, and ready to run.

use super::bind::{self, Bound, Place};
use super::plan::{HostCosts, Requests};
use super::recording;
use super::results::{Fio, Region};
use super::simulate::{Leaves, Setup, Task};
use fowler_experiment::device_spec::{self, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, escaped};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::progress::{Control, Progress};
use fowler_experiment::provenance::text_hash;
use fowler_experiment::requests::RequestsFile;
use fowler_experiment::run::Watcher;
use fowler_experiment::text_file;
use fowler_experiment::timeline::{Choice, Repeatable, Timeline, record_of};
use fowler_fio as fio;
pub use fowler_fio::Seeding;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest size of a job file, in bytes: public ones have a few KiB.
const LONGEST: u64 = 4 << 20;
/// `$pagesize`, `$ncpus` and `$mb_memory` of the host that is simulated: assumed, so that results
/// do not depend on the machine that simulates.
const PAGE_SIZE: u64 = 4096;
const CPUS: u64 = 8;
const MEMORY_MIB: u64 = 16 << 10;

/// Beginning of the note that lists options without an effect.
const NO_EFFECT: &str = "no effect here: ";

/// Specification of a run of fio jobs: a job file, and the drive that it runs on.
#[derive(Clone, Debug)]
pub struct FioSpec {
    /// Path of the job file; `/dev/stdin` is standard input.
    pub path: PathBuf,
    /// Values of `${NAME}` in the job file.
    pub environment: BTreeMap<String, String>,
    /// Version of fio whose seeds and options are used.
    pub seeding: Seeding,
    /// Drive that the jobs run on.
    pub device: DeviceSpec,
    /// Scheme that is applied to the drive; `None` leaves the drive as described.
    pub scheme: Option<String>,
    /// Host CPU time of each request.
    pub costs: HostCosts,
}

/// Jobs of a fio job file that are ready to run on a drive.
pub struct Jobs(Setup);

/// Files and data that a simulated fio run (`fowler fio`) produces besides its result.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Folder in which log files are written.
    pub logs: PathBuf,
    /// True if a run also records time series and the other data that the charts of its HTML page
    /// show.
    pub detail: bool,
    /// File for a log of all requests of the simulated fio run; `None` for no such log.
    pub requests: Option<RequestsFile>,
}

/// A job file that was read, with its jobs.
struct Read {
    file: fio::JobFile,
    name: String,
    text: String,
}

impl FioSpec {
    fn read(&self, seed: u64) -> Result<Read, Diagnostics> {
        let (name, text) = (self.path.display().to_string(), text_file::read(&self.path, LONGEST)?);
        let include = |wanted: &str, from: &str| {
            let path = Path::new(from).parent().unwrap_or(Path::new("")).join(wanted);
            text_file::read(&path, LONGEST).map(|text| (path.display().to_string(), text))
        };
        let environment = fio::Environment {
            variables: self.environment.clone(),
            page_size: PAGE_SIZE,
            memory_mib: MEMORY_MIB,
            cpus: CPUS,
            seed,
            seeding: self.seeding,
            include: &include,
            recording: &recording::read,
        };
        let file = fio::JobFile::parse(&text, &name, &environment)?;
        if file.jobs.is_empty() {
            return Err(Diagnostic::new(name, "the file has no job").expected("a [job]").into());
        }
        Ok(Read { file, name, text })
    }

    /// Resolves the drive's specification, and reads the job file with the seed of the drive's
    /// configuration.
    fn drive_and_jobs(&self) -> Result<(Resolved, Read), Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let drive = self.device.source().and_then(|source| {
            let scheme = self.device.scheme(self.scheme.as_deref())?;
            device_spec::resolve(&source, &scheme, &self.device)
        });
        let drive = diagnostics.take(drive);
        let seed = drive.as_ref().map_or(0, |drive| drive.config.seed);
        let read = diagnostics.take(self.read(seed));
        let (Some(drive), Some(read)) = (drive, read) else {
            return Err(diagnostics);
        };
        Ok((drive, read))
    }

    /// Reads the job file and finds a place on the drive for each of its files.
    ///
    /// # Errors
    /// Everything that is wrong with the drive and with the jobs, and options that would change the
    /// requests and are not simulated.
    pub fn prepare(&self) -> Result<Jobs, Diagnostics> {
        let (drive, read) = self.drive_and_jobs()?;
        let layout = fio::Layout::new(&read.file.jobs, Some(drive.layout.logical.0));
        let layout = Arc::new(layout.map_err(|problems| named(problems, &read.name))?);
        let maps = layout.check_maps(&read.file.jobs);
        maps.map_err(|problems| named(problems, &read.name))?;
        let tasks = self.tasks(&read.file.jobs, &layout)?;
        let region =
            |it: &fio::Region| Region { name: it.name.clone(), start: it.base, length: it.length };
        let regions = layout.regions.iter().map(region).collect();
        let durable = read.file.jobs.iter().any(|job| job.durable_writes && job.kind.writes);
        let mut notes = read.file.notes.clone();
        if durable {
            notes.push("sync=1: drives have no FUA here, so a flush follows each write".into());
        }
        if read.file.jobs.iter().any(|job| job.verify.on) && !drive.config.redundancy.integrity {
            notes.push(
                "verify: blocks are read back, but this drive keeps no versions that could tell \
                 wrong data (policy.redundancy.integrity=true)"
                    .into(),
            );
        }
        let no_effect = notes.iter().find_map(|note| note.strip_prefix(NO_EFFECT));
        let no_effect = no_effect.map_or_else(Vec::new, |names| {
            names.split(", ").map(str::to_string).collect::<Vec<_>>()
        });
        notes.retain(|note| !note.starts_with(NO_EFFECT));
        Ok(Jobs(Setup {
            drive,
            name: read.name,
            hash: text_hash(&read.text),
            tasks,
            global: read.file.global,
            regions,
            notes,
            no_effect,
            costs: self.costs,
        }))
    }

    fn tasks(
        &self,
        jobs: &[fio::Job],
        layout: &Arc<fio::Layout>,
    ) -> Result<Vec<Task>, Diagnostics> {
        let (mut tasks, mut problems) = (Vec::new(), Diagnostics::default());
        let mut place = Place { job: 0, wave: 0, shares_iolog: false };
        for (number, job) in jobs.iter().enumerate() {
            if number > 0 && job.clone == 0 {
                place.job += 1;
                place.wave += usize::from(job.start_after == fio::StartAfter::AllAbove);
            }
            let same = |other: &&fio::Job| other.logs.iolog == job.logs.iolog;
            place.shares_iolog = jobs.iter().filter(same).count() > 1;
            let files = &layout.jobs[number];
            let mut draws = fio::TimingDraws::new(job, self.seeding);
            let plan = bind::plan(job, files, &place, &mut draws);
            let Some(plan) = problems.take(plan) else { continue };
            let (owned_job, seeding, layout) = (job.clone(), self.seeding, layout.clone());
            // The map of a large file is large: it is made for each run, one at a time.
            let requests = move || {
                let sequence = fio::Sequence::new(&owned_job, &layout.jobs[number], seeding);
                let (layout, draws) = (layout.clone(), draws.clone());
                Box::new(Bound { sequence, layout, job: number, draws }) as Box<dyn Requests>
            };
            let options = job.given.clone();
            tasks.push(Task { plan, options, requests: Box::new(requests) });
        }
        problems.unique().or(tasks)
    }

    /// Generates the requests of all fio jobs as CSV text, `job,op,offset,length`, without
    /// simulating time: job by job, each job's requests in the order in which it issues them at
    /// queue depth 1. Calls `see` with the text, piece by piece.
    ///
    /// # Errors
    /// Everything that is wrong with the jobs, and jobs that only time would end.
    pub fn sequence(&self, see: &mut dyn FnMut(&str)) -> Result<(), Diagnostics> {
        let (drive, read) = self.drive_and_jobs()?;
        let jobs = &read.file.jobs;
        // Files that do not fit this drive have a sequence, too.
        let layout = fio::Layout::new(jobs, Some(drive.layout.logical.0))
            .or_else(|problems| fio::Layout::new(jobs, None).map_err(|_| problems));
        let layout = layout.map_err(|problems| named(problems, &read.name))?;
        layout.check_maps(jobs).map_err(|problems| named(problems, &read.name))?;
        let endless = jobs
            .iter()
            .filter(|job| job.time_based && job.number_ios == 0 && job.recording.is_none());
        let endless = endless.map(|job| {
            let what = "time_based leaves this job's list of requests without an end: it ends the \
                        job after its runtime, but a list of requests has no simulated time";
            Diagnostic::new(&job.file, what)
                .line(job.line)
                .text(format!("[{}]", job.name))
                .hint("leave out time_based, or set number_ios to limit the requests".to_string())
        });
        Diagnostics(endless.collect()).unique().or(())?;
        see("job,op,offset,length\n");
        let mut text = String::new();
        for (job, files) in jobs.iter().zip(&layout.jobs) {
            let name = escaped(&job.name);
            for request in fio::Sequence::new(job, files, self.seeding) {
                let fio::Request { op, offset, length, .. } = request;
                writeln!(text, "{name},{},{offset},{length}", op.word()).expect("text grows");
                if text.len() > 1 << 16 {
                    see(&text);
                    text.clear();
                }
            }
        }
        see(&text);
        Ok(())
    }
}

/// Sets the name of the job file in diagnostics that name no file.
fn named(mut problems: Diagnostics, name: &str) -> Diagnostics {
    problems.0.iter_mut().filter(|it| it.file.is_empty()).for_each(|it| it.file = name.into());
    problems
}

impl Jobs {
    /// Returns the paths in `folder` of the log files that the fio jobs write (options such as
    /// `write_lat_log`), sorted.
    pub fn logs(&self, folder: &Path) -> Vec<PathBuf> {
        self.0.logs(folder)
    }

    /// Simulates the jobs of a fio job file on the drive, writes their log files, and returns the
    /// results.
    ///
    /// # Errors
    /// If the drive or a file is wrong, or the run was stopped before the first request.
    pub fn run(&self, wanted: Wanted, control: Control<'_>) -> Result<Fio, Diagnostics> {
        (control.progress)(Progress::Planned(1));
        self.0.run(leaves(&wanted), (), control).map(|(fio, ())| fio)
    }

    /// Simulates the jobs of a fio job file on the drive, and records the part of the run that
    /// `choice` selects as a timeline. Returns also the reasons why the timeline is incomplete;
    /// none if it is complete.
    ///
    /// # Errors
    /// As [`Jobs::run`].
    pub fn record(
        &self,
        wanted: Wanted,
        choice: Choice,
        control: Control<'_>,
    ) -> Result<(Fio, Timeline, Diagnostics), Diagnostics> {
        let runs = Runs { setup: &self.0, wanted: &wanted, control };
        record_of(&runs, &self.0.drive, choice, control)
    }
}

fn leaves(wanted: &Wanted) -> Leaves<'_> {
    Leaves { logs: Some(&wanted.logs), detail: wanted.detail, requests: wanted.requests.clone() }
}

/// The jobs of a fio job file, run again from the beginning each time a recording, such as a
/// timeline of the drive, needs another pass.
struct Runs<'a> {
    setup: &'a Setup,
    wanted: &'a Wanted,
    control: Control<'a>,
}

impl Repeatable for Runs<'_> {
    type Done = Fio;

    fn run<W: Watcher>(&self, watcher: W, again: bool) -> Result<(Fio, W), Diagnostics> {
        let leaves = if again { Leaves::default() } else { leaves(self.wanted) };
        self.setup.run(leaves, watcher, self.control)
    }

    fn outcome(done: &Fio) -> &Outcome {
        &done.outcome
    }
}
