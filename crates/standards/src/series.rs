//! Reads series of rounds from a file and writes the verdict of the steady-state criterion on each.
//!
//! A file is one series, `[1, 2, 3]` or `{"values": [1, 2, 3]}`, or several: a list of these, or
//! `{"cases": [...]}`. Other fields of a series are repeated in its verdict, unless they are fields
//! of a verdict themselves.

use super::steady_state::{ROUNDS_MOST, WINDOW, Window, first_steady};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_experiment::text_file;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Largest accepted size in bytes of a file with series of rounds, the values (such as IOPS) that a
/// test measured round by round.
const LARGEST: u64 = 16 << 20;
/// Largest absolute value of a measured round that is accepted, so that sums of five stay finite.
const GREATEST: f64 = 1e300;
/// JSON fields of the steady-state verdict on a series of rounds. If an input file has such fields,
/// perhaps from an earlier verdict, they are ignored and replaced.
const VERDICT: [&str; 7] = [
    "steady_round",
    "window",
    "average",
    "data_excursion",
    "slope",
    "slope_excursion",
    "intercept",
];
const EXPECTED: &str = "a list of numbers, {\"values\": [...]}, or several of these as a list or as {\"cases\": [...]}";

/// Values (such as IOPS) that a test measured round by round, read from a file for the verdict on
/// steady state, with other JSON fields that describe them.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// JSON fields that describe a series of measured rounds, such as `id` and `kind`; they are
    /// repeated in the output.
    about: Map<String, Value>,
    /// Value of the tracking variable, such as IOPS, that a test measured in each round.
    pub values: Vec<f64>,
    /// Values that a test measured round by round, as JSON, with each number spelled as in the
    /// input file: 100 is not printed as 100.0.
    written: Value,
}

/// Input file for the verdict on steady state, with one or several series of measured rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesFile {
    /// Series of measured rounds in the input file, in the order of that file.
    pub all: Vec<Series>,
    /// True if the input file holds one series of measured rounds by itself, not in a list.
    single: bool,
}

/// Reads a file with one or several series of rounds, the values that tests measured round by
/// round.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn read(path: &Path) -> Result<SeriesFile, Diagnostics> {
    parse(&text_file::read(path, LARGEST)?, &path.display().to_string())
}

/// Reads JSON text with one or several series of rounds, the values that tests measured round by
/// round. Never panics, whatever the text.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn parse(text: &str, file: &str) -> Result<SeriesFile, Diagnostics> {
    let json: Value = serde_json::from_str(text).map_err(|error| not_json(text, file, &error))?;
    let mut reader = Reader { file, wrong: Diagnostics::default() };
    let (several, single) = match json {
        Value::Object(mut object) if object.contains_key("cases") => match object.remove("cases") {
            Some(Value::Array(cases)) => (cases, false),
            other => {
                reader.refuse("cases", other.as_ref(), "a list of series");
                (Vec::new(), false)
            }
        },
        // A list of nothing is one series without rounds.
        Value::Array(items) if items.first().is_some_and(is_series) => (items, false),
        other => (vec![other], true),
    };
    let place = |number: usize| if single { String::new() } else { format!("series {number}") };
    let numbered = several.into_iter().enumerate();
    let all = numbered.filter_map(|(number, one)| reader.series(one, &place(number + 1))).collect();
    reader.wrong.or(SeriesFile { all, single })
}

fn is_series(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

fn not_json(text: &str, file: &str, error: &serde_json::Error) -> Diagnostics {
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let what = error.to_string();
    // The line is named where every message names it.
    let what = what.split(" at line ").next().unwrap_or_default().to_string();
    Diagnostic::new(file, format!("this is not JSON: {what}"))
        .line(error.line() as u64)
        .text(line.trim())
        .expected(EXPECTED)
        .into()
}

struct Reader<'a> {
    file: &'a str,
    wrong: Diagnostics,
}

impl Reader<'_> {
    fn series(&mut self, value: Value, place: &str) -> Option<Series> {
        let (written, about) = match value {
            Value::Array(_) => (value, Map::new()),
            Value::Object(mut object) => match object.shift_remove("values") {
                Some(values) => (values, object),
                None => {
                    let what = format!("{}there are no `values`", prefix(place));
                    self.wrong.push(Diagnostic::new(self.file, what).expected(EXPECTED));
                    return None;
                }
            },
            other => {
                self.refuse(place, Some(&other), EXPECTED);
                return None;
            }
        };
        let Value::Array(items) = &written else {
            self.refuse(&format!("{}values", prefix(place)), Some(&written), "a list of numbers");
            return None;
        };
        let number = |(round, item): (usize, &Value)| {
            let value = item.as_f64().filter(|value| value.abs() <= GREATEST);
            if value.is_none() {
                let place = format!("{}round {}", prefix(place), round + 1);
                self.refuse(&place, Some(item), "a number from -1e300 to 1e300");
            }
            value
        };
        let values: Vec<Option<f64>> = items.iter().enumerate().map(number).collect();
        let values: Option<Vec<f64>> = values.into_iter().collect();
        let about = about.into_iter().filter(|(key, _)| !VERDICT.contains(&key.as_str())).collect();
        Some(Series { about, values: values?, written })
    }

    fn refuse(&mut self, place: &str, value: Option<&Value>, expected: &str) {
        let found = value.map_or_else(String::new, |value| printable(value.to_string()));
        let what = format!("{}`{found}` is not valid in a series of rounds", prefix(place));
        self.wrong.push(Diagnostic::new(self.file, what).expected(expected));
    }
}

