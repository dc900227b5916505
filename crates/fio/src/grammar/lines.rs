//! Splits a job file into sections and option lines.

use crate::environment::Environment;
use fowler_units::{Diagnostic, Diagnostics};
use std::sync::Arc;

/// Deepest nesting of included job files.
const NESTED: usize = 16;
/// Largest number of lines of a job file with everything it includes.
const LINES: usize = 100_000;
/// Largest size in bytes of a job file with everything it includes, and of its values with
/// variables replaced.
const BYTES: usize = 16 << 20;

/// An option as the job file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// Name of the fio option, as the job file gives it.
    pub name: String,
    /// Value of the fio option in the job file, with variables replaced; `None` if there is no `=`.
    pub value: Option<String>,
    /// True if a blank followed the `=` of the fio option in the job file.
    pub blank: bool,
    /// Name of the job file, or of the file it includes, in which the fio option stands.
    pub file: Arc<str>,
    /// Number of the line, from 1, in which the fio option stands in the job file or the file that
    /// it includes.
    pub line: u64,
    /// Text of the option's line in the fio job file, as written.
    pub text: Arc<str>,
}

/// A section of a job file: a job, or defaults of the jobs below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Name of the section; starts with `global` for the defaults of those below it.
    pub name: String,
    /// Name of the fio job file, or of the file it includes, in which the section begins.
    pub file: Arc<str>,
    /// Number of the line, from 1, on which the section begins in its fio job file.
    pub line: u64,
    /// Options of the fio job file's section, in order.
    pub options: Vec<Given>,
}

/// Reads the sections (`[name]`) of the fio job file `name`, whose contents are `text`. Errors are
/// added to `problems`.
pub(crate) fn read(
    text: &str,
    name: &str,
    environment: &Environment<'_>,
    problems: &mut Diagnostics,
) -> Vec<Section> {
    let mut reader = Reader { environment, problems, sections: Vec::new(), lines: 0, bytes: 0 };
    reader.file(text, &Arc::from(name), 0);
    reader.sections
}

struct Reader<'a, 'e> {
    environment: &'a Environment<'e>,
    problems: &'a mut Diagnostics,
    sections: Vec<Section>,
    lines: usize,
    bytes: usize,
}

impl Reader<'_, '_> {
    fn file(&mut self, text: &str, name: &Arc<str>, depth: usize) {
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > BYTES {
            let what = format!("the file and its includes have more than {} MiB", BYTES >> 20);
            self.problems.push(Diagnostic::new(&**name, what));
            return;
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, text) in (1..).zip(text.lines()) {
            self.lines += 1;
            if self.lines > LINES {
                let what = format!("the file and its includes have more than {LINES} lines");
                self.problems.push(Diagnostic::new(&**name, what).line(line));
                return;
            }
            if let Err(found) = self.line(text, name, line, depth) {
                self.problems.0.extend(found.0);
            }
        }
    }

    fn line(
        &mut self,
        whole: &str,
        name: &Arc<str>,
        line: u64,
        depth: usize,
    ) -> Result<(), Diagnostics> {
        let text = whole.trim();
        if text.is_empty() || text.starts_with(['#', ';']) {
            return Ok(());
        }
        let wrong = |what: &str| Diagnostic::new(&**name, what).line(line).text(text);
        if let Some(rest) = text.strip_prefix('[') {
            if depth > 0 {
                let what = "an included file cannot have sections";
                return Err(wrong(what)
                    .hint("put only the options of the section into the included file".to_string())
                    .into());
            }
            let title = rest.split(']').next().unwrap_or(rest).trim();
            if !rest.contains(']') || title.is_empty() {
                return Err(wrong("a section has no name").expected("[name]").into());
            }
            let section =
                Section { name: title.into(), file: name.clone(), line, options: Vec::new() };
            self.sections.push(section);
            return Ok(());
        }
        if let Some(path) =
            text.strip_prefix("include").filter(|rest| rest.starts_with([' ', '\t']))
        {
            return self.include(path.trim(), name, line, depth, text);
        }
        let text = text.split(['#', ';']).next().unwrap_or(text).trim_end();
        let Some(section) = self.sections.last_mut() else {
            return Err(wrong("an option before the first section")
                .expected("[name] above")
                .into());
        };
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value)),
            None => (text, None),
        };
        let blank = value.is_some_and(|value| value.starts_with([' ', '\t']));
        let left = BYTES.saturating_sub(self.bytes);
        let value = value.map(|value| replaced(value.trim(), self.environment, left)).transpose();
        let value = value.map_err(|what| wrong(&what))?;
        self.bytes += value.as_ref().map_or(0, String::len);
        section.options.push(Given {
            name: key.into(),
            value,
            blank,
            file: name.clone(),
            line,
            text: Arc::from(text),
        });
        Ok(())
    }

    fn include(
        &mut self,
        path: &str,
        name: &Arc<str>,
        line: u64,
        depth: usize,
        text: &str,
    ) -> Result<(), Diagnostics> {
        let wrong = |what: String| Diagnostic::new(&**name, what).line(line).text(text);
        if depth >= NESTED {
            return Err(wrong(format!("files include each other more than {NESTED} deep")).into());
        }
        if self.sections.is_empty() {
            return Err(wrong("an include before the first section".into()).into());
        }
        let (included, text) = (self.environment.include)(path, name).map_err(|found| {
            let what = |it: &Diagnostic| format!("the included file cannot be read: {}", it.what);
            Diagnostics(found.0.iter().map(|it| wrong(what(it))).collect())
        })?;
        self.file(&text, &Arc::from(included), depth + 1);
        Ok(())
    }
}

/// Replaces variables and keywords in the value of an option. The result may have at most `most`
/// bytes.
fn replaced(value: &str, environment: &Environment<'_>, most: usize) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else {
            return Err("`${` without `}`".into());
        };
        text.push_str(before);
        text.push_str(environment.variables.get(name).map_or("", String::as_str));
        if text.len() > most {
            let mib = BYTES >> 20;
            return Err(format!("with its variables the file has more than {mib} MiB of values"));
        }
        rest = after;
    }
    text.push_str(rest);
    let mut found = false;
    for (word, number) in [
        ("$pagesize", environment.page_size),
        ("$mb_memory", environment.memory_mib),
        ("$ncpus", environment.cpus),
    ] {
        if text.contains(word) {
            text = text.replace(word, &number.to_string());
            found = true;
        }
    }
    // fio calculates with keywords, without parentheses.
    if found && text.contains(['+', '-', '*', '/']) {
        text = format!("({text})");
    }
    Ok(text)
}
