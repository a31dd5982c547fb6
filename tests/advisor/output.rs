//! What people and programs get to see, word for word.
#![forbid(unsafe_code)]

use advisor::diagnosis::{Subject, diagnose};
use advisor::output::{
    Change, Document, RecommendationRecord, Style, View, csv, json, markdown, text,
};
use advisor::policy::Policy;
use advisor::recommendation::recommend;
use advisor::resolver::Side;
use engine::report::Report;

use crate::report::{DEFAULT, effective, fast_aes, machine};

fn document(report: Report) -> Document {
    let client = effective(Side::Client, &DEFAULT);
    let server = effective(Side::Server, &DEFAULT);
    let policy = Policy::default();
    let recommendation = recommend(&report, Some(&client), Some(&server), &policy, None);
    let subject = Subject {
        report: &report,
        client: Some(&client),
        server: Some(&server),
        recommendation: &recommendation,
        policy: &policy,
    };
    let findings = diagnose(subject, &|_| None);
    let mut document = Document::new(report);
    document.configuration.client = Some((&client).into());
    document.configuration.server = Some((&server).into());
    document.recommendation = Some(RecommendationRecord::from(&recommendation));
    document.findings = findings;
    document.changes.push(Change {
        side: Side::Client,
        file: "/etc/ssh/ssh_config.d/10-cipher-advisor.conf".into(),
        strategy: "A drop-in read before any other line.".to_owned(),
        diff: "--- /dev/null\n+++ /etc/ssh/ssh_config.d/10-cipher-advisor.conf\n@@ -0,0 +1 @@\n+Ciphers ^aes128-gcm@openssh.com\n".to_owned(),
        backup: None,
    });
    document
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
