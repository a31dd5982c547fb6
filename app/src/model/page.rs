//! Lines that several screens are made of, so that a face draws each kind once.
#![forbid(unsafe_code)]

use super::shown::show;

/// A line of a screen that is read from top to bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageItem {
    /// A part begins.
    Heading(String),
    /// A sentence.
    Sentence(String),
    /// A sentence to be heeded.
    Warning(String),
    /// A line of a diff.
    Diff(DiffLine, String),
    /// Something to type in a shell.
    Command(String),
    /// A step of something that takes several.
    Step(StepState, String),
    /// Something that can be chosen.
    Choice(String),
}

impl PageItem {
    /// With what others have written in it shown as it is.
    #[must_use]
    pub(super) fn shown(mut self) -> Self {
        match &mut self {
            Self::Heading(text)
            | Self::Sentence(text)
            | Self::Warning(text)
            | Self::Diff(_, text)
            | Self::Command(text)
            | Self::Step(_, text)
            | Self::Choice(text) => show(text),
        }
        self
    }

    /// Its words.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Heading(text)
            | Self::Sentence(text)
            | Self::Warning(text)
            | Self::Diff(_, text)
            | Self::Command(text)
            | Self::Step(_, text)
            | Self::Choice(text) => text,
        }
    }
}

/// What a line of a unified diff does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// `---`, `+++`, `@@`.
    Header,
    /// Added.
    Added,
    /// Removed.
    Removed,
    /// Unchanged.
    Context,
}

impl DiffLine {
    /// What this line of a unified diff does.
    #[must_use]
    pub fn of(line: &str) -> Self {
        match line.as_bytes() {
            [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] | [b'@', ..] => Self::Header,
            [b'+', ..] => Self::Added,
            [b'-', ..] => Self::Removed,
            _ => Self::Context,
        }
    }
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    /// It is behind us.
    Done,
    /// It is what is being done.
    Now,
    /// Its turn has not come.
    Later,
}

impl StepState {
    /// The state in one word: never by colour or glyph alone.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Now => "now",
            Self::Later => "then",
        }
    }
}
