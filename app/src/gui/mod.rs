//! The desktop face: the same words, keys and order of screens as the terminal's, with pictures.
//!
//! It repaints on input and when the worker has news, never by a timer. Nothing of meaning may enter
//! here: words, numbers and keys come from the [`model`](crate::model).
#![forbid(unsafe_code)]

mod advice;
mod apply;
mod colours;
mod compare;
mod configuration;
mod frame;
mod help;
mod items;
mod keys;
mod measure;
mod opening;
mod overview;
mod page;

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use engine::host::Clock;
use engine::measure::Gate;

use crate::model::{Effect, Message, Model, frame, update};
use crate::worker::{Job, Worker};

pub use frame::show;
pub use opening::{Environment, Unopened};

/// What the desktop face needs of the outside.
pub struct Face {
    /// Paces the repainting.
    pub clock: Arc<dyn Clock + Send>,
    /// Shared with the job: no frame is laid out while a sample is timed.
    pub gate: Gate,
    /// What says whether a window can be opened.
    pub environment: Environment,
}

/// Opens the window and runs until it is closed.
///
/// # Errors
/// Why no window could be opened, with the cure.
pub fn run(job: impl Job + 'static, face: Face) -> Result<(), Unopened> {
    let Face {
        clock,
        gate,
        environment,
    } = face;
    opening::open(&environment, move |context| {
        Box::new(Window::new(job, clock, gate, context))
    })
}

/// The window's state.
struct Window {
    model: Model,
    worker: Worker,
    news: Receiver<Message>,
    gate: Gate,
}

impl Window {
    fn new(
        job: impl Job + 'static,
        clock: Arc<dyn Clock + Send>,
        gate: Gate,
        context: &egui::Context,
    ) -> Self {
        let (send, news) = channel();
        let context = context.clone();
        let drawn = Mutex::new(Duration::ZERO);
        let worker = Worker::start(job, move |message| {
            let pause = match &message {
                Message::Progress(progress, _) => frame(Some(progress)),
                _ => Duration::ZERO,
            };
            // The window is closed when nobody receives; then nobody needs to know.
            let _ = send.send(message);
            let mut drawn = drawn.lock().unwrap_or_else(PoisonError::into_inner);
            if clock.wall() >= *drawn + pause {
                *drawn = clock.wall();
                context.request_repaint();
            }
        });
        let (model, effects) = Model::start();
        effects.into_iter().for_each(|effect| worker.run(effect));
        Self {
            model,
            worker,
            news,
            gate,
        }
    }

    fn take(&mut self, message: Message, context: &egui::Context) {
        for effect in update(&mut self.model, message) {
            match effect {
                Effect::Quit => context.send_viewport_cmd(egui::ViewportCommand::Close),
                Effect::Copy(text) => context.copy_text(text),
                Effect::TurnTheme => context.set_theme(match context.theme() {
                    egui::Theme::Dark => egui::Theme::Light,
                    egui::Theme::Light => egui::Theme::Dark,
                }),
                effect => self.worker.run(effect),
            }
        }
    }
}

impl eframe::App for Window {
    fn logic(&mut self, context: &egui::Context, _: &mut eframe::Frame) {
        while let Ok(message) = self.news.try_recv() {
            self.take(message, context);
        }
    }

    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        let messages = {
            let _no_sample_is_timed = self.gate.draw();
            show(ui, &self.model)
        };
        let context = ui.ctx().clone();
        for message in messages {
            self.take(message, &context);
            // What a click or key changed is seen on the next frame.
            context.request_repaint();
        }
    }
}
