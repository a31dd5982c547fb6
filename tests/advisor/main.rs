//! The advisor against the real `ssh` and `sshd`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "../support/mod.rs"]
mod support;

mod files;
mod output;
#[path = "../support/report.rs"]
mod report;
