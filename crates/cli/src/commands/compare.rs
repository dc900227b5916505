//! `fowler compare`: the same workload under several schemes.

use crate::action::Action;
use crate::console;
use crate::exit::Exit;
use crate::flags::Setup;
use crate::runs::{Results, measured};
use crate::stdin::TraceInput;
use clap::Args;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::requests::log_path;
use fowler_experiment::seeds::{self, Spread};
use fowler_report::verdict;
use std::path::Path;

/// The same workload under several schemes: one table, with ratios to the first scheme
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The schemes, separated by commas; `+` joins
    #[arg(long, value_name = "A,B,C+D", value_delimiter = ',', required = true)]
    pub schemes: Vec<String>,
    /// Run every scheme with N seeds, from that of the drive on, and add 95 % confidence intervals:
    /// they tell a difference from chance
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=seeds::MOST as i64))]
    pub seeds: u32,
    #[command(flatten)]
    pub setup: Setup,
}

impl Action for Compare {
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        self.setup.load.traces(|limit| limit)
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let schemes = &self.schemes;
        let logs = |path: &Path| schemes.iter().map(|it| log_path(path, it)).collect();
        measured("compare", &self.setup, schemes, false, logs, |spec, control| {
            let seeds = self.seeds;
            let (outcomes, spread) = seeds::compare_over(spec, schemes, seeds, control)?;
            let ran = spread.as_ref().map_or(1, Spread::seeds);
            if ran < seeds as usize {
                console::note(&format!("stopped: {ran} of {seeds} seeds have results"));
            }
            let json = verdict::comparison_json(&outcomes, spread.as_ref());
            Ok(Results { outcomes, spread, json })
        })
    }
}
