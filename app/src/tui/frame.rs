//! One whole frame: tabs, the screen, the keys that are valid now.
#![forbid(unsafe_code)]

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::appearance::{Appearance, BAD, QUIET, SELECTED, STRONG};
use super::list::{cells, shortened};
use super::{advice, configuration, help, measure, overview};
use crate::model::measure::progress_text;
use crate::model::{Model, Screen, commands};

/// The smallest size anything can be read at.
pub const SMALLEST: (u16, u16) = (40, 10);

/// Draws the model. Nothing is remembered between frames.
pub fn draw(frame: &mut Frame<'_>, model: &Model, appearance: Appearance) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        draw_too_small(area, buffer);
    } else {
        draw_whole(model, area, buffer);
    }
    appearance.apply(buffer);
}

fn draw_too_small(area: Rect, buffer: &mut Buffer) {
    let (width, height) = SMALLEST;
    let text = format!("needs {width}×{height}, has {}×{}", area.width, area.height);
    Line::from(text).render(area, buffer);
}

fn draw_whole(model: &Model, area: Rect, buffer: &mut Buffer) {
    let trouble = u16::from(model.trouble.is_some());
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(trouble),
        Constraint::Length(1),
        Constraint::Length(1),
    ]);
    let [tabs, rule, body, sentence, status, footer] = rows.areas(area);
    draw_tabs(model, tabs, buffer);
    draw_rule("", rule, buffer);
    draw_body(model, inset(body), buffer);
    if let Some(trouble) = &model.trouble {
        let width = usize::from(sentence.width).saturating_sub(2);
        Line::styled(format!(" {}", shortened(trouble, width)), BAD).render(sentence, buffer);
    }
    draw_rule(&status_text(model), status, buffer);
    draw_footer(model, footer, buffer);
}

fn draw_body(model: &Model, area: Rect, buffer: &mut Buffer) {
    match model.screen {
        Screen::Overview => overview::draw(model, area, buffer),
        Screen::Measure => measure::draw(model, area, buffer),
        Screen::Configuration => configuration::draw(model, area, buffer),
        Screen::Advice => advice::draw(model, area, buffer),
        Screen::Help => help::draw(model, area, buffer),
    }
}

/// One column of air at each side.
fn inset(area: Rect) -> Rect {
    Rect {
        x: area.x + 1,
        width: area.width.saturating_sub(2),
        ..area
    }
}

/// All titles where they fit, else the open one's and the digits of the others.
fn draw_tabs(model: &Model, area: Rect, buffer: &mut Buffer) {
    let all: usize = Screen::ALL.iter().map(|it| it.title().len() + 4).sum();
    let wide = all <= usize::from(area.width);
    let tabs = Screen::ALL.iter().zip(1..).map(|(&screen, digit)| {
        let text = if wide || screen == model.screen {
            format!(" {digit} {} ", screen.title())
        } else {
            format!(" {digit} ")
        };
        // The brackets tell the open tab where a terminal shows neither colours nor reversed text.
        if screen == model.screen {
            Span::styled(format!("[{}]", text.trim()), SELECTED)
        } else {
            Span::raw(text)
        }
    });
    Line::from_iter(tabs).render(area, buffer);
}

fn draw_rule(text: &str, area: Rect, buffer: &mut Buffer) {
    let text = shortened(text, usize::from(area.width));
    let rule = "─".repeat(usize::from(area.width).saturating_sub(cells(&text)));
    Line::from(vec![Span::styled(rule, QUIET), Span::raw(text)]).render(area, buffer);
}

/// What goes on in the background, told on every screen but the one that shows it larger.
fn status_text(model: &Model) -> String {
    match &model.progress {
        Some(progress) if model.screen != Screen::Measure => {
            format!(" measuring: {} ", progress_text(progress))
        }
        _ => String::new(),
    }
}

/// Whole hints only: those of the screen go first when the line is too short, help and quit stay.
fn draw_footer(model: &Model, area: Rect, buffer: &mut Buffer) {
    let mut hints: Vec<(String, &str)> = commands::footer(model).collect();
    let width = |hints: &[(String, &str)]| -> usize {
        hints
            .iter()
            .map(|(key, name)| cells(key) + cells(name) + 3)
            .sum()
    };
    while hints.len() > 2 && width(&hints) > usize::from(area.width) {
        hints.remove(hints.len() - 3);
    }
    let spans = hints.into_iter().flat_map(|(key, name)| {
        [
            Span::styled(format!(" {key}"), STRONG),
            Span::raw(format!(" {name} ")),
        ]
    });
    Line::from_iter(spans).render(area, buffer);
}
