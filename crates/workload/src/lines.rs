//! Splits text into lines without copying or allocating a `String`: one reused buffer, searched
//! with `memchr`.

use crate::binary::{Binary, LONGEST_RECORD};
use crate::source::Text;
use std::io::{self, ErrorKind};

/// Largest number of bytes of a line that are examined; no record of any format is that long.
pub(crate) const LONGEST_LINE: usize = 1 << 16;

/// Number of bytes of the trace that are read from its file or stream at once.
const CHUNK: usize = 1 << 18;

/// True if the line holds no record in any format: it is blank, a comment (it begins with `#`), or
/// the line with which bpftrace begins its output (`Attaching 3 probes...`).
#[inline]
pub(crate) fn is_remark(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    match line.first() {
        None | Some(b'#') => true,
        Some(b'A') => is_of_bpftrace(line),
        Some(_) => false,
    }
}

#[cold]
fn is_of_bpftrace(line: &[u8]) -> bool {
    let count = line.strip_prefix(b"Attaching ").and_then(|rest| {
        let rest = rest.trim_ascii_end();
        rest.strip_suffix(b" probes...").or_else(|| rest.strip_suffix(b" probe..."))
    });
    count.is_some_and(|count| !count.is_empty() && count.iter().all(u8::is_ascii_digit))
}

