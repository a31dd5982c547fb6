//! Changes on disk: the one dangerous room.
//!
//! Lock, compare with what the plan was made on, ask the real program about the whole candidate tree,
//! journal, back up, write beside the old file, rename, resolve again. Whatever fails, the old bytes,
//! modes and names are back and no file of ours is left beside them; a run that was killed in the middle
//! is put right by the next one. Nothing in here decides what is written: that is the plan's business.
//!
//! **Invariant:** every change goes through [`Changes`], one call a step, so that a test can make each
//! step fail. Nothing is written where the plan is empty.
#![forbid(unsafe_code)]

mod failure;
mod journal;
mod rollback;
mod steps;
mod transaction;
mod validation;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use crate::files::Changes;
use crate::layout::Layout;
use crate::plan::Plan;

pub use failure::ApplyError;
pub(crate) use journal::civil;
pub use journal::{Deed, Entry, Progress, Record, Stamp};
pub use rollback::{Recovery, history, recover, rollback};
pub use validation::{Program, Validator, Verdict};

use transaction::{Session, Wanted};

/// Whose configuration is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The machine's: new files are readable by all.
    System,
    /// One user's: new files and directories are theirs alone.
    User,
}

impl Scope {
    /// Mode of a file that did not exist.
    fn file_mode(self) -> u32 {
        match self {
            Self::System => 0o644,
            Self::User => 0o600,
        }
    }

    /// Mode of a directory that did not exist.
    fn directory_mode(self) -> u32 {
        match self {
            Self::System => 0o755,
            Self::User => 0o700,
        }
    }
}

/// Where journal, lock and backups live: `/var/lib/cipher-advisor` for the machine's configuration (on
/// Windows below `%ProgramData%`), `cipher-advisor` in `$XDG_STATE_HOME` or `~/.local/state` for a user's own.
#[must_use]
pub fn state_directory(
    scope: Scope,
    layout: &Layout,
    home: &Path,
    xdg_state_home: Option<&Path>,
) -> PathBuf {
    match (scope, xdg_state_home) {
        (Scope::System, _) => layout.state_directory(),
        (Scope::User, Some(state)) if state.is_absolute() => state.join("cipher-advisor"),
        (Scope::User, _) => home.join(".local/state/cipher-advisor"),
    }
}

/// Where and how to write.
pub struct ApplyRequest<'a> {
    /// The tree.
    pub files: &'a dyn Changes,
    /// [`state_directory`].
    pub state: &'a Path,
    /// Whose configuration it is.
    pub scope: Scope,
    /// The time, for the journal and the names of backups.
    pub now: SystemTime,
    /// Set by a signal handler; looked at before every step that changes something.
    pub cancelled: &'a AtomicBool,
    /// Asks the installed program about the candidate tree, with the lock held and before anything is written.
    pub validate: &'a dyn Fn() -> Result<(), ApplyError>,
    /// Resolves the files again once they are written; an `Err` says how the result differs from the plan.
    pub verify: &'a dyn Fn() -> Result<(), String>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file, as the plan names it.
    pub file: PathBuf,
    /// Its old bytes; `None` where there was no such file.
    pub backup: Option<PathBuf>,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The journal's number; `None` when there was nothing to write.
    pub id: Option<u64>,
    /// The files, in the plans' order.
    pub changes: Vec<Change>,
    /// For a rollback that only had to undo an interrupted change: its files that somebody has changed since,
    /// and that were left as they are. No backups are left of the others.
    pub undone: Option<Vec<PathBuf>>,
}

/// Writes plans as one group: all of their files, or none.
///
/// # Errors
/// Whatever stops it. Nothing has changed then, but for [`ApplyError::NotRestored`], which says what is left.
pub fn apply(plans: &[Plan], request: &ApplyRequest<'_>) -> Result<Applied, ApplyError> {
    let edits = plans.iter().flat_map(|plan| &plan.edits);
    let wanted: Vec<Wanted> = edits
        .filter(|edit| edit.before.as_deref() != Some(&edit.after))
        .map(|edit| Wanted {
            path: edit.path.clone(),
            before: edit.before.clone(),
            after: Some(edit.after.clone()),
            owner: None,
        })
        .collect();
    // Also where nothing is wanted: what a killed run left is put right by the next one.
    recover(request.files, request.state, request.cancelled)?;
    if wanted.is_empty() {
        return Ok(Applied::default());
    }
    let session = Session::open(request.files, request.state, request.cancelled)?;
    let prepared = session
        .recover()
        .and_then(|_| session.group(Deed::Apply, &wanted, request.scope, request.now))
        .and_then(|group| (request.validate)().map(|()| group));
    match prepared {
        Ok(group) => session.commit(group, request.verify).map(Applied::from),
        Err(refusal) => {
            session.leave_no_trace();
            Err(refusal)
        }
    }
}

impl From<Entry> for Applied {
    fn from(entry: Entry) -> Self {
        let changes = entry.files.into_iter().map(|record| Change {
            file: record.path,
            backup: record.backup,
        });
        Self {
            id: Some(entry.id),
            changes: changes.collect(),
            undone: None,
        }
    }
}
