//! `fowler check`: checks that a folder of results holds the files that were written there, and
//! says whose its files are.

use crate::action::Action;
use crate::console;
use crate::exit::Exit;
use crate::life_report::CHECKPOINT;
use crate::table::Grid;
use clap::Args;
use fowler_experiment::atomic_file;
use fowler_experiment::contents::{self, CONTENTS, State};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, escaped};
use fowler_experiment::disk::{self, unreadable};
use fowler_experiment::numbers::counted;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Check that the files in a folder of results are intact, and that none is left over
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 every file is intact; 2 a file is damaged, missing or left over"
)]
pub(crate) struct Check {
    /// The folder: of a run, a comparison, a sweep, a life or a study
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Remove temporary files of killed programs, and damaged results of runs. The command that
    /// wrote the folder, if it is repeated, computes these results again
    #[arg(long)]
    pub repair: bool,
}

/// The findings of `fowler check` about a folder of results.
#[derive(Default)]
struct Findings {
    /// Descriptions of the contents of a results folder that `fowler check` examines, one line
    /// each.
    holds: Vec<String>,
    /// Files that are damaged or missing, each with the reason.
    bad: Vec<(PathBuf, String)>,
    /// Files that `--repair` removes: leftovers, and results that are then computed again.
    removable: Vec<PathBuf>,
    /// Files that belong in the checked results folder: those in its list of files or of checksums,
    /// the lists themselves, and checkpoints. All others are reported as foreign.
    known: BTreeSet<PathBuf>,
    /// Files in Fowler's folders that Fowler did not write.
    others: Vec<PathBuf>,
    /// Command whose results the folder lists.
    command: Option<String>,
}

impl Findings {
    /// Adds a damaged or missing file to the findings of `fowler check`; `without` says in words
    /// what happens without the file. `--repair` removes it, unless it is a folder with contents.
    fn lost(&mut self, path: PathBuf, without: &str) -> Result<(), Diagnostics> {
        let what = disk::no_file(&path)?.unwrap_or("is damaged: its checksum does not match");
        self.bad.push((path.clone(), format!("{what}: {without}")));
        // The contents of a folder are not ours to remove.
        let full = |path: &Path| -> Result<bool, Diagnostics> {
            let entries = disk::entries(path).map_err(|error| unreadable(path, &error))?;
            Ok(!entries.is_empty())
        };
        if !path.is_dir() || path.is_symlink() || !full(&path)? {
            self.removable.push(path);
        }
        Ok(())
    }
}

impl Action for Check {
    fn execute(self) -> Result<Exit, Diagnostics> {
        let folder = &self.folder;
        let name = folder.display().to_string();
        if !folder.is_dir() {
            let diagnostic = Diagnostic::new(name, "is not a folder");
            return Err(diagnostic.expected("a folder of results").into());
        }
        let mut findings = Findings::default();
        let mut diagnostics = Diagnostics::default();
        for look in [listed, of_sweep, of_study, of_lifetime, of_fleet, leftovers] {
            diagnostics.take(look(folder, &mut findings));
        }
        diagnostics.or(())?;
        if findings.holds.is_empty() {
            let diagnostic = Diagnostic::new(
                name,
                "is not a folder of results of Fowler: it has no list of files",
            );
            return Err(diagnostic
                .expected(format!(
                    "a folder of results to check, with {CONTENTS}, or the files of a sweep"
                ))
                .into());
        }
        let repaired = self.repair && !findings.removable.is_empty();
        if repaired {
            for path in &findings.removable {
                let removed = if path.is_dir() && !path.is_symlink() {
                    disk::remove_empty_folder(path)
                } else {
                    atomic_file::remove(path)
                };
                removed.map_err(|error| atomic_file::unwritable(path, &error))?;
            }
        }
        console::print(&report(folder, &findings, repaired)?);
        let left =
            findings.bad.iter().any(|(path, _)| !repaired || !findings.removable.contains(path));
        Ok(if left { Exit::BadInput } else { Exit::Done })
    }
}

