//! Output that fits a terminal, and commands that can be copied from it. COLUMNS stands for a
//! terminal of so many columns; without it these tests write into pipes, where every line is whole.

use crate::command::{Folder, command};
use std::process::Command;
use unicode_width::UnicodeWidthStr;

const WIDTHS: [&str; 3] = ["60", "80", "200"];

/// Standard output of a command that must succeed.
fn printed(arguments: &[&str], columns: Option<&str>) -> String {
    let mut command = command(arguments);
    if let Some(columns) = columns {
        command.env("COLUMNS", columns);
    }
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {err}");
    String::from_utf8(output.stdout).unwrap()
}

/// A trace of reads and writes at their own times, in the folder.
fn trace(folder: &Folder, name: &str) -> String {
    let mut text = String::from("at_ns,op,offset,size\n");
    for number in 0..3000u64 {
        let op = if number % 3 == 0 { "write" } else { "read" };
        text += &format!("{},{op},{},4096\n", number * 400_000, number * 7919 % 1009 * 4096);
    }
    folder.file(name, &text)
}

const SMALL: &[&str] = &["--device", "small.toml", "--workload", "small-load.toml", "--quiet"];

/// The commands that print text for people, on cases that take no time. `{trace}` is a trace,
/// `{out}` a folder of results, `{load}` a workload of an hour.
const COMMANDS: &[&[&str]] = &[
    &["run"],
    &["run", "--full"],
    &["run", "--scheme", "pes_ipc", "--seed", "5"],
    &["run", "--dry-run"],
    &["run", "--set", "reliability.model=off", "--limit", "1"],
    &["run", "--fault", "1s page 3 uncorrectable"],
    &["compare", "--schemes", "fifo,rps,pes_ips,pes_ipc,per"],
    &["compare", "--schemes", "fifo,pes_ipc", "--seeds", "3"],
    &["compare", "--schemes", "fifo,rps,pes_ips,pes_ipc,per", "--full", "--seeds", "2"],
    &["compare", "--schemes", "fifo,rps,pes_ips,pes_ipc", "--dry-run"],
    &["explain", "--slowest", "3"],
    &[
        "lifetime",
        "--workload",
        "{load}",
        "--device",
        "ready-32",
        "--set",
        "geometry.channels=1",
        "--set",
        "geometry.chips_per_channel=1",
        "--set",
        "geometry.dies_per_chip=1",
        "--set",
        "geometry.blocks_per_plane=64",
        "--years",
        "0.002",
        "--quiet",
    ],
    &["ask", "{trace}", "--device", "small.toml", "--quiet"],
    &["run", "--trace", "{trace}", "--split", "--device", "small.toml", "--quiet"],
    &["trace", "info", "{trace}"],
    &["check", "{out}"],
    &["diff", "{out}", "{out}"],
    &["presets"],
    &["presets", "--keys"],
    &["presets", "--on", "tlc"],
    &["schema"],
    &["physics", "plot", "--out", "{plots}"],
    &["sweep", "../../../examples/sweep.toml", "--dry-run"],
];

/// A request a second for an hour.
const HOUR: &str = "duration = '1h'
arrivals = { kind = 'poisson', rate = 1 }
mix.reads = 0.2
";

/// Commands whose help has the widest lines: how a command is used is one line for clap.
const HELP: &[&str] = &[
    "ask",
    "calibrate",
    "check",
    "chip",
    "compare",
    "diff",
    "endurance",
    "explain",
    "fio",
    "lifetime",
    "presets",
    "pts",
    "run",
    "schema",
    "score",
    "sweep",
    "trace",
    "validate",
];

/// The arguments with files in the place of names, and with the small drive and its load where a
/// command names none.
fn filled<'a>(arguments: &[&'a str], [trace, out, load, plots]: [&'a str; 4]) -> Vec<&'a str> {
    let one = |&it: &&'a str| match it {
        "{trace}" => trace,
        "{out}" => out,
        "{load}" => load,
        "{plots}" => plots,
        other => other,
    };
    let mut filled: Vec<&str> = arguments.iter().map(one).collect();
    let of_load = ["run", "compare", "explain"].contains(&arguments[0]);
    if of_load && !arguments.contains(&"{trace}") {
        filled.extend(SMALL);
    }
    filled
}

fn too_wide(text: &str, columns: &str) -> Vec<String> {
    let most: usize = columns.parse().unwrap();
    text.lines().filter(|line| line.width() > most).map(String::from).collect()
}

