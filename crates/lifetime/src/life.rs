//! A life in progress: the workload, repeated until the drive is at the end of its target life.
//!
//! 1. The life begins with the seasoned drive, or where a checkpoint left it. A finished one is
//!    read back.
//! 2. The requests of a repetition are served in batches; the records take every one. After each
//!    batch the progress is reported, and a checkpoint is saved if one is due.
//! 3. The next repetition follows, moved in time, until the drive says that its life is over.
//! 4. The wear, the counters and the records are taken at that end, and saved.

use super::checkpoint::{Checkpoint, Standing};
use super::end_of_life::{Cycles, EndOfLife};
use super::record::{Record, Seen};
use super::repetition::Repetition;
use super::spec::LifetimeSpec;
use super::survey::Survey;
use super::watch::{Early, Watch};
use fowler_device::policy::throttle::ThrottleKind;
use fowler_device::{Config, LifetimeDrive};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::life_estimate::YEAR_S;
use fowler_experiment::workload::Control;
use fowler_units::{HostIo, Nanos, Span};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of host writes between two checks whether the caller has stopped the simulation of a
/// drive's life.
const BATCH: usize = 1 << 14;

/// The simulated life of a drive in progress.
pub(super) struct Life<'a> {
    pub spec: &'a LifetimeSpec,
    pub config: &'a Config,
    pub workload: &'a Repetition<'a>,
    pub survey: &'a Survey,
    pub watch: Watch<'a>,
    /// Thousandths of the life that were done when progress was last reported; `None` if only the
    /// end is reported.
    pub told: Option<&'a AtomicU64>,
}

