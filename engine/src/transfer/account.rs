//! As whom and on what ground a private `sshd` runs. Decided once, by trying.
//!
//! `sshd` run by root wants a folder that may be missing where no ssh service was started, and lets nobody into a
//! locked account, root's own included. A private mount namespace gives it both and changes nothing for others;
//! where the system grants none, the account `sshd` is asked, for whom `sshd` looks at neither.
#![forbid(unsafe_code)]

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::getuid;

use super::TransferFailure;
use super::folder::Folder;
use crate::host::{Account, ProcessRequest};

/// How `sshd` runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Footing {
    /// As whoever runs this program.
    AsIs,
    /// As root, with mounts of its own.
    PrivateMounts {
        /// The folder it wants, in one of its own.
        wanted: Option<PathBuf>,
        /// A file to stand for `/etc/shadow`.
        shadow: Option<PathBuf>,
    },
    /// As the account its own unprivileged part uses.
    SshdAccount(Account),
}

impl Footing {
    /// What to try when this one failed with these words; `None` when nothing is left.
    pub(super) fn next(&self, words: &str, folder: &Folder) -> Option<Self> {
        if !getuid().is_root() {
            return None;
        }
        match self {
            Self::AsIs => Some(Self::private_mounts(words, folder)).or_else(sshd_account),
            Self::PrivateMounts { .. } => sshd_account(),
            Self::SshdAccount(_) => None,
        }
    }

    fn private_mounts(words: &str, folder: &Folder) -> Self {
        // Only root's own line, without a password: nothing secret is copied.
        let shadow = root_is_locked().then(|| folder.write("shadow", b"root:*:0:0:99999:7:::\n"));
        Self::PrivateMounts {
            wanted: wanted_folder(words).filter(|wanted| wanted.parent().is_some()),
            shadow: shadow.and_then(Result::ok),
        }
    }

    /// Who logs in, where that is not whoever runs `ssh`.
    pub(super) fn login(&self) -> Option<&'static str> {
        matches!(self, Self::SshdAccount(_)).then_some(SSHD)
    }

    /// Starts `sshd` this way; its arguments are still to come.
    pub(super) fn request(&self, sshd: &Path) -> ProcessRequest {
        match self {
            Self::AsIs => ProcessRequest::new(sshd),
            Self::SshdAccount(account) => ProcessRequest::new(sshd).account(*account),
            Self::PrivateMounts { wanted, shadow } => {
                let word = |path: &Option<PathBuf>| path.clone().unwrap_or_default();
                ProcessRequest::new(Path::new("unshare"))
                    .args([
                        "--mount",
                        "--propagation",
                        "private",
                        "sh",
                        "-c",
                        MOUNT,
                        "sh",
                    ])
                    .args([word(wanted), word(shadow), sshd.to_owned()])
            }
        }
    }
}

impl fmt::Display for Footing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AsIs if getuid().is_root() => "as root",
            Self::AsIs => "as this user",
            Self::PrivateMounts { .. } => "with mounts of its own",
            Self::SshdAccount(_) => "as the account sshd",
        })
    }
}

/// `sh -c … sh WANTED SHADOW sshd ARGUMENTS`, with an empty word for what is not needed.
const MOUNT: &str = r#"set -e
if [ -n "$1" ]; then
    mount -t tmpfs -o mode=755 tmpfs "$(dirname "$1")"
    mkdir -m 755 "$1"
fi
if [ -n "$2" ]; then mount --bind "$2" /etc/shadow; fi
shift 2
exec "$@""#;

/// The account of `sshd`'s unprivileged part.
const SSHD: &str = "sshd";

fn sshd_account() -> Option<Footing> {
    let accounts = fs::read_to_string("/etc/passwd").ok()?;
    accounts
        .lines()
        .find_map(account_of_sshd)
        .map(Footing::SshdAccount)
}

/// Reads a line of passwd(5).
fn account_of_sshd(line: &str) -> Option<Account> {
    let mut fields = line.split(':');
    if fields.next()? != SSHD {
        return None;
    }
    let user = fields.nth(1)?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    (user != 0).then_some(Account { user, group })
}

fn root_is_locked() -> bool {
    let shadow = fs::read_to_string("/etc/shadow").unwrap_or_default();
    shadow.lines().any(|line| line.starts_with("root:!"))
}

const MISSING_FOLDER: &str = "Missing privilege separation directory: ";

fn wanted_folder(words: &str) -> Option<PathBuf> {
    let (_, behind) = words.split_once(MISSING_FOLDER)?;
    let path = behind.split(['\n', ';']).next()?;
    Some(PathBuf::from(path.trim()))
}

/// Says what is in the way, from the words of both programs for every footing tried, and what would help.
pub(super) fn impossible(tried: &[(Footing, String)]) -> TransferFailure {
    let said = tried
        .iter()
        .map(|(footing, words)| format!("{footing}: {words}"));
    let said: Vec<String> = said.collect();
    let said = said.join(". ");
    TransferFailure::Impossible {
        cure: cure(&said),
        why: format!("ssh cannot reach a private sshd here. {said}"),
    }
}

/// What helps against what was said.
pub(super) fn cure(said: &str) -> String {
    if let Some(folder) = wanted_folder(said) {
        return format!(
            "start the ssh service once, or `install -d -m 755 {}`",
            folder.display()
        );
    }
    let known = [
        (
            "account is locked",
            "give the account a password field of `*`: usermod -p '*' NAME",
        ),
        (
            "shell",
            "give the account a shell that exists and runs commands: chsh",
        ),
        ("No user exists for uid", "add this user to /etc/passwd"),
        (
            "no matching",
            "compare `ssh -Q kex` with `sshd -T | grep -i kex`",
        ),
    ];
    let found = known.iter().find(|(words, _)| said.contains(words));
    let cure = found.map_or("ask `ssh -V` and `sshd -t` whether they run at all", |it| {
        it.1
    });
    cure.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_read_from_its_line() {
        let read = account_of_sshd("sshd:x:102:65534::/run/sshd:/usr/sbin/nologin");
        assert_eq!(
            read,
            Some(Account {
                user: 102,
                group: 65534
            })
        );
        for line in [
            "",
            "sshd",
            "sshd:x",
            "sshd:x:a:b",
            "sshd:x:0:0::/:/bin/sh",
            "root:x:0:0",
        ] {
            assert_eq!(account_of_sshd(line), None, "{line:?}");
        }
    }

    #[test]
    fn the_folder_that_is_missing_is_made_by_the_cure() {
        let words =
            "sshd: Missing privilege separation directory: /run/sshd; ssh: closed".to_owned();
        assert_eq!(wanted_folder(&words), Some("/run/sshd".into()));
        let failure = impossible(&[(Footing::AsIs, words)]).to_string();
        assert!(
            failure.ends_with("`install -d -m 755 /run/sshd`"),
            "{failure}"
        );
    }
}
