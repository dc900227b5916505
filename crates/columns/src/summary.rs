//! Points of a sweep as rows: the description of the point, and each value of its summary under its
//! name.

use crate::file;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchOptions, StringArray,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use fowler_experiment::summary::{Stored, all};
use fowler_experiment::sweep::{Finished, Level, Plan, Point};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Name of the column with the index of a point in the design of its sweep.
pub const POINT: &str = "point";
/// Name of the column with the hash of a run's inputs, which identifies the run of a sweep.
pub const HASH: &str = "hash";
/// Prefix of the names of the columns with a point's values on the axes of its sweep.
const AXIS: &str = "axis.";
/// Name of the column with the error that ended a run of a sweep; null for runs without an error.
pub const ERROR: &str = "error";
/// Name of the column with the whole summary of a sweep's run as JSON.
pub const SUMMARY: &str = "summary";
/// The columns with the names of the drive, scheme and workload that a point runs. A run that
/// several points share has the names of the first.
pub(crate) const NAMES: [&str; 3] = ["device", "scheme", "workload.name"];

/// A single value of a table cell: a number, a truth value, a text, or nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Flag(bool),
    Whole(u64),
    Real(f64),
    Text(String),
}

/// Type of the values of a column in a sweep's table of results.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Null,
    Flag,
    Whole,
    Real,
    Text,
}

impl Kind {
    /// Returns the narrowest column type that can hold the values of both types; text if no other
    /// can.
    fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (one, other) if one == other => one,
            (Kind::Null, other) => other,
            (one, Kind::Null) => one,
            (Kind::Whole, Kind::Real) | (Kind::Real, Kind::Whole) => Kind::Real,
            _ => Kind::Text,
        }
    }
}

impl Scalar {
    fn kind(&self) -> Kind {
        match self {
            Scalar::Null => Kind::Null,
            Scalar::Flag(_) => Kind::Flag,
            Scalar::Whole(_) => Kind::Whole,
            Scalar::Real(_) => Kind::Real,
            Scalar::Text(_) => Kind::Text,
        }
    }

