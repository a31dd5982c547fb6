//! Honest speed: packets sealed and opened in this process, in a time box, with intervals.
//!
//! `plan` says when what is sampled, `sampler` times it, `statistics` says how far to trust it,
//! `environment` says what disturbed it, `transfers` does the same for real connections, and `survey` puts it
//! all into a [`Report`](crate::report::Report). Nothing here knows how a provider or a carrier works, and
//! nothing here judges a cipher.
#![forbid(unsafe_code)]

mod budget;
mod entropy;
pub mod environment;
mod gate;
mod initialisation;
mod ladder;
mod plan;
mod sampler;
mod session;
pub mod statistics;
mod survey;
pub mod transfers;

pub use budget::parse_budget;
pub use entropy::{EntropyRequest, entropy};
pub use environment::Warning;
pub use gate::Gate;
pub use initialisation::{be_helper, initialisation};
pub use plan::ENOUGH_ROUNDS;
pub use session::{MeasureRequest, Measured, Progress, SelfTest, measure};
pub use survey::{SurveyRequest, TransferPart, World, describe, survey, survey_with};
