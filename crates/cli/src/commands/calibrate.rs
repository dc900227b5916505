//! `fowler calibrate`: a few parameters of a drive fitted to measured rows, or a drive made from a
//! data sheet.

use crate::action::Action;
use crate::exit::Exit;
use crate::fit::{effort, filters, inputs};
use crate::flags::{Bar, Effort, Policies};
use crate::output::write;
use crate::table::Grid;
use crate::{console, progress, signals};
use clap::Args;
use fowler_drives::datasheet;
use fowler_drives::fitting::{self, FitSpec, Fitted, Held};
use fowler_drives::measurements;
use fowler_experiment::atomic_file::{clashes, writable};
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::{Diagnostics, escaped};
use fowler_experiment::numbers::{NOTHING, counted, number, percent, ratio, real};
use fowler_experiment::workload::Control;
use std::path::{Path, PathBuf};

/// Fit a few parameters of a drive to rows of measurements of real drives, by simulating each row;
/// or make a drive from a data sheet
#[derive(Debug, Args)]
#[command(
    after_help = "The drive file declares at most six parameters, each with its bounds and where they are from:\n\n  \
                        [[calibrate.parameter]]\n  key = \"timing.program_phase\"\n  low = \"30us\"\n  high = \"60us\"\n  \
                        source = \"the data sheet\"\n\n\
                        and at most three choices, of which every option is tried:\n\n  \
                        [[calibrate.parameter]]\n  options = [[\"queue.admission=in_order\"], [\"queue.admission=reads_pass\"]]\n  \
                        source = \"none: both are common\"\n\nExit codes: 0 done; 2 the input is wrong; 130 stopped with Ctrl-C: nothing is written"
)]
pub(crate) struct Calibrate {
    /// JSON files of measurements of real drives; each row holds the numbers of one measurement
    /// (see docs/real-drives.md)
    #[arg(
        id = "measured",
        value_name = "MEASURED.json",
        required_unless_present = "from_datasheet"
    )]
    pub files: Vec<PathBuf>,
    /// Drive whose [[calibrate.parameter]] tables name the parameters to fit: a preset or a file
    /// that ends in .toml
    #[arg(long, value_name = "PRESET|FILE.toml", required_unless_present = "from_datasheet")]
    pub drive: Option<String>,
    /// Rows of the measurements to fit, all of one drive model: those that meet all of these
    /// conditions; may be given several times
    #[arg(
        long,
        value_name = "KEY=VALUE,KEY=A..B,KEY=A|B",
        required_unless_present = "from_datasheet"
    )]
    pub rows: Vec<String>,
    /// Make the drive from a data sheet instead of measured rows: JSON or TOML with capacity_gb,
    /// and as far as known user_gib (the exact capacity), model, pcie and
    /// datasheet.{seq_read_mb_s, seq_write_mb_s, rand_read_iops, rand_write_iops, dwpd,
    /// read_latency_us, write_latency_us}
    #[arg(
        long,
        value_name = "FILE.json|FILE.toml",
        conflicts_with_all = ["measured", "drive", "rows", "metric", "scheme", "set", "brief", "capacity"]
    )]
    pub from_datasheet: Option<PathBuf>,
    /// With --from-datasheet: numbers that the data sheet lacks are medians over fitted presets;
    /// leave the preset of this drive model out of them
    #[arg(long, value_name = "MODEL", requires = "from_datasheet")]
    pub leave_out: Option<String>,
    /// Number to fit in every measured row, such as read_us.p99; may be given several times
    /// [default: the numbers that tell most about a drive, by the way in which the row was
    /// measured]
    #[arg(long, value_name = "NUMBER")]
    pub metric: Vec<String>,
    #[command(flatten)]
    pub policies: Policies,
    /// Change a configuration key of the drive before its parameters are fitted
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub effort: Effort,
    /// Maximum number of drives, each with other parameter values, that the fit simulates for each
    /// option of a [[calibrate.parameter]] table
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = tries())]
    pub tries: usize,
    /// Seed of the random parameter values that the fit tries first, besides the drive's own values
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// File for the fitted drive
    #[arg(long, value_name = "FILE.toml")]
    pub out: PathBuf,
    #[command(flatten)]
    pub progress: Bar,
}

/// Returns the parser of the largest number of drives that a fit may try.
fn tries() -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser;
    clap::value_parser!(u32).range(10..=10_000).map(|tries| tries as usize)
}

