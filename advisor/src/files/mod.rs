//! The file system as a parameter, confined to a root.
//!
//! Paths are those the target host would use (`/etc/ssh/sshd_config`), also where the tree lies under
//! `--root`. Every step that changes something is one call, so that a test can make each fail in turn.

mod scratch;
mod sys;
mod system;
pub(crate) mod text;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use scratch::Scratch;
pub use system::SystemFiles;

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; only [`Files::link_status`] says so.
    Link,
    /// A device, a socket, a pipe.
    Other,
}

/// What the file system knows of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it is.
    pub kind: Kind,
    /// Permission bits (`0o644`); 0 where the system has none.
    pub mode: u32,
    /// Owner; 0 where the system has none.
    pub uid: u32,
    /// Group; 0 where the system has none.
    pub gid: u32,
    /// Length in bytes.
    pub len: u64,
    /// Device and inode, which tell whether two paths are one file.
    pub identity: (u64, u64),
    /// Last change of the contents.
    pub modified: SystemTime,
}

/// Reading a tree of files.
pub trait Files: Send + Sync {
    /// The whole contents. Links are followed, never out of the root.
    ///
    /// # Errors
    /// The system's.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// What a path is, links followed.
    ///
    /// # Errors
    /// The system's.
    fn status(&self, path: &Path) -> io::Result<Status>;

    /// What a path is, without following a link at its end.
    ///
    /// # Errors
    /// The system's.
    fn link_status(&self, path: &Path) -> io::Result<Status>;

    /// The file a path leads to when every link is followed, as a path inside the root.
    ///
    /// # Errors
    /// The system's; also when a link leads round in circles.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The entries of a directory, each as `directory` joined with its name, sorted by bytes.
    ///
    /// # Errors
    /// The system's.
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;

    /// What `glob(3)` gives for an absolute pattern, in its order. No match is an empty list.
    ///
    /// # Errors
    /// The system's.
    fn glob(&self, pattern: &Path) -> io::Result<Vec<PathBuf>>;

    /// The directory that stands for `/` (`/` itself, or `--root DIR`).
    fn root(&self) -> &Path;
}

/// Changing a tree of files: one call a step. Paths are [`canonical`](Files::canonical) ones: what a link
/// leads to is the caller's question, not answered anew at every step.
pub trait Changes: Files {
    /// Makes a new empty file that only its owner may read and write. Never opens one that exists.
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::AlreadyExists`] where the name is taken.
    fn create(&self, path: &Path) -> io::Result<()>;

    /// Replaces the bytes of a file that exists.
    ///
    /// # Errors
    /// The system's; the file may then hold a part of them.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Sets the permission bits. Does nothing where the system has none.
    ///
    /// # Errors
    /// The system's.
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()>;

    /// Sets owner and group. Does nothing where the system has none.
    ///
    /// # Errors
    /// The system's.
    fn set_owner(&self, path: &Path, uid: u32, gid: u32) -> io::Result<()>;

    /// Gives `to` the extended attributes of `from`: access control lists, security label, user's own.
    ///
    /// # Errors
    /// The system's, also when one of them may not be set.
    fn copy_attributes(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Waits until the bytes of a file are on the disk.
    ///
    /// # Errors
    /// The system's.
    fn sync(&self, path: &Path) -> io::Result<()>;

    /// Waits until the names in a directory are on the disk.
    ///
    /// # Errors
    /// The system's.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name, replacing what has it, at one stroke.
    ///
    /// # Errors
    /// The system's.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file or a link.
    ///
    /// # Errors
    /// The system's.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a directory with exactly this mode, whatever the umask.
    ///
    /// # Errors
    /// The system's.
    fn create_directory(&self, path: &Path, mode: u32) -> io::Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// The system's, also when it is not empty.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Locks a file, which is made where it is missing, until the value is dropped or the process ends.
    /// `None` when another process, or another caller in this one, holds it.
    ///
    /// # Errors
    /// The system's.
    fn lock(&self, path: &Path) -> io::Result<Option<Lock>>;
}

/// What to do about a file that cannot be read.
#[must_use]
pub fn cure_of_reading(error: &io::Error) -> &'static str {
    #[cfg(unix)]
    if rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP) {
        return "correct its symbolic links, which lead in a circle";
    }
    match error.kind() {
        io::ErrorKind::PermissionDenied => "run this as its owner or as root",
        io::ErrorKind::IsADirectory => "put a file in place of the directory, or name another",
        io::ErrorKind::NotADirectory => "correct its path, which leads through a file",
        io::ErrorKind::FileTooLarge => "put a configuration there: none is that long",
        io::ErrorKind::NotFound => "create it, or do not name it",
        _ => "put a regular file there, or do not name it",
    }
}

/// A lock that is held.
#[derive(Debug)]
pub struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone would not do while a process that is just being started has a copy of the descriptor.
        let _ = self.0.unlock();
    }
}
