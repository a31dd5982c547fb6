//! The Overview screen.
#![forbid(unsafe_code)]

use advisor::resolver::Severity;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::appearance::{BAD, GOOD, NOTABLE, QUIET, STRONG};
use super::canvas::Canvas;
use super::list::{self, Item, wrapped};
use crate::model::Model;
use crate::model::overview::{OverviewItem, severity_word, view};

/// Width of the label column.
const LABEL: usize = 13;

pub(super) fn draw(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    let items = view(model).items;
    let items: Vec<Item> = items.iter().map(|it| item(it, area.width)).collect();
    list::draw(&items, model.cursor(), area, canvas);
}

fn item(item: &OverviewItem, width: u16) -> Item {
    match item {
        OverviewItem::Verdict(sentence) => {
            let mut lines = wrapped(Span::raw(""), sentence, STRONG, width);
            lines.push(Line::default());
            lines
        }
        OverviewItem::Fact { label, text, .. } => {
            let lead = Span::styled(format!("{label:LABEL$}"), QUIET);
            wrapped(lead, text, Style::new(), width)
        }
        OverviewItem::Findings(title) => vec![Line::default(), Line::styled(title.clone(), STRONG)],
        OverviewItem::Finding {
            severity,
            what,
            cure,
            ..
        } => {
            let lead = Span::styled(
                format!("{:8} ", severity_word(*severity)),
                colour(*severity),
            );
            let indent = Span::raw(" ".repeat(lead.width()));
            let mut lines = wrapped(lead, what, Style::new(), width);
            if !cure.is_empty() {
                lines.extend(wrapped(indent, cure, GOOD, width));
            }
            lines
        }
    }
}

pub(super) const fn colour(severity: Severity) -> Style {
    match severity {
        Severity::Info => Style::new(),
        Severity::Warning => NOTABLE,
        Severity::Error => BAD,
    }
}

/// What the shell is left with: the answer, where there is one.
pub(super) fn summary(model: &Model) -> Option<String> {
    model.report()?;
    match view(model).items.first()? {
        OverviewItem::Verdict(sentence) => Some(sentence.clone()),
        _ => None,
    }
}
