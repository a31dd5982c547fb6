//! The command table: every key, with its name and its help, once. Footer, help screen, menus and
//! key handling are all read from it, so that no two of them can disagree.
#![forbid(unsafe_code)]

use super::advice;
use super::bindings::names;
use super::prompt::Ask;
use super::{Model, Screen};

pub use super::keys::Key;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Show a screen.
    Show(Screen),
    /// Show the screen to the right.
    NextScreen,
    /// Show the screen to the left.
    PreviousScreen,
    /// Back to where Help was asked for.
    Back,
    /// Move the cursor by so many items.
    Move(isize),
    /// Cursor to the first item.
    First,
    /// Cursor to the last item.
    Last,
    /// Follow or run the item under the cursor.
    Open,
    /// Measure (again).
    Measure,
    /// Stop measuring; finished rounds count.
    Stop,
    /// Look at smaller packets.
    SmallerPackets,
    /// Look at larger packets.
    LargerPackets,
    /// Sealing or opening.
    TurnDirection,
    /// Read the configuration files again.
    Reread,
    /// Look into the file of the item under the cursor.
    LookInto,
    /// Read the item under the cursor in full.
    ReadWhole,
    /// Ask for a line of text.
    Ask(Ask),
    /// The next profile: bulk, mixed, interactive.
    TurnProfile,
    /// Put the cipher under the cursor one place higher.
    Raise,
    /// Put it one place lower.
    Lower,
    /// Take the recommended order instead of one's own.
    AsRecommended,
    /// Copy the item under the cursor.
    CopyItem,
    /// The next theme.
    TurnTheme,
    /// Let the mouse go, or take it.
    TurnMouse,
    /// Stop the program until the shell continues it.
    Suspend,
    /// Leave the program.
    Quit,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// What it does.
    pub action: Action,
    /// The keys that run it.
    pub keys: &'static [Key],
    /// Its name on buttons and in the footer.
    pub name: &'static str,
    /// What it does, for the help screen.
    pub help: &'static str,
    /// Whether the footer names it. The tabs name their own digits.
    pub in_footer: bool,
    /// Whether it makes sense now.
    valid: fn(&Model) -> bool,
}

impl Command {
    /// Whether it makes sense now.
    #[must_use]
    pub fn is_valid(&self, model: &Model) -> bool {
        (self.valid)(model)
    }

    /// Its keys for people: `m`, or `PgDn Ctrl-D`.
    #[must_use]
    pub fn key_names(&self) -> String {
        names(self.keys)
    }

    /// Its name in a file of settings: `seal-open`, `show-advice`.
    #[must_use]
    pub fn id(&self) -> String {
        let plain = |letter: char| match letter {
            ' ' | '/' => '-',
            letter => letter.to_ascii_lowercase(),
        };
        let kind = match self.action {
            Action::Show(_) => "show-",
            _ => "",
        };
        kind.chars().chain(self.name.chars().map(plain)).collect()
    }
}

/// How far the page keys go: half of the smallest usual screen, so that nothing is skipped.
const PAGE: isize = 10;

