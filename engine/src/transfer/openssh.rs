//! `ssh` to a private `sshd`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::account::{Footing, cure, impossible};
use super::connection::{Connection, Ends, option};
use super::fdpass::proxy_command;
use super::private_server::{IDENTITY, LOG, Offers, PrivateServer};
use super::said::explain;
use super::watch::Trouble;
use super::{
    Carrier, CpuTime, FdPassHelper, Implementation, Run, TransferFailure, TransferRequest, Way,
    payload,
};
use crate::host::{CommandRequest, Commands, Ended, ProcessRequest, SystemCommands};
use crate::installed::releases::Release;
use crate::installed::{Installed, InstalledProgram};

/// Forwards Unix sockets; passing a descriptor is older.
const OLDEST: Release = Release::new(6, 7);
/// What `ssh` says about itself.
const CLIENT_LOG: &str = "ssh.log";
/// The quickest key exchanges first: they differ by more than what a short transfer takes. Both ends have one.
const KEY_EXCHANGES: [&str; 4] = [
    "curve25519-sha256",
    "curve25519-sha256@libssh.org",
    "ecdh-sha2-nistp256",
    "diffie-hellman-group14-sha256",
];

/// The carrier of OpenSSH on both ends.
pub(super) struct OpenSsh {
    ssh: PathBuf,
    key_exchanges: Vec<&'static str>,
    server: PrivateServer,
    helper: FdPassHelper,
    cancel: Arc<AtomicBool>,
    /// Runs so far, for names of sockets that a straggler of an earlier one does not know.
    runs: u32,
}

impl OpenSsh {
    pub(super) fn new(
        installed: &Installed,
        helper: FdPassHelper,
        cancel: Arc<AtomicBool>,
    ) -> Result<Self, TransferFailure> {
        let ssh = usable(installed, installed.client.as_ref(), "ssh")?;
        let sshd = usable(installed, installed.server.as_ref(), "sshd")?;
        let keygen = beside(&ssh, "ssh-keygen");
        let mut carrier = Self {
            key_exchanges: key_exchanges(&ssh),
            server: PrivateServer::new(sshd, &keygen, Offers::Forwarding)?,
            ssh,
            helper,
            cancel,
            runs: 0,
        };
        carrier.settle()?;
        Ok(carrier)
    }

    /// Finds the way `sshd` runs here.
    fn settle(&mut self) -> Result<(), TransferFailure> {
        let mut tried: Vec<(Footing, String)> = Vec::new();
        loop {
            let trouble = match self.carry(&TransferRequest::handshake()) {
                Ok(_) => return Ok(()),
                Err(Trouble::Cancelled) => return Err(TransferFailure::Cancelled),
                Err(trouble) => trouble,
            };
            let footing = self.server.footing().clone();
            tried.push((footing, self.explain(&trouble)));
            let words: Vec<&str> = tried.iter().map(|(_, words)| words.as_str()).collect();
            let next = self
                .server
                .footing()
                .next(&words.join("\n"), self.server.folder());
            match next {
                Some(footing) => self.server.stand_on(footing)?,
                None => return Err(impossible(&tried)),
            }
        }
    }

    fn carry(&mut self, request: &TransferRequest) -> Result<Run, Trouble> {
        self.runs = self.runs.wrapping_add(1);
        let folder = self.server.folder();
        let socket = |end: &str| format!("{end}-{}", self.runs);
        // What the last run said is not this one's.
        folder.create(LOG)?;
        let transport = folder.listen(&socket("ssh"))?;
        let far = folder.listen(&socket("server"))?;
        let near = folder.file(&socket("client"));
        let connection = Connection::open(
            Ends {
                client: self.client(request, &transport.path, &near, &far.path)?,
                transport: &transport.listener,
                near: &near,
                server: &|socket| self.server.request(request, socket),
                far: &far.listener,
            },
            &self.cancel,
        )?;
        let (from, to) = match request.way {
            Way::Up => (&connection.near, &connection.far),
            Way::Down => (&connection.far, &connection.near),
        };
        let sent = payload::send(from, to, request, &self.cancel)?;
        let (client, server) = connection.close(&self.cancel)?;
        Ok(Run {
            bytes: sent.bytes,
            seconds: sent.time.as_secs_f64(),
            client: client.into(),
            server: Some(server.into()),
        })
    }

