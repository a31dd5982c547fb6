//! What people and programs get to see, word for word.
#![forbid(unsafe_code)]

use advisor::output::{Document, Style, View, csv, json, markdown, text};
use advisor::resolver::Side;
use engine::report::Report;

use crate::document::document as of_both;
use crate::report::{DEFAULT, effective, fast_aes, machine};

fn document(report: Report) -> Document {
    let client = effective(Side::Client, &DEFAULT);
    let server = effective(Side::Server, &DEFAULT);
    of_both(report, &client, &server)
}

fn widest(text: &str) -> usize {
    text.lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0)
}

#[test]
fn the_whole_report_fits_80_columns() {
    let text = text(&document(fast_aes()), View::Whole, Style::default());
    assert!(widest(&text) <= 80, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_whole_report_uses_120_columns() {
    let style = Style {
        width: 120,
        ..Style::default()
    };
    let text = text(&document(fast_aes()), View::Whole, style);
    assert!(widest(&text) <= 120 && widest(&text) > 80, "{text}");
    insta::assert_snapshot!(text);
}
