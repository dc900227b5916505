//! The schemas of all files that the program reads and of all JSON that it writes, by name.
//!
//! Each is made by the module that reads or writes the file, from the tables it does so with; here
//! is the list.

use fowler_experiment::presets::Folder;
use fowler_experiment::{device_spec, generator, scheme, summary, sweep, timeline, trace};
use serde_json::Value;

/// A JSON Schema (draft 2020-12) by its name.
pub(crate) struct Schema {
    /// Name of the schema on the command line.
    pub(crate) name: &'static str,
    /// Description of the schema, in one line.
    pub(crate) about: &'static str,
    json: fn() -> Value,
}

impl Schema {
    /// Returns the JSON Schema of a file that the program reads or writes.
    pub(crate) fn json(&self) -> Value {
        (self.json)()
    }

    /// Returns the usual file name of this JSON Schema: the schema's name and `.schema.json`.
    pub(crate) fn file(&self) -> String {
        format!("{}.schema.json", self.name)
    }
}

macro_rules! schemas {
    ($($name:literal, $about:literal => $json:path;)+) => {
        &[$(Schema { name: $name, about: $about, json: $json }),+]
    };
}

/// Every JSON Schema of the program: of its inputs, then of its outputs.
pub(crate) const ALL: &[Schema] = schemas! {
    "device", "a drive: --device FILE.toml" => device_spec::schema;
    "workload", "a generated workload: --workload FILE.toml" => generator::schema;
    "scheme", "policy choices: --scheme FILE.toml" => scheme::schema;
    "sweep", "a sweep: fowler sweep SPEC.toml" => sweep::schema;
    "run", "the JSON of fowler run" => summary::of_run;
    "compare", "the JSON of fowler compare" => fowler_report::verdict::schema;
    "explain", "the JSON of fowler explain" => timeline::schema_of_explained;
    "lifetime", "the JSON of fowler lifetime" => fowler_lifetime::schema;
    "pts", "the JSON of fowler pts" => fowler_standards::schema;
    "endurance", "the JSON of fowler endurance" => fowler_standards::endurance_schema;
    "smart", "the JSON of fowler endurance --smart" => fowler_drives::smart::schema;
    "validate", "the JSON of fowler validate" => fowler_validate::schema;
    "trace-info", "the JSON of fowler trace info" => trace::info_schema;
};

/// Returns the JSON Schema of that name.
pub(crate) fn find(name: &str) -> Option<&'static Schema> {
    ALL.iter().find(|schema| schema.name == name)
}

/// Returns the line that names the schema of a preset to an editor; it is the first of the file.
pub(crate) fn line(folder: Folder) -> String {
    let schema = find(folder.word()).expect("a schema for each kind of preset");
    format!("#:schema ./{}\n", schema.file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_schema_has_a_name_of_its_own_and_says_what_it_is() {
        let names: BTreeSet<&str> = ALL.iter().map(|schema| schema.name).collect();
        assert_eq!(names.len(), ALL.len());
        for schema in ALL {
            let json = schema.json();
            assert_eq!(json["$schema"], "https://json-schema.org/draft/2020-12/schema");
            assert_eq!(json["type"], "object", "{}", schema.name);
            assert_eq!(json["additionalProperties"], false, "{}", schema.name);
            assert!(json["title"].is_string() && json["description"].is_string());
        }
        for folder in Folder::ALL {
            assert!(line(folder).starts_with("#:schema ./"), "{}", folder.word());
        }
    }
}
