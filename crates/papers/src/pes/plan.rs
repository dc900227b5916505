//! The runs that the tables and figures of the P/E suspension paper need, and access to their
//! results.

use super::fit::{Fit, fit};
use super::limits::Starvation;
use super::paper::{Flash, Paper, Way};
use crate::Request;
use crate::column::Column;
use crate::run_folder::{Job, Results, RunFolder, Speed};
use crate::run_summary::Number;
use crate::runs::Runs;
use crate::studies::{ImageCache, fan_out};
use fowler_experiment::common_speed::TestBed;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::sweep::StudyPoint;
use fowler_experiment::workload::Control;

/// The schemes of the P/E suspension paper in its order: the preset, and the paper's name.
pub(super) const SCHEMES: [(&str, &str); 6] = [
    ("fifo", "FIFO"),
    ("rps", "RPS"),
    ("per", "PER"),
    ("pe0", "PE0"),
    ("pes_ips", "PES_IPS"),
    ("pes_ipc", "PES_IPC"),
];
/// Schemes of the P/E suspension study that run under every alternative assumption about what the
/// paper does not state.
pub(super) const COMPARED: [&str; 3] = ["fifo", "rps", "pes_ipc"];

/// Schemes that are run on all generated workloads that fit the P/E suspension paper's Table 2; PER
/// is left out, because no published mean gain concerns it.
pub(super) const OF_MEMBERS: [&str; 5] = ["fifo", "rps", "pe0", "pes_ips", "pes_ipc"];
/// Schemes of the P/E suspension study that also run in a closed loop, to measure the number of
/// requests that the drive can take.
pub(super) const WRITING: [&str; 4] = ["fifo", "rps", "pes_ips", "pes_ipc"];
/// Name of the P/E suspension study's variant in which requests are issued in a closed loop: a new
/// one when one completes.
pub(super) const CLOSED: &str = "closed loop";

/// All measurements of the P/E suspension study, and the published numbers.
pub(crate) struct Evidence {
    pub(super) paper: Paper,
    pub(super) runs: Runs,
    /// Generated workloads that fit the published latencies, besides those chosen as stand-in
    /// traces; empty if only the P/E suspension paper's own figures were requested.
    pub(super) members: Vec<Column>,
    speeds: Results<Speed>,
    /// Results of the study of starvation (writes that reads keep from finishing); `None` if only
    /// the P/E suspension paper's own figures were requested.
    pub(super) starvation: Option<Starvation>,
    /// Comparison of generated workloads with the excerpt of Financial1; `None` if the excerpt was
    /// not found.
    pub(super) fit: Option<Fit>,
}

/// A drive of the P/E suspension study: its kind of flash, and the variant by which it differs from
/// the paper's drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive<'a> {
    pub flash: Flash,
    pub variant: &'a str,
}

impl Flash {
    /// Returns the P/E suspension paper's drive with the same kind of flash, without a variant.
    pub fn plain(self) -> Drive<'static> {
        Drive { flash: self, variant: "" }
    }
}

/// Returns the name of the P/E suspension study's run of the workload `column` on a drive (SLC or
/// MLC, and variant) under a scheme.
pub(super) fn run_name(column: &str, drive: Drive<'_>, scheme: &str) -> String {
    let base = format!("{column} {} {scheme}", drive.flash.name());
    if drive.variant.is_empty() { base } else { format!("{base} {}", drive.variant) }
}

/// Returns the name of the P/E suspension study's variant with a write queue of `size` requests,
/// under the interpretation `way` of which requests a full queue delays.
pub(super) fn queue_variant(way: &Way, size: u32) -> String {
    format!("queue {size} {}", way.name)
}

/// A row of the P/E suspension study's table of runs: one variant of the SLC drive, the MLC drive
/// or both, under some workloads and schemes.
struct Row<'a> {
    variant: String,
    flashes: &'a [Flash],
    set: Vec<String>,
    on: Vec<&'a Column>,
    schemes: Vec<&'static str>,
    pace: Pace,
}

/// Requests of a P/E suspension study's run are issued at the recorded times divided by this factor
/// and by the replay speed that was found for the workload and the drive.
#[derive(Clone, Copy)]
enum Pace {
    /// Requests are issued at the recorded times divided by the replay speed found for the workload
    /// and the drive, times this factor.
    Found(f64),
    /// Requests are issued in a closed loop with this number of them outstanding.
    Closed(u32),
}

