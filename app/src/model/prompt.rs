//! One line of typed text: a filter, a file, a host, or the word that confirms a change.
#![forbid(unsafe_code)]

use advisor::output::is_deceptive;

use super::commands::Key;
use super::{Effect, Model, Saving, changed, confirm};

/// The word that confirms a change on disk.
pub const CONFIRMATION: &str = "yes";

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// Words to show only the lines that have them.
    Filter,
    /// Where to save the report.
    Save,
    /// Where to export it for people.
    Export,
    /// Which saved report to compare with.
    Open,
    /// Which host the configuration is asked about.
    Host,
    /// Which policy holds.
    Policy,
    /// Whether to write.
    Write,
    /// Whether to undo the change of this number.
    Undo(u64),
}

/// A question with what was typed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What is asked for.
    pub ask: Ask,
    /// What was typed.
    pub text: String,
}

impl Prompt {
    /// The question, with what the answer may be.
    #[must_use]
    pub fn label(&self) -> String {
        match self.ask {
            Ask::Filter => "Show lines with".to_owned(),
            Ask::Save => "Save as (JSON)".to_owned(),
            Ask::Export => "Export as (.md .csv .txt)".to_owned(),
            Ask::Open => "Compare with (saved report)".to_owned(),
            Ask::Host => "Host, as after ssh (empty: any)".to_owned(),
            Ask::Policy => "Policy (balanced, or a file)".to_owned(),
            Ask::Write => format!("Type {CONFIRMATION} to write"),
            Ask::Undo(id) => format!("Type {CONFIRMATION} to undo change {id}"),
        }
    }
}

/// Asks, with an answer to begin from.
pub(super) fn ask(model: &mut Model, ask: Ask) {
    let text = match ask {
        Ask::Filter => model.filter().to_owned(),
        Ask::Save => "advisor-report.json".to_owned(),
        Ask::Export => "advisor-report.md".to_owned(),
        Ask::Host => model.question.host.clone().unwrap_or_default(),
        Ask::Policy => model.question.policy.clone().unwrap_or_default(),
        Ask::Open | Ask::Write | Ask::Undo(_) => String::new(),
    };
    model.prompt = Some(Prompt { ask, text });
}

/// A key while something is asked.
pub(super) fn key(model: &mut Model, key: Key) -> Vec<Effect> {
    let Some(prompt) = &mut model.prompt else {
        return Vec::new();
    };
    match key {
        // What cannot be seen is not asked for.
        Key::Char(letter) if is_deceptive(letter) => {}
        Key::Char(letter) => prompt.text.push(letter),
        Key::Backspace => {
            prompt.text.pop();
        }
        Key::Control('u') => prompt.text.clear(),
        Key::Escape | Key::Control('c') => {
            if prompt.ask == Ask::Filter {
                model.set_filter(String::new());
            }
            model.prompt = None;
            return Vec::new();
        }
        Key::Enter => {
            return model
                .prompt
                .take()
                .map_or_else(Vec::new, |it| answer(model, it));
        }
        _ => return Vec::new(),
    }
    if prompt.ask == Ask::Filter {
        let text = prompt.text.clone();
        model.set_filter(text);
    }
    Vec::new()
}

/// Pasted text.
pub(super) fn paste(model: &mut Model, text: &str) {
    for letter in text.chars() {
        key(model, Key::Char(letter));
    }
}

fn answer(model: &mut Model, prompt: Prompt) -> Vec<Effect> {
    let text = prompt.text.trim().to_owned();
    let given = (!text.is_empty()).then(|| text.clone());
    match (prompt.ask, given) {
        (Ask::Filter, _) => Vec::new(),
        (Ask::Host, host) => {
            model.question.host = host;
            changed(model)
        }
        (Ask::Policy, policy) => {
            model.question.policy = policy;
            changed(model)
        }
        (Ask::Save, Some(path)) => save(model, path, Saving::Json),
        (Ask::Export, Some(path)) => match Saving::of(&path) {
            Some(form) => save(model, path, form),
            None => {
                model.trouble = Some(format!(
                    "{path}: end the name in .md, .csv, .txt or .json, which says the form"
                ));
                Vec::new()
            }
        },
        (Ask::Open, Some(path)) => vec![Effect::Open(path)],
        (Ask::Write | Ask::Undo(_), Some(text)) if text == CONFIRMATION => {
            confirm(model, prompt.ask)
        }
        (Ask::Write | Ask::Undo(_), _) => {
            model.notice = Some("Not confirmed: nothing was written.".to_owned());
            Vec::new()
        }
        (Ask::Save | Ask::Export | Ask::Open, None) => Vec::new(),
    }
}

fn save(model: &Model, path: String, form: Saving) -> Vec<Effect> {
    let document = model.document.clone();
    document.map_or_else(Vec::new, |document| {
        vec![Effect::Save(path, form, document)]
    })
}
