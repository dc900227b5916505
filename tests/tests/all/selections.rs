//! Cargo compiles a dependency again for each set of features that is asked of it, and which
//! features a build asks for depends on the packages selected. So there are two selections:
//! everything with its default features, and the smallest program (`make demo`). Whatever subset of
//! the first is built, dependencies have the features that they have in the whole:
//! `tests/Cargo.toml` and `crates/columns/Cargo.toml` ask for those that a subset would lack.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The features of each package: two sets where build scripts or macros have others than the
/// program.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Runs Cargo at the root of the repository and returns what it printed.
fn cargo(arguments: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let command = option_env!("CARGO").unwrap_or("cargo");
    let output = Command::new(command).args(arguments).current_dir(root).output();
    let output = output.unwrap_or_else(|error| panic!("{command}: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the features of every package that building `selection` compiles; `edges` are the kinds
/// of dependencies.
fn features(selection: &[&str], edges: &str) -> Features {
    let shape = ["tree", "--offline", "--quiet", "--prefix=none", "--format={p}|{f}"];
    let text = cargo(&[&shape, &["--edges", edges][..], selection].concat());
    let mut found = Features::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (package, features) = line.split_once('|').expect("a package and its features");
        let package = package.trim_end_matches(" (proc-macro)").to_string();
        found.entry(package).or_default().insert(features.trim_end_matches(" (*)").to_string());
    }
    assert!(!found.is_empty());
    found
}

// Slow: Cargo resolves the features of every crate of the workspace by itself.
#[test]
fn whatever_is_selected_dependencies_have_the_features_of_the_whole() {
    let whole = features(&["--workspace"], "normal,build,dev");
    let members = cargo(&["tree", "--offline", "--workspace", "--depth=0", "--prefix=none"]);
    let members: BTreeSet<&str> = members.lines().filter_map(|it| it.split(' ').next()).collect();
    let members: Vec<&str> = members.into_iter().filter(|it| !it.is_empty()).collect();
    assert!(members.len() > 20, "{members:?}");
    // As `cargo test -p` builds, and as the other commands of the Makefile do.
    let tests = members.iter().map(|member| (vec!["-p", member], "normal,build,dev"));
    let programs = [
        vec!["--workspace"],
        vec!["-p", "fowler-cli", "-p", "fowler-python"],
        vec!["-p", "fowler-python"],
        vec!["-p", "fowler-bench"],
        vec!["-p", "fowler-soak"],
    ];
    let programs = programs.into_iter().map(|selection| (selection, "normal,build"));
    let mut problems = BTreeSet::new();
    for (selection, edges) in tests.chain(programs) {
        for (package, found) in features(&selection, edges) {
            let known = whole.get(&package).cloned().unwrap_or_default();
            let others: Vec<_> = found.difference(&known).collect();
            if !others.is_empty() {
                let selection = selection.join(" ");
                problems.insert(format!(
                    "{package}: {others:?} with {selection}, {known:?} in the workspace"
                ));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.into_iter().collect::<Vec<_>>().join("\n"));
}
