//! The table of the counts of all bouts, and the progress of the soak.

use fowler_experiment::numbers::{seconds, whole};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{IsTerminal, Write, stderr};
use std::time::Instant;

/// Counts, by subject and name.
pub struct Tally {
    counts: BTreeMap<(&'static str, String), u64>,
    begun: Instant,
    end: Instant,
    most: Option<u64>,
    terminal: bool,
}

pub const BOUTS: &str = "bouts";
pub const FAULTS: &str = "faults of drives";
pub const DRIVES: &str = "drives";
pub const DISTURBED: &str = "commands disturbed";
pub const DAMAGED: &str = "damage, by what was done";
pub const FILES: &str = "damage, by file";
pub const AFTER: &str = "afterwards";

/// The subjects, in the order of the table.
const SUBJECTS: [&str; 7] = [BOUTS, FAULTS, DRIVES, DISTURBED, DAMAGED, FILES, AFTER];

impl Tally {
    /// Counts until `end`, or as many bouts.
    pub fn new(end: Instant, most: Option<u64>) -> Tally {
        let terminal = stderr().is_terminal();
        Tally { counts: BTreeMap::new(), begun: Instant::now(), end, most, terminal }
    }

    pub fn add(&mut self, subject: &'static str, name: &str, count: u64) {
        *self.counts.entry((subject, name.into())).or_default() += count;
    }

    fn sum(&self, subject: &str) -> u64 {
        self.counts
            .iter()
            .filter(|((row_subject, _), _)| *row_subject == subject)
            .map(|(_, count)| count)
            .sum()
    }

    pub fn bouts(&self) -> u64 {
        self.sum(BOUTS)
    }

    /// Prints a line, where the terminal shows how far the soak is.
    pub fn print(&self, line: &str) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
        println!("{line}");
    }

    /// Says on a terminal what begins now, and how much is left.
    pub fn begin(&self, seed: u64) {
        if !self.terminal {
            return;
        }
        let left = match self.most {
            Some(most) => format!("{} of {most} bouts", self.bouts()),
            None => {
                let left = self.end.saturating_duration_since(Instant::now()).as_secs();
                format!("{}:{:02} left", left / 60, left % 60)
            }
        };
        let faults = whole(self.sum(FAULTS));
        eprint!("\r\x1b[K{left}, {faults} faults, seed {seed} ...");
        let _unseen = stderr().flush();
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<26} {:<36} {:>12}", "", "", "count")?;
        for subject in SUBJECTS {
            let all = self.counts.iter().filter(|((row_subject, _), _)| *row_subject == subject);
            for (row, ((_, name), count)) in all.enumerate() {
                let head = if row == 0 { subject } else { "" };
                writeln!(f, "{head:<26} {name:<36} {:>12}", whole(*count))?;
            }
        }
        let took = self.begun.elapsed().as_secs_f64();
        let rate = self.sum(FAULTS) as f64 / took.max(1e-3) * 60.0;
        writeln!(f, "\n{}, {} faults a minute", seconds(took), whole(rate as u64))
    }
}
