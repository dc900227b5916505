//! The program may quote any text, but no quoted text commands the terminal or is displayed as
//! something else.

use crate::command::{Folder, command};
use fowler_tests::shared_folder;
use std::path::Path;

/// Returns whether a text has a character that commands a terminal, or turns text around.
fn commands(text: &str) -> bool {
    let bidirectional =
        |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}');
    text.chars().any(|c| c.is_control() && c != '\n' || bidirectional(c))
}

/// Every output of `fowler fio` about a job.
fn outputs_of_a_job(job: &str) {
    for format in ["normal", "terse", "json", "json+"] {
        let arguments =
            ["fio", job, "--output-format", format, "--device", "small.toml", "--quiet"];
        let output = command(&arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{format}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!commands(&text), "{format}: {text:?}");
        let shown = if format.starts_with("json") { "\\u001b" } else { "\\u{1b}" };
        assert!(text.contains(shown), "{format}: {text:?}");
    }
    let output = command(&["fio", job, "--sequence", "--device", "small.toml"]).output().unwrap();
    assert!(!commands(&String::from_utf8_lossy(&output.stdout)));
}

fn quoted_in_an_error(device: &str) {
    let run = ["run", "--device", device, "--workload", "demo"];
    let output = command(&run).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(!commands(&err) && err.contains("\\u{202e}"), "{err:?}");
}

#[test]
fn nothing_that_is_quoted_commands_the_terminal() {
    let folder = Folder::new("escapes");
    let job = "[\u{1b}[31m\u{7}red\u{202e}\u{9b}1m]\nrw=read\nsize=1m\n";
    outputs_of_a_job(&folder.file("escape.fio", job));
    quoted_in_an_error(&folder.file("turned.toml", "x = \"\u{202e}abc\u{2066}\"\n"));
}

mod shared_files {
    use super::*;

    #[test]
    fn what_people_have_is_escaped() {
        let Some(inputs) = shared_folder::path("inputs", "escapes in what people have") else {
            return;
        };
        let path = |name: &str| Path::new(&inputs).join(name).display().to_string();
        outputs_of_a_job(&path("c-escape-in-job-name.fio"));
        quoted_in_an_error(&path("c-bidirectional-controls.toml"));
    }
}
