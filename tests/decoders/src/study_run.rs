//! Decoder of a study's saved runs.
//!
//! The first byte of the input determines whether the rest is a result file, which gets its
//! checksum, or a checksum file.

use crate::{refused_in_words, scratch_of};
use fowler_experiment::provenance::bytes_hash;
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
/// Identity of the run whose results the file must have.
const IDENTITY: &str = "this run";

/// Returns the result of a file with these checksums, if it is whole and of this run.
fn read(text: &[u8], sums: &[u8]) -> Option<Value> {
    let path = FOLDER.join("runs/run.json");
    for (path, bytes) in [(&path, text), (&path.with_extension("sha256"), sums)] {
        fs::write(path, bytes).expect("a folder for temporary files");
    }
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

fn sums(text: &[u8]) -> String {
    format!("{}  run.json\n", bytes_hash(text))
}

fn file(result: &Value) -> Vec<u8> {
    json!({ "identity": IDENTITY, "result": result }).to_string().into_bytes()
}

/// An accepted result reads back the same as it is saved, and only the right checksums accept it.
pub fn check(input: &[u8]) -> bool {
    let [kind, text @ ..] = input else { return false };
    if kind % 2 == 0 {
        let whole = file(&json!({ "requests": 7.0 }));
        let accepted = read(&whole, text).is_some();
        assert!(!accepted || text == sums(&whole).as_bytes(), "other checksums");
        return accepted;
    }
    let Some(result) = read(text, sums(text).as_bytes()) else { return false };
    let again = file(&result);
    assert_eq!(read(&again, sums(&again).as_bytes()), Some(result));
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
    let other = json!({ "identity": "other", "result": [1.5] }).to_string().into_bytes();
    let list = json!({ "identity": IDENTITY, "result": [1.5] }).to_string().into_bytes();
    let mut seeds: Vec<_> =
        [file(&result), other, list].iter().map(|text| [&[1], &text[..]].concat()).collect();
    let whole = sums(&file(&json!({ "requests": 7.0 })));
    seeds.extend([&whole[..], &whole[..70]].map(|text| [&[0], text.as_bytes()].concat()));
    seeds
}
