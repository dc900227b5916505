//! Guesses the meaning of columns from their values, to propose `--columns` for a file in no known
//! format. A guess is only printed, never used for reading.

use crate::csv::{CsvColumn, CsvColumns, Parting};
use crate::number::{decimal_ns, unsigned};
use crate::op_code::OpCode;
use crate::recognition::header::fields;
use crate::recognition::time_unit::{self, TimeUnit};
use fowler_units::{HostOp, printable};

/// Guessed columns of a file, and open questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deduced {
    /// Guessed columns of the trace file, in order.
    pub columns: CsvColumns,
    /// Open questions about the guessed columns: values that may mean several things.
    pub open: Vec<String>,
}

/// Values of one column in the first lines of a file.
struct Values<'a>(Vec<&'a [u8]>);

impl Values<'_> {
    fn numbers(&self) -> Option<Vec<u64>> {
        self.0.iter().map(|value| unsigned(value).ok()).collect()
    }

    /// True if the column's values are times: numbers, with or without decimals, that do not
    /// decrease.
    fn rise(&self) -> bool {
        let times: Option<Vec<u64>> =
            self.0.iter().map(|value| decimal_ns(value, 0).ok()).collect();
        let fine = |value: &&&[u8]| value.contains(&b'.');
        let decimals = self.0.iter().filter(fine).count() == self.0.len();
        let times = if decimals {
            self.0.iter().map(|value| decimal_ns(value, 9).ok()).collect()
        } else {
            times
        };
        times.is_some_and(|times| times.is_sorted() && (decimals || times.first() < times.last()))
    }

    /// Returns the time unit that the digits of the column's values suggest, if these are times.
    fn unit(&self) -> TimeUnit {
        time_unit::by_values(self.0.iter().copied())
    }

    fn are_decimal(&self) -> bool {
        self.0.iter().all(|value| value.contains(&b'.') && decimal_ns(value, 9).is_ok())
    }

    fn are_ops(&self) -> bool {
        self.0.iter().all(|value| OpCode::Words.meaning(value).is_some())
    }

    /// True if the column's values are operations with some reads or writes.
    fn move_data(&self) -> bool {
        let moves = |op| matches!(op, Some(HostOp::Read | HostOp::Write));
        self.0.iter().any(|value| moves(OpCode::Words.op(value)))
    }

    fn are_codes(&self) -> bool {
        self.0.iter().all(|value| matches!(value, [b'0' | b'1']))
    }

    fn are_disks(&self) -> bool {
        const NAMES: [&[u8]; 7] = [b"nvme", b"sd", b"vd", b"xvd", b"dm-", b"md", b"loop"];
        self.0.iter().all(|value| NAMES.iter().any(|name| value.starts_with(name)))
    }
}

/// Returns the guessed columns of `lines`, whose first may be a header; `None` if no operation,
/// address, size and time can be found.
pub(crate) fn columns(lines: &[&[u8]]) -> Option<Deduced> {
    let tabs = lines.iter().all(|line| memchr::memchr(b'\t', line).is_some());
    let of_tabs = tabs.then_some(Parting::Tabs);
    let mut partings = of_tabs.into_iter().chain([Parting::Commas, Parting::Blanks]);
    partings.find_map(|parting| parted(lines, parting))
}

