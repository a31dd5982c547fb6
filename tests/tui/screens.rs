//! Every screen, drawn into memory.
#![forbid(unsafe_code)]

use app::model::commands::Action;
use app::model::prompt::Ask;
use app::model::{Message, Model, Screen, update};
use app::tui::{Appearance, SMALLEST, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use crate::scene::{
    arranged, carried, carrying, compared, forbidden, judged, looking, measuring, on, previewed,
    writing,
};

fn drawn(model: &Model, (width, height): (u16, u16), appearance: Appearance) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| drop(draw(frame, model, appearance)))
        .unwrap();
    terminal.backend().buffer().clone()
}

fn text(model: &Model, size: (u16, u16)) -> String {
    rows(&drawn(model, size, Appearance::default())).join("\n")
}

fn rows(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width);
    let rows = buffer.content.chunks(width.max(1));
    rows.map(|row| {
        let row: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        row.trim_end().to_owned()
    })
    .collect()
}

const USUAL: (u16, u16) = (80, 24);

#[test]
fn overview_at_80_by_24() {
    insta::assert_snapshot!(text(&judged(), USUAL));
}

#[test]
fn overview_at_40_by_10() {
    insta::assert_snapshot!(text(&judged(), SMALLEST));
}

#[test]
fn overview_while_measuring() {
    insta::assert_snapshot!(text(&measuring(), USUAL));
}

#[test]
fn measure_at_80_by_24() {
    insta::assert_snapshot!(text(&on(Screen::Measure, judged()), USUAL));
}

#[test]
fn measure_at_40_by_10() {
    insta::assert_snapshot!(text(&on(Screen::Measure, judged()), SMALLEST));
}

#[test]
fn transfers_under_the_bars_at_80_by_24() {
    let mut model = on(Screen::Measure, carried());
    update(&mut model, Message::Run(Action::Last));
    insta::assert_snapshot!(text(&model, USUAL));
}

#[test]
fn transfers_after_the_bars_at_40_by_10() {
    let mut model = on(Screen::Measure, carried());
    update(&mut model, Message::Run(Action::Last));
    insta::assert_snapshot!(text(&model, SMALLEST));
}

#[test]
fn all_of_an_item_can_be_read_at_the_smallest_size() {
    let mut model = on(Screen::Measure, carried());
    update(&mut model, Message::Run(Action::Last));
    let words = model.words().unwrap();
    update(&mut model, Message::Run(Action::ReadWhole));
    let mut read = String::new();
    for _ in 0..20 {
        read.push_str(&text(&model, SMALLEST));
        update(&mut model, Message::Run(Action::Move(1)));
    }
    for word in words.split(' ') {
        assert!(read.contains(word), "{word:?} of {words:?}");
    }
}

#[test]
fn transfers_while_they_are_made() {
    insta::assert_snapshot!(text(&on(Screen::Measure, carrying()), USUAL));
}

#[test]
fn measure_while_measuring() {
    insta::assert_snapshot!(text(&on(Screen::Measure, measuring()), USUAL));
}

#[test]
fn configuration_at_80_by_24() {
    insta::assert_snapshot!(text(&on(Screen::Configuration, judged()), USUAL));
}

#[test]
fn advice_at_80_by_24() {
    insta::assert_snapshot!(text(&on(Screen::Advice, judged()), USUAL));
}

#[test]
fn the_end_of_the_advice_at_80_by_24() {
    let mut model = on(Screen::Advice, judged());
    update(&mut model, Message::Run(Action::Last));
    insta::assert_snapshot!(text(&model, USUAL));
}

#[test]
fn advice_at_120_by_40() {
    insta::assert_snapshot!(text(&on(Screen::Advice, judged()), (120, 40)));
}

#[test]
fn apply_at_80_by_24() {
    insta::assert_snapshot!(text(&on(Screen::Apply, previewed()), USUAL));
}

#[test]
fn apply_at_40_by_10() {
    insta::assert_snapshot!(text(&on(Screen::Apply, previewed()), SMALLEST));
}

#[test]
fn apply_while_writing() {
    insta::assert_snapshot!(text(&on(Screen::Apply, writing()), USUAL));
}

#[test]
fn apply_without_permission() {
    insta::assert_snapshot!(text(&on(Screen::Apply, forbidden()), USUAL));
}

#[test]
fn compare_at_80_by_24() {
    insta::assert_snapshot!(text(&compared(), USUAL));
}

#[test]
fn compare_at_40_by_10() {
    insta::assert_snapshot!(text(&compared(), SMALLEST));
}

#[test]
fn compare_with_nothing_yet() {
    insta::assert_snapshot!(text(&on(Screen::Compare, judged()), USUAL));
}

#[test]
fn a_file_that_is_looked_into_at_80_by_24() {
    insta::assert_snapshot!(text(&looking(), USUAL));
}

#[test]
fn advice_arranged_by_hand() {
    insta::assert_snapshot!(text(&arranged(), USUAL));
}

#[test]
fn a_question_at_the_bottom() {
    let mut model = judged();
    update(&mut model, Message::Run(Action::Ask(Ask::Save)));
    insta::assert_snapshot!(text(&model, USUAL));
}

#[test]
fn overview_and_measure_at_other_sizes() {
    for size in [(120, 40), (200, 60)] {
        for screen in [Screen::Overview, Screen::Measure] {
            let name = format!("{}_at_{}_by_{}", screen.title(), size.0, size.1).to_lowercase();
            insta::assert_snapshot!(name, text(&on(screen, carried()), size));
        }
    }
}

