//! Tables of studies as Python values.

use fowler_experiment::tables::{Cell, Sheet};
use pyo3::prelude::*;

/// A cell of a table, as a Python value: text, a number, or nothing.
#[derive(IntoPyObject)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    Nothing(Option<f64>),
}

/// A table, as a Python value: name, title, column heads, and rows.
pub(crate) type Rows = (String, String, Vec<String>, Vec<Vec<Value>>);

pub(crate) fn rows(sheet: &Sheet) -> Rows {
    let value = |cell: &Cell| match cell {
        Cell::Text(text) => Value::Text(text.clone()),
        Cell::Number(value) | Cell::Share(value) => Value::Number(*value),
        Cell::Nothing => Value::Nothing(None),
    };
    let rows = sheet.rows.iter().map(|row| row.iter().map(value).collect()).collect();
    (sheet.name.clone(), sheet.title.clone(), sheet.heads.clone(), rows)
}
