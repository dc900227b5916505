//! Output of `fio --output-format=json`, read as measured rows.
//!
//! Jobs called `probe-R` and `load-R`, as `fowler measure` writes them, become a row of latency
//! under load at `R` writes a second. Jobs called `fill-P`, `warm-P` and `pattern-P` become a row
//! of writes by an address pattern. Random reads in a closed loop become rows of reads by depth.
//! Other jobs become no row, and a note says so.

use super::file::{Measured, MeasuredDrive, Row};
use super::fio_patterns::{self as patterns, ByPattern};
use super::kind::Kind;
use super::topics::{Facts, Setup};
use super::words::Arrivals;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Smallest share (0 to 1) of the offered writes that must be achieved; below it, the row is marked
/// as saturated.
const ACHIEVED: f64 = 0.97;

/// Returns true if a JSON file is output of fio.
pub(super) fn is_output(file: &Map<String, Value>) -> bool {
    file.contains_key("fio version") && file.contains_key("jobs")
}

/// Reads the JSON output of fio as a file of measurements.
pub(super) fn read(
    file: &Map<String, Value>,
    name: &str,
    path: &Path,
) -> Result<Measured, Diagnostics> {
    let globals = file.get("global options").and_then(Value::as_object);
    let jobs: Vec<Job<'_>> = file
        .get("jobs")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|job| Some(Job { job: job.as_object()?, globals }))
        .collect();
    let mut notes = Vec::new();
    let mut wrong = Diagnostics::default();
    let found = measurements(&jobs, name, &mut notes, &mut wrong);
    let Found { kind, rows, setup, facts } = found;
    if rows.is_empty() {
        let what = format!(
            "none of the {} jobs in the file is a measurement that can be compared with a \
             simulation",
            jobs.len()
        );
        let expected = "random reads in a closed loop, or jobs `probe-R` and `load-R`, or `fill-P`, `warm-P` and `pattern-P`, as `fowler measure` writes them";
        let hint = notes.join("; ");
        wrong.push(Diagnostic::new(name, what).expected(expected).hint(hint));
    }
    notes
        .insert(0, format!("{} rows of {} in {} jobs of fio", rows.len(), kind.name(), jobs.len()));
    let model = jobs.first().and_then(|job| job.option("filename")).unwrap_or("measured by fio");
    let rows = (1..)
        .zip(&rows)
        .filter_map(|(number, row)| Some(Row::new(number, row.as_object()?.clone())));
    let drive = MeasuredDrive { model: model.into(), sample: None, facts, rows: rows.collect() };
    wrong.or(Measured {
        path: path.to_path_buf(),
        title: notes[0].clone(),
        kind,
        protocol: Map::new(),
        setup,
        drives: vec![drive],
        notes,
    })
}

/// Measured rows in a fio result, all of one kind of measurement.
struct Found {
    kind: Kind,
    rows: Vec<Value>,
    setup: Setup,
    /// Facts on the drive.
    facts: Map<String, Value>,
}

