//! Columns by the names of a header. A header is read only if it leaves nothing open: it names a
//! time, an operation, an address and a size once each, with their units or with names whose unit
//! is the same everywhere. A time may also show its unit as a date.

use crate::csv::{CsvColumn, CsvColumns};
use crate::number::{decimal_ns, unsigned};
use crate::op_code::OpCode;
use crate::recognition::roles::{Role, role};

/// What a header says of the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ByNames {
    /// All that is needed.
    Complete(CsvColumns),
    /// The columns but for what is open: each an open question.
    Open(CsvColumns, Vec<String>),
}

/// The most columns.
const MOST: usize = 128;

/// What can be done with dates in words, for messages.
pub(crate) const DATES_IN_WORDS: &str = "write it in seconds since 1970 with decimals first";

/// Returns the fields of a line: parted by commas or by runs of blanks, without quotes.
pub(crate) fn fields(line: &[u8], commas: bool) -> Vec<&[u8]> {
    let unquoted = |field: &'_ [u8]| -> std::ops::Range<usize> {
        let quoted = field.len() > 1 && field.starts_with(b"\"") && field.ends_with(b"\"");
        usize::from(quoted)..field.len() - usize::from(quoted)
    };
    let all: Vec<&[u8]> = if commas {
        line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).take(MOST).collect()
    } else {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.take(MOST).collect()
    };
    all.into_iter().map(|field| &field[unquoted(field)]).collect()
}

/// Whether a line may be a header: several names, none of which is a number.
pub(crate) fn is_header(line: &[u8], commas: bool) -> bool {
    let names = fields(line, commas);
    let is_name =
        |name: &&[u8]| name.first().is_some_and(u8::is_ascii_alphabetic) && !name.contains(&b'"');
    names.len() >= 4 && names.iter().all(is_name)
}

/// Returns the columns that `header` names, checked against `lines`, which follow it; `None` if it
/// does not name an operation, an address and a size.
pub(crate) fn by_names(header: &[u8], lines: &[&[u8]]) -> Option<ByNames> {
    let commas = header.contains(&b',');
    if !is_header(header, commas) || lines.is_empty() {
        return None;
    }
    let names = fields(header, commas);
    let roles: Vec<Option<Role>> = names.iter().map(|name| role(name)).collect();
    let rows: Vec<Vec<&[u8]>> = lines.iter().map(|line| fields(line, commas)).collect();
    let values = |index: usize| rows.iter().filter_map(move |row| row.get(index).copied());
    let mut open = Vec::new();
    let mut seen: [Option<usize>; 5] = [None; 5];
    let mut columns = Vec::new();
    for (index, (name, role)) in names.iter().zip(&roles).enumerate() {
        let name = fowler_units::printable(name);
        let Some(role) = *role else {
            columns.push(CsvColumn::Skipped);
            continue;
        };
        if role == Role::Op && others_are_better(index, &roles, &values) {
            columns.push(CsvColumn::Skipped);
            continue;
        }
        let mut asked = Vec::new();
        let (slot, column) = column(&name, role, values(index), &mut asked);
        if let Some(other) = seen[slot] {
            if says_the_same(column, columns[other], values(index), values(other)) {
                columns.push(CsvColumn::Skipped);
                continue;
            }
            let other = fowler_units::printable(names[other]);
            open.push(format!("which of `{other}` and `{name}` it is"));
            columns.push(CsvColumn::Skipped);
            continue;
        }
        open.append(&mut asked);
        seen[slot] = Some(index);
        columns.push(column);
    }
    let [time, op, offset, size, _] = seen;
    if op.is_none() || offset.is_none() || size.is_none() || time.is_none() {
        return None;
    }
    let columns = CsvColumns::of_header(columns, commas);
    Some(if open.is_empty() { ByNames::Complete(columns) } else { ByNames::Open(columns, open) })
}

