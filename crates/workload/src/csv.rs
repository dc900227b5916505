//! The columns of a CSV without a format of its own, as the user gives them:
//! `ts=us,op=rw,lba=512,len=bytes`.

use crate::op_code::OpCode;
use crate::optional_column::OptionalColumn;
use crate::recognition::roles::Role;
use crate::recognition::time_unit;
use fowler_units::{Diagnostic, Diagnostics, printable};
use std::fmt;

/// Meaning of one column of a CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CsvColumn {
    /// A column that is skipped.
    Skipped,
    /// The arrival time, in units of `10^digits` ns.
    Time { digits: usize },
    /// The column holds the operation: read, write, trim or flush.
    Op(OpCode),
    /// The column holds the address, in units of `unit` bytes.
    Offset { unit: u64 },
    /// The column holds the size, in units of `unit` bytes.
    Size { unit: u64 },
    /// The device to which the request goes, by number or (`named`) by name.
    Device { named: bool },
    /// An optional column of a native trace, which only its header can name.
    Optional(OptionalColumn),
}

impl CsvColumn {
    /// Returns true if a CSV column of this meaning (such as a time in microseconds) may have a
    /// name that suggests `role` (such as a time). A unit in the name must be that of the column.
    pub fn is(self, role: Option<Role>) -> bool {
        match (self, role) {
            (CsvColumn::Time { digits }, Some(Role::Time(unit))) => {
                unit.unwrap_or(digits) == digits
            }
            (CsvColumn::Offset { unit: own }, Some(Role::Offset(unit)))
            | (CsvColumn::Size { unit: own }, Some(Role::Size(unit))) => unit.unwrap_or(own) == own,
            (CsvColumn::Op(_), Some(Role::Op))
            | (CsvColumn::Device { .. }, Some(Role::Device))
            | (CsvColumn::Skipped, None) => true,
            _ => false,
        }
    }
}

/// Separators between the columns of a CSV line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parting {
    /// A single comma separates two columns of a CSV trace.
    Commas,
    /// Runs of spaces and tabs between columns.
    Blanks,
    /// Single tabs between columns; spaces are part of a field.
    Tabs,
}

impl Parting {
    /// Returns a line without the blanks around its columns. With [`Parting::Tabs`], a tab at
    /// either end is kept: it ends an empty first column or starts an empty last one.
    pub fn trimmed(self, line: &[u8]) -> &[u8] {
        if self != Parting::Tabs {
            return line.trim_ascii();
        }
        let is_kept = |byte: &u8| !byte.is_ascii_whitespace() || *byte == b'\t';
        let (first, last) = (line.iter().position(is_kept), line.iter().rposition(is_kept));
        first.zip(last).map_or(b"", |(first, last)| &line[first..=last])
    }

    /// Returns the separator of the CSV's columns in words, for messages.
    pub fn words(self) -> &'static str {
        match self {
            Parting::Commas => "commas",
            Parting::Blanks => "blanks",
            Parting::Tabs => "tabs",
        }
    }
}

/// The columns of a CSV, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvColumns {
    columns: Vec<CsvColumn>,
    /// True if the first line is a header, which is skipped.
    pub(crate) header: bool,
    /// Separator between the columns of a line.
    parting: Parting,
    /// True if lines may have further columns after the listed ones, which are skipped.
    more: bool,
    /// True if times are used as printed, as in a native trace, and not from the first request.
    pub(crate) from_zero: bool,
}

/// Largest number of columns in a list given by the user.
const MOST_COLUMNS: usize = 256;

/// Items allowed in the list of columns that `--columns` takes, for messages.
const PARTS: &str = "ts=s|ms|us|100ns|ns, op=rw|1=read|0=read, lba=bytes|N, len=bytes|N, \
                     dev=number|name, _ (a column to skip), ... (further columns), header, blanks, tabs";

