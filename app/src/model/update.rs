//! What happens on a key or a message: the only place where the model changes.
#![forbid(unsafe_code)]

use std::sync::Arc;

use engine::report::Direction;

use super::apply::{self, Step};
use super::commands::{self, Action};
use super::prompt::{self, Ask};
use super::shown::shown;
use super::{
    Effect, Found, Message, Model, Progress, Screen, Writing, advice, configuration, measure,
    transfers,
};

/// Letters in the narrowest line that text is wrapped to.
const NARROWEST: usize = 24;

/// What a message changes, and what must be done outside because of it.
pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Key(key) if model.prompt.is_some() => return prompt::key(model, key),
        Message::Key(key) => {
            model.notice = None;
            let action = commands::action_for(model, key);
            return action.map_or_else(Vec::new, |action| run(model, action));
        }
        Message::Paste(text) => prompt::paste(model, &text),
        Message::Run(action) => return run(model, action),
        Message::Select(item) => model.cursors[model.screen as usize] = item,
        Message::ShowBytes(bytes) => model.bytes = bytes,
        Message::ShowDirection(direction) => model.direction = direction,
        // A late one must not bring a stopped measurement back to life.
        Message::Progress(progress, found) if model.is_measuring() => {
            model.progress = Some(progress);
            for cell in found.cells {
                model.traces.note(&cell);
                measure::note(&mut model.live.cells, cell);
            }
            for transfer in found.transfers {
                transfers::note(&mut model.live.transfers, transfer);
            }
        }
        Message::Progress(..) => {}
        Message::Measured(report) => {
            model.progress = None;
            model.question.report = Some(report);
            return changed(model);
        }
        Message::Examined(document) => {
            model.document = Some(document);
            model.preview = None;
            advice::forget_foreign_order(model);
            return look_ahead(model);
        }
        Message::Previewed(preview) => model.preview = Some(preview),
        Message::Step(step) => {
            if let Writing::Now(now, _) = &mut model.writing {
                *now = step;
            }
        }
        Message::Written(written) => {
            model.writing = Writing::Over(written);
            return [vec![Effect::ReadJournal], changed(model)].concat();
        }
        Message::NotWritten(sentence) => {
            model.writing = Writing::Nothing;
            model.trouble = Some(shown(&sentence));
            return [vec![Effect::ReadJournal], changed(model)].concat();
        }
        Message::Past(past) => model.past = past,
        Message::Opened(other) => {
            model.other = Some(other);
            model.screen = Screen::Compare;
        }
        Message::LookedInto(looking) => {
            model.set_filter(String::new());
            let line = looking.spot.line.saturating_sub(1);
            model.cursors[Screen::Configuration as usize] = line;
            model.looking = Some(looking);
        }
        Message::Done(sentence) => model.notice = Some(shown(&sentence)),
        Message::Failed(sentence) => {
            model.progress = None;
            model.trouble = Some(shown(&sentence));
        }
    }
    Vec::new()
}

/// What is asked has changed: everything that follows from it is asked anew.
pub(super) fn changed(model: &mut Model) -> Vec<Effect> {
    model.preview = None;
    vec![Effect::Examine(model.question.clone())]
}

/// The word was typed.
pub(super) fn confirm(model: &mut Model, ask: Ask) -> Vec<Effect> {
    let effect = match (ask, &model.document) {
        (Ask::Undo(id), _) => Effect::Undo(id),
        (Ask::Write, Some(document)) if apply::is_ready(model) => {
            Effect::Write(model.question.clone(), Arc::clone(document))
        }
        _ => return Vec::new(),
    };
    model.trouble = None;
    model.writing = Writing::Now(Step::Lock, matches!(ask, Ask::Undo(_)));
    vec![effect]
}

/// What the Apply screen shows beyond the document is asked for when it is looked at.
fn look_ahead(model: &Model) -> Vec<Effect> {
    let document = model.document.as_ref();
    let changes = document.is_some_and(|it| !it.changes.is_empty());
    let wanted = model.screen == Screen::Apply && model.preview.is_none() && changes;
    if wanted && model.report().is_some() && !model.is_measuring() {
        vec![Effect::Preview(model.question.clone())]
    } else {
        Vec::new()
    }
}

