//! A private `dropbear`: a temporary key, no configuration, one connection, and nobody's files.
//!
//! `dropbear` looks for authorized keys in the home of the account alone. In a mount namespace of its own it finds
//! a table of accounts with a single one: whoever runs this program, under another name, with an empty home and a
//! plain shell. So nothing of a user's is in its reach, and an account without a shell transfers like any other.
#![forbid(unsafe_code)]

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::process::{getgid, getuid};

use super::TransferFailure;
use super::folder::Folder;
use super::private_server::unwritable;
use crate::host::{CommandRequest, Commands, ProcessRequest, SystemCommands};

/// The key of both ends, as Dropbear writes it.
pub(super) const KEY: &str = "key";
/// What it says about itself; most of it goes to the system's log.
pub(super) const LOG: &str = "dropbear.log";
/// Who logs in.
pub(super) const LOGIN: &str = "advisor";
const ACCOUNTS: &str = "passwd";

/// A server that can be started again and again.
pub(super) struct PrivateDropbear {
    dropbear: PathBuf,
    folder: Folder,
}

impl PrivateDropbear {
    /// Makes the key and the account.
    pub(super) fn new(dropbear: PathBuf, dropbearkey: &Path) -> Result<Self, TransferFailure> {
        let folder = Folder::new()?;
        let public = make_key(dropbearkey, &folder.file(KEY))?;
        furnish(&folder, &public).map_err(unwritable)?;
        Ok(Self { dropbear, folder })
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The server, with neither input nor output yet. It cannot be told which cipher to use.
    pub(super) fn unconnected(&self) -> io::Result<ProcessRequest> {
        let namespaces: &[&str] = if getuid().is_root() {
            &["--mount"]
        } else {
            &["--user", "--map-current-user", "--keep-caps", "--mount"]
        };
        Ok(ProcessRequest::new(Path::new("unshare"))
            .args(namespaces)
            .args(["--propagation", "private", "sh", "-c", MOUNT, "sh"])
            .args([self.folder.file(ACCOUNTS), self.dropbear.clone()])
            // One connection, by key alone, without a greeting.
            .args(["-i", "-s", "-m", "-r"])
            .args([self.folder.file(KEY)])
            .stderr(self.folder.create(LOG)?))
    }
}

/// `sh -c … sh ACCOUNTS dropbear ARGUMENTS`
const MOUNT: &str = r#"mount --bind "$1" /etc/passwd && shift && exec "$@""#;

fn furnish(folder: &Folder, public: &[u8]) -> io::Result<()> {
    let home = folder.home()?;
    let ssh = home.join(".ssh");
    DirBuilder::new().mode(0o700).create(&ssh)?;
    folder.write("home/.ssh/authorized_keys", public)?;
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let account = format!("{LOGIN}:x:{user}:{group}::{}:/bin/sh\n", home.display());
    folder.write(ACCOUNTS, account.as_bytes()).map(drop)
}

/// Makes a key and gives its public half, as authorized keys are written.
pub(super) fn make_key(dropbearkey: &Path, path: &Path) -> Result<Vec<u8>, TransferFailure> {
    let mut said = String::new();
    for kind in ["ed25519", "ecdsa", "rsa"] {
        let request = CommandRequest::new(dropbearkey)
            .args(["-t", kind, "-f"])
            .arg(path);
        match SystemCommands.run(&request) {
            Ok(output) => {
                let public = public_half(&output.stdout_text());
                match public.filter(|_| output.succeeded()) {
                    Some(public) => return Ok(public),
                    None => said = output.stdout_text() + &output.stderr_text(),
                }
            }
            Err(failure) => said = failure.to_string(),
        }
    }
    Err(TransferFailure::Impossible {
        why: format!("{} makes no key: {}", dropbearkey.display(), said.trim()),
        cure: "install Dropbear whole; Debian calls it dropbear-bin".to_owned(),
    })
}

/// The line of the key among what `dropbearkey` prints.
fn public_half(said: &str) -> Option<Vec<u8>> {
    let is_key = |line: &&str| line.starts_with("ssh-") || line.starts_with("ecdsa-");
    let line = said.lines().find(is_key)?;
    Some(format!("{line}\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_half_is_told_from_the_words_around_it() {
        let said = "Generating 256 bit ed25519 key, this may take a while...\n\
                    Public key portion is:\n\
                    ssh-ed25519 AAAA root@vm\n\
                    Fingerprint: SHA256:ssh\n";
        let line = b"ssh-ed25519 AAAA root@vm\n".to_vec();
        assert_eq!(public_half(said), Some(line));
        assert_eq!(public_half("dropbearkey: Couldn't create\n"), None);
    }
}
