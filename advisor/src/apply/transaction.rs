//! All files of a group, or none.
//!
//! First everything that can fail without being seen (directories, backups, temporary files), then the
//! renames, then the check. Undoing looks at what is on the disk and never at how far the run got, so it is
//! the same code after a failed step, after a signal, and after the process was killed.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use super::journal::{self, Deed, Entry, Progress, Record, Stamp, backups, sha256};
use super::steps::{Owner, Steps};
use super::{ApplyError, Scope};
use crate::files::{Changes, Files, Kind, Lock};

/// A wanted change of one file.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// As the plan names it.
    pub(super) path: PathBuf,
    /// What must be there now; `None` for nothing.
    pub(super) before: Option<Vec<u8>>,
    /// What is to be there; `None` for nothing.
    pub(super) after: Option<Vec<u8>>,
    /// Whose it is to be, and its mode. `None`: as now, or the scope's for a new file.
    pub(super) owner: Option<Owner>,
}

/// A group of wanted changes as it comes out on this disk.
pub(super) struct Group<'a> {
    entry: Entry,
    wanted: &'a [Wanted],
    owners: Vec<Owner>,
    directory_mode: u32,
}

/// The lock, held.
pub(super) struct Session<'a> {
    act: Steps<'a>,
    state: &'a Path,
    /// The directories that were not there before, outermost first.
    made: Vec<PathBuf>,
    _lock: Lock,
}

impl<'a> Session<'a> {
    /// Takes the lock. What an interrupted run left is still to be [recovered](Self::recover).
    pub(super) fn open(
        files: &'a dyn Changes,
        state: &'a Path,
        cancelled: &'a AtomicBool,
    ) -> Result<Self, ApplyError> {
        let act = Steps {
            files,
            cancelled: Some(cancelled),
        };
        let made = make_state(act, state)?;
        for directory in [state.to_owned(), journal::directory(state), backups(state)] {
            journal::require_trust(files, &directory)?;
        }
        let path = state.join("lock");
        let lock = files.lock(&path).map_err(ApplyError::step("lock", &path))?;
        let lock = lock.ok_or_else(|| ApplyError::Busy(holder(files, &path)))?;
        let pid = format!("{}\n", std::process::id());
        let written = files.write(&path, pid.as_bytes());
        written.map_err(ApplyError::step("write", &path))?;
        Ok(Self {
            act,
            state,
            made,
            _lock: lock,
        })
    }

    /// Gives the lock back with nothing written, and removes the places that were made for it.
    pub(super) fn leave_no_trace(self) {
        if self.made.contains(&self.state.to_owned()) {
            // What cannot be removed harms nobody.
            let _ = self.act.files.remove(&self.state.join("lock"));
        }
        for directory in self.made.iter().rev() {
            let _ = self.act.files.remove_directory(directory);
        }
    }

    /// Undoes every change that was begun and did not end. Gives the entries, each with the files that were
    /// left alone because somebody has changed them since.
    pub(super) fn recover(&self) -> Result<Vec<(Entry, Vec<PathBuf>)>, ApplyError> {
        journal::tidy(self.act.files, self.state)?;
        let mut undone = Vec::new();
        let entries = journal::entries(self.act.files, self.state)?;
        for entry in entries.into_iter().rev() {
            if entry.progress == Progress::Begun {
                let left = self.undo(&entry, None)?;
                undone.push((self.mark(entry, Progress::Undone)?, left));
            }
        }
        Ok(undone)
    }

