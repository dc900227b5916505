//! Bouts of stored state. A command runs undisturbed. The same command then runs in another folder,
//! where it is killed, its disk is full, or what it has written is damaged, several times. At last
//! it runs to its end, as its messages and `fowler check` say, and every file must be as in the
//! first folder. Until then no file may be anything but whole, unless it was damaged on purpose.

use crate::children::{self, Failure};
use crate::damage::{self, Damage};
use crate::disk::{Cost, Plan};
use crate::files::{self, Files, differences, kind};
use crate::jobs::{self, Job};
use crate::tally::{AFTER, BOUTS, DAMAGED, DISTURBED, FILES, Tally};
use children::Ended;
use fowler_units::Rng;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The most disturbances of a bout.
const TURNS: u64 = 5;
/// A command that is refused more often than this never ends.
const REFUSALS: u64 = 20;

struct Bout<'a> {
    rng: Rng,
    job: Job,
    root: &'a Path,
    /// Where the command is disturbed.
    folder: PathBuf,
    /// Files of an undisturbed run, which the folder must have in the end.
    whole: Files,
    /// Disk operations and bytes of the undisturbed command.
    cost: Cost,
    took: Duration,
    /// Files that were damaged since they were last seen to be whole.
    damaged: BTreeSet<PathBuf>,
    tally: &'a mut Tally,
}

/// Runs the bout of a seed in a folder, which is removed if nothing is wrong.
pub fn bout(seed: u64, root: &Path, spoilt: bool, tally: &mut Tally) -> Result<String, Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", root.display());
    if root.exists() {
        fs::remove_dir_all(root).map_err(failed)?;
    }
    fs::create_dir_all(root).map_err(failed)?;
    let root = &root.canonicalize().map_err(failed)?;
    let mut rng = Rng::stream(seed, "soak/stored");
    let job = jobs::draw(&mut rng, &root.join("inputs")).map_err(failed)?;
    tally.add(BOUTS, &format!("fowler {}", job.name), 1);
    let mut bout = Bout {
        rng,
        job,
        root,
        folder: root.join("whole"),
        whole: Files::new(),
        cost: Cost::default(),
        took: Duration::ZERO,
        damaged: BTreeSet::new(),
        tally,
    };
    bout.undisturbed()?;
    let mut turns = Vec::new();
    for _ in 0..=bout.rng.below(TURNS) {
        turns.push(bout.disturb()?);
    }
    bout.finish()?;
    turns.push(bout.damage_what_is_finished()?);
    bout.finish()?;
    if spoilt {
        let any = bout.whole.keys().next().expect("a command writes files");
        fs::write(bout.folder.join(any), "spoilt").map_err(failed)?;
        bout.compare()?;
    }
    let summary = format!("fowler {}: {}", bout.job.name, turns.join(", "));
    fs::remove_dir_all(root).map_err(failed)?;
    Ok(summary)
}

