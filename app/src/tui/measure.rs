//! The Measure screen.
#![forbid(unsafe_code)]

use engine::report::ProviderName;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::appearance::{GOOD, NOTABLE, QUIET, STRONG};
use super::canvas::Canvas;
use super::list::{self, Item, cells, shortened, wrapped};
use super::transfers;
use crate::model::measure::{Bar, MeasureView, progress_text, view};
use crate::model::{Model, Progress};

/// Width of the provider's column.
const PROVIDER: usize = 11;
/// Width of the number's column: `20.3 ±10 %*`.
const NUMBER: usize = 13;
/// From this width on the cipher stands beside its bars, below it above them.
const WIDE: u16 = 76;
/// From this width on transfers stand beside the bars, below it under them.
const BESIDE: u16 = 170;
/// Width of the transfers beside the bars.
const PANE: u16 = 84;
/// From this width on the way to a number is drawn beside it.
const TRACED: u16 = 78;
/// From this height on the cell under the cursor is told in full.
const TALL: u16 = 14;

pub(super) fn draw(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    let view = view(model);
    let is_tall = area.height >= TALL;
    let tall = u16::from(is_tall);
    let told = view.detail(model.cursor()).filter(|_| is_tall);
    let told = told.map_or_else(Vec::new, |it| {
        wrapped(Span::raw(""), it, Style::new(), area.width)
    });
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(tall),
        Constraint::Min(1),
        Constraint::Length(u16::from(model.is_measuring())),
        Constraint::Length(tall * u16::from(!view.machine.is_empty())),
        Constraint::Length(u16::from(!view.warnings.is_empty())),
        Constraint::Length((told.len() as u16).clamp(3, (area.height / 4).max(3)) * tall),
    ]);
    let [heading, _, body, progress, gauges, warning, detail] = rows.areas(area);
    Line::styled(heading_text(&view, heading.width), STRONG).render(heading, canvas.buffer);
    draw_body(&view, model.cursor(), body, is_tall, canvas);
    if let Some(running) = &model.progress {
        draw_progress(running, progress, canvas.buffer);
    }
    Line::styled(view.machine.clone(), QUIET).render(gauges, canvas.buffer);
    draw_warning(&view, warning, canvas.buffer);
    for (line, row) in told.iter().zip(detail.rows()) {
        line.render(row, canvas.buffer);
    }
}

/// The bars, and the transfers beside or under them, or after them where there is no room for two.
fn draw_body(
    view: &MeasureView,
    cursor: usize,
    area: Rect,
    is_tall: bool,
    canvas: &mut Canvas<'_>,
) {
    let carried = transfers::height(view, area.width.min(PANE));
    if carried == 0 {
        return draw_bars(view, cursor, area, canvas);
    }
    if !is_tall && !view.bars.is_empty() {
        let mut items = bars(view, area.width);
        items.extend(transfers::appended(view, area.width));
        return list::draw(&items, cursor, area, canvas);
    }
    let [first, second] = if area.width >= BESIDE {
        let columns = Layout::horizontal([Constraint::Min(1), Constraint::Length(PANE)]);
        columns.spacing(2).areas(area)
    } else {
        let most = match view.bars.len() {
            0 => area.height.saturating_sub(3),
            _ => area.height / 2,
        };
        let rows = Layout::vertical([Constraint::Min(1), Constraint::Length(carried.min(most))]);
        rows.spacing(1).areas(area)
    };
    draw_bars(view, cursor, first, canvas);
    transfers::draw(view, cursor, second, canvas);
}

/// Where the whole heading does not fit, what it says about ± goes first.
fn heading_text(view: &MeasureView, width: u16) -> String {
    let whole = &view.heading;
    if cells(whole) <= usize::from(width) {
        return whole.clone();
    }
    whole.split(", ±").next().unwrap_or(whole).to_owned()
}

fn draw_bars(view: &MeasureView, cursor: usize, area: Rect, canvas: &mut Canvas<'_>) {
    if let Some(empty) = &view.empty {
        let lines = wrapped(Span::raw(""), empty, Style::new(), area.width);
        return list::draw(&[lines], usize::MAX, area, canvas);
    }
    list::draw_part(&bars(view, area.width), 0, cursor, area, canvas);
}

