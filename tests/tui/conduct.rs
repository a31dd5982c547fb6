//! The real binary in a terminal, and without one.
#![forbid(unsafe_code)]

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

const BINARY: &str = env!("CARGO_BIN_EXE_advisor-tui");
const DEADLINE: Duration = Duration::from_secs(30);

/// The binary in a terminal of 80×24.
struct Seat {
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    screen: vt100::Parser,
}

impl Seat {
    fn take(variables: &[(&str, &str)]) -> Self {
        let size = PtySize {
            rows: 24,
            cols: 80,
            ..PtySize::default()
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(BINARY);
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        command.env("HOME", env!("CARGO_TARGET_TMPDIR"));
        command.env_remove("NO_COLOR");
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        let keyboard = pair.master.take_writer().unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (send, output) = channel();
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut chunk) {
                if send.send(chunk[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let [rows, columns] = [24, 80].map(|it| NonZeroU16::new(it).unwrap());
        Self {
            child,
            _master: pair.master,
            keyboard,
            output,
            bytes: Vec::new(),
            screen: vt100::Parser::new(rows, columns, 0),
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Reads until the screen is as wanted.
    fn see(&mut self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !wanted(self.screen.screen()) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(chunk) => {
                    self.screen.process(&chunk);
                    self.bytes.extend(chunk);
                }
                Err(_) => panic!("no {what}:\n{}", self.screen.screen().contents()),
            }
        }
    }

    fn see_text(&mut self, text: &str) {
        self.see(text, |screen| screen.contents().contains(text));
    }

    /// Waits for the end and reads what is left.
    fn end(&mut self) -> u32 {
        // The terminal ends its output when the program has ended.
        loop {
            match self.output.recv_timeout(DEADLINE) {
                Ok(chunk) => {
                    self.screen.process(&chunk);
                    self.bytes.extend(chunk);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end"),
            }
        }
        self.child.wait().unwrap().exit_code()
    }

    fn is_restored(&self) -> bool {
        let screen = self.screen.screen();
        !screen.alternate_screen() && !screen.hide_cursor()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // It has ended already unless the test fails.
        let _ = self.child.kill();
    }
}

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
    let mut seat = Seat::take(&[]);
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
        let id = seat.child.process_id().unwrap().try_into().unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
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
    let mut seat = Seat::take(&[("TERM", "dumb")]);
    let piped = Command::new(BINARY)
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
