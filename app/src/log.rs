//! The log: what the program did and what went wrong, in a file and never on the screen.
#![forbid(unsafe_code)]

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use advisor::output::visible;

/// Where lines go; nowhere by default. Clones write to the same place.
#[derive(Clone, Default)]
pub struct Log(Option<Arc<Mutex<Box<dyn Write + Send>>>>);

impl Log {
    /// A log that is kept.
    #[must_use]
    pub fn to(place: Box<dyn Write + Send>) -> Self {
        Self(Some(Arc::new(Mutex::new(place))))
    }

    /// Whether anybody keeps it: what is costly to say need not be said otherwise.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Notes something at a time of the program's clock. A log that cannot be written must not stop the program.
    pub fn note(&self, at: Duration, what: &str) {
        if let Some(place) = &self.0 {
            let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
            let what = visible(&what.replace('\n', " "));
            let _ = writeln!(place, "{:9.3} {what}", at.as_secs_f64());
            let _ = place.flush();
        }
    }
}
