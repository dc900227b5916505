//! A fast decoder for plain lines, reading directly from the text: digits, single separators, and
//! words as nearly every tracer writes them. It finds the end of the line along the way.
//!
//! A line accepted here is valid, and decodes as [`Fields`](crate::fields::Fields) would decode it.
//! Any other line is reported as not plain, and `Fields` reads it or reports its fault.

use crate::Cause;
use crate::columns::Columns;
use crate::extra::Extra;
use crate::fields::Fault;
use crate::left_out_events::Kind;
use crate::number::{SAFE_DIGITS, TEN_TO};

/// Why the fast decoder did not decode a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotPlain {
    /// The fast decoder cannot read the line, which may be valid: the full decoder, `Fields`, must
    /// read it.
    Open,
    /// A valid event that is skipped, recognized by the columns read so far, and its kind.
    OtherEvent(Kind),
}

/// The fast decoder of a line: a cursor over the columns of the first line of a text. It reads only
/// lines in the usual notation (digits, single separators) and gives up on all others.
#[derive(Clone, Debug)]
pub(crate) struct Plain<'a, const COMMA: bool> {
    /// Unread text of the trace line, starting at the separator or line end after the last field.
    rest: &'a [u8],
    /// True until the first field of the line is read.
    fresh: bool,
    host: Option<&'a [u8]>,
    /// True if the request of the line has forced unit access.
    pub forced: bool,
}

/// A word with the value 1 in each of its eight bytes.
const EACH: u64 = u64::from_ne_bytes([1; 8]);
/// A word with the highest bit of each of its eight bytes set.
const HIGH: u64 = EACH << 7;

/// Returns the number of bytes before the first separator, blank or line end among eight bytes of a
/// trace line; `None` if there is none among them.
#[inline(always)]
fn end_of_field<const COMMA: bool>(bytes: &[u8; 8]) -> Option<usize> {
    let bytes = u64::from_le_bytes(*bytes);
    // Borrows only reach bytes after the first match, so the first match is right.
    let below = |bytes: u64, bound: u8| bytes.wrapping_sub(EACH * u64::from(bound)) & !bytes & HIGH;
    let mut ends = below(bytes, b' ' + 1);
    if COMMA {
        ends |= below(bytes ^ (EACH * u64::from(b',')), 1);
    }
    (ends != 0).then(|| ends.trailing_zeros() as usize / 8)
}

/// Returns eight bytes as digit values. If not all are digits, also returns the number of bits that
/// the bytes before the first non-digit occupy.
#[inline]
fn digits(text: &[u8; 8]) -> (u64, Option<u32>) {
    let values = u64::from_le_bytes(*text) ^ (EACH * u64::from(b'0'));
    // Carries only reach bytes after the first non-digit, so the first non-digit is right.
    let others = (values.wrapping_add(EACH * (0x80 - 10)) | values) & HIGH;
    (values, (others != 0).then(|| others.trailing_zeros() & !7))
}

/// Returns a text without its leading blanks. Tracers that align their columns print leading
/// blanks.
#[cold]
fn behind_blanks(text: &[u8]) -> &[u8] {
    let mut rest = text;
    if let Some(bytes) = rest.first_chunk() {
        let others = u64::from_le_bytes(*bytes) ^ (EACH * u64::from(b' '));
        rest = &rest[others.trailing_zeros() as usize / 8..];
    }
    while let [b' ' | b'\t', behind @ ..] = rest {
        rest = behind;
    }
    rest
}

/// Returns the number formed by eight digits, the most significant in the lowest byte.
#[inline]
fn eight(values: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let first = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let second = (pairs >> 16 & PAIRS).wrapping_mul(1 + (10_000 << 32));
    first.wrapping_add(second) >> 32
}

/// Returns the number that the first `bits / 8` (0 to 7) of eight decimal digits form. Each byte of
/// `values` is the value of a digit, from the first digit in the lowest byte to the last in the
/// highest.
#[inline]
fn fewer(values: u64, bits: u32) -> u64 {
    // Shifted in two steps, because a shift by all 64 bits (no digits) would overflow.
    eight(values << 8 << (56 - bits))
}

/// Parses the digits at the beginning of a text. Returns the number and the digit count. The count
/// is also zero if there are too many digits for a `u64`, or too few bytes to read them by eights.
#[inline(always)]
fn number(text: &[u8]) -> (u64, usize) {
    let Some(first) = text.first_chunk() else { return (0, 0) };
    match digits(first) {
        (values, Some(bits)) => (fewer(values, bits), bits as usize / 8),
        (values, None) => long_number(eight(values), text),
    }
}

