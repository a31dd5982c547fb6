//! What `sshd` makes of its file at start-up (`servconf.c`).
//!
//! Keywords about ciphers belong to the part of the file that is read once, when `sshd` starts: of all
//! `Match` blocks only `Match all` is active then, and in any other they are refused.
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};

use engine::installed::releases;

use super::algorithms::{Family, Kind};
use super::client::{extra_arguments, extra_cure};
use super::keywords::{self, Known};
use super::patterns::Activity;
use super::reading::{self, DEEPEST, Read, Reading, bytes_path};
use super::setting::{Lists, Standing};
use super::{Effective, Location, ServerRequest, Severity, Side, show};
use crate::files::Files;
use crate::syntax::{self, Content, Dialect, Fault, Line, Statement, Token, Tree};

/// What `sshd` would offer, and why: command line first, then its file.
#[must_use]
pub fn resolve_server(files: &dyn Files, request: &ServerRequest) -> Effective {
    let mut server = Server::new(files, request);
    server.command_line();
    server.lists.end_command_line();
    server.file();
    server.lists.conclude(Side::Server, server.reading)
}

pub(super) struct Server<'q> {
    pub(super) request: &'q ServerRequest,
    pub(super) reading: Reading<'q>,
    dialect: Dialect,
    lists: Lists,
}

/// The file being read.
struct Place<'p> {
    path: &'p Path,
    /// For what is not a file: where all of it is written.
    origin: Option<&'p Location>,
    depth: usize,
    /// Included where nothing is active: nothing inside can become so.
    never: bool,
}

/// One line of it.
struct Here<'p> {
    place: &'p Place<'p>,
    tree: &'p Tree,
    line: &'p Line,
    statement: &'p Statement,
    /// In lower case.
    keyword: Vec<u8>,
}

impl Here<'_> {
    fn at(&self, token: &Token) -> Location {
        match self.place.origin {
            Some(origin) => origin.clone(),
            None => reading::at(self.place.path, self.tree, self.line, token),
        }
    }

    fn location(&self) -> Location {
        self.at(&self.statement.keyword)
    }

    /// The keyword as the program prints it.
    fn written(&self) -> String {
        show(&self.statement.keyword.value)
    }
}

impl<'q> Server<'q> {
    fn new(files: &'q dyn Files, request: &'q ServerRequest) -> Self {
        let dialect = Dialect {
            strips_bom: request.layout.strips_bom(),
            ..Dialect::server(request.release)
        };
        let (release, supported) = (request.release, &request.supported);
        Self {
            request,
            reading: Reading::new(files, dialect),
            dialect,
            lists: Lists::new(
                Family::new(
                    release,
                    &request.layout.ciphers(releases::server_ciphers(release)),
                    &supported.ciphers,
                ),
                Family::new(release, releases::server_macs(release), &supported.macs),
            ),
        }
    }

    fn command_line(&mut self) {
        for option in &self.request.options {
            let place = Place {
                path: &option.location.file,
                origin: Some(&option.location),
                depth: 0,
                never: false,
            };
            // Not copied through the buffer that files go through, so cut as `ssh` cuts lines.
            let dialect = Dialect {
                server: false,
                ..self.dialect
            };
            self.lines(
                &syntax::parse(option.value.as_str(), dialect),
                &place,
                &mut active(),
            );
        }
    }

    fn file(&mut self) {
        let path = &self.request.file;
        let place = Place {
            path,
            origin: None,
            depth: 0,
            never: false,
        };
        match &*self.reading.read(path) {
            Read::Tree(tree) => self.lines(tree, &place, &mut active()),
            Read::Missing => self.reading.refuse(
                Location::whole(path),
                "No such file or directory",
                "create the file, or start sshd with -f",
            ),
            Read::Failed(error) => self.unreadable(error, Location::whole(path), path),
        }
    }

    /// `sshd` runs as root, so what we may not read it may; other errors would stop it too.
    fn unreadable(&mut self, error: &io::Error, location: Location, path: &Path) {
        if error.kind() == io::ErrorKind::PermissionDenied {
            self.reading.report(
                Severity::Warning,
                location,
                &format!(
                    "{} cannot be read by this user, so the answer is what holds without it",
                    path.display()
                ),
                "run as root to have it read",
            );
        } else {
            self.reading.refuse(
                location,
                &format!("{}: {error}", path.display()),
                "make the file readable, or do not name it",
            );
        }
    }