fn show(model: &mut Model, screen: Screen) -> Vec<Effect> {
    if screen == Screen::Help && model.screen != Screen::Help {
        model.before_help = model.screen;
    }
    model.whole = None;
    let arrives = screen == Screen::Apply && model.screen != Screen::Apply;
    model.screen = screen;
    let mut effects = look_ahead(model);
    if arrives {
        effects.push(Effect::ReadJournal);
    }
    effects
}

fn run(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Show(screen) => return show(model, screen),
        Action::NextScreen => return show(model, model.screen.step(1)),
        Action::PreviousScreen => return show(model, model.screen.step(Screen::ALL.len() - 1)),
        Action::Back => return back(model),
        Action::Move(by) if model.whole.is_some() => read_on(model, by),
        Action::Move(by) => move_cursor(model, model.cursor().saturating_add_signed(by)),
        Action::First => move_cursor(model, 0),
        Action::Last => move_cursor(model, usize::MAX),
        Action::Open => {
            // Whatever an item leads to is never `Open` itself, so this ends.
            let target = model.target().filter(|&it| it != Action::Open);
            return target.map_or_else(Vec::new, |action| run(model, action));
        }
        Action::Measure if !model.is_measuring() && !model.is_writing() => {
            model.progress = Some(Progress::default());
            model.trouble = None;
            model.live = Found::default();
            model.traces = measure::Traces::default();
            return vec![Effect::Measure];
        }
        Action::Stop if model.is_measuring() || model.is_writing() => return vec![Effect::Stop],
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
            return changed(model);
        }
        Action::ReadWhole => {
            let words = model.words().map(|words| (words, 0));
            model.whole = words.filter(|_| model.whole.is_none());
        }
        Action::LookInto => {
            let items = configuration::view(model);
            let spot = items.get(model.cursor()).and_then(|it| it.spot());
            return spot.cloned().map(Effect::LookInto).into_iter().collect();
        }
        Action::Ask(ask) => prompt::ask(model, ask),
        Action::TurnProfile => {
            advice::turn_profile(model);
            return changed(model);
        }
        Action::Raise => return rearranged(model, false),
        Action::Lower => return rearranged(model, true),
        Action::AsRecommended => {
            model.question.order = None;
            model.notice = Some("The recommended order again.".to_owned());
            return changed(model);
        }
        Action::CopyItem => return model.words().map(Effect::Copy).into_iter().collect(),
        Action::TurnTheme => return vec![Effect::TurnTheme],
        Action::Suspend => return vec![Effect::Suspend],
        Action::TurnMouse => return vec![Effect::TurnMouse],
        Action::Quit if model.is_measuring() || model.is_writing() => {
            return vec![Effect::Stop, Effect::Quit];
        }
        Action::Quit => return vec![Effect::Quit],
    }
    Vec::new()
}

/// Moves through what is read in full.
fn read_on(model: &mut Model, by: isize) {
    if let Some((words, passed)) = &mut model.whole {
        // On the narrowest screen it has no more lines than this.
        let most = words.chars().count() / NARROWEST + 1;
        *passed = passed.saturating_add_signed(by).min(most);
    }
}

/// Out of what covers most first, out of Help last.
fn back(model: &mut Model) -> Vec<Effect> {
    if model.whole.take().is_some() {
        return Vec::new();
    }
    if !model.filter().is_empty() {
        model.set_filter(String::new());
        return Vec::new();
    }
    if model.screen == Screen::Configuration && model.looking.take().is_some() {
        model.cursors[Screen::Configuration as usize] = 0;
    }
    if model.screen == Screen::Help {
        return show(model, model.before_help);
    }
    Vec::new()
}

fn rearranged(model: &mut Model, down: bool) -> Vec<Effect> {
    if advice::rearrange(model, down) {
        changed(model)
    } else {
        Vec::new()
    }
}

fn move_cursor(model: &mut Model, to: usize) {
    let last = model.items().saturating_sub(1);
    model.cursors[model.screen as usize] = to.min(last);
}
