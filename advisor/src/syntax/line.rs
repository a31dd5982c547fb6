//! One line, and how a file falls into lines.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::ops::Range;

use super::Dialect;
use super::tokens::{self, Piece};

/// A line as the program reads it. Where `sshd` glues lines together at a NUL byte, one value spans them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// All its bytes, with the line ending.
    pub span: Range<usize>,
    /// Its number in the file, from 1.
    pub number: usize,
    /// What it holds.
    pub content: Content,
    /// The part the program sees.
    seen: Part,
    /// Parts glued behind it.
    glued: Vec<Part>,
}

/// A part of a line's text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// Where it begins in the text.
    at: usize,
    /// Where it stands in the file.
    span: Range<usize>,
}

/// What a line holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Blank,
    /// A comment.
    Comment,
    /// A quote that is never closed before the keyword ends: OpenSSH skips such a line silently.
    Skipped,
    /// A keyword and what belongs to it.
    Statement(Statement),
}

/// A keyword with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The keyword as written, quotes removed.
    pub keyword: Token,
    /// Blanks and `=` between keyword and arguments.
    pub separator: Range<usize>,
    /// The arguments.
    pub arguments: Vec<Token>,
    /// A comment behind the arguments.
    pub comment: Option<Range<usize>>,
    /// What makes the line unreadable for the program.
    pub fault: Option<Fault>,
    /// Where the text behind the keyword begins in [`Line::text`].
    pub(super) rest: usize,
}

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What the program takes it for: quotes and escapes removed.
    pub value: Vec<u8>,
    /// Where it stands, quotes included.
    pub span: Range<usize>,
}

/// Why a program refuses to cut a line into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Nothing follows the keyword.
    NoArgument,
    /// A quote is not closed.
    InvalidQuotes,
}

impl Line {
    /// The text the program works on, blanks at the end removed.
    pub(crate) fn text<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let text: Cow<'b, [u8]> = if self.glued.is_empty() {
            Cow::Borrowed(&bytes[self.seen.span.clone()])
        } else {
            let parts = self.parts().map(|part| &bytes[part.span.clone()]);
            parts.flatten().copied().collect::<Vec<_>>().into()
        };
        let length = trimmed_length(&text);
        match text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..length]),
            Cow::Owned(mut text) => {
                text.truncate(length);
                Cow::Owned(text)
            }
        }
    }

    /// Line and column of an offset in the file. Each part stands on a line of its own, behind blanks.
    pub(super) fn position(&self, bytes: &[u8], offset: usize) -> (usize, usize) {
        let index = self.glued.partition_point(|part| part.span.start <= offset);
        let before = &bytes[self.span.start..self.part(index).span.start];
        let newline = before.iter().rposition(|&byte| byte == b'\n');
        let start = self.span.start + newline.map_or(0, |newline| newline + 1);
        (self.number + index, offset.saturating_sub(start) + 1)
    }

    /// The offset in the file of an offset in [`Line::text`].
    fn offset(&self, at: usize) -> usize {
        let part = self.part(self.glued.partition_point(|part| part.at <= at));
        part.span.start + (at - part.at)
    }

    /// All parts, in order.
    fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.seen).chain(&self.glued)
    }

    /// The part of that number, counted from 0.
    fn part(&self, index: usize) -> &Part {
        match index.checked_sub(1) {
            None => &self.seen,
            Some(glued) => &self.glued[glued],
        }
    }

    /// Adds a part the program sees.
    fn glue(&mut self, span: Range<usize>) {
        let last = self.glued.last().unwrap_or(&self.seen);
        let at = last.at + last.span.len();
        self.glued.push(Part { at, span });
    }

    /// The span in the file of a span in [`Line::text`].
    pub(super) fn span_of(&self, text: &Range<usize>) -> Range<usize> {
        let start = self.offset(text.start);
        if text.is_empty() {
            return start..start;
        }
        start..self.offset(text.end - 1) + 1
    }

    /// The statement, if it is one.
    #[must_use]
    pub fn statement(&self) -> Option<&Statement> {
        match &self.content {
            Content::Statement(statement) => Some(statement),
            _ => None,
        }
    }
}

