//! `fowler pts` and `fowler endurance` as their user meets them.

use crate::command::{Folder, command};
#[cfg(feature = "report")]
use crate::processes::{stopped, wait_until};
use serde_json::Value;
use std::process::Output;
#[cfg(feature = "report")]
use std::process::Stdio;

/// A drive of 90 MiB.
const DRIVE: [&str; 8] = [
    "--device",
    "pes-mlc",
    "--set",
    "geometry.channels=2",
    "--set",
    "geometry.blocks_per_plane=64",
    "--set",
    "gc.background_below=8",
];

fn fowler(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A drive with superblocks of 150 MiB.
const SUPERBLOCKS: [&str; 16] = [
    "--device",
    "nvme-7450",
    "--set",
    "geometry.channels=1",
    "--set",
    "geometry.chips_per_channel=1",
    "--set",
    "geometry.blocks_per_plane=64",
    "--set",
    "geometry.pages_per_block=24",
    "--set",
    "superblocks.parity=8",
    "--set",
    "geometry.over_provisioning=0.35",
    "--set",
    "buffer.size=2MiB",
];

/// Both commands take a drive with superblocks: its buffer is no volatile cache, and bytes are
/// those of its units.
#[test]
fn drives_with_superblocks_are_tested() {
    let pts = ["pts", "--test", "iops", "--minute", "1ms", "--enterprise", "--json"];
    let tested = json(&fowler(&[&pts[..], &SUPERBLOCKS].concat()));
    let settings = tested["settings"].to_string();
    assert!(settings.contains("the cache is not volatile"), "{settings}");
    let endurance = json(&fowler(&[&["endurance", "--json"][..], &SUPERBLOCKS].concat()));
    let waf = endurance["waf"].as_f64();
    assert!(waf.is_some_and(|waf| waf > 1.0 && waf < 20.0), "{endurance}");
}

#[test]
fn rounds_from_a_file_get_a_verdict() {
    let folder = Folder::new("pts-steady");
    let file = folder.file("series.json", "[900, 400, 100, 101, 99, 100, 102]");
    let verdict = json(&fowler(&["pts", "--steady", &file, "--json"]));
    assert_eq!(verdict["steady_round"], 7);
    assert_eq!(verdict["window"], serde_json::json!([3, 7]));
    assert_eq!(verdict["data_excursion"], 3.0);
    let table = fowler(&["pts", "--steady", &file]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("steady at round") && table.contains("100.4"), "{table}");
}

#[test]
fn an_amount_that_the_drive_does_not_have_is_refused() {
    for (amount, expected) in [("0B", "2MiB or more"), ("1TiB", "at most"), ("1B", "at least")] {
        let refused = fowler(&[&["pts", "--active-amount", amount][..], &DRIVE].concat());
        let said = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("--active-amount: ") && said.contains(expected), "{said}");
    }
}

