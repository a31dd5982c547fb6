//! How OpenSSH cuts a line into words: the delimiter rules of `strdelim` (keywords, `Match`, and all
//! arguments before 8.7) and the shell-like rules of `argv_split` (arguments since 8.7), both in `misc.c`.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ops::Range;

use super::Token;

/// A word: its value, and its span in the text with quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) value: Vec<u8>,
    pub(super) span: Range<usize>,
}

/// A quote without its partner.
#[derive(Debug)]
pub(super) struct Unclosed;

/// What separates a keyword from its arguments.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// How many blanks a text begins with.
pub(super) fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| is_blank(byte)).count()
}

/// The word at `at` up to a blank, one `=` or the end, and where the next begins, if the text goes on.
/// A double quote inside runs the word to its partner; `None` where there is none.
pub(super) fn delimited(text: &[u8], at: usize) -> Option<(Piece, Option<usize>)> {
    let ends = |byte: &u8| is_blank(*byte) || matches!(*byte, b'"' | b'=');
    let Some(end) = text[at..].iter().position(ends).map(|found| at + found) else {
        let value = text[at..].to_vec();
        let span = at..text.len();
        return Some((Piece { value, span }, None));
    };
    let mut value = text[at..end].to_vec();
    if text[end] == b'"' {
        let inside = text[end + 1..].iter().position(|&byte| byte == b'"')?;
        let close = end + 1 + inside;
        value.extend_from_slice(&text[end + 1..close]);
        let next = close + 1 + blanks(&text[close + 1..]);
        let span = at..close + 1;
        return Some((Piece { value, span }, Some(next)));
    }
    let mut next = end + 1 + blanks(&text[end + 1..]);
    if text[end] != b'=' && text.get(next) == Some(&b'=') {
        next += 1 + blanks(&text[next + 1..]);
    }
    let span = at..end;
    Some((Piece { value, span }, Some(next)))
}

/// Every delimited word up to an empty one.
pub(super) fn all_delimited(text: &[u8], mut next: Option<usize>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    while let Some((piece, after)) = next.and_then(|at| delimited(text, at)) {
        if piece.value.is_empty() {
            break;
        }
        pieces.push(piece);
        next = after;
    }
    pieces
}

/// The words of a shell-like text, and where a comment begins.
pub(super) fn split(text: &[u8], from: usize) -> Result<(Vec<Piece>, Option<usize>), Unclosed> {
    let mut pieces = Vec::new();
    let mut at = from;
    while at < text.len() {
        match text[at] {
            b' ' | b'\t' => at += 1,
            b'#' => return Ok((pieces, Some(at))),
            _ => {
                let piece = word(text, at)?;
                at = piece.span.end;
                pieces.push(piece);
            }
        }
    }
    Ok((pieces, None))
}

fn word(text: &[u8], start: usize) -> Result<Piece, Unclosed> {
    let mut value = Vec::new();
    let mut quote = None;
    let mut at = start;
    while at < text.len() {
        let byte = text[at];
        let next = text.get(at + 1).copied();
        match (byte, quote) {
            (b'\\', _) if escapes(next, quote.is_some()) => {
                value.extend(next);
                at += 1;
            }
            (b' ' | b'\t', None) => break,
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if byte == open => quote = None,
            _ => value.push(byte),
        }
        at += 1;
    }
    match quote {
        Some(_) => Err(Unclosed),
        None => Ok(Piece {
            value,
            span: start..at,
        }),
    }
}

fn escapes(next: Option<u8>, quoted: bool) -> bool {
    match next {
        Some(b'\'' | b'"' | b'\\') => true,
        Some(b' ') => !quoted,
        _ => false,
    }
}

/// The words of a `Match` line, one by one.
#[derive(Clone, Debug)]
pub struct Words<'t>(Cut<'t>);

#[derive(Clone, Debug)]
enum Cut<'t> {
    /// By delimiters, as up to 9.8.
    Delimited {
        text: Cow<'t, [u8]>,
        next: Option<usize>,
    },
    /// As arguments are cut.
    Split(std::slice::Iter<'t, Token>),
}

impl<'t> Words<'t> {
    /// Of that text, by delimiters.
    #[must_use]
    pub fn delimited(text: Cow<'t, [u8]>) -> Self {
        let next = Some(0);
        Self(Cut::Delimited { text, next })
    }

    /// Those arguments.
    #[must_use]
    pub fn split(arguments: &'t [Token]) -> Self {
        Self(Cut::Split(arguments.iter()))
    }

    /// Whether they were cut as arguments are: an empty word is then a word like any other, and `=` no
    /// delimiter.
    #[must_use]
    pub fn are_split(&self) -> bool {
        matches!(self.0, Cut::Split(_))
    }

    /// Passes over everything that is left, as at a comment.
    pub fn finish(&mut self) {
        match &mut self.0 {
            Cut::Delimited { next, .. } => *next = None,
            Cut::Split(words) => *words = [].iter(),
        }
    }

    /// Whether text is left.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Cut::Delimited { text, next } => next.is_none_or(|next| next == text.len()),
            Cut::Split(words) => words.len() == 0,
        }
    }
}

impl Iterator for Words<'_> {
    /// A word, quotes removed; may be empty.
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        match &mut self.0 {
            Cut::Delimited { text, next } => {
                let found = delimited(text, (*next)?);
                *next = found.as_ref().and_then(|(_, next)| *next);
                found.map(|(piece, _)| piece.value)
            }
            Cut::Split(words) => words.next().map(|word| word.value.clone()),
        }
    }
}
