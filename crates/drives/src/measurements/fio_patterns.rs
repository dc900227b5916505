//! Writes by address pattern in the output of fio, as `fowler measure` asks for them.
//!
//! A pattern `P` has three jobs: `fill-P` writes the whole drive in order, `warm-P` writes by the
//! pattern until throughput is steady, and `pattern-P` goes on with that and is what counts. The
//! global option `size` is the capacity of the drive in bytes. The options of `pattern-P` say what
//! the pattern is.

use super::fio::{Job, size};
use super::topics::Setup;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use serde_json::{Map, Value, json};

/// Beginnings of the names of jobs that belong to an address pattern.
pub(super) const PARTS: [&str; 3] = ["fill-", "warm-", "pattern-"];

const GIB: f64 = (1u64 << 30) as f64;

/// Measured writes by address pattern.
pub(super) struct ByPattern {
    /// One row for each pattern.
    pub rows: Vec<Value>,
    /// Threads and depths of the patterns of 4 KiB, and those of zones.
    pub setup: Setup,
    /// Facts on the drive: its capacity.
    pub drive: Map<String, Value>,
}

/// Returns the measured writes by address pattern from the fio result `name`; no rows if it has no
/// job `pattern-P`.
pub(super) fn rows(
    jobs: &[Job<'_>],
    name: &str,
    notes: &mut Vec<String>,
    wrong: &mut Diagnostics,
) -> ByPattern {
    let (mut rows, mut setup, mut drive) = (Vec::new(), Setup::new(), Map::new());
    for job in jobs {
        let Some(pattern) = job.name_behind("pattern-") else { continue };
        let other = |part: &str| jobs.iter().find(|job| job.name_behind(part) == Some(pattern));
        let parts = (job.global_size(), other("fill-"), other("warm-"));
        let (Some(capacity), Some(fill), Some(warm)) = parts else {
            notes.push(format!(
                "the job `{}` is not used: it needs the jobs `fill-{pattern}` and \
                 `warm-{pattern}`, and the capacity of the drive in bytes as the global option \
                 `size`",
                job.name(),
                pattern = printable(pattern)
            ));
            continue;
        };
        let row = match row(job, fill, warm, capacity) {
            Ok(row) => row,
            Err(why) => {
                notes.push(format!("`{}` is not used: {why}", job.name()));
                continue;
            }
        };
        let topic = if row["pattern"] == "seq_zones" { "seq_zones" } else { "patterns_4k" };
        let facts = job.facts(false);
        if *setup.entry(topic.to_string()).or_insert(facts) != facts {
            let what = format!("the job `{}` has other options than the others", job.name());
            let expected =
                "equal numjobs and iodepth in all patterns of 4 KiB, and in all of zones";
            wrong.push(Diagnostic::new(name, what).expected(expected));
        }
        drive.insert("capacity_gb".into(), json!(capacity as f64 / 1e9));
        rows.push(row);
    }
    // The simulation of zones takes the threads of the other patterns for granted.
    if let Some(&zones) = setup.get("seq_zones") {
        setup.entry("patterns_4k".into()).or_insert(zones);
    }
    let uniform = rows.iter().find(|row| row["pattern"] == "uniform").cloned();
    if let Some(uniform) = uniform.as_ref().and_then(|row| row["steady_mb_s"].as_f64()) {
        let others =
            |row: &&mut Value| row["pattern"] != "uniform" && row["pattern"] != "seq_zones";
        for row in rows.iter_mut().filter(others) {
            if let Some(own) = row["steady_mb_s"].as_f64().filter(|_| uniform > 0.0) {
                row["ratio_to_uniform"] = json!(own / uniform);
            }
        }
    }
    ByPattern { rows, setup, drive }
}

/// Returns the measured row of a pattern, or the reason why its job cannot be compared.
fn row(job: &Job<'_>, fill: &Job<'_>, warm: &Job<'_>, capacity: u64) -> Result<Value, String> {
    let text = job.option("bs").or_else(|| job.option("blocksize")).unwrap_or("4k");
    let block = size(text).filter(|block| *block > 0 && block.is_multiple_of(1024));
    let block = block.ok_or_else(|| format!("bs={} is no number of KiB", printable(text)))?;
    let mut row = pattern(job, block, capacity)?;
    let written = [warm, job].map(|job| job.number("write", "io_bytes")).iter().sum::<f64>();
    let (steady, sequential) =
        (job.number("write", "bw_bytes") / 1e6, fill.number("write", "bw_bytes") / 1e6);
    if steady <= 0.0 || sequential <= 0.0 {
        return Err("it wrote nothing, or its fill did not".into());
    }
    let found = json!({
        "io_kib": block >> 10,
        "overwritten_x_device": written / capacity as f64,
        "steady_mb_s": steady,
        "steady_iops": job.number("write", "iops"),
        "write_us": job.latencies("write", |name| name.to_string()),
        "sequential_mb_s": sequential,
        "ratio_to_sequential": steady / sequential,
        "implied_waf": sequential / steady,
    });
    if let Value::Object(found) = found {
        row.extend(found);
    }
    Ok(Value::Object(row))
}

/// Returns the keys that tell the address pattern of a job, or the reason why none describes it.
fn pattern(job: &Job<'_>, block: u64, capacity: u64) -> Result<Map<String, Value>, String> {
    let rw = job.option("rw").or_else(|| job.option("readwrite")).unwrap_or("read");
    let law = job.option("random_distribution").unwrap_or("random");
    let own = job.own_size().unwrap_or(capacity);
    let known = match (rw.split_once(':'), law.split_once(':')) {
        (None, None) if rw == "randwrite" && law == "random" && own >= capacity => {
            json!({ "pattern": "uniform" })
        }
        (None, None) if rw == "randwrite" && law == "random" => {
            let share = own as f64 / capacity as f64;
            let sets = json!([
                { "size": share, "write_share": 1.0 },
                { "size": 1.0 - share, "write_share": 0.0 },
            ]);
            json!({ "pattern": "ranges", "zones": sets })
        }
        (None, Some(("zipf", theta))) if rw == "randwrite" && own >= capacity => {
            let theta: Option<f64> = theta.trim().parse().ok();
            let theta = theta.ok_or_else(|| format!("{} has no exponent", printable(law)))?;
            json!({ "pattern": "zipf_of_fio", "theta": theta })
        }
        (None, Some(("zoned", zones))) if rw == "randwrite" && own >= capacity => {
            let sets: Option<Vec<Value>> = zones.split(':').map(zone).collect();
            let sets = sets.ok_or_else(|| {
                format!("{}: expected shares such as 90/10:10/90", printable(law))
            })?;
            json!({ "pattern": "ranges", "zones": sets })
        }
        (Some(("randwrite", count)), None) if law == "random" && own >= capacity => {
            let count: Option<u64> = count.trim().parse().ok();
            let bytes = count.and_then(|count| count.checked_mul(block)).unwrap_or(0);
            if bytes == 0 || job.option("ba").and_then(size) != Some(bytes) {
                return Err("a zone is rw=randwrite:N with ba equal to N times bs".into());
            }
            let zones = job.option("numjobs").unwrap_or("1").trim().parse().unwrap_or(1u32);
            json!({ "pattern": "seq_zones", "zone_gib": bytes as f64 / GIB, "active_zones": zones })
        }
        _ => {
            return Err(format!(
                "rw={} with random_distribution={} is no known pattern: known are uniform random \
                 writes of all or of a part of the drive, zipf, zoned, and zones (rw=randwrite:N)",
                printable(rw),
                printable(law)
            ));
        }
    };
    match known {
        Value::Object(keys) => Ok(keys),
        _ => Err("no pattern".into()),
    }
}

/// Returns a set of addresses from the shares of accesses and of the size, in percent, that fio
/// notes as `90/10`.
fn zone(text: &str) -> Option<Value> {
    let (accesses, size) = text.split_once('/')?;
    let share = |text: &str| text.trim().parse::<f64>().ok().map(|percent| percent / 100.0);
    Some(json!({ "size": share(size)?, "write_share": share(accesses)? }))
}
