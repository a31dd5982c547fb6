//! Bytes ↔ lines: a lossless view of an OpenSSH configuration file.
//!
//! Any bytes parse, and [`Tree::print`] gives them back unchanged. This room cuts lines into keyword,
//! separator, arguments and comment exactly where the program of the given [`Dialect`] cuts them; what a
//! keyword means may not enter.
#![forbid(unsafe_code)]

mod edit;
mod line;
mod tokens;

pub use edit::{insert_line, remove_line, replace_arguments};
pub use line::{Content, Fault, Line, Statement, Token};
pub use tokens::Words;

use std::borrow::Cow;
use std::ops::Range;

use engine::installed::releases::Release;

/// Whose rules cut a line into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// The rules of `sshd` rather than those of `ssh`.
    pub server: bool,
    /// The rules since OpenSSH 8.7: single quotes, backslashes, comments at the end of a line.
    pub modern: bool,
    /// The rules since OpenSSH 9.9: a `Match` line is cut like any other.
    pub splits_match: bool,
    /// The Windows port passes over a byte order mark in front of a file; to all others it is a bad keyword.
    pub strips_bom: bool,
}

impl Dialect {
    /// The rules `ssh` of that release follows.
    #[must_use]
    pub fn client(release: Release) -> Self {
        Self {
            server: false,
            modern: release >= Release::new(8, 7),
            splits_match: release >= Release::new(9, 9),
            strips_bom: false,
        }
    }

    /// The rules `sshd` of that release follows.
    #[must_use]
    pub fn server(release: Release) -> Self {
        Self {
            server: true,
            ..Self::client(release)
        }
    }
}

/// A file as lines. Spans are byte offsets into [`Tree::bytes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    dialect: Dialect,
    bytes: Vec<u8>,
    lines: Vec<Line>,
}

/// Cuts a file into lines and words.
#[must_use]
pub fn parse(bytes: impl Into<Vec<u8>>, dialect: Dialect) -> Tree {
    let bytes = bytes.into();
    let lines = line::lines(&bytes, dialect);
    Tree {
        dialect,
        bytes,
        lines,
    }
}

impl Tree {
    /// The file's bytes, put together again from its lines.
    #[must_use]
    pub fn print(&self) -> Vec<u8> {
        let lines = self.lines.iter();
        lines
            .flat_map(|line| &self.bytes[line.span.clone()])
            .copied()
            .collect()
    }

    /// The bytes it was parsed from.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The rules it was parsed by.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Every line, in order.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// What follows the keyword of a statement, as the program sees it.
    #[must_use]
    pub fn rest(&self, line: &Line, statement: &Statement) -> Cow<'_, [u8]> {
        match line.text(&self.bytes) {
            Cow::Borrowed(text) => Cow::Borrowed(&text[statement.rest..]),
            Cow::Owned(text) => Cow::Owned(text[statement.rest..].to_vec()),
        }
    }

    /// The words of a `Match` line, which OpenSSH cut by rules of their own up to 9.8.
    #[must_use]
    pub fn words<'t>(&'t self, line: &Line, statement: &'t Statement) -> Words<'t> {
        if self.dialect.splits_match {
            Words::split(&statement.arguments)
        } else {
            Words::delimited(self.rest(line, statement))
        }
    }

    /// Line and column of an offset in a line, both from 1; the column counts bytes.
    #[must_use]
    pub fn position(&self, line: &Line, offset: usize) -> (usize, usize) {
        line.position(&self.bytes, offset)
    }

    /// The bytes of a span.
    #[must_use]
    pub fn slice(&self, span: &Range<usize>) -> &[u8] {
        &self.bytes[span.clone()]
    }
}
