//! The Advice screen.
#![forbid(unsafe_code)]

use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::appearance::{GOOD, QUIET, STRONG};
use super::canvas::Canvas;
use super::list::{self, Item, cells, wrapped};
use crate::model::Model;
use crate::model::advice::{AdviceItem, view};

/// From this width on a reason stands beside its place, below it on a line of its own.
const WIDE: u16 = 110;
/// Below this width what stands there today gives way to what should.
const NARROW: u16 = 68;
/// Below this width the transfer's speed gives way.
const COMFORTABLE: u16 = 76;
/// Width of the transfer's column: `1432 MB/s`.
const TRANSFER: usize = 9;
/// Width of the speed's column: `20.3 ±10 % GB/s`.
const SPEED: usize = 15;

pub(super) fn draw(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    let items = view(model);
    let name = items.iter().map(name_width).max().unwrap_or(0);
    let items: Vec<Item> = items.iter().map(|it| item(it, name, area.width)).collect();
    list::draw(&items, model.cursor(), area, canvas);
}

fn name_width(item: &AdviceItem) -> usize {
    match item {
        AdviceItem::Place {
            today, recommended, ..
        } => cells(today).max(cells(recommended)),
        _ => 0,
    }
}

fn item(item: &AdviceItem, name: usize, width: u16) -> Item {
    match item {
        AdviceItem::Heading(title) => {
            let mut lines = vec![Line::default()];
            lines.extend(wrapped(Span::raw(""), title, STRONG, width));
            lines
        }
        AdviceItem::Sentence(text) => wrapped(Span::raw(""), text, Style::new(), width),
        AdviceItem::Place { reason, .. } => place(item, reason, name, width),
    }
}

fn place(item: &AdviceItem, reason: &str, name: usize, width: u16) -> Item {
    let lead = place_lead(item, name, width);
    if width >= WIDE {
        return wrapped(lead, reason, QUIET, width);
    }
    let mut lines = vec![Line::from(lead)];
    lines.extend(wrapped(Span::raw("      "), reason, QUIET, width));
    lines
}

/// ` 1  chacha20-poly1305  ▸ aes128-gcm          7.43 ±2 % GB/s 1432 MB/s  `.
fn place_lead(item: &AdviceItem, name: usize, width: u16) -> Span<'static> {
    let AdviceItem::Place {
        position,
        today,
        recommended,
        changes,
        speed,
        transfer,
        ..
    } = item
    else {
        return Span::raw("");
    };
    let mark = if *changes { "▸" } else { " " };
    let today = if width < NARROW {
        String::new()
    } else {
        format!("{today:name$} ")
    };
    let transfer = if width < COMFORTABLE {
        String::new()
    } else {
        format!(" {transfer:>TRANSFER$}")
    };
    let text =
        format!(" {position:2}  {today}{mark} {recommended:name$} {speed:>SPEED$}{transfer}  ");
    let style = if *changes { GOOD } else { Style::new() };
    Span::styled(text, style)
}
