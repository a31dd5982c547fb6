//! The criteria of a `Match` line in `ssh_config` (`match_cfg_line` in `readconf.c`).
#![forbid(unsafe_code)]

use engine::installed::releases::Release;

use super::client::Client;
use super::keywords::COMPLETE;
use super::patterns::{Activity, list_matches};
use super::{Location, Severity, show};
use crate::syntax::Words;

/// Why the program refuses a `Match` line.
pub(super) struct BadMatch {
    pub(super) what: String,
    pub(super) cure: String,
}

impl BadMatch {
    pub(super) fn new(what: impl Into<String>, cure: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            cure: cure.into(),
        }
    }

    pub(super) fn missing(criterion: &[u8]) -> Self {
        Self::new(
            format!("Missing Match criteria for {}", show(criterion)),
            "give the criterion a value",
        )
    }

    pub(super) fn nothing() -> Self {
        Self::new(
            "One or more attributes required for Match",
            "write Match all, or remove the line",
        )
    }

    pub(super) fn unsupported(criterion: &[u8], release: Release) -> Self {
        Self::new(
            format!("Unsupported Match attribute {}", show(criterion)),
            format!("use only criteria that {release} knows"),
        )
    }
}

/// Keys after `%` in the command of `Match exec`, all releases together.
const EXEC_KEYS: &[u8] = b"%CLdhijklnpru";

impl Client<'_> {
    /// Whether a `Match` line applies. All criteria are looked at even after one has failed.
    pub(super) fn matches(
        &mut self,
        words: &mut Words<'_>,
        at: &Location,
    ) -> Result<Activity, BadMatch> {
        let (mut result, mut criteria) = (Activity::Yes, 0);
        while let Some(word) = words.next().filter(|word| !word.is_empty()) {
            if word[0] == b'#' && self.is_modern() {
                words.finish();
                break;
            }
            let (name, negated) = match word.strip_prefix(b"!") {
                Some(name) => (name.to_ascii_lowercase(), true),
                None => (word.to_ascii_lowercase(), false),
            };
            if name == b"all" {
                return self.all(
                    &word,
                    criteria,
                    words,
                    if negated { Activity::No } else { result },
                );
            }
            criteria += 1;
            let answer = self.criterion(&name, words, result, at)?;
            let answer = if negated { answer.not() } else { answer };
            result = result.min(answer);
        }
        if criteria == 0 {
            return Err(BadMatch::nothing());
        }
        Ok(result)
    }

    fn is_modern(&self) -> bool {
        self.request.release >= Release::new(8, 7)
    }

    /// `all` ends the line.
    fn all(
        &self,
        word: &[u8],
        criteria: usize,
        words: &mut Words<'_>,
        result: Activity,
    ) -> Result<Activity, BadMatch> {
        let next = words.next().unwrap_or_default();
        let comment = next.first() == Some(&b'#') && self.is_modern();
        if criteria > 1 || !(next.is_empty() || comment) {
            return Err(BadMatch::new(
                format!(
                    "'{}' cannot be combined with other Match attributes",
                    show(word)
                ),
                "let all stand alone",
            ));
        }
        if comment {
            words.finish();
        }
        Ok(result)
    }

    fn criterion(
        &mut self,
        name: &[u8],
        words: &mut Words<'_>,
        so_far: Activity,
        at: &Location,
    ) -> Result<Activity, BadMatch> {
        if matches!(name, b"canonical" | b"final") {
            self.wants_final |= name == b"final";
            return Ok(self.final_host.is_some().into());
        }
        let value = words.next().unwrap_or_default();
        if value.is_empty() || value[0] == b'#' && self.is_modern() {
            return Err(BadMatch::missing(name));
        }
        let local = self.request.user.as_bytes();
        let since = |major, minor| self.request.release >= Release::new(major, minor);
        Ok(match name {
            b"host" => Activity::common(self.hosts().iter().map(|host| host.is_in(&value))),
            b"originalhost" => self.original.is_in(&value),
            b"user" => self
                .user
                .compare(|user| list_matches(user.unwrap_or(local), &value).into()),
            b"localuser" => list_matches(local, &value).into(),
            b"exec" => return exec(&value, so_far),
            b"tagged" if since(9, 4) => self
                .tag
                .compare(|tag| list_matches(tag.unwrap_or_default(), &value).into()),
            b"localnetwork" if since(9, 4) => Activity::Maybe,
            b"version" if since(10, 0) => is_version(self.request.version.as_deref(), &value),
            b"sessiontype" | b"command" if since(10, 0) => Activity::Maybe,
            _ if self.request.release > COMPLETE => self.perhaps(name, at),
            _ => return Err(BadMatch::unsupported(name, self.request.release)),
        })
    }

    /// A criterion that a release later than our tables may know.
    fn perhaps(&mut self, name: &[u8], at: &Location) -> Activity {
        self.reading.report(
            Severity::Warning,
            at.clone(),
            &format!("Unsupported Match attribute {}", show(name)),
            "check that your ssh knows this criterion",
        );
        Activity::Maybe
    }
}

/// Whether a program that says it is this version is meant.
pub(super) fn is_version(version: Option<&str>, patterns: &[u8]) -> Activity {
    version.map_or(Activity::Maybe, |version| {
        list_matches(version.as_bytes(), patterns).into()
    })
}

/// Never runs the command: whether it would succeed is not known. The program itself skips it after a
/// criterion that failed, but not before it has expanded the command.
fn exec(command: &[u8], so_far: Activity) -> Result<Activity, BadMatch> {
    let mut bytes = command.iter();
    while let Some(byte) = bytes.next() {
        let key = if *byte == b'%' {
            bytes.next()
        } else {
            continue;
        };
        if !key.is_some_and(|key| EXEC_KEYS.contains(key)) {
            let key: Vec<u8> = key.copied().into_iter().collect();
            return Err(BadMatch::new(
                format!("percent_expand: unknown key %{}", show(&key)),
                "write %% for a percent sign",
            ));
        }
    }
    Ok(so_far.min(Activity::Maybe))
}
