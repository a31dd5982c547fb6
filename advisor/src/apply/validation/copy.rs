//! A rewritten copy of what a program would read, in a private directory that goes with the value.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::candidate::Candidate;
use super::refusal::told;
use super::rewriting::{Part, Style, place, rewrite};
use super::{Verdict, cannot};
use crate::files::{Changes, Scratch, Status, SystemFiles, cure_of_reading};

/// The copy.
pub(super) struct Copy<'a> {
    directory: Scratch,
    /// Files by their real names: there is nothing to confine, for every name below is one we choose.
    files: SystemFiles,
    /// The directories made so far.
    made: HashSet<PathBuf>,
    style: Style<'a>,
    done: BTreeSet<(Part, PathBuf)>,
    hosts: Vec<String>,
    runs_commands: bool,
}

impl<'a> Copy<'a> {
    /// An empty one.
    pub(super) fn new(style: Style<'a>) -> Result<Self, Verdict> {
        let made = Scratch::new().and_then(|made| Ok((made, SystemFiles::new(Path::new("/"))?)));
        let (directory, files) = made.map_err(|error| trouble(&error))?;
        let top = directory.path().to_owned();
        let mut copy = Self {
            directory,
            files,
            made: HashSet::from([top.clone()]),
            style,
            done: BTreeSet::new(),
            hosts: Vec::new(),
            runs_commands: false,
        };
        copy.open_to_reader(&top, 0o750)?;
        if copy.style.real_names {
            // What is bound over /etc/ssh must be there even where nothing is in it.
            copy.make_directories(&copy.of(Part::System, Path::new("/etc/ssh")))?;
        }
        Ok(copy)
    }

    /// Copies a file and everything it includes.
    pub(super) fn add(
        &mut self,
        candidate: &Candidate<'_>,
        part: Part,
        file: &Path,
    ) -> Result<(), Verdict> {
        let mut rest = vec![file.to_owned()];
        while let Some(path) = rest.pop() {
            if !self.done.insert((part, path.clone())) {
                continue;
            }
            let read = candidate.read(&path);
            let read = read.map_err(|error| {
                let reason = format!("{}: cannot be read: {error}", path.display());
                cannot(reason, cure_of_reading(&error))
            })?;
            if let Some(bytes) = read {
                let root = self.directory.path();
                let rewritten = rewrite(candidate, &self.style, root, (part, &path), bytes)?;
                self.put(candidate, part, &path, path == file, &rewritten.bytes)?;
                self.runs_commands |= rewritten.runs_commands;
                self.note_hosts(rewritten.hosts);
                rest.extend(rewritten.includes);
            }
        }
        Ok(())
    }

    /// Puts a file of our own at the top of the copy.
    pub(super) fn put_own(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Verdict> {
        let path = self.path().join(name);
        let written = self.files.create(&path);
        let written = written.and_then(|()| self.files.write(&path, bytes));
        written.map_err(|error| trouble(&error))?;
        Ok(path)
    }

    /// From now on the file `key`, which a program has made at the top of the copy, stands in for host keys.
    pub(super) fn use_key(&mut self) -> Result<(), Verdict> {
        self.style.host_key = true;
        // sshd minds who may read a key only where it belongs to the user it runs as.
        let reader = self.style.reader.map_or(Ok(()), |reader| {
            self.files
                .set_owner(&self.path().join("key"), reader, reader)
        });
        reader.map_err(|error| trouble(&error))
    }

    /// Where the copy of a file, or of a directory, is.
    pub(super) fn of(&self, part: Part, path: &Path) -> PathBuf {
        place(self.directory.path(), part, path)
    }

    /// The directory itself.
    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Names that the Host and Match lines speak of, one for each pattern, at most eight.
    pub(super) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Whether a `Match exec` was met.
    pub(super) fn runs_commands(&self) -> bool {
        self.runs_commands
    }

    /// What the program said, about the real files.
    pub(super) fn real_names(&self, message: &str) -> String {
        let mut message = message.to_owned();
        for part in [Part::User, Part::System, Part::Server] {
            let prefix = self.of(part, Path::new("/"));
            message = message.replace(&*prefix.to_string_lossy(), "");
        }
        let lines = message.lines().map(str::trim);
        let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        lines.join("; ")
    }

    fn note_hosts(&mut self, hosts: Vec<String>) {
        const MOST: usize = 8;
        for host in hosts {
            if self.hosts.len() < MOST && !self.hosts.contains(&host) {
                self.hosts.push(host);
            }
        }
    }

    fn put(
        &mut self,
        candidate: &Candidate<'_>,
        part: Part,
        path: &Path,
        is_main: bool,
        bytes: &[u8],
    ) -> Result<(), Verdict> {
        let place = self.of(part, path);
        let parent = place.parent().unwrap_or(&place);
        self.make_directories(parent)?;
        let written = self.files.create(&place);
        let written = written.and_then(|()| self.files.write(&place, bytes));
        written.map_err(|error| trouble(&error))?;
        if part == Part::Server {
            return self.open_to_reader(&place, 0o640);
        }
        let Some(status) = candidate.status(path).map_err(|error| trouble(&error))? else {
            return Ok(());
        };
        if part == Part::System && is_main {
            // Nobody checks the owner of this one.
            return Ok(());
        }
        self.resemble(&place, path, &status)
    }

    /// `ssh` looks at the owner of the files it includes and at who may write to them.
    fn resemble(&self, place: &Path, path: &Path, status: &Status) -> Result<(), Verdict> {
        if status.uid != 0 && status.uid != self.style.uid {
            let what = format!("Bad owner or permissions on {}", path.display());
            return Err(Verdict::Refused(told("ssh", &what)));
        }
        if status.mode & 0o020 != 0 {
            // Debian asks who else is in the group. Whoever may not give a file to it is not in it.
            let _ = self.files.set_owner(place, self.style.uid, status.gid);
        }
        let set = self.files.set_mode(place, 0o600 | status.mode & 0o022);
        set.map_err(|error| trouble(&error))
    }

    fn make_directories(&mut self, path: &Path) -> Result<(), Verdict> {
        let missing = path.ancestors().take_while(|it| !self.made.contains(*it));
        let missing: Vec<_> = missing.map(Path::to_owned).collect();
        for directory in missing.into_iter().rev() {
            let made = self.files.create_directory(&directory, 0o700);
            made.map_err(|error| trouble(&error))?;
            self.open_to_reader(&directory, 0o750)?;
            self.made.insert(directory);
        }
        Ok(())
    }

    fn open_to_reader(&self, path: &Path, mode: u32) -> Result<(), Verdict> {
        let Some(group) = self.style.reader else {
            return Ok(());
        };
        let opened = self.files.set_owner(path, self.style.uid, group);
        let opened = opened.and_then(|()| self.files.set_mode(path, mode));
        opened.map_err(|error| trouble(&error))
    }
}

fn trouble(error: &io::Error) -> Verdict {
    cannot(
        format!("a copy of the configuration cannot be made: {error}"),
        "see whether there is room in /tmp",
    )
}
