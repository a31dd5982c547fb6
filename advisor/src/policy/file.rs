//! The TOML form of a policy, and errors that say where.
#![forbid(unsafe_code)]

use std::ops::Range;
use std::path::Path;

use engine::algorithm::Cipher;
use serde::Deserialize;
use toml::Spanned;

use super::{Form, Objection, Policy, PolicyError, Profile};
use crate::resolver::Location;

/// The keys of the file; `balanced.toml` explains them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    name: Option<String>,
    description: Option<String>,
    allowed: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(default)]
    forbidden: Vec<Spanned<String>>,
    minimum_key_bits: Option<Spanned<u32>>,
    #[serde(default)]
    prefer_256: bool,
    threshold_percent: Option<Spanned<f64>>,
    #[serde(default)]
    profile: Profile,
    #[serde(default)]
    form: Form,
    #[serde(default)]
    required: Vec<Spanned<String>>,
    #[serde(default)]
    classes: Vec<Vec<Spanned<String>>>,
    exact: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(default)]
    accepted: Vec<Spanned<Vec<Spanned<String>>>>,
    #[serde(default = "yes")]
    respect_pinned: bool,
    restrict: Option<Spanned<bool>>,
    #[serde(default = "yes")]
    keep_ctr: bool,
}

const fn yes() -> bool {
    true
}

/// Ciphers that releases before 8.5 knew: old lists forbid them, and a misspelt name must not pass for one.
const REMOVED: &[&str] = &[
    "arcfour",
    "arcfour128",
    "arcfour256",
    "blowfish-cbc",
    "cast128-cbc",
    "rijndael-cbc@lysator.liu.se",
];

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Policy, PolicyError> {
    let source = Source { path, bytes };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        source.error(at..at, "not UTF-8 text", "a policy is a TOML file")
    })?;
    let keys: Keys = toml::from_str(text).map_err(|error| {
        let cure = "assets/policy/balanced.toml documents every key";
        source.error(
            error.span().unwrap_or(0..0),
            error.message().lines().collect::<Vec<_>>().join(" "),
            cure,
        )
    })?;
    source.policy(keys)
}

struct Source<'a> {
    path: &'a Path,
    bytes: &'a [u8],
}

