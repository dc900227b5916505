//! Reads TOML text and `--set` flags into one flat list of settings, each with its origin.

use crate::diagnostic::{Diagnostic, Diagnostics};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Largest accepted TOML file, in bytes: more than any drive, workload or sweep needs.
pub const MAX_BYTES: u64 = 1 << 20;
/// Most dots in a line of a TOML file, more than any key has. The parser limits the nesting of
/// values but not of dotted keys.
const MAX_DOTS_IN_LINE: usize = 256;

/// The place where a setting was made: a line of a file, or a flag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Path of the file in which the setting is, or name of the flag.
    pub file: String,
    /// Number of the setting's line in the file, from 1; `None` for a flag.
    pub line: Option<u64>,
    /// Text of the setting's line in the file, or argument of the flag.
    pub text: String,
}

impl Origin {
    /// Returns a diagnostic about the setting, with its file and line or its flag.
    pub fn diagnostic(&self, what: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.file.clone(), what).line(self.line).text(self.text.trim())
    }
}

/// The value of a setting, before it is checked against its key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Quoted text, as the value of a setting.
    Text(String),
    /// Unquoted text of a flag: a word, a number or a quantity.
    Bare(String),
    /// A whole number, as the value of a setting.
    Whole(i128),
    /// A number with a point or exponent.
    Real(f64),
    /// A truth value, `true` or `false`, as the value of a setting.
    Flag(bool),
    /// A list, as the value of a setting.
    List(Vec<Value>),
    /// A table without keys, as the value of a setting.
    EmptyTable,
    /// A value of a type that no key accepts; the field is the type's TOML name, such as a date.
    Other(&'static str),
}

impl Value {
    /// Returns the name of the value's type, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) | Value::Bare(_) => "text",
            Value::Whole(_) => "a whole number",
            Value::Real(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::List(_) => "a list",
            Value::EmptyTable => "a table",
            Value::Other(kind) => kind,
        }
    }
}

/// A configuration key with its value, and the place where it was set.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Dotted key of the setting, such as `policy.gc`.
    pub path: String,
    /// Value of the setting, not yet checked against its key.
    pub value: Value,
    /// File and line, or command-line flag, that gives the configuration key this value.
    pub origin: Origin,
}

/// Reads the settings of a TOML text. Returns every setting that could be read, and every syntax
/// error.
pub fn read_toml(text: &str, file: &str) -> (Vec<Setting>, Diagnostics) {
    read_toml_with_rows(text, file, None)
}

/// Reads the settings of a TOML text, like [`read_toml`], with an array of tables at the top level
/// (`[[rows]]`): the settings of its first table have paths that begin with `rows.0`.
pub fn read_toml_with_rows(
    text: &str,
    file: &str,
    rows: Option<&str>,
) -> (Vec<Setting>, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    if text.len() as u64 > MAX_BYTES {
        let what = format!("the file has {} bytes; at most {MAX_BYTES} are allowed", text.len());
        return (Vec::new(), Diagnostic::new(file, what).into());
    }
    let lines = Lines::new(text, file);
    for (index, line) in text.lines().enumerate() {
        if line.bytes().filter(|&byte| byte == b'.').count() > MAX_DOTS_IN_LINE {
            let what = format!("the line has more than {MAX_DOTS_IN_LINE} dots");
            diagnostics.push(lines.at_line(index).diagnostic(what));
        }
    }
    if !diagnostics.0.is_empty() {
        return (Vec::new(), diagnostics);
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = lines.at(error.span().map_or(0, |span| span.start));
        diagnostics.push(at.diagnostic(error.message().trim()).hint(syntax_hint(error.message())));
    }
    // The parser reports each bad character; one message per line is enough.
    let diagnostics = diagnostics.unique();
    let mut settings = Vec::new();
    let mut table = table.into_inner();
    if let Some((rows, value)) = rows.and_then(|rows| Some((rows, table.get(rows)?)))
        && let DeValue::Array(items) = value.get_ref()
        && items.iter().all(|item| matches!(item.get_ref(), DeValue::Table(_)))
    {
        for (index, item) in items.iter().enumerate() {
            let path = format!("{rows}.{index}");
            match item.get_ref() {
                DeValue::Table(inner) if !inner.is_empty() => {
                    flatten(inner, &path, &lines, &mut settings);
                }
                _ => {
                    let origin = lines.at(item.span().start);
                    settings.push(Setting { path, value: value_of(item), origin });
                }
            }
        }
        table.remove(rows);
    }
    flatten(&table, "", &lines, &mut settings);
    // The parser sorts tables by key; report problems in the order of the file.
    settings.sort_by_key(|setting| setting.origin.line);
    (settings, diagnostics)
}

fn syntax_hint(message: &str) -> Option<String> {
    message
        .contains("quoted")
        .then(|| "put words and numbers with units in quotes, such as \"25us\"".to_string())
}

fn flatten(table: &DeTable<'_>, prefix: &str, lines: &Lines<'_>, settings: &mut Vec<Setting>) {
    for (key, value) in table {
        let path = join(prefix, key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => {
                flatten(inner, &path, lines, settings);
            }
            _ => {
                let origin = lines.at(key.span().start);
                settings.push(Setting { path, value: value_of(value), origin });
            }
        }
    }
}

/// Joins a dotted key path and one more part. Quotes parts that are not bare keys, so that `"a.b"`
/// and `a.b` differ.
fn join(prefix: &str, part: &str) -> String {
    let bare = !part.is_empty()
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    let part = if bare { part.to_string() } else { format!("{part:?}") };
    if prefix.is_empty() { part } else { format!("{prefix}.{part}") }
}

