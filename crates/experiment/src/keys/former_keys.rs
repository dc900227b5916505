//! Keys of former versions, and the keys that took their place.

use crate::diagnostic::Diagnostic;
use crate::document::{Setting, Value};

/// The configuration keys of former versions, each with the keys that took its place.
const RETIRED: [(&str, &[&str]); 3] = [
    ("ftl.mapping", &["ftl.reclaim_unit", "ftl.program_unit", "ftl.unit"]),
    ("superblocks.unit", &["ftl.unit"]),
    ("superblocks.word_line", &["flash.word_line"]),
];

/// Returns the configuration keys that took the place of a former version's key; `None` for other
/// names.
pub(crate) fn replacements(path: &str) -> Option<&'static [&'static str]> {
    RETIRED.iter().find(|(old, _)| *old == path).map(|(_, new)| *new)
}

/// Returns a sentence that names the keys that took the place of a configuration key of former
/// versions.
pub(crate) fn advice(path: &str) -> Option<String> {
    let new: Vec<String> = replacements(path)?.iter().map(|key| format!("`{key}`")).collect();
    Some(match new.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("use {} and {last}", rest.join(", ")),
        _ => format!("use {}", new.concat()),
    })
}

/// Returns the diagnostic of a setting whose key former versions had, with what to write instead.
/// `all` are the settings of the same source.
pub(crate) fn diagnostic(setting: &Setting, all: &[Setting]) -> Option<Diagnostic> {
    replacements(&setting.path)?;
    let pairs = instead(setting, all);
    let hint = if setting.origin.line.is_some() {
        let (section, _) = pairs.first()?.0.split_once('.')?;
        let lines = pairs.iter().map(|(key, value)| {
            let name = key.rsplit_once('.').map_or(*key, |(_, name)| name);
            format!("{name} = {value}")
        });
        let lines: Vec<String> = lines.collect();
        format!("in [{section}], write: {}", lines.join("; "))
    } else {
        let flags = pairs.iter().map(|(key, value)| format!("{key}={}", value.replace('"', "")));
        format!("set {}", flags.collect::<Vec<_>>().join(" and "))
    };
    let what = format!("`{}` is no longer a key", setting.path);
    Some(setting.origin.diagnostic(what).hint(hint))
}

/// Returns the settings, as keys and values in TOML, that replace a setting whose key former
/// versions had and that have the effect it had.
fn instead(setting: &Setting, all: &[Setting]) -> Vec<(&'static str, String)> {
    let given = match &setting.value {
        Value::Text(text) | Value::Bare(text) => text.clone(),
        Value::Whole(number) => number.to_string(),
        _ => String::new(),
    };
    match setting.path.as_str() {
        "superblocks.word_line" => vec![("flash.word_line", given)],
        "superblocks.unit" => vec![("ftl.unit", format!("\"{given}\""))],
        _ => {
            let words = match given.as_str() {
                "pages" => ["\"block\"", "\"page\"", "\"page\""],
                _ => ["\"superblock\"", "\"word_line\"", "\"4KiB\""],
            };
            let keys = ["ftl.reclaim_unit", "ftl.program_unit", "ftl.unit"];
            // The hint of `superblocks.unit` says the unit.
            let unit_given = all.iter().any(|other| other.path == "superblocks.unit");
            let count = if unit_given { 2 } else { 3 };
            keys.into_iter().zip(words.map(String::from)).take(count).collect()
        }
    }
}
