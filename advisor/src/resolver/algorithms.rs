//! What a `Ciphers` or `MACs` value means: the `+ - ^` forms over the compiled default, and which values the
//! program refuses (`ciphers_valid` in `cipher.c`, `kex_assemble_names` in `kex.c`).
#![forbid(unsafe_code)]

use engine::installed::releases::{self, Release};

use super::patterns;

/// One family of algorithms in one program.
#[derive(Clone, Debug)]
pub(super) struct Family {
    pub(super) release: Release,
    /// The compiled default, names this binary lacks left out.
    pub(super) default: Vec<String>,
    /// Every name the binary knows, in its own order.
    pub(super) supported: Vec<String>,
}

/// Which keyword the list belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ciphers,
    Macs,
}

/// A sign and a MiB of names: more is refused after `+`.
const LONGEST_ADDITION: usize = 1 + (1 << 20);

/// Why a value that is valid by itself makes no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoList;

impl Family {
    pub(super) fn new(release: Release, default: &[&str], supported: &[String]) -> Self {
        let known = |name: &&&str| supported.iter().any(|other| other == **name);
        let default = default.iter().filter(known);
        Self {
            release,
            default: default.map(|&name| name.to_owned()).collect(),
            supported: supported.to_vec(),
        }
    }

    /// The name of the value that the program does not accept, if there is one; empty for an empty name.
    pub(super) fn refused_name<'v>(&self, value: &'v [u8]) -> Option<&'v [u8]> {
        let names = match self.prefix(value) {
            Some(b'-') => return None,
            Some(_) => &value[1..],
            None => value,
        };
        if names.is_empty() {
            return Some(names);
        }
        // The program stops looking at the first empty name, and since 10.4 refuses one at the very front.
        if names[0] == b',' && self.release >= Release::new(10, 4) {
            return Some(&names[..0]);
        }
        let mut checked = up_to_empty(names);
        checked.find(|name| !self.supports(name))
    }

    /// The list a valid value stands for, expanded.
    pub(super) fn expand(&self, value: &[u8]) -> Result<Vec<String>, NoList> {
        match self.prefix(value) {
            _ if value.is_empty() => Ok(self.default.clone()),
            Some(b'-') => Ok(self.without(&value[1..])),
            Some(b'+') if value.len() > LONGEST_ADDITION => Err(NoList),
            Some(b'+') => {
                let added: Vec<_> = up_to_empty(&value[1..]).collect();
                self.select(self.default_names().chain(added))
            }
            Some(_) => self.select(split(&value[1..]).chain(self.default_names())),
            None => self.select(split(value)),
        }
    }

    /// The prefix of a value, where this release knows it.
    fn prefix(&self, value: &[u8]) -> Option<u8> {
        let first = *value.first()?;
        releases::knows_prefix(self.release, first.into()).then_some(first)
    }

    fn supports(&self, name: &[u8]) -> bool {
        self.supported.iter().any(|known| known.as_bytes() == name)
    }

    fn default_names(&self) -> impl Iterator<Item = &[u8]> {
        self.default.iter().map(String::as_bytes)
    }

    fn without(&self, list: &[u8]) -> Vec<String> {
        let stays = |name: &&String| !patterns::list_matches(name.as_bytes(), list);
        self.default.iter().filter(stays).cloned().collect()
    }

    /// The supported names each pattern stands for, in the order of the patterns, without repetition.
    fn select<'n>(&self, wanted: impl Iterator<Item = &'n [u8]>) -> Result<Vec<String>, NoList> {
        let mut list: Vec<String> = Vec::new();
        for pattern in wanted {
            if pattern.first() == Some(&b'!') {
                return Err(NoList);
            }
            // Once all are in, nothing can follow: a megabyte of repetitions stays cheap.
            if list.len() == self.supported.len() {
                continue;
            }
            for name in &self.supported {
                if patterns::list_matches(name.as_bytes(), pattern) && !list.contains(name) {
                    list.push(name.clone());
                }
            }
        }
        if list.is_empty() {
            Err(NoList)
        } else {
            Ok(list)
        }
    }
}

fn split(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b',')
}

fn up_to_empty(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    split(list).take_while(|name| !name.is_empty())
}

impl Kind {
    /// The list a keyword, in lower case, sets.
    pub(super) fn of(keyword: &[u8]) -> Option<Self> {
        match keyword {
            b"ciphers" => Some(Self::Ciphers),
            b"macs" => Some(Self::Macs),
            _ => None,
        }
    }

    /// The program's complaint about a value.
    pub(super) fn complaint(self, server: bool, value: &str) -> String {
        let what = match (self, server) {
            (Self::Ciphers, _) => "cipher",
            (Self::Macs, false) => "MAC",
            (Self::Macs, true) => "mac",
        };
        format!("Bad SSH2 {what} spec '{value}'.")
    }

    /// What to do about a name in a value.
    pub(super) fn cure(self, value: &[u8], name: &[u8], family: &Family) -> String {
        let shown = super::show(name);
        if name.is_empty() {
            return "name at least one algorithm, and none before the first comma is empty".into();
        }
        if let Some(cure) = cure_of_form(value, name) {
            return cure.into();
        }
        let is_meant = |known: &&String| {
            let without_owner = known.strip_suffix("@openssh.com").unwrap_or(known);
            [known.as_str(), without_owner]
                .iter()
                .any(|it| name.eq_ignore_ascii_case(it.as_bytes()))
        };
        if let Some(right) = family.supported.iter().find(is_meant) {
            return format!("write {right} in place of {shown}");
        }
        match RETIRED.iter().find(|(retired, _)| **retired == *name) {
            Some((_, since)) => format!("remove {shown}: OpenSSH {since} dropped it"),
            None => format!("remove or correct {shown}: this program does not know it"),
        }
    }
}

fn cure_of_form(value: &[u8], name: &[u8]) -> Option<&'static str> {
    if matches!(name[0], b'+' | b'-' | b'^') && value.len() > name.len() {
        return Some("write the sign once, in front of the whole list");
    }
    if name.iter().any(|byte| b" \t".contains(byte)) {
        return Some("remove the blanks: a list has commas only");
    }
    if name.contains(&b'\r') {
        return Some("end lines with LF or CRLF, and remove the stray carriage return");
    }
    if name.contains(&b'#') {
        return Some("put a blank before the # of a comment");
    }
    if name.iter().any(|byte| b"*?!".contains(byte)) {
        return Some("write the names out: patterns are understood only after -");
    }
    None
}

/// Names releases have dropped, and since when.
const RETIRED: &[(&[u8], &str)] = &[
    (b"arcfour", "7.6"),
    (b"arcfour128", "7.6"),
    (b"arcfour256", "7.6"),
    (b"blowfish-cbc", "7.6"),
    (b"cast128-cbc", "7.6"),
    (b"rijndael-cbc@lysator.liu.se", "8.5"),
    (b"hmac-ripemd160", "7.6"),
    (b"hmac-ripemd160@openssh.com", "7.6"),
    (b"hmac-ripemd160-etm@openssh.com", "7.6"),
    (b"hmac-sha2-256-96", "6.1"),
    (b"hmac-sha2-512-96", "6.1"),
];
