//! The topics of a protocol (such as the load or the probe): which topics each kind of protocol
//! has, and the facts that each must state.
//!
//! A topic is text, or an object with the keys `threads`, `depth`, `write_share`, `arrivals` and
//! `rate`, and `about` for a description. These facts decide what is simulated. A topic that the
//! kind does not know is an error, because nobody would read it; so is one that lacks a fact. A
//! fact in words that the kind does not read is a remark, but for a law of arrivals that nobody
//! simulates.

use super::kind::Kind;
use super::words::{Arrivals, Stated, Words};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::field::nearest;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Largest number of threads that a measurement's protocol may state for its load or its probe.
const THREADS_MOST: f64 = 1_024.0;
/// Largest number of requests in flight of each thread that a measurement's protocol may state for
/// its load or its probe.
const DEPTH_MOST: f64 = 65_536.0;
/// Largest number of requests per second that a measurement's protocol may state for its load or
/// its probe.
const RATE_MOST: f64 = 1e8;

/// Numbers and arrivals that a topic (a part such as `load` or `probe`) of a measurement's protocol
/// states; `None` for those that it does not state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// Number of threads that issue requests.
    pub threads: Option<u32>,
    /// Largest number of requests that each thread has in flight.
    pub depth: Option<u32>,
    /// Share of writes among the requests, from 0 to 1.
    pub write_share: Option<f64>,
    /// Law of the arrival times of a thread's requests.
    pub arrivals: Option<Arrivals>,
    /// Number of requests per second of all threads together.
    pub rate: Option<f64>,
}

/// Threads, depths, shares of writes, arrivals and rates that a measurement's protocol states, by
/// topic (a part such as `load` or `probe`).
pub type Setup = BTreeMap<String, Facts>;

/// A property, such as the number of threads, that the protocol of a measurement can state about
/// its load or its probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    Threads,
    Depth,
    WriteShare,
    Arrivals,
    Rate,
}
use Fact::{Depth, Rate, Threads, WriteShare};

/// Properties that a measurement's protocol can state about its load or its probe: each with the
/// JSON key and, for error messages, the words that state it.
const FACTS: [(Fact, &str, &str); 5] = [
    (Threads, "threads", "the number of threads, such as `six threads` or `\"threads\": 6`"),
    (Depth, "depth", "the requests in flight, such as `queue depth 64` or `\"depth\": 64`"),
    (WriteShare, "write_share", "a share, such as `99 % writes` or `\"write_share\": 0.99`"),
    (
        Fact::Arrivals,
        "arrivals",
        "`Poisson`, `fixed intervals` or `closed loop`, or `\"arrivals\": \"poisson\"`",
    ),
    (Rate, "rate", "requests a second, such as `10,000 operations a second` or `\"rate\": 10000`"),
];

/// A section of a file's protocol (such as `probe`), with the facts (threads, depth, share of
/// writes, arrivals, rate) that it must state and those that it may state.
struct Read {
    topic: &'static str,
    must: &'static [Fact],
    may: &'static [Fact],
}

/// Topics (parts of a measurement's protocol, such as `order`) that may be described in any kind of
/// protocol but from which nothing is read.
const IN_WORDS: [&str; 13] = [
    "kind",
    "about",
    "device_state",
    "order",
    "addresses",
    "open_or_closed",
    "clock",
    "interface",
    "engine",
    "host",
    "latency",
    "statistics",
    "steady state",
];