fn bars(view: &MeasureView, width: u16) -> Vec<Item> {
    let names = view.bars.iter().map(|bar| cells(&bar.cipher));
    let name_width = names.max().unwrap_or(0) + 1;
    let item = |bar: &Bar| {
        if width >= WIDE {
            vec![row(bar, name_width, width)]
        } else {
            narrow(bar, width)
        }
    };
    view.bars.iter().map(item).collect()
}

fn narrow(bar: &Bar, width: u16) -> Item {
    let mut lines = Vec::new();
    if bar.leads {
        lines.push(Line::styled(bar.cipher.clone(), STRONG));
    }
    lines.push(row(bar, 0, width));
    lines
}

/// `aes128-gcm   openssh   7.43 ±2 % ██████████`; a name width of 0 leaves the cipher out.
fn row(bar: &Bar, name_width: usize, width: u16) -> Line<'static> {
    let lead = match name_width {
        0 => "  ".to_owned(),
        _ if bar.leads => format!("{:name_width$}", bar.cipher),
        _ => " ".repeat(name_width),
    };
    let provider = format!("{:PROVIDER$}", bar.provider);
    let trace = match &bar.value {
        Some(value) if width >= TRACED && value.trace.len() > 1 => sparkline(&value.trace) + " ",
        _ => String::new(),
    };
    let taken = cells(&lead) + PROVIDER + NUMBER + 1 + cells(&trace);
    // The last column belongs to the marks that say there is more.
    let left = usize::from(width).saturating_sub(taken + 1);
    let (number, rest) = match &bar.value {
        Some(value) => {
            let length = ((value.share * left as f64).round() as usize).max(1);
            let (glyph, style) = glyph(bar.provider);
            let bar = glyph.repeat(length.min(left));
            (value.text.clone(), Span::styled(bar, style))
        }
        None => (
            "–".to_owned(),
            Span::styled(shortened(&bar.note, left), QUIET),
        ),
    };
    Line::from(vec![
        Span::styled(lead, STRONG),
        Span::raw(provider),
        Span::raw(format!("{number:>NUMBER$} ")),
        Span::styled(trace, QUIET),
        rest,
    ])
}

/// The numbers as steps between the least and the greatest of them: flat is settled.
fn sparkline(trace: &[f64]) -> String {
    const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let low = trace.iter().copied().fold(f64::INFINITY, f64::min);
    let high = trace.iter().copied().fold(0.0, f64::max);
    // Of what moves less than a tenth the movement is not worth a picture.
    let span = (high - low).max(high * 0.1).max(f64::MIN_POSITIVE);
    let step = |value: &f64| ((value - low) / span * 7.0).round() as usize;
    trace
        .iter()
        .map(|value| STEPS[step(value).min(7)])
        .collect()
}

/// Providers differ by glyph, not by colour alone.
const fn glyph(provider: ProviderName) -> (&'static str, Style) {
    match provider {
        ProviderName::OpenSsh => ("█", GOOD),
        ProviderName::Native => ("▒", NOTABLE),
        ProviderName::RustCrypto => ("░", Style::new()),
        ProviderName::Libcrypto => ("▓", Style::new()),
    }
}

fn draw_progress(progress: &Progress, area: Rect, buffer: &mut Buffer) {
    let text = progress_text(progress);
    let width = usize::from(area.width);
    let room = width.saturating_sub(cells(&text) + 1);
    let done = (progress.share.clamp(0.0, 1.0) * room as f64) as usize;
    let bar = format!("{}{}", "█".repeat(done), "░".repeat(room - done));
    Line::from(vec![Span::styled(bar, GOOD), Span::raw(format!(" {text}"))]).render(area, buffer);
}

fn draw_warning(view: &MeasureView, area: Rect, buffer: &mut Buffer) {
    let Some(first) = view.warnings.first() else {
        return;
    };
    let more = match view.warnings.len() {
        1 => String::new(),
        several => format!(" (and {} more on Overview)", several - 1),
    };
    let room = usize::from(area.width).saturating_sub(cells(&more));
    Line::styled(format!("{}{more}", shortened(first, room)), NOTABLE).render(area, buffer);
}
