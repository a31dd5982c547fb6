//! Asking `ssh -G`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use engine::host::CommandOutput;
use engine::installed::releases::Ability;

use super::candidate::Candidate;
use super::copy::Copy;
use super::refusal::told;
use super::rewriting::{Part, Style};
use super::{Program, Validator, Verdict, cannot, ciphers, compare};
use crate::syntax::Dialect;

/// A host no pattern names.
const ANY_HOST: &str = "cipher-advisor.invalid";

/// The file that is read with none of its rules changed once it is bound there.
const SYSTEM_FILE: &str = "/etc/ssh/ssh_config";

/// Binds the copy over /etc/ssh in a mount namespace of its own, with no file of root's in the way.
const BOUND: &str = "if [ -d ~root/.ssh ]; then mount -t tmpfs tmpfs ~root/.ssh || exit 125; fi; \
                     mount --bind \"$1\" /etc/ssh || exit 125; shift; exec \"$@\"";

/// Whether `ssh` accepts the candidate and uses the order, whatever the commands of `Match exec` would say.
pub(super) fn ask(
    validator: &Validator<'_>,
    candidate: &Candidate<'_>,
    order: &[String],
) -> Result<(), Verdict> {
    let asking = Asking::new(validator)?;
    let runs_commands = asking.one(candidate, order, true)?;
    if runs_commands {
        asking.one(candidate, order, false)?;
    }
    Ok(())
}

struct Asking<'a> {
    validator: &'a Validator<'a>,
    ssh: &'a Program,
    bound: bool,
}

impl<'a> Asking<'a> {
    fn new(validator: &'a Validator<'a>) -> Result<Self, Verdict> {
        let ssh = validator.ssh.as_ref();
        let ssh = ssh.ok_or_else(|| cannot("there is no ssh", "install openssh-client"))?;
        if !ssh.release.can(Ability::PrintClientConfiguration) {
            let reason = format!("ssh of {} does not know -G", ssh.release);
            return Err(cannot(reason, "update it to 6.8 or later"));
        }
        Ok(Self {
            validator,
            ssh,
            bound: can_bind(validator),
        })
    }

    /// With one answer for all commands. Says whether there is any command.
    fn one(
        &self,
        candidate: &Candidate<'_>,
        order: &[String],
        exec: bool,
    ) -> Result<bool, Verdict> {
        let copy = self.copy(candidate, exec)?;
        compare("ssh", &self.list(&copy, ANY_HOST)?, order)?;
        let mut before = None;
        for host in copy.hosts() {
            let found = self.list(&copy, host)?;
            if found == order {
                continue;
            }
            // A block of its own may give this host its own list, but not one that is neither old nor new.
            if before.is_none() {
                before = Some(self.copy(&candidate.unedited(), exec)?);
            }
            let old = before.as_ref().map(|before| self.list(before, host));
            if !matches!(old, Some(Ok(old)) if old == found) {
                compare(&format!("ssh {host}"), &found, order)?;
            }
        }
        Ok(copy.runs_commands())
    }

    fn copy(&self, candidate: &Candidate<'_>, exec: bool) -> Result<Copy<'a>, Verdict> {
        let mut copy = Copy::new(Style {
            dialect: Dialect {
                strips_bom: self.validator.layout.strips_bom(),
                ..Dialect::client(self.ssh.release)
            },
            layout: &self.validator.layout,
            home: &self.validator.home,
            exec,
            real_names: self.bound,
            uid: self.validator.uid,
            host_key: false,
            reader: None,
        })?;
        for (part, file) in self.files() {
            copy.add(candidate, part, file)?;
        }
        Ok(copy)
    }

    fn files(&self) -> impl Iterator<Item = (Part, &'a Path)> {
        let user = self.validator.user_file.as_deref();
        let system = self.validator.system_file.as_deref();
        let user = user.map(|file| (Part::User, file));
        user.into_iter()
            .chain(system.map(|file| (Part::System, file)))
    }

    fn list(&self, copy: &Copy<'_>, host: &str) -> Result<Vec<String>, Verdict> {
        let output = if self.bound {
            self.run_bound(copy, host)?
        } else {
            self.run_copy(copy, host)?
        };
        if output.succeeded() {
            return Ok(ciphers(&output));
        }
        let message = copy.real_names(&output.stderr_text());
        Err(Verdict::Refused(told("ssh", &message)))
    }

    fn run_copy(&self, copy: &Copy<'_>, host: &str) -> Result<CommandOutput, Verdict> {
        let main = main_file(copy, self.files())?;
        let mut args = vec!["-F".into(), main.into_os_string()];
        args.extend(question(host));
        self.validator.run(&self.ssh.path, &args)
    }

    fn run_bound(&self, copy: &Copy<'_>, host: &str) -> Result<CommandOutput, Verdict> {
        let directory = copy.of(Part::System, Path::new("/etc/ssh"));
        let mut args = in_namespace();
        args.extend(["sh", "-c", BOUND, "sh"].map(OsString::from));
        args.extend([
            directory.into_os_string(),
            self.ssh.path.clone().into_os_string(),
        ]);
        args.extend(question(host));
        let output = self.validator.run(Path::new("unshare"), &args)?;
        if output.code == Some(125) {
            let reason = copy.real_names(&output.stderr_text());
            return Err(cannot(reason, "see whether mounts are possible here"));
        }
        Ok(output)
    }
}

/// The file to give to `-F`: one that includes both where there are two, so that either keeps its own rules.
fn main_file<'f>(
    copy: &Copy<'_>,
    files: impl Iterator<Item = (Part, &'f Path)>,
) -> Result<PathBuf, Verdict> {
    let mut files: Vec<_> = files.map(|(part, file)| copy.of(part, file)).collect();
    if files.len() == 1
        && let Some(only) = files.pop_if(|file| file.exists())
    {
        return Ok(only);
    }
    let name = "main";
    let lines = files
        .iter()
        .map(|file| format!("Include {}\n", file.display()));
    let path = copy.path().join(name);
    if path.exists() {
        return Ok(path);
    }
    copy.put_own(name, lines.collect::<String>().as_bytes())
}

/// `CanonicalizeHostname` would ask the network.
fn question(host: &str) -> [OsString; 4] {
    ["-oCanonicalizeHostname=no", "-G", "--", host].map(OsString::from)
}

/// Arguments of `unshare` for a mount namespace nobody else sees.
pub(super) fn in_namespace() -> Vec<OsString> {
    ["-m", "--propagation", "private"]
        .map(OsString::from)
        .to_vec()
}

/// Whether the system's file can be judged under its real name: as root, where namespaces are allowed, and
/// where no user's file counts.
fn can_bind(validator: &Validator<'_>) -> bool {
    let system_alone = validator.user_file.is_none()
        && validator.system_file.as_deref() == Some(Path::new(SYSTEM_FILE));
    if validator.uid != 0 || !system_alone {
        return false;
    }
    let mut args = in_namespace();
    args.extend(
        [
            "sh",
            "-c",
            "[ -d /etc/ssh ] && mount --bind /etc/ssh /etc/ssh",
        ]
        .map(OsString::from),
    );
    let tried = validator.run(Path::new("unshare"), &args);
    tried.is_ok_and(|output| output.succeeded())
}
