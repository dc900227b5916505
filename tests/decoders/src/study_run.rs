//! The saved runs of a study.
//!
//! The first byte says whether the file gets the checksum that it should have.

use crate::{refused_in_words, scratch_of};
use fowler_experiment::provenance::text_hash;
use fowler_papers::{examine, reread};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = scratch_of("study-run");
    fs::create_dir(folder.join("runs")).expect("a folder for temporary files");
    folder
});
/// Whose results the file should have.
const IDENTITY: &str = "this run";

/// Returns the result of a file, if it is whole and of this run.
fn read(text: &[u8]) -> Option<Value> {
    let path = FOLDER.join("runs/run.json");
    fs::write(&path, text).expect("a folder for temporary files");
    match reread(&path, IDENTITY) {
        Err(diagnostics) => {
            refused_in_words(&diagnostics);
            None
        }
        Ok(result) => {
            let whole = examine(&FOLDER).expect("a readable folder");
            let [(examined, whole)] = &whole[..] else { panic!("{whole:?}") };
            assert_eq!(*examined, path);
            assert!(result.is_none() || *whole, "a result of a damaged file");
            result
        }
    }
}

fn summed(mut file: Value) -> String {
    file["name"] = "run".into();
    let all = ["format", "version", "name", "identity", "result"].map(|name| file[name].clone());
    file["checksum"] = text_hash(&Value::from(all.to_vec()).to_string()).into();
    file.to_string()
}

/// An accepted result reads back the same as it is saved.
pub fn check(input: &[u8]) -> bool {
    let [kind, text @ ..] = input else { return false };
    let file = serde_json::from_slice::<Value>(text).ok();
    let summed = file.filter(|file| kind % 2 == 1 && file.is_object()).map(summed);
    let Some(result) = read(summed.as_deref().map_or(text, str::as_bytes)) else { return false };
    let again = self::summed(json!({ "format": 1, "identity": IDENTITY, "result": result }));
    assert_eq!(read(again.as_bytes()), Some(result));
    true
}

pub fn seeds() -> Vec<Vec<u8>> {
    let latencies = json!({ "count": 3.0, "mean_us": 1.5, "p50_us": null, "p99_us": 2.0, "p999_us": null,
        "max_us": 9.0, "bytes": 4096 });
    let by_source = json!({ "host": 1, "gc": 2, "wear": 0, "refresh": 0, "parity": 3 });
    let result = json!({
        "requests": 7, "read": latencies, "write": latencies, "waf": 1.25, "wearing_weight": null,
        "flash_bytes_per_host_byte": 1.0, "erases": 3, "suspensions": 0, "suspended_share": null,
        "suspension_overhead": null, "simulated_s": 1e-3, "idle_share": 0.5, "iops": 7e3,
        "redundancy": { "stripes": 1, "stage": 1, "worn_stripes": 0, "refreshed_at_hard_limit": 0,
            "refreshed_in_idle_time": 0 },
        "counters": { "pages_read": 1, "buffer_read_hits": 0, "pages_written": 2, "buffer_write_hits": 0,
            "reads": by_source, "programs": by_source,
            "programs_at": { "boosted": 1, "nominal": 2, "reduced": 3 },
            "left": { "mixed": 1, "read_hot": 2, "write_hot": 3 },
            "rewritten": { "anew": 1, "given_up": 0 }, "reads_at": { "1": 2.0, "7": 1.0 }, "retries": 0,
            "uncorrectable_reads": 0, "prioritized_reads": 0, "prioritized_writes": null,
            "foreground_gc": 0, "background_gc": 0, "operations": 9, "die_busy_s": 1.5 },
        "drive": { "logical_bytes": 1, "over_provisioning_of_raw": 0.1, "over_provisioning_of_logical": 0.2 },
    });
    let file = json!({ "format": 1, "version": "0.1.0", "identity": IDENTITY, "result": result });
    let whole = summed(file.clone());
    let mut newer = file;
    newer["format"] = 2.into();
    let texts = [whole, summed(newer), summed(json!({ "identity": "other", "result": [1.5] }))];
    let mut seeds: Vec<_> = texts.iter().map(|text| [&[1], text.as_bytes()].concat()).collect();
    seeds.push([&[0], texts[0].as_bytes()].concat());
    seeds
}
