//! The keys of a drive, the presets and the schemes as Python values. The Python configuration
//! classes are generated from this list.

use crate::errors::OrRaise;
use crate::spec::DriveArgs;
use fowler_experiment::device_spec::{self, Resolved};
use fowler_experiment::field::Field;
use fowler_experiment::presets::{Folder, open};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::{keys::all, run};
use pyo3::prelude::*;

/// Description of a configuration key of a drive: path, kind, meaning, expected value, words with
/// their meanings, whether it is required, its default as TOML, and what it needs to have an effect
/// (empty for nothing).
type KeyFacts = (String, &'static str, String, String, Vec<(String, String)>, bool, String, String);

/// Returns every configuration key of a drive.
#[pyfunction]
pub(crate) fn keys() -> Vec<KeyFacts> {
    let defaults = device_spec::defaults();
    all()
        .into_iter()
        .map(|key| {
            let words = key.field.words().into_iter();
            let words = words.map(|(word, about)| (word.into(), about.into())).collect();
            let default = key.field.print(&defaults);
            let expected = key.field.expected();
            let (path, kind) = (key.path.into(), kind(&key.field));
            let (needs, about) = (key.needed(), key.about.into_owned());
            (path, kind, about, expected, words, key.required, default, needs)
        })
        .collect()
}

fn kind<T>(field: &Field<T>) -> &'static str {
    match field {
        Field::Count(..) => "count",
        Field::Counts(..) => "counts",
        Field::Real(..) => "real",
        Field::Reals(..) => "reals",
        Field::Rows(..) => "rows",
        Field::Time(..) => "time",
        Field::Times(..) => "times",
        Field::Spans(..) => "spans",
        Field::Size(..) => "size",
        Field::Rate(..) => "rate",
        Field::Flag(..) => "flag",
        Field::Word(..) => "word",
        Field::Set(..) => "set",
        Field::Text(..) => "text",
        Field::Texts(..) => "texts",
    }
}

/// Returns the presets: kind (device, workload or scheme), name and description.
#[pyfunction]
pub(crate) fn presets() -> Vec<(&'static str, &'static str, &'static str)> {
    Folder::ALL
        .into_iter()
        .flat_map(|folder| {
            folder.presets().iter().map(move |it| (folder.word(), it.name, it.about()))
        })
        .collect()
}

/// Returns the text of a preset or of a file that ends in `.toml`.
#[pyfunction]
pub(crate) fn preset(py: Python<'_>, kind: &str, name: &str) -> PyResult<String> {
    let folder = Folder::ALL.into_iter().find(|folder| folder.word() == kind);
    let folder = folder.ok_or_else(|| crate::errors::fault("no such kind of preset"))?;
    open(folder, name).map(|source| source.text).or_raise(py)
}

/// Returns a drive as TOML text with every key, and the hash of that text.
#[pyfunction]
#[pyo3(signature = (drive, scheme=None))]
pub(crate) fn resolve(
    py: Python<'_>,
    drive: DriveArgs,
    scheme: Option<String>,
) -> PyResult<(String, String)> {
    let spec = drive.spec();
    let schemes: Vec<String> = scheme.iter().cloned().collect();
    let resolved = || {
        run::check(&spec, &schemes, None, &[]).or(())?;
        let scheme = scheme.as_deref().map_or(Ok(Scheme::none()), Scheme::load)?;
        device_spec::resolve(&spec.source()?, &scheme, &spec)
    };
    let Resolved { text, hash, .. } = py.detach(resolved).or_raise(py)?;
    Ok((text, hash))
}
