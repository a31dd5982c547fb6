//! The shared view model: what is known, what is looked at, and what happens on a key or a message.
//!
//! Plain data and pure functions. **Invariant:** this room knows no toolkit, starts no thread and asks
//! neither clock nor files; whatever must be done outside is returned as an [`Effect`]. Both faces show
//! its words in its order.
#![forbid(unsafe_code)]

pub mod advice;
pub mod commands;
pub mod configuration;
pub mod help;
pub mod measure;
pub mod numbers;
pub mod overview;

use std::sync::Arc;
use std::time::Duration;

use advisor::output::Document;
use engine::report::{Direction, Measurement, Report};

use commands::{Action, Key};

/// The packet size shown first: what a bulk transfer sends.
pub const BULK_PACKET: usize = 32 * 1024;

/// The screens, in the order of their tabs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Screen {
    /// The verdict and what it rests on.
    #[default]
    Overview,
    /// The numbers.
    Measure,
    /// What ssh and sshd read.
    Configuration,
    /// What should be written.
    Advice,
    /// The command table.
    Help,
}

impl Screen {
    /// Every screen, in the order of the tabs.
    pub const ALL: &[Self] = &[
        Self::Overview,
        Self::Measure,
        Self::Configuration,
        Self::Advice,
        Self::Help,
    ];

    /// The name on its tab.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Measure => "Measure",
            Self::Configuration => "Configuration",
            Self::Advice => "Advice",
            Self::Help => "Help",
        }
    }

    fn step(self, by: usize) -> Self {
        let at = self as usize;
        Self::ALL[(at + by) % Self::ALL.len()]
    }
}

/// How far a measurement is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Share of the time box that is used, 0 to 1.
    pub share: f64,
    /// What is left of it.
    pub remaining: Duration,
}

/// Everything the faces show.
#[derive(Clone, Debug)]
pub struct Model {
    /// The screen looked at.
    pub screen: Screen,
    /// The packet size looked at, in bytes.
    pub bytes: usize,
    /// The direction looked at.
    pub direction: Direction,
    /// What is known: the numbers once there are any, the configuration, the advice.
    pub document: Option<Arc<Document>>,
    /// How far a running measurement is; `None` when none runs.
    pub progress: Option<Progress>,
    /// The last thing that went wrong, as a sentence.
    pub trouble: Option<String>,
    /// What a running measurement has found so far.
    live: Vec<Measurement>,
    /// The screen Help was asked from.
    before_help: Screen,
    /// The cursor of each screen, in the order of [`Screen::ALL`].
    cursors: [usize; Screen::ALL.len()],
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Message {
    /// A key was pressed.
    Key(Key),
    /// A command was chosen by other means: a tab, a button.
    Run(Action),
    /// An item of the screen was chosen by other means.
    Select(usize),
    /// A packet size was chosen by other means.
    ShowBytes(usize),
    /// A direction was chosen by other means.
    ShowDirection(Direction),
    /// The measurement is that far, and these numbers are new.
    Progress(Progress, Vec<Measurement>),
    /// The measurement ended, or was stopped and these are its finished rounds.
    Measured(Arc<Report>),
    /// The configuration was read, and what follows from it.
    Examined(Arc<Document>),
    /// Something could not be done; the sentence says what and the cure.
    Failed(String),
}

/// Something to be done outside. The worker does it and answers with messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Measure this host.
    Measure,
    /// Stop measuring.
    Stop,
    /// Read the configuration and say what follows from it and these numbers, if there are any.
    Examine(Option<Arc<Report>>),
    /// Leave the program.
    Quit,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            screen: Screen::Overview,
            bytes: BULK_PACKET,
            direction: Direction::Seal,
            document: None,
            progress: None,
            trouble: None,
            live: Vec::new(),
            before_help: Screen::Overview,
            cursors: [0; Screen::ALL.len()],
        }
    }
}

impl Model {
    /// The model at start, and what to do first.
    #[must_use]
    pub fn start() -> (Self, Vec<Effect>) {
        let mut model = Self::default();
        let mut effects = vec![Effect::Examine(None)];
        effects.extend(update(&mut model, Message::Run(Action::Measure)));
        (model, effects)
    }

    /// Whether a measurement runs.
    #[must_use]
    pub const fn is_measuring(&self) -> bool {
        self.progress.is_some()
    }

