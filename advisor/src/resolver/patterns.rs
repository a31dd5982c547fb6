//! Wildcard patterns and lists of them, as OpenSSH's `match.c` has them, over three-valued answers: where a
//! name or a condition cannot be known, a match is [`Activity::Maybe`].
#![forbid(unsafe_code)]

/// Whether something applies. Ordered, so that `min` is "and" and `max` is "or".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Activity {
    No,
    Maybe,
    Yes,
}

impl Activity {
    pub(super) fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }

    /// What several possible answers have in common.
    pub(super) fn common(answers: impl IntoIterator<Item = Self>) -> Self {
        let agree = |a, b| if a == b { a } else { Self::Maybe };
        answers.into_iter().reduce(agree).unwrap_or(Self::No)
    }
}

impl From<bool> for Activity {
    fn from(applies: bool) -> Self {
        if applies { Self::Yes } else { Self::No }
    }
}

/// A host name to compare with patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// This one.
    Known(Vec<u8>),
    /// A host that no pattern names: only patterns that match everything match it.
    Any,
    /// One that only the network knows.
    Unknown,
}

impl Name {
    pub(super) fn matches(&self, pattern: &[u8]) -> Activity {
        let everything = !pattern.is_empty() && pattern.iter().all(|&byte| byte == b'*');
        match self {
            Self::Known(name) => matches(name, pattern).into(),
            Self::Any => everything.into(),
            Self::Unknown if everything => Activity::Yes,
            Self::Unknown => Activity::Maybe,
        }
    }

    pub(super) fn lowercase(&self) -> Self {
        match self {
            Self::Known(name) => Self::Known(name.to_ascii_lowercase()),
            other => other.clone(),
        }
    }

    /// Whether a comma-separated list of host patterns holds it (`match_hostname`).
    pub(super) fn is_in(&self, list: &[u8]) -> Activity {
        let name = self.lowercase();
        list_activity(list, |pattern| name.matches(&pattern.to_ascii_lowercase()))
    }
}

/// Whether `*` and `?` of a pattern make it the text. Linear in the text for each `*`.
pub(crate) fn matches(text: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut of) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(of) {
            Some(b'*') => {
                star = Some((at, of + 1));
                of += 1;
            }
            Some(&byte) if byte == b'?' || byte == text[at] => {
                at += 1;
                of += 1;
            }
            _ => {
                let Some((start, after)) = star else {
                    return false;
                };
                star = Some((start + 1, after));
                (at, of) = (start + 1, after);
            }
        }
    }
    pattern[of..].iter().all(|&byte| byte == b'*')
}

/// Whether a comma-separated list of patterns, `!` negating, holds the text.
pub(super) fn list_matches(text: &[u8], list: &[u8]) -> bool {
    list_activity(list, |pattern| matches(text, pattern).into()) == Activity::Yes
}

/// The same over any comparison. A negated pattern that matches vetoes; one of 1023 bytes or more ends the
/// comparison without a match.
pub(super) fn list_activity(list: &[u8], mut holds: impl FnMut(&[u8]) -> Activity) -> Activity {
    const LONGEST: usize = 1022;
    let (mut found, mut vetoed) = (Activity::No, Activity::No);
    for item in items(list) {
        let (pattern, negated) = match item.strip_prefix(b"!") {
            Some(pattern) => (pattern, true),
            None => (item, false),
        };
        if pattern.len() > LONGEST {
            return Activity::No;
        }
        let answer = holds(pattern);
        if negated {
            vetoed = vetoed.max(answer);
        } else {
            found = found.max(answer);
        }
        if vetoed == Activity::Yes {
            return Activity::No;
        }
    }
    found.min(vetoed.not())
}

/// The items of a list; an empty list and what follows a last comma are none.
fn items(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let list = list.strip_suffix(b",").unwrap_or(list);
    let count = if list.is_empty() { 0 } else { usize::MAX };
    list.split(|&byte| byte == b',').take(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match_as_in_match_c() {
        for (text, pattern, expected) in [
            ("web1", "web?", true),
            ("web", "web?", false),
            ("web10", "web*", true),
            ("a.b.c", "*.c", true),
            ("aaab", "a*ab", true),
            ("aaab", "a*ac", false),
            ("", "*", true),
            ("", "", true),
            ("[a]", "[a]", true),
            ("a", "[a]", false),
            ("Web", "web", false),
        ] {
            let found = matches(text.as_bytes(), pattern.as_bytes());
            assert_eq!(found, expected, "{text} {pattern}");
        }
    }

    #[test]
    fn a_pattern_full_of_stars_is_no_trap() {
        let text = vec![b'a'; 20_000];
        let mut pattern = b"*a".repeat(40);
        pattern.push(b'b');
        assert!(!matches(&text, &pattern));
    }

    #[test]
    fn negation_vetoes_and_only_negation_never_matches() {
        assert!(list_matches(b"web", b"*,!db"));
        assert!(!list_matches(b"db", b"*,!db"));
        assert!(!list_matches(b"web", b"!db"));
        assert!(!list_matches(b"web", b""));
    }

    #[test]
    fn an_overlong_pattern_ends_the_comparison() {
        let list = [b"web,".as_slice(), &vec![b'x'; 1023]].concat();
        assert!(!list_matches(b"web", &list));
    }

    #[test]
    fn a_name_only_the_network_knows_may_match() {
        assert_eq!(Name::Unknown.is_in(b"*.org"), Activity::Maybe);
        assert_eq!(Name::Unknown.is_in(b"*"), Activity::Yes);
        assert_eq!(Name::Any.is_in(b"*.org"), Activity::No);
        assert_eq!(Name::Any.is_in(b"*,!db"), Activity::Yes);
    }
}