    /// The client, which reads no configuration, knows no agent and no host, and opens no session.
    fn client(
        &self,
        request: &TransferRequest,
        transport: &Path,
        near: &Path,
        far: &Path,
    ) -> Result<ProcessRequest, Trouble> {
        let folder = self.server.folder();
        let mut proxy = OsString::from("ProxyCommand=");
        proxy.push(proxy_command(&self.helper, transport));
        let mut forward = near.as_os_str().to_owned();
        forward.push(":");
        forward.push(far);
        let login = self.server.footing().login();
        Ok(ProcessRequest::new(&self.ssh)
            .args(["-F", "/dev/null", "-N", "-T"])
            .args(SETTINGS.iter().flat_map(|&setting| option(setting)))
            .args(option(proxy))
            .args(
                (!self.key_exchanges.is_empty())
                    .then(|| format!("-oKexAlgorithms={}", self.key_exchanges.join(","))),
            )
            .args(algorithms(request))
            .args(["-i".into(), folder.file(IDENTITY)])
            .args(["-L".into(), forward])
            .args(login.map(|name| format!("-l{name}")))
            .args(["--", "private"])
            // What ssh runs its ProxyCommand with.
            .env("SHELL", "/bin/sh")
            .without_env("SSH_AUTH_SOCK")
            .stderr(folder.create(CLIENT_LOG)?))
    }

    /// What went wrong, in the programs' own words where they have any.
    fn explain(&self, trouble: &Trouble) -> String {
        let logs = [("ssh", CLIENT_LOG), ("sshd", LOG)];
        explain(trouble, self.server.folder(), &logs)
    }
}

impl Carrier for OpenSsh {
    fn implementation(&self) -> Implementation {
        Implementation::OpenSsh
    }

    fn run(&mut self, request: &TransferRequest) -> Result<Run, TransferFailure> {
        self.carry(request).map_err(|trouble| match trouble {
            Trouble::Cancelled => TransferFailure::Cancelled,
            trouble => TransferFailure::Refused(self.explain(&trouble)),
        })
    }
}

impl From<Ended> for CpuTime {
    fn from(ended: Ended) -> Self {
        Self {
            user: ended.user.as_secs_f64(),
            system: ended.system.as_secs_f64(),
        }
    }
}

const SETTINGS: [&str; 10] = [
    "BatchMode=yes",
    "Compression=no",
    "ExitOnForwardFailure=yes",
    "GlobalKnownHostsFile=/dev/null",
    "IdentitiesOnly=yes",
    // At this level ssh says why it cannot negotiate.
    "LogLevel=INFO",
    "PreferredAuthentications=publickey",
    "ProxyUseFdpass=yes",
    "StrictHostKeyChecking=no",
    "UserKnownHostsFile=/dev/null",
];

/// The one cipher and MAC of a request; the default of either where it names none.
pub(super) fn algorithms(request: &TransferRequest) -> Vec<OsString> {
    let cipher = (!request.cipher.is_empty()).then_some(("-c", &request.cipher));
    let mac = request.mac.as_ref().map(|mac| ("-m", mac));
    let both = cipher.into_iter().chain(mac);
    both.flat_map(|(option, name)| [option.into(), name.into()])
        .collect()
}

/// The path of a program that is there and new enough.
pub(super) fn usable(
    installed: &Installed,
    program: Option<&InstalledProgram>,
    name: &str,
) -> Result<PathBuf, TransferFailure> {
    let impossible = |why, cure| Err(TransferFailure::Impossible { why, cure });
    match program {
        None if installed.problems.is_empty() => {
            let (why, cure) = (
                format!("no {name} was found"),
                "install OpenSSH's client and server",
            );
            impossible(why, cure.to_owned())
        }
        None => {
            let why = installed.problems.join("; ");
            let cure = cure(&why);
            impossible(why, cure)
        }
        Some(found) if found.release < OLDEST => impossible(
            format!("{} forwards no Unix sockets", found.release),
            format!("install {OLDEST} or later"),
        ),
        // sshd refuses to be called by a relative path.
        Some(found) => std::path::absolute(&found.program.path).or_else(|error| {
            let why = format!("{}: {error}", found.program.path);
            impossible(why, "give its full path".to_owned())
        }),
    }
}

/// The program of that name in the same folder, else the one in `PATH`.
pub(super) fn beside(program: &Path, name: &str) -> PathBuf {
    let neighbour = program.with_file_name(name);
    if neighbour.is_file() {
        neighbour
    } else {
        name.into()
    }
}

/// Those this client knows; none where it cannot be asked, and then it uses its default.
fn key_exchanges(ssh: &Path) -> Vec<&'static str> {
    let output = SystemCommands.run(&CommandRequest::new(ssh).args(["-Q", "kex"]));
    let known = output
        .map(|output| output.stdout_text())
        .unwrap_or_default();
    let is_known = |name: &&str| known.lines().any(|line| line.trim() == *name);
    KEY_EXCHANGES.into_iter().filter(is_known).collect()
}
