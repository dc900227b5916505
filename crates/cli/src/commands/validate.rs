//! `fowler validate`: the simulator against theory, one row per expectation.

use crate::action::Action;
use crate::exit::Exit;
use crate::flags::{Answer, Bar, SummaryFolder};
use crate::output::{Output, Wanted};
use crate::table::Grid;
use crate::{console, progress, signals};
use clap::Args;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::numbers::{NOTHING, counted_as, real, whole};
use fowler_experiment::workload::Control;
use fowler_validate::{Group, Row, ValidateSpec, Validation, validate};
use std::fmt::Write;

/// The simulator against theory: queues, bounds, write amplification, conservation laws
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 every expectation agrees with theory; 1 one does not, which is a fault \
                        of the program; 2 the input is wrong; 130 stopped with Ctrl-C, results until \
                        then printed"
)]
pub(crate) struct Validate {
    /// Validate in seconds, not minutes: simulate fewer requests and smaller drives, and allow two
    /// to three times the deviation from theory
    #[arg(long)]
    pub quick: bool,
    /// Check only one group of theoretical values (die, "extra wait", bounds, gc, laws), or the
    /// values whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Change a configuration key of the simulated drives, but not of the theory they are compared
    /// with, to see the validation fail
    #[arg(long, value_name = "KEY=VALUE")]
    pub spoil: Vec<String>,
    #[command(flatten)]
    pub answer: Answer,
    #[command(flatten)]
    pub folder: SummaryFolder,
    #[command(flatten)]
    pub progress: Bar,
}

impl Action for Validate {
    fn execute(self) -> Result<Exit, Diagnostics> {
        let output =
            Output::open(self.folder.out.as_deref(), Wanted::default(), &[], |_| Vec::new())?;
        let spec =
            ValidateSpec { quick: self.quick, only: self.only.clone(), spoil: self.spoil.clone() };
        let bar = progress::Requests::new(self.progress.quiet);
        let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
        let validated = validate(&spec, control);
        bar.clear();
        let validation = validated?;
        let json = format!("{:#}\n", validation.json());
        output.summary(&json)?;
        output.list("validate", [])?;
        if self.answer.json {
            console::print(&json);
            output.note_opens();
        } else {
            console::print(&(report(&validation) + &output.opens()));
        }
        Ok(match (validation.failed(), validation.complete) {
            (0, true) => Exit::Done,
            (0, false) => Exit::Stopped,
            _ => Exit::Fault,
        })
    }
}

fn report(validation: &Validation) -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let rows: Vec<&Row> = validation.rows.iter().filter(|row| row.group == group).collect();
        if rows.is_empty() {
            continue;
        }
        let about = console::fitted(&format!("{}: {}", group.name(), group.about()), 4);
        writeln!(text, "{about}\n").expect("text grows");
        text.push_str(&table(&rows));
        text.push('\n');
    }
    let (all, failed) = (validation.rows.len(), validation.failed());
    let requests = validation.rows.iter().map(|row| row.requests).max().unwrap_or(0);
    let agree = counted_as(
        (all - failed) as u64,
        "expectation agrees with theory",
        "expectations agree with theory",
    );
    let mut end = String::new();
    writeln!(
        end,
        "{agree}, {} {}; up to {} requests for one",
        whole(failed as u64),
        if failed == 1 { "does not" } else { "do not" },
        whole(requests)
    )
    .expect("text grows");
    if !validation.spec.spoil.is_empty() {
        let spoil = validation.spec.spoil.join(", ");
        writeln!(end, "note      the drives were spoiled: {spoil}").expect("text grows");
    }
    if !validation.complete {
        end.push_str(
            "interrupted: stopped by the user; the remaining expectations were not tested\n",
        );
    }
    text + &console::fitted(&end, 10)
}

fn table(rows: &[&Row]) -> String {
    let heads = ["expectation", "theory", "measured", "95 % +-", "deviation", "allowed", "verdict"];
    let mut grid = Grid::new(heads.map(String::from).to_vec()).spare([3, 5]);
    for row in rows {
        let unit = if row.unit.is_empty() { String::new() } else { format!(" ({})", row.unit) };
        grid.row(vec![
            format!("{}{unit}", row.what),
            real(row.theory),
            real(row.measured),
            row.half_width
                .filter(|_| row.measured != 0.0)
                .map_or(NOTHING.into(), |half| off(half / row.measured)),
            signed(row.deviation()),
            allowed(row),
            if row.agrees() { "agrees" } else { "FAILS" }.into(),
        ]);
    }
    grid.text()
}

/// Formats a deviation from theory as a percentage without a sign.
fn off(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn signed(share: f64) -> String {
    if share.abs() < 1e-9 {
        return "0 %".into();
    }
    if share.abs() < 5e-5 { "<0.01 %".into() } else { format!("{:+.2} %", 100.0 * share) }
}

fn allowed(row: &Row) -> String {
    let (low, high) = (row.allowed.low, row.allowed.high);
    match (low, high) {
        _ if high - low < 1e-8 => "exact".into(),
        _ if low < -0.9 && high == 0.0 => "at most".into(),
        _ if low == -high => format!("+-{:.0} %", 100.0 * high),
        _ => format!("{:.2} to {:.0} %", 100.0 * low, 100.0 * high),
    }
}
