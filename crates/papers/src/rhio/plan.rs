//! The runs that the paper's figures and the open questions need, and access to their results.

use super::paper::{Answer, Choice, Paper};
use crate::Request;
use crate::column::Column;
use crate::published;
use crate::run_folder::{Job, RunFolder};
use crate::run_summary::{Number, READ, RunSummary, WRITE};
use crate::runs::{Runs, mean};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use crate::studies::ImageCache;
use fowler_experiment::workload::WorkloadSpec;
use serde::Deserialize;

/// The schemes of the paper, with its names for them.
pub(super) const SCHEMES: [(&str, &str); 4] =
    [("noop", "NOOP"), ("pv_w", "PV-W"), ("rt_r", "RT-R"), ("rhio", "RHIO")];

/// Reads or writes.
pub(super) struct Kind {
    pub name: &'static str,
    pub mean: Number,
    /// The share of them that was prioritized.
    share: Number,
}

/// Both, in the order of the paper's figures.
pub(super) const KINDS: [Kind; 2] = [
    Kind {
        name: "read",
        mean: READ,
        share: |run| Some(run.counters.prioritized_reads / run.read.count),
    },
    Kind {
        name: "write",
        mean: WRITE,
        share: |run| Some(run.counters.prioritized_writes? / run.write.count),
    },
];

/// A way in which a drive and its workload differ from the paper's, by name, and how fast requests
/// come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub variant: &'a str,
    pub speed: f64,
}

/// The paper's drive under requests at the times recorded.
pub(super) const RECORDED: Case<'static> = Case { variant: "", speed: 1.0 };

/// The paper's drive under requests that come `speed` times as fast.
pub(super) fn faster(speed: f64) -> Case<'static> {
    Case { variant: "", speed }
}

pub(super) fn run_name(column: &str, scheme: &str, case: Case<'_>) -> String {
    let base = format!("{column} {scheme} x{}", case.speed);
    if case.variant.is_empty() { base } else { format!("{base} {}", case.variant) }
}

/// Returns the name of the variant with runs over this share of the week.
pub(super) fn lasting(share: f64) -> String {
    format!("{share} of the week")
}

/// Returns the name of the variant with this many commands outstanding at once.
pub(super) fn deep(depth: u32) -> String {
    format!("{depth} tags")
}

/// Returns the name of the variant with stripe units of this many pages.
pub(super) fn striped(unit: u32) -> String {
    format!("unit {unit}")
}

/// RHIO's order alone, in the name of a variant.
pub(super) const ORDER: &str = "order";

/// Preconditioned drives kept for runs to come: those of all schemes and some variants. Runs that
/// begin from one come together.
const IMAGES: usize = 8;

/// What an answer at a stage of the drive's life is called; no answer is the paper's baseline.
pub(super) fn staged(answer: &str, stage: &str) -> String {
    format!("{answer} at {stage}")
}

/// Returns the name of the variant with this many cycles and this source of block strength.
pub(super) fn estimated(source: &str, cycles: u32) -> String {
    format!("strength {source} at {cycles} cycles")
}

/// The sources of block strength.
pub(super) const SOURCES: [&str; 2] = ["measured", "oracle"];
/// The schemes that use block strength, preceded by the baseline.
pub(super) const WRITERS: [&str; 3] = ["noop", "pv_w", "rhio"];

/// All measurements on whole drives, and the published numbers.
pub(crate) struct Evidence {
    pub(super) paper: Paper,
    pub(super) runs: Runs,
    /// Whether only the runs behind the paper's figures were made.
    pub(super) brief: bool,
}

/// What all runs share.
struct Plan<'a> {
    paper: &'a Paper,
    columns: &'a [Column],
    limit: Option<u64>,
    images: &'a ImageCache,
}

