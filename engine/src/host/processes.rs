//! Programs that run beside this one and whose processor time is taken one by one.
//!
//! [`Commands`](super::Commands) runs a program to its end and keeps what it says; here a program is given
//! sockets and files, runs as long as its owner wants, and leaves behind what wait4(2) knows of it.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::sys::{self, Ending};

/// A program to start: with no input, no output, and the inherited environment until told otherwise.
pub(crate) struct ProcessRequest(Command);

impl ProcessRequest {
    pub(crate) fn new(program: &Path) -> Self {
        let mut command = Command::new(program);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A group of its own: what it starts is stopped with it, and a Ctrl-C is its owner's to answer.
        command.process_group(0);
        Self(command)
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.0.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.0.env(name, value.into());
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.0.env_remove(name);
        self
    }

    pub(crate) fn stdin(mut self, from: impl Into<Stdio>) -> Self {
        self.0.stdin(from);
        self
    }

    pub(crate) fn stdout(mut self, to: impl Into<Stdio>) -> Self {
        self.0.stdout(to);
        self
    }

    pub(crate) fn stderr(mut self, to: impl Into<Stdio>) -> Self {
        self.0.stderr(to);
        self
    }

    /// Runs it as somebody else, without supplementary groups. Only root may.
    pub(crate) fn account(mut self, account: Account) -> Self {
        self.0.uid(account.user).gid(account.group);
        self
    }
}

/// Who runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// A running program, killed with its group when dropped or when the thread that started it ends.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    ended: Option<Ended>,
}

/// What is known of a program that has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ended {
    /// Its exit code, or the signal that ended it.
    pub(crate) status: ExitStatus,
    /// Processor time of the program and of all its children that it waited for.
    pub(crate) user: Duration,
    /// Time of the system on their behalf.
    pub(crate) system: Duration,
}

impl Process {
    pub(crate) fn start(request: ProcessRequest) -> io::Result<Self> {
        let ProcessRequest(mut command) = request;
        sys::end_with_this_thread(&mut command);
        let child = command.spawn()?;
        Ok(Self {
            pid: Pid::from_child(&child),
            ended: None,
        })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> io::Result<Option<Ended>> {
        if self.ended.is_none() {
            self.ended = sys::take_ending(self.pid)?.map(Ended::from);
        }
        Ok(self.ended)
    }

    /// Asks it to end.
    pub(crate) fn ask_to_end(&self) {
        if self.ended.is_none() {
            // It may just have ended, and then all is well.
            let _ = kill_process(self.pid, Signal::TERM);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended.is_some() {
            return;
        }
        // Not yet waited for, so the number is still its own.
        let _ = kill_process_group(self.pid, Signal::KILL);
        while matches!(self.ended(), Ok(None)) {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

impl From<Ending> for Ended {
    fn from((status, used): Ending) -> Self {
        Self {
            status: ExitStatus::from_raw(status),
            user: duration(used.ru_utime),
            system: duration(used.ru_stime),
        }
    }
}

/// The system never gives a negative time.
fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}