#[test]
fn help_at_80_by_24() {
    insta::assert_snapshot!(text(&on(Screen::Help, judged()), USUAL));
}

#[test]
fn trouble_is_told_on_every_screen() {
    let sentence = "ssh could not be asked; install openssh-client";
    for &screen in Screen::ALL {
        let mut model = on(screen, judged());
        update(&mut model, Message::Failed(sentence.to_owned()));
        assert!(text(&model, USUAL).contains(sentence), "{screen:?}");
    }
}

#[test]
fn a_terminal_that_is_too_small_is_told_what_is_needed() {
    let text = text(&judged(), (39, 24));
    assert_eq!(text.trim(), "needs 40×10, has 39×24");
}

/// Every width at a few heights, every height at a few widths, and the extremes.
fn sizes() -> impl Iterator<Item = (u16, u16)> {
    let few = [1, 2, 9, 10, 11, 13, 24, 60];
    let wide = [1, 39, 40, 41, 67, 76, 80, 120, 200];
    let widths = (1..=130).flat_map(move |width| few.map(|height| (width, height)));
    let heights = (1..=60).flat_map(move |height| wide.map(|width| (width, height)));
    let extremes = [(500, 200), (500, 1), (1, 200), (40, 200), (500, 10)];
    widths.chain(heights).chain(extremes)
}

#[test]
fn no_size_panics_and_quit_is_always_told() {
    for (number, model) in [Model::default(), measuring(), carrying(), carried()]
        .into_iter()
        .enumerate()
    {
        for &screen in Screen::ALL {
            let mut model = on(screen, model.clone());
            for end in [Action::First, Action::Last] {
                update(&mut model, Message::Run(end));
                // Every size is met, by two or more of the screens and models.
                let sizes = sizes()
                    .skip((number * 7 + screen as usize) % 14)
                    .step_by(14);
                for (width, height) in sizes {
                    let text = text(&model, (width, height));
                    let usable = width >= SMALLEST.0 && height >= SMALLEST.1;
                    assert_eq!(text.contains("q quit"), usable, "{width}×{height}\n{text}");
                }
            }
        }
    }
}

/// Colours and modifiers as letters, one a cell: what is drawn how.
fn styles(model: &Model) -> String {
    let buffer = drawn(model, USUAL, Appearance::default());
    let letter = |cell: &ratatui::buffer::Cell| {
        let has = |modifier| cell.modifier.contains(modifier);
        match cell.fg {
            _ if has(Modifier::REVERSED) => 'R',
            Color::Green => 'g',
            Color::Magenta => 'm',
            Color::Red => 'r',
            Color::Reset if has(Modifier::BOLD) => 'B',
            Color::Reset if has(Modifier::DIM) => 'd',
            Color::Reset => '.',
            _ => '?',
        }
    };
    let rows = buffer.content.chunks(usize::from(USUAL.0));
    let rows: Vec<String> = rows.map(|row| row.iter().map(letter).collect()).collect();
    rows.join("\n")
}

#[test]
fn styles_of_three_screens() {
    insta::assert_snapshot!("styles_of_overview", styles(&judged()));
    insta::assert_snapshot!("styles_of_measure", styles(&on(Screen::Measure, carried())));
    insta::assert_snapshot!("styles_of_apply", styles(&on(Screen::Apply, previewed())));
}

#[test]
fn the_cursor_is_visible_at_every_item_and_size() {
    for &screen in Screen::ALL {
        for size in [SMALLEST, USUAL, (200, 60)] {
            let mut model = on(screen, judged());
            loop {
                let buffer = drawn(&model, size, Appearance::default());
                // The open tab in the first row is reversed as well.
                let below_tabs = &buffer.content[usize::from(size.0)..];
                let reversed = below_tabs
                    .iter()
                    .any(|cell| cell.modifier.contains(Modifier::REVERSED));
                assert!(reversed, "{screen:?} {size:?} item {}", model.cursor());
                let before = model.cursor();
                update(&mut model, Message::Run(Action::Move(1)));
                if model.cursor() == before {
                    break;
                }
            }
        }
    }
}

#[test]
fn without_colour_the_words_and_the_selection_stay() {
    let mono = Appearance {
        mono: true,
        ..Appearance::default()
    };
    for &screen in Screen::ALL {
        let model = on(screen, judged());
        let coloured = drawn(&model, USUAL, Appearance::default());
        let plain = drawn(&model, USUAL, mono);
        assert_eq!(rows(&coloured), rows(&plain), "the same words");
        let reset =
            |cell: &ratatui::buffer::Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
        assert!(plain.content.iter().all(reset), "{screen:?}");
        let selected = |buffer: &Buffer| {
            let cells = buffer.content.iter();
            cells
                .filter(|cell| cell.modifier.contains(Modifier::REVERSED))
                .count()
        };
        assert_eq!(selected(&coloured), selected(&plain));
    }
    let measure = drawn(&on(Screen::Measure, judged()), USUAL, Appearance::default());
    assert!(
        measure.content.iter().any(|cell| cell.fg != Color::Reset),
        "there is colour to take away"
    );
}

#[test]
fn an_ascii_terminal_gets_ascii() {
    let ascii = Appearance {
        ascii: true,
        mono: true,
        ..Appearance::default()
    };
    for model in [judged(), measuring()] {
        for &screen in Screen::ALL {
            let model = on(screen, model.clone());
            let text = rows(&drawn(&model, (120, 40), ascii)).join("\n");
            assert!(text.is_ascii(), "{text}");
            assert!(
                !text.contains('?') || text.contains("? Help") || screen == Screen::Help,
                "{text}"
            );
        }
    }
}