#[test]
fn what_is_wrong_ends_with_2_and_says_everything() {
    let folder = Folder::new("pts-wrong");
    let file = folder.file("series.json", "[1, \"two\",\n null]");
    for (arguments, parts) in [
        (vec!["pts", "--steady", file.as_str()], &["round 2: `\"two\"`", "round 3: `null`"][..]),
        (vec!["pts", "--steady", "no/such/file"], &["cannot be read"]),
        (vec!["pts", "--steady", file.as_str(), "--day"], &["--day"]),
        (
            vec!["pts", "--test", "iosp", "--minute", "5", "--stimulus", "8KiB", "--set", "a=1"],
            &["did you mean \"iops\"", "has no unit", "--stimulus"],
        ),
        (vec!["pts", "--minute", "0s", "--threads", "0"], &["--minute", "--threads"]),
        (vec!["endurance", "--client"], &["JEDEC sells", "--trace FILE"]),
        (vec!["endurance", "--years", "0"], &["--years"]),
        (vec!["endurance", "--format", "msr"], &["needs --trace"]),
    ] {
        let output = fowler(&arguments);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty());
        for part in parts {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}

#[cfg(feature = "report")]
#[test]
fn a_folder_has_the_page_the_tables_and_what_was_measured() {
    let folder = Folder::new("pts-out");
    let out = folder.path("out");
    let mut arguments = vec!["pts", "--test", "iops,wsat", "--minute", "20ms", "--threads", "1"];
    arguments.extend(["--queue-depth", "32", "--json", "--quiet", "--out", &out]);
    arguments.extend(DRIVE);
    let results = json(&fowler(&arguments));
    assert_eq!(results["conforms"], false);
    let tests = results["tests"].as_array().unwrap();
    assert_eq!([&tests[0]["test"], &tests[1]["test"]], ["iops", "wsat"]);
    let rounds = &tests[0]["parts"][0];
    assert_eq!(rounds["points"].as_array().unwrap().len(), 56);
    assert_eq!(
        rounds["values"].as_array().unwrap().len(),
        rounds["rounds"].as_array().unwrap().len()
    );
    assert!(tests[1]["cliff"].as_str().unwrap().contains("garbage collection"));
    let page = std::fs::read_to_string(folder.path("out/report.html")).unwrap();
    for part in ["in the manner of SNIA", "NOT PTS", "Write saturation", "What the dies do", "<svg"]
    {
        assert!(page.contains(part), "{part}");
    }
    let matrix = std::fs::read_to_string(folder.path("out/iops-matrix.csv")).unwrap();
    assert_eq!(matrix.lines().count(), 9, "{matrix}");
    let whole = fowler(&["check", &out]);
    assert_eq!(whole.status.code(), Some(0), "{}", said(&whole));
}

#[test]
fn endurance_is_cycles_by_capacity_over_amplification() {
    let mut arguments = vec!["endurance", "--standard", "jesd219", "--json", "--quiet"];
    arguments.extend(DRIVE);
    let results = json(&fowler(&arguments));
    let number = |name: &str| results[name].as_f64().unwrap();
    let tbw = number("cycles") * number("capacity") / number("waf") / 1e12;
    assert!((number("tbw") / tbw - 1.0).abs() < 1e-9);
    let dwpd = tbw * 1e12 / number("capacity") / (365.0 * number("years"));
    assert!((number("dwpd") / dwpd - 1.0).abs() < 1e-9);
    assert!(number("waf") > 1.0 && number("tbw_raw") > number("tbw"));
    assert!(results["steady"] == true && results["uber"].as_array().unwrap().is_empty());
}

/// On a drive of 64 GiB it would go on for minutes.
#[cfg(feature = "report")]
#[test]
fn a_test_that_is_stopped_says_so() {
    let folder = Folder::new("pts-stop");
    let out = folder.path("out");
    let arguments = ["pts", "--device", "pes-mlc", "--test", "iops", "--quiet", "--out", &out];
    let mut child =
        command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until(&mut child, || std::path::Path::new(&out).exists());
    let output = stopped(child, "TERM");
    assert!(said(&output).contains("stopped before a test was finished"), "{}", said(&output));
}

/// A log of nvme-cli.
const SMART: &str = "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\npercentage_used : 3%\n\
                     data_units_written : 64,663,716\npower_on_hours : 742\n";

#[test]
fn the_counters_of_a_drive_become_years() {
    let folder = Folder::new("smart");
    let log = folder.file("smart.txt", SMART);
    let media = r#"{"physical_media_units_written":{"hi":0,"lo":49661733888000}}"#;
    let media = folder.file("ocp.json", media);
    let out = folder.path("out");
    let arguments = ["endurance", "--smart", &log, "--smart", &media, "--tbw", "1752", "--json"];
    let results = json(&fowler(&[&arguments[..], &["--out", &out]].concat()));
    assert_eq!(results["written_bytes"]["value"], 64_663_716.0 * 512_000.0);
    assert_eq!(results["waf"]["value"], 1.5);
    assert_eq!(results["years_left"][0]["by"], "TBW");
    assert_eq!(fowler(&["check", &out]).status.code(), Some(0));
    let text = fowler(&["endurance", "--smart", &log, "--tbw", "1.752PB"]);
    let text = String::from_utf8(text.stdout).unwrap();
    let first = text.lines().next().unwrap();
    assert!(first.contains("33.11 TB written in 742 h of power-on time, 1.071 TB a day"), "{text}");
    assert!(first.contains("4.398 to 4.404 by TBW, 2.033 to 4.156 by percentage used"), "{text}");
}

#[test]
fn wrong_logs_and_flags_end_with_2_and_a_reason() {
    let folder = Folder::new("smart-wrong");
    let log = folder.file("smart.txt", SMART);
    let two = folder.file("two.txt", &(SMART.to_string() + &SMART.replace("nvme0n1", "nvme1n1")));
    let cut = folder.file("cut.json", "{\"data_units_written\": 5,\n");
    for (arguments, parts) in [
        (vec!["--smart", "no/such/file"], &["cannot be read"][..]),
        (vec!["--smart", &two], &["several drives: nvme0n1, nvme1n1", "--drive NAME"]),
        (vec!["--smart", &log, "--drive", "nvme7"], &["--drive", "one of nvme0n1"]),
        (vec!["--smart", &cut], &["this is not JSON", "cut off"]),
        (vec!["--smart", &log, "--tbw", "0"], &["--tbw", "above 0"]),
        (vec!["--smart", &log, "--tbw", "600XB"], &["--tbw", "XB"]),
        (vec!["--smart", &log, "--waf", "nan"], &["--waf"]),
        (vec!["--smart", &log, "--capacity", "960"], &["--capacity", "unit"]),
        (vec!["--smart", &log, "--set", "lifetime.cycles=3000"], &["needs --device"]),
        (vec!["--smart", &log, "--device", "nvme-pm9a4"], &["nvme-pm9a3"]),
        (vec!["--smart", &log, "--client"], &["--client"]),
        (vec!["--since", &log], &["--smart"]),
        (vec!["--smart", "-", "--smart", "-"], &["standard input"]),
    ] {
        let output = fowler(&[&["endurance"][..], &arguments].concat());
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        for part in parts {
            assert!(said.contains(part), "{arguments:?}: {part}: {said}");
        }
    }
}
