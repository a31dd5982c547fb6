//! The two faces of the advisor, and the model they share.
//!
//! `model` is plain data with a pure `update`; `worker` does on a thread what it asks for; `tui` and
//! `gui` draw it. Servers build with the feature `tui` alone.

#[cfg(feature = "gui")]
pub mod gui;
pub mod job;
pub mod log;
pub mod model;
pub mod pause;
#[cfg(all(feature = "gui", target_os = "linux"))]
pub mod sys;
#[cfg(feature = "tui")]
pub mod tui;
pub mod worker;
