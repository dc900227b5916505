//! Every command that writes files ends by naming what to open.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("opens-{name}"));
    let _absent = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn done(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fowler"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"));
    let output = command.args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The last line of a stream names the file, which is there.
fn opens(stream: &[u8], file: &Path) {
    let text = String::from_utf8_lossy(stream);
    let line = format!("open      {}", file.display());
    assert_eq!(text.lines().last(), Some(&*line), "{text}");
    assert!(file.is_file(), "{line}");
}

#[cfg(feature = "package")]
#[test]
fn the_manual() {
    let folder = folder("man");
    opens(&done(&["man", "--out", &folder.display().to_string()]).stderr, &folder.join("fowler.1"));
}

#[test]
fn traces() {
    let folder = folder("trace");
    let [made, converted] = ["made.csv", "converted.csv"].map(|name| folder.join(name));
    let [made_name, converted_name] = [&made, &converted].map(|path| path.display().to_string());
    let synth = ["trace", "synth", "small-load.toml", &made_name, "--device", "small.toml"];
    opens(&done(&synth).stderr, &made);
    opens(&done(&["trace", "convert", &made_name, &converted_name]).stderr, &converted);
}

/// Standard output is JSON then, and nothing else.
#[test]
fn results_as_json() {
    let folder = folder("json");
    let out = folder.display().to_string();
    let drive = ["--device", "small.toml", "--workload", "small-load.toml", "--out", &out];
    let run = done(&[&["run", "--json"], &drive[..]].concat());
    assert!(serde_json::from_slice::<serde_json::Value>(&run.stdout).is_ok());
    opens(&run.stderr, &folder.join("report.html"));
    let run = done(&[&["run"], &drive[..]].concat());
    opens(&run.stdout, &folder.join("report.html"));
    let validate = ["validate", "--quick", "--only", "extra wait", "--json", "--out", &out];
    opens(&done(&validate).stderr, &folder.join("summary.json"));
}
