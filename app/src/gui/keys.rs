//! Keys of the window as keys of the model.
//!
//! Tab and Enter stay with the toolkit: on a desktop they move the focus and press what has it.
#![forbid(unsafe_code)]

use egui::{Event, Key as Pressed, Modifiers};

use crate::model::commands::Key;

/// The keys pressed since the last frame.
pub(super) fn keys(context: &egui::Context) -> Vec<Key> {
    if context.egui_wants_keyboard_input() {
        return Vec::new();
    }
    context.input(|input| input.events.iter().filter_map(key).collect())
}

fn key(event: &Event) -> Option<Key> {
    match event {
        // A space presses the focused button.
        Event::Text(text) => text.chars().next().filter(|it| *it != ' ').map(Key::Char),
        Event::Key {
            key,
            pressed: true,
            modifiers,
            ..
        } => special(*key, *modifiers),
        _ => None,
    }
}

fn special(key: Pressed, modifiers: Modifiers) -> Option<Key> {
    let key = match key {
        Pressed::Q if modifiers.command => Key::Control('q'),
        Pressed::Escape => Key::Escape,
        Pressed::F1 => Key::F1,
        Pressed::ArrowUp => Key::Up,
        Pressed::ArrowDown => Key::Down,
        Pressed::ArrowLeft => Key::Left,
        Pressed::ArrowRight => Key::Right,
        Pressed::PageUp => Key::PageUp,
        Pressed::PageDown => Key::PageDown,
        Pressed::Home => Key::Home,
        Pressed::End => Key::End,
        _ => return None,
    };
    Some(key)
}
