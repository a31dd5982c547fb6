//! The Compare screen.
#![forbid(unsafe_code)]

use egui::{RichText, Ui};

use super::items::list;
use crate::model::commands::{Action, command_for};
use crate::model::compare::{CompareRow, view};
use crate::model::prompt::Ask;
use crate::model::{Message, Model};

/// Widths of the columns: cipher, provider, here, there, ratio.
const COLUMNS: [f32; 5] = [210.0, 80.0, 105.0, 105.0, 70.0];

pub(super) fn show(ui: &mut Ui, model: &Model) -> Vec<Message> {
    let view = view(model);
    let mut messages = Vec::new();
    let open = Action::Ask(Ask::Open);
    if ui.button(command_for(open).name).clicked() {
        messages.push(Message::Run(open));
    }
    ui.label(RichText::new(&view.heading).strong());
    for host in &view.hosts {
        ui.label(RichText::new(host).weak());
    }
    if let Some(empty) = &view.empty {
        ui.label(empty);
    }
    ui.separator();
    let selected = list(ui, model, view.rows.len(), |ui, index| {
        row(ui, &view.rows[index]);
    });
    messages.extend(selected);
    messages
}

fn row(ui: &mut Ui, row: &CompareRow) {
    let cells = [
        row.cipher.as_str(),
        row.provider.name(),
        &row.here,
        &row.there,
        &row.ratio,
    ];
    ui.horizontal_top(|ui| {
        for (text, width) in cells.into_iter().zip(COLUMNS) {
            let size = egui::vec2(width, ui.spacing().interact_size.y);
            let layout = egui::Layout::left_to_right(egui::Align::TOP);
            ui.allocate_ui_with_layout(size, layout, |ui| {
                ui.set_min_width(width);
                ui.label(text);
            });
        }
        ui.label(row.judgement);
    });
}
