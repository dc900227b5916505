//! `fowler ask`: four answers about a trace.

use crate::args::Ask as Arguments;
use crate::output::{Output, Wanted};
use crate::{Exit, console, fit, progress, signals};
use fowler_experiment::diagnostic::{Diagnostics, escaped};
use fowler_experiment::workload::{Control, replayable};
use fowler_report::ask::{self, AskSpec, Asked, LongUse};
use fowler_report::verdict;
use std::fmt::Write;
use std::path::Path;

/// Long use as `fowler lifetime` simulates it.
const LONG_USE: LongUse = LongUse {
    why_not: fowler_lifetime::why_not,
    write_amplification: fowler_lifetime::write_amplification,
};

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let options = diagnostics.take(fit::read_options(&arguments.reading));
    diagnostics.take(replayable(&arguments.trace));
    let mut inputs = fit::drive_files(&arguments.drive, &[]);
    inputs.push(("TRACE".into(), arguments.trace.clone()));
    let wanted = Wanted { runs: true, ..Wanted::default() };
    let output = Output::open(arguments.out.as_deref(), wanted, &inputs, |_| Vec::new());
    let output = diagnostics.take(output);
    diagnostics.or(())?;
    let (Some(options), Some(output)) = (options, output) else { return Ok(Exit::Fault) };
    let spec = AskSpec {
        path: arguments.trace.clone(),
        options,
        flags: flags(arguments),
        device: fit::device(&arguments.drive),
        limit: arguments.limit,
        seeds: arguments.seeds,
        detail: output.reports(),
    };
    let bar = progress::Requests::new(arguments.quiet);
    let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
    let asked = ask::ask(&spec, LONG_USE, control);
    bar.clear();
    let asked = match asked {
        Err(_) if control.stopped() => {
            console::note("stopped before there was an answer");
            return Ok(Exit::Stopped);
        }
        asked => asked?,
    };
    let mut json = verdict::comparison_json(&asked.outcomes, asked.spread.as_ref());
    json["ask"] = asked.json();
    output.summary(&format!("{json:#}\n"))?;
    output.report(&asked.outcomes, asked.spread.as_ref())?;
    output.list("ask", [])?;
    if arguments.json {
        console::print(&format!("{:#}\n", asked.json()));
        output.note_opens();
    } else {
        console::print(&(report(&asked) + &output.opens()));
    }
    Ok(Exit::Done)
}

/// The flags that name the trace and the drive in other commands.
fn flags(arguments: &Arguments) -> String {
    let crate::args::Drive { device, set, seed } = &arguments.drive;
    let crate::args::Reading { format, lenient, columns, spread, device_id } = &arguments.reading;
    let trace = if arguments.piped { "-".into() } else { path(&arguments.trace) };
    let mut text = format!("--device {} --trace {trace}", quoted(device));
    for (flag, value) in [
        ("--format", format),
        ("--lenient", lenient),
        ("--columns", columns),
        ("--spread", spread),
        ("--device-id", device_id),
    ] {
        if let Some(value) = value {
            let _grows = write!(text, " {flag} {}", quoted(value));
        }
    }
    for setting in set {
        let _grows = write!(text, " --set {}", quoted(setting));
    }
    if let Some(seed) = seed {
        let _grows = write!(text, " --seed {seed}");
    }
    text
}

fn path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/=:,+@%".contains(c);
    match word.chars().all(plain) && !word.is_empty() {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn report(asked: &Asked) -> String {
    let mut text = String::new();
    for choice in &asked.choices {
        text += &console::fitted(&format!("{:<12}{}\n", choice.of, escaped(&choice.why)), 12);
    }
    for answer in &asked.answers {
        text += &format!("\n{}\n", console::strong(answer.question));
        for (word, what) in
            [("", &answer.text), ("confidence", &answer.confidence), ("next", &answer.next)]
        {
            text += &console::fitted(&format!("{word:<12}{}\n", escaped(what)), 12);
        }
    }
    text
}