/// Whether a column that by its name has operations has none, and another one does: `command` may
/// be that of a process.
fn others_are_better<'a, I: Iterator<Item = &'a [u8]>>(
    index: usize,
    roles: &[Option<Role>],
    values: &impl Fn(usize) -> I,
) -> bool {
    let has_ops = |index: usize| values(index).all(|value| OpCode::Words.meaning(value).is_some());
    let is_other = |other: usize| other != index && roles[other] == Some(Role::Op);
    !has_ops(index) && (0..roles.len()).any(|other| is_other(other) && has_ops(other))
}

/// Whether two columns of sizes say the same in two units.
fn says_the_same<'a>(
    one: CsvColumn,
    other: CsvColumn,
    values: impl Iterator<Item = &'a [u8]>,
    others: impl Iterator<Item = &'a [u8]>,
) -> bool {
    let (CsvColumn::Size { unit: one }, CsvColumn::Size { unit: other }) = (one, other) else {
        return false;
    };
    let bytes = |value: &[u8], unit: u64| unsigned(value).ok()?.checked_mul(unit);
    values
        .zip(others)
        .all(|(value, of)| bytes(value, one).is_some_and(|it| bytes(of, other) == Some(it)))
}

/// Whether a value is a date or a time of day in words, such as `2024-01-15 10:30:45.5`.
pub(crate) fn is_date_in_words(value: &[u8]) -> bool {
    let count = |marks: &[u8]| value.iter().filter(|byte| marks.contains(byte)).count();
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"-/:.T Z+".contains(byte);
    let is_written_out = count(b"-/") >= 2 && value.len() >= 10 || count(b":") == 2;
    value.first().is_some_and(u8::is_ascii_digit) && value.iter().all(is_part) && is_written_out
}

/// Whether a header names an operation, an address and a size, but no time.
pub(crate) fn lacks_time(header: &[u8]) -> bool {
    let commas = header.contains(&b',');
    let roles: Vec<Role> = fields(header, commas).iter().filter_map(|name| role(name)).collect();
    let has = |is: fn(&Role) -> bool| roles.iter().any(is);
    has(|it| matches!(it, Role::Op | Role::IsRead | Role::IsWrite))
        && has(|it| matches!(it, Role::Offset(_)))
        && has(|it| matches!(it, Role::Size(_)))
        && !has(|it| matches!(it, Role::Time(_)))
}

/// Returns the kind of a column, from 0 to 4, and the column; adds what its name leaves open.
fn column<'a>(
    name: &str,
    role: Role,
    values: impl Iterator<Item = &'a [u8]> + Clone,
    open: &mut Vec<String>,
) -> (usize, CsvColumn) {
    match role {
        Role::Time(digits) => {
            let mut words = values.clone();
            let digits = digits.or_else(|| unit_of_dates(values));
            if words.all(is_date_in_words) {
                open.push(format!(
                    "the number of `{name}`, a date or time in words: {DATES_IN_WORDS}"
                ));
            } else if digits.is_none() {
                open.push(format!("the unit of `{name}` (s, ms, us or ns)"));
            }
            (0, CsvColumn::Time { digits: digits.unwrap_or(9) })
        }
        Role::Op => {
            let mut words = values.clone();
            let coded = values.clone().all(|value| matches!(value, b"0" | b"1"));
            if coded {
                open.push(format!("which code of `{name}` is a read (op=1=read or op=0=read)"));
            } else if !words.all(|value| OpCode::Words.meaning(value).is_some()) {
                open.push(format!("what the words of `{name}` mean"));
            }
            (1, CsvColumn::Op(if coded { OpCode::OneReads } else { OpCode::Words }))
        }
        Role::IsRead => (1, CsvColumn::Op(OpCode::OneReads)),
        Role::IsWrite => (1, CsvColumn::Op(OpCode::ZeroReads)),
        Role::Offset(unit) => {
            if unit.is_none() {
                open.push(format!("the unit of `{name}` (lba=512, lba=4096 or lba=bytes)"));
            }
            (2, CsvColumn::Offset { unit: unit.unwrap_or(512) })
        }
        Role::Size(unit) => {
            if unit.is_none() {
                open.push(format!("the unit of `{name}` (len=512, len=4096 or len=bytes)"));
            }
            (3, CsvColumn::Size { unit: unit.unwrap_or(512) })
        }
        Role::Device => {
            let mut values = values;
            let named = !values.all(|value| unsigned(value).is_ok());
            (4, CsvColumn::Device { named })
        }
    }
}

