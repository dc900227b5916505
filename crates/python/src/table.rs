//! Tables in Arrow memory, which any library with support for Arrow's C stream reads without a
//! copy: pyarrow, polars, pandas.

use crate::columns::{self, Column};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use arrow_select::interleave::interleave_record_batch;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use pyo3_arrow::input::AnyRecordBatch;
use std::sync::Arc;

/// A table of columns of equal length, as an object of Python.
#[pyclass(module = "fowler._core", frozen)]
pub(crate) struct Table {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

/// A single value of a table.
#[derive(IntoPyObject)]
pub(crate) enum Cell {
    Flag(bool),
    Whole(i64),
    Large(u64),
    Real(f64),
    Text(String),
}

impl Table {
    /// Returns a table of one Arrow batch.
    pub fn of_one(batch: RecordBatch) -> Table {
        Table { schema: batch.schema(), batches: vec![batch] }
    }
}

#[pymethods]
impl Table {
    /// Creates a table from any object with an Arrow C stream or C array, such as one of pyarrow.
    #[staticmethod]
    fn of(table: AnyRecordBatch) -> PyResult<Table> {
        let reader = table.into_reader()?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<_, _>>().map_err(|error| unusable(&error))?;
        Ok(Table { schema, batches })
    }

    /// Copies columns of equal length into a table: each with its name, `timestamp` or `duration`
    /// if it has nanoseconds of either, and its values.
    #[staticmethod]
    fn of_columns(columns: Vec<Column<'_>>) -> PyResult<Table> {
        columns::table(columns)
    }

    /// Reads a table from the bytes that [`Table::bytes`] returned.
    #[staticmethod]
    fn of_bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Table> {
        let read = || fowler_columns::table::read(bytes);
        let (schema, batches) = py.detach(read).map_err(PyValueError::new_err)?;
        Ok(Table { schema, batches })
    }

    /// Returns the table as the bytes of a Parquet file.
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let write = || fowler_columns::table::bytes(&self.schema, &self.batches);
        let bytes = py.detach(write).map_err(PyValueError::new_err)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the values that the table has in a column, with `None` for missing ones.
    fn column(&self, name: &str) -> PyResult<Vec<Option<Cell>>> {
        let index = self.schema.index_of(name);
        let index = index.map_err(|_| PyKeyError::new_err(name.to_string()))?;
        let mut cells = Vec::with_capacity(self.__len__());
        for batch in &self.batches {
            values(batch.column(index), &mut cells).map_err(|error| unusable(&error))?;
        }
        Ok(cells)
    }

    /// Returns a new table with the rows of this one whose indices, from 0, are in `rows`, in that
    /// order.
    fn take(&self, rows: Vec<usize>) -> PyResult<Table> {
        let rows_of = |(index, batch): (usize, &RecordBatch)| {
            (0..batch.num_rows()).map(move |row| (index, row))
        };
        let all: Vec<(usize, usize)> = self.batches.iter().enumerate().flat_map(rows_of).collect();
        let places: Option<Vec<_>> = rows.into_iter().map(|row| all.get(row).copied()).collect();
        let places = places.ok_or_else(|| PyIndexError::new_err("the table has no such row"))?;
        if places.is_empty() {
            return Ok(Table { schema: self.schema.clone(), batches: Vec::new() });
        }
        let batches: Vec<&RecordBatch> = self.batches.iter().collect();
        let taken = interleave_record_batch(&batches, &places).map_err(|error| unusable(&error))?;
        Ok(Table::of_one(taken))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Returns the names of the table's columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.schema.as_ref())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let rows = DataType::Struct(self.schema.fields().clone());
        let field = Field::new("", rows, false).with_metadata(self.schema.metadata().clone());
        let batches = self.batches.clone().into_iter();
        let arrays = batches.map(|batch| Ok(Arc::new(StructArray::from(batch)) as ArrayRef));
        let reader = Box::new(ArrayIterator::new(arrays, Arc::new(field)));
        to_stream_pycapsule(py, reader, requested_schema)
    }
}

pub(crate) fn unusable(error: &ArrowError) -> PyErr {
    PyTypeError::new_err(error.to_string())
}

fn values(column: &ArrayRef, cells: &mut Vec<Option<Cell>>) -> Result<(), ArrowError> {
    match column.data_type() {
        DataType::Boolean => cells.extend(column.as_boolean().iter().map(|it| it.map(Cell::Flag))),
        DataType::UInt64 => {
            cells.extend(column.as_primitive::<UInt64Type>().iter().map(|it| it.map(Cell::Large)));
        }
        kind if kind.is_integer() => {
            let column = cast(column, &DataType::Int64)?;
            cells.extend(column.as_primitive::<Int64Type>().iter().map(|it| it.map(Cell::Whole)));
        }
        kind if kind.is_numeric() => {
            let column = cast(column, &DataType::Float64)?;
            cells.extend(column.as_primitive::<Float64Type>().iter().map(|it| it.map(Cell::Real)));
        }
        _ => {
            let column = cast(column, &DataType::Utf8)?;
            let texts = column.as_string::<i32>().iter();
            cells.extend(texts.map(|it| it.map(|text| Cell::Text(text.into()))));
        }
    }
    Ok(())
}
