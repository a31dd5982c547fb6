//! Variables that tell libcrypto which instructions it may use.
#![forbid(unsafe_code)]

use engine::report::Report;

use super::Finding;
use crate::resolver::{Location, Severity};

/// Bits of the first and second words of `OPENSSL_ia32cap` (OPENSSL_ia32cap(3)) that ciphers live on.
const BITS: [(usize, u32, &str); 7] = [
    (0, 57, "aes"),
    (0, 33, "pclmulqdq"),
    (0, 41, "ssse3"),
    (1, 5, "avx2"),
    (1, 16, "avx512f"),
    (1, 41, "vaes"),
    (1, 42, "vpclmulqdq"),
];

/// What this program, and so every `ssh` started beside it, was given.
pub(super) fn findings(report: &Report) -> impl Iterator<Item = Finding> + '_ {
    let variables = report.host.environment.iter();
    variables.map(|(name, value)| Finding {
        cure: format!("unset {name} where ssh is started, unless somebody needs it"),
        ..finding(name, value, "this environment")
    })
}

/// What a running daemon was started with, as `NAME=value`.
pub(crate) fn of_daemon(place: &Location, assignment: &str) -> Option<Finding> {
    let (name, value) = assignment.split_once('=')?;
    Some(Finding {
        file: Some(place.file.clone()),
        cure: format!("take {name} out of sshd's unit or its EnvironmentFile, and restart sshd"),
        ..finding(name, value, "the running sshd")
    })
}

fn finding(name: &str, value: &str, whose: &str) -> Finding {
    let hidden = hidden(name, value);
    let effect = match hidden.as_slice() {
        [] => String::new(),
        some => format!(", which hides {}", some.join(", ")),
    };
    Finding::new(
        "library-masked",
        if hidden.contains(&"aes") || hidden.contains(&"pclmulqdq") {
            Severity::Warning
        } else {
            Severity::Info
        },
        format!("{name} tells libcrypto which instructions to use, in {whose}"),
        format!("{name}={value}{effect}"),
        "",
    )
}

/// The instruction sets a value takes away; none where it cannot be told.
fn hidden(name: &str, value: &str) -> Vec<&'static str> {
    if name != "OPENSSL_ia32cap" {
        return Vec::new();
    }
    let words: Vec<Option<(bool, u64)>> = value.split(':').map(word).collect();
    let is_hidden = |&&(at, bit, _): &&(usize, u32, &str)| {
        let word = words.get(at).copied().flatten();
        // `~` clears the bits named; a bare number stands for all of them.
        word.is_some_and(|(clears, bits)| clears == (bits >> bit & 1 == 1))
    };
    BITS.iter()
        .filter(is_hidden)
        .map(|&(.., feature)| feature)
        .collect()
}

fn word(text: &str) -> Option<(bool, u64)> {
    let number = text.strip_prefix('~');
    let digits = number.unwrap_or(text);
    let bits = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    Some((number.is_some(), bits.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_as_the_manual_says() {
        let of = |value| hidden("OPENSSL_ia32cap", value);
        assert_eq!(of("~0x200000200000000"), ["aes", "pclmulqdq"]);
        assert_eq!(of(":~0x60000000000"), ["vaes", "vpclmulqdq"]);
        assert_eq!(of("~0x0:~0x20"), ["avx2"]);
        assert_eq!(of("0"), ["aes", "pclmulqdq", "ssse3"], "nothing is left");
        assert!(of("nonsense").is_empty() && of("").is_empty());
        assert!(hidden("OPENSSL_armcap", "0").is_empty());
    }

    #[test]
    fn no_variable_is_no_finding_and_a_harmless_one_is_no_warning() {
        let mut report = Report::default();
        assert_eq!(findings(&report).count(), 0);
        let name = "OPENSSL_ia32cap".to_owned();
        report
            .host
            .environment
            .insert(name.clone(), ":~0x20".to_owned());
        let told: Vec<_> = findings(&report).collect();
        assert_eq!(told[0].severity, Severity::Info);
        report
            .host
            .environment
            .insert(name, "~0x200000200000000".to_owned());
        let told: Vec<_> = findings(&report).collect();
        assert_eq!(told[0].severity, Severity::Warning);
        assert!(
            told[0].evidence.ends_with("hides aes, pclmulqdq"),
            "{told:?}"
        );
    }

    #[test]
    fn a_daemon_is_told_where_it_was_seen() {
        let place = Location::whole("/proc/812/environ".as_ref());
        let told = of_daemon(&place, "OPENSSL_armcap=0").expect("an assignment");
        assert_eq!(told.file.as_deref(), Some("/proc/812/environ".as_ref()));
        assert!(told.what.ends_with("in the running sshd"));
    }
}
