//! A clock that stands still while the program is stopped, so that a time box does not run out meanwhile.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::host::Clock;

/// The time that was lost to pauses. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Pauses(Arc<AtomicU64>);

impl Pauses {
    /// Adds a pause that is over. No sample may be timed while it lasts.
    pub fn add(&self, lost: Duration) {
        let nanoseconds = u64::try_from(lost.as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(nanoseconds, Ordering::SeqCst);
    }

    fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst))
    }
}

/// A clock without the pauses.
pub struct PausedClock {
    /// The clock that runs on.
    pub clock: Box<dyn Clock + Send>,
    /// What it counts too much.
    pub pauses: Pauses,
}

impl Clock for PausedClock {
    fn wall(&self) -> Duration {
        self.clock.wall().saturating_sub(self.pauses.total())
    }

    fn thread_cpu(&self) -> Duration {
        self.clock.thread_cpu()
    }

    fn since_1970(&self) -> Duration {
        self.clock.since_1970()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Noon;

    impl Clock for Noon {
        fn wall(&self) -> Duration {
            Duration::from_secs(12)
        }

        fn thread_cpu(&self) -> Duration {
            Duration::ZERO
        }

        fn since_1970(&self) -> Duration {
            Duration::ZERO
        }
    }

    #[test]
    fn pauses_do_not_count() {
        let pauses = Pauses::default();
        let clock = PausedClock {
            clock: Box::new(Noon),
            pauses: pauses.clone(),
        };
        pauses.add(Duration::from_secs(4));
        pauses.add(Duration::from_secs(3));
        assert_eq!(clock.wall(), Duration::from_secs(5));
    }
}
