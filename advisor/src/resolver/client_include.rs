//! `Include` in `ssh_config`: which files a pattern means, and in what state they are read.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use engine::installed::releases::Release;

use super::client::{Client, Here, Place};
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
        if written[0] == b'~' && !user {
            self.reading.refuse(
                location.clone(),
                &format!("bad include path {}.", show(written)),
                "write the absolute path: the system's file must not use ~",
            );
            return None;
        }
        let newer = self.request.release >= Release::new(9, 9);
        if newer && (written.contains(&b'%') || written.windows(2).any(|pair| pair == b"${")) {
            self.reading.report(
                Severity::Warning,
                location.clone(),
                &format!(
                    "what {} stands for is known only when ssh runs",
                    show(written)
                ),
                "write the path out if it holds a Ciphers line",
            );
            return None;
        }
        let home = &self.request.home;
        let layout = &self.request.layout;
        let written = &*layout.local(written);
        Some(match written {
            [b'/', ..] => bytes_path(written),
            [b'~'] => home.clone(),
            [b'~', b'/', below @ ..] => home.join(bytes_path(trim_slashes(below))),
            [b'~', ..] => {
                self.reading.report(
                    Severity::Warning,
                    location.clone(),
                    &format!("the home in {} is not looked up", show(written)),
                    "write the path out if it holds a Ciphers line",
                );
                return None;
            }
            _ if user => home.join(".ssh").join(bytes_path(written)),
            _ => layout.directory.join(bytes_path(written)),
        })
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
