//! JSON Schema (draft 2020-12): what a file may say, made from the tables that the program reads
//! and writes with.
//!
//! The room owns the pieces: an object as a tree of dotted paths (here), what one configuration key
//! takes (`configuration`), and the types of what is written (`output`). Whoever reads or writes a
//! file puts its own schema together from these; `schemas` lists them all. It touches no file.

pub(crate) mod configuration;
pub mod output;

use serde_json::{Map, Value, json};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Returns a complete JSON Schema document: `body` with a title and a description.
pub fn document(title: &str, about: &str, body: Value) -> Value {
    let mut schema = json!({ "$schema": DRAFT, "title": title, "description": about });
    if let (Value::Object(schema), Value::Object(body)) = (&mut schema, body) {
        // The description of the whole replaces the description of the body.
        schema.extend(body.into_iter().filter(|(key, _)| key != "description"));
    }
    schema
}

/// Returns a JSON Schema that also allows null.
pub fn nullable(mut schema: Value) -> Value {
    match schema.get("type") {
        Some(Value::String(one)) => {
            schema["type"] = json!([one, "null"]);
            schema
        }
        Some(Value::Array(several)) if several.contains(&json!("null")) => schema,
        _ => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

/// Returns the JSON Schema with a description.
pub fn described(mut schema: Value, about: &str) -> Value {
    if let Value::Object(fields) = &mut schema
        && !about.is_empty()
    {
        fields.insert("description".into(), about.into());
    }
    schema
}

/// JSON Schema of configuration keys by their dotted paths: objects in objects. No other key is
/// allowed.
#[derive(Default)]
pub(crate) struct Tree {
    /// Description of the configuration table at this dotted path, for the JSON Schema; not used if
    /// the path holds a value instead.
    pub about: String,
    /// JSON Schema of the configuration value at this dotted path; `None` if the path names only a
    /// table of further keys.
    pub value: Option<Value>,
    /// True if the configuration key at this dotted path may also be written as a table, in which
    /// the value is at the key `name` beside parameters. That is the case for keys that choose a
    /// policy.
    pub named: bool,
    /// True if the parent table requires this key.
    pub required: bool,
    /// True if a JSON document may hold `null` instead of the whole table at this dotted path.
    pub null: bool,
    below: Vec<(String, Tree)>,
}

impl Tree {
    /// Returns the schema's node at a dotted path, creating it if necessary.
    pub fn at(&mut self, path: &str) -> &mut Tree {
        let (first, rest) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
        let known = self.below.iter().position(|(name, _)| name == first);
        let place = known.unwrap_or_else(|| {
            self.below.push((first.into(), Tree::default()));
            self.below.len() - 1
        });
        let below = &mut self.below[place].1;
        match rest {
            Some(rest) => below.at(rest),
            None => below,
        }
    }

    /// Adds the JSON Schema of the configuration key with a dotted path to the tree of schemas.
    pub fn insert(&mut self, path: &str, value: Value, required: bool) -> &mut Tree {
        let place = self.at(path);
        (place.value, place.required) = (Some(value), required);
        place
    }

    fn is_required(&self) -> bool {
        self.required || self.below.iter().any(|(_, tree)| tree.is_required())
    }

    /// Returns the JSON Schema of the configuration keys at and below this dotted path.
    pub fn schema(&self) -> Value {
        let object = || {
            let mut properties = Map::new();
            if let Some(value) = &self.value {
                properties.insert("name".into(), value.clone());
            }
            properties.extend(self.below.iter().map(|(name, tree)| (name.clone(), tree.schema())));
            let required = self.below.iter().filter(|(_, tree)| tree.is_required());
            let required: Vec<&str> = required.map(|(name, _)| &**name).collect();
            object(properties, &required)
        };
        match &self.value {
            None if self.null => described(nullable(object()), &self.about),
            None => described(object(), &self.about),
            Some(value) if !self.named => value.clone(),
            Some(value) => {
                let about = value["description"].as_str().unwrap_or_default();
                let mut table = object();
                // The program takes an empty table for a section, and a policy is none.
                table["minProperties"] = json!(1);
                described(json!({ "anyOf": [value, table] }), about)
            }
        }
    }
}

/// Returns the JSON Schema of an object with exactly these keys.
pub fn object(properties: Map<String, Value>, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = json!(false);
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_objects_in_objects() {
        let mut tree = Tree::default();
        tree.insert("a.b", json!({ "type": "integer" }), true);
        tree.insert("a.c", json!({ "type": "string", "description": "C." }), false).named = true;
        tree.insert("a.c.d", json!({ "type": "boolean" }), false);
        let schema = tree.schema();
        assert_eq!(schema["required"], json!(["a"]));
        let a = &schema["properties"]["a"];
        assert_eq!(a["required"], json!(["b"]));
        let [word, table] = [0, 1].map(|way| &a["properties"]["c"]["anyOf"][way]);
        assert_eq!(word["type"], "string");
        assert_eq!(table["properties"]["name"], *word);
        assert_eq!(table["properties"]["d"]["type"], "boolean");
        assert_eq!(a["properties"]["c"]["description"], "C.");
    }

    #[test]
    fn null_is_added_once() {
        let once = nullable(json!({ "type": "number", "minimum": 0 }));
        assert_eq!(once, json!({ "type": ["number", "null"], "minimum": 0 }));
        assert_eq!(nullable(json!({ "type": ["number", "null"] }))["type"], once["type"]);
        let referred = nullable(json!({ "$ref": "#/$defs/run" }));
        assert_eq!(referred["anyOf"][1], json!({ "type": "null" }));
    }
}
