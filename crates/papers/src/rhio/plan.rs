//! The runs that the paper's figures and the open questions need, and access to their results.

use super::paper::{Answer, Choice, Paper};
use crate::Request;
use crate::column::Column;
use crate::run_folder::{Job, RunFolder};
use crate::run_summary::{Number, READ, RunSummary, WRITE};
use crate::runs::{Runs, mean};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::studies::ImageCache;

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
            detail: false,
        };
        Job::run(run_name(&column.name, scheme, case), spec, self.images)
    }

    /// What the paper shows: four schemes under every workload as recorded.
    fn shown(&self) -> Result<Vec<Job<'a, RunSummary>>, Diagnostics> {
        let mut jobs = Vec::new();
        for column in self.columns {
            for (scheme, _) in SCHEMES {
                jobs.push(self.job(column, scheme, RECORDED, &[], self.paper.requests)?);
            }
        }
        Ok(jobs)
    }

    /// Results for the questions that the paper leaves open.
    fn open(&self) -> Result<Vec<Job<'a, RunSummary>>, Diagnostics> {
        let mut jobs = Vec::new();
        for column in self.columns.iter().filter(|column| column.is_stand_in()) {
            for &speed in &self.paper.speeds {
                for (scheme, _) in SCHEMES {
                    let requests = self.paper.requests;
                    jobs.push(self.job(column, scheme, faster(speed), &[], requests)?);
                }
            }
            if self.paper.named.contains(&column.name) {
                self.ablation(column, &mut jobs)?;
                self.choices(column, &mut jobs)?;
                self.estimates(column, &mut jobs)?;
            }
        }
        Ok(jobs)
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

    fn choices(
        &self,
        column: &Column,
        jobs: &mut Vec<Job<'a, RunSummary>>,
    ) -> Result<(), Diagnostics> {
        for choice in chosen(self.paper) {
            let case = Case { variant: &choice.name, speed: choice.speed };
            for (scheme, _) in SCHEMES {
                jobs.push(self.swept(column, scheme, case, &choice.set)?);
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
        let images = ImageCache::default();
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
    let all: Option<Vec<f64>> = paper.named.iter().map(|name| of(name)).collect();
    mean(&all?)
}

/// Where a volume's writes are prioritized as often as is asked for: between two speeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crossing {
    slow: f64,
    fast: f64,
    /// How far from the slower to the faster one.
    part: f64,
}

impl Crossing {
    /// The first speed at which the share is reached, taken to grow evenly with the logarithm of
    /// speed between two that were run; nothing if it is exceeded from the first or never reached.
    pub fn find(paper: &Paper, evidence: &Evidence, column: &str, share: f64) -> Option<Crossing> {
        let speeds: Vec<f64> = [1.0].into_iter().chain(paper.speeds.iter().copied()).collect();
        let at = |speed| evidence.prioritized(column, faster(speed), 1);
        speeds.windows(2).find_map(|pair| {
            let (slow, fast) = (at(pair[0])?, at(pair[1])?);
            (slow < share && share <= fast).then(|| {
                let part = (share - slow) / (fast - slow);
                Crossing { slow: pair[0], fast: pair[1], part }
            })
        })
    }

    /// The speed.
    pub fn speed(&self) -> f64 {
        self.slow * libm::pow(self.fast / self.slow, self.part)
    }

    /// What a number is there, if it changes evenly.
    pub fn value(&self, of: impl Fn(Case<'static>) -> Option<f64>) -> Option<f64> {
        let (slow, fast) = (of(faster(self.slow))?, of(faster(self.fast))?);
        Some(slow + (fast - slow) * self.part)
    }
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
        let swept = 12 * 4 * paper.speeds.len();
        let ablated = 4 * 3 * 2 * (1 + 7 + paper.rival.len());
        let choices = 4 * 4 * (1 + paper.choice.len());
        assert_eq!(open.len(), swept + ablated + choices + 4 * 3 * 2 * paper.estimate.cycles.len());
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
                    let run = RunSummary { read, write, counters, ..RunSummary::default() };
                    results.insert(run_name(&column.name, scheme, faster(speed)), run);
                }
            }
        }
        Evidence { paper, runs: Runs::new(columns, results), brief: true }
    }

    #[test]
    fn a_share_is_reached_between_two_speeds() {
        let paper = Paper::open().unwrap();
        let evidence = invented(|_, _, speed| [1000.0 + speed, 1.0, 0.0, (speed / 1e4).min(1.0)]);
        let crossing = Crossing::find(&paper, &evidence, "mds", 0.25).unwrap();
        // 10 % at 1,000 and 30 % at 3,000: three quarters of the way.
        assert_eq!((crossing.slow, crossing.fast), (1000.0, 3000.0));
        assert!((crossing.part - 0.75).abs() < 1e-9 && (crossing.speed() - 2279.5).abs() < 0.1);
        let read = crossing.value(|case| evidence.number("mds", "rhio", case, READ));
        assert!((read.unwrap() - 3500.0).abs() < 1e-6);
        assert_eq!(Crossing::find(&paper, &evidence, "mds", 1.1), None);
        let always = invented(|_, _, _| [1.0, 1.0, 0.0, 0.5]);
        assert_eq!(Crossing::find(&paper, &always, "mds", 0.25), None);
    }
}
