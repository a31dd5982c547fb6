//! Text that others have written, as one line that shows what is really there.
//!
//! Configuration files, saved reports and names of files come from anybody. Every view passes them through here,
//! so that neither face, nor the clipboard, nor the shell gets a character that moves the cursor or turns the
//! direction of writing round.
#![forbid(unsafe_code)]

use advisor::output::visible;

/// The text on one line, with escapes in place of what would deceive.
pub(super) fn shown(text: &str) -> String {
    let line = text.replace('\t', "    ").replace('\n', " ");
    visible(&line)
}

/// The same in place.
pub(super) fn show(text: &mut String) {
    *text = shown(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_that_hides_nothing() {
        assert_eq!(
            shown("a\tb\nc\u{202e}\u{1b}[2J"),
            "a    b c\\u{202e}\\u{1b}[2J"
        );
    }
}
