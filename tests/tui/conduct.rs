//! The real binary in a terminal, and without one.
#![forbid(unsafe_code)]

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use crate::scene::judged;
use crate::support::program;

const BINARY: &str = env!("CARGO_BIN_EXE_advisor-tui");
const DEADLINE: Duration = Duration::from_secs(30);

/// The binary in a terminal of 80×24.
struct Seat {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    screen: vt100::Parser,
}

impl Seat {
    fn take(variables: &[(&str, &str)]) -> Self {
        Self::with(&[], variables)
    }

    fn with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::of(BINARY, arguments, variables)
    }

    fn of(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let size = PtySize {
            rows: 24,
            cols: 80,
            ..PtySize::default()
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
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
            master: pair.master,
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

    fn resize(&mut self, rows: u16, cols: u16) {
        let size = PtySize {
            rows,
            cols,
            ..PtySize::default()
        };
        self.master.resize(size).unwrap();
        let [rows, columns] = [rows, cols].map(|it| NonZeroU16::new(it).unwrap());
        self.screen.screen_mut().set_size(rows, columns);
    }

    /// Processor time the program has used, in ticks of the system.
    fn ticks(&self) -> u64 {
        let id = self.child.process_id().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_ascii_whitespace();
        // utime and stime are fields 14 and 15 of proc_pid_stat(5); the name was field 2.
        fields
            .skip(11)
            .take(2)
            .map(|it| it.parse::<u64>().unwrap())
            .sum()
    }

    fn is_restored(&self) -> bool {
        let screen = self.screen.screen();
        !screen.alternate_screen() && !screen.hide_cursor()
    }
}

/// A tree with a client configuration of its own, removed at the end.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tui-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("etc/ssh/ssh_config.d")).unwrap();
        let main = "Include /etc/ssh/ssh_config.d/*.conf\n";
        std::fs::write(path.join("etc/ssh/ssh_config"), main).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn drop_in(&self) -> PathBuf {
        self.0.join("etc/ssh/ssh_config.d/10-cipher-advisor.conf")
    }

    /// A saved report in it.
    fn report(&self) -> String {
        let document = judged().document.unwrap();
        let file = self.0.join("report.json");
        std::fs::write(&file, advisor::output::json(&document)).unwrap();
        file.to_str().unwrap().to_owned()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
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

#[test]
fn from_measuring_to_writing_to_undoing_with_keys_alone() {
    let tree = Tree::new("errand");
    let mut seat = Seat::with(&["--root", tree.path()], &[]);
    seat.press("2");
    seat.see_text("x stop");
    seat.see_text("m measure");
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

/// The face with a clock that panics at its third look, run in a terminal by the test below.
#[test]
#[ignore = "run by a_panic_restores_the_terminal_first"]
fn a_face_that_panics() {
    struct Trap(std::sync::atomic::AtomicUsize);
    impl engine::host::Clock for Trap {
        fn wall(&self) -> Duration {
            let looks = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            assert!(looks < 2, "forced");
            Duration::ZERO
        }
        fn thread_cpu(&self) -> Duration {
            Duration::ZERO
        }
        fn since_1970(&self) -> Duration {
            Duration::ZERO
        }
    }
    let gate = engine::measure::Gate::default();
    let job = app::job::HostJob::here(gate.clone(), |name| std::env::var(name).ok()).unwrap();
    let face = app::tui::Face {
        clock: Box::new(Trap(0.into())),
        gate,
        pauses: app::pause::Pauses::default(),
        appearance: app::tui::Appearance::default(),
        mouse: true,
        screen: || Box::new(std::io::stdout()),
        report: None,
    };
    let _ = app::tui::run(job, &face);
}

#[test]
fn a_panic_restores_the_terminal_first() {
    let program = std::env::current_exe().unwrap();
    let name = "conduct::a_face_that_panics";
    let arguments = ["--exact", name, "--ignored", "--nocapture"];
    let mut seat = Seat::of(
        &program.display().to_string(),
        &arguments,
        &[("RUST_BACKTRACE", "0")],
    );
    assert_ne!(seat.end(), 0);
    assert!(seat.is_restored());
    let left = seat.screen.screen().contents();
    assert!(left.contains("forced"), "the panic is told: {left}");
}

/// A shell in tmux: only under one can a program be stopped and continued.
struct Shell(String);

impl Shell {
    fn open(program: &str, name: &str) -> Self {
        let shell = Self(format!("advisor-{name}-{}", std::process::id()));
        let size = ["-x", "80", "-y", "24"];
        let mut command = Command::new(program);
        command.args(["-L", &shell.0, "-f", "/dev/null", "new-session", "-d"]);
        command
            .args(size)
            .args(["env", "PS1=$ ", "LC_ALL=C.UTF-8", "sh"]);
        command.env("LC_ALL", "C.UTF-8");
        assert!(command.status().unwrap().success());
        shell
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        let command = command.args(["-u", "-L", &self.0]).args(arguments);
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    }

    fn see(&self, text: &str) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if screen.contains(text) {
                return;
            }
            assert!(Instant::now() < deadline, "no {text}:\n{screen}");
            thread::yield_now();
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_stopped_program_goes_on_with_a_whole_screen_and_its_measurement() {
    let Some(program) = program("tmux", "tmux") else {
        return;
    };
    let shell = Shell::open(program.to_str().unwrap(), "stop");
    shell.tmux(&["send-keys", BINARY, "Enter"]);
    shell.see("[1 Overview]");
    shell.tmux(&["send-keys", "2"]);
    shell.see("x stop");
    shell.tmux(&["send-keys", "C-z"]);
    shell.see("Stopped");
    shell.tmux(&["send-keys", "fg", "Enter"]);
    shell.see("[2 Measure]");
    shell.see("m measure");
    shell.tmux(&["send-keys", "q"]);
    shell.see("ssh prefers");
}
