//! The help screen: the command table, as it stands, or the rows of it that have the words searched for.
#![forbid(unsafe_code)]

use super::commands::{COMMANDS, Command};
use super::{Model, Screen};

/// One entry a command, in the order of the table.
#[must_use]
pub fn entries(model: &Model) -> Vec<&'static Command> {
    let wanted = |it: &&Command| {
        let text = format!("{} {} {}", model.bindings.names(it), it.name, it.help);
        model.passes(Screen::Help, &text)
    };
    COMMANDS.iter().filter(wanted).collect()
}
