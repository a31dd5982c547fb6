//! Reading: each file once, what went wrong, and how much is enough.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use engine::installed::releases::Release;

use super::{Location, Problem, Severity};
use crate::files::{Files, Kind, Status};
use crate::syntax::{self, Dialect, Line, Token, Tree};

/// How deep `Include` may nest (`READCONF_MAX_DEPTH`, `SERVCONF_MAX_DEPTH`).
pub(super) const DEEPEST: usize = 16;

/// Files read again and again by nested includes, beyond which no honest configuration goes.
const MOST_INCLUSIONS: usize = 20_000;

/// A file system with a memory, and the problems met.
pub(super) struct Reading<'f> {
    pub(super) files: &'f dyn Files,
    dialect: Dialect,
    trees: HashMap<PathBuf, Rc<Read>>,
    order: Vec<PathBuf>,
    problems: Vec<Problem>,
    /// Where in `problems` one of a certain hash is.
    reported: HashMap<u64, usize>,
    unread: Vec<Location>,
    inclusions: usize,
    exhausted: bool,
}

/// What was met in all files.
pub(super) struct Finished {
    pub(super) problems: Vec<Problem>,
    pub(super) files: Vec<PathBuf>,
    pub(super) unread: Vec<Location>,
}

/// What reading a file gave.
pub(super) enum Read {
    /// Its lines. A directory reads as an empty file.
    Tree(Tree),
    /// It is not there.
    Missing,
    /// The system refuses it.
    Failed(io::Error),
}

impl<'f> Reading<'f> {
    pub(super) fn new(files: &'f dyn Files, dialect: Dialect) -> Self {
        Self {
            files,
            dialect,
            trees: HashMap::new(),
            order: Vec::new(),
            problems: Vec::new(),
            reported: HashMap::new(),
            unread: Vec::new(),
            inclusions: 0,
            exhausted: false,
        }
    }

    /// What was met, in order.
    pub(super) fn finish(self) -> Finished {
        Finished {
            problems: self.problems,
            files: self.order,
            unread: self.unread,
        }
    }

    /// Notes an Include whose files cannot be known here.
    pub(super) fn leave_unread(&mut self, location: Location, what: &str) {
        if !self.unread.contains(&location) {
            self.unread.push(location.clone());
        }
        self.report(
            Severity::Warning,
            location,
            what,
            "write the path out if it holds a Ciphers line",
        );
    }

    /// A file's lines, read at the first call.
    pub(super) fn read(&mut self, path: &Path) -> Rc<Read> {
        if let Some(known) = self.trees.get(path) {
            return Rc::clone(known);
        }
        let read = Rc::new(self.read_now(path));
        if matches!(*read, Read::Tree(_)) {
            self.order.push(path.to_owned());
        }
        self.trees.insert(path.to_owned(), Rc::clone(&read));
        read
    }

