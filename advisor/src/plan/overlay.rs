//! A tree as it would be with some edits written.
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Edit;
use crate::files::{Files, Kind, Status};
use crate::resolver::matches_pattern;

/// Another tree with edits laid over it.
pub struct Overlay<'a> {
    below: &'a dyn Files,
    edits: &'a [Edit],
    /// Where the path of each leads, if there is something.
    places: Vec<Option<PathBuf>>,
}

impl<'a> Overlay<'a> {
    /// Lays edits over a tree.
    #[must_use]
    pub fn new(below: &'a dyn Files, edits: &'a [Edit]) -> Self {
        let places = edits.iter().map(|edit| below.canonical(&edit.path).ok());
        Self {
            below,
            edits,
            places: places.collect(),
        }
    }

    /// The edit of the file a path leads to.
    fn edit(&self, path: &Path) -> Option<&Edit> {
        if let Some(named) = self.edits.iter().find(|edit| edit.path == path) {
            return Some(named);
        }
        if self.places.iter().all(Option::is_none) {
            return None;
        }
        let place = self.below.canonical(path).ok();
        let at = self
            .places
            .iter()
            .position(|it| it.is_some() && *it == place)?;
        self.edits.get(at)
    }

    /// New files; no path below leads to them.
    fn added(&self) -> impl Iterator<Item = &Edit> {
        self.edits.iter().filter(|edit| edit.before.is_none())
    }

    fn changed(&self, path: &Path, status: io::Result<Status>) -> io::Result<Status> {
        let Some(edit) = self.edit(path) else {
            return status;
        };
        let len = edit.after.len() as u64;
        match status {
            Ok(status) if status.kind == Kind::File => Ok(Status { len, ..status }),
            Ok(status) => Ok(status),
            Err(_) => Ok(self.new_status(&edit.path, len)),
        }
    }

    /// What a new file would be: its directory's owner's, readable at most by all.
    fn new_status(&self, path: &Path, len: u64) -> Status {
        let directory = path.parent().and_then(|it| self.below.status(it).ok());
        let (uid, gid) = directory.map_or((0, 0), |it| (it.uid, it.gid));
        Status {
            kind: Kind::File,
            mode: 0o600,
            uid,
            gid,
            len,
            identity: (0, 0),
            modified: SystemTime::UNIX_EPOCH,
        }
    }

    /// `found` with the new files that `fits`, in the order of bytes.
    fn with_added(&self, mut found: Vec<PathBuf>, fits: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        for edit in self.added() {
            if fits(&edit.path) && !found.contains(&edit.path) {
                let at = found.partition_point(|it| it.as_os_str() < edit.path.as_os_str());
                found.insert(at, edit.path.clone());
            }
        }
        found
    }
}

impl Files for Overlay<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.edit(path) {
            Some(edit) => Ok(edit.after.clone()),
            None => self.below.read(path),
        }
    }

    fn status(&self, path: &Path) -> io::Result<Status> {
        self.changed(path, self.below.status(path))
    }

    fn link_status(&self, path: &Path) -> io::Result<Status> {
        self.changed(path, self.below.link_status(path))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match self.added().find(|edit| edit.path == path) {
            Some(edit) => Ok(edit.path.clone()),
            None => self.below.canonical(path),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let found = self.below.list(directory)?;
        Ok(self.with_added(found, |path| path.parent() == Some(directory)))
    }

    fn glob(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        let found = self.below.glob(pattern)?;
        Ok(self.with_added(found, |path| fits(pattern, path)))
    }

    fn root(&self) -> &Path {
        self.below.root()
    }
}

/// Whether a pattern of `*` and `?` in its last component, or a plain path, names this path. A dot at the
/// start of a name is matched by a dot only, as glob(3) has it.
fn fits(pattern: &Path, path: &Path) -> bool {
    let (Some(pattern_name), Some(name)) = (pattern.file_name(), path.file_name()) else {
        return false;
    };
    let pattern_name = pattern_name.as_encoded_bytes();
    let name = name.as_encoded_bytes();
    let hidden = name.starts_with(b".") && !pattern_name.starts_with(b".");
    pattern.parent() == path.parent() && !hidden && matches_pattern(name, pattern_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_files_are_found_as_glob_would_find_them() {
        let fits = |pattern: &str, path: &str| fits(Path::new(pattern), Path::new(path));
        assert!(fits("/etc/ssh/d/*.conf", "/etc/ssh/d/10-x.conf"));
        assert!(fits("/etc/ssh/d/10-?.conf", "/etc/ssh/d/10-x.conf"));
        assert!(fits("/etc/ssh/d/10-x.conf", "/etc/ssh/d/10-x.conf"));
        assert!(!fits("/etc/ssh/d/*.conf", "/etc/ssh/d/10-x.conf~"));
        assert!(!fits("/etc/ssh/d/*.conf", "/etc/ssh/e/10-x.conf"));
        assert!(!fits("/etc/ssh/d/*", "/etc/ssh/d/.hidden"));
    }
}
