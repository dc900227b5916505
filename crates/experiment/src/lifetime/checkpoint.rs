//! Saves the state of a lifetime in a file. An interrupted lifetime resumes from it and gives
//! exactly the same results.

use super::life::Standing;
use super::record::Record;
use super::{Lifetime, LifetimeSpec, Lived, Watch};
use crate::atomic_file::{self, unwritable};
use crate::device::Resolved;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::disk;
use crate::provenance::{FINGERPRINT, text_hash};
use crate::sealed::{self, Kind, Refused, SealedFile};
use fowler_device::{Checkpoint as DriveCheckpoint, LifetimeDrive};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The file of a checkpoint. A change of [`File`] needs the next number.
const CHECKPOINT: Kind = Kind { name: "checkpoint", format: 2 };

/// Checks that a file is a checkpoint, and is what was written. Returns why it is lost, if it is.
///
/// # Errors
/// If it cannot be read now, is something else, or a newer version wrote it.
pub fn check(path: &Path) -> Result<Option<Diagnostic>, Diagnostics> {
    match sealed::inspect(path, CHECKPOINT) {
        Ok(_) => Ok(None),
        Err(Refused::Damaged(why)) => Ok(Some(*why)),
        Err(Refused::Other(why)) => Err((*why).into()),
    }
}

/// The checkpoint file, if there is one, and what it contained.
pub(super) struct Checkpoint {
    path: Option<PathBuf>,
    every: u64,
    /// Pages written since the last checkpoint.
    unsaved: u64,
    /// The identity of the run: simulator, drive, workload and specification.
    key: String,
    found: Option<File>,
    /// Whether the existing file belongs to this run.
    own: bool,
}

#[derive(Serialize, Deserialize)]
struct File {
    finished: Vec<Lived>,
    standing: StandingSnapshot,
}

impl File {
    fn of(finished: &[Lived], standing: &Standing) -> File {
        let Standing { drive, record, repetition, served } = standing;
        File {
            finished: finished.to_vec(),
            standing: StandingSnapshot {
                repetition: *repetition,
                served: *served,
                record: record.clone(),
                drive: drive.checkpoint(),
            },
        }
    }

    fn read(body: impl Read) -> Result<File, String> {
        let mut scratch = vec![0; 1 << 16];
        let (file, _rest) = postcard::from_io((body, &mut scratch)).map_err(|why| match why {
            // The reason is lost: response times that nobody recorded, or no variant of a choice.
            postcard::Error::SerdeDeCustom => "it holds a value that it cannot have".into(),
            other => other.to_string(),
        })?;
        Ok(file)
    }
}

/// Reads the body of a checkpoint, resumes the drive `fresh` from it, and returns the body that
/// saves all of it again. For tests of damaged bodies, which a checksum keeps from everybody else.
///
/// # Errors
/// Why it is not the body of a checkpoint of this drive.
#[doc(hidden)]
pub fn reread(body: &[u8], fresh: &LifetimeDrive) -> Result<Vec<u8>, String> {
    let found = Some(File::read(body)?);
    let mut checkpoint = Checkpoint { found, ..Checkpoint::nowhere() };
    let finished = checkpoint.take_finished();
    let standing = checkpoint.take_standing(fresh).map_err(|why| why.to_string())?;
    let standing = standing.expect("it was found");
    Ok(postcard::to_stdvec(&File::of(&finished, &standing)).expect("memory takes any state"))
}

/// An unfinished lifetime.
#[derive(Serialize, Deserialize)]
struct StandingSnapshot {
    repetition: u64,
    served: u64,
    record: Record,
    drive: DriveCheckpoint,
}

