//! Detects formats by column names in the first line, for formats that require no header.

use super::{Detected, Undetected, accounted, decoded, is_remark, nearest_format};
use crate::context::Context;
use crate::csv::{CsvColumn, Parting};
use crate::decode::decode_among;
use crate::formats::csv::Csv;
use crate::number::unsigned;
use crate::recognition::header::{ByNames, by_names, fields, is_header};
use crate::recognition::roles::role;
use crate::{Cause, CsvColumns, Format, Record};
use fowler_units::{HostIo, printable};

/// Detects the format from the names in the first line: a known format with these columns, or a
/// CSV. `None` if the first line is no header.
pub(super) fn read(lines: &[&[u8]]) -> Option<Result<Detected, Undetected>> {
    let (&first, rest) = lines.split_first()?;
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    let names = by_names(first, rest);
    let own = format_of(first, names.as_ref());
    let in_own = own.map(|format| in_format(format, first, rest));
    if let Some(Ok(found)) = in_own {
        return Some(Ok(found));
    }
    // A text that breaks the rules of the format may still be a CSV whose header names its columns.
    let Some(names) = names else { return in_own };
    let (ByNames::Complete(columns) | ByNames::Open(columns, _)) = &names;
    let readable = 2 * records(columns, rest).len() >= rest.len();
    match names {
        ByNames::Complete(columns) if readable => Some(Ok(named(columns, first, rest))),
        ByNames::Complete(_) if in_own.is_some() => in_own,
        ByNames::Complete(columns) => Some(Err(unreadable(&columns, lines))),
        ByNames::Open(..) if in_own.is_some() => in_own,
        ByNames::Open(columns, open) => {
            let mut undetected = nearest_format::undetected(lines, None);
            let order = Format::ALL.iter().find(|format| could_name_columns_of(**format, first));
            let or_format = order.map_or(String::new(), |format| {
                format!("; if it is format `{format}`, say so: --format {format}")
            });
            let why = "the column names in the header leave units open".to_string();
            undetected.nearest = Some((Format::Csv, why));
            undetected.otherwise = Some(format!(
                "the header names the columns, but does not show {}: --columns \
                    {columns}{or_format}",
                open.join(", and ")
            ));
            Some(Err(undetected))
        }
    }
}

/// Returns the error for lines of a trace that do not have the columns which the trace's header
/// names.
fn unreadable(columns: &CsvColumns, lines: &[&[u8]]) -> Undetected {
    let mut context = context_of(columns);
    let wrong = lines.iter().skip(1).find_map(|line| {
        let fault = decode_among::<Csv>(line, &mut context).err()?;
        (fault.cause != Cause::OtherEvent).then(|| (printable(line), fault.diagnostic().what))
    });
    let mut undetected = nearest_format::undetected(lines, None);
    if let Some((line, what)) = wrong {
        undetected.first_line = line;
        undetected.nearest = Some((Format::Csv, what));
        undetected.otherwise = Some(format!(
            "the header names the columns, but more than half of the first lines do not fit: \
                correct the lines, or describe the columns: --columns {columns}"
        ));
    }
    undetected
}

/// Returns the format whose columns a header names: by the names in the format's documentation, or
/// by other names that leave no unit open.
fn format_of(header: &[u8], names: Option<&ByNames>) -> Option<Format> {
    let is_own = |format: &Format| has_own_names(*format, header);
    let formats = || Format::ALL.iter().copied();
    formats().find(is_own).or_else(|| match names? {
        ByNames::Complete(columns) => formats().find(|format| are_columns_of(*format, columns)),
        ByNames::Open(..) => None,
    })
}

/// Returns the detected format of a CSV trace whose header names the columns, with the columns and
/// remarks. `rest` are the lines after the header.
fn named(columns: CsvColumns, header: &[u8], rest: &[&[u8]]) -> Detected {
    let skipped = skipped(&columns, header, rest);
    let but = if skipped.is_empty() {
        String::new()
    } else {
        format!("; not read: {}", skipped.join(", "))
    };
    let notes = vec![format!(
        "columns were recognized by their names in the header: --columns {columns}{but}"
    )];
    Detected { format: Format::Csv, columns: Some(columns), header: false, notes }
}

/// Detects the columns of a text that no format fits from the names in the comment before its first
/// line, if they leave no unit open.
pub(super) fn in_comment(text: &[u8], lines: &[&[u8]]) -> Option<Detected> {
    let comments = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let comments = comments.take_while(|line| is_remark(line));
    let comment = comments.filter(|line| !line.is_empty()).last()?;
    let names = comment.strip_prefix(b"#")?.trim_ascii();
    let ByNames::Complete(columns) = by_names(names, lines)? else { return None };
    let columns = columns.behind_header(false);
    let all_read = records(&columns, lines).len() == lines.len();
    all_read.then(|| named(columns, names, lines))
}

