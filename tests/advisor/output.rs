//! What people and programs get to see, word for word.
#![forbid(unsafe_code)]

use advisor::output::{Document, Style, View, csv, json, markdown, text};
use advisor::resolver::Side;
use engine::report::{Program, Report, Transfer, UnavailableTransfer};
use engine::transfer::Implementation;

use crate::document::document as of_both;
use crate::report::{CHACHA20, DEFAULT, carried_aes, effective, fast_aes, machine};
use crate::schema::violations;

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

#[test]
fn markdown_has_the_same_facts() {
    insta::assert_snapshot!(markdown(&document(fast_aes()), View::Whole));
}

#[test]
fn csv_has_a_line_for_every_cell() {
    let report = fast_aes();
    let cells = report.measurements.len();
    let csv = csv(&document(report), View::Whole);
    let mut lines = csv.lines();
    let columns = lines.next().unwrap().split(',').count();
    assert_eq!(csv.lines().count(), cells + 1);
    assert!(
        lines.all(|line| line.split(',').count() == columns),
        "{csv}"
    );
    assert!(csv.contains("aes128-ctr,umac-64-etm@openssh.com,openssh,seal,32768,OpenSSL 3.0.19,"));
}

#[test]
fn json_is_what_the_schema_says() {
    let schema = serde_json::from_str(include_str!("../../assets/report.schema.json")).unwrap();
    let reports = [fast_aes(), carried_aes(), machine(), Report::default()];
    for document in reports
        .map(document)
        .into_iter()
        .chain([Document::new(fast_aes())])
    {
        let value = serde_json::from_str(&json(&document)).unwrap();
        assert_eq!(violations(&schema, &value), Vec::<String>::new());
    }
}

#[test]
fn the_schema_notices_what_is_wrong() {
    let schema = serde_json::from_str(include_str!("../../assets/report.schema.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&json(&document(fast_aes()))).unwrap();
    value["recommendation"]["client"]["gain"] = "much".into();
    value["measurements"][0]["provider"] = "somebody".into();
    value["findings"][0].as_object_mut().unwrap().remove("cure");
    value["surprise"] = 1.into();
    let mut found = violations(&schema, &value);
    found.sort();
    assert_eq!(
        found,
        [
            "$.findings[0]: lacks cure",
            "$.measurements[0].provider: not in the enum",
            "$.recommendation.client.gain: not a [\"number\",\"null\"]",
            "$.surprise: is not described",
        ]
    );
}

#[test]
fn a_saved_document_is_a_report() {
    let report = fast_aes();
    let saved = json(&document(report.clone()));
    assert_eq!(serde_json::from_str::<Report>(&saved).unwrap(), report);
}

#[test]
fn a_machine_without_numbers_says_so() {
    let text = text(&document(machine()), View::Check, Style::default());
    assert!(
        text.starts_with("Nothing was measured well enough to compare, so today's order stands.\n"),
        "{text}"
    );
    assert!(text.contains("raise --time-budget"), "{text}");
}

#[test]
fn plain_text_is_ascii() {
    let style = Style {
        ascii: true,
        ..Style::default()
    };
    let mut report = fast_aes();
    report.cpu.brand = "Größe\u{1b}[31m".to_owned();
    let text = text(&document(report), View::Whole, style);
    assert!(text.is_ascii(), "{text}");
    assert!(
        !text.contains('\u{1b}') && text.contains("Gr\\u{f6}\\u{df}e\\u{1b}[31m"),
        "{text}"
    );
}

#[test]
fn every_view_fits_every_width() {
    let mut report = carried_aes();
    report.unavailable_transfers = missing_transfers();
    let document = document(report);
    let views = [
        View::Whole,
        View::Measure,
        View::Transfer,
        View::Explain,
        View::Doctor,
        View::Check,
        View::Rollback,
    ];
    for view in views {
        for width in [80, 100, 120] {
            let text = text(
                &document,
                view,
                Style {
                    width,
                    ..Style::default()
                },
            );
            let diff = "+++ /etc/ssh/ssh_config.d/10-cipher-advisor.conf".len();
            assert!(widest(&text) <= width.max(diff), "{view:?} {width}\n{text}");
        }
    }
}

/// A cipher that was refused, and programs that cannot carry at all.
fn missing_transfers() -> Vec<UnavailableTransfer> {
    let of = |cipher: Option<&str>, reason: &str| UnavailableTransfer {
        implementation: Implementation::OpenSsh,
        cipher: cipher.map(str::to_owned),
        reason: reason.to_owned(),
    };
    vec![
        of(Some("3des-cbc"), "sshd refuses it"),
        of(
            None,
            "the account is locked, so sshd lets nobody in; give it a password of * in /etc/shadow",
        ),
    ]
}

#[test]
fn transfers_are_a_table_with_what_is_missing() {
    let mut report = carried_aes();
    report.unavailable_transfers = missing_transfers();
    let document = document(report);
    insta::assert_snapshot!(text(&document, View::Transfer, Style::default()));
    let markdown = markdown(&document, View::Transfer);
    for part in [
        "| chacha20-poly1305 | up |",
        "3des-cbc: sshd refuses it",
        "the account is locked",
    ] {
        assert!(markdown.contains(part), "{markdown}");
    }
    let csv = csv(&document, View::Transfer);
    assert_eq!(csv.lines().count(), 13, "a head, six ciphers, two ways");
    let mut lines = csv.lines().map(|line| line.split(',').count());
    assert!(lines.all(|columns| columns == 16), "{csv}");
}

#[test]
fn transfers_by_dropbear_stand_apart() {
    let mut report = carried_aes();
    let ciphers = [CHACHA20, "aes128-ctr"];
    report.openssh.dropbear = Some(Program {
        ciphers: ciphers.map(str::to_owned).into(),
        ..Program::default()
    });
    let own = |it: &&Transfer| ciphers.contains(&it.cipher.as_str());
    let mut others: Vec<_> = report.transfers.iter().filter(own).cloned().collect();
    for it in &mut others {
        it.implementation = Implementation::Dropbear;
    }
    report.transfers.extend(others);
    let document = document(report);
    let text = text(&document, View::Transfer, Style::default());
    let markdown = markdown(&document, View::Transfer);
    for shown in [text, markdown] {
        let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let (openssh, dropbear) = flat
            .split_once("Transfers between dbclient and dropbear")
            .unwrap();
        for words in ["compress with zlib", "Advice: no order is faster"] {
            assert!(!openssh.contains(words), "{shown}");
            assert!(dropbear.contains(words), "{shown}");
        }
    }
}

#[test]
fn advice_on_transfers_shows_what_they_reached() {
    let text = text(&document(carried_aes()), View::Check, Style::default());
    for part in [
        "Rests on real transfers between the installed ssh and sshd",
        "threshold 5 %",
        "Measured with both, not projected.",
        "what they reached by the clock on the wall",
    ] {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "{part}\n{text}");
    }
}
