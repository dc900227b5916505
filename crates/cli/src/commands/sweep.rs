//! `fowler sweep`: many runs by one specification.

use crate::action::Action;
use crate::exit::Exit;
use crate::flags::{Bar, Shards};
use clap::{Args, Subcommand};
use fowler_experiment::diagnostic::Diagnostics;
use std::path::PathBuf;

/// Many runs by one specification: grids, lists, random and Latin hypercube designs; every
/// finished run is saved
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done, whatever points failed; 2 the input is wrong; 130 stopped with Ctrl-C: what is \
                        finished is saved, and the same command resumes from there, as it does after any other end"
)]
#[command(args_conflicts_with_subcommands = true)]
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "without Parquet no sweep is run"))]
pub(crate) struct Sweep {
    #[command(subcommand)]
    pub action: Option<SweepAction>,
    #[command(flatten)]
    pub points: Option<SweepPoints>,
    #[command(flatten)]
    pub progress: Bar,
}

#[derive(Debug, Subcommand)]
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "without Parquet no sweep is run"))]
pub(crate) enum SweepAction {
    /// Merge the shards of a sweep into one folder, identical to that of an undivided sweep
    Merge {
        #[command(flatten)]
        shards: Shards,
        /// Folder for the merged results, those of the whole sweep
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        #[command(flatten)]
        progress: Bar,
    },
}

#[derive(Debug, Args)]
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "without Parquet no sweep is run"))]
pub(crate) struct SweepPoints {
    /// Specification of the sweep (docs/sweeps.md explains it)
    #[arg(value_name = "SPEC.toml")]
    pub specification: PathBuf,
    /// Folder for the points, one file each [default: results/SPEC; for a shard
    /// results/SPEC-shards/i-of-n]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Run only shard i of n, such as 3/40, in a separate folder; `fowler sweep merge` joins the
    /// shards
    #[arg(long, value_name = "i/n")]
    pub shard: Option<String>,
    /// Runs at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Run points that failed once more
    #[arg(long)]
    pub retry: bool,
    /// Run nothing; report the number of points, and show the first ones
    #[arg(long)]
    pub dry_run: bool,
}

impl Action for Sweep {
    #[cfg(feature = "parquet")]
    fn execute(self) -> Result<Exit, Diagnostics> {
        with_columns::execute(&self)
    }

    /// Reports that this program cannot save the results of sweeps, because it was built without
    /// Parquet.
    #[cfg(not(feature = "parquet"))]
    fn execute(self) -> Result<Exit, Diagnostics> {
        let points = self.points.as_ref();
        let file = points.map(|it| it.specification.display().to_string()).unwrap_or_default();
        let diagnostic = crate::requests::without_parquet(&file);
        Err(diagnostic.hint("build Fowler with its default features".to_string()).into())
    }
}

#[cfg(feature = "parquet")]
mod with_columns {
    use super::{Sweep, SweepAction, SweepPoints};
    use crate::exit::Exit;
    use crate::table::Grid;
    use crate::{console, progress, sheets, signals};
    use fowler_columns::shards::{self, Shard};
    use fowler_columns::store::{self, Folder};
    use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
    use fowler_experiment::numbers::{counted, whole};
    use fowler_experiment::sweep::{MAX_BYTES, Plan, Point};
    use fowler_experiment::text_file;
    use fowler_experiment::workload::Control;
    use std::fmt::Write;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::Ordering;

    /// Number of points of a sweep that `--dry-run` shows.
    const SHOWN: usize = 5;

    pub(super) fn execute(arguments: &Sweep) -> Result<Exit, Diagnostics> {
        match (&arguments.action, &arguments.points) {
            (Some(SweepAction::Merge { shards, out, progress }), _) => {
                merge(&shards.folders, out, progress.quiet)
            }
            (None, Some(points)) => run(points, arguments.progress.quiet),
            (None, None) => {
                let diagnostic = Diagnostic::of("there is no specification");
                Err(diagnostic.expected("fowler sweep SPEC.toml, or fowler sweep merge").into())
            }
        }
    }

    fn run(arguments: &SweepPoints, quiet: bool) -> Result<Exit, Diagnostics> {
        let path = &arguments.specification;
        let name = path.display().to_string();
        let mut diagnostics = Diagnostics::default();
        let shard = diagnostics.take(arguments.shard.as_deref().map(shard).transpose()).flatten();
        let text = diagnostics.take(text_file::read(path, MAX_BYTES)).unwrap_or_default();
        diagnostics.or(())?;
        let bar = progress::Runs::new(quiet);
        // A signal ends the program until there is something to save.
        let reading = Control { progress: &|step| bar.follow(step), ..Control::UNWATCHED };
        let plan = Plan::read_watched(&text, &name, reading);
        bar.clear();
        let plan = plan?;
        let out = arguments.out.clone().unwrap_or_else(|| usual_folder(path, shard));
        store::unharmed(&plan, &out).or(())?;
        if arguments.dry_run {
            let threads = arguments.threads.map(usize::from);
            let memory = console::fitted(&format!("{}\n", plan.memory(threads)), 4);
            console::print(&(planned(&plan) + &memory));
            return Ok(Exit::Done);
        }
        let folder = match shard {
            Some(shard) => shards::open(&out, &plan, shard)?,
            None => Folder::open(&out, &plan)?,
        };
        let damaged = folder.damaged()?.len();
        if damaged > 0 {
            let runs = counted(damaged as u64, "run");
            console::note(&format!("{runs} in {} damaged: done again", out.display()));
        }
        let todo = folder.missing(arguments.retry)?;
        let bar = progress::Runs::new(quiet);
        bar.plan(todo.len());
        let stop = signals::stop_flag();
        let control = Control { stop, progress: &|step| bar.follow(step) };
        let step = |failed| bar.finish(failed);
        let threads = arguments.threads.map(usize::from);
        let ran = store::run(&folder, &plan, &todo, threads, control, &step);
        bar.clear();
        ran?;
        let left = folder.missing(false)?.len();
        if stop.load(Ordering::Relaxed) && left > 0 {
            let points = counted(left as u64, "run");
            console::note(&format!("{}; {points} to go", progress::resumes_from(&out)));
            return Ok(Exit::Stopped);
        }
        let text = match shard {
            Some(shard) => finished_shard(&plan, &folder, shard, todo.len())?,
            None => titled(plan.title()) + &finished(&folder, todo.len())?,
        };
        console::print(&text);
        Ok(Exit::Done)
    }

