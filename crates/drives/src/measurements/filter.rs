//! Filters on measured rows: `key=value,key=a..b,key=a|b`.

use super::Pick;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};

/// Largest difference, relative to the larger one, between a number in a `--rows` filter and a
/// number in a measured row that count as equal.
const SAME_WITHIN: f64 = 1e-9;

/// A filter: conditions that a measured row must all meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Text of the filter of measured rows, as the user gave it to `--rows`.
    pub text: String,
    conditions: Vec<(String, Wanted)>,
}

/// A condition on the value that a measured row has for a key.
#[derive(Clone, Debug, PartialEq)]
enum Wanted {
    /// The row's value of the filtered key is equal to one of the values listed in the filter
    /// `key=a|b`.
    Among(Vec<String>),
    /// The row's value of the filtered key is a number between the bounds of the filter `key=a..b`,
    /// both included.
    Within(f64, f64),
}

impl Wanted {
    fn holds(&self, value: &str) -> bool {
        match self {
            Wanted::Among(values) => values.iter().any(|wanted| alike(wanted, value)),
            Wanted::Within(low, high) => {
                value.parse().is_ok_and(|value: f64| (*low..=*high).contains(&value))
            }
        }
    }
}

/// True if a value in a `--rows` filter and a value in a measured row are equal. Numbers are
/// compared as numbers: `1` equals `1.0`.
fn alike(wanted: &str, value: &str) -> bool {
    match (wanted.parse::<f64>(), value.parse::<f64>()) {
        (Ok(wanted), Ok(value)) => {
            (wanted - value).abs() <= SAME_WITHIN * wanted.abs().max(value.abs())
        }
        _ => wanted == value,
    }
}

impl Filter {
    /// Parses a filter of measured rows, as the user gives it to `--rows`: `key=value,key=a..b`.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn parse(text: &str) -> Result<Filter, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let mut conditions: Vec<(String, Wanted)> = Vec::new();
        for part in parts(text) {
            let part = part.as_str();
            let wrong = |what: String| {
                Diagnostic::new("--rows", what).text(part).expected("key=value or key=a..b")
            };
            let Some((key, value)) = part.split_once('=') else {
                diagnostics.push(wrong("`=` is missing".into()));
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            if let Some(exact) = value.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
                conditions.push((key.into(), Wanted::Among(vec![exact.to_string()])));
                continue;
            }
            if key.is_empty() || value.is_empty() {
                let empty = if key.is_empty() { "key" } else { "value" };
                diagnostics.push(wrong(format!("the {empty} is empty")));
                continue;
            }
            if conditions.iter().any(|(other, _)| other == key) {
                let what = format!("`{}` has two conditions", printable(key));
                let hint = "key=a|b wants either value".to_string();
                diagnostics.push(wrong(what).hint(hint));
                continue;
            }
            match wanted(value) {
                Ok(wanted) => conditions.push((key.into(), wanted)),
                Err(what) => diagnostics.push(wrong(what)),
            }
        }
        diagnostics.or(Filter { text: text.into(), conditions })
    }

    /// Returns the filter for rows of the model `model`.
    pub(crate) fn of_model(model: &str) -> Filter {
        Filter { text: String::new(), conditions: Vec::new() }.and_model(model)
    }

    /// Adds to the filter the condition that a row is of the model `model`.
    pub(crate) fn and_model(mut self, model: &str) -> Filter {
        self.conditions.push(("model".into(), Wanted::Among(vec![model.into()])));
        let comma = if self.text.is_empty() { "" } else { "," };
        self.text += &format!("{comma}model={model}");
        self
    }

    /// Returns the keys of the conditions in this filter of measured rows.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().map(|(key, _)| key.as_str())
    }

    /// Returns true if the measured row `pick` meets every condition of this `--rows` filter.
    pub fn wants(&self, pick: &Pick<'_>) -> bool {
        self.keys().all(|key| self.holds(key, pick))
    }

    /// Returns true if the measured row `pick` meets this `--rows` filter's condition on `key`, or
    /// if the filter has none; a row without the key does not meet it.
    pub fn holds(&self, key: &str, pick: &Pick<'_>) -> bool {
        let condition = self.conditions.iter().find(|(name, _)| name == key);
        condition.is_none_or(|(_, wanted)| pick.value(key).is_some_and(|it| wanted.holds(&it)))
    }
}

/// Splits the text of a filter at commas outside of quotes. A part without `=` belongs to the value
/// before it, because names of drives contain commas.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let (mut part, mut quoted) = (String::new(), false);
    let mut end = |part: &mut String| {
        match parts.last_mut() {
            Some(last) if !part.contains('=') && last.contains('=') => {
                last.push(',');
                last.push_str(part);
            }
            _ => parts.push(part.trim().to_string()),
        }
        part.clear();
    };
    for c in text.chars() {
        match c {
            ',' if !quoted => end(&mut part),
            _ => {
                quoted ^= c == '"';
                part.push(c);
            }
        }
    }
    end(&mut part);
    parts
}

fn wanted(value: &str) -> Result<Wanted, String> {
    let Some((low, high)) = value.split_once("..") else {
        return Ok(Wanted::Among(value.split('|').map(|it| it.trim().to_string()).collect()));
    };
    let end = |text: &str, open: f64| match text.trim() {
        "" => Ok(open),
        text => text.parse().map_err(|_| format!("`{}` is no number", printable(text))),
    };
    let (low, high) = (end(low, f64::NEG_INFINITY)?, end(high, f64::INFINITY)?);
    if low > high {
        return Err(format!(
            "the range from {low} to {high} is empty: the lower end is above the upper end"
        ));
    }
    Ok(Wanted::Within(low, high))
}
