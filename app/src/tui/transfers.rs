//! The real transfers of the Measure screen.
#![forbid(unsafe_code)]

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::appearance::{GOOD, NOTABLE, STRONG};
use super::canvas::Canvas;
use super::list::{self, Item, cells, shortened, wrapped};
use crate::model::measure::{MeasureView, TRANSFERS_HEADING};
use crate::model::transfers::TransferRow;

/// Width of the speed's column: `1432 ±12 %`.
const SPEED: usize = 11;
/// Width of the cost's column: `0.41 ±12 %`.
const COST: usize = 12;
/// Below this width the cipher stands above its numbers.
const WIDE: usize = 60;

/// Lines of a pane that shows everything; 0 where there is nothing to show.
pub(super) fn height(view: &MeasureView, width: u16) -> u16 {
    let items = items(view, width);
    let lines = items.iter().map(Vec::len).sum::<usize>() + missing(view, width).len();
    match lines {
        0 => 0,
        lines => lines as u16 + 1,
    }
}

/// A pane of its own: heading, ciphers, and why some are missing.
pub(super) fn draw(view: &MeasureView, cursor: usize, area: Rect, canvas: &mut Canvas<'_>) {
    let missing = missing(view, area.width);
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(u16::from(!view.transfers.is_empty())),
        Constraint::Max(missing.len() as u16),
    ]);
    let [heading, list, rest] = rows.areas(area);
    let text = shortened(TRANSFERS_HEADING, usize::from(heading.width));
    Line::styled(text, STRONG).render(heading, canvas.buffer);
    let items = items(view, list.width);
    list::draw_part(&items, view.bars.len(), cursor, list, canvas);
    for (line, row) in missing.iter().zip(rest.rows()) {
        line.render(row, canvas.buffer);
    }
}

/// The same as items of the list before it, where there is no room for a pane.
pub(super) fn appended(view: &MeasureView, width: u16) -> Vec<Item> {
    let mut items = items(view, width);
    if let Some(first) = items.first_mut() {
        first.splice(
            0..0,
            wrapped(Span::raw(""), TRANSFERS_HEADING, STRONG, width),
        );
    }
    if let Some(last) = items.last_mut() {
        last.extend(missing(view, width));
    }
    items
}

fn items(view: &MeasureView, width: u16) -> Vec<Item> {
    let names = view.transfers.iter().map(|it| cells(&it.cipher));
    let name = names.max().unwrap_or(0) + 1;
    let rows = view.transfers.iter();
    rows.map(|it| item(it, name, usize::from(width))).collect()
}

fn missing(view: &MeasureView, width: u16) -> Vec<Line<'static>> {
    let missing = view.missing.iter();
    missing
        .flat_map(|why| wrapped(Span::styled("! ", NOTABLE), why, Style::new(), width))
        .collect()
}

fn item(row: &TransferRow, name: usize, width: usize) -> Item {
    let numbers = format!("{:>SPEED$}{:>COST$}  ", row.speed, row.cost);
    let lead = if width < WIDE { 2 } else { name };
    // The last column belongs to the marks that say there is more.
    let left = width.saturating_sub(lead + cells(&numbers) + 1);
    let length = ((row.share * left as f64).round() as usize).clamp(1, left.max(1));
    let bar = Span::styled("█".repeat(length.min(left)), GOOD);
    if width < WIDE {
        return vec![
            Line::styled(row.cipher.clone(), STRONG),
            Line::from(vec![Span::raw(format!("  {numbers}")), bar]),
        ];
    }
    vec![Line::from(vec![
        Span::styled(format!("{:name$}", row.cipher), STRONG),
        Span::raw(numbers),
        bar,
    ])]
}
