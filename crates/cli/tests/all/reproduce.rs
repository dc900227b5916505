//! `fowler reproduce` as its user meets it: stopped and taken up again, with bad input, in full.

use crate::processes::{stopped, wait_until};
use fowler_tests::shared_folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _absent = fs::remove_dir_all(&path);
    path
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fowler"));
    command.arg("reproduce").args(arguments).stdin(Stdio::null());
    command
}

fn fowler(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn files(folder: &Path, ending: &str) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == ending))
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// Stops the command once it has finished a few runs.
fn stopped_early(arguments: &[&str], runs: &Path) -> Output {
    let mut child =
        command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until(&mut child, || files(runs, "json").len() >= 12);
    stopped(child, "TERM")
}

/// Flags for so few requests that every run is over at once: the study is tested, not its numbers.
const LOOK: [&str; 5] = ["pes", "--brief", "--quiet", "--limit", "200"];

// Slow: a whole look at a study of more than 100 runs, half of it twice.
#[test]
fn a_study_that_is_stopped_goes_on_where_it_was() {
    let out = folder("reproduce-stopped");
    let out_text = out.display().to_string();
    let arguments: Vec<&str> = LOOK.into_iter().chain(["--out", &out_text]).collect();
    let runs = out.join("runs-of-200");
    let ended = stopped_early(&arguments, &runs);
    assert!(String::from_utf8_lossy(&ended.stderr).contains("the same command resumes"));
    let saved = files(&runs, "json");
    assert!(saved.len() >= 12 && files(&out, "csv").is_empty());
    let finished = fowler(&arguments);
    let reported = String::from_utf8_lossy(&finished.stdout).into_owned();
    assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stderr));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    let drawn = files(&out, "svg").len();
    assert!(drawn > 3 && page.matches("class=\"drawing\"").count() == drawn, "{drawn}");
    assert_eq!(page.matches("class=\"sortable").count(), files(&out, "csv").len());
    assert!(page.contains("a preview, not a reproduction") && page.len() < 2_000_000);
    let all = files(&runs, "json");
    assert!(all.len() > 100, "{} runs", all.len());
    for file in &saved {
        assert!(all.contains(file), "{} was saved, and made anew", file.0);
    }
    let tables = files(&out, "csv");
    let again = fowler(&arguments);
    assert_eq!(String::from_utf8_lossy(&again.stdout), reported, "nothing is left to run");
    assert_eq!(files(&out, "csv"), tables);
    exact_claims_are_reproduced(&out.join("claims.csv"));
    fs::remove_dir_all(&out).unwrap();
}

