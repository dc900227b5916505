//! `fowler calibrate`: a few parameters of a drive fitted to measured rows.

use crate::args::Calibrate as Arguments;
use crate::score::{drive, effort, filters, inputs, write};
use crate::table::Grid;
use crate::{Exit, console, progress, signals};
use fowler_drives::fitting::{self, FitSpec, Fitted, Held};
use fowler_experiment::atomic_file::{clashes, writable};
use fowler_experiment::diagnostic::{Diagnostics, escaped};
use fowler_experiment::numbers::{NOTHING, counted, percent, ratio, real};
use fowler_experiment::workload::Control;

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let effort = diagnostics.take(effort(&arguments.effort));
    let filters = diagnostics.take(filters(&arguments.rows));
    let inputs = inputs(&arguments.drive, &arguments.measured);
    let outputs = [("--out".to_string(), arguments.out.clone())];
    diagnostics.0.extend(clashes(&inputs, &outputs).0);
    diagnostics.take(writable(&arguments.out));
    diagnostics.or(())?;
    let (Some(effort), Some(filters)) = (effort, filters) else { return Ok(Exit::Fault) };
    let spec = FitSpec {
        drive: drive(&arguments.drive, &arguments.set, None),
        scheme: arguments.scheme.clone(),
        files: arguments.measured.clone(),
        filters,
        metrics: arguments.metric.clone(),
        effort,
        tries: arguments.tries,
        seed: arguments.seed,
    };
    let bar = progress::Requests::new(arguments.quiet);
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
    write(&arguments.out, &fitted.text)?;
    console::print(&(report(&fitted) + &format!("written: {}\n", arguments.out.display())));
    Ok(Exit::Done)
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
    let heads = ["row", "number", "measured", "simulated", "ratio"];
    let mut grid = Grid::new(heads.map(str::to_string).into()).words(0..2);
    for term in &fitted.terms {
        let simulated = term.simulated.map(|it| it.value);
        grid.row(vec![
            term.place.clone(),
            term.metric.clone(),
            real(term.measured),
            simulated.map_or(NOTHING.into(), real),
            simulated.map_or(NOTHING.into(), |value| ratio(value / term.measured)),
        ]);
    }
    text += &format!("\nfitted to:\n\n{}", grid.text());
    for (row, why) in &fitted.refused {
        let line = format!("not simulated: {}: {}\n", escaped(row), escaped(why));
        text += &console::fitted(&line, 4);
    }
    let tried = counted(fitted.tried as u64, "drive");
    text += &format!(
        "\n{tried} tried; deviations are {} times what is expected of a good model\n",
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
