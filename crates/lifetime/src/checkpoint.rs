//! Saves the state of a lifetime in files, one for each of its lives. An interrupted lifetime
//! resumes from them and gives exactly the same results.

use super::end_of_life::EndOfLife;
use super::record::Record;
use super::spec::{LifetimeSpec, SaveTo, of_life};
use super::watch::Watch;
use fowler_device::{Checkpoint as DriveCheckpoint, LifetimeDrive};
use fowler_experiment::atomic_file::{remove_abandoned, unwritable};
use fowler_experiment::cache_folder::{Bound, make_room};
use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::disk;
use fowler_experiment::provenance::text_hash;
use fowler_experiment::sealed_file::{self, Kind, Refused, SealedFile};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A hash of the sources that simulate lives, in 64 hexadecimal digits. It distinguishes saved
/// lives of different program versions, as for other results
/// [`fowler_experiment::provenance::FINGERPRINT`].
pub(super) const FINGERPRINT: &str = env!("FOWLER_LIVES_FINGERPRINT");

/// Kind and format version of checkpoint files. A change of [`File`] needs the next number.
const CHECKPOINT: Kind = Kind { name: "checkpoint", format: 5 };
/// Limits of the checkpoints in a cache folder; those of lives that nobody resumed are removed.
const LIVES_CACHED: Bound = Bound { prefix: CACHED, files: 8, bytes: 16 << 30 };
/// Number of lives that a run simulates: one at the chosen dilation (real repetitions of the
/// workload per simulated one), and one at twice that dilation as a check.
const LIVES: usize = 2;
/// Prefix of the names of checkpoints in a cache folder.
pub(super) const CACHED: &str = "lifetime-";

/// Checks that a file is an undamaged checkpoint of a drive's life. Returns the reason if it is
/// damaged.
///
/// # Errors
///
/// If the file cannot be read now, is of another kind, or was written by a newer version.
pub fn check(path: &Path) -> Result<Option<Diagnostic>, Diagnostics> {
    match sealed_file::inspect(path, CHECKPOINT) {
        Ok(_) => Ok(None),
        Err(Refused::Damaged(why)) => Ok(Some(*why)),
        Err(Refused::Other(why)) => Err((*why).into()),
    }
}

/// Position in the simulated life of a drive from which it can resume.
pub(super) struct Standing {
    pub drive: LifetimeDrive,
    pub record: Record,
    /// Number of repetitions of the workload that have started, the current one included.
    pub repetition: u64,
    pub served: u64,
}

/// The checkpoint file of a drive's life, if there is one, and the state that it contained.
pub(super) struct Checkpoint<'a> {
    path: Option<PathBuf>,
    /// Callbacks that report that a checkpoint in the cache folder cannot be saved; `None` if the
    /// checkpoint is elsewhere.
    cached: Option<Watch<'a>>,
    /// True if one of the simulated lives of the lifetime study has reported that no checkpoints
    /// are saved any more.
    told: Arc<AtomicBool>,
    every: u64,
    /// Pages written since the last save of the checkpoint.
    unsaved: u64,
    /// Identity of a simulated life: a hash of the simulator, drive, workload, specification and
    /// the life's number within the lifetime study.
    key: String,
    found: Option<File>,
    /// True if the checkpoint file that exists belongs to the life being simulated, and not to
    /// another one.
    own: bool,
}

#[derive(Serialize, Deserialize)]
enum File {
    Finished(Box<EndOfLife>),
    Standing(Box<StandingSnapshot>),
}

/// Snapshot of an unfinished life, as a checkpoint saves it.
#[derive(Serialize, Deserialize)]
struct StandingSnapshot {
    repetition: u64,
    served: u64,
    record: Record,
    drive: DriveCheckpoint,
}

impl File {
    fn of(standing: &Standing) -> File {
        let Standing { drive, record, repetition, served } = standing;
        File::Standing(Box::new(StandingSnapshot {
            repetition: *repetition,
            served: *served,
            record: record.clone(),
            drive: drive.checkpoint(),
        }))
    }

    fn read(body: impl Read) -> Result<File, String> {
        let mut scratch = vec![0; 1 << 16];
        let (file, _rest) = postcard::from_io((body, &mut scratch)).map_err(|why| match why {
            // The reason is lost: response times that nobody recorded, or no variant of a choice.
            postcard::Error::SerdeDeCustom => "it holds a value outside the valid range".into(),
            other => other.to_string(),
        })?;
        Ok(file)
    }
}