/// Parses the digits at the beginning of a text whose first eight digits have been parsed to
/// `high`. Returns the number and the digit count, or a zero count if the text is too short or the
/// number too long.
#[inline(never)]
fn long_number(high: u64, text: &[u8]) -> (u64, usize) {
    let next = |from: usize| text.get(from..).and_then(|text| text.first_chunk()).map(digits);
    match next(8) {
        None => (0, 0),
        Some((values, Some(bits))) => {
            let count = bits as usize / 8;
            (high * TEN_TO[count] + fewer(values, bits), 8 + count)
        }
        Some((values, None)) => match next(16) {
            Some((last, Some(bits))) if 16 + bits as usize / 8 <= SAFE_DIGITS => {
                let high = high * TEN_TO[8] + eight(values);
                let count = bits as usize / 8;
                (high * TEN_TO[count] + fewer(last, bits), 16 + count)
            }
            _ => (0, 0),
        },
    }
}

impl<'a, const COMMA: bool> Plain<'a, COMMA> {
    /// Returns a cursor on the first line of `text`.
    #[inline(always)]
    pub fn of(text: &'a [u8]) -> Self {
        Plain { rest: text, fresh: true, host: None, forced: false }
    }

    /// Returns the trace text after the line being decoded; `None` if the decoder has not read the
    /// line's last field fully, or the text ends before the line does.
    #[inline(always)]
    pub fn next_line(&self) -> Option<&'a [u8]> {
        match *self.rest {
            [b'\n', ref next @ ..] => Some(next),
            [byte, ..] if byte == b'\r' || Self::separates(byte) => {
                let end = memchr::memchr(b'\n', self.rest)?;
                // A carriage return anywhere else is not a blank of the format.
                (byte != b'\r' || end == 1).then(|| &self.rest[end + 1..])
            }
            _ => None,
        }
    }

    /// Returns the traced machine (host) that the trace line names; `None` if it names none.
    #[inline(always)]
    pub fn host(&self) -> Option<&'a [u8]> {
        self.host
    }

    #[inline(always)]
    fn separates(byte: u8) -> bool {
        if COMMA { byte == b',' } else { byte == b' ' || byte == b'\t' }
    }

    /// Moves to the beginning of the next field of the trace line.
    #[inline(always)]
    fn begin(&mut self) -> Result<(), NotPlain> {
        if !std::mem::take(&mut self.fresh) {
            match *self.rest {
                [byte, ref rest @ ..] if Self::separates(byte) => self.rest = rest,
                _ => return Err(NotPlain::Open),
            }
        }
        if !COMMA && matches!(self.rest, [b'\0'..=b' ', ..]) {
            self.rest = behind_blanks(self.rest);
        }
        Ok(())
    }

    /// Parses the next number of the trace line; returns it with the number of its digits.
    #[inline(always)]
    fn digits(&mut self) -> Result<(u64, usize), NotPlain> {
        let (value, count) = number(self.rest);
        match self.rest.get(count..) {
            Some(rest) if count > 0 => self.rest = rest,
            _ => return Err(NotPlain::Open),
        }
        Ok((value, count))
    }
}

