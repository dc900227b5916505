//! Detects the format of a trace. A format is chosen only if it is the only plausible one. Where
//! several formats share their columns and differ in units, the result lists the candidates and how
//! each would read the text, because a wrong guess would silently produce wrong results.

use crate::binary::Binary;
use crate::{Cause, Format, Record, decode_line};
use fowler_units::{Diagnostic, HostOp, printable};
use std::cmp::Reverse;

/// How many lines are examined.
const LINES: usize = 256;
/// The fewest lines that establish a unit when all their numbers are multiples of it.
const LINES_FOR_UNITS: usize = 8;

/// A format that fits a text, and how it would read the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The format.
    pub format: Format,
    /// The span, read share and mean size of the first requests when read in this format.
    pub reading: String,
}

/// The format could not be determined: several formats fit, or none does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undetected {
    /// The formats that fit; empty when none does.
    pub candidates: Vec<Candidate>,
    /// The first line that is not blank or a comment.
    pub first_line: String,
}

impl Undetected {
    /// Returns the error message.
    pub fn diagnostic(&self) -> Diagnostic {
        let known = format!("one of these formats: {}", Format::names());
        let mut diagnostic = if self.candidates.is_empty() {
            Diagnostic::of("cannot detect the trace format: none fits").expected(known)
        } else {
            let readings: Vec<String> = self
                .candidates
                .iter()
                .map(|candidate| format!("`{}` ({})", candidate.format, candidate.reading))
                .collect();
            Diagnostic::of("the trace format is ambiguous: several fit and differ in their units")
                .hint(format!("choose one with --format: {}", readings.join(" or ")))
        };
        diagnostic.text.clone_from(&self.first_line);
        diagnostic
    }
}

/// Whether a line is a comment (it begins with `#`) or blank.
#[inline]
pub(crate) fn is_remark(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'#'))
}

impl Format {
    /// Returns the binary format in which a file's beginning shows it to be.
    pub fn of_binary(head: &[u8]) -> Option<Format> {
        let shows = |binary: Binary| (binary.shows)(head);
        let formats = Format::ALL.iter().copied().filter(|format| format.is_detected());
        formats.into_iter().find(|format| format.binary().is_some_and(shows))
    }

    /// Returns the binary formats that a file with this beginning could be in, though the beginning
    /// does not prove it.
    pub(crate) fn could_be_binary(head: &[u8]) -> Vec<Format> {
        let shows = |binary: Binary| (binary.shows)(head);
        let formats = Format::ALL.iter().copied().filter(|format| !format.is_detected());
        formats.filter(|format| format.binary().is_some_and(shows)).collect()
    }

    /// Detects the format of a text. `sample` is its beginning; `whole` says that it is all of the
    /// text. Unless it is, an unterminated last line is ignored.
    ///
    /// A format fits if it decodes more of the first lines than any other format, and at least half
    /// of them. Formats that print fractional milliseconds are ruled out by whole-number times, and
    /// FlashSim by a device other than 0. Of the events of a kernel's log, those are read of which
    /// there are most. Addresses and sizes that are all multiples of 512 are
    /// taken as bytes, otherwise as sectors. `mqsim` and `ssdsim-ns` are the same format under two
    /// names; it is reported as `mqsim`.
    ///
    /// # Errors
    /// The candidates, if several formats fit or none does.
    pub fn detect(sample: &[u8], whole: bool) -> Result<Format, Undetected> {
        let complete = match sample.iter().rposition(|&byte| byte == b'\n') {
            Some(end) if !whole => &sample[..end],
            _ => sample,
        };
        let lines = first_lines(complete);
        let first_line = lines.first().map_or_else(String::new, printable);
        if let Some(format) = by_header(&lines) {
            return Ok(format);
        }
        let fits: Vec<(Format, Vec<Record>)> = Format::ALL
            .iter()
            .filter(|format| format.header().is_none() && format.is_detected())
            .filter(|format| !format.is_binary())
            .map(|&format| (format, decoded(format, &lines)))
            .collect();
        let most =
            fits.iter().map(|(format, _)| accounted(*format, &lines)).max().unwrap_or_default();
        let mut fits: Vec<_> = fits
            .into_iter()
            .filter(|(format, records)| {
                let fits = accounted(*format, &lines) == most && 2 * most >= lines.len();
                fits && most > 0 && (format.is_shown_by_events() || !records.is_empty())
            })
            .collect();
        rule_out(&mut fits, &lines);
        match &fits[..] {
            [(format, _)] => Ok(*format),
            _ => {
                let candidates = fits
                    .iter()
                    .map(|(format, records)| Candidate {
                        format: *format,
                        reading: reading(records),
                    })
                    .collect();
                Err(Undetected { candidates, first_line })
            }
        }
    }
}

