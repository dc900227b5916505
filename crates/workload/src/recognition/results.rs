//! Files with the results of a measurement, which are no traces: fio's output as JSON, terse or
//! text, and `iostat`. Rate, mix and sizes are taken from the beginning of the file, if present, to
//! propose a generated workload instead.
//!
//! Sources: `stat.c` of fio (`jobs[].read.iops`, `bw_bytes`, `bw` in KiB/s, `io_bytes`,
//! `total_ios`; `job options`); iostat(1) of sysstat 10 to 12.

use crate::recognition::generator::{Load, Stream};
use crate::recognition::json::{Found, Scan, Value};
use fowler_units::{Diagnostic, printable};

/// A measurement, such as a result of fio, that a file holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    /// Kind of the file, as a message begins: `this is a result of fio-3.36`.
    pub what: String,
    /// Advice on how to compare a simulated drive with the measurement in this file, or to fit it;
    /// `None` if the file does not measure a drive.
    pub fit: Option<&'static str>,
    /// The load on the drive during the measurement, from which a generated workload is proposed;
    /// `None` if the file does not state it.
    pub load: Option<Load>,
    /// Advice on the command that makes the tool which wrote the file (fio, iostat) print rates
    /// that Fowler can read; `None` if the file has them.
    pub otherwise: Option<&'static str>,
}

impl Measured {
    /// Returns the error that the file holds the result of a measurement and not a trace, with a
    /// generated workload of the same rates and sizes to run instead, if these are known.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut hint = String::new();
        if let Some(fit) = self.fit {
            hint += fit;
        }
        let text = self.load.as_ref().and_then(Load::text);
        hint += &match text {
            Some(text) => format!(
                "for the same rate, mix and sizes, save these lines as load.toml and run\n\
                 fowler run --device nvme-pm9a3 --workload load.toml\n{text}"
            ),
            None => {
                let of_rate =
                    |it| format!("to run a generated workload of the same rate instead, {it}; or ");
                let otherwise = self.otherwise.map_or(String::new(), of_rate);
                otherwise + "give a trace of single requests, or a generator with --workload"
            }
        };
        Diagnostic::of(format!("{}, not a trace: it holds no single requests", self.what))
            .expected("a trace with the time, operation, address and size of each request")
            .hint(hint.trim_end().to_string())
    }
}

/// Recognizes a file with the results of a measurement, such as the output of fio or iostat, from
/// its first bytes `head`; `None` if it is no such file.
pub(crate) fn measured(head: &[u8]) -> Option<Measured> {
    let json = || fio_json(head).or_else(|| iostat_json(head));
    json().or_else(|| fio_text(head)).or_else(|| iostat(head)).or_else(|| other_averages(head))
}

/// Advice on comparing a simulated drive with fio's results in JSON, or fitting it to them.
const FIT_JSON: &str = "fowler score DRIVE FILE compares these results with a drive, and fowler \
                        calibrate fits one to them (docs/real-drives.md says which jobs it takes); ";
/// Advice on comparing a simulated drive with fio's results in text or terse format, or fitting it
/// to them.
const FIT_TEXT: &str = "to compare a drive with these results or to fit one to them, save them with \
                        --output-format=json: fowler score and fowler calibrate read that; ";
/// Largest number of lines that fio prints before its JSON.
const LINES_BEFORE: usize = 32;

/// Returns the results of fio as JSON (`--output-format=json`, `json+`).
fn fio_json(head: &[u8]) -> Option<Measured> {
    // Other output may precede the JSON.
    let mut open = 0;
    let mut lines = head.split_inclusive(|&byte| byte == b'\n').take(LINES_BEFORE);
    let begins = lines.any(|line| {
        let begins = line.trim_ascii_start().first() == Some(&b'{');
        open += if begins { 0 } else { line.len() };
        begins
    });
    if !begins {
        return None;
    }
    let object = &head[open..];
    let mut version = None;
    let mut jobs = Jobs::default();
    let mut path: Vec<&[u8]> = Vec::new();
    for found in Scan::of(object) {
        match found {
            Found::Begin(key) => {
                path.push(key);
                jobs.begin(&path);
            }
            Found::End => drop(path.pop()),
            Found::Value(b"fio version", value) if path.len() == 1 => version = Some(value),
            Found::Value(key, value) => jobs.value(&path, key, value),
            Found::Wrong => break,
        }
    }
    let version = version.filter(|version| version.quoted)?;
    let what = format!("this is a result of {} (JSON)", printable(version.text));
    Some(Measured { what, fit: Some(FIT_JSON), load: jobs.load(), otherwise: None })
}

