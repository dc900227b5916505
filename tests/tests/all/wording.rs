//! The rules of the repository on comments and names: both say what they are about.

use crate::tidy::{complain, files};
use fowler_tests::rooms::blanked;

/// Folders with Rust sources whose wording is checked.
const RUST_FOLDERS: [&str; 3] = ["benches", "crates", "tests"];
/// Folders with Python, JavaScript and TOML files whose wording is checked.
const SCRIPT_FOLDERS: [&str; 6] = ["crates", "docs", "examples", "presets", "python", "tests"];
/// Openings that leave the subject of a comment to the code below it.
const OPENINGS: [&str; 7] = ["What", "Whether", "Whose", "The same", "Those", "Its", "Their"];
/// The most comment lines that begin with one of [`OPENINGS`]. May only be lowered.
const OPENINGS_MAX: usize = 3;
/// The most such lines in scripts and TOML files: comments of two presets of workloads, which are
/// known in results by the hash of their text. May only be lowered.
const SCRIPT_OPENINGS_MAX: usize = 4;
/// The most lines of code in which something is named `its`. May only be lowered.
const UNNAMED_MAX: usize = 0;

/// Returns the place and the text of the lines that `is_counted` selects, in all files below
/// `folders` with one of `endings`. It is given the text of a file.
fn counted(
    folders: &[&str],
    endings: &[&str],
    is_counted: impl Fn(&str) -> Vec<usize>,
) -> Vec<String> {
    let mut found = Vec::new();
    for folder in folders {
        for (path, text) in files(folder, endings) {
            let lines: Vec<&str> = text.lines().collect();
            let place = |index: usize| format!("{path}:{}: {}", index + 1, lines[index].trim());
            found.extend(is_counted(&text).into_iter().map(place));
        }
    }
    found
}

/// Complains of all lines if they are more than `most`.
fn limit(mut lines: Vec<String>, most: usize, rule: &str) {
    if lines.len() > most {
        lines.push(format!("{} lines, at most {most} are allowed: {rule}", lines.len()));
        complain(lines);
    }
}

/// Returns whether `text` begins with `opening` as whole words.
fn begins_with(text: &str, opening: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.strip_prefix(opening).is_some_and(|rest| !rest.starts_with(is_word))
}

/// Returns whether `comment` begins with one of [`OPENINGS`].
fn is_riddle(comment: &str) -> bool {
    OPENINGS.iter().any(|opening| begins_with(comment.trim_start_matches(' '), opening))
}

/// Returns the indices of the comment lines of the Rust source `text` that begin with one of
/// [`OPENINGS`].
fn openings(text: &str) -> Vec<usize> {
    let opens = |line: &str| {
        let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
        is_riddle(comment.strip_prefix(['/', '!']).unwrap_or(comment))
    };
    text.lines().enumerate().filter(|(_, line)| opens(line)).map(|(index, _)| index).collect()
}

/// Returns the indices of the lines of a script or TOML file that begin with a comment or a
/// docstring which begins with one of [`OPENINGS`].
fn script_openings(text: &str) -> Vec<usize> {
    let opens = |line: &str| {
        let line = line.trim_start();
        let comment = ["#", "\"\"\"", "///", "//"].into_iter().find_map(|it| line.strip_prefix(it));
        comment.is_some_and(is_riddle)
    };
    text.lines().enumerate().filter(|(_, line)| opens(line)).map(|(index, _)| index).collect()
}

/// Returns the indices of the lines of `text` whose code has the name `its`; comments and strings
/// do not count.
fn unnamed(text: &str) -> Vec<usize> {
    let has_its = |line: &str| {
        line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "its")
    };
    let code = blanked(text);
    code.lines().enumerate().filter(|(_, line)| has_its(line)).map(|(index, _)| index).collect()
}

#[test]
fn comments_name_their_subject() {
    let rule = "begin a comment with the noun it is about, and its unit and range (`Pages without \
                a later access`), a boolean with `True if`; not with What, Whether, Whose, The \
                same, Those, Its or Their";
    limit(counted(&RUST_FOLDERS, &[".rs"], openings), OPENINGS_MAX, rule);
    let mut scripts = counted(&SCRIPT_FOLDERS, &[".py", ".toml", ".js"], script_openings);
    // The build writes this file from the texts of the configuration's keys, which say what a key
    // decides.
    scripts.retain(|line| !line.starts_with("python/fowler/config.py"));
    limit(scripts, SCRIPT_OPENINGS_MAX, rule);
}

#[test]
fn variables_have_the_names_of_things() {
    let rule = "name a variable after the thing that it holds (`drive`, `block`, `row`), not `its`";
    limit(counted(&RUST_FOLDERS, &[".rs"], unnamed), UNNAMED_MAX, rule);
}

#[test]
fn openings_are_found_in_comments_of_all_kinds() {
    let text = "/// What it is.\n    //! Whether so.\n//The same.\n// Those.\nlet a = 1; // What\n\
                /// Whatever.\n/// True if what.\n/// The sameness.\n///  Whose\n//! Its name";
    assert_eq!(openings(text), [0, 1, 2, 3, 8, 9]);
}

#[test]
fn openings_are_found_in_scripts() {
    let text = "# What it is.\n  \"\"\"Whether so.\"\"\"\nx = 1  # Those\n// Whose\n#The same\n# Its\n\
                #\n/// What";
    assert_eq!(script_openings(text), [0, 1, 3, 4, 5, 7]);
}

#[test]
fn names_are_found_in_code_only() {
    let text = "let its = 1;\n// its\nlet a = \"its\n its\";\nall.map(|its| its.x);\nits_own";
    assert_eq!(unnamed(text), [0, 4]);
}
