//! Recognizes columns by the names in a header. A header is used only if it leaves nothing open: it
//! names a time, an operation, an address and a size, with units or with names whose unit is
//! unambiguous. A time may also show its unit by being a date. If two columns have the same role
//! and agree, the first is read.

use crate::csv::{CsvColumn, CsvColumns, Parting};
use crate::number::{cuts_digits, time_ns, unsigned};
use crate::op_code::OpCode;
use crate::recognition::roles::{Role, role, says_date};
use crate::recognition::time_unit::{self, TimeUnit, has_decimals};

/// Columns that the header of a CSV names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ByNames {
    /// Complete columns: the header names all that a trace needs, with their units.
    Complete(CsvColumns),
    /// Columns that a CSV trace's header names, some with unknown units, and one question to the
    /// user for each of these.
    Open(CsvColumns, Vec<String>),
}

/// Largest number of columns in a header.
const MOST: usize = 128;
/// Smallest number of columns that a trace's first line must name to count as a header.
const FEWEST: usize = 4;

/// Advice on a trace column whose times are dates in words, for messages.
pub(crate) const DATES_IN_WORDS: &str = "write it in seconds since 1970 with decimals first";

/// Returns the fields of a line, without quotes.
pub(crate) fn fields(line: &[u8], parting: Parting) -> Vec<&[u8]> {
    let line = parting.trimmed(line);
    let parted = |mark: u8| -> Vec<&[u8]> {
        line.split(|&byte| byte == mark).map(<[u8]>::trim_ascii).take(MOST).collect()
    };
    let all = match parting {
        Parting::Commas => parted(b','),
        Parting::Tabs => parted(b'\t'),
        Parting::Blanks => {
            let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            words.take(MOST).collect()
        }
    };
    all.into_iter().map(unquoted).collect()
}

/// Returns a field without the quotes around it.
fn unquoted(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inner @ .., b'"'] => inner,
        field => field,
    }
}

/// Returns the separators that a header may use, the most likely first.
pub(crate) fn partings(header: &[u8]) -> impl Iterator<Item = Parting> {
    let count = |mark: u8| header.iter().filter(|&&byte| byte == mark).count();
    let (tabs, commas) = (count(b'\t'), count(b','));
    let of_tabs = (tabs + 1 >= FEWEST && tabs > commas).then_some(Parting::Tabs);
    let others = if commas > 0 { Parting::Commas } else { Parting::Blanks };
    of_tabs.into_iter().chain([others])
}

/// True if a line may be a header: several names, none of which is a number. One name may be
/// missing, as for an index column.
pub(crate) fn is_header(line: &[u8], parting: Parting) -> bool {
    let names = fields(line, parting);
    let begins = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'@');
    let is_name = |name: &&[u8]| name.first().is_none_or(begins) && !name.contains(&b'"');
    let named = names.iter().filter(|name| !name.is_empty()).count();
    named >= FEWEST && names.iter().all(is_name)
}

/// Returns the columns that `header` names, checked against `lines`, which follow it; `None` if it
/// does not name a time, an operation, an address and a size.
pub(crate) fn by_names(header: &[u8], lines: &[&[u8]]) -> Option<ByNames> {
    partings(header).find_map(|parting| parted_by_names(header, lines, parting))
}

/// Returns the columns that `header` names if `parting` separates them. Most lines must have as
/// many columns.
fn parted_by_names(header: &[u8], lines: &[&[u8]], parting: Parting) -> Option<ByNames> {
    if !is_header(header, parting) || lines.is_empty() {
        return None;
    }
    let names = fields(header, parting);
    let rows: Vec<Vec<&[u8]>> = lines.iter().map(|line| fields(line, parting)).collect();
    let as_wide = rows.iter().filter(|row| row.len() >= names.len()).count();
    if parting == Parting::Tabs && 2 * as_wide < rows.len() {
        return None;
    }
    let columns: Vec<Named> = (0..names.len())
        .map(|index| {
            let values: Vec<&[u8]> =
                rows.iter().filter_map(|row| row.get(index).copied()).collect();
            // `T` is a time to some and the type of a request to others; the values tell.
            let are_ops = values.iter().all(|value| OpCode::Words.meaning(value).is_some());
            let role = match role(names[index]) {
                Some(Role::Time(_)) if are_ops && !values.is_empty() => Some(Role::Op),
                role => role,
            };
            Named { name: names[index], role, values }
        })
        .collect();
    let Chosen { columns, open, seen } = choose(&columns);
    let [time, op, offset, size, _] = seen;
    if op.is_none() || offset.is_none() || size.is_none() || time.is_none() {
        return None;
    }
    let columns = CsvColumns::of_header(columns, parting);
    Some(if open.is_empty() { ByNames::Complete(columns) } else { ByNames::Open(columns, open) })
}

