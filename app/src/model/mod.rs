//! The shared view model: what is known, what is looked at, and what happens on a key or a message.
//!
//! Plain data and pure functions. **Invariant:** this room knows no toolkit, starts no thread and asks
//! neither clock nor files; whatever must be done outside is returned as an [`Effect`]. Both faces show
//! its words in its order.
#![forbid(unsafe_code)]

pub mod advice;
pub mod apply;
pub mod bindings;
pub mod commands;
pub mod compare;
pub mod configuration;
pub mod help;
pub mod keys;
pub mod measure;
pub mod numbers;
pub mod overview;
pub mod page;
pub mod prompt;
mod shown;
#[cfg(test)]
mod tests;
pub mod transfers;
mod update;

use std::sync::Arc;
use std::time::Duration;

use advisor::output::Document;
use advisor::policy::Profile;
use engine::report::{Direction, Measurement, Report, Transfer};

use apply::{Past, Preview, Step, Written};
use bindings::Bindings;
use commands::{Action, Key};
use compare::Other;
use configuration::{Looking, Spot};
use prompt::Prompt;

pub use update::update;
use update::{changed, confirm};

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
    /// Writing it, and undoing.
    Apply,
    /// A saved report beside this one.
    Compare,
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
        Self::Apply,
        Self::Compare,
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
            Self::Apply => "Apply",
            Self::Compare => "Compare",
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
    /// What is being measured.
    pub doing: Doing,
    /// How busy the machine is meanwhile.
    pub machine: Gauges,
}

/// What is being measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doing {
    /// Programs and processor are looked at.
    #[default]
    Beginning,
    /// Real transfers. Nothing is timed in this process, so a face may draw, but it uses what they need: once a
    /// second is enough.
    Transfers,
    /// Packets, in this process.
    Packets,
}

/// What is new of a running measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Packets.
    pub cells: Vec<Measurement>,
    /// Real transfers.
    pub transfers: Vec<Transfer>,
}

/// What disturbs a measurement while it runs. `None` where the system does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauges {
    /// One-minute load average.
    pub load: Option<f64>,
    /// Share of the processor time that the hypervisor gave to others since measuring began, in percent.
    pub steal_percent: Option<f64>,
    /// The clock of the core that measures, in GHz.
    pub ghz: Option<f64>,
}

/// What is asked about this host, beside the numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// The numbers, if there are any.
    pub report: Option<Arc<Report>>,
    /// What one would type after `ssh`; `None` for any host.
    pub host: Option<String>,
    /// What the machine mostly does; `None` leaves it to the policy.
    pub profile: Option<Profile>,
    /// A built-in policy, or a file; `None` for the usual one.
    pub policy: Option<String>,
    /// The client's order as somebody arranged it by hand; `None` for the recommended one.
    pub order: Option<Vec<String>>,
}

/// In which form a report is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saving {
    /// The document, to be opened again.
    Json,
    /// The measurements as a table.
    Csv,
    /// For a ticket.
    Markdown,
    /// Plain lines.
    Text,
}

impl Saving {
    /// The form that the end of a file's name asks for.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "md" => Some(Self::Markdown),
            "txt" => Some(Self::Text),
            _ => None,
        }
    }
}

/// Whether something is being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Writing {
    /// Nothing was written yet.
    #[default]
    Nothing,
    /// This step is being done; what is done is an undoing where that is true.
    Now(Step, bool),
    /// It is over, and this came of it.
    Over(Written),
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
    /// The last thing that was done, as a sentence.
    pub notice: Option<String>,
    /// The question that is being answered, if any.
    pub prompt: Option<Prompt>,
    /// What is asked about this host.
    pub question: Question,
    /// What is known about the change before it is made.
    pub preview: Option<Preview>,
    /// Whether something is being written.
    pub writing: Writing,
    /// The changes the journal knows, oldest first.
    pub past: Vec<Past>,
    /// The report this one is compared with.
    pub other: Option<Other>,
    /// The file that is looked into on the Configuration screen.
    pub looking: Option<Looking>,
    /// The item that is read in full, in place of the screen, and how many lines of it are passed.
    pub whole: Option<(String, usize)>,
    /// The keys of the commands.
    pub bindings: Bindings,
    /// What a running measurement has found so far.
    live: Found,
    /// How its numbers came to be what they are.
    traces: measure::Traces,
    /// What only lines are shown of, a screen.
    filters: [String; Screen::ALL.len()],
    /// The screen Help was asked from.
    before_help: Screen,
    /// The cursor of each screen, in the order of [`Screen::ALL`].
    cursors: [usize; Screen::ALL.len()],
}

