//! The fields of a JSON object, to which others are added only where they apply.

use serde_json::{Map, Value};

pub fn object_fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
