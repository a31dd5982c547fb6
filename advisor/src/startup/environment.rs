//! Variables as systemd reads them: the lines of an `EnvironmentFile` (systemd.exec(5)), and quoted words.
#![forbid(unsafe_code)]

use std::path::Path;

use super::Word;
use crate::resolver::Location;

/// The assignments of a file, in order; a later one of the same name counts.
pub(super) fn assignments(text: &str, file: &Path) -> Vec<(String, Word)> {
    let mut found = Vec::new();
    let mut rest = Cursor {
        characters: text.chars().peekable(),
        line: 1,
    };
    while let Some(first) = rest.peek() {
        match first {
            _ if first.is_whitespace() => {
                rest.next();
            }
            '#' | ';' => rest.skip_line(),
            _ => {
                let line = rest.line;
                if let Some((name, text)) = rest.assignment() {
                    let location = Location {
                        line,
                        ..Location::whole(file)
                    };
                    found.push((name, Word { text, location }));
                }
            }
        }
    }
    found
}

/// Cuts at blanks outside quotes, and removes the quotes.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(characters.next()),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Text that is read once, with the number of the line reached.
struct Cursor<'t> {
    characters: std::iter::Peekable<std::str::Chars<'t>>,
    line: usize,
}

impl Cursor<'_> {
    fn peek(&mut self) -> Option<char> {
        self.characters.peek().copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.characters.next();
        self.line += usize::from(next == Some('\n'));
        next
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|c| c != '\n') {}
    }

    /// A name and its value; `None` for a line without `=`.
    fn assignment(&mut self) -> Option<(String, String)> {
        let mut name = String::new();
        loop {
            match self.next()? {
                '=' => break,
                '\n' => return None,
                c => name.push(c),
            }
        }
        Some((name.trim().to_owned(), self.value()))
    }

    fn value(&mut self) -> String {
        let mut value = String::new();
        // What is kept of the end even where it is blank: quoted text is.
        let mut kept = 0;
        let mut quote = None;
        while let Some(c) = self.next() {
            match (c, quote) {
                ('\n', None) => break,
                (c, Some(open)) if c == open => quote = None,
                ('\'' | '"', None) => quote = Some(c),
                ('\\', None | Some('"')) => {
                    value.extend(self.next().filter(|&next| next != '\n'));
                    kept = value.len();
                    continue;
                }
                (c, None) if c.is_whitespace() && value.is_empty() => {}
                (c, _) => value.push(c),
            }
            if quote.is_some() || !c.is_whitespace() {
                kept = value.len();
            }
        }
        value.truncate(kept);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_variables_is_read_as_systemd_reads_it() {
        let text = "# a comment\nA=1\n\n B = two words  \nC='-oCiphers=a -oMACs=b'\n; D=x\nE=\"a\\\"b\" \nF=a\\\nb\nnonsense\nG=\n";
        let found = assignments(text, Path::new("/f"));
        let told: Vec<_> = found
            .iter()
            .map(|(name, word)| (&**name, &*word.text, word.location.line))
            .collect();
        assert_eq!(
            told,
            [
                ("A", "1", 2),
                ("B", "two words", 4),
                ("C", "-oCiphers=a -oMACs=b", 5),
                ("E", "a\"b", 7),
                ("F", "ab", 8),
                ("G", "", 11),
            ]
        );
    }

    #[test]
    fn words_lose_their_quotes() {
        assert_eq!(words(" a 'b c'd \"e\\\"f\" '' "), ["a", "b cd", "e\"f", ""]);
        assert!(words("  ").is_empty());
    }
}
