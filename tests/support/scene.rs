//! The model of both faces with fixed data: what a user would have before them.
#![forbid(unsafe_code)]
#![allow(dead_code, reason = "no test binary uses all of it")]

use std::sync::Arc;
use std::time::Duration;

use advisor::resolver::{
    Considered, Effective, Location, Outcome, Problem, Severity, Side, Source,
};
use app::model::commands::Action;
use app::model::{Effect, Message, Model, Progress, Screen, update};

use crate::document::document;
use crate::report::{DEFAULT, effective, fast_aes};

/// Everything is measured, read and judged: chacha20 comes first by default, a drop-in orders the server.
pub(crate) fn judged() -> Model {
    let document = document(
        fast_aes(),
        &effective(Side::Client, &DEFAULT),
        &ordered_server(),
    );
    let mut model = Model::default();
    update(&mut model, Message::Examined(Arc::new(document)));
    model
}

/// Just started, 42 % of the measurement done, one cipher seen.
pub(crate) fn measuring() -> Model {
    let (mut model, effects) = Model::start();
    assert_eq!(effects, [Effect::Examine(None), Effect::Measure]);
    let progress = Progress {
        share: 0.42,
        remaining: Duration::from_millis(5800),
    };
    let cells = fast_aes().measurements.into_iter().take(2).collect();
    update(&mut model, Message::Progress(progress, cells));
    model
}

/// The model on that screen.
pub(crate) fn on(screen: Screen, mut model: Model) -> Model {
    update(&mut model, Message::Run(Action::Show(screen)));
    model
}

fn ordered_server() -> Effective {
    let line = |file: &str, line| Location {
        file: file.into(),
        line,
        column: 1,
    };
    let winner = line("/etc/ssh/sshd_config.d/50-site.conf", 3);
    let loser = line("/etc/ssh/sshd_config", 40);
    let value = "aes256-gcm@openssh.com,aes128-gcm@openssh.com,chacha20-poly1305@openssh.com";
    let ciphers: Vec<&str> = value.split(',').collect();
    Effective {
        source: Source::Line(winner.clone()),
        written: Some(value.to_owned()),
        considered: vec![
            Considered {
                location: winner.clone(),
                value: value.to_owned(),
                outcome: Outcome::Won,
            },
            Considered {
                location: loser.clone(),
                value: "aes128-ctr".to_owned(),
                outcome: Outcome::Shadowed(winner),
            },
        ],
        problems: vec![Problem {
            severity: Severity::Warning,
            location: loser,
            what: "this line has no effect".to_owned(),
            cure: "remove it".to_owned(),
        }],
        files: vec![
            "/etc/ssh/sshd_config".into(),
            "/etc/ssh/sshd_config.d/50-site.conf".into(),
        ],
        ..effective(Side::Server, &ciphers)
    }
}