    /// What wanted changes come to on this disk: links followed, owners noted, names chosen. Reads only.
    pub(super) fn group<'w>(
        &self,
        deed: Deed,
        wanted: &'w [Wanted],
        scope: Scope,
        now: SystemTime,
    ) -> Result<Group<'w>, ApplyError> {
        let earlier = journal::entries(self.act.files, self.state)?;
        let last = earlier.last().map_or(0, |entry| entry.id);
        let id = last.checked_add(1).ok_or_else(|| ApplyError::Journal {
            path: journal::place(self.state, last),
            what: "no number is left after its own".into(),
        })?;
        let mut entry = Entry::new(id, deed, now);
        let mut owners = Vec::new();
        for one in wanted {
            let target = self.locate(&one.path, &mut entry.directories)?;
            let before = self.compare(one, &target)?;
            let kept = one.owner.or(before.as_ref().map(Owner::from));
            owners.push(kept.unwrap_or(Owner {
                mode: scope.file_mode(),
                ids: None,
            }));
            let after = one.after.as_deref().map(sha256);
            entry.add(self.state, (one.path.clone(), target), before, after);
        }
        for record in &entry.files {
            // Undoing removes what has this name, so nothing of anybody else's may have it.
            if self.act.status(&record.temporary)?.is_some() {
                let what = "has the name of a temporary file of ours; move it away";
                return Err(ApplyError::not_a_file(&record.temporary, what));
            }
        }
        Ok(Group {
            entry,
            wanted,
            owners,
            directory_mode: scope.directory_mode(),
        })
    }

    /// Makes the changes. After an error nothing has changed, or the error says what has.
    pub(super) fn commit(
        &self,
        group: Group<'_>,
        verify: &dyn Fn() -> Result<(), String>,
    ) -> Result<Entry, ApplyError> {
        self.act.go_on()?;
        let done = journal::write(self.act.files, self.state, &group.entry)
            .and_then(|()| self.forward(&group))
            .and_then(|()| verify().map_err(ApplyError::NotVerified))
            .and_then(|()| self.act.go_on())
            .and_then(|()| self.mark(group.entry.clone(), Progress::Done));
        done.map_err(|cause| match self.give_up(group.entry, &cause) {
            Ok(()) => cause,
            Err(trouble) => ApplyError::NotRestored {
                cause: Box::new(cause),
                trouble: Box::new(trouble),
                backups: backups(self.state),
            },
        })
    }

    fn forward(&self, group: &Group<'_>) -> Result<(), ApplyError> {
        let records = &group.entry.files;
        for directory in &group.entry.directories {
            self.act.make_directory(directory, group.directory_mode)?;
        }
        for (record, wanted) in records.iter().zip(group.wanted) {
            if let (Some(path), Some(stamp), Some(bytes)) =
                (&record.backup, &record.before, &wanted.before)
            {
                self.act.place(path, bytes, Owner::from(stamp), None)?;
            }
        }
        self.act.sync_directory(&backups(self.state))?;
        for ((record, wanted), &owner) in records.iter().zip(group.wanted).zip(&group.owners) {
            if let Some(bytes) = &wanted.after {
                let like = record.before.is_some().then_some(&*record.target);
                self.act.place(&record.temporary, bytes, owner, like)?;
            }
        }
        for (record, wanted) in records.iter().zip(group.wanted) {
            self.compare(wanted, &record.target)?;
        }
        for record in records {
            match record.after {
                Some(_) => self.act.rename(&record.temporary, &record.target)?,
                None => self.act.remove(&record.target)?,
            }
        }
        for directory in parents(&group.entry) {
            self.act.sync_directory(directory)?;
        }
        Ok(())
    }

    fn give_up(&self, entry: Entry, cause: &ApplyError) -> Result<(), ApplyError> {
        let left = self.undo(&entry, not_ours(cause))?.pop();
        // What was found changed before the first rename is untouched by us.
        match left.filter(|_| !matches!(cause, ApplyError::Changed(_))) {
            Some(changed) => Err(ApplyError::Changed(changed)),
            None => self.mark(entry, Progress::Undone).map(drop),
        }
    }

    /// Brings every file of an entry back to what it was, whatever the run had come to. Says which files are
    /// neither the old nor the new ones: they are somebody else's work and stay. So does a file that took the
    /// name `not_ours` before we could.
    fn undo(&self, entry: &Entry, not_ours: Option<&Path>) -> Result<Vec<PathBuf>, ApplyError> {
        let act = Steps {
            cancelled: None,
            ..self.act
        };
        let mut left = Vec::new();
        for record in &entry.files {
            if Some(&*record.temporary) != not_ours {
                act.remove_if_there(&record.temporary)?;
            }
            let now = act.read(&record.target)?.as_deref().map(sha256);
            let before = record.before.as_ref().map(|stamp| &stamp.sha256);
            if now.as_ref() == before {
                // Not replaced yet, or back already.
            } else if now == record.after {
                put_back(act, record)?;
            } else {
                left.push(record.path.clone());
            }
        }
        for directory in parents(entry) {
            if act.status(directory)?.is_some() {
                act.sync_directory(directory)?;
            }
        }
        for directory in entry.directories.iter().rev() {
            // Not ours any more once somebody has put a file there.
            let _ = act.files.remove_directory(directory);
        }
        if left.is_empty() {
            for backup in entry
                .files
                .iter()
                .filter_map(|record| record.backup.as_ref())
            {
                if Some(&**backup) != not_ours {
                    act.remove_if_there(backup)?;
                }
            }
        }
        Ok(left)
    }

    fn mark(&self, mut entry: Entry, progress: Progress) -> Result<Entry, ApplyError> {
        entry.progress = progress;
        journal::write(self.act.files, self.state, &entry)?;
        Ok(entry)
    }

    /// What is really replaced when `path` is: the end of its links. Directories that are missing on the way
    /// are added to `missing`.
    fn locate(&self, path: &Path, missing: &mut Vec<PathBuf>) -> Result<PathBuf, ApplyError> {
        let files = self.act.files;
        match files.canonical(path) {
            Ok(target) => return Ok(target),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(ApplyError::step("follow the links of", path)(error));
            }
            Err(_) => {}
        }
        if self.act.status(path)?.is_some() {
            let what = "a symbolic link that leads nowhere";
            return Err(ApplyError::not_a_file(path, what));
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(ApplyError::not_a_file(path, "not the name of a file"));
        };
        let directory = self.locate(parent, missing)?;
        if self.act.status(&directory)?.is_none() && !missing.contains(&directory) {
            missing.push(directory.clone());
        }
        Ok(directory.join(name))
    }

    /// Whether a file still is what the change was planned on; what it is.
    fn compare(&self, wanted: &Wanted, target: &Path) -> Result<Option<Stamp>, ApplyError> {
        let status = self.act.status(target)?;
        if status.is_some_and(|status| status.kind != Kind::File) {
            return Err(ApplyError::not_a_file(target, "not a regular file"));
        }
        let bytes = self.act.read(target)?;
        if bytes != wanted.before {
            return Err(ApplyError::Changed(wanted.path.clone()));
        }
        Ok(bytes
            .zip(status)
            .map(|(bytes, status)| Stamp::new(&bytes, &status)))
    }
}