impl Bout<'_> {
    /// Runs a command of `fowler`. It must not panic.
    fn fowler(
        &self,
        arguments: &[String],
        plan: Plan,
        most: Limits,
    ) -> Result<(Ended, Cost), Failure> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = match most.file {
            None => Command::new(program),
            // A file that grows too long is an error then, and no signal.
            Some(blocks) => {
                let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
                let mut shell = Command::new("sh");
                shell.args(["-c", &script]).arg(program);
                shell
            }
        };
        let cost = self.root.join("cost");
        let _absent = fs::remove_file(&cost);
        plan.give(&mut command, &cost);
        command.arg("fowler").args(arguments).env("RAYON_NUM_THREADS", "1");
        let ended = children::run(&mut command, most.time)?;
        let fault = ended.err.contains("panicked") || ended.err.contains("fault of the program");
        let known = ended.was_killed() || matches!(ended.code(), Some(0 | 2));
        if fault || !known {
            return Err(format!("{arguments:?} under {plan:?}: {}", ended.said()));
        }
        if ended.code() == Some(2) && !(ended.err.contains("error: ") || arguments[0] == "check") {
            return Err(format!("{arguments:?} fails and does not say why: {}", ended.said()));
        }
        Ok((ended, Cost::read(&cost).unwrap_or_default()))
    }

    /// Runs the command into the folder.
    fn run(&self, plan: Plan, most: Limits) -> Result<(Ended, Cost), Failure> {
        let folder = self.folder.display().to_string();
        let given = self.job.arguments.iter().map(|it| it.replace("FOLDER", &folder));
        let arguments: Vec<String> = given.chain(["--out".into(), folder.clone()]).collect();
        self.fowler(&arguments, plan, most)
    }

    fn undisturbed(&mut self) -> Result<(), Failure> {
        let (ended, cost) = self.run(Plan::Whole, Limits::default())?;
        if ended.code() != Some(0) || cost.operations == 0 {
            return Err(format!("undisturbed, {cost:?}: {}", ended.said()));
        }
        (self.cost, self.took) = (cost, ended.took);
        self.whole = files::contents(&self.folder);
        self.folder = self.root.join("parts");
        Ok(())
    }

    /// Disturbs the command or its files; returns a description.
    fn disturb(&mut self) -> Result<String, Failure> {
        let Cost { operations, bytes } = self.cost;
        let (plan, most, name) = match self.rng.below(8) {
            0..3 => {
                let at = self.rng.below(operations + 1);
                let cut = if self.rng.chance(0.5) { 0 } else { self.rng.bits() >> 32 };
                (Plan::Kill { at, bytes: cut }, Limits::default(), "killed at an operation")
            }
            3 => {
                let time = self.took.mul_f64(self.rng.unit());
                (Plan::Whole, Limits { time: Some(time), file: None }, "killed at a time")
            }
            4 => {
                let after = self.rng.below(bytes + 1);
                (Plan::Full { after }, Limits::default(), "full disk")
            }
            5 => {
                let longest = self.whole.values().map(Vec::len).max().unwrap_or(0) as u64;
                let file = Some(self.rng.below(longest / 512 + 2));
                (Plan::Whole, Limits { time: None, file }, "file too long")
            }
            _ => return self.damage(),
        };
        let before = self.unfinished();
        let (ended, _) = self.run(plan, most)?;
        let how = match ended.code() {
            None => name.to_string(),
            Some(0) => format!("{name}, too late"),
            Some(_) => format!("{name}, refused"),
        };
        self.tally.add(DISTURBED, &how, 1);
        let may_fail = !name.starts_with("killed") || !self.damaged.is_empty();
        if ended.code() == Some(2) && !may_fail {
            return Err(format!("{name}, but not at fault: {}", ended.said()));
        }
        if !ended.was_killed() && self.unfinished() > before {
            return Err(format!("{name}: unfinished files are left: {}", ended.said()));
        }
        self.nothing_else_is_there(&ended)?;
        Ok(how)
    }

    fn unfinished(&self) -> usize {
        files::contents(&self.folder).keys().filter(|name| kind(name) == files::PARTIAL).count()
    }

    /// Every finished file is whole, unless it was damaged on purpose.
    fn nothing_else_is_there(&self, ended: &Ended) -> Result<(), Failure> {
        let there = files::contents(&self.folder).into_iter().filter(|(name, _)| {
            // A checkpoint is one of several, and a list may grow; both have checksums.
            let known = [files::PARTIAL, files::CHECKPOINT, files::LIST].contains(&kind(name));
            !known && !self.damaged.contains(name)
        });
        let wrong: Vec<String> = differences(&there.collect(), &self.whole)
            .into_iter()
            .filter(|line| !line.ends_with("is missing"))
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(format!("{wrong:#?}\n{}", ended.said())) }
    }

    /// Damages some files; returns how.
    fn damage(&mut self) -> Result<String, Failure> {
        let mut done = Vec::new();
        for _ in 0..=self.rng.below(3) {
            done.extend(self.damage_one()?.map(|it| it.kind.to_string()));
        }
        Ok(if done.is_empty() { "nothing to damage".into() } else { done.join(" and ") })
    }

    fn damage_one(&mut self) -> Result<Option<Damage>, Failure> {
        let files = files::contents(&self.folder);
        let inflicted = damage::inflict(&mut self.rng, &self.folder, &files);
        let Some(damage) = inflicted.map_err(|error| error.to_string())? else { return Ok(None) };
        self.tally.add(DAMAGED, damage.kind, 1);
        for name in &damage.files {
            self.tally.add(FILES, kind(name), 1);
        }
        self.damaged.extend(damage.files.iter().cloned());
        Ok(Some(damage))
    }

    /// Damages one file of a finished folder: `fowler check` must notice.
    fn damage_what_is_finished(&mut self) -> Result<String, Failure> {
        let before = self.check(false)?.out;
        let Some(damage) = self.damage_one()? else { return Ok("nothing".into()) };
        let ended = self.check(false)?;
        let said = format!("{}{}", ended.out, ended.err);
        // Checksums that do not fit speak against the files that they are of.
        let named = damage.files.iter().any(|name| {
            said.contains(&*name.to_string_lossy()) || kind(name).starts_with(files::CHECKSUMS)
        });
        // A removed file is not damaged: its point or run has not been done yet.
        let missing = damage.kind == "removal" && said != before;
        // Has no checksum, and the sweep writes it again.
        let unlisted = damage.files.iter().all(|name| kind(name) == files::FORMAT);
        if !(ended.code() == Some(2) && named || missing || unlisted) {
            let (kind, files) = (damage.kind, &damage.files);
            return Err(format!("`fowler check` misses a {kind} of {files:?}: {}", ended.said()));
        }
        self.tally.add(AFTER, "damage found by `fowler check`", u64::from(!unlisted));
        Ok(format!("{} found", damage.kind))
    }

    fn check(&self, repair: bool) -> Result<Ended, Failure> {
        let folder = self.folder.display().to_string();
        let mut arguments = vec!["check".to_string(), folder];
        arguments.extend(repair.then(|| "--repair".to_string()));
        Ok(self.fowler(&arguments, Plan::Whole, Limits::default())?.0)
    }

    fn repair(&mut self) -> Result<(), Failure> {
        if self.folder.exists() {
            let removed = self.check(true)?.out.matches("(removed)").count();
            self.tally.add(AFTER, "files removed by `--repair`", removed as u64);
        }
        Ok(())
    }

    /// Runs the command to its end, doing what its messages say.
    fn finish(&mut self) -> Result<(), Failure> {
        let (disturbed, mut refusals) = (self.folder.exists(), 0);
        if self.rng.chance(0.5) {
            self.repair()?;
        }
        loop {
            let (ended, _) = self.run(Plan::Whole, Limits::default())?;
            if ended.code() == Some(0) {
                break;
            }
            refusals += 1;
            self.tally.add(AFTER, "refused", 1);
            if ended.was_killed() || refusals > REFUSALS {
                return Err(format!("it never ends: {}", ended.said()));
            }
            if refusals % 2 == 1 {
                self.repair()?;
            } else {
                self.do_as_told(&ended)?;
            }
        }
        let how = match refusals {
            0 if !disturbed => "begun anew",
            0 => "resumed at once",
            _ => "resumed after a refusal",
        };
        self.tally.add(AFTER, how, 1);
        if self.unfinished() > 0 {
            self.repair()?;
        }
        self.damaged.clear();
        self.compare()
    }

    /// Removes the damaged file that a message names, or the folder if it asks for another.
    fn do_as_told(&mut self, ended: &Ended) -> Result<(), Failure> {
        let named = |name: &&PathBuf| {
            let path = self.folder.join(name).display().to_string();
            ended.err.lines().any(|line| line.starts_with("error: ") && line.contains(&path))
        };
        let file = self.damaged.iter().find(named).filter(|_| ended.err.contains("remove it"));
        if let Some(name) = file {
            let path = self.folder.join(name);
            self.tally.add(AFTER, "files removed as a message says", 1);
            return fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()));
        }
        if ended.err.contains("another folder") && !self.damaged.is_empty() {
            self.tally.add(AFTER, "another folder, as a message says", 1);
            return fs::remove_dir_all(&self.folder).map_err(|error| error.to_string());
        }
        Err(format!("a refusal that does not say what to do: {}", ended.said()))
    }

    /// Compares every file with what should be there, and asks `fowler check`.
    fn compare(&self) -> Result<(), Failure> {
        let wrong = differences(&files::contents(&self.folder), &self.whole);
        if !wrong.is_empty() {
            return Err(format!("the folder is not what an undisturbed run leaves: {wrong:#?}"));
        }
        let ended = self.check(false)?;
        let whole = ended.code() == Some(0) && ended.out.contains("every file is intact");
        if whole { Ok(()) } else { Err(format!("`fowler check`: {}", ended.said())) }
    }
}

/// Limits on the time and the files of a command.
#[derive(Clone, Copy, Default)]
struct Limits {
    /// Time after which the command is killed; `None` for never.
    time: Option<Duration>,
    /// The most blocks of a file.
    file: Option<u64>,
}
