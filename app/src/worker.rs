//! Runs effects on a thread of its own and sends back what came of them as messages.
//!
//! One effect at a time, in order; measuring can be stopped at any time. What is done is a [`Job`],
//! so that a test can hand in one that needs no machine. No face may do work on its own thread.
#![forbid(unsafe_code)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use advisor::output::Document;
use engine::report::Report;

use crate::model::apply::{Past, Preview, Step, Written};
use crate::model::compare::Other;
use crate::model::configuration::{Looking, Spot};
use crate::model::{Effect, Found, Message, Progress, Question, Saving};

/// The work itself. Every error is a sentence with the cure.
pub trait Job: Send {
    /// Measures this host. `progress` is called between samples, never while one is timed; once
    /// `cancel` is set it ends soon with the rounds that are finished.
    ///
    /// # Errors
    /// Why nothing could be measured.
    fn measure(
        &self,
        progress: &mut dyn FnMut(Progress, Found),
        cancel: &Arc<AtomicBool>,
    ) -> Result<Report, String>;

    /// Reads the configuration and says what follows from it and the numbers, if there are any.
    ///
    /// # Errors
    /// Why that could not be done.
    fn examine(&self, question: &Question) -> Result<Document, String>;

    /// Asks the installed program about the change that follows, and whether it could be written.
    ///
    /// # Errors
    /// Why that could not be done.
    fn preview(&self, question: &Question) -> Result<Preview, String>;

    /// Writes the change that follows, if it is the one that was shown. `step` is called as each begins; once
    /// `cancel` is set what was begun is taken back.
    ///
    /// # Errors
    /// Why it was not written, and what is on the disk.
    fn write(
        &self,
        question: &Question,
        shown: &Document,
        step: &dyn Fn(Step),
        cancel: &AtomicBool,
    ) -> Result<Written, String>;

    /// Undoes the change of this number, in the same way.
    ///
    /// # Errors
    /// Why it was not undone, and what is on the disk.
    fn undo(&self, id: u64, step: &dyn Fn(Step), cancel: &AtomicBool) -> Result<Written, String>;

    /// The changes the journal knows, oldest first.
    ///
    /// # Errors
    /// Why it could not be read.
    fn journal(&self) -> Result<Vec<Past>, String>;

    /// Reads a saved report.
    ///
    /// # Errors
    /// Why it could not be read, with its place.
    fn open(&self, path: &str) -> Result<Other, String>;

    /// Reads a configuration file, to look into it.
    ///
    /// # Errors
    /// Why it could not be read.
    fn look_into(&self, spot: &Spot) -> Result<Looking, String>;

    /// Saves the document; says where.
    ///
    /// # Errors
    /// Why it could not be saved.
    fn save(&self, path: &str, form: Saving, document: &Document) -> Result<String, String>;
}

/// The thread that does the work.
pub struct Worker {
    effects: Option<Sender<Effect>>,
    cancel: Arc<AtomicBool>,
    /// How much is to be done, or being done, that must not be cut off.
    unfinished: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread. `send` is called on it. It ends, soon, when the worker is dropped.
    #[must_use]
    pub fn start(job: impl Job + 'static, send: impl Fn(Message) + Send + 'static) -> Self {
        let (effects, received) = channel();
        let cancel = Arc::new(AtomicBool::new(false));
        let cancelled = Arc::clone(&cancel);
        let unfinished = Arc::new(AtomicUsize::new(0));
        let finishing = Arc::clone(&unfinished);
        let thread = thread::spawn(move || {
            for effect in received {
                let delicate = is_delicate(&effect);
                work(&job, effect, &cancelled, &send);
                if delicate {
                    finishing.fetch_sub(1, Ordering::SeqCst);
                }
            }
        });
        Self {
            effects: Some(effects),
            cancel,
            unfinished,
            thread: Some(thread),
        }
    }

    /// Does this effect after those before it; stopping is done at once. Leaving, and what concerns the face
    /// alone, is the face's own business.
    pub fn run(&self, effect: Effect) {
        if effect == Effect::Stop {
            return self.cancel.store(true, Ordering::SeqCst);
        }
        if is_delicate(&effect) {
            self.cancel.store(false, Ordering::SeqCst);
            self.unfinished.fetch_add(1, Ordering::SeqCst);
        }
        if let Some(effects) = &self.effects {
            // The thread catches panics and lives as long as this sender.
            let _ = effects.send(effect);
        }
    }
}

impl Drop for Worker {
    /// What is being written is finished or taken back first, and programs that carry bytes are ended: leaving
    /// must not cut them off.
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::SeqCst);
        self.effects = None;
        if self.unfinished.load(Ordering::SeqCst) > 0
            && let Some(thread) = self.thread.take()
        {
            // It catches its panics.
            let _ = thread.join();
        }
    }
}

/// Whether somebody has to tidy up after it: it writes files, or runs programs and makes folders.
const fn is_delicate(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Measure | Effect::Write(..) | Effect::Undo(_)
    )
}

