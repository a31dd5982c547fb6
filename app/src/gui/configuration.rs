//! The Configuration screen.
#![forbid(unsafe_code)]

use egui::{Label, RichText, Ui};

use super::colours;
use super::items::list;
use crate::model::configuration::{ConfigurationItem, view};
use crate::model::overview::severity_word;
use crate::model::{Message, Model};

pub(super) fn show(ui: &mut Ui, model: &Model) -> Vec<Message> {
    let items = view(model);
    let selected = list(ui, model, items.len(), |ui, index| {
        show_item(ui, &items[index]);
    });
    selected.into_iter().collect()
}

fn show_item(ui: &mut Ui, item: &ConfigurationItem) {
    match item {
        ConfigurationItem::Side(title) => {
            ui.add_space(8.0);
            ui.label(RichText::new(title).strong());
        }
        ConfigurationItem::Sentence(text) => {
            ui.label(text);
        }
        ConfigurationItem::Ciphers { label, names } => {
            labelled(ui, label, &names.join(", "));
        }
        ConfigurationItem::Considered {
            place,
            value,
            outcome,
            won,
        } => {
            let mark = if *won { "»" } else { "·" };
            let mut text =
                RichText::new(format!("{mark} {place}: {value} – {outcome}")).monospace();
            if *won {
                text = text.strong();
            }
            ui.add(Label::new(text).wrap());
        }
        ConfigurationItem::Finding { severity, text } => {
            let colour = colours::severity(*severity, ui.visuals());
            ui.horizontal_wrapped(|ui| {
                ui.label(
                    RichText::new(severity_word(*severity))
                        .color(colour)
                        .strong(),
                );
                ui.label(text);
            });
        }
        ConfigurationItem::Files(files) if files.is_empty() => {
            ui.label(RichText::new("no file was read").weak());
        }
        ConfigurationItem::Files(files) => labelled(ui, "read", &files.join(", ")),
    }
}

fn labelled(ui: &mut Ui, label: &str, text: &str) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(label).weak());
        ui.label(text);
    });
}