/// Checks the files in the list of a folder's results.
fn listed(folder: &Path, findings: &mut Findings) -> Result<(), Diagnostics> {
    let Some(contents) = contents::read(folder)? else { return Ok(()) };
    findings.known.insert(folder.join(CONTENTS));
    for name in contents.files.keys() {
        let path = folder.join(name);
        let what = match contents.state(folder, name)? {
            State::Whole => None,
            State::Changed => Some("is damaged: its checksum does not match"),
            State::Missing => Some("is missing"),
        };
        let hint = format!("run `fowler {}` again", contents.command);
        findings.bad.extend(what.map(|what| (path.clone(), format!("{what}: {hint}"))));
        findings.known.insert(path);
    }
    let files = counted(contents.files.len() as u64, "file");
    let (command, version) = (&contents.command, &contents.version);
    findings.holds.push(format!("results of `fowler {command}`, version {version}: {files}"));
    findings.command = Some(contents.command);
    Ok(())
}

#[cfg(feature = "parquet")]
fn of_sweep(folder: &Path, findings: &mut Findings) -> Result<(), Diagnostics> {
    use fowler_columns::shards::{self, Found};
    let Some(found) = fowler_columns::store::examine(folder)? else { return Ok(()) };
    let points = counted(found.points as u64, "point");
    let shard = match shards::found(folder)? {
        Some(Found::Shard(shard)) => format!("shard {shard} of "),
        Some(Found::Damaged(path)) => {
            let is = if path.exists() {
                "is damaged: its checksum does not match"
            } else {
                "is missing"
            };
            findings.bad.push((path, format!("{is}: run the same shard again to write this file")));
            "a shard of ".to_string()
        }
        None => String::new(),
    };
    findings.holds.push(format!("{shard}a sweep of {points}, {} of them finished", found.whole));
    let again = "run the same sweep again to write this file";
    for (path, sums) in found.damaged {
        // Without its checksums a point counts as not run.
        let Some(sums) = sums else {
            match disk::no_file(&path)? {
                Some(_) => findings.lost(path, again)?,
                None => findings
                    .bad
                    .push((path, format!("is damaged: its checksum does not match: {again}"))),
            }
            continue;
        };
        let is_listed = path != sums && sums.is_file() && !findings.removable.contains(&sums);
        findings.lost(path, again)?;
        findings.removable.extend(is_listed.then_some(sums));
    }
    if found.earlier > 0 {
        let points = counted(found.earlier as u64, "point");
        findings.holds.push(format!(
            "{points} of an earlier specification of the sweep: intact, but not in the present one"
        ));
    }
    for path in found.strays {
        let what = "belongs to no point of this sweep, and is damaged";
        findings.bad.push((path.clone(), what.into()));
        findings.removable.push(path);
    }
    findings.others.extend(found.others);
    if let Some(command) = &findings.command {
        let what = format!(
            "is of `fowler {command}`, and the folder is that of a sweep: move the files of one of them to another folder"
        );
        findings.bad.push((folder.join(CONTENTS), what));
    }
    findings.known.extend(found.own);
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn of_sweep(_: &Path, _: &mut Findings) -> Result<(), Diagnostics> {
    Ok(())
}

#[cfg(feature = "papers")]
fn of_study(folder: &Path, findings: &mut Findings) -> Result<(), Diagnostics> {
    let runs = fowler_papers::examine(folder)?;
    if runs.is_empty() {
        return Ok(());
    }
    findings.holds.push(format!("{} of a study", counted(runs.len() as u64, "finished run")));
    for (path, _) in runs.into_iter().filter(|(_, whole)| !whole) {
        findings.lost(path, "the same study runs it again")?;
    }
    Ok(())
}

#[cfg(not(feature = "papers"))]
fn of_study(_: &Path, _: &mut Findings) -> Result<(), Diagnostics> {
    Ok(())
}

/// Checks the checkpoints that an interrupted `fowler lifetime` left in a results folder, from
/// which the same command resumes.
fn of_lifetime(folder: &Path, findings: &mut Findings) -> Result<(), Diagnostics> {
    // Checkpoints of the life, and of the life at twice the dilation.
    let paths = [1, 2].map(|life| fowler_lifetime::of_life(&folder.join(CHECKPOINT), life));
    let mut unfinished = false;
    for path in paths {
        if disk::facts(&path)?.is_none() {
            continue;
        }
        unfinished = true;
        findings.known.insert(path.clone());
        if disk::no_file(&path)?.is_some() {
            findings.lost(path, "without this checkpoint the life starts from the beginning")?;
        } else if let Some(Diagnostic { what, .. }) = fowler_lifetime::check_checkpoint(&path)? {
            findings.bad.push((
                path.clone(),
                format!("{what}: without this checkpoint the life starts from the beginning"),
            ));
            findings.removable.push(path);
        }
    }
    if unfinished {
        findings.holds.push("the checkpoint of a life that is not finished".into());
    }
    Ok(())
}

/// Checks the file of drawn drives of a fleet, or of a shard of one.
fn of_fleet(folder: &Path, findings: &mut Findings) -> Result<(), Diagnostics> {
    let Some(found) = fowler_lifetime::fleet::examine(folder)? else { return Ok(()) };
    findings.known.insert(found.file.clone());
    match found.holds {
        Ok(holds) => findings.holds.push(holds),
        Err(_) => {
            findings.holds.push("drives of a fleet".into());
            findings.lost(found.file, "the same command draws them again")?;
        }
    }
    Ok(())
}

/// Finds files under temporary names, which a killed program left.
fn leftovers(folder: &Path, findings: &mut Findings) -> Result<(), Diagnostics> {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in disk::entries(&folder).map_err(|error| unreadable(&folder, &error))? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A link may lead out of the folder.
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if atomic_file::is_partial(&name) {
                findings.bad.push((path.clone(), "was never finished".into()));
                findings.removable.push(path);
            }
        }
    }
    Ok(())
}