/// Returns a diagnostic if `format` decodes less than half of a text's first lines; it names the
/// formats that fit better. A text with the format's own header never fits poorly, however many of
/// its lines are bad.
pub(crate) fn fits_poorly(format: Format, head: &[u8]) -> Option<Diagnostic> {
    let shown = Format::of_binary(head);
    if format.is_binary() || shown.is_some() {
        let other = shown.filter(|&other| other != format)?;
        let what = format!("this trace does not look like format `{format}`");
        let diagnostic = Diagnostic::of(what).expected(format.about());
        return Some(diagnostic.hint(format!("it looks like `{other}`: {}", other.about())));
    }
    let lines = first_lines(head);
    if format == Format::Csv
        || by_header(&lines) == Some(format)
        || 2 * accounted(format, &lines) >= lines.len()
    {
        return None;
    }
    let what = format!("this trace does not look like format `{format}`");
    let diagnostic = Diagnostic::of(what).expected(format.about());
    Some(match Format::detect(head, true) {
        Ok(other) if other != format => {
            diagnostic.hint(format!("it looks like `{other}`: {}", other.about()))
        }
        Ok(_) => diagnostic,
        Err(undetected) if undetected.candidates.is_empty() => diagnostic,
        Err(undetected) => {
            let names: Vec<_> = undetected
                .candidates
                .iter()
                .map(|candidate| format!("`{}`", candidate.format))
                .collect();
            diagnostic.hint(format!("it looks like one of {}", names.join(", ")))
        }
    })
}

/// Whether a text is the output of bpftrace's biosnoop.bt, whose header follows a greeting.
pub(crate) fn is_biosnoop_bt(head: &[u8]) -> bool {
    let words = |line: &[u8]| {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let header: [&[u8]; 5] = [b"TIME(ms)", b"DISK", b"COMM", b"PID", b"LAT(ms)"];
    first_lines(head).iter().take(4).any(|line| words(line) == header)
}

/// Returns the first lines that are not blank or comments.
fn first_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !is_remark(line))
        .take(LINES)
        .collect()
}

/// Returns how many lines a format can decode: records and other well-formed events.
fn accounted(format: Format, lines: &[&[u8]]) -> usize {
    let fits = |line: &&&[u8]| match decode_line(format, line) {
        Ok(_) => true,
        Err(fault) => fault.cause == Cause::OtherEvent,
    };
    lines.iter().filter(fits).count()
}

/// Returns the format whose header is the first line.
fn by_header(lines: &[&[u8]]) -> Option<Format> {
    let first = lines.first()?;
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii();
    Format::ALL.iter().copied().find(|format| format.begins_with(first))
}

fn decoded(format: Format, lines: &[&[u8]]) -> Vec<Record> {
    lines.iter().filter_map(|line| decode_line(format, line).ok()).collect()
}

/// Removes formats that decode the lines but cannot be the right one.
fn rule_out(fits: &mut Vec<(Format, Vec<Record>)>, lines: &[&[u8]]) {
    if fits.iter().any(|(_, records)| !records.is_empty()) {
        fits.retain(|(_, records)| !records.is_empty());
    }
    fits.retain(|(format, _)| !format.is_ruled_out(lines));
    let layer = |(format, records): &(Format, Vec<Record>)| {
        format.signs().layer.map(|layer| (records.len(), Reverse(layer)))
    };
    if let Some((_, Reverse(most))) = fits.iter().filter_map(layer).max() {
        fits.retain(|(format, _)| format.signs().layer.is_none_or(|layer| layer == most));
    }
    let fractions = lines.iter().any(|line| {
        line.trim_ascii()
            .split(u8::is_ascii_whitespace)
            .next()
            .is_some_and(|time| time.contains(&b'.'))
    });
    fits.retain(|(format, _)| fractions || !format.signs().fractional_times);
    let in_bytes = fits.iter().find(|(format, _)| format.signs().bytes).map(|(_, records)| {
        let multiples = records.iter().filter(|r| r.io.offset % 512 == 0 && r.io.size % 512 == 0);
        (multiples.count() == records.len(), records.len() >= LINES_FOR_UNITS)
    });
    match in_bytes {
        Some((true, true)) => fits.retain(|(format, _)| format.signs().bytes),
        Some((false, _)) => fits.retain(|(format, _)| !format.signs().bytes),
        Some((true, false)) | None => {}
    }
    fits.retain(|(format, records)| {
        !format.signs().device_is_zero || records.iter().all(|record| record.device == 0)
    });
    let left: Vec<Format> = fits.iter().map(|(format, _)| *format).collect();
    fits.retain(|(format, _)| format.signs().same_as.is_none_or(|same| !left.contains(&same)));
}

