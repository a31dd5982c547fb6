//! Lines that several screens are made of.
#![forbid(unsafe_code)]

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::appearance::{BAD, GOOD, NOTABLE, QUIET, STRONG};
use super::list::{Item, wrapped};
use crate::model::page::{DiffLine, PageItem, StepState};

pub(super) fn item(item: &PageItem, width: u16) -> Item {
    match item {
        PageItem::Heading(title) => {
            let mut lines = vec![Line::default()];
            lines.extend(wrapped(Span::raw(""), title, STRONG, width));
            lines
        }
        PageItem::Sentence(text) => wrapped(Span::raw(""), text, Style::new(), width),
        PageItem::Warning(text) => wrapped(Span::styled("! ", BAD), text, NOTABLE, width),
        PageItem::Diff(kind, text) => wrapped(Span::raw("  "), text, diff_style(*kind), width),
        PageItem::Command(command) => wrapped(Span::raw("$ "), command, STRONG, width),
        PageItem::Step(state, text) => {
            let lead = format!("  {:5} ", state.word());
            wrapped(
                Span::styled(lead, step_style(*state)),
                text,
                step_style(*state),
                width,
            )
        }
        PageItem::Choice(text) => wrapped(Span::raw("▸ "), text, GOOD, width),
    }
}

const fn diff_style(kind: DiffLine) -> Style {
    match kind {
        DiffLine::Header => STRONG,
        DiffLine::Added => GOOD,
        DiffLine::Removed => BAD,
        DiffLine::Context => Style::new(),
    }
}

const fn step_style(state: StepState) -> Style {
    match state {
        StepState::Done => GOOD,
        StepState::Now => STRONG,
        StepState::Later => QUIET,
    }
}
