//! `ask` and `diff`: questions about a trace, and about two results.

use crate::command::{Folder, command};
use serde_json::Value;
use std::fmt::Write;

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = command(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn json(arguments: &[&str]) -> Value {
    let (code, out, err) = run(arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {err}");
    serde_json::from_str(&out).unwrap()
}

/// A trace of 3,000 requests, `gap_ns` apart from some time in 2023 on, every third of them a write
/// if there are any.
fn trace(gap_ns: u64, writes: bool) -> String {
    let mut text = String::from("at_ns,op,offset,size\n");
    for number in 0..3000u64 {
        let op = if writes && number % 3 == 0 { "write" } else { "read" };
        let page = number * 7919 % 1009;
        writeln!(text, "{},{op},{},4096", 1_700_000_000_000_000_000 + number * gap_ns, page * 4096)
            .unwrap();
    }
    text
}

/// Every answer depends on whether the trace has times and writes; the commands at the ends of
/// answers can be run.
#[test]
fn a_trace_gets_four_answers() {
    let folder = Folder::new("ask");
    for (name, gap_ns, writes, flags, says) in [
        ("usual", 1_000_000, true, [].as_slice(), ["pages for each page", "years"]),
        ("reads", 1_000_000, false, &[], ["writes nothing", "Longer than any drive is used"]),
        (
            "still",
            0,
            true,
            &["--queue-depth", "32"],
            ["writes per day are unknown", "does not show how long"],
        ),
        ("fast", 1000, true, &["--queue-depth", "32"], ["pages for each page", "years"]),
    ] {
        let file = folder.file(&format!("{name}.csv"), &trace(gap_ns, writes));
        let ask = ["ask", &file, "--device", "small.toml", "--seeds", "2", "--json"];
        let asked = json(&ask);
        assert_eq!(asked, json(&ask), "{name}: the same again");
        let pace = asked["choices"].as_array().unwrap().iter().find(|it| it["of"] == "pace");
        assert_eq!(pace.unwrap()["flags"], serde_json::json!(flags), "{name}");
        let answers = asked["answers"].as_array().unwrap();
        assert_eq!(answers.len(), 4, "{name}");
        let text = |place: usize| answers[place]["answer"].as_str().unwrap();
        for (place, says) in [(1, says[0]), (2, says[1])] {
            assert!(text(place).contains(says), "{name}: {}", text(place));
        }
        assert!(text(0).contains("A read takes"), "{name}: {}", text(0));
        for next in answers.iter().map(|it| it["next"].as_str().unwrap()) {
            let words: Vec<&str> = next.split(' ').skip(1).collect();
            // A life takes long; it can be lived if there are writes and times.
            if words[0] == "lifetime" {
                assert!(writes && gap_ns > 0, "{name}: {next}");
                continue;
            }
            let (code, out, err) = run(&words);
            assert_eq!(code, Some(0), "{next}: {err}");
            assert!(!out.is_empty(), "{next}");
        }
    }
}

/// A drive whose life is not simulated gets answers, and these say what is left out.
#[test]
fn a_drive_without_a_simulated_life_is_asked_too() {
    let folder = Folder::new("ask-without-life");
    let file = folder.file("usual.csv", &trace(100_000, true));
    let mut ask = vec!["ask", &file, "--device", "small.toml", "--seeds", "1", "--json"];
    let parity = ["policy.redundancy=raid5", "policy.redundancy.stripe=1"];
    ask.extend(parity.iter().flat_map(|set| ["--set", set]));
    let asked = json(&ask);
    let answers = asked["answers"].as_array().unwrap();
    assert!(answers[1]["confidence"].as_str().unwrap().contains("parity"), "{}", answers[1]);
    // The amplification of the run, or its bounds if the run erased too little.
    let number = |name: &str| numbers(&asked, 1)[name].as_f64();
    match number("waf") {
        Some(waf) => assert!(waf >= 1.0, "{}", answers[1]),
        None => {
            assert_eq!(number("waf_least"), Some(1.0), "{}", answers[1]);
            assert!(number("waf_most").unwrap() > 1.0, "{}", answers[1]);
            assert!(answers[1]["answer"].as_str().unwrap().contains("erased"), "{}", answers[1]);
        }
    }
    assert!(answers[2]["answer"].as_str().unwrap().contains("parity"), "{}", answers[2]);
    for answer in answers {
        let words = answer["next"].as_str().unwrap().split(' ').skip(1).collect::<Vec<_>>();
        let (code, _, err) = run(&words);
        assert_eq!(code, Some(0), "{answer}: {err}");
    }
}

/// Long use of a drive with superblocks is simulated.
#[test]
fn a_drive_with_superblocks_is_asked_about_long_use() {
    let folder = Folder::new("ask-superblocks");
    let file = folder.file("usual.csv", &trace(100_000, true));
    let small = ["geometry.blocks_per_plane=64", "geometry.channels=2"];
    let mut ask = vec!["ask", &file, "--device", "nvme-7450", "--seeds", "1", "--json"];
    ask.extend(small.iter().flat_map(|set| ["--set", set]));
    let asked = json(&ask);
    let answer = asked["answers"][1]["answer"].as_str().unwrap();
    assert!(answer.starts_with("In the long run the drive programs"), "{answer}");
    assert!(numbers(&asked, 1)["waf"].as_f64().unwrap() >= 1.0, "{answer}");
}

/// Without a name, the drive is a fitted one, and the other fitted ones get answers in short.
// Slow: a trace of 100,000 requests is answered on four drives with superblocks.
#[test]
fn a_trace_alone_is_asked_on_fitted_drives() {
    let folder = Folder::new("ask-fitted");
    let file = folder.file("usual.csv", &trace(100_000, true));
    let mut ask = vec!["ask", &file, "--seeds", "1", "--json"];
    let small = ["geometry.blocks_per_plane=64", "geometry.channels=2"];
    ask.extend(small.iter().flat_map(|set| ["--set", set]));
    let asked = json(&ask);
    let choice = asked["choices"].as_array().unwrap().iter().find(|it| it["of"] == "drive");
    assert_eq!(choice.unwrap()["flags"], serde_json::json!(["--device", "nvme-pm9a3"]));
    let answers = asked["answers"].as_array().unwrap();
    let drives: Vec<Option<&str>> = answers.iter().map(|it| it["drive"].as_str()).collect();
    let others = ["nvme-7450", "nvme-p5520", "nvme-pe8110"].map(Some);
    assert_eq!(drives, [[Some("nvme-pm9a3"); 4].as_slice(), &others].concat());
    for (place, answer) in answers.iter().enumerate().skip(4) {
        assert!(answer["answer"].as_str().unwrap().contains("P/E cycles after"), "{answer}");
        for name in ["read_mean_us", "write_mean_us", "waf", "rated_years"] {
            assert!(numbers(&asked, place)[name].as_f64().unwrap() > 0.0, "{name}: {answer}");
        }
    }
    // The named drive gets the same answers, without the others.
    ask.extend(["--device", "nvme-pm9a3"]);
    let named = json(&ask);
    let texts = |asked: &Value| -> Vec<String> {
        let all = asked["answers"].as_array().unwrap().iter().take(4);
        all.map(|it| it["answer"].to_string()).collect()
    };
    assert_eq!(texts(&named), texts(&asked));
    assert_eq!(named["answers"].as_array().unwrap().len(), 4);
}

/// Other fitted drives that have no room for the trace, or cannot have the settings, say so; all
/// others are asked with addresses of their own.
// Slow: three questions about traces, each answered on four drives with superblocks.
#[test]
fn other_drives_without_room_or_with_wrong_settings_say_so() {
    let folder = Folder::new("ask-others");
    // So small, the first drive has 1.30 GB and the nvme-p5520 1.19 GB.
    let small =
        ["geometry.blocks_per_plane=64", "geometry.channels=2", "geometry.chips_per_channel=1"];
    let ask = |file: &str, more: &[&str]| {
        let mut ask = vec!["ask", file, "--seeds", "1", "--limit", "1000", "--json"];
        ask.extend(small.iter().chain(more).flat_map(|set| ["--set", set]));
        json(&ask)
    };
    let of = |asked: &Value, drive: &str, key: &str| {
        let all = asked["answers"].as_array().unwrap();
        let last = all.iter().rfind(|it| it["drive"] == drive).unwrap();
        last[key].as_str().unwrap().to_string()
    };
    let trace = |requests: u64, offset: &dyn Fn(u64) -> u64, size: u64| {
        let mut text = String::from("at_ns,op,offset,size\n");
        for number in 0..requests {
            writeln!(text, "{},write,{},{size}", number * 10_000_000, offset(number)).unwrap();
        }
        text
    };
    // The addresses end between the capacities.
    let far = folder.file("far.csv", &trace(64, &|it| 1_249_902_592 - it * 4096, 4096));
    let asked = ask(&far, &[]);
    let next = of(&asked, "nvme-p5520", "next");
    assert!(next.contains("--device nvme-p5520") && next.contains("--remap compact"), "{next}");
    let next = of(&asked, "nvme-7450", "next");
    assert!(!next.contains("--remap"), "{next}");
    // So does what is touched.
    let wide = folder.file("wide.csv", &trace(300, &|it| it << 22, 1 << 22));
    let answer = of(&ask(&wide, &[]), "nvme-p5520", "answer");
    assert!(answer.contains("and no room for the 1.172 GiB"), "{answer}");
    let refused = of(&ask(&far, &["queue.taken=100"]), "nvme-7450", "answer");
    assert!(refused.starts_with("It cannot have these settings: no effect"), "{refused}");
}

/// A trace that rewrites a few pages never fills a program: the write buffer absorbs it, and the
/// question how it wears the drive ends all the same.
#[test]
fn a_trace_that_stays_in_the_buffer_wears_nothing() {
    let folder = Folder::new("ask-absorbed");
    let mut text = String::from("at_ns,op,offset,size\n");
    for number in 0..100u64 {
        writeln!(text, "{},write,{},4096", number * 1_000_000, number % 4 * 4096).unwrap();
    }
    let file = folder.file("few.csv", &text);
    let mut ask = vec!["ask", &file, "--device", "nvme-7450", "--seeds", "1", "--json"];
    let small = ["geometry.blocks_per_plane=64", "geometry.channels=2"];
    ask.extend(small.iter().flat_map(|set| ["--set", set]));
    let answers = json(&ask)["answers"].clone();
    for (place, says) in [(1, "the write buffer absorbs all"), (2, "nothing of the trace reaches")]
    {
        let answer = answers[place]["answer"].as_str().unwrap();
        assert!(answer.contains(says), "{answer}");
    }
}

/// The numbers of an answer.
fn numbers(asked: &Value, place: usize) -> &Value {
    &asked["answers"][place]["numbers"]
}

/// A trace that comes faster than the drive serves it wears the drive as fast as that serves it,
/// however much faster it comes.
#[test]
fn a_life_counts_what_the_drive_serves() {
    let folder = Folder::new("ask-fast");
    let ask = |name: &str, gap_ns| {
        let file = folder.file(name, &trace(gap_ns, true));
        json(&["ask", &file, "--device", "small.toml", "--seeds", "1", "--json"])
    };
    let [fast, faster] = [("fast.csv", 1000), ("faster.csv", 10)].map(|(name, gap)| ask(name, gap));
    for place in [1, 2] {
        assert!(
            numbers(&fast, place).as_object().is_some_and(|object| !object.is_empty()),
            "{fast}"
        );
        assert_eq!(numbers(&fast, place), numbers(&faster, place));
    }
    let confidence = |asked: &Value| asked["answers"][2]["confidence"].to_string();
    assert!(confidence(&fast).contains("covers 2.999 ms"), "{}", confidence(&fast));
}

/// With a limit every answer is about the first requests, and the same as of a trace that ends
/// there.
#[test]
fn a_limit_holds_for_every_answer() {
    let folder = Folder::new("ask-limit");
    let whole = trace(1_000_000, true);
    // The rest comes a thousand times as slowly.
    let lines: Vec<&str> = whole.lines().collect();
    let (begin, _) = lines.split_at(1001);
    let mut text = begin.join("\n") + "\n";
    for number in 0..1000u64 {
        writeln!(
            text,
            "{},write,{},4096",
            1_700_000_002_000_000_000 + number * 1_000_000_000,
            number * 4096
        )
        .unwrap();
    }
    let long = folder.file("long.csv", &text);
    let short = folder.file("short.csv", &(begin.join("\n") + "\n"));
    let ask = |file: &str| {
        json(&["ask", file, "--device", "small.toml", "--seeds", "1", "--limit", "1000", "--json"])
    };
    let (long, short) = (ask(&long), ask(&short));
    for place in 0..4 {
        let answer = |asked: &Value| asked["answers"][place]["answer"].clone();
        assert_eq!(answer(&long), answer(&short), "{place}");
        assert_eq!(numbers(&long, place), numbers(&short, place), "{place}");
    }
    let limited = |asked: &Value| asked["choices"].to_string().contains("the first 1,000 of 2,000");
    assert!(limited(&long) && !limited(&short), "{long}");
}

#[test]
fn everything_wrong_with_a_question_is_said_at_once() {
    let (code, _, err) = run(&["ask", "nothing.csv", "--format", "nosuch", "--columns", "x"]);
    assert_eq!(code, Some(2), "{err}");
    let (code, _, err) = run(&["ask", "nothing.csv", "--format", "nosuch"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("nosuch") && err.contains("nothing.csv"), "{err}");
}

#[test]
fn two_results_differ_in_what_was_asked_for_and_what_followed() {
    let folder = Folder::new("diff");
    let [before, after] = ["before", "after"].map(|name| folder.path(name));
    let one = ["run", "--device", "small.toml", "--workload", "demo", "--limit", "2000", "--quiet"];
    let changed = ["--scheme", "pes_ips", "--set", "timing.read=50us"];
    assert_eq!(run(&[&one[..], &["--out", &before]].concat()).0, Some(0));
    assert_eq!(run(&[&one[..], &changed, &["--out", &after]].concat()).0, Some(0));
    let found = json(&["diff", &before, &after, "--json"]);
    let pair = &found["pairs"][0];
    assert_eq!(pair["settings"]["timing.read"][1], "50us", "{pair}");
    assert_eq!(pair["chance"], "unknown");
    let mean = &pair["causes"]["read"]["mean_us"];
    let parts = pair["causes"]["read"]["by_cause_us"].as_object().unwrap().values();
    let change = |both: &Value| both[1].as_f64().unwrap() - both[0].as_f64().unwrap();
    let sum: f64 = parts.map(change).sum();
    assert!((sum - change(mean)).abs() < 1e-6, "the causes are the difference: {pair}");
    let page = folder.path("both.html");
    let (code, _, err) = run(&["diff", &before, &after, "--report", &page]);
    assert_eq!(code, Some(0), "{err}");
    let text = std::fs::read_to_string(&page).unwrap();
    for part in ["first: ", "second: pes_ips", "id=\"read-latency\"", "timing.read", "50us"] {
        assert!(text.contains(part), "{part}");
    }
    assert_eq!(run(&["diff", &before, &after, "--report", &page]).0, Some(0), "again");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), text, "the same bytes");
    let over = folder.path("before/report.html");
    let (code, _, err) = run(&["diff", &before, &after, "--report", &over]);
    assert_eq!(code, Some(2), "{err}");
    let (code, _, err) =
        run(&["diff", &folder.path("before/summary.json"), &after, "--report", &page]);
    assert_eq!((code, err.contains("holds no report.html")), (Some(2), true), "{err}");
    let same = json(&["diff", &before, &before, "--json"]);
    assert_eq!(same["pairs"][0]["results"], serde_json::json!({}));

    let summary = folder.path("after/summary.json");
    let text = std::fs::read_to_string(&summary).unwrap();
    std::fs::write(&summary, text.replacen("\"count\": ", "\"count\": 1", 1)).unwrap();
    let (code, _, err) = run(&["diff", &folder.path("nowhere"), &after]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("nowhere") && err.contains("is damaged"), "{err}");
    let other = folder.file("other.json", "{\"a\": 1}");
    let (code, _, err) = run(&["diff", &before, &other]);
    assert_eq!((code, err.contains("is not the summary of a run")), (Some(2), true), "{err}");
}

/// A named pipe in the place of a stored file never answers: it is refused before it is opened.
#[cfg(unix)]
#[test]
fn pipes_among_results_are_refused() {
    let folder = Folder::new("pipes");
    let text =
        "device = 'small.toml'\nworkload = 'demo'\nlimit = 200\n[axis]\nscheme = ['fifo', 'rps']\n";
    let (spec, out) = (folder.file("sweep.toml", text), folder.path("swept"));
    let sweep = ["sweep", &spec, "--out", &out, "--quiet"];
    let (code, _, err) = run(&sweep);
    assert_eq!(code, Some(0), "{err}");
    let points = std::path::Path::new(&out).join("points");
    let rows = std::fs::read_dir(points).unwrap().flatten().map(|it| it.path());
    let row =
        rows.filter(|it| it.extension().is_some_and(|ending| ending == "parquet")).min().unwrap();
    std::fs::remove_file(&row).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&row).status().unwrap();
    assert!(made.success());
    for arguments in [&["check", &out][..], &sweep] {
        let (code, said, err) = run(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {said}{err}");
        let said = said + &err;
        assert!(said.contains("is not a regular file"), "{arguments:?}: {said}");
    }
    // A link in the place of the lock: what it points to is left alone.
    let (victim, swept) = (folder.file("victim", "mine"), folder.path("linked"));
    assert_eq!(run(&["sweep", &spec, "--out", &swept, "--quiet"]).0, Some(0));
    let lock = std::path::Path::new(&swept).join(".lock");
    let _absent = std::fs::remove_file(&lock);
    std::os::unix::fs::symlink(&victim, &lock).unwrap();
    let (code, _, err) = run(&["sweep", &spec, "--out", &swept, "--quiet"]);
    assert_eq!(code, Some(2), "{err}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
}

/// The longest times that a trace may have, a command that does not fit the workload, and a limit
/// on the length of files: each ends in good order.
#[test]
fn limits_are_reached_in_good_order() {
    let folder = Folder::new("limits");
    let text = "at_ns,op,offset,size\n0,read,0,4096\n9223372036854775807,write,0,4096\n";
    let long = folder.file("long.csv", text);
    let (code, out, err) = run(&["run", "--trace", &long, "--device", "small.toml", "--quiet"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let (code, _, err) = run(&["run", "--split", "--workload", "demo", "--limit", "5"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--split") && err.contains("--trace FILE"), "{err}");
    let out = folder.path("short");
    let limited = "ulimit -f 20; exec \"$0\" \"$@\"";
    let demo = ["run", "--workload", "demo", "--device", "small.toml", "--limit", "500", "--quiet"];
    let mut shell = std::process::Command::new("bash");
    let fowler = command(&[&demo[..], &["--out", &out]].concat());
    shell.args(["-c", limited]).arg(fowler.get_program()).args(fowler.get_args());
    if let Some(folder) = fowler.get_current_dir() {
        shell.current_dir(folder);
    }
    let ended = shell.output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{err}");
    assert!(err.contains("cannot be written"), "{err}");
    let left = std::fs::read_dir(&out).into_iter().flatten().flatten();
    let partial = left.filter(|it| it.file_name().to_string_lossy().contains("partial")).count();
    assert_eq!(partial, 0, "{err}");
}