impl<'a, const COMMA: bool> Columns<'a> for Plain<'a, COMMA> {
    const SEVERAL: bool = false;

    type Fault = NotPlain;

    #[inline(always)]
    fn fault(fault: Fault<'a>) -> NotPlain {
        match fault.cause {
            Cause::OtherEvent => NotPlain::OtherEvent(fault.kind),
            _ => NotPlain::Open,
        }
    }

    /// Reads the next field. The fast decoder gives up on a field that contains a blank.
    #[inline(always)]
    fn next(&mut self, _: &'static str) -> Result<&'a [u8], NotPlain> {
        self.begin()?;
        let mut length = 0;
        loop {
            let bytes = self.rest.get(length..).and_then(|rest| rest.first_chunk());
            match end_of_field::<COMMA>(bytes.ok_or(NotPlain::Open)?) {
                Some(end) => {
                    length += end;
                    break;
                }
                None => length += 8,
            }
        }
        if !COMMA && length == 0 {
            return Err(NotPlain::Open);
        }
        let (field, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(field)
    }

    fn peek(&self) -> Result<Option<&'a [u8]>, NotPlain> {
        if self.rest.starts_with(b"\n") { Ok(None) } else { self.clone().next("").map(Some) }
    }

    #[inline(always)]
    fn unsigned(&mut self, _: &'static str) -> Result<u64, NotPlain> {
        self.begin()?;
        Ok(self.digits()?.0)
    }

    #[inline(always)]
    fn pair(&mut self, column: &'static str) -> Result<(u64, u64, &'a [u8]), NotPlain> {
        let first = self.unsigned(column)?;
        let [b',', rest @ ..] = self.rest else { return Err(NotPlain::Open) };
        self.rest = rest;
        Ok((first, self.digits()?.0, b""))
    }

    #[inline(always)]
    fn small(&mut self, column: &'static str) -> Result<u64, NotPlain> {
        let mut after = self.clone();
        after.begin()?;
        if let [digit @ b'0'..=b'9', next, ..] = after.rest
            && Self::separates(*next)
        {
            *self = Plain { rest: &after.rest[1..], ..after };
            return Ok(u64::from(digit - b'0'));
        }
        self.unsigned(column)
    }

    #[inline(always)]
    fn hexadecimal(&mut self, _: &'static str) -> Result<u64, NotPlain> {
        self.begin()?;
        if let [digit @ b'0'..=b'9', b'\n', ..] = self.rest {
            self.rest = &self.rest[1..];
            return Ok(u64::from(digit - b'0'));
        }
        let (mut value, mut count) = (0, 0);
        while let [byte, rest @ ..] = self.rest
            && let Some(digit) = char::from(*byte).to_digit(16)
        {
            (value, count) = (value << 4 | u64::from(digit), count + 1);
            self.rest = rest;
        }
        if (1..=16).contains(&count) { Ok(value) } else { Err(NotPlain::Open) }
    }

    #[inline(always)]
    fn time(&mut self, _: &'static str, digits: usize) -> Result<u64, NotPlain> {
        self.begin()?;
        let (whole, before) = self.digits()?;
        let [b'.', rest @ ..] = self.rest else { return Err(NotPlain::Open) };
        self.rest = rest;
        let (part, after) = self.digits()?;
        if before + 9 > SAFE_DIGITS || after > digits {
            return Err(NotPlain::Open);
        }
        Ok(whole * TEN_TO[digits] + part * TEN_TO[digits - after])
    }

    #[inline(always)]
    fn whole_time(&mut self, column: &'static str, scale: u64) -> Result<u64, NotPlain> {
        self.unsigned(column)?.checked_mul(scale).ok_or(NotPlain::Open)
    }

    #[inline(always)]
    fn word<T: Copy>(
        &mut self,
        _: &'static str,
        words: &[(&'static [u8], T)],
        _: &'static str,
    ) -> Result<T, NotPlain> {
        self.begin()?;
        // Reads and writes mix at random, which defeats branch prediction: compare all words
        // without branching.
        let (mut meant, mut length) = (words[0].1, 0);
        for &(word, means) in words {
            let is = self.rest.starts_with(word);
            meant = if is { means } else { meant };
            length = if is { word.len() } else { length };
        }
        self.rest = self.rest.get(length..).ok_or(NotPlain::Open)?;
        if length > 0 { Ok(meant) } else { Err(NotPlain::Open) }
    }

    /// Returns that the fast decoder cannot read the record: it leaves records of binary formats to
    /// the full decoder.
    fn bytes(&mut self) -> Result<&'a [u8], NotPlain> {
        Err(NotPlain::Open)
    }

    #[inline(always)]
    fn host_is(&mut self, name: &'a [u8]) {
        self.host = Some(name);
    }

    #[inline(always)]
    fn host_named(&mut self, column: &'static str) -> Result<(), NotPlain> {
        self.host = Some(self.next(column)?);
        Ok(())
    }

    #[inline(always)]
    fn extra(&mut self, extra: Extra) -> Result<(), NotPlain> {
        self.forced |= extra.forced;
        let only_forced = Extra { forced: extra.forced, ..Extra::NONE };
        if extra == only_forced { Ok(()) } else { Err(NotPlain::Open) }
    }

    #[inline(always)]
    fn skip_long(&mut self, _: &'static str) -> Result<(), NotPlain> {
        self.begin()?;
        if self.rest.first().is_none_or(|&byte| byte <= b' ') {
            return Err(NotPlain::Open);
        }
        let length = memchr::memchr3(b' ', b'\t', b'\n', self.rest).ok_or(NotPlain::Open)?;
        self.rest = &self.rest[length..];
        Ok(())
    }

    /// Checks that the line ends after the last field read. A line with trailing blanks is left to
    /// the full decoder, `Fields`.
    #[inline(always)]
    fn finish(&mut self) -> Result<(), NotPlain> {
        match *self.rest {
            [b'\n', ..] | [b'\r', b'\n', ..] => Ok(()),
            _ => Err(NotPlain::Open),
        }
    }
}

#[cfg(test)]
mod tests;
