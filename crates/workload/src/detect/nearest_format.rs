//! Messages for a text that no format fits: the nearest format, why it does not fit, and a list of
//! columns that would decode the text.

use super::header::records;
use super::{Undetected, accounted, claimable};
use crate::csv::{CsvColumn, Parting};
use crate::recognition::column_guess;
use crate::recognition::header::{DATES_IN_WORDS, fields, is_date_in_words, lacks_time};
use crate::recognition::jq;
use crate::recognition::plausibility::Rules;
use crate::recognition::time_unit;
use crate::{CsvColumns, Format, decode_line};
use fowler_units::{HostIo, printable};

/// Returns the error for lines that no format fits. `rejected` is a format that decodes the lines,
/// with the rule that they break.
pub(super) fn undetected(lines: &[&[u8]], rejected: Option<(Format, String)>) -> Undetected {
    let first_line = lines.first().map_or_else(String::new, printable);
    let own = || rejected.as_ref().and_then(|(format, _)| in_other_unit(*format, lines));
    // The name of the file may show a format whose rules the text breaks.
    let named = || {
        let (format, _) = rejected.as_ref()?;
        Some(format!("to read the file as a trace all the same, use --format {format}"))
    };
    let otherwise = own().or_else(|| match (named(), proposed(lines)) {
        (Some(named), Some(proposed)) => Some(format!("{named}; if not, {proposed}")),
        (named, proposed) => named.or(proposed),
    });
    let nearest = rejected.or_else(|| nearest(lines));
    Undetected { candidates: Vec::new(), first_line, nearest, otherwise }
}

/// Proposes a column list for a format that would fit if its dates were in another unit.
fn in_other_unit(format: Format, lines: &[&[u8]]) -> Option<String> {
    let own = CsvColumns::parse(format.as_columns()?).ok()?;
    let is_time = |column: &CsvColumn| matches!(column, CsvColumn::Time { .. });
    let time = own.columns().iter().position(is_time)?;
    let times: Vec<&[u8]> =
        lines.iter().filter_map(|line| fields(line, own.parting()).get(time).copied()).collect();
    let digits = time_unit::by_values(times.iter().copied()).dates()?;
    let columns = own.with(|column| is_time(&column).then_some(CsvColumn::Time { digits }));
    let columns = columns?.behind_header(false);
    let all_read = records(&columns, lines).len() == lines.len();
    all_read.then(|| {
        format!(
            "--columns {columns} reads the file as `{format}`, with times in the unit that ts names"
        )
    })
}

/// Returns the format that decodes the most columns, and the fault of the first line that it
/// rejects.
fn nearest(lines: &[&[u8]]) -> Option<(Format, String)> {
    let formats = || {
        claimable().chain(Format::ALL.iter().copied().filter(|format| format.header().is_some()))
    };
    let far = |format: &Format| {
        let progress = lines.iter().take(16).map(|line| progress(*format, line)).max();
        // A format that requires a header counts as less near: the header is missing as well.
        let less = if format.header().is_some() { 2 } else { 1 };
        (accounted(*format, lines), progress.unwrap_or(0) / less)
    };
    // Among formats that fit equally well, the first in the list is named.
    let best = formats().rev_by(far)?;
    let fault = lines.iter().find_map(|line| {
        let fault = decode_line(best, line).err()?;
        (fault.cause != crate::Cause::OtherEvent).then(|| fault.diagnostic())
    });
    let why = match (fault, best.header()) {
        (Some(fault), _) => fault.what,
        (None, Some(header)) => format!("a file in this format has the first line `{header}`"),
        (None, None) => "none of these lines is a request".to_string(),
    };
    Some((best, why))
}

/// Extension of iterators over trace formats: selects the format with the highest score, which the
/// caller computes; of equals, the first.
trait Best: Iterator<Item = Format> + Sized {
    fn rev_by<K: Ord>(self, key: impl Fn(&Format) -> K) -> Option<Format> {
        let all: Vec<Format> = self.collect();
        all.into_iter().rev().max_by_key(key)
    }
}

impl<I: Iterator<Item = Format>> Best for I {}

/// Returns the share of a format's columns that a line has before its first faulty one, in percent.
fn progress(format: Format, line: &[u8]) -> usize {
    let commas = format.columns().contains(',');
    let mark = if commas { ',' } else { ' ' };
    let names: Vec<&str> =
        format.columns().split(['[', ']']).flat_map(|it| it.split(mark)).collect();
    if format == Format::JsonLines && !line.starts_with(b"{") {
        return 0;
    }
    let has_mark = line.contains(&(mark as u8)) || format == Format::JsonLines;
    if !has_mark {
        return 0;
    }
    match decode_line(format, line) {
        Ok(_) => 100,
        Err(fault) if fault.column.is_empty() => 90,
        Err(fault) => {
            let at = names.iter().position(|name| name.trim() == fault.column).unwrap_or(0);
            100 * at / names.len().max(1)
        }
    }
}

