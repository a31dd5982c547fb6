//! What would be written: edits with their bytes before and after.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use crate::resolver::Side;

/// One file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file, as the target host names it.
    pub path: PathBuf,
    /// Its bytes when the plan was made; `None` where there is no such file yet.
    pub before: Option<Vec<u8>>,
    /// Its bytes afterwards.
    pub after: Vec<u8>,
}

/// All edits that bring one side to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Which side.
    pub side: Side,
    /// The edits; empty when the order is in force already.
    pub edits: Vec<Edit>,
    /// The effective list once they are written.
    pub order: Vec<String>,
    /// Why the edits are where they are, in one sentence.
    pub strategy: String,
}
