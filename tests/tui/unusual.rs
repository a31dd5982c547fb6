//! The face with clocks and jobs of the test's own: what no real machine does on demand.
//!
//! Each runs in a terminal, as a test of its own that a test beside it starts.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use advisor::output::Document;
use app::model::apply::{Past, Preview, Step, Written};
use app::model::compare::Other;
use app::model::configuration::{Looking, Spot};
use app::model::{Found, Progress, Question, Saving};
use app::worker::Job;
use engine::host::Clock;
use engine::measure::Gate;
use engine::report::Report;

use crate::seat::Seat;

fn in_a_terminal(name: &str) -> Seat {
    let program = std::env::current_exe().unwrap();
    let arguments = ["--exact", name, "--ignored", "--nocapture"];
    let program = program.display().to_string();
    Seat::of(&program, &arguments, &[("RUST_BACKTRACE", "0")])
}

fn face(clock: impl Clock + 'static, gate: Gate, screen: app::tui::Screen) -> app::tui::Face {
    app::tui::Face {
        clock: Box::new(clock),
        gate,
        pauses: app::pause::Pauses::default(),
        appearance: app::tui::Appearance::default(),
        mouse: true,
        screen,
        report: None,
        bindings: app::model::bindings::Bindings::default(),
        log: app::log::Log::default(),
    }
}

#[test]
#[ignore = "run by a_panic_restores_the_terminal_first"]
fn a_face_that_panics() {
    /// Panics at its third look.
    struct Trap(AtomicUsize);
    impl Clock for Trap {
        fn wall(&self) -> Duration {
            let looks = self.0.fetch_add(1, Ordering::SeqCst);
            assert!(looks < 2, "forced");
            Duration::ZERO
        }
        fn thread_cpu(&self) -> Duration {
            Duration::ZERO
        }
        fn since_1970(&self) -> Duration {
            Duration::ZERO
        }
    }
    let gate = Gate::default();
    let job = app::job::HostJob::here(gate.clone(), |name| std::env::var(name).ok()).unwrap();
    let face = face(Trap(0.into()), gate, || Box::new(io::stdout()));
    let _ = app::tui::run(job, &face);
}

#[test]
fn a_panic_restores_the_terminal_first() {
    let mut seat = in_a_terminal("unusual::a_face_that_panics");
    assert_ne!(seat.end(), 0);
    assert!(seat.is_restored());
    let left = seat.screen.screen().contents();
    assert!(left.contains("forced"), "the panic is told: {left}");
}

/// Milliseconds on the clock below, and how often it was looked at.
static NOW: AtomicU64 = AtomicU64::new(0);
static LOOKS: AtomicUsize = AtomicUsize::new(0);
/// What was written.
static FLUSHES: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

struct Hand;

impl Clock for Hand {
    fn wall(&self) -> Duration {
        LOOKS.fetch_add(1, Ordering::SeqCst);
        Duration::from_millis(NOW.load(Ordering::SeqCst))
    }
    fn thread_cpu(&self) -> Duration {
        Duration::ZERO
    }
    fn since_1970(&self) -> Duration {
        Duration::ZERO
    }
}

struct Counted;

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        BYTES.fetch_add(bytes.len(), Ordering::SeqCst);
        io::stdout().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        FLUSHES.fetch_add(1, Ordering::SeqCst);
        io::stdout().flush()
    }
}

/// Measures as told by the test and does nothing else.
struct Measuring<F>(F);

