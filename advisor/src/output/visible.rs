//! Characters that change how the text around them is shown, made visible.
//!
//! File names, configuration and saved reports may come from anybody. What moves the cursor, turns the direction
//! of writing round, or cannot be seen could make a terminal show another text than the one that is there.
#![forbid(unsafe_code)]

/// Whether a character is shown as something else than itself: a control character, or one of Unicode's format
/// characters (general categories Cc, Cf, Zl and Zp).
#[must_use]
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}')
}

/// The text with escapes (`\u{202e}`) in place of such characters; line ends and tabs stay.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if is_deceptive(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_deceives_is_escaped_and_what_people_write_is_not() {
        let text = "a\u{202e}b\u{2066}c\u{200b}d\u{1b}[0m\u{2028}\u{e0041}";
        let shown = "a\\u{202e}b\\u{2066}c\\u{200b}d\\u{1b}[0m\\u{2028}\\u{e0041}";
        assert_eq!(visible(text), shown);
        for plain in ["größer\tals\n", "日本語 é ± ×", "עברית", "👍"] {
            assert_eq!(visible(plain), plain);
        }
    }
}