/// The file that was already there when we wanted to create it.
fn not_ours(cause: &ApplyError) -> Option<&Path> {
    match cause {
        ApplyError::Step { path, cause, .. } if cause.kind() == io::ErrorKind::AlreadyExists => {
            Some(path)
        }
        _ => None,
    }
}

fn put_back(act: Steps<'_>, record: &Record) -> Result<(), ApplyError> {
    let (Some(backup), Some(stamp)) = (&record.backup, &record.before) else {
        return act.remove(&record.target);
    };
    let bytes = act.files.read(backup);
    let bytes = bytes.map_err(ApplyError::step("read the backup", backup))?;
    if sha256(&bytes) != stamp.sha256 {
        return Err(ApplyError::DamagedBackup(backup.clone()));
    }
    let like = record.after.is_some().then_some(&*record.target);
    act.place(&record.temporary, &bytes, Owner::from(stamp), like)?;
    act.rename(&record.temporary, &record.target)
}

/// The directories of the journal. Gives those that were missing.
fn make_state(act: Steps<'_>, state: &Path) -> Result<Vec<PathBuf>, ApplyError> {
    let mut made = Vec::new();
    let above = state.ancestors().skip(1).collect::<Vec<_>>();
    let above = above.into_iter().rev().map(|path| (path.to_owned(), 0o755));
    let own = [state.to_owned(), journal::directory(state), backups(state)];
    for (directory, mode) in above.chain(own.map(|path| (path, 0o700))) {
        // The root may be a link; what is no directory after all is told by the next step.
        if act.files.status(&directory).is_err() {
            act.make_directory(&directory, mode)?;
            made.push(directory);
        }
    }
    Ok(made)
}

fn parents(entry: &Entry) -> BTreeSet<&Path> {
    let targets = entry.files.iter();
    targets
        .filter_map(|record| record.target.parent())
        .collect()
}

fn holder(files: &dyn Files, lock: &Path) -> Option<u32> {
    let text = files.read(lock).ok()?;
    std::str::from_utf8(&text).ok()?.trim().parse().ok()
}
