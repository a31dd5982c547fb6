//! The Measure screen.
#![forbid(unsafe_code)]

use engine::report::ProviderName;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::appearance::{GOOD, NOTABLE, QUIET, STRONG};
use super::list::{self, Item, cells, shortened, wrapped};
use crate::model::measure::{Bar, MeasureView, progress_text, view};
use crate::model::{Model, Progress};

/// Width of the provider's column.
const PROVIDER: usize = 11;
/// Width of the number's column: `20.3 ±10 %*`.
const NUMBER: usize = 13;
/// From this width on the cipher stands beside its bars, below it above them.
const WIDE: u16 = 76;
/// From this height on the cell under the cursor is told in full.
const TALL: u16 = 14;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    let view = view(model);
    let tall = u16::from(area.height >= TALL);
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(tall),
        Constraint::Min(1),
        Constraint::Length(u16::from(model.is_measuring())),
        Constraint::Length(u16::from(!view.warnings.is_empty())),
        Constraint::Length(3 * tall),
    ]);
    let [heading, _, list, progress, warning, detail] = rows.areas(area);
    Line::styled(heading_text(&view, heading.width), STRONG).render(heading, buffer);
    draw_bars(&view, model.cursor(), list, buffer);
    if let Some(running) = &model.progress {
        draw_progress(running, progress, buffer);
    }
    draw_warning(&view, warning, buffer);
    if let Some(bar) = view.bars.get(model.cursor()) {
        let text = Paragraph::new(bar.detail.as_str()).wrap(Wrap { trim: true });
        text.render(detail, buffer);
    }
}

/// Where the whole heading does not fit, what it says about ± goes first.
fn heading_text(view: &MeasureView, width: u16) -> String {
    let whole = &view.heading;
    if cells(whole) <= usize::from(width) {
        return whole.clone();
    }
    whole.split(", ±").next().unwrap_or(whole).to_owned()
}

fn draw_bars(view: &MeasureView, cursor: usize, area: Rect, buffer: &mut Buffer) {
    if let Some(empty) = &view.empty {
        let lines = wrapped(Span::raw(""), empty, Style::new(), area.width);
        return list::draw(&[lines], usize::MAX, area, buffer);
    }
    let names = view.bars.iter().map(|bar| cells(&bar.cipher));
    let name_width = names.max().unwrap_or(0) + 1;
    let item = |bar: &Bar| {
        if area.width >= WIDE {
            vec![row(bar, name_width, area.width)]
        } else {
            narrow(bar, area.width)
        }
    };
    let items: Vec<Item> = view.bars.iter().map(item).collect();
    list::draw(&items, cursor, area, buffer);
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
    let taken = cells(&lead) + PROVIDER + NUMBER + 1;
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
        rest,
    ])
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
