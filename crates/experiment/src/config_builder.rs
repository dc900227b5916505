//! Builds a configuration from settings, key by key, and remembers where each key was set.

use crate::diagnostic::{Diagnostic, Diagnostics, PROBLEMS_SHOWN};
use crate::document::{Origin, Setting, Value};
use crate::field::{Complaint, nearest};
use crate::keys::Key;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A configuration of type `T` under construction. Later settings override earlier ones;
/// diagnostics accumulate.
pub(crate) struct ConfigBuilder<T> {
    keys: Vec<Key<T>>,
    target: T,
    origins: BTreeMap<&'static str, Origin>,
    diagnostics: Diagnostics,
    /// Places (file or flag, line) with a syntax error, at which no further errors are reported.
    garbled: BTreeSet<(String, Option<u64>)>,
    /// Hint that names the command listing every key.
    listing: &'static str,
    /// Function that returns the diagnostic for a setting whose key existed in former versions.
    retired: fn(&Setting, &[Setting]) -> Option<Diagnostic>,
}

impl<T> ConfigBuilder<T> {
    /// Creates a builder that changes the configuration `target` key by key; no key is set yet.
    pub fn new(keys: Vec<Key<T>>, target: T) -> Self {
        Self {
            keys,
            target,
            origins: BTreeMap::new(),
            diagnostics: Diagnostics::default(),
            garbled: BTreeSet::new(),
            listing: "`fowler presets --keys` lists every key",
            retired: |_, _| None,
        }
    }

    /// Sets the hint of errors about unknown keys, which names the command listing every key.
    pub fn listed(self, listing: &'static str) -> Self {
        Self { listing, ..self }
    }

    /// Sets the function that returns the diagnostics of settings whose keys only former versions
    /// have.
    pub fn retired(self, retired: fn(&Setting, &[Setting]) -> Option<Diagnostic>) -> Self {
        Self { retired, ..self }
    }

    /// Adds the syntax errors of a configuration file to the errors that are reported when the
    /// configuration is built.
    pub fn note(&mut self, diagnostics: Diagnostics) {
        let places =
            diagnostics.0.iter().map(|diagnostic| (diagnostic.file.clone(), diagnostic.line));
        self.garbled.extend(places.filter(|(_, line)| line.is_some()));
        self.diagnostics.0.extend(diagnostics.0);
    }

    /// Applies the settings of one source, such as a file. Setting a key twice in one source is an
    /// error.
    pub fn apply(&mut self, settings: &[Setting]) {
        let mut seen: BTreeMap<&'static str, &Origin> = BTreeMap::new();
        for setting in settings {
            let garbled = (setting.origin.file.clone(), setting.origin.line);
            if self.garbled.contains(&garbled) {
                if let Some(index) = self.find(&setting.path) {
                    self.origins.insert(self.keys[index].path, setting.origin.clone());
                }
                continue;
            }
            if let Some(diagnostic) = (self.retired)(setting, settings) {
                self.diagnostics.push(diagnostic);
                continue;
            }
            let Some(index) = self.find(&setting.path) else {
                if !(setting.value == Value::EmptyTable && self.is_section(&setting.path)) {
                    // The search takes long, and problems beyond these are only counted.
                    let shown = self.diagnostics.0.len() < PROBLEMS_SHOWN;
                    let meant = shown.then(|| self.suggestion(&setting.path)).flatten();
                    let diagnostic = self.unknown(setting, meant);
                    self.diagnostics.push(diagnostic);
                    // A key that was misspelled is not reported as missing, too.
                    if let Some(meant) = meant {
                        self.origins.entry(meant).or_insert_with(|| setting.origin.clone());
                    }
                }
                continue;
            };
            let key = &self.keys[index];
            if let Some(first) = seen.insert(key.path, &setting.origin) {
                let line =
                    first.line.map_or(String::new(), |line| format!(" (first in line {line})"));
                let what = format!("`{}` is set twice{line}", key.path);
                self.diagnostics.push(setting.origin.diagnostic(what));
                continue;
            }
            match key.field.read(&mut self.target, &setting.value) {
                Ok(()) => {}
                Err(complaint) => self.diagnostics.push(refused(key, setting, complaint)),
            }
            // A key with a rejected value is not reported as missing, too.
            self.origins.insert(key.path, setting.origin.clone());
        }
    }