/// One line of a text, without its line end, or one record of a binary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A complete line or record.
    Whole(&'a [u8]),
    /// The beginning of a line that is longer than [`LONGEST_LINE`].
    TooLong(&'a [u8]),
    /// A record of a binary format that the end of the file cuts short.
    CutShort(&'a [u8]),
    /// Bytes of a binary format with which no record begins; the rest of the file is unreadable.
    NoRecord(&'a [u8]),
}

impl<'a> Line<'a> {
    /// Returns the bytes of this line of the trace, complete or not.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Line::Whole(bytes)
            | Line::TooLong(bytes)
            | Line::CutShort(bytes)
            | Line::NoRecord(bytes) => bytes,
        }
    }
}

/// The lines of a text. A line ends at `\n`, `\r\n` or the end of the text; a byte order mark is
/// skipped.
pub(crate) struct Lines {
    text: Text,
    buffer: Vec<u8>,
    /// Start of the unread part of the trace text in `buffer`, which is `buffer[start..end]`.
    start: usize,
    end: usize,
    at_end: bool,
    /// True while the rest of a line longer than [`LONGEST_LINE`] is dropped.
    skipping: bool,
    /// The error by which reading failed at the beginning of the trace; reported after the lines
    /// before it.
    torn: Option<io::Error>,
    /// Line returned last, as a range of the buffer.
    last: (usize, usize),
    /// Number of comments and blank lines dropped from the beginning while searching for the first
    /// record.
    dropped: u64,
    /// True if the text of the trace ended without a newline.
    cut: bool,
    /// Byte offset of the record returned last in a binary trace file.
    record: u64,
    next_record: u64,
    /// Number of bytes of the trace's text read from its file or stream so far, decompressed.
    read: u64,
}

impl Lines {
    /// Returns the lines of a trace, `text`, with the beginning of the text already checked and
    /// buffered.
    #[cfg(test)]
    pub fn of(text: Text) -> io::Result<Lines> {
        let mut lines = Lines::raw(text)?;
        lines.begin_text()?;
        Ok(lines)
    }

    /// Returns the lines, or the records of a binary format, of a trace, `text`, and fills the
    /// buffer from its beginning.
    pub fn raw(text: Text) -> io::Result<Lines> {
        let buffer = vec![0; CHUNK];
        let mut lines = Lines {
            text,
            buffer,
            start: 0,
            end: 0,
            at_end: false,
            skipping: false,
            torn: None,
            last: (0, 0),
            dropped: 0,
            cut: false,
            record: 0,
            next_record: 0,
            read: 0,
        };
        lines.fill_head()?;
        Ok(lines)
    }

    /// Prepares to read a file as text: skips a byte order mark and, if the beginning holds only
    /// comments, drops comments until a record is in view.
    pub fn begin_text(&mut self) -> io::Result<()> {
        if self.buffer[..self.end].starts_with(b"\xef\xbb\xbf") {
            self.start = 3;
        }
        while self.torn.is_none() && !self.at_end && self.drop_remarks() {
            self.fill_head()?;
        }
        Ok(())
    }

    /// Reads from the source until the buffer for the beginning of the file is full or the text
    /// ends.
    fn fill_head(&mut self) -> io::Result<()> {
        while !self.at_end && self.end - self.start < LONGEST_LINE {
            if let Err(error) = self.fill() {
                if self.end == self.start {
                    return Err(error);
                }
                self.torn = Some(error);
                break;
            }
        }
        Ok(())
    }

    /// Drops the buffered beginning of the text, up to the last line end, if all its lines are
    /// comments or blank. Returns true if it dropped any.
    fn drop_remarks(&mut self) -> bool {
        let Some(end) = memchr::memrchr(b'\n', self.head()) else { return false };
        let mut whole = self.head()[..end].split(|&byte| byte == b'\n');
        if !whole.all(is_remark) {
            return false;
        }
        self.dropped += memchr::memchr_iter(b'\n', &self.head()[..=end]).count() as u64;
        self.start += end + 1;
        true
    }

    /// Returns how many comments and blank lines at the beginning were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the beginning of the trace text whose lines have not been returned yet.
    pub fn head(&self) -> &[u8] {
        &self.buffer[self.start..self.end.min(self.start + LONGEST_LINE)]
    }

    /// Returns the I/O error that occurred while the beginning of the text ([`Lines::head`]) was
    /// read, if one did.
    pub fn torn(&self) -> Option<&io::Error> {
        self.torn.as_ref()
    }

    /// Returns true if [`Lines::head`], the buffered text that has not been returned yet, is the
    /// whole rest of the text.
    pub fn head_is_all(&self) -> bool {
        self.at_end && self.end - self.start <= LONGEST_LINE
    }

    /// Returns true if the text of the trace ended in the middle of a line, so that the last number
    /// in it may be cut short.
    pub fn cut(&self) -> bool {
        self.cut
    }

    /// Returns the last line returned by [`Lines::next`].
    pub fn last(&self) -> &[u8] {
        &self.buffer[self.last.0..self.last.1]
    }

    /// Returns the buffered text, starting with the first line not returned yet. Empty in the
    /// middle of a line whose beginning was returned as [`Line::TooLong`].
    #[inline]
    pub fn ahead(&self) -> &[u8] {
        if self.skipping { b"" } else { &self.buffer[self.start..self.end] }
    }

    /// Marks the first `length` bytes of the buffered text that has not been returned yet as
    /// returned; they must be whole lines.
    #[inline]
    pub fn pass(&mut self, length: usize) {
        self.start += length;
    }

    /// Returns the last `length` bytes of the trace's text that the method `pass` marked as
    /// returned to the caller.
    pub fn passed(&self, length: usize) -> &[u8] {
        &self.buffer[self.start - length..self.start]
    }

    /// Reads more of the trace's file or stream into the text buffer.
    fn fill(&mut self) -> io::Result<()> {
        if let Some(error) = self.torn.take() {
            return Err(error);
        }
        if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        loop {
            match self.text.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => {
                    self.end += count;
                    self.read += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    /// Reads more text of the trace and discards it. Returns the number of bytes discarded; zero at
    /// the end of the trace.
    pub fn drop_some(&mut self) -> io::Result<usize> {
        (self.start, self.end) = (0, 0);
        if !self.at_end {
            self.fill()?;
        }
        Ok(self.end)
    }

    /// Returns the number of bytes of the trace's text whose lines were returned to the caller, one
    /// by one or in batches.
    pub fn position(&self) -> u64 {
        self.read - (self.end - self.start) as u64
    }

    /// Returns the byte offset in the trace file at which the last record begins.
    pub fn record_at(&self) -> u64 {
        self.record
    }

    /// Returns the next record of a binary format; `None` at the end of the file.
    pub fn next_record(&mut self, binary: &Binary) -> io::Result<Option<Line<'_>>> {
        if self.next_record == 0 {
            let preamble = (binary.preamble)(self.head()).min(self.end - self.start);
            self.start += preamble;
            self.next_record += preamble as u64;
        }
        let mut due = binary.head;
        loop {
            let bytes = &self.buffer[self.start..self.end];
            if bytes.len() >= due {
                match (binary.length)(bytes) {
                    Some(length) if length <= bytes.len() => {
                        return Ok(Some(Line::Whole(self.pass_record(length))));
                    }
                    Some(length) => due = length.min(LONGEST_RECORD),
                    None => {
                        let left = self.end - self.start;
                        return Ok(Some(Line::NoRecord(self.pass_record(left))));
                    }
                }
            } else if self.at_end {
                let left = self.end - self.start;
                let cut = (left > 0).then(|| Line::CutShort(self.pass_record(left)));
                return Ok(cut);
            } else {
                self.fill()?;
            }
        }
    }

    /// Returns the next `length` bytes of the buffered text and marks them as returned.
    fn pass_record(&mut self, length: usize) -> &[u8] {
        self.record = self.next_record;
        self.next_record += length as u64;
        self.last = (self.start, self.start + length);
        self.start += length;
        &self.buffer[self.last.0..self.last.1]
    }

    /// Returns the next line of the trace; `None` at the end of its text.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = self.start;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let (start, end) = (self.start, searched + found);
                self.start = end + 1;
                if std::mem::take(&mut self.skipping) {
                    searched = self.start;
                    continue;
                }
                let line = &self.buffer[start..end];
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                self.last = (start, start + line.len());
                return Ok(Some(Line::Whole(line)));
            }
            if self.skipping {
                self.start = self.end;
            } else if self.end - self.start > LONGEST_LINE {
                self.skipping = true;
                let start = std::mem::replace(&mut self.start, self.end);
                return Ok(Some(Line::TooLong(&self.buffer[start..self.end])));
            }
            if self.at_end {
                let start = std::mem::replace(&mut self.start, self.end);
                self.last = (start, self.end);
                let line = &self.buffer[start..self.end];
                self.cut |= !line.is_empty();
                return Ok((!line.is_empty()).then_some(Line::Whole(line)));
            }
            let held = self.end - self.start;
            self.fill()?;
            searched = self.start + held;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// A source that returns a text in pieces of a given size, then fails if asked to.
    struct Pieces {
        text: Vec<u8>,
        at: usize,
        size: usize,
        fails: bool,
    }

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.size.min(self.text.len() - self.at).min(buffer.len());
            buffer[..count].copy_from_slice(&self.text[self.at..self.at + count]);
            self.at += count;
            if count == 0 && self.fails { Err(io::Error::other("torn")) } else { Ok(count) }
        }
    }

    fn lines_of(text: &[u8], size: usize, fails: bool) -> (Vec<Vec<u8>>, Option<String>) {
        let source = Pieces { text: text.to_vec(), at: 0, size, fails };
        let mut lines = Lines::of(Box::new(source)).unwrap();
        let mut found = Vec::new();
        loop {
            match lines.next() {
                Ok(Some(Line::Whole(line))) => found.push(line.to_vec()),
                Ok(Some(_)) => found.push(b"TOO LONG".to_vec()),
                Ok(None) => return (found, None),
                Err(error) => return (found, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn every_line_end_is_understood_however_the_text_arrives() {
        for size in [1, 2, 3, 1000] {
            let (lines, error) = lines_of(b"\xef\xbb\xbfa\r\nb\n\n c\r\nlast", size, false);
            assert_eq!(lines, [&b"a"[..], b"b", b"", b" c", b"last"]);
            assert_eq!(error, None);
        }
        assert_eq!(lines_of(b"", 1, false).0, Vec::<Vec<u8>>::new());
        assert_eq!(lines_of(b"a\n", 1, false).0, [b"a"]);
    }

    /// A trace may begin with more comments than the head holds; detection still sees its first
    /// record.
    #[test]
    fn the_first_line_of_bpftrace_is_a_remark() {
        for line in ["Attaching 1 probe...", "Attaching 12 probes...\r", "# a", "", "  "] {
            assert!(is_remark(line.as_bytes()), "{line}");
        }
        for line in ["Attaching probes...", "Attaching 1 probe... 5", "A,1,2,3", "0,#,1"] {
            assert!(!is_remark(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn the_head_shows_what_follows_long_comments() {
        for count in [1, 6_000, 100_000] {
            let text = [b"# remark 12\n".repeat(count), b"\n0,1\n2,3".to_vec()].concat();
            for size in [777, 10_000_000] {
                let source = Pieces { text: text.clone(), at: 0, size, fails: false };
                let mut lines = Lines::of(Box::new(source)).unwrap();
                assert!(lines.head().ends_with(b"0,1\n2,3"), "{count} comments, pieces of {size}");
                let mut left = lines.dropped();
                while let Some(Line::Whole(line)) = lines.next().unwrap() {
                    left += u64::from(is_remark(line));
                }
                assert_eq!(left, count as u64 + 1);
            }
        }
    }

    #[test]
    fn lines_before_a_failure_are_handed_out() {
        let (lines, error) = lines_of(b"a\nb\nhal", 2, true);
        assert_eq!(lines, [b"a", b"b"]);
        assert_eq!(error.as_deref(), Some("torn"));
    }

    #[test]
    fn a_line_without_end_is_cut_and_the_next_one_is_found() {
        for long in [LONGEST_LINE + 1, CHUNK, 3 * CHUNK + 5] {
            let text = [b"a\n", &vec![b'x'; long][..], b"\nb\n"].concat();
            for size in [777, 100_000, 10_000_000] {
                let lines = lines_of(&text, size, false).0;
                if lines[1].len() < 100 {
                    assert_eq!(lines, [&b"a"[..], b"TOO LONG", b"b"]);
                } else {
                    assert_eq!(lines, [&b"a"[..], &vec![b'x'; long][..], b"b"]);
                }
            }
        }
    }

    #[test]
    fn many_lines_cross_the_buffer_unharmed() {
        let expected: Vec<Vec<u8>> =
            (0..100_000).map(|n: u32| format!("line {n}").into_bytes()).collect();
        let text = expected.join(&b'\n');
        for size in [4099, CHUNK] {
            assert_eq!(lines_of(&text, size, false).0, expected);
        }
    }
}
