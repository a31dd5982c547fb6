//! One file as the program is to read it in the copy: Includes lead into the copy, commands and host keys are
//! replaced. Lines keep their numbers, so that messages fit the real file.
#![forbid(unsafe_code)]

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use super::candidate::Candidate;
use super::refusal::told;
use super::{Verdict, cannot};
use crate::files::cure_of_reading;
use crate::layout::Layout;
use crate::resolver::Criterion;
use crate::syntax::{self, Dialect, Line, Statement, Tree, Words};

/// As whose file a copy is read: relative Includes mean something else in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// `~/.ssh/config` and what it includes.
    User,
    /// `/etc/ssh/ssh_config` and what it includes.
    System,
    /// `sshd_config` and what it includes.
    Server,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::System => "system",
            Self::Server => "server",
        }
    }
}

/// How to rewrite.
#[derive(Clone, Debug)]
pub(super) struct Style<'a> {
    pub(super) dialect: Dialect,
    /// Where relative Includes of the system's files count from, and how paths are written.
    pub(super) layout: &'a Layout,
    /// What `~` and relative Includes of the user's file mean.
    pub(super) home: &'a Path,
    /// What the commands of `Match exec` are taken to answer.
    pub(super) exec: bool,
    /// The copy will be seen under the real names: relative Includes find it by themselves, and the program
    /// judges `~` on its own.
    pub(super) real_names: bool,
    /// The caller, who must own what `ssh` is to read.
    pub(super) uid: u32,
    /// Whether there is a `key` at the top of the copy, to stand in for the server's own.
    pub(super) host_key: bool,
    /// The group that may read the copy, where the program will run as somebody else.
    pub(super) reader: Option<u32>,
}

/// A file rewritten.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    pub(super) bytes: Vec<u8>,
    /// The files it may include.
    pub(super) includes: Vec<PathBuf>,
    /// A name for each pattern its Host and Match lines speak of.
    pub(super) hosts: Vec<String>,
    /// Whether it has a `Match exec`.
    pub(super) runs_commands: bool,
}

/// Rewrites a file for a copy at `root`.
pub(super) fn rewrite(
    candidate: &Candidate<'_>,
    style: &Style<'_>,
    root: &Path,
    (part, file): (Part, &Path),
    bytes: Vec<u8>,
) -> Result<Rewritten, Verdict> {
    let tree = syntax::parse(bytes, style.dialect);
    let mut rewriting = Rewriting {
        candidate,
        style,
        root,
        part,
        file,
        edits: Vec::new(),
        result: Rewritten::default(),
    };
    for line in tree.lines() {
        if let Some(statement) = line.statement().filter(|found| found.fault.is_none()) {
            rewriting.statement(&tree, line, statement)?;
        }
    }
    let mut bytes = tree.print();
    for (span, text) in rewriting.edits.into_iter().rev() {
        bytes.splice(span, text);
    }
    Ok(Rewritten {
        bytes,
        ..rewriting.result
    })
}

/// Where the copy at `root` has a path. `..` becomes a name, lest it lead out.
pub(super) fn place(root: &Path, part: Part, path: &Path) -> PathBuf {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(Path::new(name)),
        Component::ParentDir => Some(Path::new("=above=")),
        _ => None,
    });
    let mut place = root.join(part.name());
    place.extend(parts);
    place
}

struct Rewriting<'r> {
    candidate: &'r Candidate<'r>,
    style: &'r Style<'r>,
    root: &'r Path,
    part: Part,
    file: &'r Path,
    /// In order of their places.
    edits: Vec<(Range<usize>, Vec<u8>)>,
    result: Rewritten,
}

/// What an Include argument means on the host, and how to write it in the copy where it cannot stay.
struct Meaning {
    pattern: PathBuf,
    written: Option<PathBuf>,
}