impl Action for Calibrate {
    fn execute(self) -> Result<Exit, Diagnostics> {
        if let Some(sheet) = &self.from_datasheet {
            return self.write_from_sheet(sheet);
        }
        let mut diagnostics = Diagnostics::default();
        let effort = diagnostics.take(effort(&self.effort));
        let filters = diagnostics.take(filters(&self.rows));
        let Some(drive) = &self.drive else { return Ok(Exit::Fault) };
        let inputs = inputs(drive, &self.files);
        let outputs = [("--out".to_string(), self.out.clone())];
        diagnostics.0.extend(clashes(&inputs, &outputs).0);
        diagnostics.take(writable(&self.out));
        diagnostics.or(())?;
        let (Some(effort), Some(filters)) = (effort, filters) else { return Ok(Exit::Fault) };
        let spec = FitSpec {
            drive: DeviceSpec {
                device: drive.clone(),
                set: self.set.clone(),
                ..DeviceSpec::default()
            },
            scheme: self.policies.scheme.clone(),
            files: self.files.clone(),
            filters,
            metrics: self.metric.clone(),
            effort,
            tries: self.tries,
            seed: self.seed,
        };
        for note in measurements::notes(&self.files) {
            console::note(&format!("note: {}", escaped(&note)));
        }
        if let Some(warning) = fitting::few_tries(&spec) {
            console::note(&format!("WARNING: {warning}"));
        }
        let bar = progress::Requests::new(self.progress.quiet);
        let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
        let fitted = fitting::fit(&spec, control);
        bar.clear();
        let fitted = match fitted {
            Err(_) if control.stopped() => None,
            fitted => fitted?,
        };
        let Some(fitted) = fitted else {
            console::note("stopped: nothing was written");
            return Ok(Exit::Stopped);
        };
        write(&self.out, &fitted.text)?;
        console::print(&(report(&fitted) + &format!("written: {}\n", self.out.display())));
        Ok(Exit::Done)
    }
}

impl Calibrate {
    /// Makes the drive of a data sheet and writes its file.
    fn write_from_sheet(&self, sheet: &Path) -> Result<Exit, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let inputs = [("--from-datasheet".to_string(), sheet.to_path_buf())];
        diagnostics.0.extend(clashes(&inputs, &[("--out".to_string(), self.out.clone())]).0);
        diagnostics.take(writable(&self.out));
        diagnostics.or(())?;
        let bar = progress::Requests::new(self.progress.quiet);
        let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
        let mut diagnostics = Diagnostics::default();
        let made = diagnostics.take(datasheet::drive(sheet, self.leave_out.as_deref(), control));
        bar.clear();
        if control.stopped() {
            console::note("stopped: nothing was written");
            return Ok(Exit::Stopped);
        }
        diagnostics.or(())?;
        let Some(made) = made else { return Ok(Exit::Fault) };
        write(&self.out, &made.text)?;
        let mut text = format!("{}: from its data sheet, nothing measured\n", escaped(&made.model));
        for note in &made.notes {
            text += &console::fitted(&format!("note: {}\n", escaped(note)), 4);
        }
        console::print(&(text + &format!("written: {}\n", self.out.display())));
        Ok(Exit::Done)
    }
}

fn report(fitted: &Fitted) -> String {
    let mut text = format!("{}\n\n", escaped(&fitted.model));
    let heads = ["parameter", "fitted", "95 % interval", "bounds", "held to", "close to"];
    let mut grid = Grid::new(heads.map(str::to_string).into()).words(0..6);
    for held in &fitted.parameters {
        grid.row(parameter(held));
    }
    text += &grid.text();
    for held in &fitted.parameters {
        let line =
            format!("bounds of {}: {}\n", held.parameter.key, escaped(&held.parameter.source));
        text += &console::fitted(&line, 4);
    }
    if !fitted.options.is_empty() {
        let heads = ["option", "deviation"].map(str::to_string);
        let mut grid = Grid::new(heads.into()).words(0..1);
        for option in &fitted.options {
            let off = option.off.map_or("does not work".into(), real);
            grid.row(vec![option.settings.join(", "), off]);
        }
        text += &format!(
            "\npolicy options compared; the parameters were fitted with each option:\n\n{}",
            grid.text()
        );
    }
    let heads = ["row", "number", "measured", "simulated", "ratio"];
    let mut grid = Grid::new(heads.map(str::to_string).into()).words(0..2);
    for term in &fitted.terms {
        let simulated = term.simulated.map(|it| it.value);
        grid.row(vec![
            term.place.clone(),
            term.metric.clone(),
            number(term.measured),
            simulated.map_or(NOTHING.into(), number),
            simulated.map_or(NOTHING.into(), |value| ratio(value / term.measured)),
        ]);
    }
    text += &format!("\nfitted to:\n\n{}", grid.text());
    for (row, why) in &fitted.refused {
        let line = format!("not simulated: {}: {}\n", escaped(row), escaped(why));
        text += &console::fitted(&line, 4);
    }
    let tried = counted(fitted.tried as u64, "drive");
    let steps = counted(fitted.steps as u64, "step");
    if fitted.steps == 0 {
        let line = "\nno fit: no step of descent gained, so this is the best of the points at which the \
                    search began; try more (--tries) or fewer parameters\n";
        text += &console::fitted(line, 0);
    }
    text += &format!(
        "\n{tried} simulated; {steps} of the search reduced the deviation of simulated from measured \
         numbers. Its root mean square is now {} times the deviation expected of a good model\n",
        real(fitted.off)
    );
    text
}

fn parameter(held: &Held) -> Vec<String> {
    let (low, high) = &held.interval;
    let bounds = (&held.parameter.low, &held.parameter.high);
    let sharp = match held.is_held() {
        true => format!("{} of the bounds", percent(held.share)),
        false => "not held by these rows".into(),
    };
    let close = held.close_to.as_ref().filter(|(_, correlation)| correlation.abs() >= 0.5);
    vec![
        held.parameter.key.clone(),
        held.value.in_words(),
        format!("{} to {}", low.in_words(), high.in_words()),
        format!("{} to {}", bounds.0.in_words(), bounds.1.in_words()),
        sharp,
        close.map_or(NOTHING.into(), |(key, correlation)| format!("{key} ({correlation:.2})")),
    ]
}
