//! What a life has come to so far, in a file: an interrupted life resumes from there to the same
//! bytes.

use super::record::{self, Record};
use super::{Cycles, LifetimeSpec, Lived, Standing, Watch};
use crate::atomic_file::{AtomicFile, unwritable};
use crate::device::Resolved;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::provenance::{FINGERPRINT, text_hash};
use fowler_device::endurance::Totals;
use fowler_device::policy::throttle::State;
use fowler_device::{Checkpoint as DriveCheckpoint, Counters, LifetimeDrive};
use fowler_units::Span;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{BufReader, Write};
use std::path::PathBuf;

/// A place for checkpoints, if there is one, and what was found there.
pub(super) struct Checkpoint {
    path: Option<PathBuf>,
    every: u64,
    /// Pages written since the file was.
    unsaved: u64,
    /// What the file belongs to: the simulator, the drive, the workload, and what is asked of them.
    key: String,
    found: Option<File>,
    /// Whether the file there is of this run.
    own: bool,
}

#[derive(Serialize, Deserialize)]
struct File {
    key: String,
    finished: Vec<Finished>,
    standing: StandingSnapshot,
}

/// A life that is over.
#[derive(Serialize, Deserialize)]
struct Finished {
    dilation: u32,
    repetitions: u64,
    totals: Totals,
    counters: Counters,
    wear: Cycles,
    throttle: State,
    blocked_at_end: Span,
    record: record::RecordSnapshot,
}

/// One that is not.
#[derive(Serialize, Deserialize)]
struct StandingSnapshot {
    repetition: u64,
    served: u64,
    record: record::RecordSnapshot,
    drive: DriveCheckpoint,
}

impl Checkpoint {
    /// Looks for a file of the same run; one of another is left alone, and replaced when there is
    /// something to keep.
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
        if let Some(path) = here.path.as_ref().filter(|path| path.exists()) {
            let failed = |why: String| {
                let diagnostic =
                    Diagnostic::new(path.display().to_string(), format!("is no checkpoint: {why}"));
                diagnostic.hint("remove it to begin anew".to_string())
            };
            let file = fs::File::open(path).map_err(|error| failed(error.to_string()))?;
            let mut scratch = vec![0; 1 << 16];
            let read = postcard::from_io((BufReader::with_capacity(1 << 20, file), &mut scratch));
            let (found, _): (File, _) = read.map_err(|error| failed(error.to_string()))?;
            here.found = Some(found).filter(|found| found.key == here.key);
            here.own = here.found.is_some();
            if !here.own {
                (watch.warn)(&format!(
                    "{} is of another run, or of another version of the program: this one begins anew, and \
                     replaces it when there is something to keep",
                    path.display()
                ));
            }
        }
        Ok(here)
    }

    /// A checkpoint that saves nothing.
    pub fn nowhere() -> Self {
        let (key, every) = (String::new(), u64::MAX);
        Checkpoint { path: None, every, unsaved: 0, key, found: None, own: false }
    }

    /// The lives that were over when the file was written.
    pub fn take_finished(&mut self) -> Vec<Lived> {
        let finished = self.found.as_mut().map(|found| std::mem::take(&mut found.finished));
        finished.unwrap_or_default().into_iter().map(Finished::lived).collect()
    }

    /// Where the life was that had begun then; `fresh` is the drive at the beginning of it.
    pub fn take_standing(
        &mut self,
        fresh: &LifetimeDrive,
    ) -> Result<Option<Standing>, Diagnostics> {
        let Some(File { standing, .. }) = self.found.take() else { return Ok(None) };
        let StandingSnapshot { repetition, served, record, drive } = standing;
        let drive = fresh.clone().resumed(drive).map_err(|why| {
            let path = self.path.as_ref().map_or(String::new(), |path| path.display().to_string());
            Diagnostic::new(path, format!("is no checkpoint: {why}"))
        })?;
        Ok(Some(Standing { drive, record: Record::of_snapshot(record), repetition, served }))
    }

    /// So many more pages have been written: whether that is enough to keep.
    pub fn is_due(&mut self, pages: u64) -> bool {
        self.unsaved += pages;
        self.path.is_some() && self.unsaved >= self.every
    }

    /// Writes the file.
    pub fn keep(&mut self, finished: &[Lived], standing: &Standing) -> Result<(), Diagnostics> {
        self.unsaved = 0;
        let Some(path) = &self.path else { return Ok(()) };
        let file = File {
            key: self.key.clone(),
            finished: finished.iter().map(Finished::of).collect(),
            standing: StandingSnapshot {
                repetition: standing.repetition,
                served: standing.served,
                record: standing.record.snapshot(),
                drive: standing.drive.checkpoint(),
            },
        };
        let mut out = AtomicFile::create(path)?;
        let written = postcard::to_io(&file, &mut out).map(|out| out.flush());
        match written {
            Ok(Ok(())) => {
                out.finish()?;
                self.own = true;
                Ok(())
            }
            Ok(Err(error)) => Err(unwritable(path, &error)),
            Err(error) => Err(unwritable(path, &std::io::Error::other(error.to_string()))),
        }
    }

    /// Whether there is something to resume from.
    pub fn is_there(&self) -> bool {
        self.own
    }

    /// All lives are over: the file is not needed any more. One of another run stays.
    pub fn remove(&self) -> Result<(), Diagnostics> {
        match &self.path {
            Some(path) if self.own && path.exists() => {
                fs::remove_file(path).map_err(|error| unwritable(path, &error))
            }
            _ => Ok(()),
        }
    }
}

impl Finished {
    fn of(lived: &Lived) -> Self {
        let Lived {
            dilation,
            repetitions,
            totals,
            counters,
            wear,
            throttle,
            blocked_at_end,
            record,
        } = lived;
        Finished {
            dilation: *dilation,
            repetitions: *repetitions,
            totals: *totals,
            counters: *counters,
            wear: *wear,
            throttle: *throttle,
            blocked_at_end: *blocked_at_end,
            record: record.snapshot(),
        }
    }

    fn lived(self) -> Lived {
        let Finished {
            dilation,
            repetitions,
            totals,
            counters,
            wear,
            throttle,
            blocked_at_end,
            record,
        } = self;
        let record = Record::of_snapshot(record);
        Lived { dilation, repetitions, totals, counters, wear, throttle, blocked_at_end, record }
    }
}