/// Returns the measured rows of the fio result `name`: those of latency under load if it has any,
/// else writes by address pattern, else reads by depth.
fn measurements(
    jobs: &[Job<'_>],
    name: &str,
    notes: &mut Vec<String>,
    wrong: &mut Diagnostics,
) -> Found {
    const LATENCY: &str = "latency under load (`probe-R` and `load-R`)";
    let (rows, setup) = latency_rows(jobs, name, notes, wrong);
    let by_pattern = patterns::rows(jobs, name, notes, wrong);
    let (mut found, has) = if !rows.is_empty() {
        if !by_pattern.rows.is_empty() {
            notes.push(format!(
                "the jobs `pattern-P` are not used, because the file also has jobs of {LATENCY}"
            ));
        }
        let facts = Map::new();
        (Found { kind: Kind::LatencyUnderLoad, rows, setup, facts }, Some(LATENCY))
    } else if !by_pattern.rows.is_empty() {
        let ByPattern { rows, setup, drive: facts } = by_pattern;
        let has = "writes by address pattern (`pattern-P`)";
        (Found { kind: Kind::WritePatterns, rows, setup, facts }, Some(has))
    } else {
        (Found { kind: Kind::ReadsByDepth, rows, setup, facts: Map::new() }, None)
    };
    for job in jobs.iter().filter(|job| !job.has_role()) {
        match (job.reads(), has) {
            (Ok(row), None) => found.rows.push(row),
            (Ok(_), Some(others)) => notes.push(format!(
                "the job `{}` is not used, because the file also has jobs of {others}",
                job.name()
            )),
            (Err(why), _) => notes.push(format!("`{}` is not used: {why}", job.name())),
        }
    }
    found
}

/// Returns the measured rows of latency under load from the fio result `name`, and the number of
/// threads, depth and other settings of the jobs that measured them.
fn latency_rows(
    jobs: &[Job<'_>],
    name: &str,
    notes: &mut Vec<String>,
    wrong: &mut Diagnostics,
) -> (Vec<Value>, Setup) {
    let latency = jobs.iter().filter_map(|job| Some((job, job.rate_in_name("probe-")?)));
    let mut rows: Vec<Value> = Vec::new();
    let mut setup = Setup::new();
    for (probe, rate) in latency {
        let load = jobs.iter().find(|job| job.rate_in_name("load-") == Some(rate));
        let Some(load) = load else {
            notes.push(format!(
                "the job `{}` is not used: the job of the concurrent writes, `load-{rate}`, is \
                 missing",
                probe.name()
            ));
            continue;
        };
        for (topic, facts) in [("probe", probe.facts(true)), ("load", load.facts(false))] {
            let known = setup.entry(topic.to_string()).or_insert(facts);
            if *known != facts {
                let what = format!(
                    "the job `{topic}-{rate}` has other options than the first job of the file \
                     whose name begins with `{topic}-`"
                );
                let expected = "equal numjobs, iodepth, rwmixread and rate_process at all rates";
                wrong.push(Diagnostic::new(name, what).expected(expected));
            }
        }
        rows.push(probe.latency(load, rate));
    }
    (rows, setup)
}

pub(super) struct Job<'a> {
    job: &'a Map<String, Value>,
    globals: Option<&'a Map<String, Value>>,
}

impl Job<'_> {
    pub(super) fn name(&self) -> String {
        printable(self.job.get("jobname").and_then(Value::as_str).unwrap_or("unnamed"))
    }

    /// Returns the rate in the name of a job, such as 10,000 for `probe-10000`.
    fn rate_in_name(&self, prefix: &str) -> Option<u32> {
        self.name_behind(prefix)?.parse().ok()
    }

    /// Returns true if the name of the job says which part of a measurement it is.
    fn has_role(&self) -> bool {
        self.rate_in_name("probe-").is_some()
            || self.rate_in_name("load-").is_some()
            || patterns::PARTS.iter().any(|part| self.name_behind(part).is_some())
    }

    /// Returns the part of a job's name behind `prefix`, such as `uniform` for `pattern-uniform`.
    pub(super) fn name_behind(&self, prefix: &str) -> Option<&str> {
        self.job.get("jobname").and_then(Value::as_str)?.strip_prefix(prefix)
    }

    pub(super) fn option(&self, key: &str) -> Option<&str> {
        let of_job = self.job.get("job options").and_then(|it| it.get(key));
        of_job.or_else(|| self.globals.and_then(|it| it.get(key))).and_then(Value::as_str)
    }

    /// Returns the bytes of the global option `size`, if it is a number of bytes.
    pub(super) fn global_size(&self) -> Option<u64> {
        self.globals?.get("size")?.as_str()?.trim().parse().ok().filter(|size| *size > 0)
    }

    /// Returns the bytes of the job's own option `size`, if it is a number of bytes.
    pub(super) fn own_size(&self) -> Option<u64> {
        self.job.get("job options")?.get("size")?.as_str()?.trim().parse().ok()
    }

    fn count(&self, key: &str) -> Option<u32> {
        self.option(key).map_or(Some(1), |text| text.trim().parse().ok())
    }

    fn has_rate(&self) -> bool {
        self.option("rate_iops").or_else(|| self.option("rate")).is_some()
    }

    pub(super) fn facts(&self, is_probe: bool) -> Facts {
        let reads = match self.option("rw").or_else(|| self.option("readwrite")) {
            Some("randread" | "read") => 1.0,
            Some("randrw" | "rw") => {
                self.option("rwmixread").and_then(|it| it.parse().ok()).unwrap_or(50.0) / 100.0
            }
            _ => 0.0,
        };
        let rate =
            |text: &str| text.split(',').filter_map(|it| it.trim().parse::<f64>().ok()).sum();
        Facts {
            threads: self.count("numjobs"),
            depth: self.count("iodepth"),
            write_share: Some(1.0 - reads),
            arrivals: Some(match (self.option("rate_process"), self.has_rate()) {
                (Some("poisson"), _) => Arrivals::Poisson,
                (_, true) => Arrivals::Fixed,
                (_, false) => Arrivals::Closed,
            }),
            // The load's rate is that of each row.
            rate: self.option("rate_iops").filter(|_| is_probe).map(rate),
        }
    }

    pub(super) fn number(&self, kind: &str, key: &str) -> f64 {
        let value = self.job.get(kind).and_then(|it| it.get(key)).and_then(Value::as_f64);
        value.unwrap_or(0.0)
    }

    /// Returns mean and percentiles of a job's latencies in microseconds, under their keys in
    /// `latency_under_load`.
    pub(super) fn latencies(
        &self,
        kind: &str,
        key_of: impl Fn(&str) -> String,
    ) -> Map<String, Value> {
        let mut all = Map::new();
        let of = |clock: &str| self.job.get(kind).and_then(|it| it.get(clock));
        let clock = of("lat_ns").filter(|it| it.get("percentile").is_some());
        let Some(clock) = clock.or_else(|| of("clat_ns")) else { return all };
        if let Some(mean) = clock.get("mean").and_then(Value::as_f64).filter(|it| *it > 0.0) {
            all.insert(key_of("mean"), json!(mean / 1e3));
        }
        let percentiles = clock.get("percentile").and_then(Value::as_object);
        for (name, value) in percentiles.into_iter().flatten() {
            let (Ok(percent), Some(ns)) = (name.parse::<f64>(), value.as_f64()) else { continue };
            all.insert(key_of(&format!("p{percent}")), json!(ns / 1e3));
        }
        all
    }

    fn latency(&self, load: &Job<'_>, rate: u32) -> Value {
        let both = |kind: &str| self.number(kind, "iops") + load.number(kind, "iops");
        let own = |name: &str| name.to_string();
        json!({
            "offered_write_iops": rate,
            "achieved_write_iops": both("write"),
            "achieved_read_iops": both("read"),
            "saturated": both("write") < ACHIEVED * f64::from(rate),
            "read_us": self.latencies("read", own),
            "write_us": self.latencies("write", own),
        })
    }

    /// Returns the measured row of random reads at a queue depth that the job of a fio result
    /// measures, or the reason why the job measures none.
    fn reads(&self) -> Result<Value, String> {
        let rw = self.option("rw").or_else(|| self.option("readwrite")).unwrap_or("read");
        if rw != "randread" {
            return Err(format!(
                "rw={}: only random reads (rw=randread) can be compared, apart from jobs named \
                 probe-R and load-R",
                printable(rw)
            ));
        }
        if self.has_rate() {
            return Err("the rate of the job is limited: only a closed loop can be compared".into());
        }
        let engine = match self.option("ioengine").unwrap_or("psync") {
            "spdk" => "spdk",
            "libaio" => "libaio",
            _ => "io_uring",
        };
        let bytes = self.option("bs").or_else(|| self.option("blocksize")).unwrap_or("4k");
        let block = size(bytes).ok_or_else(|| format!("bs={} is no size", printable(bytes)))?;
        let (Some(jobs), Some(depth)) = (self.count("numjobs"), self.count("iodepth")) else {
            return Err("numjobs or iodepth is no number".into());
        };
        let mut row = json!({
            "series": self.name(), "engine": engine, "block_bytes": block, "jobs": jobs,
            "qd_per_job": depth, "iops": self.number("read", "iops"),
            "mb_s": self.number("read", "bw_bytes") / 1e6,
        });
        if let Some(row) = row.as_object_mut() {
            row.extend(self.latencies("read", |name| format!("{name}_us")));
        }
        Ok(row)
    }
}

/// Returns the bytes of a size in fio's notation, such as `4k` or `4096`; `None` if the text is no
/// size.
pub(super) fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().ok()?;
    match &text[digits.len()..] {
        "" | "b" => Some(number),
        "k" | "kb" | "kib" => number.checked_mul(1 << 10),
        "m" | "mb" | "mib" => number.checked_mul(1 << 20),
        "g" | "gb" | "gib" => number.checked_mul(1 << 30),
        _ => None,
    }
}