    /// Returns the finished configuration, or a diagnostic for everything that is wrong or missing
    /// in it.
    pub fn finish(mut self, whole: &str, hint: &str) -> Result<T, Diagnostics> {
        let missing: Vec<&str> = self
            .keys
            .iter()
            .filter(|key| key.required && !self.origins.contains_key(key.path))
            .map(|key| key.path)
            .collect();
        if !missing.is_empty() {
            let keys = if missing.len() == 1 { "key is" } else { "keys are" };
            let what = format!("{} required {keys} missing: {}", missing.len(), missing.join(", "));
            self.diagnostics.push(Diagnostic::new(whole, what).hint(hint.to_string()));
        }
        // Sort by line. Sources keep their order, and diagnostics without a line come last.
        let mut files: Vec<String> = Vec::new();
        let mut place = |diagnostic: &Diagnostic| {
            let known = files.iter().position(|file| *file == diagnostic.file);
            known.unwrap_or_else(|| {
                files.push(diagnostic.file.clone());
                files.len() - 1
            })
        };
        self.diagnostics.0.sort_by_cached_key(|diagnostic| {
            (place(diagnostic), diagnostic.line.unwrap_or(u64::MAX))
        });
        self.diagnostics.or(self.target)
    }

    /// Returns the finished configuration and the origin of each key, which later checks report.
    pub fn finish_with_origins(
        self,
        whole: &str,
        hint: &str,
    ) -> Result<(T, BTreeMap<&'static str, Origin>), Diagnostics> {
        let origins = self.origins.clone();
        self.finish(whole, hint).map(|target| (target, origins))
    }

    /// Returns the index of the key with a dotted path; `policy.x.name` in a table is the key
    /// `policy.x`.
    fn find(&self, path: &str) -> Option<usize> {
        let slot = path.strip_suffix(".name").filter(|slot| slot.starts_with("policy."));
        let wanted = slot.unwrap_or(path);
        self.keys.iter().position(|key| key.path == wanted)
    }

    fn is_section(&self, path: &str) -> bool {
        self.keys.iter().any(|key| is_below(key.path, path))
    }

    fn unknown(&self, setting: &Setting, meant: Option<&str>) -> Diagnostic {
        let path = &setting.path;
        if self.is_section(path) {
            let what = format!("`{path}` must be a table of keys, not {}", setting.value.kind());
            let example = self.keys.iter().find(|key| is_below(key.path, path));
            return setting
                .origin
                .diagnostic(what)
                .hint(example.map(|key| format!("such as {}", key.path)));
        }
        // A policy is a word or a table with its parameters; every other key takes a value only.
        let above = self.keys.iter().find(|key| is_below(path, key.path));
        if let Some(key) = above.filter(|key| !key.path.starts_with("policy.")) {
            let what = format!("`{}` takes a value, not a table", key.path);
            return setting.origin.diagnostic(what).expected(key.field.expected());
        }
        let what = format!("unknown key `{}`", crate::diagnostic::printable(path));
        setting.origin.diagnostic(what).hint(
            meant
                .map(|path| format!("did you mean `{path}`?"))
                .or_else(|| Some(self.listing.into())),
        )
    }

    /// Returns the key that a misspelled `path` most likely meant: one with a similar name in
    /// another section, or with a similar path.
    fn suggestion(&self, path: &str) -> Option<&'static str> {
        let paths = || self.keys.iter().map(|key| key.path);
        let last = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
        let name = path.rsplit('.').next().unwrap_or(path);
        paths()
            .find(|candidate| last(candidate) == name)
            .or_else(|| nearest(path, paths()))
            .or_else(|| {
                let name = nearest(name, paths().map(last))?;
                paths().find(|candidate| last(candidate) == name)
            })
    }
}

fn is_below(path: &str, section: &str) -> bool {
    path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
}

fn refused<T>(key: &Key<T>, setting: &Setting, complaint: Complaint) -> Diagnostic {
    setting
        .origin
        .diagnostic(format!("`{}`: {}", key.path, complaint.what))
        .expected(key.field.expected())
        .hint(complaint.hint)
}

/// Prints every key of `target` as TOML, in sections and in the order of the table. Parsing the
/// text yields an equal `T`.
pub(crate) fn print<T>(keys: &[Key<T>], target: &T) -> String {
    let mut text = String::new();
    let mut rest: Vec<&Key<T>> = keys.iter().filter(|key| !key.path.contains('.')).collect();
    rest.retain(|key| !key.field.says_nothing(target));
    for key in rest.drain(..) {
        writeln!(text, "{} = {}", key.path, key.field.print(target)).expect("text grows");
    }
    let mut section = "";
    for key in keys.iter().filter(|key| key.path.contains('.')) {
        let (table, name) = if key.is_slot() {
            (key.path, "name")
        } else {
            key.path.rsplit_once('.').expect("filtered above")
        };
        if table != section {
            writeln!(text, "{}[{table}]", if text.is_empty() { "" } else { "\n" })
                .expect("text grows");
            section = table;
        }
        writeln!(text, "{name} = {}", key.field.print(target)).expect("text grows");
    }
    text
}
