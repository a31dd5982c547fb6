//! The Configuration screen.
#![forbid(unsafe_code)]

use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::appearance::{GOOD, QUIET, STRONG};
use super::canvas::Canvas;
use super::list::{self, Item, wrapped};
use super::overview::colour;
use crate::model::Model;
use crate::model::configuration::{ConfigurationItem, view};
use crate::model::overview::severity_word;

pub(super) fn draw(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    let items = view(model);
    let width = area.width;
    let mut items: Vec<Item> = items.iter().map(|it| item(it, width)).collect();
    list::without_gap(&mut items);
    list::draw(&items, model.cursor(), area, canvas);
}

fn item(item: &ConfigurationItem, width: u16) -> Item {
    match item {
        ConfigurationItem::Side(title) => {
            let mut lines = vec![Line::default()];
            lines.extend(wrapped(Span::raw(""), title, STRONG, width));
            lines
        }
        ConfigurationItem::Sentence(text) => wrapped(Span::raw("  "), text, Style::new(), width),
        ConfigurationItem::Ciphers { label, names } => {
            let lead = Span::styled(format!("  {label:10}"), QUIET);
            wrapped(lead, &names.join(", "), Style::new(), width)
        }
        ConfigurationItem::Considered {
            place,
            value,
            outcome,
            won,
            ..
        } => {
            let (mark, style) = verdict(*won);
            let lead = Span::styled(format!("  {mark} "), style);
            wrapped(lead, &format!("{place}: {value} – {outcome}"), style, width)
        }
        ConfigurationItem::Line {
            number,
            text,
            outcome,
        } => {
            let (mark, style) = outcome
                .as_ref()
                .map_or((" ", Style::new()), |it| verdict(it.0));
            let lead = Span::styled(format!("{mark}{number:4} "), QUIET);
            let mut lines = wrapped(lead, text, style, width);
            if let Some((_, words)) = outcome {
                lines.extend(wrapped(Span::raw("      "), words, QUIET, width));
            }
            lines
        }
        ConfigurationItem::Finding { severity, text, .. } => {
            let lead = format!("  {:8} ", severity_word(*severity));
            wrapped(
                Span::styled(lead, colour(*severity)),
                text,
                Style::new(),
                width,
            )
        }
        ConfigurationItem::File { depth, path, .. } => {
            let lead = format!(
                "  {}{}",
                "  ".repeat(*depth),
                if *depth > 0 { "└ " } else { "" }
            );
            wrapped(Span::styled(lead, QUIET), path, QUIET, width)
        }
    }
}

const fn verdict(won: bool) -> (&'static str, Style) {
    if won {
        ("▸", GOOD)
    } else {
        ("·", Style::new())
    }
}
