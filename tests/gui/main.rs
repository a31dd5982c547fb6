//! The desktop face, driven through its accessibility tree, without a display.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "../support/document.rs"]
mod document;
#[cfg(target_os = "linux")]
mod opening;
#[path = "../support/report.rs"]
mod report;
#[path = "../support/scene.rs"]
mod scene;
mod screens;
