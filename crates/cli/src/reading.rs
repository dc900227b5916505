//! The flags that say how a trace is read.

use clap::Args;
use fowler_experiment::Format;
use std::sync::LazyLock;

/// What `--format` takes: a line for each format.
pub(crate) static FORMATS: LazyLock<String> = LazyLock::new(|| {
    let lines =
        Format::ALL.iter().map(|format| format!("\n  {:<14} {}", format.name(), format.help()));
    format!("Formats:{}", lines.collect::<String>())
});

/// How a trace is read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Reading {
    /// The trace's format (`fowler trace info --help` lists them); without it the format must be
    /// certain from the text
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Skip bad lines, up to this percentage of all lines
    #[arg(long, value_name = "PCT")]
    pub lenient: Option<String>,
    /// The columns of a CSV in order, such as ts=us,op=rw,lba=512,len=bytes; also dev=name or
    /// dev=number, _ for a column to skip, ... for further columns, header for a first line to
    /// skip, blanks for columns that blanks separate
    #[arg(long, value_name = "COLUMNS", conflicts_with = "format")]
    pub columns: Option<String>,
    /// Where arrivals are in whole seconds: spread those of a second evenly over it [default:
    /// even], as Poisson arrivals, or not at all
    #[arg(long, value_name = "even|poisson|none")]
    pub spread: Option<String>,
    /// Of a trace of several devices, read this one, or all of them side by side
    #[arg(long, value_name = "N|side-by-side")]
    pub device_id: Option<String>,
}
