//! The drive file that a fit writes, in this order:
//!
//! 1. A heading: the model, and how many numbers it was fitted to.
//! 2. Every configuration key, with the fitted values.
//! 3. The table `[calibrate]`: the effort of the fit, the covariance of the parameters, the
//!    measured numbers with the ratio of the simulated ones to them, and each parameter with its
//!    bounds, source and confidence interval.
//! 4. The choices, with the deviation that each option reached.
//!
//! A fit without a step of descent says so in the heading: its drive was tried on the rows, not
//! fitted.

use super::calibrate_table::{CalibrateTable, with};
use super::choice::Tried;
use super::intervals::{self, Held};
use super::off;
use super::search::Found;
use fowler_experiment::device_spec::{FITTING, Resolved};
use fowler_experiment::diagnostic::Diagnostics;
use std::fmt::Write;

/// A fitted drive, as it is written to a file.
pub(super) struct Written<'a> {
    /// Drive with the settings of the options that the fit took, and with the parameter values at
    /// which the fit began.
    pub drive: &'a Resolved,
    pub declared: &'a CalibrateTable,
    pub model: &'a str,
    pub parameters: &'a [Held],
    pub options: &'a [Tried],
    pub found: &'a Found,
    /// Number of drives that the fit simulated, over all options that it compared.
    pub tried: usize,
    /// Seed of the random parameter values that the fit tried first.
    pub seed: u64,
}

impl Written<'_> {
    /// Returns the text of the drive file.
    pub fn text(&self) -> Result<String, Diagnostics> {
        let Written { found, model, declared, .. } = self;
        let positions = declared.parameters.iter().zip(&found.positions);
        let set = positions.map(|(parameter, &at)| parameter.setting(at)).collect();
        let drive = with(self.drive, set)?;
        let word = match found.steps {
            0 => "tried on, not fitted to,",
            _ => "fitted to",
        };
        let mut text = format!(
            "# {} {word} {} measured numbers of {model}\n#\n# A model of the measurements, no claim \
             about firmware. Everything that is not listed under [{FITTING}] is taken from the drive file \
             that the fit began with.\n\n",
            drive.device.lines().next().unwrap_or_default(),
            found.terms.len(),
        );
        text += &drive.text;
        let _grows = write!(
            text,
            "\n[{FITTING}]\nmodel = {}\nabout = {}\n{}fitted = [\n",
            quoted(model),
            quoted(&self.about()),
            spread(found, declared.choices.len()),
        );
        for term in &found.terms {
            let ratio = term.simulated.map_or(f64::NAN, |it| it.value / term.measured);
            let _grows =
                writeln!(text, "    {}, # simulated / measured: {ratio:.3}", quoted(&term.name()));
        }
        text += "]\n";
        for held in self.parameters {
            let (low, high) = &held.interval;
            let (parameter, value) = (&held.parameter, held.value.in_words());
            let _grows = writeln!(
                text,
                "\n[[{FITTING}.parameter]] # fitted: {value}; 95 % interval {} to {}\nkey = {}\nlow = {}\n\
                 high = {}\nsource = {}",
                low.in_words(),
                high.in_words(),
                quoted(&parameter.key),
                parameter.low.print(),
                parameter.high.print(),
                quoted(&parameter.source)
            );
        }
        Ok(text + &self.choices())
    }

    /// Returns the effort of the fit and its result, in words.
    fn about(&self) -> String {
        format!(
            "{} drives tried, search seed {}, {}, root mean square deviation {:.2} of the expected one",
            self.tried,
            self.seed,
            match self.found.steps {
                0 => "no step lowered the distance: no fit".to_string(),
                1 => "1 step of descent".to_string(),
                steps => format!("{steps} steps of descent"),
            },
            off(self.found)
        )
    }

    /// Returns the `[[calibrate.parameter]]` tables of the settings, such as admission rules, whose
    /// options the fit compared. Comments before the tables give, for each option, the root mean
    /// square deviation of the fitted drive, in units of the deviation expected of a good model.
    fn choices(&self) -> String {
        let mut text = String::new();
        if self.options.is_empty() {
            return text;
        }
        text += "\n# Each option was fitted by itself. Root mean square deviations, in expected ones:\n";
        for option in self.options {
            let off = option.off.map_or("no drive".into(), |off| format!("{off:.3}"));
            let settings = option.settings.join(", ");
            let settings = fowler_experiment::diagnostic::escaped(&settings);
            let _grows = writeln!(text, "#   {off}: {settings}");
        }
        for choice in &self.declared.choices {
            let option = |settings: &Vec<String>| {
                let settings: Vec<String> = settings.iter().map(|it| quoted(it)).collect();
                format!("    [{}],\n", settings.join(", "))
            };
            let options: String = choice.options.iter().map(option).collect();
            let _grows = writeln!(
                text,
                "\n[[{FITTING}.parameter]]\noptions = [\n{options}]\nsource = {}",
                quoted(&choice.source)
            );
        }
        text
    }
}

/// Returns the key `spread` of the table: the covariance of the parameters, with four digits.
fn spread(found: &Found, choices: usize) -> String {
    let row = |row: Vec<f64>| {
        let cells: Vec<String> = row.iter().map(|cell| format!("{cell:.3e}")).collect();
        format!("    [{}],\n", cells.join(", "))
    };
    let rows: String = intervals::spread(found, choices).into_iter().map(row).collect();
    format!("spread = [\n{rows}]\n")
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}
