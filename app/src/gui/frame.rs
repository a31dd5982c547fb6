//! One whole frame: tabs, the screen, the commands that are valid now.
#![forbid(unsafe_code)]

use egui::{CentralPanel, Panel, RichText, Ui};

use super::{advice, apply, colours, compare, configuration, help, keys, measure, overview};
use crate::model::commands::{Action, COMMANDS};
use crate::model::measure::progress_text;
use crate::model::{Message, Model, Screen};

/// Shows the model; gives back what the user did.
pub fn show(ui: &mut Ui, model: &Model) -> Vec<Message> {
    let mut messages: Vec<Message> = keys::keys(ui.ctx(), model.prompt.is_some())
        .into_iter()
        .map(Message::Key)
        .collect();
    Panel::top("tabs").show(ui, |ui| messages.extend(tabs(ui, model)));
    Panel::bottom("commands").show(ui, |ui| messages.extend(footer(ui, model)));
    CentralPanel::default().show(ui, |ui| messages.extend(body(ui, model)));
    messages
}

fn tabs(ui: &mut Ui, model: &Model) -> Vec<Message> {
    let mut messages = Vec::new();
    ui.horizontal_wrapped(|ui| {
        for &screen in Screen::ALL {
            let chosen = ui.selectable_label(model.screen == screen, screen.title());
            if chosen.clicked() {
                messages.push(Message::Run(Action::Show(screen)));
            }
        }
    });
    messages
}

fn body(ui: &mut Ui, model: &Model) -> Vec<Message> {
    if let Some((words, _)) = &model.whole {
        ui.label(words);
        return Vec::new();
    }
    match model.screen {
        Screen::Overview => overview::show(ui, model),
        Screen::Measure => measure::show(ui, model),
        Screen::Configuration => configuration::show(ui, model),
        Screen::Advice => advice::show(ui, model),
        Screen::Apply => apply::show(ui, model),
        Screen::Compare => compare::show(ui, model),
        Screen::Help => help::show(ui, model),
    }
}

/// The same hints as the terminal's footer, here to be pressed as well.
fn footer(ui: &mut Ui, model: &Model) -> Vec<Message> {
    let mut messages = Vec::new();
    if let Some(trouble) = &model.trouble {
        let colour = colours::severity(advisor::resolver::Severity::Error, ui.visuals());
        ui.label(RichText::new(trouble).color(colour));
    }
    if let Some(notice) = &model.notice {
        ui.label(RichText::new(notice).color(colours::ADDED));
    }
    if !model.filter().is_empty() {
        ui.label(format!("only \"{}\"", model.filter()));
    }
    if let Some(prompt) = &model.prompt {
        let text = format!("{}: {}_", prompt.label(), prompt.text);
        ui.label(RichText::new(text).strong());
        ui.label("Enter accepts, Escape cancels");
    }
    if let Some(progress) = model
        .progress
        .as_ref()
        .filter(|_| model.screen != Screen::Measure)
    {
        ui.label(format!("measuring: {}", progress_text(progress)));
    }
    ui.horizontal_wrapped(|ui| {
        let valid = COMMANDS
            .iter()
            .filter(|command| command.in_footer && command.is_valid(model));
        for command in valid {
            let text = format!("{} {}", keys::name(command.keys[0]), command.name);
            if ui.small_button(text).clicked() {
                messages.push(Message::Run(command.action));
            }
        }
    });
    messages
}