fn value_of(value: &Spanned<DeValue<'_>>) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            i128::from_str_radix(&number.as_str().replace('_', ""), number.radix())
                .map_or(Value::Other("a whole number too large to read"), Value::Whole)
        }
        DeValue::Float(number) => {
            number.as_str().replace('_', "").parse().map_or(Value::Other("a number"), Value::Real)
        }
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(items) => Value::List(items.iter().map(value_of).collect()),
        DeValue::Table(inner) if inner.is_empty() => Value::EmptyTable,
        DeValue::Table(_) => Value::Other("a table"),
    }
}

/// Reads one `--set key=value`. Quotes around words and quantities may be left out, in lists too.
pub(crate) fn read_flag(flag: &str, argument: &str) -> Result<Setting, Diagnostics> {
    let origin = Origin { file: flag.into(), line: None, text: argument.into() };
    let Some((path, value)) = argument.split_once('=') else {
        return Err(origin.diagnostic("`=` is missing").expected("key=value").into());
    };
    let (path, value) = (path.trim(), value.trim());
    if path.is_empty() || value.is_empty() {
        let missing = if path.is_empty() { "key" } else { "value" };
        return Err(origin
            .diagnostic(format!("the {missing} is empty"))
            .expected("key=value")
            .into());
    }
    let value = flag_value(value);
    Ok(Setting { path: path.to_string(), value, origin })
}

/// Parses the argument of `--set`: a value, a list of values, or a list of lists; no key needs
/// deeper nesting.
fn flag_value(text: &str) -> Value {
    let inside = |text: &str| Some(text.trim().strip_prefix('[')?.strip_suffix(']')?.to_string());
    let row = |text: &str| match inside(text) {
        Some(items) if items.trim().is_empty() => Value::List(Vec::new()),
        Some(items) => Value::List(items.split(',').map(bare_value).collect()),
        None => bare_value(text),
    };
    match inside(text) {
        Some(items) if items.contains('[') => {
            // Commas outside the inner brackets separate rows.
            let mut inner = false;
            let parts = items.split(|c| {
                inner = (inner || c == '[') && c != ']';
                c == ',' && !inner
            });
            Value::List(parts.map(row).collect())
        }
        _ => row(text),
    }
}

fn bare_value(text: &str) -> Value {
    let text = text.trim();
    let unquoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)));
    unquoted.map_or_else(|| Value::Bare(text.to_string()), |inner| Value::Text(inner.to_string()))
}

/// The line starts of a text, from which the line of a byte offset is found.
struct Lines<'a> {
    text: &'a str,
    file: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str, file: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        Self { text, file, starts }
    }

    fn at(&self, byte: usize) -> Origin {
        self.at_line(self.starts.partition_point(|&start| start <= byte).saturating_sub(1))
    }

    fn at_line(&self, index: usize) -> Origin {
        let start = self.starts[index];
        let text = self.text[start..].lines().next().unwrap_or("");
        Origin { file: self.file.into(), line: Some(index as u64 + 1), text: text.trim().into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_key_is_the_same_setting() {
        let ways = [
            "[policy.suspension]\nreads = \"all\"",
            "policy.suspension.reads = \"all\"",
            "policy = { suspension = { reads = \"all\" } }",
            "[policy]\nsuspension.reads = 'all'",
        ];
        for way in ways {
            let (settings, diagnostics) = read_toml(way, "f");
            assert_eq!(diagnostics.0, []);
            assert_eq!(settings.len(), 1);
            assert_eq!(settings[0].path, "policy.suspension.reads");
            assert_eq!(settings[0].value, Value::Text("all".into()));
            assert_eq!(settings[0].origin.line, Some(way.lines().count() as u64));
        }
    }

    #[test]
    fn values_keep_their_kind() {
        let text = "a=1_000\nb=0x10\nc=1.5e3\nd=nan\ne=[1,'x']\nf={}\ng=1979-05-27\nh=true";
        let (settings, diagnostics) = read_toml(text, "f");
        assert_eq!(diagnostics.0, []);
        let values: Vec<_> = settings.into_iter().map(|setting| setting.value).collect();
        assert_eq!(values[..3], [Value::Whole(1000), Value::Whole(16), Value::Real(1500.0)]);
        assert!(matches!(values[3], Value::Real(x) if x.is_nan()));
        assert_eq!(values[4], Value::List(vec![Value::Whole(1), Value::Text("x".into())]));
        assert_eq!(values[5..], [Value::EmptyTable, Value::Other("a date"), Value::Flag(true)]);
    }

    #[test]
    fn flags_need_no_quotes() {
        for (argument, value) in [
            ("k=25us", Value::Bare("25us".into())),
            ("k = \"25us\"", Value::Text("25us".into())),
            (
                "k=[1us, '2us']",
                Value::List(vec![Value::Bare("1us".into()), Value::Text("2us".into())]),
            ),
            ("k=[]", Value::List(Vec::new())),
            (
                "k=[[1, 2], [3]]",
                Value::List(vec![
                    Value::List(vec![Value::Bare("1".into()), Value::Bare("2".into())]),
                    Value::List(vec![Value::Bare("3".into())]),
                ]),
            ),
        ] {
            assert_eq!(read_flag("--set", argument).unwrap().value, value);
        }
        assert!(read_flag("--set", "k").is_err());
        assert!(read_flag("--set", "=1").is_err());
        assert!(read_flag("--set", "k=").is_err());
    }

    #[test]
    fn depth_cannot_exhaust_the_stack() {
        let deep = format!("{}=1", vec!["a"; 200_000].join("."));
        assert!(!read_toml(&deep, "f").1.0.is_empty());
        let nested = format!("a={}", "[".repeat(100_000));
        assert!(!read_toml(&nested, "f").1.0.is_empty());
        let inline = "a={a=".repeat(50_000);
        assert!(!read_toml(&inline, "f").1.0.is_empty());
    }
}
