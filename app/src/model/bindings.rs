//! Which keys run a command: those of the table, or those somebody has given it.
#![forbid(unsafe_code)]

use super::commands::{Action, Command};
use super::keys::Key;

/// What was given; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings(Vec<(Action, Vec<Key>)>);

impl Bindings {
    /// Gives a command these keys in place of its own; none leaves it to Help and the mouse.
    pub fn give(&mut self, command: &Command, keys: Vec<Key>) {
        self.0.push((command.action, keys));
    }

    /// The keys of a command.
    #[must_use]
    pub fn of(&self, command: &Command) -> &[Key] {
        let mut given = self.0.iter().rev();
        let given = given.find(|(action, _)| *action == command.action);
        given.map_or(command.keys, |(_, keys)| keys)
    }

    /// Its keys for people: `m`, or `PgDn Ctrl-D`.
    #[must_use]
    pub fn names(&self, command: &Command) -> String {
        names(self.of(command))
    }

    pub(super) fn is_given(&self, command: &Command) -> bool {
        self.0.iter().any(|(action, _)| *action == command.action)
    }
}

pub(super) fn names(keys: &[Key]) -> String {
    let names: Vec<_> = keys.iter().map(ToString::to_string).collect();
    names.join(" ")
}
