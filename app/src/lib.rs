//! The two faces of the advisor, and the model they share.
//!
//! `model` is plain data with a pure `update`; `worker` does on a thread what it asks for; `tui` and
//! `gui` draw it. Servers build with the feature `tui` alone.
#![forbid(unsafe_code)]

pub mod model;
#[cfg(feature = "tui")]
pub mod tui;
pub mod worker;
