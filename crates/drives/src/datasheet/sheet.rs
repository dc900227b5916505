//! A data sheet: its form, and numbers that contradict each other.

use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::field::nearest;
use fowler_experiment::text_file;
use serde_json::{Map, Value};
use std::path::Path;

/// Largest accepted size of a data sheet's file, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Keys of a data sheet's file, keys of the numbers in its table `datasheet`, and keys of that
/// table that are only for people and are not read.
const KEYS: [&str; 6] = ["model", "sample", "capacity_gb", "user_gib", "pcie", "datasheet"];
const NUMBERS: [&str; 7] = [
    "seq_read_mb_s",
    "seq_write_mb_s",
    "rand_read_iops",
    "rand_write_iops",
    "dwpd",
    "read_latency_us",
    "write_latency_us",
];
const FOR_PEOPLE: [&str; 4] = ["nand", "controller", "source", "about"];
/// Rate of four lanes at most, in 10^6 bytes per second, by generation of PCI Express from 1 to 7.
const LINKS: [f64; 7] = [1_000.0, 2_000.0, 3_940.0, 7_880.0, 15_750.0, 30_250.0, 60_500.0];
/// Rate of a SATA link of 6 Gbit/s, in 10^6 bytes per second.
const SATA: f64 = 600.0;
/// Largest share by which the exact capacity of a drive may differ from its nominal one. A nominal
/// capacity is rounded by less than 1 %; units of 2^30 for 10^9 bytes, 7.4 %, are a mistake.
const ROUNDED: f64 = 0.05;
/// Size of a random request in the rates of data sheets, in bytes.
pub(super) const RANDOM: f64 = 4_096.0;
/// Largest capacity of a drive that is accepted in a data sheet, in 10^9 bytes.
const CAPACITY_MOST: f64 = 250_000.0;

/// A data sheet. Everything but the capacity may be unknown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sheet {
    pub model: Option<String>,
    /// Capacity that the host sees, in bytes.
    pub capacity: f64,
    /// Name of the host interface (such as `4` for PCI Express 4.0, or `sata`), and the highest
    /// rate of its link in 10^6 bytes per second.
    pub link: Option<(String, f64)>,
    pub seq_read: Option<f64>,
    pub seq_write: Option<f64>,
    pub rand_read: Option<f64>,
    pub rand_write: Option<f64>,
    pub dwpd: Option<f64>,
    pub read_latency: Option<f64>,
    pub write_latency: Option<f64>,
}

/// Reads a data sheet.
pub(super) fn read(path: &Path) -> Result<Sheet, Diagnostics> {
    parse(&text_file::read(path, MAX_BYTES)?, &path.display().to_string())
}

/// Reads the text of a data sheet, as JSON if it begins with a brace and as TOML otherwise.
pub(super) fn parse(text: &str, name: &str) -> Result<Sheet, Diagnostics> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let value: Result<Value, (Option<u64>, String)> = match is_json {
        true => serde_json::from_str(text)
            .map_err(|error| (Some(error.line() as u64), error.to_string())),
        false => toml::from_str(text).map_err(|error: toml::de::Error| {
            let line = error.span().map(|it| text[..it.start].matches('\n').count() as u64 + 1);
            (line, error.message().to_string())
        }),
    };
    let value = value.map_err(|(line, why)| {
        let form = if is_json { "JSON" } else { "TOML" };
        let wrong = line.and_then(|line| text.lines().nth(line.max(1) as usize - 1));
        Diagnostic::new(name, format!("this is no {form}"))
            .line(line)
            .text(wrong.unwrap_or_default().trim())
            .expected("the data sheet of a drive as JSON or TOML, with the key `capacity_gb`")
            .hint(why)
    })?;
    let Value::Object(map) = value else {
        let it = Diagnostic::new(name, "this is no object");
        return Err(it
            .expected("an object with the numbers of one data sheet by key, at least `capacity_gb`")
            .into());
    };
    let mut check = Check { name, text, wrong: Diagnostics::default() };
    let sheet = check.sheet(&map);
    check.wrong.or(())?;
    let Some(sheet) = sheet else {
        return Err(Diagnostic::new(name, "there is no capacity").into());
    };
    let mut check = Check { name, text, wrong: Diagnostics::default() };
    check.contradictions(&sheet);
    check.wrong.or(sheet)
}

