//! The journal as documents show it: what was changed when, and what can still be put back.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use serde::Serialize;

use crate::apply::{Deed, Entry, Progress};
use crate::files::text;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryRecord {
    /// Its number, which `--rollback` takes.
    pub number: u64,
    /// When it began, in UTC (`20261130T204657Z`).
    pub time: String,
    /// The change it put back; `None` for one that wrote a plan.
    pub rollback_of: Option<u64>,
    /// What became of it.
    pub state: HistoryState,
    /// Its files.
    #[serde(serialize_with = "text::paths")]
    pub files: Vec<PathBuf>,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryState {
    /// It can be put back.
    InForce,
    /// It was put back, or it is what put another back.
    Closed,
    /// It failed or was interrupted, and the old state is back.
    Undone,
    /// It was interrupted; the next run undoes it.
    Interrupted,
}

impl HistoryRecord {
    /// All changes, in the journal's order.
    #[must_use]
    pub fn of(entries: &[Entry]) -> Vec<Self> {
        let closed: Vec<u64> = entries
            .iter()
            .filter(|entry| entry.progress == Progress::Done)
            .filter_map(rollback_of)
            .collect();
        let record = |entry: &Entry| Self {
            number: entry.id,
            time: entry.timestamp(),
            rollback_of: rollback_of(entry),
            state: match (entry.progress, entry.deed) {
                (Progress::Begun, _) => HistoryState::Interrupted,
                (Progress::Undone, _) => HistoryState::Undone,
                (Progress::Done, Deed::Apply) if !closed.contains(&entry.id) => {
                    HistoryState::InForce
                }
                (Progress::Done, _) => HistoryState::Closed,
            },
            files: entry.files.iter().map(|it| it.path.clone()).collect(),
        };
        entries.iter().map(record).collect()
    }

    /// It in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let what = match (self.rollback_of, self.state) {
            (Some(of), _) => format!("put back {of}"),
            (None, HistoryState::InForce) => "in force".to_owned(),
            (None, HistoryState::Closed) => "was put back".to_owned(),
            (None, HistoryState::Undone) => "undone".to_owned(),
            (None, HistoryState::Interrupted) => "interrupted".to_owned(),
        };
        let files = self.files.iter().map(|it| it.display().to_string());
        let files = files.collect::<Vec<_>>().join(", ");
        format!("{:>4}  {}  {what:<12}  {files}", self.number, self.time)
    }
}

fn rollback_of(entry: &Entry) -> Option<u64> {
    match entry.deed {
        Deed::RollbackOf(id) => Some(id),
        Deed::Apply => None,
    }
}
