//! Proposes jq commands that turn a JSON text into readable requests: JSON lines, or CSV with the
//! matching `--columns`.

use crate::csv::{CsvColumn, CsvColumns, Parting};
use crate::recognition::header::{Chosen, Named, choose, is_date_in_words};
use crate::recognition::json::{Found, Scan};
use crate::recognition::roles::role;

/// Largest number of JSON objects, and of values in each, that are examined.
const OBJECTS: usize = 256;
const VALUES: usize = 64;
/// Longest path of keys to a JSON value, in bytes.
const LONGEST_PATH: usize = 200;

/// Advice for a JSON file whose keys do not show which values are the time, operation, address and
/// size of a request.
const BY_HAND: &str = "write an object for each request on a line of its own (pandas: \
                       to_json(orient='records', lines=True)), or time, operation, address and \
                       size as CSV, such as with jq -r \
                       '[.ts, .op, .sector, .bytes] | @csv' FILE > trace.csv, and read that with \
                       --columns ts=us,op=rw,lba=512,len=bytes";

/// A value, with its key, in a JSON object that may be a request.
struct Leaf<'a> {
    /// Path from the JSON object to the value, as jq writes it: `.req.op`.
    path: String,
    /// Last key on the path from the JSON object to the value.
    key: &'a [u8],
    value: &'a [u8],
    /// True if the value is directly in the JSON object of the request, false if it is in a nested
    /// object.
    is_direct: bool,
}

/// A JSON object that may be a request: an element of a list, or an object of its own.
struct Object<'a> {
    /// Path of the list that holds the JSON object: `.requests[]`; `.` without a list.
    list: String,
    leaves: Vec<Leaf<'a>>,
}

/// JSON objects of one list in which the keys of time, operation, address, size and device are the
/// same.
struct Requests<'a> {
    list: String,
    /// Values of the first object in the JSON file's list of requests, whose keys suggest a
    /// meaning, such as time or size.
    leaves: Vec<Leaf<'a>>,
    chosen: Chosen,
    /// For each key of the first object in a list of requests in JSON, the values under this key in
    /// all objects of the list, in order.
    values: Vec<Vec<&'a [u8]>>,
}

/// Proposes a jq command that makes the requests of a JSON text readable; `None` if the text is not
/// JSON. `lines` are its first lines.
pub(crate) fn proposed(lines: &[&[u8]]) -> Option<String> {
    let printed = |line: &&&[u8]| {
        let has = |part: &[u8]| memchr::memmem::find(line, part).is_some();
        line.starts_with(b"{") && has(b"\"printf\"") && has(b"\"data\"")
    };
    if lines.iter().any(|line| printed(&line)) {
        let what = "bpftrace put the text of each line into `data`: take it out with \
                    jq -j 'select(.type == \"printf\").data', and try again with what comes out";
        return Some(what.to_string());
    }
    let first = *lines.first()?;
    let is_json = match first {
        b"{" | b"[" => true,
        [b'{', rest @ ..] | [b'[', rest @ ..] => {
            matches!(rest.trim_ascii_start(), [b'"' | b'{' | b'[', ..])
        }
        _ => false,
    };
    if !is_json {
        return None;
    }
    let text = lines.join(&b'\n');
    let on_lines = first.starts_with(b"{") && first.ends_with(b"}");
    let Some(requests) = requests(&text) else {
        let otherwise = "this is JSON, but not an object on each line: put each request on a line of its \
                         own, with jq -c '.[]' if it is a list of requests, and try again with what comes out";
        return Some(if on_lines { BY_HAND } else { otherwise }.to_string());
    };
    if !on_lines && requests.can_be_lines() {
        return Some(format!(
            "this is JSON, but not an object on each line: put each request on a line of its own, \
             with jq -c '{}' FILE > trace.jsonl, and try again with what comes out",
            requests.list
        ));
    }
    Some(requests.as_csv().unwrap_or_else(|| BY_HAND.to_string()))
}

/// Returns how objects on a line each can be read with units of the user's choice, if their keys
/// show a request.
pub(crate) fn otherwise(lines: &[&[u8]]) -> Option<String> {
    requests(&lines.join(&b'\n'))?.as_csv()
}

/// Returns the path of a key in the object at `path`; `None` if it would need quoting in jq or a
/// shell.
fn below(path: &str, key: &[u8]) -> Option<String> {
    let is_word = key.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"'\"\\".contains(byte) || *byte == b' ';
    let key = str::from_utf8(key).ok().filter(|key| key.bytes().all(|byte| is_plain(&byte)))?;
    let path = path.trim_end_matches('.');
    let begins = key.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    let whole = if is_word && begins {
        format!("{path}.{key}")
    } else if path.is_empty() {
        format!(".[\"{key}\"]")
    } else {
        format!("{path}[\"{key}\"]")
    };
    (whole.len() <= LONGEST_PATH).then_some(whole)
}