    fn shard(text: &str) -> Result<Shard, Diagnostics> {
        let refused = |expected: String| -> Diagnostics {
            Diagnostic::new("--shard", "is not a shard").text(text).expected(expected).into()
        };
        Shard::parse(text).map_err(refused)
    }

    fn usual_folder(specification: &Path, shard: Option<Shard>) -> PathBuf {
        let stem = specification.file_stem().unwrap_or_default();
        let results = PathBuf::from("results");
        match shard {
            None => results.join(stem),
            Some(shard) => {
                let mut folder = stem.to_owned();
                folder.push("-shards");
                results.join(folder).join(shard.to_string().replace('/', "-of-"))
            }
        }
    }

    fn merge(folders: &[PathBuf], out: &Path, quiet: bool) -> Result<Exit, Diagnostics> {
        let bar = progress::Runs::new(quiet);
        let stop = signals::stop_flag();
        let copied = || {
            bar.advance(1.0);
            bar.finish(false);
        };
        let watch = shards::Watch { stop, planned: &|runs| bar.plan(runs), copied: &copied };
        let merged = shards::merge(folders, out, watch);
        bar.clear();
        let Some(folder) = merged? else {
            console::note("stopped: the same command resumes the sweep");
            return Ok(Exit::Stopped);
        };
        let shards = counted(folders.len() as u64, "shard");
        console::print(&(format!("{shards} in one folder\n\n") + &finished(&folder, 0)?));
        Ok(Exit::Done)
    }

    /// Describes the points of a sweep that are going to be run.
    fn planned(plan: &Plan) -> String {
        let points = plan.points();
        let mut heads = vec!["point".to_string()];
        heads.extend(plan.axes().map(str::to_string));
        heads.push("hash".into());
        let columns = heads.len();
        let mut grid = Grid::new(heads).words(1..columns);
        for point in points.iter().take(SHOWN) {
            grid.row(cells(point));
        }
        let mut text = titled(plan.title());
        text.push_str(&grid.text());
        let refused = || points.iter().filter_map(|point| Some((point, point.refusal.as_ref()?)));
        let runs = counted(plan.runs().len() as u64, "run");
        let _grows = writeln!(text, "{}, {runs}", counted(points.len() as u64, "point"));
        if let Some((first, why)) = refused().next() {
            let count = counted(refused().count() as u64, "point");
            let number = first.number;
            let line = format!("{count} will fail, such as {number}: {why}\n");
            text.push_str(&console::fitted(&line, 4));
        }
        text
    }

    fn cells(point: &Point) -> Vec<String> {
        let level = |level: &Option<_>| level.as_ref().map_or("-".into(), ToString::to_string);
        let mut cells = vec![point.number.to_string()];
        cells.extend(point.levels.iter().map(level));
        cells.push(point.hash.clone());
        cells
    }

    fn titled(title: &str) -> String {
        let title = console::fitted(title, 0);
        if title.is_empty() { title } else { title + "\n\n" }
    }

    /// Counts the points of a sweep: all, finished, failed, and run now.
    fn counts(folder: &Folder, now: usize) -> Result<String, Diagnostics> {
        let tally = folder.tally()?;
        let heads = ["points", "finished", "failed", "runs now"].map(str::to_string);
        let mut grid = Grid::new(heads.into());
        let counts = [tally.points, tally.finished, tally.failed, now];
        grid.row(counts.map(|count| whole(count as u64)).into());
        let mut text = grid.text();
        if tally.failed > 0 {
            let why = "the column `error` says why; --retry runs the failed points again";
            let _grows = writeln!(text, "{why}");
        }
        Ok(text)
    }

    /// Describes the results of a finished sweep.
    fn finished(folder: &Folder, now: usize) -> Result<String, Diagnostics> {
        let mut text = counts(folder, now)?;
        for sheet in folder.findings()? {
            let _grows = write!(text, "\n{}", sheets::text(&sheet));
        }
        let folder = folder.path().display();
        let _grows = writeln!(text, "\nopen      fowler.load(\"{folder}\") in Python");
        Ok(text)
    }

    /// Describes a finished shard of a sweep. Its results are shown once all shards are done.
    fn finished_shard(
        plan: &Plan,
        folder: &Folder,
        shard: Shard,
        now: usize,
    ) -> Result<String, Diagnostics> {
        let head = format!("shard {shard}, in {}\n\n", folder.path().display());
        let text = titled(plan.title()) + &head + &counts(folder, now)?;
        Ok(text + "\nnext      when all shards are done: fowler sweep merge DIR... --out DIR\n")
    }
}
