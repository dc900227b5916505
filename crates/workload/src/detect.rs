//! Detects the format of a trace. A format is chosen only if it is the only plausible one. Where
//! several formats share their columns and differ in units, the result lists the candidates and how
//! each would read the text, because a wrong guess would silently produce wrong results.

mod elimination;
mod header;
mod nearest_format;
mod unknown_format;

pub use unknown_format::{Candidate, Undetected};

use crate::binary::Binary;
use crate::csv::Parting;
use crate::formats::native::reordered;
use crate::lines::{Lines, is_remark};
use crate::recognition::plausibility::{self, Clock};
use crate::recognition::{fio_logs, job_files, results, smart_logs};
use crate::{Cause, CsvColumns, Format, Record, TraceError, decode_line};
use elimination::{Fit, rule_out};
use fowler_units::{Diagnostic, HostIo, HostOp, printable};

/// Number of lines at the beginning of a text that are examined to detect its format.
const LINES: usize = 256;

/// Detected format of a text, with the columns and remarks for its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Detected {
    /// Detected format of a trace, with the columns and remarks that its reader needs.
    pub format: Format,
    /// Columns that the first line of a CSV names; `None` unless the format is [`Format::Csv`].
    pub columns: Option<CsvColumns>,
    /// True if the first line is a header that the format does not define: it is skipped.
    pub header: bool,
    /// Remarks for the user on the detection of a trace's format: columns taken from a header, or
    /// another plausible format.
    pub notes: Vec<String>,
}

impl Detected {
    /// Returns the result of detecting `format` in a trace, without columns, header or remarks.
    pub fn of(format: Format) -> Detected {
        Detected { format, columns: None, header: false, notes: Vec::new() }
    }
}

impl Format {
    /// Returns the binary format proved by a file's first bytes, if any.
    pub fn of_binary(head: &[u8]) -> Option<Format> {
        let shows = |binary: Binary| (binary.shows)(head);
        let formats = Format::ALL.iter().copied().filter(|format| format.is_detected());
        formats.into_iter().find(|format| format.binary().is_some_and(shows))
    }

    /// Returns the binary formats that the first bytes of a file do not rule out but do not prove
    /// either.
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
        detected(sample, whole).map(|detected| detected.format)
    }
}

/// Detects the format of a trace from the beginning of its text, with the columns, and the remarks
/// for the user, that its reader needs. `whole` is true if `sample` is all of the text.
pub(crate) fn detected(sample: &[u8], whole: bool) -> Result<Detected, Undetected> {
    let lines = first_lines(complete(sample, whole));
    if let Some(format) = by_header(&lines) {
        return Ok(Detected::of(format));
    }
    match header::read(&lines) {
        Some(outcome) => outcome,
        None => by_lines(&lines).or_else(|undetected| {
            let in_comment = header::in_comment(complete(sample, whole), &lines);
            in_comment.ok_or(undetected)
        }),
    }
}

/// Returns the sampled beginning of a trace without its last line, which may be cut short, unless
/// the sample is the whole trace (`whole`).
fn complete(sample: &[u8], whole: bool) -> &[u8] {
    match memchr::memrchr(b'\n', sample) {
        Some(end) if !whole => &sample[..end],
        _ => sample,
    }
}

/// Returns true if the first line of a text names the columns of a format that has no header row.
pub(crate) fn has_names(format: Format, head: &[u8]) -> bool {
    first_lines(head).first().is_some_and(|line| header::could_name_columns_of(format, line))
}

