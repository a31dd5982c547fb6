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
    /// Ciphers that must be in a list; one that is missing is added.
    pub required: Vec<String>,
    /// Classes that go one before the other, whatever the speed; what is in none comes behind them.
    pub classes: Vec<Vec<String>>,
    /// The very list, in this order, that is to hold.
    pub exact: Option<Vec<String>>,
    /// Other lists that are as good as the exact one, and stay where they are found.
    pub accepted: Vec<Vec<String>>,
    /// Whether a list that a built-in policy pins is left as it is.
    pub respect_pinned: bool,
    /// Whether a server leaves slow ciphers out, so that clients come to use a fast one.
    pub restrict: bool,
    /// Whether what a server keeps then holds at least one AES-CTR.
    pub keep_ctr: bool,
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

/// The files of the built-in policies, in the order of [`Policy::BUILT_IN`].
const TEXTS: [&str; 4] = [
    include_str!("../../../assets/policy/balanced.toml"),
    include_str!("../../../assets/policy/cis.toml"),
    include_str!("../../../assets/policy/fips.toml"),
    include_str!("../../../assets/policy/stig.toml"),
];

impl Default for Policy {
    /// The built-in `balanced`.
    fn default() -> Self {
        Self::built_in("balanced").expect("it is the first of the list")
    }
}

impl Policy {
    /// The names of the policies this program brings.
    pub const BUILT_IN: &[&str] = &["balanced", "cis", "fips", "stig"];

    /// The policy of that built-in name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let at = Self::BUILT_IN.iter().position(|it| *it == name)?;
        let path = format!("{name}.toml");
        let policy = Self::parse(Path::new(&path), TEXTS[at].as_bytes());
        Some(policy.expect("a test parses the built-in policies"))
    }

    /// The built-in policy that pins this very list, in this order.
    #[must_use]
    pub fn that_pins(list: &[String]) -> Option<Self> {
        let policies = Self::BUILT_IN.iter().copied().filter_map(Self::built_in);
        policies.into_iter().find(|policy| policy.pins(list))
    }

    /// Whether this list, in this order, is one that the policy asks for by name.
    #[must_use]
    pub fn pins(&self, list: &[String]) -> bool {
        let mut pinned = self.exact.iter().chain(&self.accepted);
        pinned.any(|it| it == list)
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
        let mut only = [&self.allowed, &self.exact].into_iter().flatten();
        if only.any(|list| !lists(list)) {
            return Some(Objection::NotAllowed);
        }
        (key_bits(cipher) < self.minimum_key_bits).then_some(Objection::ShortKey)
    }

    /// The class of a cipher, from 0; what is in none comes behind the last.
    #[must_use]
    pub fn class(&self, cipher: &str) -> usize {
        let mut classes = self.classes.iter();
        let found = classes.position(|class| class.iter().any(|name| name == cipher));
        found.unwrap_or(self.classes.len())
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
    fn every_built_in_policy_parses_and_is_named_as_it_is_asked_for() {
        for name in Policy::BUILT_IN {
            let policy = Policy::built_in(name).unwrap();
            assert_eq!(policy.name, *name);
            assert!(!policy.description.is_empty());
        }
        assert_eq!(Policy::built_in("none"), None);
    }

    #[test]
    fn a_pinned_list_is_known_by_its_order() {
        let stig = Policy::built_in("stig").unwrap();
        let mut list = stig.exact.clone().unwrap();
        assert_eq!(Policy::that_pins(&list), Some(stig.clone()));
        for other in &stig.accepted {
            assert_eq!(Policy::that_pins(other), Some(stig.clone()));
        }
        list.swap(0, 1);
        assert_eq!(Policy::that_pins(&list), None);
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
