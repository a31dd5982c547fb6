//! The terminal face: its screens with fixed data, and the real binary in a terminal.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[cfg(unix)]
mod conduct;
#[path = "../support/document.rs"]
mod document;
#[cfg(unix)]
mod figures;
mod hostile;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
mod picture;
#[path = "../support/report.rs"]
mod report;
#[path = "../support/scene.rs"]
mod scene;
mod screens;
#[cfg(unix)]
mod seat;
#[cfg(unix)]
#[path = "../support/mod.rs"]
mod support;
#[cfg(unix)]
mod unusual;
