//! Runs effects on a thread of its own and sends back what came of them as messages.
//!
//! One effect at a time, in order; measuring can be stopped at any time. What is done is a [`Job`],
//! so that a test can hand in one that needs no machine. No face may do work on its own thread.
#![forbid(unsafe_code)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use advisor::output::Document;
use engine::report::{Measurement, Report};

use crate::model::{Effect, Message, Progress};

/// The work itself.
pub trait Job: Send {
    /// Measures this host. `progress` is called between samples, never while one is timed; once
    /// `cancel` is set it ends soon with the rounds that are finished.
    ///
    /// # Errors
    /// Why nothing could be measured, as a sentence with the cure.
    fn measure(
        &self,
        progress: &mut dyn FnMut(Progress, Vec<Measurement>),
        cancel: &AtomicBool,
    ) -> Result<Report, String>;

    /// Reads the configuration and says what follows from it and the numbers, if there are any.
    ///
    /// # Errors
    /// Why that could not be done, as a sentence with the cure.
    fn examine(&self, report: Option<&Report>) -> Result<Document, String>;
}

/// The thread that does the work.
pub struct Worker {
    effects: Sender<Effect>,
    cancel: Arc<AtomicBool>,
}

impl Worker {
    /// Starts the thread. `send` is called on it. It ends, soon, when the worker is dropped.
    #[must_use]
    pub fn start(job: impl Job + 'static, send: impl Fn(Message) + Send + 'static) -> Self {
        let (effects, received) = channel();
        let cancel = Arc::new(AtomicBool::new(false));
        let cancelled = Arc::clone(&cancel);
        thread::spawn(move || work(&job, &received, &cancelled, &send));
        Self { effects, cancel }
    }

    /// Does this effect after those before it; stopping is done at once. Leaving is the face's own
    /// business.
    pub fn run(&self, effect: Effect) {
        match effect {
            Effect::Stop => self.cancel.store(true, Ordering::SeqCst),
            Effect::Quit => {}
            Effect::Measure | Effect::Examine(_) => {
                if effect == Effect::Measure {
                    self.cancel.store(false, Ordering::SeqCst);
                }
                // The thread catches panics and lives as long as this sender.
                let _ = self.effects.send(effect);
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::SeqCst);
    }
}

fn work(job: &dyn Job, effects: &Receiver<Effect>, cancel: &AtomicBool, send: &dyn Fn(Message)) {
    for effect in effects {
        let done = catch_unwind(AssertUnwindSafe(|| perform(job, effect, cancel, send)));
        let message = done.unwrap_or_else(|panic| Err(apology(panic.as_ref())));
        match message {
            Ok(Some(message)) => send(message),
            Ok(None) => {}
            Err(sentence) => send(Message::Failed(sentence)),
        }
    }
}

fn perform(
    job: &dyn Job,
    effect: Effect,
    cancel: &AtomicBool,
    send: &dyn Fn(Message),
) -> Result<Option<Message>, String> {
    match effect {
        Effect::Measure => {
            let mut progress = |progress, latest| send(Message::Progress(progress, latest));
            let report = job.measure(&mut progress, cancel)?;
            Ok(Some(Message::Measured(Arc::new(report))))
        }
        Effect::Examine(report) => {
            let document = job.examine(report.as_deref())?;
            Ok(Some(Message::Examined(Arc::new(document))))
        }
        Effect::Stop | Effect::Quit => Ok(None),
    }
}

/// A panic is a mistake of ours; it must neither end the program nor go unseen.
fn apology(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "this program made a mistake ({}); please report it",
        text.unwrap_or("no reason given")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measures until it is stopped, and cannot examine.
    struct Endless;

    impl Job for Endless {
        fn measure(
            &self,
            progress: &mut dyn FnMut(Progress, Vec<Measurement>),
            cancel: &AtomicBool,
        ) -> Result<Report, String> {
            while !cancel.load(Ordering::SeqCst) {
                progress(Progress::default(), Vec::new());
            }
            Ok(Report::default())
        }

        fn examine(&self, report: Option<&Report>) -> Result<Document, String> {
            assert!(report.is_none(), "nothing of a report here");
            Err("no files here".to_owned())
        }
    }

    fn first(received: &Receiver<Message>, wanted: impl Fn(&Message) -> bool) -> Message {
        let mut messages = received.iter();
        messages.find(wanted).expect("the worker lives")
    }

    #[test]
    fn a_measurement_can_be_stopped_and_what_follows_is_done() {
        let (send, received) = channel();
        let worker = Worker::start(Endless, move |message| {
            let _ = send.send(message);
        });
        worker.run(Effect::Measure);
        first(&received, |it| matches!(it, Message::Progress(..)));
        worker.run(Effect::Stop);
        first(&received, |it| matches!(it, Message::Measured(_)));
        worker.run(Effect::Examine(None));
        let failed = first(&received, |it| matches!(it, Message::Failed(_)));
        assert!(matches!(failed, Message::Failed(why) if why == "no files here"));
    }

    #[test]
    fn a_mistake_is_told_and_survived() {
        let (send, received) = channel();
        let worker = Worker::start(Endless, move |message| {
            let _ = send.send(message);
        });
        worker.run(Effect::Examine(Some(Arc::default())));
        let failed = first(&received, |it| matches!(it, Message::Failed(_)));
        assert!(
            matches!(&failed, Message::Failed(why) if why.contains("nothing of a report here"))
        );
        worker.run(Effect::Examine(None));
        first(&received, |it| matches!(it, Message::Failed(_)));
    }
}
