//! What is drawn on, and what a click on it means.
#![forbid(unsafe_code)]

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::model::Message;

/// A buffer, and the places of it that answer to the mouse.
pub(super) struct Canvas<'a> {
    /// The cells.
    pub(super) buffer: &'a mut Buffer,
    /// The places drawn so far.
    pub(super) places: Places,
}

/// Places that answer to the mouse.
#[derive(Debug, Default)]
pub struct Places(Vec<(Rect, Message)>);

impl Places {
    pub(super) fn add(&mut self, area: Rect, message: Message) {
        self.0.push((area, message));
    }

    /// What a click there means.
    #[must_use]
    pub fn at(&self, column: u16, row: u16) -> Option<&Message> {
        let position = Position::new(column, row);
        let mut places = self.0.iter();
        let place = places.find(|(area, _)| area.contains(position));
        place.map(|(_, message)| message)
    }
}
