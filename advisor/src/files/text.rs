//! Paths in JSON, which has no bytes: what is no UTF-8 in a name is replaced. For showing only; what is read
//! back must refuse such names instead.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// A path.
pub(crate) fn path<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    path.to_string_lossy().serialize(to)
}

/// A list of them.
pub(crate) fn paths<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// One that may be missing.
pub(crate) fn optional_path<S: Serializer>(
    path: &Option<PathBuf>,
    to: S,
) -> Result<S::Ok, S::Error> {
    path.as_ref()
        .map(|path| path.to_string_lossy())
        .serialize(to)
}
