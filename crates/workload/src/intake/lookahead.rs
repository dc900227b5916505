//! Lookahead buffer: records of consecutive plain lines, decoded in one batch.

use super::Before;
use crate::formats::TraceFormat;
use crate::left_out_events::LeftOutCounts;
use crate::lines::Lines;
use crate::plain_lines::{NotPlain, Plain};
use crate::record::{Record, in_time};

/// Largest number of records read ahead; they fit in the L1 cache.
const AHEAD: usize = 128;

/// Records of consecutive lines that the fast decoder has read in one batch, ahead of the caller.
#[derive(Default)]
pub(super) struct Ahead {
    /// Records decoded in one batch, each with the number of bytes of the batch's text that follow
    /// its line.
    pub records: Vec<(Record, usize)>,
    /// Number of decoded records that the caller has already taken from this buffer.
    pub taken: usize,
    /// Length of the trace text that the batch of decoded records covers, in bytes.
    length: usize,
    pub read: usize,
    /// Number of records with forced unit access among the records decoded in one batch.
    pub forced: u64,
}

impl Ahead {
    #[inline]
    pub fn next(&mut self) -> Option<Record> {
        let &(record, _) = self.records.get(self.taken)?;
        self.taken += 1;
        Some(record)
    }

    /// Returns the number of bytes of trace text that this buffer has decoded behind the line of
    /// the record that the caller took last.
    pub fn untaken(&self) -> usize {
        let last = self.taken.checked_sub(1);
        last.map_or(0, |last| self.read - (self.length - self.records[last].1))
    }

    /// Returns the line number and the text of the line from which the record taken last was
    /// decoded. `line` is the number of the last line read from the trace.
    pub fn last<'a>(&self, lines: &'a Lines, line: u64) -> (u64, &'a [u8]) {
        let Some(last) = self.taken.checked_sub(1) else { return (line, lines.last()) };
        let passed = lines.passed(self.read);
        let (before, behind) = passed.split_at(self.length - self.records[last].1);
        let text = before.strip_suffix(b"\n").unwrap_or(before);
        let text = memchr::memrchr(b'\n', text).map_or(text, |end| &text[end + 1..]);
        let later = memchr::memchr_iter(b'\n', behind).count() as u64;
        (line - later, text.strip_suffix(b"\r").unwrap_or(text))
    }

    /// Decodes lines from the beginning of `text` with the fast decoder, up to the first line that
    /// only the full decoder can read. Returns the number of lines that are skipped events, not
    /// requests.
    pub fn read<F: TraceFormat, const COMMA: bool>(
        &mut self,
        text: &[u8],
        before: &mut Before,
        left_out: &mut LeftOutCounts,
        decode: impl Fn(&mut Plain<'_, COMMA>) -> Result<Record, NotPlain>,
    ) -> u64 {
        let (mut rest, mut remarks) = (text, 0);
        self.forced = 0;
        while self.records.len() < AHEAD {
            let mut columns = Plain::<COMMA>::of(rest);
            match decode(&mut columns) {
                Ok(mut record) if in_time::<F>(&record) => {
                    let Some(next) = columns.next_line() else { break };
                    if before.agree::<F>(&mut record, columns.host()).is_err() {
                        break;
                    }
                    self.records.push((record, next.len()));
                    self.forced += u64::from(columns.forced);
                    rest = next;
                }
                Err(NotPlain::OtherEvent(kind)) => {
                    let Some(next) = columns.next_line() else { break };
                    left_out.count(kind);
                    remarks += 1;
                    rest = next;
                }
                _ => break,
            }
        }
        self.length = text.len();
        self.read = text.len() - rest.len();
        remarks
    }
}
