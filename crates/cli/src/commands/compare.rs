//! `fowler compare`: one workload under several schemes, on several drives, or both.

use crate::action::Action;
use crate::exit::Exit;
use crate::flags::Setup;
use crate::runs::{Results, measured};
use crate::stdin::TraceInput;
use crate::{console, fit};
use clap::Args;
use fowler_experiment::candidates::Candidates;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::requests::log_path;
use fowler_experiment::seeds::{self, Spread};
use fowler_report::verdict;
use std::path::Path;

/// One workload under several schemes, on several drives, or both: a table with ratios to the first
/// column
#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub compared: Compared,
    /// Run every scheme or drive with N seeds, starting at the seed of the first drive, and add 95
    /// % confidence intervals, which separate differences from chance
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=seeds::MOST as i64))]
    pub seeds: u32,
    #[command(flatten)]
    pub setup: Setup,
}

/// The schemes or drives that a comparison runs.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Compared {
    /// The schemes, separated by commas; `+` joins, and "as described" is the drive without one
    #[arg(long, value_name = "A,B,C+D", value_delimiter = ',')]
    pub schemes: Vec<String>,
    /// Drives to compare, separated by commas: presets or files that end in .toml. Each runs as
    /// described, or under those of --schemes that work on it, at least one; --set changes all of
    /// them
    #[arg(long, value_name = "A,B,C.toml", value_delimiter = ',', conflicts_with = "device")]
    pub devices: Vec<String>,
}

impl Action for Compare {
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        self.setup.load.traces(|limit| limit)
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let candidates = self.candidates()?;
        let labels = candidates.labels();
        let logs = |path: &Path| labels.iter().map(|it| log_path(path, it)).collect();
        measured("compare", &self.setup, &candidates, false, logs, |spec, control| {
            let seeds = self.seeds;
            let (outcomes, spread) = seeds::compare_over(spec, &candidates, seeds, control)?;
            let ran = spread.as_ref().map_or(1, Spread::seeds);
            if ran < seeds as usize {
                console::note(&format!("stopped: {ran} of {seeds} seeds have results"));
            }
            let json = verdict::comparison_json(&outcomes, spread.as_ref());
            Ok(Results { outcomes, spread, json })
        })
    }
}

impl Compare {
    /// Returns the candidates of the comparison: the drive under each scheme, or each drive.
    ///
    /// # Errors
    /// If the list of drives has fewer than two, or one of them twice; all other errors of the
    /// command are reported too.
    fn candidates(&self) -> Result<Candidates, Diagnostics> {
        let drive = &self.setup.load.drive;
        let Compared { schemes, devices } = &self.compared;
        if devices.is_empty() {
            return Ok(Candidates::schemes(&fit::device(drive), schemes));
        }
        let candidates = fit::devices(devices, &drive.settings, schemes);
        candidates.map_err(|mut diagnostics| {
            let first = devices.first().map(String::as_str).unwrap_or_default();
            let device = fit::device_of(first.trim(), &drive.settings);
            let one = Candidates::one(&device, schemes.first().map(String::as_str));
            fit::run_spec(&self.setup.load, &one, &mut diagnostics);
            diagnostics.unique()
        })
    }
}
