//! Simulates many measured rows in parallel; a job that several rows need runs once.

use super::bench::{Bench, Findings};
use super::job::{Job, Length};
use super::plan;
use super::plan::{Plan, Simulated};
use crate::measurements::Pick;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::fan_out;
use fowler_experiment::progress::{Control, Progress};

/// Measured rows that can be simulated, with their jobs.
pub struct Rows<'a> {
    rows: Vec<Planned<'a>>,
    jobs: Vec<Job>,
    /// Measured rows that cannot be simulated, each with the reason.
    pub refused: Vec<(Pick<'a>, String)>,
}

/// A measured row, with the indices of its jobs among all jobs.
struct Planned<'a> {
    pick: Pick<'a>,
    plan: Plan,
    jobs: Vec<usize>,
}

/// A measured row with its simulated numbers.
pub struct Done<'a, 'b> {
    /// Measured row that was simulated.
    pub pick: Pick<'a>,
    /// Simulated counterparts of a measured row's numbers, or the reason why there are none.
    pub simulated: Result<Vec<Simulated>, String>,
    /// Result of the benchmark job with the conditions of the measured row, not of jobs that are
    /// only simulated as the denominator of its ratios (such as `ratio_to_uniform`); `None` if the
    /// job failed.
    pub findings: Option<&'b Findings>,
    /// Numbers of a measured row that have no simulated counterpart: the beginning of each key, and
    /// the reason.
    pub left_out: &'b [(&'static str, &'static str)],
}

/// Results of all benchmark jobs, by index; `None` for a job that was stopped.
pub type Results = Vec<Option<Result<Findings, String>>>;

impl<'a> Rows<'a> {
    /// Plans the simulation jobs for the measured rows in `picks`, and sets aside rows that cannot
    /// be simulated.
    pub fn of(picks: Vec<Pick<'a>>) -> Rows<'a> {
        let mut all = Rows { rows: Vec::new(), jobs: Vec::new(), refused: Vec::new() };
        for pick in picks {
            match plan(&pick) {
                Err(reason) => all.refused.push((pick, reason)),
                Ok(plan) => {
                    let jobs = plan.jobs.iter().map(|job| all.number_of(job)).collect();
                    all.rows.push(Planned { pick, plan, jobs });
                }
            }
        }
        all
    }

    fn number_of(&mut self, job: &Job) -> usize {
        self.jobs.iter().position(|other| other == job).unwrap_or_else(|| {
            self.jobs.push(job.clone());
            self.jobs.len() - 1
        })
    }

    /// Returns the number of measured rows to simulate, and the number of different simulation jobs
    /// that they need.
    pub fn count(&self) -> (usize, usize) {
        (self.rows.len(), self.jobs.len())
    }

    /// Returns the measured rows that can be simulated, in the order given.
    pub fn picks(&self) -> impl Iterator<Item = Pick<'a>> {
        self.rows.iter().map(|row| row.pick)
    }

    /// Runs all benchmark jobs that simulate the measured rows, in parallel and the long ones
    /// first. Results do not depend on the number of threads.
    pub fn run(&self, bench: &Bench<'_>, control: Control<'_>) -> Results {
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        let long = |job: &Job| match job.length {
            Length::Moved { times, .. } => times,
            Length::Tail { .. } | Length::Lasting(_) => 1.0,
        };
        order.sort_by(|&one, &other| long(&self.jobs[other]).total_cmp(&long(&self.jobs[one])));
        let ran = fan_out::each(&order, |&number| {
            let result = bench.run(&self.jobs[number], control);
            (control.progress)(Progress::Served { requests: 0, of_a_part: 1.0 });
            (number, result.map_err(|why| in_a_line(&why)).transpose())
        });
        let mut results: Results = self.jobs.iter().map(|_| None).collect();
        for (number, result) in ran {
            results[number] = result;
        }
        results
    }

    /// Returns the measured rows whose benchmark jobs have all ended in `results`, in the order
    /// given, with the numbers that were simulated for them.
    pub fn done<'b>(&'b self, results: &'b Results) -> impl Iterator<Item = Done<'a, 'b>> {
        self.rows.iter().filter_map(move |row| {
            let of_row: Option<Vec<_>> =
                row.jobs.iter().map(|&number| results[number].as_ref()).collect();
            let of_row: Result<Vec<&Findings>, String> =
                of_row?.into_iter().map(|it| it.as_ref().map_err(Clone::clone)).collect();
            let findings = of_row.as_ref().ok().and_then(|all| all.first().copied());
            let simulated = of_row.map(|findings| row.plan.simulated(&row.pick, &findings));
            Some(Done { pick: row.pick, simulated, findings, left_out: &row.plan.left_out })
        })
    }
}

/// Returns all errors of a drive configuration as one line of text, for a table cell.
fn in_a_line(why: &Diagnostics) -> String {
    why.0.iter().map(|it| it.what.as_str()).collect::<Vec<_>>().join("; ")
}
