//! The Help screen.
#![forbid(unsafe_code)]

use egui::{RichText, Ui};

use super::items::list;
use super::keys::name;
use crate::model::help::entries;
use crate::model::{Message, Model};

/// Width of the column of keys.
const KEYS: f32 = 120.0;

pub(super) fn show(ui: &mut Ui, model: &Model) -> Vec<Message> {
    let entries = entries(model);
    let selected = list(ui, model, entries.len(), |ui, index| {
        let command = entries[index];
        ui.horizontal_top(|ui| {
            ui.allocate_ui_with_layout(
                egui::vec2(KEYS, ui.spacing().interact_size.y),
                egui::Layout::left_to_right(egui::Align::TOP),
                |ui| {
                    ui.set_min_width(KEYS);
                    let names: Vec<_> = command.keys.iter().copied().map(name).collect();
                    ui.label(RichText::new(names.join(" ")).strong());
                },
            );
            ui.label(command.help);
        });
    });
    selected.into_iter().collect()
}
