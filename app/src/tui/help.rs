//! The Help screen.
#![forbid(unsafe_code)]

use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use super::appearance::STRONG;
use super::canvas::Canvas;
use super::list::{self, Item, wrapped};
use crate::model::Model;
use crate::model::bindings::Bindings;
use crate::model::commands::Command;
use crate::model::help::entries;

pub(super) fn draw(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    let items: Vec<Item> = entries(model)
        .into_iter()
        .map(|it| item(it, &model.bindings, area.width))
        .collect();
    list::draw(&items, model.cursor(), area, canvas);
}

fn item(command: &Command, bindings: &Bindings, width: u16) -> Item {
    let lead = Span::styled(format!("{:14}", bindings.names(command)), STRONG);
    wrapped(lead, command.help, Style::new(), width)
}
