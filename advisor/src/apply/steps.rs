//! Single steps: look whether a signal came, act, and name what failed.
#![forbid(unsafe_code)]

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ApplyError;
use super::journal::Stamp;
use crate::files::{Changes, Status};

/// The steps on a tree of files.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    pub(super) files: &'a dyn Changes,
    /// Set by a signal. `None` while putting back, which no signal stops.
    pub(super) cancelled: Option<&'a AtomicBool>,
}

/// Mode of a file, and whose it is; `None` for the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) mode: u32,
    pub(super) ids: Option<(u32, u32)>,
}

impl From<&Stamp> for Owner {
    fn from(stamp: &Stamp) -> Self {
        Self {
            mode: stamp.mode,
            ids: Some((stamp.uid, stamp.gid)),
        }
    }
}

impl Steps<'_> {
    /// Whether to go on.
    pub(super) fn go_on(&self) -> Result<(), ApplyError> {
        match self.cancelled {
            Some(flag) if flag.load(Ordering::SeqCst) => Err(ApplyError::Interrupted),
            _ => Ok(()),
        }
    }

    /// A new file with everything it is to have, on the disk: nobody sees it under its final name before.
    /// `like` is the file whose access lists and labels it gets.
    pub(super) fn place(
        &self,
        path: &Path,
        bytes: &[u8],
        owner: Owner,
        like: Option<&Path>,
    ) -> Result<(), ApplyError> {
        self.step("create", path, |files| files.create(path))?;
        self.step("write", path, |files| files.write(path, bytes))?;
        if let Some((uid, gid)) = owner.ids {
            // Asking for what is so already may be refused on file systems without owners.
            let now = self.status(path)?;
            if now.is_none_or(|now| (now.uid, now.gid) != (uid, gid)) {
                self.step("set the owner of", path, |files| {
                    files.set_owner(path, uid, gid)
                })?;
            }
        }
        if let Some(like) = like {
            self.step("copy access lists and attributes to", path, |files| {
                files.copy_attributes(like, path)
            })?;
        }
        // Last, for a change of owner clears some bits.
        self.step("set the mode of", path, |files| {
            files.set_mode(path, owner.mode)
        })?;
        self.step("flush", path, |files| files.sync(path))
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> Result<(), ApplyError> {
        self.step("replace", to, |files| files.rename(from, to))
    }

    pub(super) fn remove(&self, path: &Path) -> Result<(), ApplyError> {
        self.step("remove", path, |files| files.remove(path))
    }

    pub(super) fn remove_if_there(&self, path: &Path) -> Result<(), ApplyError> {
        match self.status(path)? {
            Some(_) => self.remove(path),
            None => Ok(()),
        }
    }

    pub(super) fn sync_directory(&self, path: &Path) -> Result<(), ApplyError> {
        self.step("flush", path, |files| files.sync_directory(path))
    }

    /// Makes a directory in one that exists. One that somebody else has just made will do.
    pub(super) fn make_directory(&self, path: &Path, mode: u32) -> Result<(), ApplyError> {
        self.step("make the directory", path, |files| {
            match files.create_directory(path, mode) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                made => made,
            }
        })?;
        path.parent()
            .map_or(Ok(()), |parent| self.sync_directory(parent))
    }

    /// What is at a path itself; `None` for nothing.
    pub(super) fn status(&self, path: &Path) -> Result<Option<Status>, ApplyError> {
        there(self.files.link_status(path)).map_err(ApplyError::step("look at", path))
    }

    /// The bytes of a file; `None` where there is none.
    pub(super) fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, ApplyError> {
        there(self.files.read(path)).map_err(ApplyError::step("read", path))
    }

    fn step(
        &self,
        doing: &'static str,
        path: &Path,
        act: impl FnOnce(&dyn Changes) -> io::Result<()>,
    ) -> Result<(), ApplyError> {
        self.go_on()?;
        act(self.files).map_err(ApplyError::step(doing, path))
    }
}

/// A name that is too long, or that lies below a file, is nobody's either.
fn there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory | InvalidFilename) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
