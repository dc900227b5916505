//! The columns of one line, without copying: separated by commas, by tabs, or by runs of spaces
//! and tabs.
//!
//! Numbers are parsed while scanning for their end. Only a line with anything but plain digits and
//! separators takes the slow path, which isolates the field first and reports what is wrong with
//! it.

use crate::Cause;
use crate::binary::hexadecimal;
use crate::columns::Columns;
use crate::extra::Extra;
use crate::left_out_events::Kind;
use crate::number::{self, NumberError, SAFE_DIGITS, TEN_TO, decimal_ns, unsigned};
use fowler_units::{Diagnostic, printable};

/// Why a trace line is not a record. Borrows from the line; a message is built only if it is
/// printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault<'a> {
    /// Kind of fault that the line of the trace has.
    pub cause: Cause,
    /// Name of the faulty column; empty if the fault concerns the whole line.
    pub column: &'static str,
    /// Text that the line has in the faulty column.
    pub field: &'a [u8],
    /// Accepted words or numbers, if the faulty column allows only certain ones; else empty.
    pub expected: &'static str,
    /// For [`Cause::OtherEvent`]: number of the kind of event, by which it is counted; 0 if it is
    /// not counted.
    pub kind: u8,
}

impl<'a> Fault<'a> {
    pub(crate) fn new(cause: Cause, column: &'static str, field: &'a [u8]) -> Fault<'a> {
        Fault { cause, column, field, expected: "", kind: 0 }
    }

    /// Returns the fault of an event that the reader skips and counts.
    #[inline(always)]
    pub(crate) fn left_out(kind: Kind, column: &'static str, field: &'a [u8]) -> Fault<'a> {
        Fault { kind, ..Fault::new(Cause::OtherEvent, column, field) }
    }

    pub(crate) fn number(error: NumberError, column: &'static str, field: &'a [u8]) -> Fault<'a> {
        let cause = match error {
            NumberError::NotANumber | NumberError::Negative => Cause::NotANumber,
            NumberError::TooLarge => Cause::TooLarge,
        };
        Fault::new(cause, column, field)
    }

    /// Returns the fault of the line as a diagnostic, without file and line number.
    pub fn diagnostic(&self) -> Diagnostic {
        let column = self.column;
        let shown = printable(&self.field[..self.field.len().min(40)]);
        let negative = self.field.starts_with(b"-");
        let diagnostic = Diagnostic::of(match self.cause {
            Cause::Header if !shown.is_empty() => {
                format!("unexpected column `{shown}` in the header")
            }
            Cause::Header => "the header row is missing".into(),
            Cause::TooFewColumns => format!("column `{column}` is missing"),
            Cause::TooManyColumns => format!("too many columns, starting at `{shown}`"),
            Cause::NotANumber if shown.is_empty() => format!("`{column}` is empty"),
            Cause::NotANumber if negative => format!("`{shown}` in `{column}` is negative"),
            Cause::NotANumber => format!("`{shown}` in `{column}` is not a number"),
            Cause::TooLarge if shown.is_empty() => format!("`{column}` is too large"),
            Cause::TooLarge => format!("`{shown}` in `{column}` is too large"),
            Cause::NegativeTime => format!("`{shown}` in `{column}` is a negative time"),
            Cause::UnknownOp => format!("`{shown}` in `{column}` is not a known operation"),
            Cause::ZeroLength => format!("`{column}` is zero: a request must have at least 1 byte"),
            Cause::FlushWithRange => "a flush must not have an offset or a size".into(),
            Cause::Contradiction => {
                format!("`{column}` contradicts the other columns of the line, or earlier lines")
            }
            Cause::BadRecord if shown.is_empty() => self.cause.words().into(),
            Cause::BadRecord => format!("`{column}` is {}", hexadecimal(self.field)),
            Cause::BackInTime
            | Cause::OtherHost
            | Cause::TooManyDevices
            | Cause::LineTooLong
            | Cause::CutShort
            | Cause::OtherEvent => self.cause.words().into(),
        });
        match self.cause {
            Cause::TooLarge if self.expected.is_empty() => diagnostic
                .expected("numbers within the limits: offset + size below 2^64 bytes, size below 4 GiB (a trim: up to 256 TiB), time up to 292 years"),
            Cause::ZeroLength if self.expected.is_empty() => {
                diagnostic.expected("a size of at least 1")
            }
            Cause::NegativeTime => diagnostic.expected("a time of at least 0"),
            Cause::FlushWithRange => diagnostic.expected("offset 0 and size 0"),
            Cause::NotANumber if negative => diagnostic.expected("a number of at least 0"),
            _ => diagnostic.expected(self.expected),
        }
    }
}

