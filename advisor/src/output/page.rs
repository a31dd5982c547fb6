//! Laying out lines of text: wrapping, columns, decoration. It knows no document.
//!
//! Everything that reaches a page may come from elsewhere (a saved report, a configuration file), so
//! what would deceive a reader is made visible here, once for all.
#![forbid(unsafe_code)]

use anstyle::{AnsiColor, Style as Ansi};

use super::is_deceptive;

/// How a page looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns to fill, at least 40.
    pub width: usize,
    /// Whether only ASCII may be used.
    pub ascii: bool,
    /// Whether terminal colours may decorate; they never carry meaning.
    pub color: bool,
}

impl Default for Style {
    /// 80 columns, UTF-8, no colour.
    fn default() -> Self {
        Self {
            width: 80,
            ascii: false,
            color: false,
        }
    }
}

/// What a line is, for decoration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    Heading,
    Dim,
    Good,
    Bad,
}

/// Lines put one under another.
pub(super) struct Page {
    style: Style,
    text: String,
}

impl Page {
    pub(super) fn new(style: Style) -> Self {
        let style = Style {
            width: style.width.max(40),
            ..style
        };
        Self {
            style,
            text: String::new(),
        }
    }

    pub(super) const fn width(&self) -> usize {
        self.style.width
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// A heading with an empty line before it, unless it opens the page.
    pub(super) fn heading(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.wrapped("", "  ", text, Role::Heading);
    }

    /// One line, not wrapped.
    pub(super) fn line(&mut self, text: &str, role: Role) {
        let shown = self.shown(text.trim_end_matches(' '));
        let ansi = self.ansi(role);
        self.text.push_str(&format!("{ansi}{shown}{ansi:#}\n"));
    }

    /// Text after `first`, wrapped at the width, further lines after `rest`.
    pub(super) fn wrapped(&mut self, first: &str, rest: &str, text: &str, role: Role) {
        let text = self.shown(text);
        let mut line = first.to_owned();
        let mut fresh = true;
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let gap = usize::from(!fresh);
            let needed = columns(&line) + gap + columns(word);
            if !fresh && needed > self.style.width {
                self.line(&line, role);
                rest.clone_into(&mut line);
            } else if !fresh {
                line.push(' ');
            }
            line.push_str(word);
            fresh = false;
        }
        self.line(&line, role);
    }

    fn ansi(&self, role: Role) -> Ansi {
        let plain = Ansi::new();
        if !self.style.color {
            return plain;
        }
        match role {
            Role::Plain => plain,
            Role::Heading => plain.bold(),
            Role::Dim => plain.dimmed(),
            Role::Good => plain.fg_color(Some(AnsiColor::Green.into())),
            Role::Bad => plain.fg_color(Some(AnsiColor::Red.into())),
        }
    }

    fn shown(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '\t' => shown.push(c),
                c if is_deceptive(c) => shown.extend(c.escape_default()),
                c if self.style.ascii && !c.is_ascii() => shown.push_str(&ascii(c)),
                c => shown.push(c),
            }
        }
        shown
    }
}

/// Width of a text on screen. The words this program prints have no wide characters.
pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// ASCII of the same width where our own words use more, an escape for what files bring.
fn ascii(c: char) -> String {
    match c {
        '±' => "~".to_owned(),
        '×' => "x".to_owned(),
        '→' => ">".to_owned(),
        '…' => ".".to_owned(),
        '–' => "-".to_owned(),
        '·' => "*".to_owned(),
        _ => c.escape_default().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_signs_have_a_letter_in_ascii() {
        let shown: String = "±×→…–·".chars().map(ascii).collect();
        assert_eq!(shown, "~x>.-*");
        assert_eq!(ascii('\u{202e}'), "\\u{202e}");
    }

    #[test]
    fn control_characters_cannot_reach_the_terminal() {
        let mut page = Page::new(Style::default());
        page.line("a\u{1b}[31mb\r", Role::Plain);
        page.wrapped("", "", "c\u{7}\u{202e}d", Role::Plain);
        assert_eq!(page.finish(), "a\\u{1b}[31mb\\r\nc\\u{7}\\u{202e}d\n");
    }

    #[test]
    fn words_are_wrapped_and_never_cut() {
        let mut page = Page::new(Style {
            width: 40,
            ..Style::default()
        });
        let long = "x".repeat(50);
        page.wrapped(
            "  ",
            "    ",
            &format!("{long} and then some more words follow"),
            Role::Plain,
        );
        assert_eq!(
            page.finish(),
            format!("  {long}\n    and then some more words follow\n")
        );
    }

    #[test]
    fn colour_is_only_decoration() {
        let mut page = Page::new(Style {
            color: true,
            ..Style::default()
        });
        page.line("+new", Role::Good);
        let text = page.finish();
        assert!(text.contains('\u{1b}'));
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), "+new\n");
    }
}