fn parted(lines: &[&[u8]], parting: Parting) -> Option<Deduced> {
    let mut rows: Vec<Vec<&[u8]>> = lines.iter().map(|line| fields(line, parting)).collect();
    let plain = |row: &Vec<&[u8]>| !row.iter().any(|field| unsigned(field).is_ok());
    let has_header = rows.len() > 1 && plain(&rows[0]) && !plain(&rows[1]);
    if has_header {
        rows.remove(0);
    }
    let width = rows.first()?.len();
    rows.retain(|row| row.len() == width);
    if width < 4 || rows.len() * 2 < lines.len() {
        return None;
    }
    let all: Vec<Values> =
        (0..width).map(|index| Values(rows.iter().map(|row| row[index]).collect())).collect();
    let mut open = Vec::new();
    let time = time_column(&all)?;
    let op = op_column(&all, time)?;
    let (offset, size) = range_columns(&all, time, op)?;
    let mut columns = vec![CsvColumn::Skipped; width];
    columns[time] = CsvColumn::Time { digits: digits(&all[time], time, &mut open) };
    columns[op] = CsvColumn::Op(if all[op].are_ops() {
        OpCode::Words
    } else {
        open.push(format!(
            "whether 1 in column {}, the operation, means a read, as assumed here (else op=0=read)",
            op + 1
        ));
        OpCode::OneReads
    });
    let (offset_unit, size_unit) = units(&all[offset], &all[size]);
    columns[offset] = CsvColumn::Offset { unit: offset_unit };
    columns[size] = CsvColumn::Size { unit: size_unit };
    let is_disk = |index: &usize| columns[*index] == CsvColumn::Skipped && all[*index].are_disks();
    if let Some(disk) = (0..width).find(is_disk) {
        columns[disk] = CsvColumn::Device { named: true };
    }
    open.extend(actions(&all, &columns));
    let columns = CsvColumns::of_header(columns, parting).behind_header(has_header);
    Some(Deduced { columns, open })
}

/// Returns the index of the column of times: the first with decimals that does not fall, else the
/// first with dates, else the first of whole numbers that rise.
fn time_column(all: &[Values]) -> Option<usize> {
    let first = |is: &dyn Fn(&Values) -> bool| all.iter().position(is);
    first(&|it| it.are_decimal() && it.rise())
        .or_else(|| first(&|it| it.unit().dates().is_some()))
        .or_else(|| first(&|it| it.rise()))
}

/// Returns the index of the column of operations: words with a read or a write among them, else
/// words, else zeros and ones.
fn op_column(all: &[Values], time: usize) -> Option<usize> {
    let first = |is: &dyn Fn(&Values) -> bool| {
        (0..all.len()).find(|&index| index != time && is(&all[index]))
    };
    first(&|it| it.are_ops() && it.move_data())
        .or_else(|| first(&|it| it.are_ops()))
        .or_else(|| first(&|it| it.are_codes() && it.0.iter().any(|value| *value != it.0[0])))
        .or_else(|| first(&|it| it.are_codes()))
}

/// Returns the indices of the columns of addresses and sizes: the largest numbers, and the column
/// next to them.
fn range_columns(all: &[Values], time: usize, op: usize) -> Option<(usize, usize)> {
    let numbers = |index: usize| {
        if index == time || index == op { None } else { all.get(index)?.numbers() }
    };
    let largest = |index: usize| numbers(index).and_then(|it| it.into_iter().max());
    let offset = (0..all.len()).filter(|&it| largest(it).is_some()).max_by_key(|&it| {
        // Of columns with equally large values, the first is taken.
        (largest(it), std::cmp::Reverse(it))
    })?;
    let is_size = |index: &usize| {
        let sizes = numbers(*index).filter(|_| *index != offset);
        sizes.is_some_and(|all| all.iter().all(|&size| (1..=1 << 30).contains(&size)))
    };
    let right = (offset + 1..all.len()).find(|&it| all[it].0.iter().any(|value| *value != b"+"));
    let beside = right.filter(is_size).or_else(|| offset.checked_sub(1).filter(is_size));
    let of_pages = |index: &usize| {
        let all_numbers = numbers(*index).unwrap_or_default();
        all_numbers.iter().all(|size| size.is_multiple_of(512))
    };
    let others = || (0..all.len()).filter(is_size);
    let size = beside.or_else(|| others().find(of_pages)).or_else(|| others().next())?;
    Some((offset, size))
}