/// Returns every run of the stand-in traces, the real traces and the other generated workloads that
/// fit the published latencies, as rows.
fn table<'a>(paper: &'a Paper, columns: &'a [Column], members: &'a [Column]) -> Vec<Row<'a>> {
    let row = |variant: &str, set: &[String], on: &[&'a Column], schemes: &[&'static str]| Row {
        variant: variant.into(),
        flashes: &Flash::ALL,
        set: set.to_vec(),
        on: on.to_vec(),
        schemes: schemes.to_vec(),
        pace: Pace::Found(1.0),
    };
    let Paper { queue, throughput, .. } = paper;
    let some = |wanted: &dyn Fn(&Column) -> bool| -> Vec<&'a Column> {
        columns.iter().filter(|column| wanted(column)).collect()
    };
    let stand_ins = some(&Column::is_stand_in);
    let queued = some(&|column| column.name == queue.workload);
    let members: Vec<&Column> = members.iter().collect();

    let mut rows = vec![row("", &[], &some(&|_| true), &SCHEMES.map(|(scheme, _)| scheme))];
    for choice in &paper.choice {
        let chosen = row(&choice.name, &choice.set, &stand_ins, &COMPARED);
        rows.push(Row { flashes: choice.flashes(), ..chosen });
    }
    // A closed loop measures the number of requests that the drive can take.
    let closed = row(CLOSED, &[], &stand_ins, &WRITING);
    rows.push(Row { pace: Pace::Closed(throughput.outstanding), ..closed });
    for way in &queue.way {
        for &size in &queue.sizes {
            let held = row(&queue_variant(way, size), &way.set(size), &queued, &COMPARED);
            rows.push(Row { pace: Pace::Found(queue.faster), ..held });
        }
    }
    rows.push(row("", &[], &members, &OF_MEMBERS));
    rows
}

/// Returns the runs of the rows in `table`: one for each drive, workload and scheme.
fn points(
    paper: &Paper,
    table: &[Row<'_>],
    speeds: &Results<Speed>,
    limit: Option<u64>,
) -> Result<Vec<StudyPoint>, Diagnostics> {
    let mut points = Vec::new();
    for Row { variant, flashes, set, on, schemes, pace } in table {
        for column in on {
            for &flash in *flashes {
                let speed = found(speeds, column, flash).ok_or_else(|| {
                    Diagnostic::new(
                        column.name.clone(),
                        format!("no replay speed was found for the {} drive", flash.name()),
                    )
                })?;
                let pace = match *pace {
                    Pace::Found(faster) => ReplaySpeed::Speed(speed * faster),
                    Pace::Closed(outstanding) => ReplaySpeed::Closed(outstanding),
                };
                let run = RunSpec::new(paper.device(flash, set), column.spec.clone(), pace);
                points.extend(schemes.iter().map(|&scheme| StudyPoint {
                    name: run_name(&column.name, Drive { flash, variant }, scheme),
                    run: RunSpec { scheme: Some(scheme.into()), limit, ..run.clone() },
                }));
            }
        }
    }
    Ok(points)
}

/// Returns the two drives under FIFO on which the replay speeds of workloads are searched for.
fn beds(
    paper: &Paper,
    limit: Option<u64>,
    control: Control<'_>,
) -> Result<Vec<TestBed>, Diagnostics> {
    let bed = |&flash: &Flash| {
        Ok(TestBed::new(&paper.device(flash, &[]), "fifo", control)?.limited(limit))
    };
    fan_out::each(&Flash::ALL, bed).into_iter().collect()
}

/// Returns jobs that search, for each workload of the P/E suspension study, for the replay speed at
/// which the study's drives are idle for the share of time that the paper states.
fn speeds<'b>(
    paper: &Paper,
    columns: impl Iterator<Item = &'b Column>,
    beds: &'b [TestBed],
    limit: Option<u64>,
) -> Result<Vec<Job<'b, Speed>>, Diagnostics> {
    let of = |column: &Column, flash: Flash| {
        let (name, bed) = (speed_name(column, flash), &beds[flash as usize]);
        Job::speed(name, std::slice::from_ref(bed), column.spec.clone(), limit, paper.idle)
    };
    columns.flat_map(|column| Flash::ALL.map(|flash| of(column, flash))).collect()
}