/// The least time between two frames while this is going on: a tenth of a second, a second during transfers.
#[must_use]
pub fn frame(progress: Option<&Progress>) -> Duration {
    match progress.map(|it| it.doing) {
        Some(Doing::Transfers) => Duration::from_secs(1),
        _ => Duration::from_millis(100),
    }
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
    Progress(Progress, Found),
    /// The measurement ended, or was stopped and these are its finished rounds.
    Measured(Arc<Report>),
    /// The configuration was read, and what follows from it.
    Examined(Arc<Document>),
    /// What the installed program says to the change.
    Previewed(Preview),
    /// Writing is that far.
    Step(Step),
    /// It was written.
    Written(Written),
    /// It was not written; the sentence says why and what is on the disk.
    NotWritten(String),
    /// The changes the journal knows, oldest first.
    Past(Vec<Past>),
    /// A saved report was read.
    Opened(Other),
    /// A file was read, to look into it.
    LookedInto(Looking),
    /// Something was done; the sentence says what.
    Done(String),
    /// Text was pasted.
    Paste(String),
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
    /// Read the configuration and say what follows from it.
    Examine(Question),
    /// Ask the installed program about the change that follows.
    Preview(Question),
    /// Write the change that follows, if it is still the one that was shown.
    Write(Question, Arc<Document>),
    /// Undo the change of this number.
    Undo(u64),
    /// Read the journal.
    ReadJournal,
    /// Read a saved report.
    Open(String),
    /// Read a file, to look into it there.
    LookInto(Spot),
    /// Save the document to this file.
    Save(String, Saving, Arc<Document>),
    /// Put this text on the clipboard.
    Copy(String),
    /// The face's next theme.
    TurnTheme,
    /// The face lets the mouse go, or takes it.
    TurnMouse,
    /// Give the terminal back until the shell continues this program.
    Suspend,
    /// Leave the program.
    Quit,
}

impl Message {
    /// What happened, in words, for a log; with the sentence where something went wrong.
    #[must_use]
    pub fn name(&self) -> String {
        let words = match self {
            Self::Key(_) => "a key",
            Self::Run(_) => "a command",
            Self::Select(_) | Self::ShowBytes(_) | Self::ShowDirection(_) => "a choice",
            Self::Progress(..) => "a part of the measurement",
            Self::Measured(_) => "the measurement",
            Self::Examined(_) => "the examination",
            Self::Previewed(_) => "the preview",
            Self::Step(step) => return format!("begins to {}", step.text()),
            Self::Written(written) => &written.sentence,
            Self::NotWritten(why) => return format!("not written: {why}"),
            Self::Past(_) => "the journal",
            Self::Opened(other) => return format!("opened {}", other.name),
            Self::LookedInto(_) => "a look into a file",
            Self::Done(sentence) => sentence,
            Self::Paste(_) => "a paste",
            Self::Failed(why) => return format!("failed: {why}"),
        };
        words.to_owned()
    }
}

