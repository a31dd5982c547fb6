//! The terminal face: keys and messages in, frames out.
//!
//! It draws when something changed and never otherwise. Nothing of meaning may enter here: words,
//! numbers and keys come from the [`model`](crate::model).
#![forbid(unsafe_code)]

mod advice;
mod appearance;
mod apply;
mod canvas;
mod compare;
mod configuration;
mod frame;
mod help;
mod keys;
mod list;
mod measure;
mod overview;
mod page;
mod settings;
mod terminal;
mod themes;
mod transfers;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crossterm::event;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use engine::host::Clock;
use engine::measure::Gate;
use engine::report::Report;

use crate::log::Log;
use crate::model::bindings::Bindings;
use crate::model::commands::Action;
use crate::model::{Effect, Message, Model, update};
use crate::pause::Pauses;
use crate::worker::{Job, Worker};

pub use appearance::Appearance;
pub use canvas::Places;
pub use frame::{SMALLEST, draw};
pub use settings::{Settings, SettingsError, When, usual_place};
pub use terminal::Screen;
pub use themes::{Depth, THEMES};

/// Lines a turn of the wheel moves the cursor by.
const WHEEL: isize = 3;

/// What the terminal face needs of the outside.
pub struct Face {
    /// Paces the frames.
    pub clock: Box<dyn Clock>,
    /// Shared with the job: nothing is drawn while a sample is timed.
    pub gate: Gate,
    /// Shared with the job's clock: what it does not count.
    pub pauses: Pauses,
    /// What the terminal may show.
    pub appearance: Appearance,
    /// Whether the terminal reports the mouse; without, it marks text with it.
    pub mouse: bool,
    /// Opens the stream the terminal is reached by.
    pub screen: Screen,
    /// Numbers that are there already, in place of measuring at once.
    pub report: Option<Arc<Report>>,
    /// The keys of the commands.
    pub bindings: Bindings,
    /// What is kept of the run.
    pub log: Log,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The user left.
    Quit,
    /// A signal of this number asked to end.
    Signal(i32),
}

/// How a run ended, and what it leaves for the shell.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How.
    pub ended: Ended,
    /// The result in one sentence, where there is one.
    pub summary: Option<String>,
}

/// What wakes the loop.
enum Event {
    Terminal(event::Event),
    Model(Message),
    Signal(i32),
    /// The program was stopped from outside and goes on.
    Continued,
    /// The terminal cannot be read any more.
    Lost(io::Error),
}

/// Runs the terminal face until the user or a signal ends it. The terminal is restored in any case.
///
/// # Errors
/// When the terminal cannot be entered, drawn on or read from.
pub fn run(job: impl Job + 'static, face: &Face) -> io::Result<Outcome> {
    let (send, events) = channel();
    watch_signals(send.clone())?;
    let session = terminal::Session::enter(face.screen, face.mouse)?;
    watch_terminal(send.clone());
    let worker = Worker::start(job, move |message| {
        // The loop has ended when nobody receives; then nobody needs to know.
        let _ = send.send(Event::Model(message));
    });
    let (mut model, effects) = match &face.report {
        Some(report) => Model::start_with(Arc::clone(report)),
        None => Model::start(),
    };
    model.bindings = face.bindings.clone();
    let mut seat = Seat {
        face,
        session,
        worker,
        model,
        appearance: face.appearance,
        places: Places::default(),
    };
    let ended = seat.run(effects, &events);
    // What is being written is finished or taken back before the terminal is given back.
    let Seat {
        session,
        worker,
        model,
        appearance,
        ..
    } = seat;
    drop(worker);
    drop(session);
    Ok(Outcome {
        ended: ended?,
        summary: overview::summary(&model).map(|it| appearance.line(&it)),
    })
}

/// Somebody at the terminal.
struct Seat<'a> {
    face: &'a Face,
    session: terminal::Session,
    worker: Worker,
    model: Model,
    appearance: Appearance,
    places: Places,
}

