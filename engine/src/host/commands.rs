//! Running programs as a parameter.
//!
//! A program may hang, flood, or leave something behind that keeps its pipes open: none of that makes
//! a caller wait past the request's timeout or hold more than [`MOST_OUTPUT`] bytes a stream.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes a program may write to standard output, and as many to standard error; the longest answer
/// wanted here, of `sshd -T`, has some thousand.
const MOST_OUTPUT: usize = 4 * 1024 * 1024;
/// How long the pipes of a program that has exited may stay open without a byte coming out.
const GRACE: Duration = Duration::from_secs(1);
/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

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
    /// After this long it is killed, with all that it started and that stayed in its process group.
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
    /// It wrote more than anybody would read and was killed.
    #[error("{program} wrote more than {} MiB and was stopped", MOST_OUTPUT >> 20)]
    TooMuchOutput {
        /// The program.
        program: String,
    },
}

/// Something that runs programs.
pub trait Commands: Sync {
    /// Runs a program to its end.
    ///
    /// # Errors
    /// When it cannot be started, does not end in time, or writes too much. A non-zero exit is no
    /// error here.
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure>;
}

/// Runs real programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemCommands;

impl Commands for SystemCommands {
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
        let program = request.program.display().to_string();
        let mut child = match start(request) {
            Ok(child) => child,
            Err(cause) => return Err(CommandFailure::NotStarted { program, cause }),
        };
        feed(&mut child, request.stdin.clone());
        let chunks = drain(&mut child);
        let mut output = CommandOutput::default();
        let end = follow(&mut child, &chunks, &mut output, request.timeout);
        if end != End::Complete {
            stop(&mut child);
        }
        output.code = child.wait().ok().and_then(|status| status.code());
        match end {
            End::Complete | End::LeftOpen => Ok(output),
            End::OutOfTime => Err(CommandFailure::TimedOut {
                program,
                timeout: request.timeout,
            }),
            End::TooMuch => Err(CommandFailure::TooMuchOutput { program }),
        }
    }
}

fn start(request: &CommandRequest) -> io::Result<Child> {
    let mut command = Command::new(&request.program);
    command
        .args(&request.args)
        .envs(request.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A group of its own, so that what it starts can be stopped with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Writes the input from a thread of its own: a program may answer before it has read everything.
fn feed(child: &mut Child, input: Vec<u8>) {
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read its input closes the pipe early; that is its right.
        thread::spawn(move || pipe.write_all(&input));
    }
}

#[derive(Clone, Copy)]
enum Stream {
    Output,
    Error,
}

type Chunk = (Stream, Vec<u8>);

/// Reads both streams, each from a thread of its own. The channel is narrow and closes with its
/// receiver, so a reader that nobody listens to any more ends, or waits with one chunk at most.
fn drain(child: &mut Child) -> Receiver<Chunk> {
    let (chunks, receiver) = sync_channel(1);
    if let Some(pipe) = child.stdout.take() {
        let chunks = chunks.clone();
        thread::spawn(move || pass_on(pipe, Stream::Output, &chunks));
    }
    if let Some(pipe) = child.stderr.take() {
        thread::spawn(move || pass_on(pipe, Stream::Error, &chunks));
    }
    receiver
}

fn pass_on(mut pipe: impl Read, stream: Stream, chunks: &SyncSender<Chunk>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(len) => {
                if chunks.send((stream, buffer[..len].to_vec())).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Why a program is not followed any further.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It has exited and its pipes are closed.
    Complete,
    /// It has exited, and something it left behind keeps its pipes open in silence.
    LeftOpen,
    OutOfTime,
    TooMuch,
}

/// Gathers the output until the program and its pipes end or a limit is reached.
fn follow(
    child: &mut Child,
    chunks: &Receiver<Chunk>,
    output: &mut CommandOutput,
    timeout: Duration,
) -> End {
    let started = Instant::now();
    let mut last_sign = started;
    let mut pause = Duration::from_micros(200);
    loop {
        let received = chunks.recv_timeout(pause);
        let closed = matches!(received, Err(RecvTimeoutError::Disconnected));
        let silent = received.is_err();
        if let Ok((stream, bytes)) = received {
            let gathered = match stream {
                Stream::Output => &mut output.stdout,
                Stream::Error => &mut output.stderr,
            };
            gathered.extend_from_slice(&bytes);
            if gathered.len() > MOST_OUTPUT {
                return End::TooMuch;
            }
        }
        let exited = has_exited(child);
        if exited && closed {
            return End::Complete;
        }
        let now = Instant::now();
        if now.duration_since(started) >= timeout {
            return End::OutOfTime;
        }
        if !(exited && silent) {
            last_sign = now;
        } else if now.duration_since(last_sign) >= GRACE {
            return End::LeftOpen;
        }
        if closed {
            thread::sleep(pause);
        }
        if silent {
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Whether the program has exited. It is not reaped: as long as it is not, its group's number cannot
/// go to a stranger.
#[cfg(unix)]
fn has_exited(child: &Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(Pid::from_child(child)), look), Ok(None))
}

#[cfg(not(unix))]
fn has_exited(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Kills the program and, where there are process groups, what it started.
fn stop(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        // Fails where nothing is left of the group, and then all is well.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    let _ = child.kill();
}
