//! Keys, whichever toolkit they come from, and their names.
#![forbid(unsafe_code)]

use std::fmt;
use std::str::FromStr;

/// A key, whichever toolkit it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character as typed, shift applied.
    Char(char),
    /// A letter, in lower case, with Control held.
    Control(char),
    /// Enter.
    Enter,
    /// Backspace.
    Backspace,
    /// Escape.
    Escape,
    /// Tab.
    Tab,
    /// Tab with Shift held.
    BackTab,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// First function key, help on desktops.
    F1,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Char(' ') => "Space",
            Self::Char(c) => return write!(f, "{c}"),
            Self::Control(c) => return write!(f, "Ctrl-{}", c.to_ascii_uppercase()),
            Self::Enter => "Enter",
            Self::Backspace => "Backspace",
            Self::Escape => "Esc",
            Self::Tab => "Tab",
            Self::BackTab => "Shift-Tab",
            Self::Up => "↑",
            Self::Down => "↓",
            Self::Left => "←",
            Self::Right => "→",
            Self::PageUp => "PgUp",
            Self::PageDown => "PgDn",
            Self::Home => "Home",
            Self::End => "End",
            Self::F1 => "F1",
        };
        f.write_str(name)
    }
}

/// No key is called this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no key")]
pub struct UnknownKey(pub String);

impl FromStr for Key {
    type Err = UnknownKey;

    /// A character; `Ctrl-X`; or a name as it is shown, arrows also as words.
    fn from_str(name: &str) -> Result<Self, UnknownKey> {
        let mut letters = name.chars();
        if let (Some(letter), None) = (letters.next(), letters.next())
            && letter.is_ascii_graphic()
        {
            return Ok(Self::Char(letter));
        }
        let control = name.strip_prefix("Ctrl-").map(str::as_bytes);
        if let Some([letter]) = control
            && letter.is_ascii_alphabetic()
        {
            return Ok(Self::Control(char::from(letter.to_ascii_lowercase())));
        }
        let named = [
            ("Enter", Self::Enter),
            ("Backspace", Self::Backspace),
            ("Esc", Self::Escape),
            ("Tab", Self::Tab),
            ("Shift-Tab", Self::BackTab),
            ("Space", Self::Char(' ')),
            ("Up", Self::Up),
            ("Down", Self::Down),
            ("Left", Self::Left),
            ("Right", Self::Right),
            ("PgUp", Self::PageUp),
            ("PgDn", Self::PageDown),
            ("Home", Self::Home),
            ("End", Self::End),
            ("F1", Self::F1),
        ];
        let key = named
            .into_iter()
            .find(|(word, key)| name.eq_ignore_ascii_case(word) || name == key.to_string());
        key.map(|(_, key)| key)
            .ok_or_else(|| UnknownKey(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_shown() {
        for key in [
            Key::Char('x'),
            Key::Char('J'),
            Key::Control('z'),
            Key::Enter,
            Key::Up,
            Key::BackTab,
            Key::F1,
        ] {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        assert_eq!("down".parse(), Ok(Key::Down));
        for wrong in ["", "Ctrl-", "Ctrl-1", "xx", "F99", "\u{202e}"] {
            assert!(wrong.parse::<Key>().is_err(), "{wrong:?}");
        }
    }
}
