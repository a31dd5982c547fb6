//! `dbclient` to a private `dropbear` or a private `sshd`.
#![forbid(unsafe_code)]

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::account::{Footing, cure};
use super::fdpass::command_line;
use super::folder::{Folder, Meeting};
use super::openssh::{algorithms, beside, usable};
use super::private_dropbear::{self, KEY, LOGIN, PrivateDropbear, make_key};
use super::private_server::{self, Offers, PrivateServer};
use super::said::explain;
use super::session::{Ends, Session, Transport};
use super::watch::Trouble;
use super::{
    Carrier, FdPassHelper, HAND_OVER, Implementation, Run, TransferFailure, TransferRequest,
};
use crate::host::ProcessRequest;
use crate::installed::Installed;
use crate::installed::releases::Release;

/// What `dbclient` says about itself.
const CLIENT_LOG: &str = "dbclient.log";
/// `sshd` can give a session a home of its own (`SetEnv`).
const OLDEST_SSHD: Release = Release::new(7, 8);

/// The carrier of Dropbear's client.
pub(super) struct Dropbear {
    dbclient: PathBuf,
    server: Server,
    helper: FdPassHelper,
    cancel: Arc<AtomicBool>,
    /// Runs so far, for names of sockets that a straggler of an earlier one does not know.
    runs: u32,
}

/// The other end.
enum Server {
    Dropbear(PrivateDropbear),
    OpenSsh(PrivateServer),
}

impl Dropbear {
    pub(super) fn new(
        installed: &Installed,
        helper: FdPassHelper,
        cancel: Arc<AtomicBool>,
    ) -> Result<Self, TransferFailure> {
        let dbclient = dbclient(installed)?;
        let dropbear = installed.dropbear_server.clone();
        let dropbear = dropbear.ok_or_else(|| absent("dropbear"))?;
        let server = PrivateDropbear::new(dropbear, &beside(&dbclient, "dropbearkey"))?;
        Self::settled(dbclient, Server::Dropbear(server), helper, cancel)
    }

    pub(super) fn to_openssh(
        installed: &Installed,
        helper: FdPassHelper,
        cancel: Arc<AtomicBool>,
    ) -> Result<Self, TransferFailure> {
        let dbclient = dbclient(installed)?;
        let found = installed.server.as_ref();
        let sshd = usable(installed, found, "sshd")?;
        if let Some(old) = found.filter(|it| it.release < OLDEST_SSHD) {
            return Err(TransferFailure::Impossible {
                why: format!(
                    "{} cannot keep a session out of its user's home",
                    old.release
                ),
                cure: format!("install {OLDEST_SSHD} or later"),
            });
        }
        let keygen = beside(&sshd, "ssh-keygen");
        let server = PrivateServer::new(sshd, &keygen, Offers::Session)?;
        let key = server.folder().file(KEY);
        server.authorize(&make_key(&beside(&dbclient, "dropbearkey"), &key)?)?;
        Self::settled(dbclient, Server::OpenSsh(server), helper, cancel)
    }

    /// Tries it out.
    fn settled(
        dbclient: PathBuf,
        server: Server,
        helper: FdPassHelper,
        cancel: Arc<AtomicBool>,
    ) -> Result<Self, TransferFailure> {
        let mut carrier = Self {
            dbclient,
            server,
            helper,
            cancel,
            runs: 0,
        };
        let mut said: Vec<String> = Vec::new();
        loop {
            match carrier.carry(&TransferRequest::handshake()) {
                Ok(_) => return Ok(carrier),
                Err(Trouble::Cancelled) => return Err(TransferFailure::Cancelled),
                Err(trouble) => said.push(carrier.explain(&trouble)),
            }
            if !carrier.server.tries_another_way(&said.join("\n"))? {
                return Err(carrier.server.impossible(&said.join(". ")));
            }
        }
    }

