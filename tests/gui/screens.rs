//! Every screen, found by what it says.
#![forbid(unsafe_code)]

use std::time::Duration;

use app::gui::show;
use app::model::commands::{Action, COMMANDS};
use app::model::{Effect, Message, Model, Screen, update};
use egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use engine::report::Direction;

use crate::scene::{judged, measuring, on};

/// The model and what it asked for.
struct State {
    model: Model,
    effects: Vec<Effect>,
}

fn window(model: Model) -> Harness<'static, State> {
    let state = State {
        model,
        effects: Vec::new(),
    };
    let mut harness = Harness::builder()
        .with_size(egui::vec2(1000.0, 700.0))
        .build_ui_state(
            |ui, state: &mut State| {
                for message in show(ui, &state.model) {
                    state.effects.extend(update(&mut state.model, message));
                    ui.ctx().request_repaint();
                }
            },
            state,
        );
    harness.run();
    harness
}

/// Every name in the accessibility tree.
fn names(harness: &Harness<'_, State>) -> Vec<String> {
    let nodes = harness.root().children_recursive();
    nodes
        .filter_map(|node| {
            let node = node.accesskit_node();
            node.label().or_else(|| node.value())
        })
        .collect()
}

fn says(harness: &Harness<'_, State>, text: &str) -> bool {
    names(harness).iter().any(|name| name.contains(text))
}

#[test]
fn tabs_lead_to_every_screen_by_label_and_by_key() {
    let mut harness = window(judged());
    let signs = [
        (Screen::Measure, Key::Num2, "SSH packets of 32 KiB"),
        (
            Screen::Configuration,
            Key::Num3,
            "compiled default of OpenSSH 9.2",
        ),
        (Screen::Advice, Key::Num4, "goes on to Apply"),
        (Screen::Apply, Key::Num5, "would become"),
        (Screen::Compare, Key::Num6, "Nothing to compare with"),
        (Screen::Overview, Key::Num1, "aes128-gcm would move"),
        (Screen::Help, Key::F1, "Stop measuring"),
    ];
    for (screen, _, sign) in signs {
        let tabs = harness.get_all_by_label(screen.title());
        tabs.into_iter().next().unwrap().click();
        harness.run();
        assert_eq!(harness.state().model.screen, screen);
        assert!(says(&harness, sign), "{screen:?}: {:#?}", names(&harness));
    }
    for (screen, key, _) in signs {
        match key {
            Key::F1 => harness.key_press(Key::F1),
            _ => harness.event(egui::Event::Text(key.symbol_or_name().to_owned())),
        }
        harness.run();
        assert_eq!(harness.state().model.screen, screen);
    }
}

#[test]
fn measuring_is_started_and_stopped_by_its_button() {
    let mut harness = window(on(Screen::Measure, judged()));
    harness.get_by_label("measure").click();
    harness.run();
    assert_eq!(harness.state().effects, [Effect::Measure]);
    harness.get_by_label("stop").click();
    harness.run();
    assert_eq!(harness.state().effects, [Effect::Measure, Effect::Stop]);
}

#[test]
fn packet_size_and_direction_are_chosen() {
    let mut harness = window(on(Screen::Measure, judged()));
    harness.get_by_label("opening").click();
    harness.run();
    assert_eq!(harness.state().model.direction, Direction::Open);
    harness.get_by_label_contains("smaller packets").click();
    harness.run();
    assert_eq!(harness.state().model.bytes, 1024);
    assert!(says(&harness, "SSH packets of 1 KiB, opening"));
}

#[test]
fn a_bar_tells_all_its_numbers_and_can_be_pressed() {
    let mut harness = window(on(Screen::Measure, judged()));
    harness
        .get_by_label_contains("aes128-gcm, native, sealing 32 KiB: 10.1 GB/s")
        .click();
    harness.run();
    assert_eq!(harness.state().model.cursor(), 1);
}

#[test]
fn a_screen_that_says_more_is_one_press_away() {
    let mut harness = window(judged());
    let buttons = harness.get_all_by_label("Configuration");
    buttons.into_iter().last().unwrap().click();
    harness.run();
    assert_eq!(harness.state().model.screen, Screen::Configuration);
}

#[test]
fn idle_never_repaints_not_even_while_measuring() {
    for model in [judged(), measuring()] {
        for &screen in Screen::ALL {
            let harness = window(on(screen, model.clone()));
            let outputs = harness.output().viewport_output.values();
            let delay = outputs.map(|output| output.repaint_delay).min().unwrap();
            assert!(delay > Duration::from_secs(3600), "{screen:?}: {delay:?}");
        }
    }
}

#[test]
fn nothing_that_takes_the_focus_is_without_a_name() {
    for model in [judged(), measuring()] {
        for &screen in Screen::ALL {
            let harness = window(on(screen, model.clone()));
            for node in harness.root().children_recursive() {
                let node = node.accesskit_node();
                let nameless = node.label().unwrap_or_default().is_empty()
                    && node.value().unwrap_or_default().is_empty();
                let focusable = node.data().supports_action(egui::accesskit::Action::Focus);
                assert!(!(focusable && nameless), "{screen:?}: {:?}", node.data());
            }
        }
    }
}

#[test]
fn tab_moves_the_focus_and_space_presses() {
    let mut harness = window(judged());
    for _ in 0..2 {
        harness.key_press(Key::Tab);
        harness.run();
    }
    let focused = |node: &egui_kittest::Node<'_>| node.is_focused();
    let tabs: Vec<_> = harness.get_all_by_label("Measure").collect();
    assert!(tabs.iter().any(focused), "the second tab has the focus");
    harness.key_press(Key::Space);
    harness.run();
    assert_eq!(harness.state().model.screen, Screen::Measure);
}

#[test]
fn enter_opens_the_item_under_the_cursor_unless_a_button_has_the_focus() {
    let mut harness = window(judged());
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().model.screen, Screen::Advice, "the verdict");
    harness.key_press(Key::Tab);
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(
        harness.state().model.screen,
        Screen::Overview,
        "the first tab"
    );
}

#[test]
fn the_help_screen_is_the_command_table() {
    let harness = window(on(Screen::Help, judged()));
    for command in COMMANDS.iter().take(10) {
        assert!(says(&harness, command.help), "{}", command.help);
    }
}

#[test]
fn every_size_can_be_shown() {
    for size in [[640.0, 400.0], [320.0, 200.0], [2560.0, 1440.0]] {
        for &screen in Screen::ALL {
            let mut harness = window(on(screen, judged()));
            harness.set_size(size.into());
            harness.run();
            update(&mut harness.state_mut().model, Message::Run(Action::Last));
            harness.run();
            assert!(says(&harness, "quit"));
        }
    }
}
