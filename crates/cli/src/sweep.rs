//! `fowler sweep`: many runs by one specification.

use crate::args::Sweep;
#[cfg(feature = "parquet")]
pub(crate) use with_columns::execute;

/// A program without Parquet keeps no sweeps.
#[cfg(not(feature = "parquet"))]
pub(crate) fn execute(
    arguments: &Sweep,
) -> Result<crate::Exit, fowler_experiment::diagnostic::Diagnostics> {
    let file = arguments.specification.display().to_string();
    let diagnostic = crate::requests::without_parquet(&file);
    Err(diagnostic.hint("build it with its default features".to_string()).into())
}

#[cfg(feature = "parquet")]
mod with_columns {
    use super::Sweep;
    use crate::table::Grid;
    use crate::{Exit, console, progress, sheets, signals};
    use fowler_columns::store::{self, Folder};
    use fowler_experiment::diagnostic::Diagnostics;
    use fowler_experiment::numbers::{counted, whole};
    use fowler_experiment::sweep::{MAX_BYTES, Plan, Point};
    use fowler_experiment::text_file;
    use fowler_experiment::workload::Control;
    use std::fmt::Write;
    use std::path::PathBuf;
    use std::sync::atomic::Ordering;

    /// Points that `--dry-run` shows.
    const SHOWN: usize = 5;

    pub(crate) fn execute(arguments: &Sweep) -> Result<Exit, Diagnostics> {
        let path = &arguments.specification;
        let name = path.display().to_string();
        let text = text_file::read(path, MAX_BYTES)?;
        let bar = progress::Runs::new(arguments.quiet);
        // A signal ends the program until there is something to save.
        let reading = Control { progress: &|step| bar.follow(step), ..Control::UNWATCHED };
        let plan = Plan::read_watched(&text, &name, reading);
        bar.clear();
        let plan = plan?;
        let stem = path.file_stem().unwrap_or_default();
        let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from("results").join(stem));
        store::unharmed(&plan, &out).or(())?;
        if arguments.dry_run {
            let threads = arguments.threads.map(usize::from);
            console::print(&(planned(&plan) + &plan.memory(threads) + "\n"));
            return Ok(Exit::Done);
        }
        let folder = Folder::open(&out, &plan)?;
        let damaged = folder.damaged()?.len();
        if damaged > 0 {
            let runs = counted(damaged as u64, "run");
            console::note(&format!("{runs} in {} not what was written: done again", out.display()));
        }
        let todo = folder.missing(arguments.retry)?;
        let bar = progress::Runs::new(arguments.quiet);
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
        console::print(&finished(&plan, &folder, todo.len())?);
        Ok(Exit::Done)
    }

    /// What is going to be run.
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
        let mut text = titled(plan);
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

    fn titled(plan: &Plan) -> String {
        let title = console::fitted(plan.title(), 0);
        if title.is_empty() { title } else { title + "\n\n" }
    }

    /// What came of it.
    fn finished(plan: &Plan, folder: &Folder, now: usize) -> Result<String, Diagnostics> {
        let tally = folder.tally(plan)?;
        let heads = ["points", "finished", "failed", "runs now"].map(str::to_string);
        let mut grid = Grid::new(heads.into());
        let counts = [tally.points, tally.finished, tally.failed, now];
        grid.row(counts.map(|count| whole(count as u64)).into());
        let mut text = titled(plan);
        text.push_str(&grid.text());
        if tally.failed > 0 {
            let why = "the column `error` says why; --retry runs the failed points again";
            let _grows = writeln!(text, "{why}");
        }
        for sheet in folder.findings(plan)? {
            let _grows = write!(text, "\n{}", sheets::text(&sheet));
        }
        let folder = folder.path().display();
        let _grows = writeln!(text, "\nopen      fowler.load(\"{folder}\") in Python");
        Ok(text)
    }
}
