//! What is asked: which program, started how, by whom, for which host.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use super::Location;
use crate::layout::Layout;
use engine::installed::releases::{self, Release};

/// What a binary was compiled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supported {
    /// Its ciphers, in the order of `ssh -Q cipher`.
    pub ciphers: Vec<String>,
    /// Its MACs, in the order of `ssh -Q mac`.
    pub macs: Vec<String>,
}

impl Supported {
    /// What a release brings, for a binary that cannot be asked.
    #[must_use]
    pub fn by_release(release: Release) -> Self {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            ciphers: owned(releases::supported_ciphers(release)),
            macs: owned(releases::supported_macs(release)),
        }
    }

    /// What a program listed; where a list is empty, what its release brings.
    #[must_use]
    pub fn listed(ciphers: &[String], macs: &[String], release: Release) -> Self {
        let mut supported = Self::by_release(release);
        if !ciphers.is_empty() {
            supported.ciphers = ciphers.to_vec();
        }
        if !macs.is_empty() {
            supported.macs = macs.to_vec();
        }
        supported
    }
}

/// Which files `ssh` reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFiles {
    /// The user's file, if there is a user, then the system's.
    Usual {
        /// `~/.ssh/config`.
        user: Option<PathBuf>,
        /// `/etc/ssh/ssh_config`.
        system: Option<PathBuf>,
    },
    /// This one only (`-F`).
    Only(PathBuf),
    /// None (`-F none`).
    None,
}

/// A question about `ssh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRequest {
    /// The release whose rules apply.
    pub release: Release,
    /// What `Match version` is compared with (`OpenSSH_10.0p2 Debian-7`), where that is known.
    pub version: Option<String>,
    /// What the binary knows.
    pub supported: Supported,
    /// Which files it reads.
    pub files: ClientFiles,
    /// The host as typed, without user and port. `None` asks for a host no pattern names: only what
    /// applies to every host then counts.
    pub host: Option<String>,
    /// The remote user typed (`user@host`, `-l`), if any.
    pub remote_user: Option<String>,
    /// The local user's name.
    pub user: String,
    /// The local user's id: files must belong to it or to root.
    pub uid: u32,
    /// The local user's home.
    pub home: PathBuf,
    /// Debian and its kin accept files writable by a group that is the user's alone.
    pub private_groups: bool,
    /// The value of `-c`.
    pub ciphers: Option<String>,
    /// The values of `-o`, in order.
    pub options: Vec<String>,
    /// The flavour of OpenSSH.
    pub layout: Layout,
}

impl ClientRequest {
    /// Root's question about any host, with the usual files.
    #[must_use]
    pub fn new(release: Release) -> Self {
        Self {
            release,
            version: None,
            supported: Supported::by_release(release),
            files: ClientFiles::Usual {
                user: None,
                system: Some("/etc/ssh/ssh_config".into()),
            },
            host: None,
            remote_user: None,
            user: "root".into(),
            uid: 0,
            home: "/root".into(),
            private_groups: false,
            ciphers: None,
            options: Vec::new(),
            layout: Layout::unix(),
        }
    }

    /// For the host of a destination as `ssh` takes it: `host`, `user@host` or `ssh://user@host:port`.
    #[must_use]
    pub fn destination(mut self, destination: &str) -> Self {
        let uri = destination.strip_prefix("ssh://");
        let rest = uri.unwrap_or(destination);
        let (user, host) = match rest.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, rest),
        };
        let host = if uri.is_some() { uri_host(host) } else { host };
        self.remote_user = user.map(ToOwned::to_owned).or(self.remote_user);
        self.host = Some(host.to_owned());
        self
    }
}

/// The host of `host:port/` or `[address]:port`.
fn uri_host(text: &str) -> &str {
    let text = text.trim_end_matches('/');
    if let Some((address, _)) = text
        .strip_prefix('[')
        .and_then(|inner| inner.split_once(']'))
    {
        return address;
    }
    text.split_once(':').map_or(text, |(host, _)| host)
}

/// A question about `sshd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRequest {
    /// The release whose rules apply.
    pub release: Release,
    /// What `Match version` is compared with, where that is known.
    pub version: Option<String>,
    /// What the binary knows.
    pub supported: Supported,
    /// Its configuration file (`-f`).
    pub file: PathBuf,
    /// The values of `-o` on its command line, in order.
    pub options: Vec<CommandOption>,
    /// The flavour of OpenSSH.
    pub layout: Layout,
}

/// A value of `-o`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOption {
    /// As `sshd` gets it: `Ciphers=aes128-ctr`.
    pub value: String,
    /// Where it is written, or was seen.
    pub location: Location,
}

impl ServerRequest {
    /// About the usual file.
    #[must_use]
    pub fn new(release: Release) -> Self {
        Self {
            release,
            version: None,
            supported: Supported::by_release(release),
            file: "/etc/ssh/sshd_config".into(),
            options: Vec::new(),
            layout: Layout::unix(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_reduces_to_its_host() {
        for (typed, user, host) in [
            ("web", None, "web"),
            ("u@web", Some("u"), "web"),
            ("u@x@web", Some("u@x"), "web"),
            ("ssh://u@web:22", Some("u"), "web"),
            ("ssh://[::1]:22", None, "::1"),
            ("::1", None, "::1"),
        ] {
            let request = ClientRequest::new(Release::new(9, 2)).destination(typed);
            assert_eq!(request.host.as_deref(), Some(host), "{typed}");
            assert_eq!(request.remote_user.as_deref(), user, "{typed}");
        }
    }
}
