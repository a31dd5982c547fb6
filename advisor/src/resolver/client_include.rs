//! `Include` in `ssh_config`: which files a pattern means, and in what state they are read.
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};

use engine::installed::releases::Release;

use super::client::{Client, Here, Place};
use super::patterns::Name;
use super::reading::{self, DEEPEST, Read, bytes_path};
use super::setting::Standing;
use super::{Location, Severity, show};

impl Client<'_> {
    pub(super) fn include(&mut self, here: &Here<'_>, standing: &Standing) {
        for argument in &here.statement.arguments {
            let location = here.at(argument);
            if argument.value.is_empty() {
                self.empty_argument(here);
                return;
            }
            let Some(pattern) = self.include_path(here.place.user, &argument.value, &location)
            else {
                continue;
            };
            match self.reading.files.glob(&pattern) {
                Ok(found) => self.include_files(here, &pattern, found, standing, &location),
                Err(error) => self.reading.refuse(
                    location,
                    &format!("glob failed for {}: {error}", pattern.display()),
                    "make the directory readable",
                ),
            }
        }
    }

    /// The absolute pattern an argument of `Include` stands for.
    fn include_path(&mut self, user: bool, written: &[u8], location: &Location) -> Option<PathBuf> {
        let expanded = match self.request.release >= Release::new(9, 9) {
            true => self.expanded(written, location)?,
            false => written.to_vec(),
        };
        let path = expanded.as_slice();
        if path.first() == Some(&b'~') && !user {
            self.reading.refuse(
                location.clone(),
                &format!("bad include path {}.", show(path)),
                "write the absolute path: the system's file must not use ~",
            );
            return None;
        }
        let home = &self.request.home;
        let layout = &self.request.layout;
        let path = &*layout.local(path);
        Some(match path {
            [b'/', ..] => bytes_path(path),
            [b'~'] => home.clone(),
            [b'~', b'/', below @ ..] => home.join(bytes_path(trim_slashes(below))),
            [b'~', of @ ..] => {
                let of = of.to_vec();
                return self.in_home_of(&of, location);
            }
            _ if user => home.join(".ssh").join(bytes_path(path)),
            _ => layout.directory.join(bytes_path(path)),
        })
    }

    /// `name/rest`, with the home of that user for its name.
    fn in_home_of(&mut self, written: &[u8], location: &Location) -> Option<PathBuf> {
        let slash = written.iter().position(|&byte| byte == b'/');
        let (name, below) = written.split_at(slash.unwrap_or(written.len()));
        if let Some(home) = reading::home_of(self.reading.files, name) {
            return Some(home.join(bytes_path(trim_slashes(below))));
        }
        self.reading.leave_unread(
            location.clone(),
            &format!(
                "/etc/passwd knows no {}, so their home is not known",
                show(name)
            ),
        );
        None
    }

    /// Tokens and variables replaced, as since 9.9. `None`, and a problem, where only a running `ssh` knows.
    fn expanded(&mut self, written: &[u8], location: &Location) -> Option<Vec<u8>> {
        let mut path = Vec::new();
        let mut rest = written;
        loop {
            rest = match rest {
                [] => return Some(path),
                [b'%', key, after @ ..] if let Some(value) = self.token(*key) => {
                    path.extend_from_slice(&value);
                    after
                }
                [b'$', b'{', after @ ..] if let Some(after) = after.strip_prefix(b"HOME}") => {
                    path.extend_from_slice(self.request.home.as_os_str().as_encoded_bytes());
                    after
                }
                [b'%', ..] | [b'$', b'{', ..] => {
                    self.reading.leave_unread(
                        location.clone(),
                        &format!(
                            "what {} stands for is known only when ssh runs",
                            show(written)
                        ),
                    );
                    return None;
                }
                [byte, after @ ..] => {
                    path.push(*byte);
                    after
                }
            };
        }
    }

    /// What `%` and a key stand for, where that is known before a connection.
    fn token(&self, key: u8) -> Option<Vec<u8>> {
        let known = |name: &Name| match name {
            Name::Known(name) => Some(name.clone()),
            _ => None,
        };
        let only = |names: Vec<Name>| match names.as_slice() {
            [only] => known(only),
            _ => None,
        };
        match key {
            b'%' => Some(b"%".to_vec()),
            b'd' => Some(self.request.home.as_os_str().as_encoded_bytes().to_vec()),
            b'h' => only(self.hosts()),
            b'i' => Some(self.request.uid.to_string().into_bytes()),
            b'n' => known(&self.original),
            b'u' => Some(self.request.user.clone().into_bytes()),
            _ => None,
        }
    }

    fn include_files(
        &mut self,
        here: &Here<'_>,
        pattern: &Path,
        found: Vec<PathBuf>,
        standing: &Standing,
        location: &Location,
    ) {
        if found.is_empty() && !reading::has_wildcard(pattern) {
            self.reading.report(
                Severity::Info,
                location.clone(),
                &format!("there is no {}", pattern.display()),
                "nothing to do, unless the name is misspelt",
            );
        }
        let depth = here.place.depth + 1;
        for path in found {
            if !self.reading.may_include(location) {
                return;
            }
            if depth > DEEPEST {
                self.reading.refuse(
                    location.clone(),
                    "Too many recursive configuration includes",
                    "break the circle, or nest fewer than 17 files",
                );
                self.reading.exhaust();
                return;
            }
            match &*self.reading.read(&path) {
                // A link to nothing: 8.4 gives up, 9.2 does not.
                Read::Missing if self.request.release < Release::new(8, 7) => {
                    let error = io::Error::from(io::ErrorKind::NotFound);
                    self.cannot_open(&path, location.clone(), &error.to_string());
                }
                Read::Missing => {}
                Read::Failed(error) => {
                    self.cannot_open(&path, location.clone(), &error.to_string());
                    return;
                }
                Read::Tree(tree) => {
                    self.check_trust(&path);
                    let place = Place {
                        path: &path,
                        user: here.place.user,
                        depth,
                        outer: standing.clone(),
                    };
                    self.lines(tree, &place);
                }
            }
        }
    }
}

fn trim_slashes(path: &[u8]) -> &[u8] {
    let slashes = path.iter().take_while(|&&byte| byte == b'/').count();
    &path[slashes..]
}
