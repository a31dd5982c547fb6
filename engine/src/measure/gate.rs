//! The gate between timing and drawing: nothing is drawn while a sample is timed.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A lock that sampler and drawing share. Clones are the same gate.
///
/// A plain mutex would starve the drawing: the sampler gives it back for a moment only. Here the
/// sampler steps aside for whoever waits.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    busy: Mutex<()>,
    waiting: AtomicUsize,
}

impl Gate {
    /// Enters in order to draw: waits for the sample being timed, at most about 20 ms, and keeps the
    /// next one from starting while the guard lives.
    pub fn draw(&self) -> MutexGuard<'_, ()> {
        self.0.waiting.fetch_add(1, Ordering::SeqCst);
        let guard = self.lock();
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
        guard
    }

    /// Enters in order to time a sample, after all who wait to draw.
    pub(super) fn sample(&self) -> MutexGuard<'_, ()> {
        while self.0.waiting.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
        self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        // A drawing thread that panicked leaves nothing behind that a sample could trip over.
        self.0.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sampler_lets_the_drawing_in() {
        let gate = Gate::default();
        let sampling = gate.sample();
        let drawer = gate.clone();
        let drawing = thread::spawn(move || {
            let _inside = drawer.draw();
        });
        while gate.0.waiting.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        assert!(gate.0.busy.try_lock().is_err(), "a sample is being timed");
        drop(sampling);
        drop(gate.sample());
        assert_eq!(gate.0.waiting.load(Ordering::SeqCst), 0, "it went first");
        drawing.join().expect("the drawing thread ends");
    }
}