    pub fn real(&self) -> Option<f64> {
        match self {
            Scalar::Whole(number) => Some(*number as f64),
            Scalar::Real(number) => Some(*number),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<String> {
        match self {
            Scalar::Null => None,
            Scalar::Flag(flag) => Some(flag.to_string()),
            Scalar::Whole(number) => Some(number.to_string()),
            Scalar::Real(number) => Some(number.to_string()),
            Scalar::Text(text) => Some(text.clone()),
        }
    }

    /// Converts a JSON value to a value of a cell; `None` for a list or a table.
    fn of(value: &Value) -> Option<Scalar> {
        Some(match value {
            Value::Null => Scalar::Null,
            Value::Bool(flag) => Scalar::Flag(*flag),
            Value::Number(number) => match number.as_u64() {
                Some(number) => Scalar::Whole(number),
                None => number.as_f64().map_or(Scalar::Null, Scalar::Real),
            },
            Value::String(text) => Scalar::Text(text.clone()),
            Value::Array(_) | Value::Object(_) => return None,
        })
    }
}

/// Row of a point of a sweep: values by column name, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row(Vec<(String, Scalar)>);

impl Row {
    fn push(&mut self, name: impl Into<String>, value: Scalar) {
        self.0.push((name.into(), value));
    }

    /// Returns the value of a column in this row of a sweep's table of results; `None` if the row
    /// lacks the column.
    pub fn get(&self, name: &str) -> Option<&Scalar> {
        self.0.iter().find(|(column, _)| column == name).map(|(_, value)| value)
    }

    /// Returns the names of the sweep's axes for which this row of its table of results has a
    /// column.
    pub fn axes(&self) -> Vec<&str> {
        self.0.iter().filter_map(|(name, _)| name.strip_prefix(AXIS)).collect()
    }

    /// Returns the text in a column of this row of a sweep's table of results; `None` if the value
    /// is not text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Scalar::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns a full row of a sweep's table of results: the columns of this row (index and names
    /// of a point) and the results in `measured`, the saved row of a run with the same inputs,
    /// which may have been made for another point.
    pub fn with(&self, measured: &Row) -> Row {
        let mut row = self.clone();
        let own = |name: &str| self.get(name).is_some();
        row.0.extend(measured.0.iter().filter(|(name, _)| !own(name)).cloned());
        // A run that several points share appears with the names of each point.
        if NAMES.iter().any(|name| measured.get(name).is_some_and(|it| Some(it) != self.get(name)))
            && let Some((_, Scalar::Text(summary))) = row.0.iter_mut().find(|(it, _)| it == SUMMARY)
            && let Ok(mut json) = serde_json::from_str::<Value>(summary)
        {
            for name in NAMES {
                let pointer = format!("/{}", name.replace('.', "/"));
                if let (Some(place), Some(own)) = (json.pointer_mut(&pointer), self.text(name)) {
                    *place = Value::String(own.into());
                }
            }
            *summary = json.to_string();
        }
        row
    }
}

/// Returns the row of a sweep's table that describes a point before its run: index, hash, values of
/// the axes, and names.
pub(crate) fn of_point(plan: &Plan, point: &Point) -> Row {
    let mut row = Row::default();
    row.push(POINT, Scalar::Whole(point.number as u64));
    row.push(HASH, Scalar::Text(point.hash.clone()));
    for (axis, level) in plan.axes().zip(&point.levels) {
        let value = match level {
            None => Scalar::Null,
            Some(Level::Number(number)) => Scalar::Real(*number),
            Some(Level::Text(text)) => Scalar::Text(text.clone()),
        };
        row.push(format!("{AXIS}{axis}"), value);
    }
    let names = &point.names;
    for (column, name) in NAMES.into_iter().zip([&names.device, &names.scheme, &names.workload]) {
        row.push(column, Scalar::Text(name.clone()));
    }
    row
}

/// Returns the row of a sweep's table for a finished run: the description of its point, and its
/// metrics or the error that ended it.
pub(crate) fn of_finished(plan: &Plan, finished: &Finished) -> Row {
    let mut row = of_point(plan, &plan.points()[finished.point]);
    match &finished.result {
        Err(why) => row.push(ERROR, Scalar::Text(why.clone())),
        Ok(summary) => {
            row.push(ERROR, Scalar::Null);
            let mut flat = Row::default();
            flatten(String::new(), summary, &mut flat);
            let known: Vec<String> = row.0.iter().map(|(name, _)| name.clone()).collect();
            row.0.extend(flat.0.into_iter().filter(|(name, _)| !known.contains(name)));
            row.push(SUMMARY, Scalar::Text(summary.to_string()));
        }
    }
    row
}

fn flatten(name: String, value: &Value, row: &mut Row) {
    if let Some(scalar) = Scalar::of(value) {
        if !too_long(&name) {
            row.push(name, scalar);
        }
        return;
    }
    // Lists differ in length, so they are only in the summary.
    let Value::Object(fields) = value else { return };
    for (key, value) in fields {
        let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        flatten(name, value, row);
    }
}

/// Returns true if `name` is the column of a long text, such as the drive as TOML, that only the
/// JSON summary of a run has, not the table of a sweep.
fn too_long(name: &str) -> bool {
    all().iter().any(|it| it.name == name && it.stored == Stored::SummaryOnly)
}

/// Returns the bytes of a Parquet file that holds this row of a sweep's table.
pub(crate) fn bytes(row: &Row) -> Vec<u8> {
    file::bytes(&table(std::slice::from_ref(row)))
}

/// Joins the rows of a sweep's runs into a table with the columns of all rows; a row is null where
/// it lacks a column. A metric that is null in some rows and a group of metrics (`name.part`) in
/// others has only the columns of its parts.
pub(crate) fn table(rows: &[Row]) -> RecordBatch {
    let mut kinds: BTreeMap<&str, Kind> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for (name, value) in rows.iter().flat_map(|row| &row.0) {
        let kind = kinds.entry(name).or_insert_with(|| {
            order.push(name);
            Kind::Null
        });
        *kind = kind.join(value.kind());
    }
    // Put the long text last, where it is not in the way.
    order.sort_by_key(|name| *name == SUMMARY);
    let is_table = |name: &str| {
        let inside = format!("{name}.");
        kinds.range(&*inside..).next().is_some_and(|(next, _)| next.starts_with(&inside))
    };
    order.retain(|name| kinds[name] != Kind::Null || !is_table(name));
    let mut cells: BTreeMap<&str, Vec<Option<&Scalar>>> =
        order.iter().map(|name| (*name, vec![None; rows.len()])).collect();
    for (index, row) in rows.iter().enumerate() {
        for (name, value) in &row.0 {
            if let Some(column) = cells.get_mut(name.as_str()) {
                column[index] = Some(value);
            }
        }
    }
    let columns: Vec<ArrayRef> =
        order.iter().map(|name| column(kinds[name], &cells[name])).collect();
    let fields = order.iter().zip(&columns);
    let fields: Vec<Field> =
        fields.map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    // Without rows there are no columns either, whose length could be the number of rows.
    let length = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &length)
        .expect("columns of one length")
}

fn column(kind: Kind, cells: &[Option<&Scalar>]) -> ArrayRef {
    let cells = cells.iter().copied();
    match kind {
        Kind::Flag => {
            let flag = |cell: Option<&Scalar>| match cell {
                Some(Scalar::Flag(flag)) => Some(*flag),
                _ => None,
            };
            Arc::new(cells.map(flag).collect::<BooleanArray>())
        }
        Kind::Whole => {
            let whole = |cell: Option<&Scalar>| match cell {
                Some(Scalar::Whole(number)) => Some(*number),
                _ => None,
            };
            Arc::new(cells.map(whole).collect::<UInt64Array>())
        }
        Kind::Real | Kind::Null => {
            Arc::new(cells.map(|cell| cell.and_then(Scalar::real)).collect::<Float64Array>())
        }
        Kind::Text => {
            Arc::new(cells.map(|cell| cell.and_then(Scalar::text)).collect::<StringArray>())
        }
    }
}

/// Reads the rows of a Parquet file with points of a sweep.
pub(crate) fn read(path: &Path) -> Result<Vec<Row>, fowler_experiment::diagnostic::Diagnostics> {
    Ok(rows_of(&file::read(path)?))
}

/// Reads the rows of tables with points of a sweep.
pub(crate) fn rows_of(batches: &[RecordBatch]) -> Vec<Row> {
    batches.iter().flat_map(rows).collect()
}

fn rows(batch: &RecordBatch) -> Vec<Row> {
    let schema = batch.schema();
    let names = || schema.fields().iter().map(|field| field.name());
    let row = |row: usize| {
        let cells = names().zip(batch.columns());
        Row(cells.map(|(name, column)| (name.clone(), scalar(column, row))).collect())
    };
    (0..batch.num_rows()).map(row).collect()
}

fn scalar(column: &ArrayRef, row: usize) -> Scalar {
    if column.is_null(row) {
        return Scalar::Null;
    }
    match column.data_type() {
        DataType::Boolean => Scalar::Flag(column.as_boolean().value(row)),
        DataType::UInt64 => Scalar::Whole(column.as_primitive::<UInt64Type>().value(row)),
        DataType::Float64 => Scalar::Real(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Scalar::Text(column.as_string::<i32>().value(row).into()),
        _ => Scalar::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn flat(value: &Value) -> Row {
        let mut row = Row::default();
        flatten(String::new(), value, &mut row);
        row
    }

    #[test]
    fn summaries_become_columns_by_their_dotted_names() {
        let row = flat(&json!({
            "waf": 1.5,
            "read": { "count": 3, "p99_us": null },
            "laws": { "little": { "holds": true } },
            "list": [1, 2],
            "provenance": { "config": "long", "seed": 1 },
        }));
        let names: Vec<&str> = row.0.iter().map(|(name, _)| name.as_str()).collect();
        let expected = ["waf", "read.count", "read.p99_us", "laws.little.holds", "provenance.seed"];
        assert_eq!(names, expected);
        assert_eq!(row.get("read.count"), Some(&Scalar::Whole(3)));
        assert_eq!(row.get("read.p99_us"), Some(&Scalar::Null));
    }

    #[test]
    fn rows_of_different_columns_are_one_table_and_read_back() {
        let rows = [
            flat(&json!({ "a": null, "b": 1, "c": "x", "t": null, "summary": "{}" })),
            flat(&json!({ "a": 2.5, "b": 2.5, "c": 4, "d": true, "t": { "u": 1 } })),
        ];
        let table = table(&rows);
        let schema = table.schema();
        let names: Vec<&str> = schema.fields().iter().map(|it| it.name().as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d", "t.u", "summary"]);
        let again = super::rows(&table);
        assert_eq!(again[0].get("a"), Some(&Scalar::Null));
        assert_eq!(again[1].get("a"), Some(&Scalar::Real(2.5)));
        assert_eq!(again[0].get("b"), Some(&Scalar::Real(1.0)));
        assert_eq!(again[1].get("c"), Some(&Scalar::Text("4".into())));
        assert_eq!(again[0].get("d"), Some(&Scalar::Null));
        let path =
            std::env::temp_dir().join(format!("fowler-summary-{}.parquet", std::process::id()));
        std::fs::write(&path, bytes(&rows[0])).unwrap();
        let read = read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].get("b"), Some(&Scalar::Whole(1)));
        assert_eq!(read[0].text("c"), Some("x"));
        assert_eq!(read[0].get("a"), Some(&Scalar::Null));
    }

    #[test]
    fn no_rows_and_no_columns_are_a_table() {
        for rows in [vec![], vec![Row::default(); 3]] {
            let table = table(&rows);
            assert_eq!((table.num_rows(), table.num_columns()), (rows.len(), 0));
            // A file has no rows without columns.
            assert_eq!(rows_of(&file::all(file::bytes(&table)).unwrap()), []);
        }
    }

    #[test]
    fn a_shared_run_tells_of_each_point_by_its_own_names() {
        let point = Row(vec![("scheme".into(), Scalar::Text("noop".into()))]);
        let summary = json!({ "scheme": "fifo", "workload": { "name": "demo" }, "waf": 1.0 });
        let mut measured = flat(&summary);
        measured.push(SUMMARY, Scalar::Text(summary.to_string()));
        let row = point.with(&measured);
        assert_eq!(row.text("scheme"), Some("noop"));
        let reported: Value = serde_json::from_str(row.text(SUMMARY).unwrap()).unwrap();
        assert_eq!(
            reported,
            json!({ "scheme": "noop", "workload": { "name": "demo" }, "waf": 1.0 })
        );
    }
}
