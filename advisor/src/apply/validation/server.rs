//! Asking `sshd -G`, or `sshd -t` and `sshd -T`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use engine::host::CommandOutput;
use engine::installed::releases::Ability;

use super::candidate::Candidate;
use super::client::in_namespace;
use super::copy::Copy;
use super::refusal::told;
use super::rewriting::{Part, Style};
use super::{Program, Validator, Verdict, cannot, ciphers, compare};
use crate::syntax::Dialect;

/// User and group "nobody" of Linux and the BSDs: it need not exist by name.
const NOBODY: u32 = 65534;

/// Makes the directory sshd looks for, where nobody else sees it.
const WITH_RUN: &str =
    "mount -t tmpfs -o mode=755 tmpfs /run && mkdir -m 755 /run/sshd || exit 125; exec \"$@\"";

/// Whether `sshd` accepts the candidate and uses the order.
pub(super) fn ask(
    validator: &Validator<'_>,
    candidate: &Candidate<'_>,
    order: &[String],
) -> Result<(), Verdict> {
    let sshd = validator.sshd.as_ref();
    let sshd = sshd.ok_or_else(|| cannot("there is no sshd", "install openssh-server"))?;
    let mut copy = Copy::new(Style {
        dialect: Dialect {
            strips_bom: validator.layout.strips_bom(),
            ..Dialect::server(sshd.release)
        },
        layout: &validator.layout,
        home: &validator.home,
        exec: false,
        real_names: false,
        uid: validator.uid,
        host_key: false,
        reader: (validator.uid == 0).then_some(NOBODY),
    })?;
    let key = make_key(validator, &mut copy)?;
    copy.add(candidate, Part::Server, &validator.server_file)?;
    let asking = Asking {
        validator,
        sshd,
        file: copy.of(Part::Server, &validator.server_file),
        key,
        copy: &copy,
    };
    let output = if sshd.release.can(Ability::PrintServerConfiguration) {
        asking.question("-G")?
    } else {
        asking.question("-t")?;
        asking.question("-T")?
    };
    compare("sshd", &ciphers(&output), order)
}

struct Asking<'a> {
    validator: &'a Validator<'a>,
    sshd: &'a Program,
    file: PathBuf,
    key: Option<PathBuf>,
    copy: &'a Copy<'a>,
}

/// How sshd is run. As root it wants `/run/sshd`; as anybody else it does not even look.
#[derive(Clone, Copy)]
enum Manner {
    Directly,
    AsNobody,
    InNamespace,
}

impl Asking<'_> {
    fn question(&self, flag: &str) -> Result<CommandOutput, Verdict> {
        let mut obstacle = String::new();
        for manner in [Manner::Directly, Manner::AsNobody, Manner::InNamespace] {
            let Ok(output) = self.run(manner, flag, &[]) else {
                // setpriv or unshare is not installed.
                continue;
            };
            let message = self.copy.real_names(&output.stderr_text());
            if output.succeeded() {
                return Ok(output);
            }
            if needs_connection(&message) {
                return self.about_a_connection(manner, flag);
            }
            match obstacle_in(&message) {
                Some(found) if self.validator.uid == 0 => found.clone_into(&mut obstacle),
                Some(found) => return Err(unanswered(found)),
                None if was_started(manner, &output) => {
                    return Err(Verdict::Refused(told("sshd", &message)));
                }
                None => {}
            }
        }
        if obstacle.is_empty() {
            "it could not be started".clone_into(&mut obstacle);
        }
        Err(unanswered(&obstacle))
    }

    /// Releases 7.7 to 7.9 print a configuration with Match blocks for a certain connection only.
    fn about_a_connection(&self, manner: Manner, flag: &str) -> Result<CommandOutput, Verdict> {
        let connection = ["-C", "user=root,host=localhost,addr=127.0.0.1"];
        let output = self.run(manner, flag, &connection)?;
        if output.succeeded() {
            return Ok(output);
        }
        let message = self.copy.real_names(&output.stderr_text());
        Err(Verdict::Refused(told("sshd", &message)))
    }

    fn run(&self, manner: Manner, flag: &str, more: &[&str]) -> Result<CommandOutput, Verdict> {
        let mut args: Vec<OsString> = vec![flag.into(), "-f".into(), self.file.clone().into()];
        args.extend(more.iter().map(OsString::from));
        if let Some(key) = &self.key {
            args.extend(["-h".into(), key.clone().into_os_string()]);
        }
        let program = self.sshd.path.clone();
        let (wrapper, mut before): (&str, Vec<OsString>) = match manner {
            Manner::Directly => return self.validator.run(&program, &args),
            Manner::AsNobody => {
                let (uid, gid) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
                let flags = [uid.as_str(), &gid, "--clear-groups", "--no-new-privs"];
                ("setpriv", flags.map(OsString::from).to_vec())
            }
            Manner::InNamespace => {
                let mut before = in_namespace();
                before.extend(["sh", "-c", WITH_RUN, "sh"].map(OsString::from));
                ("unshare", before)
            }
        };
        before.push(program.into_os_string());
        before.extend(args);
        self.validator.run(Path::new(wrapper), &before)
    }
}

/// A host key for the question, so that the real ones need not be there or readable. `None` where none can be
/// made: then the configured ones have to do.
fn make_key(validator: &Validator<'_>, copy: &mut Copy<'_>) -> Result<Option<PathBuf>, Verdict> {
    let key = copy.path().join("key");
    let beside = validator.ssh.as_ref().and_then(|ssh| ssh.path.parent());
    let beside = beside.map(|directory| directory.join("ssh-keygen"));
    for program in beside.into_iter().chain([PathBuf::from("ssh-keygen")]) {
        let mut args = ["-q", "-t", "ecdsa", "-N", "", "-f"]
            .map(OsString::from)
            .to_vec();
        args.push(key.clone().into_os_string());
        if validator
            .run(&program, &args)
            .is_ok_and(|output| output.succeeded())
        {
            copy.use_key()?;
            return Ok(Some(key));
        }
    }
    Ok(None)
}

fn unanswered(obstacle: &str) -> Verdict {
    cannot(
        format!("sshd does not get as far as the configuration: {obstacle}"),
        "start ssh once, make /run/sshd with `install -d -m 755 /run/sshd`, or install setpriv or unshare",
    )
}

fn needs_connection(message: &str) -> bool {
    message.contains("in connection test specification")
}

/// What stands between sshd and an answer about the configuration.
fn obstacle_in(message: &str) -> Option<&str> {
    let known = [
        "Missing privilege separation directory",
        "must be owned by root and not group or world-writable",
        "Privilege separation user",
        "no hostkeys available",
    ];
    let mut parts = message.split("; ");
    parts.find(|part| known.iter().any(|known| part.contains(known)))
}

/// Whether it was sshd that failed, and not the program that was to start it.
fn was_started(manner: Manner, output: &CommandOutput) -> bool {
    let error = output.stderr_text();
    match manner {
        Manner::Directly => true,
        Manner::AsNobody => !error.starts_with("setpriv:"),
        Manner::InNamespace => output.code != Some(125) && !error.starts_with("unshare:"),
    }
}
