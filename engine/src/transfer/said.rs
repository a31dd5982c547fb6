//! What programs said when something went wrong, in one line.
#![forbid(unsafe_code)]

use std::fs;

use super::folder::Folder;
use super::watch::Trouble;

/// A trouble, with the words of the programs that wrote these logs, each as `(its name, its log)`.
pub(super) fn explain(trouble: &Trouble, folder: &Folder, logs: &[(&str, &str)]) -> String {
    let said = logs.iter().filter_map(|(name, log)| {
        let words = significant(&fs::read(folder.file(log)).unwrap_or_default());
        (!words.is_empty()).then(|| format!("{name} says: {words}"))
    });
    let said: Vec<String> = [trouble.to_string()].into_iter().chain(said).collect();
    said.join("; ")
}

/// What a program said, without the lines that only say how a connection ended or that a host is new.
pub(super) fn significant(said: &[u8]) -> String {
    const MOST: usize = 400;
    const IDLE: [&str; 2] = ["Connection ", "Warning: Permanently added"];
    const OF_DBCLIENT: &str = "dbclient: Caution, skipping hostkey check";
    let said = String::from_utf8_lossy(said);
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_idle =
        |line: &str| IDLE.iter().any(|start| line.starts_with(start)) || line.contains(OF_DBCLIENT);
    let lines: Vec<&str> = lines.filter(|line| !is_idle(line)).collect();
    lines.join("; ").chars().take(MOST).collect()
}