impl Source<'_> {
    fn policy(&self, keys: Keys) -> Result<Policy, PolicyError> {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.agree(&keys)?;
        let allowed = keys.allowed.map(|list| self.some(list)).transpose()?;
        let classes = keys.classes.into_iter().map(|class| self.ciphers(class));
        let accepted = keys.accepted.into_iter().map(|list| self.some(list));
        let policy = Policy {
            name: keys.name.unwrap_or_else(|| stem.into_owned()),
            description: keys.description.unwrap_or_default(),
            allowed,
            forbidden: self.ciphers(keys.forbidden)?,
            minimum_key_bits: self.key_bits(keys.minimum_key_bits)?,
            prefer_256: keys.prefer_256,
            threshold: self.threshold(keys.threshold_percent)?,
            profile: keys.profile,
            form: keys.form,
            required: self.ciphers(keys.required.clone())?,
            classes: classes.collect::<Result<_, _>>()?,
            exact: keys.exact.clone().map(|list| self.some(list)).transpose()?,
            accepted: accepted.collect::<Result<_, _>>()?,
            respect_pinned: keys.respect_pinned,
            restrict: keys.restrict.is_some_and(Spanned::into_inner),
            keep_ctr: keys.keep_ctr,
        };
        let exact = keys.exact.iter().flat_map(Spanned::get_ref);
        self.admit(&policy, keys.required.iter().chain(exact))?;
        Ok(policy)
    }

    /// Keys that leave each other nothing to say.
    fn agree(&self, keys: &Keys) -> Result<(), PolicyError> {
        let mut lists: Vec<Vec<&Spanned<String>>> = vec![keys.classes.iter().flatten().collect()];
        let pinned = keys.exact.iter().chain(&keys.accepted);
        lists.extend(pinned.map(|list| list.get_ref().iter().collect()));
        for list in lists {
            for (index, name) in list.iter().enumerate() {
                if list[..index]
                    .iter()
                    .any(|it| it.get_ref() == name.get_ref())
                {
                    let what = format!("{:?} has its place already", name.get_ref());
                    return Err(self.error(name.span(), what, "name it once"));
                }
            }
        }
        let Some(exact) = &keys.exact else {
            return Ok(());
        };
        if !keys.classes.is_empty() || keys.prefer_256 {
            let cure = "leave out exact, or classes and prefer_256";
            return Err(self.error(exact.span(), "an exact list has its order already", cure));
        }
        match keys.restrict.as_ref().filter(|it| *it.get_ref()) {
            Some(restrict) => {
                let what = "an exact list leaves nothing to restrict";
                Err(self.error(restrict.span(), what, "leave one of the two out"))
            }
            None => Ok(()),
        }
    }

    /// What a policy asks for it must not object to.
    fn admit<'n>(
        &self,
        policy: &Policy,
        mut wanted: impl Iterator<Item = &'n Spanned<String>>,
    ) -> Result<(), PolicyError> {
        let refused = wanted.find_map(|name| Some((name, policy.objection(name.get_ref())?)));
        let Some((name, objection)) = refused else {
            return Ok(());
        };
        let rule = match objection {
            Objection::NotAllowed => "is not among those this policy allows",
            Objection::Forbidden => "is forbidden by this policy",
            Objection::ShortKey => "has a shorter key than this policy admits",
        };
        let what = format!("{:?} is asked for here, but {rule}", name.get_ref());
        Err(self.error(name.span(), what, "change one of the two"))
    }

    /// A list that may not be empty.
    fn some(&self, list: Spanned<Vec<Spanned<String>>>) -> Result<Vec<String>, PolicyError> {
        if list.get_ref().is_empty() {
            let cure = "name at least one cipher, or leave the key out";
            return Err(self.error(list.span(), "no cipher is named", cure));
        }
        self.ciphers(list.into_inner())
    }

    /// A misspelt name would silently forbid nothing, so each must be one OpenSSH has or had, or a vendor's (`name@vendor`).
    fn ciphers(&self, list: Vec<Spanned<String>>) -> Result<Vec<String>, PolicyError> {
        let known = |name: &str| {
            name.parse::<Cipher>().is_ok()
                || REMOVED.contains(&name)
                || name
                    .split_once('@')
                    .is_some_and(|(_, domain)| !domain.is_empty() && domain != "openssh.com")
        };
        let checked = list.into_iter().map(|name| {
            if known(name.get_ref()) {
                return Ok(name.into_inner());
            }
            let what = format!("{:?} is no cipher", name.get_ref());
            Err(self.error(name.span(), what, cure_of_name(name.get_ref())))
        });
        checked.collect()
    }

    fn key_bits(&self, bits: Option<Spanned<u32>>) -> Result<u32, PolicyError> {
        let Some(bits) = bits else { return Ok(0) };
        if *bits.get_ref() > 256 {
            let what = format!("no cipher has a key of {} bits", bits.get_ref());
            return Err(self.error(bits.span(), what, "give 0, 128, 192 or 256"));
        }
        Ok(bits.into_inner())
    }

    fn threshold(&self, percent: Option<Spanned<f64>>) -> Result<Option<f64>, PolicyError> {
        let Some(percent) = percent else {
            return Ok(None);
        };
        if !(0.0..=1000.0).contains(percent.get_ref()) {
            let what = format!("a threshold of {} percent", percent.get_ref());
            return Err(self.error(percent.span(), what, "give a number from 0 to 1000"));
        }
        Ok(Some(percent.into_inner() / 100.0))
    }

    fn error(
        &self,
        span: Range<usize>,
        what: impl Into<String>,
        cure: impl Into<String>,
    ) -> PolicyError {
        let before = &self.bytes[..span.start.min(self.bytes.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n');
        PolicyError {
            location: Location {
                file: self.path.to_owned(),
                line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
                column: before.len() - line_start.map_or(0, |newline| newline + 1) + 1,
            },
            what: what.into(),
            cure: cure.into(),
        }
    }
}

/// Most wrong names lack `@openssh.com` or have capitals.
fn cure_of_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let meant = Cipher::ALL
        .iter()
        .find(|cipher| cipher.name() == lower || cipher.short_name() == lower);
    match meant {
        Some(cipher) => format!("write {:?}", cipher.name()),
        None => "see `ssh -Q cipher` for the names".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let error = parse(Path::new("site.toml"), text.as_bytes()).expect_err("no policy");
        error.to_string()
    }

    #[test]
    fn errors_say_where_what_and_the_cure() {
        assert_eq!(
            refusal("profile = 'bulk'\nforbidden = ['aes128-gcm']\n"),
            "site.toml:2:14: \"aes128-gcm\" is no cipher; write \"aes128-gcm@openssh.com\""
        );
        assert_eq!(
            refusal("allowed = []"),
            "site.toml:1:11: no cipher is named; name at least one cipher, or leave the key out"
        );
        assert_eq!(
            refusal("minimum_key_bits = 512"),
            "site.toml:1:20: no cipher has a key of 512 bits; give 0, 128, 192 or 256"
        );
        assert_eq!(
            refusal("threshold_percent = -1.0"),
            "site.toml:1:21: a threshold of -1 percent; give a number from 0 to 1000"
        );
        let unknown = refusal("name = 'x'\n\nfaster = true\n");
        assert!(
            unknown.starts_with("site.toml:3:1: unknown field `faster`, expected one of"),
            "{unknown}"
        );
        let profile = refusal("profile = 'huge'");
        assert!(
            profile.starts_with("site.toml:1:11: unknown variant `huge`"),
            "{profile}"
        );
    }

    #[test]
    fn keys_that_contradict_each_other_are_told() {
        for (text, told) in [
            (
                "forbidden = ['aes128-ctr']\nrequired = ['aes256-ctr', 'aes128-ctr']\n",
                "site.toml:2:27: \"aes128-ctr\" is asked for here, but is forbidden by this policy; change one of the two",
            ),
            (
                "minimum_key_bits = 256\nexact = ['aes128-ctr']\n",
                "site.toml:2:10: \"aes128-ctr\" is asked for here, but has a shorter key than this policy admits; change one of the two",
            ),
            (
                "exact = ['aes128-ctr']\nrequired = ['aes256-ctr']\n",
                "site.toml:2:13: \"aes256-ctr\" is asked for here, but is not among those this policy allows; change one of the two",
            ),
            (
                "classes = [['aes128-ctr'], ['aes256-ctr', 'aes128-ctr']]",
                "site.toml:1:43: \"aes128-ctr\" has its place already; name it once",
            ),
            (
                "exact = ['aes128-ctr', 'aes128-ctr']",
                "site.toml:1:24: \"aes128-ctr\" has its place already; name it once",
            ),
            (
                "prefer_256 = true\nexact = ['aes128-ctr']\n",
                "site.toml:2:9: an exact list has its order already; leave out exact, or classes and prefer_256",
            ),
            (
                "exact = ['aes128-ctr']\nrestrict = true\n",
                "site.toml:2:12: an exact list leaves nothing to restrict; leave one of the two out",
            ),
            (
                "accepted = [[]]",
                "site.toml:1:13: no cipher is named; name at least one cipher, or leave the key out",
            ),
            (
                "classes = [['aes128-gcm']]",
                "site.toml:1:13: \"aes128-gcm\" is no cipher; write \"aes128-gcm@openssh.com\"",
            ),
        ] {
            assert_eq!(refusal(text), told);
        }
    }

    #[test]
    fn junk_is_refused_not_panicked_on() {
        assert!(
            parse(Path::new("x"), b"\xff\xfe")
                .is_err_and(|e| e.to_string().starts_with("x:1:1: not UTF-8"))
        );
        assert!(
            parse(Path::new("x"), b"[[[")
                .expect_err("junk")
                .to_string()
                .starts_with("x:1:")
        );
        assert!(parse(Path::new("x"), b"").is_ok());
    }

    #[test]
    fn whole_numbers_are_thresholds_too() {
        let policy = parse(Path::new("x"), b"threshold_percent = 5").expect("a policy");
        assert_eq!(policy.threshold, Some(0.05));
    }

    #[test]
    fn vendors_and_removed_ciphers_can_be_named() {
        let text = b"forbidden = ['arcfour', 'chacha20-poly1305-mt@hpnssh.org']";
        assert!(parse(Path::new("x"), text).is_ok());
    }
}