/// Describes the first requests as read in a format.
fn reading(records: &[Record]) -> String {
    let count = records.len() as u64;
    let times = records.iter().map(|record| record.io.at.0);
    let span = times.clone().max().unwrap_or(0) - times.min().unwrap_or(0);
    let reads = records.iter().filter(|record| record.io.op == HostOp::Read).count() as u64;
    let bytes: u64 = records.iter().map(|record| u64::from(record.io.size)).sum();
    let (count, reads_percent) = (count.max(1), 100 * reads / count.max(1));
    format!(
        "the first {count} requests span {} ms, {reads_percent} % are reads, {} B on average",
        span.div_ceil(1_000_000),
        bytes / count
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(text: &str) -> Result<Format, Vec<Format>> {
        Format::detect(text.as_bytes(), true)
            .map_err(|error| error.candidates.iter().map(|candidate| candidate.format).collect())
    }

    #[test]
    fn columns_that_only_one_format_has_name_it() {
        assert_eq!(detect("at_ns,op,offset,size\n"), Ok(Format::Native));
        assert_eq!(detect("\u{feff}at_ns,op,offset,size\r\n1,read,0,512\r\n"), Ok(Format::Native));
        assert_eq!(detect("# remark\n\n0,20941264,8192,W,0.551706\n"), Ok(Format::Spc));
        assert_eq!(detect("128166385295514663,hm,0,Write,9056014336,2048,2833"), Ok(Format::Msr));
        assert_eq!(detect("419,W,8792731648,16384,1577808144360767\n"), Ok(Format::Alibaba));
        assert_eq!(
            detect("Timestamp,Response,IOType,LUN,Offset,Size\n1.5,0.1,R,0,0,512\n"),
            Ok(Format::Systor17)
        );
        let events = "8,0 0 1 0.5 9 G R 8 + 8 [x]\n".repeat(9);
        assert_eq!(detect(&(events + "8,0 0 1 0.5 9 Q R 8 + 8 [x]\n")), Ok(Format::Blkparse));
        assert_eq!(detect("0 0 160806224 8 0 3f4fc283\n"), Ok(Format::SsdsimDigest));
        assert_eq!(detect("1.5 0 8 16 b\n2.5 0 8 16 0\n"), Ok(Format::Disksim));
        assert_eq!(detect("1.5 3 8 16 1\n2.5 0 8 16 0\n"), Ok(Format::Disksim));
        assert_eq!(detect(&"0.5 0 4096 8192 1\n".repeat(8)), Ok(Format::MsrCut));
    }

    #[test]
    fn columns_that_leave_units_open_are_not_guessed() {
        assert_eq!(detect("979 0 287641400 128 1\n"), Err(vec![Format::Mqsim, Format::SsdsimUs]));
        let open = detect("26.214000\t0\t303574\t1\t0\n");
        assert_eq!(open, Err(vec![Format::Disksim, Format::Flashsim]));
        let all = detect("0.5 0 4096 8192 1\n");
        assert_eq!(all, Err(vec![Format::Disksim, Format::Flashsim, Format::MsrCut]));
        let error = Format::detect(b"0 0 8 16 1\n5000000 0 8 16 0\n", true).unwrap_err();
        let text = error.diagnostic().hint.unwrap();
        let reading = "`mqsim` (the first 2 requests span 5 ms, 50 % are reads, 8192 B on average)";
        assert!(text.contains(reading), "{text}");
        assert!(text.contains("`ssdsim-us` (the first 2 requests span 5000 ms"), "{text}");
    }

    #[test]
    fn a_few_bad_lines_do_not_hide_a_format_and_half_do() {
        let good = "0,20941264,8192,W,0.551706\n";
        assert_eq!(detect(&format!("{good}{good}rubbish\n")), Ok(Format::Spc));
        assert_eq!(detect(&format!("{good}rubbish\nrubbish\n")), Err(vec![]));
        assert_eq!(detect(""), Err(vec![]));
        assert_eq!(detect("\n#\n"), Err(vec![]));
    }

    #[test]
    fn a_text_with_its_header_is_in_its_format() {
        let text = "\u{feff}at_ns,op,offset,size\r\n1,peek,0,512\n2,peek,0,512\n3,peek,0,512\n";
        assert_eq!(fits_poorly(Format::Native, text.as_bytes()), None);
        assert!(fits_poorly(Format::Spc, text.as_bytes()).is_some());
        assert!(fits_poorly(Format::Native, b"1,peek,0,512\n").is_some());
    }

    #[test]
    fn a_cut_last_line_is_left_out() {
        let sample = b"0,20941264,8192,W,0.551706\n0,2094";
        assert_eq!(Format::detect(sample, false), Ok(Format::Spc));
    }
}
