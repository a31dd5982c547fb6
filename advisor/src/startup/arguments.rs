//! The words of a command line of `sshd`, as `getopt(3)` cuts them (`main` in `sshd.c`).
#![forbid(unsafe_code)]

use super::{Started, Word};
use crate::resolver::CommandOption;

/// Flags that take a value.
const WITH_VALUE: &[u8] = b"CEbcfghkopu";
/// Flags of a process that serves one connection or only checks: not the daemon.
const NO_DAEMON: &[u8] = b"GRTVit";

/// What a daemon with these arguments reads; `None` where they do not start one. `is_joined` says that blanks
/// in an argument cannot be told from those between two.
pub(super) fn started(arguments: &[Word], is_joined: bool) -> Option<Started> {
    let mut started = Started {
        file: None,
        options: Vec::new(),
    };
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let Some(flags) = word.text.strip_prefix('-').filter(|it| !it.is_empty()) else {
            break;
        };
        if flags == "-" {
            break;
        }
        for (index, flag) in flags.bytes().enumerate() {
            if NO_DAEMON.contains(&flag) {
                return None;
            }
            if !WITH_VALUE.contains(&flag) {
                continue;
            }
            // A flag is one byte of ASCII, so what follows is text still.
            let rest = flags.get(index + 1..).unwrap_or_default();
            let mut value = match rest {
                "" => words.next()?.text.clone(),
                attached => attached.to_owned(),
            };
            if flag == b'o' && is_joined && !value.contains('=') {
                let second = words.next_if(|next| !next.text.starts_with('-'));
                value.extend(second.map(|next| format!(" {}", next.text)));
            }
            match flag {
                b'o' => started.options.push(CommandOption {
                    value,
                    location: word.location.clone(),
                }),
                b'f' => started.file = Some(value),
                _ => {}
            }
            break;
        }
    }
    Some(started)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn words(text: &str) -> Vec<Word> {
        let location = crate::resolver::Location::whole(Path::new("x"));
        let word = |text: &str| Word {
            text: text.to_owned(),
            location: location.clone(),
        };
        text.split(' ').map(word).collect()
    }

    fn told(text: &str, is_joined: bool) -> Option<(Vec<String>, Option<String>)> {
        let started = started(&words(text), is_joined)?;
        let values = started.options.into_iter().map(|it| it.value);
        Some((values.collect(), started.file))
    }

    #[test]
    fn options_are_cut_as_getopt_cuts_them() {
        for (line, options, file) in [
            ("-D", &[][..], None),
            ("-D -oCiphers=a", &["Ciphers=a"], None),
            ("-De -o Ciphers=a -oMACs=b", &["Ciphers=a", "MACs=b"], None),
            ("-Df /x -4 -p 22 -oCiphers=a", &["Ciphers=a"], Some("/x")),
            ("-f/x -- -oCiphers=a", &[], Some("/x")),
            ("-p 22 word -oCiphers=a", &[], None),
        ] {
            let expected = (
                options.iter().map(ToString::to_string).collect(),
                file.map(ToOwned::to_owned),
            );
            assert_eq!(told(line, false), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_serves_one_connection_or_checks_is_no_daemon() {
        for line in ["-i", "-R", "-D -R", "-t", "-T -f /x", "-G", "-V", "-o"] {
            assert_eq!(told(line, false), None, "{line}");
        }
    }

    #[test]
    fn an_option_with_a_blank_is_put_together_again() {
        let (options, _) = told("-oCiphers a -D", true).unwrap();
        assert_eq!(options, ["Ciphers a"]);
        let (options, _) = told("-oCiphers -D", true).unwrap();
        assert_eq!(options, ["Ciphers"]);
    }
}
