//! What the criteria of a `Match` line have in common in both programs: how one is written, and what is wrong
//! with it.
#![forbid(unsafe_code)]

use engine::installed::releases::Release;

use super::patterns::{Activity, list_matches};
use super::show;
use crate::syntax::Words;

/// A criterion as written.
pub(crate) struct Criterion {
    /// In lower case, without `!`.
    pub(crate) name: Vec<u8>,
    pub(crate) negated: bool,
    /// What stands behind `=` in the same word.
    joined: Option<Vec<u8>>,
}

/// Criteria of `ssh_config` that may stand in one word with their value, where words are cut as arguments are.
/// Found with 10.0 and 10.6; 9.9p1 knew the form for none, 9.9p2 brought it back.
const CLIENT_JOINED: &[&[u8]] = &[
    b"command",
    b"exec",
    b"host",
    b"localnetwork",
    b"localuser",
    b"originalhost",
    b"tagged",
    b"user",
    b"version",
];

/// The same of `sshd_config`.
const SERVER_JOINED: &[&[u8]] = &[
    b"address",
    b"group",
    b"host",
    b"localaddress",
    b"localport",
    b"rdomain",
    b"user",
    b"version",
];

impl Criterion {
    /// The next of `ssh_config`. `None` where the line ends, or what is left is no criterion.
    pub(crate) fn of_client(words: &mut Words<'_>) -> Option<Self> {
        let word = Self::word(words)?;
        let (name, negated) = match word.strip_prefix(b"!") {
            Some(name) => (name, true),
            None => (&*word, false),
        };
        Some(Self::cut(name, negated, words, CLIENT_JOINED))
    }

    /// The next of `sshd_config`, which knows no negation.
    pub(crate) fn of_server(words: &mut Words<'_>) -> Option<Self> {
        let word = Self::word(words)?;
        Some(Self::cut(&word, false, words, SERVER_JOINED))
    }

    /// Its value.
    pub(crate) fn value(&mut self, words: &mut Words<'_>) -> Option<Vec<u8>> {
        self.joined.take().or_else(|| words.next())
    }

    fn word(words: &mut Words<'_>) -> Option<Vec<u8>> {
        let any = words.are_split();
        words.next().filter(|word| any || !word.is_empty())
    }

    fn cut(word: &[u8], negated: bool, words: &Words<'_>, joined: &[&[u8]]) -> Self {
        let lower = word.to_ascii_lowercase();
        let equals = lower.iter().position(|&byte| byte == b'=');
        match equals {
            Some(at) if words.are_split() && joined.contains(&&lower[..at]) => Self {
                name: lower[..at].to_vec(),
                negated,
                joined: Some(word[at + 1..].to_vec()),
            },
            _ => Self {
                name: lower,
                negated,
                joined: None,
            },
        }
    }
}

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

/// Whether a program that says it is this version is meant.
pub(super) fn is_version(version: Option<&str>, patterns: &[u8]) -> Activity {
    version.map_or(Activity::Maybe, |version| {
        list_matches(version.as_bytes(), patterns).into()
    })
}