impl Checkpoint {
    /// Looks for a checkpoint of the same run. One of another run is ignored, and replaced at the
    /// first save.
    pub fn open(
        spec: &LifetimeSpec,
        drive: &Resolved,
        dilation: u32,
        watch: Watch<'_>,
    ) -> Result<Self, Diagnostics> {
        let reported = format!(
            "{FINGERPRINT} {} {} {dilation} {} {:?} {:?}",
            drive.hash,
            spec.workload.identity()?,
            spec.check,
            spec.close_up,
            spec.limit
        );
        let key = text_hash(&reported);
        let mut here = Checkpoint {
            path: spec.checkpoint.clone(),
            every: spec.checkpoint_every,
            unsaved: 0,
            key,
            found: None,
            own: false,
        };
        if let Some(path) = here.path.as_ref()
            && disk::facts(path)?.is_some()
        {
            let mut opened = sealed::open(path, CHECKPOINT)?;
            if opened.identity == here.key {
                let failed = |why: String| {
                    let what = format!("is not a checkpoint: {why}");
                    Diagnostic::new(path.display().to_string(), what)
                        .hint("remove it to start over".to_string())
                };
                here.found = Some(File::read(&mut opened.body).map_err(failed)?);
                here.own = true;
            }
            if !here.own {
                (watch.warn)(&format!(
                    "{} belongs to another run, or to another version of Fowler: this run starts over and \
                     replaces it at the first save",
                    path.display()
                ));
            }
        }
        Ok(here)
    }

    /// Returns a checkpoint that saves nothing.
    pub fn nowhere() -> Self {
        let (key, every) = (String::new(), u64::MAX);
        Checkpoint { path: None, every, unsaved: 0, key, found: None, own: false }
    }

    /// Returns the lifetimes that were finished when the file was written.
    pub fn take_finished(&mut self) -> Vec<Lived> {
        self.found.as_mut().map(|found| std::mem::take(&mut found.finished)).unwrap_or_default()
    }

    fn failed(&self, why: &str) -> Diagnostics {
        let path = self.path.as_ref().map_or(String::new(), |path| path.display().to_string());
        Diagnostic::new(path, format!("is not a checkpoint: {why}")).into()
    }

    /// Returns the state of the unfinished lifetime; `fresh` is its drive at the start.
    pub fn take_standing(
        &mut self,
        fresh: &LifetimeDrive,
    ) -> Result<Option<Standing>, Diagnostics> {
        let Some(File { standing, .. }) = self.found.take() else { return Ok(None) };
        let StandingSnapshot { repetition, served, record, drive } = standing;
        let drive = fresh.clone().resumed(drive).map_err(|why| self.failed(&why))?;
        Ok(Some(Standing { drive, record, repetition, served }))
    }

    /// Counts pages written since the last save. Returns whether it is time to save.
    pub fn is_due(&mut self, pages: u64) -> bool {
        self.unsaved += pages;
        self.path.is_some() && self.unsaved >= self.every
    }

    /// Writes the checkpoint.
    pub fn keep(&mut self, finished: &[Lived], standing: &Standing) -> Result<(), Diagnostics> {
        self.unsaved = 0;
        let Some(path) = &self.path else { return Ok(()) };
        let file = File::of(finished, standing);
        let out = SealedFile::create(path, CHECKPOINT, &self.key)?;
        let failed =
            |error: postcard::Error| unwritable(path, &std::io::Error::other(error.to_string()));
        postcard::to_io(&file, out).map_err(failed)?.finish(path)?;
        self.own = true;
        Ok(())
    }

    /// Returns whether there is a checkpoint to resume from.
    pub fn is_there(&self) -> bool {
        self.own
    }

    /// Returns the file, if it is that of this run.
    pub fn of_this_run(self) -> Option<PathBuf> {
        self.path.filter(|_| self.own)
    }
}

impl Lifetime {
    /// Removes the checkpoint, if this run saved one. Call it once the results are safe: until
    /// then a life that took days can be resumed.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn remove_checkpoint(&self) -> Result<(), Diagnostics> {
        match &self.checkpoint {
            Some(path) if disk::facts(path)?.is_some() => {
                atomic_file::remove(path).map_err(|error| unwritable(path, &error))
            }
            _ => Ok(()),
        }
    }
}