impl Default for CsvColumns {
    /// Returns the columns `ts=us,op=rw,lba=512,len=bytes`: microseconds, a letter, sectors of 512
    /// B, bytes.
    fn default() -> CsvColumns {
        let columns = vec![
            CsvColumn::Time { digits: 3 },
            CsvColumn::Op(OpCode::Words),
            CsvColumn::Offset { unit: 512 },
            CsvColumn::Size { unit: 1 },
        ];
        CsvColumns { columns, ..CsvColumns::EMPTY }
    }
}

impl CsvColumns {
    /// An empty list of columns.
    const EMPTY: CsvColumns = CsvColumns {
        columns: Vec::new(),
        header: false,
        parting: Parting::Commas,
        more: false,
        from_zero: false,
    };

    /// Returns the columns of a native trace whose header names them in an unusual order.
    pub(crate) fn of_native(columns: Vec<CsvColumn>) -> CsvColumns {
        CsvColumns { columns, from_zero: true, ..CsvColumns::EMPTY }
    }

    /// Returns the columns that a CSV header names, separated by `parting`.
    pub(crate) fn of_header(columns: Vec<CsvColumn>, parting: Parting) -> CsvColumns {
        CsvColumns { columns, header: true, parting, ..CsvColumns::EMPTY }
    }

    /// Returns these columns of a CSV file, whose first line is skipped as a header if `header` is
    /// true, and read as a request otherwise.
    pub(crate) fn behind_header(self, header: bool) -> CsvColumns {
        CsvColumns { header, ..self }
    }

    /// Returns the column list of a CSV trace with blanks as separators instead of commas, or with
    /// commas instead of blanks or tabs.
    pub(crate) fn parted_otherwise(self) -> CsvColumns {
        let parting = match self.parting {
            Parting::Commas => Parting::Blanks,
            Parting::Blanks | Parting::Tabs => Parting::Commas,
        };
        CsvColumns { parting, ..self }
    }

    /// Returns the column list of a CSV trace with other units for those columns for which
    /// `otherwise` gives some; `None` if no unit changes.
    pub(crate) fn with(
        &self,
        otherwise: impl Fn(CsvColumn) -> Option<CsvColumn>,
    ) -> Option<CsvColumns> {
        let changed = |column: &CsvColumn| otherwise(*column).unwrap_or(*column);
        let columns: Vec<CsvColumn> = self.columns.iter().map(changed).collect();
        (columns != self.columns).then(|| CsvColumns { columns, ..self.clone() })
    }

    /// Returns the unit of the time column as the power of ten of its nanoseconds: 3 for
    /// microseconds.
    pub(crate) fn digits(&self) -> Option<usize> {
        self.columns.iter().find_map(|column| match column {
            CsvColumn::Time { digits } => Some(*digits),
            _ => None,
        })
    }

    /// Parses a list of columns such as `ts=us,op=rw,lba=512,len=bytes`.
    ///
    /// # Errors
    ///
    /// One diagnostic for each wrong or missing item of the list.
    pub fn parse(text: &str) -> Result<CsvColumns, Diagnostics> {
        let mut parsed = CsvColumns::EMPTY;
        let mut wrong = Vec::new();
        for part in text.split(',').map(str::trim).take(MOST_COLUMNS) {
            if let Err(diagnostic) = parsed.add(part) {
                wrong.push(*diagnostic);
            }
        }
        if text.split(',').count() > MOST_COLUMNS {
            wrong.push(problem(format!("there are more than {MOST_COLUMNS} columns")));
        }
        type Is = fn(&CsvColumn) -> bool;
        let kinds: [(&str, Is); 5] = [
            ("ts", |it| matches!(it, CsvColumn::Time { .. })),
            ("op", |it| matches!(it, CsvColumn::Op(_))),
            ("lba", |it| matches!(it, CsvColumn::Offset { .. })),
            ("len", |it| matches!(it, CsvColumn::Size { .. })),
            ("dev", |it| matches!(it, CsvColumn::Device { .. })),
        ];
        for (name, is) in kinds {
            match parsed.columns.iter().filter(|column| is(column)).count() {
                // A wrong item may be a misspelt required one, so a missing column is reported only
                // otherwise.
                0 if name != "dev" && wrong.is_empty() => {
                    let why = match name {
                        "op" => "a trace without an operation column cannot be replayed",
                        "len" => "a trace without sizes cannot be replayed",
                        _ => "every request needs an address",
                    };
                    wrong.push(problem(format!("there is no column `{name}`: {why}")));
                }
                0 | 1 => {}
                _ => wrong.push(problem(format!("there is more than one column `{name}`"))),
            }
        }
        if wrong.is_empty() { Ok(parsed) } else { Err(Diagnostics(wrong)) }
    }

