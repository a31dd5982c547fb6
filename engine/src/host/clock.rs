//! Time as a parameter.
#![forbid(unsafe_code)]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Two clocks: the wall's for budgets, the thread's for samples.
pub trait Clock: Sync {
    /// Time since some fixed moment, never going back.
    fn wall(&self) -> Duration;

    /// Processor time this thread has used. A sample timed with it does not pay for the time in
    /// which the scheduler ran somebody else. Equals [`wall`](Self::wall) where the system has no such clock.
    fn thread_cpu(&self) -> Duration;
}

/// The system's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock for SystemClock {
    fn wall(&self) -> Duration {
        START.elapsed()
    }

    #[cfg(unix)]
    fn thread_cpu(&self) -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(
            time.tv_sec.unsigned_abs(),
            time.tv_nsec.unsigned_abs() as u32,
        )
    }

    #[cfg(not(unix))]
    fn thread_cpu(&self) -> Duration {
        self.wall()
    }
}
