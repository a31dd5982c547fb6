//! A private directory for the time of a question, which goes with the value.
//!
//! A run that is killed cannot remove its own, so the next one does: each holds a lock in its directory, and a
//! lock that is free belongs to nobody any more. Only directories of this user with our name are looked at.
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Changes, Files, Kind, Lock, SystemFiles};

/// Nothing in it may look like a pattern: it becomes part of patterns.
const PREFIX: &str = "cipher-advisor-";
const LOCK: &str = "in-use";

/// The directory. It exists until this is dropped.
#[derive(Debug)]
pub struct Scratch {
    directory: TempDir,
    _lock: Lock,
}

impl Scratch {
    /// A new one, which nobody else may enter. Removes what killed runs left beside it.
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> io::Result<Self> {
        let new = |place: &Path| {
            tidy(place);
            let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
            let lock = lock(directory.path())?;
            let lock = lock.ok_or(io::ErrorKind::ResourceBusy)?;
            Ok(Self {
                directory,
                _lock: lock,
            })
        };
        // Where everybody can reach it whom it is opened for; the usual place may lie in a private home.
        #[cfg(unix)]
        if let Ok(made) = new(Path::new("/tmp")) {
            return Ok(made);
        }
        new(&std::env::temp_dir())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Opens a file in such a directory to a program without rights: an account of its own may have to read a key,
    /// which is worth nothing to anybody. `sshd` accepts a key that others may read where it is not its own.
    ///
    /// # Errors
    /// The system's.
    #[cfg(unix)]
    pub fn open_to_all(file: &Path) -> io::Result<()> {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::{PermissionsExt, chown};
        if user() != 0 {
            return Ok(());
        }
        if let Some(directory) = file.parent() {
            set_permissions(directory, Permissions::from_mode(0o755))?;
        }
        chown(file, Some(1), None)?;
        set_permissions(file, Permissions::from_mode(0o644))
    }

    /// Elsewhere nobody else reads it.
    #[cfg(not(unix))]
    pub fn open_to_all(_: &Path) -> io::Result<()> {
        Ok(())
    }
}

fn lock(directory: &Path) -> io::Result<Option<Lock>> {
    SystemFiles::new(directory)?.lock(&Path::new("/").join(LOCK))
}

/// Removes what is nobody's any more. What cannot be removed harms nobody.
fn tidy(place: &Path) {
    for left in left_behind(place).unwrap_or_default() {
        let _ = std::fs::remove_dir_all(left);
    }
}

fn left_behind(place: &Path) -> io::Result<Vec<PathBuf>> {
    let files = SystemFiles::new(place)?;
    let mut left = Vec::new();
    for path in files.list(Path::new("/"))? {
        let name = path.file_name().unwrap_or_default();
        if !name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let is_ours = files
            .link_status(&path)
            .is_ok_and(|it| it.kind == Kind::Directory && it.uid == user() && it.mode & 0o022 == 0);
        // One that is just being made has no lock yet.
        let is_complete = is_ours && files.link_status(&path.join(LOCK)).is_ok();
        let real = place.join(name);
        if is_complete && matches!(lock(&real), Ok(Some(_))) {
            left.push(real);
        }
    }
    Ok(left)
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_killed_run_left_is_removed() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let make = |name: &str, has_lock: bool| {
            let path = place.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
            if has_lock {
                std::fs::write(path.join(LOCK), "").unwrap();
            }
            path
        };
        let left = make("cipher-advisor-left", true);
        make("somebody-elses", true);
        make("cipher-advisor-just-begun", false);
        let used = make("cipher-advisor-used", true);
        let _held = lock(&used).unwrap().unwrap();
        let target = make("target", true);
        std::os::unix::fs::symlink(&target, place.path().join("cipher-advisor-link")).unwrap();
        let shared = make("cipher-advisor-shared", true);
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(
            left_behind(place.path()).unwrap(),
            std::slice::from_ref(&left)
        );
        std::fs::write(left.join("copy"), "x").unwrap();
        tidy(place.path());
        assert!(!left.exists() && used.exists() && shared.exists() && target.exists());
    }

    #[test]
    fn it_goes_with_the_value() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        assert!(path.is_dir());
        drop(scratch);
        assert!(!path.exists());
    }
}
