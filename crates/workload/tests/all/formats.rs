//! The documentation of the formats agrees with their list.

use fowler_workload::Format;
use std::path::Path;

/// `FOWLER_DOCS=write` writes the table anew.
#[test]
#[allow(clippy::disallowed_methods, reason = "whoever adds a format asks for the table by name")]
fn the_documentation_lists_the_formats_there_are() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/traces.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let table = Format::table();
    let head = table.lines().next().unwrap();
    let start = text.find(head).expect("the page has the table");
    let length = text[start..].find("\n\n").expect("the table ends") + 1;
    if text[start..start + length] == table {
        return;
    }
    let write = std::env::var("FOWLER_DOCS").is_ok_and(|it| it == "write");
    assert!(
        write,
        "docs/traces.md differs: FOWLER_DOCS=write cargo test -p fowler-workload writes it"
    );
    std::fs::write(page, text.replace(&text[start..start + length], &table)).unwrap();
}
