//! The help screen: the command table, as it stands.
#![forbid(unsafe_code)]

use super::commands::{COMMANDS, Command};

/// One entry a command, in the order of the table.
#[must_use]
pub fn entries() -> &'static [Command] {
    COMMANDS
}
