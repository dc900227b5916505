//! Every request as columns, where no text is asked for.
#![cfg(feature = "parquet")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Without a name of its own, the file for requests is Parquet, in the folder of results, and its
/// bytes repeat.
#[test]
fn requests_are_columns_unless_text_is_asked_for() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("requests-as-columns");
    let _absent = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fowler"))
            .args(arguments)
            .args(["--device", "small.toml", "--workload", "small-load.toml", "--quiet"])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let written = |name: &str| {
        let out = folder.join(name);
        run(&["run", "--scheme", "rps", "--requests", "--out", &out.display().to_string()]);
        fs::read(out.join("requests.parquet")).unwrap()
    };
    let bytes = written("one");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert!(bytes == written("two"));
    // The footer, which is not compressed, says which run it belongs to.
    let summary = fs::read(folder.join("one/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    let hash = summary["config_hash"].as_str().unwrap();
    let holds = |part: &str| bytes.windows(part.len()).any(|it| it == part.as_bytes());
    assert!(holds("fowler.config_hash") && holds(hash), "{hash}");
    let log = folder.join("log.parquet").display().to_string();
    run(&["compare", "--schemes", "rps,fifo", "--requests", &log]);
    assert!(bytes == fs::read(folder.join("log.rps.parquet")).unwrap());
    assert!(folder.join("log.fifo.parquet").exists());
    fs::remove_dir_all(&folder).unwrap();
}
