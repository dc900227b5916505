//! Files that a package installs beside the program, and the version in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn fowler(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fowler")).args(arguments).output().unwrap()
}

fn said(arguments: &[&str]) -> String {
    let output = fowler(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// `0.1.0`, or `0.1.0 (1b217d4 2026-11-22)` where the program was built in a checkout.
#[test]
fn the_version_has_the_commit_where_it_is_known() {
    let text = said(&["--version"]);
    let rest = text.strip_prefix(concat!("fowler ", env!("CARGO_PKG_VERSION"))).unwrap();
    let rest = rest.strip_suffix('\n').unwrap();
    let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    let Some((hash, day)) = commit.and_then(|commit| commit.split_once(' ')) else {
        return assert_eq!(rest, "", "{text}");
    };
    assert!(hash.len() == 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
    let parts: Vec<usize> = day.split('-').map(str::len).collect();
    assert_eq!(parts, [4, 2, 2], "{text}");
}

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = said(&["completions", shell]);
        for word in ["compare", "schemes", "lifetime", "convert"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(fowler(&["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("manual");
    let _absent = fs::remove_dir_all(&folder);
    said(&["man", "--out", &folder.display().to_string()]);
    let names: BTreeSet<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let help = said(&["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| line.starts_with("  "))
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() >= 10, "{commands:?}");
    for command in &commands {
        assert!(names.contains(&format!("fowler-{command}.1")), "{command}: {names:?}");
    }
    for name in ["fowler.1", "fowler-trace-info.1", "fowler-physics-plot.1"] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    assert!(names.iter().all(|name| !name.contains("help")), "{names:?}");
    // A page is of a version: which commit it was built of is no matter of it.
    for name in &names {
        let page = fs::read_to_string(folder.join(name)).unwrap();
        let version = concat!("\"fowler ", env!("CARGO_PKG_VERSION"), "\"");
        assert!(page.contains(version) && page.contains(".SH NAME"), "{name}");
        assert!(!page.contains(&said(&["--version"])[..]), "{name}");
    }
    assert_eq!(said(&["man"]), fs::read_to_string(folder.join("fowler.1")).unwrap());
}

#[test]
fn schemas_are_listed_and_printed() {
    let list = said(&["schema"]);
    assert!(list.lines().count() >= 9, "{list}");
    for line in list.lines() {
        let name = line.split_whitespace().next().unwrap();
        let schema: serde_json::Value = serde_json::from_str(&said(&["schema", name])).unwrap();
        assert_eq!(schema["type"], "object", "{name}");
    }
}
