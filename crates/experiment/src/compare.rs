//! Runs the same workload under several schemes, or on several drives.

use crate::candidates::Candidates;
use crate::device_spec::Resolved;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fan_out;
use crate::image_cache::ImageCache;
use crate::memory::{self, Need};
use crate::outcome::Outcome;
use crate::progress::Progress;
use crate::replay_speed::ReplaySpeed;
use crate::run::{Ready, Run, RunSpec, Watcher, find_speed, ready};
use crate::workload::Control;
use std::path::PathBuf;

/// Runs `spec` with each of `candidates` instead of its drive and scheme, in parallel. Outcomes are
/// in the order of the candidates and do not depend on the number of threads. A target share of
/// idle time is searched for with the first, and the resulting factor is used for all.
///
/// # Errors
/// As [`Run::start`], for all candidates at once.
pub fn compare(
    spec: &RunSpec,
    candidates: &Candidates,
    control: Control<'_>,
) -> Result<Vec<Outcome>, Diagnostics> {
    let outcomes = compare_watched(spec, candidates, control, |_| ())?;
    Ok(outcomes.into_iter().map(|(outcome, ())| outcome).collect())
}

/// Runs the candidates of a comparison like [`compare`], each with an additional probe (an observer
/// of the run) that `watcher` creates from the candidate's label.
///
/// # Errors
/// As [`compare`].
pub fn compare_watched<P: Watcher + Send>(
    spec: &RunSpec,
    candidates: &Candidates,
    control: Control<'_>,
    watcher: impl Fn(&str) -> P + Sync,
) -> Result<Vec<(Outcome, P)>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    if candidates.all().is_empty() {
        diagnostics.push(Diagnostic::new("--schemes", "no schemes are given"));
    }
    diagnostics.0.extend(candidates.check(Some(&spec.workload), &spec.faults).0);
    diagnostics.0.extend(one_file_twice(spec, candidates));
    diagnostics.or(())?;
    let candidates = candidates.on_one_seed()?;
    let mut all: Vec<Ready> = Vec::new();
    let mut wrong = Vec::new();
    for candidate in candidates.all() {
        let run_spec = candidate.spec(spec);
        let made = run_spec.device.source().and_then(|source| {
            ready(&run_spec, &source, run_spec.scheme.as_deref(), &all, control)
        });
        match made {
            Ok(mut made) => {
                candidate.call(&mut made.drive);
                all.push(made);
                wrong.push(Diagnostics::default());
            }
            Err(diagnostics) => wrong.push(diagnostics),
        }
    }
    candidates.merged(wrong).or(())?;
    (control.progress)(Progress::Planned(all.len() as u64));
    let (need, at_once) = need(all.iter().map(|ready| &ready.drive), spec.replay_speed);
    let hint = format!("compare fewer {}s, or set RAYON_NUM_THREADS", candidates.axis().noun());
    need.refuse(at_once, &hint)?;
    let images = ImageCache::default();
    let speed = find_speed(spec.replay_speed, &all[0], Some(&images), control)?;
    let run = |(place, ready): &(usize, &Ready)| {
        let label = ready.drive.label();
        let file = spec.requests.as_ref().map(|file| file.of(label));
        let run = Run::new(spec, control).ready(ready).speed(speed).images(&images).requests(file);
        (*place, run.watched_by(watcher(label)).start())
    };
    // Custom policies may block each other, as those written in Python do on the interpreter: run
    // them one after another, in parallel to all others.
    let (alone, beside): (Vec<_>, Vec<_>) = all
        .iter()
        .enumerate()
        .partition(|(_, ready)| ready.drive.config.policies.labels().next().is_some());
    let mut outcomes: Vec<_> = std::thread::scope(|threads| {
        let beside = threads.spawn(|| fan_out::each(&beside, run));
        let alone: Vec<_> = alone.iter().map(run).collect();
        let beside = beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        alone.into_iter().chain(beside).collect()
    });
    outcomes.sort_by_key(|(place, _)| *place);
    // A run that was stopped before its first request has no outcome; the outcomes of the others
    // are returned.
    if control.stopped() && outcomes.iter().any(|(_, outcome)| outcome.is_ok()) {
        outcomes.retain(|(_, outcome)| outcome.is_ok());
    }
    let mut diagnostics = Diagnostics::default();
    let outcomes =
        outcomes.into_iter().filter_map(|(_, outcome)| diagnostics.take(outcome)).collect();
    diagnostics.unique().or(outcomes)
}

/// Returns the memory in bytes that each drive of a comparison takes, and how many of the drives
/// exist at a time.
pub fn need<'a>(
    drives: impl ExactSizeIterator<Item = &'a Resolved>,
    speed: ReplaySpeed,
) -> (Need, usize) {
    // The search for a speed is over before the runs start. It takes two drives.
    let at_once = memory::at_once(drives.len()).max(speed.copies() as usize);
    let mut need = Need::caching(usize::MAX);
    drives.for_each(|drive| need.add(drive, 1));
    (need, at_once)
}

/// Returns an error if two of the compared schemes or drives would write their logs of requests to
/// the same file.
fn one_file_twice(spec: &RunSpec, candidates: &Candidates) -> Option<Diagnostic> {
    let file = spec.requests.as_ref()?;
    let (labels, noun) = (candidates.labels(), candidates.axis().noun());
    let paths: Vec<PathBuf> = labels.iter().map(|it| file.of(it).path).collect();
    let twice = (1..paths.len()).find(|&at| paths[..at].contains(&paths[at]))?;
    let name = paths[twice].display().to_string();
    let what = format!(
        "the requests of two {noun}s would be written to this file; the second is `{}`",
        labels[twice]
    );
    Some(Diagnostic::new(name, what).hint(format!("rename one of the {noun}s")))
}
