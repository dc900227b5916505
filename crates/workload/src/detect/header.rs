//! Files whose first line names the columns, though no format asks for it.

use super::{Detected, Undetected, accounted, decoded, is_remark, nearest};
use crate::context::Context;
use crate::csv::CsvColumn;
use crate::decode::decode_among;
use crate::formats::csv::Csv;
use crate::recognition::header::{ByNames, by_names, fields, is_header};
use crate::recognition::roles::role;
use crate::{CsvColumns, Format, Record};
use fowler_units::{HostIo, printable};

/// Reads a text by the names in its first line: in the format whose columns they are, or column by
/// column. `None` if the first line is no header.
pub(super) fn read(lines: &[&[u8]]) -> Option<Result<Detected, Undetected>> {
    let (&first, rest) = lines.split_first()?;
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii();
    let own = Format::ALL.iter().copied().find(|format| names_columns_of(*format, first));
    let in_own = own.map(|format| in_format(format, first, rest));
    if let Some(Ok(found)) = in_own {
        return Some(Ok(found));
    }
    // What breaks the rules of the format may still be what its names say.
    let Some(names) = by_names(first, rest) else { return in_own };
    let (ByNames::Complete(columns) | ByNames::Open(columns, _)) = &names;
    let readable = 2 * records(columns, rest).len() >= rest.len();
    match names {
        ByNames::Complete(columns) if readable => Some(Ok(named(columns, first))),
        ByNames::Complete(_) => in_own,
        ByNames::Open(..) if in_own.is_some() => in_own,
        ByNames::Open(columns, open) => {
            let mut undetected = nearest::undetected(lines, None);
            undetected.otherwise = Some(format!(
                "the header names the columns; what it leaves open is {}: --columns {columns}",
                open.join(", and ")
            ));
            Some(Err(undetected))
        }
    }
}

/// Returns a CSV whose columns a header names.
fn named(columns: CsvColumns, header: &[u8]) -> Detected {
    let skipped = skipped(&columns, header);
    let but = if skipped.is_empty() {
        String::new()
    } else {
        format!("; not read: {}", skipped.join(", "))
    };
    let notes = vec![format!("columns by the names of the header: --columns {columns}{but}")];
    Detected { format: Format::Csv, columns: Some(columns), header: false, notes }
}

/// Reads a text that no format fits by the names in the comment before its first line, if that
/// leaves nothing open.
pub(super) fn in_comment(text: &[u8], lines: &[&[u8]]) -> Option<Detected> {
    let comments = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let comments = comments.take_while(|line| is_remark(line));
    let comment = comments.filter(|line| !line.is_empty()).last()?;
    let names = comment.strip_prefix(b"#")?.trim_ascii();
    let ByNames::Complete(columns) = by_names(names, lines)? else { return None };
    let columns = columns.behind_header(false);
    let all_read = records(&columns, lines).len() == lines.len();
    all_read.then(|| named(columns, names))
}

/// Whether a line names the columns of a format whose files have commas and no header row: by the
/// names of its documentation, or by others that say the same. Someone put it there.
pub(super) fn names_columns_of(format: Format, line: &[u8]) -> bool {
    let own = format.columns().split('[').next().unwrap_or_default().as_bytes();
    if format.header().is_some() || !own.contains(&b',') || !is_header(line, true) {
        return false;
    }
    let (own, found) = (fields(own, true), fields(line, true));
    let may_have_more = format.columns().contains('[');
    if own.len() != found.len() && !(may_have_more && own.len() < found.len()) {
        return false;
    }
    let dense = |name: &[u8]| -> Vec<u8> {
        let kept = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
        kept.map(u8::to_ascii_lowercase).collect()
    };
    let columns = format.as_columns().and_then(|text| CsvColumns::parse(text).ok());
    let says_the_same = |columns: CsvColumns| {
        columns.columns().iter().zip(&found).all(|(column, name)| column.is(role(name)))
    };
    own.iter().zip(&found).all(|(own, found)| dense(own) == dense(found))
        || columns.is_some_and(says_the_same)
}

/// Returns a text in a format, behind a header, unless it breaks the rules of the format.
fn in_format(format: Format, first: &[u8], rest: &[&[u8]]) -> Result<Detected, Undetected> {
    let records = decoded(format, rest);
    let sample: Vec<(u64, HostIo)> = records.iter().map(|it| (it.device, it.io)).collect();
    let broken = format.rules().objection(rest, &sample);
    let fits = 2 * accounted(format, rest) >= rest.len() && !records.is_empty();
    match broken {
        None if fits => {
            let names = printable(first);
            let note = format!("the first line names the columns and was skipped: {names}");
            Ok(Detected { header: true, notes: vec![note], ..Detected::of(format) })
        }
        broken => Err(nearest::undetected(rest, broken.map(|why| (format, why)))),
    }
}

/// Returns the names of the columns that are not read.
fn skipped(columns: &CsvColumns, header: &[u8]) -> Vec<String> {
    let names = fields(header, columns.commas());
    let is_skipped = |(column, _): &(&CsvColumn, _)| **column == CsvColumn::Skipped;
    let all = columns.columns().iter().zip(names);
    all.filter(is_skipped).map(|(_, name)| format!("`{}`", printable(name))).take(8).collect()
}

/// Returns the records that columns make of lines, but for a header.
pub(super) fn records(columns: &CsvColumns, lines: &[&[u8]]) -> Vec<Record> {
    let csv = Some(columns.clone().behind_header(false));
    let mut context = Context { csv, ..Context::default() };
    let mut all = Vec::new();
    for line in lines {
        all.extend(decode_among::<Csv>(line, &mut context).ok().map(|decoded| decoded.record));
    }
    all
}
