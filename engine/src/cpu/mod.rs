//! What the processor can do, and who it says it is.
//!
//! `features` is plain data, `detected` is the proof that a feature is really there.
#![forbid(unsafe_code)]

mod detected;
mod features;
mod identity;

pub use detected::Detected;
pub use features::{Feature, Features};
pub use identity::{Identity, identify};
