//! The journal: one JSON file a change, written with the same care as the change itself.
//!
//! An entry is on the disk as *begun*, with every name it will use, before the first of them is created.
//! It becomes *done* or *undone* by one rename. What is found as *begun* when the lock is free was
//! interrupted.
//!
//! What an entry says is done with the rights of whoever runs this. So nobody else may have been able to write
//! it, and the names in it must be the ones we would choose.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ApplyError;
use crate::files::{Changes, Files, Status};

/// The version of the entries' form.
const SCHEMA: u32 = 1;

/// Why an entry was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// A plan was written.
    Apply,
    /// The entry of this number was put back.
    RollbackOf(u64),
}

/// How far a change got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    /// It may have touched files.
    Begun,
    /// It is complete.
    Done,
    /// It failed or was interrupted, and the old state is back.
    Undone,
}

/// What a file is, short of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// SHA-256 of the bytes, in hexadecimal.
    pub sha256: String,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

impl Stamp {
    pub(super) fn new(bytes: &[u8], status: &Status) -> Self {
        Self {
            sha256: sha256(bytes),
            mode: status.mode,
            uid: status.uid,
            gid: status.gid,
        }
    }
}

/// One file of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The file, as the plan names it.
    pub path: PathBuf,
    /// Where its links lead: what is really replaced.
    pub target: PathBuf,
    /// The file that becomes the target by being renamed.
    pub temporary: PathBuf,
    /// The copy of the old bytes; `None` where there was no such file.
    pub backup: Option<PathBuf>,
    /// What was there.
    pub before: Option<Stamp>,
    /// SHA-256 of what is to be there; `None` where the file is to go.
    pub after: Option<String>,
}

/// One change of a group of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    schema: u32,
    /// Its number, from 1.
    pub id: u64,
    /// Why.
    pub deed: Deed,
    /// How far.
    pub progress: Progress,
    /// When it began, in seconds since 1970 UTC.
    pub unix_time: u64,
    /// The files.
    pub files: Vec<Record>,
    /// The directories it made, outermost first.
    pub directories: Vec<PathBuf>,
}

impl Entry {
    pub(super) fn new(id: u64, deed: Deed, now: SystemTime) -> Self {
        let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH);
        Self {
            schema: SCHEMA,
            id,
            deed,
            progress: Progress::Begun,
            unix_time: since_1970.unwrap_or_default().as_secs(),
            files: Vec::new(),
            directories: Vec::new(),
        }
    }

    /// Adds a file, and chooses the names it needs.
    pub(super) fn add(
        &mut self,
        state: &Path,
        (path, target): (PathBuf, PathBuf),
        before: Option<Stamp>,
        after: Option<String>,
    ) {
        let number = self.files.len() + 1;
        self.files.push(Record {
            temporary: self.temporary(&target, number),
            backup: before
                .is_some()
                .then(|| self.backup(state, &target, number)),
            path,
            target,
            before,
            after,
        });
    }

    /// A name no Include pattern matches, for `*` passes over names that begin with a dot.
    fn temporary(&self, target: &Path, number: usize) -> PathBuf {
        target.with_file_name(format!(".cipher-advisor-{}-{number}", self.id))
    }

    /// A name that says when, and of which file where it is not too long a name for that.
    fn backup(&self, state: &Path, target: &Path, number: usize) -> PathBuf {
        const LONGEST: usize = 128;
        let mut file: OsString = format!("{}-{:06}-{number}", self.timestamp(), self.id).into();
        let name = target.file_name().unwrap_or_default();
        if name.len() <= LONGEST {
            file.push("-");
            file.push(name);
        }
        backups(state).join(file)
    }

    /// Whether an entry that was read has the names that were chosen when it was made.
    fn has_own_names(&self, state: &Path) -> bool {
        let mut numbered = (1..).zip(&self.files);
        numbered.all(|(number, record)| {
            let backup = self.backup(state, &record.target, number);
            record.temporary == self.temporary(&record.target, number)
                && record.backup.as_ref().is_none_or(|it| *it == backup)
                && record.backup.is_some() == record.before.is_some()
        })
    }

    /// When it began.
    #[must_use]
    pub fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.unix_time)
    }

    /// When it began, as backups are named: `20261130T204657Z`.
    #[must_use]
    pub fn timestamp(&self) -> String {
        let (days, second) = (self.unix_time / 86_400, self.unix_time % 86_400);
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }
}

/// SHA-256 in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All entries, oldest first. No journal is an empty one.
pub(super) fn entries(files: &dyn Files, state: &Path) -> Result<Vec<Entry>, ApplyError> {
    let directory = directory(state);
    let names = match files.list(&directory) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ApplyError::step("list the journal", &directory)(error)),
    };
    require_trust(files, state)?;
    require_trust(files, &directory)?;
    let mut entries = Vec::new();
    for path in names {
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
            && !is_hidden(&path)
        {
            entries.push(entry(files, state, &path)?);
        }
    }
    entries.sort_by_key(|entry| entry.id);
    Ok(entries)
}