    fn carry(&mut self, request: &TransferRequest) -> Result<Run, Trouble> {
        self.runs = self.runs.wrapping_add(1);
        let far = self.listen("far")?;
        let work = command_line(&self.helper, HAND_OVER, &far.path);
        let client = self.client(request)?;
        let cancel = &self.cancel;
        let session = match &self.server {
            Server::Dropbear(server) => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                listener.set_nonblocking(true)?;
                let port = listener.local_addr()?.port().to_string();
                let ends = Ends {
                    client: client
                        .args(["-p", &port, "-l", LOGIN, "127.0.0.1"])
                        .args([work]),
                    transport: Transport::Port(listener),
                    server_name: "dropbear",
                    server: server.unconnected()?,
                    far: &far.listener,
                };
                Session::open(ends, cancel)?
            }
            Server::OpenSsh(server) => {
                let near = self.listen("near")?;
                let proxy = command_line(&self.helper, HAND_OVER, &near.path);
                let ends = Ends {
                    client: client.args(["-J".into(), proxy, "private".into(), work]),
                    transport: Transport::Helper(&near.listener),
                    server_name: "sshd",
                    server: server.unconnected(request)?,
                    far: &far.listener,
                };
                Session::open(ends, cancel)?
            }
        };
        let (sent, client, server) = session.carry(request, cancel)?;
        Ok(Run {
            bytes: sent.bytes,
            seconds: sent.time.as_secs_f64(),
            client: client.into(),
            server: Some(server.into()),
        })
    }

    fn listen(&self, end: &str) -> io::Result<Meeting> {
        self.server.folder().listen(&format!("{end}-{}", self.runs))
    }

    /// The client, which reads nothing of its user's and asks for nothing; where to and what for are still to come.
    fn client(&self, request: &TransferRequest) -> io::Result<ProcessRequest> {
        let folder = self.server.folder();
        Ok(ProcessRequest::new(&self.dbclient)
            // Twice: any host key will do, and none is written down.
            .args(["-y", "-y", "-q", "-T"])
            .args(["-i".into(), folder.file(KEY)])
            .args(algorithms(request))
            .env("HOME", folder.home()?)
            .without_env("SSH_AUTH_SOCK")
            .stderr(folder.create(CLIENT_LOG)?))
    }

    /// What went wrong, in the programs' own words where they have any.
    fn explain(&self, trouble: &Trouble) -> String {
        let logs = [("dbclient", CLIENT_LOG), self.server.log()];
        explain(trouble, self.server.folder(), &logs)
    }
}

impl Server {
    fn folder(&self) -> &Folder {
        match self {
            Self::Dropbear(server) => server.folder(),
            Self::OpenSsh(server) => server.folder(),
        }
    }

    /// Its name and its log.
    fn log(&self) -> (&'static str, &'static str) {
        match self {
            Self::Dropbear(_) => ("dropbear", private_dropbear::LOG),
            Self::OpenSsh(_) => ("sshd", private_server::LOG),
        }
    }

    /// Whether there was another way than the one that failed with these words, which it is from now on.
    fn tries_another_way(&mut self, words: &str) -> Result<bool, TransferFailure> {
        let Self::OpenSsh(server) = self else {
            return Ok(false);
        };
        match server.footing().next(words, server.folder()) {
            // The account sshd has no shell, and a session wants one.
            None | Some(Footing::SshdAccount(_)) => Ok(false),
            Some(footing) => server.stand_on(footing).map(|()| true),
        }
    }

    fn impossible(&self, said: &str) -> TransferFailure {
        let (name, _) = self.log();
        TransferFailure::Impossible {
            why: format!("dbclient cannot reach a private {name} here. {said}"),
            cure: match self {
                Self::Dropbear(_) => cure_of_dropbear(said).to_owned(),
                Self::OpenSsh(_) => cure(said),
            },
        }
    }
}

impl Carrier for Dropbear {
    fn implementation(&self) -> Implementation {
        match self.server {
            Server::Dropbear(_) => Implementation::Dropbear,
            Server::OpenSsh(_) => Implementation::DropbearToOpenSsh,
        }
    }

    fn run(&mut self, request: &TransferRequest) -> Result<Run, TransferFailure> {
        self.carry(request).map_err(|trouble| match trouble {
            Trouble::Cancelled => TransferFailure::Cancelled,
            trouble => TransferFailure::Refused(self.explain(&trouble)),
        })
    }
}

/// What helps against what was said.
fn cure_of_dropbear(said: &str) -> &'static str {
    if ["unshare", "mount:"].iter().any(|it| said.contains(it)) {
        "allow private mounts: as root the capability CAP_SYS_ADMIN, as a user user namespaces (user.max_user_namespaces, kernel.unprivileged_userns_clone); dbclient to sshd needs none"
    } else {
        "ask `dbclient -V` and `dropbear -V` whether they run at all; what dropbear says is in the system's log"
    }
}

fn dbclient(installed: &Installed) -> Result<PathBuf, TransferFailure> {
    let client = installed.dbclient().map(Path::to_owned);
    client.ok_or_else(|| absent("dbclient"))
}

fn absent(name: &str) -> TransferFailure {
    TransferFailure::Impossible {
        why: format!("no {name} was found"),
        cure: "install Dropbear's client and server; Debian calls both dropbear-bin".to_owned(),
    }
}