impl Effect {
    /// What is to be done, in words, for a log.
    #[must_use]
    pub fn name(&self) -> String {
        let words = match self {
            Self::Measure => "measure",
            Self::Stop => "stop",
            Self::Examine(_) => "examine",
            Self::Preview(_) => "preview",
            Self::Write(..) => "write",
            Self::Undo(id) => return format!("undo change {id}"),
            Self::ReadJournal => "read the journal",
            Self::Open(path) => return format!("open {path}"),
            Self::LookInto(spot) => return format!("look into {}", spot.file.display()),
            Self::Save(path, ..) => return format!("save {path}"),
            Self::Copy(_) => "copy",
            Self::TurnTheme => "turn the theme",
            Self::TurnMouse => "turn the mouse",
            Self::Suspend => "suspend",
            Self::Quit => "quit",
        };
        words.to_owned()
    }
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
            notice: None,
            prompt: None,
            question: Question::default(),
            preview: None,
            writing: Writing::Nothing,
            past: Vec::new(),
            other: None,
            looking: None,
            whole: None,
            bindings: Bindings::default(),
            live: Found::default(),
            traces: measure::Traces::default(),
            filters: Default::default(),
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
        let mut effects = vec![Effect::Examine(Question::default())];
        effects.extend(update(&mut model, Message::Run(Action::Measure)));
        (model, effects)
    }

    /// The model at start with numbers that are there already, and what to do first.
    #[must_use]
    pub fn start_with(report: Arc<Report>) -> (Self, Vec<Effect>) {
        let mut model = Self::default();
        let effects = update(&mut model, Message::Measured(report));
        (model, effects)
    }

    /// Whether a measurement runs.
    #[must_use]
    pub const fn is_measuring(&self) -> bool {
        self.progress.is_some()
    }

    /// The least time between two frames that show progress. Transfers need the processors a face would draw
    /// with; keys are answered at once in any case.
    #[must_use]
    pub fn frame(&self) -> Duration {
        frame(self.progress.as_ref())
    }

    /// Whether files are being written.
    #[must_use]
    pub const fn is_writing(&self) -> bool {
        matches!(self.writing, Writing::Now(..))
    }

    /// The words that a line of this screen must have to be shown; empty for every line.
    #[must_use]
    pub fn filter(&self) -> &str {
        &self.filters[self.screen as usize]
    }

    fn set_filter(&mut self, text: String) {
        self.filters[self.screen as usize] = text;
    }

    /// Whether a line with this text passes the filter of a screen: it has every word, in any case.
    fn passes(&self, screen: Screen, text: &str) -> bool {
        let words = self.filters[screen as usize].split_whitespace();
        let text = text.to_lowercase();
        words
            .map(str::to_lowercase)
            .all(|word| text.contains(&word))
    }

    /// What was measured; `None` until there are numbers.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        let report = self.document.as_deref().map(|document| &document.report);
        report.filter(|report| !report.measurements.is_empty() || !report.transfers.is_empty())
    }

    /// The numbers to look at: those of the running measurement, else the last one's.
    #[must_use]
    pub fn cells(&self) -> &[Measurement] {
        if self.is_measuring() {
            return &self.live.cells;
        }
        self.newest().map_or(&[], |report| &report.measurements)
    }

    /// The real transfers to look at, in the same way.
    #[must_use]
    pub fn transfers(&self) -> &[Transfer] {
        if self.is_measuring() {
            return &self.live.transfers;
        }
        self.newest().map_or(&[], |report| &report.transfers)
    }

    /// The numbers are there before what follows from them.
    fn newest(&self) -> Option<&Report> {
        self.question.report.as_deref().or_else(|| self.report())
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
        let at = self.cursor();
        match self.screen {
            Screen::Overview => overview::view(self).items.get(at)?.leads_to(),
            Screen::Configuration => configuration::view(self).get(at)?.leads_to(),
            Screen::Advice => advice::target(self),
            Screen::Apply => apply::view(self).get(at)?.action,
            Screen::Compare => self
                .other
                .is_none()
                .then_some(Action::Ask(prompt::Ask::Open)),
            Screen::Help => help::entries(self).get(at).map(|it| it.action),
            Screen::Measure => self.words().map(|_| Action::ReadWhole),
        }
    }

    /// The text of the item under the cursor.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let at = self.cursor();
        match self.screen {
            Screen::Overview => Some(overview::view(self).items.get(at)?.text()),
            Screen::Measure => measure::view(self).detail(at).map(str::to_owned),
            Screen::Configuration => Some(configuration::view(self).get(at)?.text()),
            Screen::Advice => Some(advice::view(self).get(at)?.text()),
            Screen::Apply => Some(apply::view(self).get(at)?.item.text().to_owned()),
            Screen::Compare => Some(compare::view(self).rows.get(at)?.text()),
            Screen::Help => Some(help::entries(self).get(at)?.help.to_owned()),
        }
    }

    /// How many items the screen looked at has.
    fn items(&self) -> usize {
        match self.screen {
            Screen::Overview => overview::view(self).items.len(),
            Screen::Measure => measure::view(self).items(),
            Screen::Configuration => configuration::view(self).len(),
            Screen::Advice => advice::view(self).len(),
            Screen::Apply => apply::view(self).len(),
            Screen::Compare => compare::view(self).rows.len(),
            Screen::Help => help::entries(self).len(),
        }
    }
}
