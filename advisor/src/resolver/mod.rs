//! The meaning of configuration files: what OpenSSH would make of them.
//!
//! First value wins; Include, Host, Match; `+ - ^` lists; dialect by version. The oracle is the real
//! program (`ssh -G`, `sshd -T`), and a differential test holds this room to it.
#![forbid(unsafe_code)]

mod effective;

pub use effective::{Considered, Effective, Location, Outcome, Problem, Severity, Side, Source};