impl Life<'_> {
    pub fn live(
        &self,
        seasoned: &LifetimeDrive,
        checkpoint: &mut Checkpoint<'_>,
        share: &dyn Fn(f64),
    ) -> Result<Option<EndOfLife>, Diagnostics> {
        if let Some(lived) = checkpoint.take_finished() {
            return Ok(Some(lived));
        }
        let fresh = seasoned.again(self.config);
        let mut standing = match checkpoint.take_standing(&fresh)? {
            Some(standing) => standing,
            None => Standing {
                record: Record::new(fresh.ends(), self.spec.close_up),
                drive: fresh,
                repetition: 0,
                served: 0,
            },
        };
        loop {
            // A finished lifetime leaves nothing to resume from, even if it is stopped now.
            if self.repeat(&mut standing, checkpoint, share)? {
                let lived = self.lived(standing);
                checkpoint.keep_finished(&lived)?;
                // The last write may be well before the end of the life.
                share(1.0);
                return Ok(Some(lived));
            }
            if self.watch.control.stopped() {
                checkpoint.keep(&standing)?;
                return Ok(None);
            }
            (standing.repetition, standing.served) = (standing.repetition + 1, 0);
        }
    }

    /// Simulates one repetition of the workload on the drive, from the point of its life that
    /// `standing` holds. Returns true if the life is over.
    fn repeat(
        &self,
        standing: &mut Standing,
        checkpoint: &mut Checkpoint<'_>,
        share: &dyn Fn(f64),
    ) -> Result<bool, Diagnostics> {
        let begins = Span(self.survey.span.0 * standing.repetition);
        let first = self.survey.first;
        let moved = |io: HostIo| io.with_at(Nanos(io.at.0 - first.0) + begins);
        let ends = standing.drive.ends();
        let (mut alive, mut wrong) = (true, None);
        let control = Control { stop: self.watch.control.stop, progress: &|_| () };
        // As the drive chooses them: all that it serves are counted in `served`.
        let (round, reads) = (standing.repetition, standing.drive.hears_reads());
        let replayed = self.workload.replay(round, reads, control, |requests| {
            let skipped = usize::try_from(standing.served).unwrap_or(usize::MAX);
            let mut requests = requests.skip(skipped).map(moved).peekable();
            while alive && wrong.is_none() && requests.peek().is_some() {
                let Standing { drive, record, served, .. } = standing;
                let mut pages = 0;
                let batch = requests.by_ref().take(BATCH);
                alive = drive.serve(batch, |drive, entered| {
                    record.note(Seen::of(drive), entered, begins);
                    (*served, pages) = (*served + 1, pages + u64::from(entered.pages));
                    true
                });
                share(self.done(drive, round, *served));
                self.tell(drive, (drive.now().0 as f64 / ends.0 as f64).min(1.0));
                if alive && checkpoint.is_due(pages) {
                    wrong = checkpoint.keep(standing).err();
                }
            }
        });
        let failed = match replayed {
            // The workload was stopped before the first request of the repetition.
            Err(_) if control.stopped() => return Ok(false),
            replayed => replayed?,
        };
        match wrong.or(failed) {
            Some(diagnostics) => Err(diagnostics),
            None => Ok(!alive),
        }
    }

    /// Returns the share of the life's work that is done, 0 to 1. Without a throttle, requests are
    /// counted, because they may cluster within a repetition. With a throttle, the number of
    /// requests is unknown, so time is counted.
    fn done(&self, drive: &LifetimeDrive, repetition: u64, served: u64) -> f64 {
        let Survey { requests, writes, span, profile, .. } = *self.survey;
        if self.config.throttle.name != ThrottleKind::Off {
            return (drive.now().0 as f64 / drive.ends().0 as f64).min(1.0);
        }
        let each = if drive.hears_reads() { requests } else { writes };
        // Trims are served too, and are not among the writes.
        let own = (served as f64 / each.max(1) as f64).min(1.0);
        let (whole, rest) = (drive.ends().0 / span.0, Span(drive.ends().0 % span.0));
        let all = whole as f64 + profile.within(rest);
        ((repetition as f64 + own) / all).min(1.0)
    }

    /// Reports the estimated years of the life after every thousandth of the work.
    fn tell(&self, drive: &LifetimeDrive, done: f64) {
        let thousandths = (done * 1000.0) as u64;
        let Some(told) = self.told.filter(|told| told.load(Ordering::Relaxed) < thousandths) else {
            return;
        };
        told.store(thousandths, Ordering::Relaxed);
        if let Some((years, waf)) = so_far(drive, self.config.life.target) {
            (self.watch.early)(Early::SoFar { years, waf });
        }
    }

    fn lived(&self, standing: Standing) -> EndOfLife {
        let Standing { drive, record, repetition, .. } = standing;
        let dilation = self.config.life.dilation;
        let cycles = drive.cycles();
        let all = cycles.iter().map(|&count| f64::from(count)).sum::<f64>();
        let least = cycles.iter().min().copied().unwrap_or(0);
        let most = cycles.iter().max().copied().unwrap_or(0);
        let whole_life = |cycles: f64| cycles * f64::from(dilation);
        let wear = Cycles {
            least: whole_life(f64::from(least)),
            mean: whole_life(all / cycles.len() as f64),
            most: whole_life(f64::from(most)),
        };
        EndOfLife {
            dilation,
            repetitions: repetition + 1,
            totals: drive.totals(drive.ends()),
            counters: *drive.counters(),
            wear,
            throttle: drive.throttle(),
            blocked_at_end: drive.blocked_at_end().total(),
            erases_before: drive.erases_before(),
            bad_blocks: drive.bad_blocks(),
            record,
        }
    }
}

/// Returns the estimated years of a life in progress, at its rate of wear so far, and its write
/// amplification; `None` before its first page.
fn so_far(drive: &LifetimeDrive, target: Span) -> Option<(f64, f64)> {
    let totals = drive.totals(drive.now());
    let share = drive.now().0 as f64 / drive.ends().0 as f64;
    let lives = (totals.worn > 0.0).then(|| totals.achievable * share / totals.worn)?;
    Some((lives * target.as_s() / YEAR_S, drive.counters().waf()?))
}
