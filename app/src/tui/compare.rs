//! The Compare screen.
#![forbid(unsafe_code)]

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::appearance::{BAD, GOOD, QUIET, STRONG};
use super::canvas::Canvas;
use super::list::{self, Item, cells, shortened, wrapped};
use crate::model::Model;
use crate::model::compare::{CompareRow, view};

/// Width of the provider's column.
const PROVIDER: usize = 11;
/// Width of a number's column: `20.3 ±10 %*`.
const NUMBER: usize = 13;
/// Width of the ratio's column: `12.34 ×`.
const RATIO: usize = 9;
/// From this width on a cell takes one line.
const WIDE: u16 = 76;
/// From this width on the judgement has a column of its own.
const WIDEST: u16 = 96;

pub(super) fn draw(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    let view = view(model);
    let about = (view.hosts.len() as u16).min(area.height.saturating_sub(4) / 2);
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(about),
        Constraint::Min(1),
    ]);
    let [heading, hosts, list] = rows.areas(area);
    Line::styled(view.heading.clone(), STRONG).render(heading, canvas.buffer);
    for (text, row) in view.hosts.iter().zip(hosts.rows()) {
        let text = shortened(text, usize::from(row.width));
        Line::styled(text, QUIET).render(row, canvas.buffer);
    }
    if let Some(empty) = &view.empty {
        let lines = wrapped(Span::raw(""), empty, Style::new(), list.width);
        return list::draw(&[lines], 0, list, canvas);
    }
    let name = view.rows.iter().map(|row| cells(&row.cipher)).max();
    let name = name.unwrap_or(0) + 1;
    let items: Vec<Item> = view
        .rows
        .iter()
        .map(|it| item(it, name, area.width))
        .collect();
    list::draw(&items, model.cursor(), list, canvas);
}

fn item(row: &CompareRow, name: usize, width: u16) -> Item {
    let style = match row.judgement {
        "faster" => GOOD,
        "slower" => BAD,
        _ => Style::new(),
    };
    let provider = format!("{:PROVIDER$}", row.provider);
    let numbers = format!("{:>NUMBER$}{:>NUMBER$}", row.here, row.there);
    let ratio = Span::styled(format!("{:>RATIO$}", row.ratio), style);
    if width < WIDE {
        return vec![
            Line::from(format!("{} {}", row.cipher, row.provider)),
            Line::from(vec![Span::raw(format!(" {numbers}")), ratio]),
        ];
    }
    let mut spans = vec![
        Span::raw(format!("{:name$}{provider}{numbers}", row.cipher)),
        ratio,
    ];
    if width >= WIDEST {
        spans.push(Span::styled(format!("  {}", row.judgement), style));
    }
    vec![Line::from(spans)]
}
