//! Patience: every wait in this room ends when it is cancelled or has taken too long.
#![forbid(unsafe_code)]

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, Timespec, poll};

use crate::host::{Clock, SystemClock};

/// The longest wait in which nobody looks whether it was cancelled.
const ATTENTION: Duration = Duration::from_millis(20);

/// Why something was not waited for any longer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("stopped")]
    Cancelled,
    /// What had not happened.
    #[error("{0} took longer than {limit} s", limit = .1.as_secs())]
    TooLate(&'static str, Duration),
    /// Who ended.
    #[error("{0} ended early")]
    Ended(&'static str),
    #[error("{0} cannot be started: {1}")]
    NotStarted(&'static str, io::Error),
    #[error("the stream broke: {0}")]
    Broken(String),
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<rustix::io::Errno> for Trouble {
    fn from(error: rustix::io::Errno) -> Self {
        Self::System(error.into())
    }
}

/// One thing that is waited for.
pub(super) struct Watch<'a> {
    cancel: &'a AtomicBool,
    what: &'static str,
    limit: Duration,
    deadline: Duration,
}

impl<'a> Watch<'a> {
    /// From now on, for so long.
    pub(super) fn new(cancel: &'a AtomicBool, what: &'static str, limit: Duration) -> Self {
        Self {
            cancel,
            what,
            limit,
            deadline: now() + limit,
        }
    }

    /// Whether to go on.
    pub(super) fn check(&self) -> Result<(), Trouble> {
        if self.cancel.load(Ordering::Relaxed) {
            Err(Trouble::Cancelled)
        } else if now() >= self.deadline {
            Err(Trouble::TooLate(self.what, self.limit))
        } else {
            Ok(())
        }
    }

    /// Waits until a descriptor is ready, or for some milliseconds at most.
    pub(super) fn wait(
        &self,
        descriptors: &mut [PollFd<'_>],
        most: Duration,
    ) -> Result<(), Trouble> {
        self.check()?;
        let most = Timespec {
            tv_sec: 0,
            tv_nsec: most.min(ATTENTION).as_nanos() as _,
        };
        match poll(descriptors, Some(&most)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Time since some fixed moment.
pub(super) fn now() -> Duration {
    SystemClock.wall()
}
