//! The Apply screen.
#![forbid(unsafe_code)]

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::list::{self, Item};
use super::page;
use crate::model::Model;
use crate::model::apply::view;

pub(super) fn draw(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    let items = view(model);
    let mut items: Vec<Item> = items
        .iter()
        .map(|it| page::item(&it.item, area.width))
        .collect();
    list::without_gap(&mut items);
    list::draw(&items, model.cursor(), area, canvas);
}
