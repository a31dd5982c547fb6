//! One whole frame: tabs, the screen, the keys that are valid now.
#![forbid(unsafe_code)]

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::appearance::{Appearance, BAD, GOOD, QUIET, SELECTED, STRONG};
use super::canvas::{Canvas, Places};
use super::list::{cells, shortened, wrapped};
use super::{advice, apply, compare, configuration, help, measure, overview};
use crate::model::commands::{Action, Command};
use crate::model::measure::progress_text;
use crate::model::prompt::Prompt;
use crate::model::{Message, Model, Screen, commands};

/// The smallest size anything can be read at.
pub const SMALLEST: (u16, u16) = (40, 10);

/// Draws the model, and gives the places that answer to the mouse. Nothing else is remembered between frames.
pub fn draw(frame: &mut Frame<'_>, model: &Model, appearance: Appearance) -> Places {
    let area = frame.area();
    let mut canvas = Canvas {
        buffer: frame.buffer_mut(),
        places: Places::default(),
    };
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        draw_too_small(area, canvas.buffer);
    } else {
        draw_whole(model, area, &mut canvas);
    }
    appearance.apply(canvas.buffer);
    canvas.places
}

fn draw_too_small(area: Rect, buffer: &mut Buffer) {
    let (width, height) = SMALLEST;
    let text = format!("needs {width}×{height}, has {}×{}", area.width, area.height);
    Line::from(text).render(area, buffer);
}

fn draw_whole(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    let told = told(model);
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(u16::from(told.is_some())),
        Constraint::Length(1),
        Constraint::Length(1),
    ]);
    let [tabs, rule, body, sentence, status, footer] = rows.areas(area);
    draw_tabs(model, tabs, canvas);
    draw_rule("", rule, canvas.buffer);
    draw_body(model, inset(body), canvas);
    if let Some((text, style)) = told {
        let width = usize::from(sentence.width).saturating_sub(2);
        let line = Line::styled(format!(" {}", shortened(text, width)), style);
        line.render(sentence, canvas.buffer);
    }
    draw_rule(&status_text(model), status, canvas.buffer);
    match &model.prompt {
        Some(prompt) => draw_prompt(prompt, footer, canvas.buffer),
        None => draw_footer(model, footer, canvas),
    }
}

/// What went wrong, else what was done.
fn told(model: &Model) -> Option<(&str, Style)> {
    let trouble = model.trouble.as_deref().map(|it| (it, BAD));
    let notice = model.notice.as_deref().map(|it| (it, GOOD));
    // Whoever has just done something wants to see that.
    notice.or(trouble)
}

fn draw_body(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    if let Some((words, passed)) = &model.whole {
        return draw_in_full(words, *passed, area, canvas);
    }
    match model.screen {
        Screen::Overview => overview::draw(model, area, canvas),
        Screen::Measure => measure::draw(model, area, canvas),
        Screen::Configuration => configuration::draw(model, area, canvas),
        Screen::Advice => advice::draw(model, area, canvas),
        Screen::Apply => apply::draw(model, area, canvas),
        Screen::Compare => compare::draw(model, area, canvas),
        Screen::Help => help::draw(model, area, canvas),
    }
}

/// One item on the whole screen; a click closes it.
fn draw_in_full(words: &str, passed: usize, area: Rect, canvas: &mut Canvas<'_>) {
    let lines = wrapped(Span::raw(""), words, Style::new(), area.width);
    let most = lines.len().saturating_sub(usize::from(area.height));
    for (line, row) in lines.iter().skip(passed.min(most)).zip(area.rows()) {
        line.render(row, canvas.buffer);
    }
    canvas.places.add(area, Message::Run(Action::ReadWhole));
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
fn draw_tabs(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    let all: usize = Screen::ALL.iter().map(|it| it.title().len() + 4).sum();
    let wide = all <= usize::from(area.width);
    let tabs = Screen::ALL.iter().zip(1..).map(|(&screen, digit)| {
        let text = if wide || screen == model.screen {
            format!(" {digit} {} ", screen.title())
        } else {
            format!(" {digit} ")
        };
        // The brackets tell the open tab where a terminal shows neither colours nor reversed text.
        let tab = if screen == model.screen {
            Span::styled(format!("[{}]", text.trim()), SELECTED)
        } else {
            Span::raw(text)
        };
        (tab, Action::Show(screen))
    });
    draw_row(tabs, area, canvas);
}

/// Words side by side, each of which can be clicked.
fn draw_row(
    words: impl Iterator<Item = (Span<'static>, Action)>,
    area: Rect,
    canvas: &mut Canvas<'_>,
) {
    let mut left = area;
    for (word, action) in words {
        let width = (word.width() as u16).min(left.width);
        canvas
            .places
            .add(Rect { width, ..left }, Message::Run(action));
        word.render(left, canvas.buffer);
        left.x += width;
        left.width -= width;
    }
}

fn draw_rule(text: &str, area: Rect, buffer: &mut Buffer) {
    let text = shortened(text, usize::from(area.width));
    let rule = "─".repeat(usize::from(area.width).saturating_sub(cells(&text)));
    Line::from(vec![Span::styled(rule, QUIET), Span::raw(text)]).render(area, buffer);
}

/// What goes on in the background, told on every screen but the one that shows it larger; and that lines are
/// hidden.
fn status_text(model: &Model) -> String {
    let filter = match model.filter() {
        "" => String::new(),
        words => format!(" only \"{words}\" "),
    };
    match &model.progress {
        Some(progress) if model.screen != Screen::Measure => {
            format!("{filter} measuring: {} ", progress_text(progress))
        }
        _ => filter,
    }
}

/// The question, what was typed, and where typing goes on. The end of a long answer is shown.
fn draw_prompt(prompt: &Prompt, area: Rect, buffer: &mut Buffer) {
    let label = format!(
        " {}: ",
        shortened(&prompt.label(), usize::from(area.width / 2))
    );
    let room = usize::from(area.width).saturating_sub(cells(&label) + 1);
    let mut text = prompt.text.as_str();
    while cells(text) > room {
        let mut letters = text.chars();
        letters.next();
        text = letters.as_str();
    }
    let spans = [
        Span::styled(label, STRONG),
        Span::raw(text),
        Span::styled(" ", SELECTED),
        Span::styled("  Enter accepts, Esc cancels", QUIET),
    ];
    Line::from_iter(spans).render(area, buffer);
}

/// Whole hints only: those of the screen go first when the line is too short, help and quit stay.
fn draw_footer(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    // What was left without a key is still on Help.
    let key = |it: &Command| model.bindings.of(it).first().map(ToString::to_string);
    let mut hints: Vec<(String, &Command)> = commands::footer(model)
        .filter_map(|it| Some((key(it)?, it)))
        .collect();
    let width = |hints: &[(String, &Command)]| -> usize {
        let width = |(key, it): &(String, &Command)| cells(key) + cells(it.name) + 3;
        hints.iter().map(width).sum()
    };
    while hints.len() > 2 && width(&hints) > usize::from(area.width) {
        hints.remove(hints.len() - 3);
    }
    let words = hints.into_iter().flat_map(|(key, it)| {
        [
            (Span::styled(format!(" {key}"), STRONG), it.action),
            (Span::raw(format!(" {} ", it.name)), it.action),
        ]
    });
    draw_row(words, area, canvas);
}
