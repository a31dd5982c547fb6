//! How `sshd` is started: the options of its command line, which overrule every file.
//!
//! RHEL 8 hands its cryptographic policy to `sshd` that way. A running listener is asked first, through
//! `/proc`; where none is seen, as in another tree, the systemd unit says what would be started. No option's
//! meaning may enter, and nothing is run.
#![forbid(unsafe_code)]

mod arguments;
mod environment;
mod process;
mod unit;

use std::path::{Path, PathBuf};

use crate::files::Files;
use crate::resolver::{CommandOption, Location};

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Daemon<'a> {
    /// The program's name: `sshd`, `hpnsshd`.
    pub program: &'a str,
    /// The file it reads unless `-f` names another.
    pub usual_file: &'a Path,
}

/// The values of `-o` that the daemon reading this file has on its command line, in order.
///
/// `processes` is where the kernel shows running processes (`/proc`); `None` where those are not of the tree.
#[must_use]
pub fn options(
    files: &dyn Files,
    processes: Option<&Path>,
    daemon: Daemon<'_>,
    file: &Path,
) -> Vec<CommandOption> {
    let written = unit::started(files, daemon.program).filter(|it| it.reads(daemon, file));
    let running = processes.and_then(|directory| {
        let found = listener(files, directory, daemon, file);
        found.map(|(_, started)| started)
    });
    match (running, written) {
        (Some(running), Some(written)) => traced(running.options, &written.options),
        (Some(started), None) | (None, Some(started)) => started.options,
        (None, None) => Vec::new(),
    }
}

/// The daemon that waits for connections with this file, where one is seen.
#[must_use]
pub fn running(
    files: &dyn Files,
    processes: &Path,
    daemon: Daemon<'_>,
    file: &Path,
) -> Option<Running> {
    listener(files, processes, daemon, file).map(|(running, _)| running)
}

fn listener(
    files: &dyn Files,
    processes: &Path,
    daemon: Daemon<'_>,
    file: &Path,
) -> Option<(Running, Started)> {
    let mut found = process::listeners(files, processes, daemon.program).into_iter();
    found.find(|(_, started)| started.reads(daemon, file))
}

/// A daemon that waits for connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Its process number.
    pub id: u32,
    /// The program, as it was called.
    pub program: PathBuf,
    /// The words of its command line behind that; one with a blank in it may be in two parts.
    pub arguments: Vec<String>,
}

/// What running daemons of that name were started with of these variables, as `NAME=value`, with the
/// process it was seen at. Other users' processes show theirs to root alone.
#[must_use]
pub fn variables(
    files: &dyn Files,
    processes: &Path,
    program: &str,
    names: &[&str],
) -> Vec<(Location, String)> {
    process::variables(files, processes, program, names)
}

/// What is running, with the place in a file for whatever stands there: that is what one can change.
fn traced(running: Vec<CommandOption>, written: &[CommandOption]) -> Vec<CommandOption> {
    let trace = |option: CommandOption| {
        let same = written.iter().find(|it| it.value == option.value);
        same.cloned().unwrap_or(option)
    };
    running.into_iter().map(trace).collect()
}

/// A daemon that runs, or would.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Started {
    /// The value of `-f`.
    file: Option<String>,
    /// The values of `-o`.
    options: Vec<CommandOption>,
}

impl Started {
    fn reads(&self, daemon: Daemon<'_>, file: &Path) -> bool {
        let named = self.file.as_deref();
        named.map_or(daemon.usual_file, Path::new) == file
    }
}

/// A word of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    text: String,
    /// Where it comes from.
    location: Location,
}