/// Returns the JSON objects in a text that may be requests.
fn objects(text: &[u8]) -> Vec<Object<'_>> {
    let mut done: Vec<Object<'_>> = Vec::new();
    // Paths of the open lists, and of the objects within them. `None` if a path cannot be written.
    let mut open: Vec<Option<(String, String)>> = Vec::new();
    // The open objects, each with its nesting depth.
    let mut begun: Vec<(usize, Object<'_>)> = Vec::new();
    for found in Scan::of(text) {
        match found {
            Found::Begin(key) => {
                let in_list = !open.is_empty() && key.is_empty();
                let above = open.last().cloned().unwrap_or(Some((".".into(), ".".into())));
                let here = match above {
                    Some((list, own)) if in_list => {
                        let whole =
                            format!("{}{}", list.trim_end_matches('.'), own.trim_end_matches('.'));
                        let whole = if whole.is_empty() { ".".to_string() } else { whole };
                        Some((format!("{whole}[]"), ".".to_string()))
                    }
                    Some((list, own)) if !open.is_empty() => {
                        below(&own, key).map(|own| (list, own))
                    }
                    top => top,
                };
                if open.is_empty() || in_list {
                    let list = here.as_ref().map_or(String::new(), |(list, _)| list.clone());
                    begun.push((open.len(), Object { list, leaves: Vec::new() }));
                }
                open.push(here);
            }
            Found::End => {
                open.pop();
                if begun.last().is_some_and(|(depth, _)| *depth == open.len()) {
                    done.extend(begun.pop().map(|(_, object)| object));
                }
            }
            Found::Value(key, value) => {
                let Some((_, object)) = begun.last_mut() else { continue };
                let own = open.last().and_then(|it| it.as_ref()).map(|(_, own)| own.as_str());
                let path = own.and_then(|own| below(own, key));
                if let Some(path) = path.filter(|_| !key.is_empty() && object.leaves.len() < VALUES)
                {
                    let is_direct = own == Some(".");
                    object.leaves.push(Leaf { path, key, value: value.text, is_direct });
                }
            }
            Found::Wrong => break,
        }
        if done.len() >= OBJECTS {
            break;
        }
    }
    done
}

/// Returns the requests of a text: the objects of a list whose keys name a time, an operation, an
/// address and a size.
fn requests(text: &[u8]) -> Option<Requests<'_>> {
    let mut all = objects(text);
    for object in &mut all {
        object.leaves.retain(|leaf| role(leaf.key).is_some());
    }
    let at = all.iter().position(|object| {
        let slots = choose(&named(&object.leaves, &[])).seen;
        slots[..4].iter().all(Option::is_some)
    })?;
    let list = all[at].list.clone();
    let mut alike = all.into_iter().skip(at).filter(|object| object.list == list);
    let leaves = alike.next()?.leaves;
    let mut values: Vec<Vec<&[u8]>> = leaves.iter().map(|leaf| vec![leaf.value]).collect();
    for object in alike {
        let value = |leaf: &Leaf<'_>| {
            object.leaves.iter().find(|other| other.path == leaf.path).map(|other| other.value)
        };
        let row: Option<Vec<&[u8]>> = leaves.iter().map(value).collect();
        for (all, value) in values.iter_mut().zip(row.unwrap_or_default()) {
            all.push(value);
        }
    }
    let chosen = choose(&named(&leaves, &values));
    Some(Requests { list, leaves, chosen, values })
}

/// Returns the values of several JSON objects as columns, each with the name of its key and the
/// role (time, size) that the name suggests.
fn named<'a>(leaves: &[Leaf<'a>], values: &[Vec<&'a [u8]>]) -> Vec<Named<'a>> {
    let of = |(at, leaf): (usize, &Leaf<'a>)| Named {
        name: leaf.key,
        role: role(leaf.key),
        values: values.get(at).cloned().unwrap_or_else(|| vec![leaf.value]),
    };
    leaves.iter().enumerate().map(of).collect()
}

impl Requests<'_> {
    /// True if the JSON objects can be read directly as JSON lines: all values that are needed are
    /// at the top level of an object, and nothing is unclear except units, which are then assumed.
    fn can_be_lines(&self) -> bool {
        let read = || self.chosen.seen[..4].iter().flatten();
        let is_unit = |question: &String| question.starts_with("the unit of");
        read().all(|&at| self.leaves[at].is_direct) && self.chosen.open.iter().all(is_unit)
    }

    /// Returns a jq command that converts the requests to CSV, and the matching `--columns`.
    fn as_csv(&self) -> Option<String> {
        let mut open = self.chosen.open.clone();
        let mut read: Vec<usize> = self.chosen.seen.iter().flatten().copied().collect();
        read.sort_unstable();
        let mut paths = Vec::new();
        for &at in &read {
            let path = &self.leaves[at].path;
            let is_time = Some(at) == self.chosen.seen[0];
            if is_time && self.values[at].iter().all(|value| is_date_for_jq(value)) {
                open.retain(|question| !question.starts_with("the number of"));
                paths.push(format!(
                    "({path} | sub(\" \"; \"T\") | rtrimstr(\"Z\") | (.[0:19] + \"Z\" | fromdate) + (\"0\" + .[19:] | tonumber))"
                ));
            } else {
                paths.push(path.clone());
            }
        }
        let columns: Vec<CsvColumn> = read.iter().map(|&at| self.chosen.columns[at]).collect();
        let columns = CsvColumns::of_header(columns, Parting::Commas).behind_header(false);
        let from = if self.list == "." { String::new() } else { format!("{} | ", self.list) };
        let open = if open.is_empty() {
            String::new()
        } else {
            format!("; the keys of the JSON objects do not show {}", open.join(", and "))
        };
        let paths = paths.join(", ");
        Some(format!(
            "write the requests as CSV with jq -r '{from}[{paths}] | @csv' FILE > trace.csv, and read that \
             with --columns {columns}{open}"
        ))
    }
}

