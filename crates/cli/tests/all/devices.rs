//! Drives side by side: `compare --devices`, `ask --devices`, and what can be wrong with the list.

use crate::command::{Folder, command};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = command(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The small drive of these tests, with another time for a read.
fn drive(read: &str) -> String {
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/small.toml");
    fs::read_to_string(small).unwrap().replace("read = \"25us\"", &format!("read = \"{read}\""))
}

const LOAD: [&str; 3] = ["--workload", "small-load.toml", "--quiet"];

#[test]
fn drives_are_columns_of_one_comparison() {
    let folder = Folder::new("devices");
    let slow = folder.file("slow.toml", &drive("90us"));
    let list = format!("small.toml,{slow}");
    let out = folder.path("out");
    let flags = ["compare", "--devices", &list, "--seeds", "2", "--out", &out];
    let (code, text, error) = run(&[&flags[..], &LOAD].concat());
    assert_eq!(code, Some(0), "{error}");
    let head = text.lines().find(|line| line.starts_with('|')).unwrap();
    let head: Vec<&str> = head.split('|').map(str::trim).collect();
    assert_eq!(head, ["", "", "small", "slow", ""], "{text}");
    assert!(text.contains("small has the lowest mean read latency"), "{text}");
    assert!(!text.contains("scheme"), "nothing speaks of schemes: {text}");
    let summary = fs::read_to_string(Path::new(&out).join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let names: Vec<&Value> =
        summary["devices"].as_array().unwrap().iter().map(|it| &it["candidate"]).collect();
    assert_eq!(names, ["small", "slow"]);
    assert!(summary.get("schemes").is_none());
    assert_eq!(summary["seeds"]["devices"].as_array().unwrap().len(), 2);
    assert_eq!(summary["verdict"][0]["devices"], serde_json::json!(["slow", "small"]));
    // A column is the run of that drive by itself.
    let (_, alone, _) = run(&[&["run", "--device", &slow, "--json"][..], &LOAD].concat());
    let alone: Value = serde_json::from_str(&alone).unwrap();
    assert_eq!(alone["read"], summary["devices"][1]["read"]);
    assert!(alone.get("candidate").is_none());
    if cfg!(feature = "report") {
        let page = fs::read_to_string(Path::new(&out).join("report.html")).unwrap();
        for part in ["2 drives under", "Differences between the drives", "small has the lowest"] {
            assert!(page.contains(part), "{part}");
        }
    }
    let (code, text, error) = run(&["diff", &out, &out]);
    assert_eq!(code, Some(0), "{error}");
    assert!(text.contains("small and small") && text.contains("slow and slow"), "{text}");
}

#[test]
fn settings_and_a_scheme_are_those_of_all_drives() {
    let folder = Folder::new("devices-set");
    let other = folder.file("other.toml", &drive("90us"));
    let list = format!("small.toml,{other}");
    let flags = ["compare", "--devices", &list, "--schemes", "rps", "--json"];
    let set = ["--set", "queue.depth=32", "--seed", "7"];
    let (code, text, error) = run(&[&flags[..], &set, &LOAD].concat());
    assert_eq!(code, Some(0), "{error}");
    let all: Value = serde_json::from_str(&text).unwrap();
    for device in all["devices"].as_array().unwrap() {
        assert_eq!((&device["scheme"], &device["provenance"]["seed"]), (&"rps".into(), &7.into()));
        assert!(device["provenance"]["config"].as_str().unwrap().contains("depth = 32"));
    }
}

/// Each drive runs under the schemes that work on it; `ppc` needs parity that is updated in place.
#[test]
fn several_schemes_run_on_the_drives_where_they_work() {
    let flags = ["compare", "--devices", "da-raid5,nvme-7450", "--schemes", "as described,ppc"];
    let small = ["--set", "geometry.blocks_per_plane=64", "--set", "geometry.pages_per_block=24"];
    let (code, text, error) = run(&[&flags[..], &small, &["--json"], &LOAD].concat());
    assert_eq!(code, Some(0), "{error}");
    assert!(error.contains("ppc is left out on nvme-7450: the stripes"), "{error}");
    let all: Value = serde_json::from_str(&text).unwrap();
    let runs = all["devices"].as_array().unwrap();
    let of = |key: &str| runs.iter().map(|it| it[key].as_str().unwrap()).collect::<Vec<_>>();
    let names = ["da-raid5 as described", "da-raid5 ppc", "nvme-7450 as described"];
    assert_eq!(of("candidate"), names);
    assert_eq!(of("scheme"), ["as described", "ppc", "as described"]);
    let (code, text, error) = run(&[&flags[..], &small, &LOAD].concat());
    assert_eq!(code, Some(0), "{error}");
    let lines = text.lines().filter(|it| it.starts_with("drive ")).count();
    assert_eq!(lines, 3, "da-raid5 has less capacity under ppc: {text}");
}

/// Requests are drawn from the seed of the first drive, whatever the files say.
#[test]
fn all_drives_serve_the_same_requests() {
    let folder = Folder::new("devices-seed");
    let one = folder.file("one.toml", &format!("seed = 3\n{}", drive("25us")));
    let two = folder.file("two.toml", &format!("seed = 9\n{}", drive("25us")));
    let list = format!("{one},{two}");
    let (code, text, error) =
        run(&[&["compare", "--devices", &list, "--json"][..], &LOAD].concat());
    assert_eq!(code, Some(0), "{error}");
    let all: Value = serde_json::from_str(&text).unwrap();
    let [one, two] = [0, 1].map(|place| &all["devices"][place]);
    assert_eq!(one["provenance"]["seed"], 3);
    assert_eq!(one["read"], two["read"]);
}

#[test]
fn a_list_that_cannot_be_compared_is_refused() {
    let folder = Folder::new("devices-wrong");
    fs::create_dir_all(folder.0.join("a")).unwrap();
    let one = folder.file("a/x.toml", &drive("25us"));
    let same = folder.path("a/../a/x.toml");
    let (twice, far) = (format!("{one},{same}"), folder.file("far.csv", FAR));
    let sizes = folder.file("large.toml", &drive("25us").replace("= 64\npages", "= 256\npages"));
    let sizes = format!("small.toml,{sizes}");
    let load = &LOAD[..];
    let trace = &["--trace", &far, "--quiet"][..];
    for (flags, load, says) in [
        (&["--devices", "tlc"][..], load, &["`tlc` names only one drive", "use --device"][..]),
        (&["--devices", "tlc,tlc"], load, &["drive `tlc` is listed twice"]),
        (&["--devices", &twice], load, &["are the same file"]),
        (&["--devices", "tlc,pm9a3"], load, &["unknown device `pm9a3`", "\"nvme-pm9a3\""]),
        (&["--devices", "tlc,nope.toml"], load, &["nope.toml: cannot be read"]),
        (&["--devices", "tlc,rhio", "--device", "tlc"], load, &["cannot be used with"]),
        (
            &["--devices", "nvme-7450,nvme-pm9a3", "--schemes", "fifo,ppc,nosuch"],
            load,
            &["unknown scheme `nosuch`", "ppc:2: the stripes of a drive with superblocks"],
        ),
        (&[], load, &["--devices"]),
        (
            &["--devices", "tlc,rhio", "--set", "buffer.siz=1"],
            load,
            &["did you mean `buffer.size`?"],
        ),
        (&["--devices", &sizes], trace, &["exceed the drive's capacity", "(on small)", "--remap"]),
    ] {
        let (code, _, error) = run(&[&["compare"], flags, load].concat());
        assert_eq!(code, Some(2), "{flags:?}: {error}");
        for part in says {
            assert!(error.contains(part), "{flags:?}: {part}: {error}");
        }
    }
}

/// A trace that ends beyond the small drive.
const FAR: &str = "at_ns,op,offset,size\n0,read,0,4096\n1000,read,33554432,4096\n";

#[test]
fn a_trace_that_is_too_long_for_one_drive_is_wrapped_there() {
    let folder = Folder::new("devices-sizes");
    let far = folder.file("far.csv", FAR);
    let large = drive("25us").replace("= 64\npages", "= 256\npages");
    let list = format!("small.toml,{}", folder.file("large.toml", &large));
    let flags = ["compare", "--devices", &list, "--trace", &far, "--remap", "modulo", "--quiet"];
    let (code, text, error) = run(&flags);
    assert_eq!(code, Some(0), "{error}");
    assert!(text.contains("the drives differ in size"), "{text}");
}

#[test]
fn each_drive_is_asked_and_the_last_answers_name_the_better() {
    let folder = Folder::new("devices-ask");
    let slow = folder.file("slow.toml", &drive("90us"));
    let list = format!("small.toml,{slow}");
    let mut trace = String::from("at_ns,op,offset,size\n");
    for number in 0..3000_u64 {
        let op = if number % 3 == 0 { "write" } else { "read" };
        let (at, page) = (number * 1_000_000, number * 7919 % 1009);
        trace += &format!("{at},{op},{},4096\n", page * 4096);
    }
    let (trace, out) = (folder.file("t.csv", &trace), folder.path("out"));
    let flags = ["ask", &trace, "--devices", &list, "--seeds", "2", "--out", &out, "--json"];
    let (code, text, error) = run(&flags);
    assert_eq!(code, Some(0), "{error}");
    let asked: Value = serde_json::from_str(&text).unwrap();
    let answers = asked["answers"].as_array().unwrap();
    let drives: Vec<&str> =
        answers.iter().map(|it| it["drive"].as_str().unwrap_or_default()).collect();
    // Latency, cost and life of each drive, the better drive, and the better scheme on each.
    let each = ["small", "slow"];
    assert_eq!(drives, [&each[..], &each, &each, &[""], &each].concat());
    let last = answers[6]["answer"].as_str().unwrap();
    assert!(last.starts_with("small has the lowest mean read latency"), "{last}");
    for answer in &answers[6..] {
        let next: Vec<&str> = answer["next"].as_str().unwrap().split(' ').skip(1).collect();
        assert_eq!(run(&next).0, Some(0), "{next:?}");
    }
    if cfg!(feature = "report") {
        let page = fs::read_to_string(Path::new(&out).join("report.html")).unwrap();
        for answer in answers {
            let question = answer["question"].as_str().unwrap();
            assert!(page.contains(question), "{question}");
        }
        assert!(page.contains("years until the cells reach"), "the page has the life");
    }
    let (code, _, error) = run(&["ask", &trace, "--devices", "tlc"]);
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("`tlc` names only one drive"), "{error}");
}

#[test]
fn a_word_without_a_flag_is_told_its_flag() {
    for (arguments, flag) in [
        (["run", "my.csv"], "--trace my.csv"),
        (["run", "demo"], "--workload demo"),
        (["run", "nvme-pm9a3"], "--device nvme-pm9a3"),
        (["compare", "my.csv"], "--trace my.csv"),
    ] {
        let (code, _, error) = run(&arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(error.contains(&format!("did you mean `{flag}`?")), "{arguments:?}: {error}");
    }
}

/// If too little was erased, the write amplification and its parts are withheld everywhere but in
/// JSON.
// Slow: a fitted drive is filled as a whole, by a program with all checks.
#[test]
fn write_amplification_of_hardly_any_erase_is_withheld() {
    let folder = Folder::new("devices-withheld");
    let out = folder.path("out");
    let flags = [
        "run",
        "--device",
        "nvme-pm9a3",
        "--workload",
        "random-write",
        "--limit",
        "3000",
        "--full",
    ];
    let (code, text, error) = run(&[&flags[..], &["--quiet", "--out", &out]].concat());
    assert_eq!(code, Some(0), "{error}");
    let row = text.lines().find(|line| line.starts_with("| write amplification")).unwrap();
    assert_eq!(row.split('|').nth(2).map(str::trim), Some("-"), "{row}");
    assert!(
        text.contains("write amplification is withheld") || text.contains("no garbage"),
        "{text}"
    );
    let summary = fs::read_to_string(Path::new(&out).join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert!(summary["waf"].is_number() && summary["waf_withheld"].is_string(), "{summary}");
    if cfg!(feature = "report") {
        let page = fs::read_to_string(Path::new(&out).join("report.html")).unwrap();
        assert!(!page.contains("<h2>write amplification (pages)</h2>"), "no tile has it");
    }
}

/// The commands that two passes leave unfinished belong to each stream: the law of transfers, which
/// a build with debug assertions checks after every run, allows for all of them.
#[test]
fn streams_in_two_passes_keep_the_laws() {
    let folder = Folder::new("streams in two passes");
    let mut text = String::from("at_ns,op,offset,size,placement\n");
    for number in 0..4_000_u64 {
        let (at, unit) = (number * 100_000, number * 7919 % 1000);
        text += &format!("{at},write,{},4096,{}\n", unit * 4096, number % 6);
    }
    let trace = folder.file("placed.csv", &text);
    let keys = [
        "geometry.channels=2",
        "geometry.chips_per_channel=1",
        "geometry.planes_per_die=1",
        "geometry.blocks_per_plane=61",
        "geometry.pages_per_block=24",
        "geometry.over_provisioning=0.5",
        "flash.word_line=1",
        "superblocks.parity=0",
        "policy.redundancy=none",
        "flash.program_passes=2",
        "gc.foreground_below=9",
        "gc.background_below=0",
        "buffer.size=400KiB",
        "policy.placement=handles",
        "policy.placement.handles=6",
        "policy.placement.isolation=persistent",
    ];
    let sets: Vec<&str> = keys.iter().flat_map(|&key| ["--set", key]).collect();
    let run_it = ["run", "--device", "nvme-pm9a3", "--trace", &trace, "--json", "--quiet"];
    let (code, text, error) = run(&[&run_it[..], &sets].concat());
    assert_eq!(code, Some(0), "{error}");
    let summary: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(summary["write"]["count"], 4_000, "{text}");
}