    fn lines(&mut self, tree: &Tree, place: &Place<'_>, standing: &mut Standing) {
        for line in tree.lines() {
            let release = self.request.release;
            self.reading.check_length(release, place.path, line);
            match &line.content {
                Content::Blank | Content::Comment => {}
                Content::Skipped => self.reading.report(
                    Severity::Warning,
                    Location {
                        file: place.path.to_owned(),
                        line: line.number,
                        column: 0,
                    },
                    "a quote is not closed, so sshd skips the line silently",
                    "close or remove the quote",
                ),
                Content::Statement(statement) => {
                    let here = Here {
                        place,
                        tree,
                        line,
                        statement,
                        keyword: statement.keyword.value.to_ascii_lowercase(),
                    };
                    self.statement(&here, standing);
                }
            }
        }
    }

    fn statement(&mut self, here: &Here<'_>, standing: &mut Standing) {
        if here.statement.fault == Some(Fault::NoArgument) {
            self.reading.refuse(
                here.location(),
                &format!("no argument after keyword \"{}\"", here.written()),
                keywords::cure_of_encoding(&here.keyword)
                    .unwrap_or("give it a value, or remove the line"),
            );
            return;
        }
        let allowed = self.check_keyword(here, standing);
        let kind = Kind::of(&here.keyword);
        if here.statement.fault == Some(Fault::InvalidQuotes) {
            let what = "invalid quotes";
            self.reading
                .refuse(here.location(), what, "close the quote");
            if let Some(kind) = kind {
                let rest = here.tree.rest(here.line, here.statement);
                self.lists.refuse(kind, &rest, here.location(), what.into());
            }
            return;
        }
        match (kind, &*here.keyword) {
            (Some(kind), _) => self.algorithms(here, kind, standing, allowed),
            (None, b"rekeylimit") => {
                if let Some(token) = here.statement.arguments.first() {
                    let location = here.at(token);
                    let rekey = &mut self.lists.rekey;
                    rekey.offer(standing.active, &token.value, &location);
                }
            }
            (None, b"match") => self.match_block(here, standing),
            (None, b"include") => self.include(here, standing),
            _ => {}
        }
    }

    /// Notes a keyword that `sshd` does not take here.
    fn check_keyword(&mut self, here: &Here<'_>, standing: &Standing) -> Result<(), String> {
        let known = keywords::server(self.request.release, &here.keyword);
        let outside = standing.active == Activity::Yes;
        if known == Known::Everywhere || known == Known::Global && outside {
            return Ok(());
        }
        let name = here.written();
        let (severity, what, cure) = match known {
            Known::Global if standing.active == Activity::Maybe => (
                Severity::Warning,
                format!("Directive '{name}' is not allowed within a Match block"),
                "check with sshd -t: it is allowed only where the block applies".to_owned(),
            ),
            Known::Everywhere | Known::Global => (
                Severity::Error,
                format!("Directive '{name}' is not allowed within a Match block"),
                "move the line above the first Match line".to_owned(),
            ),
            Known::No => (
                Severity::Error,
                format!("Bad configuration option: {name}"),
                format!(
                    "correct or remove the line: {} does not know {name}",
                    self.request.release
                ),
            ),
            Known::Since(since) => (
                Severity::Error,
                format!("Bad configuration option: {name}"),
                format!(
                    "remove the line: {since} brought {name}, and this is {}",
                    self.request.release
                ),
            ),
            Known::Perhaps => (
                Severity::Warning,
                format!("Bad configuration option: {name}"),
                format!("check with sshd -t that your sshd knows {name}"),
            ),
        };
        let encoding = keywords::cure_of_encoding(&here.keyword);
        let cure = encoding.map_or(cure, ToOwned::to_owned);
        self.reading.report(severity, here.location(), &what, cure);
        if severity == Severity::Error {
            Err(what)
        } else {
            Ok(())
        }
    }