/// Returns the topics (parts such as `load` and `probe`) of a kind of measurement protocol: those
/// from which numbers and arrivals are read, and those that are only descriptions.
fn topics(kind: Kind) -> (&'static [Read], &'static [&'static str]) {
    const STREAM: &[Fact] = &[Threads, Depth, WriteShare, Fact::Arrivals];
    const PROBE: &[Fact] = &[Threads, Depth, WriteShare, Fact::Arrivals, Rate];
    const LOOP: &[Fact] = &[Threads, Depth];
    const CLOSED: &[Fact] = &[WriteShare, Fact::Arrivals];
    match kind {
        Kind::LatencyUnderLoad => (
            &[
                Read { topic: "probe", must: PROBE, may: &[] },
                Read { topic: "load", must: STREAM, may: &[] },
            ],
            &[],
        ),
        Kind::WritePatterns => (
            &[
                Read { topic: "patterns_4k", must: LOOP, may: CLOSED },
                Read { topic: "seq_zones", must: &[], may: STREAM },
            ],
            &["uniform", "zipf", "zones", "zones_read_only", "sequential_mb_s", "write_us"],
        ),
        Kind::InitialState => (
            &[Read { topic: "patterns", must: LOOP, may: CLOSED }],
            &["init", "counted_waf", "curve"],
        ),
        Kind::OverProvisioning => (
            &[Read { topic: "device_state", must: LOOP, may: CLOSED }],
            &["counted_waf", "counted_nand_reads_per_host_byte"],
        ),
        Kind::Interference => {
            (&[Read { topic: "workload", must: &[], may: &[Depth] }], &["drives"])
        }
        Kind::ReadsByDepth => (&[Read { topic: "workload", must: &[], may: CLOSED }], &[]),
        Kind::DepthGrid => (&[Read { topic: "workload", must: &[], may: CLOSED }], &[]),
        Kind::PeakByThreads => {
            (&[Read { topic: "workload", must: &[Depth], may: &[Fact::Arrivals] }], &[])
        }
        Kind::ClientPeaks => (&[], &["measured", "latency_under_load"]),
        Kind::ReplayedTrace => (&[], &["workload"]),
    }
}

/// Returns the number that rows of a kind of measurement say instead of a fact which that kind does
/// not read from its protocol; `None` if the kind has no such number.
fn of_row(kind: Kind, fact: Fact, row: &Map<String, Value>) -> Option<f64> {
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    match (kind, fact) {
        (Kind::ReadsByDepth | Kind::DepthGrid, Threads) => number("jobs"),
        (Kind::ReadsByDepth | Kind::DepthGrid, Depth) => number("qd_per_job"),
        (Kind::PeakByThreads, Threads) => number("threads"),
        (Kind::ReadsByDepth | Kind::DepthGrid | Kind::PeakByThreads, WriteShare) => {
            Some(f64::from(u8::from(row.get("op")?.as_str()?.ends_with("write"))))
        }
        // One thread reads.
        (Kind::Interference, Threads) => match number("write_limit_mb_s") {
            Some(0.0) => Some(1.0),
            _ => Some(1.0 + number("write_jobs").unwrap_or(1.0)),
        },
        _ => None,
    }
}

/// Returns, in words, by what a kind of measurement goes instead of a fact that it does not read
/// from its protocol.
fn instead(kind: Kind, fact: Fact) -> &'static str {
    match (kind, fact) {
        (Kind::ReadsByDepth | Kind::DepthGrid, Threads) => "the `jobs` of each row",
        (Kind::ReadsByDepth | Kind::DepthGrid, Depth) => "the `qd_per_job` of each row",
        (Kind::PeakByThreads, Threads) => "the `threads` of each row",
        (Kind::Interference, Threads) => {
            "one thread that reads beside the `write_jobs` of each row"
        }
        (Kind::Interference, Fact::Arrivals) => "reads in a closed loop, writes at equal intervals",
        (Kind::Interference, WriteShare | Rate) => "the `write_limit_mb_s` of each row",
        (Kind::LatencyUnderLoad, _) => "the `offered_write_iops` of each row",
        (_, WriteShare) => "the `op` of each row",
        (_, Threads | Depth | Fact::Arrivals | Rate) => "a closed loop",
    }
}