fn prefix(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!("{place}: ") }
}

impl Series {
    /// Returns a series of measured rounds with the steady-state verdict as JSON: the fields read
    /// from the file, and the first steady window or nulls.
    pub fn json(&self) -> Value {
        let mut object = self.about.clone();
        object.insert("values".into(), self.written.clone());
        object.extend(verdict(first_steady(&self.values).as_ref()));
        Value::Object(object)
    }
}

/// Returns the JSON fields of the steady-state verdict on a series of measured rounds: the first
/// steady window, or nulls if no window is steady.
pub(super) fn verdict(window: Option<&Window>) -> Map<String, Value> {
    let number = |value: fn(&Window) -> f64| json!(window.map(value));
    let values = [
        json!(window.map(|it| it.last)),
        json!(window.map(|it| [it.first, it.last])),
        number(|it| it.average),
        number(|it| it.data_excursion),
        number(|it| it.slope),
        number(Window::slope_excursion),
        number(|it| it.intercept),
    ];
    VERDICT.into_iter().map(String::from).zip(values).collect()
}

impl SeriesFile {
    /// Returns the steady-state verdicts on all series of measured rounds as JSON: one object if
    /// the input file held a single series, otherwise a list under `cases`.
    pub fn json(&self) -> Value {
        match &self.all[..] {
            [only] if self.single => only.json(),
            all => json!({ "cases": all.iter().map(Series::json).collect::<Vec<_>>() }),
        }
    }

    /// Returns the verdicts of the steady-state criterion on all series of rounds as a table.
    pub fn sheet(&self) -> Sheet {
        let title = format!(
            "Steady state: {WINDOW} rounds, of the first {ROUNDS_MOST}, within 20 % of their mean, \
             whose line rises or falls by at most 10 %"
        );
        let heads = [
            "series",
            "rounds",
            "steady at round",
            "mean",
            "data excursion",
            "slope excursion",
            "slope",
            "intercept",
        ];
        let mut sheet = Sheet::new("steady", title, &heads);
        for (number, series) in self.all.iter().enumerate() {
            let window = first_steady(&series.values);
            let value = |value: fn(&Window) -> f64| Cell::number(window.as_ref().map(value));
            let share = |value: fn(&Window) -> f64| Cell::share(window.as_ref().map(value));
            sheet.row(vec![
                Cell::Text((number + 1).to_string()),
                Cell::Number(series.values.len() as f64),
                window.map_or(Cell::from("not reached"), |it| Cell::Number(it.last as f64)),
                value(|it| it.average),
                share(|it| it.data_excursion / it.average),
                share(|it| it.slope_excursion() / it.average),
                value(|it| it.slope),
                value(|it| it.intercept),
            ]);
        }
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict_of(text: &str) -> Value {
        parse(text, "s.json").unwrap_or_else(|wrong| panic!("{wrong}")).json()
    }

    #[test]
    fn every_shape_of_a_file_is_answered_in_its_shape() {
        let level = "[3, 3, 3, 3, 3.0]";
        for text in [level.to_string(), format!("{{\"values\": {level}, \"slope\": 9}}")] {
            let json = verdict_of(&text);
            assert_eq!(json["steady_round"], 5);
            assert_eq!(json["window"], json!([1, 5]));
            assert_eq!(json["slope"], 0.0);
            assert_eq!(json["values"].to_string(), "[3,3,3,3,3.0]");
        }
        for text in [
            format!("[{level}, {level}]"),
            format!("{{\"note\": 1, \"cases\": [{{\"values\": {level}}}, {level}]}}"),
        ] {
            assert_eq!(verdict_of(&text)["cases"][1]["average"], 3.0);
        }
        let named = verdict_of("{\"id\": 7, \"values\": [1], \"steady_round\": 5}");
        assert_eq!((&named["id"], &named["steady_round"]), (&json!(7), &Value::Null));
        assert_eq!(verdict_of("[]")["window"], Value::Null);
    }

    #[test]
    fn everything_that_is_wrong_is_said() {
        for (text, said) in [
            ("[1, 2", &["s.json:1: this is not JSON", "EOF", "text: [1, 2"][..]),
            ("[1,\n2,\n x]", &["s.json:3: this is not JSON", "text: x"]),
            ("7", &["`7` is not valid in a series of rounds", "{\"values\": [...]}"]),
            ("{}", &["there are no `values`"]),
            ("{\"values\": 3}", &["values: `3`", "a list of numbers"]),
            ("{\"cases\": 3}", &["cases: `3`", "a list of series"]),
            ("[1, \"two\", null]", &["round 2: `\"two\"`", "round 3: `null`"]),
            ("[[1, 1e301], [1], 5]", &["series 1: round 2: `1e+301`", "series 3: `5`"]),
        ] {
            let wrong = parse(text, "s.json").unwrap_err().to_string();
            for part in said {
                assert!(wrong.contains(part), "{text}: {part}: {wrong}");
            }
        }
    }
}
