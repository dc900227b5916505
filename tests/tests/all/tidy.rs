//! The rules of the repository that neither Cargo nor clippy can check: the order of crates and of
//! rooms, the length and the words of files, and what only one place may do.

use fowler_tests::circles::large_circles;
use fowler_tests::rooms::{Order, circles, heads};
use fowler_tests::times::bare_times;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf()
}

/// Returns the path and text of every file below `folder` with one of `endings`, without build
/// output.
pub(super) fn files(folder: &str, endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = match std::fs::read_dir(&folder) {
            Ok(entries) => entries.map(|entry| entry.expect("readable").path()).collect(),
            Err(error) => panic!("{}: {error}", folder.display()),
        };
        entries.sort();
        for path in entries {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                if !["target", ".git", "corpus", "artifacts", "node_modules", "results"]
                    .contains(&name.as_str())
                {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let text = std::fs::read_to_string(&path).expect("text");
                let relative = path.strip_prefix(root()).expect("below the root");
                found.push((relative.to_string_lossy().into_owned(), text));
            }
        }
    }
    found.sort();
    found
}

pub(super) fn complain(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// The crates, lowest first. A crate may depend on those listed before it.
const FLOORS: [&str; 20] = [
    "figures",
    "units",
    "theory",
    "agenda",
    "physics",
    "nand",
    "device",
    "workload",
    "fio",
    "metrics",
    "experiment",
    "validate",
    "report",
    "lifetime",
    "standards",
    "drives",
    "fio-run",
    "papers",
    "columns",
    "cli",
];

#[test]
fn a_floor_imports_only_floors_below_it() {
    let mut problems = Vec::new();
    for (height, floor) in FLOORS.iter().enumerate() {
        let path = root().join("crates").join(floor).join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let manifest: toml::Table = text.parse().expect("a manifest");
        let none = toml::Table::new();
        let dependencies = manifest["dependencies"].as_table().unwrap_or(&none);
        for name in dependencies.keys().filter_map(|name| name.strip_prefix("fowler-")) {
            let known = FLOORS.iter().position(|known| *known == name);
            if known.is_none_or(|below| below >= height) {
                problems.push(format!("{floor} depends on {name}, which is not below it"));
            }
        }
    }
    complain(problems);
}

/// The rooms (modules) of `experiment`, lowest first. A room may import those listed before it.
const EXPERIMENT: [&str; 49] = [
    "diagnostic",
    "fan_out",
    "progress",
    "disk",
    "pipe",
    "text_file",
    "atomic_file",
    "temporary_file",
    "cache_folder",
    "numbers",
    "sample",
    "tables",
    "provenance",
    "contents",
    "sealed_file",
    "shard",
    "document",
    "field",
    "keys",
    "config_builder",
    "json_schema",
    "presets",
    "scheme",
    "device_spec",
    "compatibility",
    "memory",
    "image_store",
    "image_cache",
    "power",
    "faults",
    "fault_rates",
    "generator",
    "trace_spec",
    "workload",
    "trace",
    "requests",
    "replay_speed",
    "outcome",
    "summary",
    "warnings",
    "run",
    "candidates",
    "compare",
    "seeds",
    "common_speed",
    "chip",
    "life_estimate",
    "sweep",
    "timeline",
];

#[test]
fn rooms_of_experiment_import_only_rooms_before_them() {
    complain(circles(
        "crates/experiment/src",
        Order { rooms: &EXPERIMENT, belongs: &[], outside: &[], takes: &[] },
    ));
}

/// The rooms of the crates above `experiment` that have several, lowest first.
const REPORT: [&str; 7] =
    ["verdict", "diff", "passage", "pages", "figures_folder", "cell_models", "ask"];
const DRIVES: [&str; 9] = [
    "streams",
    "block_device",
    "measure",
    "measurements",
    "protocol",
    "fitting",
    "datasheet",
    "score",
    "smart",
];
const LIFETIME: [&str; 20] = [
    "watch",
    "spec",
    "record",
    "end_of_life",
    "survey",
    "repetition",
    "factor",
    "scope",
    "season",
    "days",
    "checkpoint",
    "life",
    "saved_life",
    "report",
    "fleet",
    "result",
    "dilation",
    "steady_lives",
    "json",
    "pictures",
];
const FIO_RUN: [&str; 20] = [
    "flow",
    "plan",
    "stats",
    "least_rate",
    "latency_target",
    "pace",
    "steady_state",
    "unit",
    "log",
    "record",
    "process",
    "host",
    "results",
    "simulate",
    "recording",
    "bind",
    "jobs",
    "json",
    "normal_output",
    "terse_output",
];

#[test]
fn rooms_above_experiment_import_only_rooms_before_them() {
    for (name, rooms) in [
        ("report", &REPORT[..]),
        ("lifetime", &LIFETIME),
        ("drives", &DRIVES),
        ("fio-run", &FIO_RUN),
    ] {
        complain(circles(
            &format!("crates/{name}/src"),
            Order { rooms, belongs: &[], outside: &[], takes: &[] },
        ));
    }
}

/// The rooms of the controller, lowest first (ARCHITECTURE.md).
const DEVICE: [&str; 18] = [
    "event",
    "stream_tag",
    "config",
    "observe",
    "cells",
    "flash",
    "mapping",
    "blocks",
    "cache",
    "core",
    "gc",
    "host",
    "raid",
    "precondition",
    "event_loop",
    "superblocks",
    "untimed",
    "memory",
];

/// The policy slots, each with the room that calls it and to which it belongs.
const SLOTS: [(&str, &str); 13] = [
    ("policy::stream_tag", "stream_tag"),
    ("policy::sensing", "cells"),
    ("policy::step", "cells"),
    ("policy::voltage", "cells"),
    ("policy::die_order", "flash"),
    ("policy::suspension", "flash"),
    ("policy::placement", "blocks"),
    ("policy::hotness", "cache"),
    ("policy::replacement", "cache"),
    ("policy::victim", "gc"),
    ("policy::wear", "gc"),
    ("policy::throttle", "host"),
    ("policy::redundancy", "raid"),
];

/// Modules outside of the order: the declarations of policies.
const OUTSIDE: [&str; 3] = ["policy", "policy::custom", "policy::registry"];

/// A configuration has the parameters of every policy.
const TAKES: [(&str, &str); 1] = [("config", "policy")];

#[test]
fn rooms_of_the_controller_import_only_rooms_before_them() {
    complain(circles(
        "crates/device/src",
        Order { rooms: &DEVICE, belongs: &SLOTS, outside: &OUTSIDE, takes: &TAKES },
    ));
}

/// The most files that may import one another in a circle.
const CIRCLE_FILES_MAX: usize = 3;

// Slow: every file of every crate is read for what it imports, in a program without optimization.
#[test]
fn files_do_not_import_one_another_in_large_circles() {
    let crates = std::fs::read_dir(root().join("crates")).expect("a folder");
    let mut folders: Vec<_> = crates.map(|entry| entry.expect("readable").path()).collect();
    folders.extend(["benches", "tests/soak", "tests/decoders"].map(|it| root().join(it)));
    folders.sort();
    let mut problems = Vec::new();
    for folder in folders.iter().map(|it| it.join("src")).filter(|it| it.is_dir()) {
        let name = folder.strip_prefix(root()).expect("below the root").display().to_string();
        let circles = large_circles(&folder, CIRCLE_FILES_MAX);
        problems.extend(circles.into_iter().map(|circle| format!("{name}: {circle}")));
    }
    complain(problems);
}

/// A flag has one meaning, and its help one place.
#[test]
fn flags_are_declared_once() {
    let mut seen: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut problems = Vec::new();
    for (path, text) in files("crates/cli/src", &[".rs"]) {
        let mut about = String::new();
        let mut lines = text.lines().map(str::trim).peekable();
        while let Some(line) = lines.next() {
            match line.strip_prefix("///") {
                Some(more) => about += more,
                None if line.starts_with("#[arg(") && !about.is_empty() => {
                    let field = lines.peek().copied().unwrap_or_default();
                    let field = field.trim_start_matches("pub ").to_string();
                    let key = (std::mem::take(&mut about), field);
                    if let Some(other) = seen.get(&key) {
                        let (about, field) = key;
                        problems.push(format!("{path} and {other}: `{field}`:{about}"));
                    } else {
                        seen.insert(key, path.clone());
                    }
                }
                None => about.clear(),
            }
        }
    }
    assert!(seen.len() > 100, "{} flags", seen.len());
    complain(problems);
}

/// The command line goes through the experiments, so that it can do nothing that the bindings
/// cannot.
#[test]
fn the_command_imports_experiments_and_nothing_below() {
    let text = std::fs::read_to_string(root().join("crates/cli/Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = text.parse().expect("a manifest");
    let mut problems = Vec::new();
    for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let Some(table) = manifest.get(table).and_then(toml::Value::as_table) else { continue };
        for name in table.keys().filter(|name| name.starts_with("fowler-")) {
            let floor = FLOORS.iter().position(|it| name.strip_prefix("fowler-") == Some(it));
            let lowest = FLOORS.iter().position(|it| *it == "experiment");
            if floor < lowest && name != "fowler-tests" {
                problems.push(format!("cli depends on {name}; it goes through experiment"));
            }
        }
    }
    complain(problems);
}

/// Arrow takes long to build and is not needed to simulate, so only one optional crate depends on
/// it.
#[test]
fn arrow_is_in_one_crate_that_may_be_left_out() {
    let mut problems = Vec::new();
    for (path, text) in files("crates", &["Cargo.toml"]) {
        let manifest: toml::Table = text.parse().expect("a manifest");
        let mut has = false;
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = manifest.get(table).and_then(toml::Value::as_table) else { continue };
            has |= table.keys().any(|name| name.starts_with("arrow") || name == "parquet");
        }
        let allowed = ["columns", "python"].iter().any(|it| path.contains(it));
        if has != path.contains("columns") && !(has && allowed) {
            problems.push(format!("{path}: only fowler-columns may depend on Arrow"));
        }
        let wants = manifest["dependencies"].get("fowler-columns");
        let optional = wants.and_then(|it| it.get("optional")) == Some(&toml::Value::Boolean(true));
        if path.contains("cli") && !optional {
            problems.push(format!("{path}: fowler-columns is not optional"));
        }
    }
    complain(problems);
}

#[test]
fn the_way_of_a_request_stays_out_of_the_world() {
    let mut problems = Vec::new();
    for floor in ["units", "theory", "agenda", "physics", "nand", "device"] {
        for (path, text) in files(&format!("crates/{floor}/src"), &[".rs"]) {
            for (banned, why) in [
                ("std::fs", "touches a file"),
                ("std::io", "reads or writes"),
                ("std::env", "reads the environment"),
                ("std::thread", "starts threads"),
                ("println!", "prints"),
                ("fowler_metrics", "reads a metric"),
            ] {
                // Preconditioning, before the first request, may use threads.
                let may = banned == "std::thread" && path.contains("device/src/precondition/");
                if text.contains(banned) && !may {
                    problems.push(format!("{path}: {why} (`{banned}`)"));
                }
            }
        }
    }
    complain(problems);
}

/// Returns true if the text imports `slot` from the policies, on its own or in a group.
fn imports(text: &str, slot: &str) -> bool {
    let dense: String = text.split_whitespace().collect();
    ["policy::", "super::super::"].iter().any(|above| {
        let behind = dense.match_indices(above).map(|(at, _)| &dense[at + above.len()..]);
        behind.into_iter().any(|rest| heads(rest).iter().any(|head| head == slot))
    })
}

#[test]
fn imports_are_found_alone_and_in_groups() {
    for text in [
        "use crate::policy::victim::Greedy;",
        "use crate::policy::{\n    slot::Slot,\n    victim,\n};",
        "use crate::policy::{wear::{off, on}, victim::{self, Greedy}};",
        "use super::super::{victim};",
        "crate::policy::victim::pick()",
    ] {
        assert!(imports(text, "victim"), "{text}");
    }
    for text in
        ["use crate::policy::registry::victim;", "use crate::policy::{slot::{victim}, wear};"]
    {
        assert!(!imports(text, "victim"), "{text}");
    }
}

#[test]
fn a_policy_imports_no_other_slot() {
    let folder = "crates/device/src/policy";
    let mut problems = Vec::new();
    let all = files(folder, &[".rs"]);
    let slots: BTreeSet<&str> = all
        .iter()
        .filter_map(|(path, _)| path.strip_prefix(folder)?.strip_prefix('/')?.split_once('/'))
        .map(|(slot, _)| slot)
        .collect();
    assert!(slots.len() >= 4, "{slots:?}");
    for (path, text) in &all {
        for slot in &slots {
            let inside = path.starts_with(&format!("{folder}/{slot}/"));
            let slot_file = path.split('/').count() > folder.split('/').count() + 1;
            if slot_file && !inside && imports(text, slot) {
                problems.push(format!("{path} imports the slot {slot}"));
            }
        }
    }
    complain(problems);
}

/// Names that sound like a time but are none, and times that must be numbers: the beginning of the
/// path, the name or `*` for all, and the reason.
const NUMBERS: [(&str, &str, &str); 13] = [
    ("crates/python/src/", "*", "Python has numbers only; its names carry the unit"),
    ("crates/columns/src/requests.rs", "at", "a column of a Parquet file"),
    ("crates/columns/src/requests.rs", "latency", "a column of a Parquet file"),
    ("crates/fio-run/src/", "*", "fio's outputs count whole units of its own"),
    ("crates/workload/src/record.rs", "at", "a field of a trace's line, not yet a request"),
    ("crates/device/src/observe/counters.rs", "reads_at", "reads by level"),
    ("crates/device/src/observe/counters.rs", "retries_at", "retries by level"),
    ("crates/device/src/flash/txn.rs", "deadline", "a number of steps, to stay small"),
    ("crates/device/src/host/request.rs", "deadline", "the same number of steps"),
    ("crates/workload/src/formats/iolog.rs", "at", "a field of a trace's line, not yet a request"),
    ("crates/workload/src/formats/msps.rs", "US", "the unit of a column"),
    ("crates/workload/src/formats/msr.rs", "TICK_NS", "the unit of a column"),
    ("crates/workload/src/formats/simulators.rs", "UNIT_NS", "the unit of a column"),
];

/// A time is a `Nanos` or a `Span`, so that the compiler can tell a moment from a duration.
#[test]
fn times_are_no_numbers() {
    let mut problems = Vec::new();
    let mut used = BTreeSet::new();
    for (path, text) in files("crates", &[".rs"]) {
        if !path.contains("/src/") || path.ends_with("tests.rs") {
            continue;
        }
        for found in bare_times(&text) {
            let allowed = NUMBERS.iter().position(|(begins, name, _)| {
                path.starts_with(begins) && [found.name.as_str(), "*"].contains(name)
            });
            match allowed {
                Some(number) => drop(used.insert(number)),
                None => problems.push(format!(
                    "{path}:{}: `{}` is a number; make it a Nanos or a Span",
                    found.line, found.name
                )),
            }
        }
    }
    let unused = (0..NUMBERS.len()).filter(|number| !used.contains(number));
    problems.extend(unused.map(|number| format!("unused exception {:?}", NUMBERS[number])));
    complain(problems);
}

#[test]
fn every_module_says_what_it_is() {
    let mut problems = Vec::new();
    for folder in ["crates", "benches", "tests"] {
        for (path, text) in files(folder, &[".rs"]) {
            if !text.trim_start().starts_with("//!") {
                problems.push(format!("{path} has no module docs (`//!`)"));
            }
        }
    }
    complain(problems);
}

#[test]
fn names_say_what_is_inside() {
    let mut problems = Vec::new();
    for (path, _) in files(".", &[".rs", ".py"]) {
        let name = path.rsplit('/').next().expect("a name");
        let stem = name.split('.').next().expect("a stem");
        if ["utils", "util", "common", "helpers", "helper", "misc"].contains(&stem) {
            problems.push(format!("{path}: the name does not say what is inside"));
        }
    }
    complain(problems);
}

/// The width of code (rustfmt.toml). Rows of tables and links may be longer.
const COMMENT_COLUMNS_MAX: usize = 100;

#[test]
fn comments_keep_to_the_columns_of_code() {
    let mut problems = Vec::new();
    for folder in ["crates", "benches", "tests", "fuzz"] {
        for (path, text) in files(folder, &[".rs"]) {
            for (number, line) in text.lines().enumerate() {
                let comment = line.trim_start();
                let is_row = comment.trim_start_matches('/').trim_start().starts_with('|');
                let is_link = comment.contains("://");
                let width = line.chars().count();
                if comment.starts_with("//") && width > COMMENT_COLUMNS_MAX && !is_row && !is_link {
                    problems.push(format!("{path}:{}: comment has {width} columns", number + 1));
                }
            }
        }
    }
    complain(problems);
}

#[test]
fn doc_headings_stand_alone() {
    let heading = |line: &str| {
        let text = line.trim_start().strip_prefix("/// # ").unwrap_or_default();
        ["Errors ", "Panics ", "Safety ", "Examples "].iter().any(|it| text.starts_with(it))
    };
    let mut problems = Vec::new();
    for (path, text) in files("crates", &[".rs"]) {
        let lines = text.lines().enumerate().filter(|(_, line)| heading(line));
        problems.extend(
            lines.map(|(at, _)| format!("{path}:{}: a heading and its text on one line", at + 1)),
        );
    }
    complain(problems);
}

/// The longest function, in lines. May only be lowered.
const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 700;
/// The readable twin is there to be read as a whole.
const TWIN_LINES_MAX: usize = 500;
/// Long functions that are tables.
const TABLES: [&str; 1] = ["crates/workload/src/format.rs: const fn facts"];

#[test]
fn files_and_functions_stay_short() {
    let mut problems = Vec::new();
    let twin = std::fs::read_to_string(root().join("tests/twin/ftl.py")).expect("the twin");
    if twin.lines().count() > TWIN_LINES_MAX {
        problems.push(format!("tests/twin/ftl.py: {} lines", twin.lines().count()));
    }
    for (path, text) in files("crates", &[".rs"]) {
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > FILE_LINES_MAX {
            problems.push(format!("{path}: {} lines", lines.len()));
        }
        let mut open: Option<(usize, usize, &str)> = None;
        for (number, line) in lines.iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let code = line.trim_start();
            let starts = ["fn ", "pub fn ", "pub(crate) fn ", "pub(super) fn ", "const fn "]
                .iter()
                .any(|start| code.starts_with(start));
            if starts && open.is_none() && !code.ends_with(';') {
                open = Some((number, indent, code));
            }
            if let Some((from, its_indent, name)) = open
                && indent == its_indent
                && code.starts_with('}')
            {
                let table = TABLES.iter().any(|table| format!("{path}: {name}").starts_with(table));
                if number - from + 1 > FUNCTION_LINES_MAX && !table {
                    problems.push(format!(
                        "{path}:{}: {} lines: {name}",
                        from + 1,
                        number - from + 1
                    ));
                }
                open = None;
            }
        }
    }
    complain(problems);
}

