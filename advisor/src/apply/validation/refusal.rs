//! What `ssh` and `sshd` say when they refuse files, as `file:line: what, and the cure`.
#![forbid(unsafe_code)]

/// The words of a program, its complaints parted by `"; "`, with places as we write them and a cure.
pub(super) fn told(program: &str, message: &str) -> String {
    let complaints: Vec<_> = message.split("; ").filter_map(Complaint::read).collect();
    let Some(first) = complaints.first() else {
        return format!(
            "{program} refuses these files: {message}; correct what it names, then run this again"
        );
    };
    let places: Vec<_> = complaints
        .iter()
        .map(|it| format!("{}: {}", it.place, it.what))
        .collect();
    format!(
        "{} ({program} refuses it); {}",
        places.join("; "),
        first.cure()
    )
}

/// One complaint about one place.
#[derive(Debug, PartialEq, Eq)]
struct Complaint<'m> {
    /// `file:line`, or a file.
    place: String,
    what: &'m str,
}

impl<'m> Complaint<'m> {
    /// `FILE line N: what`, `FILE: line N: what` or `Bad owner or permissions on FILE`.
    fn read(text: &'m str) -> Option<Self> {
        const OWNER: &str = "Bad owner or permissions";
        let text = text.trim().trim_end_matches('.');
        if let Some(file) = text
            .strip_prefix(OWNER)
            .and_then(|it| it.strip_prefix(" on "))
        {
            return Some(Self {
                place: file.to_owned(),
                what: OWNER,
            });
        }
        let (file, rest) = text.split_once(" line ")?;
        let (number, what) = rest.split_once(": ")?;
        number.parse::<u64>().ok()?;
        Some(Self {
            place: format!("{}:{number}", file.trim_end_matches(':')),
            what,
        })
    }

    fn cure(&self) -> &'static str {
        let cures = [
            (
                "Bad owner",
                "let it belong to root or to the user, and nobody else write to it: chmod go-w",
            ),
            (
                "Bad SSH2 cipher",
                "name only ciphers that ssh -Q cipher lists",
            ),
            ("Bad SSH2", "name only algorithms that ssh -Q lists"),
            (
                "Bad configuration option",
                "correct or remove that line: this release does not know it",
            ),
            (
                "bad include path",
                "write the absolute path: the system's file must not use ~",
            ),
            ("Directive", "move that line above the first Match line"),
            ("Too many recursive", "break the circle of Includes"),
        ];
        let known = cures.iter().find(|(words, _)| self.what.starts_with(words));
        known.map_or("correct or remove that line", |(_, cure)| cure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_place_is_understood() {
        for (said, expected) in [
            (
                "/etc/ssh/a b.conf: line 2: Bad configuration option: nonsense; /etc/ssh/a b.conf: terminating, 1 bad configuration options",
                "/etc/ssh/a b.conf:2: Bad configuration option: nonsense (ssh refuses it); correct or remove that line: this release does not know it",
            ),
            (
                "/etc/ssh/sshd_config line 14: Bad SSH2 cipher spec 'x'.",
                "/etc/ssh/sshd_config:14: Bad SSH2 cipher spec 'x' (ssh refuses it); name only ciphers that ssh -Q cipher lists",
            ),
            (
                "Bad owner or permissions on /etc/x",
                "/etc/x: Bad owner or permissions (ssh refuses it); let it belong to root or to the user, and nobody else write to it: chmod go-w",
            ),
            (
                "out of memory",
                "ssh refuses these files: out of memory; correct what it names, then run this again",
            ),
        ] {
            assert_eq!(told("ssh", said), expected);
        }
    }
}
