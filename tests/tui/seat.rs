//! What the tests of the real binary sit at: a terminal, a tree of files, a shell under tmux.
#![forbid(unsafe_code)]

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::Pid;

use crate::scene::judged;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_advisor-tui");
/// How long the expected screen may take. Emulators and busy machines ask for more.
pub(crate) fn deadline() -> Duration {
    let thin = std::env::var_os("ADVISOR_TEST_EFFORT").is_some_and(|it| it == "thin");
    Duration::from_secs(if thin { 120 } else { 10 })
}

/// What a measurement takes where no other time is given.
const MEASURING: Duration = Duration::from_secs(10);

/// A measurement that is over well before the deadline.
pub(crate) const SHORT: [&str; 2] = ["--time-budget", "3s"];

/// The binary in a terminal of 80×24.
pub(crate) struct Seat {
    child: Running,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    pub(crate) output: Receiver<Vec<u8>>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) screen: vt100::Parser,
}

impl Seat {
    pub(crate) fn take(variables: &[(&str, &str)]) -> Self {
        Self::with(&[], variables)
    }

    pub(crate) fn with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::of(BINARY, arguments, variables)
    }

    pub(crate) fn of(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
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
            child: Running(child),
            master: pair.master,
            keyboard,
            output,
            bytes: Vec::new(),
            screen: vt100::Parser::new(rows, columns, 0),
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Reads until the screen is as wanted.
    pub(crate) fn see(&mut self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + deadline();
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

    /// Waits for a measurement that takes its whole time, and then for the screen.
    pub(crate) fn see_measured(&mut self) {
        let begun = Instant::now();
        while begun.elapsed() < MEASURING && !self.screen.screen().contents().contains("m measure")
        {
            self.listen(Duration::from_millis(100));
        }
        self.see_text("m measure");
    }

    pub(crate) fn see_text(&mut self, text: &str) {
        self.see(text, |screen| screen.contents().contains(text));
    }

    /// Reads what comes for so long.
    pub(crate) fn listen(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Ok(chunk) = self
            .output
            .recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            self.screen.process(&chunk);
            self.bytes.extend(chunk);
        }
    }

    /// Waits for the end and reads what is left.
    pub(crate) fn end(&mut self) -> u32 {
        // The terminal ends its output when the program has ended.
        loop {
            match self.output.recv_timeout(deadline()) {
                Ok(chunk) => {
                    self.screen.process(&chunk);
                    self.bytes.extend(chunk);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("it does not end:\n{}", self.screen.screen().contents())
                }
            }
        }
        self.child.0.wait().unwrap().exit_code()
    }

    pub(crate) fn resize(&mut self, rows: u16, cols: u16) {
        let size = PtySize {
            rows,
            cols,
            ..PtySize::default()
        };
        self.master.resize(size).unwrap();
        let [rows, columns] = [rows, cols].map(|it| NonZeroU16::new(it).unwrap());
        self.screen.screen_mut().set_size(rows, columns);
    }

    pub(crate) fn id(&self) -> Pid {
        let id = self.child.0.process_id().unwrap();
        Pid::from_raw(id.try_into().unwrap()).unwrap()
    }

    /// The terminal goes away, as when a connection breaks. Every end of ours is closed: the one that reads when
    /// the next output meets nobody.
    pub(crate) fn hang_up(mut self) -> Running {
        self.press("2");
        let Self { child, .. } = self;
        child
    }

    /// Processor time the program has used, in ticks of the system.
    pub(crate) fn ticks(&self) -> u64 {
        let id = self.id().as_raw_pid();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_ascii_whitespace();
        // utime and stime are fields 14 and 15 of proc_pid_stat(5); the name was field 2.
        fields
            .skip(11)
            .take(2)
            .map(|it| it.parse::<u64>().unwrap())
            .sum()
    }

    pub(crate) fn is_restored(&self) -> bool {
        let screen = self.screen.screen();
        !screen.alternate_screen() && !screen.hide_cursor()
    }
}

/// A tree with a client configuration of its own, removed at the end.
pub(crate) struct Tree(pub(crate) PathBuf);

impl Tree {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tui-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("etc/ssh/ssh_config.d")).unwrap();
        let main = "Include /etc/ssh/ssh_config.d/*.conf\n";
        std::fs::write(path.join("etc/ssh/ssh_config"), main).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    pub(crate) fn drop_in(&self) -> PathBuf {
        self.0.join("etc/ssh/ssh_config.d/10-cipher-advisor.conf")
    }

    /// A saved report in it.
    pub(crate) fn report(&self) -> String {
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

/// A program that is not left behind.
pub(crate) struct Running(Box<dyn Child + Send + Sync>);

impl Running {
    pub(crate) fn is_over(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already unless the test fails.
        let _ = self.0.kill();
    }
}

/// A shell in tmux: only under one can a program be stopped and continued.
pub(crate) struct Shell(String);

impl Shell {
    pub(crate) fn open(program: &str, name: &str) -> Self {
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

    pub(crate) fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        let command = command.args(["-u", "-L", &self.0]).args(arguments);
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    }

    pub(crate) fn see(&self, text: &str) {
        self.see_one_of(&[text]);
    }

    pub(crate) fn see_one_of(&self, texts: &[&str]) {
        let deadline = Instant::now() + deadline();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if texts.iter().any(|text| screen.contains(text)) {
                return;
            }
            assert!(Instant::now() < deadline, "no {texts:?}:\n{screen}");
            thread::yield_now();
        }
    }
}

impl Shell {
    /// State and processor time of the only job of the shell.
    pub(crate) fn job(&self) -> (String, u64) {
        let shell = self.tmux(&["list-panes", "-F", "#{pane_pid}"]);
        let shell = shell.trim();
        let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
        let child = children.unwrap().trim().to_owned();
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap();
        let mut fields = stat.rsplit(')').next().unwrap().split_ascii_whitespace();
        let state = fields.next().unwrap().to_owned();
        (
            state,
            fields
                .skip(10)
                .take(2)
                .map(|it| it.parse::<u64>().unwrap())
                .sum(),
        )
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
