//! Colours and glyphs: what this terminal can show, and the one place where the rest is taken away.
//!
//! Screens draw with everything. What the terminal lacks is removed from the finished buffer, so that
//! no screen can forget it. Colours are removed here and not left to crossterm, whose `NO_COLOR`
//! handling writes a reset that also cancels the reversed selection.
#![forbid(unsafe_code)]

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier, Style};

use super::themes::{Depth, THEMES, Theme};

/// What the terminal may show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Appearance {
    /// Only ASCII characters.
    pub ascii: bool,
    /// No colours; bold, dim and reversed stay.
    pub mono: bool,
    /// How many colours there are.
    pub depth: Depth,
    /// The place of the theme in [`THEMES`].
    pub theme: usize,
}

impl Appearance {
    /// What the environment asks for: no colours where `NO_COLOR` is set and not empty, ASCII where the
    /// locale (`LC_ALL`, else `LC_CTYPE`, else `LANG`) is not UTF-8, as many colours as `COLORTERM` and `TERM` say.
    #[must_use]
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let utf8 = locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.ends_with("utf-8") || locale.ends_with("utf8")
        });
        let says = |name, words: &[&str]| {
            set(name).is_some_and(|value| words.iter().any(|word| value.contains(word)))
        };
        let depth = if says("COLORTERM", &["truecolor", "24bit"]) || says("TERM", &["direct"]) {
            Depth::True
        } else if says("TERM", &["256color", "kitty", "alacritty"]) {
            Depth::Cube
        } else {
            Depth::Sixteen
        };
        Self {
            ascii: !utf8,
            mono: set("NO_COLOR").is_some(),
            depth,
            theme: 0,
        }
    }

    /// The same with the theme of this name.
    #[must_use]
    pub fn with_theme(self, name: &str) -> Option<Self> {
        let theme = THEMES.iter().position(|it| it.name == name)?;
        Some(Self { theme, ..self })
    }

    pub(super) fn next_theme(self) -> Self {
        Self {
            theme: (self.theme + 1) % THEMES.len(),
            ..self
        }
    }

    /// The theme in words, with what keeps it from being seen.
    pub(super) fn theme_name(self) -> String {
        let name = &self.theme().name;
        if self.mono {
            format!("{name}, not shown: colours are off")
        } else if self.depth == Depth::Sixteen && self.theme > 0 {
            format!("{name}, not shown: this terminal has sixteen colours")
        } else {
            name.clone()
        }
    }

    fn theme(self) -> &'static Theme {
        &THEMES[self.theme.min(THEMES.len() - 1)]
    }

    /// Takes from a finished buffer what may not be shown, and gives the rest the theme's colours.
    pub fn apply(self, buffer: &mut Buffer) {
        for cell in &mut buffer.content {
            if self.mono {
                cell.fg = Color::Reset;
                cell.bg = Color::Reset;
                cell.underline_color = Color::Reset;
            } else if self.depth != Depth::Sixteen {
                self.colour(cell);
            }
            if self.ascii && !cell.symbol().is_ascii() {
                cell.set_char(plain(cell.symbol()));
            }
        }
    }

    /// A line for the shell, with what this terminal can show.
    pub(super) fn line(self, text: &str) -> String {
        let shown = |letter: char| match self.ascii && !letter.is_ascii() {
            true => plain(letter.encode_utf8(&mut [0; 4])),
            false => letter,
        };
        text.chars().map(shown).collect()
    }

    /// Colours are exchanged in the finished buffer, so that no screen knows of themes.
    fn colour(self, cell: &mut Cell) {
        let theme = self.theme();
        let wanted = match cell.fg {
            Color::Reset => theme.text,
            Color::Green => theme.good,
            Color::Magenta => theme.notable,
            Color::Red => theme.bad,
            _ => None,
        };
        cell.fg = wanted.map_or(cell.fg, |it| it.at(self.depth));
        cell.bg = theme.ground.map_or(cell.bg, |it| it.at(self.depth));
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
        Some('▁' | '▂') => '_',
        Some('▃' | '▄' | '▅') => '-',
        Some('▆' | '▇') => '^',
        Some('└') => '`',
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
        assert_eq!(from(&[("TERM", "linux")]).depth, Depth::Sixteen);
        assert_eq!(from(&[("TERM", "tmux-256color")]).depth, Depth::Cube);
        assert_eq!(from(&[("COLORTERM", "truecolor")]).depth, Depth::True);
    }

    #[test]
    fn a_theme_changes_colours_only_where_there_are_enough() {
        let dark = Appearance::default().with_theme("dark").expect("built in");
        let drawn = |depth, mono| {
            let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 1, 1));
            buffer.set_string(0, 0, "x", GOOD);
            Appearance {
                depth,
                mono,
                ..dark
            }
            .apply(&mut buffer);
            buffer.content[0].fg
        };
        assert_eq!(drawn(Depth::Sixteen, false), Color::Green);
        assert_eq!(drawn(Depth::True, false), Color::Rgb(0x56, 0xb4, 0xe9));
        assert_eq!(drawn(Depth::True, true), Color::Reset);
        assert!(dark.with_theme("pink").is_none());
    }
}
