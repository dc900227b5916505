//! State of a trace reader between lines: clocks, columns given by the user or a header, and the
//! names of devices.

use crate::csv::CsvColumns;
use crate::etw_columns::EtwColumns;
use crate::recognition::roles::KnownNames;
use crate::recognition::time_unit::TimeUnit;
use std::collections::BTreeMap;

/// Largest number of devices in a trace, which bounds the memory that a malformed file can take.
pub(crate) const MOST_DEVICES: usize = 1 << 16;

/// State of a reader between lines. Each format uses the fields that it needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// The columns of a CSV, as the user gave them or its header names them.
    pub csv: Option<CsvColumns>,
    /// The columns of a Windows event trace (ETW), as its header names them.
    pub etw: EtwColumns,
    /// Keys and units met so far in a trace of JSON lines.
    pub json: JsonKeys,
    /// Running clock of formats whose times are relative to earlier lines, in nanoseconds.
    pub clock: u64,
    /// Time in the line of the trace read last, as the trace states it, in nanoseconds; `None`
    /// before the first line.
    pub last: Option<u64>,
    /// Number of events in the trace on which a note to the user depends: for example, of times
    /// that a traced phone's clock was set.
    pub noted: u64,
    /// Number of columns of the trace's first line; `None` before it was read.
    pub width: Option<usize>,
}

/// Keys met in JSON lines, and the units assumed for keys that name none.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonKeys {
    /// Cache of the JSON keys seen so far and their roles: most lines repeat the keys of earlier
    /// lines.
    pub names: KnownNames,
    /// Unit of the times in JSON lines whose keys name no unit, as a power of ten of a nanosecond,
    /// and whether the first times, as numbers, are dates in some unit; `None` before the first
    /// such time.
    pub time: Option<(usize, TimeUnit)>,
    /// Advice on reading JSON lines in other units than those assumed.
    pub otherwise: Option<String>,
    /// True once an address or a size was read whose key names no unit: 512 B blocks may be meant.
    pub assumes_blocks: bool,
}

impl Context {
    /// Returns true if the next line is the header of a CSV, to be skipped. True at most once.
    pub fn takes_header(&mut self) -> bool {
        self.csv.as_mut().is_some_and(|csv| std::mem::take(&mut csv.header))
    }
}

/// Device names, numbered in order of first appearance.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: BTreeMap<Vec<u8>, u64>,
    /// The last device name and its number: consecutive lines mostly name one device.
    last: Option<(Vec<u8>, u64)>,
}

impl Names {
    /// Returns the number of a device name, adding it if it is new; `None` if there are too many.
    #[inline]
    pub fn number(&mut self, name: &[u8]) -> Option<u64> {
        match &self.last {
            Some((last, number)) if last == name => Some(*number),
            _ => self.look_up(name),
        }
    }

    fn look_up(&mut self, name: &[u8]) -> Option<u64> {
        let next = self.numbers.len();
        let number = match self.numbers.get(name) {
            Some(&number) => number,
            None if next == MOST_DEVICES => return None,
            None => {
                self.numbers.insert(name.to_vec(), next as u64);
                next as u64
            }
        };
        self.last = Some((name.to_vec(), number));
        Some(number)
    }

    /// Returns the names of all devices in the order of their numbers, escaped for printing.
    pub fn all(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.numbers.len()];
        for (name, &number) in &self.numbers {
            names[number as usize] = fowler_units::printable(name);
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_as_they_come() {
        let mut names = Names::default();
        let numbers =
            [&b"sdb"[..], b"sda", b"sda", b"sdb", b"s\x1bc"].map(|name| names.number(name));
        assert_eq!(numbers, [0, 1, 1, 0, 2].map(Some));
        assert_eq!(names.all(), ["sdb", "sda", "s\\u{1b}c"]);
        for number in 3..MOST_DEVICES {
            assert!(names.number(number.to_string().as_bytes()).is_some());
        }
        assert_eq!(names.number(b"one too many"), None);
        assert_eq!(names.number(b"sda"), Some(1));
    }
}
