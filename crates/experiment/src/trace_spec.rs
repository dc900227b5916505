//! A trace file as a workload: how to read it, its hash, and the passes over it before its first
//! request.

use crate::diagnostic::Diagnostics;
use crate::progress::{Control, Progress};
use crate::provenance::file_hash_watched;
use fowler_units::HostIo;
use fowler_workload::{DeviceChoice, ReadOptions, ReadSoFar, Remap, TraceError, TraceReader};
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Number of requests between two reports of progress in a pass over a trace.
const STRIDE: usize = 4096;

/// A trace file, and how to read it.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    /// Path of the trace file.
    pub path: PathBuf,
    /// Options for reading the trace: format, lenience, devices.
    pub options: ReadOptions,
    /// Treatment of addresses of the trace that the drive does not have.
    pub remap: Remap,
    /// SHA-256 of the trace file, once known; all clones share it.
    hash: Arc<OnceLock<String>>,
}

impl TraceSpec {
    /// Creates the specification of a trace file, and of how to read it.
    pub fn new(path: PathBuf, options: ReadOptions, remap: Remap) -> TraceSpec {
        TraceSpec { path, options, remap, hash: Arc::default() }
    }

    /// Opens the trace. That takes a pass over the file if its devices lie side by side.
    pub(crate) fn open(&self, passes: &Passes<'_>) -> Result<TraceReader, TraceError> {
        let reader = TraceReader::open_watched(&self.path, &self.options, |read| {
            passes.report(read.share())
        });
        passes.finish(self.opening());
        reader
    }

    /// Returns the number of passes over the file that opening the trace takes.
    pub(crate) fn opening(&self) -> u32 {
        u32::from(self.options.device == DeviceChoice::SideBySide)
    }

    /// Returns the number of passes over the file that preparing the trace takes: for its
    /// addresses, and for its hash if that is wanted and not known yet.
    pub(crate) fn passes(&self, hash: bool) -> u32 {
        let touches = if self.remap == Remap::Compact { self.opening() + 1 } else { 0 };
        touches + u32::from(hash && self.hash.get().is_none())
    }

    /// Returns the requests of the trace in a first pass, for their addresses, if these are to be
    /// compacted; otherwise `None`. They end early when the pass is stopped: such a run replays no
    /// requests, so a partial footprint does no harm.
    pub(crate) fn first_pass<'a>(
        &self,
        passes: &'a Passes<'_>,
    ) -> Result<impl Iterator<Item = Result<HostIo, TraceError>> + use<'a>, TraceError> {
        let reader = (self.remap == Remap::Compact).then(|| self.open(passes)).transpose()?;
        let read = reader.as_ref().and_then(TraceReader::read_so_far);
        let requests = reader.into_iter().flatten().enumerate().take_while(move |(number, _)| {
            let looks = number.is_multiple_of(STRIDE);
            !looks || passes.report(read.as_ref().map_or(0.0, ReadSoFar::share))
        });
        Ok(requests.map(|(_, request)| request))
    }

    /// Returns the SHA-256 of the trace file, for which the file is read once.
    pub(crate) fn hash(&self, passes: &Passes<'_>) -> Result<String, Diagnostics> {
        if let Some(hash) = self.hash.get() {
            return Ok(hash.clone());
        }
        let hash = file_hash_watched(&self.path, |share| passes.report(share))?;
        passes.finish(1);
        Ok(self.hash.get_or_init(|| hash).clone())
    }
}

/// The complete readings of a trace file before a run. Their progress is reported as one share,
/// from 0 at the start of the first reading to 1 at the end of the last.
pub(crate) struct Passes<'a> {
    finished: Cell<u32>,
    all: u32,
    control: Control<'a>,
}

impl<'a> Passes<'a> {
    /// Returns the progress of `all` passes (complete readings of a trace file before a run), none
    /// of which has begun.
    pub fn over(all: u32, control: Control<'a>) -> Passes<'a> {
        Passes { finished: Cell::new(0), all, control }
    }

    /// Reports the share of the current reading of the trace file that is done, 0 to 1; returns
    /// true if the reading should continue.
    fn report(&self, share: f64) -> bool {
        let share = (f64::from(self.finished.get()) + share) / f64::from(self.all.max(1));
        (self.control.progress)(Progress::Reading(share.min(1.0)));
        !self.control.stopped()
    }

    /// Counts passes over the trace that are finished.
    pub fn finish(&self, passes: u32) {
        self.finished.set(self.finished.get() + passes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::fs;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    fn trace(name: &str, device: DeviceChoice, remap: Remap) -> TraceSpec {
        let path = std::env::temp_dir().join(format!("fowler-{name}-{}.csv", std::process::id()));
        let mut text = "at_ns,op,offset,size\n".to_string();
        for number in 0..20_000u64 {
            writeln!(text, "{},write,{},4096", number * 1000, number * 8192).unwrap();
        }
        fs::write(&path, text).unwrap();
        TraceSpec::new(path, ReadOptions { device, ..ReadOptions::default() }, remap)
    }

    /// Makes all passes over a trace and returns the shares that are reported on the way.
    fn prepared(spec: &TraceSpec) -> Vec<f64> {
        let shares = Mutex::new(Vec::new());
        let follow = |step| match step {
            Progress::Reading(share) => shares.lock().unwrap().push(share),
            other => panic!("{other:?}"),
        };
        let control = Control { progress: &follow, ..Control::UNWATCHED };
        let passes = Passes::over(spec.passes(true), control);
        let requests = spec.first_pass(&passes).unwrap().count();
        assert_eq!(requests, if spec.remap == Remap::Compact { 20_000 } else { 0 });
        passes.finish(u32::from(spec.remap == Remap::Compact));
        spec.hash(&passes).unwrap();
        shares.into_inner().unwrap()
    }

    #[test]
    fn all_passes_together_are_reported_as_one() {
        for (name, device, remap) in [
            ("hashed", DeviceChoice::Default, Remap::Error),
            ("compacted", DeviceChoice::Default, Remap::Compact),
            ("placed", DeviceChoice::SideBySide, Remap::Compact),
        ] {
            let spec = trace(name, device, remap);
            let shares = prepared(&spec);
            assert!(shares.windows(2).all(|pair| pair[0] <= pair[1]), "{name}: {shares:?}");
            assert_eq!(shares.last(), Some(&1.0), "{name}");
            // The hash of all clones is known now.
            let again = spec.clone();
            assert_eq!(again.passes(true), spec.passes(false), "{name}");
            assert_eq!(prepared(&again).is_empty(), remap == Remap::Error, "{name}");
            fs::remove_file(&spec.path).unwrap();
        }
    }

    #[test]
    fn every_pass_can_be_stopped() {
        let spec = trace("stopped", DeviceChoice::SideBySide, Remap::Compact);
        let stop = AtomicBool::new(true);
        let control = Control { stop: &stop, ..Control::UNWATCHED };
        let passes = Passes::over(3, control);
        assert!(spec.open(&passes).is_err() && spec.hash(&passes).is_err());
        let plain = TraceSpec::new(spec.path.clone(), ReadOptions::default(), Remap::Compact);
        assert_eq!(plain.first_pass(&passes).unwrap().count(), 0);
        fs::remove_file(&spec.path).unwrap();
    }
}
