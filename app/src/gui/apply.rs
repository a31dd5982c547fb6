//! The Apply screen.
#![forbid(unsafe_code)]

use egui::Ui;

use super::items::list;
use super::page;
use crate::model::apply::view;
use crate::model::{Message, Model};

pub(super) fn show(ui: &mut Ui, model: &Model) -> Vec<Message> {
    let items = view(model);
    let mut pressed = None;
    let selected = list(ui, model, items.len(), |ui, index| {
        page::show(ui, &items[index].item);
        let action = items[index].action;
        if let Some(action) = action.filter(|_| ui.button("Go on").clicked()) {
            pressed = Some(Message::Run(action));
        }
    });
    selected.into_iter().chain(pressed).collect()
}
