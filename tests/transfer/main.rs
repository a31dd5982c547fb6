//! Real transfers between the installed programs.
//!
//! This program is also what it tests with: the helper that hands `ssh` its connection, and, started once more
//! as a [stage](stage), a process of its own that transfers as somebody else or is killed while it does.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails here")]
#![cfg_attr(not(unix), allow(unused))]

/// Functions as trials of the same names.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        vec![$(libtest_mimic::Trial::test(stringify!($name), || {
            $name();
            Ok(())
        })),*]
    };
}

#[cfg(unix)]
mod dropbear;
#[cfg(unix)]
mod endings;
#[cfg(unix)]
mod footings;
#[cfg(unix)]
mod openssh;
#[cfg(unix)]
mod other_host;
#[cfg(unix)]
mod stage;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use libtest_mimic::Arguments;

#[cfg(unix)]
fn main() -> ExitCode {
    if let Some(code) = engine::transfer::be_helper().or_else(stage::play) {
        return code;
    }
    let rooms = [
        openssh::tests(),
        dropbear::tests(),
        endings::tests(),
        footings::tests(),
        other_host::tests(),
    ];
    let tests = rooms.into_iter().flatten().collect();
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// Elsewhere `ssh` uses no Unix sockets, and there is nothing to transfer through.
#[cfg(not(unix))]
fn main() {}
