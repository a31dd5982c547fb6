//! Time as a parameter.
#![forbid(unsafe_code)]

use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

/// Three clocks: the wall's for budgets, the thread's for samples, the calendar's for reports.
pub trait Clock: Sync {
    /// Time since some fixed moment, never going back.
    fn wall(&self) -> Duration;

    /// Processor time this thread has used. A sample timed with it does not pay for the time in
    /// which the scheduler ran somebody else. Equals [`wall`](Self::wall) where the system has no such clock.
    fn thread_cpu(&self) -> Duration;

    /// Time since 1970-01-01 UTC; zero where the system's calendar stands before that.
    fn since_1970(&self) -> Duration;
}

/// The system's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock for SystemClock {
    fn wall(&self) -> Duration {
        START.elapsed()
    }

    fn since_1970(&self) -> Duration {
        let passed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        passed.unwrap_or_default()
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
