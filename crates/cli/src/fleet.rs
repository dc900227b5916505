//! Fleets of drives: the flags of `fowler lifetime --drives`, shards, and `fowler lifetime merge`.

use crate::exit::Exit;
use crate::flags::{Answer, Bar, Shards};
use crate::life_report::{finish, stopped};
use crate::output::{Output, Wanted};
use crate::{console, progress, signals};
use clap::{Args, Subcommand};
use fowler_experiment::contents::CONTENTS;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::disk;
use fowler_experiment::numbers::{counted, whole};
use fowler_experiment::shard::Shard;
use fowler_experiment::workload::Control;
use fowler_lifetime::LifetimeSpec;
use fowler_lifetime::Watch;
use fowler_lifetime::fleet::{self, FleetSpec, Merging, ShardDrawn, ShardSpec};
use std::path::{Path, PathBuf};

/// Default values of the fleet flags.
const ASSUMED: FleetSpec = FleetSpec::ASSUMED;

/// The flags of a fleet, a population of drives drawn at random from one simulated life. No default
/// value has a source: compare results for several values.
#[derive(Debug, Args)]
#[command(next_help_heading = "A fleet")]
pub(crate) struct Fleet {
    /// Also draw a fleet of N drives like this one (at most 1,000,000): survival, terabytes
    /// written, replacements and spare drives
    #[arg(long, value_name = "N")]
    pub drives: Option<u32>,
    /// How loads differ: the standard deviation of the logarithm of a drive's writes per day
    #[arg(long, value_name = "S", default_value_t = ASSUMED.load_spread, requires = "drives")]
    pub load_spread: f64,
    /// The share of drives that fail within the first year for no reason of wear
    #[arg(long, value_name = "P", default_value_t = ASSUMED.early_share, requires = "drives")]
    pub early_share: f64,
    /// The Weibull shape of the times of early failures; below 1 their rate falls with age
    #[arg(long, value_name = "K", default_value_t = ASSUMED.early_shape, requires = "drives")]
    pub early_shape: f64,
    /// The share of worn-out blocks beyond which a drive is replaced. Blocks that fail before they
    /// are worn out (--set bad_blocks.share) end it when its spare is used up
    #[arg(long, value_name = "P", default_value_t = ASSUMED.worn_blocks, requires = "drives")]
    pub worn_blocks: f64,
    /// Confidence level of the intervals of results, and probability that the spare drives are
    /// enough
    #[arg(long, value_name = "P", default_value_t = ASSUMED.confidence, requires = "drives")]
    pub confidence: f64,
    /// Draw only shard i of n of the fleet, such as 3/40, in a separate folder; `fowler lifetime
    /// merge` joins the shards
    #[arg(long, value_name = "i/n", requires_all = ["drives", "out"], conflicts_with = "json")]
    pub shard: Option<String>,
    /// Folder of another shard of this fleet, whose simulated life is reused
    #[arg(long, value_name = "DIR", requires = "shard")]
    pub life_of: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LifetimeAction {
    /// Merge the shards of a fleet, and print and write the results of the whole fleet
    Merge {
        #[command(flatten)]
        shards: Shards,
        /// The folder of the whole fleet, with the files of `fowler lifetime --out`
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        #[command(flatten)]
        answer: Answer,
        #[command(flatten)]
        progress: Bar,
    },
}

/// Returns the fleet that the flags describe; `None` without `--drives`.
pub(crate) fn fleet_of(flags: &Fleet) -> Option<FleetSpec> {
    Some(FleetSpec {
        drives: flags.drives?,
        load_spread: flags.load_spread,
        early_share: flags.early_share,
        early_shape: flags.early_shape,
        worn_blocks: flags.worn_blocks,
        confidence: flags.confidence,
    })
}

/// Returns the shard of a fleet that the flags ask for, if they do.
pub(crate) fn shard_of(
    flags: &Fleet,
    out: Option<&Path>,
) -> Result<Option<ShardSpec>, Diagnostics> {
    let (Some(text), Some(drives)) = (&flags.shard, flags.drives) else { return Ok(None) };
    let refused = |what: &str| Diagnostic::new("--shard", what).text(text);
    let shard = Shard::parse(text)
        .map_err(|expected| Diagnostics::from(refused("is not a shard").expected(expected)))?;
    if shard.of() > u64::from(drives) {
        let what =
            format!("{} of {}", counted(shard.of(), "shard"), counted(drives.into(), "drive"));
        return Err(refused(&what).expected("at most as many shards as drives").into());
    }
    if let Some(folder) = out
        && disk::facts(&folder.join(CONTENTS))?.is_some()
    {
        let what =
            "holds results of another command, and a folder holds results of one command only";
        let hint = "choose another folder".to_string();
        return Err(Diagnostic::new(folder.display().to_string(), what).hint(hint).into());
    }
    Ok(Some(ShardSpec { shard, life_of: flags.life_of.clone() }))
}

/// Draws a shard of a fleet and prints the result.
pub(crate) fn draw(
    spec: &LifetimeSpec,
    fleet: &FleetSpec,
    shard: &ShardSpec,
    folder: &Path,
    watch: Watch<'_>,
    bar: &progress::Shares,
) -> Result<Exit, Diagnostics> {
    let drawn = fleet::draw_shard(spec, fleet, shard, watch);
    bar.clear();
    let (drives, new) = match drawn? {
        ShardDrawn::Drawn { drives, new } => (drives, new),
        ShardDrawn::Stopped { saved } => {
            console::note(&stopped(&spec.checkpoint, saved));
            return Ok(Exit::Stopped);
        }
    };
    let (shard, all) = (shard.shard, whole(fleet.drives.into()));
    let drives = counted(drives as u64, "drive");
    let now = if new == 0 { ", all of them there before" } else { "" };
    console::print(&format!(
        "shard {shard} of a fleet of {all} drives, in {}: {drives}{now}\n\n\
         next      when all shards are done: fowler lifetime merge DIR... --out DIR\n",
        folder.display()
    ));
    Ok(Exit::Done)
}

/// Merges the shards of a fleet, and prints and writes the results of the whole.
pub(crate) fn merge(
    folders: &[PathBuf],
    out: &Path,
    json: bool,
    quiet: bool,
) -> Result<Exit, Diagnostics> {
    // The files of the shard would lie beside those of the whole fleet.
    if fleet::examine(out)?.is_some() {
        let what = "holds a shard of a fleet";
        let hint = "choose another folder for the whole fleet".to_string();
        return Err(Diagnostic::new(out.display().to_string(), what).hint(hint).into());
    }
    let bar = progress::Shares::new(quiet, "reading the shards");
    let control = Control { stop: signals::stop_flag(), ..Control::UNWATCHED };
    let merged = fleet::merge(folders, Merging { control, share: &|share| bar.set(share) });
    bar.clear();
    let Some(lived) = merged? else {
        console::note("stopped: nothing is written, and the shards are as they were");
        return Ok(Exit::Stopped);
    };
    let wanted = Wanted { pictures: true, ..Wanted::default() };
    let output = Output::open(Some(out), wanted, &[], |_| Vec::new())?;
    finish(&lived, &output, Some(out), json)?;
    Ok(Exit::Done)
}
