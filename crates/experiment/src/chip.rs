//! Runs raw flash commands on one die: CSV in, CSV out.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::text_file;
use fowler_device::{ChipCommand, ChipOp, Config, run_chip};
use fowler_units::Nanos;
use fowler_workload::LATEST;
use std::fmt::Write;
use std::path::Path;

/// Largest accepted file of flash commands, in bytes: several million commands.
const MAX_BYTES: u64 = 64 << 20;
const HEADER: &str = "at_ns,op";
/// Invalid lines of a command file that are reported one by one; the rest are only counted.
const SHOWN: usize = 20;
const OPS: [(&str, ChipOp); 4] = [
    ("read", ChipOp::Read),
    ("write", ChipOp::Write),
    ("program", ChipOp::Program),
    ("erase", ChipOp::Erase),
];

/// The flash commands that `fowler chip` runs on one die, in the order of their file.
#[derive(Clone, Debug)]
pub struct Commands(Vec<ChipCommand>);

/// Reads flash commands from a CSV file with the header `at_ns,op`.
pub fn read(path: &Path) -> Result<Commands, Diagnostics> {
    let name = path.display().to_string();
    text_file::read(path, MAX_BYTES).and_then(|text| parse(&text, &name)).map(Commands)
}

/// Runs flash commands on one die and returns their results as CSV, in the same order.
pub fn chip(config: &Config, Commands(commands): &Commands) -> String {
    let results = run_chip(config, commands);
    let mut csv = String::from("at_ns,op,start_ns,done_ns,suspensions\n");
    for (command, result) in commands.iter().zip(results) {
        let word = OPS.iter().find(|(_, op)| *op == command.op).map_or("", |(word, _)| word);
        let (at, start, done) = (command.at.0, result.start.0, result.done.0);
        writeln!(csv, "{at},{word},{start},{done},{}", result.suspensions).expect("text grows");
    }
    csv
}

fn parse(text: &str, file: &str) -> Result<Vec<ChipCommand>, Diagnostics> {
    let mut commands = Vec::new();
    let mut diagnostics = Diagnostics::default();
    let mut bad = 0;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    match lines.next() {
        Some((_, line)) if line.trim() == HEADER => {}
        first => {
            let (line, text) =
                first.map_or((None, ""), |(index, line)| (Some(index as u64 + 1), line));
            let diagnostic =
                Diagnostic::new(file, "the header is missing").line(line).text(text.trim());
            return Err(diagnostic.expected(HEADER).into());
        }
    }
    for (index, line) in lines {
        match command(line) {
            Ok(command) => commands.push(command),
            Err((what, expected)) => {
                bad += 1;
                if bad <= SHOWN {
                    let diagnostic =
                        Diagnostic::new(file, what).line(Some(index as u64 + 1)).text(line.trim());
                    diagnostics.push(diagnostic.expected(expected));
                }
            }
        }
    }
    if bad > SHOWN {
        diagnostics.push(Diagnostic::new(file, format!("{bad} bad lines in total")));
    }
    if bad == 0 && commands.is_empty() {
        diagnostics.push(Diagnostic::new(file, "the file has no commands"));
    }
    diagnostics.or(commands)
}

fn command(line: &str) -> Result<ChipCommand, (String, &'static str)> {
    const OP_WORDS: &str = "one of read, write, program, erase";
    let (at, op) = line.split_once(',').ok_or(("too few columns".to_string(), HEADER))?;
    let (at, op) = (at.trim(), op.trim());
    if op.contains(',') {
        return Err(("too many columns".into(), HEADER));
    }
    let digits = !at.is_empty() && at.bytes().all(|byte| byte.is_ascii_digit());
    let at = at.parse().ok().map(Nanos).filter(|&at| digits && at <= LATEST).ok_or_else(|| {
        (
            format!("`{}` is not a time", crate::diagnostic::printable(at)),
            "a whole number of nanoseconds, up to 292 years",
        )
    })?;
    let (_, op) = OPS.iter().find(|(word, _)| *word == op).ok_or_else(|| {
        (format!("unknown operation `{}`", crate::diagnostic::printable(op)), OP_WORDS)
    })?;
    Ok(ChipCommand { at, op: *op })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_wrong_is_said_at_once() {
        let text = "at_ns,op\n0,read\n-1,read\n5\n\n7,sense\n1,2,3\n99999999999999999999,read\n";
        let diagnostics = parse(text, "c.csv").unwrap_err();
        let lines: Vec<_> =
            diagnostics.0.iter().map(|diagnostic| diagnostic.line.unwrap()).collect();
        assert_eq!(lines, [3, 4, 6, 7, 8]);
        assert!(diagnostics.to_string().contains("unknown operation `sense`"));
    }

    #[test]
    fn nothing_to_do_is_an_error() {
        assert!(parse("", "c.csv").is_err());
        assert!(parse("at_ns,op\n", "c.csv").is_err());
        assert!(parse("0,read\n", "c.csv").unwrap_err().to_string().contains("header"));
    }
}
