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
            ..
        } => {
            let mark = if *won { "»" } else { "·" };
            let mut text =
                RichText::new(format!("{mark} {place}: {value} – {outcome}")).monospace();
            if *won {
                text = text.strong();
            }
            ui.add(Label::new(text).wrap());
        }
        ConfigurationItem::Finding { severity, text, .. } => {
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
        ConfigurationItem::File { depth, path, .. } => {
            let indent = "    ".repeat(*depth);
            ui.label(RichText::new(format!("{indent}{path}")).weak());
        }
        ConfigurationItem::Line {
            number,
            text,
            outcome,
        } => {
            let mark = if outcome.as_ref().is_some_and(|it| it.0) {
                "»"
            } else {
                " "
            };
            let line = RichText::new(format!("{mark}{number:4} {text}")).monospace();
            ui.add(
                Label::new(if outcome.is_some() {
                    line.strong()
                } else {
                    line
                })
                .wrap(),
            );
            if let Some((_, words)) = outcome {
                ui.label(RichText::new(words).weak());
            }
        }
    }
}

fn labelled(ui: &mut Ui, label: &str, text: &str) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(label).weak());
        ui.label(text);
    });
}