    fn read_now(&mut self, path: &Path) -> Read {
        if let Ok(status) = self.files.status(path)
            && status.kind == Kind::Directory
        {
            self.report(
                Severity::Warning,
                Location::whole(path),
                "this is a directory, which reads as an empty file",
                "name a file",
            );
            return Read::Tree(syntax::parse(Vec::new(), self.dialect));
        }
        match self.files.read(path) {
            Ok(bytes) => Read::Tree(syntax::parse(bytes, self.dialect)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Read::Missing,
            Err(error) => Read::Failed(error),
        }
    }

    /// Counts one more inclusion. False once there have been more than any honest configuration has.
    pub(super) fn may_include(&mut self, at: &Location) -> bool {
        self.inclusions += 1;
        if self.inclusions > MOST_INCLUSIONS && !self.exhausted {
            self.exhausted = true;
            self.report(
                Severity::Warning,
                at.clone(),
                &format!("more than {MOST_INCLUSIONS} inclusions; the rest is not looked at"),
                "include each file once",
            );
        }
        !self.exhausted
    }

    /// Includes nothing any more: the program would have stopped.
    pub(super) fn exhaust(&mut self) {
        self.exhausted = true;
    }

    /// Notes a problem, once.
    pub(super) fn report(
        &mut self,
        severity: Severity,
        location: Location,
        what: &str,
        cure: impl Into<String>,
    ) {
        match self.reported.entry(hash(&location, what)) {
            Entry::Occupied(known) => {
                let known = &self.problems[*known.get()];
                if known.location == location && known.what == what {
                    return;
                }
            }
            Entry::Vacant(free) => {
                free.insert(self.problems.len());
            }
        }
        self.problems.push(Problem {
            severity,
            location,
            what: what.to_owned(),
            cure: cure.into(),
        });
    }

    /// Notes what makes the program refuse.
    pub(super) fn refuse(&mut self, location: Location, what: &str, cure: impl Into<String>) {
        self.report(Severity::Error, location, what, cure);
    }

    /// Up to 7.7 both programs read lines into a buffer, and give up where one does not fit.
    pub(super) fn check_length(&mut self, release: Release, path: &Path, line: &Line) {
        const LONGEST: usize = 4094;
        if release < Release::new(7, 8) && line.span.len() > LONGEST {
            let location = Location {
                file: path.to_owned(),
                line: line.number,
                column: 0,
            };
            self.refuse(
                location,
                "line too long",
                format!("{release} reads lines of up to {LONGEST} bytes: shorten it"),
            );
        }
    }

    /// Whether `ssh` trusts a file's owner and mode (`secure_permissions` in `misc.c`).
    pub(super) fn is_trusted(&self, status: &Status, uid: u32, private_groups: bool) -> bool {
        let owned = status.uid == 0 || status.uid == uid;
        let by_group = status.mode & 0o020 != 0;
        let by_others = status.mode & 0o002 != 0;
        let private = || private_groups && is_private_group(self.files, status, uid);
        owned && !by_others && (!by_group || private())
    }
}

fn hash(location: &Location, what: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (location, what).hash(&mut hasher);
    hasher.finish()
}

/// The home of a user of the tree.
pub(super) fn home_of(files: &dyn Files, user: &[u8]) -> Option<PathBuf> {
    let passwd = files.read(Path::new("/etc/passwd")).unwrap_or_default();
    passwd.split(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b':');
        (fields.next()? == user).then(|| fields.nth(4).map(bytes_path))?
    })
}

/// Debian's exception: a group whose only member is the owner of the file, who asks.
fn is_private_group(files: &dyn Files, status: &Status, uid: u32) -> bool {
    let table = |path: &str| files.read(Path::new(path)).unwrap_or_default();
    let (passwd, group) = (table("/etc/passwd"), table("/etc/group"));
    let fields = |line: &[u8]| -> Vec<String> {
        let line = String::from_utf8_lossy(line);
        line.split(':').map(ToOwned::to_owned).collect()
    };
    let users: Vec<_> = passwd.split(|&byte| byte == b'\n').map(fields).collect();
    let id = |user: &[String], at: usize| user.get(at).and_then(|text| text.parse::<u32>().ok());
    let primary: Vec<_> = users
        .iter()
        .filter(|user| id(user, 3) == Some(status.gid))
        .collect();
    let owner = users.iter().find(|user| id(user, 2) == Some(status.uid));
    let groups = group.split(|&byte| byte == b'\n').map(fields);
    let group = { groups }.find(|group| id(group, 2) == Some(status.gid));
    let (Some(owner), Some(group)) = (owner, group) else {
        return false;
    };
    let members = group.get(3).map_or("", |members| members.trim());
    let others = !members.is_empty() && *members != *owner[0];
    let strangers = primary.iter().any(|user| id(user, 2) != Some(uid));
    let anyone = !primary.is_empty() || !members.is_empty();
    anyone && !others && !strangers
}

/// Whether a pattern may stand for several files.
pub(super) fn has_wildcard(pattern: &Path) -> bool {
    let bytes = pattern.as_os_str().as_encoded_bytes();
    bytes.iter().any(|byte| b"*?[".contains(byte))
}

/// A path as a file names it.
#[cfg(unix)]
pub(super) fn bytes_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
pub(super) fn bytes_path(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Where a word stands.
pub(super) fn at(path: &Path, tree: &Tree, line: &Line, token: &Token) -> Location {
    let (line, column) = tree.position(line, token.span.start);
    Location {
        file: path.to_owned(),
        line,
        column,
    }
}
