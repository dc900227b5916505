//! Checks that the rooms (modules) of a crate import one another in one direction only: each may
//! import the rooms listed before it.
//!
//! [`circles`] reads the sources. It finds paths that begin with `crate::`, and paths of `super::`
//! that leave the room. Tests, comments and strings do not count.

use std::path::{Path, PathBuf};

/// The order of a crate's rooms, lowest first, and the modules elsewhere that belong to a room.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// The rooms.
    pub rooms: &'a [&'a str],
    /// Inner modules, as `outer::inner`, and the room that each belongs to.
    pub belongs: &'a [(&'a str, &'a str)],
    /// Modules outside of the order. They may import any room, and any room may import them.
    pub outside: &'a [&'a str],
    /// Pairs of a room and an outer module from which it takes plain data, whatever the order.
    pub takes: &'a [(&'a str, &'a str)],
}

impl Order<'_> {
    /// Returns the index of the room of a module, given by its path in the crate, or `None` for a
    /// module outside of the order.
    ///
    /// # Errors
    /// Returns the name of the module if it is in no room.
    fn room(&self, module: &[&str]) -> Result<Option<usize>, String> {
        let inner = module.get(..2).unwrap_or(module).join("::");
        let entry = self.belongs.iter().find(|(path, _)| *path == inner);
        let room = entry.map_or(module[0], |(_, room)| room);
        if self.outside.contains(&room) || self.outside.contains(&inner.as_str()) {
            return Ok(None);
        }
        self.rooms.iter().position(|it| *it == room).map(Some).ok_or(inner)
    }
}

/// Returns the violations in `folder`: imports against the order, modules that are in no room, and
/// rooms that do not exist.
///
/// # Panics
/// If the folder cannot be read.
pub fn circles(folder: &str, order: Order<'_>) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join(folder);
    let mut files = Vec::new();
    sources(&root, &mut files);
    files.sort();
    let mut problems = Vec::new();
    let mut seen = Vec::new();
    for path in files {
        let inside = path.strip_prefix(&root).expect("below the folder");
        let mut parts: Vec<&str> =
            inside.iter().map(|part| part.to_str().expect("a plain name")).collect();
        let file = parts.pop().and_then(|file| file.strip_suffix(".rs")).expect("a source");
        if file != "mod" {
            parts.push(file);
        }
        if ["lib", "main"].contains(&parts[0]) || parts.iter().any(|it| it.ends_with("tests")) {
            continue;
        }
        let height = match order.room(&parts) {
            Ok(Some(height)) => height,
            Ok(None) => continue,
            Err(name) => {
                problems.push(format!("{folder}/{}: `{name}` is in no room", inside.display()));
                continue;
            }
        };
        seen.push(order.rooms[height]);
        let text = std::fs::read_to_string(&path).expect("text");
        for other in imported(&text, parts.len()) {
            let path: Vec<&str> = other.split("::").collect();
            if let Ok(Some(above)) = order.room(&path)
                && above > height
                && !order.takes.contains(&(order.rooms[height], path[0]))
            {
                problems.push(format!(
                    "{folder}/{}: `{}` imports `{other}`, which comes after it",
                    inside.display(),
                    order.rooms[height]
                ));
            }
        }
    }
    let missing = order.rooms.iter().filter(|room| !seen.contains(room));
    problems.extend(missing.map(|room| format!("{folder} has no room `{room}`")));
    problems.dedup();
    problems
}

