//! `advisor entropy`: the same table in every format, within its time.
#![forbid(unsafe_code)]

use std::process::Command;
use std::time::{Duration, Instant};

use crate::schema::violations;

fn run(format: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_advisor"))
        .args(["entropy", "--time-budget", "200ms", format])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_format_has_every_source_and_size() {
    let schema = serde_json::from_str(include_str!("../../assets/report.schema.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&run("--json")).unwrap();
    assert_eq!(violations(&schema, &document), Vec::<String>::new());
    let cells = document["entropy"].as_array().unwrap();
    let csv = run("--csv");
    assert_eq!(csv.lines().count(), cells.len() + 1);
    let (text, markdown) = (run("--plain"), run("--markdown"));
    assert!(
        text.is_ascii() && text.lines().all(|line| line.len() <= 80),
        "{text}"
    );
    for cell in cells {
        let source = cell["source"].as_str().unwrap();
        for format in [&text, &csv, &markdown] {
            assert!(format.contains(source), "{source}: {format}");
        }
    }
    for size in ["16 B", "32 B", "64 B", "128 B", "4 KiB"] {
        assert!(text.contains(size) && markdown.contains(size), "{size}");
    }
}

#[test]
fn a_short_time_is_kept_within_reason() {
    let began = Instant::now();
    run("--json");
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "its budget is 0.2 s"
    );
}
