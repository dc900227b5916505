//! Reports of drives whose cells err.

use std::path::Path;
use std::process::{Command, Output, Stdio};

const SMALL: [&str; 5] = ["--device", "small.toml", "--workload", "small-load.toml", "--quiet"];

fn fowler(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fowler"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"));
    command.stdin(Stdio::null()).output().unwrap()
}

/// Returns the standard output of a command that succeeds.
fn printed(arguments: &[&str]) -> String {
    let output = fowler(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_reads_took_and_what_was_lost_is_reported() {
    let cells = ["reliability.model=analytic", "reliability.cycles=3300", "reliability.oldest=60d"];
    let cells: Vec<&str> = cells.into_iter().flat_map(|set| ["--set", set]).collect();
    let arguments = [&["compare", "--full", "--schemes", "noop,rhio"], &SMALL[..], &cells].concat();
    let text = printed(&arguments);
    for part in [
        "| flash reads with 3 references           |",
        "|   with 9                                |",
        "|   with 21                               |",
        "|   repeated at the next level            |",
        "|   uncorrectable                         |",
        "| reads served before older ones          |",
        "| soft sensing",
        "flash reads failed under noop, ",
        ": data would be lost; ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let run: serde_json::Value =
        serde_json::from_str(&printed(&[&arguments[..], &["--json"]].concat())).unwrap();
    for scheme in run["schemes"].as_array().unwrap() {
        let laws = scheme["laws"].as_object().unwrap();
        assert!(laws.values().all(|law| law["holds"] == true), "{laws:#?}");
        assert!(scheme["counters"]["uncorrectable_reads"].as_u64() > Some(0));
    }
}

#[test]
fn a_retried_read_is_blamed_on_retry() {
    let retry = ["reliability.model=analytic", "reliability.cycles=2000", "reliability.oldest=30d"];
    let retry = retry.into_iter().chain(["policy.sensing=retry"]).flat_map(|set| ["--set", set]);
    let text = printed(&[&["run", "--full"], &SMALL[..], &retry.collect::<Vec<_>>()].concat());
    assert!(text.contains("| retry "), "{text}");
}

#[test]
fn a_table_has_one_step_and_says_so() {
    let table = [
        "reliability.model=table",
        "reliability.table.cycles=[0]",
        "reliability.table.ages=['0s']",
        "reliability.table.rates=[[8e-3]]",
    ];
    let table: Vec<&str> = table.into_iter().flat_map(|set| ["--set", set]).collect();
    let text = printed(&[&["run", "--full", "--scheme", "rhio"], &SMALL[..], &table].concat());
    let row = text.lines().find(|line| line.starts_with("|   with 9 "));
    assert!(row.is_some_and(|row| row.ends_with("| 100.0 % |")), "{text}");
    assert!(text.contains("under rhio every program uses the nominal step"), "{text}");
    assert!(!text.contains("would be lost"), "{text}");
    let by_voltage = ["--set", "reliability.model=by_voltage"];
    let text = printed(&[&["run", "--full", "--scheme", "rhio"], &SMALL[..], &by_voltage].concat());
    assert!(text.contains("under rhio every program uses the nominal step"), "{text}");
}

#[test]
fn a_drive_without_errors_has_none_of_these_rows() {
    let text = printed(&[&["run"], &SMALL[..]].concat());
    for part in ["references", "uncorrectable", "waited longer", "warning"] {
        assert!(!text.contains(part), "{part}: {text}");
    }
}
