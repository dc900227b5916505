//! The drive file that a fit writes: every configuration key, and the table `[calibrate]` with the
//! fitted values and the measured numbers.

use super::calibrate_table::{CalibrateTable, with};
use super::intervals::Held;
use super::search::Found;
use fowler_experiment::device_spec::{FITTING, Resolved};
use fowler_experiment::diagnostic::Diagnostics;
use std::fmt::Write;

/// Returns the text of the drive file that a fit writes.
pub(super) fn text(
    drive: &Resolved,
    declared: &CalibrateTable,
    model: &str,
    parameters: &[Held],
    found: &Found,
    seed: u64,
) -> Result<String, Diagnostics> {
    let positions = declared.parameters.iter().zip(&found.positions);
    let set = positions.map(|(parameter, &at)| parameter.setting(at)).collect();
    let drive = with(drive, set)?;
    let word = match found.steps {
        0 => "tried on, not fitted to,",
        _ => "fitted to",
    };
    let mut text = format!(
        "# {} {word} {} numbers of {model}\n#\n# A model of what was measured, no claim about \
         firmware. Everything that is not listed under [{FITTING}] is that of the drive it began from.\n\n",
        drive.device.lines().next().unwrap_or_default(),
        found.terms.len(),
    );
    text += &drive.text;
    let about = format!(
        "{} drives tried, search seed {seed}, {}, root mean square deviation {:.2} of the expected one",
        found.tried,
        match found.steps {
            0 => "no step lowered the distance: no fit".to_string(),
            1 => "1 step of descent".to_string(),
            steps => format!("{steps} steps of descent"),
        },
        libm::sqrt(found.squares() / found.terms.len() as f64)
    );
    let quoted = |text: &str| toml::Value::String(text.into()).to_string();
    let _grows = writeln!(
        text,
        "\n[{FITTING}]\nmodel = {}\nabout = {}\nfitted = [",
        quoted(model),
        quoted(&about)
    );
    for term in &found.terms {
        let ratio = term.simulated.map_or(f64::NAN, |it| it.value / term.measured);
        let _grows =
            writeln!(text, "    {}, # simulated / measured: {ratio:.3}", quoted(&term.name()));
    }
    text += "]\n";
    for held in parameters {
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
    Ok(text)
}
