//! Tables from columns that are arrays of NumPy, Arrow arrays or lists.

use crate::table::{Table, unusable};
use arrow_array::types::{
    ArrowPrimitiveType, DurationNanosecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, PrimitiveArray, RecordBatch,
    RecordBatchOptions, StringArray, UInt64Array, new_empty_array,
};
use arrow_cast::cast;
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyArray;
use std::sync::Arc;

/// A column of a table from Python: its name, `timestamp` or `duration` if its numbers are
/// nanoseconds of either, and its values.
pub(crate) type Column<'py> = (String, String, Bound<'py, PyAny>);

/// Copies columns of equal length into a table.
pub(crate) fn table(columns: Vec<Column<'_>>) -> PyResult<Table> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, unit, values) in columns {
        let array = match unit.as_str() {
            "timestamp" => moments::<TimestampNanosecondType>(&values),
            "duration" => moments::<DurationNanosecondType>(&values),
            _ => array(&name, &values),
        }?;
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let rows = arrays.first().map_or(0, |array| array.len());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
    batch.map(Table::of_one).map_err(|error| unusable(&error))
}

fn array(name: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if values.hasattr("__arrow_c_stream__")? || values.hasattr("__arrow_c_array__")? {
        let (chunks, field) = values.extract::<AnyArray>()?.into_chunked_array()?.into_inner();
        let parts: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
        return match parts.is_empty() {
            true => Ok(new_empty_array(field.data_type())),
            false => concat(&parts).map_err(|error| unusable(&error)),
        };
    }
    let kinds = [
        numbers::<Int64Type>,
        numbers::<UInt64Type>,
        numbers::<Int32Type>,
        numbers::<UInt32Type>,
        numbers::<Int16Type>,
        numbers::<UInt16Type>,
        numbers::<Int8Type>,
        numbers::<UInt8Type>,
        numbers::<Float64Type>,
        numbers::<Float32Type>,
    ];
    match kinds.iter().find_map(|kind| kind(values)) {
        Some(array) => Ok(array),
        None => list(name, values),
    }
}

/// Returns the numbers of a NumPy array as an Arrow array, if it has this type; `None` otherwise.
fn numbers<T: ArrowPrimitiveType>(values: &Bound<'_, PyAny>) -> Option<ArrayRef>
where
    T::Native: Element,
{
    let numbers = PyBuffer::<T::Native>::get(values).ok()?.to_vec(values.py()).ok()?;
    Some(Arc::new(PrimitiveArray::<T>::from_iter_values(numbers)))
}

/// Returns an array of nanoseconds as Arrow times.
fn moments<T: ArrowPrimitiveType>(values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let nanoseconds = PyBuffer::<i64>::get(values)?.to_vec(values.py())?;
    // NumPy's word for no time.
    let known = nanoseconds.into_iter().map(|it| (it != i64::MIN).then_some(it));
    let numbers: ArrayRef = Arc::new(known.collect::<Int64Array>());
    cast(&numbers, &T::DATA_TYPE).map_err(|error| unusable(&error))
}

fn list(name: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    // True and false are whole numbers, too; without any value there is nothing to be either.
    let flags = values.extract::<Vec<Option<bool>>>();
    if let Some(values) = flags.ok().filter(|flags| flags.iter().any(Option::is_some)) {
        return Ok(Arc::new(BooleanArray::from(values)));
    }
    if let Ok(values) = values.extract::<Vec<Option<i64>>>() {
        return Ok(Arc::new(Int64Array::from(values)));
    }
    if let Ok(values) = values.extract::<Vec<Option<u64>>>() {
        return Ok(Arc::new(UInt64Array::from(values)));
    }
    if let Ok(values) = values.extract::<Vec<Option<f64>>>() {
        return Ok(Arc::new(Float64Array::from(values)));
    }
    let words = values.extract::<Vec<Option<String>>>().map_err(|_| {
        PyTypeError::new_err(format!("the column `{name}` has neither numbers only nor text only"))
    })?;
    Ok(Arc::new(StringArray::from(words)))
}