/// Puts an entry on the disk, or replaces it, at one stroke.
pub(super) fn write(files: &dyn Changes, state: &Path, entry: &Entry) -> Result<(), ApplyError> {
    let directory = directory(state);
    let path = place(state, entry.id);
    let unfinished = directory.join(format!(".{:06}.json", entry.id));
    let text = serde_json::to_vec_pretty(entry).map_err(|error| ApplyError::Journal {
        path: path.clone(),
        what: error.to_string(),
    })?;
    let written = create(files, &unfinished, &text).and_then(|()| files.rename(&unfinished, &path));
    if let Err(error) = written {
        // What cannot be removed now is removed by the next run.
        let _ = files.remove(&unfinished);
        return Err(ApplyError::step("write the journal", &path)(error));
    }
    let synced = files.sync_directory(&directory);
    synced.map_err(ApplyError::step("flush", &directory))
}

/// Whether a run was killed in the middle of a change.
pub(super) fn is_unsettled(files: &dyn Files, state: &Path) -> Result<bool, ApplyError> {
    let entries = entries(files, state)?;
    let begun = |entry: &Entry| entry.progress == Progress::Begun;
    let unfinished = files.list(&directory(state)).unwrap_or_default();
    Ok(entries.iter().any(begun) || unfinished.iter().any(|path| is_unfinished(path)))
}

/// Removes what a killed run left of an entry it was writing.
pub(super) fn tidy(files: &dyn Changes, state: &Path) -> Result<(), ApplyError> {
    let directory = directory(state);
    let names = files.list(&directory);
    let names = names.map_err(ApplyError::step("list the journal", &directory))?;
    for path in names.iter().filter(|path| is_unfinished(path)) {
        files
            .remove(path)
            .map_err(ApplyError::step("remove", path))?;
    }
    Ok(())
}

/// Where the entries are.
pub(super) fn directory(state: &Path) -> PathBuf {
    state.join("journal")
}

/// Where the old bytes are.
pub(super) fn backups(state: &Path) -> PathBuf {
    state.join("backups")
}

/// That nobody could have written what is at a path but this user, or root, who may write everything anyway.
pub(super) fn require_trust(files: &dyn Files, path: &Path) -> Result<(), ApplyError> {
    let status = files.status(path);
    let status = status.map_err(ApplyError::step("look at", path))?;
    if [0, user()].contains(&status.uid) && status.mode & 0o022 == 0 {
        Ok(())
    } else {
        Err(ApplyError::Untrusted(path.to_owned()))
    }
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}

/// Where an entry is.
pub(super) fn place(state: &Path, id: u64) -> PathBuf {
    directory(state).join(format!("{id:06}.json"))
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b".")
}

/// Whether it is named as an entry is while it is being written.
fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = name.strip_prefix('.');
    let number = number.and_then(|rest| rest.strip_suffix(".json"));
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

fn entry(files: &dyn Files, state: &Path, path: &Path) -> Result<Entry, ApplyError> {
    require_trust(files, path)?;
    let bytes = files.read(path).map_err(ApplyError::step("read", path))?;
    let journal = |what: String| ApplyError::Journal {
        path: path.to_owned(),
        what,
    };
    let entry: Entry =
        serde_json::from_slice(&bytes).map_err(|error| journal(error.to_string()))?;
    if entry.schema != SCHEMA {
        return Err(journal(format!("its form is number {}", entry.schema)));
    }
    if path != place(state, entry.id) || !entry.has_own_names(state) {
        return Err(journal("it has names we never choose".into()));
    }
    Ok(entry)
}

fn create(files: &dyn Changes, path: &Path, bytes: &[u8]) -> io::Result<()> {
    files.create(path)?;
    files.write(path, bytes)?;
    files.sync(path)
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar.
pub(crate) fn civil(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the leap day comes last; 719468 days lie before 1970-01-01.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_utc() {
        let stamp = |seconds| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            Entry::new(1, Deed::Apply, now).timestamp()
        };
        assert_eq!(stamp(0), "19700101T000000Z");
        assert_eq!(stamp(951_827_696), "20000229T123456Z");
        assert_eq!(stamp(951_868_800), "20000301T000000Z");
        assert_eq!(stamp(1_796_071_617), "20261130T204657Z");
        assert_eq!(stamp(4_107_542_399), "21000228T235959Z");
        assert_eq!(stamp(4_107_542_400), "21000301T000000Z");
    }

    #[test]
    fn a_hash_is_the_known_one() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
    }
}