/// Returns the generation of PCI Express, from 1, in a text such as `4`, `3.1` or `4.0 x4`; `None`
/// for any other form.
fn generation(text: &str) -> Option<usize> {
    let (version, lanes) = text.split_once([' ', ',']).unwrap_or((text, ""));
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    let digit = |text: &str| match text.as_bytes() {
        [digit @ b'0'..=b'9'] => Some(usize::from(digit - b'0')),
        _ => None,
    };
    digit(minor)?;
    let is_lanes = lanes.is_empty() || ["x1", "x2", "x4"].contains(&lanes.trim());
    digit(major).filter(|major| *major > 0 && is_lanes)
}

struct Check<'a> {
    name: &'a str,
    text: &'a str,
    wrong: Diagnostics,
}

impl Check<'_> {
    /// Reports a problem with a key of a data sheet, at the line of the key.
    fn report(&mut self, key: &str, what: String, expected: &str, hint: Option<String>) {
        let mut lines = (1..).zip(self.text.lines());
        let found = lines.find(|(_, line)| line.contains(key));
        let (line, text) = found.map_or((None, ""), |(line, text)| (Some(line), text.trim()));
        let it = Diagnostic::new(self.name, what).line(line).text(text).expected(expected);
        self.wrong.push(it.hint(hint));
    }

    fn unknown(&mut self, path: &str, key: &str, known: &[&str]) {
        let hint = nearest(key, known.iter().copied()).map(|it| format!("did you mean `{it}`?"));
        let what = format!("`{path}{}` is not known", printable(key));
        self.report(key, what, &known.join(", "), hint);
    }

    fn number(&mut self, map: &Map<String, Value>, key: &str) -> Option<f64> {
        let value = map.get(key).filter(|value| !value.is_null())?;
        let number = value.as_f64().filter(|it| it.is_finite() && *it > 0.0);
        if number.is_none() {
            let what = format!("`{key}` is {}", printable(value.to_string()));
            self.report(key, what, "a number above 0", None);
        }
        number
    }

    fn sheet(&mut self, map: &Map<String, Value>) -> Option<Sheet> {
        for key in map.keys().filter(|key| !KEYS.contains(&key.as_str())) {
            self.unknown("", key, &KEYS);
        }
        let empty = Map::new();
        let numbers = match map.get("datasheet") {
            None | Some(Value::Null) => &empty,
            Some(Value::Object(numbers)) => numbers,
            Some(_) => {
                self.report(
                    "datasheet",
                    "`datasheet` is no table".into(),
                    "a table of numbers",
                    None,
                );
                &empty
            }
        };
        let known: Vec<&str> = NUMBERS.iter().chain(&FOR_PEOPLE).copied().collect();
        for key in numbers.keys().filter(|key| !known.contains(&key.as_str())) {
            self.unknown("datasheet.", key, &known);
        }
        let link = self.link(map.get("pcie"));
        let model = match map.get("model") {
            None | Some(Value::Null) => None,
            Some(Value::String(model)) if !model.trim().is_empty() => Some(model.clone()),
            Some(_) => {
                self.report("model", "`model` is no text".into(), "a name in quotes", None);
                None
            }
        };
        let [seq_read, seq_write, rand_read, rand_write, dwpd, read_latency, write_latency] =
            NUMBERS.map(|key| self.number(numbers, key));
        let capacity = self.capacity(map)?;
        Some(Sheet {
            model,
            capacity,
            link,
            seq_read,
            seq_write,
            rand_read,
            rand_write,
            dwpd,
            read_latency,
            write_latency,
        })
    }

    /// Returns the capacity that the host sees, in bytes: the exact one if the sheet has both.
    fn capacity(&mut self, map: &Map<String, Value>) -> Option<f64> {
        let exact = self.number(map, "user_gib").map(|gib| gib * (1_u64 << 30) as f64);
        let nominal = self.number(map, "capacity_gb").map(|gb| gb * 1e9);
        if nominal.is_none() && !map.contains_key("capacity_gb") {
            let what = "`capacity_gb` is missing".to_string();
            self.report("\0", what, "the capacity that the host sees, in 10^9 bytes", None);
        }
        if let (Some(exact), Some(nominal)) = (exact, nominal)
            && (exact / nominal - 1.0).abs() > ROUNDED
        {
            let gib = |bytes: f64| (bytes / (1_u64 << 30) as f64).round();
            let what = format!(
                "`user_gib` is {:.0} GB, and `capacity_gb` is {:.0}: both are the capacity that the \
                 host sees",
                exact / 1e9,
                nominal / 1e9
            );
            let (low, high) = (gib(nominal * (1.0 - ROUNDED)), gib(nominal * (1.0 + ROUNDED)));
            let expected = format!(
                "{low} to {high} GiB, within {:.0} % of `capacity_gb`; spare capacity does not count",
                ROUNDED * 100.0
            );
            self.report("user_gib", what, &expected, None);
        }
        let capacity = exact.or(nominal)?;
        if !(8e9..=CAPACITY_MOST * 1e9).contains(&capacity) {
            let what = format!("a capacity of {} GB", capacity / 1e9);
            let expected = format!("8 to {CAPACITY_MOST} times 10^9 bytes");
            self.report("capacity_gb", what, &expected, None);
        }
        Some(capacity)
    }

    fn link(&mut self, value: Option<&Value>) -> Option<(String, f64)> {
        let text = match value? {
            Value::Null => return None,
            Value::String(text) => text.to_lowercase(),
            other => other.to_string(),
        };
        let text = text.trim().trim_start_matches("pcie").trim();
        let text = text.trim_start_matches("gen").trim().to_string();
        let most = match text.starts_with("sata") {
            true => Some(SATA),
            false => generation(&text).and_then(|generation| LINKS.get(generation - 1).copied()),
        };
        if most.is_none() {
            let what = format!("`pcie` is {}", printable(&text));
            self.report(
                "pcie",
                what,
                "a generation from 1 to 7, such as 4 or 4.0 x4, or SATA",
                None,
            );
        }
        most.map(|most| (text, most))
    }

    /// Rejects a data sheet whose numbers no drive can have together, such as a rate above that of
    /// the link.
    fn contradictions(&mut self, sheet: &Sheet) {
        let as_bytes = |rate: f64| rate * RANDOM / 1e6;
        if let Some((name, most)) = &sheet.link {
            let rates = [
                ("seq_read_mb_s", sheet.seq_read),
                ("seq_write_mb_s", sheet.seq_write),
                ("rand_read_iops", sheet.rand_read.map(as_bytes)),
                ("rand_write_iops", sheet.rand_write.map(as_bytes)),
            ];
            for (key, rate) in rates {
                if let Some(rate) = rate.filter(|rate| rate > most) {
                    let what = format!("`{key}` needs {rate:.0} MB/s of a link `pcie` {name}");
                    self.report(key, what, &format!("at most {most:.0} MB/s"), None);
                }
            }
        }
        let pairs = [
            ("rand_write_iops", sheet.rand_write, "seq_write_mb_s", sheet.seq_write),
            ("rand_read_iops", sheet.rand_read, "seq_read_mb_s", sheet.seq_read),
        ];
        for (random, rate, sequential, most) in pairs {
            let (Some(rate), Some(most)) = (rate, most) else { continue };
            if as_bytes(rate) > most {
                let what = format!(
                    "`{random}` is {:.0} MB/s of 4 KiB, more than `{sequential}` of {most:.0} MB/s",
                    as_bytes(rate)
                );
                let hint = "one of the two is of another state: of an empty drive, or of a cache";
                let expected = format!("at most {:.0} a second", most * 1e6 / RANDOM);
                self.report(random, what, &expected, Some(hint.into()));
            }
        }
        if let (Some(latency), Some(rate)) = (sheet.read_latency, sheet.rand_read) {
            // Little's law: no host has more than 64 Ki commands in one queue.
            let in_flight = latency * rate / 1e6;
            if in_flight > 65_536.0 {
                let what = format!(
                    "`read_latency_us` of {latency} and `rand_read_iops` of {rate} contradict each \
                     other: together they need {in_flight:.0} reads in flight"
                );
                self.report("read_latency_us", what, "at most 65,536 in flight", None);
            }
        }
        if let (Some(dwpd), Some(rate)) = (sheet.dwpd, sheet.seq_write) {
            let daily = sheet.capacity * dwpd / 86_400.0 / 1e6;
            if daily > rate {
                let what = format!(
                    "`dwpd` of {dwpd} is {daily:.0} MB/s all day, more than `seq_write_mb_s` of {rate}"
                );
                self.report("dwpd", what, &format!("at most {:.1}", dwpd * rate / daily), None);
            }
        }
    }
}
