//! Finds times that are bare numbers. Times are `Nanos` and `Span`, so that the compiler can tell
//! a moment from a duration and both from other numbers.
//!
//! [`bare_times`] reads sources. It finds fields, parameters, constants and variables whose name
//! denotes a time and whose type is an integer, and functions of such a name that return one. It
//! does not see inferred types, nor times whose name does not say so.

use crate::rooms::{blanked, without_tests};

/// Last words of names that denote a time.
const WORDS: [&str; 21] = [
    "age",
    "deadline",
    "delay",
    "duration",
    "elapsed",
    "ends",
    "latencies",
    "latency",
    "micros",
    "millis",
    "moment",
    "ms",
    "nanos",
    "now",
    "ns",
    "since",
    "time",
    "timestamp",
    "until",
    "us",
    "wait",
];

/// The types that a time must not have. `usize` is not one of them, as it is an index, nor `u128`,
/// which holds sums over requests too large for a `Span`, nor `f64`, where `at` names a share.
const INTEGERS: [&str; 8] = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];

/// A time that is a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BareTime {
    /// The line, counted from one.
    pub line: usize,
    /// Name of the variable or field that holds the time.
    pub name: String,
}

/// Returns the times of a source that are bare numbers, tests excluded.
pub fn bare_times(text: &str) -> Vec<BareTime> {
    let code = without_tests(&blanked(text));
    let (mut found, mut is_function, mut at) = (Vec::new(), false, 0);
    while at < code.len() {
        let length = word_length(&code[at..]);
        if length == 0 {
            is_function &= code[at..].starts_with(char::is_whitespace);
            at += code[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        let (name, rest) = (&code[at..at + length], &code[at + length..]);
        let its_type = if is_function { returned(rest) } else { declared(rest) };
        let is_time = says_a_time(name) && !(is_function && says_when(name));
        if is_time && its_type.is_some_and(is_integer) {
            let line = 1 + code[..at].matches('\n').count();
            found.push(BareTime { line, name: name.to_string() });
        }
        is_function = name == "fn";
        at += length;
    }
    found
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

fn says_a_time(name: &str) -> bool {
    let name = name.to_lowercase();
    let last = name.rsplit('_').next().unwrap_or_default();
    last == "at" || WORDS.contains(&last)
}

/// True if the last word of a function's name says when it acts rather than what it returns.
fn says_when(name: &str) -> bool {
    name == "at" || ["_at", "_now", "_age"].iter().any(|end| name.ends_with(end))
}

/// Returns the text of the type after the name of a field, a parameter or a variable.
fn declared(rest: &str) -> Option<&str> {
    rest.trim_start().strip_prefix(':').filter(|rest| !rest.starts_with(':'))
}

/// Returns the text of the return type after the name of a function.
fn returned(rest: &str) -> Option<&str> {
    let from = rest.find('(')?;
    let mut depth = 0;
    let (end, _) = rest[from..].char_indices().find(|&(_, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    rest[from + end + 1..].trim_start().strip_prefix("->")
}

/// True if the type is an integer, a container of integers or an optional integer.
fn is_integer(its_type: &str) -> bool {
    let mut rest = its_type.trim_start();
    let wrapped = ["&", "mut ", "[", "Option<", "Vec<", "Box<", "Column<", "Range<", "VecDeque<"];
    while let Some(inner) = wrapped.iter().find_map(|it| rest.strip_prefix(it)) {
        rest = inner.trim_start();
    }
    let (name, behind) = rest.split_at(word_length(rest));
    // `u64::MAX` is a value.
    INTEGERS.contains(&name) && !behind.starts_with("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_times_are_found_everywhere() {
        for (text, expected) in [
            ("struct A {\n    idle_ns: u64,\n}", &[(2, "idle_ns")][..]),
            ("struct A { deadline: Option<u64>, at: Vec<u64> }", &[(1, "deadline"), (1, "at")]),
            ("fn f(\n    now: u64,\n    x: u64,\n) {}", &[(2, "now")]),
            ("const READ_TIME: u32 = 5;", &[(1, "READ_TIME")]),
            ("fn f() {\n\n    let free_at: [u64; 3] = [0; 3];\n}", &[(3, "free_at")]),
            ("let late = |elapsed: &u64| *elapsed > 5;", &[(1, "elapsed")]),
            ("pub fn latency(&self, of: impl Fn(u8) -> u8)\n    -> u64 { 0 }", &[(1, "latency")]),
            (
                "// now: u64\n/* now: u64 */ let s = \"now: u64\";\nfn f(until: i64) {}",
                &[(3, "until")],
            ),
            (
                "#[cfg(test)]\nmod tests {\n    fn f(now: u64) {}\n}\nfn g(now: u64) {}",
                &[(5, "now")],
            ),
        ] {
            let found = bare_times(text);
            let found: Vec<_> = found.iter().map(|it| (it.line, it.name.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn other_uses_pass() {
        for text in [
            "fn f(now: Nanos, latency: Option<Span>) -> u64 { 0 }",
            "Request { at: u64::MAX, now: u32::from(x), time }",
            "fn at(&self, value: u64) -> u64 { value }",
            "fn collect_now(&mut self) -> u32 { self.collect(now()) }",
            "let found = |at: usize| values[at];",
            "struct A { latency: u128, format: u64, status: u64, delays: Latencies }",
            "match now::u64 { time => until(u64::MAX) }",
            "fn elapsed(self) -> Span { Span(self.0) }",
        ] {
            assert_eq!(bare_times(text), [], "{text}");
        }
    }
}