// Slow: every command at three widths, some of them with several schemes and seeds.
#[test]
fn nothing_is_wider_than_the_terminal() {
    let folder = Folder::new("terminal-widths");
    let (file, out) = (trace(&folder, "a.csv"), folder.path("out"));
    let (load, plots) = (folder.file("load.toml", HOUR), folder.path("plots"));
    // Paths are never broken, so those of this machine must not be in the text.
    let folder = folder.0.as_path();
    let runs = [&["compare", "--schemes", "fifo,pes_ipc", "--out", &out], SMALL].concat();
    printed(&runs, None);
    let near = |columns: &str, arguments: &[&str]| {
        let text = printed(arguments, Some(columns));
        let wide = too_wide(&text.replace(&folder.display().to_string(), "folder"), columns);
        assert!(wide.is_empty(), "{arguments:?} at {columns}:\n{}\nof\n{text}", wide.join("\n"));
    };
    for columns in WIDTHS {
        for arguments in COMMANDS {
            near(columns, &filled(arguments, [&file, &out, &load, &plots]));
        }
        for name in HELP {
            near(columns, &[name, "--help"]);
        }
    }
}

/// The short report at two widths, and that it is short.
#[test]
fn a_run_is_told_on_one_screen() {
    for columns in ["60", "80"] {
        let text = printed(&[&["run"], SMALL].concat(), Some(columns));
        insta::assert_snapshot!(format!("short_report_{columns}"), text);
    }
    let text = printed(&[&["run"], SMALL].concat(), Some("80"));
    assert!((25..=45).contains(&text.lines().count()), "{text}");
    let full = printed(&[&["run", "--full"], SMALL].concat(), Some("80"));
    for part in ["| read p99.99 (us)", "slowest 1 % of reads (us)", "over-provisioning"] {
        assert!(full.contains(part) && !text.contains(part), "{part}");
    }
}

/// Reads alone, writes alone, a single request, and none that takes any time: each has a verdict.
#[test]
fn little_is_told_as_well() {
    let folder = Folder::new("terminal-little");
    for (name, lines, says) in [
        ("reads", "0,read,0,4096\n9,read,4096,4096\n", "Reads take"),
        ("write", "0,write,0,4096\n", "Writes take"),
        ("trim", "0,trim,0,4096\n", "no latency was measured"),
    ] {
        let file = folder.file(&format!("{name}.csv"), &format!("at_ns,op,offset,size\n{lines}"));
        let text = printed(&["run", "--trace", &file, "--device", "small.toml", "--quiet"], None);
        assert!(text.contains(says), "{name}: {text}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{name}: {text}");
    }
}

/// JSON is for programs: neither the terminal nor `--full` changes it.
#[test]
fn json_has_no_width() {
    let json = |more: &[&str], columns| {
        let text = printed(&[&["run", "--json"], SMALL, more].concat(), columns);
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let all = value.as_object_mut().unwrap();
        all.retain(|key, _| !["wall_s", "requests_per_s"].contains(&key.as_str()));
        value
    };
    assert_eq!(json(&[], None), json(&["--full"], Some("60")));
}

/// The commands that a text proposes, as they are copied: from the word `fowler` to the first line
/// that does not end in a backslash.
fn proposed(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let begins = line.split_once("  ").map_or(line, |(_, rest)| rest.trim_start());
        if open {
            let last = commands.last_mut().unwrap();
            *last += &format!("\n{line}");
        } else if begins.starts_with("fowler ") {
            commands.push(begins.into());
        } else {
            continue;
        }
        open = line.ends_with('\\');
    }
    commands
}

/// Copies each command that is proposed into a shell: its words are the same at every width, also
/// where a shell must not take a name apart, and the program runs it.
#[test]
fn commands_that_are_proposed_can_be_copied_and_run() {
    let folder = Folder::new("terminal-commands");
    let odd = trace(&folder, "it's a trace of mine, $HOME.csv");
    let settings = ["--set", "timing.read=30us", "--seed", "4", "--quiet"];
    let small = ["--device", "small.toml"];
    let run =
        ["run", "--trace", &odd, "--remap", "compact", "--queue-depth", "4", "--limit", "500"];
    let compare = ["compare", "--trace", &odd, "--schemes", "pes_ipc,fifo", "--limit", "500"];
    let ask = ["ask", &odd, "--limit", "2000", "--seeds", "1"];
    for (arguments, count) in [(&run[..], 1), (&compare, 1), (&ask, 4)] {
        let words = |columns: Option<&str>| -> Vec<Vec<String>> {
            let text = printed(&[arguments, &small, &settings].concat(), columns);
            proposed(&text).iter().map(|command| words_of(command)).collect()
        };
        let whole = words(None);
        assert_eq!(whole.len(), count, "{arguments:?}");
        for columns in WIDTHS {
            assert_eq!(words(Some(columns)), whole, "{arguments:?} at {columns}");
        }
        for command in whole {
            let mut arguments: Vec<&str> = command[1..].iter().map(String::as_str).collect();
            assert!(arguments.contains(&&*odd), "{command:?}");
            // A life takes long; its flags are parsed before help is.
            if arguments[0] == "lifetime" {
                arguments.push("--help");
            }
            assert!(!printed(&arguments, None).is_empty(), "{command:?}");
        }
    }
}

/// The words of a command as a shell takes it apart.
fn words_of(command: &str) -> Vec<String> {
    let script = format!("set -- {command}\nprintf '%s\\n' \"$@\"");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect()
}