/// Returns the names in a header if they could be columns of a comma-separated format without a
/// header row: someone may have added the header.
fn names_for(format: Format, header: &[u8]) -> Option<Vec<&[u8]>> {
    let own = names_of(format)?;
    if !is_header(header, Parting::Commas) {
        return None;
    }
    let found = fields(header, Parting::Commas);
    let may_have_more = format.columns().contains('[');
    let as_many = own.len() == found.len() || may_have_more && own.len() < found.len();
    as_many.then_some(found)
}

/// Returns the column names of a format, if it is comma-separated and has no header row.
fn names_of(format: Format) -> Option<Vec<&'static [u8]>> {
    let own = format.columns().split('[').next().unwrap_or_default().as_bytes();
    let has_no_header = format.header().is_none() && own.contains(&b',');
    has_no_header.then(|| fields(own, Parting::Commas))
}

/// Returns true if a header has the names of a format's documentation.
fn has_own_names(format: Format, header: &[u8]) -> bool {
    let dense = |name: &[u8]| -> Vec<u8> {
        let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
        letters.map(u8::to_ascii_lowercase).collect()
    };
    let (own, found) = (names_of(format), names_for(format, header));
    own.zip(found).is_some_and(|(own, found)| {
        own.iter().zip(&found).all(|(own, found)| dense(own) == dense(found))
    })
}

/// Returns true if the columns that a header names are those of a format without a header row.
fn are_columns_of(format: Format, columns: &CsvColumns) -> bool {
    let own = format.as_columns().and_then(|text| CsvColumns::parse(text).ok());
    let own = own.filter(|_| names_of(format).is_some() && columns.parting() == Parting::Commas);
    own.is_some_and(|own| {
        let (own_ones, found) = (own.columns(), columns.columns());
        let as_many = own_ones.len() == found.len() || own.more() && own_ones.len() < found.len();
        as_many && own_ones.iter().zip(found).all(|(own, found)| own == found)
    })
}

/// Returns true if the first line of a trace is a header that names the columns of `format` in
/// their order, with its units where the names state units. Such a header is skipped if the user
/// chose the format.
pub(super) fn could_name_columns_of(format: Format, header: &[u8]) -> bool {
    let columns = format.as_columns().and_then(|text| CsvColumns::parse(text).ok());
    let in_order = |names: Vec<&[u8]>, columns: CsvColumns| {
        columns.columns().iter().zip(&names).all(|(column, name)| column.is(role(name)))
    };
    let names = names_for(format, header);
    has_own_names(format, header)
        || names.zip(columns).is_some_and(|(names, columns)| in_order(names, columns))
}

/// Returns `format` as the detected format of a trace whose first line is a header; an error if the
/// trace breaks the rules of the format.
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
        broken => Err(nearest_format::undetected(rest, broken.map(|why| (format, why)))),
    }
}

/// Returns the names of the columns of a CSV that are not read. A column without a name is given by
/// its number, with a remark if it only counts the lines `rest` after the header.
fn skipped(columns: &CsvColumns, header: &[u8], rest: &[&[u8]]) -> Vec<String> {
    let names = fields(header, columns.parting());
    let all = columns.columns().iter().zip(names).enumerate();
    let unread = all.filter(|(_, (column, _))| **column == CsvColumn::Skipped);
    let in_words = |(index, (_, name)): (usize, (_, &[u8]))| match name {
        b"" if is_index(index, columns, rest) => {
            format!("column {} (without a name; its values number the lines)", index + 1)
        }
        b"" => format!("column {} (without a name)", index + 1),
        name => format!("`{}`", printable(name)),
    };
    unread.map(in_words).take(8).collect()
}

/// Returns true if a column numbers the lines consecutively, from 0 or 1.
fn is_index(column: usize, columns: &CsvColumns, rest: &[&[u8]]) -> bool {
    let number = |line: &&[u8]| {
        let fields = fields(line, columns.parting());
        unsigned(fields.get(column)?).ok()
    };
    let numbers: Option<Vec<u64>> = rest.iter().map(number).collect();
    numbers.is_some_and(|all| {
        all.first().is_some_and(|&first| first <= 1)
            && all.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1))
    })
}

/// Returns the decoder state for reading lines of a CSV trace with the given columns and no header.
fn context_of(columns: &CsvColumns) -> Context {
    Context { csv: Some(columns.clone().behind_header(false)), ..Context::default() }
}

/// Returns the records decoded from lines with these columns and no header.
pub(super) fn records(columns: &CsvColumns, lines: &[&[u8]]) -> Vec<Record> {
    let mut context = context_of(columns);
    let mut all = Vec::new();
    for line in lines {
        all.extend(decode_among::<Csv>(line, &mut context).ok().map(|decoded| decoded.record));
    }
    all
}
