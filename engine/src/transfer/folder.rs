//! The private folder of a carrier: keys, configuration, sockets, logs. Gone with its owner.
//!
//! The folder is locked while its owner lives. A process that is killed leaves it behind unlocked, and the next
//! carrier removes it.
#![forbid(unsafe_code)]

use std::fs::{self, DirBuilder, DirEntry, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::process::getuid;
use tempfile::TempDir;

use super::TransferFailure;

const PREFIX: &str = "advisor-transfer-";
/// The path of a Unix socket ends here (unix(7)); other systems have 104.
const LONGEST_SOCKET: usize = 103;
/// What is added to the path of the place: the folder's name and the longest name of a socket in it.
const ADDED: usize = "/advisor-transfer-XXXXXX/server-4294967295".len();

/// A folder nobody else may enter.
#[derive(Debug)]
pub(super) struct Folder {
    folder: TempDir,
    /// Locked as long as this is open.
    _lock: File,
    /// The group that may pass through, where `sshd` runs as somebody else.
    guests: Option<u32>,
}

impl Folder {
    /// Makes one, and removes those of processes that are no more.
    pub(super) fn new() -> Result<Self, TransferFailure> {
        let place = places().into_iter().find(|place| is_fit(place));
        let place = place.ok_or_else(|| TransferFailure::Impossible {
            why: "no folder for temporary files is writable and has a short and plain path"
                .to_owned(),
            cure: "set TMPDIR to one, such as /tmp".to_owned(),
        })?;
        sweep(&place);
        Self::make(&place).map_err(|error| TransferFailure::Impossible {
            why: format!(
                "no folder for keys can be made in {}: {error}",
                place.display()
            ),
            cure: "set TMPDIR to a folder that is writable".to_owned(),
        })
    }

    fn make(place: &Path) -> io::Result<Self> {
        const ATTEMPTS: usize = 8;
        let mut attempts = (1..=ATTEMPTS).map(|_| Self::try_make(place));
        // Until it is locked, another carrier may take it for an abandoned one and remove it.
        let made = attempts.find_map(Result::transpose);
        made.unwrap_or_else(|| Err(ErrorKind::ResourceBusy.into()))
    }

    /// `None` where it is gone before it is locked.
    fn try_make(place: &Path) -> io::Result<Option<Self>> {
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(place)?;
        let Ok(lock) = File::open(folder.path()) else {
            return Ok(None);
        };
        let is_ours = lock.try_lock().is_ok() && folder.path().is_dir();
        Ok(is_ours.then_some(Self {
            folder,
            _lock: lock,
            guests: None,
        }))
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Lets the members of a group pass through, and read what is [shared](Self::share).
    pub(super) fn admit(&mut self, group: u32) -> io::Result<()> {
        self.guests = Some(group);
        chown(self.path(), None, Some(group))?;
        fs::set_permissions(self.path(), Permissions::from_mode(0o710))
    }

    /// Writes a file only its owner can read.
    pub(super) fn write(&self, name: &str, text: &[u8]) -> io::Result<PathBuf> {
        let path = self.file(name);
        self.create(name)?.write_all(text)?;
        Ok(path)
    }

    /// A folder in it that is nobody's home, and empty.
    pub(super) fn home(&self) -> io::Result<PathBuf> {
        let path = self.file("home");
        DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(&path)?;
        Ok(path)
    }

    /// Makes a file empty, for a program to write to.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(self.file(name))
    }

    /// Lets the guests, if there are any, use a file of this folder.
    pub(super) fn share(&self, name: &str, mode: u32) -> io::Result<()> {
        let Some(group) = self.guests else {
            return Ok(());
        };
        chown(self.file(name), None, Some(group))?;
        fs::set_permissions(self.file(name), Permissions::from_mode(mode))
    }

    /// A socket somebody is to connect to, gone when dropped.
    pub(super) fn listen(&self, name: &str) -> io::Result<Meeting> {
        let path = self.file(name);
        let listener = UnixListener::bind(&path)?;
        let meeting = Meeting { path, listener };
        meeting.listener.set_nonblocking(true)?;
        self.share(name, 0o660)?;
        Ok(meeting)
    }
}

/// A listening socket.
#[derive(Debug)]
pub(super) struct Meeting {
    pub(super) path: PathBuf,
    pub(super) listener: UnixListener,
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // The folder goes as well, sooner or later.
        let _ = fs::remove_file(&self.path);
    }
}

/// Where a folder may be made, best first.
fn places() -> Vec<PathBuf> {
    let own = format!("/run/user/{}", getuid().as_raw());
    let named = std::env::var_os("TMPDIR").map(PathBuf::from);
    let usual = ["/tmp", "/var/tmp", &own].map(PathBuf::from);
    named.into_iter().chain(usual).collect()
}

/// Whether sockets and the words of configurations can name files there, and, where root may have to let
/// another account in, that account can get there. `/run` may have to be covered for `sshd`.
fn is_fit(place: &Path) -> bool {
    let bytes = place.as_os_str().as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(byte);
    let is_open = |folder: &Path| fs::metadata(folder).is_ok_and(|it| it.mode() & 1 != 0);
    let fits_root = || !place.starts_with("/run") && place.ancestors().all(is_open);
    place.is_absolute()
        && bytes.iter().all(is_plain)
        && bytes.len() + ADDED <= LONGEST_SOCKET
        && place.is_dir()
        && rustix::fs::access(place, rustix::fs::Access::WRITE_OK).is_ok()
        && (!getuid().is_root() || fits_root())
}

/// Removes the folders of processes that were killed. What cannot be removed stays.
fn sweep(place: &Path) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    for entry in entries.filter(is_ours) {
        let path = entry.path();
        let is_abandoned = File::open(&path).is_ok_and(|folder| folder.try_lock().is_ok());
        if is_abandoned {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Whether it has our name, is a folder and no link to one, and nobody but its owner, us, can write there.
fn is_ours(entry: &DirEntry) -> bool {
    entry.file_name().as_bytes().starts_with(PREFIX.as_bytes())
        && entry.metadata().is_ok_and(|found| {
            found.is_dir() && found.uid() == getuid().as_raw() && found.mode() & 0o067 == 0
        })
}
