//! Colours and glyphs: what this terminal can show, and the one place where the rest is taken away.
//!
//! Screens draw with everything. What the terminal lacks is removed from the finished buffer, so that
//! no screen can forget it. Colours are removed here and not left to crossterm, whose `NO_COLOR`
//! handling writes a reset that also cancels the reversed selection.
#![forbid(unsafe_code)]

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

/// What the terminal may show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Appearance {
    /// Only ASCII characters.
    pub ascii: bool,
    /// No colours; bold, dim and reversed stay.
    pub mono: bool,
}

impl Appearance {
    /// What the environment asks for: no colours where `NO_COLOR` is set and not empty, ASCII where the
    /// locale (`LC_ALL`, else `LC_CTYPE`, else `LANG`) is not UTF-8.
    #[must_use]
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let utf8 = locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.ends_with("utf-8") || locale.ends_with("utf8")
        });
        Self {
            ascii: !utf8,
            mono: set("NO_COLOR").is_some(),
        }
    }

    /// Takes from a finished buffer what may not be shown.
    pub fn apply(self, buffer: &mut Buffer) {
        for cell in &mut buffer.content {
            if self.mono {
                cell.fg = Color::Reset;
                cell.bg = Color::Reset;
                cell.underline_color = Color::Reset;
            }
            if self.ascii && !cell.symbol().is_ascii() {
                cell.set_char(plain(cell.symbol()));
            }
        }
    }
}

/// The ASCII character that stands for a symbol.
fn plain(symbol: &str) -> char {
    match symbol.chars().next() {
        Some('─') => '-',
        Some('│') => '|',
        Some('█') => '#',
        Some('▒') => '=',
        Some('░') => '-',
        Some('▓') => '+',
        Some('▸' | '→') => '>',
        Some('←') => '<',
        Some('↑') => '^',
        Some('↓') => 'v',
        Some('±') => '~',
        Some('×') => 'x',
        Some('…') => '.',
        Some('–') => '-',
        Some('·') => '*',
        _ => '?',
    }
}

/// The answer, and whatever else must be seen first.
pub(super) const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// What is there for completeness.
pub(super) const QUIET: Style = Style::new().add_modifier(Modifier::DIM);
/// The cursor and the open tab.
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);
/// Good, added, fast. Green, magenta and red are legible on dark and on light grounds.
pub(super) const GOOD: Style = Style::new().fg(Color::Green);
/// To be looked at.
pub(super) const NOTABLE: Style = Style::new().fg(Color::Magenta);
/// Bad, removed.
pub(super) const BAD: Style = Style::new().fg(Color::Red);

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Appearance {
        Appearance::from_environment(|name| {
            let mut pairs = variables.iter();
            pairs
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_decides_as_others_decide() {
        assert!(
            !from(&[("LANG", "C.UTF-8"), ("NO_COLOR", "")]).mono,
            "an empty NO_COLOR does not count"
        );
        assert!(from(&[("NO_COLOR", "1")]).mono);
        assert!(!from(&[("LANG", "vi_VN.utf8")]).ascii);
        assert!(
            from(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]).ascii,
            "LC_ALL outranks LANG"
        );
        assert!(from(&[]).ascii, "no locale is the C locale");
    }
}
