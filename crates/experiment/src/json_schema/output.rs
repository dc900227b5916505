//! Types of JSON output: values and their schema come from one list.

use super::{described, nullable, object};
use serde_json::{Map, Value, json};

/// A type that has a JSON Schema.
pub trait Typed {
    /// Returns the JSON Schema of the values of this Rust type.
    fn schema() -> Value;
}

macro_rules! typed {
    ($($of:ty)+ => $schema:expr) => { $(
        impl Typed for $of {
            fn schema() -> Value {
                $schema
            }
        }
    )+ };
}

typed!(u8 u32 u64 usize => json!({ "type": "integer", "minimum": 0 }));
typed!(f64 => json!({ "type": "number" }));
typed!(bool => json!({ "type": "boolean" }));
typed!(&'static str String => json!({ "type": "string" }));
typed!(Map<String, Value> => json!({ "type": "object" }));
// Any JSON value: the writer supplies the schema.
typed!(Value => json!({}));

impl<T: Typed> Typed for Option<T> {
    fn schema() -> Value {
        let schema = T::schema();
        if schema == json!({}) { schema } else { nullable(schema) }
    }
}

impl<T: Typed> Typed for Vec<T> {
    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }
}

impl<T: Typed, const N: usize> Typed for [T; N] {
    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema(), "minItems": N, "maxItems": N })
    }
}

type Read<T> = Box<dyn Fn(&T) -> Option<Value>>;

/// A field of an object in JSON output: its name, its meaning, and the function that reads its
/// value from a `T`. The JSON Schema of an object is made from the list of its fields.
pub struct Fact<T> {
    name: &'static str,
    about: String,
    schema: Value,
    optional: bool,
    read: Read<T>,
}

impl<T> Fact<T> {
    /// Returns a field of a JSON object that is always present.
    pub fn new<V: Into<Value> + Typed>(
        name: &'static str,
        about: impl Into<String>,
        read: impl Fn(&T) -> V + 'static,
    ) -> Fact<T> {
        let read = Box::new(move |it: &T| Some(read(it).into()));
        Fact { name, about: about.into(), schema: V::schema(), optional: false, read }
    }

    /// Returns a field of a JSON object that is absent when its getter returns `None`.
    pub fn optional<V: Into<Value> + Typed>(
        name: &'static str,
        about: impl Into<String>,
        read: impl Fn(&T) -> Option<V> + 'static,
    ) -> Fact<T> {
        let read = Box::new(move |it: &T| read(it).map(Into::into));
        Fact { name, about: about.into(), schema: V::schema(), optional: true, read }
    }

    /// Returns a field of a JSON object that is a list of objects, each written from the fields
    /// `of`.
    pub fn list<R: 'static>(
        name: &'static str,
        about: impl Into<String>,
        facts: fn() -> Vec<Fact<R>>,
        rows: impl Fn(&T) -> &[R] + 'static,
    ) -> Fact<T> {
        Fact::new(name, about, move |it: &T| all_written(&facts(), rows(it)))
            .like(list_of(schema(&facts())))
    }

    /// Turns a field of a JSON object that is written from a `T` into the same field written from a
    /// `U`; `part` returns the `T` inside a `U`.
    pub fn within<U>(self, part: impl for<'a> Fn(&'a U) -> &'a T + 'static) -> Fact<U>
    where
        T: 'static,
    {
        let Fact { name, about, schema, optional, read } = self;
        Fact { name, about, schema, optional, read: Box::new(move |it| read(part(it))) }
    }

    /// Replaces the JSON Schema of the field, for values whose type is too general.
    pub fn like(self, schema: Value) -> Fact<T> {
        Fact { schema, ..self }
    }
}

/// Writes a JSON object from the list of its fields.
pub fn written<T>(facts: &[Fact<T>], of: &T) -> Value {
    let field = |fact: &Fact<T>| Some((fact.name.to_string(), (fact.read)(of)?));
    Value::Object(facts.iter().filter_map(field).collect())
}

/// Writes each element of a slice as a JSON object, from the list of its fields.
pub fn all_written<T>(facts: &[Fact<T>], of: &[T]) -> Vec<Value> {
    of.iter().map(|one| written(facts, one)).collect()
}

/// Returns the JSON Schema of an object that is written from this list of fields.
pub fn schema<T>(facts: &[Fact<T>]) -> Value {
    let field =
        |fact: &Fact<T>| (fact.name.to_string(), described(fact.schema.clone(), &fact.about));
    let required = facts.iter().filter(|fact| !fact.optional);
    let required: Vec<&str> = required.map(|fact| fact.name).collect();
    object(facts.iter().map(field).collect(), &required)
}

/// Returns the JSON Schema of an object whose names are not fixed, with values of one kind.
pub fn map_of(values: Value) -> Value {
    json!({ "type": "object", "additionalProperties": values })
}

/// Returns the JSON Schema of an array whose items are all of one kind.
pub fn list_of(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_said_as_they_are_written() {
        assert_eq!(Option::<u32>::schema()["type"], json!(["integer", "null"]));
        assert_eq!(Option::<Value>::schema(), json!({}));
        assert_eq!(Vec::<[f64; 2]>::schema()["items"]["maxItems"], 2);
        let facts: [Fact<Option<u64>>; 2] = [
            Fact::new("known", "Whether it is known.", |it: &Option<u64>| it.is_some()),
            Fact::optional("number", "It.", |it| *it),
        ];
        assert_eq!(written(&facts, &None), json!({ "known": false }));
        assert_eq!(written(&facts, &Some(7)), json!({ "known": true, "number": 7 }));
        let schema = schema(&facts);
        assert_eq!(schema["required"], json!(["known"]));
        assert_eq!(schema["properties"]["number"]["type"], "integer");
    }
}