/// Every command. Where several rows share a key, the first valid one runs.
pub static COMMANDS: &[Command] = &[
    row(
        Action::Measure,
        &[Key::Char('m')],
        "measure",
        "Measure every cipher with every provider, then read the configuration again",
        |model| !model.is_measuring() && !model.is_writing(),
    )
    .named_in_footer(),
    row(
        Action::Stop,
        &[Key::Char('x')],
        "stop",
        "Stop measuring, the rounds that are finished count; or writing, which is taken back",
        |model| model.is_measuring() || model.is_writing(),
    )
    .named_in_footer(),
    row(
        Action::SmallerPackets,
        &[Key::Left, Key::Char('h')],
        "smaller packets",
        "Measure, Compare: show the next smaller packet size",
        shows_packets,
    )
    .named_in_footer(),
    row(
        Action::LargerPackets,
        &[Key::Right, Key::Char('l')],
        "larger",
        "Measure, Compare: show the next larger packet size",
        shows_packets,
    )
    .named_in_footer(),
    row(
        Action::TurnDirection,
        &[Key::Char('d')],
        "seal/open",
        "Measure, Compare: show sealing (encrypt) or opening (check and decrypt)",
        shows_packets,
    )
    .named_in_footer(),
    row(
        Action::Raise,
        &[Key::Char('K')],
        "raise",
        "Advice: put the cipher one place higher, and see the price",
        advice::is_on_movable,
    )
    .named_in_footer(),
    row(
        Action::Lower,
        &[Key::Char('J')],
        "lower",
        "Advice: put the cipher one place lower, and see the price",
        advice::is_on_movable,
    )
    .named_in_footer(),
    row(
        Action::AsRecommended,
        &[Key::Char('R')],
        "as recommended",
        "Advice: take the recommended order instead of your own",
        |model| model.screen == Screen::Advice && model.question.order.is_some(),
    )
    .named_in_footer(),
    row(
        Action::TurnProfile,
        &[Key::Char('f')],
        "profile",
        "Advice: bulk, mixed or interactive, which decides the packet size compared",
        |model| model.screen == Screen::Advice && model.document.is_some(),
    )
    .named_in_footer(),
    row(
        Action::Ask(Ask::Policy),
        &[Key::Char('p')],
        "policy",
        "Advice: hold the order to another policy, a built-in one or a file",
        |model| model.screen == Screen::Advice && model.document.is_some(),
    )
    .named_in_footer(),
    row(
        Action::Ask(Ask::Host),
        &[Key::Char('n')],
        "name a host",
        "Configuration, Advice: say which host is meant, as one types it after ssh",
        |model| matches!(model.screen, Screen::Configuration | Screen::Advice),
    )
    .named_in_footer(),
    row(
        Action::Reread,
        &[Key::Char('r')],
        "read again",
        "Read the configuration files again",
        |model| {
            let shows_files = matches!(
                model.screen,
                Screen::Configuration | Screen::Advice | Screen::Apply
            );
            shows_files && !model.is_measuring()
        },
    )
    .named_in_footer(),
    row(
        Action::Open,
        &[Key::Enter],
        "open",
        "Go to where an item leads; on Measure, all numbers; on Help, run it",
        |model| model.target().is_some(),
    )
    .named_in_footer(),
    row(
        Action::ReadWhole,
        &[Key::Char(' ')],
        "read",
        "Read all of the item under the cursor, where a small screen cuts it",
        |model| model.whole.is_some() || model.words().is_some(),
    ),
    row(
        Action::Ask(Ask::Open),
        &[Key::Char('o')],
        "open report",
        "Compare with a saved report of another run or host",
        |_| true,
    ),
    row(
        Action::Ask(Ask::Save),
        &[Key::Char('s')],
        "save",
        "Save the report as JSON, to be opened again or given to advisor --measurements",
        |model| model.document.is_some(),
    ),
    row(
        Action::Ask(Ask::Export),
        &[Key::Char('e')],
        "export",
        "Export the report as Markdown, CSV or text",
        |model| model.document.is_some(),
    ),
    row(
        Action::CopyItem,
        &[Key::Char('c')],
        "copy",
        "Copy the line under the cursor to the clipboard",
        |model| model.words().is_some(),
    ),
    row(
        Action::Ask(Ask::Filter),
        &[Key::Char('/')],
        "filter",
        "Show only the lines that have certain words; on Help, search",
        |_| true,
    )
    .named_in_footer(),
    row(
        Action::Move(-1),
        &[Key::Up, Key::Char('k')],
        "up",
        "Cursor up",
        |_| true,
    ),
    row(
        Action::Move(1),
        &[Key::Down, Key::Char('j')],
        "down",
        "Cursor down",
        |_| true,
    ),
    row(
        Action::Move(-PAGE),
        &[Key::PageUp],
        "page up",
        "Cursor up by ten",
        |_| true,
    ),
    row(
        Action::Move(PAGE),
        &[Key::PageDown],
        "page down",
        "Cursor down by ten",
        |_| true,
    ),
    row(
        Action::First,
        &[Key::Home, Key::Char('g')],
        "first",
        "Cursor to the first item",
        |_| true,
    ),
    row(
        Action::Last,
        &[Key::End, Key::Char('G')],
        "last",
        "Cursor to the last item",
        |_| true,
    ),
    row(
        Action::Back,
        &[Key::Escape],
        "back",
        "Close what is read in full; show all lines again; close a file; leave Help",
        |model| {
            model.screen == Screen::Help
                || model.whole.is_some()
                || !model.filter().is_empty()
                || (model.screen == Screen::Configuration && model.looking.is_some())
        },
    )
    .named_in_footer(),
    row(
        Action::NextScreen,
        &[Key::Tab, Key::Right, Key::Char('l')],
        "next screen",
        "Show the screen to the right",
        |_| true,
    ),
    row(
        Action::PreviousScreen,
        &[Key::BackTab, Key::Left, Key::Char('h')],
        "previous screen",
        "Show the screen to the left",
        |_| true,
    ),
    row(
        Action::Show(Screen::Overview),
        &[Key::Char('1')],
        "Overview",
        "Verdict, processor, libraries, findings",
        |_| true,
    ),
    row(
        Action::Show(Screen::Measure),
        &[Key::Char('2')],
        "Measure",
        "Speed of every cipher with every provider",
        |_| true,
    ),
    row(
        Action::Show(Screen::Configuration),
        &[Key::Char('3')],
        "Configuration",
        "Effective cipher lists and the lines they come from",
        |_| true,
    ),
    row(
        Action::Show(Screen::Advice),
        &[Key::Char('4')],
        "Advice",
        "Today's order beside the recommended one, with reasons and the change",
        |_| true,
    ),
    row(
        Action::Show(Screen::Apply),
        &[Key::Char('5')],
        "Apply",
        "Write the order, see what was written before, undo it",
        |_| true,
    ),
    row(
        Action::Show(Screen::Compare),
        &[Key::Char('6')],
        "Compare",
        "A saved report of another run or host beside this one",
        |_| true,
    ),
    row(
        Action::TurnTheme,
        &[Key::Char('t')],
        "theme",
        "The next theme",
        |_| true,
    ),
    row(
        Action::TurnMouse,
        &[Key::Char('M')],
        "mouse",
        "Terminal: let the mouse go, to mark text with it, or take it again",
        |_| true,
    ),
    row(
        Action::Show(Screen::Help),
        &[Key::Char('?'), Key::Char('7'), Key::F1],
        "Help",
        "Every command with its keys",
        |model| model.screen != Screen::Help,
    )
    .named_in_footer(),
    row(
        Action::Suspend,
        &[Key::Control('z')],
        "suspend",
        "Terminal: back to the shell until fg; a running measurement pauses",
        |_| true,
    ),
    row(
        Action::Quit,
        &[Key::Char('q'), Key::Control('c'), Key::Control('q')],
        "quit",
        "Leave; what is being written is finished or undone first",
        |_| true,
    )
    .named_in_footer(),
];

