//! Keys of the window as keys of the model.
//!
//! While a question is answered all of them belong to the answer. Tab stays with the toolkit and moves the focus; Enter presses what has it, and only where nothing has
//! the focus does it open the item under the cursor.
#![forbid(unsafe_code)]

use egui::{Event, Key as Pressed, Modifiers};

use crate::model::commands::Key;

/// The keys pressed since the last frame; `asking` while a question is answered.
pub(super) fn keys(context: &egui::Context, asking: bool) -> Vec<Key> {
    if context.egui_wants_keyboard_input() {
        return Vec::new();
    }
    let is_free = context.memory(|memory| memory.focused().is_none());
    let keys = context.input(|input| input.events.iter().filter_map(key).collect::<Vec<_>>());
    // A space or Enter presses the focused button.
    let presses = |key: &Key| matches!(key, Key::Enter | Key::Char(' '));
    let is_ours = |key: &Key| asking || !presses(key) || (is_free && *key == Key::Enter);
    keys.into_iter().filter(is_ours).collect()
}

/// A key for people. The font of the window has no arrows.
pub(super) fn name(key: Key) -> String {
    match key {
        Key::Up => "Up".to_owned(),
        Key::Down => "Down".to_owned(),
        Key::Left => "Left".to_owned(),
        Key::Right => "Right".to_owned(),
        other => other.to_string(),
    }
}

fn key(event: &Event) -> Option<Key> {
    match event {
        Event::Text(text) => text.chars().next().map(Key::Char),
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
        Pressed::Enter => Key::Enter,
        Pressed::Backspace => Key::Backspace,
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