/// Nanoseconds since 1970 of the first date that a time may be, and of the last: 2000 to 2040.
/// Later ones would take more clocks for dates that count since a machine began: nanoseconds of 11
/// to 25 days look like microseconds since 1970.
const DATES: std::ops::RangeInclusive<u64> = 946_684_800_000_000_000..=2_208_988_800_000_000_000;
/// The same dates in ticks of 100 ns since 1601.
const TICKS: std::ops::RangeInclusive<u64> = 125_911_584_000_000_000..=138_534_624_000_000_000;

/// The longest mean time between requests that are dated. The nanoseconds of a machine that has run
/// for half an hour are as large as the milliseconds since 1970, but for the distances.
const LONGEST_GAP: u64 = 60_000_000_000;

/// Returns the unit in which all values are dates of 2000 to 2040, as digits of a nanosecond;
/// `None` if they are none. At most one unit fits.
pub(crate) fn unit_of_dates<'a>(values: impl Iterator<Item = &'a [u8]> + Clone) -> Option<usize> {
    values.clone().next()?;
    let fits = |digits: &usize| {
        let dates = || values.clone().map(|value| decimal_ns(value, *digits).unwrap_or(0));
        let (first, last) = (dates().min().unwrap_or(0), dates().max().unwrap_or(0));
        let steps = (dates().count() as u64 - 1).max(1);
        DATES.contains(&first) && DATES.contains(&last) && (last - first) / steps <= LONGEST_GAP
    };
    let ticks = || {
        let is_date = |value: &[u8]| unsigned(value).is_ok_and(|ticks| TICKS.contains(&ticks));
        values.clone().all(is_date).then_some(2)
    };
    [9, 6, 3, 0].into_iter().find(fits).or_else(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str, line: &str) -> Result<String, Vec<String>> {
        match by_names(header.as_bytes(), &[line.as_bytes()]) {
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
                "1577808144360767 1 0 512",
                "header,ts=us,op=0=read,lba=bytes,len=bytes,blanks",
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
    fn dates_show_their_unit_and_long_uptimes_are_none() {
        let unit = |values: &[&str]| unit_of_dates(values.iter().map(|value| value.as_bytes()));
        assert_eq!(unit(&["1577808144"]), Some(9));
        assert_eq!(unit(&["1577808144.5", "1577808145"]), Some(9));
        assert_eq!(unit(&["1577808144360", "1577808144361"]), Some(6));
        assert_eq!(unit(&["1577808144360767"]), Some(3));
        assert_eq!(unit(&["1577808144360767000"]), Some(0));
        assert_eq!(unit(&["128166372003061629"]), Some(2));
        // Half an hour of nanoseconds, with 157 us between requests.
        assert_eq!(unit(&["1577808144360", "1577808301360"]), None);
        assert_eq!(unit(&["1577808144", "12"]), None);
        assert_eq!(unit(&["x"]), None);
        assert_eq!(unit(&[]), None);
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
            ("time_s,start_s,op,offset,size", "1,1,r,0,8", &["which of `time_s` and `start_s`"]),
            (
                "time,op,offset,size",
                "2024-01-15 10:30:45.1,R,0,8",
                &["the number of `time`, a date"],
            ),
            ("time_s,size,op,offset,sectors", "1,512,R,0,2", &["which of `size` and `sectors`"]),
            ("time_s,offset,size,x", "1,0,8,9", &[]),
            ("1,2,3,4", "1,0,8,9", &[]),
        ] {
            let found = read(header, line).unwrap_err();
            assert_eq!(found.len(), open.len(), "{header}: {found:?}");
            assert!(found.iter().zip(open).all(|(found, open)| found.starts_with(open)));
        }
        assert_eq!(by_names(b"time_s,rw,offset,length", &[]), None);
    }
}
