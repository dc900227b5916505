//! `fowler diff`: the changes from one stored result to another.

use crate::action::Action;
use crate::exit::Exit;
use crate::table::Grid;
use crate::{console, pages};
use clap::Args;
use fowler_experiment::diagnostic::{Diagnostics, escaped};
use fowler_experiment::numbers::{self, counted};
use fowler_report::diff::{self, Causes, Chance, Change, Pair, Setting};
use std::fmt::Write;
use std::path::PathBuf;

/// Differences between two stored results: settings, numbers, causes of latency, and which
/// differences may be chance
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// A folder of `fowler run` or `fowler compare`, or a summary file
    #[arg(value_name = "FIRST")]
    pub first: PathBuf,
    /// Second stored result, which is compared with the first: a folder of `fowler run` or `fowler
    /// compare`, or a summary file. Runs under the same scheme are compared with each other
    #[arg(value_name = "SECOND")]
    pub second: PathBuf,
    /// Write an HTML page that compares FIRST and SECOND to this file: their differences, and their
    /// curves on the same axes. Both must be folders, not summary files
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Smallest relative difference between two runs that a table shows; smaller ones are of no use.
const SMALLEST: f64 = 0.0005;

impl Action for Diff {
    fn fans_out(&self) -> bool {
        false
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let both = [&*self.first, &*self.second];
        if let Some(path) = &self.report {
            pages::check_two(both, path)?;
        }
        let found = diff::diff(both)?;
        if let Some(path) = &self.report {
            pages::two(both, &found, path)?;
        }
        let text = match self.json {
            true => format!("{:#}\n", found.json()),
            false => terminal(&found),
        };
        console::print(&text);
        if let Some(path) = &self.report {
            console::note_opens(path);
        }
        Ok(Exit::Done)
    }
}

fn terminal(found: &diff::Diff) -> String {
    let mut text = found.pairs.iter().map(of_pair).collect::<Vec<_>>().join("\n");
    for (names, which) in found.alone.iter().zip(["first", "second"]) {
        if !names.is_empty() {
            let names = names.join(", ");
            text += &console::fitted(
                &format!("note      only in the {which}: {}\n", escaped(&names)),
                10,
            );
        }
    }
    text
}

fn of_pair(pair: &Pair) -> String {
    let mut text = String::new();
    if !pair.settings.is_empty() {
        text += &(of_settings(&pair.settings) + "\n");
    }
    let rows: Vec<&Change> = pair.changes.iter().filter(|it| is_shown(it)).collect();
    if !rows.is_empty() {
        text += &(of_changes(pair, &rows) + "\n");
    }
    for causes in &pair.causes {
        text += &(of_causes(causes, pair.chance) + "\n");
    }
    let line = |word: &str, what: String| console::fitted(&format!("{word:<10}{what}\n"), 10);
    text += &line(pair.axis.key(), escaped(&pair.labels.join(" and ")).into_owned());
    text += &line("numbers", summary(pair, rows.len()));
    text += &line("chance", of_chance(pair));
    text
}

/// Returns true if the table that `fowler diff` prints shows this number of two compared results:
/// tables of results show it, and its relative difference is unknown or at least 0.05 %.
fn is_shown(change: &Change) -> bool {
    change.label.is_some() && change.share().is_none_or(|share| share.abs() >= SMALLEST)
}

fn of_settings(settings: &[Setting]) -> String {
    let mut grid =
        Grid::new(["asked for", "first", "second"].map(str::to_string).into()).words(0..3);
    for Setting { key, values } in settings {
        let value = |it: &Option<String>| {
            it.as_deref().map_or(numbers::NOTHING.into(), |it| escaped(it).into_owned())
        };
        let mut row = vec![escaped(key).into_owned()];
        row.extend(values.iter().map(value));
        grid.row(row);
    }
    grid.text()
}

fn of_changes(pair: &Pair, rows: &[&Change]) -> String {
    let with_seeds = pair.chance == Chance::Seeds;
    let mut heads = vec!["result", "first", "second", "change"];
    heads.extend(with_seeds.then_some("beyond chance"));
    let mut grid = Grid::new(heads.into_iter().map(str::to_string).collect());
    for change in rows {
        let label = change.label.as_deref().unwrap_or(&change.path);
        let mut row = vec![label.to_string()];
        row.extend(change.values.map(numbers::maybe));
        row.push(change.share().map_or(numbers::NOTHING.into(), signed_percent));
        row.extend(with_seeds.then(|| match change.is_real() {
            Some(true) => "yes".into(),
            Some(false) => "no".into(),
            None => numbers::NOTHING.into(),
        }));
        grid.row(row);
    }
    grid.text()
}

fn of_causes(causes: &Causes, chance: Chance) -> String {
    let Causes { kind, means_us, parts_us } = causes;
    // Summaries have the causes of the first seed only.
    let of_seed = if chance == Chance::Seeds { ", first seed" } else { "" };
    let heads = [
        format!("mean {kind} (us){of_seed}"),
        "first".into(),
        "second".into(),
        "difference".into(),
    ];
    let mut grid = Grid::new(heads.into());
    let row = |name: String, [first, second]: [f64; 2]| {
        vec![name, numbers::real(first), numbers::real(second), signed(second - first)]
    };
    grid.row(row("all causes".into(), *means_us));
    for (name, values) in parts_us {
        grid.row(row(format!("  {}", name.replace('_', " ")), *values));
    }
    grid.text()
}

fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", numbers::real(value.abs()))
}

fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { "-" } else { "+" };
    format!("{sign}{}", numbers::percent(share.abs()))
}

fn summary(pair: &Pair, shown: usize) -> String {
    let (changed, same) = (pair.changes.len(), pair.same);
    let mut text =
        format!("{} numbers differ, {} are the same", counted(changed as u64, "number"), same);
    if shown < changed {
        let _grows = write!(text, "; the table shows {shown}, --json all");
    }
    text
}

fn of_chance(pair: &Pair) -> String {
    let real = |it: &&Change| it.is_real() == Some(true);
    match pair.chance {
        _ if pair.changes.is_empty() && pair.settings.is_empty() => "the two are the same".into(),
        _ if pair.changes.is_empty() => "the settings differ, but the numbers are the same".into(),
        Chance::Seeds => {
            let beyond = pair.changes.iter().filter(real).count();
            let judged = pair.changes.iter().filter(|it| it.half_width.is_some()).count();
            format!(
                "{beyond} of {} with intervals differ by more than different seeds explain: the 95 % \
                 interval of the difference excludes 0. By chance alone, one number in twenty passes \
                 this test. Numbers without intervals are those of the first seed.",
                counted(judged as u64, "number")
            )
        }
        Chance::OnlySeed => "only the seeds differ: each difference is chance".into(),
        Chance::Unknown if pair.settings.is_empty() => {
            "the settings are the same, but the numbers differ: another machine or program must \
                have written one of the results"
                .into()
        }
        Chance::Unknown => "not known: one seed cannot show it. Write both with \
             `fowler compare --schemes A --seeds 5 --out DIR`"
            .into(),
    }
}
