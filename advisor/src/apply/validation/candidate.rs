//! The tree as it would be: the files of the host with the planned edits over them.
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};

use crate::files::{Files, Kind, Status};
use crate::plan::Edit;

/// Files under edits. Which names a pattern matches is left to the program that is asked.
pub(super) struct Candidate<'a> {
    files: &'a dyn Files,
    /// The edits, each with the place its path leads to.
    edits: Vec<(PathBuf, &'a Edit)>,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(files: &'a dyn Files, edits: &'a [Edit]) -> Self {
        let edits = edits.iter().map(|edit| (place(files, &edit.path), edit));
        Self {
            files,
            edits: edits.collect(),
        }
    }

    /// The tree without the edits.
    pub(super) fn unedited(&self) -> Self {
        Self {
            files: self.files,
            edits: Vec::new(),
        }
    }

    /// The bytes of a file; `None` where the program would read nothing: no file, or a directory.
    pub(super) fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let target = place(self.files, path);
        if let Some((_, edit)) = self.edits.iter().find(|(place, _)| *place == target) {
            return Ok(Some(edit.after.clone()));
        }
        match self.status(path)? {
            Some(status) if status.kind != Kind::Directory => self.files.read(path).map(Some),
            _ => Ok(None),
        }
    }

    /// What the host has there now.
    pub(super) fn status(&self, path: &Path) -> io::Result<Option<Status>> {
        match self.files.status(path) {
            Ok(status) => Ok(Some(status)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The files a pattern may match: those it matches now, and every edited one in a directory it names.
    pub(super) fn glob(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = self.files.glob(pattern)?;
        let directory = pattern.parent().unwrap_or(pattern);
        let mut directories = self.files.glob(directory)?;
        directories.push(directory.to_owned());
        for (target, _) in &self.edits {
            let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
                continue;
            };
            for directory in &directories {
                let path = directory.join(name);
                if place(self.files, directory) == parent && !found.contains(&path) {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }

    /// Whether patterns the copy cannot follow would be read from the same host anyway.
    pub(super) fn is_whole_system(&self) -> bool {
        self.files.root().parent().is_none()
    }
}

/// Where the links of a path lead, as far as there is something.
fn place(files: &dyn Files, path: &Path) -> PathBuf {
    if let Ok(target) = files.canonical(path) {
        return target;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => place(files, parent).join(name),
        _ => path.to_owned(),
    }
}
