//! The picture of the README, taken of the real program on the machine this runs on:
//! `cargo test --release -p app --test tui picture -- --ignored`
#![forbid(unsafe_code)]

use std::fmt::Write;
use std::path::Path;

use crate::seat::Seat;

/// Width and height of a cell, and of the margin, in pixels.
const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 12.0;
/// What the theme `dark` writes with, and on.
const TEXT: &str = "#e6e6e6";
const GROUND: &str = "#16181d";

#[test]
#[ignore = "takes the picture of the README"]
fn picture() {
    let variables = [("COLORTERM", "truecolor")];
    let mut seat = Seat::with(&["--theme", "dark"], &variables);
    seat.press("2");
    seat.see_text("[2 Measure]");
    seat.see_measured();
    seat.see_text("95 % between");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/advisor-tui.svg");
    std::fs::write(file, svg(seat.screen.screen())).unwrap();
    seat.press("q");
    assert_eq!(seat.end(), 0);
}

/// Cells that look the same, side by side.
struct Run {
    column: u16,
    text: String,
    cells: u16,
    ink: String,
    ground: String,
    weight: &'static str,
    opacity: f64,
}

fn svg(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let width = f64::from(columns) * CELL.0 + 2.0 * MARGIN;
    let height = f64::from(rows) * CELL.1 + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\">\n<title>advisor-tui on its Measure screen</title>\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{GROUND}\"/>\n"
    );
    for row in 0..rows {
        let top = MARGIN + f64::from(row) * CELL.1;
        for run in runs(screen, row, columns) {
            draw(&mut svg, &run, top);
        }
    }
    svg + "</svg>\n"
}

fn draw(svg: &mut String, run: &Run, top: f64) {
    let left = MARGIN + f64::from(run.column) * CELL.0;
    let width = f64::from(run.cells) * CELL.0;
    if run.ground != GROUND {
        let (height, fill) = (CELL.1, &run.ground);
        writeln!(svg, "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{fill}\"/>").unwrap();
    }
    let shown = run.text.trim_end();
    if shown.is_empty() {
        return;
    }
    let width = shown.chars().count() as f64 * CELL.0;
    let text = shown.replace('&', "&amp;").replace('<', "&lt;");
    let (base, ink) = (top + 13.5, &run.ink);
    let (weight, opacity) = (run.weight, run.opacity);
    writeln!(svg, "<text x=\"{left:.1}\" y=\"{base:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" fill=\"{ink}\" font-weight=\"{weight}\" opacity=\"{opacity}\">{text}</text>").unwrap();
}

fn runs(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        let new = look(cell, column);
        match runs.last_mut() {
            Some(last) if same(last, &new) => {
                last.text.push_str(&new.text);
                last.cells += 1;
            }
            _ => runs.push(new),
        }
    }
    runs
}

/// Whether they look the same.
fn same(a: &Run, b: &Run) -> bool {
    (&a.ink, &a.ground, a.weight) == (&b.ink, &b.ground, b.weight) && a.opacity == b.opacity
}

fn look(cell: &vt100::Cell, column: u16) -> Run {
    let colour = |colour: vt100::Color, otherwise: &str| match colour {
        vt100::Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        _ => otherwise.to_owned(),
    };
    let ink = colour(cell.fgcolor(), TEXT);
    let ground = colour(cell.bgcolor(), GROUND);
    let (ink, ground) = match cell.inverse() {
        true => (ground, ink),
        false => (ink, ground),
    };
    Run {
        column,
        text: match cell.contents() {
            "" => " ".to_owned(),
            text => text.to_owned(),
        },
        cells: 1,
        ink,
        ground,
        weight: if cell.bold() { "bold" } else { "normal" },
        opacity: if cell.dim() { 0.6 } else { 1.0 },
    }
}