/// A column with its name and the values that the first lines have in it.
pub(crate) struct Named<'a> {
    /// Name of the column in the header of the trace, or key of the values in JSON lines.
    pub name: &'a [u8],
    /// Role of the column (time, operation, address, size or device) that its name suggests; `None`
    /// if it suggests none.
    pub role: Option<Role>,
    /// Values of this column of the trace, line by line.
    pub values: Vec<&'a [u8]>,
}

/// Columns of a trace chosen by their names, and questions that the names and values leave open.
pub(crate) struct Chosen {
    /// Meaning of each column of the trace.
    pub columns: Vec<CsvColumn>,
    /// Open questions, such as a unit that the name of a column does not state.
    pub open: Vec<String>,
    /// Index in `columns` of the column with the time, of that with the operation, the address, the
    /// size and the device, in this order; `None` for each that was not found.
    pub seen: [Option<usize>; 5],
}

/// Position of the device among the roles of columns that are read from a trace: time (0),
/// operation, address, size, device.
const DEVICE: usize = 4;

/// Chooses the columns of a trace that are read, such as time and address, by the columns' names.
pub(crate) fn choose(all: &[Named<'_>]) -> Chosen {
    let skipped = vec![CsvColumn::Skipped; all.len()];
    let mut chosen = Chosen { columns: skipped, open: Vec::new(), seen: [None; 5] };
    for (index, named) in all.iter().enumerate() {
        let Some(role) = named.role else { continue };
        if role == Role::Op && others_are_better(index, all) {
            continue;
        }
        let mut asked = Vec::new();
        let (slot, column) = column(named, role, &mut asked);
        match chosen.seen[slot] {
            None => {
                chosen.open.append(&mut asked);
                chosen.seen[slot] = Some(index);
                chosen.columns[index] = column;
            }
            // A second name, such as that of a file, is ignored.
            Some(_) if slot == DEVICE => {}
            Some(other) => {
                let first = (chosen.columns[other], &all[other].values[..]);
                if !says_the_same(first, (column, &named.values)) {
                    let [one, other] =
                        [&all[other], named].map(|it| fowler_units::printable(it.name));
                    chosen.open.push(format!(
                        "which of the columns `{one}` and `{other}` to read, as their names mean the \
                         same but their values differ"
                    ));
                }
            }
        }
    }
    chosen
}

/// Returns true if the values of the column `index` are no operations, although its name suggests
/// so, while those of another column are. A column `command`, for example, may hold processes.
fn others_are_better(index: usize, all: &[Named<'_>]) -> bool {
    let has_ops =
        |named: &Named<'_>| named.values.iter().all(|value| OpCode::Words.meaning(value).is_some());
    let is_other = |other: usize| other != index && all[other].role == Some(Role::Op);
    !has_ops(&all[index]) && (0..all.len()).any(|other| is_other(other) && has_ops(&all[other]))
}

/// True if two columns with one role agree on every line, possibly in different units.
fn says_the_same(
    (one, values): (CsvColumn, &[&[u8]]),
    (other, others): (CsvColumn, &[&[u8]]),
) -> bool {
    let mut pairs = values.iter().zip(others);
    pairs.all(|(value, of)| value_of(one, value).is_some_and(|it| value_of(other, of) == Some(it)))
}

/// Returns the number that a field of a CSV trace gives in a column: a time in nanoseconds, an
/// address or size in bytes, or the number of an operation.
pub(crate) fn value_of(column: CsvColumn, field: &[u8]) -> Option<u64> {
    match column {
        CsvColumn::Time { digits } => time_ns(field, digits).ok(),
        CsvColumn::Offset { unit } | CsvColumn::Size { unit } => {
            unsigned(field).ok()?.checked_mul(unit)
        }
        CsvColumn::Op(code) => Some(code.op(field)? as u64),
        _ => None,
    }
}

/// Returns true if a value is a date or a time of day in words, such as `2024-01-15 10:30:45.5`.
pub(crate) fn is_date_in_words(value: &[u8]) -> bool {
    let count = |marks: &[u8]| value.iter().filter(|byte| marks.contains(byte)).count();
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"-/:.T Z+".contains(byte);
    let is_written_out = count(b"-/") >= 2 && value.len() >= 10 || count(b":") == 2;
    value.first().is_some_and(u8::is_ascii_digit) && value.iter().all(is_part) && is_written_out
}

/// Returns true if a header names an operation, an address and a size, but no time.
pub(crate) fn lacks_time(header: &[u8]) -> bool {
    let Some(parting) = partings(header).next() else { return false };
    let roles: Vec<Role> = fields(header, parting).iter().filter_map(|name| role(name)).collect();
    let has = |is: fn(&Role) -> bool| roles.iter().any(is);
    has(|it| matches!(it, Role::Op | Role::IsRead | Role::IsWrite))
        && has(|it| matches!(it, Role::Offset(_)))
        && has(|it| matches!(it, Role::Size(_)))
        && !has(|it| matches!(it, Role::Time(_)))
}

/// Returns the kind of a column (0 time, 1 operation, 2 address, 3 size, 4 device) and its meaning,
/// from its name and values. Adds questions that these leave open, such as the unit, to `open`.
fn column(named: &Named<'_>, role: Role, open: &mut Vec<String>) -> (usize, CsvColumn) {
    let name = fowler_units::printable(named.name);
    let values = || named.values.iter().copied();
    if values().any(cuts_digits) {
        open.push(format!(
            "all digits of `{name}`, some of which an exponent cuts off (print it whole)"
        ));
    }
    match role {
        Role::Time(Some(digits)) => {
            ask_for_words(&name, named, open);
            (0, CsvColumn::Time { digits })
        }
        Role::Time(None) => {
            let found = time_unit::by_values(values());
            if !ask_for_words(&name, named, open) {
                let question = found.question().filter(|_| !says_date(named.name));
                let question = match found {
                    TimeUnit::Unknown => Some("s, ms, us or ns".to_string()),
                    _ => question,
                };
                open.extend(question.map(|of| format!("the unit of `{name}` ({of})")));
            }
            // Whole numbers count nanoseconds unless the user says otherwise.
            let has_seconds = |value: &[u8]| has_decimals(value) || is_date_in_words(value);
            let likely = if values().any(has_seconds) { 9 } else { 0 };
            (0, CsvColumn::Time { digits: found.dates().unwrap_or(likely) })
        }
        Role::Op => {
            let coded = values().all(|value| matches!(value, b"0" | b"1"));
            if coded {
                open.push(format!(
                    "which code of `{name}`, the column of operations, is a read (give it as op=1=read \
                     or op=0=read)"
                ));
            } else if !values().all(|value| OpCode::Words.meaning(value).is_some()) {
                open.push(format!("what the words of `{name}`, the column of operations, mean (known are read, write, ...)"));
            }
            (1, CsvColumn::Op(if coded { OpCode::OneReads } else { OpCode::Words }))
        }
        Role::IsRead => (1, CsvColumn::Op(OpCode::OneReads)),
        Role::IsWrite => (1, CsvColumn::Op(OpCode::ZeroReads)),
        Role::Offset(unit) => {
            if unit.is_none() {
                open.push(format!(
                    "the unit of `{name}`, the column of addresses (give lba=512, lba=4096 or lba=bytes)"
                ));
            }
            (2, CsvColumn::Offset { unit: unit.unwrap_or(512) })
        }
        Role::Size(unit) => {
            if unit.is_none() {
                open.push(format!(
                    "the unit of `{name}`, the column of sizes (give len=512, len=4096 or len=bytes)"
                ));
            }
            (3, CsvColumn::Size { unit: unit.unwrap_or(512) })
        }
        Role::Device => {
            let is_number = values().all(|value| unsigned(value).is_ok());
            (DEVICE, CsvColumn::Device { named: !is_number })
        }
    }
}

/// Adds a question to the user if all times of a column are dates in words; returns true if they
/// are.
fn ask_for_words(name: &str, named: &Named<'_>, open: &mut Vec<String>) -> bool {
    let are_words = named.values.iter().all(|value| is_date_in_words(value));
    if are_words {
        open.push(format!(
            "the number of `{name}`, a date or time in words where a number is needed: \
             {DATES_IN_WORDS}"
        ));
    }
    are_words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str, lines: &str) -> Result<String, Vec<String>> {
        let lines: Vec<&[u8]> = lines.split('\n').map(str::as_bytes).collect();
        match by_names(header.as_bytes(), &lines) {
            Some(ByNames::Complete(columns)) => Ok(columns.to_string()),
            Some(ByNames::Open(_, open)) => Err(open),
            None => Err(Vec::new()),
        }
    }

    #[test]
    fn names_with_units_are_columns() {
        for (header, line, columns) in [
            (
                "time_s,device,rw,offset,length",
                "0.5,nvme0n1,r,4096,512",
                "header,ts=s,dev=name,op=rw,lba=bytes,len=bytes",
            ),
            (
                "Op, Sector, Sectors, Time (us), Disk",
                "W, 8, 16, 7, 0",
                "header,op=rw,lba=512,len=512,ts=us,dev=number",
            ),
            (
                "timestamp,op,offset,size,latency_us",
                "1577808144.36,R,0,512,9",
                "header,ts=s,op=rw,lba=bytes,len=bytes,_",
            ),
            (
                "timestamp is_write offset_bytes size_bytes",
                "1577808144360767 1 0 512\n1577808144360790 False 0 512",
                "header,ts=us,op=0=read,lba=bytes,len=bytes,blanks",
            ),
            (
                "unix_time,is_read,offset,size",
                "1577808144360767,True,0,512",
                "header,ts=us,op=1=read,lba=bytes,len=bytes",
            ),
            // Columns that say the same in two units, a second device, an index without a name.
            (
                ",time_s,time_us,op,rw,offset,sector,size,nr_sectors,dev,disk",
                "0,7,7000000,R,read,1024,2,512,1,sda,0\n1,8,8000000,W,write,0,0,1024,2,sdb,1",
                "header,_,ts=s,_,op=rw,_,lba=bytes,_,len=bytes,_,dev=name,_",
            ),
            // Names and values with blanks, and an empty value, between tabs.
            (
                "Issue Time (us)\tProcess Name\tOp\tOffset\tSize, bytes",
                "7\tsome thing\tR\t0\t512\n8\t\tW\t0\t512",
                "header,ts=us,_,op=rw,lba=bytes,len=bytes,tabs",
            ),
            (
                "time_us\top\tsector\tbytes",
                "7 R 8 512",
                "header,ts=us,op=rw,lba=512,len=bytes,blanks",
            ),
            (
                "time_s,command,sector,operation,size,nr_sectors",
                "7,fio,8,write,1024,2",
                "header,ts=s,_,lba=512,op=rw,len=bytes,_",
            ),
            (
                "ts,type,sector,bytes",
                "128166372003061629,Read,8,512",
                "header,ts=100ns,op=rw,lba=512,len=bytes",
            ),
        ] {
            assert_eq!(read(header, line), Ok(columns.to_string()), "{header}");
            assert!(CsvColumns::parse(columns).is_ok());
        }
    }

    #[test]
    fn dates_in_words_are_known_and_a_missing_time_is() {
        for date in
            ["2024-01-15 10:30:45.1", "2024-01-15T10:30:45Z", "13:01:02.123", "15/01/2024 1"]
        {
            assert!(is_date_in_words(date.as_bytes()), "{date}");
        }
        for other in ["1577808144.5", "-1-2-34567890", "sda", "8:0", "1.2.3.4", ""] {
            assert!(!is_date_in_words(other.as_bytes()), "{other}");
        }
        assert!(lacks_time(b"sector,nr_sector,rwbs") && !lacks_time(b"ts,sector,nr_sector,rwbs"));
        assert!(!lacks_time(b"a,b,c") && !lacks_time(b""));
    }

    #[test]
    fn what_names_leave_open_is_asked() {
        for (header, line, open) in [
            ("time,rw,offset,length", "0.5,r,0,512", &["the unit of `time`"][..]),
            ("time_s,rw,lba,nlb", "1,r,0,8", &["the unit of `lba`", "the unit of `nlb`"]),
            ("time_s,op,offset,length", "1,0,0,8", &["which code of `op`"]),
            ("time_s,op,offset,length", "1,Q,0,8", &["what the words of `op`"]),
            (
                "time_s,start_s,op,offset,size",
                "1,2,r,0,8",
                &["which of the columns `time_s` and `start_s`"],
            ),
            (
                "time_s,offset,sector,op,size",
                "1,8,8,r,8",
                &["which of the columns `offset` and `sector`"],
            ),
            (
                "timestamp,op,offset,size",
                "1577808144360767,r,0,8\n1577808144460767,r,0,8",
                &[
                    "the unit of `timestamp` (dates in us (ts=us) or times since boot in ns (ts=ns))",
                ],
            ),
            (
                "time,op,offset,size",
                "2024-01-15 10:30:45.1,R,0,8",
                &["the number of `time`, a date"],
            ),
            (
                "time_s,size,op,offset,sectors",
                "1,512,R,0,2",
                &["which of the columns `size` and `sectors`"],
            ),
            ("time_s,offset,size,x", "1,0,8,9", &[]),
            ("1,2,3,4", "1,0,8,9", &[]),
        ] {
            let found = read(header, line).unwrap_err();
            assert_eq!(found.len(), open.len(), "{header}: {found:?}");
            let all = found.iter().zip(open).all(|(found, open)| found.starts_with(open));
            assert!(all, "{header}: {found:?}");
        }
        assert_eq!(by_names(b"time_s,rw,offset,length", &[]), None);
    }
}