/// Cuts a file into lines.
pub(super) fn lines(bytes: &[u8], dialect: Dialect) -> Vec<Line> {
    let newlines = bytes.iter().filter(|&&byte| byte == b'\n').count();
    let mut lines: Vec<Line> = Vec::with_capacity(newlines + 1);
    let (mut start, mut number) = (0, 1);
    let mut glued: Option<Line> = None;
    while start < bytes.len() {
        let end = match bytes[start..].iter().position(|&byte| byte == b'\n') {
            Some(newline) => start + newline + 1,
            None => bytes.len(),
        };
        let (seen, goes_on) = seen(bytes, start..end, dialect);
        let mut line = match glued.take() {
            Some(mut line) => {
                line.glue(seen);
                line
            }
            None => Line {
                span: start..end,
                number,
                content: Content::Blank,
                seen: Part { at: 0, span: seen },
                glued: Vec::new(),
            },
        };
        line.span.end = end;
        if goes_on && end < bytes.len() {
            glued = Some(line);
        } else {
            line.content = content(&line, bytes, dialect);
            lines.push(line);
        }
        start = end;
        number += 1;
    }
    lines
}

/// The part of a physical line that the program sees, and whether the next line is glued to it.
///
/// `ssh` works on a C string, which ends at a NUL. `sshd` copies all lines into one buffer, leading blanks
/// removed, so with the NUL the newline gets lost. Before 8.7 `sshd` also cut at every `#`, newline kept.
fn seen(bytes: &[u8], line: Range<usize>, dialect: Dialect) -> (Range<usize>, bool) {
    let line = line.start + bom_length(&bytes[..line.end], line.start, dialect)..line.end;
    let text = &bytes[line.clone()];
    let nul = text.iter().position(|&byte| byte == 0);
    let mut end = nul.unwrap_or(text.len());
    if !dialect.server {
        return (line.start..line.start + end, false);
    }
    let mut goes_on = nul.is_some();
    if !dialect.modern
        && let Some(hash) = text[..end].iter().position(|&byte| byte == b'#')
    {
        end = hash;
        goes_on = false;
    }
    let blank = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\r');
    let start = text[..end].iter().take_while(blank).count();
    (line.start + start..line.start + end, goes_on)
}

/// How much of the mark in front of a file belongs to the line that begins there.
pub(super) fn bom_length(bytes: &[u8], start: usize, dialect: Dialect) -> usize {
    const BOM: &[u8] = b"\xef\xbb\xbf";
    let is_passed = dialect.strips_bom && start == 0 && bytes.starts_with(BOM);
    if is_passed { BOM.len() } else { 0 }
}

/// Blanks and form feeds at the end go, but never the first byte.
fn trimmed_length(text: &[u8]) -> usize {
    let gone = |byte: &u8| tokens::is_blank(*byte) || *byte == b'\x0c';
    let kept = text.iter().rposition(|byte| !gone(byte));
    kept.unwrap_or(0) + usize::from(!text.is_empty())
}

fn content(line: &Line, bytes: &[u8], dialect: Dialect) -> Content {
    let text = line.text(bytes);
    let Some((mut keyword, mut next)) = tokens::delimited(&text, 0) else {
        return if text.is_empty() {
            Content::Blank
        } else {
            Content::Skipped
        };
    };
    if keyword.value.is_empty() {
        // Leading blanks, or one leading "=", which OpenSSH passes over just the same.
        let Some(from) = next else {
            return Content::Blank;
        };
        match tokens::delimited(&text, from) {
            Some(second) => (keyword, next) = second,
            None => return Content::Skipped,
        }
    }
    match keyword.value.first() {
        None => Content::Blank,
        Some(b'#') => Content::Comment,
        Some(_) => Content::Statement(statement(line, &text, keyword, next, dialect)),
    }
}

fn statement(
    line: &Line,
    text: &[u8],
    keyword: Piece,
    next: Option<usize>,
    dialect: Dialect,
) -> Statement {
    let rest = next.map_or(text.len(), |at| at + tokens::blanks(&text[at..]));
    let mut fault = None;
    let (mut pieces, mut comment) = (Vec::new(), None);
    if !dialect.modern {
        pieces = tokens::all_delimited(text, next);
    } else if rest == text.len() {
        fault = Some(Fault::NoArgument);
    } else {
        match tokens::split(text, rest) {
            Ok(split) => (pieces, comment) = split,
            Err(tokens::Unclosed) => fault = Some(Fault::InvalidQuotes),
        }
    }
    Statement {
        separator: line.span_of(&(keyword.span.end..rest)),
        keyword: token(line, keyword),
        arguments: { pieces.into_iter() }
            .map(|piece| token(line, piece))
            .collect(),
        comment: comment.map(|at| line.span_of(&(at..text.len()))),
        fault,
        rest,
    }
}

fn token(line: &Line, piece: Piece) -> Token {
    Token {
        span: line.span_of(&piece.span),
        value: piece.value,
    }
}
