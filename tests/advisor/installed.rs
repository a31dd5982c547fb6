//! The installed programs as judges of a candidate, and as witnesses asked in another way.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use advisor::apply::{self, ApplyError, ApplyRequest, Program, Validator, Verdict};
use advisor::layout::Layout;
use advisor::plan::Plan;
use advisor::resolver::{ClientRequest, ServerRequest, Side, resolve_client, resolve_server};
use engine::host::{CommandFailure, CommandOutput, CommandRequest, Commands, SystemCommands};
use engine::installed::releases::Release;

use crate::host::{CLIENT, Host, SERVER};
use crate::support::program;

pub(crate) const ORDER: &str = "aes256-gcm@openssh.com,aes128-ctr,chacha20-poly1305@openssh.com";

pub(crate) const CLIENT_DROP_IN: &str = "/etc/ssh/ssh_config.d/00-cipher-advisor.conf";

pub(crate) const SERVER_DROP_IN: &str = "/etc/ssh/sshd_config.d/00-cipher-advisor.conf";

/// The installed programs.
pub(crate) struct Installed {
    pub(crate) ssh: Program,
    pub(crate) sshd: Program,
}

impl Installed {
    pub(crate) fn find() -> Option<Self> {
        let ssh = program("ssh", "openssh-client")?;
        let sshd = program("sshd", "openssh-server")?;
        let release = release(&ssh);
        Some(Self {
            ssh: Program { path: ssh, release },
            sshd: Program {
                path: sshd,
                release,
            },
        })
    }

    pub(crate) fn validator<'a>(
        &self,
        host: &'a Host,
        commands: &'a dyn Commands,
    ) -> Validator<'a> {
        Validator {
            files: &host.files,
            commands,
            ssh: Some(self.ssh.clone()),
            sshd: Some(self.sshd.clone()),
            user_file: None,
            system_file: Some(CLIENT.into()),
            server_file: SERVER.into(),
            layout: Layout::unix(),
            home: "/home/me".into(),
            uid: uid(),
        }
    }
}

pub(crate) fn release(ssh: &Path) -> Release {
    let told = Command::new(ssh).arg("-V").output().unwrap();
    String::from_utf8(told.stderr).unwrap().parse().unwrap()
}

pub(crate) fn uid() -> u32 {
    fs::metadata("/proc/self").unwrap().uid()
}

pub(crate) fn line(order: &str) -> String {
    format!("Ciphers {order}\n")
}

pub(crate) fn both(host: &Host) -> [Plan; 2] {
    [
        host.plan(Side::Client, ORDER, &[(CLIENT_DROP_IN, &line(ORDER))]),
        host.plan(Side::Server, ORDER, &[(SERVER_DROP_IN, &line(ORDER))]),
    ]
}

pub(crate) fn one(host: &Host, side: Side, path: &str, text: &str) -> Plan {
    host.plan(side, ORDER, &[(path, text)])
}

/// What the programs themselves make of a tree, asked in another way than the advisor's: on a copy in which
/// every `/etc/ssh/` is the copy's.
pub(crate) fn oracle(installed: &Installed, configuration: &Path, side: Side) -> Vec<String> {
    let place = tempfile::tempdir_in("/tmp").unwrap();
    let copied = place.path().join("etc/ssh");
    fs::create_dir_all(&copied).unwrap();
    let status = Command::new("cp")
        .arg("-rL")
        .arg(configuration.join("."))
        .arg(&copied)
        .status()
        .unwrap();
    assert!(status.success());
    let redirect = format!(
        "grep -rl . {0} | xargs sed -i 's#/etc/ssh/#{0}/#g'",
        copied.display()
    );
    assert!(
        Command::new("sh")
            .arg("-c")
            .arg(redirect)
            .status()
            .unwrap()
            .success()
    );
    let output = match side {
        Side::Client => Command::new(&installed.ssh.path)
            .arg("-F")
            .arg(copied.join("ssh_config"))
            .args(["-G", "some.host"])
            .output()
            .unwrap(),
        Side::Server => sshd(installed, place.path(), &copied.join("sshd_config")),
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| {
        line.to_ascii_lowercase()
            .strip_prefix("ciphers ")
            .map(str::to_owned)
    });
    line.unwrap().split(',').map(str::to_owned).collect()
}

pub(crate) fn sshd(installed: &Installed, place: &Path, file: &Path) -> Output {
    let key = place.join("key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ecdsa", "-N", "", "-f"])
        .arg(&key)
        .status()
        .unwrap();
    assert!(made.success());
    let mut command = Command::new("sh");
    command.arg("-c");
    if uid() == 0 {
        assert!(
            Command::new("chown")
                .arg("-R")
                .arg("65534:65534")
                .arg(place)
                .status()
                .unwrap()
                .success()
        );
        command.arg("exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" \"$@\"");
    } else {
        command.arg("exec \"$0\" \"$@\"");
    }
    command
        .arg(&installed.sshd.path)
        .arg("-T")
        .arg("-f")
        .arg(file)
        .arg("-h")
        .arg(&key);
    command.output().unwrap()
}

pub(crate) fn refused(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Refused(message) => message,
        other => panic!("not refused: {other:?}"),
    }
}

/// Does what a request is for, with the real programs as judges.
pub(crate) fn apply_with(
    installed: &Installed,
    host: &Host,
    plans: &[Plan],
) -> Result<apply::Applied, ApplyError> {
    let validator = installed.validator(host, &SystemCommands);
    let verify = || {
        for plan in plans {
            let found = resolved(installed, host, plan.side);
            if found != plan.order {
                return Err(format!("the {} resolves to {}", plan.side, found.join(",")));
            }
        }
        Ok(())
    };
    let request = ApplyRequest {
        validate: &|| validator.require(plans),
        verify: &verify,
        ..host.request(&host.files)
    };
    apply::apply(plans, &request)
}

/// The list by our own rules.
pub(crate) fn resolved(installed: &Installed, host: &Host, side: Side) -> Vec<String> {
    let release = installed.ssh.release;
    let request = ClientRequest {
        uid: uid(),
        ..ClientRequest::new(release)
    };
    let effective = match side {
        Side::Client => resolve_client(&host.files, &request),
        Side::Server => resolve_server(&host.files, &ServerRequest::new(release)),
    };
    effective.ciphers
}

/// A machine without setpriv and unshare.
#[derive(Default)]
pub(crate) struct WithoutHelpers {
    pub(crate) asked: Mutex<Vec<PathBuf>>,
}

impl Commands for WithoutHelpers {
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
        self.asked.lock().unwrap().push(request.program.clone());
        if ["setpriv", "unshare"]
            .iter()
            .any(|helper| request.program == Path::new(helper))
        {
            return Err(CommandFailure::NotStarted {
                program: request.program.display().to_string(),
                cause: std::io::ErrorKind::NotFound.into(),
            });
        }
        SystemCommands.run(request)
    }
}
