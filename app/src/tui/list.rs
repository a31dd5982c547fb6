//! A list of wrapped items with a cursor: the body of every screen.
//!
//! It keeps no state: what is visible follows from the cursor, so a resize needs no repair.
#![forbid(unsafe_code)]

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::appearance::{QUIET, SELECTED};
use super::canvas::Canvas;
use crate::model::Message;
use crate::model::commands::Action;

/// An item, wrapped for the width it will have.
pub(super) type Item = Vec<Line<'static>>;

/// Draws the items around the cursor. Marks at the right edge say that there is more. A click moves the cursor
/// to an item, one on the item under it opens that.
pub(super) fn draw(items: &[Item], cursor: usize, area: Rect, canvas: &mut Canvas<'_>) {
    draw_part(items, 0, cursor, area, canvas);
}

/// The same for one of several lists the cursor goes through: `first` items stand in those before.
pub(super) fn draw_part(
    items: &[Item],
    first: usize,
    cursor: usize,
    area: Rect,
    canvas: &mut Canvas<'_>,
) {
    let height = usize::from(area.height);
    // A cursor that is not here yet leaves the beginning shown, one that has passed the end.
    let here = cursor.checked_sub(first);
    let cursor = here.unwrap_or(0);
    let before: usize = items.iter().take(cursor).map(Vec::len).sum();
    let selected = items.get(cursor).map_or(0, Vec::len);
    let total: usize = items.iter().map(Vec::len).sum();
    // The cursor's item is in the middle; the ends of the list stick to the ends of the area. Of an item that
    // is higher than the area, the beginning is shown.
    let centred = before.saturating_sub(height.saturating_sub(selected) / 2);
    let top = centred.min(total.saturating_sub(height));
    let lines = items
        .iter()
        .enumerate()
        .flat_map(|(index, item)| item.iter().map(move |line| (index, line)));
    for ((index, line), row) in lines.skip(top).take(height).zip(area.rows()) {
        line.render(row, canvas.buffer);
        let mut click = Message::Select(first + index);
        if here == Some(index) {
            canvas.buffer.set_style(row, SELECTED);
            click = Message::Run(Action::Open);
        }
        canvas.places.add(row, click);
    }
    let buffer = &mut *canvas.buffer;
    mark(top > 0, "↑", area, 0, buffer);
    mark(
        top + height < total,
        "↓",
        area,
        area.height.saturating_sub(1),
        buffer,
    );
}

/// The blank line above a heading separates it from what stands before; the first has nothing before.
pub(super) fn without_gap(items: &mut [Item]) {
    let is_blank = |line: &Line<'_>| line.width() == 0;
    if let Some(first) = items.first_mut()
        && first.len() > 1
        && is_blank(&first[0])
    {
        first.remove(0);
    }
}

fn mark(shown: bool, symbol: &str, area: Rect, row: u16, buffer: &mut Buffer) {
    if shown && area.width > 0 && area.height > 0 {
        buffer.set_string(area.right() - 1, area.y + row, symbol, QUIET);
    }
}

/// The narrowest column text is wrapped in beside its lead.
const NARROWEST: usize = 24;

/// A lead (a label, a bullet) and text wrapped beside it; below it where the width is too small.
pub(super) fn wrapped(lead: Span<'static>, text: &str, style: Style, width: u16) -> Item {
    let width = usize::from(width);
    let beside = lead.width();
    if beside > 2 && width < beside + NARROWEST {
        let mut item = vec![Line::from(lead)];
        item.extend(wrapped(Span::raw("  "), text, style, width as u16));
        return item;
    }
    let mut first = Some(lead);
    let chunks = wrap(text, width.saturating_sub(beside).max(1));
    let line = |chunk: String| {
        let lead = first
            .take()
            .unwrap_or_else(|| Span::raw(" ".repeat(beside)));
        Line::from(vec![lead, Span::styled(chunk, style)])
    };
    chunks.into_iter().map(line).collect()
}

/// Text cut at spaces to lines of at most `width` cells. What is longer (a path, a list) is cut after a
/// slash or comma, and where that is not enough, anywhere.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let gap = usize::from(!line.is_empty());
        if gap > 0 && cells(&line) + gap + cells(word) > width {
            lines.push(std::mem::take(&mut line));
        } else if gap > 0 {
            line.push(' ');
        }
        for part in word.split_inclusive(['/', ',']) {
            if !line.is_empty() && cells(&line) + cells(part) > width {
                lines.push(std::mem::take(&mut line));
            }
            for letter in part.chars() {
                let next = cells(letter.encode_utf8(&mut [0; 4]));
                if !line.is_empty() && cells(&line) + next > width {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(letter);
            }
        }
    }
    lines.push(line);
    lines
}

/// Text cut to so many cells, with `…` where something is missing. Never used on numbers.
pub(super) fn shortened(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        if cells(&short) + cells(letter.encode_utf8(&mut [0; 4])) >= width {
            break;
        }
        short.push(letter);
    }
    short.push('…');
    short
}

/// The cells a text takes.
pub(super) fn cells(text: &str) -> usize {
    Span::raw(text).width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_at_spaces_and_loses_nothing() {
        assert_eq!(
            wrap("one two three", 8),
            ["one two", "three"].map(str::to_owned)
        );
        assert_eq!(
            wrap("in /etc/ssh/ssh_config", 9),
            ["in", "/etc/ssh/", "ssh_confi", "g"].map(str::to_owned)
        );
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(
            wrap("日本語", 2),
            ["日", "本", "語"],
            "cells count, not letters"
        );
    }

    #[test]
    fn what_is_shortened_says_so() {
        assert_eq!(shortened("portable", 8), "portable");
        assert_eq!(shortened("portable", 5), "port…");
    }
}
