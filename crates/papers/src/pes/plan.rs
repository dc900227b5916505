//! Which runs the paper's tables and figures need, and where their results are found.

use super::paper::{Flash, Paper};
use crate::column::Column;
use crate::run_folder::{Job, Results, RunFolder};
use crate::runs::Runs;
use fowler_experiment::calibration::TestBed;
use fowler_experiment::problem::{Problem, Problems};
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::studies::ImageCache;

/// The schemes of the paper, in its order, with its names for them.
pub(super) const SCHEMES: [(&str, &str); 6] = [
    ("fifo", "FIFO"),
    ("rps", "RPS"),
    ("per", "PER"),
    ("pe0", "PE0"),
    ("pes_ips", "PES_IPS"),
    ("pes_ipc", "PES_IPC"),
];
/// Those that a study of variations compares.
pub(super) const COMPARED: [&str; 3] = ["fifo", "rps", "pes_ipc"];

/// Everything that was measured on whole drives.
pub(super) struct Evidence {
    pub runs: Runs,
    speeds: Results,
}

/// What a run is called: its workload, flash, scheme, and how it differs from the paper's drive.
pub(super) fn run_name(column: &str, flash: Flash, scheme: &str, variant: &str) -> String {
    let base = format!("{column} {} {scheme}", flash.name());
    if variant.is_empty() { base } else { format!("{base} {variant}") }
}

/// The variant of a write queue of that size.
pub(super) fn queue_variant(size: u32) -> String {
    format!("queue {size}")
}

/// What all runs have in common.
struct Plan<'a> {
    paper: &'a Paper,
    columns: &'a [Column],
    limit: Option<u64>,
    images: &'a ImageCache,
}

impl<'a> Plan<'a> {
    fn spec(
        &self,
        column: &Column,
        flash: Flash,
        scheme: &str,
        set: &[String],
        replay_speed: ReplaySpeed,
    ) -> RunSpec {
        RunSpec {
            device: self.paper.device(flash, set),
            scheme: Some(scheme.into()),
            workload: column.spec.clone(),
            replay_speed,
            limit: self.limit,
            requests: None,
            detail: false,
        }
    }

    /// The two drives under FIFO, on which traces are compressed.
    fn beds(&self) -> Result<Vec<TestBed>, Problems> {
        let bed = |flash: Flash| {
            Ok(TestBed::new(&self.paper.device(flash, &[]), "fifo")?.limited(self.limit))
        };
        Flash::ALL.into_iter().map(bed).collect()
    }

    /// By what each workload is compressed: until the drive idles as long as the paper says, "for each
    /// workload". Each drive has a factor of its own, so that both are as busy as the paper says.
    fn speeds<'b>(&self, beds: &'b [TestBed]) -> Result<Vec<Job<'b>>, Problems> {
        let mut jobs = Vec::new();
        for column in self.columns {
            for flash in Flash::ALL {
                let (name, workload) = (speed_name(column, flash), column.spec.clone());
                let bed = std::slice::from_ref(&beds[flash as usize]);
                jobs.push(Job::speed(name, bed, workload, self.limit, self.paper.idle)?);
            }
        }
        Ok(jobs)
    }

    fn runs(&self, speeds: &Results) -> Result<Vec<Job<'a>>, Problems> {
        let mut jobs = Vec::new();
        for column in self.columns {
            for flash in Flash::ALL {
                let speed = found(speeds, column, flash)
                    .ok_or_else(|| Problem::new(column.name.clone(), "no speed was found"))?;
                for (scheme, _) in SCHEMES {
                    jobs.push(self.run(column, flash, scheme, ("", &[]), speed)?);
                }
                if column.is_stand_in() {
                    self.choices(column, flash, speed, &mut jobs)?;
                }
                if column.name == self.paper.queue.workload {
                    self.queue(column, flash, speed, &mut jobs)?;
                }
            }
        }
        Ok(jobs)
    }

    fn run(
        &self,
        column: &Column,
        flash: Flash,
        scheme: &str,
        (variant, set): (&str, &[String]),
        speed: f64,
    ) -> Result<Job<'a>, Problems> {
        let spec = self.spec(column, flash, scheme, set, ReplaySpeed::Speed(speed));
        Job::run(run_name(&column.name, flash, scheme, variant), spec, self.images)
    }

    fn choices(
        &self,
        column: &Column,
        flash: Flash,
        speed: f64,
        jobs: &mut Vec<Job<'a>>,
    ) -> Result<(), Problems> {
        for choice in self.paper.choice.iter().filter(|it| it.flashes().contains(&flash)) {
            for scheme in COMPARED {
                jobs.push(self.run(column, flash, scheme, (&choice.name, &choice.set), speed)?);
            }
        }
        Ok(())
    }

    fn queue(
        &self,
        column: &Column,
        flash: Flash,
        speed: f64,
        jobs: &mut Vec<Job<'a>>,
    ) -> Result<(), Problems> {
        let queue = &self.paper.queue;
        for scheme in COMPARED {
            for &size in &queue.sizes {
                let set = [format!("queue.max_writes={size}")];
                let variant = queue_variant(size);
                let speed = speed * queue.faster;
                jobs.push(self.run(column, flash, scheme, (&variant, &set), speed)?);
            }
        }
        Ok(())
    }
}