impl Rewriting<'_> {
    fn statement(
        &mut self,
        tree: &Tree,
        line: &Line,
        statement: &Statement,
    ) -> Result<(), Verdict> {
        let client = self.part != Part::Server;
        match statement.keyword.value.to_ascii_lowercase().as_slice() {
            b"include" => self.include(line, statement)?,
            b"hostkey" if self.style.host_key => {
                let key = self.quoted(&self.root.join("key"));
                self.edits
                    .extend(arguments(statement).map(|span| (span, key)));
            }
            b"hostcertificate" if self.style.host_key => {
                let start = statement.keyword.span.start;
                self.edits.push((start..start, b"#".into()));
            }
            b"host" if client => {
                for argument in &statement.arguments {
                    self.note_host(&argument.value);
                }
            }
            b"match" if client => {
                let span = arguments(statement);
                let text = self.without_commands(tree.words(line, statement));
                self.edits.extend(span.zip(text));
            }
            _ => {}
        }
        Ok(())
    }

    fn include(&mut self, line: &Line, statement: &Statement) -> Result<(), Verdict> {
        for argument in &statement.arguments {
            let Some(meaning) = self.meaning(line, &argument.value)? else {
                continue;
            };
            let found = self.candidate.glob(&meaning.pattern);
            self.result.includes.extend(found.map_err(|error| {
                let pattern = meaning.pattern.display();
                cannot(format!("{pattern}: {error}"), cure_of_reading(&error))
            })?);
            if let Some(written) = meaning.written {
                let text = self.quoted(&written);
                self.edits.push((argument.span.clone(), text));
            }
        }
        Ok(())
    }

    /// `None` where the argument leads out of what can be copied, into files no edit touches.
    fn meaning(&self, line: &Line, argument: &[u8]) -> Result<Option<Meaning>, Verdict> {
        let layout = self.style.layout;
        let argument = &*layout.local(argument);
        let text = String::from_utf8_lossy(argument);
        let here = || format!("{} line {}", self.file.display(), line.number);
        if self.part == Part::Server && text.starts_with('~') {
            // sshd knows no homes: a file of that name in no directory in particular.
            return Ok(None);
        }
        if self.part == Part::Server {
            return Ok(Some(self.moved(layout.directory.join(path(argument)))));
        }
        if text.starts_with('~') && self.part == Part::System && !self.style.real_names {
            // `ssh -F` takes the copy for a user's file and would accept it.
            let what = format!("{}: bad include path {text}.", here());
            return Err(Verdict::Refused(told("ssh", &what)));
        }
        let home = text
            .strip_prefix('~')
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let other_home = text.starts_with('~') && home.is_none();
        if other_home || text.contains("${") || text.contains('%') {
            if self.candidate.is_whole_system() {
                return Ok(None);
            }
            let reason = format!("{}: Include {text} depends on user and environment", here());
            return Err(cannot(reason, "name the file in full"));
        }
        let pattern = match (self.part, home) {
            (_, Some(rest)) => self.style.home.join(rest.trim_start_matches('/')),
            (Part::User, None) => self.style.home.join(".ssh").join(path(argument)),
            _ => layout.directory.join(path(argument)),
        };
        if self.style.real_names && !text.starts_with('/') {
            return Ok(Some(Meaning {
                pattern,
                written: None,
            }));
        }
        Ok(Some(self.moved(pattern)))
    }

    fn moved(&self, pattern: PathBuf) -> Meaning {
        let written = Some(place(self.root, self.part, &pattern));
        Meaning { pattern, written }
    }

    /// A Match line's words with a criterion that always or never holds for its commands; `None` where it has
    /// none. Every release that knows `exec` knows `localuser`, and no user's name has a colon.
    fn without_commands(&mut self, mut words: Words<'_>) -> Option<Vec<u8>> {
        let (mut text, mut replaced) = (Vec::new(), false);
        while let Some(mut criterion) = Criterion::of_client(&mut words) {
            let name = criterion.name.clone();
            if name.starts_with(b"#") {
                break;
            }
            let sign: &[u8] = if criterion.negated { b"!" } else { b"" };
            let written = if name == b"exec" {
                b"localuser"
            } else {
                &*name
            };
            self.append(&mut text, &[sign, written].concat());
            if matches!(&*name, b"all" | b"canonical" | b"final") {
                continue;
            }
            let Some(value) = criterion.value(&mut words) else {
                break;
            };
            match &*name {
                b"exec" => {
                    let answer = if self.style.exec { b"*" } else { b":" };
                    self.append(&mut text, answer);
                    replaced = true;
                    continue;
                }
                b"host" | b"originalhost" => value
                    .split(|&byte| byte == b',')
                    .for_each(|pattern| self.note_host(pattern)),
                _ => {}
            }
            self.append(&mut text, &value);
        }
        self.result.runs_commands |= replaced;
        replaced.then_some(text)
    }

    /// Adds a word to a Match line, which knows quotes, and escapes since 9.9.
    fn append(&self, text: &mut Vec<u8>, word: &[u8]) {
        if !text.is_empty() {
            text.push(b' ');
        }
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"*?!,._-:@/%".contains(byte);
        if !word.is_empty() && word.iter().all(plain) {
            text.extend(word);
        } else {
            text.extend(quoted(word, self.style.dialect.splits_match));
        }
    }

    fn note_host(&mut self, pattern: &[u8]) {
        let host = String::from_utf8_lossy(pattern).replace(['*', '?'], "x");
        let plain = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
        let usable =
            host.starts_with(|c: char| c.is_ascii_alphanumeric()) && host.chars().all(plain);
        if usable && pattern != b"*" {
            self.result.hosts.push(host);
        }
    }

    fn quoted(&self, path: &Path) -> Vec<u8> {
        quoted(
            path.as_os_str().as_encoded_bytes(),
            self.style.dialect.modern,
        )
    }
}

fn quoted(word: &[u8], escapes: bool) -> Vec<u8> {
    let mut text = vec![b'"'];
    for &byte in word {
        if escapes && matches!(byte, b'"' | b'\\') {
            text.push(b'\\');
        }
        text.push(byte);
    }
    text.push(b'"');
    text
}

/// From the first argument to the end of the last.
fn arguments(statement: &Statement) -> Option<Range<usize>> {
    let (first, last) = (statement.arguments.first()?, statement.arguments.last()?);
    Some(first.span.start..last.span.end)
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> &Path {
    let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(bytes);
    Path::new(name)
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
