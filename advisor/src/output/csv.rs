//! The measurements as CSV (RFC 4180, LF line ends), one line a cell.
#![forbid(unsafe_code)]

use engine::report::{Direction, Measurement};

use super::Document;

const HEADER: &str = "cipher,mac,provider,direction,bytes,kernel,gb_per_s,ci95_low,ci95_high,cycles_per_byte,rounds,batched";

/// All measurements. The columns are those of the JSON document's `measurements`.
#[must_use]
pub fn csv(document: &Document) -> String {
    let lines = document.report.measurements.iter().map(line);
    let mut text = HEADER.to_owned() + "\n";
    text.extend(lines);
    text
}

fn line(cell: &Measurement) -> String {
    let direction = match cell.direction {
        Direction::Seal => "seal",
        Direction::Open => "open",
    };
    let cycles = cell.cycles_per_byte.map(|it| it.to_string());
    let fields = [
        quoted(&cell.cipher),
        quoted(cell.mac.as_deref().unwrap_or_default()),
        cell.provider.name().to_owned(),
        direction.to_owned(),
        cell.bytes.to_string(),
        quoted(&cell.kernel),
        cell.gb_per_s.to_string(),
        cell.ci95[0].to_string(),
        cell.ci95[1].to_string(),
        cycles.unwrap_or_default(),
        cell.rounds.to_string(),
        cell.batched.to_string(),
    ];
    fields.join(",") + "\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_separators_are_quoted() {
        assert_eq!(quoted("chacha20 avx2"), "chacha20 avx2");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
