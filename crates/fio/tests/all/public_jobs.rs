//! Job files from the wild: what fio accepts can run here, and what cannot is refused by name.

use fowler_fio::{
    Environment, JobFile, Layout, Op, Recorded, Recording, SteadyMetric, SteadyState, Unified,
};
use fowler_tests::shared_folder;
use fowler_units::Span;
use serde_json::Value;
use std::collections::BTreeMap;

/// A capacity that is large enough for any of the jobs.
const CAPACITY: u64 = 1 << 62;
/// The least share of the files that fio accepts and whose engines are block I/O.
const SHARE: f64 = 0.94;
/// The error for an engine that is no block device.
const NO_BLOCK_DEVICE: &str = "is no block device, and is not simulated";

fn read(job: &Value, with_environment: bool) -> Result<usize, String> {
    let mut environment = Environment::empty();
    // The logs that the jobs replay do not exist here.
    let request = Recorded { at: Span(0), op: Op::Read, file: 0, offset: 0, length: 4096 };
    let log = Recording::new(vec!["file".into()], vec![request]);
    let recording = move |_: &str, _: usize| Ok(log.clone());
    environment.recording = &recording;
    let names = job["env"].as_array().cloned().unwrap_or_default();
    if with_environment {
        let variable = |name: &Value| (name.as_str().unwrap_or("").to_string(), "1".to_string());
        environment.variables = names.iter().map(variable).collect::<BTreeMap<_, _>>();
    }
    let text = job["text"].as_str().expect("text");
    let file = JobFile::parse(text, "job", &environment).map_err(|found| found.to_string())?;
    Layout::new(&file.jobs, Some(CAPACITY)).map_err(|found| found.to_string())?;
    // Jobs that this crate reads and `fowler fio` refuses.
    let cannot_run = |job: &fowler_fio::Job| {
        let by_latency = |state: SteadyState| state.metric == SteadyMetric::Latency;
        let both = job.statistics.unified == Unified::Both;
        both || job.steady.is_some_and(by_latency)
    };
    if file.jobs.iter().any(cannot_run) {
        return Err("it is read, and cannot be run".into());
    }
    Ok(file.jobs.len())
}

mod shared_files {
    use super::*;

    #[test]
    fn most_files_that_fio_accepts_can_run() {
        let Some(path) = shared_folder::path("fio/jobs.jsonl.zst", "public job files") else {
            return;
        };
        let packed = std::fs::read(path).expect("job files");
        let text = zstd::decode_all(&*packed).expect("zstd");
        let text = String::from_utf8(text).expect("text");
        let (mut accepted, mut read_here, mut engines) = (0, 0, 0);
        let mut refused = Vec::new();
        let mut more = Vec::new();
        for line in text.lines() {
            let job: Value = serde_json::from_str(line).expect("JSON");
            if job["text"].as_str().is_some_and(|text| text.contains("zonemode=zbd")) {
                continue;
            }
            let (plain, with) =
                (job["accepted"] == true, job["accepted_with_env"] == Value::Bool(true));
            let name = format!("{}/{}", job["repo"], job["path"]).replace('"', "");
            match (plain || with, read(&job, with && !plain)) {
                (true, Ok(_)) => {
                    accepted += 1;
                    read_here += 1;
                }
                (true, Err(error)) => {
                    accepted += u32::from(!error.contains(NO_BLOCK_DEVICE));
                    engines += u32::from(error.contains(NO_BLOCK_DEVICE));
                    refused.push(format!("{name}: {error}"));
                }
                (false, Ok(_)) => more.push(format!("{name}: fio says {}", job["message"])),
                (false, Err(_)) => {}
            }
        }
        let share = f64::from(read_here) / f64::from(accepted);
        eprintln!(
            "{read_here} of {accepted} files that fio accepts can run, and {engines} more are refused \
             because their engine is no block device; refused:"
        );
        eprintln!("{}\n\nread here, not by fio:\n{}", refused.join("\n"), more.join("\n"));
        assert!(share >= SHARE, "only {:.1} %", share * 100.0);
    }
}
