//! The Configuration screen: what each side would use, and which line says so.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use advisor::output::{SideConfiguration, SourceRecord, words};
use advisor::resolver::{Severity, Side};

use super::commands::Action;
use super::shown::show;
use super::{Model, Screen};

/// A line of the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigurationItem {
    /// A side begins.
    Side(String),
    /// A sentence: where a list comes from, or that there is none.
    Sentence(String),
    /// A list, in order.
    Ciphers {
        /// What list it is.
        label: &'static str,
        /// Its ciphers, without `@openssh.com`.
        names: Vec<String>,
    },
    /// A `Ciphers` line that was looked at.
    Considered {
        /// Where it stands: `file:line`.
        place: String,
        /// Its value as written.
        value: String,
        /// What became of it.
        outcome: String,
        /// Whether it set the list.
        won: bool,
        /// The line itself.
        spot: Spot,
    },
    /// A file that was read; those a main file includes stand one step deeper.
    File {
        /// How deep.
        depth: usize,
        /// Its path.
        path: String,
        /// Its beginning.
        spot: Spot,
    },
    /// A line of the file that is looked into.
    Line {
        /// From 1.
        number: usize,
        /// Its text.
        text: String,
        /// What became of it, where it is a `Ciphers` line: whether it won, and the words.
        outcome: Option<(bool, String)>,
    },
    /// Something about these files.
    Finding {
        /// How bad it is.
        severity: Severity,
        /// Where, what, and the cure.
        text: String,
        /// Where.
        spot: Spot,
    },
}

/// A line of a file, to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
}

/// A file that is looked into; it cannot be changed here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looking {
    /// Where the look goes.
    pub spot: Spot,
    /// The lines, as they stand there.
    pub lines: Vec<String>,
}

impl ConfigurationItem {
    /// Its words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Side(text) | Self::Sentence(text) | Self::Finding { text, .. } => text.clone(),
            Self::Ciphers { names, .. } => names.join(","),
            Self::Considered {
                place,
                value,
                outcome,
                ..
            } => format!("{place}: {value} ({outcome})"),
            Self::File { path, .. } => path.clone(),
            Self::Line { text, .. } => text.clone(),
        }
    }

    fn show(&mut self) {
        match self {
            Self::Side(text)
            | Self::Sentence(text)
            | Self::Finding { text, .. }
            | Self::File { path: text, .. } => show(text),
            Self::Ciphers { names, .. } => names.iter_mut().for_each(show),
            Self::Considered {
                place,
                value,
                outcome,
                ..
            } => [place, value, outcome].into_iter().for_each(show),
            Self::Line { text, outcome, .. } => {
                show(text);
                outcome.iter_mut().for_each(|(_, words)| show(words));
            }
        }
    }

    /// The place Enter shows.
    #[must_use]
    pub const fn spot(&self) -> Option<&Spot> {
        match self {
            Self::Considered { spot, .. }
            | Self::File { spot, .. }
            | Self::Finding { spot, .. } => Some(spot),
            _ => None,
        }
    }

    pub(super) fn leads_to(&self) -> Option<Action> {
        self.spot().map(|_| Action::LookInto)
    }
}

/// The screen for what the model knows.
#[must_use]
pub fn view(model: &Model) -> Vec<ConfigurationItem> {
    let items = match &model.looking {
        Some(looking) => lines(model, looking),
        None => everything(model),
    };
    let show = |mut it: ConfigurationItem| {
        it.show();
        it
    };
    let passes = |it: &ConfigurationItem| model.passes(Screen::Configuration, &it.text());
    items.into_iter().map(show).filter(passes).collect()
}

/// The file, with what became of its `Ciphers` lines beside them.
fn lines(model: &Model, looking: &Looking) -> Vec<ConfigurationItem> {
    let considered = |number: usize| {
        let configuration = &model.document.as_ref()?.configuration;
        let sides = [Side::Client, Side::Server].into_iter();
        let mut lines = sides
            .filter_map(|side| configuration.side(side))
            .flat_map(|side| &side.considered);
        let line = lines.find(|it| it.file == looking.spot.file && it.line == number)?;
        Some((line.wins, line.outcome.clone()))
    };
    let numbered = (1..).zip(&looking.lines);
    numbered
        .map(|(number, text)| ConfigurationItem::Line {
            number,
            text: text.clone(),
            outcome: considered(number),
        })
        .collect()
}

fn everything(model: &Model) -> Vec<ConfigurationItem> {
    let Some(document) = &model.document else {
        let sentence = "The configuration is being read.".to_owned();
        return vec![ConfigurationItem::Sentence(sentence)];
    };
    let mut items = Vec::new();
    if let Some(host) = &document.destination {
        items.push(ConfigurationItem::Sentence(format!(
            "For {host}, as ssh would be called; n names another host."
        )));
    }
    for side in [Side::Client, Side::Server] {
        items.push(ConfigurationItem::Side(title(side).to_owned()));
        match document.configuration.side(side) {
            Some(configuration) => items.extend(one_side(configuration)),
            None => items.push(ConfigurationItem::Sentence("Not read.".to_owned())),
        }
    }
    let about_files = document.findings.iter().filter_map(|finding| {
        let file = finding.file.as_ref()?.display();
        let place = finding
            .line
            .map_or_else(|| file.to_string(), |line| format!("{file}:{line}"));
        Some(ConfigurationItem::Finding {
            severity: finding.severity,
            text: format!("{place}: {}; {}", finding.what, finding.cure),
            spot: Spot {
                file: finding.file.clone()?,
                line: finding.line.unwrap_or(0),
            },
        })
    });
    items.extend(about_files);
    items
}

const fn title(side: Side) -> &'static str {
    match side {
        Side::Client => "Client (ssh): its order decides what is negotiated",
        Side::Server => "Server (sshd): it can only leave ciphers out",
    }
}

fn one_side(side: &SideConfiguration) -> Vec<ConfigurationItem> {
    let origin = match side.source {
        SourceRecord::Default { .. } => {
            format!("{}: no Ciphers line applies", words::source(side))
        }
        SourceRecord::CommandLine { .. } => format!("set by {}", words::source(side)),
        SourceRecord::Line { .. } => format!("set at {}", words::source(side)),
    };
    let mut items = vec![
        ConfigurationItem::Sentence(origin),
        list("in order", &side.effective),
    ];
    items.extend(side.alternatives.iter().map(|it| list("or else", it)));
    items.extend(
        side.considered
            .iter()
            .map(|line| ConfigurationItem::Considered {
                place: line.place(),
                value: line.value.clone(),
                outcome: line.outcome.clone(),
                won: line.wins,
                spot: Spot {
                    file: line.file.clone(),
                    line: line.line,
                },
            }),
    );
    if side.files.is_empty() {
        items.push(ConfigurationItem::Sentence("No file was read.".to_owned()));
    }
    items.extend(side.files.iter().map(|file| ConfigurationItem::File {
        depth: usize::from(is_included(file)),
        path: file.display().to_string(),
        spot: Spot {
            file: file.clone(),
            line: 0,
        },
    }));
    items
}

fn list(label: &'static str, ciphers: &[String]) -> ConfigurationItem {
    ConfigurationItem::Ciphers {
        label,
        names: ciphers
            .iter()
            .map(|name| words::short(name).to_owned())
            .collect(),
    }
}

/// By where OpenSSH's packages put them: what a main file includes lies in a directory of its own.
fn is_included(file: &Path) -> bool {
    let parent = file.parent().and_then(Path::extension);
    parent.is_some_and(|it| it == "d")
}
