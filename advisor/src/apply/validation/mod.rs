//! The installed program's own verdict on a candidate tree, before anything of it is visible.
//!
//! The program reads a rewritten copy of every file it would read, with the planned edits in place, in a
//! private directory: Includes lead into the copy, host keys to one made for the purpose, and in place of each
//! `Match exec`, which `ssh -G` would run, stands what always holds in one copy and what never does in another. The list it
//! prints must be the planned one.
//!
//! "Refused" and "cannot validate here" are kept apart: the second says nothing about the candidate.
#![forbid(unsafe_code)]

mod candidate;
mod client;
mod copy;
mod refusal;
mod rewriting;
mod server;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use engine::host::{CommandOutput, CommandRequest, Commands};
use engine::installed::releases::Release;

use super::ApplyError;
use crate::files::Files;
use crate::layout::Layout;
use crate::plan::{Edit, Plan};
use crate::resolver::Side;

use candidate::Candidate;

/// What the installed program says of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It accepts it and prints the planned list.
    Accepted,
    /// It would not start, or prints another list. The message names the real files.
    Refused(String),
    /// It could not be asked.
    Cannot {
        /// Why not.
        reason: String,
        /// What would make it possible.
        help: String,
    },
}

/// A program to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Whose rules it follows.
    pub release: Release,
}

/// What to ask, and about which files.
pub struct Validator<'a> {
    /// The tree as it is.
    pub files: &'a dyn Files,
    /// Runs the programs.
    pub commands: &'a dyn Commands,
    /// `ssh`, where there is one.
    pub ssh: Option<Program>,
    /// `sshd`, where there is one.
    pub sshd: Option<Program>,
    /// The user's file (`~/.ssh/config`), where it counts.
    pub user_file: Option<PathBuf>,
    /// The system's client file (`/etc/ssh/ssh_config`), where it counts.
    pub system_file: Option<PathBuf>,
    /// The server's file (`/etc/ssh/sshd_config`).
    pub server_file: PathBuf,
    /// The flavour of OpenSSH these programs are.
    pub layout: Layout,
    /// The user's home.
    pub home: PathBuf,
    /// The effective user of this process; 0 is root.
    pub uid: u32,
}

impl Validator<'_> {
    /// Asks about one plan.
    #[must_use]
    pub fn validate(&self, plan: &Plan) -> Verdict {
        self.ask(plan.side, &plan.order, &plan.edits)
    }

    /// Asks about several plans that are to be written together. [`ApplyRequest::validate`] wants this.
    ///
    /// [`ApplyRequest::validate`]: super::ApplyRequest::validate
    ///
    /// # Errors
    /// Any verdict but [`Verdict::Accepted`].
    pub fn require(&self, plans: &[Plan]) -> Result<(), ApplyError> {
        let edits: Vec<Edit> = plans.iter().flat_map(|plan| plan.edits.clone()).collect();
        for plan in plans.iter().filter(|plan| !plan.edits.is_empty()) {
            match self.ask(plan.side, &plan.order, &edits) {
                Verdict::Accepted => {}
                Verdict::Refused(message) => return Err(ApplyError::Refused(message)),
                Verdict::Cannot { reason, help } => {
                    return Err(ApplyError::CannotValidate { reason, help });
                }
            }
        }
        Ok(())
    }

    fn ask(&self, side: Side, order: &[String], edits: &[Edit]) -> Verdict {
        let candidate = Candidate::new(self.files, edits);
        let answer = match side {
            Side::Client => client::ask(self, &candidate, order),
            Side::Server => server::ask(self, &candidate, order),
        };
        match answer {
            Ok(()) => Verdict::Accepted,
            Err(verdict) => verdict,
        }
    }

    fn run(&self, program: &Path, args: &[OsString]) -> Result<CommandOutput, Verdict> {
        let mut request = CommandRequest::new(program).args(args);
        // `Match exec` runs through the user's shell, which may be one that refuses to run anything.
        request.env = vec![("SHELL".into(), "/bin/sh".into())];
        let ran = self.commands.run(&request);
        ran.map_err(|failure| cannot(failure.to_string(), "see whether it runs by hand"))
    }
}

fn cannot(reason: impl Into<String>, help: impl Into<String>) -> Verdict {
    Verdict::Cannot {
        reason: reason.into(),
        help: help.into(),
    }
}

/// The value of `Ciphers` in what `ssh -G` or `sshd -T` printed. Since 10.5 sshd prints mixed case.
fn ciphers(output: &CommandOutput) -> Vec<String> {
    let text = output.stdout_text();
    let line = text.lines().find_map(|line| {
        let (keyword, value) = line.split_once(' ')?;
        keyword.eq_ignore_ascii_case("ciphers").then_some(value)
    });
    let names = line.unwrap_or_default().split(',');
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn compare(program: &str, found: &[String], order: &[String]) -> Result<(), Verdict> {
    if found == order {
        return Ok(());
    }
    Err(Verdict::Refused(format!(
        "{program} would use {} instead of the planned {}",
        found.join(","),
        order.join(",")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_found_in_any_case() {
        for keyword in ["ciphers", "Ciphers"] {
            let output = CommandOutput {
                stdout: format!("port 22\n{keyword} a,b\nmacs c\n").into_bytes(),
                ..CommandOutput::default()
            };
            assert_eq!(ciphers(&output), ["a", "b"]);
        }
        assert!(ciphers(&CommandOutput::default()).is_empty());
    }
}