/// Claims that need no workload must agree however few requests there are.
fn exact_claims_are_reproduced(claims: &Path) {
    let text = fs::read_to_string(claims).unwrap();
    let exact: Vec<&str> = text
        .lines()
        .filter(|line| {
            let place = line.split(',').nth(1).unwrap_or("");
            ["Table 1", "4.1", "4.2", "2.2"]
                .iter()
                .any(|it| place.trim_matches('"').starts_with(it))
        })
        // Directions of workloads; and two sums of the paper that leave out a reset.
        .filter(|line| !["000-037", "000-028", "000-036"].iter().any(|it| line.starts_with(it)))
        .collect();
    assert!(exact.len() >= 20, "{text}");
    let agrees = [",reproduced,", ",agrees by construction,", ",agrees with derived numbers,"];
    for line in exact {
        assert!(agrees.iter().any(|it| line.contains(it)), "{line}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let file = folder("reproduce-file");
    fs::write(&file, "a file").unwrap();
    let file = file.display().to_string();
    for (arguments, said) in [
        (
            vec!["pse"],
            "unknown paper `pse`\n    expected: one of pes, rhio, hire, ready, da-raid5\n    hint: did you mean \"pes\"?",
        ),
        (vec!["pes", "--traces", "no/such/folder"], "expected: a folder of traces"),
        (vec!["pes", "--traces", &file], "expected: a folder of traces"),
        (vec!["rhio", "--traces", "no/such/folder"], "expected: a folder of traces"),
        (vec!["pes", "--out", &file], "cannot be written"),
        (vec!["pes", "--limit", "0"], "0 is not in"),
    ] {
        let Output { status, stderr, .. } = fowler(&arguments);
        let reported = String::from_utf8_lossy(&stderr).into_owned();
        assert_eq!(status.code(), Some(2), "{arguments:?}: {reported}");
        assert!(reported.contains(said), "{arguments:?}: {reported}");
    }
    fs::remove_file(&file).unwrap();
}

/// Compares every entry with its claim: the numbers must be equal. Returns the number of entries.
fn compared(entries: &serde_json::Value, claims: &[toml::Value]) -> usize {
    let mut compared = 0;
    for entry in entries.as_array().unwrap() {
        let claim = claims.iter().find(|claim| claim["id"].as_str() == entry["id"].as_str());
        let claim = claim.unwrap_or_else(|| panic!("{} has no row", entry["id"]));
        let numbers = ["published", "derived"].map(|key| claim.get(key)).into_iter().flatten();
        for pair in numbers.flat_map(|it| it.as_array().unwrap()) {
            let label = pair[0].as_str().unwrap();
            let ours = pair[1].as_float().or(pair[1].as_integer().map(|it| it as f64));
            // Values in words have no number under the label.
            if let Some(theirs) = entry["value"][label].as_f64() {
                assert_eq!(ours, Some(theirs), "{} {label}", entry["id"]);
                compared += 1;
            }
        }
    }
    compared
}

/// A look at a paper with few requests: the paper, its number of claims, the names of its files,
/// the claims that are exact whatever the number of requests, and the number of runs.
struct Look {
    paper: &'static str,
    claims: usize,
    files: &'static [&'static str],
    exact: Vec<String>,
    runs: usize,
}

/// Every figure and table there is, exact claims that agree, and nothing left to run.
fn look(look: &Look) {
    let out = folder(&format!("reproduce-{}", look.paper));
    let out_text = out.display().to_string();
    let arguments = [look.paper, "--brief", "--quiet", "--limit", "200", "--out", &out_text];
    let Output { status, stdout, stderr } = fowler(&arguments);
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    let reported = String::from_utf8_lossy(&stdout).into_owned();
    assert!(reported.contains(&format!("{} claims: ", look.claims)), "{reported}");
    assert!(reported.contains("a preview, not a reproduction"), "{reported}");
    assert!(reported.contains("no verdict is confirmed by a repetition"), "{reported}");
    let names: Vec<String> = ["svg", "csv"]
        .iter()
        .flat_map(|ending| files(&out, ending))
        .map(|(path, _)| Path::new(&path).file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, look.files);
    let claims = fs::read_to_string(out.join("claims.csv")).unwrap();
    for id in &look.exact {
        let line = claims.lines().find(|line| line.starts_with(id)).unwrap();
        assert!(
            line.contains(",reproduced,") || line.contains(",agrees by construction,"),
            "{line}"
        );
    }
    assert_eq!(files(&out.join("runs-of-200"), "json").len(), look.runs);
    assert_eq!(
        String::from_utf8_lossy(&fowler(&arguments).stdout),
        reported,
        "nothing is left to run"
    );
    fs::remove_dir_all(&out).unwrap();
}

// Slow: 48 runs, each on a drive that is filled and aged first.
#[test]
fn a_look_at_rhio_has_its_figures_and_what_is_exact() {
    look(&Look {
        paper: "rhio",
        claims: 22,
        files: &[
            "figure4.svg",
            "figure5.svg",
            "figure6.svg",
            "claims.csv",
            "figure4.csv",
            "figure5.csv",
            "figure6.csv",
            "gains.csv",
            "orders.csv",
            "runs.csv",
            "workloads.csv",
        ],
        // Claim 14 is a direction, which matches in shape at most.
        exact: (9..=13).chain(16..=19).map(|number| format!("001-0{number:02},")).collect(),
        runs: 12 * (4 + 2),
    });
}

// Slow: 286 runs.
#[test]
fn a_look_at_hire_has_its_figures_and_what_is_exact() {
    look(&Look {
        paper: "hire",
        claims: 27,
        files: &[
            // Figure 4 has nothing to show: so few requests program hardly a page.
            "figure3.svg",
            "figure4.svg",
            "figure5.svg",
            "uses.svg",
            "claims.csv",
            "figure3.csv",
            "figure4.csv",
            "figure5.csv",
            "lifetime.csv",
            "overhead.csv",
            "runs.csv",
            "table1_physics.csv",
            "uses.csv",
            "workloads.csv",
        ],
        exact: [2, 4, 5, 6, 8, 9, 11, 15].map(|number| format!("004-0{number:02},")).into(),
        // The figures, two schemes in steady state and the oracle of each volume; six volumes in
        // sizes of their own, under the baseline, HVC, LVC and two readings.
        runs: 17 * (6 + 4 + 5 + 2 + 1) + 5 * 6 + 2,
    });
}

mod shared_files {
    use super::*;

    #[test]
    fn every_claim_of_the_catalogue_has_a_row() {
        let Some(path) = shared_folder::path("claims.json", "claims against their catalogue")
        else {
            return;
        };
        let text = fs::read_to_string(path).unwrap();
        let catalogue: serde_json::Value = serde_json::from_str(&text).unwrap();
        let pes = include_str!("../../../../presets/papers/pes.toml");
        let rhio = include_str!("../../../../presets/papers/rhio.toml");
        // The claims of HIRE have lists as values, which the tests of the study compare: here only
        // its rows count.
        let hire = include_str!("../../../../presets/papers/hire.toml");
        let ready = include_str!("../../../../presets/papers/ready.toml");
        for (paper, text, least) in
            [("pes", pes, 60), ("rhio", rhio, 17), ("hire", hire, 0), ("ready", ready, 0)]
        {
            let data: toml::Table = text.parse().unwrap();
            let compared =
                compared(&catalogue[paper]["entries"], data["claim"].as_array().unwrap());
            assert!(compared >= least, "{paper}: {compared} numbers");
        }
    }
}