/// A cursor over the columns of a line. Each `MARK`, a comma or a tab, ends a column; a blank as
/// `MARK` stands for runs of spaces and tabs.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a, const MARK: u8> {
    line: &'a [u8],
    /// Start of the next field; beyond the end of the line if there is none.
    at: usize,
    host: Option<&'a [u8]>,
    extra: Extra,
}

/// Comma-separated columns; blanks around a field are ignored.
pub(crate) type Commas<'a> = Fields<'a, b','>;
/// Columns separated by tabs; spaces around a field are ignored.
pub(crate) type Tabs<'a> = Fields<'a, b'\t'>;
/// Columns separated by runs of spaces and tabs.
pub(crate) type Blanks<'a> = Fields<'a, b' '>;

impl<'a, const MARK: u8> Fields<'a, MARK> {
    /// True if each separator character ends a column, so that columns may be empty; false if a run
    /// of separators counts as one.
    const SINGLE: bool = MARK != b' ';

    /// Returns true if a byte around a field is ignored.
    #[inline]
    fn is_blank(byte: u8) -> bool {
        byte == b' ' || byte == b'\t' && MARK != b'\t'
    }

    /// Returns a decoder of the columns of a trace line, at its first column. `line` has neither a
    /// line end nor blanks at either end.
    #[inline]
    pub fn of(line: &'a [u8]) -> Self {
        let mut fields = Fields { line, at: 0, host: None, extra: Extra::NONE };
        fields.skip_blanks();
        fields
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while self.line.get(self.at).is_some_and(|&byte| Self::is_blank(byte)) {
            self.at += 1;
        }
    }

    /// Returns true if a field ends at `index`, and then moves to the next field.
    #[inline]
    fn end_at(&mut self, index: usize) -> bool {
        match self.line.get(index) {
            None => self.at = self.line.len() + 1,
            Some(&byte) if Self::SINGLE && byte == MARK => self.at = index + 1,
            Some(&byte) if !Self::SINGLE && Self::is_blank(byte) => self.at = index + 1,
            _ => return false,
        }
        self.skip_blanks();
        true
    }

