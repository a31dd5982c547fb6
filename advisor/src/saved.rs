//! A report that somebody saved, of this host or another: the measured members of a document.
//!
//! Bytes in, a report or the place of the mistake out. Where the bytes come from is the caller's business.
#![forbid(unsafe_code)]

use engine::report::{Measurement, Report, SCHEMA};
use serde::Deserialize;

/// Reads a document that this program has written as JSON.
///
/// # Errors
/// What is wrong with it; the sentence begins with its place (`:line:column: `), to follow the file's name.
pub fn parse(bytes: &[u8]) -> Result<Report, String> {
    let head: Head = serde_json::from_slice(bytes).map_err(|error| json_error(&error))?;
    if head.schema != SCHEMA {
        return Err(format!(": its schema is {:?}, not {SCHEMA:?}", head.schema));
    }
    let report: Report = serde_json::from_slice(bytes).map_err(|error| json_error(&error))?;
    match report.measurements.iter().position(|cell| !is_sound(cell)) {
        Some(index) => Err(format!(": measurements[{index}] has no possible speed")),
        None => Ok(report),
    }
}

#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// `:line:column: what`.
fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!(":{}:{}: {what}", error.line(), error.column())
}

fn is_sound(cell: &Measurement) -> bool {
    let [low, high] = cell.ci95;
    high.is_finite() && cell.gb_per_s > 0.0 && 0.0 <= low && low <= high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_where() {
        assert_eq!(
            parse(b"{\n  junk").expect_err("junk"),
            ":2:3: key must be a string"
        );
        assert_eq!(
            parse(br#"{"schema": "other/9"}"#).expect_err("another schema"),
            ": its schema is \"other/9\", not \"cipher-advisor/1\""
        );
        let missing = parse(br#"{"schema": "cipher-advisor/1"}"#).expect_err("no host");
        assert!(missing.ends_with("missing field `host`"), "{missing}");
    }
}