/// Rejects a file that holds averages, the result of a measurement or the counters of a drive,
/// whatever its columns.
pub(crate) fn refuse_no_requests(
    name: &str,
    text: &Lines,
    given: Option<Format>,
) -> Result<(), TraceError> {
    if given == Some(Format::Csv) {
        return Ok(());
    }
    let head = complete(text.head(), text.head_is_all());
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if let Some(measured) = results::measured(head) {
        return Err(TraceError::one(name, measured.diagnostic()));
    }
    if smart_logs::is_one(head) {
        return Err(TraceError::one(name, smart_logs::refusal(name)));
    }
    if let Some(refusal) = job_files::refusal(name, head) {
        return Err(TraceError::one(name, refusal));
    }
    let lines = first_lines(head);
    let is_log = matches!(given, None | Some(Format::FioLog));
    match fio_logs::no_requests(&lines).filter(|_| is_log) {
        None => Ok(()),
        Some(why) => {
            let (what, again) = why.words();
            let diagnostic = Diagnostic::of(what).text(lines.first().unwrap_or(&&b""[..]));
            let line = line_of(text, &diagnostic.text);
            let diagnostic = diagnostic.line(line);
            let expected = "a log of single requests: time, value, direction, bs, offset, priority";
            let hint = format!(
                "for a log that can be read, {again}. If this is not a log of fio, {}",
                nearest_format::described(&lines)
            );
            Err(TraceError::one(name, diagnostic.expected(expected).hint(hint)))
        }
    }
}

/// Detects the format of a text from its lines alone, without column names in a first line.
fn by_lines(lines: &[&[u8]]) -> Result<Detected, Undetected> {
    let first_line = lines.first().map_or_else(String::new, printable);
    let fits: Vec<Fit> = claimable().map(|format| (format, decoded(format, lines))).collect();
    let most = fits.iter().map(|(format, _)| accounted(*format, lines)).max().unwrap_or_default();
    let enough = |(format, records): &Fit| {
        let fits = accounted(*format, lines) == most && 2 * most >= lines.len();
        fits && most > 0 && (format.is_shown_by_events() || !records.is_empty())
    };
    let mut rejected: Vec<(Format, String)> = Vec::new();
    let mut fits: Vec<Fit> = fits.into_iter().filter(enough).collect();
    rule_out(&mut fits, lines, &mut rejected);
    match &fits[..] {
        [(format, _)] => {
            let notes = rejected.iter().filter(|(other, _)| !same(*other, *format)).map(second);
            Ok(Detected { notes: notes.take(1).collect(), ..Detected::of(*format) })
        }
        [] => Err(nearest_format::undetected(lines, rejected.into_iter().next())),
        _ => {
            let of =
                |(format, records): &Fit| Candidate { format: *format, reading: reading(records) };
            let candidates = fits.iter().map(of).collect();
            Err(Undetected { candidates, first_line, nearest: None, otherwise: None })
        }
    }
}

/// Returns the formats that may be detected in a text without a header.
fn claimable() -> impl Iterator<Item = Format> {
    Format::ALL
        .iter()
        .copied()
        .filter(|format| format.header().is_none() && format.is_detected() && !format.is_binary())
}

/// Returns true if two formats are identical but for their names.
fn same(one: Format, other: Format) -> bool {
    one.signs().same_as == Some(other) || other.signs().same_as == Some(one)
}

/// Names a format that also decodes the lines of a text, and gives the rule that excludes it.
fn second((format, why): &(Format, String)) -> String {
    format!(
        "these lines also decode as format `{format}`, which was ruled out: {why}; to read them \
            so, use --format {format}"
    )
}

