//! The Overview screen.
#![forbid(unsafe_code)]

use egui::{RichText, Ui};

use super::colours;
use super::items::list;
use crate::model::overview::{OverviewItem, OverviewView, severity_word, view};
use crate::model::{Message, Model};

/// Width of the label column.
const LABEL: f32 = 100.0;

pub(super) fn show(ui: &mut Ui, model: &Model) -> Vec<Message> {
    let view = view(model);
    let mut messages = Vec::new();
    let selected = list(ui, model, view.items.len(), |ui, index| {
        let item = &view.items[index];
        let opened = show_item(ui, item, &view);
        if let Some(action) = item.leads_to().filter(|_| opened) {
            messages.push(Message::Run(action));
        }
    });
    messages.extend(selected);
    messages
}

/// Says whether the screen it leads to was asked for.
fn show_item(ui: &mut Ui, item: &OverviewItem, view: &OverviewView) -> bool {
    match item {
        OverviewItem::Verdict(sentence) => {
            ui.label(RichText::new(sentence).heading().strong());
            false
        }
        OverviewItem::Fact { label, text, more } => {
            ui.horizontal_top(|ui| {
                ui.allocate_ui_with_layout(
                    egui::vec2(LABEL, ui.spacing().interact_size.y),
                    egui::Layout::left_to_right(egui::Align::TOP),
                    |ui| {
                        ui.set_min_width(LABEL);
                        ui.label(RichText::new(*label).weak());
                    },
                );
                let shown = ui.add(egui::Label::new(text).wrap());
                if label.is_empty() {
                    shown.on_hover_text(uses(text, view));
                }
                more.is_some_and(|screen| ui.small_button(screen.title()).clicked())
            })
            .inner
        }
        OverviewItem::Findings(title) => {
            ui.add_space(8.0);
            ui.label(RichText::new(title).strong());
            false
        }
        OverviewItem::Finding {
            severity,
            what,
            cure,
            more,
        } => {
            let colour = colours::severity(*severity, ui.visuals());
            ui.group(|ui| {
                ui.set_width(ui.available_width());
                ui.label(
                    RichText::new(severity_word(*severity))
                        .color(colour)
                        .strong(),
                );
                ui.label(what);
                if !cure.is_empty() {
                    ui.label(RichText::new(cure).strong());
                }
                more.is_some_and(|screen| ui.small_button(screen.title()).clicked())
            })
            .inner
        }
    }
}

/// What ciphers use the instruction sets of this line for.
fn uses(line: &str, view: &OverviewView) -> String {
    let names: Vec<&str> = line.split(' ').collect();
    let named = view.features.iter();
    let lines: Vec<_> = named
        .filter(|feature| names.contains(&feature.name.as_str()))
        .map(|feature| format!("{}: {}", feature.name, feature.used_for))
        .collect();
    lines.join("\n")
}
