//! The meaning of configuration files: what OpenSSH would make of them.
//!
//! First value wins; Include, Host, Match; `+ - ^` lists; dialect by version. The oracle is the real
//! program (`ssh -G`, `sshd -T`), and a differential test holds this room to it. Problems are values and
//! never stop the resolving; no command is ever run and no network asked: what hangs on them "depends".
#![forbid(unsafe_code)]

mod algorithms;
mod client;
mod client_host;
mod client_include;
mod client_match;
mod criteria;
mod effective;
mod keywords;
mod networks;
mod patterns;
mod reading;
mod request;
mod server;
mod server_match;
mod setting;

pub use client::resolve_client;
pub(crate) use criteria::Criterion;
pub use effective::{
    Considered, Effective, Location, Outcome, Problem, RekeyLimit, Severity, Side, Source,
};
pub(crate) use patterns::matches as matches_pattern;
pub use request::{ClientFiles, ClientRequest, CommandOption, ServerRequest, Supported};
pub use server::resolve_server;

/// Bytes of a file, made fit for a message.
fn show(bytes: &[u8]) -> String {
    const LONGEST: usize = 200;
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]);
    let shown = shown.replace(char::is_control, "\u{fffd}");
    if bytes.len() > LONGEST {
        format!("{shown}…")
    } else {
        shown
    }
}
