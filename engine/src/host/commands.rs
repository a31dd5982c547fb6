//! Running programs as a parameter.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A program to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRequest {
    /// The program: a path, or a name to look up in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables set beside the inherited environment.
    pub env: Vec<(OsString, OsString)>,
    /// What it reads on standard input.
    pub stdin: Vec<u8>,
    /// After this long it is killed.
    pub timeout: Duration,
}

impl CommandRequest {
    /// A request with no arguments, no input and ten seconds to live.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            stdin: Vec::new(),
            timeout: Duration::from_secs(10),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }
}

/// What a program that ended left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandOutput {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl CommandOutput {
    /// Whether it exited with 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    /// Standard output as text; bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text, without the carriage returns sshd writes.
    #[must_use]
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).replace('\r', "")
    }
}

/// Why a program gave no output.
#[derive(Debug, thiserror::Error)]
pub enum CommandFailure {
    /// It could not be started.
    #[error("cannot run {program}: {cause}")]
    NotStarted {
        /// The program.
        program: String,
        /// The system's reason.
        cause: io::Error,
    },
    /// It did not end in time and was killed.
    #[error("{program} did not end within {} s and was stopped", timeout.as_secs())]
    TimedOut {
        /// The program.
        program: String,
        /// The time it had.
        timeout: Duration,
    },
}

/// Something that runs programs.
pub trait Commands: Sync {
    /// Runs a program to its end.
    ///
    /// # Errors
    /// When it cannot be started or does not end in time. A non-zero exit is no error here.
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure>;
}

/// Runs real programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemCommands;

impl Commands for SystemCommands {
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
        let program = request.program.display().to_string();
        let started = Command::new(&request.program)
            .args(&request.args)
            .envs(request.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = started.map_err(|cause| CommandFailure::NotStarted {
            program: program.clone(),
            cause,
        })?;
        let input = feed(&mut child, request.stdin.clone());
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let status = wait(&mut child, request.timeout);
        let ended = status.ok_or(CommandFailure::TimedOut {
            program,
            timeout: request.timeout,
        })?;
        let _ = input.join();
        Ok(CommandOutput {
            code: ended.code(),
            stdout: stdout.join().unwrap_or_default(),
            stderr: stderr.join().unwrap_or_default(),
        })
    }
}

/// Writes the input from a thread of its own: a program may answer before it has read everything.
fn feed(child: &mut Child, input: Vec<u8>) -> thread::JoinHandle<()> {
    let pipe = child.stdin.take();
    thread::spawn(move || {
        if let Some(mut pipe) = pipe {
            // A program that does not read its input closes the pipe early; that is its right.
            let _ = pipe.write_all(&input);
        }
    })
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Waits for the end; kills and reaps a program that outlives its time.
fn wait(child: &mut Child, timeout: Duration) -> Option<std::process::ExitStatus> {
    let deadline = Instant::now() + timeout;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}