impl<'a> Plan<'a> {
    fn job(
        &self,
        column: &Column,
        scheme: &str,
        case: Case<'_>,
        set: &[String],
        requests: u64,
    ) -> Result<Job<'a, RunSummary>, Diagnostics> {
        let spec = RunSpec {
            device: self.paper.device(set),
            scheme: Some(scheme.into()),
            workload: column.spec.clone(),
            replay_speed: ReplaySpeed::Speed(case.speed),
            limit: Some(self.limit.map_or(requests, |limit| limit.min(requests))),
            requests: None,
            faults: Vec::new(),
            detail: false,
        };
        Job::run(run_name(&column.name, scheme, case), spec, self.images)
    }

    /// What the paper shows: four schemes under every workload as recorded.
    fn shown(&self) -> Result<Vec<Job<'a, RunSummary>>, Diagnostics> {
        let mut jobs = Vec::new();
        for column in self.columns {
            for (scheme, _) in SCHEMES {
                let requests = requests_of(column, self.paper.week)?;
                jobs.push(self.job(column, scheme, RECORDED, &[], requests)?);
            }
        }
        Ok(jobs)
    }

    /// Results for the questions that the paper leaves open, those that begin from the same drive
    /// together.
    fn open(&self) -> Result<Vec<Job<'a, RunSummary>>, Diagnostics> {
        let mut jobs = Vec::new();
        for column in self.columns.iter().filter(|column| column.is_stand_in()) {
            // The longest first: the others fill the time at the end.
            for &share in self.paper.lengths.iter().rev() {
                let case = Case { variant: &lasting(share), speed: 1.0 };
                for (scheme, _) in SCHEMES {
                    let requests = requests_of(column, share)?;
                    jobs.push(self.job(column, scheme, case, &[], requests)?);
                }
            }
        }
        for column in self.columns.iter().filter(|column| column.is_stand_in()) {
            for &speed in &self.paper.speeds {
                for (scheme, _) in SCHEMES {
                    jobs.push(self.swept(column, scheme, faster(speed), &[])?);
                }
            }
        }
        for column in self.named() {
            self.ablation(column, &mut jobs)?;
            self.estimates(column, &mut jobs)?;
        }
        self.depths(&mut jobs)?;
        for choice in chosen(self.paper) {
            for column in self.named() {
                let case = Case { variant: &choice.name, speed: choice.speed };
                for (scheme, _) in SCHEMES {
                    jobs.push(self.swept(column, scheme, case, &choice.set)?);
                }
            }
        }
        for unit in units(self.paper) {
            for column in self.named() {
                for speed in [1.0, self.paper.conflicts] {
                    self.unit(column, unit, speed, &mut jobs)?;
                }
            }
            for column in self.columns.iter().filter(|column| !column.is_stand_in()) {
                self.unit(column, unit, 1.0, &mut jobs)?;
            }
        }
        Ok(jobs)
    }

    /// The volumes for which the text gives numbers.
    fn named(&self) -> impl Iterator<Item = &'a Column> + use<'a> {
        let Plan { paper, columns, .. } = *self;
        columns.iter().filter(|column| paper.named.contains(&column.name))
    }

    /// The four schemes with other numbers of commands outstanding: under real excerpts as
    /// recorded, under volumes where requests conflict.
    fn depths(&self, jobs: &mut Vec<Job<'a, RunSummary>>) -> Result<(), Diagnostics> {
        for depth in depths(self.paper) {
            // Page queues have room for all commands: no command has more than 16 pages.
            let pages = 16 * depth.max(NCQ);
            let set = [
                format!("queue.depth={depth}"),
                format!("queue.max_reads={pages}"),
                format!("queue.max_writes={pages}"),
            ];
            let variant = deep(depth);
            let real = self.columns.iter().filter(|it| !it.is_stand_in()).map(|it| (it, 1.0));
            let named = self.named().map(|it| (it, self.paper.conflicts));
            for (column, speed) in real.chain(named) {
                for (scheme, _) in SCHEMES {
                    let case = Case { variant: &variant, speed };
                    jobs.push(self.swept(column, scheme, case, &set)?);
                }
            }
        }
        Ok(())
    }

    /// The four schemes and RHIO's order alone, with stripe units of this many pages.
    fn unit(
        &self,
        column: &Column,
        unit: u32,
        speed: f64,
        jobs: &mut Vec<Job<'a, RunSummary>>,
    ) -> Result<(), Diagnostics> {
        let set = [format!("policy.placement.stripe_unit={unit}")];
        let variant = striped(unit);
        for (scheme, _) in SCHEMES {
            jobs.push(self.swept(column, scheme, Case { variant: &variant, speed }, &set)?);
        }
        let [set] = set;
        let set = [set, "policy.die_order=rhio".into()];
        let variant = format!("{variant} {ORDER}");
        jobs.push(self.swept(column, "noop", Case { variant: &variant, speed }, &set)?);
        Ok(())
    }

    fn swept(
        &self,
        column: &Column,
        scheme: &str,
        case: Case<'_>,
        set: &[String],
    ) -> Result<Job<'a, RunSummary>, Diagnostics> {
        self.job(column, scheme, case, set, self.paper.swept_requests)
    }

    fn ablation(
        &self,
        column: &Column,
        jobs: &mut Vec<Job<'a, RunSummary>>,
    ) -> Result<(), Diagnostics> {
        for Answer { name: stage, set: worn } in &self.paper.stage {
            for Answer { name, set } in ablated(self.paper) {
                let set: Vec<String> = worn.iter().chain(&set).cloned().collect();
                let variant = staged(&name, stage);
                for speed in [1.0, self.paper.conflicts] {
                    jobs.push(self.swept(
                        column,
                        "noop",
                        Case { variant: &variant, speed },
                        &set,
                    )?);
                }
            }
        }
        Ok(())
    }

    fn estimates(
        &self,
        column: &Column,
        jobs: &mut Vec<Job<'a, RunSummary>>,
    ) -> Result<(), Diagnostics> {
        for &cycles in &self.paper.estimate.cycles {
            for source in SOURCES {
                let set = [
                    format!("reliability.cycles={cycles}"),
                    format!("reliability.strength={source}"),
                ];
                let case = Case { variant: &estimated(source, cycles), speed: 1.0 };
                for scheme in WRITERS {
                    jobs.push(self.swept(column, scheme, case, &set)?);
                }
            }
        }
        Ok(())
    }
}

