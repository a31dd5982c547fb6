//! The outside world as parameters: the clock and the programs that are run.
//!
//! **Invariant:** code outside this room never asks the system for the time and never starts a
//! program, so that a whole measurement is deterministic in a test.

mod clock;
mod commands;

pub use clock::{Clock, SystemClock};
pub use commands::{CommandFailure, CommandOutput, CommandRequest, Commands, SystemCommands};
