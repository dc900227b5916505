//! `fowler score`: a drive against measurements of a real one.

use crate::action::Action;
use crate::exit::Exit;
use crate::fit::{effort, filters, inputs};
use crate::flags::{Bar, Effort, Measured, PageFolder, Policies, Settings};
use crate::output::{Output, Wanted, write};
use crate::{console, fit, pages, progress, sheets, signals};
use clap::Args;
use fowler_drives::measurements;
use fowler_drives::score::{self, ScoreSpec};
use fowler_experiment::atomic_file::{clashes, writable};
use fowler_experiment::diagnostic::{Diagnostics, escaped};
use fowler_experiment::numbers::{counted, percent, whole};
use fowler_experiment::workload::Control;
use std::path::PathBuf;

/// Score a drive against measurements of a real one: every measured row is simulated
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done, however far off the drive is; 2 the input is wrong, or none of its rows can be simulated; 130 stopped with \
                        Ctrl-C: the rows that were done until then are printed"
)]
pub(crate) struct Score {
    /// The drive: a preset or a file that ends in .toml
    #[arg(value_name = "PRESET|FILE.toml")]
    pub drive: String,
    #[command(flatten)]
    pub measured: Measured,
    /// Select rows of the measurements that meet all of these conditions; may be given several
    /// times. Keys are those of the rows (see docs/real-drives.md), and file, model and sample
    #[arg(long, value_name = "KEY=VALUE,KEY=A..B,KEY=A|B")]
    pub rows: Vec<String>,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub effort: Effort,
    /// Simulate N more drives, with parameters drawn from the uncertainty of the fit, and give
    /// each predicted number a 90 % interval for both this and the simulation's sampling error
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = draws())]
    pub draws: u16,
    /// Write the result as one JSON object into this file, or print it instead of the table
    #[arg(long, value_name = "FILE.json", num_args = 0..=1)]
    pub json: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub folder: PageFolder,
    #[command(flatten)]
    pub progress: Bar,
}

/// Returns the parser of `--draws`, the number of drives with random fitted parameters that `fowler
/// score` also simulates: 0, or 10 to 1000, because fewer do not show the spread of predictions.
fn draws() -> impl clap::builder::TypedValueParser<Value = u16> {
    use clap::builder::TypedValueParser;
    clap::value_parser!(u16).range(0..=1_000).try_map(|draws| match draws {
        1..=9 => Err("expected 0, or 10 to 1000: fewer do not tell how far predictions spread"),
        _ => Ok(draws),
    })
}

impl Action for Score {
    fn execute(self) -> Result<Exit, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let effort = diagnostics.take(effort(&self.effort));
        let filters = diagnostics.take(filters(&self.rows));
        let inputs = inputs(&self.drive, &self.measured.files);
        let json_file = self.json.clone().flatten();
        if let Some(file) = &json_file {
            let clash = clashes(&inputs, &[("--json".to_string(), file.clone())]);
            diagnostics.0.extend(clash.0);
            diagnostics.take(writable(file));
        }
        let wanted = Wanted { pictures: true, ..Wanted::default() };
        let output = Output::open(self.folder.out.as_deref(), wanted, &inputs, |_| Vec::new());
        let output = diagnostics.take(output);
        diagnostics.or(())?;
        let (Some(effort), Some(filters), Some(output)) = (effort, filters, output) else {
            return Ok(Exit::Fault);
        };
        let spec = ScoreSpec {
            drive: fit::device_of(&self.drive, &self.settings),
            scheme: self.policies.scheme.clone(),
            files: self.measured.files.clone(),
            filters,
            effort,
            draws: self.draws.into(),
        };
        for note in measurements::notes(&self.measured.files) {
            console::note(&format!("note: {}", escaped(&note)));
        }
        let bar = progress::Requests::new(self.progress.quiet);
        let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
        let scored = score::score(&spec, control);
        bar.clear();
        let scored = match scored {
            Err(_) if control.stopped() => {
                console::note("stopped before the first row was done");
                return Ok(Exit::Stopped);
            }
            scored => scored?,
        };
        let json = format!("{:#}\n", scored.json());
        output.summary(&json)?;
        if let Some(file) = &json_file {
            write(file, &json)?;
        }
        let written =
            self.folder.out.as_deref().map(|folder| pages::score(&scored, folder)).transpose()?;
        // A bare --json is for a program that reads standard output.
        let machine = matches!(self.json, Some(None));
        console::print(&if machine { json } else { report(&scored) });
        if let (Some((files, warnings)), Some(folder)) = (written, &self.folder.out) {
            output.list("score", files.iter().map(|file| folder.join(file)))?;
            warnings.iter().for_each(|warning| console::note(&format!("note: {warning}")));
            if let Some(page) = pages::PAGE {
                console::note_opens(&folder.join(page));
            }
        }
        if !scored.complete {
            console::note("stopped: rows that were not done are missing");
            return Ok(Exit::Stopped);
        }
        Ok(Exit::Done)
    }
}

fn report(scored: &score::Score) -> String {
    let mut text = String::new();
    for sheet in scored.sheets() {
        text += &sheets::text(&sheet);
        text.push('\n');
    }
    for (row, why) in &scored.refused {
        let line = format!("not simulated: {}: {}\n", escaped(row), escaped(why));
        text += &console::fitted(&line, 4);
    }
    if let Some(model) = &scored.of_another {
        let line = format!(
            "note: the drive was fitted to the model {}, of which the given files have no measurements; it is compared with measurements of other models\n",
            escaped(model)
        );
        text += &console::fitted(&line, 4);
    }
    let mut reasons: Vec<String> = Vec::new();
    for (key, why) in scored.rows.iter().flat_map(|row| &row.left_out) {
        let line = format!("left out: {}: {why}\n", escaped(key));
        if !reasons.contains(&line) {
            reasons.push(line);
        }
    }
    text.extend(reasons.iter().map(|line| console::fitted(line, 4)));
    let requests: u64 = scored.rows.iter().map(|row| row.requests).sum();
    text += &format!("{}, {} requests", counted(scored.rows.len() as u64, "row"), whole(requests));
    for (fitted, word) in [(true, "fitted"), (false, "predicted")] {
        if let Some(off) = scored.median_off(fitted) {
            let count = scored.metrics().filter(|metric| metric.used_in_fit == fitted).count();
            let numbers = counted(count as u64, "number");
            text += &format!(
                "; {numbers} {word}: simulated and measured values differ by {} in the median",
                percent(off)
            );
        }
    }
    if let (within, of @ 1..) = scored.within() {
        let held = percent(within as f64 / of as f64);
        text += &format!(
            "; {held} of the predicted numbers have the measured value within their 90 % interval"
        );
    }
    text.push('\n');
    text
}