/// Reads the contents of a checkpoint file, `body`, without its checksum, resumes the life of the
/// new drive `fresh` from them, and returns the contents that a checkpoint of the resumed life has.
/// For tests of damaged contents, which the checksum would reject first.
///
/// # Errors
/// Why it is not the body of a checkpoint of this drive.
#[doc(hidden)]
pub fn reread(body: &[u8], fresh: &LifetimeDrive) -> Result<Vec<u8>, String> {
    let found = Some(File::read(body)?);
    let mut checkpoint = Checkpoint { found, ..Checkpoint::nowhere() };
    let file = match checkpoint.take_finished() {
        Some(lived) => File::Finished(Box::new(lived)),
        None => {
            let standing = checkpoint.take_standing(fresh).map_err(|why| why.to_string())?;
            File::of(&standing.expect("it was found"))
        }
    };
    Ok(postcard::to_stdvec(&file).expect("memory takes any state"))
}

impl<'a> Checkpoint<'a> {
    /// Opens the checkpoints of a simulated life and of its check (a second life at twice the
    /// dilation, the real repetitions of the workload per simulated one), even if this run makes no
    /// check. A checkpoint of another run is ignored, and replaced at the first save.
    pub fn open(
        spec: &LifetimeSpec,
        drive: &Resolved,
        dilation: u32,
        watch: Watch<'a>,
    ) -> Result<Vec<Self>, Diagnostics> {
        let reported = format!(
            "{FINGERPRINT} {} {} {dilation} {:?} {:?}",
            drive.hash,
            spec.workload.identity()?,
            spec.close_up,
            spec.limit
        );
        let key = text_hash(&reported);
        let of_run = match &spec.checkpoint {
            SaveTo::Nowhere => None,
            SaveTo::File(path) => Some(path.clone()),
            SaveTo::Cache(folder) => Some(folder.join(format!("{CACHED}{key}"))),
        };
        let cached = matches!(spec.checkpoint, SaveTo::Cache(_)).then_some(watch);
        let every = spec.checkpoint_every;
        let (wanted, mut of_another) = (if spec.check { LIVES } else { 1 }, None);
        let told = Arc::new(AtomicBool::new(false));
        let opened = (1..=LIVES).map(|life| {
            let path = of_run.as_ref().map(|path| of_life(path, life));
            let key = text_hash(&format!("{key} {life}"));
            let told = Arc::clone(&told);
            let mut here = Checkpoint { path, cached, told, every, key, ..Checkpoint::nowhere() };
            match here.look() {
                Err(why) if cached.is_some() => here.begin_anew(&why),
                looked => of_another = of_another.take().or(looked?.filter(|_| life <= wanted)),
            }
            Ok(here)
        });
        let opened: Vec<Self> = opened.collect::<Result<_, Diagnostics>>()?;
        if let Some(path) = of_another {
            (watch.warn)(&format!(
                "{} belongs to another run, or to another version of Fowler: this run starts over \
                    and replaces the checkpoint at the first save",
                path.display()
            ));
        }
        if let (SaveTo::Cache(folder), true) = (&spec.checkpoint, opened.iter().any(|it| it.own)) {
            let folder = folder.display();
            (watch.warn)(&format!("resuming from a checkpoint in {folder}"));
        }
        Ok(opened)
    }

    /// Reads the checkpoint file, if it exists and belongs to the life being simulated. Returns the
    /// path if the file belongs to another life.
    fn look(&mut self) -> Result<Option<PathBuf>, Diagnostics> {
        let Some(path) = &self.path else { return Ok(None) };
        if disk::facts(path)?.is_none() {
            return Ok(None);
        }
        let mut opened = sealed_file::open(path, CHECKPOINT)?;
        if opened.identity != self.key {
            return Ok(Some(path.clone()));
        }
        let failed = |why: String| {
            let what = format!("is not a checkpoint: {why}");
            Diagnostic::new(path.display().to_string(), what)
                .hint("remove this checkpoint to simulate the life from its start".to_string())
        };
        self.found = Some(File::read(&mut opened.body).map_err(failed)?);
        self.own = true;
        Ok(None)
    }

    /// Removes an unusable checkpoint in a cache folder and reports it. Other unusable checkpoints
    /// are reported when saving fails.
    fn begin_anew(&self, why: &Diagnostics) {
        let removed = self.path.as_ref().is_some_and(|path| disk::remove(path).is_ok());
        if removed {
            self.tell(why, |path, what| format!("{path} {what}: this life starts over"));
        }
    }

    /// Stops saving checkpoints and reports the reason.
    fn give_up(&mut self, why: &Diagnostics) {
        if !self.told.swap(true, Ordering::Relaxed) {
            self.tell(why, |path, what| {
                format!("checkpoints are not saved: {path} {what}; --out DIR saves them elsewhere")
            });
        }
        (self.path, self.own) = (None, false);
    }

