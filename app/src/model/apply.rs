//! The Apply screen: what would be written where, what the installed program says to it, and what was
//! written before and can be undone.
#![forbid(unsafe_code)]

use super::commands::Action;
use super::page::{DiffLine, PageItem, StepState};
use super::prompt::Ask;
use super::{Model, Writing};

/// What is known about a change before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// What the installed program says to the candidate, or why it could not be asked.
    pub verdict: Result<String, String>,
    /// Where the old bytes will be kept.
    pub backups: String,
    /// Why this user may not write, where that is so.
    pub obstacle: Option<String>,
    /// The command that writes it, with all that the result depends on, as root where that is needed; `None` where
    /// no command line says it.
    pub command: Option<String>,
}

/// A step of writing, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Under the lock, the files are compared with what the plan was made on.
    Lock,
    /// The installed program is asked about the candidate.
    Validate,
    /// Journal, backups, temporary files, renames.
    Write,
    /// The files are resolved again.
    Verify,
}

impl Step {
    /// Every step, in order.
    pub const ALL: [Self; 4] = [Self::Lock, Self::Validate, Self::Write, Self::Verify];

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Lock => "lock, and compare the files with what was read",
            Self::Validate => "ask the installed ssh about the candidate",
            Self::Write => "keep the old bytes, write beside them, rename",
            Self::Verify => "read the files again",
        }
    }
}

/// A change of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Its number.
    pub id: u64,
    /// When, in UTC.
    pub when: String,
    /// What it was: a change, an undoing, an attempt that was taken back.
    pub what: String,
    /// Its files.
    pub files: Vec<String>,
    /// Whether it is in force and can be undone.
    pub open: bool,
}

/// What came of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// In one sentence.
    pub sentence: String,
    /// Where the old bytes are.
    pub backups: Vec<String>,
}

/// A line of the screen, with what Enter does on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyItem {
    /// What it says.
    pub item: PageItem,
    /// What Enter does.
    pub action: Option<Action>,
}

impl From<PageItem> for ApplyItem {
    fn from(item: PageItem) -> Self {
        Self { item, action: None }
    }
}

/// The screen for what the model knows.
#[must_use]
pub fn view(model: &Model) -> Vec<ApplyItem> {
    let mut items = Vec::new();
    match &model.writing {
        Writing::Nothing => items.extend(intended(model)),
        Writing::Now(step, _) => items.extend(steps(*step)),
        Writing::Over(written) => {
            items.extend(outcome(written).map(ApplyItem::from));
            items.extend(intended(model));
        }
    }
    items.extend(past(model));
    let shown = |it: ApplyItem| ApplyItem {
        item: it.item.shown(),
        ..it
    };
    items.into_iter().map(shown).collect()
}

/// Whether there is something to write that may be written.
pub(super) fn is_ready(model: &Model) -> bool {
    let document = model.document.as_ref();
    let wanted = document.is_some_and(|it| !it.changes.is_empty() && it.refusals.is_empty());
    let preview = model.preview.as_ref();
    let possible = preview.is_some_and(|it| it.obstacle.is_none() && it.verdict.is_ok());
    wanted && possible && !model.is_writing()
}

fn intended(model: &Model) -> Vec<ApplyItem> {
    let nothing = |text: &str| vec![PageItem::Sentence(text.to_owned()).into()];
    let Some(document) = model.document.as_ref().filter(|_| model.report().is_some()) else {
        return nothing(if model.is_measuring() {
            "There is something to write when the numbers are in."
        } else {
            "A change needs numbers: press m to measure, or o to open a saved report."
        });
    };
    let refusals = document.refusals.iter();
    let mut items: Vec<ApplyItem> = refusals
        .map(|why| PageItem::Warning(format!("Will not write: {why}.")).into())
        .collect();
    if document.changes.is_empty() {
        if items.is_empty() {
            items.extend(nothing(
                "Nothing to write: the order in force is the one wanted.",
            ));
        }
        return items;
    }
    items.extend(offer(model));
    for change in &document.changes {
        items.push(PageItem::Heading(format!("{} would become", change.file.display())).into());
        items.push(PageItem::Sentence(change.strategy.clone()).into());
        let lines = change.diff.lines();
        items.extend(lines.map(|it| PageItem::Diff(DiffLine::of(it), it.to_owned()).into()));
    }
    items
}

/// The first line: what Enter would do here, or why it does nothing.
fn offer(model: &Model) -> Vec<ApplyItem> {
    let Some(preview) = &model.preview else {
        return vec![PageItem::Sentence("Asking the installed ssh …".to_owned()).into()];
    };
    let mut items = Vec::new();
    if is_ready(model) {
        items.push(ApplyItem {
            item: PageItem::Choice("Enter writes this, after you have typed yes.".to_owned()),
            action: Some(Action::Ask(Ask::Write)),
        });
    }
    items.extend(
        preview
            .obstacle
            .iter()
            .map(|why| PageItem::Warning(why.clone()).into()),
    );
    items.push(match &preview.verdict {
        Ok(accepted) => PageItem::Sentence(accepted.clone()).into(),
        Err(why) => PageItem::Warning(why.clone()).into(),
    });
    items.push(PageItem::Sentence(format!("Old bytes go to {}", preview.backups)).into());
    items.push(
        PageItem::Sentence(
            "Keep this session open until a new connection works; open ones keep their cipher."
                .to_owned(),
        )
        .into(),
    );
    if let Some(command) = &preview.command {
        items.push(PageItem::Command(command.clone()).into());
    }
    items
}

fn steps(now: Step) -> impl Iterator<Item = ApplyItem> {
    let heading = PageItem::Heading("Writing".to_owned()).into();
    let steps = Step::ALL.into_iter().map(move |step| {
        let state = match step.cmp(&now) {
            std::cmp::Ordering::Less => StepState::Done,
            std::cmp::Ordering::Equal => StepState::Now,
            std::cmp::Ordering::Greater => StepState::Later,
        };
        PageItem::Step(state, step.text().to_owned()).into()
    });
    std::iter::once(heading).chain(steps)
}

fn outcome(written: &Written) -> impl Iterator<Item = PageItem> + '_ {
    let first = PageItem::Heading(written.sentence.clone());
    let backups = written.backups.iter();
    let kept = backups.map(|path| PageItem::Sentence(format!("The old bytes are in {path}")));
    std::iter::once(first).chain(kept)
}

/// The newest first.
fn past(model: &Model) -> Vec<ApplyItem> {
    if model.past.is_empty() {
        return Vec::new();
    }
    let heading = PageItem::Heading(format!("Changes so far ({})", model.past.len()));
    let mut items = vec![heading.into()];
    items.extend(model.past.iter().rev().map(|it| {
        let files = it.files.join(", ");
        let text = format!("{:>3}  {}  {}: {files}", it.id, it.when, it.what);
        let undoable = it.open && !model.is_writing();
        match undoable {
            true => ApplyItem {
                item: PageItem::Choice(text + " (Enter undoes it)"),
                action: Some(Action::Ask(Ask::Undo(it.id))),
            },
            false => PageItem::Sentence(text).into(),
        }
    }));
    items
}