impl Seat<'_> {
    fn run(&mut self, effects: Vec<Effect>, events: &Receiver<Event>) -> io::Result<Ended> {
        let clock = &self.face.clock;
        self.draw()?;
        let mut drawn = clock.wall();
        effects
            .into_iter()
            .for_each(|effect| self.worker.run(effect));
        let mut changed = false;
        loop {
            let wait = changed.then(|| (drawn + self.model.frame()).saturating_sub(clock.wall()));
            let event = next(events, wait);
            let urgent = !matches!(event, Some(Event::Model(_)));
            if let Some(event) = event
                && let Some(ended) = self.take(event)?
            {
                return Ok(ended);
            }
            changed = true;
            if urgent || clock.wall() >= drawn + self.model.frame() {
                self.draw()?;
                drawn = clock.wall();
                changed = false;
            }
        }
    }

    fn take(&mut self, event: Event) -> io::Result<Option<Ended>> {
        self.note(&event);
        let message = match event {
            Event::Signal(number) => return Ok(Some(Ended::Signal(number))),
            Event::Lost(error) => return Err(error),
            Event::Continued => return self.session.again().map(|()| None),
            Event::Model(message) => Some(message),
            Event::Terminal(event) => self.message(event),
        };
        let effects = message.map_or_else(Vec::new, |it| update(&mut self.model, it));
        let ends = effects.contains(&Effect::Quit);
        for effect in effects {
            self.log(|| format!("to do: {}", effect.name()));
            self.perform(effect)?;
        }
        Ok(ends.then_some(Ended::Quit))
    }

    /// What is typed is not noted: it may be a secret that belongs elsewhere.
    fn note(&self, event: &Event) {
        match event {
            Event::Terminal(event::Event::Resize(width, height)) => {
                self.log(|| format!("resized to {width}×{height}"));
            }
            Event::Terminal(_) | Event::Model(Message::Progress(..)) => {}
            Event::Model(message) => self.log(|| format!("done: {}", message.name())),
            Event::Signal(number) => self.log(|| format!("signal {number}")),
            Event::Continued => self.log(|| "continued".to_owned()),
            Event::Lost(error) => self.log(|| format!("the terminal is lost: {error}")),
        }
    }

    fn log(&self, what: impl FnOnce() -> String) {
        if self.face.log.is_kept() {
            self.face.log.note(self.face.clock.wall(), &what());
        }
    }

    fn message(&self, event: event::Event) -> Option<Message> {
        match event {
            event::Event::Key(event) => keys::key(event).map(Message::Key),
            event::Event::Paste(text) => Some(Message::Paste(text)),
            event::Event::Mouse(event) => self.click(event),
            _ => None,
        }
    }

    fn click(&self, event: MouseEvent) -> Option<Message> {
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                self.places.at(event.column, event.row).cloned()
            }
            MouseEventKind::ScrollUp => Some(Message::Run(Action::Move(-WHEEL))),
            MouseEventKind::ScrollDown => Some(Message::Run(Action::Move(WHEEL))),
            _ => None,
        }
    }

    /// What concerns the terminal is done here, the rest by the worker.
    fn perform(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Suspend => self.suspend(),
            Effect::Copy(text) => {
                self.session.copy(&text)?;
                update(
                    &mut self.model,
                    Message::Done("Copied (by OSC 52).".to_owned()),
                );
                Ok(())
            }
            Effect::TurnMouse => {
                let taken = self.session.turn_mouse()?;
                let sentence = match taken {
                    true => "The mouse clicks here; Shift marks text in most terminals.",
                    false => "The mouse marks text; M takes it back.",
                };
                update(&mut self.model, Message::Done(sentence.to_owned()));
                Ok(())
            }
            Effect::TurnTheme => {
                self.appearance = self.appearance.next_theme();
                let name = self.appearance.theme_name();
                update(&mut self.model, Message::Done(format!("Theme {name}.")));
                Ok(())
            }
            effect => {
                self.worker.run(effect);
                Ok(())
            }
        }
    }

    /// Stops the whole program until the shell continues it. No sample is timed meanwhile, and the time box does
    /// not run out.
    fn suspend(&mut self) -> io::Result<()> {
        let _no_sample_is_timed = self.face.gate.draw();
        let before = self.face.clock.wall();
        self.session.suspend()?;
        self.face
            .pauses
            .add(self.face.clock.wall().saturating_sub(before));
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let _no_sample_is_timed = self.face.gate.draw();
        let (model, appearance, places) = (&self.model, self.appearance, &mut self.places);
        self.session
            .draw(|frame| *places = draw(frame, model, appearance))
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
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};

    let mut signals = signal_hook::iterator::Signals::new([SIGCONT, SIGHUP, SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for number in signals.forever() {
            let event = match number {
                SIGCONT => Event::Continued,
                number => Event::Signal(number),
            };
            if send.send(event).is_err() {
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