fn work(job: &dyn Job, effect: Effect, cancel: &Arc<AtomicBool>, send: &dyn Fn(Message)) {
    let writes = matches!(effect, Effect::Write(..) | Effect::Undo(_));
    let done = catch_unwind(AssertUnwindSafe(|| perform(job, effect, cancel, send)));
    let message = done.unwrap_or_else(|panic| Err(apology(panic.as_ref())));
    match message {
        Ok(Some(message)) => send(message),
        Ok(None) => {}
        Err(sentence) if writes => send(Message::NotWritten(sentence)),
        Err(sentence) => send(Message::Failed(sentence)),
    }
}

fn perform(
    job: &dyn Job,
    effect: Effect,
    cancel: &Arc<AtomicBool>,
    send: &dyn Fn(Message),
) -> Result<Option<Message>, String> {
    let step = |step| send(Message::Step(step));
    let message = match effect {
        Effect::Measure => {
            let mut progress = |progress, found| send(Message::Progress(progress, found));
            Message::Measured(Arc::new(job.measure(&mut progress, cancel)?))
        }
        Effect::Examine(question) => Message::Examined(Arc::new(job.examine(&question)?)),
        Effect::Preview(question) => Message::Previewed(job.preview(&question)?),
        Effect::Write(question, shown) => {
            Message::Written(job.write(&question, &shown, &step, cancel)?)
        }
        Effect::Undo(id) => Message::Written(job.undo(id, &step, cancel)?),
        Effect::ReadJournal => Message::Past(job.journal()?),
        Effect::Open(path) => Message::Opened(job.open(&path)?),
        Effect::LookInto(spot) => Message::LookedInto(job.look_into(&spot)?),
        Effect::Save(path, form, document) => Message::Done(job.save(&path, form, &document)?),
        Effect::Stop
        | Effect::Quit
        | Effect::Suspend
        | Effect::Copy(_)
        | Effect::TurnTheme
        | Effect::TurnMouse => return Ok(None),
    };
    Ok(Some(message))
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
    use std::sync::mpsc::Receiver;

    use super::*;

    /// Measures until it is stopped, and cannot examine.
    struct Endless;

    impl Job for Endless {
        fn measure(
            &self,
            progress: &mut dyn FnMut(Progress, Found),
            cancel: &Arc<AtomicBool>,
        ) -> Result<Report, String> {
            while !cancel.load(Ordering::SeqCst) {
                progress(Progress::default(), Found::default());
            }
            Ok(Report::default())
        }

        fn examine(&self, question: &Question) -> Result<Document, String> {
            assert!(question.report.is_none(), "nothing of a report here");
            Err("no files here".to_owned())
        }

        fn preview(&self, _: &Question) -> Result<Preview, String> {
            Err("nothing to preview here".to_owned())
        }

        /// Ends only when it is cancelled, as a change that is taken back does.
        fn write(
            &self,
            _: &Question,
            _: &Document,
            step: &dyn Fn(Step),
            cancel: &AtomicBool,
        ) -> Result<Written, String> {
            step(Step::Write);
            while !cancel.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            Err("taken back".to_owned())
        }

        fn undo(&self, _: u64, _: &dyn Fn(Step), _: &AtomicBool) -> Result<Written, String> {
            Err("nothing to undo here".to_owned())
        }

        fn journal(&self) -> Result<Vec<Past>, String> {
            Ok(Vec::new())
        }

        fn open(&self, _: &str) -> Result<Other, String> {
            Err("nothing to open here".to_owned())
        }

        fn look_into(&self, _: &Spot) -> Result<Looking, String> {
            Err("nothing to look into here".to_owned())
        }

        fn save(&self, _: &str, _: Saving, _: &Document) -> Result<String, String> {
            Err("nowhere to save here".to_owned())
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
        worker.run(Effect::Examine(Question::default()));
        let failed = first(&received, |it| matches!(it, Message::Failed(_)));
        assert!(matches!(failed, Message::Failed(why) if why == "no files here"));
    }

    fn with_numbers() -> Effect {
        Effect::Examine(Question {
            report: Some(Arc::default()),
            ..Question::default()
        })
    }

    #[test]
    fn leaving_waits_until_what_was_begun_is_taken_back() {
        let (send, received) = channel();
        let worker = Worker::start(Endless, move |message| {
            let _ = send.send(message);
        });
        let document = Arc::new(Document::new(Report::default()));
        worker.run(Effect::Write(Question::default(), document));
        first(&received, |it| matches!(it, Message::Step(Step::Write)));
        drop(worker);
        let last = received.try_iter().last();
        assert!(matches!(last, Some(Message::NotWritten(why)) if why == "taken back"));
    }

    #[test]
    fn a_mistake_is_told_and_survived() {
        let (send, received) = channel();
        let worker = Worker::start(Endless, move |message| {
            let _ = send.send(message);
        });
        worker.run(with_numbers());
        let failed = first(&received, |it| matches!(it, Message::Failed(_)));
        assert!(
            matches!(&failed, Message::Failed(why) if why.contains("nothing of a report here"))
        );
        worker.run(Effect::Examine(Question::default()));
        first(&received, |it| matches!(it, Message::Failed(_)));
    }
}
