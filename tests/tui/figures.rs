//! What the face costs: bytes over the line, time to the first frame, time to an answer, idleness.
//!
//! Bytes are the same everywhere and asserted; times are printed:
//! `cargo test -p app --test tui figures -- --ignored --nocapture`
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use app::model::{Doing, Found, Message, Model, Progress, Screen, update};
use app::tui::{Appearance, draw};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use crate::report::fast_aes;
use crate::scene::{carried, judged, measuring, on};
use crate::seat::{Seat, Tree};

/// The most a first frame may take at 80×24.
const FIRST_FRAME: usize = 6 * 1024;
/// The most three new numbers may take.
const UPDATE: usize = 200;

/// Where the bytes of a line go.
#[derive(Clone, Default)]
struct Line(Arc<Mutex<Vec<u8>>>);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal of 80×24 at the other end of a line.
struct Far {
    line: Line,
    terminal: Terminal<CrosstermBackend<Line>>,
}

impl Far {
    fn new() -> Self {
        let line = Line::default();
        let viewport = Viewport::Fixed(Rect::new(0, 0, 80, 24));
        let backend = CrosstermBackend::new(line.clone());
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport }).unwrap();
        Self { line, terminal }
    }

    /// The bytes of a frame.
    fn draw(&mut self, model: &Model) -> usize {
        let appearance = Appearance::default();
        self.terminal
            .draw(|frame| drop(draw(frame, model, appearance)))
            .unwrap();
        std::mem::take(&mut *self.line.0.lock().unwrap()).len()
    }
}

fn first_frames() -> Vec<(Screen, usize)> {
    let frame = |&screen: &Screen| {
        let costs =
            [judged(), measuring(), carried()].map(|model| Far::new().draw(&on(screen, model)));
        (screen, costs.into_iter().max().unwrap_or(0))
    };
    Screen::ALL.iter().map(frame).collect()
}

/// Three numbers of a running measurement change, with their bars and the clock.
fn update_of_three_numbers() -> usize {
    let mut model = on(Screen::Measure, measuring());
    let cells: Vec<_> = fast_aes().measurements.into_iter().take(6).collect();
    let progress = |share| Progress {
        share,
        remaining: Duration::from_secs(5),
        doing: Doing::Packets,
        ..Progress::default()
    };
    let found = |factor: f64| {
        let mut cells = cells.clone();
        cells.iter_mut().for_each(|cell| cell.gb_per_s *= factor);
        Found {
            cells,
            transfers: Vec::new(),
        }
    };
    for _ in 0..8 {
        update(&mut model, Message::Progress(progress(0.5), found(1.0)));
    }
    let mut far = Far::new();
    far.draw(&model);
    update(&mut model, Message::Progress(progress(0.501), found(1.05)));
    far.draw(&model)
}

#[test]
fn a_first_frame_and_an_update_are_small_enough_for_a_slow_line() {
    for (screen, bytes) in first_frames() {
        assert!(bytes <= FIRST_FRAME, "{screen:?}: {bytes} bytes");
    }
    let bytes = update_of_three_numbers();
    assert!((1..=UPDATE).contains(&bytes), "{bytes} bytes");
    let mut far = Far::new();
    let model = judged();
    far.draw(&model);
    // Colours are put back and the cursor is kept hidden, and that is all.
    let bytes = far.draw(&model);
    assert!(bytes <= 32, "nothing has changed, yet {bytes} bytes");
}

#[test]
#[ignore = "a benchmark: it judges nothing and prints"]
fn figures() {
    for (screen, bytes) in first_frames() {
        println!("first frame of {:14} {bytes:5} bytes", screen.title());
    }
    println!(
        "update of three numbers      {:5} bytes",
        update_of_three_numbers()
    );
    let mut starts: Vec<Duration> = (0..10).map(|_| start()).collect();
    starts.sort();
    println!(
        "first frame after start      {:?} (median of 10), {:?} at most",
        starts[5], starts[9]
    );
    let mut answers = answers();
    answers.sort();
    let part = |share: f64| answers[((answers.len() - 1) as f64 * share) as usize];
    println!(
        "key to frame while measuring {:?} (median of {}), {:?} for 95 %, {:?} at most",
        part(0.5),
        answers.len(),
        part(0.95),
        part(1.0)
    );
    let (bytes, ticks) = idle();
    println!("idle for 5 s                 {bytes} bytes, {ticks} ticks of the processor");
}

/// From starting the program to its first whole frame, before any measurement.
fn start() -> Duration {
    let begun = Instant::now();
    let mut seat = Seat::take(&[]);
    seat.see_text("q quit");
    let took = begun.elapsed();
    seat.press("q");
    seat.end();
    took
}

/// From a key to the frame that answers it, while transfers and then packets are measured.
fn answers() -> Vec<Duration> {
    let mut seat = Seat::take(&[]);
    seat.see_text("q quit");
    let mut answers = Vec::new();
    let mut screens = [("2", "[2 Measure]"), ("1", "[1 Overview]")]
        .into_iter()
        .cycle();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(9) {
        let (key, tab) = screens.next().unwrap();
        let pressed = Instant::now();
        seat.press(key);
        seat.see_text(tab);
        answers.push(pressed.elapsed());
        // People press a key after some time; the program may draw for itself meanwhile.
        seat.listen(Duration::from_millis(70));
    }
    seat.press("q");
    seat.end();
    answers
}

fn idle() -> (usize, u64) {
    let tree = Tree::new("figures");
    let saved = tree.report();
    let mut seat = Seat::with(&["--measurements", &saved], &[]);
    seat.see_text("aes128-gcm would move");
    while seat.output.recv_timeout(Duration::from_secs(1)).is_ok() {}
    let before = seat.ticks();
    let bytes = match seat.output.recv_timeout(Duration::from_secs(5)) {
        Ok(bytes) => bytes.len(),
        Err(RecvTimeoutError::Timeout) => 0,
        Err(RecvTimeoutError::Disconnected) => panic!("it ended"),
    };
    let ticks = seat.ticks() - before;
    seat.press("q");
    seat.end();
    (bytes, ticks)
}