/// True if jq can convert a date such as `2024-01-15T10:30:45.5Z` to seconds since 1970.
fn is_date_for_jq(value: &[u8]) -> bool {
    let behind = value.get(19..).unwrap_or(b"x");
    let behind = behind.strip_suffix(b"Z").unwrap_or(behind);
    let decimals = behind.strip_prefix(b".").unwrap_or(behind);
    is_date_in_words(value)
        && matches!(value.get(10), Some(b'T' | b' '))
        && decimals.iter().all(u8::is_ascii_digit)
        && (behind.is_empty() || behind.starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        let lines: Vec<&[u8]> = text.lines().map(|line| line.trim().as_bytes()).collect();
        proposed(&lines)
    }

    #[test]
    fn each_shape_of_json_has_its_command() {
        for (text, command) in [
            (
                "[\n  {\n    \"time_us\": 1,\n    \"op\": \"R\",\n \"offset\": 0, \"size\": 8}\n]\n",
                "jq -c '.[]' FILE",
            ),
            ("[{\"ts\":1,\"op\":\"R\",\"sector\":8,\"bytes\":512}]", "jq -c '.[]' FILE"),
            (
                "{\"host\":\"a\",\"requests\":[{\"ts\":1,\"op\":\"R\",\"sector\":8,\"bytes\":512}]}",
                "jq -r '.requests[] | [.ts, .op, .sector, .bytes] | @csv' FILE",
            ),
            (
                "{\"host\":\"a\",\n\"requests\":[\n{\"ts\":1,\"op\":\"R\",\"sector\":8,\"bytes\":512}]}",
                "jq -c '.requests[]' FILE",
            ),
            (
                "{\"at\":{\"ts_us\":1},\"io req\":{\"op\":\"R\",\"lba_4k\":8,\"bytes\":512}}",
                "jq -r '[.at.ts_us, .[\"io req\"].op, .[\"io req\"].lba_4k, .[\"io req\"].bytes] | @csv' \
                 FILE > trace.csv, and read that with --columns ts=us,op=rw,lba=4096,len=bytes",
            ),
            (
                "{\"ts_us\":1,\"op\":1,\"sector\":8,\"bytes\":512}",
                "--columns ts=us,op=1=read,lba=512,len=bytes; the keys of the JSON objects \
                 do not show which code of `op`",
            ),
            (
                "{\"time\":\"2024-01-15T10:30:45.5Z\",\"op\":\"R\",\"offset\":0,\"size\":8}",
                "[(.time | sub(\" \"; \"T\") | rtrimstr(\"Z\") | (.[0:19] + \"Z\" | fromdate) + (\"0\" + .[19:] | tonumber)), .op",
            ),
            ("{\"a\":1}", "jq -r '[.ts, .op, .sector, .bytes] | @csv'"),
            ("[[1,2,3]]", "jq -c '.[]'"),
            ("{\"type\": \"printf\", \"data\": \"1 R 8 8\\n\"}", "jq -j"),
            ("{\"it's\":1,\"ts'\":1,\"op'\":\"R\",\"sector'\":1,\"bytes'\":1}", "jq -r '[.ts, .op"),
        ] {
            let found = of(text).unwrap_or_else(|| panic!("{text}"));
            assert!(found.contains(command), "{text}: {found}");
        }
        for text in ["", "[1] ready", "{here}", "a,b,c,d"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn keys_that_contradict_each_other_are_asked_about() {
        let lines = "{\"ts_us\":1,\"op\":\"R\",\"sector\":8,\"size\":512,\"sectors\":8}";
        let found = of(lines).unwrap();
        assert!(found.contains("which of the columns `size` and `sectors` to read"), "{found}");
        let same = "{\"ts_us\":1,\"op\":\"R\",\"sector\":8,\"size\":512,\"sectors\":1}";
        assert!(!of(same).unwrap().contains("do not show"));
    }
}