#[test]
fn nothing_names_a_machine() {
    let mut problems = Vec::new();
    for folder in [".", ".ci"] {
        for (path, text) in
            files(folder, &[".rs", ".py", ".toml", ".md", ".yml", "Makefile", "run"])
        {
            for (number, line) in text.lines().enumerate() {
                let machine = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
                if machine.iter().any(|name| line.contains(name)) {
                    problems.push(format!("{path}:{}: {line}", number + 1));
                }
            }
        }
    }
    complain(problems);
}

/// The folder of files that are not part of the project has one door
/// (`fowler_tests::shared_folder`), so that what needs it is skipped on machines without it, and
/// can be found by name.
#[test]
fn the_shared_folder_is_named_in_one_place() {
    let endings = [".rs", ".py", ".mjs", ".sh", ".toml", "run", "Makefile"];
    let mut problems = Vec::new();
    for folder in ["crates", "benches", "tests", "fuzz", "python", "docs", ".ci", ".github"] {
        for (path, text) in files(folder, &endings) {
            let is_door =
                ["tests/src/shared_folder.rs", "tests/tests/all/tidy.rs"].contains(&path.as_str());
            for (index, line) in text.lines().enumerate() {
                let line_names = |name: &str| line.contains(&format!("{name}shared/"));
                let names = ["../", "root/", "\"", "'"].into_iter().any(line_names)
                    || line.contains("join(\"shared\")")
                    || line.contains("../shared");
                let in_ci = path == ".ci/run" && line.contains("FOWLER_SHARED");
                if names && !is_door && !in_ci {
                    problems.push(format!(
                        "{path}:{}: ask `fowler_tests::shared_folder` for the shared folder",
                        index + 1
                    ));
                }
            }
            // `.ci/run` runs these tests by the name of their module.
            let asks = path.contains("/tests") && text.contains("shared_folder::path(");
            if asks && !is_door && !text.contains("mod shared_files {") {
                problems.push(format!("{path}: such tests are in a module `shared_files`"));
            }
        }
    }
    complain(problems);
}