    fn algorithms(
        &mut self,
        here: &Here<'_>,
        kind: Kind,
        standing: &Standing,
        allowed: Result<(), String>,
    ) {
        let arguments = &here.statement.arguments;
        let Some(token) = arguments.first().filter(|first| !first.value.is_empty()) else {
            self.reading.refuse(
                here.location(),
                &format!("{} missing argument.", here.written()),
                "give it a value, or remove the line",
            );
            return;
        };
        let location = here.at(token);
        let family = self.lists.family(kind);
        let mut refused = allowed.err();
        if let Some(name) = family.refused_name(&token.value) {
            let what = kind.complaint(true, &show(&token.value));
            let cure = kind.cure(&token.value, name, family);
            self.reading.refuse(location.clone(), &what, cure);
            refused = refused.or(Some(what));
        }
        if let Some(extra) = arguments.get(1) {
            let what = extra_arguments(self.dialect, &here.statement.keyword.value, extra);
            self.reading
                .refuse(here.at(extra), &what, extra_cure(token, extra));
            refused = refused.or(Some(what));
        }
        match refused {
            Some(why) => self.lists.refuse(kind, &token.value, location, why),
            None => self.lists.offer(kind, standing, &token.value, location),
        }
    }

    fn match_block(&mut self, here: &Here<'_>, standing: &mut Standing) {
        let mut words = here.tree.words(here.line, here.statement);
        match self.matches(&mut words, &here.location()) {
            Ok(active) => {
                standing.active = if here.place.never {
                    Activity::No
                } else {
                    active
                };
                if !here.place.never {
                    standing.block = Some(here.location());
                }
                if !words.is_finished() {
                    self.reading.refuse(
                        here.location(),
                        &format!("keyword {} extra arguments at end of line", here.written()),
                        "remove what follows the empty word",
                    );
                }
            }
            Err(bad) => self.reading.refuse(
                here.location(),
                &format!("{}; Bad Match condition", bad.what),
                bad.cure,
            ),
        }
    }

    fn include(&mut self, here: &Here<'_>, standing: &mut Standing) {
        if here.statement.arguments.is_empty() {
            self.reading.refuse(
                here.location(),
                &format!("{} missing filename argument", here.written()),
                "name a file, or remove the line",
            );
        }
        for argument in &here.statement.arguments {
            let location = here.at(argument);
            match argument.value.first() {
                None => {
                    self.reading.refuse(
                        here.location(),
                        &format!("keyword {} empty argument", here.written()),
                        "remove the empty quotes",
                    );
                    return;
                }
                Some(b'~') => self.reading.report(
                    Severity::Warning,
                    location,
                    "sshd does not expand ~, so this includes nothing",
                    "write the path out",
                ),
                Some(_) => {
                    let layout = &self.request.layout;
                    let pattern = bytes_path(&layout.local(&argument.value));
                    let pattern = layout.directory.join(pattern);
                    self.include_pattern(here, &pattern, standing, &location);
                }
            }
        }
    }

    fn include_pattern(
        &mut self,
        here: &Here<'_>,
        pattern: &Path,
        standing: &mut Standing,
        location: &Location,
    ) {
        let found: Vec<PathBuf> = match self.reading.files.glob(pattern) {
            Ok(found) => found,
            Err(error) => return self.unreadable(&error, location.clone(), pattern),
        };
        if found.is_empty() && !reading::has_wildcard(pattern) {
            self.reading.report(
                Severity::Info,
                location.clone(),
                &format!("there is no {}", pattern.display()),
                "nothing to do, unless the name is misspelt",
            );
        }
        for path in found {
            if !self.reading.may_include(location) {
                return;
            }
            self.include_file(here, &path, standing, location);
        }
    }

    fn include_file(
        &mut self,
        here: &Here<'_>,
        path: &Path,
        standing: &mut Standing,
        location: &Location,
    ) {
        if here.place.depth == DEEPEST {
            self.reading.refuse(
                location.clone(),
                "Too many recursive configuration includes",
                "break the circle, or nest fewer than 17 files",
            );
            self.reading.exhaust();
            return;
        }
        match &*self.reading.read(path) {
            Read::Tree(tree) => {
                let place = Place {
                    path,
                    origin: None,
                    depth: here.place.depth + 1,
                    never: standing.active == Activity::No,
                };
                // A Match in an included file ends with that file.
                self.lines(tree, &place, &mut standing.clone());
            }
            Read::Missing => {
                let error = io::Error::from(io::ErrorKind::NotFound);
                self.unreadable(&error, location.clone(), path);
            }
            Read::Failed(error) => self.unreadable(error, location.clone(), path),
        }
    }
}

/// Outside all blocks.
fn active() -> Standing {
    Standing {
        active: Activity::Yes,
        block: None,
    }
}
