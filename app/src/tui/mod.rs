//! The terminal face: keys and messages in, frames out.
//!
//! It draws when something changed and never otherwise. Nothing of meaning may enter here: words,
//! numbers and keys come from the [`model`](crate::model).
#![forbid(unsafe_code)]

mod advice;
mod appearance;
mod configuration;
mod frame;
mod help;
mod keys;
mod list;
mod measure;
mod overview;
mod terminal;

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crossterm::event;
use engine::host::Clock;
use engine::measure::Gate;

use crate::model::{Effect, Message, Model, update};
use crate::worker::{Job, Worker};

pub use appearance::Appearance;
pub use frame::{SMALLEST, draw};
pub use terminal::Screen;

/// Progress is drawn at most ten times a second; a key is answered at once.
const FRAME: Duration = Duration::from_millis(100);

/// What the terminal face needs of the outside.
pub struct Face {
    /// Paces the frames.
    pub clock: Box<dyn Clock>,
    /// Shared with the job: nothing is drawn while a sample is timed.
    pub gate: Gate,
    /// What the terminal may show.
    pub appearance: Appearance,
    /// Opens the stream the terminal is reached by.
    pub screen: Screen,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The user left.
    Quit,
    /// A signal of this number asked to end.
    Signal(i32),
}

/// What wakes the loop.
enum Event {
    Terminal(event::Event),
    Model(Message),
    Signal(i32),
    /// The terminal cannot be read any more.
    Lost(io::Error),
}

/// Runs the terminal face until the user or a signal ends it. The terminal is restored in any case.
///
/// # Errors
/// When the terminal cannot be entered, drawn on or read from.
pub fn run(job: impl Job + 'static, face: &Face) -> io::Result<Ended> {
    let (send, events) = channel();
    watch_signals(send.clone())?;
    let mut session = terminal::Session::enter(face.screen)?;
    watch_terminal(send.clone());
    let worker = Worker::start(job, move |message| {
        // The loop has ended when nobody receives; then nobody needs to know.
        let _ = send.send(Event::Model(message));
    });
    face.run(&mut session, &worker, &events)
}

impl Face {
    fn run(
        &self,
        session: &mut terminal::Session,
        worker: &Worker,
        events: &Receiver<Event>,
    ) -> io::Result<Ended> {
        let (mut model, effects) = Model::start();
        self.draw(session, &model)?;
        let mut drawn = self.clock.wall();
        effects.into_iter().for_each(|effect| worker.run(effect));
        let mut changed = false;
        loop {
            let wait = changed.then(|| (drawn + FRAME).saturating_sub(self.clock.wall()));
            let urgent = match next(events, wait) {
                Some(Event::Signal(number)) => return Ok(Ended::Signal(number)),
                Some(Event::Lost(error)) => return Err(error),
                Some(Event::Model(message)) => {
                    if perform(update(&mut model, message), worker) {
                        return Ok(Ended::Quit);
                    }
                    false
                }
                Some(Event::Terminal(event)) => {
                    if perform(answer(&mut model, event), worker) {
                        return Ok(Ended::Quit);
                    }
                    true
                }
                None => true,
            };
            changed = true;
            if urgent || self.clock.wall() >= drawn + FRAME {
                self.draw(session, &model)?;
                drawn = self.clock.wall();
                changed = false;
            }
        }
    }

    fn draw(&self, session: &mut terminal::Session, model: &Model) -> io::Result<()> {
        let _no_sample_is_timed = self.gate.draw();
        session.draw(|frame| draw(frame, model, self.appearance))
    }
}

/// The next event; `None` when the time to wait is over.
fn next(events: &Receiver<Event>, wait: Option<Duration>) -> Option<Event> {
    let lost = || {
        Event::Lost(io::Error::other(
            "the threads that watch the terminal ended",
        ))
    };
    match wait {
        None => Some(events.recv().unwrap_or_else(|_| lost())),
        Some(wait) => match events.recv_timeout(wait) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(lost()),
        },
    }
}

fn answer(model: &mut Model, event: event::Event) -> Vec<Effect> {
    match event {
        event::Event::Key(event) => {
            keys::key(event).map_or_else(Vec::new, |key| update(model, Message::Key(key)))
        }
        _ => Vec::new(),
    }
}

/// Hands effects to the worker; says whether one of them ends the program.
fn perform(effects: Vec<Effect>, worker: &Worker) -> bool {
    let ends = effects.contains(&Effect::Quit);
    effects.into_iter().for_each(|effect| worker.run(effect));
    ends
}

fn watch_terminal(send: Sender<Event>) {
    thread::spawn(move || {
        loop {
            let event = event::read().map_or_else(Event::Lost, Event::Terminal);
            let ends = matches!(event, Event::Lost(_));
            if send.send(event).is_err() || ends {
                return;
            }
        }
    });
}

/// Signals become events, so that the way out is the usual one.
#[cfg(unix)]
fn watch_signals(send: Sender<Event>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for number in signals.forever() {
            if send.send(Event::Signal(number)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn watch_signals(_: Sender<Event>) -> io::Result<()> {
    Ok(())
}