/// Reads the topics (parts such as `load` and `probe`) of a measurement protocol of this kind.
/// The file has a name and a text, in which errors find the line, and rows. Remarks on facts that
/// the kind does not read go to `notes`.
pub(super) fn read(
    (name, text): (&str, &str),
    kind: Kind,
    protocol: &Map<String, Value>,
    rows: &[&Map<String, Value>],
    wrong: &mut Diagnostics,
    notes: &mut Vec<String>,
) -> Setup {
    let (reads, words) = topics(kind);
    let mut setup = Setup::new();
    let mut reader = Reader { name, text, wrong };
    for (topic, value) in protocol {
        match reads.iter().find(|read| read.topic == topic) {
            Some(read) => {
                setup.insert(topic.clone(), reader.facts(read, value));
                notes.extend(reader.unread(kind, read, value, rows));
            }
            None if IN_WORDS.contains(&topic.as_str()) || words.contains(&topic.as_str()) => {
                if !value.is_string() {
                    let what = format!(
                        "`protocol.{}` is not text, and no other form of it is read",
                        printable(topic)
                    );
                    let it = reader.at(topic, what, value);
                    reader.wrong.push(it.expected("text in quotes"));
                }
            }
            None => reader.unknown(topic, value, kind),
        }
    }
    for read in reads.iter().filter(|read| !read.must.is_empty()) {
        if !protocol.contains_key(read.topic) {
            let what = format!("`protocol.{}` is missing", read.topic);
            let expected: Vec<&str> = read.must.iter().map(|fact| words_of(*fact).1).collect();
            reader.wrong.push(Diagnostic::new(name, what).expected(expected.join("; ")));
        }
    }
    setup
}

fn words_of(fact: Fact) -> (&'static str, &'static str) {
    let found = FACTS.iter().find(|(it, ..)| *it == fact);
    found.map_or(("", ""), |(_, key, words)| (key, words))
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    wrong: &'a mut Diagnostics,
}

