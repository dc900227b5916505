//! The type and bounds of a configuration key, and how its value is read from text and printed.
//!
//! A field is a getter and a setter of a plain struct `T`. The bounds and the wording of "expected"
//! are decided here, once for every key of every kind of file.

use crate::document::Value;
use fowler_nand::PerPageType;
use fowler_units::{ByteRate, Bytes, Span};
use fowler_workload::Short;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A word that a key accepts, and its meaning.
pub type Word = (&'static str, &'static str);

/// The getter and setter of a configuration value of type `V` in a `T`.
pub struct Access<T, V> {
    /// Function that reads the value from its place in the configuration.
    pub get: fn(&T) -> V,
    /// Function that stores a value at its place in the configuration.
    pub set: fn(&mut T, V),
}

/// The type and bounds of a configuration key, and the place of its value in a `T`.
pub enum Field<T> {
    /// A key whose value is a whole number.
    Count(RangeInclusive<u64>, Access<T, u64>),
    /// A key whose value is one to four whole numbers, one per page type.
    Counts(RangeInclusive<u64>, Access<T, PerPageType<u32>>),
    /// A key whose value is a real number.
    Real(RangeInclusive<f64>, Access<T, f64>),
    /// A key whose value is a list of real numbers.
    Reals(RangeInclusive<f64>, Access<T, Vec<f64>>),
    /// A key whose value is a list of rows of real numbers.
    Rows(RangeInclusive<f64>, Access<T, Vec<Vec<f64>>>),
    /// A key whose value is a length of time.
    Time(RangeInclusive<Span>, Access<T, Span>),
    /// A key whose value is one to four lengths of time, one per page type.
    Times(RangeInclusive<Span>, Access<T, PerPageType<Span>>),
    /// A key whose value is a list of lengths of time.
    Spans(RangeInclusive<Span>, Access<T, Vec<Span>>),
    /// A key whose value is an amount of data.
    Size(RangeInclusive<Bytes>, Access<T, Bytes>),
    /// A key whose value is a data rate.
    Rate(RangeInclusive<ByteRate>, Access<T, ByteRate>),
    /// A key whose value is true or false.
    Flag(Access<T, bool>),
    /// A key whose value is one word of a list.
    Word(fn() -> Vec<Word>, Access<T, &'static str>),
    /// A key whose value is any number of words of a list, one bit each.
    Set(fn() -> Vec<Word>, Access<T, u32>),
    /// A key whose value is a text that the caller parses, such as a mix of sizes with weights.
    Text(&'static str, fn(&T) -> String, fn(&mut T, &str) -> Result<(), String>),
    /// A key whose value is a list of texts that the caller parses.
    Texts(&'static str, fn(&T) -> Vec<String>, fn(&mut T, &[String]) -> Result<(), String>),
}

/// The reason why a value of a configuration key is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub what: String,
    pub hint: Option<String>,
}

impl Complaint {
    fn new(what: impl Into<String>) -> Complaint {
        Complaint { what: what.into(), hint: None }
    }
}

impl<T> Field<T> {
    /// Describes the values that the configuration key accepts, for the `expected` part of an
    /// error.
    pub fn expected(&self) -> String {
        let span = |range: &RangeInclusive<Span>| {
            format!("from {} to {}", short_span(*range.start()), short_span(*range.end()))
        };
        match self {
            Field::Count(range, _) => {
                format!("a whole number from {} to {}", range.start(), range.end())
            }
            Field::Counts(range, _) => format!(
                "a whole number from {} to {}, or a list of up to 4, one per page type",
                range.start(),
                range.end()
            ),
            Field::Real(range, _) => format!("a number from {} to {}", range.start(), range.end()),
            Field::Reals(range, _) => {
                format!("a list of numbers from {} to {}", range.start(), range.end())
            }
            Field::Rows(range, _) => {
                format!("a list of lists of numbers from {} to {}", range.start(), range.end())
            }
            Field::Time(range, _) => format!("a time with its unit, {}", span(range)),
            Field::Times(range, _) => {
                format!(
                    "a time with its unit, {}, or a list of up to 4, one per page type",
                    span(range)
                )
            }
            Field::Spans(range, _) => {
                format!("a list of times with their units, {}", span(range))
            }
            Field::Size(range, _) => {
                format!("a size with its unit, from {} to {}", range.start(), range.end())
            }
            Field::Rate(range, _) => {
                format!("a data rate with its unit, from {} to {}", range.start(), range.end())
            }
            Field::Flag(_) => "true or false".into(),
            Field::Word(words, _) => {
                let names: Vec<String> =
                    words().iter().map(|(word, _)| format!("\"{word}\"")).collect();
                if names.len() == 1 {
                    names.concat()
                } else {
                    format!("one of {}", names.join(", "))
                }
            }
            Field::Set(words, _) => {
                let names: Vec<String> =
                    words().iter().map(|(word, _)| format!("\"{word}\"")).collect();
                format!("a list of any of {}", names.join(", "))
            }
            Field::Text(expected, ..) | Field::Texts(expected, ..) => (*expected).into(),
        }
    }

    /// Returns the words that the configuration key accepts, with their meanings; empty for keys of
    /// other types.
    pub fn words(&self) -> Vec<Word> {
        match self {
            Field::Word(words, _) | Field::Set(words, _) => words(),
            _ => Vec::new(),
        }
    }

    /// Returns true if printing `target` omits this key: an empty list of texts is omitted, so that
    /// files older than the key print unchanged.
    pub(crate) fn says_nothing(&self, target: &T) -> bool {
        matches!(self, Field::Texts(_, get, _) if get(target).is_empty())
    }

    /// Returns the value that a configuration key has in the configuration `target`, as TOML.
    pub fn print(&self, target: &T) -> String {
        let quoted = |value: &dyn Display| format!("\"{value}\"");
        match self {
            Field::Count(_, access) => (access.get)(target).to_string(),
            Field::Counts(_, access) => list((access.get)(target).values(), u32::to_string),
            // The debug form always has a point or an exponent and reads back to the same bits.
            Field::Real(_, access) => format!("{:?}", (access.get)(target)),
            Field::Reals(_, access) => reals(&(access.get)(target)),
            Field::Rows(_, access) => bracketed((access.get)(target).iter().map(|row| reals(row))),
            Field::Time(_, access) => quoted(&(access.get)(target)),
            Field::Spans(_, access) => {
                bracketed((access.get)(target).iter().map(|time| format!("\"{time}\"")))
            }
            Field::Times(_, access) => {
                list((access.get)(target).values(), |time| format!("\"{time}\""))
            }
            Field::Size(_, access) => quoted(&(access.get)(target)),
            Field::Rate(_, access) => quoted(&(access.get)(target)),
            Field::Flag(access) => (access.get)(target).to_string(),
            Field::Word(_, access) => quoted(&(access.get)(target)),
            Field::Set(words, access) => {
                let bits = (access.get)(target);
                let chosen =
                    words().into_iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
                bracketed(chosen.map(|(_, (word, _))| format!("\"{word}\"")))
            }
            Field::Text(_, get, _) => quoted(&get(target)),
            Field::Texts(_, get, _) => bracketed(get(target).iter().map(|text| quoted(text))),
        }
    }

    /// Returns the value that a configuration key has in the configuration `target` as a number:
    /// times in nanoseconds, sizes in bytes, rates in bytes per second. `None` unless it is exactly
    /// one number.
    pub fn number(&self, target: &T) -> Option<f64> {
        Some(match self {
            Field::Count(_, access) => (access.get)(target) as f64,
            Field::Real(_, access) => (access.get)(target),
            Field::Time(_, access) => (access.get)(target).0 as f64,
            Field::Size(_, access) => (access.get)(target).0 as f64,
            Field::Rate(_, access) => (access.get)(target).0 as f64,
            Field::Counts(_, access) => match (access.get)(target).values() {
                [one] => f64::from(*one),
                _ => return None,
            },
            Field::Times(_, access) => match (access.get)(target).values() {
                [one] => one.0 as f64,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Returns the value of a configuration key that is nearest to `number`: nanoseconds for a
    /// time, bytes for a size, bytes per second for a rate. `None` for keys that take no number.
    pub(crate) fn value(&self, number: f64) -> Option<Value> {
        let whole = libm::round(number) as u64;
        Some(match self {
            Field::Count(..) | Field::Counts(..) => Value::Whole(i128::from(whole)),
            Field::Real(..) => Value::Real(number),
            Field::Time(..) | Field::Times(..) => Value::Text(Span(whole).to_string()),
            Field::Size(..) => Value::Text(Bytes(whole).to_string()),
            Field::Rate(..) => Value::Text(ByteRate(whole).to_string()),
            _ => return None,
        })
    }

    /// Stores `value` under a configuration key in the configuration `target`, or returns the
    /// reason for rejecting the value and leaves `target` unchanged.
    pub(crate) fn read(&self, target: &mut T, value: &Value) -> Result<(), Complaint> {
        match self {
            Field::Count(range, access) => (access.set)(target, whole(value, range)?),
            Field::Counts(range, access) => {
                let small = |value: &Value| whole(value, range).map(|number| number as u32);
                (access.set)(target, per_page_type(value, small)?);
            }
            Field::Real(range, access) => (access.set)(target, real(value, range)?),
            Field::Reals(range, access) => {
                (access.set)(target, items(value, |it| real(it, range))?);
            }
            Field::Rows(range, access) => {
                (access.set)(target, rows(value, |it| real(it, range))?);
            }
            Field::Time(range, access) => (access.set)(target, quantity(value, range, "us")?),
            Field::Spans(range, access) => {
                (access.set)(target, items(value, |it| quantity(it, range, "s"))?);
            }
            Field::Times(range, access) => {
                (access.set)(target, per_page_type(value, |value| quantity(value, range, "us"))?);
            }
            Field::Size(range, access) => (access.set)(target, quantity(value, range, "B")?),
            Field::Rate(range, access) => (access.set)(target, quantity(value, range, "MB/s")?),
            Field::Flag(access) => (access.set)(target, flag(value)?),
            Field::Word(words, access) => (access.set)(target, word(value, &words())?),
            Field::Set(words, access) => (access.set)(target, set_of(value, &words())?),
            Field::Text(_, _, set) => match value {
                Value::Text(text) | Value::Bare(text) => {
                    set(target, text).map_err(Complaint::new)?;
                }
                other => {
                    return Err(Complaint::new(format!(
                        "expected text in quotes, found {}",
                        other.kind()
                    )));
                }
            },
            Field::Texts(_, _, set) => {
                let text = |item: &Value| match item {
                    Value::Text(text) | Value::Bare(text) => Ok(text.clone()),
                    other => Err(Complaint::new(format!(
                        "expected text in quotes, found {}",
                        other.kind()
                    ))),
                };
                set(target, &items(value, text)?).map_err(Complaint::new)?;
            }
        }
        Ok(())
    }
}

/// Formats the lower or upper bound of a configuration key that is a time: a whole number of days
/// or hours as such (`2d`, `3h`), any other time in the usual unit.
fn short_span(span: Span) -> String {
    match span.0 {
        0 => "0ns".into(),
        ns if ns.is_multiple_of(86_400_000_000_000) => format!("{}d", ns / 86_400_000_000_000),
        ns if ns.is_multiple_of(3_600_000_000_000) => format!("{}h", ns / 3_600_000_000_000),
        _ => span.to_string(),
    }
}

fn list<V>(values: &[V], print: impl Fn(&V) -> String) -> String {
    match values {
        [one] => print(one),
        many => bracketed(many.iter().map(print)),
    }
}

fn bracketed(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// Formats real numbers as TOML, so that they read back to the same bits.
fn reals(values: &[f64]) -> String {
    bracketed(values.iter().map(|value| format!("{value:?}")))
}

fn outside<V: Display>(value: V, range: &RangeInclusive<V>) -> Complaint {
    Complaint::new(format!("{value} is outside {} to {}", range.start(), range.end()))
}

fn whole(value: &Value, range: &RangeInclusive<u64>) -> Result<u64, Complaint> {
    let number = match value {
        Value::Whole(number) => *number,
        Value::Bare(text) => text
            .replace('_', "")
            .parse()
            .map_err(|_| Complaint::new(format!("`{text}` is not a whole number")))?,
        other => return Err(Complaint::new(format!("this is {}", other.kind()))),
    };
    match u64::try_from(number) {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => {
            Err(Complaint::new(format!("{number} is outside {} to {}", range.start(), range.end())))
        }
    }
}

fn real(value: &Value, range: &RangeInclusive<f64>) -> Result<f64, Complaint> {
    let number = match value {
        Value::Real(number) => *number,
        Value::Whole(number) => *number as f64,
        Value::Bare(text) => {
            text.parse().map_err(|_| Complaint::new(format!("`{text}` is not a number")))?
        }
        other => return Err(Complaint::new(format!("this is {}", other.kind()))),
    };
    // A NaN is in no range. Adding 0 turns -0 into 0, which would print differently.
    if range.contains(&number) {
        return Ok(number + 0.0);
    }
    let (number, least, most) = (Short(number), range.start(), range.end());
    Err(Complaint::new(format!("{number} is outside {least} to {most}")))
}

fn quantity<V>(value: &Value, range: &RangeInclusive<V>, unit: &str) -> Result<V, Complaint>
where
    V: FromStr<Err = fowler_units::QuantityError> + PartialOrd + Display + Copy,
{
    let text = match value {
        Value::Text(text) | Value::Bare(text) => text,
        Value::Whole(_) | Value::Real(_) => {
            let number = match value {
                Value::Whole(number) => number.to_string(),
                Value::Real(number) => Short(*number).to_string(),
                _ => unreachable!("matched above"),
            };
            let what = format!("{number} has no unit");
            // Quantities are written without exponents.
            let hint = (!number.contains('e')).then(|| format!("did you mean \"{number}{unit}\"?"));
            return Err(Complaint { what, hint });
        }
        other => return Err(Complaint::new(format!("this is {}", other.kind()))),
    };
    let parsed: V = text.parse().map_err(|error: fowler_units::QuantityError| {
        let bare = text.parse::<f64>().is_ok();
        let hint = bare.then(|| format!("did you mean \"{text}{unit}\"?"));
        Complaint { what: error.reason, hint }
    })?;
    if range.contains(&parsed) { Ok(parsed) } else { Err(outside(parsed, range)) }
}

fn per_page_type<V: Copy>(
    value: &Value,
    read: impl Fn(&Value) -> Result<V, Complaint>,
) -> Result<PerPageType<V>, Complaint> {
    let values = match value {
        Value::List(items) => items.iter().map(read).collect::<Result<Vec<V>, _>>()?,
        one => vec![read(one)?],
    };
    PerPageType::new(&values).ok_or_else(|| {
        Complaint::new(format!(
            "this is a list of {} values, not of one value per page type",
            values.len()
        ))
    })
}

fn flag(value: &Value) -> Result<bool, Complaint> {
    match value {
        Value::Flag(flag) => Ok(*flag),
        Value::Bare(text) if text == "true" => Ok(true),
        Value::Bare(text) if text == "false" => Ok(false),
        other => Err(Complaint::new(format!("this is {}", other.kind()))),
    }
}

fn word(value: &Value, words: &[Word]) -> Result<&'static str, Complaint> {
    let (Value::Text(text) | Value::Bare(text)) = value else {
        return Err(Complaint::new(format!("this is {}", value.kind())));
    };
    if let Some((word, _)) = words.iter().find(|(word, _)| word == text) {
        return Ok(word);
    }
    let hint = nearest(text, words.iter().map(|(word, _)| *word));
    Err(Complaint {
        what: format!("`{}` is unknown", crate::diagnostic::printable(text)),
        hint: hint.map(|word| format!("did you mean \"{word}\"?")),
    })
}

/// Most errors in the list of one key that are reported one by one; the others are only counted.
const COMPLAINTS_SHOWN: usize = 5;

/// Reads each item of a key's list, or returns everything that is wrong with the items.
fn items<V>(
    value: &Value,
    read: impl Fn(&Value) -> Result<V, Complaint>,
) -> Result<Vec<V>, Complaint> {
    collected(value, ("item", ", "), read)
}

/// Reads each item of a key's list of lists, or returns everything that is wrong with the items.
fn rows<V>(
    value: &Value,
    read: impl Fn(&Value) -> Result<V, Complaint>,
) -> Result<Vec<Vec<V>>, Complaint> {
    collected(value, ("row", "; "), |row| {
        items(row, &read).map_err(|complaint| {
            let flat = !matches!(row, Value::List(_));
            let hint = flat
                .then(|| "put each row in its own brackets, such as [[1, 2], [3, 4]]".to_string());
            Complaint { hint: hint.or(complaint.hint), ..complaint }
        })
    })
}

fn collected<V>(
    value: &Value,
    (name, apart): (&str, &str),
    read: impl Fn(&Value) -> Result<V, Complaint>,
) -> Result<Vec<V>, Complaint> {
    let Value::List(list) = value else {
        return Err(Complaint::new(format!("expected a list, found {}", value.kind())));
    };
    let (mut values, mut wrong, mut hint) = (Vec::with_capacity(list.len()), Vec::new(), None);
    for (index, item) in list.iter().enumerate() {
        match read(item) {
            Ok(value) => values.push(value),
            Err(complaint) => {
                wrong.push(format!("{name} {}: {}", index + 1, complaint.what));
                hint = hint.or(complaint.hint);
            }
        }
    }
    if wrong.is_empty() {
        return Ok(values);
    }
    let more = wrong.len().saturating_sub(COMPLAINTS_SHOWN);
    wrong.truncate(COMPLAINTS_SHOWN);
    if more > 0 {
        wrong.push(format!("and {more} more"));
    }
    Err(Complaint { what: wrong.join(apart), hint })
}

/// Reads a list of words as a bit set: a bit for each word's position in `words`. In a flag the
/// words may be joined by `+`.
fn set_of(value: &Value, words: &[Word]) -> Result<u32, Complaint> {
    let joined = |text: &str| {
        let parts = text.split('+').map(str::trim).filter(|part| !part.is_empty());
        Value::List(parts.map(|part| Value::Bare(part.into())).collect())
    };
    let place = |item: &Value| {
        let found = word(item, words)?;
        Ok(words.iter().position(|(word, _)| *word == found).unwrap_or(0))
    };
    let places = match value {
        Value::Bare(text) => items(&joined(text), place)?,
        Value::Text(text) => {
            let what = "this is text, not a list".to_string();
            let hint = word(value, words).is_ok().then(|| format!("did you mean [\"{text}\"]?"));
            return Err(Complaint { what, hint });
        }
        other => items(other, place)?,
    };
    Ok(places.into_iter().fold(0, |bits, place| bits | 1 << place))
}

/// Returns the candidate that a misspelled `text` most likely meant, if any is near enough.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const NEAR: f64 = 0.6;
    // The distance takes quadratic time, and a text this long is no misspelling of a known word.
    if text.len() > 100 {
        return None;
    }
    let text = text.to_lowercase();
    let count = text.chars().count();
    // The words that a text may mean are all ASCII.
    let mut letters = [0_u8; 256];
    text.bytes().for_each(|letter| letters[usize::from(letter)] += 1);
    let likeness = |word: &str| {
        // A drive may be named without its prefix: `pm9a3` means `nvme-pm9a3`.
        let is_end = word.strip_suffix(&*text).is_some_and(|rest| rest.ends_with('-'));
        let same_words =
            word.len() > 2 && (text.starts_with(word) || word.starts_with(&*text) || is_end);
        let least = if same_words { NEAR } else { 0.0 };
        // A letter that the other word does not have costs an edit. With too few in common, words
        // cannot be near, and counting them is cheaper than the distance.
        let mut left = letters;
        let in_common = |letter: &u8| {
            let left = &mut left[usize::from(*letter)];
            let found = *left > 0;
            *left -= u8::from(found);
            found
        };
        let common = word.as_bytes().iter().copied().filter(in_common).count();
        if (common as f64) < NEAR * count.max(word.len()) as f64 {
            return least;
        }
        strsim::normalized_damerau_levenshtein(&text, word).max(least)
    };
    candidates
        .into_iter()
        .map(|word| (likeness(word), word))
        .filter(|(likeness, _)| *likeness >= NEAR && !text.is_empty())
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)))
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_find_their_word() {
        let words = ["read_first", "fifo"];
        assert_eq!(nearest("readfirst", words), Some("read_first"));
        assert_eq!(nearest("FIFO", words), Some("fifo"));
        assert_eq!(nearest("greedy", words), None);
        assert_eq!(nearest("", words), None);
        let keys: Vec<&str> = crate::keys::all().iter().map(|key| key.path).collect();
        for (text, word) in keys.iter().flat_map(|text| keys.iter().map(move |word| (*text, *word)))
        {
            let near = text.starts_with(word)
                || word.starts_with(text)
                || strsim::normalized_damerau_levenshtein(text, word) >= 0.6;
            assert_eq!(nearest(text, [word]).is_some(), near, "{text}, {word}");
        }
    }

    #[test]
    fn minus_zero_and_nan_do_not_enter() {
        let zero = real(&Value::Real(-0.0), &(0.0..=1.0)).unwrap();
        assert!(zero.is_sign_positive());
        assert!(real(&Value::Real(f64::NAN), &(0.0..=1.0)).is_err());
        assert!(real(&Value::Bare("inf".into()), &(0.0..=1.0)).is_err());
    }
}
