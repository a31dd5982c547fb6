//! The Measure screen.
#![forbid(unsafe_code)]

use egui::{
    Align2, ComboBox, FontId, ProgressBar, Rect, RichText, Role, Sense, Stroke, TextStyle, Ui,
    WidgetInfo, pos2, vec2,
};
use engine::report::Direction;

use advisor::output::words;

use super::colours;
use super::items::list;
use crate::model::commands::{Action, command_for};
use crate::model::measure::{Bar, BarValue, MeasureView, TRANSFERS_HEADING, progress_text, view};
use crate::model::numbers::doing;
use crate::model::{Message, Model};

/// Columns before the bar: cipher, provider, number.
const COLUMNS: [f32; 3] = [210.0, 80.0, 95.0];

pub(super) fn show(ui: &mut Ui, model: &Model) -> Vec<Message> {
    let view = view(model);
    let mut messages = controls(ui, model, &view);
    if let Some(progress) = &model.progress {
        let bar = ProgressBar::new(progress.share as f32).text(progress_text(progress));
        ui.add(bar);
    }
    ui.label(RichText::new(&view.heading).strong());
    for warning in &view.warnings {
        ui.label(RichText::new(warning).color(colours::severity(
            advisor::resolver::Severity::Warning,
            ui.visuals(),
        )));
    }
    for sentence in view.empty.iter().chain(&view.missing) {
        ui.label(sentence);
    }
    if let Some(detail) = view.detail(model.cursor()) {
        ui.label(detail);
    }
    ui.separator();
    let mut pressed = None;
    let selected = list(ui, model, view.items(), |ui, index| {
        let Some(bar) = view.bars.get(index) else {
            return show_transfer(ui, &view, index - view.bars.len());
        };
        if show_bar(ui, bar) {
            pressed = Some(Message::Select(index));
        }
    });
    messages.extend(pressed.or(selected));
    messages
}

fn controls(ui: &mut Ui, model: &Model, view: &MeasureView) -> Vec<Message> {
    let mut messages = Vec::new();
    ui.horizontal_wrapped(|ui| {
        let action = if model.is_measuring() {
            Action::Stop
        } else {
            Action::Measure
        };
        if ui.button(command_for(action).name).clicked() {
            messages.push(Message::Run(action));
        }
        let mut bytes = model.bytes;
        ComboBox::from_label("packets")
            .selected_text(words::size(bytes))
            .show_ui(ui, |ui| {
                for &size in &view.sizes {
                    ui.selectable_value(&mut bytes, size, words::size(size));
                }
            });
        if bytes != model.bytes {
            messages.push(Message::ShowBytes(bytes));
        }
        for direction in [Direction::Seal, Direction::Open] {
            let chosen = model.direction == direction;
            if ui.radio(chosen, doing(direction)).clicked() && !chosen {
                messages.push(Message::ShowDirection(direction));
            }
        }
    });
    messages
}

/// What a real connection made of a cipher, under the heading of all of them.
fn show_transfer(ui: &mut Ui, view: &MeasureView, index: usize) {
    if index == 0 {
        ui.label(RichText::new(TRANSFERS_HEADING).strong());
    }
    let row = &view.transfers[index];
    ui.label(format!("{}   {}   {}", row.cipher, row.speed, row.cost))
        .on_hover_text(&row.detail);
}

/// One row, painted: cipher, provider, number, bar with its interval. It is one thing to press, and says
/// everything it shows to a screen reader.
fn show_bar(ui: &mut Ui, bar: &Bar) -> bool {
    let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &bar.detail));
    if response.has_focus() {
        let stroke = ui.visuals().selection.stroke;
        ui.painter()
            .rect_stroke(rect, 2.0, stroke, egui::StrokeKind::Inside);
    }
    let [cipher, provider, number, rest] = columns(rect);
    let font = TextStyle::Body.resolve(ui.style());
    if bar.leads {
        text(ui, cipher, &bar.cipher, &font);
    }
    text(ui, provider, bar.provider.name(), &font);
    match &bar.value {
        Some(value) => {
            text(ui, number, &value.text, &font);
            paint(ui, rest, value, colours::provider(bar.provider));
        }
        None => {
            text(ui, number, "–", &font);
            text(ui, rest, &bar.note, &font);
        }
    }
    response.on_hover_text_at_pointer(&bar.detail).clicked()
}

fn columns(rect: Rect) -> [Rect; 4] {
    let mut left = rect.left();
    let mut columns = [rect; 4];
    for (column, width) in columns.iter_mut().zip(COLUMNS) {
        *column = Rect::from_min_size(pos2(left, rect.top()), vec2(width, rect.height()));
        left += width;
    }
    columns[3] = Rect::from_min_max(pos2(left.min(rect.right()), rect.top()), rect.max);
    columns
}

fn text(ui: &Ui, rect: Rect, text: &str, font: &FontId) {
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let colour = ui.visuals().text_color();
    painter.text(
        rect.left_center(),
        Align2::LEFT_CENTER,
        text,
        font.clone(),
        colour,
    );
}

/// The bar, and its 95 % interval as a whisker.
fn paint(ui: &Ui, rect: Rect, value: &BarValue, colour: egui::Color32) {
    // A little room for the stroke at the end of the longest whisker.
    let width = (rect.width() - 4.0).max(0.0);
    let scale = width * value.share as f32 / value.gb_per_s as f32;
    let at = |gb_per_s: f64| rect.left() + scale * gb_per_s as f32;
    let inside = rect.shrink2(vec2(0.0, 3.0));
    let bar = Rect::from_min_max(inside.min, pos2(at(value.gb_per_s), inside.bottom()));
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    painter.rect_filled(bar, 1.0, colour);
    let stroke = Stroke::new(1.5, ui.visuals().strong_text_color());
    painter.hline(
        at(value.ci95[0])..=at(value.ci95[1]),
        rect.center().y,
        stroke,
    );
    for end in value.ci95 {
        painter.vline(at(end), inside.shrink2(vec2(0.0, 2.0)).y_range(), stroke);
    }
}
