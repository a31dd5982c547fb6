//! The outside world as parameters: the clock, the programs that are run, and the machine.
//!
//! **Invariant:** code outside this room never asks the system for the time and never starts a
//! program, so that a whole measurement is deterministic in a test.

mod clock;
mod commands;
mod machine;
#[cfg(unix)]
mod processes;
mod sys;

pub use clock::{Clock, SystemClock};
pub use commands::{CommandFailure, CommandOutput, CommandRequest, Commands, SystemCommands};
pub use machine::{CAPABILITY_VARIABLES, Machine, ProcessorTime, SystemMachine};
#[cfg(unix)]
pub(crate) use processes::{Account, Ended, Process, ProcessRequest};
pub(crate) use sys::Arc4random;
#[cfg(target_arch = "x86_64")]
pub(crate) use sys::enabled_vector_state;
pub use sys::run_cycles;