pub(crate) fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Returns the imports of a file that is `depth` modules deep, without those of its tests: the
/// first two words of paths from the root of the crate, or the first word if a group follows it.
fn imported(text: &str, depth: usize) -> Vec<String> {
    let code = without_tests(&code(text));
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        // Not the end of another name, such as `some_crate::`.
        let before = code[..at].chars().next_back();
        if !before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            found.extend(two_heads(&code[at + "crate::".len()..]));
        }
    }
    let mut rest = code.as_str();
    while let Some(at) = rest.find("super::") {
        let mut path = &rest[at..];
        let mut levels = 0;
        while let Some(below) = path.strip_prefix("super::") {
            (path, levels) = (below, levels + 1);
        }
        if levels == depth {
            found.extend(two_heads(path));
        }
        rest = path;
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the same as [`heads`], with the second word of each path if there is one.
fn two_heads(rest: &str) -> Vec<String> {
    let first = heads(rest);
    let [outer] = &first[..] else { return first };
    match rest.strip_prefix(outer.as_str()).and_then(|it| it.strip_prefix("::")) {
        Some(inner) => heads(inner).iter().map(|it| format!("{outer}::{it}")).collect(),
        None => first,
    }
}

/// Returns the first word of the path that `rest` of an import begins with, or the first words of
/// all paths if it begins with a group.
pub fn heads(rest: &str) -> Vec<String> {
    let word = |text: &str| {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        text[..end].to_string()
    };
    let Some(group) = rest.strip_prefix('{') else { return vec![word(rest)] };
    let (mut heads, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                heads.push(word(&group[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    heads
}

/// Returns the text without comments, strings, character literals and insignificant space.
fn code(text: &str) -> String {
    let mut code = String::new();
    for c in blanked(text).chars() {
        // Space is significant only if it separates words.
        let parts = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if !c.is_whitespace() {
            code.push(c);
        } else if parts {
            code.push(' ');
        }
    }
    ["{", "}", ",", ":", ";"]
        .iter()
        .fold(code, |code, mark| code.replace(&format!(" {mark}"), mark))
}

/// Returns the text without comments, strings and character literals. Line numbers stay the same.
pub fn blanked(text: &str) -> String {
    let (mut blanked, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let end = |at: Option<usize>, behind: usize| at.map_or(rest.len(), |at| at + behind);
        let raw = rest.starts_with("r#\"") || rest.starts_with("r\"");
        let length = if rest.starts_with("//") {
            end(rest.find('\n'), 0)
        } else if rest.starts_with("/*") {
            end(rest.find("*/"), 2)
        } else if raw && !blanked.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            let close = if rest.starts_with("r#") { "\"#" } else { "\"" };
            let open = close.len() + 1;
            end(rest[open..].find(close).map(|at| at + open), close.len())
        } else if c == '"' {
            string(rest)
        } else if c == '\'' {
            character(rest)
        } else {
            blanked.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        blanked.extend(rest[..length].chars().filter(|&c| c == '\n'));
        rest = &rest[length..];
    }
    blanked
}

/// Returns the length of the string that the text begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of the character literal that the text begins with, or 1 for the quote of a
/// lifetime.
fn character(text: &str) -> usize {
    let mut inside = text.char_indices().skip(1);
    match (inside.next(), inside.next()) {
        (Some((_, '\\')), Some((at, c))) => {
            let from = at + c.len_utf8();
            text[from..].find('\'').map_or(text.len(), |at| from + at + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Returns the code without items under `#[cfg(test)]`. Line numbers stay the same.
pub(crate) fn without_tests(code: &str) -> String {
    let (mut kept, mut rest) = (String::new(), code);
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        rest = &rest[at + "#[cfg(test)]".len()..];
        let mut depth = 0;
        let end = rest.char_indices().find(|&(_, c)| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0 && (c == '}' || c == ';')
        });
        let end = end.map_or(rest.len(), |(at, _)| at + 1);
        kept.extend(rest[..end].chars().filter(|&c| c == '\n'));
        rest = &rest[end..];
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_wherever_they_stand() {
        for (text, depth, expected) in [
            ("use crate::run::Ready;", 1, &["run::Ready"][..]),
            (
                "use crate::{keys::{all, at}, presets};\nfn f() { crate::text::of() }",
                1,
                &["keys", "presets", "text::of"],
            ),
            ("use super::{run::Ready, text};", 1, &["run", "text"]),
            ("use super::near;\nuse super::super::far::Thing;", 2, &["far::Thing"]),
            (
                "// crate::comment\n/// [`crate::doc`]\nlet s = \"crate::string\\\" crate::more\";",
                1,
                &[],
            ),
            (
                "let s = r#\"crate::raw\"#; let c = '{'; let d: &'static str = crate::a::B;",
                1,
                &["a::B"],
            ),
            (
                "#[cfg(test)]\nmod tests {\n    use crate::run; fn f() {}\n}\nuse crate::b;",
                1,
                &["b"],
            ),
            ("#[cfg(test)]\nuse crate::run;\nuse crate::\n    b;", 1, &["b"]),
            ("use some_crate::run;", 1, &[]),
            ("macro_rules! m { () => { $crate::a::b() } }", 1, &["a::b"]),
        ] {
            assert_eq!(imported(text, depth), expected, "{text}");
        }
    }
}