/// Commands that NCQ has tags for.
pub(super) const NCQ: u32 = 32;

/// Numbers of commands outstanding at once, ascending.
pub(super) fn depths(paper: &Paper) -> Vec<u32> {
    let mut all = paper.depths.clone();
    all.push(NCQ);
    all.sort_unstable();
    all
}

/// Pages of a stripe unit, ascending.
pub(super) fn units(paper: &Paper) -> Vec<u32> {
    let mut all = paper.units.clone();
    all.push(1);
    all.sort_unstable();
    all
}

/// Returns how many requests a share of a workload's week has; of a real excerpt, all.
fn requests_of(column: &Column, share: f64) -> Result<u64, Diagnostics> {
    /// What is read of a stand-in.
    #[derive(Deserialize)]
    struct Week {
        requests: u64,
    }
    let WorkloadSpec::Generated(source) = &column.spec else { return Ok(u64::MAX) };
    let Week { requests } = published::open(&source.name, &source.text)?;
    Ok((requests as f64 * share) as u64)
}

/// The baseline, and every set of techniques.
pub(super) fn ablated(paper: &Paper) -> Vec<Answer> {
    let none = Answer { name: "NOOP".into(), set: Vec::new() };
    [none].into_iter().chain(paper.answers()).collect()
}

/// Our choices over fewer requests and volumes, then the others.
pub(super) fn chosen(paper: &Paper) -> Vec<Choice> {
    let ours = Choice {
        name: "the study's assumptions".into(),
        rule: String::new(),
        set: vec![],
        speed: 1.0,
    };
    [ours].into_iter().chain(paper.choice.clone()).collect()
}