/// Rates and options of the jobs of a fio result.
#[derive(Debug, Default)]
struct Jobs {
    /// Reads, writes and trims of the completed jobs, as streams of a load.
    streams: [Stream; 3],
    /// Requests and bytes per second of the current job, by operation.
    rates: [(f64, f64); 3],
    /// Block size of the current job in bytes, and the default of all jobs.
    block_size: f64,
    usual_block_size: f64,
    depth: u64,
    random: bool,
    sequential: bool,
}

/// Names of fio's operations in its JSON, in the order in which [`Jobs`] counts them.
const OPERATIONS: [&[u8]; 3] = [b"read", b"write", b"trim"];

impl Jobs {
    /// Handles the beginning of a JSON object in a fio result: a new job completes the previous
    /// one.
    fn begin(&mut self, path: &[&[u8]]) {
        if let [_, b"jobs", _] = path {
            self.complete();
        }
    }

    /// Adds the current job of the fio result to the completed ones.
    fn complete(&mut self) {
        let usual = if self.block_size > 0.0 { self.block_size } else { self.usual_block_size };
        for (stream, (rate, bytes)) in self.streams.iter_mut().zip(self.rates) {
            let size = if rate > 0.0 && bytes > 0.0 { bytes / rate } else { usual };
            stream.add(rate, size);
        }
        self.rates = Default::default();
        self.block_size = 0.0;
    }

