//! The criteria of a `Match` line in `sshd_config` (`match_cfg_line` in `servconf.c`), as read at start-up:
//! there is no connection yet, so the values of those about one are only checked.
#![forbid(unsafe_code)]

use std::path::Path;

use engine::installed::releases::Release;

use super::criteria::{BadMatch, Criterion, is_version};
use super::keywords::COMPLETE;
use super::networks::is_address_list;
use super::patterns::Activity;
use super::server::Server;
use super::{Location, Severity, show};
use crate::files::Files;
use crate::syntax::Words;

impl Server<'_> {
    /// Whether a `Match` line is active at start-up: `Match all` is, and one that asks for this version only.
    pub(super) fn matches(
        &mut self,
        words: &mut Words<'_>,
        at: &Location,
    ) -> Result<Activity, BadMatch> {
        let modern = self.request.release >= Release::new(8, 7);
        let comment = |word: &[u8]| modern && word.first() == Some(&b'#');
        let (mut result, mut criteria) = (Activity::Yes, 0);
        while let Some(mut criterion) = Criterion::of_server(words) {
            if comment(&criterion.name) {
                words.finish();
                break;
            }
            criteria += 1;
            if criterion.name == b"invalid-user" && self.request.release >= Release::new(9, 9) {
                result = Activity::No;
                continue; // The one beside all that takes no value.
            }
            let value = criterion.value(words).unwrap_or_default();
            if criterion.name == b"all" {
                if criteria > 1 || !(value.is_empty() || comment(&value)) {
                    return Err(BadMatch::new(
                        "'all' cannot be combined with other Match attributes",
                        "let all stand alone",
                    ));
                }
                if comment(&value) {
                    words.finish();
                }
                return Ok(Activity::Yes);
            }
            if value.is_empty() || comment(&value) {
                return Err(BadMatch::missing(&criterion.name));
            }
            result = result.min(self.criterion(&criterion.name, &value, at)?);
        }
        if criteria == 0 {
            return Err(BadMatch::nothing());
        }
        Ok(result)
    }

    fn criterion(
        &mut self,
        name: &[u8],
        value: &[u8],
        at: &Location,
    ) -> Result<Activity, BadMatch> {
        match name {
            b"user" | b"group" | b"host" | b"rdomain" => Ok(Activity::No),
            b"version" if self.request.release >= Release::new(10, 0) => {
                Ok(is_version(self.request.version.as_deref(), value))
            }
            b"address" | b"localaddress" if is_address_list(value) => Ok(Activity::No),
            b"address" | b"localaddress" => Err(BadMatch::new(
                format!("Invalid Match {} argument '{}'", show(name), show(value)),
                "clear the bits behind the prefix, and leave no item empty",
            )),
            b"localport" if is_port(value, self.reading.files) => Ok(Activity::No),
            b"localport" => Err(BadMatch::new(
                format!("Invalid LocalPort '{}' on Match line", show(value)),
                "give one port number",
            )),
            _ if self.request.release > COMPLETE => {
                self.reading.report(
                    Severity::Warning,
                    at.clone(),
                    &format!("Unsupported Match attribute {}", show(name)),
                    "check that your sshd knows this criterion",
                );
                Ok(Activity::No)
            }
            _ => Err(BadMatch::unsupported(name, self.request.release)),
        }
    }
}

/// A number, or the name of a TCP service.
fn is_port(value: &[u8], files: &dyn Files) -> bool {
    let Ok(text) = str::from_utf8(value) else {
        return false;
    };
    let number = text.trim_start().parse::<i64>();
    if let Ok(number) = number {
        return (0..=65535).contains(&number);
    }
    let Ok(services) = files.read(Path::new("/etc/services")) else {
        // Not known, so not judged.
        return true;
    };
    String::from_utf8_lossy(&services).lines().any(|line| {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let name = words.next();
        let is_tcp = words.next().is_some_and(|port| port.ends_with("/tcp"));
        is_tcp && name.into_iter().chain(words).any(|known| known == text)
    })
}
