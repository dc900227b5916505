//! The drives of a fleet, one row each, with the columns of `drives.csv`.

use crate::file::{cause, properties};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use fowler_experiment::atomic_file::{AtomicFile, unwritable};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_lifetime::fleet::{Drive, Fleet};
use parquet::arrow::ArrowWriter;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Name of the file, in the folder of results of a simulated fleet of drives, that has one row for
/// each drive.
pub const NAME: &str = "drives.parquet";

/// Returns a table with a row for each drive that a fleet began with, without replacements. `load`
/// is relative to the simulated workload, `strength` the endurance of the block whose failure ends
/// the drive, relative to `lifetime.cycles`. A year is null if the event never occurs.
pub fn table(fleet: &Fleet) -> RecordBatch {
    let number = |name: &str, value: &dyn Fn(&Drive) -> f64| -> (Field, ArrayRef) {
        let values = Float64Array::from_iter_values(fleet.drives.iter().map(value));
        (Field::new(name, DataType::Float64, false), Arc::new(values))
    };
    let years = |name: &str, value: &dyn Fn(&Drive) -> f64| -> (Field, ArrayRef) {
        let values = fleet.drives.iter().map(|it| Some(value(it)).filter(|it| it.is_finite()));
        (Field::new(name, DataType::Float64, true), Arc::new(values.collect::<Float64Array>()))
    };
    let causes = fleet.drives.iter().map(|it| it.cause().word());
    let places = UInt32Array::from_iter_values(1..=fleet.drives.len() as u32);
    let columns: Vec<(Field, ArrayRef)> = vec![
        (Field::new("drive", DataType::UInt32, false), Arc::new(places)),
        number("load", &|it| it.load),
        number("strength", &|it| it.strength),
        years("early_years", &|it| it.early_years),
        years("worn_years", &|it| it.worn_years),
        number("years", &Drive::years),
        (
            Field::new("cause", DataType::Utf8, false),
            Arc::new(StringArray::from_iter_values(causes)),
        ),
        number("tbw", &|it| fleet.tbw(it)),
        years("spare_years", &|it| it.spare_years),
        number("spare_lost", &|it| it.spare_lost),
    ];
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("columns of one length")
}

/// Writes a row for each drive that a simulated fleet began with, as a Parquet file at `path`.
///
/// # Errors
/// If the file cannot be written.
pub fn write(fleet: &Fleet, path: &Path) -> Result<(), Diagnostics> {
    let table = table(fleet);
    let mut bytes = Vec::new();
    let writer = ArrowWriter::try_new(&mut bytes, table.schema(), Some(properties().build()));
    let written = writer.and_then(|mut writer| {
        writer.write(&table)?;
        writer.close()
    });
    written.map_err(|error| unwritable(path, &cause(error)))?;
    let mut file = AtomicFile::create_stored(path)?;
    file.write_all(&bytes).map_err(|error| unwritable(path, &error))?;
    file.finish()
}