/// Returns the unit of a column of times, as the power of ten of its nanoseconds.
fn digits(times: &Values, index: usize, open: &mut Vec<String>) -> usize {
    let number = index + 1;
    let unit = times.unit();
    if let Some(digits) = unit.dates() {
        open.extend(unit.question().map(|of| format!("whether column {number} has {of}")));
        return digits;
    }
    if times.are_decimal() {
        let behind =
            |value: &&[u8]| value.rsplit(|&byte| byte == b'.').next().map_or(0, <[u8]>::len);
        if times.0.iter().map(behind).max().unwrap_or(0) < 6 {
            open.push(format!(
                "whether column {number}, the time, is in seconds, as assumed here (else ts=ms or ts=us)"
            ));
        }
        return 9;
    }
    open.push(format!(
        "whether column {number}, the time, is in nanoseconds, as assumed here (else ts=us, ts=ms or ts=s)"
    ));
    0
}

/// Guesses the units of a column of addresses and of a column of sizes from their values, in bytes:
/// for sizes 1 if all are multiples of 512, for addresses 1 if those of both columns are, else 512.
fn units(offsets: &Values, sizes: &Values) -> (u64, u64) {
    let multiples = |all: &Values| {
        let numbers = all.numbers().unwrap_or_default();
        numbers.iter().all(|number| number.is_multiple_of(512)) && numbers.iter().any(|it| *it > 0)
    };
    match (multiples(offsets), multiples(sizes)) {
        (true, true) => (1, 1),
        (false, true) => (512, 1),
        _ => (512, 512),
    }
}

/// Returns the question which action to read, if a skipped column has several blktrace actions: the
/// file then holds each request several times.
fn actions(all: &[Values], columns: &[CsvColumn]) -> Option<String> {
    const ACTIONS: [&[u8]; 12] =
        [b"Q", b"G", b"I", b"D", b"C", b"M", b"F", b"A", b"X", b"P", b"U", b"UT"];
    let is_action = |index: &usize| {
        columns[*index] == CsvColumn::Skipped
            && all[*index].0.iter().all(|value| ACTIONS.contains(value))
            && all[*index].0.iter().any(|value| *value != all[*index].0[0])
    };
    let found = (0..all.len()).find(is_action)?;
    let first = printable(all[found].0[0]);
    Some(format!(
        "which action of column {} to read: a request has a line for each, so keep only the lines of one action, such as {first}",
        found + 1
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(String, usize)> {
        let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
        columns(&lines).map(|found| (found.columns.to_string(), found.open.len()))
    }

    #[test]
    fn values_show_what_columns_hold() {
        for (text, columns, open) in [
            (
                "0.000000000 Q R 9838272 8\n0.000113221 Q W 48379216 8\n",
                "ts=s,_,op=rw,lba=512,len=512,blanks",
                0,
            ),
            (
                "0.000000000 Q R 9838272 + 8 fio\n0.000113221 C R 9838272 + 8 fio\n",
                "ts=s,_,op=rw,lba=512,_,len=512,_,blanks",
                1,
            ),
            ("when;a\n", "", 0),
            (
                "a,b,c,d,e\n1577808144360767,sda,Write,40960,4096\n1577808144360778,sda,Read,0,512\n",
                "header,ts=us,dev=name,op=rw,lba=bytes,len=bytes",
                0,
            ),
            ("100,1,8192,4096,7\n250,0,4096,512,7\n", "ts=ns,op=1=read,lba=bytes,len=bytes,_", 2),
            ("1.5,4096,8192,WS\n2.5,512,16384,RA\n", "ts=s,len=bytes,lba=bytes,op=rw", 1),
            ("only words here today\nand here are more\n", "", 0),
            ("", "", 0),
        ] {
            let expected = (!columns.is_empty()).then(|| (columns.to_string(), open));
            assert_eq!(of(text), expected, "{text}");
            assert!(columns.is_empty() || CsvColumns::parse(columns).is_ok());
        }
    }
}
