//! The values of a JSON text with their keys, without a tree, without recursion and without
//! allocation for values. The text may end anywhere; what was complete is found.
//!
//! It is for recognising files and for objects on a line. It accepts some texts that are no JSON,
//! such as `[1 2]`: whoever needs a key does not find it there.

/// Deepest nesting of a JSON text that is scanned; the scan stops at deeper texts.
const DEEPEST: usize = 24;

/// A JSON value that is neither an object nor an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value<'a> {
    /// Text of the JSON value: a number, a word such as `true`, or the contents of a string without
    /// its quotes, with escapes unchanged.
    pub text: &'a [u8],
    /// True if the JSON value is a string, in quotes.
    pub quoted: bool,
}

/// Next part of a JSON text that a scan finds: a value, or the beginning or end of an object or
/// array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// A JSON value that is no object or array, with its key; in an array, the key is empty.
    Value(&'a [u8], Value<'a>),
    /// A JSON object or array begins, under this key.
    Begin(&'a [u8]),
    /// The innermost JSON object or array ends.
    End,
    /// The text is not JSON from here on.
    Wrong,
}

/// Scans the values of a JSON text in order.
#[derive(Clone, Debug)]
pub(crate) struct Scan<'a> {
    rest: &'a [u8],
    depth: usize,
    /// Key in the JSON text that was read last and whose value has not been found yet.
    key: &'a [u8],
}

impl<'a> Scan<'a> {
    /// Returns a scan from the beginning of the JSON text `text`.
    pub fn of(text: &'a [u8]) -> Scan<'a> {
        Scan { rest: text, depth: 0, key: b"" }
    }

    /// Returns the number of JSON objects and arrays that are open at this point of the text.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Takes a JSON string whose first quote has been taken; `None` if the string does not end.
    fn string(&mut self) -> Option<&'a [u8]> {
        let mut at = 0;
        loop {
            at += memchr::memchr2(b'"', b'\\', self.rest.get(at..)?)?;
            if self.rest[at] == b'"' {
                let text = &self.rest[..at];
                self.rest = &self.rest[at + 1..];
                return Some(text);
            }
            at += 2;
        }
    }

    /// Ends the scan of the JSON text.
    fn end_here(&mut self) -> Option<Found<'a>> {
        self.rest = b"";
        Some(Found::Wrong)
    }
}

impl<'a> Iterator for Scan<'a> {
    type Item = Found<'a>;

    fn next(&mut self) -> Option<Found<'a>> {
        loop {
            self.rest = self.rest.trim_ascii_start();
            let (&first, behind) = self.rest.split_first()?;
            match first {
                b',' | b':' => self.rest = behind,
                b'{' | b'[' => {
                    if self.depth == DEEPEST {
                        return self.end_here();
                    }
                    self.depth += 1;
                    self.rest = behind;
                    return Some(Found::Begin(std::mem::take(&mut self.key)));
                }
                b'}' | b']' => {
                    self.rest = behind;
                    self.key = b"";
                    let Some(depth) = self.depth.checked_sub(1) else { return self.end_here() };
                    self.depth = depth;
                    return Some(Found::End);
                }
                b'"' => {
                    self.rest = behind;
                    let Some(text) = self.string() else { return self.end_here() };
                    if self.rest.trim_ascii_start().first() == Some(&b':') {
                        self.key = text;
                        continue;
                    }
                    let value = Value { text, quoted: true };
                    return Some(Found::Value(std::mem::take(&mut self.key), value));
                }
                byte if byte.is_ascii_alphanumeric() || byte == b'-' => {
                    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                    let length = self.rest.iter().position(|byte| !part(byte));
                    let (text, behind) = self.rest.split_at(length.unwrap_or(self.rest.len()));
                    self.rest = behind;
                    let value = Value { text, quoted: false };
                    return Some(Found::Value(std::mem::take(&mut self.key), value));
                }
                _ => return self.end_here(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let words = Scan::of(text.as_bytes()).map(|found| match found {
            Found::Value(key, value) => format!("{}={}", shown(key), shown(value.text)),
            Found::Begin(key) => format!("{}(", shown(key)),
            Found::End => ")".into(),
            Found::Wrong => "?".into(),
        });
        words.collect()
    }

    #[test]
    fn values_come_with_their_keys() {
        assert_eq!(
            found(r#" {"a": 1.5e3, "b": "x\"y", "c": {"d": null, "e": [1, "2"]}} "#),
            ["(", "a=1.5e3", r#"b=x\"y"#, "c(", "d=null", "e(", "=1", "=2", ")", ")", ")"]
        );
    }

    #[test]
    fn a_text_that_is_none_ends() {
        assert_eq!(found(r#"{"a": "x"#), ["(", "?"]);
        assert_eq!(found("}"), ["?"]);
        assert_eq!(found("{\"a\": \u{1b}}"), ["(", "?"]);
        assert_eq!(found(r#"{"a\"#), ["(", "?"]);
        let deep = "[".repeat(100_000);
        assert_eq!(found(&deep).len(), DEEPEST + 1);
    }
}
