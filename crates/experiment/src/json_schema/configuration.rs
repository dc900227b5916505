//! JSON Schema of a configuration key: type, range, words, unit, default and meaning, from the
//! table of keys that the program itself reads with.
//!
//! TOML's values are JSON's, dates aside. Times, sizes and rates are text; that they have a unit,
//! and which, is a pattern. Their ranges are in the description: as patterns they would be too long
//! to read in an editor's message.

use super::{Tree, described};
use crate::field::Field;
use crate::keys::Key;
use fowler_units::{ByteRate, Bytes, Span};
use serde_json::{Value, json};

/// Returns the JSON Schema of the values that a configuration key takes, without a description.
pub(crate) fn of_field<T>(field: &Field<T>) -> Value {
    let per_page_type = |one: Value| {
        let several = json!({ "type": "array", "items": one, "minItems": 1, "maxItems": 4 });
        json!({ "anyOf": [one, several] })
    };
    let list = |item: Value| json!({ "type": "array", "items": item });
    match field {
        Field::Counts(..) | Field::Times(..) => per_page_type(single(field)),
        Field::Reals(..) | Field::Spans(..) | Field::Set(..) | Field::Texts(..) => {
            list(single(field))
        }
        Field::Rows(..) => list(list(single(field))),
        _ => single(field),
    }
}

/// Returns the JSON Schema of one element of a key's list, or of the value of a key that is no
/// list.
pub(crate) fn single<T>(field: &Field<T>) -> Value {
    match field {
        Field::Count(range, _) | Field::Counts(range, _) => {
            json!({ "type": "integer", "minimum": range.start(), "maximum": range.end() })
        }
        Field::Real(range, _) | Field::Reals(range, _) | Field::Rows(range, _) => {
            json!({ "type": "number", "minimum": range.start(), "maximum": range.end() })
        }
        Field::Time(..) | Field::Times(..) | Field::Spans(..) => quantity(Span::units()),
        Field::Size(..) => quantity(Bytes::units()),
        Field::Rate(..) => quantity(ByteRate::units()),
        Field::Flag(_) => json!({ "type": "boolean" }),
        Field::Word(words, _) | Field::Set(words, _) => {
            json!({ "enum": words().iter().map(|(word, _)| *word).collect::<Vec<_>>() })
        }
        Field::Text(..) | Field::Texts(..) => json!({ "type": "string" }),
    }
}

/// Returns the JSON Schema of a text with a number and one of these units.
fn quantity(units: impl Iterator<Item = &'static str>) -> Value {
    let units = units.collect::<Vec<_>>().join("|");
    let number = "_*([0-9][0-9_]*(\\.[0-9_]*)?|\\._*[0-9][0-9_]*)";
    json!({ "type": "string", "pattern": format!("^\\s*{number}\\s*({units})\\s*$") })
}

/// Returns the description of a configuration key and of the values that it takes, as Markdown.
pub(crate) fn about<T>(key: &Key<T>) -> String {
    let words = key.field.words();
    let mut text = match words.is_empty() {
        true => format!("{}: {}", key.about, key.field.expected()),
        false => format!("{}:", key.about),
    };
    for (word, meaning) in words {
        text.push_str(&format!("\n- `{word}`: {meaning}"));
    }
    text
}

/// Returns the JSON Schema of a configuration key, with its description and, if `default` is given,
/// its default value.
pub(crate) fn of_key<T>(key: &Key<T>, default: Option<&T>) -> Value {
    let mut schema = described(of_field(&key.field), &about(key));
    if let Some(default) = default.filter(|_| !key.required) {
        schema["default"] = value_of(&key.field.print(default));
    }
    schema
}

/// Returns the JSON Schema of configuration keys as tables in tables. With `defaults`, required
/// keys are required here too, and the others have their defaults.
pub(crate) fn of_keys<T>(keys: &[Key<T>], defaults: Option<&T>) -> Tree {
    let mut tree = Tree::default();
    for key in keys {
        let required = key.required && defaults.is_some();
        tree.insert(key.path, of_key(key, defaults), required).named = key.is_slot();
    }
    tree
}

/// Converts a value that is written in TOML to JSON.
fn value_of(text: &str) -> Value {
    let table: toml::Table = toml::from_str(&format!("value = {text}")).expect("what we print");
    serde_json::to_value(&table["value"]).expect("no date")
}