impl Evidence {
    /// Runs everything, or loads it from an earlier call. Returns `None` if it was stopped.
    pub(super) fn of(
        paper: Paper,
        columns: Vec<Column>,
        request: &Request,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Diagnostics> {
        let images = ImageCache::of(IMAGES);
        let &Request { limit, brief, .. } = request;
        let plan = Plan { paper: &paper, columns: &columns, limit, images: &images };
        let mut jobs = plan.shown()?;
        if !brief {
            jobs.extend(plan.open()?);
        }
        let Some(results) = runs.results(jobs)? else { return Ok(None) };
        Ok(Some(Evidence { paper, runs: Runs::new(columns, results), brief }))
    }

    /// Returns a number of a run.
    pub(super) fn number(
        &self,
        column: &str,
        scheme: &str,
        case: Case<'_>,
        of: Number,
    ) -> Option<f64> {
        self.runs.number(&run_name(column, scheme, case), of)
    }

    /// Returns a number of a run relative to the same number under another scheme.
    pub(super) fn ratio(
        &self,
        column: &str,
        (scheme, base): (&str, &str),
        case: Case<'_>,
        of: Number,
    ) -> Option<f64> {
        let run = |scheme| run_name(column, scheme, case);
        self.runs.ratio(&run(scheme), &run(base), of)
    }

    /// The share of requests that RHIO prioritized, of the kind at that place of [`KINDS`].
    pub(super) fn prioritized(&self, column: &str, case: Case<'_>, kind: usize) -> Option<f64> {
        let share = self.number(column, "rhio", case, KINDS[kind].share);
        share.filter(|share| share.is_finite())
    }
}

/// The mean over the volumes that the text names.
pub(super) fn average_named(paper: &Paper, of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    average_of(&paper.named, of)
}

/// The mean over some workloads.
pub(super) fn average_of(columns: &[String], of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let all: Option<Vec<f64>> = columns.iter().map(|name| of(name)).collect();
    mean(&all?)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::column::columns;
    use crate::run_folder::Results;
    use crate::run_summary::{Counters, Latencies};

    /// Every run of the whole study uses an existing drive and workload.
    #[test]
    fn every_run_can_be_set_up() {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let images = ImageCache::default();
        let plan = Plan { paper: &paper, columns: &columns, limit: None, images: &images };
        assert_eq!(plan.shown().unwrap().len(), 12 * 4);
        let open = plan.open().unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let all = 12 * 4 * (paper.lengths.len() + paper.speeds.len());
        let ablated = 4 * 3 * 2 * (1 + 7 + paper.rival.len());
        let choices = 4 * 4 * (1 + paper.choice.len());
        let estimates = 4 * 3 * 2 * paper.estimate.cycles.len();
        let depths = 4 * 4 * depths(&paper).len();
        let units = 4 * 5 * 2 * units(&paper).len();
        assert_eq!(open.len(), all + ablated + choices + estimates + depths + units);
    }

    #[test]
    fn a_share_of_the_week_is_a_share_of_its_requests() {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let mds = columns.iter().find(|it| it.name == "mds").unwrap();
        assert_eq!(requests_of(mds, 1.0).unwrap(), 1_211_034);
        assert_eq!(requests_of(mds, 0.25).unwrap(), 302_758);
    }

    #[test]
    fn techniques_come_alone_in_pairs_and_together() {
        let names: Vec<String> =
            Paper::open().unwrap().answers().into_iter().map(|it| it.name).take(7).collect();
        assert_eq!(names[..4], ["write speed", "read speed", "order", "write speed + read speed"]);
        assert_eq!(names[6], "all (RHIO)");
    }

    /// Runs that came out so: mean read, mean write, shares of prioritized reads and writes, by
    /// workload, scheme and speed.
    pub(in crate::rhio) fn invented(of: impl Fn(&str, &str, f64) -> [f64; 4]) -> Evidence {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let mut results = Results::new();
        for column in &columns {
            for (scheme, _) in SCHEMES {
                for speed in [1.0].into_iter().chain(paper.speeds.iter().copied()) {
                    let [read, write, reads, writes] = of(&column.name, scheme, speed);
                    let of = |mean| Latencies {
                        count: 1000.0,
                        mean_us: Some(mean),
                        ..Latencies::default()
                    };
                    let counters = Counters {
                        prioritized_reads: 1000.0 * reads,
                        prioritized_writes: Some(1000.0 * writes),
                        ..Counters::default()
                    };
                    let (read, write) = (of(read), of(write));
                    // Where more requests conflict, more come per second.
                    let simulated_s = 1.0 / (reads + writes);
                    let run =
                        RunSummary { read, write, counters, simulated_s, ..RunSummary::default() };
                    results.insert(run_name(&column.name, scheme, faster(speed)), run);
                }
            }
        }
        Evidence { paper, runs: Runs::new(columns, results), brief: true }
    }
}
