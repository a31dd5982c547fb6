//! A private `sshd`: temporary keys, a configuration of its own, no port, no PAM, and nobody's files.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::account::Footing;
use super::connection::{around, option};
use super::folder::Folder;
use super::{TransferFailure, TransferRequest};
use crate::host::{CommandRequest, Commands, ProcessRequest, SystemCommands};

/// The key in the client's hands.
pub(super) const IDENTITY: &str = "id";
/// The same key in the server's.
const HOST_KEY: &str = "host";
const AUTHORIZED: &str = "authorized";
const CONFIGURATION: &str = "sshd_config";
/// What it says about itself.
pub(super) const LOG: &str = "sshd.log";

/// What a client may ask it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offers {
    /// To pass a Unix socket on, and nothing else.
    Forwarding,
    /// One command, which a shell runs in an empty home.
    Session,
}

/// A server that can be started again and again.
pub(super) struct PrivateServer {
    sshd: PathBuf,
    folder: Folder,
    footing: Footing,
}

impl PrivateServer {
    /// Makes keys and configuration.
    pub(super) fn new(
        sshd: PathBuf,
        keygen: &Path,
        offers: Offers,
    ) -> Result<Self, TransferFailure> {
        let folder = Folder::new()?;
        let public = make_key(keygen, &folder.file(IDENTITY))?;
        let server = Self {
            sshd,
            folder,
            footing: Footing::AsIs,
        };
        server.furnish(&public, offers).map_err(unwritable)?;
        Ok(server)
    }

    fn furnish(&self, public: &[u8], offers: Offers) -> io::Result<()> {
        // The two keys are one: making them is what takes the time, and they live for seconds.
        let private = std::fs::read(self.folder.file(IDENTITY))?;
        self.folder.write(HOST_KEY, &private)?;
        self.folder.write(AUTHORIZED, public)?;
        let configuration = configuration(&self.folder, offers)?;
        self.folder.write(CONFIGURATION, configuration.as_bytes())?;
        Ok(())
    }

    /// Lets another key in, in place of the one it made.
    pub(super) fn authorize(&self, public: &[u8]) -> Result<(), TransferFailure> {
        let written = self.folder.write(AUTHORIZED, public);
        written.map(drop).map_err(unwritable)
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(super) fn footing(&self) -> &Footing {
        &self.footing
    }

    /// From now on runs that way.
    pub(super) fn stand_on(&mut self, footing: Footing) -> Result<(), TransferFailure> {
        self.admit(&footing).map_err(unwritable)?;
        self.footing = footing;
        Ok(())
    }

    fn admit(&mut self, footing: &Footing) -> io::Result<()> {
        if let Footing::SshdAccount(account) = footing {
            self.folder.admit(account.group)?;
            for file in [HOST_KEY, AUTHORIZED, CONFIGURATION] {
                self.folder.share(file, 0o640)?;
            }
        }
        Ok(())
    }

    /// The server at the other end of this socket, with one cipher and one MAC.
    pub(super) fn request(
        &self,
        request: &TransferRequest,
        socket: UnixStream,
    ) -> io::Result<ProcessRequest> {
        around(self.unconnected(request)?, socket)
    }

    /// The same with neither input nor output yet.
    pub(super) fn unconnected(&self, request: &TransferRequest) -> io::Result<ProcessRequest> {
        Ok(self
            .footing
            .request(&self.sshd)
            .args(["-i", "-e", "-f"])
            .args([self.folder.file(CONFIGURATION)])
            .args(algorithms(request))
            .stderr(self.folder.create(LOG)?))
    }
}

/// The one cipher and MAC of a request, as options of `sshd`; the default of either where it names none.
fn algorithms(request: &TransferRequest) -> Vec<OsString> {
    let cipher = (!request.cipher.is_empty()).then(|| format!("Ciphers={}", request.cipher));
    let mac = request.mac.as_ref().map(|mac| format!("MACs={mac}"));
    cipher.into_iter().chain(mac).flat_map(option).collect()
}

/// Nothing of a user's is run or read: without a session there is no shell, no start-up file, no `~/.ssh/rc`; a
/// session's shell looks for them where nothing is.
fn configuration(folder: &Folder, offers: Offers) -> io::Result<String> {
    let file = |name| folder.file(name).display().to_string();
    let offered = match offers {
        Offers::Forwarding => "MaxSessions 0\n".to_owned(),
        Offers::Session => {
            let home = folder.home()?;
            // dbclient asks for compression wherever it is offered, and cannot be told not to.
            format!(
                "AllowTcpForwarding no\nCompression no\nMaxSessions 1\nSetEnv HOME={}\n",
                home.display()
            )
        }
    };
    Ok(format!(
        "HostKey {}\n\
         AuthorizedKeysFile {}\n\
         AuthenticationMethods publickey\n\
         {offered}\
         PermitRootLogin yes\n\
         PermitUserRC no\n\
         StrictModes no\n\
         UseDNS no\n\
         UsePAM no\n\
         X11Forwarding no\n\
         LogLevel INFO\n",
        file(HOST_KEY),
        file(AUTHORIZED),
    ))
}

/// Makes a key of the first kind that this system allows, and gives its public half.
fn make_key(keygen: &Path, path: &Path) -> Result<Vec<u8>, TransferFailure> {
    let mut said = String::new();
    for kind in ["ed25519", "ecdsa", "rsa"] {
        let request = CommandRequest::new(keygen)
            .args(["-q", "-t", kind, "-N", "", "-C", "advisor", "-f"])
            .arg(path);
        said = match SystemCommands.run(&request) {
            Ok(output) if output.succeeded() => {
                return std::fs::read(path.with_extension("pub")).map_err(unwritable);
            }
            Ok(output) => output.stdout_text() + &output.stderr_text(),
            Err(failure) => failure.to_string(),
        };
    }
    Err(TransferFailure::Impossible {
        why: format!("{} makes no key: {}", keygen.display(), said.trim()),
        cure: "install openssh-client whole".to_owned(),
    })
}

pub(super) fn unwritable(error: io::Error) -> TransferFailure {
    TransferFailure::Impossible {
        why: format!("the temporary folder for keys cannot be used: {error}"),
        cure: "set TMPDIR to a folder that is writable and not full".to_owned(),
    }
}
