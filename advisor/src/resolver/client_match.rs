//! The criteria of a `Match` line in `ssh_config` (`match_cfg_line` in `readconf.c`).
//!
//! What only a run of `ssh` knows stays open: whether the command of `exec` would succeed (it is never run),
//! which networks the machine is on (`localnetwork`), and what the user asks the host to do (`command`, and
//! `sessiontype` where no `SessionType` says).
#![forbid(unsafe_code)]

use engine::installed::releases::Release;

use super::client::Client;
use super::criteria::{BadMatch, Criterion, is_version};
use super::keywords::COMPLETE;
use super::networks;
use super::patterns::{Activity, list_matches};
use super::{Location, Severity, show};
use crate::syntax::Words;

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
        while let Some(mut criterion) = Criterion::of_client(words) {
            if !criterion.negated && self.is_comment(&criterion.name) {
                words.finish();
                break;
            }
            if criterion.name == b"all" {
                let applies = if criterion.negated {
                    Activity::No
                } else {
                    result
                };
                return self.all(criteria, words, applies);
            }
            criteria += 1;
            let answer = self.criterion(&mut criterion, words, result, at)?;
            let answer = if criterion.negated {
                answer.not()
            } else {
                answer
            };
            result = result.min(answer);
        }
        if criteria == 0 {
            return Err(BadMatch::nothing());
        }
        Ok(result)
    }

    fn is_comment(&self, word: &[u8]) -> bool {
        word.first() == Some(&b'#') && self.since(8, 7)
    }

    fn since(&self, major: u32, minor: u32) -> bool {
        self.request.release >= Release::new(major, minor)
    }

    /// `all` ends the line.
    fn all(
        &self,
        criteria: usize,
        words: &mut Words<'_>,
        result: Activity,
    ) -> Result<Activity, BadMatch> {
        let next = words.next().unwrap_or_default();
        let comment = self.is_comment(&next);
        if criteria > 1 || !(next.is_empty() || comment) {
            return Err(BadMatch::new(
                "'all' cannot be combined with other Match attributes",
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
        criterion: &mut Criterion,
        words: &mut Words<'_>,
        so_far: Activity,
        at: &Location,
    ) -> Result<Activity, BadMatch> {
        let name = criterion.name.clone();
        if matches!(&*name, b"canonical" | b"final") {
            self.wants_final |= name == b"final";
            return Ok(self.final_host.is_some().into());
        }
        let Some(value) = criterion.value(words) else {
            return Err(BadMatch::missing(&name));
        };
        let may_be_empty = matches!(&*name, b"tagged" | b"command") && self.since(10, 0);
        if value.is_empty() && !may_be_empty || self.is_comment(&value) {
            return Err(BadMatch::missing(&name));
        }
        let local = self.request.user.as_bytes();
        Ok(match &*name {
            b"host" => Activity::common(self.hosts().iter().map(|host| host.is_in(&value))),
            b"originalhost" => self.original.is_in(&value),
            b"user" => self
                .user
                .compare(|user| list_matches(user.unwrap_or(local), &value).into()),
            b"localuser" => list_matches(local, &value).into(),
            b"exec" => return exec(&value, so_far),
            b"tagged" if self.since(9, 4) => self.tagged(&value),
            b"localnetwork" if self.since(9, 4) => {
                networks::check_networks(&value)?;
                Activity::Maybe
            }
            b"version" if self.since(10, 0) => is_version(self.request.version.as_deref(), &value),
            b"sessiontype" if self.since(10, 0) => self.session_type_is(&value),
            b"command" if self.since(10, 0) => Activity::Maybe,
            _ if self.request.release > COMPLETE => self.perhaps(&name, at),
            _ => return Err(BadMatch::unsupported(&name, self.request.release)),
        })
    }

    /// Since 10.0 no pattern but the empty one matches where there is no tag.
    fn tagged(&self, value: &[u8]) -> Activity {
        let strict = self.since(10, 0);
        self.tag.compare(|tag| match tag.unwrap_or_default() {
            b"" if strict => value.is_empty().into(),
            tag => list_matches(tag, value).into(),
        })
    }

    /// `-N`, `-s` and a command on the command line are not known here; a `SessionType` speaks for itself.
    fn session_type_is(&self, value: &[u8]) -> Activity {
        let any_of = |types: &[&str]| {
            let answers = types.iter().map(|it| list_matches(it.as_bytes(), value));
            Activity::common(answers.map(Activity::from))
        };
        self.session_type
            .compare(|set| match set.map(<[u8]>::to_ascii_lowercase).as_deref() {
                Some(b"none") => any_of(&["none"]),
                Some(b"subsystem") => any_of(&["subsystem"]),
                Some(_) => any_of(&["shell", "exec"]),
                None => any_of(&["shell", "exec", "subsystem", "none"]),
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
