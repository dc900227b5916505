//! JSON Schema of the specification of a sweep, from the keys with which a specification is read.

use super::axis::{RANGE, SCALES};
use super::spec::{self, AXES, POINTS_MAX, ROWS, Spec};
use crate::field::Field;
use crate::json_schema::{self, Tree, configuration, described};
use crate::keys::{self, Key};
use fowler_device::Config;
use serde_json::{Map, Value, json};

/// Returns the JSON Schema of a file that describes a sweep.
pub fn schema() -> Value {
    let mut tree = configuration::of_keys::<Spec>(&spec::keys(), None);
    let set = json!({ "type": "array", "items": { "type": "string", "pattern": "=" } });
    let about = "changes of the drive for every point: a list of \"key=value\"";
    tree.insert("set", described(set, about), false);
    let about = "what is varied: for each key a list of its values, or a range of them";
    tree.insert("axis", described(axes(), about), false);
    let points = json!({ "type": "array", "items": points() });
    tree.insert(ROWS, described(points, "the points of the design list, a table for each"), false);
    let about = "A sweep, for `fowler sweep`: many runs by one specification. The program also \
        checks the ranges of times, sizes and rates, and combinations of keys.";
    json_schema::document("Fowler: a sweep", about, tree.schema())
}

/// Returns the JSON Schema of the keys that a sweep may vary, each both in nested tables and as a
/// quoted dotted path. `place` is the path of this schema in the whole document; `own` and `drive`
/// return the schema of one key of the sweep and of one key of the drive.
fn varied(place: &str, own: fn(&Key<Spec>) -> Value, drive: fn(&Key<Config>) -> Value) -> Value {
    let mut tree = Tree::default();
    for key in spec::keys().iter().filter(|key| AXES.contains(&key.path)) {
        tree.insert(key.path, own(key), false);
    }
    let mut quoted = Vec::new();
    for key in keys::all().iter().filter(|key| !AXES.contains(&key.path)) {
        tree.insert(key.path, drive(key), false).named = key.is_slot();
        let there = format!("{place}/properties/{}", key.path.replace('.', "/properties/"));
        // A policy is a value, or a table of its name and its parameters.
        let in_table = key.path.starts_with("policy.") && !key.is_slot();
        if key.is_slot() {
            quoted.push((format!("{}.name", key.path), format!("{there}/anyOf/0")));
        }
        let (above, below) = there.rsplit_once("/properties/").expect("a path of parts");
        let there = if in_table { format!("{above}/anyOf/1/properties/{below}") } else { there };
        quoted.push((key.path.into(), there));
    }
    let mut schema = tree.schema();
    let Value::Object(properties) = &mut schema["properties"] else { return schema };
    quoted.retain(|(path, _)| path.contains('.'));
    properties.extend(quoted.into_iter().map(|(path, there)| (path, json!({ "$ref": there }))));
    schema
}

fn points() -> Value {
    let place = format!("#/properties/{ROWS}/items");
    varied(&place, |key| configuration::of_key(key, None), |key| configuration::of_key(key, None))
}

fn axes() -> Value {
    varied("#/properties/axis", axis, axis)
}

/// Returns the JSON Schema of a sweep's axis: a list of values, or a range for keys with numbers.
fn axis<T>(key: &Key<T>) -> Value {
    let item = configuration::of_field(&key.field);
    let list = json!({ "type": "array", "items": item, "minItems": 1, "uniqueItems": true });
    let ranged = matches!(
        key.field,
        Field::Count(..)
            | Field::Counts(..)
            | Field::Real(..)
            | Field::Time(..)
            | Field::Times(..)
            | Field::Size(..)
            | Field::Rate(..)
    );
    let ways = if ranged { json!({ "anyOf": [list, range(&key.field)] }) } else { list };
    described(ways, &configuration::about(key))
}

fn range<T>(field: &Field<T>) -> Value {
    let end = configuration::single(field);
    let steps = json!({ "type": "integer", "minimum": 2, "maximum": POINTS_MAX });
    let [from, to, scale, count] = RANGE;
    let parts =
        [(from, end.clone()), (to, end), (scale, json!({ "enum": SCALES })), (count, steps)];
    let parts: Map<_, _> =
        parts.map(|(name, schema)| (name.to_string(), schema)).into_iter().collect();
    json_schema::object(parts, &[from, to])
}
