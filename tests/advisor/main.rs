//! The advisor against the real `ssh` and `sshd`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "../support/mod.rs"]
mod support;

#[cfg(unix)]
mod ansible;
#[cfg(unix)]
mod apply;
#[cfg(unix)]
mod apply_faults;
#[cfg(unix)]
mod carrying;
mod cli;
#[cfg(unix)]
mod cli_change;
#[cfg(unix)]
mod cli_input;
#[cfg(unix)]
mod cycles;
#[cfg(unix)]
mod differential;
#[path = "../support/document.rs"]
mod document;
mod entropy;
#[cfg(unix)]
mod explain;
#[cfg(unix)]
mod facts;
#[cfg(unix)]
mod faults;
mod files;
mod findings;
#[cfg(unix)]
mod flavours;
#[cfg(unix)]
mod host;
#[cfg(unix)]
mod includes;
mod initialisation;
#[cfg(unix)]
mod installed;
#[cfg(unix)]
mod interrupted;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
mod layouts;
#[cfg(unix)]
mod lines;
#[cfg(unix)]
mod listener;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod lossless;
#[cfg(unix)]
mod matches;
#[cfg(unix)]
mod oracle;
mod output;
#[cfg(unix)]
mod perspective;
mod plan;
#[cfg(unix)]
mod policies;
#[cfg(unix)]
mod precedence;
#[cfg(unix)]
mod question;
#[cfg(unix)]
mod real_files;
mod recommendation;
#[cfg(unix)]
mod refusals;
mod regret;
#[cfg(unix)]
mod releases;
#[cfg(unix)]
mod reload;
#[cfg(unix)]
mod reload_managers;
#[path = "../support/report.rs"]
mod report;
#[cfg(unix)]
mod rollback;
#[path = "../support/schema.rs"]
mod schema;
#[cfg(unix)]
mod sources;
#[cfg(unix)]
mod special;
#[cfg(unix)]
mod stock;
mod transfers;
#[cfg(unix)]
mod validation;
#[cfg(unix)]
mod validation_means;
#[cfg(unix)]
mod validity;
#[cfg(unix)]
mod values;
#[cfg(unix)]
mod world;
