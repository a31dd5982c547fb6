//! The file system as a parameter, confined to a root.
//!
//! Paths are those the target host would use (`/etc/ssh/sshd_config`), also where the tree lies under
//! `--root`. Every step that changes something is one call, so that a test can make each fail in turn.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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

    /// The names in a directory, sorted by bytes.
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
