//! The Advice screen.
#![forbid(unsafe_code)]

use egui::{Label, RichText, Ui};

use super::items::list;
use crate::model::advice::{AdviceItem, view};
use crate::model::{Message, Model};

/// Widths of the columns: place, today, recommended, speed. The reason takes the rest.
const COLUMNS: [f32; 4] = [24.0, 160.0, 180.0, 130.0];

pub(super) fn show(ui: &mut Ui, model: &Model) -> Vec<Message> {
    let items = view(model);
    let selected = list(ui, model, items.len(), |ui, index| {
        show_item(ui, &items[index]);
    });
    selected.into_iter().collect()
}

fn show_item(ui: &mut Ui, item: &AdviceItem) {
    match item {
        AdviceItem::Heading(title) => {
            ui.add_space(8.0);
            ui.label(RichText::new(title).strong());
        }
        AdviceItem::Sentence(text) => {
            ui.label(text);
        }
        AdviceItem::Place {
            position,
            today,
            recommended,
            changes,
            speed,
            reason,
            ..
        } => {
            let mark = if *changes { "» " } else { "   " };
            let mut name = RichText::new(format!("{mark}{recommended}"));
            if *changes {
                name = name.strong();
            }
            let cells = [
                RichText::new(position.to_string()).weak(),
                RichText::new(today),
                name,
                RichText::new(speed),
            ];
            ui.horizontal_top(|ui| {
                for (text, width) in cells.into_iter().zip(COLUMNS) {
                    cell(ui, text, width);
                }
                ui.add(Label::new(reason).wrap());
            });
        }
    }
}

fn cell(ui: &mut Ui, text: RichText, width: f32) {
    let size = egui::vec2(width, ui.spacing().interact_size.y);
    let layout = egui::Layout::left_to_right(egui::Align::TOP);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_width(width);
        ui.label(text);
    });
}
