//! What the installed programs really offer with the files of this host, beside what the files say.
//!
//! Only for the running system: a program cannot be asked about another tree. A client whose files may run a
//! command is not asked at all.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io;
use std::path::Path;

use engine::host::{CommandRequest, Commands};
use engine::installed::releases::Release;
use engine::installed::{NoOffer, Offer, client_offer, server_offer};
use engine::report::OpenSsh;

use crate::examination::{Perspective, rules};
use crate::files::{Files, Scratch};
use crate::plan::Target;
use crate::resolver::{CommandOption, Effective, Side};
use crate::syntax::{self, Dialect};

/// A host that no file names: what it is offered is what holds for every host.
const ANY_HOST: &str = "cipher-advisor.invalid";

/// Why a program was not asked, or gave no answer. Prints as the reason and the cure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOffered {
    /// Asking would run a command of the user's.
    #[error(
        "ssh was not asked what it offers: it would run the Match exec at {0}; read the list above, or ask with -F and a file without it"
    )]
    WouldRun(String),
    /// A file that only a running `ssh` finds may hold such a command.
    #[error(
        "ssh was not asked what it offers: which file {0} includes is not known here, and it may run commands; write its path out"
    )]
    Unread(String),
    /// There is nothing to ask with.
    #[error("{0}; install openssh-client, which brings ssh-keygen")]
    NoKey(String),
    /// The program did not get as far as an offer.
    #[error("{0}")]
    NoOffer(#[from] NoOffer),
}

/// What the installed program of one side offers with the files of whoever runs this; `None` where it is not
/// installed.
///
/// # Errors
/// When no temporary directory can be made for the key that `sshd` is asked with.
pub fn offer(
    files: &dyn Files,
    commands: &dyn Commands,
    perspective: &Perspective,
    programs: &OpenSsh,
    side: Side,
    host: Option<&str>,
) -> io::Result<Option<Result<Offer, NotOffered>>> {
    let program = match side {
        Side::Client => &programs.client,
        Side::Server => &programs.server,
    };
    let Some(program) = program else {
        return Ok(None);
    };
    let path = program.path.as_ref();
    Ok(Some(match side {
        Side::Client => {
            // ssh reads the files of whoever runs it, whichever of them this run is about.
            let mut perspective = perspective.clone();
            perspective.client = Target::User(perspective.home.join(".ssh/config"));
            let effective = perspective.resolve(files, side, programs, host);
            let release = rules(programs, side).0;
            client(files, commands, path, release, &effective, host)
        }
        Side::Server => {
            let directory = Scratch::new()?;
            let file = perspective.server.main_file();
            let key = directory.path().join("host_key");
            let options = perspective.daemon_options(files);
            server(commands, path, file, &options, &key, Scratch::open_to_all)
        }
    }))
}

/// What `ssh` offers a host with its usual files, which `effective` was read from.
///
/// # Errors
/// Why it was not asked, or what it said.
pub fn client(
    files: &dyn Files,
    commands: &dyn Commands,
    ssh: &Path,
    release: Release,
    effective: &Effective,
    host: Option<&str>,
) -> Result<Offer, NotOffered> {
    for file in &effective.files {
        let bytes = files.read(file).unwrap_or_default();
        if let Some(line) = exec_line(bytes, release) {
            return Err(NotOffered::WouldRun(format!("{}:{line}", file.display())));
        }
    }
    if let Some(include) = effective.unread.first() {
        return Err(NotOffered::Unread(include.to_string()));
    }
    let host = host.unwrap_or(ANY_HOST);
    Ok(client_offer(
        commands,
        ssh,
        host,
        &without_commands(release),
    )?)
}

/// `ssh` runs `KnownHostsCommand` before it makes its offer. The command line wins over every file.
fn without_commands(release: Release) -> Vec<OsString> {
    const SINCE: Release = Release::new(8, 5);
    let none = (release >= SINCE).then(|| "-oKnownHostsCommand=none".into());
    none.into_iter().collect()
}

/// The first line of a client's file that runs a command. What only looks like one counts too: this decides
/// whether to be careful.
fn exec_line(bytes: Vec<u8>, release: Release) -> Option<usize> {
    let tree = syntax::parse(bytes, Dialect::client(release));
    let mut lines = tree.lines().iter();
    let names_exec = |text: &[u8]| {
        let lower = text.to_ascii_lowercase();
        lower.windows(4).any(|window| window == b"exec")
    };
    let runs = |line: &&syntax::Line| {
        line.statement().is_some_and(|statement| {
            statement.keyword.value.eq_ignore_ascii_case(b"match")
                && (names_exec(&tree.rest(line, statement))
                    // Quotes and escapes may hide the word.
                    || tree.words(line, statement).any(|word| names_exec(&word)))
        })
    };
    lines.find(runs).map(|line| line.number)
}

/// What `sshd` offers with its file and the options of its command line. `key` is where a host key for the question may be made, in a directory of
/// its own: the real ones need not be readable. `open` lets everybody read it, who may have to.
///
/// # Errors
/// Why it was not asked, or what it said.
pub fn server(
    commands: &dyn Commands,
    sshd: &Path,
    file: &Path,
    options: &[CommandOption],
    key: &Path,
    open: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<Offer, NotOffered> {
    let flags = ["-q", "-t", "ed25519", "-N", "", "-f"];
    let request = CommandRequest::new("ssh-keygen").args(flags).arg(key);
    match commands.run(&request) {
        Ok(output) if output.succeeded() => {}
        Ok(output) => return Err(NotOffered::NoKey(output.stderr_text())),
        Err(error) => return Err(NotOffered::NoKey(error.to_string())),
    }
    open(key).map_err(|error| NotOffered::NoKey(error.to_string()))?;
    let options: Vec<_> = options.iter().map(|it| it.value.clone()).collect();
    Ok(server_offer(commands, sshd, file, key, &options)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_however_they_are_written() {
        for (text, line) in [
            ("Match host x exec true\n", Some(1)),
            ("Match e\"xe\"c 'true'\n", Some(1)),
            ("Match ex\\\"ec true\n", None),
            ("# exec\nMATCH !EXEC=\"true\"\n", Some(2)),
            ("\"Match\" exec true\n", Some(1)),
            ("Match host x\nUser exec\n", None),
            ("# Match exec true\n", None),
        ] {
            let found = exec_line(text.into(), Release::new(9, 9));
            assert_eq!(found, line, "{text}");
        }
    }
}
