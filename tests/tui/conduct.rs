//! The real binary in a terminal, and without one.
#![forbid(unsafe_code)]

use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use rustix::process::{Signal, kill_process};

use crate::seat::{BINARY, SHORT, Seat, Shell, Tree};
use crate::support::program;

#[test]
fn it_opens_walks_the_screens_and_leaves_no_trace() {
    let mut seat = Seat::take(&[]);
    seat.see_text("[1 Overview]");
    assert!(seat.screen.screen().alternate_screen());
    seat.see_text("OpenSSH");
    seat.press("2");
    seat.see_text("SSH packets of 32 KiB, sealing");
    seat.press("d\u{1b}[D");
    seat.see_text("SSH packets of 1 KiB, opening");
    seat.press("\t");
    seat.see_text("Client (ssh)");
    seat.press("l");
    seat.see_text("[4 Advice]");
    seat.press("\u{1b}[Z\u{1b}[Z");
    seat.see_text("[2 Measure]");
    seat.press("?");
    seat.see_text("Stop measuring");
    seat.press("q");
    assert_eq!(seat.end(), 0);
    assert!(seat.is_restored());
}

#[test]
fn a_measurement_is_stopped_and_its_rounds_become_advice() {
    let tree = Tree::new("stopped");
    let mut seat = Seat::with(&["--root", tree.path(), "--time-budget", "60s"], &[]);
    seat.press("2");
    seat.see_text("x stop");
    // A bar: the first rounds are there.
    seat.see_text("█ ");
    seat.press("x");
    seat.see_text("m measure");
    seat.press("4");
    seat.see_text("Rests on");
    seat.press("\u{3}");
    assert_eq!(seat.end(), 0, "Ctrl-C leaves");
    assert!(seat.is_restored());
}

#[test]
fn signals_restore_the_terminal() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut seat = Seat::take(&[]);
        seat.see_text("[1 Overview]");
        kill_process(seat.id(), signal).unwrap();
        assert_eq!(seat.end(), code, "{signal:?}");
        assert!(seat.is_restored(), "{signal:?}");
    }
}

#[test]
fn without_colour_the_open_tab_is_still_reversed() {
    let mut seat = Seat::take(&[("NO_COLOR", "1")]);
    seat.see("a reversed tab", |screen| {
        screen.contents().contains("[1 Overview]")
            && screen.cell(0, 1).is_some_and(vt100::Cell::inverse)
    });
    let coloured = |cell: &vt100::Cell| {
        cell.fgcolor() != vt100::Color::Default || cell.bgcolor() != vt100::Color::Default
    };
    let screen = seat.screen.screen();
    let cells = (0..24).flat_map(|row| (0..80).filter_map(move |column| screen.cell(row, column)));
    assert!(!cells.into_iter().any(coloured));
    seat.press("q");
    assert_eq!(seat.end(), 0);
}

#[test]
fn a_terminal_without_utf8_gets_ascii() {
    let mut seat = Seat::take(&[("LC_ALL", "C")]);
    seat.press("2");
    seat.see_text("SSH packets of 32 KiB");
    seat.press("q");
    assert_eq!(seat.end(), 0);
    assert!(seat.bytes.is_ascii());
}

