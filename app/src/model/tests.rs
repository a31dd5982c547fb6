//! What keys and messages do to the model.
#![forbid(unsafe_code)]

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

fn progress(gb_per_s: f64) -> Message {
    let found = Found {
        cells: vec![cell(gb_per_s)],
        transfers: Vec::new(),
    };
    Message::Progress(Progress::default(), found)
}

fn measured() -> Arc<Report> {
    Arc::new(Report {
        measurements: vec![cell(2.0)],
        ..Report::default()
    })
}

fn with_numbers() -> Effect {
    Effect::Examine(Question {
        report: Some(measured()),
        ..Question::default()
    })
}

fn press(model: &mut Model, key: Key) -> Vec<Effect> {
    update(model, Message::Key(key))
}

#[test]
fn it_reads_then_measures_then_reads_with_the_numbers() {
    let (mut model, effects) = Model::start();
    assert_eq!(
        effects,
        [Effect::Examine(Question::default()), Effect::Measure]
    );
    let effects = update(&mut model, Message::Measured(measured()));
    assert_eq!(effects, [with_numbers()]);
    assert!(!model.is_measuring());
    assert_eq!(model.cells(), [cell(2.0)], "shown before they are judged");
    let document = Document::new(measured().as_ref().clone());
    update(&mut model, Message::Examined(document.into()));
    model.screen = Screen::Configuration;
    assert_eq!(
        press(&mut model, Key::Char('r')),
        [with_numbers()],
        "reading again keeps the numbers"
    );
}

#[test]
fn numbers_of_a_running_measurement_renew_each_other() {
    let (mut model, _) = Model::start();
    for gb_per_s in [1.0, 2.0] {
        update(&mut model, progress(gb_per_s));
    }
    assert_eq!(model.cells(), [cell(2.0)]);
    update(&mut model, Message::Failed("no".to_owned()));
    update(&mut model, progress(3.0));
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
    press(&mut model, Key::Char('7'));
    press(&mut model, Key::Char('G'));
    let last = model.cursor();
    assert_eq!(last, help::entries(&model).len() - 1);
    press(&mut model, Key::Char('j'));
    assert_eq!(model.cursor(), last);
    press(&mut model, Key::Char('1'));
    press(&mut model, Key::Up);
    assert_eq!(model.cursor(), 0);
    update(&mut model, Message::Select(usize::MAX));
    assert_eq!(model.cursor(), overview::view(&model).items.len() - 1);
    press(&mut model, Key::Char('7'));
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

#[test]
fn a_filter_hides_lines_until_it_is_left() {
    let mut model = Model::default();
    press(&mut model, Key::Char('?'));
    press(&mut model, Key::Char('/'));
    update(&mut model, Message::Paste("MEASUR stop\n".to_owned()));
    let found: Vec<_> = help::entries(&model).iter().map(|it| it.name).collect();
    assert_eq!(found, ["stop"], "every word, in any case");
    press(&mut model, Key::Enter);
    assert!(model.prompt.is_none());
    assert_eq!(
        model.target(),
        Some(Action::Stop),
        "Enter runs what was found"
    );
    press(&mut model, Key::Escape);
    assert_eq!(model.filter(), "");
    assert_eq!(model.screen, Screen::Help, "the filter is left first");
    press(&mut model, Key::Escape);
    assert_eq!(model.screen, Screen::Overview);
}

#[test]
fn an_item_is_read_in_full_and_left_again() {
    let mut model = Model::default();
    update(&mut model, Message::Measured(measured()));
    let document = Document::new(measured().as_ref().clone());
    update(&mut model, Message::Examined(document.into()));
    press(&mut model, Key::Char('2'));
    press(&mut model, Key::Enter);
    let words = model.whole.as_ref().map(|it| it.0.clone());
    assert!(
        words.is_some_and(|it| it.contains("2.00 GB/s")),
        "{model:?}"
    );
    press(&mut model, Key::Down);
    assert_eq!(model.whole.as_ref().map(|it| it.1), Some(1), "it moves on");
    press(&mut model, Key::PageDown);
    press(&mut model, Key::PageUp);
    press(&mut model, Key::PageUp);
    assert_eq!(model.whole.as_ref().map(|it| it.1), Some(0));
    press(&mut model, Key::Escape);
    assert!(model.whole.is_none() && model.cursor() == 0);
    press(&mut model, Key::Char(' '));
    press(&mut model, Key::Char('3'));
    assert!(model.whole.is_none(), "another screen is another screen");
}

#[test]
fn what_is_typed_is_no_command() {
    let mut model = Model::default();
    press(&mut model, Key::Char('o'));
    for letter in "q m".chars() {
        assert!(press(&mut model, Key::Char(letter)).is_empty());
    }
    press(&mut model, Key::Backspace);
    let effects = press(&mut model, Key::Enter);
    assert_eq!(effects, [Effect::Open("q".to_owned())]);
    press(&mut model, Key::Char('o'));
    assert!(press(&mut model, Key::Escape).is_empty() && model.prompt.is_none());
}

#[test]
fn a_host_that_is_named_is_asked_about_with_the_numbers() {
    let mut model = Model::default();
    update(&mut model, Message::Measured(measured()));
    press(&mut model, Key::Char('3'));
    press(&mut model, Key::Char('n'));
    update(&mut model, Message::Paste("backup".to_owned()));
    let effects = press(&mut model, Key::Enter);
    let question = Question {
        report: Some(measured()),
        host: Some("backup".to_owned()),
        ..Question::default()
    };
    assert_eq!(effects, [Effect::Examine(question)]);
}

#[test]
fn only_the_whole_word_undoes_and_nothing_runs_beside_it() {
    let mut model = Model::default();
    for (word, effects) in [("ye", vec![]), ("yes", vec![Effect::Undo(3)])] {
        update(&mut model, Message::Run(Action::Ask(prompt::Ask::Undo(3))));
        update(&mut model, Message::Paste(word.to_owned()));
        assert_eq!(press(&mut model, Key::Enter), effects, "{word}");
    }
    assert!(model.is_writing());
    assert!(
        press(&mut model, Key::Char('m')).is_empty(),
        "no measuring meanwhile"
    );
    assert_eq!(press(&mut model, Key::Char('x')), [Effect::Stop]);
    assert_eq!(
        press(&mut model, Key::Char('q')),
        [Effect::Stop, Effect::Quit]
    );
    let effects = update(&mut model, Message::NotWritten("busy".to_owned()));
    assert_eq!(effects.first(), Some(&Effect::ReadJournal));
    assert_eq!(model.trouble.as_deref(), Some("busy"));
    assert!(!model.is_writing());
}
