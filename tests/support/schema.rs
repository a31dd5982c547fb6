//! As much of JSON Schema as our own schema uses; an unknown keyword fails the test that meets it.
#![forbid(unsafe_code)]

use serde_json::Value;

/// Where a document breaks a schema, as `path: what`. Keys the schema does not know are told too: the
/// schema has to describe the whole document.
pub(crate) fn violations(schema: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Checker {
        root: schema,
        found: &mut found,
    }
    .check(schema, document, "$");
    found
}

struct Checker<'a> {
    root: &'a Value,
    found: &'a mut Vec<String>,
}

impl Checker<'_> {
    fn check(&mut self, schema: &Value, value: &Value, path: &str) {
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" => {}
                "$ref" => {
                    let pointer = rule.as_str().unwrap().trim_start_matches('#');
                    let target = self
                        .root
                        .pointer(pointer)
                        .expect("the reference leads somewhere");
                    self.check(target, value, path);
                }
                "const" => self.require(value == rule, path, "not the constant"),
                "enum" => self.require(
                    rule.as_array().unwrap().contains(value),
                    path,
                    "not in the enum",
                ),
                "type" => self.require(has_type(rule, value), path, &format!("not a {rule}")),
                "required" => self.required(rule, value, path),
                "properties" => self.properties(schema, rule, value, path),
                "additionalProperties" => {
                    for (key, value) in value.as_object().into_iter().flatten() {
                        self.check(rule, value, &format!("{path}.{key}"));
                    }
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{path}[{index}]"));
                    }
                }
                "minItems" | "maxItems" => {
                    let len = value.as_array().map_or(0, Vec::len) as u64;
                    self.require(rule.as_u64() == Some(len), path, "has the wrong length");
                }
                other => panic!("the schema uses {other}, which this test does not know"),
            }
        }
    }

    fn require(&mut self, holds: bool, path: &str, what: &str) {
        if !holds {
            self.found.push(format!("{path}: {what}"));
        }
    }

    fn required(&mut self, rule: &Value, value: &Value, path: &str) {
        let Some(object) = value.as_object() else {
            return;
        };
        for key in rule.as_array().unwrap() {
            let key = key.as_str().unwrap();
            self.require(object.contains_key(key), path, &format!("lacks {key}"));
        }
    }

    fn properties(&mut self, schema: &Value, rule: &Value, value: &Value, path: &str) {
        for (key, value) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            match rule.get(key) {
                Some(rule) => self.check(rule, value, &path),
                None => self.require(
                    schema.get("additionalProperties").is_some(),
                    &path,
                    "is not described",
                ),
            }
        }
    }
}

fn has_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    };
    match rule {
        Value::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
        name => is(name.as_str().unwrap()),
    }
}
