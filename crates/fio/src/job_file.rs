//! Parses a job file into jobs.

use crate::environment::Environment;
use crate::grammar::{self, Given, Section, Value, is_misleading};
use crate::job::Job;
use crate::options::{self, Draft, Jobs, Known};
use crate::recording;
use fowler_units::{Diagnostic, Diagnostics};
use std::collections::BTreeSet;

/// A job file, read: its jobs with their clones, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobFile {
    /// Jobs of the fio job file with their clones (`numjobs`), in order.
    pub jobs: Vec<Job>,
    /// Options of all `[global]` sections of the fio job file, as written.
    pub global: Vec<(String, String)>,
    /// Notes for the user: options that have no effect here, each once, and spellings that were
    /// read as meant.
    pub notes: Vec<String>,
}

impl JobFile {
    /// Parses `text`, the contents of the fio job file called `name`.
    ///
    /// # Errors
    /// Everything that is wrong, each error with its line.
    pub fn parse(
        text: &str,
        name: &str,
        environment: &Environment<'_>,
    ) -> Result<JobFile, Diagnostics> {
        let mut problems = Diagnostics::default();
        let sections = grammar::read(text, name, environment, &mut problems);
        let mut reader = Reader { problems, ..Reader::default() };
        let mut global = Draft::default();
        let mut jobs = Jobs::default();
        for section in &sections {
            if section.name.starts_with("global") {
                reader.apply(section, &mut global);
                reader.global.extend(spelled(section));
            } else {
                let mut draft = global.clone();
                draft.job.name.clone_from(&section.name);
                draft.job.file = section.file.to_string();
                draft.job.line = section.line;
                draft.job.given = spelled(section);
                reader.apply(section, &mut draft);
                draft.seed_by(environment.seeding, environment.seed);
                draft.await_trims(environment.seeding);
                if !jobs.add(section, draft, &mut reader.problems, &mut reader.notes) {
                    break;
                }
            }
        }
        if jobs.jobs.is_empty() && reader.problems.0.is_empty() {
            let what = "the file has no job";
            reader.problems.push(Diagnostic::new(name, what).expected("a section, such as [job]"));
        }
        let mut jobs = jobs.jobs;
        let read = recording::read_all(&mut jobs, environment.recording);
        reader.problems.take(read);
        reader.done(jobs)
    }
}

/// Returns the options of a section of the fio job file, as names and values as written.
fn spelled(section: &Section) -> Vec<(String, String)> {
    let value = |given: &Given| given.value.clone().unwrap_or_default();
    section.options.iter().map(|given| (given.name.clone(), value(given))).collect()
}

/// Results and problems that are gathered while the sections of a job file are read.
#[derive(Default)]
struct Reader {
    problems: Diagnostics,
    notes: Vec<String>,
    global: Vec<(String, String)>,
    /// Names of the options in the fio job file that have no effect on a simulated drive.
    idle: BTreeSet<String>,
}

impl Reader {
    /// Applies the options of a section to a job, first those that decide how others are read.
    fn apply(&mut self, section: &Section, draft: &mut Draft) {
        let first = |given: &&Given| given.name == "kb_base";
        let options = section.options.iter();
        for given in options.clone().filter(first).chain(options.filter(|it| !first(it))) {
            self.option(given, draft);
        }
    }

    fn option(&mut self, given: &Given, draft: &mut Draft) {
        let complaint =
            |what: String| Diagnostic::new(&*given.file, what).line(given.line).text(&*given.text);
        let known = match options::find(&given.name) {
            Some(known) => known,
            None => {
                let what = format!("unknown option `{}`", given.name);
                let near = options::nearest(&given.name);
                let hint = near.map(|near| format!("did you mean `{near}`?"));
                self.problems.push(complaint(what).expected("an option of fio").hint(hint));
                return;
            }
        };
        match known {
            Known::Effect(entry) => {
                let value = given.value.as_deref();
                let value = value.map(|text| Value { text, base: draft.base });
                if let Err(wrong) = entry.apply(draft, value) {
                    let what = format!("`{}`: {}", given.name, wrong.what);
                    let complaint = complaint(what).expected(wrong.expected);
                    self.problems.push(complaint.hint(wrong.hint));
                    return;
                }
                self.note_spelling(given);
            }
            Known::NoEffect => {
                self.idle.insert(given.name.clone());
            }
            Known::Refused(why) => {
                self.problems.push(complaint(format!("`{}`: {why}", given.name)));
            }
        }
    }

    /// Records a note on an option whose value may be misread.
    fn note_spelling(&mut self, given: &Given) {
        let Given { file, line, text, value: Some(value), .. } = given else { return };
        let suffixed = value.starts_with(|c: char| c.is_ascii_digit())
            && value.ends_with(|c: char| c.is_ascii_alphabetic());
        if given.blank && suffixed {
            self.notes.push(format!(
                "{file}:{line}: `{text}`: read as meant, with the suffix, which fio 3.33 drops if \
                 a blank follows `=`: leave out the blank"
            ));
        }
        if is_misleading(value) {
            self.notes.push(format!(
                "{file}:{line}: `{text}`: in fio `KiB` is 1000 bytes and `k` is 1024; with \
                 `kb_base=1000` it is the other way round"
            ));
        }
    }

    fn done(mut self, jobs: Vec<Job>) -> Result<JobFile, Diagnostics> {
        if !self.idle.is_empty() {
            let names: Vec<&str> = self.idle.iter().map(String::as_str).collect();
            self.notes.push(format!("no effect here: {}", names.join(", ")));
        }
        let mut seen = BTreeSet::new();
        self.notes.retain(|note| seen.insert(note.clone()));
        self.problems.unique().or(JobFile { jobs, global: self.global, notes: self.notes })
    }
}
