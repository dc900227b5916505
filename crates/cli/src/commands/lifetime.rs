//! `fowler lifetime`: simulates a drive to the end of its target life.

use crate::action::Action;
use crate::exit::Exit;
use crate::flags::{Addresses, Answer, Bar, Drive, Policies, Reading, Source};
use crate::fleet::{self, Fleet, LifetimeAction};
use crate::life_report::{CHECKPOINT, finish, stopped};
use crate::output::{Output, Wanted};
use crate::stdin::TraceInput;
use crate::{console, fit, progress, signals};
use clap::Args;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::image_store;
use fowler_experiment::life_estimate::{Estimate, in_words};
use fowler_experiment::numbers::{bytes, counted, real};
use fowler_experiment::workload::Control;
use fowler_lifetime::fleet::with_life;
use fowler_lifetime::{Early, Ended, LifetimeSpec, SaveTo, Watch};
use std::path::PathBuf;

/// Simulate the whole life of a drive: years, capacity, wear and throttling under a repeated
/// workload
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done; 2 the input is wrong; 130 stopped with Ctrl-C: what is done is \
                        saved there, and the same command resumes from it to the same bytes"
)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Lifetime {
    #[command(subcommand)]
    pub action: Option<LifetimeAction>,
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub addresses: Addresses,
    #[command(flatten)]
    pub policies: Policies,
    /// Target life in years of 365 days [default: the drive's lifetime.target]
    #[arg(long, value_name = "N")]
    pub years: Option<f64>,
    /// Number of real repetitions of the workload that each simulated one stands for [default: the
    /// smallest number at which a life takes a minute or two]
    #[arg(long, value_name = "K")]
    pub dilation: Option<u32>,
    /// Skip the second simulation of the life, in which each simulated repetition of the workload
    /// stands for 2K real ones instead of K (--dilation); it shows the error of K
    #[arg(long)]
    pub no_check: bool,
    #[command(flatten)]
    pub fleet: Fleet,
    #[command(flatten)]
    pub answer: Answer,
    /// Write summary.json, the table (CSV), pictures (SVG), a page of both (report.html) and each
    /// drive of a fleet (CSV, Parquet) into this folder, and save progress there; without it,
    /// progress is saved in $XDG_CACHE_HOME/fowler or ~/.cache/fowler
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Save progress after this many page writes, or this many drives of a fleet (at most 4,000,000
    /// of these)
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    pub save_every: u64,
    #[command(flatten)]
    pub progress: Bar,
}

impl Action for Lifetime {
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        let Lifetime { source, reading, .. } = self;
        source.trace.iter_mut().map(|trace| TraceInput::new(trace, reading, None)).collect()
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        if let Some(LifetimeAction::Merge { shards, out, answer, progress }) = &self.action {
            return fleet::merge(&shards.folders, out, answer.json, progress.quiet);
        }
        let schemes: Vec<String> = self.policies.scheme.iter().cloned().collect();
        let mut inputs = fit::drive_files(&self.drive, &schemes);
        inputs.extend(fit::source_files(&self.source));
        let mut diagnostics = Diagnostics::default();
        let spec = diagnostics.take(spec(&self));
        if let Some(spec) = &spec {
            diagnostics.0.extend(fowler_lifetime::check(spec).0);
        }
        let asked = fleet::fleet_of(&self.fleet);
        if let (Some(fleet), Some(spec)) = (&asked, &spec) {
            diagnostics.0.extend(fowler_lifetime::check_fleet(spec, fleet).0);
        }
        let shard = diagnostics.take(fleet::shard_of(&self.fleet, self.out.as_deref())).flatten();
        let wanted = Wanted { pictures: true, ..Wanted::default() };
        let output = Output::open(self.out.as_deref(), wanted, &inputs, |_| Vec::new());
        let output = diagnostics.take(output);
        diagnostics.or(())?;
        let (Some(output), Some(spec)) = (output, spec) else { return Ok(Exit::Fault) };
        let bar = progress::Shares::new(self.progress.quiet, "reading the workload");
        let watch = Watch {
            control: Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) },
            share: &|share| bar.set(share),
            early: &|early| tell(&bar, early, self.progress.quiet),
            warn: &|warning| bar.note(&format!("note: {warning}")),
        };
        if let (Some(fleet), Some(shard), Some(folder)) = (&asked, &shard, &self.out) {
            return fleet::draw(&spec, fleet, shard, folder, watch, &bar);
        }
        let lived = match &asked {
            Some(fleet) => with_life(&spec, fleet, watch),
            None => fowler_lifetime::live(&spec, watch),
        };
        bar.clear();
        let lived = match lived? {
            Ended::Lived(lived) => lived,
            Ended::Stopped { saved } => {
                console::note(&stopped(&spec.checkpoint, saved));
                return Ok(Exit::Stopped);
            }
        };
        finish(&lived, &output, self.out.as_deref(), self.answer.json)?;
        Ok(Exit::Done)
    }
}

/// Shows an early estimate of a life: bounds as a line, later estimates beside the progress bar.
fn tell(bar: &progress::Shares, early: Early, quiet: bool) {
    match early {
        Early::Bounds(estimate) if !quiet => bar.note(&first_estimate(&estimate)),
        Early::Bounds(_) => {}
        Early::Drawing { drives } => {
            bar.restart(&format!("drawing {}", counted(drives as u64, "drive")))
        }
        Early::SoFar { years, waf } => {
            bar.say(format!("{} years so far, WAF {}", real(years), real(waf)));
        }
    }
}

fn first_estimate(estimate: &Estimate) -> String {
    let Estimate { waf: [least, most], years: [worst, best], written, .. } = *estimate;
    let [rated_worst, rated_best] = estimate.rated_years;
    let held = if estimate.throttled { ", if writes were not throttled" } else { "" };
    format!(
        "first estimate: {} to {} years at this load{held}, or {} to {} written; without the recovery \
         of resting cells {} to {} years. That is {} drive writes per day at a write amplification between {} (nothing is ever moved) and {} (random writes \
         over the whole drive)",
        in_words(worst),
        in_words(best),
        bytes(written[0] as u64),
        bytes(written[1] as u64),
        in_words(rated_worst),
        in_words(rated_best),
        real(estimate.drive_writes_per_day),
        real(least),
        real(most)
    )
}

fn spec(arguments: &Lifetime) -> Result<LifetimeSpec, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let Lifetime { source, reading, addresses, .. } = arguments;
    let workload = diagnostics.take(fit::workload(source, reading, &addresses.remap));
    let mut device = fit::device(&arguments.drive);
    if let Some(years) = arguments.years {
        // A number beyond any drive's is refused by its key; one that is none is refused here.
        if years.is_finite() && years > 0.0 && years <= 1e6 {
            device.set.push(format!("lifetime.target={:.0}s", years * 365.0 * 86_400.0));
        } else {
            let what = format!("a life of {years} years");
            diagnostics.push(Diagnostic::new("--years", what).expected("a number above 0"));
        }
    }
    let spec = |workload| LifetimeSpec {
        device,
        scheme: arguments.policies.scheme.clone(),
        workload,
        limit: None,
        dilation: arguments.dilation,
        check: !arguments.no_check,
        close_up: None,
        checkpoint: match &arguments.out {
            Some(folder) => SaveTo::File(folder.join(CHECKPOINT)),
            None => image_store::folder().map_or(SaveTo::Nowhere, SaveTo::Cache),
        },
        checkpoint_every: arguments.save_every.max(1),
    };
    let spec = workload.map(spec);
    diagnostics.or(())?;
    spec.ok_or_else(|| Diagnostic::new("", "there is no workload").into())
}
