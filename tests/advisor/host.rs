//! A small host below a root: what a fresh Debian has in `/etc/ssh`, in our words.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use advisor::apply::{ApplyRequest, Scope};
use advisor::files::{Changes, Files, SystemFiles};
use advisor::plan::{Edit, Plan};
use advisor::resolver::Side;

pub(crate) const CLIENT: &str = "/etc/ssh/ssh_config";
pub(crate) const SERVER: &str = "/etc/ssh/sshd_config";
pub(crate) const STATE: &str = "/var/lib/cipher-advisor";

const CLIENT_TEXT: &str = "# the client's settings\n\nInclude /etc/ssh/ssh_config.d/*.conf\n\nHost *\n#   Port 22\n    SendEnv LANG LC_*\n    HashKnownHosts yes\n";
const SERVER_TEXT: &str = "# the server's settings\n\nInclude /etc/ssh/sshd_config.d/*.conf\n\n#Port 22\nKbdInteractiveAuthentication no\nUsePAM yes\nX11Forwarding yes\nPrintMotd no\nAcceptEnv LANG LC_*\nSubsystem sftp /usr/lib/openssh/sftp-server\n\n# Example of overriding settings on a per-user basis\n#Match User anoncvs\n#\tX11Forwarding no\n";

/// The host; it goes when dropped.
pub(crate) struct Host {
    root: PathBuf,
    /// `None` where it is another's, who removes it.
    directory: Option<tempfile::TempDir>,
    pub(crate) files: SystemFiles,
    pub(crate) cancelled: AtomicBool,
}

/// Everything of a file that an apply must keep or a rollback restore, but for the bytes' age.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) link: Option<PathBuf>,
}

impl Host {
    /// Debian's layout: Include first, empty drop-in directories.
    pub(crate) fn debian() -> Self {
        // In memory where possible: there are some hundred of them, and every step is flushed.
        let memory = tempfile::tempdir_in("/dev/shm");
        Self::debian_in(memory.or_else(|_| tempfile::tempdir()).unwrap())
    }

    /// The same on a certain file system.
    pub(crate) fn debian_in(directory: tempfile::TempDir) -> Self {
        let mut host = Self::at(directory.path());
        host.directory = Some(directory);
        host.put(CLIENT, CLIENT_TEXT);
        host.put(SERVER, SERVER_TEXT);
        host.mkdir("/etc/ssh/ssh_config.d");
        host.mkdir("/etc/ssh/sshd_config.d");
        host
    }

    /// One that another process has made.
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            directory: None,
            files: SystemFiles::new(root).unwrap(),
            cancelled: AtomicBool::new(false),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn real(&self, path: &str) -> PathBuf {
        self.root().join(path.trim_start_matches('/'))
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let real = self.real(path);
        fs::create_dir_all(real.parent().unwrap()).unwrap();
        fs::write(&real, text).unwrap();
        self.chmod(path, 0o644);
    }

    pub(crate) fn mkdir(&self, path: &str) {
        fs::create_dir_all(self.real(path)).unwrap();
    }

    pub(crate) fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.real(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Gives a file away; only root can.
    pub(crate) fn chown(&self, path: &str, uid: u32, gid: u32) -> bool {
        chown(self.real(path), Some(uid), Some(gid)).is_ok()
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(fs::read(self.real(path)).unwrap()).unwrap()
    }

    pub(crate) fn inode(&self, path: &str) -> (u64, i64, i64) {
        let found = fs::symlink_metadata(self.real(path)).unwrap();
        (found.ino(), found.mtime(), found.mtime_nsec())
    }

    /// Everything below a directory, by name.
    pub(crate) fn snapshot(&self, directory: &str) -> BTreeMap<PathBuf, Option<Seen>> {
        let mut seen = BTreeMap::new();
        collect(&self.real(directory), &mut seen);
        let root = self.root();
        seen.into_iter()
            .map(|(path, what)| (Path::new("/").join(path.strip_prefix(root).unwrap()), what))
            .collect()
    }

    /// A plan that brings files to these bytes from whatever they hold.
    pub(crate) fn plan(&self, side: Side, order: &str, wanted: &[(&str, &str)]) -> Plan {
        let edits = wanted.iter().map(|(path, after)| Edit {
            path: PathBuf::from(path),
            before: self.files.read(Path::new(path)).ok(),
            after: after.as_bytes().to_vec(),
        });
        Plan {
            side,
            edits: edits
                .filter(|edit| edit.before.as_ref() != Some(&edit.after))
                .collect(),
            order: order.split(',').map(str::to_owned).collect(),
            strategy: String::new(),
        }
    }

    /// A request on this host through some view of its files.
    pub(crate) fn request<'a>(&'a self, files: &'a dyn Changes) -> ApplyRequest<'a> {
        ApplyRequest {
            files,
            state: Path::new(STATE),
            scope: Scope::System,
            now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_071_617),
            cancelled: &self.cancelled,
            validate: &|| Ok(()),
            verify: &|| Ok(()),
        }
    }
}

fn collect(path: &Path, seen: &mut BTreeMap<PathBuf, Option<Seen>>) {
    let found = fs::symlink_metadata(path).unwrap();
    if found.is_dir() {
        seen.insert(path.to_owned(), None);
        for entry in fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), seen);
        }
        return;
    }
    let link = fs::read_link(path).ok();
    let bytes = if link.is_some() {
        Vec::new()
    } else {
        fs::read(path).unwrap()
    };
    let what = Seen {
        bytes,
        mode: found.mode() & 0o7777,
        owner: (found.uid(), found.gid()),
        link,
    };
    seen.insert(path.to_owned(), Some(what));
}