    /// What was measured; `None` until there are numbers.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        let report = self.document.as_deref().map(|document| &document.report);
        report.filter(|report| !report.measurements.is_empty())
    }

    /// The numbers to look at: those of the running measurement, else the last one's.
    #[must_use]
    pub fn cells(&self) -> &[Measurement] {
        if self.is_measuring() {
            return &self.live;
        }
        self.report().map_or(&[], |report| &report.measurements)
    }

    /// The item under the cursor of the screen looked at.
    #[must_use]
    pub fn cursor(&self) -> usize {
        let last = self.items().saturating_sub(1);
        self.cursors[self.screen as usize].min(last)
    }

    /// What Enter does on the item under the cursor.
    #[must_use]
    pub fn target(&self) -> Option<Action> {
        match self.screen {
            Screen::Overview => overview::view(self).items.get(self.cursor())?.leads_to(),
            Screen::Help => help::entries().get(self.cursor()).map(|it| it.action),
            Screen::Measure | Screen::Configuration | Screen::Advice => None,
        }
    }

    /// How many items the screen looked at has.
    fn items(&self) -> usize {
        match self.screen {
            Screen::Overview => overview::view(self).items.len(),
            Screen::Measure => measure::view(self).bars.len(),
            Screen::Configuration => configuration::view(self).len(),
            Screen::Advice => advice::view(self).len(),
            Screen::Help => help::entries().len(),
        }
    }
}

/// What a message changes, and what must be done outside because of it.
pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Key(key) => {
            let action = commands::action_for(model, key);
            return action.map_or_else(Vec::new, |action| run(model, action));
        }
        Message::Run(action) => return run(model, action),
        Message::Select(item) => model.cursors[model.screen as usize] = item,
        Message::ShowBytes(bytes) => model.bytes = bytes,
        Message::ShowDirection(direction) => model.direction = direction,
        // A late one must not bring a stopped measurement back to life.
        Message::Progress(progress, latest) if model.is_measuring() => {
            model.progress = Some(progress);
            latest
                .into_iter()
                .for_each(|cell| note(&mut model.live, cell));
        }
        Message::Progress(..) => {}
        Message::Measured(report) => {
            model.progress = None;
            return vec![Effect::Examine(Some(report))];
        }
        Message::Examined(document) => model.document = Some(document),
        Message::Failed(sentence) => {
            model.progress = None;
            model.trouble = Some(sentence);
        }
    }
    Vec::new()
}

/// Puts a number in the place of the one it renews.
fn note(live: &mut Vec<Measurement>, new: Measurement) {
    let same = |old: &&mut Measurement| {
        (&old.cipher, &old.mac, old.provider) == (&new.cipher, &new.mac, new.provider)
            && (old.direction, old.bytes) == (new.direction, new.bytes)
    };
    match live.iter_mut().find(same) {
        Some(old) => *old = new,
        None => live.push(new),
    }
}

fn run(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Show(Screen::Help) if model.screen != Screen::Help => {
            model.before_help = model.screen;
            model.screen = Screen::Help;
        }
        Action::Show(screen) => model.screen = screen,
        Action::NextScreen => model.screen = model.screen.step(1),
        Action::PreviousScreen => model.screen = model.screen.step(Screen::ALL.len() - 1),
        Action::Back => model.screen = model.before_help,
        Action::Move(by) => move_cursor(model, model.cursor().saturating_add_signed(by)),
        Action::First => move_cursor(model, 0),
        Action::Last => move_cursor(model, usize::MAX),
        Action::Open => {
            // Whatever an item leads to is never `Open` itself, so this ends.
            let target = model.target().filter(|&it| it != Action::Open);
            return target.map_or_else(Vec::new, |action| run(model, action));
        }
        Action::Measure if !model.is_measuring() => {
            model.progress = Some(Progress::default());
            model.trouble = None;
            model.live.clear();
            return vec![Effect::Measure];
        }
        Action::Stop if model.is_measuring() => return vec![Effect::Stop],
        Action::Measure | Action::Stop => {}
        Action::SmallerPackets => model.bytes = measure::neighbour(model, false),
        Action::LargerPackets => model.bytes = measure::neighbour(model, true),
        Action::TurnDirection => {
            model.direction = match model.direction {
                Direction::Seal => Direction::Open,
                Direction::Open => Direction::Seal,
            };
        }
        Action::Reread => {
            model.trouble = None;
            let measured = model.report().cloned().map(Arc::new);
            return vec![Effect::Examine(measured)];
        }
        Action::Quit if model.is_measuring() => return vec![Effect::Stop, Effect::Quit],
        Action::Quit => return vec![Effect::Quit],
    }
    Vec::new()
}

