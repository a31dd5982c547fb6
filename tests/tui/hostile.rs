//! Files, reports and names that try to make the terminal show something else than what is there.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::sync::Arc;

use advisor::output::{AdviceRecord, Document, SideConfiguration, is_deceptive};
use app::model::apply::Past;
use app::model::commands::Action;
use app::model::compare::Other;
use app::model::configuration::{Looking, Spot};
use app::model::{Message, Model, Screen, update};
use app::tui::{Appearance, draw};
use engine::report::Report;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::scene::{carried, on};

/// Turns the direction of writing round, clears the screen, and cannot be seen.
const TRICK: &str = "\u{202e}\u{1b}[2J\u{200b}";

fn spoil(text: &mut String) {
    text.push_str(TRICK);
}

fn spoil_path(path: &mut PathBuf) {
    path.as_mut_os_string().push(TRICK);
}

fn spoil_report(report: &mut Report) {
    spoil(&mut report.host.name);
    spoil(&mut report.cpu.brand);
    let programs = &mut report.openssh;
    for program in [&mut programs.client, &mut programs.server]
        .into_iter()
        .flatten()
    {
        spoil(&mut program.version);
        spoil(&mut program.path);
    }
    programs
        .libcrypto
        .iter_mut()
        .for_each(|it| spoil(&mut it.version));
    for cell in &mut report.measurements {
        spoil(&mut cell.cipher);
        spoil(&mut cell.kernel);
    }
    for cell in &mut report.unavailable {
        spoil(&mut cell.reason);
    }
    for transfer in &mut report.transfers {
        spoil(&mut transfer.cipher);
    }
    for transfer in &mut report.unavailable_transfers {
        spoil(&mut transfer.reason);
    }
    report.warnings.iter_mut().for_each(spoil);
    report
        .ladder
        .iter_mut()
        .for_each(|it| spoil(&mut it.kernel));
}

fn spoil_side(side: &mut SideConfiguration) {
    side.effective.iter_mut().for_each(spoil);
    side.files.iter_mut().for_each(spoil_path);
    for line in &mut side.considered {
        spoil(&mut line.value);
        spoil(&mut line.outcome);
        spoil_path(&mut line.file);
    }
}

fn spoil_advice(advice: &mut AdviceRecord) {
    advice.order.iter_mut().for_each(spoil);
    advice.reasons.iter_mut().for_each(spoil);
    advice.limits.iter_mut().for_each(spoil);
    advice.ties.iter_mut().flatten().for_each(spoil);
}

fn spoil_document(document: &mut Document) {
    spoil_report(&mut document.report);
    let configuration = &mut document.configuration;
    let sides = [&mut configuration.client, &mut configuration.server];
    sides.into_iter().flatten().for_each(spoil_side);
    if let Some(recommendation) = &mut document.recommendation {
        spoil(&mut recommendation.policy);
        spoil(&mut recommendation.basis);
        let sides = [&mut recommendation.client, &mut recommendation.server];
        sides.into_iter().flatten().for_each(spoil_advice);
    }
    for finding in &mut document.findings {
        spoil(&mut finding.what);
        spoil(&mut finding.evidence);
        spoil(&mut finding.cure);
        finding.file.iter_mut().for_each(spoil_path);
    }
    for change in &mut document.changes {
        spoil_path(&mut change.file);
        spoil(&mut change.strategy);
        change.diff = change.diff.replace("Ciphers", &format!("Ciphers{TRICK}"));
    }
    document.refusals.push(format!("it is managed{TRICK}"));
    document.destination = Some(format!("host{TRICK}"));
}

fn models() -> Vec<Model> {
    let mut model = carried();
    let mut document = model.document.take().unwrap().as_ref().clone();
    spoil_document(&mut document);
    let report = Arc::new(document.report.clone());
    update(&mut model, Message::Examined(Arc::new(document)));
    let past = Past {
        id: 1,
        when: "2026-11-30 20:46 UTC".to_owned(),
        what: "written".to_owned(),
        files: vec![format!("/etc/ssh/ssh_config{TRICK}")],
        open: true,
    };
    update(&mut model, Message::Past(vec![past]));
    let mut compared = model.clone();
    let name = format!("other{TRICK}.json");
    update(&mut compared, Message::Opened(Other { name, report }));
    let mut looking = model.clone();
    let spot = Spot {
        file: format!("/etc/ssh/ssh_config{TRICK}").into(),
        line: 1,
    };
    let lines = vec![format!("\tCiphers aes128-ctr{TRICK}")];
    update(&mut looking, Message::LookedInto(Looking { spot, lines }));
    let mut troubled = model.clone();
    let sentence = format!("/tmp/x{TRICK}: cannot be read");
    update(&mut troubled, Message::Failed(sentence));
    let mut done = model.clone();
    update(&mut done, Message::Done(format!("Saved as x{TRICK}")));
    let mut asked = model.clone();
    update(
        &mut asked,
        Message::Run(Action::Ask(app::model::prompt::Ask::Open)),
    );
    update(&mut asked, Message::Paste(format!("x{TRICK}.json")));
    vec![model, compared, looking, troubled, done, asked]
}

#[test]
fn nothing_that_deceives_reaches_terminal_or_clipboard_and_the_trick_is_shown() {
    for model in models() {
        for &screen in Screen::ALL {
            let mut model = on(screen, model.clone());
            let mut shown = String::new();
            loop {
                for size in [(80, 24), (40, 10), (200, 60)] {
                    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
                    terminal
                        .draw(|frame| drop(draw(frame, &model, Appearance::default())))
                        .unwrap();
                    let buffer = terminal.backend().buffer();
                    let symbols = buffer.content.iter().map(ratatui::buffer::Cell::symbol);
                    shown.extend(symbols);
                }
                let words = model.words().unwrap_or_default();
                assert!(!words.contains(is_deceptive), "{screen:?}: {words:?}");
                let before = model.cursor();
                update(&mut model, Message::Run(Action::Move(1)));
                if model.cursor() == before {
                    break;
                }
            }
            assert!(!shown.contains(is_deceptive), "{screen:?}");
            let told = shown.contains("u{202e}") || screen == Screen::Help;
            let empty = screen == Screen::Compare && model.other.is_none();
            assert!(told || empty, "{screen:?} hides what is there:\n{shown}");
        }
    }
}