impl Reader<'_> {
    /// Returns an error about a topic (a part such as `load` or `probe`) of a measurement's
    /// protocol, with the line on which the topic begins.
    fn at(&self, topic: &str, what: String, value: &Value) -> Diagnostic {
        const SHOWN: usize = 120;
        let key = format!("{}:", Value::String(topic.into()));
        let begins = self.text.find("\"protocol\"").unwrap_or(0);
        let after = &self.text[begins..];
        let place = after.find(&key).or_else(|| after.find(key.trim_end_matches(':')));
        let line = place.map(|place| self.text[..begins + place].matches('\n').count() as u64 + 1);
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        let shown: String = text.chars().take(SHOWN).collect();
        let more = if shown.len() < text.len() { " ..." } else { "" };
        Diagnostic::new(self.name, what).line(line).text(format!("{shown}{more}"))
    }

    fn unknown(&mut self, topic: &str, value: &Value, kind: Kind) {
        let (reads, words) = topics(kind);
        let known = || reads.iter().map(|it| it.topic).chain(words.iter().copied()).chain(IN_WORDS);
        let is_fact = FACTS.iter().any(|(_, key, _)| *key == topic);
        let hint = match (is_fact, reads.first()) {
            (true, Some(read)) => Some(format!(
                "`{topic}` belongs into a topic: \"{}\": {{ \"{topic}\": ... }}",
                read.topic
            )),
            _ => nearest(topic, known()).map(|near| format!("did you mean `{near}`?")),
        };
        let what =
            format!("`protocol.{}` is not a known key, and would be ignored", printable(topic));
        let expected =
            format!("a topic of {}: {}", kind.name(), known().collect::<Vec<_>>().join(", "));
        let it = self.at(topic, what, value).expected(expected);
        self.wrong.push(it.hint(hint.or_else(|| Some("remarks belong into `about`".into()))));
    }

    fn facts(&mut self, read: &Read, value: &Value) -> Facts {
        let mut facts = Facts::default();
        match value {
            Value::String(text) => {
                let words = Words::of(text);
                for &fact in read.must.iter().chain(read.may) {
                    let (key, expected) = words_of(fact);
                    if let Err(why) = facts.state(fact, &words) {
                        let it =
                            self.at(read.topic, format!("`protocol.{}` {why}", read.topic), value);
                        self.wrong.push(it.expected(expected).hint(Self::as_object(read.topic)));
                    } else if !facts.has(fact) && read.must.contains(&fact) {
                        let what = format!("`protocol.{}` does not state its `{key}`", read.topic);
                        let it = self.at(read.topic, what, value);
                        self.wrong.push(it.expected(expected).hint(Self::as_object(read.topic)));
                    }
                }
            }
            Value::Object(keys) => self.keys(read, keys, &mut facts),
            _ => {
                let what = format!("`protocol.{}` is neither text nor an object", read.topic);
                let it = self.at(read.topic, what, value);
                self.wrong.push(it.expected(
                    "text in quotes, or an object with keys, that describes this part of the \
                     measurement",
                ));
            }
        }
        facts
    }

    /// Returns remarks on the facts in the words of a topic which this kind of measurement does not
    /// read. A law of arrivals that contradicts what is simulated is an error.
    fn unread(
        &mut self,
        kind: Kind,
        read: &Read,
        value: &Value,
        rows: &[&Map<String, Value>],
    ) -> Vec<String> {
        let Value::String(text) = value else { return Vec::new() };
        let (words, topic, name) = (Words::of(text), read.topic, kind.name());
        let mut notes = Vec::new();
        for (fact, key, _) in FACTS {
            let in_rows: Vec<Option<f64>> =
                rows.iter().map(|row| of_row(kind, fact, row)).collect();
            // Rows that name their operation have the say, even where the topic may state a share.
            let is_of_rows = fact == WriteShare && in_rows.iter().all(Option::is_some);
            if (read.must.contains(&fact) || read.may.contains(&fact)) && !is_of_rows {
                continue;
            }
            let instead = instead(kind, fact);
            let mut stated = Facts::default();
            if let Err(why) = stated.state(fact, &words) {
                notes.push(format!("`protocol.{topic}` {why}; {name} simulates {instead}"));
                continue;
            }
            let what = format!("`protocol.{topic}` states its `{key}`, {}", stated.in_words(fact));
            let which = match stated.agrees(fact, &in_rows) {
                Agreement::Full => continue,
                Agreement::Partial => "is not read",
                // Words may be read amiss where numbers stand; the name of a law is plain.
                Agreement::None if fact != Fact::Arrivals => "no row has",
                Agreement::None => {
                    let it = self.at(topic, format!("{what}, which is not simulated"), value);
                    let hint = "remarks belong into `about`, or into parentheses".to_string();
                    self.wrong.push(it.expected(instead).hint(hint));
                    continue;
                }
            };
            notes.push(format!("{what}, which {which}: {name} simulates {instead}"));
        }
        notes
    }

    fn as_object(topic: &str) -> String {
        format!(
            "a key of `protocol` may be an object: \"{topic}\": {{ \"threads\": 6, \"depth\": 64, \
             ... }}"
        )
    }

    fn keys(&mut self, read: &Read, keys: &Map<String, Value>, facts: &mut Facts) {
        let known = || read.must.iter().chain(read.may).map(|&fact| words_of(fact).0);
        for (key, value) in keys.iter().filter(|(key, _)| *key != "about") {
            let fact = FACTS.iter().find(|(fact, name, _)| {
                name == key && (read.must.contains(fact) || read.may.contains(fact))
            });
            let path = format!("protocol.{}.{}", read.topic, printable(key));
            match fact {
                None => {
                    let hint = nearest(key, known()).map(|near| format!("did you mean `{near}`?"));
                    let expected = known().chain(["about"]).collect::<Vec<_>>().join(", ");
                    let it = self.at(key, format!("`{path}` is not known"), value);
                    self.wrong.push(it.expected(expected).hint(hint));
                }
                Some(&(fact, _, expected)) => {
                    if let Err(why) = facts.set(fact, value) {
                        let it = self.at(key, format!("`{path}` {why}"), value);
                        self.wrong.push(it.expected(expected));
                    }
                }
            }
        }
        for &fact in read.must.iter().filter(|fact| !keys.contains_key(words_of(**fact).0)) {
            let (key, expected) = words_of(fact);
            let what = format!("`protocol.{}.{key}` is missing", read.topic);
            let it = self.at(read.topic, what, &Value::Object(keys.clone()));
            self.wrong.push(it.expected(expected));
        }
    }
}

