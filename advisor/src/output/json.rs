//! The document as JSON.
#![forbid(unsafe_code)]

use super::Document;

/// The whole document, indented, with a newline at the end. `assets/report.schema.json` describes it.
#[must_use]
pub fn json(document: &Document) -> String {
    let text = serde_json::to_string_pretty(document);
    text.expect("a document has string keys only") + "\n"
}