    /// Returns the traced machine (host) that the line of the trace names; `None` if it names none.
    #[inline]
    pub fn host(&self) -> Option<&'a [u8]> {
        self.host
    }

    /// Returns the flags and further requests that the line asks for beside its own request.
    #[inline]
    pub fn noted(&self) -> Extra {
        self.extra
    }

    /// Parses digits from index `from`. Returns their value (meaningless beyond 19 digits) and the
    /// index after the last digit.
    #[inline]
    fn digits(&self, from: usize) -> (u64, usize) {
        let mut value = 0u64;
        let mut end = from;
        while let Some(&byte) = self.line.get(end) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            end += 1;
        }
        (value, end)
    }

    #[cold]
    fn unsigned_slowly(&mut self, column: &'static str) -> Result<u64, Fault<'a>> {
        let field = self.next(column)?;
        unsigned(field).map_err(|error| Fault::number(error, column, field))
    }

    #[cold]
    fn time_slowly(&mut self, column: &'static str, digits: usize) -> Result<u64, Fault<'a>> {
        let field = self.next(column)?;
        decimal_ns(field, digits).map_err(|error| match error {
            NumberError::Negative => Fault::new(Cause::NegativeTime, column, field),
            other => Fault::number(other, column, field),
        })
    }
}

impl<'a, const MARK: u8> Columns<'a> for Fields<'a, MARK> {
    type Fault = Fault<'a>;

    #[inline]
    fn fault(fault: Fault<'a>) -> Fault<'a> {
        fault
    }

    #[inline]
    fn next(&mut self, column: &'static str) -> Result<&'a [u8], Fault<'a>> {
        let start = self.at;
        if start > self.line.len() || (!Self::SINGLE && start == self.line.len()) {
            return Err(Fault::new(Cause::TooFewColumns, column, b""));
        }
        let mut end = start;
        while self
            .line
            .get(end)
            .is_some_and(|&byte| if Self::SINGLE { byte != MARK } else { !Self::is_blank(byte) })
        {
            end += 1;
        }
        let ended = self.end_at(end);
        debug_assert!(ended, "a field runs up to a separator or the line's end");
        Ok(self.line[start..end].trim_ascii_end())
    }

    fn peek(&self) -> Result<Option<&'a [u8]>, Fault<'a>> {
        Ok(self.clone().next("").ok())
    }

    #[inline]
    fn finish(&mut self) -> Result<(), Fault<'a>> {
        let rest = self.line.get(self.at..);
        match rest {
            None => Ok(()),
            Some([]) if !Self::SINGLE => Ok(()),
            Some(rest) => Err(Fault::new(Cause::TooManyColumns, "", rest)),
        }
    }

    #[inline]
    fn unsigned(&mut self, column: &'static str) -> Result<u64, Fault<'a>> {
        let (value, end) = self.digits(self.at);
        if (1..=SAFE_DIGITS).contains(&(end - self.at)) && self.end_at(end) {
            return Ok(value);
        }
        self.unsigned_slowly(column)
    }

    fn pair(&mut self, column: &'static str) -> Result<(u64, u64, &'a [u8]), Fault<'a>> {
        let field = self.next(column)?;
        let mut numbers = Commas::of(field);
        let (first, second) = (numbers.unsigned(column)?, numbers.unsigned(column)?);
        numbers.finish()?;
        Ok((first, second, field))
    }

    fn hexadecimal(&mut self, column: &'static str) -> Result<u64, Fault<'a>> {
        let field = self.next(column)?;
        number::hexadecimal(field).map_err(|error| Fault::number(error, column, field))
    }

    #[inline]
    fn time(&mut self, column: &'static str, digits: usize) -> Result<u64, Fault<'a>> {
        let start = self.at;
        let (whole, point) = self.digits(start);
        if self.line.get(point) == Some(&b'.') {
            let (part, end) = self.digits(point + 1);
            let (before, after) = (point - start, end - point - 1);
            let plain = before >= 1 && after >= 1 && after <= digits && before + 9 <= SAFE_DIGITS;
            if plain && self.end_at(end) {
                // At most 10 digits before the point and 9 behind it: below 10^19 ns.
                return Ok(whole * TEN_TO[digits] + part * TEN_TO[digits - after]);
            }
        }
        self.time_slowly(column, digits)
    }

    #[inline]
    fn whole_time(&mut self, column: &'static str, scale: u64) -> Result<u64, Fault<'a>> {
        let start = self.at;
        let count = self.unsigned(column).map_err(|mut fault| {
            if fault.cause == Cause::NotANumber
                && unsigned(fault.field) == Err(NumberError::Negative)
            {
                fault.cause = Cause::NegativeTime;
            }
            fault
        })?;
        count.checked_mul(scale).ok_or_else(|| {
            let field = Fields::<'a, MARK> { at: start, ..self.clone() }.next(column);
            Fault::new(Cause::TooLarge, column, field.unwrap_or_default())
        })
    }

    #[inline]
    fn word<T: Copy>(
        &mut self,
        column: &'static str,
        words: &[(&'static [u8], T)],
        expected: &'static str,
    ) -> Result<T, Fault<'a>> {
        let field = self.next(column)?;
        match words.iter().find(|(word, _)| *word == field) {
            Some(&(_, meant)) => Ok(meant),
            None => Err(Fault { expected, ..Fault::new(Cause::UnknownOp, column, field) }),
        }
    }

    #[inline]
    fn bytes(&mut self) -> Result<&'a [u8], Fault<'a>> {
        self.at = self.line.len() + 1;
        Ok(self.line)
    }

    #[inline]
    fn host_is(&mut self, name: &'a [u8]) {
        self.host = Some(name);
    }

    #[inline]
    fn host_named(&mut self, column: &'static str) -> Result<(), Fault<'a>> {
        self.host = Some(self.next(column)?.trim_ascii());
        Ok(())
    }

    #[inline]
    fn extra(&mut self, extra: Extra) -> Result<(), Fault<'a>> {
        self.extra = self.extra.and(extra);
        Ok(())
    }

    #[inline]
    fn skip_long(&mut self, column: &'static str) -> Result<(), Fault<'a>> {
        let rest = self.line.get(self.at..).unwrap_or_default();
        if rest.is_empty() {
            return Err(Fault::new(Cause::TooFewColumns, column, b""));
        }
        let length = memchr::memchr2(b' ', b'\t', rest).unwrap_or(rest.len());
        self.end_at(self.at + length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_part_fields_and_blanks_around_them_do_not_count() {
        let mut fields = Commas::of(b"1, 2 ,,x y");
        assert_eq!(fields.unsigned("a"), Ok(1));
        assert_eq!(fields.unsigned("b"), Ok(2));
        assert_eq!(fields.next("c"), Ok(&b""[..]));
        assert_eq!(fields.clone().finish().unwrap_err().cause, Cause::TooManyColumns);
        assert_eq!(fields.next("d"), Ok(&b"x y"[..]));
        assert_eq!(fields.finish(), Ok(()));
        assert_eq!(fields.next("e").unwrap_err().cause, Cause::TooFewColumns);
        assert_eq!(fields.unsigned("e").unwrap_err().cause, Cause::TooFewColumns);
    }

    #[test]
    fn a_trailing_comma_is_one_more_column() {
        let mut fields = Commas::of(b"1,");
        assert_eq!(fields.unsigned("a"), Ok(1));
        assert_eq!(fields.clone().finish().unwrap_err().cause, Cause::TooManyColumns);
        assert_eq!(fields.unsigned("b").unwrap_err().cause, Cause::NotANumber);
    }

    #[test]
    fn each_tab_ends_a_field_and_spaces_are_part_of_it() {
        let mut fields = Tabs::of(b"\tx y \t\t 7");
        assert_eq!(fields.next("a"), Ok(&b""[..]));
        assert_eq!(fields.next("b"), Ok(&b"x y"[..]));
        assert_eq!(fields.next("c"), Ok(&b""[..]));
        assert_eq!(fields.unsigned("d"), Ok(7));
        assert_eq!(fields.finish(), Ok(()));
    }

    #[test]
    fn runs_of_blanks_part_fields() {
        let mut fields = Blanks::of(b" 1 \t 2\t0x1f");
        assert_eq!(fields.unsigned("a"), Ok(1));
        assert_eq!(fields.unsigned("b"), Ok(2));
        assert_eq!(fields.hexadecimal("c"), Ok(31));
        assert_eq!(fields.finish(), Ok(()));
        assert_eq!(fields.time("d", 6).unwrap_err().cause, Cause::TooFewColumns);
    }

    #[test]
    fn the_fast_and_the_slow_way_agree() {
        let numbers = ["0", "7", "00012", "9999999999999999999", "18446744073709551615"];
        for text in numbers {
            let value: u64 = text.parse().unwrap();
            assert_eq!(Commas::of(text.as_bytes()).unsigned("n"), Ok(value));
            assert_eq!(unsigned(text.as_bytes()), Ok(value));
        }
        for text in
            ["0.5", "12.000001", "9999999999.999999", "1.0000005", "7", "7.", ".25", "1e9", "-1"]
        {
            let fast = Blanks::of(text.as_bytes()).time("t", 6).ok();
            assert_eq!(fast, decimal_ns(text.as_bytes(), 6).ok(), "{text}");
        }
    }

    #[test]
    fn times_before_zero_are_told_from_words() {
        assert_eq!(Blanks::of(b"-5").whole_time("t", 1).unwrap_err().cause, Cause::NegativeTime);
        assert_eq!(Blanks::of(b"-5.0").time("t", 6).unwrap_err().cause, Cause::NegativeTime);
        assert_eq!(Blanks::of(b"x").whole_time("t", 1).unwrap_err().cause, Cause::NotANumber);
        let late = Blanks::of(b"18446744073709551615 2").whole_time("t", 1000).unwrap_err();
        assert_eq!((late.cause, late.field), (Cause::TooLarge, &b"18446744073709551615"[..]));
    }
}