/// Returns advice to describe the columns with `--columns`, with a proposal if the values suggest
/// one.
pub(super) fn described(lines: &[&[u8]]) -> String {
    of_values(lines).unwrap_or_else(|| {
        "describe its columns, such as --columns ts=us,op=rw,lba=512,len=bytes, or say its format \
         with --format"
            .to_string()
    })
}

/// Proposes a column list for a trace that no format fits, by the values of its first lines, if it
/// would decode most of them.
fn proposed(lines: &[&[u8]]) -> Option<String> {
    if let Some(mark) = other_mark(lines) {
        // If there are commas within numbers, semicolons separate the columns.
        let has_commas = lines.iter().any(|line| line.contains(&b','));
        let change = match has_commas {
            true => format!("sed 's/,/./g; s/{mark}/,/g'"),
            false => format!("tr '{mark}' ,"),
        };
        return Some(format!(
            "columns are parted by `{mark}`: change that to commas ({change}) and try again, or \
             describe them then with --columns"
        ));
    }
    if let Some(text) = jq::proposed(lines) {
        return Some(text);
    }
    if let Some(text) = parted_otherwise(lines) {
        return Some(text);
    }
    if let Some(at) = dates_in_words(lines) {
        return Some(format!(
            "column {at} is a date or time in words, not a number: {DATES_IN_WORDS}, then read the \
             file with a list of its columns: --columns ts=s,..."
        ));
    }
    if lines.first().is_some_and(|line| lacks_time(line)) {
        let what = "the header names an operation, an address and a size, but no time: record when \
                    each request arrived, too (`nsecs` in bpftrace)";
        return Some(what.to_string());
    }
    of_values(lines)
}

/// Proposes a column list for a trace by the values of its first lines alone, if it would decode at
/// least 90 % of them.
fn of_values(lines: &[&[u8]]) -> Option<String> {
    let found = column_guess::columns(lines)?;
    let header = usize::from(found.columns.header);
    let behind = &lines[header..];
    if records(&found.columns, behind).len() * 10 < behind.len() * 9 {
        return None;
    }
    let open = if found.open.is_empty() {
        String::new()
    } else {
        format!("; the values in the file do not show {}", found.open.join(", and "))
    };
    Some(format!("--columns {} would read the file{open}", found.columns))
}

/// Proposes the column list of a known format, with blanks instead of commas or commas instead of
/// blanks as separators, if this decodes all first lines of the trace and no other format's list
/// does.
fn parted_otherwise(lines: &[&[u8]]) -> Option<String> {
    let mut all = Format::ALL.iter().filter_map(|&format| {
        let columns = CsvColumns::parse(format.as_columns()?).ok()?.parted_otherwise();
        let columns = columns.behind_header(false);
        let found = records(&columns, lines);
        let sample: Vec<(u64, HostIo)> = found.iter().map(|it| (it.device, it.io)).collect();
        let rules = format.rules();
        // Splitting at blanks hides any blank after a comma, so that rule cannot be checked.
        let rules = Rules { blank_after_comma: false, ..rules };
        let fits = found.len() == lines.len() && rules.objection(lines, &sample).is_none();
        fits.then_some((format, columns))
    });
    let (format, columns) = all.next()?;
    let is_only = all.all(|(_, other)| other == columns);
    let mark = columns.parting().words();
    is_only.then(|| {
        format!("--columns {columns} reads the file as `{format}` with {mark} between columns")
    })
}

/// Returns the number of the first column, counted from 1, that is a date in words on every line.
fn dates_in_words(lines: &[&[u8]]) -> Option<usize> {
    let rows: Vec<Vec<&[u8]>> = lines.iter().map(|line| fields(line, Parting::Commas)).collect();
    let behind = if rows.len() > 1 { &rows[1..] } else { &rows[..] };
    let is_date =
        |at: &usize| behind.iter().all(|row| row.get(*at).is_some_and(|it| is_date_in_words(it)));
    let width = rows.first()?.len();
    (0..width).find(is_date).filter(|_| width >= 4).map(|at| at + 1)
}

/// Returns a semicolon or vertical bar if it separates the columns of all lines.
fn other_mark(lines: &[&[u8]]) -> Option<char> {
    [b';', b'|'].into_iter().find_map(|mark| {
        let parts = |line: &[u8]| line.iter().filter(|&&byte| byte == mark).count() >= 3;
        (!lines.is_empty() && lines.iter().all(|line| parts(line))).then_some(mark as char)
    })
}