    /// Parses one item of the `--columns` list and adds its column.
    fn add(&mut self, part: &str) -> Result<(), Box<Diagnostic>> {
        if self.more && !matches!(part, "header" | "blanks" | "tabs") {
            return Err(problem(format!("`{}` comes after `...`", printable(part))).into());
        }
        match part {
            "_" => self.columns.push(CsvColumn::Skipped),
            "..." => self.more = true,
            "header" => self.header = true,
            "blanks" | "tabs" if self.parting != Parting::Commas => {
                return Err(problem("more than one of `blanks` and `tabs`".into()).into());
            }
            "blanks" => self.parting = Parting::Blanks,
            "tabs" => self.parting = Parting::Tabs,
            _ => self.columns.push(column(part)?),
        }
        Ok(())
    }

    pub(crate) fn columns(&self) -> &[CsvColumn] {
        &self.columns
    }

    pub(crate) fn parting(&self) -> Parting {
        self.parting
    }

    /// Returns true if lines may have further columns, which are skipped.
    pub(crate) fn more(&self) -> bool {
        self.more
    }

    /// Returns true if the CSV has a column with the names of devices.
    pub(crate) fn names_devices(&self) -> bool {
        self.columns.contains(&CsvColumn::Device { named: true })
    }
}

/// Prints the columns of a CSV trace in the syntax of `--columns`: `ts=us,op=rw,lba=512,len=bytes`.
impl fmt::Display for CsvColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_unit = |unit: u64| if unit == 1 { "bytes".to_string() } else { unit.to_string() };
        let words = self.columns.iter().map(|column| match *column {
            CsvColumn::Skipped | CsvColumn::Optional(_) => "_".into(),
            CsvColumn::Time { digits } => format!("ts={}", time_unit::name(digits)),
            CsvColumn::Op(OpCode::Words) => "op=rw".into(),
            CsvColumn::Op(OpCode::OneReads) => "op=1=read".into(),
            CsvColumn::Op(OpCode::ZeroReads) => "op=0=read".into(),
            CsvColumn::Offset { unit } => format!("lba={}", of_unit(unit)),
            CsvColumn::Size { unit } => format!("len={}", of_unit(unit)),
            CsvColumn::Device { named: true } => "dev=name".into(),
            CsvColumn::Device { named: false } => "dev=number".into(),
        });
        let parted = self.parting != Parting::Commas;
        let flags = [(self.header, "header"), (self.more, "..."), (parted, self.parting.words())];
        let [header, more, parted] = flags.map(|(is, word)| is.then(|| word.to_string()));
        let all: Vec<String> = header.into_iter().chain(words).chain(more).chain(parted).collect();
        f.write_str(&all.join(","))
    }
}

