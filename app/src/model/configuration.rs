//! The Configuration screen: what each side would use, and which line says so.
#![forbid(unsafe_code)]

use advisor::output::{SideConfiguration, SourceRecord, words};
use advisor::resolver::{Severity, Side};

use super::Model;

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
    },
    /// The files that were read, in order.
    Files(Vec<String>),
    /// Something about these files.
    Finding {
        /// How bad it is.
        severity: Severity,
        /// Where, what, and the cure.
        text: String,
    },
}

/// The screen for what the model knows.
#[must_use]
pub fn view(model: &Model) -> Vec<ConfigurationItem> {
    let Some(document) = &model.document else {
        let sentence = "The configuration is being read.".to_owned();
        return vec![ConfigurationItem::Sentence(sentence)];
    };
    let mut items = Vec::new();
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
            }),
    );
    let files = side.files.iter().map(|file| file.display().to_string());
    items.push(ConfigurationItem::Files(files.collect()));
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