impl Evidence {
    /// Executes all runs of the study, or loads those saved by an earlier call. Returns `None` if
    /// the study was stopped.
    pub(super) fn of(
        paper: Paper,
        (columns, members): (Vec<Column>, Vec<Column>),
        request: &Request,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Diagnostics> {
        let images = ImageCache::default();
        let limit = request.limit;
        let beds = beds(&paper, limit, runs.control());
        if runs.control().stopped() {
            return Ok(None);
        }
        let beds = beds?;
        let all = columns.iter().chain(&members);
        let searches = speeds(&paper, all, &beds, limit)?;
        let Some(speeds) = runs.results(searches)? else { return Ok(None) };
        drop(beds);
        let points = points(&paper, &table(&paper, &columns, &members), &speeds, limit)?;
        let Some(results) = runs.simulate(points, &images)? else { return Ok(None) };
        let starvation = if request.brief {
            None
        } else {
            let found = Starvation::gather(&paper, request.limit, &images, runs)?;
            if found.is_none() {
                return Ok(None);
            }
            found
        };
        let fit = fit(&paper, &columns)?;
        let runs = Runs::new(columns, results);
        Ok(Some(Evidence { paper, runs, members, speeds, starvation, fit }))
    }

    /// Returns the factor by which a workload's arrival times are divided on a kind of flash.
    pub(super) fn speed(&self, column: &Column, flash: Flash) -> Option<f64> {
        found(&self.speeds, column, flash)
    }

    /// Returns a metric (`of`) of the P/E suspension study's run of a workload on a drive under a
    /// scheme.
    pub(super) fn number(
        &self,
        column: &str,
        drive: Drive<'_>,
        scheme: &str,
        of: Number,
    ) -> Option<f64> {
        self.runs.number(&self.run(column, drive, scheme), of)
    }

    /// Returns the name of the P/E suspension study's run from which a metric is taken for a scheme
    /// on a drive. While a control measurement of a claim replaces a scheme or variant, it is the
    /// run of the replacement.
    fn run(&self, column: &str, drive: Drive<'_>, scheme: &str) -> String {
        let scheme = self.runs.view.scheme(scheme);
        let variant = self.runs.view.variant(&scheme, drive.variant);
        run_name(column, Drive { variant: &variant, ..drive }, &scheme)
    }

    /// Returns the mean of a metric (`of`) over the P/E suspension study's stand-in traces, for a
    /// drive under a scheme.
    pub(super) fn average(&self, drive: Drive<'_>, scheme: &str, of: Number) -> Option<f64> {
        self.runs.average(|column| self.number(column, drive, scheme, of))
    }

    /// Returns a metric of a workload's run under one scheme divided by that under another.
    pub(super) fn ratio(
        &self,
        column: &str,
        drive: Drive<'_>,
        of: Number,
        (scheme, base): (&str, &str),
    ) -> Option<f64> {
        let run = |scheme| self.run(column, drive, scheme);
        self.runs.ratio(&run(scheme), &run(base), of)
    }

    /// Returns the ratio of a number under two schemes for each stand-in trace, in the order of the
    /// P/E suspension paper; `None` if one is missing.
    pub(super) fn ratios(
        &self,
        drive: Drive<'_>,
        of: Number,
        schemes: (&str, &str),
    ) -> Option<Vec<f64>> {
        self.runs.each(|column| self.ratio(column, drive, of, schemes))
    }
}

fn found(speeds: &Results<Speed>, column: &Column, flash: Flash) -> Option<f64> {
    Some(speeds.get(&speed_name(column, flash))?.factor)
}

fn speed_name(column: &Column, flash: Flash) -> String {
    format!("{} {} speed", column.name, flash.name())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::column::columns;
    use crate::run_folder::tests::set_up;
    use crate::run_summary::RunSummary;

    /// Every run of the P/E suspension study uses an existing drive and workload.
    #[test]
    fn every_run_can_be_set_up() {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let members = crate::pes::ensemble::members(&paper);
        let table = table(&paper, &columns, &members);
        let mut speeds = Results::new();
        for column in columns.iter().chain(&members) {
            for flash in Flash::ALL {
                let speed = Speed { factor: 2.0, idle: 0.7, runs: 1 };
                speeds.insert(speed_name(column, flash), speed);
            }
        }
        let runs = set_up(&points(&paper, &table, &speeds, None).unwrap());
        let choices: usize = paper.choice.iter().map(|it| it.flashes().len() * 3).sum();
        let queues = 2 * 3 * paper.queue.way.len() * paper.queue.sizes.len();
        let stand_ins = 6 * (2 * (SCHEMES.len() + WRITING.len()) + choices);
        assert_eq!(runs, stand_ins + queues + members.len() * 2 * OF_MEMBERS.len());
        speeds.clear();
        let none = points(&paper, &table, &speeds, None);
        assert!(none.is_err(), "none is run at a speed that was not found");
    }

    /// Returns made-up measurements of the write queue under the P/E suspension paper's rule: `of`
    /// gives the mean write latency for a scheme and a queue size.
    pub(in crate::pes) fn queued(of: impl Fn(&str, u32) -> f64) -> Evidence {
        let paper = Paper::open().unwrap();
        let way = &paper.queue.way[0];
        let mut results = Results::new();
        for flash in Flash::ALL {
            for scheme in COMPARED {
                for &size in &paper.queue.sizes {
                    let drive = Drive { flash, variant: &queue_variant(way, size) };
                    let run = [("write.mean_us", of(scheme, size))].into();
                    results.insert(run_name(&paper.queue.workload, drive, scheme), run);
                }
            }
        }
        let (runs, speeds) = (Runs::new(Vec::new(), results), Results::new());
        Evidence { paper, runs, members: Vec::new(), speeds, starvation: None, fit: None }
    }

    /// Returns made-up measurements in which `of` gives two numbers for each scheme: bytes written
    /// per second in a closed loop, and the time that dies are busy at the P/E suspension paper's
    /// load.
    pub(in crate::pes) fn served(of: impl Fn(&str) -> (f64, f64)) -> Evidence {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let mut results = Results::new();
        for column in &columns {
            for flash in Flash::ALL {
                for scheme in WRITING {
                    let (bytes, die_busy_s) = of(scheme);
                    let run = RunSummary::from([
                        ("write.bytes", bytes),
                        ("counters.die_busy_s", die_busy_s),
                        ("simulated_s", 1.0),
                    ]);
                    for variant in ["", CLOSED] {
                        let name = run_name(&column.name, Drive { flash, variant }, scheme);
                        results.insert(name, run.clone());
                    }
                }
            }
        }
        let (runs, speeds) = (Runs::new(columns, results), Results::new());
        Evidence { paper, runs, members: Vec::new(), speeds, starvation: None, fit: None }
    }

    /// Returns made-up measurements: `of` gives the mean latencies of reads and of writes on a kind
    /// of flash under a scheme, for all workloads alike.
    pub(in crate::pes) fn invented(of: impl Fn(Flash, &str) -> (f64, f64)) -> Evidence {
        Evidence { members: Vec::new(), ..with_members(|flash, scheme, _| of(flash, scheme)) }
    }

    /// Returns made-up measurements whose mean latencies depend on the kind of flash, the scheme
    /// and the workload, with a second generated workload for each trace.
    pub(in crate::pes) fn with_members(
        of: impl Fn(Flash, &str, &Column) -> (f64, f64),
    ) -> Evidence {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let another = |it: &Column| Column { name: format!("{} 2", it.name), ..it.clone() };
        let members: Vec<Column> = columns.iter().map(another).collect();
        let mut results = Results::new();
        for column in columns.iter().chain(&members) {
            for flash in Flash::ALL {
                for (scheme, _) in SCHEMES {
                    let (read, write) = of(flash, scheme, column);
                    let run = [("read.mean_us", read), ("write.mean_us", write)].into();
                    results.insert(run_name(&column.name, flash.plain(), scheme), run);
                }
            }
        }
        let (runs, speeds) = (Runs::new(columns, results), Results::new());
        Evidence { paper, runs, members, speeds, starvation: None, fit: None }
    }
}
