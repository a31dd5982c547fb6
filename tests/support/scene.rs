//! The model of both faces with fixed data: what a user would have before them.
#![forbid(unsafe_code)]
#![allow(dead_code, reason = "no test binary uses all of it")]

use std::sync::Arc;
use std::time::Duration;

use advisor::resolver::{
    Considered, Effective, Location, Outcome, Problem, Severity, Side, Source,
};
use app::model::apply::{Past, Preview, Step};
use app::model::commands::{Action, Key};
use app::model::compare::Other;
use app::model::configuration::{Looking, Spot};
use app::model::{
    Doing, Effect, Found, Gauges, Message, Model, Progress, Question, Screen, update,
};

use engine::report::{ProviderName, Rung, Transfer, UnavailableTransfer};
use engine::transfer::{Implementation, Way};

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
    assert_eq!(
        effects,
        [Effect::Examine(Question::default()), Effect::Measure]
    );
    let progress = Progress {
        share: 0.42,
        remaining: Duration::from_millis(5800),
        doing: Doing::Packets,
        machine: Gauges {
            load: Some(0.9),
            steal_percent: Some(0.0),
            ghz: Some(3.9),
        },
    };
    let found = Found {
        cells: fast_aes().measurements.into_iter().take(2).collect(),
        transfers: Vec::new(),
    };
    update(&mut model, Message::Progress(progress, found));
    model
}

/// The change is looked at, the installed program accepts it, and one was made before.
pub(crate) fn previewed() -> Model {
    let mut model = judged();
    update(&mut model, Message::Previewed(preview()));
    let past = Past {
        id: 1,
        when: "2026-11-30 20:46 UTC".to_owned(),
        what: "written".to_owned(),
        files: vec!["/etc/ssh/ssh_config.d/10-cipher-advisor.conf".to_owned()],
        open: true,
    };
    update(&mut model, Message::Past(vec![past]));
    model
}

fn preview() -> Preview {
    Preview {
        verdict: Ok("The installed ssh accepts it and would use this order.".to_owned()),
        backups: "/var/lib/cipher-advisor/backups".to_owned(),
        obstacle: None,
        command: Some("advisor --apply".to_owned()),
    }
}

/// The same for somebody who may not write there.
pub(crate) fn forbidden() -> Model {
    let mut model = judged();
    let preview = Preview {
        obstacle: Some("You may not write to /etc/ssh/ssh_config.d.".to_owned()),
        command: Some("sudo advisor --apply".to_owned()),
        ..preview()
    };
    update(&mut model, Message::Previewed(preview));
    model
}

/// The word was typed, and the installed program is being asked.
pub(crate) fn writing() -> Model {
    let mut model = on(Screen::Apply, previewed());
    update(&mut model, Message::Run(Action::Open));
    update(&mut model, Message::Paste("yes".to_owned()));
    let effects = update(&mut model, Message::Key(Key::Enter));
    assert!(matches!(effects.as_slice(), [Effect::Write(..)]));
    update(&mut model, Message::Step(Step::Validate));
    model
}

/// Another host's report beside this one: half as fast, and without the RustCrypto numbers.
pub(crate) fn compared() -> Model {
    let mut report = fast_aes();
    "other".clone_into(&mut report.host.name);
    report
        .measurements
        .retain(|it| it.provider != ProviderName::RustCrypto);
    for cell in &mut report.measurements {
        cell.gb_per_s /= 2.0;
        cell.ci95 = cell.ci95.map(|it| it / 2.0);
    }
    let mut model = judged();
    let name = "other.json".to_owned();
    let report = Arc::new(report);
    update(&mut model, Message::Opened(Other { name, report }));
    model
}

/// The server's main file with the line that comes too late.
pub(crate) fn looking() -> Model {
    let mut lines = vec!["# a comment".to_owned(); 39];
    lines[2] = "Include /etc/ssh/sshd_config.d/*.conf".to_owned();
    lines.push("Ciphers aes128-ctr".to_owned());
    lines.push("UsePAM yes".to_owned());
    let mut model = on(Screen::Configuration, judged());
    let spot = Spot {
        file: "/etc/ssh/sshd_config".into(),
        line: 40,
    };
    update(&mut model, Message::LookedInto(Looking { spot, lines }));
    model
}

/// The second cipher of the advice was put first by hand.
pub(crate) fn arranged() -> Model {
    let mut model = on(Screen::Advice, judged());
    update(&mut model, Message::Select(3));
    update(&mut model, Message::Key(Key::Char('K')));
    model
}

/// Real transfers were measured as well.
pub(crate) fn carried() -> Model {
    let mut model = judged();
    let mut document = model.document.take().expect("judged").as_ref().clone();
    document.report.transfers = transfers();
    document.report.unavailable_transfers = vec![UnavailableTransfer {
        implementation: Implementation::OpenSsh,
        cipher: Some("3des-cbc".to_owned()),
        reason: "the server refuses it".to_owned(),
    }];
    document.report.ladder = [("portable ChaCha20", 0.4), ("chacha20 avx2", 4.9)]
        .map(|(kernel, gb_per_s)| Rung {
            kernel: kernel.to_owned(),
            gb_per_s,
            ci95: [gb_per_s; 2],
        })
        .into();
    update(&mut model, Message::Examined(document.into()));
    model
}

/// Just started: real transfers are made, packets come later.
pub(crate) fn carrying() -> Model {
    let (mut model, _) = Model::start();
    let progress = Progress {
        share: 0.2,
        remaining: Duration::from_secs(8),
        doing: Doing::Transfers,
        machine: Gauges::default(),
    };
    let mut transfers = transfers();
    transfers.truncate(3);
    transfers[2].rounds = 1;
    let found = Found {
        cells: Vec::new(),
        transfers,
    };
    update(&mut model, Message::Progress(progress, found));
    model
}

/// Two ciphers, both ways; down costs more.
fn transfers() -> Vec<Transfer> {
    let costs = [
        ("aes128-gcm@openssh.com", Way::Up, 0.38),
        ("aes128-gcm@openssh.com", Way::Down, 0.41),
        ("chacha20-poly1305@openssh.com", Way::Up, 0.93),
        ("chacha20-poly1305@openssh.com", Way::Down, 0.95),
    ];
    let transfer = |(cipher, direction, cost): (&str, Way, f64)| Transfer {
        implementation: Implementation::OpenSsh,
        host: None,
        cipher: cipher.to_owned(),
        mac: None,
        direction,
        mb_per_s: 700.0 / (cost + 0.4),
        ci95: [690.0 / (cost + 0.4), 710.0 / (cost + 0.4)],
        client_cpu_s_per_gib: [cost, 0.4],
        server_cpu_s_per_gib: Some([cost - 0.05, 0.4]),
        user_s_per_gib: cost,
        user_ci95: [cost * 0.97, cost * 1.03],
        rounds: 6,
    };
    costs.map(transfer).into()
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