/// Agreement of a fact in words with the rows that are simulated without reading it.
enum Agreement {
    /// The fact is not stated, or every row has it.
    Full,
    /// Some rows have the fact, or no row says anything about it.
    Partial,
    /// Every row that says anything about the fact contradicts it.
    None,
}

impl Facts {
    fn has(&self, fact: Fact) -> bool {
        self.as_number(fact).is_some() || (fact == Fact::Arrivals && self.arrivals.is_some())
    }

    /// Compares a fact with the numbers that the rows have instead of it.
    fn agrees(&self, fact: Fact, rows: &[Option<f64>]) -> Agreement {
        let Some(number) = self.as_number(fact) else {
            // Kinds that do not read arrivals simulate closed loops and fixed intervals.
            return match self.arrivals {
                Some(Arrivals::Poisson) => Agreement::None,
                _ => Agreement::Full,
            };
        };
        let said = rows.iter().flatten().count();
        match rows.iter().flatten().filter(|it| **it == number).count() {
            equal if equal == rows.len() => Agreement::Full,
            0 if said > 0 => Agreement::None,
            _ => Agreement::Partial,
        }
    }

    /// Returns a fact that is a number; `None` if it is not stated, and for arrivals.
    fn as_number(&self, fact: Fact) -> Option<f64> {
        match fact {
            Threads => self.threads.map(f64::from),
            Depth => self.depth.map(f64::from),
            WriteShare => self.write_share,
            Rate => self.rate,
            Fact::Arrivals => None,
        }
    }

    fn in_words(&self, fact: Fact) -> String {
        let law = Arrivals::NAMES.iter().find(|(_, law)| Some(*law) == self.arrivals);
        let law = || law.map_or_else(String::new, |(name, _)| (*name).to_string());
        self.as_number(fact).map_or_else(law, |number| number.to_string())
    }

    /// Reads a fact about a measurement, such as the number of threads, from the words of one key
    /// of the file's object `protocol`, if they state it.
    fn state(&mut self, fact: Fact, words: &Words) -> Result<(), String> {
        let number: Stated<f64> = match fact {
            Threads => words.threads(),
            Depth => words.depth(),
            WriteShare => words.write_share(),
            Rate => words.rate(),
            Fact::Arrivals => {
                self.arrivals = words.arrivals()?;
                return Ok(());
            }
        };
        number?.map_or(Ok(()), |number| self.number(fact, number))
    }

    /// Sets a property of the load or the probe, such as the number of threads, from the value of
    /// its key in a measurement's protocol.
    fn set(&mut self, fact: Fact, value: &Value) -> Result<(), String> {
        if fact == Fact::Arrivals {
            let law =
                value.as_str().and_then(|name| Arrivals::NAMES.iter().find(|it| it.0 == name));
            self.arrivals = Some(law.ok_or("is none of poisson, fixed and closed")?.1);
            return Ok(());
        }
        self.number(fact, value.as_f64().ok_or("is no number")?)
    }

    fn number(&mut self, fact: Fact, number: f64) -> Result<(), String> {
        let whole = |most: f64| match number.fract() == 0.0 && (1.0..=most).contains(&number) {
            true => Ok(Some(number as u32)),
            false => Err(format!(
                "states {number} threads or requests in flight; expected a whole number from 1 to {most}"
            )),
        };
        match fact {
            Threads => self.threads = whole(THREADS_MOST)?,
            Depth => self.depth = whole(DEPTH_MOST)?,
            WriteShare if !(0.0..=1.0).contains(&number) => {
                return Err(format!(
                    "states {number} as the share of writes; expected a number from 0 (only reads) to 1"
                ));
            }
            WriteShare => self.write_share = Some(number),
            Rate if !(number > 0.0 && number <= RATE_MOST) => {
                return Err(format!(
                    "states a rate of {number} requests a second; expected above 0, at most {RATE_MOST}"
                ));
            }
            Rate => self.rate = Some(number),
            Fact::Arrivals => {}
        }
        Ok(())
    }
}
