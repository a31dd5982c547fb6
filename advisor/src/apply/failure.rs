//! What can stop a change, in words that say what to do.
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};

/// Why nothing was written, or what was left half done.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A file is not what the plan was made on.
    #[error("{}: changed since it was read; run again to plan on what it holds now", .0.display())]
    Changed(PathBuf),
    /// A file is not what the change that is to be taken back made of it.
    #[error("{}: changed since it was written; nothing was changed (--force puts the old bytes back all the same)", .0.display())]
    ChangedSince(PathBuf),
    /// A backup does not hold the bytes that were saved in it.
    #[error("{}: this backup is not what was saved; nothing was changed", .0.display())]
    DamagedBackup(PathBuf),
    /// Another run holds the lock.
    #[error("another run{} is changing the configuration; wait until it has ended", pid_text(*.0))]
    Busy(Option<u32>),
    /// The installed program would not start with the new files, or would use another list.
    #[error("{0}; nothing was changed")]
    Refused(String),
    /// The installed program could not be asked.
    #[error(
        "cannot validate the new configuration here: {reason}; {help}, or pass --no-validate; nothing was changed"
    )]
    CannotValidate {
        /// Why not.
        reason: String,
        /// What would make it possible.
        help: String,
    },
    /// The system refused a step.
    #[error("{}: cannot {doing}: {cause}{}; nothing was changed", path.display(), hint(cause))]
    Step {
        /// What was tried, as in "cannot …".
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// Nothing that can be replaced: a directory, a device, a link that leads nowhere.
    #[error("{}: {what}; nothing was changed", path.display())]
    NotAFile {
        /// Which.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// The files were written, but resolved again they do not give the planned list.
    #[error("after writing, {0}; the old files are back")]
    NotVerified(String),
    /// A signal asked to stop.
    #[error("interrupted; nothing was changed")]
    Interrupted,
    /// A failure, and after it the old state could not be restored completely.
    #[error("{cause}\nand then not everything could be put back: {trouble}\nthe next run will try again; the old bytes are in {}", backups.display())]
    NotRestored {
        /// What went wrong first.
        cause: Box<ApplyError>,
        /// What went wrong while putting back.
        trouble: Box<ApplyError>,
        /// Where the old bytes are.
        backups: PathBuf,
    },
    /// A file of the journal cannot be understood.
    #[error("{}: not an entry of the journal: {what}; move it away to go on without it", path.display())]
    Journal {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Somebody else could have written the journal: nothing it says is done.
    #[error("{}: belongs to somebody else, or others may write to it; see who did that, then give it to the user who runs this, with mode go-w, or move it away; nothing was changed", .0.display())]
    Untrusted(PathBuf),
    /// There is nothing to put back.
    #[error("nothing to put back: {0}")]
    NothingToRollBack(String),
}

impl ApplyError {
    pub(super) fn step(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::Step { doing, path, cause }
    }

    pub(super) fn not_a_file(path: &Path, what: &'static str) -> Self {
        Self::NotAFile {
            path: path.to_owned(),
            what,
        }
    }

    /// The exit code the command line promises: 130 when interrupted, else 2.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted => 130,
            _ => 2,
        }
    }
}

fn pid_text(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

/// The errno's name, and what usually stands behind it where a configuration file is replaced.
fn hint(cause: &io::Error) -> &'static str {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let known = [
            (
                Errno::BUSY,
                " (EBUSY: it is a mount point, as in containers; change it where it is mounted from)",
            ),
            (
                Errno::ROFS,
                " (EROFS: the file system is read-only; change the image or remount it)",
            ),
            (
                Errno::PERM,
                " (EPERM: protected with chattr +i or +a, or owned by somebody else; see lsattr)",
            ),
            (
                Errno::ACCESS,
                " (EACCES: not yours to change; run as root; for the client alone --user-config works on your own file)",
            ),
            (Errno::NOSPC, " (ENOSPC: the disk is full)"),
            (Errno::DQUOT, " (EDQUOT: the quota is used up)"),
            (Errno::IO, " (EIO: the disk failed)"),
        ];
        let code = cause.raw_os_error();
        let hint = known
            .iter()
            .find(|(errno, _)| Some(errno.raw_os_error()) == code);
        hint.map_or("", |(_, text)| text)
    }
    #[cfg(not(unix))]
    {
        let _ = cause;
        ""
    }
}