impl Evidence {
    /// Runs everything, or takes it from where an earlier call left it; nothing if it was stopped.
    pub fn gather(
        paper: &Paper,
        columns: Vec<Column>,
        limit: Option<u64>,
        images: &ImageCache,
        runs: &RunFolder<'_>,
    ) -> Result<Option<Evidence>, Problems> {
        let plan = Plan { paper, columns: &columns, limit, images };
        let beds = plan.beds()?;
        let Some(speeds) = runs.results(plan.speeds(&beds)?)? else { return Ok(None) };
        drop(beds);
        let Some(results) = runs.results(plan.runs(&speeds)?)? else { return Ok(None) };
        Ok(Some(Evidence { speeds, runs: Runs::new(columns, results) }))
    }

    /// By what a workload's times were divided.
    pub fn speed(&self, column: &Column, flash: Flash) -> Option<f64> {
        found(&self.speeds, column, flash)
    }

    /// A number of a run's summary, by its JSON pointer.
    pub fn number(
        &self,
        column: &str,
        flash: Flash,
        scheme: &str,
        variant: &str,
        pointer: &str,
    ) -> Option<f64> {
        self.runs.number(&run_name(column, flash, scheme, variant), pointer)
    }

    /// A number of a run relative to the same number under another scheme.
    pub fn ratio(
        &self,
        (column, flash, variant): (&str, Flash, &str),
        pointer: &str,
        scheme: &str,
        base: &str,
    ) -> Option<f64> {
        let run = |scheme| run_name(column, flash, scheme, variant);
        self.runs.ratio(&run(scheme), &run(base), pointer)
    }

    /// The ratio for each stand-in, in the order of the paper; nothing if one is missing.
    pub fn ratios(
        &self,
        (flash, variant): (Flash, &str),
        pointer: &str,
        scheme: &str,
        base: &str,
    ) -> Option<Vec<f64>> {
        let ratio =
            |column: &Column| self.ratio((&column.name, flash, variant), pointer, scheme, base);
        self.runs.stand_ins().map(ratio).collect()
    }
}

fn found(speeds: &Results, column: &Column, flash: Flash) -> Option<f64> {
    speeds.get(&speed_name(column, flash))?["factor"].as_f64()
}

fn speed_name(column: &Column, flash: Flash) -> String {
    format!("{} {} speed", column.name, flash.name())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::column::columns;
    use serde_json::json;

    /// Every run of the whole study is of a drive and a workload that there are.
    #[test]
    fn every_run_can_be_set_up() {
        let paper = Paper::open().unwrap();
        let columns = columns(&paper.workload, None).unwrap();
        let images = ImageCache::default();
        let plan = Plan { paper: &paper, columns: &columns, limit: None, images: &images };
        let mut speeds = Results::new();
        for column in &columns {
            for flash in Flash::ALL {
                speeds.insert(speed_name(column, flash), json!({ "factor": 2.0 }));
            }
        }
        let runs = plan.runs(&speeds).unwrap_or_else(|problems| panic!("{problems}"));
        let choices: usize = paper.choice.iter().map(|it| it.flashes().len() * 3).sum();
        assert_eq!(runs.len(), 6 * (2 * 6 + choices) + 2 * 3 * 6);
        speeds.clear();
        assert!(plan.runs(&speeds).is_err(), "none is run at a speed that was not found");
    }

    /// Runs as they would have to come out for these means of reads and writes, all workloads alike.
    pub(in crate::pes) fn invented(of: impl Fn(Flash, &str) -> (f64, f64)) -> Evidence {
        let columns = columns(&Paper::open().unwrap().workload, None).unwrap();
        let mut results = Results::new();
        for column in &columns {
            for flash in Flash::ALL {
                for (scheme, _) in SCHEMES {
                    let (read, write) = of(flash, scheme);
                    let run = json!({ "read": { "mean_us": read }, "write": { "mean_us": write } });
                    results.insert(run_name(&column.name, flash, scheme, ""), run);
                }
            }
        }
        Evidence { speeds: Results::new(), runs: Runs::new(columns, results) }
    }
}