/// Parses one item of a list of columns, `name=unit`.
fn column(part: &str) -> Result<CsvColumn, Box<Diagnostic>> {
    let wrong = || Box::new(problem(format!("`{}` is no column", printable(part))).expected(PARTS));
    let (name, unit) = part.split_once('=').ok_or_else(wrong)?;
    let of_unit = |expected: &'static str| {
        let unit = printable(unit);
        Box::new(problem(format!("`{unit}` is not a unit of `{name}`")).expected(expected))
    };
    match (name, unit) {
        ("ts", unit) => {
            let digits = time_unit::by_name(unit);
            let wrong = || of_unit("s, ms, us, 100ns (Windows file time) or ns");
            digits.map(|digits| CsvColumn::Time { digits }).ok_or_else(wrong)
        }
        ("op", "rw") => Ok(CsvColumn::Op(OpCode::Words)),
        ("op", "1=read") => Ok(CsvColumn::Op(OpCode::OneReads)),
        ("op", "0=read") => Ok(CsvColumn::Op(OpCode::ZeroReads)),
        ("op", _) => Err(of_unit("rw (words or letters), 1=read or 0=read")),
        ("dev", "number") => Ok(CsvColumn::Device { named: false }),
        ("dev", "name") => Ok(CsvColumn::Device { named: true }),
        ("dev", _) => Err(of_unit("number or name")),
        ("lba" | "len", unit) => {
            let bytes = if unit == "bytes" { Some(1) } else { unit.parse().ok() };
            let unit = bytes.filter(|bytes| (1..=1 << 30).contains(bytes));
            let unit =
                unit.ok_or_else(|| of_unit("bytes, or the number of bytes per unit, such as 512"))?;
            let is_size = name == "len";
            Ok(if is_size { CsvColumn::Size { unit } } else { CsvColumn::Offset { unit } })
        }
        _ => Err(wrong()),
    }
}

fn problem(what: String) -> Diagnostic {
    Diagnostic::new("--columns", what)
        .hint("a list of columns is, for example: ts=us,op=rw,lba=512,len=bytes".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_in_order() {
        let given = CsvColumns::parse("ts=us,op=rw,lba=512,len=bytes").unwrap();
        assert_eq!(given, CsvColumns::default());
        let given = CsvColumns::parse(
            "dev=name, _, op=0=read, len=4096, lba=bytes, ts=100ns, ..., header, blanks",
        );
        let given = given.unwrap();
        let columns = [
            CsvColumn::Device { named: true },
            CsvColumn::Skipped,
            CsvColumn::Op(OpCode::ZeroReads),
            CsvColumn::Size { unit: 4096 },
            CsvColumn::Offset { unit: 1 },
            CsvColumn::Time { digits: 2 },
        ];
        assert_eq!(given.columns(), columns);
        assert!(given.header && given.more() && given.names_devices());
        assert_eq!(given.parting(), Parting::Blanks);
    }

    #[test]
    fn columns_are_printed_as_they_are_read() {
        for text in [
            "ts=us,op=rw,lba=512,len=bytes",
            "header,dev=name,_,op=0=read,len=4096,lba=bytes,ts=100ns,...,blanks",
            "ts=s,dev=number,op=1=read,len=bytes,lba=512",
            "ts=ns,op=rw,lba=512,len=512,blanks",
            "ts=ms,op=rw,lba=512,len=512",
            "header,ts=ms,op=rw,lba=512,len=512,tabs",
        ] {
            assert_eq!(CsvColumns::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn everything_wrong_is_reported_at_once() {
        for (text, problems) in [
            ("", &["`` is no column"][..]),
            ("ts=us,op=rw,lba=512", &["no column `len`: a trace without sizes"]),
            ("ts=us,lba=512,len=1", &["no column `op`: a trace without an operation column"]),
            ("ts=h,op=x,lba=0,len=-1", &["`h` is not a unit of `ts`", "`x`", "`0`", "`-1`"]),
            ("ts=s,ts=s,op=rw,lba=1,len=1", &["more than one column `ts`"]),
            ("ts=s,op=rw,lba=1,len=1,...,_", &["`_` comes after `...`"]),
            ("ts=s,op=rw,lba=1,len=1,wat", &["`wat` is no column"]),
            ("ts=s,op=rw,lba=1,len=1,tabs,blanks", &["more than one of `blanks` and `tabs`"]),
            ("ts=s,op=rw,lba=1,len=99999999999", &["`99999999999` is not a unit of `len`"]),
        ] {
            let error = CsvColumns::parse(text).unwrap_err();
            assert_eq!(error.0.len(), problems.len(), "{text}: {error}");
            for problem in problems {
                assert!(error.to_string().contains(problem), "{text}: {error}");
            }
        }
        let many = format!("ts=us,op=rw,lba=512,len=1{}", ",_".repeat(MOST_COLUMNS));
        assert!(CsvColumns::parse(&many).is_err());
    }
}
