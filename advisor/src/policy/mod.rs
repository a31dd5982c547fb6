//! What an organisation wants, apart from speed: which ciphers may be preferred, and how.
//!
//! A policy is a TOML file; `assets/policy/balanced.toml` documents every key and holds when none is
//! given. No measurement and no configuration file may enter here.
#![forbid(unsafe_code)]

mod file;

use std::path::Path;

use engine::algorithm::Cipher;
use serde::{Deserialize, Serialize};

use crate::resolver::Location;

/// The rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The name reports give it.
    pub name: String,
    /// One sentence for people.
    pub description: String,
    /// The only ciphers that may be preferred; `None` allows all.
    pub allowed: Option<Vec<String>>,
    /// Ciphers that may not be preferred.
    pub forbidden: Vec<String>,
    /// The shortest key that may be preferred, in bits.
    pub minimum_key_bits: u32,
    /// Whether 256-bit keys go before shorter ones.
    pub prefer_256: bool,
    /// By what share a cipher must be faster to overtake (0.1 = 10 %); `None` leaves it to the evidence.
    pub threshold: Option<f64>,
    /// What the machine mostly does.
    pub profile: Profile,
    /// How a new line is written.
    pub form: Form,
}

/// What a machine mostly does over SSH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Copies and backups: full packets.
    #[default]
    Bulk,
    /// A bit of everything.
    Mixed,
    /// Typing and small requests.
    Interactive,
}

impl Profile {
    /// The packet size in bytes whose speed counts.
    #[must_use]
    pub const fn packet_bytes(self) -> usize {
        match self {
            Self::Bulk => 32 * 1024,
            Self::Mixed => 1024,
            Self::Interactive => 64,
        }
    }

    /// The name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bulk => "bulk",
            Self::Mixed => "mixed",
            Self::Interactive => "interactive",
        }
    }
}

/// How a new `Ciphers` line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Every cipher by name.
    List,
    /// The first ones before the compiled default: `^a,b`.
    Caret,
    /// The caret where it says exactly the same, else the list.
    #[default]
    Auto,
}

/// Why a cipher may not be preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objection {
    /// It is not on the list of those allowed.
    NotAllowed,
    /// It is on the list of those forbidden.
    Forbidden,
    /// Its key is shorter than the minimum, or of unknown length.
    ShortKey,
}

/// What is wrong with a policy, and where. Prints as `file:line:column: what; cure`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {what}; {cure}")]
pub struct PolicyError {
    /// Where.
    pub location: Location,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub cure: String,
}

const BALANCED: &str = include_str!("../../../assets/policy/balanced.toml");

impl Default for Policy {
    /// The built-in `balanced`.
    fn default() -> Self {
        Self::parse(Path::new("balanced.toml"), BALANCED.as_bytes())
            .expect("a test parses the built-in policy")
    }
}

impl Policy {
    /// The names of the policies this program brings.
    pub const BUILT_IN: &[&str] = &["balanced"];

    /// The policy of that built-in name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        (name == "balanced").then(Self::default)
    }

    /// Reads the text of a policy; `path` is for messages, and its stem the name where none is given.
    ///
    /// # Errors
    /// What is wrong with it, with file, line and column.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, PolicyError> {
        file::parse(path, bytes)
    }

    /// Why this cipher may not be preferred, if so.
    #[must_use]
    pub fn objection(&self, cipher: &str) -> Option<Objection> {
        let lists = |list: &[String]| list.iter().any(|name| name == cipher);
        if lists(&self.forbidden) {
            return Some(Objection::Forbidden);
        }
        if self.allowed.as_deref().is_some_and(|list| !lists(list)) {
            return Some(Objection::NotAllowed);
        }
        (key_bits(cipher) < self.minimum_key_bits).then_some(Objection::ShortKey)
    }

    /// Whether this cipher goes before others because of its key length.
    #[must_use]
    pub fn prefers(&self, cipher: &str) -> bool {
        self.prefer_256 && key_bits(cipher) >= 256
    }
}

/// Key strength of a cipher by name; 0 for one that is not known, so that no minimum admits it.
fn key_bits(cipher: &str) -> u32 {
    cipher.parse::<Cipher>().map_or(0, Cipher::key_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_policy_parses_and_rules_nothing_out() {
        let policy = Policy::default();
        assert_eq!(policy.name, "balanced");
        assert!(
            Cipher::ALL
                .iter()
                .all(|cipher| policy.objection(cipher.name()).is_none())
        );
    }

    #[test]
    fn objections_name_their_rule() {
        let text = "allowed = ['aes256-ctr', 'aes128-ctr', '3des-cbc']\nforbidden = ['3des-cbc']\nminimum_key_bits = 192\n";
        let policy = Policy::parse(Path::new("p.toml"), text.as_bytes()).expect("a policy");
        assert_eq!(policy.name, "p");
        assert_eq!(policy.objection("aes256-ctr"), None);
        assert_eq!(policy.objection("aes128-ctr"), Some(Objection::ShortKey));
        assert_eq!(policy.objection("3des-cbc"), Some(Objection::Forbidden));
        assert_eq!(policy.objection("aes192-ctr"), Some(Objection::NotAllowed));
    }
}