fn move_cursor(model: &mut Model, to: usize) {
    let last = model.items().saturating_sub(1);
    model.cursors[model.screen as usize] = to.min(last);
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::report::ProviderName;

    fn cell(gb_per_s: f64) -> Measurement {
        Measurement {
            cipher: "aes128-ctr".to_owned(),
            mac: Some("umac-64-etm@openssh.com".to_owned()),
            provider: ProviderName::OpenSsh,
            direction: Direction::Seal,
            bytes: BULK_PACKET,
            kernel: "OpenSSL".to_owned(),
            gb_per_s,
            ci95: [gb_per_s, gb_per_s],
            cycles_per_byte: None,
            rounds: 3,
            batched: false,
        }
    }

    fn measured() -> Arc<Report> {
        Arc::new(Report {
            measurements: vec![cell(2.0)],
            ..Report::default()
        })
    }

    fn press(model: &mut Model, key: Key) -> Vec<Effect> {
        update(model, Message::Key(key))
    }

    #[test]
    fn it_reads_then_measures_then_reads_with_the_numbers() {
        let (mut model, effects) = Model::start();
        assert_eq!(effects, [Effect::Examine(None), Effect::Measure]);
        let effects = update(&mut model, Message::Measured(measured()));
        assert_eq!(effects, [Effect::Examine(Some(measured()))]);
        assert!(!model.is_measuring());
        let document = Document::new(measured().as_ref().clone());
        update(&mut model, Message::Examined(document.into()));
        model.screen = Screen::Configuration;
        assert_eq!(
            press(&mut model, Key::Char('r')),
            [Effect::Examine(Some(measured()))],
            "reading again keeps the numbers"
        );
    }

    #[test]
    fn numbers_of_a_running_measurement_renew_each_other() {
        let (mut model, _) = Model::start();
        for gb_per_s in [1.0, 2.0] {
            let progress = Message::Progress(Progress::default(), vec![cell(gb_per_s)]);
            update(&mut model, progress);
        }
        assert_eq!(model.cells(), [cell(2.0)]);
        update(&mut model, Message::Failed("no".to_owned()));
        let late = Message::Progress(Progress::default(), vec![cell(3.0)]);
        update(&mut model, late);
        assert!(!model.is_measuring(), "a late message revives nothing");
        assert_eq!(model.trouble.as_deref(), Some("no"));
        press(&mut model, Key::Char('m'));
        assert!(model.trouble.is_none() && model.cells().is_empty());
    }

    #[test]
    fn measuring_is_not_started_twice_and_is_stopped_before_leaving() {
        let (mut model, _) = Model::start();
        assert!(press(&mut model, Key::Char('m')).is_empty());
        assert!(update(&mut model, Message::Run(Action::Measure)).is_empty());
        assert_eq!(press(&mut model, Key::Char('x')), [Effect::Stop]);
        let leaving = [Effect::Stop, Effect::Quit];
        assert_eq!(press(&mut model, Key::Control('c')), leaving);
        update(&mut model, Message::Measured(measured()));
        assert!(press(&mut model, Key::Char('x')).is_empty());
        assert_eq!(press(&mut model, Key::Char('q')), [Effect::Quit]);
    }

    #[test]
    fn screens_follow_each_other_in_a_ring_and_help_leads_back() {
        let mut model = Model::default();
        for &screen in Screen::ALL.iter().cycle().skip(1).take(Screen::ALL.len()) {
            press(&mut model, Key::Tab);
            assert_eq!(model.screen, screen);
        }
        press(&mut model, Key::BackTab);
        assert_eq!(model.screen, Screen::Help);
        press(&mut model, Key::Char('3'));
        press(&mut model, Key::Char('?'));
        press(&mut model, Key::Escape);
        assert_eq!(model.screen, Screen::Configuration);
    }

    #[test]
    fn every_screen_keeps_its_cursor_within_its_items() {
        let mut model = Model::default();
        press(&mut model, Key::Char('5'));
        press(&mut model, Key::Char('G'));
        let last = model.cursor();
        assert_eq!(last, help::entries().len() - 1);
        press(&mut model, Key::Char('j'));
        assert_eq!(model.cursor(), last);
        press(&mut model, Key::Char('1'));
        press(&mut model, Key::Up);
        assert_eq!(model.cursor(), 0);
        update(&mut model, Message::Select(usize::MAX));
        assert_eq!(model.cursor(), overview::view(&model).items.len() - 1);
        press(&mut model, Key::Char('5'));
        assert_eq!(model.cursor(), last, "its place is remembered");
    }

    #[test]
    fn enter_follows_an_item_and_runs_a_command_of_the_help() {
        let mut model = Model::default();
        press(&mut model, Key::Enter);
        assert_eq!(
            model.screen,
            Screen::Advice,
            "the verdict leads to the advice"
        );
        press(&mut model, Key::Char('?'));
        assert_eq!(press(&mut model, Key::Enter), [Effect::Measure]);
    }

    #[test]
    fn packet_sizes_end_at_both_ends() {
        let mut model = Model::default();
        press(&mut model, Key::Char('2'));
        let sizes = measure::view(&model).sizes;
        assert_eq!(sizes, [64, 1024, BULK_PACKET]);
        press(&mut model, Key::Right);
        assert_eq!(model.bytes, BULK_PACKET);
        for _ in 0..3 {
            press(&mut model, Key::Char('h'));
        }
        assert_eq!(model.bytes, 64);
        press(&mut model, Key::Char('d'));
        assert_eq!(model.direction, Direction::Open);
    }
}
