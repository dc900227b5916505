//! Runs processes on a drive, and sums up their results.

use super::host::Host;
use super::log::{LogFiles, Logbook};
use super::plan::{HostCosts, Plan, Requests};
use super::process::Process;
use super::results::{Entry, Fio, Region};
use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::progress::Control;
use fowler_experiment::requests::RequestsFile;
use fowler_experiment::run::{HostRun, Watcher};
use fowler_units::{Nanos, Span};
use std::path::{Path, PathBuf};

/// A process that is to run, and its requests.
pub(super) struct Task {
    /// Options of the process's job that decide when requests are issued, and what is recorded of
    /// them.
    pub plan: Plan,
    /// Options of the process's job, as name and value, as the job file states them.
    pub options: Vec<(String, String)>,
    /// Function that returns the requests of the process, from the beginning with each call.
    pub requests: Box<dyn Fn() -> Box<dyn Requests> + Send + Sync>,
}

/// Jobs that are laid out on a drive and ready to run.
pub(super) struct Setup {
    pub drive: Resolved,
    /// Name of the job file, and a hash of its text.
    pub name: String,
    pub hash: String,
    pub tasks: Vec<Task>,
    pub global: Vec<(String, String)>,
    pub regions: Vec<Region>,
    pub notes: Vec<String>,
    pub no_effect: Vec<String>,
    pub costs: HostCosts,
}

/// Files and data that a simulated fio run must produce besides its result.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaves<'a> {
    /// Folder in which the processes' fio logs (of latencies, bandwidth and IOPS) are written;
    /// `None` for no logs.
    pub logs: Option<&'a Path>,
    /// True if the run of the jobs also records time series and the other data that the charts of
    /// its HTML page show.
    pub detail: bool,
    /// File for a log of the requests of all processes of the simulated fio run; `None` for no such
    /// log.
    pub requests: Option<RequestsFile>,
}

/// Largest number of processes: as many as there are submission queues.
const MOST: usize = 1 << 16;

/// Error number of a process with a request slower than `max_latency`: ETIMEDOUT.
const TOO_SLOW: u32 = 110;

/// Error number of a process whose rate fell below `rate_min` or `rate_iops_min`, as in fio 3.33:
/// EIO.
const BELOW_LEAST: u32 = 5;

/// Error number of a process that read back data other than it wrote: EILSEQ.
const WRONG_DATA: u32 = 84;

impl Setup {
    /// Runs the processes of all jobs of a fio job file on the simulated drive, watched by
    /// `watcher`.
    ///
    /// # Errors
    /// If the drive or a log is wrong, or the run was stopped before the first request.
    pub fn run<W: Watcher>(
        &self,
        leaves: Leaves<'_>,
        watcher: W,
        control: Control<'_>,
    ) -> Result<(Fio, W), Diagnostics> {
        if self.tasks.len() > MOST {
            let what =
                format!("the jobs have {} processes, too many to simulate", self.tasks.len());
            return Err(Diagnostic::new(self.name.clone(), what)
                .expected(format!("at most {MOST} processes"))
                .into());
        }
        let mut files = LogFiles::default();
        let processes = self.processes(leaves.logs, &mut files)?;
        let mut host = Host::new(processes, control, Nanos::ZERO);
        let hosted = HostRun {
            drive: &self.drive,
            workload: (&self.name, self.hash.clone()),
            detail: leaves.detail,
            requests: leaves.requests,
            control,
        };
        let (mut outcome, watcher) = hosted.serve(&mut host, watcher)?;
        if !control.stopped() {
            self.all_began(&host)?;
        }
        let now = outcome.clock;
        for process in &mut host.processes {
            process.stop(now);
        }
        let ended = host.processes.iter().filter_map(|it| it.record.ended).max();
        let error = match &outcome.losses {
            Some(losses) if losses.lost_in_all() + losses.silent.returned > 0 => WRONG_DATA,
            _ => 0,
        };
        let entries = self.entries(&host, error);
        outcome.streams = entries.iter().flat_map(Entry::seen).collect();
        let counted = std::mem::take(&mut host.counted);
        let groups = counted
            .into_iter()
            .map(|it| Some(it.after.unwrap_or(outcome.counters).since(&it.before?)));
        let groups = groups.collect();
        drop(host);
        let logs = files.finish()?;
        let fio = Fio {
            outcome,
            entries,
            groups,
            global: self.global.clone(),
            regions: self.regions.clone(),
            notes: self.notes.clone(),
            no_effect: self.no_effect.clone(),
            costs: self.costs,
            logs,
            elapsed: ended.map_or(Span::ZERO, |ended| ended - Nanos::ZERO),
        };
        Ok((fio, watcher))
    }

    /// Refuses jobs that wait for one another, which would never begin.
    fn all_began(&self, host: &Host<'_>) -> Result<(), Diagnostics> {
        let waits = host.processes.iter().filter(|it| !it.has_begun() && !it.has_ended());
        let problem = |process: &Process<'_>| {
            let (name, others) = (&process.plan.name, process.plan.waits_for.as_deref());
            let others = others.unwrap_or("those above");
            let what = format!("the job {name} never began: it waits for {others}");
            Diagnostic::new(self.name.clone(), what)
                .expected(format!("`wait_for` to name a job that can end before {name} begins"))
        };
        Diagnostics(waits.map(problem).collect()).unique().or(())
    }

    /// Returns the paths in `folder` of the log files that the fio jobs write (options such as
    /// `write_lat_log`), sorted.
    pub fn logs(&self, folder: &Path) -> Vec<PathBuf> {
        let of = |task: &Task| super::log::names(&task.plan);
        let mut all: Vec<PathBuf> =
            self.tasks.iter().flat_map(of).map(|(_, name)| folder.join(name)).collect();
        all.sort();
        all.dedup();
        all
    }

    fn processes(
        &self,
        logs: Option<&Path>,
        files: &mut LogFiles,
    ) -> Result<Vec<Process<'_>>, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let mut processes = Vec::new();
        for (number, task) in self.tasks.iter().enumerate() {
            let book = match logs {
                Some(folder) => Logbook::open(&task.plan, folder, files),
                None => Ok(Logbook::default()),
            };
            let Some(book) = diagnostics.take(book) else { break };
            let (plan, requests) = (task.plan.clone(), (task.requests)());
            processes.push(Process::new(plan, requests, self.costs, number as u16, book));
        }
        diagnostics.or(processes)
    }

    /// Returns the entries of fio's output, one for each process; processes whose jobs report as a
    /// group (`group_reporting`) share one entry.
    fn entries(&self, host: &Host<'_>, error: u32) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut grouped: Option<usize> = None;
        for (number, process) in host.processes.iter().enumerate() {
            let (plan, record) = (&process.plan, &process.record);
            if plan.silent {
                continue;
            }
            let options = self.tasks[number].options.clone();
            let mut entry = Entry::new(plan, record.stats.clone(), record.depth, options);
            entry.error = match () {
                () if record.too_slow => TOO_SLOW,
                () if record.below_least => BELOW_LEAST,
                () => error,
            };
            let of = host.criteria.iter().find(|it| it.members.contains(&number));
            entry.steady = of.map(|it| (it.what, it.found.clone()));
            match entries.last_mut() {
                Some(last) if plan.grouped && grouped == Some(plan.group) => last.merge(entry),
                _ => entries.push(entry),
            }
            grouped = plan.grouped.then_some(plan.group);
        }
        entries
    }
}
