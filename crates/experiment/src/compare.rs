//! The same workload under several schemes.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fan_out;
use crate::image_cache::ImageCache;
use crate::outcome::Outcome;
use crate::run::{Ready, Run, RunSpec, find_speed, ready};
use crate::workload::Control;
use fowler_device::Probe;
use std::path::PathBuf;

/// Runs `spec` under each of `schemes`, in parallel; outcomes are in the order of the schemes and
/// do not depend on the number of threads. A target share of idle time is reached under the first
/// scheme, and the factor that this takes is every scheme's.
///
/// # Errors
/// As [`Run::start`], of every scheme at once.
pub fn compare(
    spec: &RunSpec,
    schemes: &[String],
    control: Control<'_>,
) -> Result<Vec<Outcome>, Diagnostics> {
    let outcomes = compare_watched(spec, schemes, control, |_| ())?;
    Ok(outcomes.into_iter().map(|(outcome, ())| outcome).collect())
}

/// The same with one more who watches under each scheme: `watcher` makes it by the scheme's name.
///
/// # Errors
/// As [`compare`].
pub fn compare_watched<P: Probe + Send>(
    spec: &RunSpec,
    schemes: &[String],
    control: Control<'_>,
    watcher: impl Fn(&str) -> P + Sync,
) -> Result<Vec<(Outcome, P)>, Diagnostics> {
    let source = spec.device.source()?;
    let mut diagnostics = Diagnostics::default();
    if schemes.is_empty() {
        diagnostics.push(Diagnostic::new("--schemes", "there is nothing to compare"));
    }
    diagnostics.0.extend(crate::run::check(&spec.device, schemes, Some(&spec.workload)).0);
    diagnostics.0.extend(one_file_twice(spec, schemes));
    diagnostics.or(())?;
    let mut diagnostics = Diagnostics::default();
    let mut all: Vec<Ready> = Vec::new();
    for scheme in schemes {
        // What is wrong with the drive or the trace is wrong under every scheme: once is enough.
        match ready(spec, &source, Some(scheme), all.first(), control) {
            Ok(ready) => all.push(ready),
            Err(more) => diagnostics.0.extend(more.0),
        }
    }
    diagnostics.unique().or(())?;
    let images = ImageCache::default();
    let speed = find_speed(spec.replay_speed, &all[0], Some(&images), control)?;
    let run = |(place, ready): &(usize, &Ready)| {
        let scheme = &ready.drive.scheme;
        let file = spec.requests.as_ref().map(|file| file.of_scheme(scheme));
        let run = Run::new(spec, control).ready(ready).speed(speed).images(&images).requests(file);
        (*place, run.watched_by(watcher(scheme)).start())
    };
    // Custom policies may have to wait for each other, as those written in Python do for the
    // interpreter: their runs go one after another, beside all others.
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
    let mut diagnostics = Diagnostics::default();
    let outcomes =
        outcomes.into_iter().filter_map(|(_, outcome)| diagnostics.take(outcome)).collect();
    diagnostics.unique().or(outcomes)
}

/// Schemes whose requests would be written into one file.
fn one_file_twice(spec: &RunSpec, schemes: &[String]) -> Option<Diagnostic> {
    let file = spec.requests.as_ref()?;
    let paths: Vec<PathBuf> = schemes.iter().map(|it| file.of_scheme(it).path).collect();
    let twice = (1..paths.len()).find(|&at| paths[..at].contains(&paths[at]))?;
    let name = paths[twice].display().to_string();
    let what = format!("requests of two schemes would go into it, of `{}` last", schemes[twice]);
    Some(Diagnostic::new(name, what).hint("give one of the schemes another name".to_string()))
}
