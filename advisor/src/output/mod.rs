//! What people and programs get to see: one document, one file a format.
//!
//! Everything printed comes from a [`Document`]; no format knows more than another. The library makes
//! text, the binary prints it.
#![forbid(unsafe_code)]

mod carried;
mod csv;
mod document;
mod entropy;
mod history;
mod json;
mod markdown;
mod page;
mod table;
mod text;
mod visible;
pub mod words;

pub use csv::csv;
pub use document::{
    AdviceRecord, Change, Commands, Configuration, ConsideredLine, Document, Offered, PlaceSpeed,
    ProblemRecord, ProjectionRecord, RecommendationRecord, SideConfiguration, SourceRecord,
};
pub use history::{HistoryRecord, HistoryState};
pub use json::json;
pub use markdown::markdown;
pub use page::Style;
pub use text::text;
pub use visible::{is_deceptive, visible};
pub use words::verdict;

/// Which parts of a document a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The whole job.
    Whole,
    /// The processor, the programs and the numbers.
    Measure,
    /// The real transfers alone.
    Transfer,
    /// Which line wins, and why.
    Explain,
    /// What was found and what is odd.
    Doctor,
    /// Whether the configuration is as recommended.
    Check,
    /// What random bytes cost.
    Entropy,
    /// What was put back.
    Rollback,
    /// What could be put back.
    History,
}
