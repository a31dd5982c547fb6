//! The Configuration screen.
#![forbid(unsafe_code)]

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::appearance::{GOOD, QUIET, STRONG};
use super::list::{self, Item, wrapped};
use super::overview::colour;
use crate::model::Model;
use crate::model::configuration::{ConfigurationItem, view};
use crate::model::overview::severity_word;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    let items = view(model);
    let mut items: Vec<Item> = items.iter().map(|it| item(it, area.width)).collect();
    // The blank line above a side separates it from what stands before; the first has nothing before.
    if let Some(first) = items.first_mut().filter(|first| first.len() > 1) {
        first.remove(0);
    }
    list::draw(&items, model.cursor(), area, buffer);
}

fn item(item: &ConfigurationItem, width: u16) -> Item {
    match item {
        ConfigurationItem::Side(title) => {
            vec![Line::default(), Line::styled(title.clone(), STRONG)]
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
        } => {
            let (mark, style) = if *won {
                ("▸", GOOD)
            } else {
                ("·", Style::new())
            };
            let lead = Span::styled(format!("  {mark} "), style);
            wrapped(lead, &format!("{place}: {value} – {outcome}"), style, width)
        }
        ConfigurationItem::Finding { severity, text } => {
            let lead = format!("  {:8} ", severity_word(*severity));
            wrapped(
                Span::styled(lead, colour(*severity)),
                text,
                Style::new(),
                width,
            )
        }
        ConfigurationItem::Files(files) if files.is_empty() => {
            wrapped(Span::styled("  no file was read", QUIET), "", QUIET, width)
        }
        ConfigurationItem::Files(files) => {
            let lead = Span::styled(format!("  {:10}", "read"), QUIET);
            wrapped(lead, &files.join(", "), QUIET, width)
        }
    }
}
