//! Lines that several screens are made of.
#![forbid(unsafe_code)]

use egui::{Label, RichText, Ui};

use advisor::resolver::Severity;

use super::colours;
use crate::model::page::{DiffLine, PageItem, StepState};

pub(super) fn show(ui: &mut Ui, item: &PageItem) {
    match item {
        PageItem::Heading(title) => {
            ui.add_space(8.0);
            ui.label(RichText::new(title).strong());
        }
        PageItem::Sentence(text) => {
            ui.add(Label::new(text).wrap());
        }
        PageItem::Warning(text) => {
            let colour = colours::severity(Severity::Warning, ui.visuals());
            ui.add(Label::new(RichText::new(format!("! {text}")).color(colour)).wrap());
        }
        PageItem::Diff(kind, text) => {
            let text = RichText::new(text).monospace();
            ui.label(match kind {
                DiffLine::Header => text.strong(),
                DiffLine::Added => text.color(colours::ADDED),
                DiffLine::Removed => text.color(colours::REMOVED),
                DiffLine::Context => text,
            });
        }
        PageItem::Command(command) => {
            ui.horizontal(|ui| {
                ui.label(RichText::new(command).monospace().strong());
                if ui.button("Copy").clicked() {
                    ui.ctx().copy_text(command.clone());
                }
            });
        }
        PageItem::Step(state, text) => {
            let text = RichText::new(format!("{}: {text}", state.word()));
            ui.label(match state {
                StepState::Done => text.color(colours::ADDED),
                StepState::Now => text.strong(),
                StepState::Later => text.weak(),
            });
        }
        PageItem::Choice(text) => {
            ui.label(RichText::new(text).strong());
        }
    }
}
