//! Edits that leave every other byte as it was.
#![forbid(unsafe_code)]

use super::{Tree, line};

/// The file with the arguments of one line replaced; a comment behind them stays. `None` where the line is no
/// statement.
#[must_use]
pub fn replace_arguments(tree: &Tree, index: usize, arguments: &[u8]) -> Option<Vec<u8>> {
    let line = tree.lines().get(index)?;
    let statement = line.statement()?;
    let (separator, start, end): (&[u8], _, _) =
        match (statement.arguments.first(), statement.arguments.last()) {
            (Some(first), Some(last)) => (b"", first.span.start, last.span.end),
            // A keyword with nothing behind it may have no separator either.
            _ if statement.separator.is_empty() => {
                (b" ", statement.separator.end, statement.separator.end)
            }
            _ => (b"", statement.separator.end, statement.separator.end),
        };
    let (before, after) = (&tree.bytes()[..start], &tree.bytes()[end..]);
    Some([before, separator, arguments, after].concat())
}

/// The file with a line put before the line of that index, or at the end for an index past the last line.
/// It gets that line's indentation and the file's line ending.
#[must_use]
pub fn insert_line(tree: &Tree, index: usize, text: &[u8]) -> Vec<u8> {
    let ending = line_ending(tree.bytes());
    let Some(line) = tree.lines().get(index) else {
        let ends_well = tree.bytes().is_empty() || tree.bytes().ends_with(b"\n");
        let gap = if ends_well { b"" } else { ending };
        return [tree.bytes(), gap, text, ending].concat();
    };
    let mark = line::bom_length(tree.bytes(), line.span.start, tree.dialect());
    let (before, after) = tree.bytes().split_at(line.span.start + mark);
    let indentation = after
        .iter()
        .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
        .count();
    [before, &after[..indentation], text, ending, after].concat()
}

/// The file without the line of that index.
#[must_use]
pub fn remove_line(tree: &Tree, index: usize) -> Option<Vec<u8>> {
    let span = tree.lines().get(index)?.span.clone();
    let start = span.start + line::bom_length(tree.bytes(), span.start, tree.dialect());
    Some([&tree.bytes()[..start], &tree.bytes()[span.end..]].concat())
}

/// The ending of the first line.
fn line_ending(bytes: &[u8]) -> &'static [u8] {
    match bytes.iter().position(|&byte| byte == b'\n') {
        Some(newline) if newline > 0 && bytes[newline - 1] == b'\r' => b"\r\n",
        _ => b"\n",
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dialect, parse};
    use super::*;

    fn tree(text: &str) -> Tree {
        let dialect = Dialect {
            server: false,
            modern: true,
            splits_match: true,
            strips_bom: false,
        };
        parse(text, dialect)
    }

    #[test]
    fn a_mark_stays_in_front() {
        let dialect = Dialect {
            strips_bom: true,
            ..tree("").dialect()
        };
        let tree = parse("\u{feff}Port 1\r\n\u{feff}x y\r\n", dialect);
        let keywords = tree.lines().iter().filter_map(|line| line.statement());
        let keywords: Vec<_> = keywords.map(|it| it.keyword.value.clone()).collect();
        assert_eq!(keywords, [b"Port".to_vec(), "\u{feff}x".into()]);
        assert_eq!(tree.position(&tree.lines()[0], 3), (1, 4));
        assert_eq!(tree.print(), tree.bytes());
        let after = insert_line(&tree, 0, b"Ciphers a");
        assert!(after.starts_with("\u{feff}Ciphers a\r\nPort 1\r\n".as_bytes()));
        let after = replace_arguments(&tree, 0, b"2").unwrap();
        assert!(after.starts_with("\u{feff}Port 2\r\n".as_bytes()));
    }

    #[test]
    fn a_replaced_value_keeps_indentation_comment_and_ending() {
        let tree = tree("Host x\r\n\tCiphers = \"a, b\" c  # why\r\n");
        let after = replace_arguments(&tree, 1, b"aes128-ctr").unwrap();
        assert_eq!(after, b"Host x\r\n\tCiphers = aes128-ctr  # why\r\n");
    }

    #[test]
    fn a_value_is_given_to_a_bare_keyword() {
        let after = replace_arguments(&tree("Ciphers\n"), 0, b"aes128-ctr").unwrap();
        assert_eq!(after, b"Ciphers aes128-ctr\n");
    }

    #[test]
    fn an_inserted_line_takes_the_style_of_its_place() {
        let tree = tree("Host x\r\n\tUser y\r\n");
        let after = insert_line(&tree, 1, b"Ciphers a");
        assert_eq!(after, b"Host x\r\n\tCiphers a\r\n\tUser y\r\n");
    }

    #[test]
    fn a_line_at_the_end_gets_a_line_of_its_own() {
        assert_eq!(
            insert_line(&tree("User y"), 9, b"Port 1"),
            b"User y\nPort 1\n"
        );
        assert_eq!(insert_line(&tree(""), 0, b"Port 1"), b"Port 1\n");
    }

    #[test]
    fn comments_and_blank_lines_have_no_arguments() {
        assert_eq!(replace_arguments(&tree("# Ciphers a\n"), 0, b"b"), None);
        assert_eq!(remove_line(&tree("a b\nc d\n"), 0).unwrap(), b"c d\n");
    }
}
