//! The command to type next: the options of this run that its result depends on, quoted for a shell.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

use advisor::output::Commands;
use clap::ValueEnum;

use super::args::{EvidenceName, Options, Sides};

/// What writes the change shown, and what puts the old bytes back.
pub(super) fn commands(options: &Options) -> Commands {
    let mut place = Line::new();
    place.path("--root", options.root.as_deref());
    if options.side != Sides::Client {
        place.name("--side", options.side);
    }
    place.path("--ssh-config", options.ssh_config.as_deref());
    place.path("--sshd-config", options.sshd_config.as_deref());
    if options.user_config {
        place.0.push_str(" --user-config");
    }
    let mut rules = Line(place.0.clone());
    if options.force_managed {
        rules.0.push_str(" --force-managed");
    }
    rules.path("--measurements", options.measurements.as_deref());
    rules.path("--policy", options.policy.as_deref());
    if let Some(profile) = options.profile {
        rules.name("--profile", profile);
    }
    if options.evidence != EvidenceName::Auto {
        rules.name("--evidence", options.evidence);
    }
    rules.path("--ssh", options.ssh.as_deref());
    rules.path("--sshd", options.sshd.as_deref());
    Commands {
        apply: rules.0 + " --apply",
        rollback: place.0 + " --rollback",
    }
}

struct Line(String);

impl Line {
    fn new() -> Self {
        Self("advisor".to_owned())
    }

    fn path(&mut self, option: &str, path: Option<&Path>) {
        if let Some(path) = path {
            self.0 += &format!(" {option} {}", quoted(path.as_os_str()));
        }
    }

    fn name(&mut self, option: &str, value: impl ValueEnum) {
        if let Some(value) = value.to_possible_value() {
            self.0 += &format!(" {option} {}", value.get_name());
        }
    }
}

/// As one word of a POSIX shell.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("/srv/image-1".as_ref()), "/srv/image-1");
        assert_eq!(quoted("a b".as_ref()), "'a b'");
        assert_eq!(quoted("it's $HOME".as_ref()), r"'it'\''s $HOME'");
        assert_eq!(quoted("".as_ref()), "''");
    }
}