const fn row(
    action: Action,
    keys: &'static [Key],
    name: &'static str,
    help: &'static str,
    valid: fn(&Model) -> bool,
) -> Command {
    Command {
        action,
        keys,
        name,
        help,
        in_footer: false,
        valid,
    }
}

impl Command {
    const fn named_in_footer(mut self) -> Self {
        self.in_footer = true;
        self
    }
}

const fn shows_packets(model: &Model) -> bool {
    matches!(model.screen, Screen::Measure | Screen::Compare)
}

/// The action a key stands for now. A key that was given to a command means that before any other, and Ctrl-C
/// leaves where it means nothing else.
#[must_use]
pub fn action_for(model: &Model, key: Key) -> Option<Action> {
    let bindings = &model.bindings;
    let wanted = |given: bool| {
        let mut rows = COMMANDS
            .iter()
            .filter(|row| bindings.is_given(row) == given);
        rows.find(|row| bindings.of(row).contains(&key) && row.is_valid(model))
    };
    let row = wanted(true).or_else(|| wanted(false));
    let leaves = (key == Key::Control('c')).then_some(Action::Quit);
    row.map(|row| row.action).or(leaves)
}

/// The table's row for an action.
///
/// # Panics
/// For an action that is not in the table, which a test excludes for every [`Screen`].
#[must_use]
pub fn command_for(action: Action) -> &'static Command {
    let mut rows = COMMANDS.iter();
    rows.find(|command| command.action == action)
        .expect("every action offered on screen is a row of the table")
}

/// The commands that footers show: those for this moment.
pub fn footer(model: &Model) -> impl Iterator<Item = &'static Command> {
    COMMANDS
        .iter()
        .filter(|command| command.in_footer && command.is_valid(model))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_screen_has_a_key_and_every_command_a_name_and_help() {
        for &screen in Screen::ALL {
            assert_eq!(command_for(Action::Show(screen)).name, screen.title());
        }
        for command in COMMANDS {
            assert!(!command.keys.is_empty() && !command.name.is_empty());
            assert!(command.help.len() > command.name.len() || command.help.len() > 8);
        }
    }

    #[test]
    fn a_key_means_what_is_valid_on_the_screen() {
        let mut model = Model::default();
        assert_eq!(
            action_for(&model, Key::Left),
            Some(Action::PreviousScreen),
            "arrows change screens"
        );
        model.screen = Screen::Measure;
        assert_eq!(
            action_for(&model, Key::Left),
            Some(Action::SmallerPackets),
            "except where they choose the packet"
        );
        assert_eq!(action_for(&model, Key::Char('z')), None);
    }

    #[test]
    fn a_key_that_was_given_away_means_the_new_command_and_ctrl_c_still_leaves() {
        let mut model = Model::default();
        let quit = command_for(Action::Quit);
        model.bindings.give(quit, vec![Key::Char('m')]);
        assert_eq!(action_for(&model, Key::Char('m')), Some(Action::Quit));
        assert_eq!(action_for(&model, Key::Char('q')), None);
        assert_eq!(action_for(&model, Key::Control('c')), Some(Action::Quit));
        assert_eq!(model.bindings.names(quit), "m");
    }

    #[test]
    fn every_command_has_an_id_of_its_own() {
        let ids: std::collections::BTreeSet<_> = COMMANDS.iter().map(Command::id).collect();
        assert_eq!(ids.len(), COMMANDS.len());
        assert!(ids.contains("seal-open") && ids.contains("open-report"));
    }

    #[test]
    fn the_footer_names_only_what_can_be_done_now() {
        let model = Model::default();
        let names: Vec<_> = footer(&model).map(|command| command.name).collect();
        assert!(names.contains(&"measure") && !names.contains(&"stop"));
        assert!(names.contains(&"quit") && !names.contains(&"seal/open"));
    }
}