/// Returns remarks on reading a file in a given format, based on its first lines: a rule of the
/// format that they break, and doubts about units. `columns` are those of a CSV. If `has_names`,
/// the first line is a header that the format does not have.
pub(crate) fn remarks(
    format: Format,
    text: &Lines,
    columns: Option<&CsvColumns>,
    has_names: bool,
    given: bool,
) -> Vec<String> {
    if format.is_binary() {
        return Vec::new();
    }
    let lines = first_lines(complete(text.head(), text.head_is_all()));
    // The header of a native trace may name its columns in any order.
    let header = lines.first().filter(|_| format == Format::Native);
    let in_order = header.and_then(|line| reordered(bare(line))).map(CsvColumns::of_native);
    let in_order = in_order.map(|columns| columns.behind_header(true));
    let columns = columns.or(in_order.as_ref());
    let records = match columns {
        Some(columns) => header::records(columns, &lines),
        None => decoded(format, &lines),
    };
    let sample: Vec<(u64, HostIo)> = records.iter().map(|it| (it.device, it.io)).collect();
    let ios: Vec<HostIo> = records.iter().map(|record| record.io).collect();
    let mut rules = format.rules();
    if format == Format::Csv {
        rules.clock = plausibility::clock_of(&ios);
    }
    let broken = rules.objection(&lines, &sample).filter(|_| given);
    let broken = broken.map(|why| format!("the trace may not be in format `{format}`: {why}"));
    let own = format.as_columns().and_then(|text| CsvColumns::parse(text).ok());
    let own = own.map(|own| if has_names { own.behind_header(true) } else { own });
    let is_open = !given && !has_names && rules.clock == Clock::Unix;
    let of_dates = own.as_ref().filter(|_| is_open);
    let of_dates = of_dates.and_then(|own| plausibility::doubt_of_dates(&ios, own));
    let doubts = plausibility::doubts(rules.clock, &ios, columns.or(own.as_ref()));
    broken.into_iter().chain(doubts).chain(of_dates).collect()
}

/// Returns a line without its byte order mark.
fn bare(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
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
        return Some(diagnostic.hint(format!("the trace looks like `{other}`: {}", other.about())));
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
    Some(match detected(head, true) {
        Ok(Detected { columns: Some(columns), .. }) => diagnostic
            .hint(format!("the header of the trace names the columns: --columns {columns}")),
        Ok(Detected { format: other, .. }) if other != format => {
            diagnostic.hint(format!("the trace looks like `{other}`: {}", other.about()))
        }
        Ok(_) => diagnostic,
        Err(undetected) if undetected.candidates.is_empty() => {
            diagnostic.hint(undetected.otherwise)
        }
        Err(undetected) => {
            let names: Vec<_> = undetected
                .candidates
                .iter()
                .map(|candidate| format!("`{}`", candidate.format))
                .collect();
            diagnostic.hint(format!("the trace looks like one of {}", names.join(", ")))
        }
    })
}

/// Returns true if a text is the output of bpftrace's biosnoop.bt, whose header follows a greeting.
pub(crate) fn is_biosnoop_bt(head: &[u8]) -> bool {
    let words = |line: &[u8]| {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let header: [&[u8]; 5] = [b"TIME(ms)", b"DISK", b"COMM", b"PID", b"LAT(ms)"];
    first_lines(head).iter().take(4).any(|line| words(line) == header)
}

/// Returns the first lines of a text that are neither blank nor comments.
fn first_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|&byte| byte == b'\n')
        .map(without_blanks)
        .filter(|line| !is_remark(line))
        .take(LINES)
        .collect()
}

/// Returns the number, counted from 1, of the first line of a trace that looks like `shown` after
/// it has been shortened and escaped for a message; `None` if there is none in the buffered text.
pub(crate) fn line_of(text: &Lines, shown: &str) -> Option<u64> {
    let head = text.head().strip_prefix(b"\xef\xbb\xbf").unwrap_or(text.head());
    let mut lines = head.split(|&byte| byte == b'\n');
    let at = lines.position(|line| printable(without_blanks(line)) == shown)?;
    Some(text.dropped() + at as u64 + 1)
}

/// Returns a line without blanks around it. Tabs are kept if tabs separate its columns: a tab at
/// either end may belong to an empty column.
fn without_blanks(line: &[u8]) -> &[u8] {
    let inner = line.trim_ascii();
    let has_tabs = memchr::memchr(b'\t', inner).is_some();
    if has_tabs { Parting::Tabs.trimmed(line) } else { inner }
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
    Format::ALL.iter().copied().find(|format| format.begins_with(bare(first)))
}

fn decoded(format: Format, lines: &[&[u8]]) -> Vec<Record> {
    lines.iter().filter_map(|line| decode_line(format, line).ok()).collect()
}

/// Describes the first requests of a trace, as one candidate format decodes them: their span, read
/// share and mean size.
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
