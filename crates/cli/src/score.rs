//! `fowler score`: a drive against measurements of a real one.

use crate::args::{Effort, Score as Arguments};
use crate::output::{Output, Wanted};
use crate::{Exit, console, pages, progress, sheets, signals};
use fowler_drives::measured::Filter;
use fowler_drives::protocol::Effort as HowMuch;
use fowler_drives::score::{self, Score, ScoreSpec};
use fowler_experiment::atomic_file::{AtomicFile, Named, clashes, unwritable, writable};
use fowler_experiment::device::DeviceSpec;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, escaped};
use fowler_experiment::numbers::{counted, percent, whole};
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::workload::Control;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let effort = diagnostics.take(effort(&arguments.effort));
    let filters = diagnostics.take(filters(&arguments.rows));
    let inputs = inputs(&arguments.drive, &arguments.measured);
    let json_file = arguments.json.clone().flatten();
    if let Some(file) = &json_file {
        let clash = clashes(&inputs, &[("--json".to_string(), file.clone())]);
        diagnostics.0.extend(clash.0);
        diagnostics.take(writable(file));
    }
    let wanted = Wanted { pictures: true, ..Wanted::default() };
    let output = Output::open(arguments.out.as_deref(), wanted, &inputs, |_| Vec::new());
    let output = diagnostics.take(output);
    diagnostics.or(())?;
    let (Some(effort), Some(filters), Some(output)) = (effort, filters, output) else {
        return Ok(Exit::Fault);
    };
    let spec = ScoreSpec {
        drive: drive(&arguments.drive, &arguments.set, arguments.seed),
        scheme: arguments.scheme.clone(),
        files: arguments.measured.clone(),
        filters,
        effort,
    };
    let bar = progress::Requests::new(arguments.quiet);
    let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
    let scored = score::score(&spec, control);
    bar.clear();
    let scored = match scored {
        Err(_) if control.stopped() => {
            console::note("stopped before the first row was done");
            return Ok(Exit::Stopped);
        }
        scored => scored?,
    };
    let json = format!("{:#}\n", scored.json());
    output.summary(&json)?;
    if let Some(file) = &json_file {
        write(file, &json)?;
    }
    let written =
        arguments.out.as_deref().map(|folder| pages::score(&scored, folder)).transpose()?;
    // A bare --json is for a program that reads standard output.
    let machine = matches!(arguments.json, Some(None));
    console::print(&if machine { json } else { report(&scored) });
    if let (Some((files, warnings)), Some(folder)) = (written, &arguments.out) {
        output.list("score", files.iter().map(|file| folder.join(file)))?;
        warnings.iter().for_each(|warning| console::note(&format!("note: {warning}")));
        if let Some(page) = pages::PAGE {
            console::note_opens(&folder.join(page));
        }
    }
    if !scored.complete {
        console::note("stopped: rows that were not done are missing");
        return Ok(Exit::Stopped);
    }
    Ok(Exit::Done)
}

fn report(scored: &Score) -> String {
    let mut text = String::new();
    for sheet in scored.sheets() {
        text += &sheets::text(&sheet);
        text.push('\n');
    }
    for (row, why) in &scored.refused {
        let line = format!("not simulated: {}: {}\n", escaped(row), escaped(why));
        text += &console::fitted(&line, 4);
    }
    if let Some(model) = &scored.of_another {
        let line = format!(
            "note: the drive was fitted to {}, and no file has that model: it is compared with others\n",
            escaped(model)
        );
        text += &console::fitted(&line, 4);
    }
    let mut reasons: Vec<String> = Vec::new();
    for (key, why) in scored.rows.iter().flat_map(|row| &row.left_out) {
        let line = format!("left out: {}: {why}\n", escaped(key));
        if !reasons.contains(&line) {
            reasons.push(line);
        }
    }
    text.extend(reasons.iter().map(|line| console::fitted(line, 4)));
    let requests: u64 = scored.rows.iter().map(|row| row.requests).sum();
    text += &format!("{}, {} requests", counted(scored.rows.len() as u64, "row"), whole(requests));
    for (fitted, word) in [(true, "fitted"), (false, "predicted")] {
        if let Some(off) = scored.median_off(fitted) {
            let count = scored.metrics().filter(|metric| metric.used_in_fit == fitted).count();
            let numbers = counted(count as u64, "number");
            text += &format!("; {numbers} {word}, off by {} in the median", percent(off));
        }
    }
    text.push('\n');
    text
}

/// The drive that is named.
pub(crate) fn drive(name: &str, set: &[String], seed: Option<u64>) -> DeviceSpec {
    DeviceSpec { device: name.into(), set: set.to_vec(), seed, ..DeviceSpec::default() }
}

/// The files that are read.
pub(crate) fn inputs(drive: &str, measured: &[PathBuf]) -> Vec<Named> {
    let drive = presets::file(Folder::Devices, drive);
    let drive = drive.map(|path| ("DRIVE".to_string(), path.to_path_buf()));
    let measured = measured.iter().map(|path| ("MEASURED.json".to_string(), path.clone()));
    drive.into_iter().chain(measured).collect()
}

/// The rows that are wanted.
pub(crate) fn filters(rows: &[String]) -> Result<Vec<Filter>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let filters: Vec<Filter> =
        rows.iter().filter_map(|text| diagnostics.take(Filter::parse(text))).collect();
    diagnostics.or(filters)
}

/// How much is simulated.
pub(crate) fn effort(arguments: &Effort) -> Result<HowMuch, Diagnostics> {
    let effort = if arguments.brief { HowMuch::BRIEF } else { HowMuch::FULL };
    let effort = HowMuch { longer: arguments.longer.into(), ..effort };
    let Some(text) = &arguments.capacity else { return Ok(effort) };
    let capacity = text.parse().map_err(|error: fowler_experiment::QuantityError| {
        Diagnostic::new("--capacity", error.reason).expected(error.expected)
    })?;
    Ok(HowMuch { blocks: capacity, tail: capacity, ..effort })
}

/// Writes a file that appears only when complete.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Diagnostics> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| unwritable(path, &error))?;
    file.finish()
}