#[test]
fn a_dumb_terminal_and_a_pipe_get_lines_without_escapes() {
    let mut seat = Seat::with(&SHORT, &[("TERM", "dumb")]);
    let piped = Command::new(BINARY)
        .args(SHORT)
        .env("TERM", "xterm")
        .env("HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    assert_eq!(piped.status.code(), Some(0));
    assert_eq!(seat.end(), 0);
    for lines in [piped.stdout, std::mem::take(&mut seat.bytes)] {
        let lines = String::from_utf8(lines).unwrap();
        assert!(lines.contains("Processor") && lines.contains("aes128-gcm"));
        assert!(!lines.contains('\u{1b}'), "{lines}");
    }
}

#[test]
fn a_wrong_option_is_named() {
    let output = Command::new(BINARY).arg("--fast").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert!(sentence.contains("--fast") && sentence.contains("--help"));
}

#[test]
fn from_measuring_to_writing_to_undoing_with_keys_alone() {
    let tree = Tree::new("errand");
    let mut seat = Seat::with(&["--root", tree.path()], &[]);
    seat.press("2");
    seat.see_text("x stop");
    seat.see_measured();
    seat.press("4");
    seat.see_text("Client: a better order");
    seat.press("\r");
    seat.see_text("The installed ssh accepts it");
    seat.press("\rno\r");
    seat.see_text("Not confirmed");
    assert!(!tree.drop_in().exists(), "nothing is written unasked");
    seat.press("\ryes\r");
    seat.see_text("Written: new connections");
    let text = std::fs::read_to_string(tree.drop_in()).unwrap();
    assert!(text.contains("Ciphers "), "{text}");
    seat.see_text("Changes so far (1)");
    seat.press("G\ryes\r");
    seat.see_text("undone: its old bytes are back");
    assert!(!tree.drop_in().exists());
    seat.press("q");
    assert_eq!(seat.end(), 0);
    assert!(seat.is_restored());
    let left = seat.screen.screen().contents();
    assert!(left.contains("ssh prefers"), "the answer stays: {left}");
}

#[test]
fn a_click_opens_a_tab_and_selects_a_row() {
    let tree = Tree::new("mouse");
    let saved = tree.report();
    let mut seat = Seat::with(&["--measurements", &saved], &[]);
    seat.see_text("aes128-gcm would move");
    seat.press("\u{1b}[<0;16;1M\u{1b}[<0;16;1m");
    seat.see_text("[2 Measure]");
    seat.press("\u{1b}[<0;5;7M\u{1b}[<0;5;7m");
    seat.see("a selected row", |screen| {
        screen.cell(6, 1).is_some_and(vt100::Cell::inverse)
    });
    seat.press("\u{1b}[<65;5;7M");
    seat.see("a row further down", |screen| {
        screen.cell(9, 1).is_some_and(vt100::Cell::inverse)
    });
    seat.press("M");
    seat.see_text("The mouse marks text");
    seat.press("q");
    assert_eq!(seat.end(), 0);
    assert!(seat.is_restored());
}

#[test]
fn a_storm_of_sizes_ends_in_a_whole_screen() {
    let tree = Tree::new("storm");
    let saved = tree.report();
    let mut seat = Seat::with(&["--measurements", &saved], &[]);
    seat.see_text("aes128-gcm would move");
    for turn in 0..60_u16 {
        seat.resize(5 + turn % 37, 3 + (turn * 29) % 150);
    }
    seat.resize(9, 39);
    seat.see_text("needs 40×10");
    seat.resize(24, 80);
    seat.see_text("[1 Overview]");
    seat.see_text("q quit");
    seat.press("q");
    assert_eq!(seat.end(), 0);
}

#[test]
fn idle_costs_nothing() {
    let tree = Tree::new("idle");
    let saved = tree.report();
    let mut seat = Seat::with(&["--measurements", &saved], &[]);
    seat.see_text("aes128-gcm would move");
    let first = seat.bytes.len();
    assert!(first <= 8 * 1024, "{first} bytes for two frames");
    // What was read after the answer is drawn as well; then nothing.
    while seat.output.recv_timeout(Duration::from_secs(1)).is_ok() {}
    let before = seat.ticks();
    let idle = seat.output.recv_timeout(Duration::from_secs(5));
    assert!(matches!(idle, Err(RecvTimeoutError::Timeout)), "{idle:?}");
    assert!(seat.ticks() - before <= 1);
    seat.press("q");
    assert_eq!(seat.end(), 0);
}

#[test]
fn a_stopped_program_goes_on_with_a_whole_screen_and_its_measurement() {
    let Some(program) = program("tmux", "tmux") else {
        return;
    };
    let shell = Shell::open(program.to_str().unwrap(), "stop");
    let started = format!("{BINARY} --time-budget 4s");
    shell.tmux(&["send-keys", &started, "Enter"]);
    shell.see("[1 Overview]");
    shell.tmux(&["send-keys", "2"]);
    shell.see("x stop");
    shell.tmux(&["send-keys", "C-z"]);
    shell.see("Stopped");
    // Whatever it measures with stands still.
    let (process, before) = shell.job();
    assert_eq!(process, "T");
    assert_eq!(shell.job(), (process, before), "no processor time passes");
    shell.tmux(&["send-keys", "fg", "Enter"]);
    shell.see("[2 Measure]");
    shell.see("m measure");
    shell.tmux(&["send-keys", "q"]);
    // Whatever so short a measurement came to, it is said where the command was typed.
    shell.see_one_of(&["ssh prefers", "today's order stands"]);
}

#[test]
fn a_real_connection_carries_bytes_and_nothing_of_it_is_left() {
    if program("sshd", "openssh-server").is_none() || program("ssh", "openssh-client").is_none() {
        return;
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("tui-carry");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let folder_name = folder.to_str().unwrap();
    let mut seat = Seat::with(&["--time-budget", "3600s"], &[("TMPDIR", folder_name)]);
    seat.press("2");
    seat.see_text("real transfers:");
    seat.see("a cipher that was carried", |screen| {
        let text = screen.contents();
        text.contains("Real transfers: MB/s") && text.contains("chacha20-poly1305")
    });
    seat.press("q");
    assert_eq!(seat.end(), 0);
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    std::fs::remove_dir(&folder).unwrap();
}

#[test]
fn the_line_under_the_cursor_goes_to_the_clipboard_of_the_terminal() {
    let tree = Tree::new("copy");
    let saved = tree.report();
    let mut seat = Seat::with(&["--measurements", &saved], &[]);
    seat.see_text("aes128-gcm would move");
    seat.press("c");
    seat.see_text("Copied");
    let sent = String::from_utf8_lossy(&seat.bytes).into_owned();
    let copied = sent.split("\u{1b}]52;c;").nth(1).unwrap();
    // The first of the answer, in base 64: "ssh prefers ".
    assert!(copied.starts_with("c3NoIHByZWZlcnMg"), "{copied:.60}");
    seat.press("q");
    assert_eq!(seat.end(), 0);
}

#[test]
fn a_file_of_settings_changes_looks_and_keys() {
    let tree = Tree::new("settings");
    let saved = tree.report();
    let folder = tree.0.join("config");
    std::fs::create_dir_all(folder.join("cipher-advisor")).unwrap();
    let file = folder.join("cipher-advisor/advisor-tui.toml");
    std::fs::write(&file, "ascii = true\n[keys]\nquit = [\"Z\"]\n").unwrap();
    let variables = [("XDG_CONFIG_HOME", folder.to_str().unwrap())];
    let mut seat = Seat::with(&["--measurements", &saved], &variables);
    seat.see_text("aes128-gcm would move");
    seat.see_text("Z quit");
    seat.press("q7");
    seat.see_text("[7 Help]");
    seat.press("Z");
    assert_eq!(seat.end(), 0);
    assert!(seat.bytes.is_ascii());

    std::fs::write(&file, "ascii = true\n[keys]\nquit = [\"F99\"]\n").unwrap();
    let mut command = Command::new(BINARY);
    command.env("XDG_CONFIG_HOME", &folder);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    let place = format!("{}:3:9: \"F99\" is no key", file.display());
    assert!(told.contains(&place), "{told}");
}

#[test]
fn a_log_is_kept_in_a_file_where_it_is_wanted() {
    let tree = Tree::new("log");
    let saved = tree.report();
    let state = tree.0.join("state");
    let variables = [("XDG_STATE_HOME", state.to_str().unwrap())];
    for (arguments, kept) in [
        (["--measurements", &saved].as_slice(), false),
        (["--measurements", &saved, "-v"].as_slice(), true),
    ] {
        let mut seat = Seat::with(arguments, &variables);
        seat.see_text("aes128-gcm would move");
        seat.press("q");
        assert_eq!(seat.end(), 0);
        let log = std::fs::read_to_string(state.join("cipher-advisor/advisor-tui.log"));
        let log = log.unwrap_or_default();
        assert_eq!(log.contains("to do: quit"), kept, "{log}");
        assert_eq!(log.contains("done: the examination"), kept, "{log}");
        let shown = String::from_utf8_lossy(&seat.bytes).into_owned();
        assert!(!shown.contains("to do:"), "never on the screen");
    }
}
