//! Pages of runs as files: what is in them, and when they are written.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{name}"));
    let _absent = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn fowler(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fowler"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"));
    command.args(arguments).arg("--quiet").output().unwrap()
}

const SMALL: [&str; 4] = ["--device", "small.toml", "--workload", "small-load.toml"];

/// The data of every chart on a page.
fn charts(page: &str) -> Vec<Value> {
    let begin = "<script type=\"application/json\">";
    let data = page.split(begin).skip(1).map(|rest| rest.split("</script>").next().unwrap());
    data.map(|text| serde_json::from_str(text).unwrap()).collect()
}

#[test]
fn a_page_carries_everything_and_is_the_same_every_time() {
    let folder = folder("same");
    let pages: Vec<String> = ["one", "two"]
        .iter()
        .map(|name| {
            let out = folder.join(name).display().to_string();
            let schemes = ["--schemes", "fifo,pes_ipc", "--out", &out];
            let output = fowler(&[&["compare"][..], &SMALL, &schemes].concat());
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            fs::read_to_string(folder.join(name).join("report.html")).unwrap()
        })
        .collect();
    assert_eq!(pages[0], pages[1]);
    let page = &pages[0];
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert!(!page.contains("Interrupted"));
    let own = page.replace(include_str!("../../../report/vendor/echarts.js"), "");
    for outside in ["src=\"", "href=\"http", "@import", "url("] {
        assert!(!own.contains(outside), "{outside}");
    }
    let charts = charts(page);
    assert!(charts.len() >= 10, "{}", charts.len());
    for chart in &charts {
        for panel in chart["panels"].as_array().unwrap() {
            for series in panel["series"].as_array().unwrap() {
                let values = series["y"].as_array().unwrap();
                assert!(!values.is_empty(), "{}: {}", chart["id"], series["name"]);
                assert!(values.iter().all(|it| it.is_null() || it.as_f64().unwrap() >= 0.0));
            }
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn shares_on_a_page_add_up() {
    let folder = folder("shares");
    let file = folder.join("page.html").display().to_string();
    let output = fowler(&[&["run"][..], &SMALL, &["--report", &file]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let charts = charts(&fs::read_to_string(&file).unwrap());
    let chart = |id: &str| charts.iter().find(|chart| chart["id"] == id).unwrap();
    let shares = &chart("read-blame")["panels"][0];
    for row in 0..shares["rows"].as_array().unwrap().len() {
        let parts = shares["series"].as_array().unwrap();
        let known = parts.iter().filter_map(|part| part["y"][row].as_f64());
        // The fastest reads come from the buffer and take no time: they have no bar.
        let sum = known.reduce(|sum, part| sum + part);
        assert!(sum.is_some_and(|sum| (sum - 100.0).abs() < 0.2), "{row}: {sum:?}");
    }
    for id in ["die-utilisation", "channel-utilisation"] {
        for row in chart(id)["panels"][0]["series"].as_array().unwrap() {
            let cells = row["y"].as_array().unwrap();
            assert!(cells.iter().all(|cell| cell.as_f64().is_none_or(|it| it <= 100.0)), "{id}");
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_page_of_an_interrupted_run_says_so() {
    let folder = folder("interrupted");
    let trace = folder.join("bad.csv");
    let lines: String = (0..200).map(|at| format!("{},read,0,4096\n", at * 1_000_000)).collect();
    fs::write(&trace, format!("at_ns,op,offset,size\n{lines}this is no request\n")).unwrap();
    let (trace, out) = (trace.display().to_string(), folder.display().to_string());
    let flags = ["run", "--device", "small.toml", "--trace", &trace, "--format", "native"];
    let output = fowler(&[&flags[..], &["--out", &out]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(
        page.contains("role=\"alert\">Interrupted after 200 requests without a scheme: "),
        "it must say so"
    );
    assert!(page.contains("this is no request"), "and why");
    fs::remove_dir_all(folder).unwrap();
}

/// Whoever names the page that is in the folder anyway, by whatever path, gets it there.
#[test]
fn a_page_that_is_named_twice_is_written_once() {
    let folder = folder("twice");
    let out = folder.display().to_string();
    let page = format!("{out}/../report-twice/./report.html");
    let output = fowler(&[&["run"][..], &SMALL, &["--out", &out, "--report", &page]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(folder.join("report.html").exists());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn help_says_where_pages_are() {
    for command in ["run", "compare", "lifetime", "reproduce", "study"] {
        let output = Command::new(env!("CARGO_BIN_EXE_fowler")).args([command, "--help"]).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains("report.html"), "{command}: {text}");
    }
}

/// The page has the warnings of the terminal in the same words.
#[test]
fn the_page_says_what_the_terminal_says() {
    let folder = folder("warnings");
    let file = folder.join("page.html").display().to_string();
    let cells = ["reliability.model=analytic", "reliability.cycles=3300", "reliability.oldest=60d"];
    let cells: Vec<&str> = cells.into_iter().flat_map(|set| ["--set", set]).collect();
    let schemes = ["compare", "--schemes", "noop,rhio", "--report", &file];
    let output = fowler(&[&schemes[..], &SMALL, &cells].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let page = fs::read_to_string(&file).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut said = 0;
    for line in text.lines() {
        for (word, shown) in
            [("warning   ", "role=\"alert\">Warning: "), ("note      ", "\"note\">Note: ")]
        {
            if let Some(reported) = line.strip_prefix(word) {
                assert!(page.contains(&format!("{shown}{reported}.")), "{line}");
                said += 1;
            }
        }
    }
    assert!(said >= 1 && text.contains("\nwarning   "), "{said} {text}");
    // The reads of flash by sensing effort have a table of their own.
    assert!(page.contains("flash reads with 3 references") && page.contains("data-name=\"cells\""));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_page_that_cannot_be_written_is_found_before_the_run() {
    let out = folder("clash").display().to_string();
    let trace = format!("{out}/timeline.json");
    for (flags, said) in [
        (&["--report"][..], "error: --report: needs the path of a file, or --out for a folder"),
        (&["--report", "absent/folder/page.html"], "cannot be written"),
        (&["--report", "small.toml"], "--report: `small.toml` is also what --device reads"),
        (
            &["--out", &out, "--report", &trace, "--timeline", "slowest:1"],
            "timeline.json` is also what --out writes",
        ),
    ] {
        let output = fowler(&[&["run"][..], &SMALL, flags].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(said), "{flags:?}: {text}");
    }
}

#[test]
fn a_timeline_is_written_beside_the_rest() {
    let folder = folder("timeline");
    let out = folder.display().to_string();
    for window in ["100ms..102ms", "slowest:3"] {
        let flags = ["--scheme", "pes_ipc", "--timeline", window, "--out", &out];
        let output = fowler(&[&["run"][..], &SMALL, &flags].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = fs::read_to_string(folder.join("timeline.json")).unwrap();
        let trace: Value = serde_json::from_str(&text).unwrap();
        let slices = trace["traceEvents"].as_array().unwrap().iter().filter(|it| it["ph"] == "X");
        assert!(slices.count() > 20, "{window}");
        for file in ["summary.json", "report.html"] {
            assert!(folder.join(file).exists(), "{file}");
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_timeline_that_cannot_be_had_is_refused_and_loses_nothing() {
    let folder = folder("no-timeline");
    let out = folder.display().to_string();
    for (flags, said) in [
        (&["run", "--timeline", "slowest:0", "--out", &out][..], "at least 1"),
        (&["run", "--timeline", "5ms..2ms", "--out", &out], "ends before it begins"),
        (&["run", "--timeline", "2ms..5ms"], "--out <DIR>"),
        (&["run", "--timeline", "1h..2h", "--out", &out], "lies outside the run"),
        (&["explain", "--slowest", "0"], "at least 1"),
        (&["explain", "--slowest", "1001"], "too many"),
    ] {
        let output = fowler(&[flags, &SMALL].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(said), "{flags:?}: {text}");
    }
    // The run itself was sound.
    assert!(folder.join("summary.json").exists() && folder.join("report.html").exists());
    fs::remove_dir_all(folder).unwrap();
}

/// A folder stands where the trace is to be: nothing runs, and nothing is written.
#[test]
fn a_folder_in_the_place_of_a_timeline_is_refused_before_the_run() {
    let folder = folder("in-the-way");
    fs::create_dir(folder.join("timeline.json")).unwrap();
    let out = folder.display().to_string();
    let flags = ["--timeline", "1ms..2ms", "--out", &out];
    let output = fowler(&[&["run"][..], &SMALL, &flags].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("timeline.json: is a folder"), "{said}");
    assert!(output.stdout.is_empty());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "only that folder");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_slowest_requests_are_explained() {
    let flags = ["--scheme", "pes_ipc", "--slowest", "3", "--set", "precondition.pattern=steady"];
    let output = fowler(&[&["explain"][..], &SMALL, &flags].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    insta::assert_snapshot!("explain", String::from_utf8(output.stdout).unwrap());
}

/// `explain --json` has the same explanation for a program: it names the run, every cause and every
/// operation.
#[test]
fn explanations_are_written_as_json() {
    let flags = ["--scheme", "pes_ipc", "--slowest", "3", "--set", "precondition.pattern=steady"];
    let asked = |more: &[&str]| {
        let output = fowler(&[&["explain"][..], &SMALL, &flags, more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let (text, json) = (asked(&[]), asked(&["--json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["run"]["scheme"], "pes_ipc", "{json:#}");
    let slowest = json["slowest"].as_array().unwrap();
    assert_eq!(slowest.len(), 3);
    let number = |value: &Value| value.as_u64().unwrap();
    for request in slowest {
        assert!(text.contains(request["text"].as_str().unwrap().lines().nth(1).unwrap().trim()));
        let causes: u64 = request["causes_ns"].as_object().unwrap().values().map(number).sum();
        let latency = number(&request["latency_ns"]);
        assert_eq!(causes, latency, "{request:#}");
        assert_eq!(number(&request["done_ns"]) - number(&request["at_ns"]), latency);
        let operations = request["operations"].as_array().unwrap();
        let last = operations.last().unwrap();
        for step in request["behind"].as_array().unwrap() {
            assert_eq!(step["die"], last["die"], "{request:#}");
            assert!(number(&step["began_ns"]) < number(&last["began_ns"]), "{request:#}");
        }
    }
}