impl<F: Fn(&mut dyn FnMut(Progress, Found)) + Send> Job for Measuring<F> {
    fn measure(
        &self,
        progress: &mut dyn FnMut(Progress, Found),
        _: &Arc<AtomicBool>,
    ) -> Result<Report, String> {
        (self.0)(progress);
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM)
            .unwrap();
        Ok(Report::default())
    }
    fn examine(&self, _: &Question) -> Result<Document, String> {
        Ok(Document::new(Report::default()))
    }
    fn preview(&self, _: &Question) -> Result<Preview, String> {
        Err(String::new())
    }
    fn write(
        &self,
        _: &Question,
        _: &Document,
        _: &dyn Fn(Step),
        _: &AtomicBool,
    ) -> Result<Written, String> {
        Err(String::new())
    }
    fn undo(&self, _: u64, _: &dyn Fn(Step), _: &AtomicBool) -> Result<Written, String> {
        Err(String::new())
    }
    fn journal(&self) -> Result<Vec<Past>, String> {
        Ok(Vec::new())
    }
    fn open(&self, _: &str) -> Result<Other, String> {
        Err(String::new())
    }
    fn look_into(&self, _: &Spot) -> Result<Looking, String> {
        Err(String::new())
    }
    fn save(&self, _: &str, _: Saving, _: &Document) -> Result<String, String> {
        Err(String::new())
    }
}

fn at(share: f64) -> Progress {
    Progress {
        share,
        ..Progress::default()
    }
}

/// Waits until the face has looked at its clock so often since.
fn until_looked(since: usize, times: usize) {
    while LOOKS.load(Ordering::SeqCst) < since + times {
        std::thread::yield_now();
    }
}

#[test]
#[ignore = "run by nothing_is_drawn_while_a_sample_is_timed"]
fn a_face_at_a_closed_gate() {
    let gate = Gate::default();
    let inside = gate.clone();
    let job = Measuring(move |progress: &mut dyn FnMut(Progress, Found)| {
        // A sample is being timed: the gate is ours.
        let sample = inside.draw();
        let (looks, bytes) = (LOOKS.load(Ordering::SeqCst), BYTES.load(Ordering::SeqCst));
        NOW.fetch_add(10_000, Ordering::SeqCst);
        progress(at(0.5), Found::default());
        until_looked(looks, 1);
        for _ in 0..10_000 {
            std::thread::yield_now();
        }
        assert_eq!(BYTES.load(Ordering::SeqCst), bytes, "nothing was drawn");
        drop(sample);
        while BYTES.load(Ordering::SeqCst) == bytes {
            std::thread::yield_now();
        }
    });
    let ended = app::tui::run(job, &face(Hand, gate, || Box::new(Counted))).unwrap();
    assert!(matches!(ended.ended, app::tui::Ended::Signal(15)));
    println!("the gate held");
}

#[test]
fn nothing_is_drawn_while_a_sample_is_timed() {
    let mut seat = in_a_terminal("unusual::a_face_at_a_closed_gate");
    let code = seat.end();
    let left = seat.screen.screen().contents();
    assert!(code == 0 && left.contains("the gate held"), "{left}");
}

#[test]
#[ignore = "run by progress_is_drawn_at_most_ten_times_a_second"]
fn a_face_with_much_to_tell() {
    let job = Measuring(|progress: &mut dyn FnMut(Progress, Found)| {
        let first = FLUSHES.load(Ordering::SeqCst);
        for step in 0..2_000 {
            NOW.fetch_add(1, Ordering::SeqCst);
            let looks = LOOKS.load(Ordering::SeqCst);
            progress(at(f64::from(step) / 2_000.0), Found::default());
            until_looked(looks, 1);
        }
        // A frame is flushed twice: its cells, and the cursor that is kept hidden.
        let frames = (FLUSHES.load(Ordering::SeqCst) - first) / 2;
        // Two seconds on the clock, and a frame that was due when they began.
        assert!((10..=21).contains(&frames), "{frames} frames");
    });
    let gate = Gate::default();
    let ended = app::tui::run(job, &face(Hand, gate, || Box::new(Counted))).unwrap();
    assert!(matches!(ended.ended, app::tui::Ended::Signal(15)));
    println!("few frames");
}

#[test]
fn progress_is_drawn_at_most_ten_times_a_second() {
    let mut seat = in_a_terminal("unusual::a_face_with_much_to_tell");
    let code = seat.end();
    let left = seat.screen.screen().contents();
    assert!(code == 0 && left.contains("few frames"), "{left}");
}