    fn value(&mut self, path: &[&[u8]], key: &[u8], value: Value<'_>) {
        let text = str::from_utf8(value.text).unwrap_or_default();
        let number = || text.parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
        match (path, key) {
            ([_, b"jobs", _, b"job options"], b"bs" | b"blocksize") => {
                self.block_size = size(text).unwrap_or(0.0);
            }
            ([_, b"global options"], b"bs" | b"blocksize") => {
                self.usual_block_size = size(text).unwrap_or(0.0);
            }
            ([_, b"jobs", _, b"job options"] | [_, b"global options"], key) => {
                self.option(key, text);
            }
            ([_, b"jobs", _, op], key) => {
                let Some(op) = OPERATIONS.iter().position(|it| it == op) else { return };
                let (rate, bytes) = &mut self.rates[op];
                match (key, number()) {
                    (b"iops", Some(number)) => *rate = number,
                    (b"bw_bytes", Some(number)) => *bytes = number,
                    // KiB/s; `bw_bytes` is more exact, and may come before or behind it.
                    (b"bw", Some(number)) if *bytes == 0.0 => *bytes = number * 1024.0,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn option(&mut self, key: &[u8], text: &str) {
        match key {
            b"iodepth" => self.depth = self.depth.max(text.parse().unwrap_or(0)),
            b"rw" | b"readwrite" if text.contains("rand") => self.random = true,
            b"rw" | b"readwrite" => self.sequential = true,
            _ => {}
        }
    }

    fn load(mut self) -> Option<Load> {
        self.complete();
        let sequential = self.sequential && !self.random;
        let [reads, writes, trims] = self.streams.map(|stream| stream.in_order(sequential));
        let depth = (1..=4096).contains(&self.depth).then_some(self.depth);
        let load = Load { reads, writes, trims, depth };
        (load.rate() > 0.0).then_some(load)
    }
}

/// Returns a size as fio writes it: `4k`, `1m`, `4096`.
fn size(text: &str) -> Option<f64> {
    let text = text.split(',').next()?.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "b" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1_048_576.0,
        _ => return None,
    };
    digits.parse::<f64>().ok().map(|number| number * unit)
}

/// Recognizes a file with fio's results in text or terse format; `None` for other files. The rates
/// in it are not read.
fn fio_text(head: &[u8]) -> Option<Measured> {
    let lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').take(64).collect();
    let has = |line: &[u8], words: &str| memchr::memmem::find(line, words.as_bytes()).is_some();
    let terse = lines.iter().any(|line| {
        let mut parts = line.split(|&byte| byte == b';');
        let version = parts.next().is_some_and(|it| matches!(it, b"2" | b"3" | b"4" | b"5"));
        version && parts.next().is_some_and(|it| it.starts_with(b"fio-"))
    });
    let text = lines.iter().any(|line| has(line, "(g=") && has(line, "): rw="))
        || lines.iter().any(|line| has(line, ": IOPS=") && has(line, "BW="));
    let what = match (terse, text) {
        (true, _) => "this is a result of fio (terse)",
        (_, true) => "this is a result of fio (text)",
        _ => return None,
    };
    let otherwise = Some("use fio's JSON output (--output-format=json), whose rates Fowler reads");
    Some(Measured { what: what.into(), fit: Some(FIT_TEXT), load: None, otherwise })
}

/// Recognizes the output of `iostat -o JSON` from its first bytes `head`; its rates are not read.
/// `None` if it is another file.
fn iostat_json(head: &[u8]) -> Option<Measured> {
    let mut found = Scan::of(head.trim_ascii_start());
    let (first, second) = (found.next()?, found.next()?);
    (first == Found::Begin(b"") && second == Found::Begin(b"sysstat")).then(|| {
        let what = "this is the output of iostat as JSON: averages over an interval";
        let otherwise =
            Some("use the text output of iostat -x (without -o JSON), whose rates Fowler reads");
        Measured { what: what.into(), fit: None, load: None, otherwise }
    })
}

/// Returns the rates of `iostat`: those of the busiest device in its last report.
fn iostat(head: &[u8]) -> Option<Measured> {
    let text: Vec<&str> = head
        .split(|&byte| byte == b'\n')
        .take(4096)
        .map(|line| str::from_utf8(line).unwrap_or_default().trim())
        .collect();
    let is_head = |line: &str| {
        if !line.starts_with("Device") {
            return false;
        }
        let names = words(line, line.contains(','));
        names.first().is_some_and(|it| it.trim_end_matches(':') == "Device")
            && (names.contains(&"r/s") || names.contains(&"tps"))
    };
    let last = text.iter().rposition(|line| is_head(line))?;
    let commas = text[last].contains(',');
    let heads = words(text[last], commas);
    if !heads.contains(&"r/s") {
        let what = "this is the output of iostat without separate numbers for reads and writes";
        let otherwise = Some("use the output of iostat -x, whose rates Fowler reads");
        return Some(Measured { what: what.into(), fit: None, load: None, otherwise });
    }
    let rows = text[last + 1..].iter().take_while(|line| !line.is_empty());
    let loads = rows.filter_map(|row| device_load(&heads, &words(row, commas)));
    let busiest = loads.max_by(|one, other| one.1.rate().total_cmp(&other.1.rate()));
    let name = busiest.as_ref().map_or(String::new(), |(name, _)| format!(" (device {name})"));
    let what = format!("this is the output of iostat -x{name}: averages over an interval");
    let load = busiest.map(|(_, load)| load).filter(|load| load.rate() > 0.0);
    Some(Measured { what, fit: None, load, otherwise: None })
}

/// Recognizes a file with averages or counts printed by `sar -d` or by a histogram tool of bcc or
/// bpftrace, such as biolatency; `None` for other files.
fn other_averages(head: &[u8]) -> Option<Measured> {
    let found = head.split(|&byte| byte == b'\n').take(64).find_map(|line| {
        let line = str::from_utf8(line).unwrap_or_default();
        let has = |word: &str| line.split_whitespace().any(|it| it == word);
        let is_sar = has("DEV") && has("tps") && (has("areq-sz") || has("avgrq-sz"));
        let is_histogram = has("count") && has("distribution") && line.contains(" : count");
        match (is_sar, is_histogram) {
            (true, _) => Some("this is the output of sar -d: averages over an interval"),
            (_, true) => Some("this is a histogram of a tool of bcc or bpftrace"),
            _ => None,
        }
    })?;
    let otherwise = Some("use the output of iostat -x, whose rates Fowler reads");
    Some(Measured { what: found.into(), fit: None, load: None, otherwise })
}

/// Returns the words of a line of text, which are separated by commas if `commas` is true, else by
/// blanks.
fn words(line: &str, commas: bool) -> Vec<&str> {
    if commas {
        line.split(',').map(str::trim).collect()
    } else {
        line.split_whitespace().collect()
    }
}

/// Returns the name and the load of a device in a row of `iostat -x`.
fn device_load(heads: &[&str], values: &[&str]) -> Option<(String, Load)> {
    if values.len() != heads.len() {
        return None;
    }
    let value = |name: &str| {
        let at = heads.iter().position(|head| *head == name)?;
        // In some languages the decimal mark is a comma.
        let number = values[at].replace(',', ".").parse::<f64>().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    };
    let stream = |letter: &str| {
        let rate = value(&format!("{letter}/s")).unwrap_or(0.0);
        let bytes = [("kB/s", 1024.0), ("KB/s", 1024.0), ("MB/s", 1_048_576.0), ("sec/s", 512.0)]
            .into_iter()
            .find_map(|(unit, bytes)| Some(value(&format!("{letter}{unit}"))? * bytes));
        let mut stream = Stream::default();
        stream.add(rate, bytes.filter(|_| rate > 0.0).map_or(0.0, |bytes| bytes / rate));
        stream
    };
    value("r/s")?;
    let load = Load { reads: stream("r"), writes: stream("w"), trims: stream("d"), depth: None };
    Some((printable(values[0]), load))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_of_fio_has_a_load() {
        let text = r#"note: both iodepth >= 1
            {"fio version": "fio-3.36", "global options": {"bs": "4k"}, "jobs": [
            {"jobname": "a", "job options": {"rw": "randrw", "iodepth": "32"},
             "read": {"bw_bytes": 409600, "bw": 400, "iops": 100.0, "lat_ns": {"iops": 7}},
             "write": {"bw": 100, "bw_bytes": 102400, "iops": 25.0}},
            {"jobname": "b", "read": {"iops": 100.0, "bw": 400}, "trim": {"iops": 25}}]}"#;
        let found = measured(text.as_bytes()).unwrap();
        let load = found.load.clone().unwrap();
        assert_eq!((load.reads.rate(), load.writes.rate(), load.trims.rate()), (200.0, 25.0, 25.0));
        assert_eq!((load.depth, load.reads.sequential), (Some(32), false));
        let text = load.text().unwrap();
        assert!(text.contains("reads = { sizes = \"4KiB\" }"), "{text}");
        assert!(text.contains("writes = { sizes = \"4KiB\" }"), "{text}");
        let said = found.diagnostic().to_string();
        assert!(said.contains("result of fio-3.36 (JSON), not a trace"), "{said}");
        assert!(said.contains("fowler calibrate") && said.contains("mix.reads = 0.8"), "{said}");
    }

    #[test]
    fn a_result_of_fio_that_is_cut_or_empty_is_known() {
        let cut = measured(br#"{"fio version": "fio-3.36", "jobs": [{"read": {"iops": 5.0"#);
        assert_eq!(cut.unwrap().load.unwrap().reads.rate(), 5.0);
        let none = measured(br#"{"fio version": "fio-3.36", "jobs": []}"#).unwrap();
        assert_eq!(none.load, None);
        assert!(none.diagnostic().to_string().contains("or a generator with --workload"));
        assert_eq!(measured(br#"{"version": "fio-3.36"}"#), None);
        assert_eq!(measured(b"0,1,2\n"), None);
        assert_eq!(measured(b""), None);
        let text = b"rr: (g=0): rw=randread, bs=(R) 4096B-4096B\nfio-3.36\n";
        assert!(measured(text).unwrap().what.contains("fio (text)"));
        assert!(measured(b"3;fio-3.36;rr;0;0\n").unwrap().what.contains("fio (terse)"));
    }

    #[test]
    fn iostat_has_the_load_of_its_busiest_device_in_the_last_report() {
        let text = "Linux 6.8 (host)\n\nDevice r/s w/s rkB/s wkB/s %util\nsda 900 900 1 1 1\n\n\
            Device r/s w/s rkB/s wkB/s %util\nsda 1 1 4 4 1\nnvme0n1 300 100 9600 6400 5\n\n";
        let found = measured(text.as_bytes()).unwrap();
        let load = found.load.unwrap();
        assert!(found.what.contains("(device nvme0n1)"));
        let text = load.text().unwrap();
        assert!(text.contains("rate = 400.00 }\nmix.reads = 0.75\n"), "{text}");
        assert!(
            text.contains("reads = { sizes = \"32KiB\" }\nwrites = { sizes = \"64KiB\" }"),
            "{text}"
        );
        let old = "Device:  rrqm/s wrqm/s r/s w/s rsec/s wsec/s avgrq-sz await svctm %util\n\
            sda 0,00 0,00 10,00 0,00 80,00 0,00 8,00 1,00 1,00 1,00\n";
        let load = measured(old.as_bytes()).unwrap().load.unwrap();
        assert!(load.text().unwrap().contains("reads = { sizes = \"4KiB\" }"));
        let csv = "Device,r/s,rkB/s,w/s,wkB/s\nsda,10.00,80.00,0.00,0.00\n";
        let load = measured(csv.as_bytes()).unwrap().load.unwrap();
        assert!(load.text().unwrap().contains("reads = { sizes = \"8KiB\" }"));
        let json = br#"{"sysstat": {"hosts": [{"nodename": "h"}]}}"#;
        assert!(measured(json).unwrap().what.contains("iostat as JSON"));
        let sar = "12:00:01 AM  DEV  tps  rkB/s  wkB/s  dkB/s  areq-sz  aqu-sz  await  %util\n";
        assert!(measured(sar.as_bytes()).unwrap().what.contains("sar -d"));
        let counts = "     usecs               : count     distribution\n  0 -> 1  : 8  |***|\n";
        assert!(measured(counts.as_bytes()).unwrap().what.contains("histogram"));
        let plain = "Device tps kB_read/s kB_wrtn/s\nsda 1 2 3\n";
        assert!(measured(plain.as_bytes()).unwrap().diagnostic().to_string().contains("iostat -x"));
    }
}