/// Finds files that belong to no result, at the top of the folder and among the points of a sweep.
fn others(folder: &Path, findings: &Findings) -> Result<Vec<String>, Diagnostics> {
    if findings.known.is_empty() {
        return Ok(Vec::new());
    }
    let bad = |path: &PathBuf| findings.bad.iter().any(|(file, _)| file == path);
    let files = disk::entries(folder).map_err(|error| unreadable(folder, &error))?;
    let mut names: Vec<String> = files
        .into_iter()
        .filter(|path| path.is_file() && !findings.known.contains(path) && !bad(path))
        .chain(findings.others.iter().cloned())
        .map(|path| path.strip_prefix(folder).unwrap_or(&path).display().to_string())
        .collect();
    names.sort();
    Ok(names)
}

fn report(folder: &Path, findings: &Findings, repaired: bool) -> Result<String, Diagnostics> {
    let mut text = String::new();
    for line in &findings.holds {
        text.push_str(&console::fitted(&format!("holds     {line}\n"), 10));
    }
    let others = others(folder, findings)?;
    if !others.is_empty() {
        let line = format!("not Fowler's  {}\n", escaped(&others.join(", ")));
        text.push_str(&console::fitted(&line, 10));
    }
    if findings.bad.is_empty() {
        return Ok(text + "whole     every file is intact\n");
    }
    // Names stay in one piece, so that they can be searched for and copied.
    let mut grid = Grid::new(["file", "state"].map(str::to_string).into()).words(1..2);
    for (path, what) in &findings.bad {
        let removed = repaired && findings.removable.contains(path);
        let state = if removed { format!("{what} (removed)") } else { what.clone() };
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        grid.row(vec![escaped(&name).into_owned(), state]);
    }
    text.push('\n');
    text.push_str(&grid.text());
    if !repaired && !findings.removable.is_empty() {
        let line = "\n--repair removes leftovers, and damaged results, which the next run \
            computes again\n";
        text.push_str(&console::fitted(line, 4));
    }
    Ok(text)
}
