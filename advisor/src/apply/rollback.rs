//! Putting back: what the last run replaced, and what an interrupted run left.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::journal::{self, Deed, Entry, Progress, Record, sha256};
use super::steps::Owner;
use super::transaction::{Session, Wanted};
use super::{Applied, ApplyError, ApplyRequest, Change};
use crate::files::{Changes, Files};

/// An interrupted change that was undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The change.
    pub entry: Entry,
    /// Its files that somebody has changed since, and that were left as they are.
    pub left: Vec<PathBuf>,
}

/// Undoes what a killed run left. Writes nothing where there is nothing of the kind.
///
/// # Errors
/// When another run holds the lock, or a step fails.
pub fn recover(
    files: &dyn Changes,
    state: &Path,
    cancelled: &std::sync::atomic::AtomicBool,
) -> Result<Vec<Recovery>, ApplyError> {
    if !journal::is_unsettled(files, state)? {
        return Ok(Vec::new());
    }
    let session = Session::open(files, state, cancelled)?;
    let undone = session.recover()?.into_iter();
    Ok(undone
        .map(|(entry, left)| Recovery { entry, left })
        .collect())
}

/// Every change the journal knows, oldest first.
///
/// # Errors
/// When the journal cannot be read.
pub fn history(files: &dyn Files, state: &Path) -> Result<Vec<Entry>, ApplyError> {
    journal::entries(files, state)
}

/// Puts back what an entry replaced: bytes, modes, owners; files that did not exist go. Without a number it is
/// the last applied one that was not put back yet, and where that one was interrupted, undoing it is all
/// there is to do. A rollback is an entry of its own.
///
/// # Errors
/// When a file was changed since, unless `force`; when there is nothing to put back; when a step fails.
pub fn rollback(
    number: Option<u64>,
    force: bool,
    request: &ApplyRequest<'_>,
) -> Result<Applied, ApplyError> {
    let recovered = recover(request.files, request.state, request.cancelled)?;
    let interrupted = |it: &&Recovery| it.entry.deed == Deed::Apply;
    if let (None, Some(undone)) = (number, recovered.iter().find(interrupted)) {
        return Ok(Applied::from(undone));
    }
    // Looked at first, so that a rollback of nothing leaves no trace.
    choose(&journal::entries(request.files, request.state)?, number)?;
    let session = Session::open(request.files, request.state, request.cancelled)?;
    session.recover()?;
    let entry = choose(&journal::entries(request.files, request.state)?, number)?;
    let mut wanted = Vec::new();
    for record in &entry.files {
        wanted.push(reversed(request.files, record, force)?);
    }
    // Somebody may have put a file back by hand.
    wanted.retain(|one| one.before != one.after);
    let deed = Deed::RollbackOf(entry.id);
    let group = session.group(deed, &wanted, request.scope, request.now)?;
    let done = session.commit(group, request.verify)?;
    for directory in entry.directories.iter().rev() {
        // An empty directory harms nobody, and one that is not empty is not ours any more.
        let _ = request.files.remove_directory(directory);
    }
    Ok(Applied::from(done))
}

impl From<&Recovery> for Applied {
    /// The files that are back; their backups went with the change.
    fn from(undone: &Recovery) -> Self {
        let records = undone.entry.files.iter();
        let back = records.filter(|record| !undone.left.contains(&record.path));
        Self {
            id: Some(undone.entry.id),
            changes: back
                .map(|record| Change {
                    file: record.path.clone(),
                    backup: None,
                })
                .collect(),
            undone: Some(undone.left.clone()),
        }
    }
}

fn choose(entries: &[Entry], number: Option<u64>) -> Result<Entry, ApplyError> {
    let done = || {
        entries
            .iter()
            .filter(|entry| entry.progress == Progress::Done)
    };
    let put_back: BTreeSet<u64> = done()
        .filter_map(|entry| match entry.deed {
            Deed::RollbackOf(id) => Some(id),
            Deed::Apply => None,
        })
        .collect();
    let mut open =
        done().filter(|entry| entry.deed == Deed::Apply && !put_back.contains(&entry.id));
    let nothing = |why: String| ApplyError::NothingToRollBack(why);
    match number {
        None => open.next_back().cloned().ok_or_else(|| {
            nothing("the journal knows no change that was not put back already".into())
        }),
        Some(id) => open.find(|entry| entry.id == id).cloned().ok_or_else(|| {
            nothing(format!(
                "the journal has no change {id}, or it was put back already"
            ))
        }),
    }
}

fn reversed(files: &dyn Files, record: &Record, force: bool) -> Result<Wanted, ApplyError> {
    let now = match files.read(&record.target) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(ApplyError::step("read", &record.target)(error)),
    };
    if !force && now.as_deref().map(sha256) != record.after {
        return Err(ApplyError::ChangedSince(record.path.clone()));
    }
    let after = record.backup.as_ref().zip(record.before.as_ref());
    let after = after.map(|(backup, stamp)| {
        let bytes = files.read(backup);
        let bytes = bytes.map_err(ApplyError::step("read the backup", backup))?;
        if sha256(&bytes) == stamp.sha256 {
            Ok(bytes)
        } else {
            Err(ApplyError::DamagedBackup(backup.clone()))
        }
    });
    Ok(Wanted {
        path: record.target.clone(),
        before: now,
        after: after.transpose()?,
        owner: record.before.as_ref().map(Owner::from),
    })
}
