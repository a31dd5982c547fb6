//! The real binary where no window can be opened.
#![forbid(unsafe_code)]

use std::process::Command;

fn run(display: Option<&str>) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_advisor-gui"));
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    command.env("HOME", env!("CARGO_TARGET_TMPDIR"));
    command.envs(display.map(|display| ("DISPLAY", display)));
    let output = command.output().unwrap();
    let sentence = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), sentence)
}

#[test]
fn without_a_display_one_sentence_says_what_to_do() {
    let (code, sentence) = run(None);
    assert_eq!(code, Some(2));
    assert!(sentence.contains("no display") && sentence.contains("advisor-tui"));
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
}

#[test]
fn a_display_that_does_not_answer_is_no_panic() {
    let (code, sentence) = run(Some(":4711"));
    assert_eq!(code, Some(2), "{sentence}");
    assert!(sentence.contains("install") && sentence.contains("advisor-tui"));
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
}