    fn tell(&self, why: &Diagnostics, said: impl Fn(std::path::Display<'_>, &str) -> String) {
        if let (Some(path), Some(watch)) = (&self.path, self.cached) {
            let what = why.0.first().map_or("", |it| &it.what);
            (watch.warn)(&said(path.display(), what));
        }
    }

    /// Returns a checkpoint that saves nothing and has no file.
    pub fn nowhere() -> Self {
        let (key, every) = (String::new(), u64::MAX);
        let told = Arc::default();
        Checkpoint {
            path: None,
            cached: None,
            told,
            every,
            unsaved: 0,
            key,
            found: None,
            own: false,
        }
    }

    /// Returns true if the life was finished when the checkpoint was written.
    pub fn is_finished(&self) -> bool {
        matches!(self.found, Some(File::Finished(_)))
    }

    /// Returns the end of the life, if it was finished when the checkpoint was written.
    pub fn take_finished(&mut self) -> Option<EndOfLife> {
        match self.found.take() {
            Some(File::Finished(lived)) => Some(*lived),
            other => {
                self.found = other;
                None
            }
        }
    }

    fn failed(&self, why: &str) -> Diagnostics {
        let path = self.path.as_ref().map_or(String::new(), |path| path.display().to_string());
        let diagnostic = Diagnostic::new(path, format!("is not a checkpoint: {why}"));
        diagnostic
            .hint("remove this checkpoint to simulate the life from its start".to_string())
            .into()
    }

    /// Returns the state of the unfinished life; `fresh` is its drive at the start.
    pub fn take_standing(
        &mut self,
        fresh: &LifetimeDrive,
    ) -> Result<Option<Standing>, Diagnostics> {
        let Some(File::Standing(standing)) = self.found.take() else { return Ok(None) };
        let StandingSnapshot { repetition, served, record, drive } = *standing;
        match fresh.clone().resumed(drive).map_err(|why| self.failed(&why)) {
            Ok(drive) => Ok(Some(Standing { drive, record, repetition, served })),
            Err(why) if self.cached.is_some() => {
                self.begin_anew(&why);
                Ok(None)
            }
            Err(why) => Err(why),
        }
    }

    /// Counts pages written since the last save of the checkpoint. Returns true if a save is due.
    pub fn is_due(&mut self, pages: u64) -> bool {
        self.unsaved += pages;
        self.path.is_some() && self.unsaved >= self.every
    }

    /// Saves an unfinished life to the checkpoint.
    pub fn keep(&mut self, standing: &Standing) -> Result<(), Diagnostics> {
        self.unsaved = 0;
        if self.path.is_some() { self.save(&File::of(standing)) } else { Ok(()) }
    }

    /// Saves a finished life to the checkpoint. In a cache folder, a life that ended before its
    /// first save is not saved.
    pub fn keep_finished(&mut self, lived: &EndOfLife) -> Result<(), Diagnostics> {
        if self.path.is_some() && (self.own || self.cached.is_none()) {
            self.save(&File::Finished(Box::new(lived.clone())))
        } else {
            Ok(())
        }
    }

    fn save(&mut self, file: &File) -> Result<(), Diagnostics> {
        match self.write(file) {
            Err(why) if self.cached.is_some() => self.give_up(&why),
            written => written?,
        }
        Ok(())
    }

    fn write(&mut self, file: &File) -> Result<(), Diagnostics> {
        let Some(path) = &self.path else { return Ok(()) };
        if self.cached.is_some() {
            into_cache(path)?;
        }
        let out = SealedFile::create(path, CHECKPOINT, &self.key)?;
        let failed =
            |error: postcard::Error| unwritable(path, &std::io::Error::other(error.to_string()));
        postcard::to_io(file, out).map_err(failed)?.finish(path)?;
        self.own = true;
        Ok(())
    }

    /// Returns true if there is a checkpoint from which the life can resume.
    pub fn is_there(&self) -> bool {
        self.own
    }

    /// Returns the path of the checkpoint file, if that belongs to the life being simulated.
    pub fn of_this_life(self) -> Option<PathBuf> {
        self.path.filter(|_| self.own)
    }
}

/// Makes room in a cache folder for a checkpoint that is not there yet.
///
/// # Errors
///
/// If the folder cannot be created.
pub(super) fn into_cache(path: &Path) -> Result<(), Diagnostics> {
    if let (Some(folder), true) = (path.parent(), disk::facts(path)?.is_none()) {
        disk::create_folder(folder).map_err(|error| unwritable(folder, &error))?;
        make_room(folder, LIVES_CACHED, 0);
    }
    path.parent().map_or(Ok(()), remove_abandoned)
}
